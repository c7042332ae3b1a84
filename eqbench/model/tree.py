"""The game tree as flat arrays: the one truth about a game.

Symbols in shapes: M nodes, N players, I information sets, A actions over all information
sets, Z terminal nodes.

Nodes stand in breadth-first order with the children of a node side by side, in action order.
So `parent` never decreases, every depth is one contiguous block, and a sweep over the tree is
a handful of array operations. Information sets stand in order of player, then of the number
of earlier decisions of that player, so that one forward or backward pass over them is enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import GameFormatError
from eqbench.model.rational import not_to_zero

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]

CHANCE = -1
TERMINAL = -2
INT64_SAFE = 2**62
VALUE_DIGITS = 4000  # Python writes no longer integers
LARGEST_PAYOFF = 1e300  # leaves room for differences, and for sums over players
# Where the largest payoff is this many times the stakes, floats have ten digits left for them,
# and the usual tolerance, 1e-6 of the range, would come near to the stakes themselves.
LARGEST_TO_STAKES = 10**5
# Of what is at stake a tolerance of 1e-6 is then a thousandth at most.
RANGE_TO_MOST = 10**3


@dataclass(frozen=True, eq=False)
class Payoffs:
    """Payoffs at the terminals, kept exactly as integers over one denominator.

    With a parameter (for poker the pot) the payoff is ``base + slope * value``; otherwise
    `slope` is None. The tree owns the arrays; they are read-only.

    Attributes
    ----------
    base, slope : int64 (Z, N), or float64 if the source is not exact
        Numerators over `denominator`.
    denominator : int
        Positive; 1 when the source is not exact.
    parameter, value : str, Fraction or None
        Name and present value of the real parameter.
    """

    base: NDArray
    denominator: int = 1
    slope: NDArray | None = None
    parameter: str | None = None
    value: Fraction | None = None

    def __post_init__(self) -> None:
        given = [part is not None for part in (self.slope, self.parameter, self.value)]
        if any(given) != all(given):
            raise GameFormatError("payoffs with a parameter need its name, its value and a slope")
        value = self.value or 0
        if max(abs(value.numerator), value.denominator) >= 10**VALUE_DIGITS:
            raise GameFormatError(
                f"the value of {self.parameter} has more than {VALUE_DIGITS:,} digits"
            )

    @property
    def exact(self) -> bool:
        """Whether the payoffs are known as rationals."""
        return self.base.dtype.kind == "i"

    @cached_property
    def table(self) -> FloatArray:
        """Payoffs as float64 (Z, N); those that are known as rationals are rounded once.

        Raises
        ------
        GameFormatError
            If a payoff is beyond floats, or so large that differences and sums would be.
        """
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                table = np.ascontiguousarray(self._rounded(), dtype=np.float64)
        except OverflowError:
            table = np.full(1, np.inf)
        if not -LARGEST_PAYOFF <= table.min() <= table.max() <= LARGEST_PAYOFF:
            raise GameFormatError(
                f"a payoff is not finite; payoffs must be numbers of at most {LARGEST_PAYOFF:g}"
            )
        table.setflags(write=False)
        return table

    def _rounded(self) -> NDArray:
        if self.slope is None:
            # NumPy rounds large integers before it divides, Python does not
            small = not self.exact or max(self.denominator, largest_integer(self.base)) < 2**53
            return (self.base if small else self.base.astype(object)) / self.denominator
        assert self.value is not None
        p, q = self.value.numerator, self.value.denominator
        if self.exact and self._bound() < 2**53 and self.denominator * q < 2**53:
            return (self.base * q + self.slope * p) / (self.denominator * q)
        if self.exact:  # floats would lose what is left where base and slope cancel
            numerators, denominator = self.rational()
            return numerators.astype(object) / denominator
        return (self.base + self.slope * float(self.value)) / self.denominator

    def rational(self) -> tuple[NDArray, int]:
        """Exact payoffs: integer numerators (Z, N), int64 or object, and their denominator."""
        if not self.exact:
            raise TypeError("the payoffs of this game are floating-point numbers, not rationals")
        if self.slope is None:
            return self.base, self.denominator
        assert self.value is not None
        p, q = self.value.numerator, self.value.denominator
        base, slope = self.base, self.slope
        if max(self._bound(), q, abs(p)) >= INT64_SAFE:
            base, slope = base.astype(object), slope.astype(object)
        return base * q + slope * p, self.denominator * q

    def _bound(self) -> int:
        """Bound on the numerators of exact payoffs at the present value of the parameter."""
        assert self.value is not None
        assert self.slope is not None
        p, q = self.value.numerator, self.value.denominator
        return largest_integer(self.base) * q + largest_integer(self.slope) * abs(p)


def largest_integer(array: NDArray) -> int:
    """Largest absolute value of integers, of the least int64 too."""
    return max(int(array.max()), -int(array.min()))


@dataclass(frozen=True, eq=False)
class GameTree:
    """An extensive-form game with perfect recall. Build it with a builder, never by hand.

    Attributes
    ----------
    players : tuple of str
        Labels, in playing order.
    parent : int32 (M,)
        Parent node, -1 at the root (node 0).
    move : int32 (M,)
        Position among the actions (or chance outcomes) of the parent; -1 at the root.
    player : int8 (M,)
        Who moves: 0..N-1, CHANCE or TERMINAL.
    infoset : int32 (M,)
        Information set of a decision node, otherwise -1.
    chance : int64 (M,), or float64 if the source is not exact
        Numerator, over `chance_denominator`, of the probability of a chance outcome at the
        node that it leads to; 0 at nodes that a player's action leads to, and at the root.
    payoffs : Payoffs
        Rows in the order of `terminals`.
    infoset_labels, infoset_actions : tuples of length I
        Labels of the information sets and of their actions.
    infoset_player : int32 (I,)
    infoset_parent : int32 (I,)
        The player's last own action before the information set, as an index into the A
        actions, or -1 if it is their first decision.
    chance_labels : mapping of int to str
        Labels of outcomes of chance by the nodes that they lead to, as far as they have any. They
        are for people: no part of what defines the game, and not kept in files of arrays.

    Examples
    --------
    >>> import eqbench
    >>> tree = eqbench.load_game("kuhn2").tree
    >>> tree
    <GameTree: 2 players, 55 nodes, 12 information sets, 30 terminals>
    >>> tree.players, tree.infoset_labels[0], tree.infoset_actions[0]
    (('P1', 'P2'), '1:', ('check', 'bet'))
    """

    players: tuple[str, ...]
    parent: IntArray
    move: IntArray
    player: NDArray[np.int8]
    infoset: IntArray
    chance: NDArray
    chance_denominator: int
    payoffs: Payoffs
    infoset_labels: tuple[str, ...]
    infoset_actions: tuple[tuple[str, ...], ...]
    infoset_player: IntArray
    infoset_parent: IntArray
    chance_labels: Mapping[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"<GameTree: {self.n_players} players, {self.n_nodes:,} nodes, "
            f"{self.n_infosets:,} information sets, {self.n_terminals:,} terminals>"
        )

    # -- sizes ----------------------------------------------------------------------------

    @property
    def n_players(self) -> int:
        return len(self.players)

    @property
    def n_nodes(self) -> int:
        return len(self.parent)

    @property
    def n_infosets(self) -> int:
        return len(self.infoset_labels)

    @property
    def n_actions(self) -> int:
        """Number of actions A, summed over all information sets."""
        return int(self.action_start[-1])

    @property
    def n_terminals(self) -> int:
        return len(self.terminals)

    @property
    def exact(self) -> bool:
        """Whether chance probabilities and payoffs are known as rationals."""
        return self.payoffs.exact and self.chance.dtype.kind == "i"

    def in_integers(self) -> GameTree:
        """Tree whose float payoffs are the binary fractions that they are, over one denominator.

        The same tree if its payoffs are rational, its chance is in floats, or numerators would not
        fit into 62 bits.
        """
        if self.payoffs.exact or self.chance.dtype.kind != "i":
            return self
        ratios = [x.as_integer_ratio() for x in self.payoffs.table.ravel().tolist()]
        unit = max(q for _, q in ratios)  # all are powers of two
        numerators = [p * (unit // q) for p, q in ratios]
        if max(unit, *map(abs, numerators)) >= INT64_SAFE:
            return self
        table = np.array(numerators, dtype=np.int64).reshape(self.payoffs.base.shape)
        return replace(self, payoffs=Payoffs(table, unit))

    # -- derived arrays -------------------------------------------------------------------

    @cached_property
    def action_start(self) -> IntArray:
        """First action of each information set, int32 (I+1,); blocks are contiguous."""
        counts = [len(actions) for actions in self.infoset_actions]
        return frozen(np.concatenate(([0], np.cumsum(counts))).astype(np.int32))

    @cached_property
    def action_infoset(self) -> IntArray:
        """Information set of each action, int32 (A,)."""
        sets = np.arange(self.n_infosets, dtype=np.int32)
        return frozen(np.repeat(sets, np.diff(self.action_start)))

    @cached_property
    def terminals(self) -> IntArray:
        """Terminal nodes in ascending order, int32 (Z,)."""
        return frozen(np.flatnonzero(self.player == TERMINAL).astype(np.int32))

    @cached_property
    def levels(self) -> tuple[slice, ...]:
        """Blocks of equal depth, from the root down."""
        return breadth_first_levels(self.parent)

    @cached_property
    def incoming(self) -> IntArray:
        """Action that leads to each node, as an index into the A actions, int32 (M,).

        -1 at the root and at nodes that chance leads to.
        """
        infoset = self.infoset[self.parent]
        action = self.action_start[infoset] + self.move
        action[infoset < 0] = -1
        action[0] = -1
        return frozen(action.astype(np.int32, copy=False))

    @cached_property
    def chance_probability(self) -> FloatArray:
        """Probability of the move that leads to each node as far as chance makes it, (M,).

        1 at the root and at nodes that a player's action leads to.
        """
        probability = self.chance / self.chance_denominator
        probability[0] = 1.0
        probability[self.incoming >= 0] = 1.0
        return frozen(probability)

    def first_children(self) -> NDArray[np.int64]:
        """First child of each node, (M+1,): the children of a node end where the next's begin."""
        # of the same dtype: otherwise all parents would be converted
        nodes = np.arange(self.n_nodes + 1, dtype=self.parent.dtype)
        return np.searchsorted(self.parent, nodes)

    def along_paths(self, weights: NDArray) -> NDArray:
        """Products of weights (M,) of nodes along the paths from the root to each node, (M,)."""
        products = weights.copy()
        for level in self.levels[1:]:
            products[level] *= products[self.parent[level]]
        return products

    def in_depth(self) -> Iterator[int]:
        """All nodes as play in depth first meets them."""
        stack, first = [0], self.first_children().tolist()
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(range(first[node], first[node + 1])))

    @property
    def payoff_range(self) -> float:
        """Largest minus smallest payoff over all terminals and players."""
        return float(self.payoffs.table.max() - self.payoffs.table.min())

    @property
    def largest_payoff(self) -> float:
        """Largest absolute payoff."""
        return float(np.abs(self.payoffs.table).max())

    @property
    def payoff_scale(self) -> float:
        """What regrets are measured against: the payoff range, in wide games the stakes.

        Targets and tolerances are shares of it. Where the range comes from outcomes that players
        avoid, it is limited to a multiple of the most that is at stake where play can go.
        """
        if self.is_wide:
            return self.stakes
        largest, most = self.payoff_range, RANGE_TO_MOST
        if self._units * 2 <= most or not self._at_stake[1]:
            return largest  # what is at stake is an integer, so at least 1
        return min(largest, most * float(self._at_stake[1]))

    @cached_property
    def is_wide(self) -> bool:
        """Whether some payoffs are so large that floats do not tell what others are about."""
        if self._units <= LARGEST_TO_STAKES:
            return False  # what is at stake is an integer, so at least 1
        largest = Fraction(self.largest_payoff)
        if self.payoffs.exact:
            largest = Fraction(self._units) / self.payoffs.rational()[1]
        return largest > LARGEST_TO_STAKES * self._at_stake[0] > 0

    @cached_property
    def _units(self) -> float:
        """Largest absolute payoff in units of which all payoffs are multiples; or infinite."""
        return largest_integer(self.payoffs.rational()[0]) if self.payoffs.exact else math.inf

    @cached_property
    def stakes(self) -> float:
        """Least that is at stake in a decision where anything is, in payoff units; or 0.

        At stake is the difference between the largest and the smallest payoff of a player below a
        decision, without what is avoided (:func:`at_stake`). What is too
        small for a float counts as the smallest there is.
        """
        return not_to_zero(self._at_stake[0])

    @cached_property
    def _at_stake(self) -> tuple[Fraction, Fraction]:
        """Least and most that is at stake, not rounded."""
        table, denominator = self.payoffs.table, 1
        if self.payoffs.exact:
            table, denominator = self.payoffs.rational()
            if self._units >= INT64_SAFE:  # differences would be beyond int64
                table = table.astype(object)
        least, most = at_stake(self, table)
        return least / denominator, most / denominator

    @cached_property
    def _infoset_index(self) -> dict[tuple[int, str], int]:
        return {
            (int(player), label): i
            for i, (player, label) in enumerate(
                zip(self.infoset_player, self.infoset_labels, strict=True)
            )
        }

    def infoset_of(self, player: int, label: str) -> int:
        """Index of a player's information set by its label; KeyError if there is none."""
        return self._infoset_index[player, label]

    def infosets_of(self, player: int) -> range:
        """Indices of the information sets of `player`: a contiguous block."""
        first, last = np.searchsorted(self.infoset_player, [player, player + 1])
        return range(int(first), int(last))

    # -- copies ---------------------------------------------------------------------------

    def at(self, value: Fraction) -> GameTree:
        """Same tree with its payoff parameter set to `value`; all structure is shared."""
        if self.payoffs.parameter is None:
            raise ValueError("this game has no payoff parameter")
        tree = replace(self, payoffs=replace(self.payoffs, value=value))
        for name in ("action_start", "terminals", "levels", "incoming", "chance_probability"):
            if name in self.__dict__:
                tree.__dict__[name] = self.__dict__[name]
        return tree


