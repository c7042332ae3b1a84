"""Refinements of pure equilibria of textbook games, held against what their sources say."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from szafron_family import SUB_FAMILIES, largest_b32, random_member
from szafron_family import member as szafron_member
from textbook_games import beer_and_quiche, entry_deterrence, exact_profile
from three_player_kuhn import szafron_profile

import eqbench
from eqbench.equilibria.tremble_search import decide
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.verification import (
    Play,
    Proof,
    credibility,
    subgame_perfect,
    verify_exactly,
)

# Actions by information set in the order of the tree, first of all sequential equilibria in pure
# strategies, then of all other equilibria in pure strategies.
CATALOG = {
    # Selten (1975), figure 1: (1, 1, 1) is reasonable, the equilibrium (3, 2, 2) is not
    "journals/ijgt/selten1975/fig1": (["R R L"], ["L R R"]),
    # Selten (1975), figure 2: one perfect equilibrium in the extensive form
    "journals/ijgt/selten1975/fig2": (["R l R"], ["R r R"]),
    # Selten (1975), figure 3: two others are perfect in the normal form only
    "journals/ijgt/selten1975/fig3": (["L L L L"], ["R R L R", "R L L R", "L R L L"]),
    # Myerson (1991), figure 4.2: B1, Z1, W2 is an equilibrium of agents, not of the game
    "books/myerson1991/fig4_2": (["A1 Z1 X2"], []),
    # Shoham and Leyton-Brown (2008), figure 5.2: one of three equilibria is subgame-perfect
    "books/shohamleytonbrown2008/fig5_2": (["A G C F"], ["A H C F", "B H C E"]),
    # Watson (2013), figure 29.1: separation, and pooling without education
    "books/watson2013/fig29_1": (["E N M C", "N N C C"], []),
    # Bagwell (1995): with noise only the equilibrium of simultaneous moves is left
    "journals/geb/bagwell1995": (["C C C"], []),
}


def pure_equilibria(tree: GameTree) -> dict[str, BehaviorProfile]:
    """Profiles of pure strategies without regret, by their actions."""
    found = {}
    for moves in itertools.product(*tree.infoset_actions):
        rows = [[int(a == move) for a in row] for row, move in zip_sets(tree, moves)]
        profile = exact_profile(tree, *rows)
        if verify_exactly(tree, profile).max_regret == 0:
            found[" ".join(moves)] = profile
    return found


def zip_sets(tree: GameTree, moves: tuple[str, ...]) -> list[tuple[tuple[str, ...], str]]:
    return list(zip(tree.infoset_actions, moves, strict=True))


def proof_of(tree: GameTree, profile: BehaviorProfile) -> Proof:
    play = Play.exactly(tree, profile)
    verdict = decide(play, tries=4)
    if verdict.proof is Proof.CERTIFIED:  # sequential equilibria are subgame-perfect
        assert subgame_perfect(play).perfect
    return verdict.proof


@pytest.mark.parametrize("name", CATALOG)
def test_games_of_gambits_catalog(name: str) -> None:
    pygambit = pytest.importorskip("pygambit", reason="Gambit is not installed")
    folder = Path(pygambit.__file__).parent / "catalog_data"
    tree = eqbench.load_game(str(folder / f"{name}.efg")).tree
    certified, refuted = CATALOG[name]
    proofs = {moves: proof_of(tree, profile) for moves, profile in pure_equilibria(tree).items()}
    assert proofs == dict.fromkeys(certified, Proof.CERTIFIED) | dict.fromkeys(
        refuted, Proof.REFUTED
    )


@pytest.mark.parametrize("name", ["fig5_1", "fig5_2", "fig5_9"])
def test_with_perfect_information_subgames_decide(name: str) -> None:
    """Sharing game, an example, and centipede of Shoham and Leyton-Brown (2008)."""
    pygambit = pytest.importorskip("pygambit", reason="Gambit is not installed")
    folder = Path(pygambit.__file__).parent / "catalog_data/books/shohamleytonbrown2008"
    tree = eqbench.load_game(str(folder / f"{name}.efg")).tree
    equilibria = pure_equilibria(tree)
    assert len(equilibria) > 2
    for profile in equilibria.values():
        perfect = subgame_perfect(Play.exactly(tree, profile)).perfect
        assert proof_of(tree, profile) is (Proof.CERTIFIED if perfect else Proof.REFUTED)


def test_the_repeated_dilemma() -> None:
    """Shoham and Leyton-Brown (2008), figure 6.2: backward induction leaves defection alone."""
    pygambit = pytest.importorskip("pygambit", reason="Gambit is not installed")
    folder = Path(pygambit.__file__).parent / "catalog_data/books/shohamleytonbrown2008"
    tree = eqbench.load_game(str(folder / "fig6_2.efg")).tree
    profile = exact_profile(tree, *[(0, 1)] * tree.n_infosets)
    assert str(subgame_perfect(Play.exactly(tree, profile))) == "4/4"
    assert proof_of(tree, profile) is Proof.CERTIFIED


def test_beer_and_quiche() -> None:
    """Cho and Kreps (1987): both poolings are sequential, though intuition rejects one."""
    tree = beer_and_quiche()
    for meal in (0, 1):
        breakfast = (1 - meal, meal)
        answers = [(1, 0), (1, 0)]
        answers[meal] = (0, 1)  # no duel after what everybody has, a duel after the other
        profile = exact_profile(tree, breakfast, breakfast, *answers)
        assert verify_exactly(tree, profile).max_regret == 0
        assert proof_of(tree, profile) is Proof.CERTIFIED
    brave = exact_profile(tree, (1, 0), (0, 1), (0, 1), (1, 0))
    assert verify_exactly(tree, brave).max_regret == Fraction(1, 10)


def test_entry_deterrence() -> None:
    """Selten (1978): of two equilibria only the one without the threat is sequential."""
    proofs = {
        k: proof_of(entry_deterrence(), p) for k, p in pure_equilibria(entry_deterrence()).items()
    }
    assert proofs == {"out fight": Proof.REFUTED, "in yield": Proof.CERTIFIED}


@pytest.mark.parametrize("sub_family", SUB_FAMILIES)
def test_three_player_kuhn(sub_family: str) -> None:
    """All members of Szafron et al. (2013) are credible; sequential are those with b32 = c34 = 0.

    With c34 > 0, P3 calls a bet and a call with the second highest card and hopes that neither has
    the highest one. But after P1's tremble P2 calls with the highest card, and with lower ones
    only by another tremble. With b32 > 0, P2 would have to be indifferent after P1's bet, and then
    P3, after P2's fold, would not be: weighted and summed, gains of both are positive for each card
    with which P1 may have bet.
    """
    game = eqbench.load_game("kuhn3")
    rng = np.random.default_rng(0)
    for _ in range(6):
        member = random_member(sub_family, rng)
        names = ("b11", "b21", "b23", "b32", "c11", "c33", "c34")
        free = {name: member[name] for name in names}
        top = largest_b32(free["b11"], free["b21"])
        calls = {"b32": Fraction(0), "c33": Fraction(1, 2) + (top - Fraction(1, 2)) / 3}
        for changed, proof in (
            ({}, Proof.REFUTED),
            ({"c34": Fraction(0)}, Proof.REFUTED),
            (calls, Proof.REFUTED),
            (calls | {"c34": Fraction(0)}, Proof.CERTIFIED),
        ):
            values = szafron_profile(szafron_member(**free | changed))
            profile = BehaviorProfile.from_json(game, values)
            assert verify_exactly(game.tree, profile).max_regret == 0
            assert str(credibility(Play.exactly(game.tree, profile))) == "48/48"
            assert proof_of(game.tree, profile) is proof
