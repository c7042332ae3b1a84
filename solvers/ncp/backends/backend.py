"""What a backend does: a program in, the best values found and how it ended out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from eqbench.model.tree import FloatArray
from eqbench.solver import Availability

from ..programs.program import Program, Size

Ending = Literal["solved", "infeasible", "limit", "failed"]


@dataclass(frozen=True)
class Limits:
    """What a backend may spend, and how exact it has to be.

    Attributes
    ----------
    time_s : seconds
    nodes : nodes of branch and bound, None for any number
    threads : threads
    seed : of the backend's own random choices, from 0 to 2**31 - 1
    feasibility : how far constraints may be off, in the units of the program
        Also the difference between bound and incumbent at which an optimum counts as proved.
    gap : the same, as a share of the incumbent
    presolve : whether the backend may simplify the program before it starts
    """

    time_s: float
    nodes: int | None
    threads: int
    seed: int
    feasibility: float = 1e-6
    gap: float = 1e-4
    presolve: bool = True


@dataclass(frozen=True)
class Answer:
    """How a backend ended.

    Attributes
    ----------
    ending : `solved` (all constraints met; with an objective, the gap is closed), `infeasible`,
        `limit` (of time or nodes) or `failed`
    detail : the backend's own words
    values : float64 (V,), the best point found, None without one
    objective, bound : of that point, and proved of all others; None without an objective
    figures : nodes, iterations and what else the backend counts
    """

    ending: Ending
    detail: str
    values: FloatArray | None = None
    objective: float | None = None
    bound: float | None = None
    figures: dict[str, Any] = field(default_factory=dict)

    def times(self, unit: float) -> Answer:
        """The same with objective and bound in other units."""
        objective = None if self.objective is None else self.objective * unit
        bound = None if self.bound is None else self.bound * unit
        return replace(self, objective=objective, bound=bound)


class Backend(Protocol):
    """A solver of programs with bilinear constraints."""

    name: str

    def availability(self) -> Availability:
        """Whether the package and a licence are here."""

    def admits(self, size: Size) -> Availability:
        """Whether the licence that is here admits a program of this size."""

    def solve(
        self, program: Program, limits: Limits, found: Callable[[FloatArray], None]
    ) -> Answer:
        """Solve a program; `found` gets each better point (V,) as it is found."""
