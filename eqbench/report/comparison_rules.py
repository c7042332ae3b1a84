"""When a change between two runs is a regression: conditions such as ``elapsed_s>1.2x``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from eqbench.errors import UsageError, nearest
from eqbench.report.comparison import METRICS, Comparison, Figures, Pair

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_CONDITION = re.compile(r"(\w+)(>=|<=|>|<)(.+)")
_LIMIT = re.compile(rf"(?P<absolute>{_NUMBER})|(?P<factor>{_NUMBER})?x(?:\+(?P<plus>{_NUMBER}))?")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_ALLOWED = (
    "write METRIC OP LIMIT with OP one of > >= < <= and LIMIT a number, a multiple of the base "
    "such as 1.2x, or one with a margin such as 1.2x+0.1 or x+1e-9; for example elapsed_s>1.2x"
)


@dataclass(frozen=True)
class Rule:
    """A condition that no pair may meet: metric, comparison, and ``factor`` · base + ``plus``."""

    text: str
    metric: str
    comparison: str
    factor: float
    plus: float

    def broken_by(self, figures: Figures) -> bool:
        """Whether figures meet the condition; what cannot be said of them they do not."""
        if figures.new is None or (self.factor and figures.base is None):
            return False
        limit = self.factor * (figures.base or 0.0) + self.plus
        return _COMPARE[self.comparison](figures.new, limit)


@dataclass(frozen=True)
class Regression:
    """One pair that became worse by a rule, with the figures in words."""

    pair: Pair
    rule: str
    text: str


def parse_rule(text: str) -> Rule:
    """Rule that a text such as ``elapsed_s>1.2x+0.1`` stands for; nothing is evaluated.

    Raises
    ------
    UsageError
        If it is none.
    """
    compact = "".join(text.split())
    condition = _CONDITION.fullmatch(compact)
    if condition is None:
        more = "; a worse status counts without being asked for" if compact == "status" else ""
        raise UsageError(f"{text!r} is no condition: {_ALLOWED}{more}")
    metric, comparison, limit = condition.groups()
    if metric not in METRICS:
        raise UsageError(
            f"unknown metric {metric!r} in {text!r}: {nearest(metric, METRICS)} "
            f"(all: {', '.join(METRICS)})"
        )
    parts = _LIMIT.fullmatch(limit)
    if parts is None:
        raise UsageError(f"{limit!r} in {text!r} is no limit: {_ALLOWED}")
    absolute = parts["absolute"] is not None
    factor = 0.0 if absolute else float(parts["factor"] or 1)
    plus = float(parts["absolute"] or parts["plus"] or 0)
    if not (math.isfinite(factor) and math.isfinite(plus)):
        raise UsageError(f"{limit!r} in {text!r} is too large for a number: {_ALLOWED}")
    return Rule(compact, metric, comparison, factor, plus)


def regressions(
    comparison: Comparison, rules: Iterable[Rule], *, statuses: bool
) -> list[Regression]:
    """What became worse, pair by pair.

    A figure that the base has and the new run lacks breaks every rule about it.

    Parameters
    ----------
    statuses : whether a worse status is a regression by itself
    """
    rules = list(rules)
    found = []
    for pair in comparison.pairs:
        if statuses and pair.worse:
            found.append(Regression(pair, "status", _worse_status(pair)))
        for rule in rules:
            figures = pair.figures(rule.metric)
            if figures.lost:
                text = f"{figures.lost} of {len(pair.new)} cells have no {rule.metric} any more"
                found.append(Regression(pair, rule.text, text))
            elif rule.broken_by(figures):
                found.append(Regression(pair, rule.text, _figures_text(rule.metric, figures)))
    return found


def _worse_status(pair: Pair) -> str:
    before = {cell.seed: cell.status for cell in pair.base}
    changes = []
    for cell in pair.worse:
        seed = "" if cell.seed is None else f" (seed {cell.seed})"
        reason = f": {cell.reason}" if cell.reason else ""
        changes.append(f"{before[cell.seed]} → {cell.status}{seed}{reason}")
    return "; ".join(changes)


def _figures_text(metric: str, figures: Figures) -> str:
    base = "–" if figures.base is None else f"{figures.base:.4g}"
    ratio = "" if figures.ratio is None else f", {figures.ratio:.3g}x"
    median = f", medians of {figures.seeds} seeds" if figures.seeds > 1 else ""
    return f"{metric} {base} → {figures.new:.4g}{ratio}{median}"
