"""Following a branch: what is written down, where it ends, and how it goes on after a break."""

from __future__ import annotations

import io
import json
import math
import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from trace_cases import FOLDS, TURNS, new_folder, setting, table

from eqbench.continuation import BranchPoint
from eqbench.errors import EqbenchError, UsageError
from eqbench.studies.branch import read_points
from eqbench.studies.trace.folder import Progress, TraceFolder
from eqbench.studies.trace.follow import Control, crossings_of, pieces, start_of
from eqbench.studies.trace.study import conclude, trace

POINT = BranchPoint(3.0, np.full(2, 0.5), np.ones(2, bool), 1.0, "", {"t": np.array(0.0)})


def places(points: list) -> list[float]:
    """Parameters t of points of the made-up curve."""
    return [float(point.state["t"]) for point in points]


def test_branch_is_written_from_its_start_to_the_border_exactly(tmp_path: Path) -> None:
    case = setting()
    folder = new_folder(tmp_path / "t", case)
    progress = trace(case, folder)
    branch = read_points(case.game, folder.points)
    assert (progress.outcome, progress.points) == ("arrived", len(branch.values))
    assert branch.values[[0, -1]].tolist() == [3.0, 8.0]
    assert branch.values.max() == 8.0
    steps = np.diff(np.column_stack((branch.free, branch.values)), axis=0)
    assert branch.arclength[0] == 0
    assert np.diff(branch.arclength) == pytest.approx(np.linalg.norm(steps, axis=1))
    k = len(branch.values) // 2
    game = case.game.at(pot=float(branch.values[k]))
    paid = game.payoff_model().expected_payoffs(branch.behavior(k))
    assert branch.payoffs[k] == pytest.approx(paid, abs=1e-14)


def test_folds_are_noted_with_their_payoffs(tmp_path: Path) -> None:
    case = setting()
    progress = trace(case, new_folder(tmp_path / "t", case))
    assert [fold["parameter"] for fold in progress.folds] == pytest.approx(FOLDS)
    for fold, place in zip(progress.folds, TURNS, strict=True):
        at_fold = case.game.at(pot=fold["parameter"]).payoff_model()
        behavior = case.continuation.behavior(place)  # type: ignore[attr-defined]
        assert fold["payoffs"] == pytest.approx(at_fold.expected_payoffs(behavior), abs=1e-9)
        assert fold["exact"] is False


def test_branch_points_are_noted(tmp_path: Path) -> None:
    case = setting()
    progress = trace(case, new_folder(tmp_path / "t", case))
    assert progress.branch_points, "the made-up curve announces some"
    for found in progress.branch_points:
        assert 5 - 1.5 < found["parameter"] - 3 < 5.2
        assert len(found["payoffs"]) == 3


def test_branch_that_returns_ends_where_it_began(tmp_path: Path) -> None:
    case = setting("winding(shape=returning)", 3, 5)
    folder = new_folder(tmp_path / "t", case)
    progress = trace(case, folder)
    assert progress.outcome == "arrived"
    assert progress.last.value == 3.0
    assert places([progress.last]) == pytest.approx([np.pi])
    assert [fold["parameter"] for fold in progress.folds] == pytest.approx([4.0])


def test_branch_is_followed_downwards(tmp_path: Path) -> None:
    case = setting(first=8, last=3)
    folder = new_folder(tmp_path / "t", case)
    progress = trace(case, folder)
    values = table(folder)[:, 0]
    assert values[[0, -1]].tolist() == [8.0, 3.0]
    assert [fold["parameter"] for fold in progress.folds] == pytest.approx(FOLDS[::-1])


def test_border_that_lies_within_a_fold_is_not_passed(tmp_path: Path) -> None:
    """Neighboring points may both be inside while the branch turns outside between them."""
    border = FOLDS[0] - 1e-6
    case = setting(last=border)
    folder = new_folder(tmp_path / "t", case)
    progress = trace(case, folder)
    assert progress.last.value == border
    assert places([progress.last])[0] < TURNS[0]
    assert progress.folds == []


