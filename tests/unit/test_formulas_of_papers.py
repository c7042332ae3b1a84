"""Printed formulas and relations against values at points."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from eqbench.errors import UsageError
from eqbench.papers.checks import passes
from eqbench.papers.formulas import Points, value_at

POINTS = [{"P": Fraction(pot), "a1": Fraction(1, 2), "b2": Fraction(1, pot)} for pot in (2, 4)]
HALVES = Points(POINTS, [2 / names["P"] for names in POINTS])
SIGNED = Points(POINTS, [names["b2"] - Fraction(1, 3) for names in POINTS])
GROUPS = [Points([{"x": Fraction(k), "P": Fraction(pot)} for k in range(pot)]) for pot in (2, 3)]


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        *(("2P − 4 + 2a1", 5), ("(P+1) (b2 + a1)", Fraction(15, 4)), ("0.25 P + √9", 4)),
        *(("4 (P−2)/(3 (P+1))", Fraction(8, 15)), ("P²/2 − b2a1P^3", 0), ("2 · 3^2", 18)),
        ("(3 + √(P))/4", Fraction(5, 4)),
    ],
)
def test_formulas_are_read_as_printed(printed: str, value: Fraction) -> None:
    assert value_at(printed, POINTS[1]) == value


@pytest.mark.parametrize("text", ["a1 ! 2", "", "player 3", "2/Q"])
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        value_at(text, POINTS[0])


@pytest.mark.parametrize(
    ("ours", "check", "right", "wrong"),
    [
        (HALVES, "formula", ["2/P", "dx/dt = 2/P"], ["3/P", "1"]),
        (HALVES, "formula and holds a1 > 0", ["2/P"], ["3/P"]),
        (Points([{}], [Fraction(3606, 1000)], 1e-3), "formula", ["√13"], ["√14"]),
        (Points([]), "formula", [], ["1"]),
        (HALVES, "holds", ["a1 = 1/2 & b2 ≤ 1/2, P > 1", "b2 = 1/2 where P = 2"], ["b2 = 1/2"]),
        (HALVES, "holds", [], ["b2 = 1/2 where P = 3"]),  # nowhere
        (HALVES, "follows", ["P > 3 & b2 = 1/4"], ["P > 1 & b2 = 1/4", "P > 5 & b2 = 1/4"]),
        (GROUPS, "bounds", ["0 ≤ x ≤ P − 1"], ["0 ≤ x ≤ P", "0 ≤ x ≤ 1", "1 ≥ x ≥ 0"]),
        (SIGNED, "decides", ["b2 > 1/3: a1 = 1; reversed: 0"], ["b2 > 1/3: a1 = 0; reversed: 1"]),
        (SIGNED, "decides", ["b2 < 1/3: a1 = 0; reversed: 1"], ["b2 < 1/3: a1 = 1; reversed: 0"]),
    ],
)
def test_relations_at_points(ours: Any, check: str, right: list[str], wrong: list[str]) -> None:
    assert all(passes(check, ours, printed) for printed in right)
    assert not any(passes(check, ours, printed) for printed in wrong)
