"""The published solutions of SKP as points that tests can measure.

At a pot a solution fixes most frequencies and leaves some free within linear constraints. The
admissible choices form a polytope; its corners and its middle stand for all of them.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.equilibria.expressions import Relation, alternatives, evaluate

TOLERANCE = 1e-12  # of constraints in floating point; exact ones hold exactly


@dataclass(frozen=True)
class Solution:
    """One row of the table; expressions stay texts until they are evaluated at a pot."""

    name: str
    ends: tuple[str, str]
    free: tuple[str, ...]
    fixed: dict[str, str]
    constraints: tuple[str, ...]
    payoffs24: tuple[str, ...]
    order: tuple[str, ...]

    def end(self, which: int) -> float:
        """Lower (0) or upper (1) end of the range of pots."""
        text = self.ends[which]
        return math.inf if text == "oo" else evaluate(text, {}, exact=False)

    def is_rational(self, which: int) -> bool:
        """Whether that end is a rational number."""
        return "sqrt" not in self.ends[which] and self.ends[which] != "oo"

    def values(self, pot: Any, free: Sequence[Any], *, exact: bool = True) -> dict[str, Any]:
        """The pot and all eleven frequencies, in Fractions or floats."""
        names = {"P": pot} | dict(zip(self.free, free, strict=True))
        for name in self.order:
            if name not in names:
                names[name] = evaluate(self.fixed[name], names, exact=exact)
        return names

    def payoffs(self, values: dict[str, Any], *, exact: bool = True) -> list[Any]:
        """Published payoffs, as functions of the pot and the frequencies."""
        return [evaluate(text, values, exact=exact) / 24 for text in self.payoffs24]

    def choices(self, pot: Any, *, exact: bool = True) -> list[dict[str, Any]]:
        """Frequencies at the corners and the middle of the admissible choices; maybe none."""
        found = []
        for relations in itertools.product(*map(alternatives, self.constraints)):
            corners = list(self._corners(pot, relations, exact=exact))
            if len(corners) > 1:
                corners.append([sum(axis) / len(corners) for axis in zip(*corners, strict=True)])
            found += [self.values(pot, corner, exact=exact) for corner in corners]
        return found

    def _corners(
        self, pot: Any, relations: Sequence[Relation], *, exact: bool
    ) -> Iterator[list[Any]]:
        """Points where as many slacks vanish as there are free frequencies."""
        size, one = len(self.free), Fraction(1) if exact else 1.0
        zero = [0 * one] * size
        origin = self._slacks(pot, zero, relations, exact=exact)
        slopes = []  # slacks are affine in the free frequencies
        for j in range(size):
            step = [*zero[:j], one, *zero[j + 1 :]]
            ahead = self._slacks(pot, step, relations, exact=exact)
            slopes.append([b - a for a, b in zip(origin, ahead, strict=True)])
        allowed = 0 if exact else -TOLERANCE
        seen: set[tuple[float, ...]] = set()
        moving = [i for i in range(len(origin)) if any(slope[i] for slope in slopes)]
        for tight in itertools.combinations(moving, size):
            point = _solve([[s[i] for s in slopes] for i in tight], [-origin[i] for i in tight])
            if point is None or tuple(round(float(x), 9) for x in point) in seen:
                continue
            if min(self._slacks(pot, point, relations, exact=exact)) >= allowed:
                seen.add(tuple(round(float(x), 9) for x in point))
                yield point

    def _slacks(
        self, pot: Any, free: Sequence[Any], relations: Sequence[Relation], *, exact: bool
    ) -> list[Any]:
        """Numbers that are nonnegative where all relations hold and frequencies are in [0, 1]."""
        values = self.values(pot, free, exact=exact)
        slacks = []
        for name in self.order:
            slacks += [values[name], 1 - values[name]]
        for left, relation, right in relations:
            gap = evaluate(right, values, exact=exact) - evaluate(left, values, exact=exact)
            slacks += {"<=": [gap], ">=": [-gap], "==": [gap, -gap]}[relation]
        return slacks


def load_solutions() -> list[Solution]:
    """All solutions, in the order of the table."""
    text = (Path(__file__).parent / "data/skp.json").read_text("utf-8")
    return [
        Solution(
            name=row["name"],
            ends=(row["P_min"], row["P_max"]),
            free=tuple(row["free"]),
            fixed={name: text for name, text in row["expr"].items() if name not in row["free"]},
            constraints=tuple(row["constraints"]),
            payoffs24=tuple(row["E24"]),
            order=tuple(row["order_of_evaluation"]),
        )
        for row in json.loads(text)["solutions"]
    ]


def _solve(rows: list[list[Any]], right: list[Any]) -> list[Any] | None:
    """Solution of a square linear system by elimination; None if it is singular."""
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    size = len(table)
    for column in range(size):
        pivot = max(range(column, size), key=lambda i: abs(table[i][column]))
        if abs(table[pivot][column]) < 1e-9:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        for i in range(size):
            if i != column:
                factor = table[i][column] / table[column][column]
                pairs = zip(table[i], table[column], strict=True)
                table[i] = [a - factor * b for a, b in pairs]
    return [table[i][size] / table[i][i] for i in range(size)]
