"""Printed formulas and relations, evaluated where their letters have a value.

``2P − 4 − (P+1) (c2 + d3)`` has names of one letter and digits, ``²``, ``^``, ``√`` and
``min{a, b}``; ``(a + b)/2c`` is divided by both. Relations are joined by ``&`` or commas. Exact
numbers are compared exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
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

    @property
    def pairs(self) -> list[tuple[Names, Any]]:
        """Names and value of each point."""
        return list(zip(self.names, self.values, strict=True))


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


def is_true(relations: str, names: Names, distance: float = 0.0) -> bool:
    """Return whether printed relations are all true at a point."""
    return all(
        compared(value_at(f"({left}) − ({right})", names), sign, distance)
        for left, sign, right in pairs(relations)
    )


def compared(gap: Any, sign: str, distance: float = 0.0) -> bool:
    """Return whether a difference has a sign, within a distance or the rounding of floats."""
    if abs(gap) <= (distance or (_ROUNDING if isinstance(gap, float) else 0)):
        return sign in "≤=≥"
    return sign in "<≤" if gap < 0 else bool(gap > 0) and sign in ">≥"  # NaN is neither


def pairs(relations: str) -> Iterator[tuple[str, str, str]]:
    """Relations one by one, as left side, sign and right side."""
    for chain in re.split(r"&|, ", relations):
        parts = _SIGN.split(chain)
        if len(parts) < 3:
            raise UsageError(f"{chain!r} is not a relation")
        for left, sign, right in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            yield left.strip(), sign.replace("<=", "≤").replace(">=", "≥"), right.strip()


@cache
def _compiled(formula: str, *, exact: bool) -> Expression:
    try:
        return compile_expression(_arithmetic(formula), exact=exact)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"{formula!r} is not a formula: {error}") from None


def _arithmetic(printed: str) -> str:
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
