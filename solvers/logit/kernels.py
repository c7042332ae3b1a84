"""Compiled action values and their derivatives, in log-odds.

In agent form the value of an action is conditional on reaching its information set: expected
payoffs after the action, weighted with the beliefs that chance's and the others' moves induce.
The own reach cancels, by perfect recall. Beliefs are quotients of reaches that may be as small as
exp(-1e6); so they are made from logarithms.

In normal form it is weighted with the probabilities themselves with which chance and the others
lead there. A pure strategy pays what its sequences pay, so mixed strategies proportional to prior
times exp(lambda payoff) are a behavior: below an action stands the log sum of such weights over
own later plays, which is lambda times the value of the response less its relative entropy to the
prior (`later_costs`). Without the information sets that an own action excludes, strategies that
differ there only count once in the reduced form, which is another prior.

Symbols: M nodes, N players, C information sets with a choice, H nodes of these, K actions there,
F = K - C log-odds. Actions at information sets without a choice have no number. What is latest in
the game comes first, so that Newton matrices, eliminated in this order, remain sparse. Indices
that are never negative are unsigned, for others are checked and wrapped around.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import exp, kernel, log
from eqbench.model.tree import FloatArray, GameTree

Form = Literal["agent", "normal", "reduced"]
# Probability of later play below which it changes no value.
NEGLIGIBLE = 1e-200
# In the place of log-odds to which others are pinned.
FREE, FIRST = -2, -1


class FlatTree(NamedTuple):
    """A game tree without names; nothing of it is overwritten."""

    parent: NDArray  # uint32 (M,)
    inner: NDArray  # uint32: nodes that are not terminal
    children: NDArray  # uint32 (M+1,): first child; children of a node stand together
    # int32 (M,): number of the action that leads to a node, who chose it; -1 where no player did
    edge: NDArray
    mover: NDArray
    # uint32 (M,): the gains over first actions that its value enters, none where no player chose
    gain_start: NDArray
    gain_end: NDArray
    gain_sign: FloatArray  # (M,): 1, or -1 for a first action, whose value is taken off
    chance: FloatArray  # (M,): probability of the move to a node as far as chance makes it
    owner: NDArray  # int32 (C,)
    # int32 (C+1,): first action of each information set, the reference of its log-odds
    start: NDArray
    action: NDArray  # int64 (K,): number of each action among all of the tree
    node_start: NDArray  # uint32 (C+1,): first of the H nodes of each information set
    # uint32 (H,): these nodes, and the first child of each
    decision: NDArray
    child: NDArray
    log_chance: FloatArray  # (H,): log probability with which chance leads to them
    # uint32 (H+1,) and any length: actions of all but the owner that lead to each of them
    path_start: NDArray
    path: NDArray
    # uint32 (C+1,) and any length: sets on whose frequencies the values at each set depend
    link_start: NDArray
    link: NDArray
    payoffs: FloatArray  # (N, M): less the middle of each player's; 0 at inner nodes
    prior: FloatArray  # (F,): log-odds where lambda is 0
    # int32 (F,): log-odds with which each moves, at the distance that the prior has, whatever the
    # values are; FIRST if it does not move, FREE if it is not pinned
    pinned: NDArray
    unit: float  # lambda that counts as 1
    above: NDArray  # int32 (C,): the owner's last action before each set, -1 if there is none
    normal: bool  # responses in normal form


class Workspace(NamedTuple):
    """Memory that the kernels overwrite, float64 unless noted otherwise."""

    # (K,): log frequency, frequency and conditional value of each action
    log_p: FloatArray
    p: FloatArray
    values: FloatArray
    # (K,): log frequency in the prior, and cost of the owner's later choices, 0 in agent form
    log_prior: FloatArray
    cost: FloatArray
    move: FloatArray  # (M,): probability of the move that leads to each node
    payoffs: FloatArray  # (N, M): expected payoffs from each node on
    belief: FloatArray  # (M,): probability of a node given its set, 0 where no player has a choice
    by_log: FloatArray  # (F, K): derivatives of gains by log frequencies, taken as independent
    bordered: FloatArray  # (F+1, F+1)
    # (2, F+1): of Newton's equations, and of those of the tangent
    right: FloatArray
    solution: FloatArray
    top: NDArray  # int32 (C,): log-odds of the most probable action, -1 if it is the first one
    # (F+1,): units of log-odds and of lambda, and the last row of the matrix
    scale: FloatArray
    border: FloatArray


def flat_tree(tree: GameTree, form: Form = "agent") -> FlatTree:
    """Return the arrays of a tree, with the prior that is uniform in a form of the game."""
    nodes, sizes, starts = tree.n_nodes, np.diff(tree.action_start), tree.action_start
    chosen = np.flatnonzero(sizes > 1)
    # nodes are in order of depth
    met = np.flatnonzero(tree.infoset >= 0)
    earliest = met[np.unique(tree.infoset[met], return_index=True)[1]]
    chosen = chosen[np.argsort(-earliest[chosen], kind="stable")]
    sets, actions = len(chosen), int(sizes[chosen].sum())
    start = np.append(0, np.cumsum(sizes[chosen])).astype(np.int32)
    action = np.repeat(starts[chosen] - start[:-1], sizes[chosen]) + np.arange(actions)
    # of sets and actions that have none, and of no set and no action, it is -1
    place, number = np.full(len(sizes) + 1, -1), np.full(starts[-1] + 1, -1)
    place[chosen], number[action] = np.arange(sets), np.arange(actions)
    edge, at = number[tree.incoming].astype(np.int32), place[tree.infoset]
    moved = edge >= 0
    belongs = np.where(moved, at[tree.parent], -1)
    mover = np.where(moved, tree.player[tree.parent], -1).astype(np.int32)
    gain_start, gain_end = np.zeros(nodes, np.uint32), np.zeros(nodes, np.uint32)
    e, c = edge[moved], belongs[moved]
    is_first = e == start[c]
    gain_start[moved] = np.where(is_first, start[c] - c, e - c - 1)
    gain_end[moved] = np.where(is_first, start[c + 1] - c - 1, e - c)
    decision = np.flatnonzero(at >= 0)
    node_start = _starts(at[decision], sets)
    decision = decision[np.argsort(at[decision], kind="stable")]
    children, table = tree.first_children().astype(np.uint32), tree.payoffs.table
    owner = tree.infoset_player[chosen].astype(np.int32)
    # constants change nothing but the rounding of differences
    payoffs = np.zeros((table.shape[1], nodes))
    payoffs[:, tree.terminals] = (table - (table.min(axis=0) + table.max(axis=0)) / 2).T
    chance = tree.chance_probability
    log_chance, path_start, path, link_start, link, above = _dependences(
        tree.parent, edge, mover, chance, belongs, node_start, decision, owner
    )
    made = FlatTree(
        parent=tree.parent.astype(np.uint32),
        inner=np.flatnonzero(np.diff(children) > 0).astype(np.uint32),
        children=children,
        edge=edge,
        mover=mover,
        gain_start=gain_start,
        gain_end=gain_end,
        gain_sign=np.where(moved & (edge == start[belongs]), -1.0, 1.0),
        chance=chance,
        owner=owner,
        start=start,
        action=action,
        node_start=node_start,
        decision=decision.astype(np.uint32),
        child=children[decision],
        log_chance=log_chance,
        path_start=path_start,
        path=path,
        link_start=link_start,
        link=link,
        payoffs=payoffs,
        prior=np.zeros(actions - sets),
        pinned=np.full(actions - sets, FREE, np.int32),
        unit=1.0 / (tree.payoff_range or 1.0),
        above=above,
        normal=form != "agent",
    )
    return made._replace(prior=_numbers(made)) if form == "reduced" else made


def _numbers(flat: FlatTree) -> FloatArray:
    """Log numbers of reduced strategies after each action over those after the first, (F,)."""
    logs = np.zeros(len(flat.action))
    for above, (first, end) in zip(flat.above.tolist(), pairwise(flat.start), strict=True):
        if above >= 0:
            logs[above] += np.logaddexp.reduce(logs[first:end])
    first = flat.start[:-1]
    return np.delete(logs - np.repeat(logs[first], np.diff(flat.start)), first)


def workspace(flat: FlatTree) -> Workspace:
    """Return memory for the kernels."""
    nodes, actions, unknowns = len(flat.parent), len(flat.action), len(flat.prior) + 1
    rows = np.empty((6, unknowns))
    return Workspace(
        log_p=np.empty(actions),
        p=np.empty(actions),
        values=np.empty(actions),
        log_prior=np.empty(actions),
        cost=np.zeros(actions),
        move=np.empty(nodes),
        payoffs=flat.payoffs.copy(),
        belief=np.zeros(nodes),
        by_log=np.zeros((unknowns - 1, actions)),
        bordered=np.empty((unknowns, unknowns)),
        right=rows[:2],
        solution=rows[2:4],
        top=np.empty(len(flat.owner), np.int32),
        scale=rows[4],
        border=rows[5],
    )


def bytes_needed(tree: GameTree) -> int:
    """Return the memory of the matrices."""
    sizes = [len(labels) for labels in tree.infoset_actions if len(labels) > 1]
    unknowns = sum(sizes) - len(sizes)
    return 8 * (unknowns * sum(sizes) + (unknowns + 1) ** 2)


def _dependences(
    parent: NDArray,
    edge: NDArray,
    mover: NDArray,
    chance: FloatArray,
    belongs: NDArray,
    node_start: NDArray,
    decision: NDArray,
    owner: NDArray,
) -> tuple[NDArray, ...]:
    """Return `log_chance`, `path_start`, `path`, `link_start`, `link`, and `above` of a `FlatTree`.

    `belongs` (M,) are the sets at which the moves to nodes were chosen.
    """
    sets, d, y = len(owner), np.arange(len(decision)), decision
    at, above = np.repeat(np.arange(sets), np.diff(node_start)), np.full(sets, -1, np.int32)
    log_chance, linked = np.zeros(len(decision)), np.zeros((sets, sets), np.bool_)
    different, which = np.unique(chance, return_inverse=True)
    logs = np.array([log(each) for each in different.tolist()])[which]
    passed, used = [d[:0]], [edge[:0]]
    while len(d):  # from all nodes to the root at once: the path of each d has come to its y
        d, y = d[y > 0], y[y > 0]
        drawn, own = edge[y] < 0, mover[y] == owner[at[d]]
        log_chance[d[drawn]] += logs[y[drawn]]
        linked[belongs[y[~drawn]], at[d[~drawn]]] = True
        last, others = ~drawn & own & (above[at[d]] < 0), ~drawn & ~own
        above[at[d[last]]] = edge[y[last]]
        linked[at[d[others]], belongs[y[others]]] = True
        passed.append(d[others])
        used.append(edge[y[others]])
        y = parent[y]
    of, path = np.concatenate(passed), np.concatenate(used)
    by, link = np.nonzero(linked)
    link_start = np.searchsorted(by, np.arange(sets + 1)).astype(np.uint32)
    path = path[np.argsort(of, kind="stable")].astype(np.uint32)
    return log_chance, _starts(of, len(decision)), path, link_start, link.astype(np.uint32), above


def _starts(of: NDArray, groups: int) -> NDArray:
    """First place of each group among as many as belong to them, and the end, uint32."""
    return np.append(0, np.cumsum(np.bincount(of, minlength=groups))).astype(np.uint32)


@kernel
def softmax(start, z, log_p, p):
    """Frequencies (K,) and their logarithms at log-odds z (F,)."""
    for c in range(len(start) - 1):
        first, last = start[c], start[c + 1]
        top = 0.0
        for k in range(first + 1, last):
            top = max(top, z[k - c - 1])
        total = exp(-top)
        for k in range(first + 1, last):
            total += exp(z[k - c - 1] - top)
        # the largest is taken off first, lest the rounding of huge log-odds reach frequencies
        log_total = log(total)
        log_p[first] = -top - log_total
        p[first] = exp(log_p[first])
        for k in range(first + 1, last):
            log_p[k] = (z[k - c - 1] - top) - log_total
            p[k] = exp(log_p[k])


@kernel
def log_frequencies(start, points):
    """Logarithms of frequencies, float64 (P, K), at points (P, F+1)."""
    logs, p = np.empty((len(points), start[-1])), np.empty(start[-1])
    for i in range(len(points)):
        softmax(start, points[i, :-1], logs[i], p)
    return logs


@kernel
def believe(flat, log_p, belief):
    """Probabilities (M,) of nodes given their information sets; 0 where chance never leads.

    In normal form they are not given the sets, but if their owners lead there.
    """
    node_start, decision, log_chance = flat.node_start, flat.decision, flat.log_chance
    path_start, path = flat.path_start, flat.path
    for c in range(len(node_start) - 1):
        top, total = -np.inf, 0.0
        for d in range(node_start[c], node_start[c + 1]):
            log = log_chance[d]
            for i in range(path_start[d], path_start[d + 1]):
                log += log_p[path[i]]
            belief[decision[d]] = log
            top = 0.0 if flat.normal else max(top, log)
        for d in range(node_start[c], node_start[c + 1]):
            h = decision[d]
            belief[h] = exp(belief[h] - top) if top > -np.inf else 0.0
            total += belief[h]
        for d in range(node_start[c], node_start[c + 1]):
            if total > 0.0 and not flat.normal:
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
                more = belief[decision[d]] * (here if flat.normal else here - gain)
                for i in range(path_start[d], path_start[d + 1]):
                    row[path[i]] += more


@kernel
def add_later(flat, work):
    """Add derivatives of gains by log frequencies of anybody's later moves.

    In normal form those by the owner's are left out: where the equations hold, costs make up for
    them. Cost O(sum of depths of nodes).
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
            own = mover[y] == mover[x] and flat.normal
            if gain_start[y] < gain_end[y] and not own:
                more = gain_sign[y] * belief[above] * weight * payoffs[mover[y], x]
                for row in range(gain_start[y], gain_end[y]):
                    by_log[row, edge[x]] += more
            weight *= move[y]
            y = above


