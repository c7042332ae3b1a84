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


def test_figure_that_cannot_be_drawn_is_missing_alone(trace: Trace, tmp_path: Path) -> None:
    """Two points do not come as far as the close-up."""
    short = ("--most-points", "2", "--figures", "--close-up", "5,5.5", "--out", "t")
    done = trace(*MADE_UP, "--solver", "winding", *short)
    assert done.err.count("the figure payoffs is missing: there is nothing in the close-up") == 1
    names = ("counts", "frequencies", "frequencies-1")
    expected = {f"{name}{suffix}" for name in names for suffix in (".svg", ".png")}
    assert {file.name for file in (tmp_path / "t/figures").iterdir()} == expected


def test_solver_whose_licence_is_too_small_for_the_game_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_small(solver: Any, game: Any) -> Availability:
        return Availability("licence_size", f"{game.tree.n_actions} columns, 10 allowed")

    solver = study().setting.solver.instance
    monkeypatch.setattr(type(solver), "availability_for", too_small, raising=False)
    with pytest.raises(SolverUnavailableError, match=r"\d+ columns, 10 allowed"):
        study()
