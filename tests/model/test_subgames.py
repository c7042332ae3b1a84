"""Subgames: roots and regrets by the definition, and games with known answers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from helpers.made_games import (
    entry_deterrence,
    exact_profile,
    random_tree,
    selten_horse,
    sparse_profile,
)

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.verdicts.subgames import subgame_perfect, subgame_roots
from eqbench.verification import verify_exactly


def below(tree: GameTree, root: int) -> list[int]:
    """Nodes of a subtree."""
    found = [root]
    for node in found:
        found.extend(np.flatnonzero(tree.parent == node).tolist())
    return found


def roots_by_definition(tree: GameTree) -> list[int]:
    roots = []
    for node in range(tree.n_nodes):
        inside = set(below(tree, node))
        sets = {int(tree.infoset[n]) for n in inside} - {-1}
        members = {n for n in range(tree.n_nodes) if tree.infoset[n] in sets}
        if tree.player[node] != TERMINAL and members <= inside:
            roots.append(node)
    return roots


def subgame(tree: GameTree, profile: BehaviorProfile, root: int) -> list[Fraction]:
    """Regrets of a subgame that is built as a game of its own."""
    assert profile.exact is not None
    builder, rows = TreeBuilder(list(tree.players)), {}
    payoffs, denominator = tree.payoffs.rational()

    def build(node: int, place: tuple[int, int] | None) -> None:
        children = np.flatnonzero(tree.parent == node).tolist()
        if tree.player[node] == TERMINAL:
            values = payoffs[np.searchsorted(tree.terminals, node)].tolist()
            builder.terminal(place, [Fraction(value, denominator) for value in values])
            return
        if tree.player[node] == CHANCE:
            shares = [Fraction(int(tree.chance[c]), tree.chance_denominator) for c in children]
            here = builder.chance(place, shares)
        else:
            i = int(tree.infoset[node])
            actions = list(tree.infoset_actions[i])
            here = builder.decision(place, int(tree.player[node]), tree.infoset_labels[i], actions)
            start = tree.action_start[i]
            rows[int(tree.player[node]), tree.infoset_labels[i]] = profile.exact[start:][
                : len(actions)
            ]
        for move, child in enumerate(children):
            build(child, (here, move))

    build(root, None)
    small = builder.tree()
    owners = small.infoset_player.tolist()
    own = [x for key in zip(owners, small.infoset_labels, strict=True) for x in rows[key]]
    return list(verify_exactly(small, BehaviorProfile.of_exact(small, own)).regrets)


@pytest.mark.parametrize("seed", range(50))
def test_by_the_definition(seed: int) -> None:
    tree = random_tree(seed, depth=5)
    profile = sparse_profile(tree, np.random.default_rng(seed))
    found = subgame_perfect(Play.exactly(tree, profile))
    assert subgame_roots(tree).tolist() == (roots_by_definition(tree) or [])
    for root, regrets in zip(found.roots.tolist(), found.regrets.tolist(), strict=True):
        assert regrets == subgame(tree, profile, root)
    floats = subgame_perfect(Play.of(tree, profile))
    np.testing.assert_allclose(floats.regrets, found.regrets.astype(float), atol=1e-12)


@pytest.mark.parametrize("game", ["kuhn2", "kuhn3"])
def test_poker_has_no_proper_subgame(game: str) -> None:
    tree = eqbench.load_game(game).tree
    found = subgame_perfect(Play.exactly(tree, BehaviorProfile.uniform(tree)))
    assert str(found) == "no proper subgame"


def test_the_horse_has_none_either() -> None:
    assert subgame_roots(selten_horse()).tolist() == [0]


@pytest.mark.parametrize(
    ("enter", "fight", "nash", "perfect"),
    [(0, 1, True, False), (1, 0, True, True), (0, 0, False, False)],
)
def test_empty_threats(enter: int, fight: int, *, nash: bool, perfect: bool) -> None:
    """Selten (1978): the incumbent would fight, if only it cost nothing to say so."""
    tree = entry_deterrence()
    profile = exact_profile(tree, (1 - enter, enter), (fight, 1 - fight))
    assert (verify_exactly(tree, profile).max_regret == 0) == nash
    assert subgame_perfect(Play.exactly(tree, profile)).perfect == perfect
