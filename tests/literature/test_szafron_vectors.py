"""The family of equilibria of three-player Kuhn poker, at members and near misses.

Szafron, Gibson and Sturtevant 2013, "A parameterized family of equilibrium profiles for
three-player Kuhn poker", §5, Tables 2 and 3, equations (3)-(5). The vectors and their regrets
are exact: three members of each sub-family, and variants that leave it by one parameter.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from three_player_kuhn import szafron_profile
from tree_walk import TreeWalk

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.model.tree import GameTree
from eqbench.verification import verify, verify_exactly

VECTORS = json.loads((Path(__file__).parents[1] / "data/szafron_vectors.json").read_text("utf-8"))
MEMBERS, NEAR = VECTORS["members"], VECTORS["near"]
CASES = [*MEMBERS, *NEAR]
IDS = [*(f"{row['sub']} beta={row['beta']}" for row in MEMBERS), *(row["label"] for row in NEAR)]


@cache
def kuhn3() -> GameTree:
    return eqbench.load_game("kuhn3").tree


def profile_of(row: dict[str, Any]) -> BehaviorProfile:
    values = {name: Fraction(text) for name, text in row["v"].items()}
    return profile_from_json(kuhn3(), szafron_profile(values))


def fractions(texts: list[str]) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, texts))


@pytest.mark.parametrize("row", CASES, ids=IDS)
def test_payoffs_and_regrets_are_exactly_the_published_ones(row: dict[str, Any]) -> None:
    """Szafron et al. 2013, §5, equations (3)-(5) and Table 3; near misses recomputed exactly."""
    measured = verify_exactly(kuhn3(), profile_of(row))
    assert measured.payoffs == fractions(row["payoff"])
    assert measured.regrets == fractions(row["regret"])


@pytest.mark.parametrize("row", CASES, ids=IDS)
def test_floating_point_agrees_to_fourteen_digits(row: dict[str, Any]) -> None:
    measured = verify(kuhn3(), profile_of(row))
    assert measured.payoffs == pytest.approx(
        [float(x) for x in fractions(row["payoff"])], abs=1e-14
    )
    assert measured.regrets == pytest.approx(
        [float(x) for x in fractions(row["regret"])], abs=1e-14
    )


@pytest.mark.parametrize("row", CASES, ids=IDS)
def test_plain_walk_over_the_tree_finds_the_same_regrets(row: dict[str, Any]) -> None:
    exact = profile_of(row).exact
    assert exact is not None
    walk = TreeWalk(kuhn3(), exact)
    assert tuple(walk.payoffs()) == fractions(row["payoff"])
    assert tuple(walk.regrets()) == fractions(row["regret"])


@pytest.mark.parametrize("row", MEMBERS, ids=IDS[: len(MEMBERS)])
def test_members_are_equilibria_with_the_payoffs_of_beta(row: dict[str, Any]) -> None:
    """Szafron et al. 2013, §5: u1 = -(1/48)(1 + 2 beta), u2 = -1/48, u3 = (1 + beta)/24."""
    beta = Fraction(row["beta"])
    measured = verify_exactly(kuhn3(), profile_of(row))
    assert measured.max_regret == 0
    assert measured.payoffs == (-(1 + 2 * beta) / 48, Fraction(-1, 48), (1 + beta) / 24)


@pytest.mark.parametrize("row", NEAR, ids=IDS[len(MEMBERS) :])
def test_near_misses_are_told_from_equilibria(row: dict[str, Any]) -> None:
    """Szafron et al. 2013, §5 and Table 4: outside the family somebody gains.

    Except for one row: beta = 0 with a33 + c32 = 1/2 is an equilibrium whose behavior differs
    from the family only off the path of play.
    """
    measured = verify_exactly(kuhn3(), profile_of(row))
    assert (measured.max_regret == 0) is row["is_equilibrium"]
    assert min(measured.regrets) >= 0


def test_both_sorts_of_near_misses_are_there() -> None:
    """Guards the tests above against an empty or one-sided table."""
    assert {row["sub"] for row in MEMBERS} == {"c11=0", "0<c11<1/2", "c11=1/2"}
    assert {row["is_equilibrium"] for row in NEAR} == {False, True}
    assert len(CASES) == 26
