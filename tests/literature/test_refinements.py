"""Refinements of equilibria of textbook games, held against what is known of them."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from helpers.documentation import ROOT
from helpers.gambit_games import assert_same_game
from helpers.kuhn_and_skp import SUB_FAMILIES, largest_b32, random_member, szafron_profile
from helpers.kuhn_and_skp import member as szafron_member
from helpers.made_games import BOOKS, profile_of, textbook_game

import eqbench
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.verdicts import (
    Proof,
    credibility,
    decide,
    dominated_actions,
    kind_of,
    subgame_perfect,
    undominated_plan,
)
from eqbench.verification import verify_exactly


class Known(NamedTuple):
    """What is known of an equilibrium of a textbook, as the file with these rows explains."""

    moves: str
    credible: str
    subgames: str
    sequential: str
    dominated: str
    reason: str

    @property
    def proof(self) -> Proof:
        return {"yes": Proof.CERTIFIED, "no": Proof.REFUTED}[self.sequential]


CASES = [(name, Known(*row)) for name, book in BOOKS.items() for row in book["verdicts"]]


def pure_equilibria(tree: GameTree) -> dict[str, BehaviorProfile]:
    """Profiles of pure strategies without regret, by their actions."""
    found = {}
    for moves in itertools.product(*tree.infoset_actions):
        profile = profile_of(tree, " ".join(moves))
        if verify_exactly(tree, profile).max_regret == 0:
            found[" ".join(moves)] = profile
    return found


def proof_of(tree: GameTree, profile: BehaviorProfile) -> Proof:
    play = Play.exactly(tree, profile)
    verdict = decide(play, tries=4)
    if verdict.proof is Proof.CERTIFIED:  # sequential equilibria are subgame-perfect
        assert subgame_perfect(play).perfect
    return verdict.proof


def played_dominated(play: Play) -> str:
    """Players who play what is dominated: with two players plans, with more actions."""
    tree = play.tree
    if tree.n_players == 2:
        proofs = [undominated_plan(play, player).proof for player in (0, 1)]
        assert Proof.OPEN not in proofs
        found = [player for player in (0, 1) if proofs[player] is Proof.REFUTED]
    else:
        owner = np.repeat(tree.infoset_player, np.diff(tree.action_start))
        found = sorted({int(owner[action]) for action in dominated_actions(play)})
    return " ".join(tree.players[player] for player in found)


@pytest.mark.parametrize(
    ("name", "known"), CASES, ids=[f"{name}: {known.moves}" for name, known in CASES]
)
def test_equilibrium_of_a_textbook_is_judged_as_known(name: str, known: Known) -> None:
    tree = textbook_game(name)
    profile = profile_of(tree, known.moves)
    assert verify_exactly(tree, profile).max_regret == 0
    play = Play.exactly(tree, profile)
    assert str(credibility(play)).split(",")[0] == known.credible
    assert str(subgame_perfect(play)).replace("no proper subgame", "none") == known.subgames
    assert proof_of(tree, profile) is known.proof
    assert played_dominated(play) == known.dominated
    assert (kind_of(play).undominated == "refuted") == bool(known.dominated)
    assert known.reason.startswith(("stated: ", "by hand: "))


def test_documentation_says_how_many_games_of_textbooks_there_are() -> None:
    page = (ROOT / "docs/explanation/credible.md").read_text(encoding="utf-8")
    assert f"on {len(BOOKS)} games of textbooks and papers, at {len(CASES)} equilibria" in page


@pytest.mark.parametrize("name", BOOKS)
def test_no_other_pure_equilibrium_of_a_textbook_is_sequential(name: str) -> None:
    """And all that are not in the list are refuted, not left open."""
    tree = textbook_game(name)
    listed = {
        known.moves: known.proof for book, known in CASES if book == name and "," not in known.moves
    }
    found = {moves: proof_of(tree, profile) for moves, profile in pure_equilibria(tree).items()}
    assert found == dict.fromkeys(found, Proof.REFUTED) | listed


@pytest.mark.parametrize("name", [name for name, book in BOOKS.items() if "gambit" in book])
def test_game_of_a_textbook_is_that_of_gambits_catalog(name: str) -> None:
    pygambit = pytest.importorskip("pygambit", reason="Gambit is not installed")
    path = Path(pygambit.__file__).parent / "catalog_data" / f"{BOOKS[name]['gambit']}.efg"
    assert_same_game(textbook_game(name), eqbench.load_game(str(path)).tree)


@pytest.mark.parametrize("name", ["slb_5_1", "slb_5_2", "slb_5_9", "selten_1978"])
def test_with_perfect_information_subgames_decide(name: str) -> None:
    tree = textbook_game(name)
    for profile in pure_equilibria(tree).values():
        perfect = subgame_perfect(Play.exactly(tree, profile)).perfect
        assert proof_of(tree, profile) is (Proof.CERTIFIED if perfect else Proof.REFUTED)


@pytest.mark.parametrize(
    ("name", "moves", "regrets"),
    [
        # Myerson (1991), figure 4.2: an equilibrium of agents; with A1, Y1 player 1 gains 1
        ("myerson_1991_4_2", "B1 Z1 W2", (1, 0)),
        # Cho and Kreps (1987): the weak would rather have beer than be fought
        ("cho_kreps_1987", "beer quiche no duel", (Fraction(1, 10), 0)),
    ],
)
def test_regrets_of_profiles_that_are_no_equilibria(
    name: str, moves: str, regrets: tuple[Fraction, ...]
) -> None:
    tree = textbook_game(name)
    assert verify_exactly(tree, profile_of(tree, moves)).regrets == regrets


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
    for _ in range(5):
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
