"""Profiles of small games to mix with each other, for tests of cross-play."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from solver_cases import bimatrix

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.studies.crossplay.study import Found, LeftOut


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


def nothing_left_out() -> LeftOut:
    return LeftOut(above_tolerance=None, same_run=0, most=[], without_corners=[])
