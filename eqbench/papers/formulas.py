"""Printed formulas and relations, held against our values at points where their letters have one.

The words for what is to be true of them, and how they are written, stand in
``docs/how_to/add_a_paper.md``. Exact numbers are compared exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from eqbench.equilibria.expressions import Expression, IrrationalError, compile_expression
from eqbench.errors import UsageError

Names = Mapping[str, Any]

_TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|√\d+|√|beta|[^\W\d]\d*|[-+*/()^])")
_EXTREME = re.compile(r"(min|max)\{(.*?), (.*)\}")
_SIGN = re.compile(r"(≤|≥|<=|>=|=|<|>)")
_WORDS = re.compile(r":|,? (?:in every|without) ")
_DECISION = re.compile(r" = (\d+); reversed: (\d+)")
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Points:
    """Our values where a printed formula can be evaluated.

    Attributes
    ----------
    names : of each point, what the letters stand for there: Fractions where known exactly
    values : of each point, what a formula is to give; empty if only relations are checked
    distance : within which the numbers are known, if that is more than rounding
    """

    names: Sequence[Names]
    values: Sequence[Any] = ()
    distance: float = 0.0


def formula_passes(relation: str, text: str, ours: Points | Sequence[Points]) -> bool:
    """Return whether our points are as a printed text says; each group of them, if there are some.

    UsageError if the text is not a formula or relation.
    """
    text, _, where = text.partition(" where ")
    groups = [ours] if isinstance(ours, Points) else ours
    if where:  # the points at which it is true, for relations alone
        met = ([names for names in group.names if is_true(where, names)] for group in groups)
        groups = [Points(at, (), of.distance) for at, of in zip(met, groups, strict=True)]
    return bool(groups) and all(
        bool(group.names) and _RELATIONS[relation](text, group) for group in groups
    )


def arithmetic(printed: str) -> str:
    """A printed formula as arithmetic that `eqbench.equilibria.expressions` reads."""
    left = printed.replace("−", "-").replace("²", "^2").replace(" · ", "*").strip()
    tokens: list[str] = []
    while left:
        match = _TOKEN.match(left)
        if match is None:
            raise UsageError(f"{printed!r} is not a formula: cannot read {left!r}")
        token, left = match[1], left[match.end() :]
        if tokens and _ends(tokens[-1]) and token != ")" and (_ends(token) or token[0] in "(√"):
            # only a number is a coefficient: (a + b)/2c, but 1/2 c
            divided = len(tokens) > 2 and tokens[-2] == "/" and not tokens[-3][0].isdigit()
            tokens.append("/" if divided else "*")
        tokens.append(token)
    return "".join(_written(token) for token in tokens)


def _ends(token: str) -> bool:
    """Whether a factor may end with a token."""
    return token == ")" or token[-1].isalnum()


def _written(token: str) -> str:
    if token.startswith("√"):
        return f"sqrt({token[1:]})" if token[1:] else "sqrt"
    return {"^": "**"}.get(token) or (f"({Fraction(token)})" if "." in token else token)


def value_at(formula: str, names: Names) -> Any:
    """The value of a printed formula at a point, as a Fraction where that is possible."""
    if match := _EXTREME.fullmatch(formula.strip()):
        ends = [value_at(text, names) for text in match.groups()[1:]]
        return min(ends) if match[1] == "min" else max(ends)
    try:
        if not any(isinstance(value, float) for value in names.values()):
            with suppress(IrrationalError):
                return _compiled(formula, exact=True)(names)
        floats = {name: float(value) for name, value in names.items()}
        return _compiled(formula, exact=False)(floats)
    except ZeroDivisionError:
        return math.nan  # as of floats; nothing agrees with it
    except KeyError as error:
        raise UsageError(f"{formula!r}: nothing is known of {error}") from None


@cache
def _compiled(formula: str, *, exact: bool) -> Expression:
    try:
        return compile_expression(arithmetic(formula), exact=exact)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{formula!r} is not a formula: {error}") from None


def is_true(relations: str, names: Names, distance: float = 0.0) -> bool:
    """Return whether printed relations are all true at a point."""
    return all(
        _compared(value_at(f"({left}) − ({right})", names), sign, distance)
        for left, sign, right in _pairs(relations)
    )


def _compared(gap: Any, sign: str, distance: float) -> bool:
    if abs(gap) <= (distance or (_ROUNDING if isinstance(gap, float) else 0)):
        return sign in "≤=≥"
    return sign in "<≤" if gap < 0 else bool(gap > 0) and sign in ">≥"  # NaN is neither


def _pairs(text: str) -> Iterator[tuple[str, str, str]]:
    """Relations one by one, as left side, sign and right side."""
    for chain in re.split(r"&|, ", _WORDS.split(text)[0]):
        parts = _SIGN.split(chain)
        if len(parts) < 3:
            raise UsageError(f"{chain!r} is not a relation")
        for left, sign, right in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            yield left.strip(), sign.replace("<=", "≤").replace(">=", "≥"), right.strip()


def _gaps(text: str, ours: Points) -> Iterator[Any]:
    """Our values less those of the formula, or of both."""
    formulas = [
        _SIGN.split(part)[-1].removeprefix("from ")
        for part in re.split(r", (?=[≤<=>≥])", text)[0].split(" to ")
    ]
    for names, value in zip(ours.names, ours.values, strict=True):
        values = value if isinstance(value, list | tuple) else [value]
        for formula, own in zip(formulas, values, strict=True):
            yield own - value_at(formula, names)


def _compared_all(gaps: Iterable[Any], sign: str, ours: Points) -> bool:
    return all(_compared(gap, sign, ours.distance) for gap in gaps)


def _sign(text: str, ours: Points) -> bool:
    _, sign, zero = _SIGN.split(text.rpartition(", ")[2])
    return zero.strip() == "0" and _compared_all(ours.values, sign, ours)


def _follows(text: str, ours: Points) -> bool:
    first = " ".join(next(_pairs(text)))
    where = [names for names in ours.names if is_true(first, names, ours.distance)]
    return bool(where) and all(is_true(text, names, ours.distance) for names in where)


def _bounds(text: str, ours: Points) -> bool:
    def tight(left: str, sign: str, right: str) -> bool:
        gaps = [value_at(f"({left}) − ({right})", names) for names in ours.names]
        return _compared(max(gaps) if sign == "≤" else min(gaps), "=", ours.distance)

    return _RELATIONS["holds"](text, ours) and all(
        tight(*pair) for pair in _pairs(text) if pair[1] != "="
    )


def _decides(text: str, ours: Points) -> bool:
    decision = _DECISION.search(text)
    if decision is None:
        raise UsageError(f"{text!r} does not say what is decided, as in ': a = 1; reversed: 0'")
    return all(
        decision[1 if is_true(text, names) else 2] == str(int(value > 0))
        for names, value in zip(ours.names, ours.values, strict=True)
    )


_RELATIONS: dict[str, Callable[[str, Points], bool]] = {
    "formula": lambda text, ours: _compared_all(_gaps(text, ours), "=", ours),
    "at_most": lambda text, ours: _compared_all(_gaps(text, ours), "≤", ours),
    "sign": _sign,
    "holds": lambda text, ours: all(is_true(text, at, ours.distance) for at in ours.names),
    "follows": _follows,
    "bounds": _bounds,
    "decides": _decides,
}
WORDS = tuple(_RELATIONS)
