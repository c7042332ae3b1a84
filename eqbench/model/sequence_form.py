"""Sequence form for any number of players, compiled from the tree to flat arrays.

Symbols in shapes: N players, I information sets, A actions, S = N + A sequences, Z columns
(terminals merged by identical sequence tuples).

Sequence ids are global. Ids 0..N-1 are the empty sequences of the players; id N + a is the
sequence that ends in action a (actions as the tree numbers them). So the frequencies of a
behavior profile are simply the entries N.. of a vector over sequences (von Stengel 1996).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import CHANCE, TERMINAL, FloatArray, GameTree, IntArray, frozen

_ENTRY_NAMES = ("entry_start", "entry_opponents", "entry_last")


class FormArrays(NamedTuple):
    """What the kernels read; every array is C-contiguous and read-only.

    Indices are unsigned: Numba lets negative ones wrap around, and that check alone made the
    kernels 1.2 to 1.7 times slower.

    Attributes
    ----------
    block_start : uint32 (I+1,)
        First sequence of each information set; blocks are contiguous and end at S.
    parent : uint32 (I,)
        Sequence that leads to each information set.
    infoset_start : uint32 (N+1,)
        First information set of each player.
    entry_start : uint64 (S+1,)
        Per sequence s of a player p, its slice of `opponents` and `weight`.
    opponents : uint32 (N*Z, N-1)
        Sequences of the other players, in player order, on the paths that use s last.
    weight : float64 (N*Z,)
        Payoff of p on those paths times their chance probability.
    """

    block_start: NDArray[np.uint32]
    parent: NDArray[np.uint32]
    infoset_start: NDArray[np.uint32]
    entry_start: NDArray[np.uint64]
    opponents: NDArray[np.uint32]
    weight: FloatArray


@dataclass(frozen=True, eq=False)
class SequenceStructure:
    """Which sequences players have; `arrays` is what kernels read of them and their worth."""

    n_players: int
    block_start: IntArray
    parent: IntArray
    infoset_start: IntArray
    infoset_player: IntArray

    @property
    def arrays(self) -> Any:
        """The bundle that the kernels take."""
        raise NotImplementedError

    @property
    def outcomes(self) -> tuple[IntArray, FloatArray]:
        """Last sequences of all players, (Z, N) as `SequenceForm.columns`, and their chance."""
        raise NotImplementedError

    @property
    def n_infosets(self) -> int:
        return len(self.parent)

    @property
    def n_sequences(self) -> int:
        """Number of sequences S over all players, empty ones included."""
        return int(self.block_start[-1])

    @property
    def n_actions(self) -> int:
        return self.n_sequences - self.n_players

    @cached_property
    def sequence_infoset(self) -> IntArray:
        """Information set in which each sequence ends, int32 (S,); -1 for empty ones."""
        inside = np.repeat(np.arange(self.n_infosets), np.diff(self.block_start))
        return frozen(np.concatenate((np.full(self.n_players, -1), inside)).astype(np.int32))

    @cached_property
    def sequence_player(self) -> IntArray:
        """Player of each sequence, int32 (S,)."""
        of_actions = self.infoset_player[self.sequence_infoset[self.n_players :]]
        return frozen(np.concatenate((np.arange(self.n_players, dtype=np.int32), of_actions)))

    @cached_property
    def strategy_counts(self) -> tuple[int, ...]:
        """Number of strategies of each player in the reduced strategic form.

        After a sequence, a player has a continuation for every combination of what can be done at
        the information sets that may come next; what own moves exclude is not distinguished.
        """
        after = [1] * self.n_sequences
        for i in reversed(range(self.n_infosets)):
            after[self.parent[i]] *= sum(after[self.block_start[i] : self.block_start[i + 1]])
        return tuple(after[: self.n_players])

    @cached_property
    def depths(self) -> tuple[tuple[NDArray[np.intp], IntArray], ...]:
        """Sequences after 2, 3, .. own moves, and the one before each of them."""
        earlier = self.sequence_infoset[self.parent]  # own information set before, or -1
        depth, jump = (earlier >= 0).astype(np.intp), earlier
        while (jump >= 0).any():  # twice as far each time
            depth += np.where(jump >= 0, depth[jump], 0)
            jump = np.where(jump >= 0, jump[jump], -1)
        inside = self.sequence_infoset[self.n_players :]
        order = np.argsort(depth[inside], kind="stable")
        ends = np.cumsum(np.bincount(depth[inside]))
        levels = (order[first:last] for first, last in pairwise(ends.tolist()))
        return tuple((level + self.n_players, self.parent[inside[level]]) for level in levels)

    def flow(self) -> FloatArray:
        """Matrix E of all players, float64 (N + I, S); its first rows are those of the roots."""
        n = self.n_players
        matrix = np.zeros((n + self.n_infosets, self.n_sequences))
        matrix[:n, :n] = np.eye(n)
        matrix[n + np.arange(self.n_infosets), self.parent] = -1
        matrix[n + self.sequence_infoset[n:], np.arange(n, self.n_sequences)] = 1
        return matrix


@dataclass(frozen=True, eq=False)
class SequenceForm(SequenceStructure):
    """The compiled game that solvers work on.

    Attributes
    ----------
    columns : int32 (Z, N)
        Last sequence of every player, in lexicographic order, no row twice.
    chance : float64 (Z,)
        Chance probability of each column.
    base, slope : float64 (Z, N), slope None without a parameter
        Chance-weighted payoffs ``base + slope * value``.
    value : float
        Value of the payoff parameter, 0 without one.
    """

    columns: IntArray
    chance: FloatArray
    base: FloatArray
    slope: FloatArray | None
    value: float

    @property
    def outcomes(self) -> tuple[IntArray, FloatArray]:
        return self.columns, self.chance

    @cached_property
    def payoffs(self) -> FloatArray:
        """Chance-weighted payoffs at the present parameter, float64 (Z, N)."""
        payoffs = self.base if self.slope is None else self.base + self.slope * self.value
        return frozen(payoffs)

    @cached_property
    def _entries(self) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray]:
        """Columns listed per sequence: starts (S+1,), opponents (N*Z, N-1), and one more (N*Z,).

        That is the weight of each entry, or where there is a parameter its place in a table
        (Z, N). Players are sorted one after another, which saves memory.
        """
        n, z = self.n_players, len(self.columns)
        counts = [np.bincount(column, minlength=self.n_sequences) for column in self.columns.T]
        start = np.concatenate(([0], np.cumsum(np.sum(counts, axis=0))))
        opponents = np.empty((n * z, n - 1), dtype=np.uint32)
        last = np.empty(n * z, dtype=np.float64 if self.slope is None else np.int64)
        for p in range(n):
            order = np.argsort(self.columns[:, p], kind="stable")
            idle = counts[p][p]  # columns in which the player does not move come first
            acting = self.block_start[self.infoset_start[p]]
            for first, columns in ((start[p], order[:idle]), (start[acting], order[idle:])):
                here = slice(first, first + len(columns))
                for j, other in enumerate(q for q in range(n) if q != p):
                    opponents[here, j] = self.columns[columns, other]
                if self.slope is None:
                    last[here] = self.base[columns, p]
                else:
                    last[here] = columns * n + p
        return frozen(start.astype(np.uint64)), frozen(opponents), frozen(last)

    def _weight(self, table: FloatArray) -> FloatArray:
        """Numbers of a table (Z, N) in the order of entries, where there is a parameter."""
        return frozen(np.ascontiguousarray(table).ravel()[self._entries[2]])

    @cached_property
    def arrays(self) -> FormArrays:
        """The bundle that the kernels take."""
        start, opponents, weight = self._entries
        return FormArrays(
            frozen(self.block_start.astype(np.uint32)),
            frozen(self.parent.astype(np.uint32)),
            frozen(self.infoset_start.astype(np.uint32)),
            start,
            opponents,
            weight if self.slope is None else self._weight(self.payoffs),
        )

    @cached_property
    def base_arrays(self) -> FormArrays:
        """The bundle with the payoffs where the parameter is 0."""
        if self.slope is None:
            return self.arrays
        return self.arrays._replace(weight=self._weight(self.base))

    @cached_property
    def slope_arrays(self) -> FormArrays | None:
        """The bundle with the derivatives of payoffs by the parameter, None without one."""
        if self.slope is None:
            return None
        return self.arrays._replace(weight=self._weight(self.slope))

    def entry_arrays(self) -> dict[str, NDArray]:
        """What takes longest to compile, by name, for a file; see `take_entry_arrays`."""
        return dict(zip(_ENTRY_NAMES, self._entries, strict=True))

    def take_entry_arrays(self, arrays: dict[str, NDArray]) -> None:
        """Use what `entry_arrays` gave, instead of compiling it again."""
        self.__dict__["_entries"] = tuple(arrays[name] for name in _ENTRY_NAMES)

    def at(self, value: float) -> SequenceForm:
        """Same form with another value of the payoff parameter; structure is shared."""
        form = replace(self, value=value)
        for name in ("sequence_infoset", "_entries"):
            if name in self.__dict__:
                form.__dict__[name] = self.__dict__[name]
        return form


def compile_sequence_form(tree: GameTree) -> SequenceForm:
    """Sequence form of a game tree."""
    n = tree.n_players
    columns, group = merge_rows(last_sequences(tree))
    weight = _chance_reach(tree)
    payoffs = tree.payoffs
    rows = len(columns)
    slope, value = None, 0.0
    if payoffs.slope is None:
        base = _sum_rows(group, weight, payoffs.table, rows)
    else:
        scale = weight / payoffs.denominator
        base = _sum_rows(group, scale, payoffs.base, rows)
        slope = frozen(_sum_rows(group, scale, payoffs.slope, rows))
        value = float(payoffs.value or Fraction(0))
    parent = np.where(tree.infoset_parent < 0, tree.infoset_player, tree.infoset_parent + n)
    starts = np.searchsorted(tree.infoset_player, np.arange(n + 1))
    return SequenceForm(
        n_players=n,
        block_start=frozen((tree.action_start + n).astype(np.int32)),
        parent=frozen(parent.astype(np.int32)),
        infoset_start=frozen(starts.astype(np.int32)),
        infoset_player=tree.infoset_player,
        columns=frozen(columns),
        chance=frozen(np.bincount(group, weight, rows)),
        base=frozen(base),
        slope=slope,
        value=value,
    )


def last_sequences(tree: GameTree) -> IntArray:
    """Last sequence of each player at each terminal, int32 (Z, N)."""
    n = tree.n_players
    result = np.empty((tree.n_terminals, n), dtype=np.int32)
    last, done = np.arange(n, dtype=np.int32)[None], 0  # of the nodes at one depth, (K, N)
    for above, here in _depths(tree):
        if here.start > 0:
            parent = tree.parent[here]
            mover, infoset = tree.player[parent], tree.infoset[parent]
            last = last[parent - above.start]
            acting = np.flatnonzero(mover >= 0)
            action = tree.action_start[infoset[acting]] + tree.move[here][acting]
            last[acting, mover[acting]] = action + n
        ends = last[tree.player[here] == TERMINAL]
        result[done : done + len(ends)] = ends
        done += len(ends)
    return result


def _chance_reach(tree: GameTree) -> FloatArray:
    """Probability of each terminal as far as chance makes it, (Z,)."""
    result, done = np.empty(tree.n_terminals), 0
    reach = np.ones(1)  # of the nodes at one depth
    for above, here in _depths(tree):
        if here.start > 0:
            parent = tree.parent[here]
            reach = reach[parent - above.start]
            drawn = np.flatnonzero(tree.player[parent] == CHANCE)
            reach[drawn] *= tree.chance[here][drawn] / tree.chance_denominator
        ends = reach[tree.player[here] == TERMINAL]
        result[done : done + len(ends)] = ends
        done += len(ends)
    return result


def _depths(tree: GameTree) -> Iterator[tuple[slice, slice]]:
    """Pairs of the nodes at a depth and those above, from the root down."""
    return pairwise((slice(0, 0), *tree.levels))


def merge_rows(last: IntArray) -> tuple[IntArray, IntArray]:
    """Distinct rows in lexicographic order, and which of them each row is."""
    order = np.lexsort(last.T[::-1])
    last = last[order]
    new = np.ones(len(last), dtype=bool)
    new[1:] = np.any(last[1:] != last[:-1], axis=1)
    group = np.empty(len(last), dtype=np.int32)
    group[order] = np.cumsum(new, dtype=np.int32) - 1
    return last if new.all() else last[new], group


def _sum_rows(group: IntArray, weight: FloatArray, values: NDArray, rows: int) -> FloatArray:
    """Sums of weighted values (Z, K) over equal `group`, (rows, K)."""
    sums = np.empty((rows, values.shape[1]))
    for column, numbers in enumerate(values.T):
        sums[:, column] = np.bincount(group, weight * numbers, rows)
    return sums
