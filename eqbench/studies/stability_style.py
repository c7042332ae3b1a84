"""What figures about stability and motion have in common: colors, order of sets, titles."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from eqbench.studies.figure_style import Color
from eqbench.studies.stability_spectrum import STABLE, UNSTABLE

# Centre manifolds of oscillatory dimension 0, 2, 4, ... are violet, light to dark; what comes after
# the last one looks like it. No regime has one of these colors.
_CENTERS = ("#d9cdf0", "#b795e0", "#8a5cc4", "#5a2d94", "#2f0f57")
_NAMED = {UNSTABLE: "#d6336c", STABLE: "#0f4c5c"}


def verdict_color(verdict: str) -> Color:
    """The color of a verdict, in all figures the same."""
    if verdict in _NAMED:
        return _NAMED[verdict]
    dimension = int(verdict.rpartition(" ")[2])
    return _CENTERS[min(dimension // 2, len(_CENTERS) - 1)]


def verdict_colors(verdicts: Iterable[str]) -> dict[str, Color]:
    """Colors of the verdicts that occur: centre manifolds by dimension, stable, unstable."""
    found = set(verdicts)
    centers = sorted(found - set(_NAMED), key=lambda verdict: int(verdict.rpartition(" ")[2]))
    last = [verdict for verdict in (STABLE, UNSTABLE) if verdict in found]
    return {verdict: verdict_color(verdict) for verdict in (*centers, *last)}


def by_name(names: Iterable[str]) -> list[str]:
    """Distinct names of published sets in the order of all figures: 1a, 1, 2a, 2, 3, …, 10."""
    return sorted(set(names), key=_parts)


def _parts(name: str) -> list[str | int]:
    words: list[str | int] = [*re.split(r"(\d+)", name)]
    words[1::2] = map(int, words[1::2])
    return [*words[:-1], words[-1] or "~"]  # 1a before 1


def game_title(spec: str, parameter: str | None, value: float | Fraction | None) -> str:
    """A game and the value of its payoff parameter for a title, such as ``skp(pot=3.35)``."""
    if parameter is None or value is None:
        return spec
    words, count = re.subn(rf"\b{parameter}=[^,)]*", f"{parameter}={float(value):g}", spec)
    return words if count else f"{spec}, {parameter} {float(value):g}"
