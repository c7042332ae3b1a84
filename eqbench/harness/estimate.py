"""How long the cells of a run may take: what others of the run took, otherwise their limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from eqbench.harness.plan import Cell
from eqbench.isolation.child import GRACE_S
from eqbench.store.schema import CellRecord

# Of a cell beside its solving: a child, imports, verification. As measured the median is 0.1 s and
# the mean over all solvers 0.5 s, since some import large packages.
DEFAULT_SETUP_S = 0.5


@dataclass
class _Mean:
    """The mean of some numbers, of which there may be many."""

    count: int = 0
    total: float = 0.0

    def add(self, number: float) -> None:
        self.count, self.total = self.count + 1, self.total + number

    @property
    def value(self) -> float:
        return self.total / self.count


class Estimate:
    """What cells still cost, learned from those that are finished.

    A cell takes as long as others of its game and solver took on average; one that is at work for
    longer takes as long again, or its limit. What has not been seen takes its limit, so an estimate
    is a bound as long as nothing is known.

    Parameters
    ----------
    jobs : how many cells run at a time
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._setups = _Mean(1, DEFAULT_SETUP_S)
        self._solving: dict[tuple[str, str], _Mean] = defaultdict(_Mean)

    def learn(self, record: CellRecord, wall_s: float | None = None) -> None:
        """Take note of a finished cell, and of what it took in all if that is known."""
        solving_s = record.elapsed_s or 0.0
        if record.elapsed_s is not None:
            self._solving[record.game_spec, record.solver_spec].add(solving_s)
        if wall_s is not None:
            self._setups.add(max(wall_s - solving_s, 0.0))

    @property
    def setup_s(self) -> float:
        """Seconds that a cell takes beside its solving."""
        return self._setups.value

    @property
    def word(self) -> str:
        """What stands before seconds: a bound as long as nothing is known."""
        return "about" if self._solving else "up to"

    def cell_s(self, cell: Cell) -> float:
        """Seconds that a cell takes."""
        if cell.solver.problem is not None:
            return 0.0
        seen = self._solving.get((cell.game.game.spec, cell.solver.spec))
        return self.setup_s + seen.value if seen else self._limit_s(cell)

    def _limit_s(self, cell: Cell) -> float:
        return self.setup_s + cell.request.timeout_s + GRACE_S

    def _rest_s(self, cell: Cell, spent_s: float) -> float:
        """Seconds that a cell still takes when it has been at work for some."""
        rest_s = self.cell_s(cell) - spent_s
        return rest_s if rest_s > 0 else max(min(spent_s, self._limit_s(cell) - spent_s), 0.0)

    def left_s(self, cells: Iterable[Cell], spent_s: Mapping[str, float] | None = None) -> float:
        """Seconds until cells are done; `spent_s` says by key how long some have been at work."""
        spent_s = spent_s or {}
        rest = [self._rest_s(cell, spent_s.get(cell.key, 0.0)) for cell in cells]
        return max(sum(rest) / self._jobs, max(rest, default=0.0))
