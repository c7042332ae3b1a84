"""Points of simulated trajectories as a file: written, thinned, read back, refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import eqbench
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.studies.flow.points import (
    MOST_ROWS,
    SimulatedRun,
    append_points,
    kept_rows,
    read_points,
    run_columns,
)

GAME = eqbench.load_game("kuhn2")


def made_up(name: str, count: int = 5) -> SimulatedRun:
    rng = np.random.default_rng(count)
    choices = Choices.of(GAME.tree)
    behavior = np.array([choices.behavior(rng.random(choices.size)) for _ in range(count)])
    payoffs, profits = rng.standard_normal((2, count, 2))
    return SimulatedRun(name, np.sort(rng.random(count)), behavior, payoffs, profits)


def test_runs_come_back_as_they_were_written(tmp_path: Path) -> None:
    runs = [made_up("pot=2 seed 0"), made_up('start "a,b".json', 3)]
    for run in runs:
        append_points(tmp_path / "points.csv", GAME.tree, run)
    found = read_points(GAME, tmp_path / "points.csv")
    assert [run.name for run in found] == [run.name for run in runs]
    for one, other in zip(found, runs, strict=True):
        assert (one.value, other.value) == (None, None)
        for here, there in zip(one[1:-1], other[1:-1], strict=True):
            np.testing.assert_array_equal(here, there)


def test_value_of_the_parameter_comes_after_the_run(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    runs = [made_up(name)._replace(value=value) for name, value in (("one", 2.5), ("other", 0.1))]
    for run in runs:
        append_points(path, GAME.tree, run)
    parameter = GAME.tree.payoffs.parameter
    lines = path.read_text().splitlines()
    assert lines[0].split(",")[:4] == ["run", parameter, "time", "u:P1"]
    assert lines[1].startswith("one,2.5,")
    found = read_points(GAME, path)
    assert [run.value for run in found] == [2.5, 0.1]
    for run, expected in zip(found, runs, strict=True):
        np.testing.assert_array_equal(run.times, expected.times)
        np.testing.assert_array_equal(run.behavior, expected.behavior)


def test_value_of_another_parameter_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    append_points(path, GAME.tree, made_up("one")._replace(value=2.5))
    path.write_text(path.read_text().replace("run,pot,", "run,ante,", 1))
    with pytest.raises(UsageError, match="'ante'"):
        read_points(GAME, path)


def test_columns_name_players_and_places() -> None:
    names = run_columns(GAME.tree)
    assert names[:6] == ["run", "time", "u:P1", "u:P2", "p:P1", "p:P2"]
    assert names[6:8] == ["P1|1:|bet", "P1|2:|bet"]


def test_long_runs_are_thinned_but_for_their_end() -> None:
    rows = kept_rows(GAME.tree, 100_001)
    assert len(rows) == MOST_ROWS
    assert rows[0] == 0
    steps = np.diff(rows)
    assert set(steps[:1999].tolist()) <= {49, 50}
    assert set(steps[2000:].tolist()) == {1}
    assert rows[-1] == 100_000
    assert np.all(steps > 0)


@pytest.mark.parametrize("count", [1, 2, MOST_ROWS])
def test_short_runs_are_kept_whole(count: int) -> None:
    assert kept_rows(GAME.tree, count).tolist() == list(range(count))
    assert len({*kept_rows(GAME.tree, MOST_ROWS + 1).tolist()}) == MOST_ROWS


def test_large_games_have_fewer_rows() -> None:
    tree = eqbench.load_game("leduc").tree
    rows = kept_rows(tree, 10_000)
    assert 0.99e6 <= len(rows) * len(run_columns(tree)) <= 1e6
    assert set(np.diff(rows)[-len(rows) // 2 + 1 :].tolist()) == {1}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.replace("P1|1:|bet", "P1|9:|bet"), "P1|9:|bet"),
        (lambda text: text.split("\n")[0].rsplit(",", 1)[0], "does not fit"),
        (lambda text: text + "seed 0,1,2\n", "finite numbers"),
        (lambda text: text + text.split("\n")[1].rsplit(",", 1)[0] + ",nan\n", "finite numbers"),
        (lambda text: text + text.split("\n")[1].rsplit(",", 1)[0] + ",x\n", "finite numbers"),
        (lambda text: text + "\n", "finite numbers"),
        (lambda text: "", "does not fit"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, change: object, words: str) -> None:
    path = tmp_path / "points.csv"
    append_points(path, GAME.tree, made_up("seed 0"))
    path.write_text(change(path.read_text()))  # type: ignore[operator]
    with pytest.raises(UsageError, match=words.replace("|", r"\|")):
        read_points(GAME, path)


def test_missing_file_and_pipe_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_points(GAME, tmp_path / "points.csv")
    os.mkfifo(tmp_path / "points.csv")
    with pytest.raises(UsageError, match="regular"):
        read_points(GAME, tmp_path / "points.csv")
