"""The language of checks: what passes, what does not, what stays open, what is no check."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from eqbench.errors import UsageError
from eqbench.papers.checks import Finding, Interval, passes
from eqbench.papers.formulas import Points, value_at

THIRD = Fraction(1, 3)
AT = [{"P": Fraction(pot), "a1": Fraction(1, 2), "b2": Fraction(1, pot)} for pot in (2, 4)]
HALVES = Points(AT, [2 / names["P"] for names in AT])
SIGNED = Points(AT, [names["b2"] - THIRD for names in AT])
GROUPS = [Points([{"x": Fraction(k), "P": Fraction(pot)} for k in range(pot)]) for pot in (2, 3)]
NEAR_ROOT = Points([{}], [3.606], 1e-3)


@pytest.mark.parametrize(
    ("check", "printed", "passing", "failing"),
    [
        ("=", "-1/18", Fraction(-1, 18), [Fraction(1, 18)]),
        ("=", "7,680 sequences", 7680, [7681]),
        ("=", "-(1/48)", Fraction(1, 48), [Fraction(-1, 48)]),  # a sign belongs to its digits
        ("= yes", "always", True, [False]),
        ("= 0, 1/3", "any in [0, 1/3]", [Fraction(0), THIRD], [[Fraction(0), Fraction(1, 4)]]),
        ("= 0", "never", {Fraction(0)}, [{Fraction(0), THIRD}]),
        ("= 1", "always", [1, 1, 1], [[1, 1, 2]]),
        ("= a, b", "both", ["a", "b"], [["a"]]),
        ("~ digits", "0.0619", 0.06194, [0.06196, 0.0618]),
        ("~ digits", "−0.25", -0.2549, [-0.2551, 0.25]),
        ("~ digits", "17.4 times", 17.44, [17.46]),
        ("~ digits", "1.4e-6 for b32", 1.44e-6, [1.46e-6]),
        ("~ digits", "+1/18", Fraction(1, 18), [0.0556]),  # a fraction has no last digit
        ("~ digits", "pot (3+√97)/4 = 3.212214450", 3.2122144504, [3.2122144516]),
        ("~ 0.02", "2.47 s", 2.49, [2.44]),
        ("~ 0.1 of 1", "near 1", [1.05], [1.2, []]),
        ("~ x10", "2.47 s", 0.3, [0.2]),
        ("~ x10", "2 s", Interval(1.5, 15), [Interval(30, math.inf), Interval(0, 0.1)]),
        ("~ x2 of 4.8", "nearly 5 times", 9.5, [9.7]),
        ("< printed", "below 1", 0.9, [1.0]),
        ("<= 1e-6", "solved", 1e-6, [1.1e-6]),
        ("> 0", "always gains", [1, 2], [[0, 1], []]),
        (">= 2", "several", 2, [1]),
        ("in 2..3", "between 2 and 3", [2, 2.5, 3], [[2, 3.1], []]),
        ("in 0..printed", "at most 1/4", 0.25, [0.26]),
        ("has 1/3", "1/3 among them", [0, THIRD], [[0]]),
        ("has 0.5", "covers 1/2", Interval(0, 1), [Interval(0, 0.4)]),
        ("one of a, b", "a or b", "b", ["c", []]),
        ("rises", "grows", [1, 2, 3], [[1, 1, 2], []]),
        ("falls", "falls", {"small": 3, "large": 1}, [{"small": 1, "large": 1}]),
        ("numbers", "from 2 to 1/3", [2, THIRD], [[THIRD, 2], [2]]),
        ("a: = [b] and max: < 3", "equal", {"a": 2, "b": 2}, [{"a": 1, "b": 2}, {"a": 3, "b": 3}]),
        ("max: <= printed", "not more than 24", [3, 24], [[3, 25]]),
        (
            "off: min: < 1 and count: = 3",
            "near",
            {"off": [3, 0.5], "of": 7},
            [{"off": [3], "of": 7}],
        ),
        ("> 0 and < 1", "a share", 0.5, [1]),
    ],
)
def test_check_tells_what_passes_from_what_does_not(
    check: str, printed: str, passing: Any, failing: list[Any]
) -> None:
    assert passes(check, passing, printed) is True
    assert passes(check, Finding(passing, "something else"), printed) is True
    assert [passes(check, value, printed) for value in failing] == [False] * len(failing)


def test_bound_may_leave_a_check_open() -> None:
    assert passes("~ x10", Interval(15, math.inf), "2 s") is None


@pytest.mark.parametrize(
    ("check", "ours", "right", "wrong"),
    [
        ("formula", HALVES, ["2/P", "dx/dt = 2/P"], ["3/P", "1", "2/(P−2)"]),
        ("formula and holds a1 > 0", HALVES, ["2/P"], ["3/P"]),
        ("formula", NEAR_ROOT, ["√13"], ["√14"]),
        ("formula", Points([]), [], ["1"]),
        ("formula", Points(AT[:1], [(2, Fraction(1, 2))]), ["from P to a1"], ["from a1 to P"]),
        ("sign", Points(AT, [0, 0]), ["P(a1), ≤ 0"], ["P(a1), < 0"]),
        ("holds", HALVES, ["a1 = 1/2 & b2 ≤ 1/2, P > 1", "b2 = 1/2 where P = 2"], ["b2 = 1/2"]),
        ("holds", HALVES, [], ["b2 = 1/2 where P = 3"]),  # nowhere
        ("follows", HALVES, ["P > 3 & b2 = 1/4"], ["P > 1 & b2 = 1/4", "P > 5 & b2 = 1/4"]),
        ("bounds", GROUPS, ["0 ≤ x ≤ P − 1"], ["0 ≤ x ≤ P", "0 ≤ x ≤ 1", "1 ≥ x ≥ 0"]),
        ("decides", SIGNED, ["b2 > 1/3: a1 = 1; reversed: 0"], ["b2 > 1/3: a1 = 0; reversed: 1"]),
        ("decides", SIGNED, ["b2 < 1/3: a1 = 0; reversed: 1"], ["b2 < 1/3: a1 = 1; reversed: 0"]),
    ],
)
def test_relations_at_points(check: str, ours: Any, right: list[str], wrong: list[str]) -> None:
    assert all(passes(check, ours, printed) for printed in right)
    assert not any(passes(check, ours, printed) for printed in wrong)


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        *(("2P − 4 + 2a1", 5), ("(P+1) (b2 + a1)", Fraction(15, 4)), ("0.25 P + √9", 4)),
        *(("4 (P−2)/(3 (P+1))", Fraction(8, 15)), ("P²/2 − b2a1P^3", 0), ("2 · 3^2", 18)),
        *(("(3 + √(P))/4", Fraction(5, 4)), ("(a1 − b2)/2(1 − b2)", Fraction(1, 6))),
        *(("min{1/2, 2b2 + 1}", Fraction(1, 2)), ("1/2a1 + 3a1/4", Fraction(5, 8))),
        ("−P(1/2 + b2)", -3),
    ],
)
def test_formulas_are_read_as_printed(printed: str, value: Fraction) -> None:
    assert value_at(printed, AT[1]) == value


@pytest.mark.parametrize(
    ("check", "ours", "printed"),
    [
        *((check, 3.0, "3") for check in ("about 3", "~", "")),
        ("gap: < 1", {"off": 0.05}, "close"),
        *(("~ digits", 3.0, "from 2 to 3"), ("<", 3.0, "none"), ("= some", 3.0, "some")),
        *(("formula", HALVES, text) for text in ("a1 ! 2", "", "player 3", "2/Q", "√2/Q")),
    ],
)
def test_what_is_no_check_or_formula_is_refused(check: str, ours: Any, printed: str) -> None:
    with pytest.raises(UsageError):
        passes(check, ours, printed)
