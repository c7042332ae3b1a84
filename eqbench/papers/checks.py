"""The checks of claims: predicates of a value of ours, which hold it against what is printed.

A claim names one with its arguments, as in ``all_of(rises(), below(2))``, and `read_check` reads
it. Of several values all must pass. The answer is None if a bound, or a gap, leaves it open.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from inspect import signature
from itertools import pairwise
from typing import Any

from eqbench.equilibria.expressions import call_of
from eqbench.errors import UsageError
from eqbench.papers.formulas import Points, compared, is_true, pairs, value_at

Check = Callable[[Any], bool | None]

NUMBER = re.compile(r"(?<![\w.])[+−-]?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:e[+−-]?\d+)?(?:/\d+)?")
MOST_SHOWN = 12  # numbers of a list
FEW = 4  # equal values that are all shown
LONGEST = 10_000  # denominator of a fraction that is written out
_OF_ALL: dict[str, Callable[[Sequence[Any]], Any]] = {"max": max, "min": min, "count": len}
_SLACK = 1 + Fraction(1, 10**9)  # a figure just between two roundings agrees with both


@dataclass(frozen=True)
class Interval:
    """All that a value may be, both ends included; a bound has an infinite end."""

    low: float | Fraction
    high: float | Fraction


@dataclass(frozen=True)
class Finding:
    """A value that is checked, and other data to be shown in its place."""

    value: Any
    shown: Any


@dataclass(frozen=True)
class Missing:
    """Why there is no value: the claim is not attempted."""

    why: str


@cache
def read_check(text: str) -> Check:
    """The predicate that a text names; UsageError if there is none of that name or form."""

    def bound(predicate: Callable[..., bool | None], *given: Any, **named: Any) -> Check:
        signature(predicate).bind(None, *given, **named)
        return partial(_passes, predicate, given, named)

    try:
        return call_of(text, {name: partial(bound, own) for name, own in _PREDICATES.items()})
    except (SyntaxError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise UsageError(
            f"cannot read the check {text!r}: {error}; write one like equal(1/3), or "
            f"all_of(rises(), below(2)), of {', '.join(_PREDICATES)}"
        ) from None


def _passes(
    predicate: Callable[..., bool | None], given: Sequence[Any], named: Mapping[str, Any], ours: Any
) -> bool | None:
    value = ours.value if isinstance(ours, Finding) else ours
    try:
        return None if isinstance(value, Missing) else predicate(value, *given, **named)
    except TypeError as error:
        raise UsageError(
            f"{predicate.__name__} does not apply to {shown(value)}: {error}"
        ) from None


def equal(ours: Any, *wanted: Any) -> bool:
    """These values one by one, or this value; letter by letter what is no number."""
    items = _items(ours)
    each = wanted if len(wanted) != 1 else wanted * max(1, len(items))
    return len(items) == len(each) and all(map(_equal, items, each))


def same(ours: Any) -> bool:
    """One value again and again."""
    return len(set(_items(ours))) == 1


def one_of(ours: Any, *allowed: Any) -> bool:
    """Nothing but these values."""
    items = _items(ours)
    return bool(items) and all(any(_equal(item, own) for own in allowed) for item in items)


def contains(ours: Any, *wanted: Any) -> bool:
    """A list or an interval that these values are in."""
    if isinstance(ours, Interval):
        return all(ours.low <= own <= ours.high for own in wanted)
    return all(any(_equal(item, own) for item in _items(ours)) for own in wanted)


def close(ours: Any, to: Fraction, abs: Fraction | None = None, factor: Any = 1) -> bool | None:
    """A number within a distance of another, or a factor either way."""
    if abs is None:
        return between(ours, *sorted((to / factor, to * factor)))
    return between(ours, to - abs * _SLACK, to + abs * _SLACK)


def between(ours: Any, low: Any, high: Any, *, strict: bool = False) -> bool | None:
    """From one number to another, both allowed unless `strict`."""
    under = operator.lt if strict else operator.le
    found = set[bool | None]()
    for item in _items(ours):
        own = item if isinstance(item, Interval) else Interval(item, item)
        whole = under(low, own.low) and under(own.high, high)
        some = under(low, own.high) and under(own.low, high)
        found.add(True if whole else None if some else False)
    return None if found - {True} == {None} else found == {True}


def below(ours: Any, bound: Any) -> bool | None:
    """Less than a number or, at points, a formula."""
    return _bounded(ours, "<", bound)


def at_most(ours: Any, bound: Any) -> bool | None:
    """Not more than a number or, at points, a formula."""
    return _bounded(ours, "≤", bound)


def above(ours: Any, bound: Any) -> bool | None:
    """More than a number or, at points, a formula."""
    return _bounded(ours, ">", bound)


def at_least(ours: Any, bound: Any) -> bool | None:
    """Not less than a number or, at points, a formula."""
    return _bounded(ours, "≥", bound)


def _bounded(ours: Any, sign: str, bound: Any) -> bool | None:
    if isinstance(ours, Points):
        gaps = [own - value_at(str(bound), names) for names, own in ours.pairs]
        return bool(gaps) and all(compared(gap, sign, ours.distance) for gap in gaps)
    ends = (-math.inf, bound) if sign in "<≤" else (bound, math.inf)
    return between(ours, *ends, strict=sign in "<>")


def rises(ours: Any) -> bool:
    """A list that goes strictly up."""
    items = _items(ours)
    return len(items) > 1 and all(before < after for before, after in pairwise(items))


def falls(ours: Any) -> bool:
    """A list that goes strictly down."""
    return rises(_items(ours)[::-1])


def formula(ours: Any, *texts: str) -> bool:
    """A printed formula with our value at all our points; two for both ends of a range."""

    def agrees(names: Mapping[str, Any], value: Any, distance: float) -> bool:
        ends = zip(texts, value if isinstance(value, list | tuple) else [value], strict=True)
        return all(compared(own - value_at(text, names), "=", distance) for text, own in ends)

    return _at_all(ours, lambda group: all(agrees(*pair, group.distance) for pair in group.pairs))


def holds(ours: Any, relations: str, where: str = "") -> bool:
    """Printed relations, true at all our points, or at those where another is, and at one."""

    def check(group: Points) -> bool:
        names = [each for each in group.names if not where or is_true(where, each)]
        return bool(names) and all(is_true(relations, each, group.distance) for each in names)

    return _at_all(ours, check)


def bounds(ours: Any, chain: str) -> bool:
    """A chain of ≤ or ≥, true at all our points, and an equality at some for each sign."""

    def is_tight(group: Points, left: str, sign: str, right: str) -> bool:
        gaps = [value_at(f"({left}) − ({right})", names) for names in group.names]
        return compared(max(gaps) if sign == "≤" else min(gaps), "=", group.distance)

    return holds(ours, chain) and _at_all(
        ours, lambda group: all(is_tight(group, *p) for p in pairs(chain) if p[1] != "=")
    )


def decides(ours: Any, relation: str, to: int = 1) -> bool:
    """A printed relation, true exactly where our slope drives a frequency to 1, or to 0."""
    return _at_all(
        ours,
        lambda group: all(
            is_true(relation, at) == ((own > 0) == bool(to)) for at, own in group.pairs
        ),
    )


def _at_all(ours: Any, check: Callable[[Points], bool]) -> bool:
    """Whether each group of points passes, of which there is at least one."""
    groups = [ours] if isinstance(ours, Points) else ours
    return bool(groups) and all(bool(group.names) and check(group) for group in groups)


def all_of(ours: Any, *checks: Check) -> bool | None:
    """All of these checks."""
    found = [check(ours) for check in checks]
    return False if False in found else None if None in found else True


def at(ours: Any, *keys_and_check: Any) -> bool | None:
    """An entry of a table, or several as a list; of all lists max, min and count are entries."""
    *keys, check = keys_and_check
    entries, found = entries_of(ours), []
    for key in keys:
        if key not in (*entries, *_OF_ALL):
            raise UsageError(
                f"the check has the key {key!r}, but there is only {', '.join(entries)}"
            )
        found.append(entries[key] if key in entries else _OF_ALL[key](_items(ours)))
    return check(found if len(keys) > 1 else found[0])


_PREDICATES: dict[str, Callable[..., bool | None]] = {
    each.__name__: each
    for each in (
        *(equal, same, one_of, contains, close, between, below, at_most, above, at_least),
        *(rises, falls, formula, holds, bounds, decides, all_of, at),
    )
}


def entries_of(value: Any) -> dict[str, Any]:
    """The entries of a table by their keys as text; none if it is not a table."""
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def _equal(ours: Any, wanted: Any) -> bool:
    if isinstance(wanted, str):
        return str(ours) == wanted
    return isinstance(ours, bool) == isinstance(wanted, bool) and bool(ours == wanted)


def _items(ours: Any) -> list[Any]:
    """Values one by one."""

    def each(value: Any) -> Iterator[Any]:
        if isinstance(value, Mapping | list | tuple | set | frozenset):
            inside = value.values() if isinstance(value, Mapping) else value
            for item in sorted(inside) if isinstance(value, set | frozenset) else inside:
                yield from each(item)
        else:
            yield value

    return list(each(ours))


def shown(value: Any) -> str:
    """A value as text, numbers with six digits."""
    match value:
        case Finding(shown=other):
            return shown(other)
        case Missing(why=why):
            return why
        case Interval(low=low, high=high) if math.isinf(high):
            return f"at least {shown(low)}"
        case Interval(low=low, high=high) if math.isinf(low):
            return f"at most {shown(high)}"
        case Interval(low=low, high=high):
            return shown(low) if low == high else f"{shown(low)} to {shown(high)}"
        case bool():
            return "yes" if value else "no"
        case Fraction() if value.denominator > LONGEST:
            return f"{float(value):.6g}"
        case float():
            return f"{value:.6g}"
        case int():
            return f"{value:,}" if abs(value) >= 10_000 else str(value)
        case Mapping():
            return "; ".join(f"{shown(key)}: {shown(item)}" for key, item in value.items())
        case set() | frozenset():
            return shown(sorted(value))
        case list() | tuple():
            if len(value) > MOST_SHOWN and not any(isinstance(v, str | Mapping) for v in value):
                return f"{shown(min(value))} to {shown(max(value))} ({len(value)} values)"
            texts = list(map(shown, value))
            if len(texts) > FEW and len(set(texts)) == 1:
                return f"{texts[0]} ({len(texts)} times)"
            return ", ".join(texts) or "none"
    return str(value)


def difference(ours: Any, printed: str) -> str:
    """How far a number is from the only one that is printed; empty if that means nothing."""
    value = ours.value if isinstance(ours, Finding) else ours
    numbers = NUMBER.findall(printed.rpartition("=")[2])
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | Fraction)
        or len(numbers) != 1
    ):
        return ""
    theirs = float(Fraction(numbers[0].replace(",", "").replace("−", "-")))
    ratio = f", {float(value) / theirs:.3g} times theirs" if theirs else ""
    return f"{float(value) - theirs:+.3g}{ratio}"
