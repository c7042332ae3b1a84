"""The checks of claims: a small closed language that holds a value of ours against what is printed.

    check = term { "and" term }
    term  = [ key ":" ] ( relation [ value ] | value-free word )

``docs/how_to/add_a_paper.md`` has the table of the relations and words. The number that is printed
may follow a formula and ``=``. A value may be ``printed``, or another entry of the table, as in
``equilibria: = [members]``; ``max``, ``min`` and ``count`` are keys of all lists and tables.
``=``, ``has``, ``rises`` and ``falls`` are about the whole list.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from eqbench.errors import UsageError
from eqbench.papers.formulas import WORDS, formula_passes

NUMBER = re.compile(
    r"(?<![\w.])[+−-]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:e[+−-]?\d+)?(?:/\d+)?"
)
_RELATION = re.compile(r"[=~<>]|(in|has|one of) ")
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


def number_in(text: str) -> tuple[Fraction, Fraction]:
    """The only number in a text or behind its last ``=``, and half a unit of its last digit."""
    found = NUMBER.findall(text.rpartition("=")[2])
    if len(found) != 1:
        raise UsageError(f"{text!r} has {len(found)} numbers; give the check a value of its own")
    value = parse_number(found[0])
    if "/" in found[0]:
        return value, Fraction(0)
    mantissa, _, exponent = found[0].replace("−", "-").partition("e")
    decimals = len(mantissa.partition(".")[2])
    return value, Fraction(10) ** (int(exponent or 0) - decimals) / 2


def parse_number(text: str) -> Fraction:
    """The exact value of an integer, decimal or fraction as it is printed."""
    return Fraction(text.replace(",", "").replace("−", "-"))


def passes(check: str, ours: Any, printed: str) -> bool | None:
    """Return whether a value of ours passes a check; None if a bound or a gap leaves it open.

    UsageError if the check is not in the language, or has nothing to compare with.
    """
    value = ours.value if isinstance(ours, Finding) else ours
    if isinstance(value, Missing):  # an entry of a table
        return None
    found = [_passes(term.strip(), value, printed) for term in re.split(r"\band\b", check)]
    return False if False in found else None if None in found else True


def _passes(term: str, ours: Any, printed: str) -> bool | None:
    relation, _, rest = term.partition(" ")
    if relation in WORDS:
        return formula_passes(relation, rest or printed, ours)
    key, colon, about = term.partition(": ")
    if colon and not _RELATION.match(term):
        if _RELATION.match(about):
            about = re.sub(r"\[(.+)\]$", lambda match: str(_entry(ours, match[1])), about)
        return passes(about, _entry(ours, key), printed)
    rest, items = rest.strip(), _items(ours)
    if term == "numbers":
        return items == [parse_number(text) for text in NUMBER.findall(printed)]
    if term in ("rises", "falls"):
        steps = pairwise(items if term == "rises" else items[::-1])
        return len(items) > 1 and all(before < after for before, after in steps)
    if relation == "=":
        return _equal(ours, printed if rest in ("", "printed") else rest)
    if relation == "has":
        if isinstance(ours, Interval):
            return all(ours.low <= parse_number(part) <= ours.high for part in _parts(rest))
        return all(any(_equal(item, part) for item in items) for part in _parts(rest))
    if relation == "one" and rest.startswith("of "):
        return bool(items) and all(any(_equal(o, v) for v in _parts(rest[3:])) for o in items)
    allowed = _allowed(relation, rest, printed)
    inside = {_inside(item, allowed, strict=relation in ("<", ">")) for item in items}
    return None if inside == {True, None} or inside == {None} else inside == {True}


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


def _allowed(relation: str, rest: str, printed: str) -> Interval:
    """The numbers that a relation allows; an end need not belong to them."""
    if relation in ("<", "<="):
        return Interval(-math.inf, _operand(rest, printed))
    if relation in (">", ">="):
        return Interval(_operand(rest, printed), math.inf)
    if relation == "in" and ".." in rest:
        return Interval(*(_operand(end, printed) for end in rest.split("..")))
    if relation != "~" or not rest:
        raise UsageError(f"the check {relation} {rest} is none of the language of claims")
    how, _, of = rest.partition(" of ")
    if how == "digits":
        wanted, distance = number_in(of or printed)
    else:
        wanted = _operand(of, printed)
        if how.startswith("x"):
            ends = wanted / parse_number(how[1:]), wanted * parse_number(how[1:])
            return Interval(min(ends), max(ends))
        distance = parse_number(how)
    return Interval(wanted - distance * _SLACK, wanted + distance * _SLACK)


def _inside(ours: Any, allowed: Interval, *, strict: bool) -> bool | None:
    own = ours if isinstance(ours, Interval) else Interval(ours, ours)
    below = operator.lt if strict else operator.le
    if below(allowed.low, own.low) and below(own.high, allowed.high):
        return True
    return None if below(allowed.low, own.high) and below(own.low, allowed.high) else False


def _operand(text: str, printed: str) -> Fraction:
    text = text.strip()
    return number_in(printed)[0] if text in ("", "printed") else parse_number(text)


def _equal(ours: Any, text: str) -> bool:
    if isinstance(ours, Mapping | list | tuple | set | frozenset):
        parts = _parts(text)
        items = _items(ours)
        if len(parts) == 1 and len(items) > 1:  # all the same
            return all(_equal(item, text) for item in items)
        return len(parts) == len(items) and all(map(_equal, items, parts))
    if isinstance(ours, bool):
        return text.strip() == ("yes" if ours else "no")
    if isinstance(ours, int | float | Fraction):
        found = NUMBER.findall(text)
        exact = text.strip() if len(found) != 1 else found[0]
        try:
            return bool(ours == parse_number(exact))
        except ValueError:
            raise UsageError(f"{text!r} is not a number to compare {ours} with") from None
    return str(ours) == text.strip()


def _items(ours: Any) -> list[Any]:
    """Values one by one."""
    if isinstance(ours, Mapping):
        ours = ours.values()
    elif isinstance(ours, set | frozenset):
        ours = sorted(ours)
    elif not isinstance(ours, list | tuple):
        return [ours]
    return [item for value in ours for item in _items(value)]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(", ")]


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
