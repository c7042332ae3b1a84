"""Oracles that share nothing with the code under test: walks of trees, checks by definition."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from eqbench.model import realization as reference
from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.verification import verify
from eqbench.verification.compiled_sweep import CompiledSweep

# -- Payoffs and regrets by plain recursion over the nodes, in Fractions: the tests' own measure


class TreeWalk:
    """One profile on one tree; floats count as the rationals that they are."""

    def __init__(self, tree: GameTree, frequencies: Sequence[float | Fraction]) -> None:
        self.n_players = len(tree.players)
        self.mover = tree.player.tolist()
        self.infoset = tree.infoset.tolist()
        self.sizes = [len(actions) for actions in tree.infoset_actions]
        self.owner = tree.infoset_player.tolist()
        self.children: list[list[int]] = [[] for _ in self.mover]
        for node, parent in enumerate(tree.parent.tolist()):
            if parent >= 0:
                self.children[parent].append(node)
        ends = itertools.accumulate(self.sizes)
        exact = [Fraction(value) for value in frequencies]
        self.row = [exact[end - size : end] for end, size in zip(ends, self.sizes, strict=True)]
        self.chance = [Fraction(value) / tree.chance_denominator for value in tree.chance.tolist()]
        self.payoff = _payoffs(tree)

    def payoffs(self) -> list[Fraction]:
        """Expected payoff of every player."""
        return [self._value(p, self._weights) for p in range(self.n_players)]

    def regrets(self) -> list[Fraction]:
        """Best-response gain of every player."""
        return [
            self.best_response_value(p) - self._value(p, self._weights)
            for p in range(self.n_players)
        ]

    def best_response_value(self, player: int) -> Fraction:
        """Value of the best reply, chosen set by set from the last own decision upwards."""
        reach = self._reach_without(player)
        members: dict[int, list[int]] = {}
        for node, infoset in enumerate(self.infoset):
            members.setdefault(infoset, []).append(node)
        chosen: dict[int, int] = {}
        known: dict[int, Fraction] = {}

        def choose(infoset: int) -> int:
            if infoset not in chosen:
                worth = [
                    sum(reach[node] * value(self.children[node][a]) for node in members[infoset])
                    for a in range(self.sizes[infoset])
                ]
                chosen[infoset] = worth.index(max(worth))
            return chosen[infoset]

        def value(node: int) -> Fraction:
            if node not in known:
                below = self.children[node]
                if self.mover[node] == TERMINAL:
                    known[node] = self.payoff[node][player]
                elif self.mover[node] == player:
                    known[node] = value(below[choose(self.infoset[node])])
                else:
                    weights = self._weights(node)
                    known[node] = sum(
                        (w * value(child) for w, child in zip(weights, below, strict=True)),
                        Fraction(0),
                    )
            return known[node]

        return value(0)

    def brute_force_value(self, player: int) -> Fraction:
        """Value of the best of all pure strategies, each played out; for tiny games only."""
        own = [i for i, owner in enumerate(self.owner) if owner == player]
        best = None
        for plan in itertools.product(*(range(self.sizes[i]) for i in own)):
            move = dict(zip(own, plan, strict=True))

            def weights(node: int, move: dict[int, int] = move) -> list[Fraction]:
                if self.mover[node] != player:
                    return self._weights(node)
                chosen = move[self.infoset[node]]
                return [Fraction(a == chosen) for a in range(len(self.children[node]))]

            value = self._value(player, weights)
            best = value if best is None else max(best, value)
        assert best is not None
        return best

    def pure_strategies(self, player: int) -> int:
        """Number of pure strategies that :meth:`brute_force_value` tries."""
        count = 1
        for size, owner in zip(self.sizes, self.owner, strict=True):
            count *= size if owner == player else 1
        return count

    def counterfactual(self) -> tuple[list[Fraction], list[list[Fraction]]]:
        """With which probability the others lead to each information set, and what actions there
        are worth, in sum over its nodes.
        """
        reach = [self._reach_without(p) for p in range(self.n_players)]
        worth: list[list[Fraction]] = [[] for _ in self.mover]
        for node in reversed(range(len(self.mover))):
            worth[node] = self.payoff.get(node) or [
                sum((w * worth[c][p] for w, c in self._below(node)), Fraction(0))
                for p in range(self.n_players)
            ]
        weights = [Fraction(0)] * len(self.sizes)
        values = [[Fraction(0)] * size for size in self.sizes]
        for node, player in enumerate(self.mover):
            if player >= 0:
                infoset = self.infoset[node]
                weights[infoset] += reach[player][node]
                for move, child in enumerate(self.children[node]):
                    values[infoset][move] += reach[player][node] * worth[child][player]
        return weights, values

    def reaches(self) -> list[Fraction]:
        """Probability of each information set."""
        reach, sums = self._reach_without(self.n_players), [Fraction(0)] * len(self.sizes)
        for node, player in enumerate(self.mover):
            if player >= 0:
                sums[self.infoset[node]] += reach[node]
        return sums

    def _below(self, node: int) -> list[tuple[Fraction, int]]:
        return list(zip(self._weights(node), self.children[node], strict=True))

    def _weights(self, node: int) -> list[Fraction]:
        if self.mover[node] == CHANCE:
            return [self.chance[child] for child in self.children[node]]
        return self.row[self.infoset[node]]

    def _value(self, player: int, weights: Callable[[int], list[Fraction]]) -> Fraction:
        total, stack = Fraction(0), [(0, Fraction(1))]
        while stack:
            node, reach = stack.pop()
            if self.mover[node] == TERMINAL:
                total += reach * self.payoff[node][player]
                continue
            for weight, child in zip(weights(node), self.children[node], strict=True):
                if weight:
                    stack.append((child, reach * weight))
        return total

    def _reach_without(self, player: int) -> list[Fraction]:
        reach = [Fraction(1)] * len(self.mover)
        for node, below in enumerate(self.children):  # parents come first
            if below:
                own = self.mover[node] == player
                weights = [Fraction(1)] * len(below) if own else self._weights(node)
                for weight, child in zip(weights, below, strict=True):
                    reach[child] = reach[node] * weight
        return reach


def _payoffs(tree: GameTree) -> dict[int, list[Fraction]]:
    """Payoffs by terminal node: base plus slope times the parameter's value."""
    base, slope = tree.payoffs.base.tolist(), tree.payoffs.slope
    value = tree.payoffs.value if slope is not None else Fraction(0)
    slopes = slope.tolist() if slope is not None else [[0] * len(tree.players)] * len(base)
    assert value is not None
    ends = [node for node, mover in enumerate(tree.player.tolist()) if mover == TERMINAL]
    return {
        node: [
            (Fraction(b) + Fraction(s) * value) / tree.payoffs.denominator
            for b, s in zip(bases, steps, strict=True)
        ]
        for node, bases, steps in zip(ends, base, slopes, strict=True)
    }


