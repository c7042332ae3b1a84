"""Kernels of games of hands and showdowns: sums over hands at public nodes instead of deals.

What an ending is worth to a player with a hand is a sum over the others' hands: of all of them,
and of those that lose against the own one or share with it. Hands stand in order of strength, so
that both are running sums (Johanson, Waugh, Bowling and Zinkevich 2011). Hands that have a card in
common with the own one are taken off by inclusion and exclusion. Several opponents have single
cards, and that theirs differ is inclusion and exclusion too: over partitions of the opponents into
blocks, each of which would have the same card.

Symbols in shapes: N players, B boards, H hands, S sequences, I information sets, U units, G groups
of endings, R rows. A group is what follows the last moves of all but one player: the others' sums
are the same for all of its endings, the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model import kernels
from eqbench.model.compiled import inlined, kernel, variant
from eqbench.model.tree import FloatArray

Indices = NDArray[np.uint32]


class ProductArrays(NamedTuple):
    """What kernels read; C-contiguous and read-only, indices unsigned as in `FormArrays`.

    A reference is a first sequence, the distance between those of neighboring hands, and the row of
    `slot` that has the numbers of hands: (3,), of the last own move on the way to an ending.

    Attributes
    ----------
    block_start, parent, infoset_start : as in `FormArrays`
    others : one 0 for each opponent, as part of the type: loops over subsets of them are unrolled
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


@kernel
def product_values(form, unit, reach, values):
    """Values of a unit's sequences over the endings that end in them."""
    n, player = len(form.others), unit // form.parts
    rows = np.empty((5 * 2**n + 2, form.weight.shape[2]), reach.dtype)
    per_card = np.empty(form.n_cards, reach.dtype)
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
                # not of `form`, whose type has the number of players: it is compiled once for all
                level_start = form.level_start[board, : form.levels[board] + np.uint32(1)]
                _sums_of_many(n, level_start, form.ties[board], rivals, form.single, rows)
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
    # arrays of their own: to hand a form to a function counts references to all of its arrays
    starts, cards, twin = form.level_start[board], form.cards[board], form.twin[board]
    weight, by_all, won, twins = rows[0], rows[1], rows[2], rows[3]
    size, holds, total = form.size[board], cards.shape[1], 0.0
    per_card[:] = 0.0
    twins[:] = 0.0  # sums over hands with the same cards
    for level in range(form.levels[board]):
        first, last = starts[level], starts[level + np.uint32(1)]
        if rivals > 0:
            for h in range(first, last):
                won[h] = 0.5 * _without(cards, twin, h, total, per_card, twins)
        for h in range(first, last):
            total += weight[h]
            twins[twin[h]] += weight[h]
            for k in range(holds):
                per_card[cards[h, k]] += weight[h]
        if rivals > 0:
            for h in range(first, last):
                won[h] += 0.5 * _without(cards, twin, h, total, per_card, twins)
    for h in range(size):
        by_all[h] = _without(cards, twin, h, total, per_card, twins)


@inlined
def _without(cards, twin, h, total, per_card, twins):
    """What is left of a sum without the hands that have a card of hand h."""
    for k in range(cards.shape[1]):
        total -= per_card[cards[h, k]]
    if cards.shape[1] == 2:
        total += twins[twin[h]]
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
def _sums_of_many(n, level_start, ties, rivals, single, rows):
    """Sums over hands of three or more opponents, rows 0, 1, …, into the last two rows.

    After row 2**n stand, by sets of opponents who would have the same card, as bits: sums over
    lower cards, over equal ones and over all, and sums of the partitions of these opponents.
    """
    sets, levels = 1 << n, len(level_start) - 1
    size = level_start[levels]
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
        for level in range(levels):
            first, last = level_start[level], level_start[level + 1]
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
    _add_partitions(sets, size, np.uint32(0), 0, single, 1.0, 5 * sets, rows)
    if rivals > 0:
        for tied in range(sets):
            count = _members(tied)
            if tied & rivals == tied and count <= ties:
                _add_partitions(
                    sets, size, rivals, tied, single, 1.0 / (count + 1), 5 * sets + 1, rows
                )


@inlined
def _members(bits):
    """Number of the members of a set."""
    count = 0
    while bits > 0:
        bits &= bits - 1
        count += 1
    return count


@kernel
def _add_partitions(sets, size, rivals, tied, single, factor, result, rows):
    """Add sums over different cards of all opponents, of which `tied` are equal, rivals lower.

    A block of k has the factor (-1)^(k-1) (k-1)!, that of all partitions into blocks.
    """
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
                sign *= -k * single
            if sign != 0.0 and not (block & tied and block & (rivals ^ tied)):
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
