"""Szafron, Gibson and Sturtevant 2013: exact computations; claims follow what is stored."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import paper_cases
import pytest
from paper_cases import claim_at, facts_of, summaries

import eqbench.papers.szafron
from eqbench.model.profile import BehaviorProfile
from eqbench.papers.paper import Claim, Paper, load_paper
from eqbench.papers.szafron import compute, family
from eqbench.papers.szafron.certificates import moved, selection, tried
from eqbench.papers.szafron.compute import formulas
from eqbench.papers.szafron.family import QUARTER, kuhn3, measured, sample
from eqbench.papers.szafron.open_question import polished, settled
from eqbench.papers.verdicts import Facts
from eqbench.verification import verify

pytest.importorskip("flint", reason="python-flint is not installed")

Store = dict[str, Any]
TEXT = "Section 5: ranges and dependent parameters as the text gives them"
COMMON = "Section 5: what all members share"
TRANSFER = "Player 2 transfers by a single parameter, c11 = {}"
NONE = Path()


@cache
def paper() -> Paper:
    return load_paper(Path(eqbench.papers.szafron.__file__).parent)


@cache
def computed() -> Store:
    """What some jobs store, as JSON values; of the certificates only what is asked for here."""
    members = family.sample(1, seed=2, every=5)
    certified = {
        "members": {name: {"members": 9, "equilibria": 9} for name in members},
        "entries": {name: tried(name, own) for name, own in members.items()},
        "convexity": {
            "low": {"pairs": 6, "not equilibria": 0, "worst": "0", "example": []},
            "high": {"pairs": 6, "not equilibria": 1, "worst": "1/8", "example": []},
        },
    }
    jobs = {"formulas": formulas, "selection": selection}
    found = {name: job(NONE, NONE, full=False) for name, job in jobs.items()}
    loaded: Store = json.loads(json.dumps(found | {"certificates": certified}))
    return loaded


def claim(title: str, row: str, column: str = "") -> Claim:
    return claim_at(paper(), row, column, title=title)


@cache
def facts() -> Facts:
    return facts_of(paper(), summaries(**computed()))


def verdict(of: Claim, store: Store | None = None) -> str:
    """What comes of a claim on what was computed, or on another store."""
    return paper_cases.verdict(of, facts_of(paper(), summaries(**store)) if store else facts())


def damaged(*keys: str, value: Any) -> Store:
    """The stored results with one of them changed."""
    store = copy.deepcopy(computed())
    place = store
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    return store


def test_tables_have_as_many_cells_as_in_the_paper() -> None:
    """Szafron et al. 2013: 12 cells in Table 1, 21 values in Table 2; Table 3 has 9 rows of three
    with three more bounds for player 2, Table 4 has 9 rows; both end with three utilities."""
    titles = {part.title.partition(":")[0]: len(part.claims) for part in paper().parts}
    assert titles["Table 1"] == 12
    assert titles["Table 2"] == 21
    assert titles["Table 3"] == 9 * 3 + 3 + 3
    assert titles["Table 4"] == 9 * 3 + 3


CASES = [
    ("Table 2", "a42", "P1", "1", "2"),
    ("Equations", "(5): u1, others by Table 3", "", "46 terms", "47 terms"),
    ("Lemma 3", "∂u3/∂c22", "", "κ(-b11 - 4*b21), ≤ 0", "κ(-b11 - 5*b21), ≤ 0"),
    ("Lemma 3", "∂u3/∂c11, c11=0", "", "κ(2*b11 - 2*b21), ≤ 0", "κ(2*b11 - 2*b21), ≤ -1"),
    ("Lemma 5", "∂u1/∂a31, upper bound by Lemma 2", "", "≤ κ(-2/2), < 0", "≤ κ(-3/2), < 0"),
    (TEXT, "c11 = 1/2: b23", "", "≤ (b11 − b21)/2(1 − b21)", "≤ (b11 − b21)/3(1 − b21)"),
    (TEXT, "0 < c11 < 1/2: c11 where b11 > 1/6", "", "≤ (2 − b11)/(3 + 4b11)", "≤ (2 − b11)/3"),
    (TEXT, "c11 = 0: c33", "", "1/2 − b32 to 1/2 − b32 + (3b11 + 4b21)/4", "b32 to 1/2 − b32"),
    ("Section 6", "∂u3 by player 2's free parameters, c11 = 0", "", "all at least 0", "least 1"),
]


@pytest.mark.parametrize(("title", "row", "column", "printed", "wrong"), CASES)
def test_what_is_printed_decides(
    title: str, row: str, column: str, printed: str, wrong: str
) -> None:
    own = claim(title, row, column)
    assert own.printed == printed
    assert verdict(own) == "reproduced"
    assert verdict(replace(own, printed=wrong)) == "differs"


def test_error_in_a_derivative_needs_evidence() -> None:
    """Lemma 4 prints ∂u2/∂b23 without its sign."""
    own, place = claim("Lemma 4", "∂u2/∂b23"), ("formulas", "derivatives", "b23")
    assert verdict(own) == "source_error"
    assert verdict(own, damaged(*place, value="2*(1-b21)*(1-2*c11)")) == "reproduced"
    assert verdict(own, damaged(*place, value="-3*(1-b21)*(1-2*c11)")) == "differs"
    store = damaged("formulas", "derivatives", "c23", value="b11")
    assert verdict(claim("Lemma 3", "∂u3/∂c23"), store) == "differs"


def test_error_in_the_text_needs_a_regret_that_table_3_has_not() -> None:
    own, place = claim(TEXT, "c11 = 1/2: b33"), ("selection", "high b33")
    assert verdict(own) == "source_error"
    assert verdict(own, damaged(*place, "as printed", "regrets", value=["0"] * 3)) == "differs"
    assert (
        verdict(own, damaged(*place, "by Table 3", "regrets", value=["1", "0", "0"])) == "differs"
    )
    right, place = claim(TEXT, "c11 = 0: b33"), ("certificates", "entries", "low", "b33=")
    assert verdict(right) == "reproduced"
    assert verdict(right, damaged(*place, "at", "not equilibria", value=1)) == "differs"
    assert verdict(right, damaged(*place, "beyond", "not equilibria", value=0)) == "differs"


def test_set_is_not_convex_only_if_a_midpoint_has_regret() -> None:
    rows = [claim("Section 5: size", f"Convex, c11 = {c11}") for c11 in ("0", "1/2")]
    assert [verdict(row) for row in rows] == ["reproduced", "source_error"]
    place = ("certificates", "convexity", "high", "worst")
    assert verdict(rows[1], damaged(*place, value="0")) == "differs"


def test_one_parameter_transfers_unless_c11_is_between() -> None:
    """Szafron et al. 2013, §5: b21 for c11 = 0 and b11 otherwise; where 0 < c11 < 1/2 Table 3
    has b21 = b11, so that both have to move."""
    rows = [claim(COMMON, TRANSFER.format(c11)) for c11 in ("0", "1/4", "1/2")]
    found = [verdict(row) for row in rows]
    assert found == ["reproduced", "source_error", "reproduced"]
    place = ("selection", "alone", "0.25", "both", "regrets")
    assert verdict(rows[1], damaged(*place, value=["0", "0", "1/32"])) == "differs"


def test_error_about_unseen_behavior_needs_equal_payoffs() -> None:
    own = claim("Definition 1", "Behavior that is never seen")
    place = ("selection", "off path", "a33 = 0, c32 = 0")
    assert verdict(own) == "source_error"
    assert verdict(own, damaged(*place, "payoffs", value=["1", "0", "0"])) == "differs"
    assert verdict(own, damaged(*place, "regrets", value=["0", "0", "0"])) == "reproduced"


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
