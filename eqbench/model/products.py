"""Values of games of hands and showdowns, summed over hands at public nodes instead of deals.

What an ending is worth to a player with a hand is a sum over the others' hands: of all of them,
and of those that lose against the own one or share with it. Hands stand in order of strength, so
that both are running sums (Johanson, Waugh, Bowling and Zinkevich 2011). Hands that have a card in
common with the own one are taken off by inclusion and exclusion. Several opponents have single
cards, and that theirs differ is inclusion and exclusion too: over partitions of the opponents into
blocks, each of which would have the same card.

Vectors over sequences are those of the sequence form of the tree. Where a player has folded and
what he pays is settled, all endings that follow are one: the others' plans sum to 1 below it. So
values are right for plans, or multiples of them, and not for any weights.

Symbols in shapes: N players, V public nodes, B boards, H hands, S sequences, I information sets, U
units, G groups of endings, R rows. A group is what follows the last moves of all but one player:
the others' sums are the same for all of its endings, the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model import kernels
from eqbench.model.compiled import inlined, kernel, variant
from eqbench.model.dealt_form import DealtForm
from eqbench.model.payoff_model import Linearization, PayoffModel
from eqbench.model.sequence_form import SequenceStructure
from eqbench.model.tree import TERMINAL, FloatArray, frozen

Indices = NDArray[np.uint32]
# Work of a row of a group with a showdown, where one without has 1.
SHOWDOWN_WORK = 3


class ProductArrays(NamedTuple):
    """What kernels read; C-contiguous and read-only, indices unsigned as in `FormArrays`.

    A reference is a first sequence, the distance between those of neighboring hands, and the row of
    `slot` that has the numbers of hands: (3,), of the last own move on the way to an ending.

    Attributes
    ----------
    block_start, parent, infoset_start, others : as in `FormArrays`
    parts, unit_infoset, infosets : as in `Interleaved`; a part of a player has some of the hands
    unit_span : uint32 (U+1,)
        Slice of each unit in `spans`. The values of other parts may be those of its hands.
    spans : uint32 (.., 2)
        First and last sequence of one own public node, or the empty one.
    span_group : uint32 (..+1,)
    group_board, group_rivals : uint32 (G,)
        Board, and who shows down against the player: bit j for the opponent j, 0 for no showdown.
    sources : uint32 (G, N-1, 3)
        References to the opponents' plans.
    group_row : uint32 (G+1,)
    targets : uint32 (R, 3)
        References to the own sequences.
    worth : float64 (R, 2)
        What the sum over all hands of the opponents counts, and that over the winning ones.
    size, levels, ties : uint32 (B,)
        Number of hands, of different strengths, and of opponents who can be as strong at most.
    level_start : uint32 (B, H+1)
    weight : float64 (B, N, H)
        Weights of hands in order of strength, 0 for hands that a player never has there.
    slot : uint32 (.., N, H)
        Number of each hand of a board, in order of strength, among those at an earlier one.
    cards : uint32 (B, H, m)
        Cards of hands in order of strength, for sums per card; (0, 0, 0) if `single` is enough.
    twin : uint32 (B, H)
        The first hand there with the same cards.
    n_cards : int
    single : float
        1 if every hand has its own card, 0 if hands have no cards.
    """

    block_start: Indices
    parent: Indices
    infoset_start: Indices
    others: tuple[int, ...]
    parts: int
    unit_infoset: Indices
    infosets: Indices
    unit_span: Indices
    spans: Indices
    span_group: Indices
    group_board: Indices
    group_rivals: Indices
    sources: Indices
    group_row: Indices
    targets: Indices
    worth: FloatArray
    size: Indices
    levels: Indices
    ties: Indices
    level_start: Indices
    weight: FloatArray
    slot: Indices
    cards: Indices
    twin: Indices
    n_cards: int
    single: float


# -- kernels ---------------------------------------------------------------------------------------


@kernel
def product_values(form, unit, reach, values):
    """Values of a unit's sequences over the endings that end in them."""
    n, player = len(form.others), unit // form.parts
    rows = np.empty((5 * 2**n + 2, form.weight.shape[2]))
    per_card = np.empty(form.n_cards)
    for span in range(form.unit_span[unit], form.unit_span[unit + 1]):
        for s in range(form.spans[span, 0], form.spans[span, 1]):
            values[s] = 0.0
        for group in range(form.span_group[span], form.span_group[span + np.uint32(1)]):
            board, rivals = form.group_board[group], form.group_rivals[group]
            for j in range(n):
                other = j if j < player else j + 1
                base, stride = form.sources[group, j, 0], form.sources[group, j, 1]
                table = form.sources[group, j, 2]
                for h in range(form.size[board]):
                    place = base + stride * form.slot[table, other, h]
                    rows[j, h] = form.weight[board, other, h] * reach[place]
            every, won = n, n + 1
            if n == 1:
                if form.cards.size > 0:
                    _sums_by_card(form, board, rivals, rows, per_card)
                else:
                    _sums_of_one(form, board, rivals, rows)
            elif n == 2:
                _sums_of_two(form, board, rivals, rows)
            else:
                every, won = 5 * 2**n, 5 * 2**n + 1
                _sums_of_many(form, board, rivals, rows)
            for row in range(form.group_row[group], form.group_row[group + np.uint32(1)]):
                base, stride = form.targets[row, 0], form.targets[row, 1]
                table = form.targets[row, 2]
                by_all, by_won = form.worth[row, 0], form.worth[row, 1]
                for h in range(form.size[board]):
                    value = by_all * rows[every, h]
                    if rivals > 0:
                        value += by_won * rows[won, h]
                    place = base + stride * form.slot[table, player, h]
                    values[place] += form.weight[board, player, h] * value


