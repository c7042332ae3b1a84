"""Compiled conditional action values and their derivatives, in log-odds.

The value of an action is conditional on reaching its information set: expected payoffs after
the action, weighted with the beliefs that chance's and the others' moves induce. The own reach
cancels, by perfect recall. Beliefs are quotients of reaches that may be as small as exp(-1e6);
so they are made from logarithms.

Arguments are a `FlatTree` and a `Workspace`; symbols as there.
"""

from __future__ import annotations

import numpy as np

from eqbench.model.compiled import kernel

# Probability of later play below which it changes no value.
NEGLIGIBLE = 1e-200


@kernel
def softmax(start, z, log_p, p):
    """Frequencies (K,) and their logarithms at log-odds z (F,)."""
    for c in range(len(start) - 1):
        first, last = start[c], start[c + 1]
        top = 0.0
        for k in range(first + 1, last):
            top = max(top, z[k - c - 1])
        total = np.exp(-top)
        for k in range(first + 1, last):
            total += np.exp(z[k - c - 1] - top)
        total = top + np.log(total)
        log_p[first] = -total
        p[first] = np.exp(-total)
        for k in range(first + 1, last):
            log_p[k] = z[k - c - 1] - total
            p[k] = np.exp(log_p[k])


@kernel
def reach_nodes(flat, work):
    """Probabilities of moves, and log probabilities with which the others lead to nodes."""
    players = flat.payoffs.shape[1]
    work.move[0] = 1.0
    work.log_reach[0] = 0.0
    for x in range(1, len(flat.parent)):
        above, edge = flat.parent[x], flat.edge[x]
        if edge >= 0:
            work.move[x] = work.p[edge]
            for n in range(players):
                log = 0.0 if n == flat.mover[x] else work.log_p[edge]
                work.log_reach[x, n] = work.log_reach[above, n] + log
        else:
            work.move[x] = flat.chance[x]
            for n in range(players):
                work.log_reach[x, n] = work.log_reach[above, n] + flat.log_chance[x]


@kernel
def believe(flat, work):
    """Probabilities of nodes given their information sets; 0 where chance never leads."""
    sets = len(flat.owner)
    top, total = np.full(sets, -np.inf), np.zeros(sets)
    for d in range(len(flat.decision)):
        c = flat.choice[d]
        top[c] = max(top[c], work.log_reach[flat.decision[d], flat.owner[c]])
    for d in range(len(flat.decision)):
        c, h = flat.choice[d], flat.decision[d]
        work.belief[h] = 0.0
        if top[c] > -np.inf:
            work.belief[h] = np.exp(work.log_reach[h, flat.owner[c]] - top[c])
            total[c] += work.belief[h]
    for d in range(len(flat.decision)):
        c = flat.choice[d]
        if total[c] > 0.0:
            work.belief[flat.decision[d]] /= total[c]


@kernel
def action_values(flat, z, work):
    """Conditional value of each action at log-odds z (F,), and all that it is made of."""
    softmax(flat.start, z, work.log_p, work.p)
    reach_nodes(flat, work)
    believe(flat, work)
    players = flat.payoffs.shape[1]
    work.payoffs[:] = flat.payoffs
    for back in range(len(flat.parent) - 1):
        x = len(flat.parent) - 1 - back
        above, move = flat.parent[x], work.move[x]
        for n in range(players):
            work.payoffs[above, n] += move * work.payoffs[x, n]
    work.values[:] = 0.0
    for d in range(len(flat.decision)):
        c = flat.choice[d]
        first = flat.start[c]
        for k in range(first, flat.start[c + 1]):
            after = work.payoffs[flat.child[d] + k - first, flat.owner[c]]
            work.values[k] += work.belief[flat.decision[d]] * after


@kernel
def derivatives(flat, work):
    """Derivatives of the values by log frequencies; `action_values` must have gone before.

    A move of another player before a node changes how likely it is within its information
    set, and every later move changes the expected payoff. Cost O(sum of depths of nodes).
    """
    work.by_log[:] = 0.0
    for d in range(len(flat.decision)):
        h, c = flat.decision[d], flat.choice[d]
        first, owner = flat.start[c], flat.owner[c]
        for k in range(first, flat.start[c + 1]):
            after = work.payoffs[flat.child[d] + k - first, owner]
            more = work.belief[h] * (after - work.values[k])
            x = h
            while x > 0:
                if flat.edge[x] >= 0 and flat.mover[x] != owner:
                    work.by_log[k, flat.edge[x]] += more
                x = flat.parent[x]
    for x in range(1, len(flat.parent)):
        if flat.edge[x] < 0:
            continue
        weight, y = work.move[x], flat.parent[x]
        while y > 0 and weight > NEGLIGIBLE:
            above, earlier = flat.parent[y], flat.edge[y]
            if earlier >= 0:
                gain = work.payoffs[x, flat.mover[y]]
                work.by_log[earlier, flat.edge[x]] += work.belief[above] * weight * gain
            weight *= work.move[y]
            y = above


@kernel
def newton_system(flat, prior, point, scale, border, work):
    """Equations z - prior - lambda (v - v of the first action) = 0, linearized at a point.

    Parameters
    ----------
    prior : float64 (F,)
    point, scale, border : float64 (F+1,)
        Log-odds and lambda; the unit in which each is measured; the last row of the matrix.

    The matrix is `work.bordered`, in these units. The first column of `work.right` holds the
    residual, the second one a unit vector, whose solution is the tangent.
    """
    z, size = point[:-1], len(prior)
    rate = point[size]
    action_values(flat, z, work)
    derivatives(flat, work)
    sets, change = len(flat.owner), np.empty(len(work.p))
    for c in range(sets):
        first = flat.start[c]
        for k in range(first + 1, flat.start[c + 1]):
            row = k - c - 1
            gain = work.values[k] - work.values[first]
            work.right[row] = (z[row] - prior[row] - rate * gain) / scale[row]
            factor = -rate / scale[row]
            for e in range(sets):
                begin, end = flat.start[e], flat.start[e + 1]
                total = 0.0
                for b in range(begin, end):
                    change[b] = work.by_log[k, b] - work.by_log[first, b]
                    total += change[b]
                for b in range(begin + 1, end):
                    column = b - e - 1
                    slope = change[b] - work.p[b] * total
                    work.bordered[row, column] = factor * slope * scale[column]
            work.bordered[row, row] += 1.0
            work.bordered[row, size] = -gain * scale[size] / scale[row]
    work.bordered[size] = border
    work.right[size] = 0.0