def test_crossings_are_found_in_order_and_ends_count_once(tmp_path: Path) -> None:
    case = setting(at=("6.1", 3, 8, "7/2"))
    progress = trace(case, new_folder(tmp_path / "t", case))
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
    case = setting(f"winding(shift={shift})", at=near)
    folder = new_folder(tmp_path / "t", case)
    progress = trace(case, folder)
    assert [len(found) for found in progress.crossings] == [3, 1, 1, 3]
    assert progress.lost == [0, 0, 0, 0]
    for found in progress.crossings[::3]:
        assert len(set(places(found))) == 3
    folds = [fold["parameter"] for fold in progress.folds]
    assert folds == pytest.approx(np.add(FOLDS, float(Fraction(shift))))
    entries = conclude(case, folder, progress)["at"]
    for entry in entries[::3]:
        assert entry["window"] == pytest.approx(sorted(FOLDS), abs=1e-9)


def test_value_may_be_a_number_of_numpy() -> None:
    case = setting()
    point = start_of(case)
    piece = next(pieces(case, point))
    crossings = crossings_of(case.continuation, piece, np.float64(piece.after.value))
    assert (crossings.found, crossings.lost) == ([piece.after], 0)


def test_border_that_cannot_be_computed_ends_the_branch_inside(tmp_path: Path) -> None:
    case = setting("winding(hidden=8)")
    folder = new_folder(tmp_path / "t", case)
    progress = trace(case, folder)
    assert progress.outcome == "stalled"
    assert "passes 8 next, but the point cannot be computed" in progress.reason
    assert 7.5 < progress.last.value < 8
    assert table(folder)[-1, 0] == progress.last.value


def test_corners_name_the_actions_that_come_and_go(tmp_path: Path) -> None:
    case = setting("winding(corner=5)")
    progress = trace(case, new_folder(tmp_path / "t", case))
    (corner,) = progress.corners
    low, high = (3 + t + 1.5 * math.sin(t) for t in (4.8, 5.2))
    assert low < corner["parameter"] < high
    assert (corner["enter"], corner["leave"]) == (["P1|2:|bet"], ["P1|2:|check"])
    assert setting().continuation.start(3).played.all()


def test_pieces_that_were_traced_one_by_one_are_those_of_one_trace(tmp_path: Path) -> None:
    options = {"at": ("6.1", 3)}
    whole = setting(**options)
    folder = new_folder(tmp_path / "whole", whole)
    expected = conclude(whole, folder, trace(whole, folder))
    parts = TraceFolder(new_folder(tmp_path / "parts", whole).path)
    for points in range(2, 100):
        case = setting(**options)  # as in a process of its own
        progress = trace(case, parts, Control(most_points=points))
        if progress.over:
            break
        assert (progress.outcome, progress.points) == ("points", points)
    assert progress.over
    assert parts.points.read_bytes() == folder.points.read_bytes()
    made = conclude(case, parts, progress)
    for clock in ("elapsed_s", "cpu_s"):
        assert made.pop(clock) > 0
        assert expected.pop(clock) > 0
    assert made == expected
    assert made["steps"] == progress.points - 1 >= 30


def test_what_was_written_after_the_last_checkpoint_is_cut_off(tmp_path: Path) -> None:
    case = setting()
    folder = new_folder(tmp_path / "t", case)
    trace(case, folder)
    whole = folder.points.read_bytes()
    other = new_folder(tmp_path / "killed", case)
    trace(case, other, Control(most_points=10))
    with other.points.open("ab") as file:
        file.write(b"3.5,0.1,tor")
    trace(setting(), other)
    assert other.points.read_bytes() == whole


