"""A suite as the request of an ordinary run, and such a request as a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eqbench.errors import UsageError
from eqbench.harness.plan import Cell
from eqbench.registry import Registry
from eqbench.solver import availability_of
from eqbench.spec import parse_spec, split_specs
from eqbench.studies.suites import Suite, SuiteSize

# Start of a child with its imports, which is off the solver's clock.
START_S = 0.75


@dataclass(frozen=True)
class Selection:
    """What of a suite is measured.

    Attributes
    ----------
    sizes : tuple of SuiteSize
    games : number of games of each size, with seeds from 0
    solvers : two specs, in the order of the columns
    """

    sizes: tuple[SuiteSize, ...]
    games: int
    solvers: tuple[str, ...]

    @property
    def specs(self) -> list[str]:
        """Specs of all games, each seed at all sizes: so a run that is cut short has all rows."""
        return [size.game(seed) for seed in range(self.games) for size in self.sizes]

    @classmethod
    def of_request(cls, suite: Suite, request: Mapping[str, Any]) -> Selection:
        """What the request of a run selects.

        Raises
        ------
        UsageError
            If it is not that of this suite.
        """
        games, solvers = request.get("games"), request.get("solvers")
        if isinstance(games, list) and isinstance(solvers, list):
            sizes = tuple(size for size in suite.sizes if size.game(0) in games)
            selection = cls(sizes, len(games) // max(len(sizes), 1), tuple(solvers))
            if games and selection.specs == games and len(solvers) == len(suite.columns):
                return selection
        raise UsageError(
            f"this is no run of the suite {suite.name}: its games or solvers are others; go on "
            "with it by eqbench run --resume DIR, or leave --resume out for a new run"
        )


def solvers_of(suite: Suite, typed: Sequence[str], backend: str | None) -> tuple[str, ...]:
    """Two solver specs: those of the table, or those that are given instead.

    That they are solvers and differ is left to :func:`unavailable`.

    Parameters
    ----------
    typed : specs, or lists of specs separated by commas
    backend : option of both solvers of the table, None for their own choice

    Raises
    ------
    UsageError
        If other than two solvers are given, or a backend beside them.
    """
    if not typed:
        return tuple(_on_backend(column.solver, backend) for column in suite.columns)
    if backend is not None:
        raise UsageError(
            f"--backend is about the table's own solvers; write backend={backend} into the specs "
            "that have it, for example ncp(backend=scip)"
        )
    given = tuple(part for text in typed for part in split_specs(text))
    if len(given) != len(suite.columns):
        raise UsageError(
            f"--solver names {', '.join(given) or 'nothing'}; the table compares two "
            "solvers: give --solver twice, or leave it out for those of the table"
        )
    return given


def _on_backend(solver: str, backend: str | None) -> str:
    return solver if backend is None else str(parse_spec(solver).replace(backend=backend))


def unavailable(solvers: Sequence[str], registry: Registry) -> dict[str, str]:
    """Reasons of those solvers that cannot run here, by spec.

    Only built-in solvers are asked, since code of others runs in children only.

    Raises
    ------
    UsageError
        If a spec names nothing or has wrong options, or all name the same solver.
    """
    reasons, canonical = {}, []
    for solver in solvers:
        if not registry.solver_entry(solver).builtin:
            continue
        loaded = registry.load_solver(solver)
        canonical.append(loaded.spec)
        answer = availability_of(loaded.instance)
        if answer.state != "available":
            reasons[solver] = f"{answer.state}: {answer.reason}"
    if len(set(canonical)) < len(canonical):
        raise UsageError(
            f"{' and '.join(solvers)} are the same, {canonical[0]}; name two different solvers"
        )
    return reasons


def without_children(cells: Sequence[Cell], reasons: Mapping[str, str]) -> list[Cell]:
    """Cells of which those of unavailable solvers are recorded as such without a child each."""
    return [
        replace(cell, solver=replace(cell.solver, problem=("unavailable", reasons[name])))
        if (name := cell.solver.typed) in reasons
        else cell
        for cell in cells
    ]


def published_s(suite: Suite, selection: Selection, cells: Sequence[Cell]) -> float | None:
    """Solving time of cells at the published speed, in seconds; None for other solvers."""
    names = [column.name for column in suite.columns]
    if [suite.column_name(solver) for solver in selection.solvers] != names:
        return None
    times = {
        (size.game(seed), solver): seconds
        for size in selection.sizes
        for seed in range(selection.games)
        for solver, seconds in zip(selection.solvers, size.published, strict=True)
    }
    return sum(times[cell.game.typed, cell.solver.typed] for cell in cells)
