"""Computations for Szafron, Gibson and Sturtevant 2013: exact, and able to find a fault."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eqbench.model.profile import BehaviorProfile
from eqbench.papers.szafron import compute, family
from eqbench.papers.szafron.certificates import moved, tried
from eqbench.papers.szafron.family import QUARTER, kuhn3, measured, sample
from eqbench.papers.szafron.open_question import polished
from eqbench.verification import verify

pytest.importorskip("flint", reason="python-flint is not installed")


@cache
def kuhn3_payoffs() -> list[Any]:
    return compute.payoff_polynomials()


def test_payoffs_have_as_many_terms_as_the_paper_counts() -> None:
    """Szafron et al. 2013, appendix: 333, 457 and 457 terms, then 134, 158 and 167."""
    payoffs = kuhn3_payoffs()
    assert [len(each) for each in payoffs] == [333, 457, 457]
    tables = [compute.at(each, family.necessary()) for each in payoffs]
    assert [len(each) for each in tables] == [134, 158, 167]


def test_equations_of_the_paper_are_the_game_s_own_payoffs() -> None:
    """Szafron et al. 2013, equations (1) to (5)."""
    payoffs, printed = kuhn3_payoffs(), family.PRINTED
    for player, name in enumerate(("u1", "u2", "u3")):
        assert compute.in_family(payoffs[player], player) == compute.parsed(printed[name])
    nodes = family.nodes_of("c43")
    reach = compute.expected(dict.fromkeys(nodes, 1))
    assert reach == compute.parsed(printed["reach_c43"])
    assert payoffs[2].derivative("c43") == 4 * reach


def test_polynomials_agree_with_the_verifier_at_a_profile() -> None:
    values = sample(1, seed=5)["high"][-1]
    found = [compute.at(each, values) for each in kuhn3_payoffs()]
    assert [Fraction(str(each)) / 24 for each in found] == list(measured(values).payoffs)


def test_polynomials_are_written_and_parsed_alike() -> None:
    polynomial = compute.parsed("2*b11 - (b11 - 1/2)*b21 + b11**2")
    assert compute.parsed(compute.written(polynomial)) == polynomial
    assert str(compute.at(polynomial.derivative("b11"), {"b21": 3, "b11": "1"})) == "1"


def test_values_of_table_2_are_forced() -> None:
    found = compute.dominance()
    forced = {name: int(each["least"] > 0) for name, each in found.items()}
    assert forced == family.necessary()
    assert all(each["most"] < 0 or each["least"] > 0 for each in found.values())
    assert all(each["histories"] == 6 for each in found.values())


def test_members_keep_table_3_and_what_is_broken_does_not() -> None:
    for sub_family, members in sample(2, seed=6, every=7).items():
        assert all(family.is_member(values) for values in members)
        entries = {f"{name}=" for name in (*family.constants(), "b33", "b41", "c21")}
        for entry, values in product(entries | {"b32+", "c33+", "c33-"}, members):
            for sign in {"+": (1,), "-": (-1,), "=": (-1, 1)}[entry[-1]]:
                broken = moved(sub_family, values, entry, sign)
                assert not family.is_profile(broken) or not family.is_member(broken), entry


def test_ranges_are_those_of_table_3() -> None:
    """Szafron et al. 2013, Table 3 and §5."""
    quarters = {"b11": QUARTER, "b21": QUARTER}
    assert family.ends("low", {"b21": Fraction(1, 8)}, "b11") == (0, Fraction(1, 8))
    assert family.ends("low", quarters, "b32") == (0, Fraction(15, 16))
    assert family.ends("low", quarters | {"b32": Fraction(7, 8)}, "c33") == (0, Fraction(1, 16))
    assert family.ends("between", {"b11": QUARTER}, "c11") == (0, Fraction(7, 16))
    assert family.ends("high", {"b11": Fraction(1, 5)}, "b21") == (0, Fraction(1, 10))
    assert family.ends("high", {"b11": QUARTER, "b21": Fraction(0)}, "r23") == (0, Fraction(1, 8))


def test_regret_of_a_member_is_zero_and_beyond_a_bound_it_is_not() -> None:
    values = sample(1, seed=7)["high"][-1]
    assert measured(values).max_regret == 0
    assert measured(moved("high", values, "b32+", 0)).max_regret == 0
    assert measured(moved("high", values, "b32+", 1)).max_regret > 0


def test_polishing_brings_a_blurred_member_back() -> None:
    exact = family.profile(family.named("b11=1/4 b21=1/4 b32=1/2 c11=1/4 c33=1/4"))
    away = np.clip(exact.probabilities + 1e-7 * np.tile([1.0, -1.0], 48), 0.0, 1.0)
    away /= np.repeat(away.reshape(-1, 2).sum(axis=1), 2)
    tree = kuhn3().tree
    before = verify(tree, BehaviorProfile.of(tree, away)).max_regret
    after = min(verify(tree, each).max_regret for each in polished(away))
    assert after < 1e-14 < 1e-9 < before


def test_entries_of_table_3_hold_and_something_is_lost_beyond() -> None:
    """Szafron et al. 2013, Table 3 and §5, where b33 for c11 = 1/2 is misprinted."""
    for sub_family, members in sample(1, seed=4, every=5).items():
        found = tried(sub_family, members)
        for name in family.PROFILES["entries"][sub_family]:
            assert found[name]["at"]["profiles"] > 0 == found[name]["at"]["not equilibria"]
            assert found[name]["beyond"]["not equilibria"] == found[name]["beyond"]["profiles"] > 0
    misprint = family.PROFILES["measured"]["high b33"]
    assert measured(family.named(misprint["by Table 3"])).max_regret == 0
    assert measured(family.named(misprint["as printed"])).max_regret > 0


def test_players_of_table_4_are_each_in_some_member() -> None:
    """Szafron et al. 2013, Table 4: each strategy is of an equilibrium of the family; §6: player 1
    gains, since c33 = 1/4 is below 1/2 - b32."""
    profiles = family.PROFILES["measured"]
    printed = family.named(profiles["table 4"]["0.25"])
    for who, text in profiles["allowed"].items():
        values = family.named(text)
        assert measured(values).max_regret == 0
        names = [name for name, (owner, _) in family.places().items() if owner == who]
        assert [values[name] for name in names] == [printed[name] for name in names]
    assert [regret * 24 for regret in measured(printed).regrets] == [2, QUARTER, 0]


def test_leaf_of_the_paper_and_what_table_2_leaves_unreached(tmp_path: Path) -> None:
    """Szafron et al. 2013, §2 and Figure 1."""
    found = compute.rules(tmp_path, tmp_path, full=False)
    assert found["share of a13"] == "−2κ (1 − a11) b21 (1 − c42) a13"
    assert found["leaves"]["KBFC"] == ["-2", "3", "-1"]
    assert {"BFF", "KKBCC"} <= set(found["unreached 124"])
    assert "KBCF" not in found["unreached 124"]
