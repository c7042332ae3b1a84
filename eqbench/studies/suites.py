"""Published tables that can be measured again: games, methods and figures as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eqbench.errors import SpecError, UsageError, nearest
from eqbench.spec import parse_spec


@dataclass(frozen=True)
class SuiteColumn:
    """A method of a published table; `solver` is the spec of its twin here."""

    name: str
    solver: str


@dataclass(frozen=True)
class SuiteSize:
    """A row of a published table: random games of one size.

    Attributes
    ----------
    name : str
        How the size is asked for, for example 3x6.
    spec : str
        Spec of its games, with ``{seed}`` where the seed stands.
    published : tuple of two float
        Mean time per column of the suite, in seconds.
    """

    name: str
    spec: str
    published: tuple[float, float]

    def game(self, seed: int) -> str:
        """Spec of one of the games."""
        return self.spec.format(seed=seed)


@dataclass(frozen=True)
class Suite:
    """A published table that compares two methods on random games.

    Attributes
    ----------
    name : str
        How it is asked for.
    title, citation : str
        Short and full reference.
    summary, conditions : str
        What it compares, and under which conditions the published figures were measured.
    games : int
        Number of games of each size in the publication.
    columns : tuple of two SuiteColumn
        Ratios are those of the second to the first.
    sizes : tuple of SuiteSize
    remarks : tuple of str
        What the publication says about its figures.
    """

    name: str
    title: str
    citation: str
    summary: str
    conditions: str
    games: int
    columns: tuple[SuiteColumn, SuiteColumn]
    sizes: tuple[SuiteSize, ...]
    remarks: tuple[str, ...] = ()

    def sizes_named(self, names: Iterable[str]) -> tuple[SuiteSize, ...]:
        """Sizes in the order of the publication; all of them if no name is given.

        Raises
        ------
        UsageError
            If a name is not that of a size.
        """
        known, wanted = {size.name: size for size in self.sizes}, list(names)
        for name in wanted:
            if name not in known:
                raise UsageError(f"{self.title} has no size {name!r}; it has {', '.join(known)}")
        return tuple(known[name] for name in known if name in wanted or not wanted)

    def column_name(self, solver: str) -> str:
        """Name of the column that a solver stands for on any backend, or the spec itself."""
        for column in self.columns:
            if _without_backend(column.solver) == _without_backend(solver):
                return column.name
        return solver


def _without_backend(solver: str) -> str:
    try:
        return str(parse_spec(solver).without("backend"))
    except SpecError:  # whoever resolves the spec says what is wrong with it
        return solver


def _random(players: int, actions: int, first: float, second: float) -> SuiteSize:
    """Games whose payoffs are uniform in [0, 1], with the published mean of each column."""
    spec = f"random(players={players},actions={actions},seed={{seed}})"
    return SuiteSize(f"{players}x{actions}", spec, (first, second))


_GANZFRIED_2025_TABLE_1 = Suite(
    name="ganzfried_2025_table_1",
    title="Ganzfried 2025, Table 1",
    citation=(
        "S. Ganzfried, Quadratic Programming Approach for Nash Equilibrium Computation in "
        "Multiplayer Imperfect-Information Games, 2025, Table 1"
    ),
    summary="complementarity (NCP) against mixed-integer (MIP) on random strategic forms",
    conditions=(
        "mean over 1,000 games per size, without a time limit, on an Intel i7-1065G7 with 8 "
        "threads; Gurobi with feasibility tolerance 1e-6 for NCP and 1e-4 for MIP"
    ),
    games=1000,
    columns=(
        # polishing is no part of the published methods
        SuiteColumn("NCP", "ncp(formulation=paper,polish=false)"),
        SuiteColumn("MIP", "mip(polish=false)"),
    ),
    sizes=(
        _random(3, 3, 0.0619, 0.1002),
        _random(3, 4, 0.1864, 0.2487),
        _random(3, 5, 0.5215, 1.2641),
        _random(3, 6, 6.9851, 18.8500),
        _random(4, 3, 0.3254, 1.5648),
        _random(5, 2, 0.1858, 0.2983),
    ),
    remarks=("The paper quotes NCP as 2.7 times faster at 3x6 and nearly 5 times at 4x3.",),
)


def suites() -> tuple[Suite, ...]:
    """All suites."""
    return (_GANZFRIED_2025_TABLE_1,)


def suite_named(name: str) -> Suite:
    """Suite of that name.

    Raises
    ------
    UsageError
        If there is none.
    """
    known = {suite.name: suite for suite in suites()}
    if name not in known:
        raise UsageError(f"unknown suite {name!r}: {nearest(name, known)}")
    return known[name]
