"""When a change between two runs is a regression: conditions such as ``elapsed_s>1.2x``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from eqbench.errors import UsageError, nearest
from eqbench.report.comparison import METRICS, Comparison, Figures, Pair
from eqbench.store.schema import CellRecord

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
    """A condition that no pair may meet: metric, comparison, and ``factor`` · base + ``plus``.

    Without a factor (None) the limit is ``plus``, whatever the base.
    """

    text: str
    metric: str
    comparison: str
    factor: float | None
    plus: float

    def broken_by(self, figures: Figures) -> bool:
        """Whether figures meet the condition; what cannot be said of them they do not.

        Against a multiple of the base, a figure must also be beyond the base itself.
        """
        if figures.new is None:
            return False
        if self.factor is None:
            return _COMPARE[self.comparison](figures.new, self.plus)
        if figures.base is None:
            return False
        # a multiple of a negative base, as rounding leaves of a regret, is on its wrong side
        limit = self.factor * max(figures.base, 0.0) + self.plus
        beyond = _COMPARE[self.comparison[0]](figures.new, figures.base)
        return beyond and _COMPARE[self.comparison](figures.new, limit)


@dataclass(frozen=True)
class Criteria:
    """What counts as a regression: conditions, a worse status, and cells that are missing."""

    rules: tuple[Rule, ...] = ()
    statuses: bool = True
    missing: bool = True

    @property
    def texts(self) -> list[str]:
        """All of them in words."""
        kinds = [*(["status"] * self.statuses), *(["missing cells"] * self.missing)]
        return [*kinds, *(rule.text for rule in self.rules)]


@dataclass(frozen=True)
class Regression:
    """What became worse of a game and solver as typed, by which rule, with figures in words."""

    game: str
    solver: str
    rule: str
    text: str

    @property
    def name(self) -> str:
        """``game/solver``."""
        return f"{self.game}/{self.solver}"


def parse_rule(text: str) -> Rule:
    """Rule that a text such as ``elapsed_s>1.2x+0.1`` stands for; nothing is evaluated.

    Raises
    ------
    UsageError
        If it is none.
    """
    compact = "".join(text.split())
    condition = _CONDITION.fullmatch(compact)
    if re.match(r"status\b", compact):
        raise UsageError(
            f"{text!r} is no condition, since a status is no number: a worse one counts without "
            "being asked for; --allow-worse-status turns that off"
        )
    if condition is None:
        raise UsageError(f"{text!r} is no condition: {_ALLOWED}")
    metric, comparison, limit = condition.groups()
    if metric not in METRICS:
        raise UsageError(
            f"unknown metric {metric!r} in {text!r}: {nearest(metric, METRICS)} "
            f"(all: {', '.join(METRICS)})"
        )
    parts = _LIMIT.fullmatch(limit)
    if parts is None:
        raise UsageError(f"{limit!r} in {text!r} is no limit: {_ALLOWED}")
    factor = float(parts["factor"] or 1) if parts["absolute"] is None else None
    plus = float(parts["absolute"] or parts["plus"] or 0)
    if not (math.isfinite(factor or 0) and math.isfinite(plus)):
        raise UsageError(f"{limit!r} in {text!r} is too large for a number: {_ALLOWED}")
    return Rule(compact, metric, comparison, factor, plus)


def regressions(comparison: Comparison, criteria: Criteria) -> list[Regression]:
    """What became worse, pair by pair, and then what is missing.

    A figure that the base has and the new run lacks breaks every rule about it.
    """
    found = [
        Regression(pair.new[0].game, pair.new[0].solver, rule, text)
        for pair in comparison.pairs
        for rule, text in _broken(pair, criteria)
    ]
    if criteria.missing:
        groups: dict[tuple[str, str], list[CellRecord]] = {}
        for cell in comparison.missing:
            groups.setdefault((cell.game, cell.solver), []).append(cell)
        found += [Regression(*names, "missing", _missing(own)) for names, own in groups.items()]
    return found


def _broken(pair: Pair, criteria: Criteria) -> Iterator[tuple[str, str]]:
    """Rules that a pair breaks, with the reason in words."""
    if criteria.statuses and pair.worse:
        yield "status", _worse_status(pair)
    for rule in criteria.rules:
        figures = pair.figures(rule.metric)
        if figures.lost:
            yield (
                rule.text,
                f"{figures.lost} of {len(pair.new)} cells have no {rule.metric} any more",
            )
        elif rule.broken_by(figures):
            yield rule.text, _figures_text(rule.metric, figures)


def _missing(group: Sequence[CellRecord]) -> str:
    """What the new run lacks of a game and solver, in words."""
    seeds = [str(cell.seed) for cell in group if cell.seed is not None]
    which = f" (seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)})" if seeds else ""
    return f"missing from the new run{which}"


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
