"""The published solutions of SKP as points that tests can measure.

At a pot a solution fixes most frequencies and leaves some free within linear constraints. The
admissible choices form a polytope; its corners and its middle stand for all of them.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.equilibria.expressions import Relation, alternatives, evaluate
from eqbench.model.polytope import vertices

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
        one, size, found = Fraction(1) if exact else 1.0, len(self.free), []
        for relations in itertools.product(*map(alternatives, self.constraints)):
            steps = [[one * (i == j) for j in range(size)] for i in range(-1, size)]
            slacks = [self._slacks(pot, free, relations, exact=exact) for free in steps]
            # they are affine in the free frequencies
            affine = [(*(b - a for b in ahead), a) for a, *ahead in zip(*slacks, strict=True)]
            corners = vertices(affine, size, one, tolerance=0 if exact else TOLERANCE)
            if len(corners) > 1:
                middle = [sum(axis) / len(corners) for axis in zip(*corners, strict=True)]
                corners.append(tuple(middle))
            found += [self.values(pot, corner, exact=exact) for corner in corners]
        return found

    def admits(self, pot: float, free: Sequence[float]) -> bool:
        """Whether a choice is admissible, up to rounding."""
        return any(
            min(self._slacks(pot, free, relations, exact=False)) >= -TOLERANCE
            for relations in itertools.product(*map(alternatives, self.constraints))
        )

    def _slacks(
        self, pot: Any, free: Sequence[Any], relations: Sequence[Relation], *, exact: bool
    ) -> list[Any]:
        """Numbers that are nonnegative where all relations hold and frequencies are in [0, 1]."""
        values = self.values(pot, free, exact=exact)
        slacks = [slack for name in self.order for slack in (values[name], 1 - values[name])]
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
