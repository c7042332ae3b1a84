"""Traces: following a branch, equilibria on it and beside it, and how they end."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.branches import FOLDS, TURNS, WINDING, followed, study, table, traced
from helpers.command import Ended, eqbench_here

import eqbench
from eqbench.continuation import BranchPoint
from eqbench.documents import convert
from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.model.choices import Choices
from eqbench.report.terminal import plain_text, print_report
from eqbench.solver import Availability
from eqbench.studies.branch import Branch, crossing_counts, distinct_payoffs, read_points
from eqbench.studies.trace.checkpoint import OVER, Progress
from eqbench.studies.trace.follow import stretches
from eqbench.studies.trace.study import NARROWEST, TraceDocument, in_the_middle_of_most

POINT = BranchPoint(3.0, np.full(2, 0.5), np.ones(2, bool), 1.0, "", {"t": np.array(0.0)})


def places(points: list) -> list[float]:
    """Parameters t of points of the made-up curve."""
    return [float(point.state["t"]) for point in points]


def test_branch_is_written_from_its_start_to_the_border_exactly(tmp_path: Path) -> None:
    case = study()
    progress = followed(case, tmp_path)
    branch = read_points(case.setting.game, tmp_path / "points.csv")
    assert (progress.outcome, progress.points) == ("arrived", len(branch.values))
    assert branch.values[[0, -1]].tolist() == [3.0, 8.0]
    assert branch.values.max() == 8.0
    steps = np.diff(np.column_stack((branch.free, branch.values)), axis=0)
    assert branch.arclength[0] == 0
    assert np.diff(branch.arclength) == pytest.approx(np.linalg.norm(steps, axis=1))
    k = len(branch.values) // 2
    game = case.setting.game.at(pot=float(branch.values[k]))
    paid = game.payoff_model().expected_payoffs(branch.behavior(k))
    assert branch.payoffs[k] == pytest.approx(paid, abs=1e-14)


def test_folds_are_noted_with_their_payoffs(tmp_path: Path) -> None:
    case = study()
    progress = followed(case, tmp_path)
    assert [fold["parameter"] for fold in progress.folds] == pytest.approx(FOLDS)
    for fold, place in zip(progress.folds, TURNS, strict=True):
        at_fold = case.setting.game.at(pot=fold["parameter"]).payoff_model()
        behavior = case.setting.continuation.behavior(place)  # type: ignore[attr-defined]
        assert fold["payoffs"] == pytest.approx(at_fold.expected_payoffs(behavior), abs=1e-9)
        assert fold["exact"] is False


BORDER = FOLDS[0] - 1e-6  # neighboring points may be inside while it turns outside between them
NEAR = (FOLDS[0] - 1e-7, FOLDS[0] + 1e-7, FOLDS[1] - 1e-7, FOLDS[1] + 1e-7)
RETURNING = "winding(shape=returning)"
# solver and request of a branch, and what is expected of it
COURSES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "downwards": (
        "winding",
        {"first": 8, "last": 3},
        {"outcome": "arrived", "ends": [8.0, 3.0], "folds": FOLDS[::-1]},
    ),
    "back to its start": (
        RETURNING,
        {"last": 5, "beyond": 0.0},
        {"outcome": "arrived", "ends": [3.0, 3.0], "place": math.pi, "folds": [4.0]},
    ),
    # frequencies of the made-up curve are those of the start when it comes back the tenth time
    "closed curve": (
        RETURNING,
        {"last": 5, "at": ("3.5", 3)},
        {"outcome": "closed", "returns": 9, "crossings": [20, 20]},
    ),
    "border within a fold": (
        "winding",
        {"last": BORDER, "beyond": 0.0},
        {"outcome": "arrived", "ends": [3.0, BORDER], "folds": []},
    ),
    "comes back too far outside": (
        "winding",
        {"last": 6, "at": ("5.9", 6), "beyond": 0.3},
        {"outcome": "arrived", "crossings": [1, 1]},
    ),
    "comes back from near outside": (
        "winding",
        {"last": 6, "at": ("5.9", 6), "beyond": 0.5},
        {"outcome": "arrived", "crossings": [3, 3]},
    ),
    "border that cannot be computed": (
        "winding(hidden=8)",
        {},
        {"outcome": "stalled", "reason": "passes 8 next, but the point cannot be computed"},
    ),
    **{
        f"lost outside at {at}": (
            f"winding(lost={lost})",
            {"last": 6},
            {
                **{"outcome": "arrived", "ends": [3.0, 6.0]},
                "reason": f"lost outside the range at pot={at}",
            },
        )
        for lost, at in ((2.5, "6.4"), (1.6, "6:"))
    },
    # crossings are counted where the regularized branch turns, wherever the equilibria do
    **{
        f"folds are shifted by {shift}": (
            f"winding(shift={shift})",
            {"at": NEAR},
            {
                **{"crossings": [3, 1, 1, 3], "lost": [0, 0, 0, 0]},
                "folds": [fold + float(Fraction(shift)) for fold in FOLDS],
                "window": sorted(FOLDS),
            },
        )
        for shift in ("-1/20", "1/20")
    },
}


@pytest.mark.parametrize(("solver", "request_", "expected"), COURSES.values(), ids=COURSES)
def test_course_of_a_branch(
    tmp_path: Path, solver: str, request_: dict[str, Any], expected: dict[str, Any]
) -> None:
    case = study(solver, **request_)
    progress, values = followed(case, tmp_path), table(tmp_path)[:, 0]
    document = traced(case, tmp_path)
    assert document["reason"] == progress.reason
    assert expected.pop("reason", "") in progress.reason
    window = document["at"][0]["window"] if document["at"] else None
    found = {
        "outcome": progress.outcome,
        "ends": values[[0, -1]].tolist(),
        "place": places([progress.last])[0],
        "folds": pytest.approx([fold["parameter"] for fold in progress.folds]),
        "returns": progress.returns,
        "crossings": [len(set(places(points))) for points in progress.crossings],
        "lost": progress.lost,
        "window": window and pytest.approx(window, abs=1e-9),
    }
    found["place"] = pytest.approx(found["place"])
    assert {name: found[name] for name in expected} == expected
    assert document["finished"] == (progress.outcome != "stalled")
    resumed = followed(study(solver, **request_), tmp_path)
    assert (resumed.outcome, resumed.points) == (progress.outcome, progress.points)
    assert values[-1] == progress.last.value


RANGES = ((3, 8), (3, 6), (5, "5.95"), (8, 3), (8, "5.88"), ("5.9", 8), ("5.9", 3), (6, 5))


@pytest.mark.parametrize(("first", "last"), RANGES)
def test_count_at_a_value_does_not_depend_on_the_range(
    tmp_path: Path, first: Any, last: Any
) -> None:
    """The branch leaves all but the widest range between or beside its folds, and comes back."""
    case = study(first=first, last=last, at=("5.9",))
    progress = followed(case, tmp_path)
    (found,) = progress.crossings
    assert sorted(places(found)) == pytest.approx([1.4176, 3.7199, 4.2261], abs=1e-4)
    values, arclength = table(tmp_path)[:, :2].T
    low, high = sorted((float(Fraction(first)), float(Fraction(last))))
    assert low <= values.min()
    assert values.max() <= high
    gaps = np.flatnonzero(np.diff(arclength) == 0)
    assert len(gaps) == progress.returns == (0 if high - low > 4 else 1)
    assert all(values[k] == values[k + 1] in (low, high) for k in gaps)
    assert (progress.outcome, progress.last.value) == ("arrived", float(Fraction(last)))


def test_branch_goes_on_from_outside_as_if_it_had_not_been_stopped(tmp_path: Path) -> None:
    whole = traced(study(last=6, at=("5.9", "most")), tmp_path / "whole")
    stops = []
    for _ in range(100):
        progress = followed(study(last=6, at=("5.9", "most"), most_points=2), tmp_path / "parts")
        stops.append(progress.outside is not None)
        if progress.outcome in OVER:
            break
    assert sum(stops) > 10
    parts = traced(study(last=6, at=("5.9", "most")), tmp_path / "parts")
    files = [tmp_path / name / "points.csv" for name in ("whole", "parts")]
    assert files[0].read_bytes() == files[1].read_bytes()
    for document in (whole, parts):
        del document["elapsed_s"], document["cpu_s"]
    assert whole == parts
    assert [entry["crossings"] for entry in whole["at"]] == [3, 3]


def test_crossings_are_found_in_order_and_ends_count_once(tmp_path: Path) -> None:
    case = study(at=("6.1", 3, 8, "7/2"))
    progress = followed(case, tmp_path)
    inside, first, last, once = progress.crossings
    assert [len(found) for found in progress.crossings] == [3, 1, 1, 1]
    assert places(inside) == sorted(places(inside))
    assert places(inside)[0] < TURNS[0] < places(inside)[1] < TURNS[1] < places(inside)[2]
    assert {point.value for point in inside} == {6.1}
    assert places(first) == [0.0]
    assert last[0].value == 8.0
    assert once[0].value == 3.5


def test_corners_name_the_actions_that_come_and_go(tmp_path: Path) -> None:
    case = study("winding(corner=5)")
    progress = followed(case, tmp_path)
    (corner,) = progress.corners
    low, high = (3 + t + 1.5 * math.sin(t) for t in (4.8, 5.2))
    assert low < corner["parameter"] < high
    assert (corner["enter"], corner["leave"]) == (["P1|2:|bet"], ["P1|2:|check"])
    assert study().setting.continuation.start(3).played.all()


def test_what_was_written_after_the_last_checkpoint_is_cut_off(tmp_path: Path) -> None:
    case = study()
    followed(case, tmp_path)
    other = tmp_path / "killed"
    followed(study(most_points=10), other)
    with (other / "points.csv").open("ab") as file:
        file.write(b"3.5,0.1,tor")
    followed(study(), other)
    assert (other / "points.csv").read_bytes() == (tmp_path / "points.csv").read_bytes()


def test_trace_that_was_killed_before_its_first_checkpoint_begins_anew(tmp_path: Path) -> None:
    case = study()
    (tmp_path / "points.csv").write_text("parameter,ar")
    assert followed(case, tmp_path).outcome == "arrived"
    assert table(tmp_path)[0, 0] == 3.0


def replaced(file: Path, old: bytes, new: bytes) -> None:
    file.write_bytes(file.read_bytes().replace(old, new, 1))


def flipped(file: Path, place: int) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 1  # within the frequencies of a point
    file.write_bytes(data)


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


DAMAGES: list[tuple[str, str, Callable[[Path], object], str]] = [
    ("shorter", "points.csv", lambda file: file.write_bytes(file.read_bytes()[:-1]), "again"),
    ("changed", "points.csv", lambda file: replaced(file, b"3.0", b"3.1"), "again"),
    ("gone", "points.csv", Path.unlink, "trace the branch again"),
    ("pipe", "points.csv", pipe, "it is not a regular file"),
    ("nothing", "checkpoint.msgpack", lambda file: file.write_bytes(b"nothing"), "again"),
    ("cut", "checkpoint.msgpack", lambda file: file.write_bytes(file.read_bytes()[:-200]), "again"),
    ("flipped", "checkpoint.msgpack", lambda file: flipped(file, 400), "again"),
    ("pipe", "checkpoint.msgpack", pipe, "it is not a regular file"),
]


@pytest.mark.parametrize(("name", "file", "damage", "words"), DAMAGES)
def test_damaged_files_are_refused(
    tmp_path: Path, name: str, file: str, damage: Callable[[Path], object], words: str
) -> None:
    followed(study(most_points=10), tmp_path)
    damage(tmp_path / file)
    with pytest.raises(UsageError, match=words):
        followed(study(), tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"points": "many", "size": "x", "outcome": 7, "elapsed_s": [1]},
        {"outcome": "lost"},
        {"elapsed_s": -1.0},
        {"folds": [{"parameter": 1.0}]},
        {"turns": [[1, 2, 3]]},
        {"lost": [0]},
        {"last": replace(POINT, value="3")},
        {"last": replace(POINT, event="surprise")},
        {"last": replace(POINT, behavior=np.array([0.5, np.nan]))},
        {"last": replace(POINT, behavior=np.array(["a", "b"]))},
        {"last": replace(POINT, played=np.array([True]))},
    ],
    ids=str,
)
def test_checkpoint_of_other_types_is_refused(tmp_path: Path, change: dict) -> None:
    progress = Progress(begin=POINT, last=POINT, crossings=[])
    progress.write(tmp_path)
    assert Progress.read(tmp_path, 0).last.value == 3.0  # type: ignore[union-attr]
    vars(progress).update(change)
    progress.write(tmp_path)
    with pytest.raises(UsageError, match="damaged"):
        Progress.read(tmp_path, 0)


def test_checkpoint_that_would_fill_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eqbench.studies.trace.checkpoint.MOST_CHECKPOINT_BYTES", 2**20)
    bomb = tmp_path / "checkpoint.msgpack"
    bomb.write_bytes(bytes(2**20 + 1))
    with pytest.raises(UsageError, match="MiB"):
        Progress.read(tmp_path, 0)


def test_lost_branch_keeps_what_was_found_and_stays_lost(tmp_path: Path) -> None:
    case = study("winding(lost=2)", at=(3, 7))
    progress = followed(case, tmp_path)
    document = traced(case, tmp_path)
    assert (document["finished"], document["outcome"]) == (False, "stalled")
    assert document["reason"].startswith(f"stalled at pot={progress.last.value:.9g}: the road")
    assert document["points"] == len(table(tmp_path)) > 5
    assert [entry["crossings"] for entry in document["at"]] == [1, 0]
    before = (tmp_path / "points.csv").read_bytes()
    assert followed(study("winding(lost=2)", at=(3, 7)), tmp_path).outcome == "stalled"
    assert (tmp_path / "points.csv").read_bytes() == before


def test_branch_that_is_lost_at_once_has_one_point(tmp_path: Path) -> None:
    document = traced(study("winding(lost=0)", at=(3, "most")), tmp_path)
    assert document["points"] == 1
    assert document["at"][0]["window"] == [3.0, 3.0]
    assert len(document["at"]) == 1


def test_trace_stops_when_it_is_told_to(tmp_path: Path) -> None:
    case = study("winding(delay_s=0.02)", timeout_s=0.01, beyond=0.0)
    progress = followed(case, tmp_path, interrupted=lambda: True)
    assert (progress.outcome, progress.points) == ("interrupted", 2)
    progress = followed(case, tmp_path)
    assert (progress.outcome, progress.points) == ("time", 3)
    assert progress.reason == "stopped after 0.01 s"


def test_progress_is_reported_from_time_to_time(tmp_path: Path) -> None:
    case = study("winding(delay_s=0.03)", beyond=0.0)
    told: list[str] = []
    progress = followed(case, tmp_path, tell=told.append)
    places = [words for words in told if words.startswith("pot ")]
    assert 1 <= len(places) < progress.points / 2
    assert all(3 < float(words.removeprefix("pot ").split(",")[0]) < 8 for words in places)


Traced = tuple[Path, dict[str, Any]]


@pytest.fixture(scope="module")
def skp(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """SKP up to a pot of 6, looked at where three solutions coexist and on a vertical piece."""
    case = study("arclength", "5/2", 6, at=("10/3", "most", "7/2"), starts=8, seed=1)
    folder = tmp_path_factory.mktemp("skp")
    return folder, traced(case, folder)


def names(entry: dict[str, Any]) -> list[str]:
    return [item["identity"]["name"] for item in entry["equilibria"]]


def test_crossings_become_the_published_solutions(skp: Traced) -> None:
    entry = skp[1]["at"][0]
    counts = (entry["crossings"], entry["polished"], entry["distinct_payoffs"])
    assert counts == (3, 3, 3)
    assert names(entry) == ["skp:2", "skp:3", "skp:4"]
    low, high = entry["window"]
    # the folds of the equilibria are at 3.2122 and 3.4365
    assert 3.2 < low < 10 / 3 < high < 3.45


def test_most_points_are_looked_at_where_they_are(skp: Traced) -> None:
    document = skp[1]
    most = document["coexisting"]
    assert most["most"] == 3
    assert len(most["intervals"]) == 3
    entry = document["at"][-1]
    assert entry["crossings"] == 3
    assert any(low < entry["parameter"] < high for low, high in most["intervals"])


def test_random_starts_find_more_on_a_vertical_piece(skp: Traced) -> None:
    entries = skp[1]["at"][:2]
    assert [entry["vertical"] for entry in entries] == [False, True]
    unique, vertical = (entry["beside"] for entry in entries)
    assert (unique["starts"], unique["polished"], unique["not_on_branch"]) == (8, 8, 0)
    assert vertical["distinct_payoffs"] == 8
    assert vertical["not_on_branch"] is None
    ranges = vertical["payoff_ranges"]
    assert ranges[1][1] - ranges[1][0] < 1e-9 < ranges[0][1] - ranges[0][0]


def test_folds_and_vertical_pieces_are_those_of_the_solutions(skp: Traced) -> None:
    """Pots at which the ranges of the solutions end (Billingham 2017, section 3)."""
    document = skp[1]
    ends = [3.436491673, 3.212214450, 4.0, 3.897915762, 4.407536453, 4.311737691]
    assert [fold["parameter"] for fold in document["folds"]] == pytest.approx(ends, abs=1e-8)
    assert all(fold["exact"] for fold in document["folds"])
    vertical = [piece["parameter"] for piece in document["vertical"]]
    assert vertical == pytest.approx([3, 3.5, 5], rel=1e-12)
    assert all(np.ptp(piece["payoffs"], axis=0).max() > 1e-3 for piece in document["vertical"])


def test_stretches_beside_folds_are_no_vertical_pieces(tmp_path: Path) -> None:
    """Pots of three-player Kuhn poker at which equilibria form a continuum.

    Beside a fold at 4.1667 there is a stretch on which the pot moves by no more than along these.
    """
    case = study("arclength", 3, 5, game="kuhn3", at=(3,))
    document = traced(case, tmp_path)
    branch = read_points(case.setting.game, tmp_path / "points.csv")
    places = [float(np.median(branch.values[i : j + 1])) for i, j in stretches(branch)]
    assert any(abs(place - 4.1673) < 1e-3 for place in places)
    found = [piece["parameter"] for piece in document["vertical"]]
    fold = 4.2122144504490
    exact = [3, (5 + math.sqrt(65)) / 4, (3 + math.sqrt(23)) / 2, fold, fold]
    assert [value for value in found if value < 4.9] == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize(("first", "last"), [("5/2", "3.3"), (6, "3.24"), ("3.3", "5/2")])
def test_equilibria_at_a_value_do_not_depend_on_the_range(
    tmp_path: Path, skp: Traced, first: Any, last: Any
) -> None:
    """Three solutions coexist from 3.2122 to 3.4365."""
    document = traced(study("arclength", first, last, at=("3.25",)), tmp_path)
    assert names(document["at"][0]) == names(skp[1]["at"][0])[:: 1 if first == "5/2" else -1]


def test_branch_that_turns_back_says_so_with_advice(tmp_path: Path) -> None:
    back = traced(study("winding(shape=returning)", 3, 5, beyond=0.5), tmp_path / "back")
    closed = traced(study("winding(shape=returning)", 3, 5), tmp_path / "closed")
    ahead = traced(study(), tmp_path / "ahead")
    for document, words in (
        (back, "left the range at pot=3, where it had begun"),
        (closed, "is a closed curve"),
    ):
        text = " ".join(printed(document).split())
        assert words in text
        assert all(option in text for option in ("--from", "--epsilon", "--starts"))
        assert document["finished"]
    assert "--from" not in printed(ahead)


def printed(document: dict[str, Any], width: int = 140) -> str:
    report = convert(document, TraceDocument).tables()
    return plain_text(lambda console: print_report(report, console), width)


def test_profile_with_regret_is_no_equilibrium(tmp_path: Path) -> None:
    """The plugin does not polish at all."""
    document = traced(study(at=("6.1",), starts=2), tmp_path)
    (entry,) = document["at"]
    assert (entry["crossings"], entry["polished"], entry["distinct_payoffs"]) == (3, 0, 0)
    assert len(entry["equilibria"]) == 3
    assert all(item["max_regret"] > 0.01 for item in entry["equilibria"])
    assert entry["beside"]["polished"] == 0
    assert entry["beside"]["payoff_ranges"] == []
    assert not any(item["polished"] for item in entry["equilibria"])
    text = printed(document)
    assert "3 crossings, 0 polished equilibria" in text
    assert "! not polished to an equilibrium" in text
    assert len([line for line in text.splitlines() if " ! " in line]) == 3


def test_crossings_that_cannot_be_computed_are_counted(tmp_path: Path) -> None:
    document = traced(study("winding(hidden=6)", at=(6, 7)), tmp_path)
    hidden, known = document["at"]
    assert (hidden["crossings"], hidden["lost"]) == (0, 3)
    assert (known["crossings"], known["lost"]) == (1, 0)
    assert hidden["window"] == pytest.approx(sorted(FOLDS), abs=1e-9)
    assert printed(document).count("3 more crossings could not be computed") == 1


def test_payoffs_are_distinct_above_the_limit() -> None:
    first, close, far = [0.1, 0.2, 0.3], [0.1, 0.2, 0.3 + 9e-9], [0.1 - 2e-8, 0.2, 0.3]
    assert distinct_payoffs([first, close, far, first]) == [first, far]


Trace = Callable[..., Ended]
MADE_UP = ("--game", "skp", "--from", "3", "--to", "8", "--plugin", str(WINDING))


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """The command with some arguments, in an empty folder."""
    return partial(eqbench_here, "trace", cwd=tmp_path)


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
    with pytest.raises(SolverUnavailableError, match="allowed"):
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