def breadth_first_levels(parent: NDArray, most: int | None = None) -> tuple[slice, ...]:
    """Blocks of equal depth of nodes in breadth-first order, from the root down, up to `most`."""
    levels = [slice(0, 1)]
    while levels[-1].stop < len(parent) and len(levels) != most:
        start = levels[-1].stop
        # of the same dtype: otherwise all parents would be converted for every level
        first = parent.dtype.type(start)
        levels.append(slice(start, int(np.searchsorted(parent, first, side="left"))))
    return tuple(levels)


def frozen(array: NDArray) -> NDArray:
    """The array itself, made read-only."""
    array.setflags(write=False)
    return array


# -- what is at stake ------------------------------------------------------------------------------
#
# What the decisions of a game are about, without what players avoid whatever others do. One action
# that ruins everybody is dominated, so play does not go there, and it says nothing about the size
# of a regret. A row is a node at which a player decides, or the same moves of others and of chance
# after each action of it, which do not depend on the decision; its n columns are the nodes that the
# actions lead to. R is the number of rows.

_ROUNDING = 2.0**-48  # relative, of payoffs that come from a few sums of floats


def at_stake(tree: GameTree, payoffs: NDArray) -> tuple[Fraction, Fraction]:
    """Least that is ever at stake in a row, and most that is where play can go; 0 for nothing.

    At stake is the difference between the largest and the smallest of the payoffs (Z, N) of the
    player by actions that are not dominated; where there is none, the least loss by one that is.
    Dominated actions are removed until there are none, since without them others are.
    """
    rows = [list(_rows(tree, player)) for player in range(tree.n_players)]
    kept = np.ones(tree.n_actions + 1, dtype=bool)  # the last one stands for chance
    least: list[float | int] = []
    most, gone = least, [0]
    while gone:
        edge, reached, gone, found = kept[tree.incoming], kept[tree.incoming], [], []
        for level in tree.levels[1:]:
            reached[level] &= reached[tree.parent[level]]
        for player, own in enumerate(payoffs.T):
            lowest, highest = _bounds(tree, own, edge)
            # averages over chance moves in floats are exact enough to find what is dominated
            worst, best = _bounds(tree, tree.payoffs.table[:, player], edge, averaged=True)
            for sets, columns in rows[player]:
                here = reached[columns].any(axis=1)
                sets, columns = sets[here], columns[here]
                actions = tree.action_start[sets][:, None] + np.arange(columns.shape[1])
                stays = kept[actions]
                dominated = stays & _dominated(sets, worst[columns], best[columns], stays)
                gone, stays = gone + actions[dominated].tolist(), stays & ~dominated
                top = np.where(stays, highest[columns], own.min()).max(axis=1)[:, None]
                bottom = np.where(stays, lowest[columns], own.max()).min(axis=1)[:, None]
                loss = top - np.where(stays, bottom, lowest[columns])
                if own.dtype.kind == "f":  # floats that differ by rounding are equal payoffs
                    loss[loss <= _ROUNDING * np.maximum(abs(top), abs(top - loss))] = 0
                loss = loss[(loss > 0).any(axis=1)]
                if len(loss):
                    found += np.where(loss > 0, loss, loss.max()).min(axis=1).tolist()
        kept[gone], least, most = False, [*least, min(found, default=0)], found
    return Fraction(min(filter(None, least), default=0)), Fraction(max(most, default=0))


