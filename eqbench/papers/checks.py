"""The checks of claims: predicates that hold a value of ours against what is printed.

A claim names one with its arguments, as in ``all_of(rises(), below(2))``; `read_check` reads it.
Of several values all must pass. A check without a value of its own is about the printed number.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from eqbench.equilibria.expressions import call_of
from eqbench.errors import UsageError
from eqbench.papers.formulas import Points, compared, is_true, pairs, value_at

# Whether a value passes, beside what is printed; None if a bound or a gap leaves it open.
Check = Callable[[Any, str], bool | None]

NUMBER = re.compile(
    r"(?<![\w.])[+−-]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:e[+−-]?\d+)?(?:/\d+)?"
)
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
    try:
        found = call_of(text, _PREDICATES)
    except (SyntaxError, ValueError, TypeError) as error:
        raise UsageError(
            f"cannot read the check {text!r}: {error}; write one like equal(1/3), or "
            f"all_of(rises(), below(2)), of {', '.join(_PREDICATES)}"
        ) from None
    return lambda ours, printed: _passes(found, ours, printed)


def _passes(check: Check, ours: Any, printed: str) -> bool | None:
    value = ours.value if isinstance(ours, Finding) else ours
    return None if isinstance(value, Missing) else check(value, printed)


def equal(*wanted: Any) -> Check:
    """These values one by one, or this value; letter by letter what is no number."""

    def check(ours: Any, printed: str) -> bool:
        items = _items(ours)
        letters = any(isinstance(item, str) for item in items)
        own = wanted or (printed if letters else number_in(printed)[0],)
        own = own if len(own) != 1 else own * max(1, len(items))
        return len(items) == len(own) and all(map(_equal, items, own))

    return check


def same() -> Check:
    """One value again and again."""
    return lambda ours, printed: all(item == _items(ours)[0] for item in _items(ours))


def one_of(*allowed: Any) -> Check:
    """Nothing but these values."""

    def check(ours: Any, printed: str) -> bool:
        items = _items(ours)
        return bool(items) and all(any(_equal(item, own) for own in allowed) for item in items)

    return check


def contains(*wanted: Any) -> Check:
    """A list or an interval that these values are in."""

    def check(ours: Any, printed: str) -> bool:
        if isinstance(ours, Interval):
            return all(ours.low <= own <= ours.high for own in wanted)
        return all(any(_equal(item, own) for item in _items(ours)) for own in wanted)

    return check


def close(of: Any = None, *, abs: Any = None, factor: Any = None) -> Check:
    """Within a distance or a factor, either way, else half a unit of the last printed digit."""

    def check(ours: Any, printed: str) -> bool | None:
        wanted, half = number_in(printed) if of is None else (of, Fraction(0))
        if factor:
            ends = sorted((wanted / factor, wanted * factor))
            return _inside(ours, Interval(*ends))
        distance = (half if abs is None else abs) * _SLACK
        return _inside(ours, Interval(wanted - distance, wanted + distance))

    return check


def below(bound: Any = None) -> Check:
    """Less than a bound."""
    return _bounded("<", bound)


def at_most(bound: Any = None) -> Check:
    """Not more than a bound."""
    return _bounded("≤", bound)


def above(bound: Any = None) -> Check:
    """More than a bound."""
    return _bounded(">", bound)


def at_least(bound: Any = None) -> Check:
    """Not less than a bound."""
    return _bounded("≥", bound)


def _bounded(sign: str, bound: Any) -> Check:
    """Values on one side of a number or, at points, of a formula."""

    def check(ours: Any, printed: str) -> bool | None:
        limit = number_in(printed)[0] if bound is None else bound
        if isinstance(ours, Points):
            at = value_at if isinstance(limit, str) else lambda own, names: own
            gaps = [own - at(limit, n) for n, own in zip(ours.names, ours.values, strict=True)]
            return bool(gaps) and all(compared(gap, sign, ours.distance) for gap in gaps)
        ends = (-math.inf, limit) if sign in "<≤" else (limit, math.inf)
        return _inside(ours, Interval(*ends), strict=sign in "<>")

    return check


def between(low: Any, high: Any) -> Check:
    """From one number to another, both allowed."""
    return lambda ours, printed: _inside(ours, Interval(low, high))


def rises() -> Check:
    """A list that goes strictly up."""
    return lambda ours, printed: _is_sorted(_items(ours))


def falls() -> Check:
    """A list that goes strictly down."""
    return lambda ours, printed: _is_sorted(_items(ours)[::-1])


def formula(*texts: str) -> Check:
    """A printed formula that has our value at all our points; two for both ends of a range."""

    def at_point(names: Mapping[str, Any], value: Any, distance: float) -> bool:
        values = value if isinstance(value, list | tuple) else [value]
        ends = zip(texts, values, strict=True)
        return all(compared(own - value_at(text, names), "=", distance) for text, own in ends)

    def check(group: Points) -> bool:
        ends = zip(group.names, group.values, strict=True)
        return all(at_point(*each, group.distance) for each in ends)

    return _at_points(check)


def holds(relations: str, where: str = "") -> Check:
    """Printed relations that are true at all our points, or where another is, and that somewhere."""

    def check(group: Points) -> bool:
        names = [each for each in group.names if not where or is_true(where, each)]
        return bool(names) and all(is_true(relations, each, group.distance) for each in names)

    return _at_points(check)


def bounds(chain: str) -> Check:
    """A chain of ≤ or ≥ that is true at all our points, and an equality at some for each sign."""

    def is_tight(group: Points, left: str, sign: str, right: str) -> bool:
        gaps = [value_at(f"({left}) − ({right})", names) for names in group.names]
        return compared(max(gaps) if sign == "≤" else min(gaps), "=", group.distance)

    def check(group: Points) -> bool:
        true = all(is_true(chain, names, group.distance) for names in group.names)
        return true and all(is_tight(group, *pair) for pair in pairs(chain) if pair[1] != "=")

    return _at_points(check)


def decides(relation: str, to: int = 1) -> Check:
    """A printed relation that is true exactly where our slope drives a frequency to 1, or to 0."""

    def check(group: Points) -> bool:
        ends = zip(group.names, group.values, strict=True)
        return all(is_true(relation, names) == ((slope > 0) == bool(to)) for names, slope in ends)

    return _at_points(check)


def _at_points(check: Callable[[Points], bool]) -> Check:
    """Each group of points, of which there is at least one, passes."""

    def of_groups(ours: Any, printed: str) -> bool:
        groups = [ours] if isinstance(ours, Points) else ours
        return bool(groups) and all(bool(group.names) and check(group) for group in groups)

    return of_groups


def all_of(*checks: Check) -> Check:
    """All of these checks."""

    def check(ours: Any, printed: str) -> bool | None:
        found = [_passes(each, ours, printed) for each in checks]
        return False if False in found else None if None in found else True

    return check


def at(*keys_and_check: Any) -> Check:
    """An entry of a table, or several as a list; of all lists max, min and count are entries."""
    *keys, check = keys_and_check

    def of_entries(ours: Any, printed: str) -> bool | None:
        own = [_entry(ours, key) for key in keys]
        return _passes(check, own[0] if len(own) == 1 else own, printed)

    return of_entries


_PREDICATES: dict[str, Callable[..., Check]] = {
    each.__name__: each
    for each in (
        *(equal, same, one_of, contains, close, below, at_most, above, at_least, between),
        *(rises, falls, formula, holds, bounds, decides, all_of, at),
    )
}


def number_in(text: str) -> tuple[Fraction, Fraction]:
    """The only number in a text or behind its last ``=``, and half a unit of its last digit."""
    found = NUMBER.findall(text.rpartition("=")[2])
    if len(found) != 1:
        raise UsageError(f"{text!r} has {len(found)} numbers; give the check a value of its own")
    digits = found[0].replace(",", "").replace("−", "-")
    mantissa, _, exponent = digits.partition("e")
    decimals = len(mantissa.partition(".")[2])
    half = Fraction(0) if "/" in digits else Fraction(10) ** (int(exponent or 0) - decimals) / 2
    return Fraction(digits), half


def entries_of(value: Any) -> dict[str, Any]:
    """The entries of a table by their keys as text; none if it is not a table."""
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def _entry(ours: Any, key: str) -> Any:
    """What a key names in a list or table."""
    entries = entries_of(ours)
    if key in entries:
        return entries[key]
    if key not in _OF_ALL:
        raise UsageError(f"the check has the key {key!r}, but there is only {', '.join(entries)}")
    return _OF_ALL[key](_items(ours))


def _inside(ours: Any, allowed: Interval, *, strict: bool = False) -> bool | None:
    """Whether values, or all that they may be, are in an interval whose ends may be left out."""
    under = operator.lt if strict else operator.le
    found = set[bool | None]()
    for item in _items(ours):
        own = item if isinstance(item, Interval) else Interval(item, item)
        whole = under(allowed.low, own.low) and under(own.high, allowed.high)
        some = under(allowed.low, own.high) and under(own.low, allowed.high)
        found.add(True if whole else None if some else False)
    return None if found - {True} == {None} else found == {True}


def _equal(ours: Any, wanted: Any) -> bool:
    if isinstance(wanted, str):
        return str(ours) == wanted
    return isinstance(ours, bool) == isinstance(wanted, bool) and bool(ours == wanted)


def _is_sorted(items: Sequence[Any]) -> bool:
    return len(items) > 1 and all(before < after for before, after in pairwise(items))


def _items(ours: Any) -> list[Any]:
    """Values one by one."""
    if isinstance(ours, Mapping):
        ours = ours.values()
    elif isinstance(ours, set | frozenset):
        ours = sorted(ours)
    elif not isinstance(ours, list | tuple):
        return [ours]
    return [item for value in ours for item in _items(value)]


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
    """How far a number is from the printed one; empty if that means nothing."""
    value = ours.value if isinstance(ours, Finding) else ours
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return ""
    try:
        theirs = float(number_in(printed)[0])
    except UsageError:
        return ""
    ratio = f", {float(value) / theirs:.3g} times theirs" if theirs else ""
    return f"{float(value) - theirs:+.3g}{ratio}"