@inlined
def _sums_of_one(form, board, rivals, rows):
    """Sums over hands of one opponent, rows[0], into rows 1 and 2."""
    total, single = 0.0, form.single
    for h in range(form.size[board]):
        total += rows[0, h]
    for h in range(form.size[board]):
        rows[1, h] = total - single * rows[0, h]
    if rivals > 0:
        lower = 0.0
        for level in range(form.levels[board]):
            first = form.level_start[board, level]
            last = form.level_start[board, level + np.uint32(1)]
            same = 0.0
            for h in range(first, last):
                same += rows[0, h]
            for h in range(first, last):
                rows[2, h] = lower + 0.5 * (same - single * rows[0, h])
            lower += same


@kernel
def _sums_by_card(form, board, rivals, rows, per_card):
    """Sums over hands of one opponent, rows[0], into rows 1 and 2, where hands have some cards."""
    total, holds = 0.0, form.cards.shape[2]
    per_card[:] = 0.0
    for h in range(form.size[board]):
        rows[3, h] = 0.0  # sums over twins
    for level in range(form.levels[board]):
        first = form.level_start[board, level]
        last = form.level_start[board, level + np.uint32(1)]
        for h in range(first, last):
            rows[2, h] = 0.5 * _without(form, board, h, total, per_card, rows)
        for h in range(first, last):
            total += rows[0, h]
            rows[3, form.twin[board, h]] += rows[0, h]
            for k in range(holds):
                per_card[form.cards[board, h, k]] += rows[0, h]
        for h in range(first, last):
            rows[2, h] += 0.5 * _without(form, board, h, total, per_card, rows)
    for h in range(form.size[board]):
        rows[1, h] = _without(form, board, h, total, per_card, rows)


@inlined
def _without(form, board, h, total, per_card, rows):
    """What is left of a sum without the hands that have a card of hand h."""
    for k in range(form.cards.shape[2]):
        total -= per_card[form.cards[board, h, k]]
    if form.cards.shape[2] == 2:
        total += rows[3, form.twin[board, h]]
    return total


