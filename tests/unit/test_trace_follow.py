"""Following a branch: what is written down, where it ends, and how it goes on after a break."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trace_cases import FOLDS, TURNS, followed, study, table, traced

from eqbench.continuation import BranchPoint
from eqbench.errors import UsageError
from eqbench.studies.branch import read_points
from eqbench.studies.trace.checkpoint import OVER, Progress

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


def test_branch_that_returns_ends_where_it_began(tmp_path: Path) -> None:
    case = study("winding(shape=returning)", 3, 5, beyond=0.0)
    progress = followed(case, tmp_path)
    assert progress.outcome == "arrived"
    assert progress.last.value == 3.0
    assert places([progress.last]) == pytest.approx([np.pi])
    assert [fold["parameter"] for fold in progress.folds] == pytest.approx([4.0])


def test_branch_is_followed_downwards(tmp_path: Path) -> None:
    case = study(first=8, last=3)
    progress = followed(case, tmp_path)
    values = table(tmp_path)[:, 0]
    assert values[[0, -1]].tolist() == [8.0, 3.0]
    assert [fold["parameter"] for fold in progress.folds] == pytest.approx(FOLDS[::-1])


def test_border_that_lies_within_a_fold_is_not_passed(tmp_path: Path) -> None:
    """Neighboring points may both be inside while the branch turns outside between them."""
    border = FOLDS[0] - 1e-6
    case = study(last=border, beyond=0.0)
    progress = followed(case, tmp_path)
    assert progress.last.value == border
    assert places([progress.last])[0] < TURNS[0]
    assert progress.folds == []


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


def test_branch_that_does_not_come_back_as_soon_as_asked_is_not_waited_for(tmp_path: Path) -> None:
    at = ("5.9", 6)
    near, far = (study(last=6, at=at, beyond=beyond) for beyond in (0.3, 0.5))
    assert FOLDS[0] - 6 == pytest.approx(0.42, abs=0.01)
    counts = [
        [len(found) for found in followed(case, tmp_path / f"{case.setting.beyond}").crossings]
        for case in (near, far)
    ]
    assert counts == [[1, 1], [3, 3]]


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


@pytest.mark.parametrize(("lost", "at"), [(2.5, "6.4"), (1.6, "6:")])
def test_branch_that_is_lost_outside_its_range_has_arrived(
    lost: float, at: str, tmp_path: Path
) -> None:
    case = study(f"winding(lost={lost})", last=6)
    progress = followed(case, tmp_path)
    assert (progress.outcome, progress.last.value) == ("arrived", 6.0)
    assert progress.reason.startswith(f"lost outside the range at pot={at}")
    document = traced(case, tmp_path)
    assert (document["finished"], case.ending(document)) == (True, (0, ""))


def test_closed_curve_ends_at_its_start(tmp_path: Path) -> None:
    """Frequencies of the made-up curve are those of the start when it comes back the tenth time."""
    case = study("winding(shape=returning)", 3, 5, at=("3.5", 3))
    progress = followed(case, tmp_path)
    assert (progress.outcome, progress.returns) == ("closed", 9)
    assert [len(found) for found in progress.crossings] == [20, 20]
    resumed = followed(study("winding(shape=returning)", 3, 5, at=("3.5", 3)), tmp_path)
    assert (resumed.outcome, resumed.points) == ("closed", progress.points)


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


@pytest.mark.parametrize("shift", ["-1/20", "1/20"])
def test_crossings_are_counted_where_the_regularized_branch_turns(
    tmp_path: Path, shift: str
) -> None:
    """Whatever the equilibria's own folds are."""
    near = [FOLDS[0] - 1e-7, FOLDS[0] + 1e-7, FOLDS[1] - 1e-7, FOLDS[1] + 1e-7]
    case = study(f"winding(shift={shift})", at=near)
    progress = followed(case, tmp_path)
    assert [len(found) for found in progress.crossings] == [3, 1, 1, 3]
    assert progress.lost == [0, 0, 0, 0]
    for found in progress.crossings[::3]:
        assert len(set(places(found))) == 3
    folds = [fold["parameter"] for fold in progress.folds]
    assert folds == pytest.approx(np.add(FOLDS, float(Fraction(shift))))
    entries = traced(case, tmp_path)["at"]
    for entry in entries[::3]:
        assert entry["window"] == pytest.approx(sorted(FOLDS), abs=1e-9)


def test_border_that_cannot_be_computed_ends_the_branch_inside(tmp_path: Path) -> None:
    case = study("winding(hidden=8)")
    progress = followed(case, tmp_path)
    assert progress.outcome == "stalled"
    assert "passes 8 next, but the point cannot be computed" in progress.reason
    assert 7.5 < progress.last.value < 8
    assert table(tmp_path)[-1, 0] == progress.last.value


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


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


DAMAGES: list[tuple[str, str, Callable[[Path], object], str]] = [
    ("shorter", "points.csv", lambda file: file.write_bytes(file.read_bytes()[:-1]), "again"),
    ("changed", "points.csv", lambda file: replaced(file, b"3.0", b"3.1"), "again"),
    ("gone", "points.csv", Path.unlink, "trace the branch again"),
    ("pipe", "points.csv", pipe, "it is not a regular file"),
    ("nothing", "checkpoint.npz", lambda file: file.write_bytes(b"nothing"), "again"),
    ("cut", "checkpoint.npz", lambda file: file.write_bytes(file.read_bytes()[:-200]), "again"),
    ("pipe", "checkpoint.npz", pipe, "it is not a regular file"),
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
    with pytest.raises(UsageError, match=r"is damaged .* trace the branch again"):
        Progress.read(tmp_path, 0)


def test_checkpoint_that_would_fill_the_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eqbench.studies.trace.checkpoint.MOST_CHECKPOINT_BYTES", 2**20)
    bomb = tmp_path / "checkpoint.npz"
    np.savez_compressed(bomb, last=np.zeros(2**18))
    assert bomb.stat().st_size < 2**14
    with pytest.raises(UsageError, match="its arrays take more than 1 MiB"):
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
