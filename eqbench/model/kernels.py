"""Compiled kernels on the sequence form; :mod:`eqbench.model.realization` has their oracle.

Vectors over sequences have length S; `behavior` holds 1 at the empty sequences. All kernels
write into arrays that the caller owns and read a :class:`FormArrays` as `form`.

Products over one, two and three opponents are unrolled (worth 3x with four players) within one
kernel for any number of players. Only CFR on trees and sums over hands have that number in their
types: kernels that are inlined take long to compile, and several copies of them longer than one
kernel for each number; loops over subsets of opponents take twice as long if not unrolled.
"""

from __future__ import annotations

import numpy as np

from eqbench.model.compiled import inlined, kernel, prefetch

# Entries that are fetched into the nearest cache ahead of their use.
AHEAD = np.uint64(384)
# Sequences whose sums run side by side.
LANES = 4
_LANES = np.uint64(LANES)


@kernel
def realize(form, player, behavior, reach):
    """Realization plan of one player: ``reach[s] = reach[parent] * behavior[s]``."""
    reach[player] = 1.0
    for i in range(form.infoset_start[player], form.infoset_start[player + 1]):
        above = reach[form.parent[i]]
        for s in range(form.block_start[i], form.block_start[i + 1]):
            reach[s] = above * behavior[s]


@kernel
def direct_values(form, player, reach, values):
    """Values of a player's sequences over the terminals that end in them.

    ``values[s]`` is the sum over those terminals of payoff, chance and the others' reach.
    """
    others = form.opponents.shape[1]
    for block in range(2):
        # the empty sequence stands apart from the others
        first, last = player, player + 1
        if block == 1:
            first = form.block_start[form.infoset_start[player]]
            last = form.block_start[form.infoset_start[player + 1]]
        for s in range(first, last):
            if others == 1:
                values[s] = _direct_value(form, s, 1, reach)
            elif others == 2:
                values[s] = _direct_value(form, s, 2, reach)
            elif others == 3:
                values[s] = _direct_value(form, s, 3, reach)
            else:
                values[s] = _direct_value(form, s, np.uint64(others), reach)


@inlined
def _direct_value(form, s, others, reach):
    """Value of one sequence over the terminals that end in it."""
    total = 0.0
    for entry in range(form.entry_start[s], form.entry_start[s + 1]):
        prefetch(form.weight, entry + AHEAD)
        prefetch(form.opponents, (entry + AHEAD) * np.uint64(others))
        product = form.weight[entry]
        for j in range(others):
            product *= reach[form.opponents[entry, j]]
        total += product
    return total