@inlined
def _sums_of_two(form, board, rivals, rows):
    """Sums over hands of two opponents, rows 0 and 1, into rows 2 and 3."""
    a, b, ab, single = 0.0, 0.0, 0.0, form.single
    for h in range(form.size[board]):
        a += rows[0, h]
        b += rows[1, h]
        ab += rows[0, h] * rows[1, h]
    for h in range(form.size[board]):
        x, y = single * rows[0, h], single * rows[1, h]
        rows[2, h] = (a - x) * (b - y) - (single * ab - x * y)
    if rivals == 3:
        low_a, low_b, low_ab = 0.0, 0.0, 0.0
        for level in range(form.levels[board]):
            first = form.level_start[board, level]
            last = form.level_start[board, level + np.uint32(1)]
            tie_a, tie_b, tie_ab = 0.0, 0.0, 0.0
            for h in range(first, last):
                tie_a += rows[0, h]
                tie_b += rows[1, h]
                tie_ab += rows[0, h] * rows[1, h]
            below = low_a * low_b - single * low_ab
            for h in range(first, last):
                x, y = single * rows[0, h], single * rows[1, h]
                one = (tie_a - x) * low_b + low_a * (tie_b - y)
                both = (tie_a - x) * (tie_b - y) - (single * tie_ab - x * y)
                rows[3, h] = below + one / 2.0 + both / 3.0
            low_a += tie_a
            low_b += tie_b
            low_ab += tie_ab
    elif rivals > 0:
        r = rivals - np.uint32(1)  # of the two opponents the one who is there
        f = np.uint32(1) - r
        total, low, low_ab = (b if rivals == 1 else a), 0.0, 0.0
        for level in range(form.levels[board]):
            first = form.level_start[board, level]
            last = form.level_start[board, level + np.uint32(1)]
            tie, tie_ab = 0.0, 0.0
            for h in range(first, last):
                tie += rows[r, h]
                tie_ab += rows[0, h] * rows[1, h]
            for h in range(first, last):
                x, y = single * rows[r, h], single * rows[f, h]
                one = (low + 0.5 * (tie - x)) * (total - y)
                rows[3, h] = one - (single * (low_ab + 0.5 * tie_ab) - 0.5 * x * y)
            low += tie
            low_ab += tie_ab


@kernel
def _sums_of_many(form, board, rivals, rows):
    """Sums over hands of three or more opponents, rows 0, 1, …, into the last two rows.

    After row 2**n stand, by sets of opponents who would have the same card, as bits: sums over
    lower cards, over equal ones and over all, and sums of the partitions of these opponents.
    """
    n, single = len(form.others), form.single
    sets, size = 2**n, form.size[board]
    for j in range(n):  # row j becomes that of the set of j; the largest ones first
        k = n - 1 - j
        for h in range(size):
            rows[1 << k, h] = rows[k, h]
    for block in range(1, sets):
        lowest = block & -block
        if block != lowest:
            for h in range(size):
                rows[block, h] = rows[lowest, h] * rows[block ^ lowest, h]
        low = 0.0
        for level in range(form.levels[board]):
            first = form.level_start[board, level]
            last = form.level_start[board, level + np.uint32(1)]
            tie = 0.0
            for h in range(first, last):
                tie += rows[block, h]
            for h in range(first, last):
                rows[sets + block, h] = low
                rows[2 * sets + block, h] = tie - single * rows[block, h]
            low += tie
        for h in range(size):
            rows[3 * sets + block, h] = low - single * rows[block, h]
    for h in range(size):
        rows[5 * sets, h] = 0.0
        rows[5 * sets + 1, h] = 0.0
    _add_partitions(form, size, 0, 0, 1.0, 5 * sets, rows)
    if rivals > 0:
        for tied in range(sets):
            count = _members(tied)
            if tied & rivals == tied and count <= form.ties[board]:
                _add_partitions(form, size, rivals, tied, 1.0 / (count + 1), 5 * sets + 1, rows)


@inlined
def _members(bits):
    """Number of the members of a set."""
    count = 0
    while bits > 0:
        bits &= bits - 1
        count += 1
    return count


@kernel
def _add_partitions(form, size, rivals, tied, factor, result, rows):
    """Add sums over different cards of all opponents, of which `tied` are equal, rivals lower.

    A block of k has the factor (-1)^(k-1) (k-1)!, that of all partitions into blocks.
    """
    sets = 2 ** len(form.others)
    for members in range(2, sets):
        if members % 2 and members < sets - 1:
            continue  # the first opponent is always in the first block
        target, lowest = 4 * sets + members, members & -members
        for h in range(size):
            rows[target, h] = 0.0
        more = members ^ lowest
        while True:  # all subsets of the other members
            block, rest = more | lowest, members ^ lowest ^ more
            sign = 1.0
            for k in range(1, _members(more) + 1):
                sign *= -k * form.single
            if sign != 0.0 and not (block & tied and block & rivals & ~tied):
                kind = 2 if block & tied else 1 if block & rivals else 3
                for h in range(size):
                    part = sign * rows[kind * sets + block, h]
                    rows[target, h] += part * (rows[4 * sets + rest, h] if rest > 0 else 1.0)
            if more == 0:
                break
            more = (more - 1) & (members ^ lowest)
    for h in range(size):
        rows[result, h] += factor * rows[5 * sets - 1, h]


