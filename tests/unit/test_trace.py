"""`eqbench trace`: how it ends, and what the course of a branch shows."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Ended, eqbench_here
from trace_cases import WINDING, study

import eqbench
from eqbench.errors import SolverUnavailableError
from eqbench.model.choices import Choices
from eqbench.solver import Availability
from eqbench.studies.branch import Branch, crossing_counts
from eqbench.studies.trace.follow import stretches
from eqbench.studies.trace.study import NARROWEST, in_the_middle_of_most

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


FOLDED = np.array([2.0, 2.6, 2.9, 2.5, 2.1, 2.3, 4.0])


def test_counts_change_at_folds_between_points() -> None:
    counts = crossing_counts(FOLDED, 0.0, [(3, 3.0), (5, 2.05)])
    assert counts.breakpoints.tolist() == [2.0, 2.05, 3.0, 4.0]
    assert counts.counts.tolist() == [1, 3, 1]
    assert (counts.most, counts.intervals(3)) == (3, [(2.05, 3.0)])
    assert counts.intervals(1) == [(2.0, 2.05), (3.0, 4.0)]


def test_counts_without_known_folds_are_those_of_the_points() -> None:
    assert crossing_counts(FOLDED, 0.0).breakpoints.tolist() == [2.0, 2.1, 2.9, 4.0]


def test_window_has_the_number_of_points_that_was_found() -> None:
    counts = crossing_counts(FOLDED, 0.0, [(3, 3.0), (5, 2.05)])
    assert counts.window(2.5, 3) == (2.05, 3.0)
    assert counts.window(3.5, 1) == (3.0, 4.0)
    assert counts.window(2.5, 1) == (2.5, 2.5), "one crossing was found where three are expected"


def test_narrow_winding_does_not_count_where_it_shall_not() -> None:
    values = np.array([2.0, 3.0, 3.0 - 1e-9, 4.0])
    assert crossing_counts(values, 0.0).most == 3
    assert crossing_counts(values, NARROWEST).most == 1


def test_value_with_most_points_is_short_and_within_its_interval() -> None:
    assert in_the_middle_of_most(crossing_counts(FOLDED, 0.0, [(3, 3.0), (5, 2.05)])) == Fraction(
        5, 2
    )
    narrow = crossing_counts(np.array([2.0, 3.4466, 3.4436, 4.0]), 0.0)
    value = in_the_middle_of_most(narrow)
    assert value == Fraction("3.445")
    tiny = crossing_counts(np.array([2.0, 3.40000071, 3.4000007, 4.0]), 0.0)
    assert Fraction("3.4000007") < in_the_middle_of_most(tiny) < Fraction("3.40000071")


def branch_of(values: Any, place: Any) -> Branch:
    """A branch of kuhn2 on which the first player's first frequency is `place`."""
    game = eqbench.load_game("kuhn2")
    values, place = np.array(values, dtype=float), np.array(place, dtype=float)
    free = np.full((len(values), Choices.of(game.tree).size), 0.5)
    free[:, 0] = place
    path = np.column_stack((free, values))
    length = np.concatenate(([0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))))
    payoffs = np.column_stack((place, -place))
    return Branch(game, "pot", values, length, free, payoffs)


def line(*ends: float, points: int = 50) -> Any:
    """Points that lead evenly from one of the values to the next."""
    pieces = [np.linspace(a, b, points) for a, b in itertools.pairwise(ends)]
    return np.concatenate(pieces)


def test_stretch_reaches_from_end_to_end() -> None:
    branch = branch_of(line(2, 3, 3 + 1e-5, 4), line(0.2, 0.3, 0.6, 0.7))
    (ends,) = stretches(branch)
    assert branch.values[list(ends)] == pytest.approx([3, 3], abs=4e-3)
    assert branch.free[list(ends), 0] == pytest.approx([0.3, 0.6], abs=1e-2)


def test_each_stretch_is_found_once_in_order() -> None:
    values = line(2, 3, 3, 4, 4, 3, 3, 2)
    places = line(0.1, 0.15, 0.3, 0.35, 0.5, 0.55, 0.75, 0.8)
    branch = branch_of(values, places)
    found = [float(np.median(branch.values[i : j + 1])) for i, j in stretches(branch)]
    assert found == pytest.approx([3, 4, 3], abs=1e-6)


@pytest.mark.parametrize(
    ("values", "places"),
    [
        # steep: a tenth of frequency within 0.006 of the pot
        (line(2, 2.9, 2.906, 4), line(0.1, 0.2, 0.3, 0.4)),
        # a smooth fold, where frequency moves with the root of the distance
        (3 - np.linspace(-1, 1, 2001) ** 2, np.linspace(0.1, 0.9, 2001)),
        # vertical, but nothing much changes
        (line(2, 3, 3, 4), line(0.2, 0.3, 0.302, 0.4)),
        # straight
        (line(2, 4), line(0.2, 0.8)),
    ],
    ids=["steep", "fold", "short", "straight"],
)
def test_what_does_not_stand_still_is_no_stretch(values: Any, places: Any) -> None:
    assert stretches(branch_of(values, places)) == []