@kernel
def fill_rows(form, source, sequences, group_row, opponents, target):
    """Copy opponents and what `source` has of each entry to its place in the rows."""
    for lane in range(len(sequences)):
        s, row = sequences[lane], group_row[np.uint64(lane) // _LANES]
        place = row * _LANES + np.uint64(lane) % _LANES
        for entry in range(form.entry_start[s], form.entry_start[s + 1]):
            target[place] = source[entry]
            for j in range(form.opponents.shape[1]):
                opponents[place, j] = form.opponents[entry, j]
            place += _LANES


@inlined
def _product(entries, place, reach):
    """Payoff, chance and the others' reach of one entry."""
    if len(entries.coded) > 0:
        product = entries.weights[entries.codes[place]]
    else:
        product = entries.weights[place]
    for j in range(len(entries.others)):
        product *= reach[entries.opponents[place, j]]
    return product


@inlined
def unit_values(entries, unit, reach, values):
    """Values of a unit's sequences over the terminals that end in them."""
    one, others = np.uint64(1), np.uint64(len(entries.others))
    for group in range(entries.unit_group[unit], entries.unit_group[unit + 1]):
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for row in range(entries.group_row[group], entries.group_row[group + one]):
            place = row * _LANES
            if len(entries.coded) > 0:
                prefetch(entries.codes, place + AHEAD)
            else:
                prefetch(entries.weights, place + AHEAD)
            prefetch(entries.opponents, (place + AHEAD) * others)
            a += _product(entries, place, reach)
            b += _product(entries, place + one, reach)
            c += _product(entries, place + one + one, reach)
            d += _product(entries, place + one + one + one, reach)
        lane = group * _LANES
        values[entries.sequences[lane]] = a
        values[entries.sequences[lane + one]] = b
        values[entries.sequences[lane + one + one]] = c
        values[entries.sequences[lane + one + one + one]] = d


@kernel
def all_direct_values(form, reach, values):
    """Values of the sequences of all players over the terminals that end in them."""
    for p in range(len(form.infoset_start) - 1):
        direct_values(form, p, reach, values)


@kernel
def continue_own_play(form, player, behavior, values):
    """Turn direct values into counterfactual values, in place, with own later play."""
    start, stop = form.infoset_start[player], form.infoset_start[player + 1]
    for back in range(stop - start):
        i = stop - 1 - back
        value = 0.0
        for s in range(form.block_start[i], form.block_start[i + 1]):
            value += behavior[s] * values[s]
        values[form.parent[i]] += value


@kernel
def continue_best_response(form, player, values):
    """Turn direct values into counterfactual best-response values, in place."""
    start, stop = form.infoset_start[player], form.infoset_start[player + 1]
    for back in range(stop - start):
        i = stop - 1 - back
        best = -np.inf
        for s in range(form.block_start[i], form.block_start[i + 1]):
            best = max(best, values[s])
        values[form.parent[i]] += best


@kernel
def payoffs_and_values(form, behavior, reach, values, payoffs):
    """Realization plans, counterfactual values (S,) and expected payoffs (N,)."""
    players = len(form.infoset_start) - 1
    for p in range(players):
        realize(form, p, behavior, reach)
    for p in range(players):
        direct_values(form, p, reach, values)
        continue_own_play(form, p, behavior, values)
        payoffs[p] = values[p]


@kernel
def best_responses(form, behavior, reach, values, payoffs, best):
    """Expected payoffs and best-response values (N,); `values` ends as best-response values."""
    players = len(form.infoset_start) - 1
    for p in range(players):
        realize(form, p, behavior, reach)
    for p in range(players):
        direct_values(form, p, reach, values)
        payoff = 0.0
        for block in range(2):
            first, last = p, p + 1
            if block == 1:
                first = form.block_start[form.infoset_start[p]]
                last = form.block_start[form.infoset_start[p + 1]]
            for s in range(first, last):
                payoff += reach[s] * values[s]
        payoffs[p] = payoff
        continue_best_response(form, p, values)
        best[p] = values[p]


@kernel
def jacobian(form, behavior, reach, values, matrix):
    """Derivatives (S, S) of counterfactual values with respect to behavior.

    `reach` and `values` must be those of `behavior` (:func:`payoffs_and_values`); `matrix`
    must be zero on entry.
    """
    cross_derivatives(form, reach, matrix)
    infosets = len(form.parent)
    sequences = len(form.entry_start) - 1
    for back in range(infosets):  # own later play carries derivatives up to earlier actions
        i = infosets - 1 - back
        above = form.parent[i]
        for s in range(form.block_start[i], form.block_start[i + 1]):
            for t in range(sequences):
                matrix[above, t] += behavior[s] * matrix[s, t]
    for s in range(sequences):  # from derivatives by reach to derivatives by behavior
        for back in range(infosets):
            i = infosets - 1 - back
            total = 0.0
            for t in range(form.block_start[i], form.block_start[i + 1]):
                total += behavior[t] * matrix[s, t]
                matrix[s, t] *= reach[form.parent[i]]
            matrix[s, form.parent[i]] += total
        for t in range(len(form.infoset_start) - 1):
            matrix[s, t] = 0.0  # the empty sequences carry no frequency
    _own_derivatives(form, behavior, values, matrix)


@kernel
def cross_derivatives(form, reach, matrix):
    """Add d value[s] / d reach[t] for sequences t of other players."""
    others = form.opponents.shape[1]
    for s in range(len(form.entry_start) - 1):
        for entry in range(form.entry_start[s], form.entry_start[s + 1]):
            for j in range(others):
                product = form.weight[entry]
                for k in range(others):
                    if k != j:
                        product *= reach[form.opponents[entry, k]]
                matrix[s, form.opponents[entry, j]] += product


@kernel
def _own_derivatives(form, behavior, values, matrix):
    """Add d value[s] / d behavior[t] where t is a later action of the same player."""
    players = len(form.infoset_start) - 1
    infoset_of = np.empty(len(form.entry_start) - 1, dtype=np.int64)
    for i in range(len(form.parent)):
        infoset_of[form.block_start[i] : form.block_start[i + 1]] = i
    for i in range(len(form.parent)):
        for t in range(form.block_start[i], form.block_start[i + 1]):
            weight = values[t]
            s = np.int64(form.parent[i])
            while s >= players:
                matrix[s, t] += weight
                weight *= behavior[s]
                s = np.int64(form.parent[infoset_of[s]])
            matrix[s, t] += weight


@kernel
def difference(matrix, action, first, result):
    """``result[f, g]``: of `matrix` over sequences, differences of rows and of columns.

    Row and column f stand for the sequence ``action[f]`` less the sequence ``first[f]``.
    """
    for f in range(len(action)):
        row, above = action[f], first[f]
        for g in range(len(action)):
            by_action = matrix[row, action[g]] - matrix[above, action[g]]
            by_first = matrix[row, first[g]] - matrix[above, first[g]]
            result[f, g] = by_action - by_first
