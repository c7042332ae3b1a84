"""The family of equilibria of three-player Kuhn poker, at members and near misses.

Szafron, Gibson and Sturtevant 2013, "A parameterized family of equilibrium profiles for
three-player Kuhn poker", §5, Tables 2 and 3, equations (3)-(5). The vectors and their regrets
are exact: three members of each sub-family, and variants that leave it by one parameter.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from three_player_kuhn import szafron_profile
from tree_walk import TreeWalk

import eqbench
from eqbench.model.profile_json import profile_from_json
from eqbench.verification import verify, verify_exactly

VECTORS = json.loads((Path(__file__).parents[1] / "data/szafron_vectors.json").read_text("utf-8"))
MEMBERS, NEAR = VECTORS["members"], VECTORS["near"]
IDS = [*(f"{row['sub']} beta={row['beta']}" for row in MEMBERS), *(row["label"] for row in NEAR)]
TREE = eqbench.load_game("kuhn3").tree


@pytest.mark.parametrize("row", [*MEMBERS, *NEAR], ids=IDS)
def test_payoffs_and_regrets_are_exactly_the_published_ones(row: dict[str, Any]) -> None:
    """Szafron et al. 2013, §5, equations (3)-(5) and Table 3; near misses recomputed exactly.

    By the verifier in fractions and in floats, and by a plain walk over the tree.
    """
    values = {name: Fraction(text) for name, text in row["v"].items()}
    profile = profile_from_json(TREE, szafron_profile(values))
    payoffs, regrets = (tuple(map(Fraction, row[name])) for name in ("payoff", "regret"))
    exact, rounded = verify_exactly(TREE, profile), verify(TREE, profile)
    assert (exact.payoffs, exact.regrets) == (payoffs, regrets)
    assert rounded.payoffs == pytest.approx([float(x) for x in payoffs], abs=1e-14)
    assert rounded.regrets == pytest.approx([float(x) for x in regrets], abs=1e-14)
    assert profile.exact is not None
    walk = TreeWalk(TREE, profile.exact)
    assert (tuple(walk.payoffs()), tuple(walk.regrets())) == (payoffs, regrets)
    if row in MEMBERS:
        beta = Fraction(row["beta"])
        assert regrets == (0, 0, 0)
        assert payoffs == (-(1 + 2 * beta) / 48, Fraction(-1, 48), (1 + beta) / 24)
    else:
        # one of them differs from the family only off the path of play, and is an equilibrium
        assert (exact.max_regret == 0) is row["is_equilibrium"]
        assert min(regrets) >= 0


def test_both_sorts_of_near_misses_are_there() -> None:
    """Guards the test above against an empty or one-sided table."""
    assert {row["sub"] for row in MEMBERS} == {"c11=0", "0<c11<1/2", "c11=1/2"}
    assert {row["is_equilibrium"] for row in NEAR} == {False, True}
    assert len(MEMBERS) + len(NEAR) == 26
