"""Dominated actions are found, and what is removed is never missed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from random_trees import random_tree

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.tree import CHANCE, TERMINAL, GameTree, Payoffs

dominated_actions = importlib.import_module("eqbench.solvers.ncp.presolve").dominated_actions


def labels(tree: GameTree, mask: Iterable[bool]) -> set[tuple[str, str, str]]:
    """Player, information set and name of the actions of a mask."""
    places = [
        (tree.players[player], label, action)
        for player, label, actions in zip(
            tree.infoset_player, tree.infoset_labels, tree.infoset_actions, strict=True
        )
        for action in actions
    ]
    return {place for place, chosen in zip(places, mask, strict=True) if chosen}


def few_payoffs(seed: int) -> GameTree:
    """A random game of two players whose payoffs are drawn from three numbers."""
    tree = eqbench.load_game(f"random_tree(depth=5,actions=2,information=1/2,seed={seed})").tree
    rng = np.random.default_rng(seed)
    return replace(tree, payoffs=Payoffs(rng.integers(0, 3, (tree.n_terminals, 2))))


# -- known games --------------------------------------------------------------------------------


def test_one_round_finds_the_22_dominated_actions_of_three_player_kuhn_and_no_round_more() -> None:
    """Ganzfried 2025 deletes 22 actions by hand."""
    full, reduced = (eqbench.load_game(name).tree for name in ("kuhn3", "kuhn3_reduced"))
    found = dominated_actions(full)
    everything, kept = (labels(tree, [True] * tree.n_actions) for tree in (full, reduced))
    assert labels(full, found == 1) == everything - kept
    assert (found.max(), (found > 0).sum()) == (1, 22)
    assert not dominated_actions(reduced).any()


def test_further_rounds_go_on_in_the_play_that_is_left() -> None:
    """Kuhn 1950: once player 1 never calls with 1 nor folds 3, player 2 need not bet the 2."""
    tree = eqbench.load_game("kuhn2").tree
    found = dominated_actions(tree)
    assert found.max() == 2
    assert labels(tree, found == 2) == {("P2", "2:K", "bet")}


# -- small trees --------------------------------------------------------------------------------


def test_of_equal_actions_the_first_stays() -> None:
    """Chance leads to one of two nodes of one information set; a row of payoffs for each."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.chance(None, [Fraction(1, 2)] * 2)
    for door, row in enumerate(([0, 1, 1], [0, 2, 2])):
        node = builder.decision((root, door), 0, "I", ["a0", "a1", "a2"])
        for move, payoff in enumerate(row):
            builder.terminal((node, move), [payoff, 0])
    assert removed_names(builder.tree()) == {"a0", "a2"}