@inlined
def product_direct_values(form, player, reach, values):
    """Values of a player's sequences over the endings that end in them."""
    for part in range(form.parts):
        product_values(form, player * form.parts + part, reach, values)


payoffs_and_values = variant(
    kernels.payoffs_and_values, "products", direct_values=product_direct_values
)
best_responses = variant(kernels.best_responses, "products", direct_values=product_direct_values)


# -- compilation -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ProductForm(SequenceStructure):
    """The sequences of a game of hands and showdowns, and what values are computed from.

    Attributes
    ----------
    dealt : DealtForm
    """

    dealt: DealtForm

    @classmethod
    def of(cls, dealt: DealtForm) -> ProductForm:
        """Sequences of all players, numbered as in the tree."""
        n, places = dealt.n_players, dealt.place
        parent = np.zeros(dealt.n_infosets, dtype=np.int32)
        owner = np.zeros(dealt.n_infosets, dtype=np.int32)
        to = _Places.of(dealt)
        for v in np.flatnonzero(dealt.player >= 0).tolist():
            p = int(dealt.player[v])
            own = np.flatnonzero(places[dealt.board[v], p] >= 0)
            here = slice(dealt.first_infoset[v], dealt.first_infoset[v] + len(own))
            parent[here] = to.base[v, p] + to.stride[v, p] * places[to.earlier[v, p], p, own]
            owner[here] = p
        return cls(
            n,
            frozen((dealt.action_start + n).astype(np.int32)),
            frozen(parent),
            frozen(np.searchsorted(owner, np.arange(n + 1)).astype(np.int32)),
            frozen(owner),
            dealt,
        )

    @cached_property
    def arrays(self) -> ProductArrays:
        """The bundle that the kernels take."""
        return self.parted(1)

    def parted(self, parts: int) -> ProductArrays:
        """The same for so many threads."""
        return _compile(self, self._groups, parts)

    @cached_property
    def places(self) -> _Places:
        """Where the sequences of hands are."""
        return _Places.of(self.dealt)

    @cached_property
    def _groups(self) -> list[_Groups]:
        return [_Groups.of(self.dealt, p) for p in range(self.n_players)]

    def at(self, value: float) -> ProductArrays:
        """The bundle at another value of the payoff parameter.

        Raises
        ------
        ValueError
            If there is none.
        """
        dealt = self.dealt
        if dealt.slope is None:
            raise ValueError("this game has no payoff parameter")
        return self._with((dealt.paid + value * dealt.slope) / dealt.denominator)

    @cached_property
    def chances(self) -> ProductArrays:
        """The bundle in which every player gets 1 at every ending."""
        worth = [np.outer(groups.chance, [1.0, 0.0]) for groups in self._groups]
        return self.arrays._replace(worth=frozen(np.concatenate(worth)))

    def _with(self, paid: FloatArray) -> ProductArrays:
        worth = [groups.worth(paid) for groups in self._groups]
        return self.arrays._replace(worth=frozen(np.concatenate(worth)))


@dataclass(frozen=True)
class _Places:
    """Where the sequences of hands are.

    Attributes
    ----------
    base, stride, table : int64 (V, N)
        Reference to the last sequence of each player on the way to each node.
    boards : tuple
        The last fields of :class:`ProductArrays`, from `size` on.
    """

    base: NDArray[np.int64]
    stride: NDArray[np.int64]
    earlier: NDArray[np.int64]
    table: NDArray[np.int64]
    boards: tuple

    @classmethod
    def of(cls, dealt: DealtForm) -> _Places:
        n, board = dealt.n_players, dealt.board[:, None].astype(np.int64)
        node, move = dealt.last[..., 0].astype(np.int64), dealt.last[..., 1]
        moves = np.array([len(each) for each in dealt.moves])
        begin = dealt.action_start[dealt.first_infoset[node]] + n + move
        earlier = np.where(node < 0, board, board[node, 0])
        pairs, table = np.unique(earlier * len(dealt.place) + board, return_inverse=True)
        return cls(
            np.where(node < 0, np.arange(n), begin),
            np.where(node < 0, 0, moves[node]),
            earlier,
            table.reshape(node.shape),
            _boards(dealt, np.stack(np.divmod(pairs, len(dealt.place)), axis=1)),
        )

    def reference(self, nodes: NDArray, player: int) -> NDArray[np.int64]:
        """References to a player's last sequences on the way to nodes, (.., 3)."""
        parts = (self.base, self.stride, self.table)
        return np.stack([part[nodes, player] for part in parts], axis=1)


