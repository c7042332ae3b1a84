"""Branches of equilibria: points in equal arclength, files, folds and crossings."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.branches import made_up_branch

import eqbench
from eqbench.errors import ProfileError, UsageError
from eqbench.studies.branch import (
    columns,
    crossing_counts,
    read_points,
    turning_points,
    write_points,
)

FOLDED = [2.0, 3.0, 3.0, 2.5, 4.0]


def test_behavior_completes_the_free_frequencies() -> None:
    branch = made_up_branch("skp", FOLDED)
    behavior, start = branch.behavior(3), branch.game.tree.action_start[:-1]
    assert np.add.reduceat(behavior, start) == pytest.approx(1)
    assert behavior[branch.choices.action].tolist() == branch.free[3].tolist()


def test_points_in_equal_arclength_lie_on_the_polyline_between_its_ends() -> None:
    branch = made_up_branch("skp", FOLDED)
    length = branch.arclength[-1]
    even = branch.evenly(8)
    assert np.diff(even.arclength) == pytest.approx([length / 7] * 7)
    assert even.arclength[[0, -1]].tolist() == branch.arclength[[0, -1]].tolist()
    assert even.values == pytest.approx(np.interp(even.arclength, branch.arclength, branch.values))
    for f in range(branch.free.shape[1]):
        expected = np.interp(even.arclength, branch.arclength, branch.free[:, f])
        assert even.free[:, f] == pytest.approx(expected)


def test_points_in_equal_arclength_pass_repeated_points() -> None:
    branch = made_up_branch("skp", [2, 3])
    twice = np.array([0, 0, 1, 1])
    doubled = replace(
        branch,
        values=branch.values[twice],
        arclength=branch.arclength[twice],
        free=branch.free[twice],
        payoffs=branch.payoffs[twice],
    )
    even = doubled.evenly(3)
    assert even.values == pytest.approx([2, 2.5, 3])


def test_branch_in_the_wrong_order_is_refused() -> None:
    branch = made_up_branch("skp", FOLDED)
    with pytest.raises(UsageError, match="arclength"):
        replace(branch, arclength=branch.arclength[::-1])


@pytest.mark.parametrize(
    ("values", "turns"),
    [
        ([1, 2, 3], []),
        ([1, 3, 2, 4], [1, 2]),
        ([1, 3, 3, 2], [2]),
        ([1, 2, 2, 3], []),
        ([2, 2, 2], []),
        ([2, 2, 1, 1, 3], [3]),
    ],
)
def test_turning_points(values: list[float], turns: list[int]) -> None:
    assert turning_points(np.array(values, dtype=float)).tolist() == turns


@pytest.mark.parametrize("spec", ["skp", "kuhn2"])
def test_file_holds_the_same_numbers(tmp_path: Path, spec: str) -> None:
    branch, path = made_up_branch(spec, FOLDED), tmp_path / "points.csv"
    write_points(branch, path)
    again = read_points(branch.game, path)
    assert again.parameter == "pot"
    for name in ("values", "arclength", "free", "payoffs"):
        assert getattr(again, name).tolist() == getattr(branch, name).tolist()


def test_columns_name_players_information_sets_and_actions() -> None:
    names = columns(eqbench.load_game("skp").tree)
    assert names[:7] == ["parameter", "arclength", "u:P1", "u:P2", "u:P3", "P1|2:|bet", "P1|4:|bet"]
    assert names[-1] == "P3|3:BF|call"
    assert len(names) == 5 + 11  # Billingham 2018, §2: eleven frequencies


def stored(tmp_path: Path) -> tuple[Path, list[str]]:
    path = tmp_path / "points.csv"
    write_points(made_up_branch("skp", FOLDED), path)
    return path, path.read_text().splitlines()


def test_file_of_another_game_is_refused(tmp_path: Path) -> None:
    path, _ = stored(tmp_path)
    with pytest.raises(UsageError, match=r"'P1\|1:\|bet'"):
        read_points(eqbench.load_game("kuhn3"), path)
    with pytest.raises(UsageError, match="parameter"):
        read_points(eqbench.load_game("rock_paper_scissors"), path)


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (0, "parameter,arclength", "the column ''"),
        (2, "1,2,3", "line 3 .* not 16 finite numbers"),
        (2, ",".join(["1"] * 15 + ["nan"]), "line 3 .* not 16 finite numbers"),
        (2, ",".join(["0"] * 16), "arclength decreases"),
        (2, '"', "cannot read"),
        (3, ",".join(["4", "4", "0", "0", "0", "1.1", *["0"] * 10]), "line 4 .* frequencies"),
        (3, ",".join(["4", "4", "0", "0", "0", "-0.1", *["0"] * 10]), "line 4 .* frequencies"),
        (2, None, "holds 1 points"),
    ],
)
def test_damaged_file_is_refused(tmp_path: Path, line: int, text: str | None, message: str) -> None:
    path, lines = stored(tmp_path)
    lines[line:] = [] if text is None else [text, *lines[line + 1 :]]
    if message == "arclength decreases":
        lines[1] = ",".join(["1"] * 16)
    path.write_text("\n".join(lines))
    with pytest.raises((UsageError, ProfileError), match=message):
        read_points(eqbench.load_game("skp"), path)


def test_missing_file_and_pipe_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_points(eqbench.load_game("skp"), tmp_path / "points.csv")
    os.mkfifo(tmp_path / "points.csv")
    with pytest.raises(UsageError, match="regular"):
        read_points(eqbench.load_game("skp"), tmp_path / "points.csv")


@pytest.mark.parametrize(
    ("values", "tolerance", "breakpoints", "crossings"),
    [
        ([1, 2, 5], 0, [1, 5], [1]),
        ([1, 3, 2, 5], 0, [1, 2, 3, 5], [1, 3, 1]),  # every pair of folds adds two
        ([5, 2, 3, 1], 0, [1, 2, 3, 5], [1, 3, 1]),
        ([1, 4, 2], 0, [1, 2, 4], [1, 2]),
        ([1, 3.001, 2.999, 3.002, 2.998, 5], 0.01, [1, 5], [1]),
        ([3, 3, 3], 0, [], []),
        ([3, 3.001, 3], 0.01, [], []),
    ],
)
def test_crossings_are_counted_between_folds(
    values: list[float], tolerance: float, breakpoints: list[float], crossings: list[int]
) -> None:
    found = crossing_counts(np.array(values, dtype=float), tolerance)
    assert [part.tolist() for part in found] == [breakpoints, crossings]


def test_counts_agree_with_counting_one_by_one() -> None:
    rng = np.random.default_rng(5)
    for size in (2, 3, 10, 200):
        values = rng.normal(size=size)
        breakpoints, crossings = crossing_counts(values, 0.0)
        for value in rng.uniform(values.min(), values.max(), 50):
            one_by_one = np.sum((values[:-1] < value) != (values[1:] < value))
            k = int(np.searchsorted(breakpoints, value)) - 1
            assert crossings[k] == one_by_one