def test_trace_that_was_killed_before_its_first_checkpoint_begins_anew(tmp_path: Path) -> None:
    case = setting()
    folder = new_folder(tmp_path / "t", case)
    folder.points.write_text("parameter,ar")
    assert trace(case, folder).outcome == "arrived"
    assert table(folder)[0, 0] == 3.0


@pytest.mark.parametrize("damage", ["shorter", "changed", "gone", "checkpoint", "cut checkpoint"])
def test_damaged_files_are_refused(tmp_path: Path, damage: str) -> None:
    case = setting()
    folder = new_folder(tmp_path / "t", case)
    trace(case, folder, Control(most_points=10))
    checkpoint = folder.path / "checkpoint.npz"
    data = folder.points.read_bytes()
    if damage == "shorter":
        folder.points.write_bytes(data[:-1])
    elif damage == "changed":
        folder.points.write_bytes(data.replace(b"3.0", b"3.1", 1))
    elif damage == "gone":
        folder.points.unlink()
    elif damage == "checkpoint":
        checkpoint.write_bytes(b"nothing")
    else:
        checkpoint.write_bytes(checkpoint.read_bytes()[:-200])
    with pytest.raises(UsageError, match="trace the branch again"):
        trace(setting(), folder)


@pytest.mark.parametrize("name", ["points.csv", "checkpoint.npz", "summary.json", "trace.json"])
def test_pipes_in_place_of_files_are_not_waited_for(tmp_path: Path, name: str) -> None:
    case = setting()
    folder = new_folder(tmp_path / "t", case)
    trace(case, folder, Control(most_points=10))
    (folder.path / name).unlink(missing_ok=True)
    os.mkfifo(folder.path / name)
    readers = {"summary.json": folder.summary, "trace.json": folder.request}
    read = readers.get(name, lambda: trace(setting(), folder))
    with pytest.raises(UsageError, match="it is no regular file"):
        read()


def test_points_begin_anew_where_a_pipe_lies(tmp_path: Path) -> None:
    case = setting()
    folder = new_folder(tmp_path / "t", case)
    os.mkfifo(folder.points)
    trace(case, folder, Control(most_points=3))
    assert len(table(folder)) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"points": "many", "size": "x", "outcome": 7, "elapsed_s": [1]},
        {"outcome": "lost"},
        {"elapsed_s": -1.0},
        {"folds": [{"parameter": 1.0}]},
        {"turns": [[1, 2, 3]]},
        {"lost": [0]},
    ],
    ids=str,
)
def test_checkpoint_of_other_types_is_refused(change: dict) -> None:
    progress = Progress(POINT, [])
    request = setting().request
    assert Progress.from_bytes(progress.to_bytes(), request).last.value == 3.0
    vars(progress).update(change)
    with pytest.raises(UsageError, match=r"checkpoint of this trace is damaged .* trace the"):
        Progress.from_bytes(progress.to_bytes(), request)


@pytest.mark.parametrize(
    "change",
    [
        {"value": "3"},
        {"event": "surprise"},
        {"behavior": np.array([0.5, np.nan])},
        {"behavior": np.array(["a", "b"])},
        {"played": np.array([True])},
    ],
    ids=str,
)
def test_checkpoint_with_other_points_is_refused(change: dict) -> None:
    data = Progress(replace(POINT, **change), []).to_bytes()
    with pytest.raises(UsageError, match="checkpoint of this trace is damaged"):
        Progress.from_bytes(data, setting().request)


def test_checkpoint_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqbench.studies.trace.folder.MOST_CHECKPOINT_BYTES", 2**20)
    bomb = io.BytesIO()
    np.savez_compressed(bomb, last=np.zeros(2**18))
    assert len(bomb.getvalue()) < 2**14
    with pytest.raises(UsageError, match="its arrays take more than 1 MiB"):
        Progress.from_bytes(bomb.getvalue(), setting().request)


