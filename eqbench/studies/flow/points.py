"""The points of studies as tables in CSV, which grow by parts: ``points.csv``.

Symbols in shapes: K points of a run, N players, A actions.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.documents import open_text
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray, GameTree
from eqbench.store.run_folder import reported, write_texts
from eqbench.studies.branch import columns, read_rows
from eqbench.text import cell_text, csv_text

MOST_ROWS = 4000
MOST_NUMBERS = 1_000_000
LEAST_ROWS = 100  # where even these are more
LATE_POINTS = 2001  # 2,000 intervals
_EVEN = 1.5  # times the last distance of points is still the same distance


class SimulatedRun(NamedTuple):
    """Points of one trajectory, with the name that its run has in the summary."""

    name: str
    times: FloatArray  # (K,)
    behavior: FloatArray  # (K, A)
    payoffs: FloatArray  # (K, N), expected ones at these times
    profits: FloatArray  # (K, N), payoffs integrated over time
    value: float | None = None  # of the payoff parameter, if it is written with the points


def second_half(run: SimulatedRun) -> slice:
    """The points in the second half of the time of a run."""
    return slice(int(np.searchsorted(run.times, run.times[[0, -1]].mean())), None)


def late_part(run: SimulatedRun) -> slice:
    """The last points of a run, 2,001 at most, that are as close together as the last two."""
    steps = np.diff(run.times[-LATE_POINTS:])
    even = np.logical_and.accumulate(steps[::-1] <= _EVEN * steps[-1:])
    return slice(len(run.times) - 1 - int(even.sum()), None)


def run_columns(tree: GameTree, *, valued: bool = False) -> list[str]:
    """Return the columns of simulated runs; `valued` if the parameter is one of them."""
    leading = ["run", *([str(tree.payoffs.parameter)] if valued else []), "time"]
    return columns(tree, leading, "up")


def kept_rows(tree: GameTree, count: int) -> NDArray[np.int64]:
    """Return which of `count` points of a trajectory are written, int64, ascending.

    At most 4,000, and in large games no more than make a million numbers. If there are more
    points, half of those written are equally spread over the whole, and the others are the last
    ones one by one, so that orbits can still be drawn at the end.
    """
    most = max(min(MOST_ROWS, MOST_NUMBERS // len(run_columns(tree))), LEAST_ROWS)
    if count <= most:
        return np.arange(count)
    half = most // 2
    spread = np.linspace(0, count - half, half, endpoint=False).astype(np.int64)
    return np.concatenate((spread, np.arange(count - half, count)))


def append_points(path: Path, tree: GameTree, run: SimulatedRun, *, again: bool = False) -> None:
    """Write a run behind those that the file has, so that :func:`read_points` returns it.

    All runs of a file have a value, or none has. See :func:`append_rows`.
    """
    free = run.behavior[:, Choices.of(tree).action]
    table = np.column_stack((run.times, run.payoffs, run.profits, free))
    first = [cell_text(run.name), *([] if run.value is None else [run.value])]
    rows = [[*first, *row] for row in table.tolist()]
    append_rows(path, run_columns(tree, valued=run.value is not None), rows, again=again)


def append_rows(
    path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]], *, again: bool
) -> None:
    """Write rows behind those that the file has, below the header if there is none yet.

    All at one go: a process that ends meanwhile leaves all of them, or nothing. If it is done
    `again`, rows from before that begin with the same cells give way.
    """
    if again and path.exists():
        _drop_rows(path, {row[0] for row in rows})
    data = csv_text([*([] if path.exists() else [header]), *rows]).encode()
    # all is written when it is closed
    with reported(path), path.open("ab", buffering=len(data) + 1) as file:
        file.write(data)


def _drop_rows(path: Path, cells: set[str]) -> None:
    with open_text(path) as file:
        rows = list(csv.reader(file))
    kept = [*rows[:1], *(row for row in rows[1:] if not row or row[0] not in cells)]
    if len(kept) < len(rows):
        write_texts(path.parent, {path.name: csv_text(kept)})


def read_points(game: Game, path: Path) -> list[SimulatedRun]:
    """Return the runs that a file holds, in the order in which they were written.

    UsageError if it cannot be read, has other columns than this game asks for, or entries that
    are not finite numbers.
    """
    tree, choices, n = game.tree, Choices.of(game.tree), game.tree.n_players

    def expected(header: list[str]) -> list[str]:
        parameter = tree.payoffs.parameter
        return run_columns(tree, valued=parameter is not None and header[1:2] == [parameter])

    runs = []
    rows = read_rows(game, path, expected, names=1)
    for (name,), group in groupby(rows, key=lambda row: row[0]):
        table = np.array([own for _, own in group])
        # the value of the parameter, if it is there
        values, times, payoffs, profits, free = np.split(
            table, np.cumsum([table.shape[1] - 1 - 2 * n - choices.size, 1, n, n]), axis=1
        )
        behavior = np.array([choices.behavior(row) for row in free])
        value = float(values[0, 0]) if values.size else None
        runs.append(SimulatedRun(name, times[:, 0], behavior, payoffs, profits, value))
    return runs