@kernel
def later_costs(flat, work):
    """Relative entropies to the prior of the owner's choices after each action, expected."""
    start, above, cost = flat.start, flat.above, work.cost
    cost[:] = 0.0
    for c in range(len(above)):
        if above[c] >= 0:
            for k in range(start[c], start[c + 1]):
                cost[above[c]] += work.p[k] * (work.log_p[k] - work.log_prior[k] + cost[k])


@kernel
def pin(flat, z, work):
    """Replace the equations of pinned log-odds."""
    pinned, scale, bordered = flat.pinned, work.scale, work.bordered
    for row in range(len(pinned)):
        if pinned[row] != FREE:
            moved = z[row] - flat.prior[row]
            bordered[row] = 0.0
            bordered[row, row] = 1.0 / scale[row]
            if pinned[row] != FIRST:
                moved -= z[pinned[row]] - flat.prior[pinned[row]]
                bordered[row, pinned[row]] = -1.0 / scale[row]
            work.right[0, row] = moved / scale[row]


@kernel
def newton_system(flat, work, point):
    """Equations z - prior - lambda (v - v of the first action) = 0, linearized at a point.

    In normal form lambda v is less the later costs. Those of pinned log-odds are that z - prior
    is 0, or that of what they are pinned to.

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
    if flat.normal:
        later_costs(flat, work)
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
            moved = z[row] - prior[row] - rate * gain + (work.cost[k] - work.cost[first])
            right[0, row] = moved / scale[row]
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
    pin(flat, z, work)
    bordered[size] = border
    right[0, size] = 0.0
    right[1] = 0.0
    right[1, size] = 1.0
