"""What is wrong with a tree, by a walk from the root over plain lists: the tests' own judge.

It shares nothing with the checks of eqbench: own histories are written out whole, chance is
summed in Fractions, and the order of nodes is that of a queue.
"""

from __future__ import annotations

import math
from collections import deque
from fractions import Fraction

from eqbench.model.tree import CHANCE, TERMINAL, GameTree

History = tuple[tuple[int, int], ...]  # information set and move of every own decision


def faults(tree: GameTree) -> list[str]:
    """All faults that are found, empty for a game as it should be."""
    children = _children(tree.parent.tolist())
    if children is None:
        return ["the parents lead nowhere"]
    order, histories = _walk(tree, children)
    if order != list(range(len(children))):
        return [f"a walk in breadth meets the nodes as {order[:20]}"]
    return [
        *_of_labels(tree),
        *_of_nodes(tree, children),
        *_of_chance(tree, children),
        *_of_information(tree, histories),
        *_of_payoffs(tree),
    ]


def _children(parent: list[int]) -> list[list[int]] | None:
    children: list[list[int]] = [[] for _ in parent]
    for node, above in enumerate(parent):
        if node == 0 and above == -1:
            continue
        if not 0 <= above < len(parent):
            return None
        children[above].append(node)
    return children


def _walk(tree: GameTree, children: list[list[int]]) -> tuple[list[int], dict[int, list[History]]]:
    """Nodes as a queue meets them, and the own histories of all players at each."""
    mover, infoset, move = tree.player.tolist(), tree.infoset.tolist(), tree.move.tolist()
    order, histories = [], {0: [()] * len(tree.players)}
    waiting = deque([0])
    while waiting and len(order) <= len(children):
        node = waiting.popleft()
        order.append(node)
        for child in children[node]:
            below = list(histories[node])
            if 0 <= mover[node] < len(below):
                below[mover[node]] += ((infoset[node], move[child]),)
            histories[child] = below
            waiting.append(child)
    return order, histories


def _of_labels(tree: GameTree) -> list[str]:
    sets = list(zip(tree.infoset_player.tolist(), tree.infoset_labels, strict=True))
    groups = [list(tree.players), sets, *map(list, tree.infoset_actions)]
    texts = [*tree.players, *tree.infoset_labels, *sum(tree.infoset_actions, ())]
    found = [f"{group} has a label twice" for group in groups if len(set(group)) != len(group)]
    found += [f"{text!r} is no text" for text in texts if not isinstance(text, str)]
    found += [] if tree.players and all(tree.infoset_actions) else ["nobody, or nothing to do"]
    return found


def _of_nodes(tree: GameTree, children: list[list[int]]) -> list[str]:
    found = []
    for node, (mover, infoset) in enumerate(zip(tree.player, tree.infoset, strict=True)):
        below = children[node]
        if [int(tree.move[child]) for child in below] != list(range(len(below))):
            found.append(f"the moves at {node} are not in order")
        if (mover == TERMINAL) != (not below) or not TERMINAL <= mover < len(tree.players):
            found.append(f"{mover} moves at {node}, which has {len(below)} children")
        if (mover >= 0) != (0 <= infoset < len(tree.infoset_labels)) or infoset < -1:
            found.append(f"{mover} moves at {node} of information set {infoset}")
        elif mover >= 0 and len(tree.infoset_actions[infoset]) != len(below):
            found.append(f"{node} has other actions than its information set")
    return found + ([] if tree.move[0] == -1 else ["the root has a move"])


def _of_chance(tree: GameTree, children: list[list[int]]) -> list[str]:
    exact = tree.chance.dtype.kind == "i"
    denominator = tree.chance_denominator
    found = [] if denominator >= 1 and (exact or denominator == 1) else ["denominator of chance"]
    drawn = set()
    for node, mover in enumerate(tree.player.tolist()):
        if mover == CHANCE:
            drawn |= set(children[node])
            shares = [Fraction(tree.chance[c].item()) / denominator for c in children[node]]
            if abs(sum(shares) - 1) > (0 if exact else Fraction(1, 10**12)) or min(shares) < 0:
                found.append(f"chance at {node} is {shares}")
    others = set(range(len(children))) - drawn
    return found + [f"chance at {node}" for node in others if tree.chance[node] != 0]


def _of_information(tree: GameTree, histories: dict[int, list[History]]) -> list[str]:
    found, known = [], dict[int, History]()
    owners = tree.infoset_player.tolist()
    for node, infoset in enumerate(tree.infoset.tolist()):
        if infoset >= 0:
            own = histories[node][owners[infoset]]
            if tree.player[node] != owners[infoset] or known.setdefault(infoset, own) != own:
                found.append(f"information set {infoset} does not fit its node {node}")
    if found or sorted(known) != list(range(len(owners))):
        return [*found, "some information set is empty, or its player forgets"]
    keys = [(owner, len(known[infoset])) for infoset, owner in enumerate(owners)]
    found += [] if keys == sorted(keys) else [f"information sets stand in the order {keys}"]
    for infoset, history in known.items():
        above = -1
        if history:
            behind, move = history[-1]
            above = sum(len(actions) for actions in tree.infoset_actions[:behind]) + move
        if tree.infoset_parent[infoset] != above:
            found.append(f"{infoset} stands behind {tree.infoset_parent[infoset]}, not {above}")
    return found


def _of_payoffs(tree: GameTree) -> list[str]:
    payoffs = tree.payoffs
    exact = payoffs.base.dtype.kind == "i"
    found = [] if payoffs.denominator >= 1 and (exact or payoffs.denominator == 1) else ["parts"]
    slope = [[0] * len(tree.players)] * len(payoffs.base)
    if payoffs.slope is not None:
        slope = payoffs.slope.tolist()
    shape = (tree.player.tolist().count(TERMINAL), len(tree.players))
    if payoffs.base.shape != shape or len({payoffs.slope is None, payoffs.value is None}) > 1:
        return [*found, "the table of payoffs has another shape"]
    for bases, steps in zip(payoffs.base.tolist(), slope, strict=True):
        if not all(map(math.isfinite, [*bases, *steps])):
            return [*found, "a payoff is not finite"]
        for base, step in zip(bases, steps, strict=True):
            payoff = (base + Fraction(step) * (payoffs.value or 0)) / Fraction(payoffs.denominator)
            if abs(payoff) > Fraction(10) ** 301:
                found.append("a payoff is beyond floats")
    return found
