"""The language in which claims are checked: what passes, what does not, what is no check."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from eqbench.errors import UsageError
from eqbench.papers.checks import Finding, Interval, number_in, passes

THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    ("check", "passing", "failing", "printed"),
    [
        ("=", Fraction(-1, 18), Fraction(1, 18), "-1/18"),
        ("=", 7680, 7681, "7,680 sequences"),
        ("= yes", True, False, "always"),
        ("= 0, 1/3", [Fraction(0), THIRD], [Fraction(0), Fraction(1, 4)], "any in [0, 1/3]"),
        ("= 0", {Fraction(0)}, {Fraction(0), THIRD}, "never"),
        ("= 1", [1, 1, 1], [1, 1, 2], "always"),
        ("= a, b", ["a", "b"], ["a"], "both"),
        ("~ digits", 0.06194, 0.06196, "0.0619"),
        ("~ digits", 0.06185, 0.0618, "0.0619"),
        ("~ digits", 17.44, 17.46, "17.4 times"),
        ("~ digits", 1.44e-6, 1.46e-6, "1.4e-6"),
        ("~ 0.02", 2.49, 2.44, "2.47 s"),
        ("~ x10", 0.3, 0.2, "2.47 s"),
        ("~ x2 of 4.8", 9.5, 9.7, "nearly 5 times"),
        ("< printed", 0.9, 1.0, "below 1"),
        ("<= 1e-6", 1e-6, 1.1e-6, "solved"),
        ("> 0", [1, 2], [0, 1], "always gains"),
        (">= 2", 2, 1, "several"),
        ("in 2..3", [2, 2.5, 3], [2, 3.1], "between 2 and 3"),
        ("in 0..printed", 0.25, 0.26, "at most 1/4"),
        ("has 1/3", [0, THIRD], [0], "1/3 among them"),
        ("has 0.5", Interval(0, 1), Interval(0, 0.4), "covers 1/2"),
        ("one of a, b", "b", "c", "a or b"),
        ("rises", [1, 2, 3], [1, 1, 2], "grows"),
        ("falls", {"small": 3, "large": 1}, {"small": 1, "large": 1}, "falls"),
        ("> 0 and < 1", 0.5, 1, "a share"),
    ],
)
def test_check_tells_what_passes_from_what_does_not(
    check: str, passing: Any, failing: Any, printed: str
) -> None:
    assert passes(check, passing, printed) is True
    assert passes(check, failing, printed) is False
    assert passes(check, Finding(passing, "something else"), printed) is True


@pytest.mark.parametrize(
    ("bound", "wanted"),
    [
        (Interval(30, math.inf), False),  # at least 30, where at most 20 is near
        (Interval(15, math.inf), None),
        (Interval(1.5, 15), True),
        (Interval(0, 0.1), False),
    ],
)
def test_bound_may_leave_a_check_open(bound: Interval, wanted: bool | None) -> None:
    assert passes("~ x10", bound, "2 s") is wanted


@pytest.mark.parametrize("check", ["> 0", "rises", "~ 0.1 of 1", "one of a, b", "in 0..1"])
def test_nothing_passes_no_check(check: str) -> None:
    assert not passes(check, [], "all of them")


@pytest.mark.parametrize(
    ("check", "printed"),
    [
        ("about 3", "3"),
        ("~", "3"),
        ("~ digits", "from 2 to 3"),
        ("<", "none"),
        ("= some", "some"),
        ("", "3"),
    ],
)
def test_what_is_no_check_is_refused(check: str, printed: str) -> None:
    with pytest.raises(UsageError):
        passes(check, 3.0, printed)


@pytest.mark.parametrize(
    ("text", "value", "half"),
    [
        ("-(1/48)", Fraction(1, 48), 0),  # a sign belongs to the digits behind it
        ("+1/18", Fraction(1, 18), 0),
        ("−0.25", Fraction(-1, 4), Fraction(1, 200)),
        ("1,536 of them", Fraction(1536), Fraction(1, 2)),
        ("1e-6 for b32", Fraction(1, 10**6), Fraction(1, 2 * 10**6)),
    ],
)
def test_printed_number_is_read_with_its_last_digit(
    text: str, value: Fraction, half: Fraction
) -> None:
    assert number_in(text) == (value, half)
