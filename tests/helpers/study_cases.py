"""Small studies."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.model.rank_sums import RankSums
from eqbench.model.tree import GameTree, Payoffs
from eqbench.studies.crossplay.study import Found
from eqbench.verification import verify
from helpers.solver_cases import bimatrix

# -- Profiles of small games to mix with each other, for tests of cross-play


def random_entries(game: Game, count: int = 3) -> list[tuple[str, BehaviorProfile]]:
    """Profiles with frequencies in tenths, so that sums in Fractions stay short."""
    rng, tree = np.random.default_rng(7), game.tree
    entries = []
    for label in "ABCDEFGH"[:count]:
        frequencies: list[Fraction] = []
        for actions in tree.infoset_actions:
            cuts = sorted(rng.integers(0, 11, len(actions) - 1).tolist())
            ends = [0, *cuts, 10]
            frequencies += [Fraction(b - a, 10) for a, b in itertools.pairwise(ends)]
        entries.append((label, BehaviorProfile.of_exact(tree, frequencies)))
    return entries


def kuhn2_member(
    alpha: Fraction, *, called: Fraction = Fraction(1, 3), king: Fraction = Fraction(1)
) -> BehaviorProfile:
    """Equilibrium of two-player Kuhn poker by its parameter (Kuhn 1950).

    `called` is how often P2 calls with the 2, and `king` how often P1 calls with the 3 after a
    check, which is never seen where alpha is 1/3.
    """
    third = Fraction(1, 3)
    bet = {"1:": alpha, "2:": Fraction(0), "3:": 3 * alpha}
    call = {"1:KB": Fraction(0), "2:KB": alpha + third, "3:KB": king}
    answer = {"1:B": Fraction(0), "2:B": called, "3:B": Fraction(1)}
    bluff = {"1:K": third, "2:K": Fraction(0), "3:K": Fraction(1)}
    behavior = {
        "P1": {k: {"check": 1 - x, "bet": x} for k, x in bet.items()}
        | {k: {"fold": 1 - x, "call": x} for k, x in call.items()},
        "P2": {k: {"fold": 1 - x, "call": x} for k, x in answer.items()}
        | {k: {"check": 1 - x, "bet": x} for k, x in bluff.items()},
    }
    return profile_from_json(eqbench.load_game("kuhn2").tree, {"behavior": behavior})


def battle() -> tuple[Game, list[tuple[str, BehaviorProfile]]]:
    """Two who want to meet at different places, and all three equilibria."""
    game = bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    third = Fraction(1, 3)
    mixed = [2 * third, third, third, 2 * third]
    profiles = {"first": [1, 0, 1, 0], "second": [0, 1, 0, 1], "mixed": mixed}
    return game, [(k, BehaviorProfile.of_exact(game.tree, v)) for k, v in profiles.items()]


def found_of(entries: list[tuple[str, BehaviorProfile]]) -> list[Found]:
    return [Found(label, profile) for label, profile in entries]


# -- What the tests of the model by sums over ranks share


REDUCED = [
    *(f"kuhn(players=3,cards={n},pot=16/5,reduce=billingham)" for n in (3, 4, 5, 7)),
    *(f"kuhn(players=3,cards=4,pot=5,reduce=dominated{n})" for n in (21, 22, 25)),
    "skp(pot=107/33)",
]
SPECS = [*(f"kuhn(players=3,cards={n},pot=3)" for n in (3, 4, 5, 7)), *REDUCED]


@cache
def game(spec: str) -> Game:
    """A game, loaded once."""
    return eqbench.load_game(spec)


def ranks(tree: GameTree) -> RankSums:
    """The model of a tree that is such a game."""
    model = RankSums.of(tree)
    assert model is not None
    return model


def distance(first: NDArray, second: NDArray) -> float:
    """Largest difference of two arrays of one shape."""
    assert first.shape == second.shape
    return float(np.abs(first - second).max())


def verified_regrets(tree: GameTree, behavior: NDArray) -> NDArray:
    """Regrets (3,) by the verifier."""
    return np.array(verify(tree, BehaviorProfile.of(tree, behavior)).regrets)


def without_pot(tree: GameTree) -> GameTree:
    """The tree with its present payoffs, which no parameter changes."""
    return replace(tree, payoffs=Payoffs(*tree.payoffs.rational()))