def chain(after: Callable[[TreeBuilder, Any], None], outside: Fraction | int) -> GameTree:
    """Player 1 takes what is `outside` or goes in, where `after` puts what follows."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "root", ["out", "in"])
    builder.terminal((root, 0), [outside, 0])
    after(builder, (root, 1))
    return builder.tree()


def removed_names(tree: GameTree) -> set[str]:
    return {action for _, _, action in labels(tree, dominated_actions(tree) > 0)}


@pytest.mark.parametrize("power", [1, 3, 20])
def test_comparison_is_exact_also_where_integers_outgrow_64_bits(power: int) -> None:
    fraction = Fraction(1, 3**power)

    def rare(builder: TreeBuilder, place: Any) -> None:
        for _ in range(power):
            node = builder.chance(place, [Fraction(2, 3), Fraction(1, 3)])
            builder.terminal((node, 0), [0, 0])
            place = (node, 1)
        builder.terminal(place, [1, 0])

    assert removed_names(chain(rare, fraction)) == {"in"}
    below = chain(rare, fraction * (1 - Fraction(1, 10**8)))
    assert below.exact
    assert removed_names(below) == {"out"}


def test_set_that_cannot_be_reached_any_more_loses_nothing() -> None:
    def beyond(builder: TreeBuilder, place: Any) -> None:
        node = builder.decision(place, 1, "beyond", ["x", "y"])
        inner = builder.decision((node, 0), 0, "late", ["good", "bad"])
        for move, payoff in enumerate((1, -1)):
            builder.terminal((inner, move), [payoff, payoff])
        builder.terminal((node, 1), [0, 0])

    assert removed_names(chain(beyond, Fraction(1, 2))) == {"bad", "y", "out"}
    # without "bad", "y" is dominated; but when "bad" goes, "in" has gone as well
    assert removed_names(chain(beyond, 5)) == {"bad", "in"}


def test_game_without_decisions_has_none_to_remove() -> None:
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [Fraction(1, 2)] * 2)
    for outcome in (0, 1):
        builder.terminal((root, outcome), [outcome])
    assert dominated_actions(builder.tree()).tolist() == []


def test_game_in_floats_is_treated_alike() -> None:
    tree = eqbench.load_game("kuhn3").tree
    floats = replace(tree, payoffs=Payoffs(tree.payoffs.table), chance=tree.chance.astype(float))
    assert not floats.exact
    assert np.array_equal(dominated_actions(floats), dominated_actions(tree))


# -- against the definition, node by node -------------------------------------------------------


class ByDefinition:
    """The rule by plain recursion over the nodes, in Fractions."""

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.children: dict[int, list[int]] = {}
        for node, parent in enumerate(tree.parent.tolist()):
            self.children.setdefault(parent, []).append(node)
        numerators, denominator = tree.payoffs.rational()
        self.payoffs = {
            node: [Fraction(int(value), denominator) for value in row]
            for node, row in zip(tree.terminals.tolist(), numerators, strict=True)
        }

    def round_of(self) -> list[int]:
        rounds = [0] * self.tree.n_actions
        for number in range(1, self.tree.n_actions + 2):
            gone = {action for action, value in enumerate(rounds) if value}
            found = self.one_round(gone)
            if not found:
                break
            for action in found:
                rounds[action] = number
        return rounds

    def one_round(self, gone: set[int]) -> set[int]:
        tree, found = self.tree, set()
        alive = self.alive(gone)
        for i in range(tree.n_infosets):
            start, stop = tree.action_start[i], tree.action_start[i + 1]
            nodes = [node for node in alive if tree.infoset[node] == i]
            kept = [action for action in range(start, stop) if action not in gone]
            for a in kept if nodes else ():
                for b in kept:
                    equal = self.covers(a, b, nodes, gone) and b > a
                    if b != a and self.covers(b, a, nodes, gone) and not equal:
                        found.add(a)
        return found

    def covers(self, better: int, worse: int, nodes: list[int], gone: set[int]) -> bool:
        start = self.tree.action_start[self.tree.infoset[nodes[0]]]
        player = self.tree.player[nodes[0]]
        return all(
            self.extreme(min, self.children[node][better - start], player, gone)
            >= self.extreme(max, self.children[node][worse - start], player, gone)
            for node in nodes
        )

    def extreme(self, pick: Any, node: int, player: int, gone: set[int]) -> Fraction:
        tree = self.tree
        if tree.player[node] == TERMINAL:
            return self.payoffs[node][player]
        below = [c for c in self.children[node] if tree.incoming[c] not in gone]
        values = [self.extreme(pick, child, player, gone) for child in below]
        if tree.player[node] == CHANCE:
            weights = [Fraction(int(tree.chance[c]), tree.chance_denominator) for c in below]
            return sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0))
        return pick(values)

    def alive(self, gone: set[int], node: int = 0) -> list[int]:
        below = [c for c in self.children.get(node, []) if self.tree.incoming[c] not in gone]
        return [node, *(found for child in below for found in self.alive(gone, child))]


@pytest.mark.parametrize("seed", range(24))
def test_rounds_are_those_of_the_definition_on_random_trees(seed: int) -> None:
    for tree in (few_payoffs(seed), random_tree(seed, depth=5)):
        assert dominated_actions(tree).tolist() == ByDefinition(tree).round_of()


def test_random_trees_have_something_to_remove_and_several_rounds() -> None:
    found = [dominated_actions(few_payoffs(seed)) for seed in range(24)]
    assert sum(item.any() for item in found) > 12
    assert max(item.max(initial=0) for item in found) >= 3


# -- nothing is lost by removing ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_equilibria_of_what_is_left_are_equilibria_of_the_whole(seed: int) -> None:
    tree = few_payoffs(seed)
    assert dominated_actions(tree).max() >= 2
    found = eqbench.solve(Game("few payoffs", tree), "ncp(dominated=remove,backend=scip)")
    assert found.status == "ok"
    assert found.statistics["dominated_rounds"] == dominated_actions(tree).max()
    assert found.max_regret <= 1e-12
