"""Computations for Szafron, Gibson and Sturtevant 2013: exact, and able to find a fault."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.papers.szafron.certificates import changes, measured
from eqbench.papers.szafron.family import corner_members, sample
from eqbench.papers.szafron.formulas import (
    payoff_polynomials,
)
from eqbench.papers.szafron.notation import (
    SUB_FAMILIES,
    load_kuhn3,
    member,
    profile,
    violated,
)
from eqbench.papers.szafron.polish import exact_near, polished
from eqbench.papers.szafron.polynomials import Polynomial, parsed
from eqbench.papers.szafron.two_players import two_player_document
from eqbench.verification import verify, verify_exactly

QUARTER, HALF = Fraction(1, 4), Fraction(1, 2)


@cache
def kuhn3_payoffs() -> list[Polynomial]:
    return payoff_polynomials(load_kuhn3().tree)


def test_polynomials_agree_with_the_verifier_at_a_profile() -> None:
    game, one = load_kuhn3(), sample(1, seed=5)[-1]
    payoffs = verify_exactly(game.tree, profile(game, one.values)).payoffs
    found = [each.value(one.values) / 24 for each in kuhn3_payoffs()]
    assert found == list(payoffs)


def test_polynomials_are_written_and_parsed_alike() -> None:
    text = parsed("2*x - (x - 1/2)*y + x*x", {"z": Polynomial({})})
    assert str(text) == "2*x + 1/2*y + x*x - x*y"
    assert text.derivative("x").at({"y": 3}).value({"x": Fraction(1)}) == 1


def test_members_keep_table_3_and_what_is_broken_does_not() -> None:
    members = [*corner_members()[::7], *sample(2, seed=6)[-6:]]
    assert {one.sub_family for one in members} == set(SUB_FAMILIES)
    assert not any(violated(one.values) for one in members)
    for name, change in changes().items():
        for one in members:
            assert all(violated(values) for values in change(one.values)), name


def test_regret_of_a_member_is_zero_and_beyond_a_bound_it_is_not() -> None:
    game, one = load_kuhn3(), sample(1, seed=7)[-1]
    assert measured(game, one.values).max_regret == 0
    (beyond,) = changes()["b32"](one.values)
    assert measured(game, beyond).max_regret > 0


def test_sub_family_between_is_not_convex() -> None:
    """Its bound (2 - b11)/(3 + 4 b11) of c11 is a convex function of b11."""
    game, ends = load_kuhn3(), ((Fraction(1, 6), Fraction(479, 960)), (QUARTER, Fraction(7, 16)))

    def regret(bluff: Fraction, c11: Fraction) -> Any:
        free = {"b11": bluff, "b21": bluff, "b32": HALF, "c11": c11, "c33": Fraction(0)}
        return measured(game, member(free)).max_regret

    assert [regret(*end) for end in ends] == [0, 0]
    middle = [(a + b) / 2 for a, b in zip(*ends, strict=True)]
    assert regret(*middle) > 0


def test_line_of_two_player_equilibria_is_exact_and_a_change_is_noticed() -> None:
    """Kuhn 1950; Szafron et al. 2013, §7."""
    tree = eqbench.load_game("kuhn2").tree
    document = two_player_document(HALF)
    assert verify_exactly(tree, profile_from_json(tree, document)).max_regret == 0
    document["behavior"]["P2"]["1:K"] = {"check": "1/2", "bet": "1/2"}
    assert verify_exactly(tree, profile_from_json(tree, document)).max_regret > 0


def test_polishing_brings_a_blurred_member_back_and_fractions_certify_it() -> None:
    game = load_kuhn3()
    values = member({"b11": QUARTER, "b21": QUARTER, "b32": HALF, "c11": QUARTER, "c33": QUARTER})
    exact = profile(game, values)
    away = np.clip(exact.probabilities + 1e-7 * np.tile([1.0, -1.0], 48), 0.0, 1.0)
    away /= np.repeat(away.reshape(-1, 2).sum(axis=1), 2)
    tree = game.tree
    before = verify(tree, BehaviorProfile.of(tree, away)).max_regret
    after = min(verify(tree, each).max_regret for each in polished(game, away))
    assert after < 1e-14 < 1e-9 < before
    certified = exact_near(game, exact.probabilities)
    assert certified is not None
    assert verify_exactly(game.tree, certified).max_regret == 0
