"""Szafron, Gibson and Sturtevant 2013: exact computations; claims follow what is stored."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from eqbench.model.profile import BehaviorProfile
from eqbench.papers.szafron import compute, family
from eqbench.papers.szafron.certificates import moved
from eqbench.papers.szafron.family import QUARTER, kuhn3, measured, sample
from eqbench.papers.szafron.open_question import polished, settled
from eqbench.verification import verify

pytest.importorskip("flint", reason="python-flint is not installed")


def test_polynomials_agree_with_the_verifier_at_a_profile() -> None:
    values = sample(1, seed=5)["high"][-1]
    found = [compute.at(each, values) for each in compute.payoff_polynomials()]
    assert [Fraction(str(each)) / 24 for each in found] == list(measured(values).payoffs)


def test_polynomials_are_written_and_parsed_alike() -> None:
    polynomial = compute.parsed("2*b11 - (b11 - 1/2)*b21 + b11**2")
    assert compute.parsed(compute.written(polynomial)) == polynomial
    assert str(compute.at(polynomial.derivative("b11"), {"b21": 3, "b11": "1"})) == "1"


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


def test_polishing_brings_a_blurred_member_back() -> None:
    exact = family.profile(family.named("b11=1/4 b21=1/4 b32=1/2 c11=1/4 c33=1/4"))
    away = np.clip(exact.probabilities + 1e-7 * np.tile([1.0, -1.0], 48), 0.0, 1.0)
    away /= np.repeat(away.reshape(-1, 2).sum(axis=1), 2)
    tree = kuhn3().tree
    before = verify(tree, BehaviorProfile.of(tree, away)).max_regret
    after = min(verify(tree, each).max_regret for each in polished(away))
    assert after < 1e-14 < 1e-9 < before
    assert settled(away, before)["identity"] == "szafron:0<c11<1/2"
    assert settled(BehaviorProfile.uniform(tree).probabilities, 1e-9) == {}