def _boards(dealt: DealtForm, pairs: NDArray[np.int64]) -> tuple:
    """Hands in order of strength: the last fields of the arrays; `pairs` are the rows of `slot`."""
    hands, n = dealt.hands, dealt.n_players
    count, holds = hands.cards.shape
    single = holds == 0 or (holds == 1 and len(np.unique(hands.cards)) == count)
    if (n > 2 and not single) or holds > 2:
        raise ValueError("more than one opponent, and none of them with a card of his own")
    boards, limit = len(dealt.place), min(n - 1, count if holds == 0 else count - 1)
    order = np.zeros((boards, count), dtype=np.int64)
    start = np.zeros((boards, count + 1), dtype=np.int64)
    size, levels, ties = np.zeros((3, boards), dtype=np.int64)
    for b, (places, strength) in enumerate(zip(dealt.place, dealt.strength, strict=True)):
        there = np.flatnonzero((places >= 0).any(axis=0))
        size[b] = len(there)
        order[b, : size[b]] = there[np.argsort(strength[there], kind="stable")]
        equal = np.unique(strength[there], return_counts=True)[1]
        levels[b] = len(equal)
        start[b, 1 : levels[b] + 1] = np.cumsum(equal)
        ties[b] = min(limit, n - 1 if holds == 0 else equal.max() - 1)
    held, of_player = order[:, None], np.arange(n)[:, None]
    each = np.arange(boards)[:, None, None]
    weight = np.where(dealt.place[each, of_player, held] >= 0, hands.weights[of_player, held], 0)
    weight = np.where(np.arange(count) < size[:, None, None], weight, 0)
    slot = dealt.place[pairs[:, 0, None, None], of_player, held[pairs[:, 1]]]
    cards, twin = np.zeros((0, 0, 0)), np.zeros((0, 0))
    names, numbers = np.unique(hands.cards, return_inverse=True)
    if not single:
        numbers = numbers.reshape(hands.cards.shape)
        cards = numbers[order]
        same = np.unique(np.sort(numbers, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        first = np.full((boards, len(same)), count)
        np.minimum.at(first, (np.arange(boards)[:, None], same[order]), np.arange(count))
        twin = np.take_along_axis(first, same[order], axis=1)
    return (
        _indices(size),
        _indices(levels),
        _indices(ties),
        _indices(start),
        frozen(weight.astype(np.float64)),
        _indices(np.maximum(slot, 0)),
        _indices(cards),
        _indices(twin),
        len(names),
        float(single and holds > 0),
    )


@dataclass(frozen=True)
class _Groups:
    """The endings of a player by groups; E endings, G groups.

    Attributes
    ----------
    player : int
    node, ending : int64 (E,)
        Public node, and which of the terminals has what players have put in; sorted by group.
    rivals : int64 (E,)
        Who shows down against the player.
    alone : bool (E,)
        Whether the player wins without a showdown.
    start : int64 (G+1,)
    chance : float64 (E,)
        Probability of a deal of weight 1 and the public cards.
    """

    player: int
    node: NDArray[np.int64]
    ending: NDArray[np.int64]
    rivals: NDArray[np.int64]
    alone: NDArray[np.bool_]
    start: NDArray[np.int64]
    chance: FloatArray

    @classmethod
    def of(cls, dealt: DealtForm, player: int) -> _Groups:
        node, ending = _settled(dealt, player)
        others = np.delete(np.arange(dealt.n_players), player)
        there = dealt.contending[ending]
        rivals = there[:, others] @ (1 << np.arange(len(others))) * there[:, player]
        last = dealt.last[node]
        # what must be the same, the own last node first
        key = np.column_stack(
            [last[:, player, 0], dealt.board[node], last[:, others].reshape(len(node), -1)]
        )
        order = np.lexsort((rivals, *key.T[::-1]))
        node, ending, key, rivals = node[order], ending[order], key[order], rivals[order]
        new = np.ones(len(node) + 1, dtype=bool)
        new[1:-1] = np.any(key[1:] != key[:-1], axis=1)
        new[1:-1] |= (rivals[1:] != rivals[:-1]) & (rivals[:-1] > 0)
        alone = there[order, player] & (rivals == 0)
        chance = 1.0 / (dealt.chance[node].astype(float) * float(dealt.deal_weight))
        return cls(player, node, ending, rivals, alone, np.flatnonzero(new), chance)

    def worth(self, paid: FloatArray) -> FloatArray:
        """What sums count, (E, 2), where players have put in `paid`, float64 (T, N)."""
        pot = paid.sum(axis=1)[self.ending]
        by_all = np.where(self.alone, pot, 0.0) - paid[self.ending, self.player]
        by_won = np.where(self.rivals > 0, pot, 0.0)
        return np.column_stack([by_all, by_won]) * self.chance[:, None]


def _settled(dealt: DealtForm, player: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nodes where it is settled what a player gets, (E,), and an ending below each of them."""
    terminal, own = dealt.terminal, dealt.contending[:, player]
    slope = np.zeros_like(dealt.paid) if dealt.slope is None else dealt.slope
    amounts = np.column_stack([dealt.paid[:, player], slope[:, player], own])
    _, example, kind = np.unique(amounts, axis=0, return_index=True, return_inverse=True)
    # the smallest and the largest kind of folding below each node, -1 for none
    low = np.full(len(dealt.parent), len(example), dtype=np.int64)
    high = np.full(len(dealt.parent), -1, dtype=np.int64)
    low[terminal] = high[terminal] = np.where(own, -1, kind.reshape(-1))
    depth = np.zeros(len(low), dtype=np.int64)
    for v, above in enumerate(dealt.parent.tolist()):
        depth[v] = depth[above] + 1 if above >= 0 else 0
    ends = np.cumsum(np.bincount(depth))
    for first, last in reversed([*zip(ends[:-1], ends[1:], strict=True)]):
        deciding = dealt.player[first:last] == player
        low[first:last][deciding] = -1
        np.minimum.at(low, dealt.parent[first:last], low[first:last])
        np.maximum.at(high, dealt.parent[first:last], high[first:last])
    folded = (low == high) & (low >= 0) & (dealt.player != player)
    top = folded & ~np.concatenate(([False], folded[dealt.parent[1:]]))
    showing = terminal[own]
    node = np.concatenate([np.flatnonzero(top), showing])
    ending = np.concatenate([example[low[top]], np.flatnonzero(own)])
    return node.astype(np.int64), ending.astype(np.int64)


def _compile(form: ProductForm, all_groups: list[_Groups], parts: int) -> ProductArrays:
    """Bundle of the groups of all players, whose own nodes are dealt out to the parts."""
    dealt, n = form.dealt, form.n_players
    places = form.places
    hands = places.boards[0]  # numbers of them
    paid, denominator = dealt.stakes()
    amounts = (paid / denominator).astype(np.float64)
    unit_span, spans, span_group = [0], [], [0]
    group_row, row_start = [np.zeros(1, dtype=np.int64)], 0
    for groups in all_groups:
        p, first = groups.player, groups.start[:-1]
        own = dealt.last[groups.node[first], p, 0]  # ascending
        nodes = np.concatenate(([-1], dealt.of_player(p)))
        stop = np.searchsorted(own, nodes, side="right")
        size = hands[dealt.board[groups.node[first]]].astype(np.int64)
        work = size * (1 + SHOWDOWN_WORK * (groups.rivals[groups.start[1:] - 1] > 0))
        done = np.concatenate(([0], np.cumsum(work)))
        middle = (done[np.concatenate(([0], stop[:-1]))] + done[stop]) / 2
        part = np.minimum((middle * parts / max(done[-1], 1)).astype(np.int64), parts - 1)
        for u in nodes.tolist():
            if u < 0:
                spans.append((p, p + 1))
            else:
                start = int(dealt.first_infoset[u])
                sets = int(dealt.place[dealt.board[u], p].max()) + 1
                ends = form.block_start[[start, start + sets]]
                spans.append(tuple(ends.tolist()))
        unit_span += (unit_span[-1] + np.cumsum(np.bincount(part, minlength=parts))).tolist()
        span_group += (span_group[-1] + stop).tolist()
        group_row.append(row_start + groups.start[1:])
        row_start += len(groups.node)
    first = [groups.node[groups.start[:-1]] for groups in all_groups]
    rivals = [groups.rivals[groups.start[1:] - 1] for groups in all_groups]
    sources = [
        np.stack([places.reference(nodes, q) for q in range(n) if q != p], axis=1)
        for p, nodes in enumerate(first)
    ]
    targets = [places.reference(groups.node, groups.player) for groups in all_groups]
    worth = [groups.worth(amounts) for groups in all_groups]
    # a player's sets by parts of the hands
    hand = np.zeros(form.n_infosets, dtype=np.int64)
    for v in np.flatnonzero(dealt.player >= 0).tolist():
        own = np.flatnonzero(dealt.place[dealt.board[v], dealt.player[v]] >= 0)
        hand[dealt.first_infoset[v] + np.arange(len(own))] = own
    unit = form.infoset_player.astype(np.int64) * parts + hand * parts // len(dealt.hands.labels)
    return ProductArrays(
        _indices(form.block_start),
        _indices(form.parent),
        _indices(form.infoset_start),
        (0,) * (n - 1),
        parts,
        _indices(np.concatenate(([0], np.cumsum(np.bincount(unit, minlength=n * parts))))),
        _indices(np.argsort(unit, kind="stable")),
        _indices(unit_span),
        _indices(spans),
        _indices(span_group),
        _indices(dealt.board[np.concatenate(first)]),
        _indices(np.concatenate(rivals)),
        _indices(np.concatenate(sources)),
        _indices(np.concatenate(group_row)),
        _indices(np.concatenate(targets)),
        frozen(np.concatenate(worth)),
        *places.boards,
    )


def _indices(array: object) -> Indices:
    return frozen(np.ascontiguousarray(array, dtype=np.uint32))


# -- the payoff model ------------------------------------------------------------------------------


class ProductModel(PayoffModel):
    """Values and best responses by products; derivatives are those of the tree.

    Parameters
    ----------
    by_tree : gives a model of the same game by its tree, or raises
    """

    def __init__(self, form: ProductForm, by_tree: Callable[[], PayoffModel]) -> None:
        self.form, self._by_tree, self.n_actions = form, cache(by_tree), form.n_actions
        self._arrays = form.arrays

    def at(self, value: float) -> ProductModel:
        model, by_tree = copy(self), self._by_tree
        model._arrays = self.form.at(value)
        model._by_tree = cache(lambda: by_tree().at(value))
        return model

    def counterfactual_values(self, behavior: NDArray) -> FloatArray:
        return self._run(payoffs_and_values, behavior)[1][self.form.n_players :]

    def jacobian(self, behavior: NDArray) -> FloatArray:
        return self._by_tree().jacobian(behavior)

    def linearize(self, behavior: NDArray) -> Linearization:
        return self._by_tree().linearize(behavior)

    def direct_values(self, weights: NDArray) -> FloatArray:
        """Value of each sequence over the terminals that end in it, float64 (S,), for plans."""
        values = np.empty(self.form.n_sequences)
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        for player in range(self.form.n_players):
            product_values(self._arrays, player, weights, values)
        return values

    def _best_responses(self, behavior: NDArray) -> tuple[FloatArray, FloatArray]:
        best = np.empty(self.form.n_players)
        return self._run(best_responses, behavior, best)[2], best

    def _run(self, kernel: Callable, behavior: NDArray, *results: FloatArray) -> tuple:
        size, n = self.form.n_sequences, self.form.n_players
        extended = np.concatenate((np.ones(n), self._checked(behavior)))
        made = np.empty(size), np.empty(size), np.empty(n)
        kernel(self._arrays, extended, *made, *results)
        return made