# -- Follow moves down a tree by their labels, and read off what is there


def children(tree: GameTree, node: int) -> range:
    """Nodes below a node, in the order of the moves."""
    # of another type, the numbers would make NumPy convert all nodes
    ends = np.array([node, node + 1], dtype=tree.parent.dtype)
    first, last = np.searchsorted(tree.parent, ends)
    return range(int(first), int(last))


def follow(tree: GameTree, moves: Iterable[int | str]) -> int:
    """Node that the moves lead to from the root: actions by label, chance by position."""
    node = 0
    for move in moves:
        if isinstance(move, str):
            assert tree.infoset[node] >= 0, f"nobody can {move} here"
            move = tree.infoset_actions[tree.infoset[node]].index(move)
        node = children(tree, node)[move]
    return node


def label_at(tree: GameTree, moves: Iterable[int | str]) -> tuple[str, str, tuple[str, ...]]:
    """Player, label and actions of the information set that the moves lead to."""
    infoset = int(tree.infoset[follow(tree, moves)])
    player = tree.players[tree.infoset_player[infoset]]
    return player, tree.infoset_labels[infoset], tree.infoset_actions[infoset]


def payoffs_at(tree: GameTree, moves: Iterable[int | str]) -> list[Fraction]:
    """Exact payoffs at the terminal that the moves lead to."""
    numerators, denominator = tree.payoffs.rational()
    row = tree.terminals.tolist().index(follow(tree, moves))
    return [Fraction(value, denominator) for value in numerators[row].tolist()]


# -- What is wrong with a tree, by a walk from the root over plain lists: the tests' own judge


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


# -- Dominated plans by the definition: a linear program over all pure plans of a small game


