"""Compiled conditional action values and their derivatives, in log-odds.

The value of an action is conditional on reaching its information set: expected payoffs after
the action, weighted with the beliefs that chance's and the others' moves induce. The own reach
cancels, by perfect recall. Beliefs are quotients of reaches that may be as small as exp(-1e6);
so they are made from logarithms.

Arguments are a `FlatTree` and a `Workspace`, or arrays of them; symbols as there.
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
        # the largest is taken off first, lest the rounding of huge log-odds reach frequencies
        log_total = np.log(total)
        log_p[first] = -top - log_total
        p[first] = np.exp(log_p[first])
        for k in range(first + 1, last):
            log_p[k] = (z[k - c - 1] - top) - log_total
            p[k] = np.exp(log_p[k])


@kernel
def log_frequencies(start, points):
    """Logarithms of frequencies, float64 (P, K), at points (P, F+1)."""
    logs, p = np.empty((len(points), start[-1])), np.empty(start[-1])
    for i in range(len(points)):
        softmax(start, points[i, :-1], logs[i], p)
    return logs


@kernel
def believe(flat, log_p, belief):
    """Probabilities (M,) of nodes given their information sets; 0 where chance never leads."""
    node_start, decision, log_chance = flat.node_start, flat.decision, flat.log_chance
    path_start, path = flat.path_start, flat.path
    for c in range(len(node_start) - 1):
        top, total = -np.inf, 0.0
        for d in range(node_start[c], node_start[c + 1]):
            log = log_chance[d]
            for i in range(path_start[d], path_start[d + 1]):
                log += log_p[path[i]]
            belief[decision[d]] = log
            top = max(top, log)
        for d in range(node_start[c], node_start[c + 1]):
            h = decision[d]
            belief[h] = np.exp(belief[h] - top) if top > -np.inf else 0.0
            total += belief[h]
        for d in range(node_start[c], node_start[c + 1]):
            if total > 0.0:
                belief[decision[d]] /= total


@kernel
def expected_payoffs(flat, p, move, payoffs):
    """Probabilities (M,) of the moves to nodes, and expected payoffs (N, M) from nodes on."""
    edge, chance, inner, children = flat.edge, flat.chance, flat.inner, flat.children
    for x in range(1, len(edge)):
        move[x] = p[edge[x]] if edge[x] >= 0 else chance[x]
    for player in range(len(payoffs)):
        own = payoffs[player]
        for i in range(len(inner) - 1, -1, -1):
            total = 0.0
            for x in range(children[inner[i]], children[inner[i] + 1]):
                total += move[x] * own[x]
            own[inner[i]] = total


@kernel
def action_values(flat, z, work):
    """Conditional value of each action at log-odds z (F,), and all that it is made of."""
    start, node_start, decision = flat.start, flat.node_start, flat.decision
    belief, values = work.belief, work.values
    softmax(start, z, work.log_p, work.p)
    believe(flat, work.log_p, belief)
    expected_payoffs(flat, work.p, work.move, work.payoffs)
    for c in range(len(flat.owner)):
        own = work.payoffs[flat.owner[c]]
        for k in range(start[c], start[c + 1]):
            total = 0.0
            for d in range(node_start[c], node_start[c + 1]):
                total += belief[decision[d]] * own[flat.child[d] + (k - start[c])]
            values[k] = total


@kernel
def by_earlier(flat, work):
    """Derivatives of gains by log frequencies of the others' earlier moves.

    A move of another player changes how likely a node is within its information set.
    """
    start, node_start = flat.start, flat.node_start
    decision, children, path_start, path = flat.decision, flat.child, flat.path_start, flat.path
    link_start, link = flat.link_start, flat.link
    belief, values, by_log = work.belief, work.values, work.by_log
    for c in range(len(start) - 1):
        first, own = start[c], work.payoffs[flat.owner[c]]
        for k in range(first + 1, start[c + 1]):
            row = by_log[k - c - 1]
            for i in range(link_start[c], link_start[c + 1]):
                for b in range(start[link[i]], start[link[i] + 1]):
                    row[b] = 0.0
            gain = values[k] - values[first]
            for d in range(node_start[c], node_start[c + 1]):
                child = children[d]
                here = own[child + k - first] - own[child]
                more = belief[decision[d]] * (here - gain)
                for i in range(path_start[d], path_start[d + 1]):
                    row[path[i]] += more


@kernel
def add_later(flat, work):
    """Add derivatives of gains by log frequencies of anybody's later moves.

    Cost O(sum of depths of nodes).
    """
    parent, edge, mover = flat.parent, flat.edge, flat.mover
    gain_start, gain_end, gain_sign = flat.gain_start, flat.gain_end, flat.gain_sign
    belief, payoffs, move, by_log = work.belief, work.payoffs, work.move, work.by_log
    for x in range(1, len(parent)):
        if edge[x] < 0:
            continue
        weight, y = move[x], parent[x]
        while y > 0 and weight > NEGLIGIBLE:
            above = parent[y]
            if gain_start[y] < gain_end[y]:
                more = gain_sign[y] * belief[above] * weight * payoffs[mover[y], x]
                for row in range(gain_start[y], gain_end[y]):
                    by_log[row, edge[x]] += more
            weight *= move[y]
            y = above


@kernel
def newton_system(flat, work, point):
    """Equations z - prior - lambda (v - v of the first action) = 0, linearized at a point.

    Parameters
    ----------
    point : float64 (F+1,)
        Log-odds and lambda.

    The matrix is `work.bordered`. Its last row is `work.border`, the others are divided by
    `work.scale`, lest those of actions that are hardly played become pivots. `work.right` holds
    the residual, and what makes the solution a tangent.
    """
    prior, z, scale, border = flat.prior, point[:-1], work.scale, work.border
    size = len(prior)
    rate = point[size]
    action_values(flat, z, work)
    by_earlier(flat, work)
    add_later(flat, work)
    start, link_start, link = flat.start, flat.link_start, flat.link
    p, values, by_log = work.p, work.values, work.by_log
    bordered, right = work.bordered, work.right
    bordered[:] = 0.0
    for c in range(len(start) - 1):
        first = start[c]
        for k in range(first + 1, start[c + 1]):
            row = k - c - 1
            gain = values[k] - values[first]
            right[0, row] = (z[row] - prior[row] - rate * gain) / scale[row]
            factor = -rate / scale[row]
            for i in range(link_start[c], link_start[c + 1]):
                e = link[i]
                begin, end = start[e], start[e + 1]
                total = by_log[row, begin]
                for b in range(begin + 1, end):
                    total += by_log[row, b]
                for b in range(begin + 1, end):
                    f = b - e - 1
                    change = by_log[row, b] - p[b] * total
                    bordered[row, f] = factor * change
            bordered[row, row] += 1.0 / scale[row]
            bordered[row, size] = -gain / scale[row]
    bordered[size] = border
    right[0, size] = 0.0
    right[1] = 0.0
    right[1, size] = 1.0