def test_lost_branch_keeps_what_was_found_and_stays_lost(tmp_path: Path) -> None:
    case = setting("winding(lost=2)", at=(3, 7))
    folder = new_folder(tmp_path / "t", case)
    progress = trace(case, folder)
    document = conclude(case, folder, progress)
    assert (document["finished"], document["outcome"]) == (False, "stalled")
    assert document["reason"].startswith(f"stalled at pot={progress.last.value:.9g}: the road")
    assert document["points"] == len(table(folder)) > 5
    assert [entry["crossings"] for entry in document["at"]] == [1, 0]
    before = folder.points.read_bytes()
    assert trace(setting("winding(lost=2)", at=(3, 7)), folder).outcome == "stalled"
    assert folder.points.read_bytes() == before


def test_branch_that_is_lost_at_once_has_one_point(tmp_path: Path) -> None:
    case = setting("winding(lost=0)", at=(3,), at_most=True)
    folder = new_folder(tmp_path / "t", case)
    document = conclude(case, folder, trace(case, folder))
    assert document["points"] == 1
    assert document["at"][0]["window"] == [3.0, 3.0]
    assert len(document["at"]) == 1


def test_branch_without_a_start_is_an_error(tmp_path: Path) -> None:
    case = setting("winding(start=false)")
    with pytest.raises(EqbenchError, match="no branch begins at pot=3: there is none"):
        trace(case, new_folder(tmp_path / "t", case))


def test_trace_stops_when_it_is_told_to(tmp_path: Path) -> None:
    case = setting("winding(delay_s=0.02)")
    folder = new_folder(tmp_path / "t", case)
    answers = iter([False, False, True])
    progress = trace(case, folder, Control(stop=lambda: next(answers)))
    assert (progress.outcome, progress.points) == ("interrupted", 4)
    progress = trace(case, folder, Control(time_s=0.01))
    assert (progress.outcome, progress.points) == ("time", 5)
    assert progress.reason == "stopped after 0.01 s"


def test_progress_is_reported_from_time_to_time(tmp_path: Path) -> None:
    case = setting("winding(delay_s=0.03)")
    told: list[tuple[float, int]] = []
    control = Control(report=lambda value, points: told.append((value, points)))
    progress = trace(case, new_folder(tmp_path / "t", case), control)
    assert 1 <= len(told) < progress.points / 2
    assert all(3 < value < 8 for value, _ in told)


def test_summary_of_an_earlier_state_does_not_survive(tmp_path: Path) -> None:
    case = setting()
    folder = new_folder(tmp_path / "t", case)
    conclude(case, folder, trace(case, folder, Control(most_points=5)))
    document = folder.summary()
    assert document is not None
    assert document["reason"] == "stopped after 5 points"
    trace(setting(), folder)
    assert folder.summary() is None


def test_request_survives_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    case = setting(first="8/3", at=("10/3",), at_most=True, starts=3, seed=5)
    folder = new_folder(tmp_path / "t", case)
    assert TraceFolder.open(folder.path).request() == (case.request, "1")
    file = folder.path / "trace.json"
    about = json.loads(file.read_text())
    others = [{"schema": "x"}, {"solver_version": 1}]
    changes = [
        {"game": 7},
        {"first": "1/0"},
        {"at": ["1e999999999"]},
        {"starts": "many"},
        {"more": 1},
    ]
    others += [{"request": about["request"] | change} for change in changes]
    texts = [json.dumps(about | other) for other in others]
    for text in ("{", "[]", json.dumps(about)[:-9], *texts):
        file.write_text(text)
        with pytest.raises(UsageError, match=r"damaged|format"):
            folder.request()
    with pytest.raises(UsageError, match="holds no trace"):
        TraceFolder.open(tmp_path)
    with pytest.raises(UsageError, match="already holds a trace"):
        new_folder(folder.path, case)


def test_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="holds other files and no trace; choose a new"):
        new_folder(tmp_path, setting())
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
