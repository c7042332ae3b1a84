"""The points of simulated trajectories as a table in CSV: ``points.csv``.

Symbols in shapes: K points of a run, N players, A actions.
"""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import StoreError, UsageError, known_labels
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray, GameTree
from eqbench.studies.branch_points import action_labels

MOST_ROWS = 4000
MOST_NUMBERS = 1_000_000
LEAST_ROWS = 100  # where even these are more


class SimulatedRun(NamedTuple):
    """Points of one trajectory.

    Attributes
    ----------
    name : str
        The name of the run in the summary.
    times : float64 (K,)
    behavior : float64 (K, A)
    payoffs : float64 (K, N)
        Expected ones at these times.
    profits : float64 (K, N)
        Payoffs integrated over time.
    """

    name: str
    times: FloatArray
    behavior: FloatArray
    payoffs: FloatArray
    profits: FloatArray


def columns(tree: GameTree) -> list[str]:
    """Names of all columns: run, time, ``u:P1``…, ``p:P1``…, and frequencies ``P1|4:|bet``…"""
    labels = action_labels(tree)
    figures = [f"{letter}:{player}" for letter in "up" for player in tree.players]
    return ["run", "time", *figures, *(labels[a] for a in Choices.of(tree).action.tolist())]


def kept_rows(tree: GameTree, count: int) -> NDArray[np.int64]:
    """Which of `count` points of a trajectory are written, int64, ascending.

    At most 4,000, and in large games no more than make a million numbers. If there are more
    points, half of those written are equally spread over the whole, and the others are the last
    ones one by one, so that orbits can still be drawn at the end.
    """
    most = max(min(MOST_ROWS, MOST_NUMBERS // len(columns(tree))), LEAST_ROWS)
    if count <= most:
        return np.arange(count)
    half = most // 2
    spread = np.linspace(0, count - half, half, endpoint=False).astype(np.int64)
    return np.concatenate((spread, np.arange(count - half, count)))


def append_points(path: Path, tree: GameTree, run: SimulatedRun) -> None:
    """Write a run behind those that the file has, so that :func:`read_points` returns it.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    free = run.behavior[:, Choices.of(tree).action]
    table = np.column_stack((run.times, run.payoffs, run.profits, free))
    try:
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            if not file.tell():
                writer.writerow(columns(tree))
            writer.writerows([run.name, *map(repr, row)] for row in table.tolist())
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror}; make the folder writable and simulate again"
        ) from None


def read_points(game: Game, path: Path) -> list[SimulatedRun]:
    """The runs that a file holds, in the order in which they were written.

    Raises
    ------
    UsageError
        If the file cannot be read, has other columns than this game asks for, or entries that
        are not finite numbers.
    """
    tree, expected = game.tree, columns(game.tree)
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = csv.reader(file, strict=True)
            _check_header(next(lines, []), expected, path)
            rows = [(row[:1], _numbers(row[1:], len(expected), path)) for row in lines]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read {path}: {error}; give that of a simulation") from None
    return [
        _run(tree, name, np.array([numbers for _, numbers in group]))
        for (name,), group in groupby(rows, key=lambda row: row[0])
    ]


def _run(tree: GameTree, name: str, table: FloatArray) -> SimulatedRun:
    n, choices = tree.n_players, Choices.of(tree)
    times, payoffs, profits, free = np.split(table, np.cumsum([1, n, n]), axis=1)
    behavior = np.array([choices.behavior(row) for row in free])
    return SimulatedRun(name, times[:, 0], behavior, payoffs, profits)


def _check_header(header: list[str], expected: list[str], path: Path) -> None:
    if header != expected:
        pairs = zip(header, expected, strict=False)
        found = next((one for one, other in pairs if one != other), f"{len(header)} columns")
        raise UsageError(
            f"{path} does not fit this game at {found!r}; name the game that was simulated. "
            f"Columns: {known_labels(found, expected)}"
        )


def _numbers(row: list[str], width: int, path: Path) -> list[float]:
    try:
        numbers = [float(text) for text in row]
    except ValueError:
        numbers = []
    if len(numbers) != width - 1 or not np.all(np.isfinite(numbers)):
        raise UsageError(
            f"{path} has the row {', '.join(row)[:60]!r}; after the name of its run a row has "
            f"{width - 1} finite numbers. Simulate again"
        )
    return numbers
