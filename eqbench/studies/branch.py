"""A branch of regularized equilibria as data: its points, its file, its crossings, its profiles.

Symbols in shapes: K points, B breakpoints, F free frequencies, A actions, N players.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from eqbench.documents import open_text
from eqbench.equilibria import Identifier
from eqbench.errors import ProfileError, UsageError, known_labels
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import ROW_SUM_TOLERANCE, BehaviorProfile, action_labels
from eqbench.model.profile_json import profile_text
from eqbench.model.tree import FloatArray, GameTree
from eqbench.store.run_folder import write_texts
from eqbench.store.schema import IdentityRecord
from eqbench.text import cell_text, csv_text
from eqbench.verification import verify


@dataclass(frozen=True, eq=False)
class Branch:
    """Points of one curve of equilibria of a game with a payoff parameter.

    Attributes
    ----------
    game : at any value of its parameter
    parameter : its name, for example ``pot``
    values : float64 (K,), of the parameter; not monotone, since the curve folds
    arclength : float64 (K,), never decreasing; in the space of free frequencies and parameter
    free : float64 (K, F), frequencies in the order of :class:`eqbench.model.choices.Choices`
    payoffs : float64 (K, N)
    """

    game: Game
    parameter: str
    values: FloatArray
    arclength: FloatArray
    free: FloatArray
    payoffs: FloatArray

    def __post_init__(self) -> None:
        if np.any(np.diff(self.arclength) < 0):
            raise UsageError("arclength decreases along the branch; put its points in order")

    @cached_property
    def choices(self) -> Choices:
        """Which actions the free frequencies belong to."""
        return Choices.of(self.game.tree)

    def behavior(self, point: int) -> FloatArray:
        """All frequencies at a point, float64 (A,)."""
        return self.choices.behavior(self.free[point])

    @classmethod
    def of_table(cls, game: Game, parameter: str, table: FloatArray) -> Branch:
        """The branch with points (K, 2 + N + F) as they stand in its file."""
        ends = np.cumsum([1, 1, game.tree.n_players])
        values, arclength, payoffs, free = np.split(table, ends, axis=1)
        return cls(game, parameter, values[:, 0], arclength[:, 0], free, payoffs)

    @property
    def table(self) -> FloatArray:
        """Its points as they stand in its file, (K, 2 + N + F)."""
        return np.column_stack((self.values, self.arclength, self.payoffs, self.free))

    def broken(self) -> Branch:
        """The branch to be drawn as lines, with a point of nan wherever it was outside its range.

        Where it left and where it came back have the same parameter and the same arclength.
        """
        left = np.flatnonzero(~np.diff(self.table[:, :2], axis=0).any(axis=1))
        table = np.insert(self.table, left + 1, np.nan, axis=0)
        return self.of_table(self.game, self.parameter, table)

    def evenly(self, count: int) -> Branch:
        """Points of its polyline equally far apart, with both ends (Billingham 2018, §5.2)."""
        targets = np.linspace(self.arclength[0], self.arclength[-1], count)
        even = np.column_stack([np.interp(targets, self.arclength, own) for own in self.table.T])
        even[:, 1] = targets
        return self.of_table(self.game, self.parameter, even)


def turning_points(values: FloatArray) -> NDArray[np.int64]:
    """Points where a polyline of values (K,) turns back, int64, without its two ends.

    Where it stands still before it turns back, the last of the equal values. No line leads to nan.
    """
    moves = np.flatnonzero(np.diff(values))
    signs = np.sign(values[moves + 1] - values[moves])
    return moves[1:][signs[1:] * signs[:-1] < 0]


POINTS = "points.csv"  # file of a branch in the folder of a study
LEADING = ("parameter", "arclength")


def columns(tree: GameTree, leading: Sequence[str] = LEADING, of_players: str = "u") -> list[str]:
    """Names of all columns: parameter, arclength, ``u:P1``…, and frequencies ``P1|4:|bet``…

    `of_players` has letters of what players have: u for payoffs, p for payoffs over time.
    """
    frequencies = np.array(action_labels(tree))[Choices.of(tree).action]
    players = [f"{letter}:{player}" for letter in of_players for player in tree.players]
    return list(map(cell_text, [*leading, *players, *frequencies.tolist()]))


def missing_actions(full: GameTree, reduced: GameTree) -> dict[str, int]:
    """Actions that a reduced game lacks, by ``player|information set|action``."""
    left = set(action_labels(reduced))
    return {name: action for action, name in enumerate(action_labels(full)) if name not in left}


def write_points(branch: Branch, path: Path) -> None:
    """Write a branch so that :func:`read_points` returns the same numbers."""
    text = csv_text([columns(branch.game.tree), *branch.table.tolist()])
    path.write_text(text, encoding="utf-8", newline="")


def read_points(game: Game, path: Path, parameter: str | None = None) -> Branch:
    """The branch of `game` that a file holds, along its payoff parameter or another one.

    UsageError if the file cannot be read or does not fit the game, ProfileError if a frequency is
    negative, or those of an information set exceed 1.
    """
    tree, parameter = game.tree, parameter or game.tree.payoffs.parameter
    if parameter is None:
        raise UsageError(f"{game.spec} has no payoff parameter, so no branch belongs to it")
    rows = read_rows(game, path, lambda header: columns(tree))
    table = np.array([numbers for _, numbers in rows])
    if len(table) < 2:
        raise UsageError(f"{path} holds {len(table)} points; a branch has at least two")
    branch = Branch.of_table(game, parameter, table)
    free = branch.free
    totals = np.add.reduceat(free, Choices.of(tree).start[:-1], axis=1) if free.size else free
    # what is off by more than profiles may be
    wrong = np.any(free < -ROW_SUM_TOLERANCE, axis=1) | np.any(totals > 1 + ROW_SUM_TOLERANCE, 1)
    if wrong.any():
        raise ProfileError(
            f"line {int(wrong.argmax()) + 2} of {path} has frequencies that are "
            "negative or sum to more than 1; frequencies lie in [0, 1]"
        )
    return branch


def read_rows(
    game: Game, path: Path, columns_for: Callable[[list[str]], list[str]], names: int = 0
) -> list[tuple[list[str], list[float]]]:
    """Return of each row below the header the leading cells, so many names, and the numbers.

    UsageError if the file cannot be read, its header is not what `columns_for` returns for it, or
    a row has anything but finite numbers after its names.
    """
    try:
        with open_text(path) as file:
            lines = csv.reader(file, strict=True)
            header = next(lines, [])
            expected = columns_for(header)
            for found, name in zip_longest(header, expected, fillvalue=""):
                if found != name:
                    raise UsageError(
                        f"{path} does not fit {game.spec}: where it has the column {found!r}, "
                        f"{name!r} should be; {known_labels(found, expected)}"
                    )
            width = len(expected) - names
            return [
                (line[:names], _numbers(line[names:], lines.line_num, width, path))
                for line in lines
            ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"cannot read {path}: {error}; give the points.csv of a study") from None


def _numbers(line: list[str], number: int, width: int, path: Path) -> list[float]:
    with suppress(ValueError):
        row = list(map(float, line))
        if len(row) == width and np.isfinite(row).all():
            return row
    raise UsageError(
        f"line {number} of {path} is not {width} finite numbers; repeat what has written it"
    )


# Vertical pieces of regularized curves lean and wind by about this much.
VERTICAL = 1e-4


class Counts(NamedTuple):
    """Numbers of points of a branch by value of the parameter: a step function.

    Attributes
    ----------
    breakpoints : float64 (B,), ascending; the ends of the range of values, and folds
    counts : int64 (B-1,), points of the branch at each value between neighboring breakpoints
    """

    breakpoints: FloatArray
    counts: NDArray[np.int64]

    def intervals(self, count: int) -> list[tuple[float, float]]:
        """Intervals in which the branch has that many points at each value, ascending."""
        ends = self.breakpoints.tolist()
        return [(ends[k], ends[k + 1]) for k in np.flatnonzero(self.counts == count).tolist()]

    def window(self, value: float, count: int) -> tuple[float, float]:
        """The interval around a value in which the branch has `count` points at each value.

        Within rounding of a fold, where there is none, it is the value alone.
        """
        around = [ends for ends in self.intervals(count) if ends[0] <= value <= ends[1]]
        return around[0] if around else (value, value)

    @property
    def most(self) -> int:
        """The largest number of points at one value."""
        return int(self.counts.max(initial=0))


def crossing_counts(
    values: FloatArray, tolerance: float = VERTICAL, turns: Sequence[tuple[int, float]] = ()
) -> Counts:
    """Count how often a polyline of values (K,) takes each value.

    Ends and folds that are no further apart than `tolerance` become one breakpoint, so that a
    vertical piece counts neither as a piece of its own nor as folds, however it winds. `turns`
    says before which point it turns around between two points, and at which value.
    """
    values = np.insert(values, [row for row, _ in turns], [value for _, value in turns])
    pieces = values[np.concatenate(([0], turning_points(values), [len(values) - 1]))]
    order = np.sort(pieces)
    first = np.concatenate(([True], np.diff(order) > tolerance))
    breakpoints = order[first]
    at = np.searchsorted(breakpoints, pieces, side="right") - 1
    low, high = np.minimum(at[:-1], at[1:]), np.maximum(at[:-1], at[1:])
    change = np.zeros(len(breakpoints), dtype=np.int64)
    np.add.at(change, low, 1)
    np.add.at(change, high, -1)
    breakpoints, change = breakpoints[change != 0], change[change != 0]
    return Counts(breakpoints, np.cumsum(change)[:-1])


# A polished profile is an equilibrium up to this regret, as a share of the payoff range: some
# hundred times the rounding of the sums that the verifier forms. In three-player Kuhn poker with
# a pot of 3 it is 6e-13.
POLISHED = 1e-13
# Payoffs that differ by no more are the same.
SAME_PAYOFFS = 1e-8


@dataclass(frozen=True, eq=False)
class Measured:
    """A profile as the verifier sees it, in payoff units; an equilibrium up to rounding or not."""

    profile: BehaviorProfile
    payoffs: list[float]
    regrets: list[float]
    max_regret: float
    is_equilibrium: bool

    @property
    def behavior(self) -> FloatArray:
        """Frequencies float64 (A,)."""
        return self.profile.probabilities

    def identity(self, identifier: Identifier) -> IdentityRecord | None:
        """Return which known equilibrium it is, as records have it."""
        found = identifier.identify(self.profile, self.max_regret)
        return None if found is None else cast(IdentityRecord, found.to_json())

    def write(self, game: Game, folder: Path, name: str) -> dict[str, Any]:
        """Write the profile as JSON; return its file and what the verifier measures."""
        file = f"profiles/{name}.json"
        write_texts(folder, {file: profile_text(game.tree, self.profile, game.spec)})
        return {
            "payoffs": self.payoffs,
            "regrets": self.regrets,
            "max_regret": self.max_regret,
            "profile": file,
        }


def measured(tree: GameTree, behavior: FloatArray, rounding: float = POLISHED) -> Measured:
    """A profile, given as float64 (A,), as the verifier sees it.

    It is an equilibrium up to a regret that is `rounding`, as a share of the payoff range.
    """
    profile = BehaviorProfile.of(tree, behavior)
    seen = verify(tree, profile)
    payoffs, regrets = list(map(float, seen.payoffs)), list(map(float, seen.regrets))
    regret = float(seen.max_regret)
    return Measured(profile, payoffs, regrets, regret, regret <= rounding * tree.payoff_range)


def alike(vectors: Sequence[Any] | NDArray, tolerance: float) -> list[int]:
    """Place of the first vector that each is like: no entry differs by more than `tolerance`.

    A vector is held against those only that are like none before them.
    """
    table = np.array(vectors)
    first: list[int] = []
    places: list[int] = []
    for place, vector in enumerate(table):
        distances = np.abs(table[first] - vector).max(axis=1, initial=0.0)
        near = np.flatnonzero(distances <= tolerance)
        places.append(first[near[0]] if len(near) else place)
        if not len(near):
            first.append(place)
    return places


Payoffs = Sequence[float]


def distinct_payoffs(vectors: Iterable[Payoffs]) -> list[Payoffs]:
    """Those payoff vectors that differ from all before them by more than `SAME_PAYOFFS`."""
    found = list(vectors)
    places = alike(found, SAME_PAYOFFS)
    return [vector for place, vector in enumerate(found) if places[place] == place]
