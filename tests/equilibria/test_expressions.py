"""Expressions of published solutions are read by a whitelist, and never evaluated."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from eqbench.equilibria.expressions import (
    IrrationalError,
    alternatives,
    compile_expression,
    evaluate,
)


def test_values_are_exact_unless_floats_are_asked_for() -> None:
    assert evaluate("(2*P - 4)/(P + 1)", {"P": Fraction(7, 2)}) == Fraction(2, 3)
    assert evaluate("-sqrt(P)**3", {"P": Fraction(9, 4)}) == Fraction(-27, 8)
    value = compile_expression("(3 + sqrt(P))/4")
    assert value({"P": 97.0}) == pytest.approx((3 + math.sqrt(97)) / 4, rel=1e-15)


@pytest.mark.parametrize("value", [Fraction(2), Fraction(-1)])
def test_irrational_roots_have_no_exact_value(value: Fraction) -> None:
    with pytest.raises(IrrationalError):
        evaluate("sqrt(P)", {"P": value})


@pytest.mark.parametrize(
    "text",
    [
        *("__import__('os')", "P.real", "P if P else 1", "[P]", "2**P", "1.5", "P // 2", "True"),
        *("sqrt(P, 2)", "abs(P)", "P[0]", "lambda: P", "'a'", "P**True", "f'{P}'"),
    ],
)
def test_expressions_allow_arithmetic_only(text: str) -> None:
    with pytest.raises(ValueError, match="arithmetic"):
        evaluate(text, {"P": Fraction(3)})


def test_unknown_names_are_errors() -> None:
    with pytest.raises(KeyError):
        evaluate("P + Q", {"P": Fraction(3)})


def test_constraints_are_relations() -> None:
    assert len(alternatives("b1 == 1/3 or c1 == 2/3")) == 2
    assert alternatives("0 < c11")[0].sign == "<"
    for text in ("a and b", "a != b", "0 <= a <= 1", "a", "not a < b"):
        with pytest.raises(ValueError, match="relation"):
            alternatives(text)


@pytest.mark.parametrize("text", ["2**65", "P**1000000", "1" * 5000])
def test_what_would_take_long_to_compute_is_refused(text: str) -> None:
    with pytest.raises((ValueError, SyntaxError)):
        compile_expression(text, exact=True)


def test_values_with_too_many_digits_are_refused_exactly_and_no_numbers_in_floats() -> None:
    text = "(((P**64)**64)**64)**64"
    with pytest.raises(OverflowError, match="bits"):
        evaluate(text, {"P": Fraction(3, 2)})
    assert math.isnan(evaluate(text, {"P": 1.5}, exact=False))
    assert math.isnan(evaluate("sqrt(0 - P)", {"P": 1.5}, exact=False))
