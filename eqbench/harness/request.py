"""The request of a run: the options of ``eqbench run`` and the keys of an experiment file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from eqbench.requests import (
    FLAG,
    GAME,
    JOBS,
    MOST_NODES,
    NUMBER,
    SHARE,
    SOLVER,
    Limits,
    MaxNodes,
    Option,
    Plugins,
    Scheduler,
)


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How cells are judged and carried out."""

    tolerance: Annotated[
        float,
        Option("Share of the payoff range above which a claimed equilibrium is refuted.", SHARE),
    ] = 1e-6
    max_nodes: MaxNodes = MOST_NODES
    jobs: Annotated[
        int | None,
        Option(
            "Cells that run at the same time; more than there are cores spoils the times.",
            JOBS,
            short="j",
            default="1; twice the threads of a cluster",
        ),
    ] = None
    scheduler: Scheduler = None
    verify_here: Annotated[
        bool,
        Option(
            "Measure profiles in this process instead of on the workers of the cluster.",
            FLAG,
            "verify-here",
        ),
    ] = False
    plugins: Plugins = ()


@dataclass(frozen=True)
class Request(Limits, Execution):
    """Games × solvers × seeds, and the limits of each cell."""

    games: Annotated[
        Sequence[str],
        Option(
            "Game, for example kuhn3 or 'kuhn(players=3, pot=3.2)', or several separated by "
            "commas.",
            GAME,
            "game",
        ),
    ]
    solvers: Annotated[
        Sequence[str],
        Option(
            "Solver, several separated by commas, 'all', or all of a library, as 'gambit_all'.",
            SOLVER,
            "solver",
        ),
    ]
    seeds: Annotated[
        int, Option("Run solvers that use randomness with seeds 0 to N-1.", NUMBER)
    ] = 1
    repeats: Annotated[
        int, Option("Run every cell N times over, to see how far its times scatter.", NUMBER)
    ] = 1

    @property
    def limits(self) -> Limits:
        """The limits of each cell alone."""
        return Limits(**{field.name: getattr(self, field.name) for field in fields(Limits)})


LOCAL_CLUSTER, NO_SCHEDULER = "local", "none"


def placed_scheduler(scheduler: str | None, folder: Path) -> str | None:
    """A scheduler as it is found from everywhere: a file with its address may be relative."""
    if scheduler in (None, LOCAL_CLUSTER, NO_SCHEDULER) or "://" in scheduler:
        return scheduler
    return str((folder / scheduler).absolute())