def _bounds(
    tree: GameTree, payoffs: NDArray, edge: NDArray[np.bool_], *, averaged: bool = False
) -> NDArray:
    """Smallest and largest payoff (Z,) at or below each node, (2, M), along edges (M,)."""
    bounds = np.zeros((2, tree.n_nodes), dtype=payoffs.dtype)
    bounds[:, tree.terminals] = payoffs
    neutral = payoffs.max(), payoffs.min()
    for level in reversed(tree.levels[1:]):
        first = np.flatnonzero(np.diff(tree.parent[level], prepend=-1))  # siblings stand together
        above = tree.parent[level][first]
        for values, bound, none in zip(bounds, (np.minimum, np.maximum), neutral, strict=True):
            values[above] = bound.reduceat(np.where(edge[level], values[level], none), first)
            if averaged:
                means = np.add.reduceat(tree.chance_probability[level] * values[level], first)
                values[above] = np.where(tree.player[above] == CHANCE, means, values[above])
    return bounds


def _rows(tree: GameTree, player: int) -> Iterator[tuple[NDArray, NDArray]]:
    """Information sets (R,), sorted, and columns (R, n) of rows of a player, for each n."""
    first = tree.first_children()
    count, alike = np.diff(first), tree.infoset.astype(np.int64)
    odds: dict[bytes, int] = {}
    for node in np.flatnonzero(tree.player == CHANCE):
        drawn = tree.chance[first[node] : first[node + 1]].tobytes()
        alike[node] = tree.n_infosets + odds.setdefault(drawn, len(odds))
    own = np.flatnonzero(tree.player == player)
    for size in np.unique(count[own]):
        here = own[count[own] == size]
        sets, columns, parts = tree.infoset[here], first[here][:, None] + np.arange(size), []
        while len(sets):
            kinds = alike[columns]
            same = (kinds[:, 0] >= 0) & (kinds == kinds[:, :1]).all(axis=1)
            parts.append((sets[~same], columns[~same]))
            moves = count[columns[same, 0]]
            move = np.arange(moves.sum()) - np.repeat(np.cumsum(moves) - moves, moves)
            sets = np.repeat(sets[same], moves)
            columns = first[np.repeat(columns[same], moves, axis=0)] + move[:, None]
        sets, columns = map(np.concatenate, zip(*parts, strict=True))
        order = np.argsort(sets, kind="stable")
        yield sets[order], columns[order]


def _dominated(sets: NDArray, worst: NDArray, best: NDArray, kept: NDArray) -> NDArray[np.bool_]:
    """Which actions (R, n) a kept one dominates in all rows of their set, of sorted sets (R,)."""
    _, first, which, size = np.unique(
        sets, return_index=True, return_inverse=True, return_counts=True
    )
    covers = kept[first][:, :, None] & ~np.eye(kept.shape[1], dtype=bool)  # [set, better, worse]
    exceeds = np.zeros_like(covers)
    for k in range(size.max(initial=0)):
        here = np.flatnonzero((size > k) & covers.any(axis=(1, 2)))
        if not len(here):
            break
        better, other = worst[first[here] + k][:, :, None], best[first[here] + k][:, None, :]
        covers[here] &= better >= other
        exceeds[here] |= better > other
    dominated: NDArray[np.bool_] = np.any(covers & exceeds, axis=1)
    return dominated[which]


def sum_by(index: NDArray, values: NDArray, size: int) -> NDArray:
    """Sums of `values` over equal `index`, in the arithmetic of `values`."""
    if values.dtype == np.float64:
        return np.bincount(index, values, size)
    total = np.zeros(size, dtype=values.dtype)
    np.add.at(total, index, values)
    return total
