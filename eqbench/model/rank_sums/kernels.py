"""Compiled sums over ranks for three-player Kuhn poker without raises.

Symbols: N cards by rank, 24 moves (:mod:`.play`), 13 endings, 3 players, F rows and columns of
a layout. Given the own card c and functions f, g of the cards of the two others, everything
comes from four sums over pairs of different other cards: both below c, one below and one above
(in two ways), both above. Running over the ranks, all of them are sums of products; nothing is
subtracted, so small values keep their digits. Only derivatives exclude a card by a difference.

`weight` is payoff times probability of a deal by ending, player and rank, float64 (13, 3, 4).
The rank is 1 if the first of the two others (in playing order) is above, plus 2 if the second
is.
"""

from __future__ import annotations

import numpy as np

from eqbench.model.compiled import kernel
from eqbench.model.rank_sums.play import EARLIER, MOVES, PATHS

_ENDINGS = len(PATHS)
_SITUATIONS = len(EARLIER)


@kernel
def counterfactual_values(place, weight, behavior, n):
    """Counterfactual value of every action, float64 (A,)."""
    flat = values_by_move(place, weight, behavior, n).reshape(-1)
    result = np.empty(len(place))
    for a in range(len(place)):
        result[a] = flat[place[a]]
    return result


@kernel
def values_by_move(place, weight, behavior, n):
    """Counterfactual value of every move by card, float64 (24, N)."""
    frequency = _spread(place, behavior, n)
    values = _direct_values(weight, _reach_sums(frequency))
    _continue_own_play(frequency, values)
    return values


