"""What a cross-play leaves out of what it was given, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from eqbench.report.terminal import small

NO_CORNERS = "its constraints are not linear, or it is irrational"


@dataclass(frozen=True)
class AboveTolerance:
    """Candidates of runs that are no equilibria.

    Attributes
    ----------
    candidates : their number, the better one of the last iterate and the average of a cell
    cells : the number of cells that they are from
    solvers : the solvers of these cells, as typed
    smallest_max_regret, allowed : in payoff units
    """

    candidates: int
    cells: int
    solvers: tuple[str, ...]
    smallest_max_regret: float
    allowed: float

    def note(self) -> str:
        return (
            f"{_count(self.candidates, 'candidate')} above the tolerance, "
            f"in {_count(self.cells, 'cell')} of {', '.join(self.solvers)}: the smallest max "
            f"regret is {small(self.smallest_max_regret)} (allowed: {small(self.allowed)})"
        )


@dataclass(frozen=True)
class LeftOut:
    """What is left out; copies of entries are told apart from it.

    Attributes
    ----------
    above_tolerance : candidates of runs that are no equilibria, if there are any
    same_run : number of iterates and averages that are of the same cell as a better one
    dropped : by --most, number of entries by the name of the equilibrium, None without a name
    without_corners : names of published sets that --known cannot bring
    """

    above_tolerance: AboveTolerance | None = None
    same_run: int = 0
    dropped: tuple[tuple[str | None, int], ...] = ()
    without_corners: tuple[str, ...] = ()

    def notes(self) -> list[str]:
        """One sentence for each reason that applies."""
        notes = [f"no corners of {name}: {NO_CORNERS}" for name in self.without_corners]
        if self.above_tolerance is not None:
            notes.append(self.above_tolerance.note())
        if self.same_run:
            notes.append(
                f"{_count(self.same_run, 'candidate')} beside a better one of the same cell: of "
                "the last iterate and the average of a run only the better one counts"
            )
        if self.dropped:
            names = ", ".join(
                f"{count} of {name}" if name else f"{count} without a name"
                for name, count in self.dropped
            )
            total = sum(count for _, count in self.dropped)
            notes.append(f"{total} by --most: {names}")
        return [f"left out: {note}" for note in notes]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        above = self.above_tolerance
        return {
            "above_tolerance": None
            if above is None
            else asdict(above) | {"solvers": list(above.solvers)},
            "same_run": self.same_run,
            "most": [{"name": name, "count": count} for name, count in self.dropped],
            "without_corners": [
                {"name": name, "reason": NO_CORNERS} for name in self.without_corners
            ],
        }


def counted(names: Iterable[str | None]) -> tuple[tuple[str | None, int], ...]:
    """How often each name occurs, in the order of their first occurrence."""
    return tuple(Counter(names).items())


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
