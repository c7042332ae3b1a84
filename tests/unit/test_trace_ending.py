"""`eqbench trace` within the process of the tests: how it ends, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command import Ended, eqbench_here
from trace_cases import WINDING, study

from eqbench.errors import SolverUnavailableError
from eqbench.solver import Availability
from eqbench.studies.frame import StudyFolder

Trace = Callable[..., Ended]
MADE_UP = ("--game", "skp", "--from", "3", "--to", "8", "--plugin", str(WINDING))


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """The command with some arguments, in an empty folder."""
    return partial(eqbench_here, "trace", cwd=tmp_path)


def test_results_go_to_a_folder_of_their_own(trace: Trace, tmp_path: Path) -> None:
    done = trace(*MADE_UP, "--solver", "winding")
    assert done.code == 0, done.err
    (folder,) = (tmp_path / "results").iterdir()
    assert folder.name.endswith("Z-trace-skp")
    assert f"results in results/{folder.name}" in done.err
    header = (folder / "points.csv").read_text().splitlines()[0].split(",")
    assert header[:6] == ["parameter", "arclength", "u:P1", "u:P2", "u:P3", "P1|2:|bet"]


def test_trace_that_stops_at_a_limit_says_how_to_go_on(trace: Trace, tmp_path: Path) -> None:
    limit = ("--most-points", "7", "--out", "t", "--json")
    done = trace(*MADE_UP, "--solver", "winding", *limit)
    assert done.code == 0
    assert (done.json["finished"], done.json["points"]) == (False, 7)
    assert "stopped after 7 points; go on with:\n  eqbench trace --resume t" in done.err
    done = trace("--resume", "t", "--json")
    assert done.json["finished"] is True


def test_lost_branch_ends_with_1_and_keeps_its_points(trace: Trace, tmp_path: Path) -> None:
    done = trace(*MADE_UP, "--solver", "winding(lost=2)", "--out", "t")
    assert done.code == 1
    assert "the road is closed" in done.out
    assert json.loads((tmp_path / "t/summary.json").read_text())["points"] > 5


def test_branch_without_a_start_ends_with_1_and_leaves_nothing(
    trace: Trace, tmp_path: Path
) -> None:
    done = trace(*MADE_UP, "--solver", "winding(start=false)", "--out", "t")
    assert done.code == 1
    assert done.err == "Error: no branch begins at pot=3: there is none\n"
    assert not (tmp_path / "t").exists()


def test_other_version_of_the_solver_is_announced(trace: Trace, tmp_path: Path) -> None:
    trace(*MADE_UP, "--solver", "winding", "--most-points", "7", "--out", "t")
    file = tmp_path / "t/manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": "1"}))
    done = trace("--resume", "t")
    assert done.code == 0
    assert "the solver is another version" in done.err


SKP = ("--game", "skp", "--from", "2", "--to", "6")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "2"], "Missing argument 'GAME'"),
        (["--game", "skp", "--from", "2"], "Missing option '--to'"),
        ([*SKP, "--epsilon", "0"], "positive"),
        ([*SKP, "--epsilon", "-1"], "positive"),
        ([*SKP, "--at", "7"], "--at 7 lies outside the range from 2 to 6"),
        ([*SKP, "--at", "many"], "'many' is not a number"),
        ([*SKP, "--to", "1/0"], "'1/0' is not a number"),
        ([*SKP, "--starts", "3"], "--starts looks off the branch at the values of --at"),
        ([*SKP, "--close-up", "3,4"], "--close-up is about figures"),
        ([*SKP, "--figures", "--close-up", "4,3"], "'4,3' is not an interval"),
        ([*SKP, "--figures", "--close-up", "7,8"], "lies outside 2 to 6"),
        ([*SKP, "--parameter", "ante"], "its parameter is 'pot'"),
        ([*SKP, "--epsilon", "1e-6", "--solver", "arclength(epsilon=1e-7)"], "give it once"),
        (["--game", "leduc", "--from", "2", "--to", "3"], "has no payoff parameter"),
        (["--game", "skp", "--from", "3", "--to", "3"], "the range from 3 to 3 is empty"),
        (["--game", "skp", "--from", "1", "--to", "3"], "pot=1 is below 2"),
        (["--game", "skp", "--from", "3", "--to", "1" + "0" * 40], "too large"),
        ([*SKP, "--solver", "cfr"], "cfr offers no `continuation`"),
        (["--game", "kuhn2", "--from", "2", "--to", "3", "--animate", "9"], "three-player Kuhn"),
        (["--resume", "."], "holds no study"),
        (["--resume", "skp", "--out", "other"], "either --resume or --out"),
        (["--resume", "skp", "--at", "3"], "begun with --at 10/3, now it is 3"),
        (["--resume", "skp", "--at", "10/3", "--at", "most"], "now it is 10/3 most"),
        (["--resume", "skp", "--regularization", "arctan"], "begun with --regularization none"),
        ([*SKP, "--out", "skp"], "skp is not empty"),
    ],
)
def test_command_refuses_with_a_message_and_leaves_nothing(
    trace: Trace, tmp_path: Path, arguments: list[str], message: str
) -> None:
    StudyFolder.create(study("arclength", 2, 6, at=("10/3",)), tmp_path / "skp")
    done = trace(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert [file.name for file in tmp_path.iterdir()] == ["skp"]


def test_solver_whose_licence_is_too_small_for_the_game_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_small(solver: Any, game: Any) -> Availability:
        return Availability("licence_size", f"{game.tree.n_actions} columns, 10 allowed")

    solver = study().setting.solver.instance
    monkeypatch.setattr(type(solver), "availability_for", too_small, raising=False)
    with pytest.raises(SolverUnavailableError, match=r"\d+ columns, 10 allowed"):
        study()
