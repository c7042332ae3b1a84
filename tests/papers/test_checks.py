"""The predicates of checks: what passes, what does not, what stays open, what is no check."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from eqbench.errors import UsageError
from eqbench.papers.checks import Finding, Interval, Missing, difference, read_check
from eqbench.papers.formulas import Points, value_at

THIRD, QUARTER = Fraction(1, 3), Fraction(1, 4)
AT = [{"P": Fraction(pot), "a1": Fraction(1, 2), "b2": Fraction(1, pot)} for pot in (2, 4)]
HALVES = Points(AT, [2 / names["P"] for names in AT])
SIGNED = Points(AT, [names["b2"] - THIRD for names in AT])
FLAT = Points(AT, [0, 0])
GROUPS = [Points([{"x": Fraction(k), "P": Fraction(pot)} for k in range(pot)]) for pot in (2, 3)]
NEAR_ROOT = Points([{}], [3.606], 1e-3)
ENDS = Points(AT[:1], [(2, Fraction(1, 2))])


@pytest.mark.parametrize(
    ("check", "passing", "failing"),
    [
        ("equal(-1/18)", Fraction(-1, 18), [Fraction(1, 18), -0.0556, "-1/18"]),
        ("equal(7680)", 7680, [7681]),
        ("equal(True)", True, [False, 1]),
        ("equal(0, 1/3)", [Fraction(0), THIRD], [[0, QUARTER], [0], [0, THIRD, 0]]),
        ("equal(0)", {Fraction(0)}, [{Fraction(0), THIRD}, []]),
        ("equal(1)", [1, 1, 1], [[1, 1, 2], [True]]),
        ('equal("a", "b")', ["a", "b"], [["a"], ["b", "a"]]),
        ("same()", [2, 2.0, Fraction(2)], [[2, 3]]),
        ("close(0.0619, abs=5e-5)", 0.06194, [0.06196, 0.0618]),
        ("close(-0.25, abs=5e-3)", -0.2549, [-0.2551, 0.25]),
        ("close(1.4e-6, abs=5e-8)", 1.44e-6, [1.46e-6]),
        ("close(1/18, abs=0)", Fraction(1, 18), [0.0556]),
        ("close(1, abs=0.1)", [1.05], [1.2, []]),
        ("close(2.47, factor=10)", 0.3, [0.2]),
        ("close(2, factor=10)", Interval(1.5, 15), [Interval(30, math.inf), Interval(0, 0.1)]),
        ("close(4.8, factor=2)", 9.5, [9.7]),
        ("below(1)", 0.9, [1.0]),
        ("at_most(1e-6)", 1e-6, [1.1e-6]),
        ("above(0)", [1, 2], [[0, 1], []]),
        ("at_least(2)", 2, [1]),
        ("between(2, 3)", [2, 2.5, 3], [[2, 3.1], []]),
        ("contains(1/3)", [0, THIRD], [[0]]),
        ("contains(0.5)", Interval(0, 1), [Interval(0, 0.4)]),
        ('one_of("a", "b")', "b", ["c", []]),
        ("rises()", [1, 2, 3], [[1, 1, 2], []]),
        ("falls()", {"small": 3, "large": 1}, [{"small": 1, "large": 1}]),
        (
            'all_of(at("a", "b", same()), at("max", below(3)))',
            {"a": 2, "b": 2},
            [{"a": 1, "b": 2}, {"a": 3, "b": 3}],
        ),
        ("at('max', at_most(24))", [3, 24], [[3, 25]]),
        (
            'at("off", all_of(at("min", below(1)), at("count", equal(2))))',
            {"off": [3, 0.5], "of": 7},
            [{"off": [3], "of": 7}, {"off": [3, 2], "of": 0}],
        ),
        ("all_of(above(0), below(1))", 0.5, [1]),
        ('formula("2/P")', HALVES, [SIGNED, Points([])]),
        ('all_of(formula("2/P"), holds("a1 > 0"))', HALVES, [SIGNED]),
        ('formula("√13")', NEAR_ROOT, [HALVES]),
        ('formula("P", "a1")', ENDS, []),
        ('formula("a1", "P")', Points(AT[:1], [(Fraction(1, 2), 2)]), [ENDS]),
        ("at_most(0)", FLAT, [HALVES, SIGNED]),
        ("below(0)", Points(AT, [-1, -2]), [FLAT]),
        ('at_most("2/P")', HALVES, [Points(AT, [1, 1])]),
        ('holds("a1 = 1/2 & b2 ≤ 1/2, P > 1")', HALVES, [GROUPS[:0]]),
        ('holds("b2 = 1/2", where="P = 2")', HALVES, [Points(AT[1:])]),
        ('bounds("0 ≤ x ≤ P − 1")', GROUPS, [GROUPS[0:0]]),
        ('decides("b2 > 1/3")', SIGNED, [Points(AT, [-1, 1])]),
        ('decides("b2 < 1/3", to=0)', SIGNED, [Points(AT, [-1, 1])]),
    ],
)
def test_check_separates_what_passes_from_what_does_not(
    check: str, passing: Any, failing: list[Any]
) -> None:
    passes = read_check(check)
    assert passes(passing) is True
    assert passes(Finding(passing, "something else")) is True
    assert [passes(value) for value in failing] == [False] * len(failing)


@pytest.mark.parametrize(
    ("check", "ours"),
    [
        *((f'formula("{text}")', HALVES) for text in ("3/P", "1", "2/(P−2)")),
        *((f'holds("{text}")', HALVES) for text in ("b2 = 1/2", "P > 2")),
        *((f'holds("b2 = 1/4", where="{at}")', HALVES) for at in ("P > 1", "P > 5")),
        *((f'bounds("{text}")', GROUPS) for text in ("0 ≤ x ≤ P", "0 ≤ x ≤ 1", "1 ≥ x ≥ 0")),
        *((f'decides("b2 > 1/3"{more})', SIGNED) for more in (", to=0",)),
        ('decides("b2 < 1/3")', SIGNED),
    ],
)
def test_another_formula_or_relation_fails(check: str, ours: Any) -> None:
    assert read_check(check)(ours) is False


@pytest.mark.parametrize(
    ("check", "ours"),
    [
        ("close(2, factor=10)", Interval(15, math.inf)),
        ("equal(2)", Missing("not run")),
        ("at('a', equal(2))", {"a": Missing("not run")}),
        ("all_of(above(0), close(2, factor=10))", Interval(15, math.inf)),
    ],
)
def test_bound_or_gap_leaves_a_check_open(check: str, ours: Any) -> None:
    assert read_check(check)(ours) is None


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
    ("check", "ours"),
    [
        *((check, 3.0) for check in ("about(3)", "equal", "", "3 > 2", "equal(3))", "below(x)")),
        *((check, 3.0) for check in ("below()", "rises(2)", "close(3, within=1)", "below('a')")),
        *((check, 3.0) for check in ("__import__('os')", "equal(3).real", "equal(*[3])")),
        ("at('gap', below(1))", {"off": 0.05}),
        *((f"formula({text!r})", HALVES) for text in ("a1 ! 2", "", "player 3", "2/Q", "√2/Q")),
        ("holds('a1')", HALVES),
    ],
)
def test_what_is_no_check_or_formula_is_refused(check: str, ours: Any) -> None:
    with pytest.raises(UsageError):
        read_check(check)(ours)


@pytest.mark.parametrize(
    ("ours", "printed", "far"),
    [
        (3.0, "about 2 of them", "+1, 1.5 times theirs"),
        (3, "P = 1,500", "-1.5e+03, 0.002 times theirs"),
        (Finding(0.5, "half"), "none: 0", "+0.5"),
        *((ours, "2", "") for ours in (True, "3", [3])),
        (3, "from 1 to 2", ""),
    ],
)
def test_distance_is_from_the_only_number_that_is_printed(
    ours: Any, printed: str, far: str
) -> None:
    assert difference(ours, printed) == far
