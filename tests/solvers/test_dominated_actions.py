"""Dominated actions are found, and what is removed is never missed."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.made_games import random_tree
from helpers.solver_cases import odd_games
from helpers.walks import TreeWalk

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


@pytest.mark.parametrize("power", [1, 3, 20])
def test_comparison_is_exact_also_where_integers_outgrow_64_bits(power: int) -> None:
    """Player 1 takes what is outside, or goes in for a rare 1."""
    fraction = Fraction(1, 3**power)
    for outside, worse in ((fraction, "in"), (fraction * (1 - Fraction(1, 10**8)), "out")):
        builder = TreeBuilder(["P1", "P2"])
        root = builder.decision(None, 0, "root", ["out", "in"])
        builder.terminal((root, 0), [outside, 0])
        place = (root, 1)
        for _ in range(power):
            node = builder.chance(place, [Fraction(2, 3), Fraction(1, 3)])
            builder.terminal((node, 0), [0, 0])
            place = (node, 1)
        builder.terminal(place, [1, 0])
        tree = builder.tree()
        assert tree.exact
        assert labels(tree, dominated_actions(tree) > 0) == {("P1", "root", worse)}


def test_game_without_decisions_has_none_to_remove() -> None:
    assert dominated_actions(odd_games()["no information sets"].tree).tolist() == []


# -- against the definition, node by node -------------------------------------------------------


def rounds_by_definition(tree: GameTree) -> list[int]:
    """The rule by plain recursion over the nodes, in Fractions."""
    walk, gone = TreeWalk(tree, [0] * tree.n_actions), set[int]()
    rounds = [0] * tree.n_actions

    def below(node: int) -> list[int]:
        return [child for child in walk.children[node] if tree.incoming[child] not in gone]

    def alive(node: int = 0) -> list[int]:
        return [node, *(found for child in below(node) for found in alive(child))]

    def extreme(pick: Any, node: int, player: int) -> Fraction:
        if walk.mover[node] == TERMINAL:
            return walk.payoff[node][player]
        values = {child: extreme(pick, child, player) for child in below(node)}
        if walk.mover[node] == CHANCE:
            return sum((walk.chance[c] * v for c, v in values.items()), Fraction(0))
        return pick(values.values())

    def covers(better: int, worse: int, nodes: list[int]) -> bool:
        moves, player = [walk.children[node] for node in nodes], walk.mover[nodes[0]]
        return all(
            extreme(min, here[better], player) >= extreme(max, here[worse], player)
            for here in moves
        )

    number, found = 0, {-1}
    while found:
        number, found, nodes_alive = number + 1, set(), alive()
        for infoset, start in enumerate(tree.action_start[:-1].tolist()):
            nodes = [node for node in nodes_alive if walk.infoset[node] == infoset]
            kept = [move for move in range(walk.sizes[infoset]) if start + move not in gone]
            for a, b in itertools.permutations(kept, 2) if nodes else ():
                # of equal actions the first stays
                if covers(b, a, nodes) and not (a < b and covers(a, b, nodes)):
                    found.add(start + a)
        gone |= found
        for action in found:
            rounds[action] = number
    return rounds


@pytest.mark.parametrize("seed", range(24))
def test_rounds_are_those_of_the_definition_on_random_trees(seed: int) -> None:
    for tree in (few_payoffs(seed), random_tree(seed, depth=5)):
        assert dominated_actions(tree).tolist() == rounds_by_definition(tree)


# -- nothing is lost by removing ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_equilibria_of_what_is_left_are_equilibria_of_the_whole(seed: int) -> None:
    tree = few_payoffs(seed)
    assert dominated_actions(tree).max() >= 2
    found = eqbench.solve(Game("few payoffs", tree), "ncp(dominated=remove,backend=scip)")
    assert found.status == "ok"
    assert found.statistics["dominated_rounds"] == dominated_actions(tree).max()
    assert found.max_regret <= 1e-12