@kernel
def best_responses(place, weight, behavior, n):
    """Expected payoffs and best-response values, float64 (3,) each."""
    frequency = _spread(place, behavior, n)
    there = _spread(place, np.ones(len(place)), n)
    values = _direct_values(weight, _reach_sums(frequency))
    payoffs, best = np.zeros(3), np.zeros(3)
    for situation in range(_SITUATIONS):
        for move in range(2 * situation, 2 * situation + 2):
            before = EARLIER[situation]
            for c in range(n):
                reach = frequency[move, c]
                if before >= 0:
                    reach *= frequency[before, c]
                payoffs[situation // 4] += reach * values[move, c]
    for back in range(_SITUATIONS):  # later situations of a player have larger numbers
        situation = _SITUATIONS - 1 - back
        passive, before = 2 * situation, EARLIER[situation]
        for c in range(n):
            largest = -np.inf
            for move in range(passive, passive + 2):
                if there[move, c] > 0:
                    largest = max(largest, values[move, c])
            if largest > -np.inf:
                if before >= 0:
                    values[before, c] += largest
                else:
                    best[situation // 4] += largest
    return payoffs, best


@kernel
def linearize(place, weight, layout, behavior):
    """Counterfactual values by move and card, (24, N), and derivatives (F, F) in a layout."""
    frequency = _spread(place, behavior, layout.row.shape[1])
    sums = _reach_sums(frequency)
    values = _direct_values(weight, sums)
    _continue_own_play(frequency, values)
    matrix = np.zeros((len(layout.card), len(layout.card)))
    _cross_derivatives((weight, frequency, sums), layout, matrix)
    _own_derivatives(layout, values, matrix)
    return values, matrix


@kernel
def _spread(place, entries, n):
    """Entries of the actions by move and card, float64 (24, N); 0 where there is no action."""
    table = np.zeros((MOVES, n))
    flat = table.reshape(-1)
    for a in range(len(place)):
        flat[place[a]] = entries[a]
    return table


@kernel
def _reach_sums(frequency):
    """Own reach of the endings by card, and the sums of it over lower and over higher cards.

    Three arrays float64 (13, 3, N).
    """
    n = frequency.shape[1]
    reach = np.empty((_ENDINGS, 3, n))
    below, above = np.empty_like(reach), np.empty_like(reach)
    for e in range(_ENDINGS):
        for p in range(3):
            first, second = PATHS[e, p]
            total = 0.0
            for c in range(n):
                product = frequency[first, c]
                if second >= 0:
                    product *= frequency[second, c]
                reach[e, p, c] = product
                below[e, p, c] = total
                total += product
            total = 0.0
            for back in range(n):
                c = n - 1 - back
                above[e, p, c] = total
                total += reach[e, p, c]
    return reach, below, above


@kernel
def _direct_values(weight, sums):
    """Values of moves, (24, N), over the endings for which they are the last own move."""
    reach, below, above = sums
    n = reach.shape[2]
    values = np.zeros((MOVES, n))
    for e in range(_ENDINGS):
        for p in range(3):
            first, second = PATHS[e, p]
            value = values[second if second >= 0 else first]
            s = 1 if p == 0 else 0
            t = 3 - p - s
            both_below, s_above, t_above, both_above = weight[e, p]
            f, f_below, f_above = reach[e, s], below[e, s], above[e, s]
            g, g_below, g_above = reach[e, t], below[e, t], above[e, t]
            pairs = 0.0
            for c in range(n):
                value[c] += both_below * pairs + t_above * (f_below[c] * g_above[c])
                pairs += f[c] * g_below[c] + g[c] * f_below[c]
            pairs = 0.0
            for back in range(n):
                c = n - 1 - back
                value[c] += both_above * pairs + s_above * (f_above[c] * g_below[c])
                pairs += f[c] * g_above[c] + g[c] * f_above[c]
    return values


@kernel
def _continue_own_play(frequency, values):
    """Turn direct values into counterfactual values, in place, with own later play."""
    for situation in range(_SITUATIONS):
        before = EARLIER[situation]
        if before >= 0:
            for move in range(2 * situation, 2 * situation + 2):
                for c in range(values.shape[1]):
                    values[before, c] += frequency[move, c] * values[move, c]


@kernel
def _cross_derivatives(state, layout, matrix):
    """Add derivatives of values of one player by frequencies of another."""
    _, frequency, (reach, _, _) = state
    columns = (np.empty(len(layout.card)), np.empty(len(layout.card)))
    factor, excluded = columns
    for e in range(_ENDINGS):
        for other in range(3):
            for j in range(2):
                by, beside = PATHS[e, other, j], PATHS[e, other, 1 - j]
                if by < 0:
                    continue
                for k in range(layout.start[by], layout.stop[by]):
                    rest = frequency[beside, layout.card[k]] if beside >= 0 else 1.0
                    factor[k] = layout.sign[by] * rest
                for player in range(3):
                    if player == other:
                        continue
                    third = 3 - player - other
                    for k in range(layout.start[by], layout.stop[by]):
                        excluded[k] = reach[e, third, layout.card[k]]
                    for i in range(2):
                        of, later = PATHS[e, player, i], PATHS[e, player, 1]
                        if of >= 0:
                            where = (e, player, other, of, later, by)
                            _add_block(state, layout, where, columns, matrix)


@kernel
def _add_block(state, layout, where, columns, matrix):
    """Add the derivatives of the values of one move by the frequencies of another one.

    The third player's cards count without the own one and without that of the column.
    """
    weight, frequency, (_, below, above) = state
    e, player, other, of, later, by = where
    factor, excluded = columns
    third = 3 - player - other
    w = weight[e, player]
    w_other = w[1 if other < third else 2]  # only the other one is above
    w_third = w[2 if other < third else 1]
    for c in range(below.shape[2]):
        row = layout.row[of, c]
        if row >= len(layout.card):
            continue
        own = layout.sign[of]
        if later > of:
            own *= frequency[later, c]
        lower, higher = below[e, third, c], above[e, third, c]
        total, rate = own * (w[0] * lower + w_third * higher), own * w[0]
        for k in range(layout.start[by], layout.low[by, c]):
            matrix[row, k] += factor[k] * (total - rate * excluded[k])
        total, rate = own * (w_other * lower + w[3] * higher), own * w[3]
        for k in range(layout.high[by, c], layout.stop[by]):
            matrix[row, k] += factor[k] * (total - rate * excluded[k])


@kernel
def _own_derivatives(layout, values, matrix):
    """Add derivatives of the value of an own move by the own moves after it."""
    for situation in range(_SITUATIONS):
        of = EARLIER[situation]
        if of < 0:
            continue
        for by in range(2 * situation, 2 * situation + 2):
            sign = layout.sign[of] * layout.sign[by]
            for k in range(layout.start[by], layout.stop[by]):
                row = layout.row[of, layout.card[k]]
                if row < len(layout.card):
                    matrix[row, k] += sign * values[by, layout.card[k]]