def dominated_plans(tree: GameTree, played: NDArray) -> list[bool]:
    """Whether a plan of each player that plays these of the A actions is weakly dominated.

    Which of them it plays more often makes no difference. It is held against mixtures of pure
    plans, whatever pure plans the others have.
    """
    needed, reach = np.zeros((tree.n_nodes, tree.n_actions), bool), tree.chance_probability.copy()
    for node in range(1, tree.n_nodes):
        needed[node] = needed[tree.parent[node]]
        if tree.incoming[node] >= 0:
            needed[node, tree.incoming[node]] = True
        reach[node] *= reach[tree.parent[node]]
    needed, reach = needed[tree.terminals], reach[tree.terminals]
    rows = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
    even, owner = played / np.bincount(rows, played)[rows], tree.infoset_player[rows]
    pure = []  # of each player: the terminals (Z,) that each pure plan admits
    for player in range(tree.n_players):
        sets = [np.flatnonzero(rows == i) for i in tree.infosets_of(player)]
        left_out = (np.setdiff1d(np.flatnonzero(owner == player), each) for each in product(*sets))
        pure.append(np.unique([~needed[:, each].any(axis=1) for each in left_out], axis=0))
    found = []
    for player in range(tree.n_players):
        others = np.ones((1, len(reach)), bool)
        for other in (*pure[:player], *pure[player + 1 :]):
            others = np.unique((others[:, None] & other).reshape(-1, len(reach)), axis=0)
        own = np.where(needed & (owner == player), even, 1).prod(axis=1)
        payoffs = others * reach * tree.payoffs.table[:, player]
        gains = (pure[player] - own) @ payoffs.T
        gains[abs(gains) <= 1e-12 * abs(payoffs).max()] = 0
        gains /= abs(gains).max() or 1
        best = linprog(-gains.sum(axis=1), -gains.T, np.zeros(len(others)), [[1] * len(gains)], 1)
        found.append(bool(best.fun < -1e-6))
    return found


# -- All ways to measure a profile, side by side, the profiles, and the same game in OpenSpiel


KINDS = ("random", "near-pure", "pure")


def draw_behavior(tree: GameTree, rng: np.random.Generator, kind: str) -> NDArray[np.float64]:
    """Frequencies (A,): random, pure, or pure but for a billionth at every information set."""
    if kind == "random":
        return random_profile(tree, rng)
    slip = 1e-9 if kind == "near-pure" else 0.0
    behavior = np.empty(tree.n_actions)
    for start, stop in zip(tree.action_start[:-1], tree.action_start[1:], strict=True):
        others = stop - start - 1
        behavior[start:stop] = slip / max(others, 1)
        behavior[rng.integers(start, stop)] = 1.0 - (slip if others else 0.0)
    return behavior


def measures(game: Game, behavior: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Payoffs and regrets (2, N) by each of the six ways."""
    tree, form, own = game.tree, game.sequence_form, game.payoff_model()
    generic = SequenceFormModel(form)
    walk = TreeWalk(tree, behavior.tolist())
    verified = verify(tree, BehaviorProfile.of(tree, behavior))
    paid, best = CompiledSweep(tree).evaluate(behavior)
    payoffs = reference.expected_payoffs(form, behavior)
    return {
        "walk": np.array([walk.payoffs(), walk.regrets()], dtype=np.float64),
        "verifier": np.array([verified.payoffs, verified.regrets]),
        "compiled verifier": np.array([paid, best - paid]),
        "model": np.array([own.expected_payoffs(behavior), own.regrets(behavior)]),
        "kernels": np.array([generic.expected_payoffs(behavior), generic.regrets(behavior)]),
        "twin": np.array([payoffs, reference.best_response_values(form, behavior) - payoffs]),
    }


def disagreement(game: Game, behavior: NDArray[np.float64]) -> dict[str, float]:
    """Largest difference of each way from the walk, in payoff units."""
    found = measures(game, behavior)
    return {
        name: float(np.abs(values - found["walk"]).max())
        for name, values in found.items()
        if name != "walk"
    }


def matched_moves(tree: GameTree, node: int, state: Any) -> Iterator[tuple[int, Any]]:
    """Pairs of a node below `node` and OpenSpiel's state below `state`, matched by position.

    Asserts that both are the same decision or chance move, or that both pay the same.
    """
    player, below = int(tree.player[node]), children(tree, node)
    if player == TERMINAL:
        row = np.searchsorted(tree.terminals, tree.terminals.dtype.type(node))
        assert state.is_terminal()
        assert np.abs(tree.payoffs.table[row] - state.returns()).max() <= 1e-15
        return
    assert state.current_player() == player, "OpenSpiel's chance player is -1, as ours is"
    moves = state.legal_actions()
    assert len(moves) == len(below)
    if player == CHANCE:
        theirs = [probability for _, probability in state.chance_outcomes()]
        assert np.abs(tree.chance_probability[list(below)] - theirs).max() <= 1e-15
    yield from ((child, state.child(move)) for child, move in zip(below, moves, strict=True))
