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
def walk_up(parent, edge, mover, chance, belongs, decision, choice, owner):
    """What depends on what: paths, which sets are linked, and log probabilities of chance.

    Parameters
    ----------
    parent, edge, mover, chance : (M,), belongs : (K,), decision, choice : (H,), owner : (C,)
        As in `FlatTree`; `belongs` and `choice` are the sets of actions and of nodes.

    Returns
    -------
    start : int64 (H+1,), path : int64
        Actions of all but the owner before each decision node.
    linked : bool (C, C)
        Whether values at a set (rows) depend on frequencies at another one.
    log_chance : float64 (H,)
    """
    start, sets = np.zeros(len(decision) + 1, np.int64), len(owner)
    path, used = np.empty(4 * len(decision), np.int64), 0
    log_chance, linked = np.zeros(len(decision)), np.zeros((sets, sets), np.bool_)
    for d in range(len(decision)):
        c, x = choice[d], decision[d]
        while x > 0:
            if edge[x] < 0:
                log_chance[d] += np.log(chance[x]) if chance[x] > 0.0 else -np.inf
            elif mover[x] != owner[c]:
                if used == len(path):
                    path = np.append(path, np.empty_like(path))
                path[used] = edge[x]
                used += 1
                linked[c, belongs[edge[x]]] = True
            x = parent[x]
        start[d + 1] = used
    for x in range(1, len(parent)):
        y = parent[x] if edge[x] >= 0 else 0
        while y > 0:
            if edge[y] >= 0:
                linked[belongs[edge[y]], belongs[edge[x]]] = True
            y = parent[y]
    return start, path[:used], linked, log_chance


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
    """Probabilities (M,) of the moves to nodes, and expected payoffs (M, N) from nodes on."""
    parent, edge, chance, players = flat.parent, flat.edge, flat.chance, payoffs.shape[1]
    payoffs[:] = flat.payoffs
    for x in range(len(parent) - 1, 0, -1):
        move[x] = p[edge[x]] if edge[x] >= 0 else chance[x]
        for n in range(players):
            payoffs[parent[x], n] += move[x] * payoffs[x, n]


@kernel
def action_values(flat, z, work):
    """Conditional value of each action at log-odds z (F,), and all that it is made of."""
    start, owners, node_start = flat.start, flat.owner, flat.node_start
    decision, children = flat.decision, flat.child
    belief, payoffs, values = work.belief, work.payoffs, work.values
    softmax(start, z, work.log_p, work.p)
    believe(flat, work.log_p, belief)
    expected_payoffs(flat, work.p, work.move, payoffs)
    values[:] = 0.0
    for c in range(len(owners)):
        first, owner = start[c], owners[c]
        for d in range(node_start[c], node_start[c + 1]):
            weight, child = belief[decision[d]], children[d] - first
            for k in range(first, start[c + 1]):
                values[k] += weight * payoffs[child + k, owner]


@kernel
def by_earlier(flat, work):
    """Derivatives of gains by log frequencies of the others' earlier moves.

    A move of another player changes how likely a node is within its information set.
    """
    start, owners, node_start = flat.start, flat.owner, flat.node_start
    decision, children, path_start, path = flat.decision, flat.child, flat.path_start, flat.path
    link_start, link = flat.link_start, flat.link
    belief, payoffs, values, by_log = work.belief, work.payoffs, work.values, work.by_log
    for c in range(len(owners)):
        first, owner = start[c], owners[c]
        for k in range(first + 1, start[c + 1]):
            row = by_log[k - c - 1]
            for i in range(link_start[c], link_start[c + 1]):
                for b in range(start[link[i]], start[link[i] + 1]):
                    row[b] = 0.0
            gain = values[k] - values[first]
            for d in range(node_start[c], node_start[c + 1]):
                child = children[d]
                here = payoffs[child + k - first, owner] - payoffs[child, owner]
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
                more = gain_sign[y] * belief[above] * weight * payoffs[x, mover[y]]
                for row in range(gain_start[y], gain_end[y]):
                    by_log[row, edge[x]] += more
            weight *= move[y]
            y = above


@kernel
def newton_system(flat, prior, point, scale, border, work):
    """Equations z - prior - lambda (v - v of the first action) = 0, linearized at a point.

    Parameters
    ----------
    prior : float64 (F,)
    point, scale, border : float64 (F+1,)
        Log-odds and lambda; the unit in which each is measured; the last row of the matrix.

    The matrix is `work.bordered`, in these units and with its columns as `flat.column` tells;
    `work.right` holds the residual.
    """
    z, size = point[:-1], len(prior)
    rate = point[size]
    action_values(flat, z, work)
    by_earlier(flat, work)
    add_later(flat, work)
    start, link_start, link, column = flat.start, flat.link_start, flat.link, flat.column
    p, values, by_log = work.p, work.values, work.by_log
    bordered, right = work.bordered, work.right
    bordered[:] = 0.0
    for c in range(len(start) - 1):
        first = start[c]
        for k in range(first + 1, start[c + 1]):
            row = k - c - 1
            gain = values[k] - values[first]
            right[row] = (z[row] - prior[row] - rate * gain) / scale[row]
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
                    bordered[row, column[f]] = factor * change * scale[f]
            bordered[row, column[row]] += 1.0
            bordered[row, size] = -gain * scale[size] / scale[row]
    for f in range(size):
        bordered[size, column[f]] = border[f]
    bordered[size, size] = border[size]
    right[size] = 0.0
