"""What a run is asked for; the options of ``eqbench run`` and the keys of an experiment file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from eqbench.requests import (
    COUNT,
    DURATION,
    FLAG,
    GAME,
    JOBS,
    MOST_NODES,
    NUMBER,
    SHARE,
    SOLVER,
    THREADS,
    Choice,
    MaxNodes,
    Number,
    Option,
    Plugins,
    Scheduler,
    Size,
)


@dataclass(frozen=True)
class Request:
    """Games × solvers × seeds, and the limits of each cell.

    `target` None means 1e-10 of each game's payoff range.
    """

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
    timeout_s: Annotated[
        float,
        Option(
            "Seconds of solving per cell; what still runs a second later is killed.",
            DURATION,
            "timeout",
        ),
    ] = 10.0
    setup_timeout_s: Annotated[
        float,
        Option(
            "Seconds for imports, conversion and compilation per cell.", DURATION, "setup-timeout"
        ),
    ] = 120.0
    iterations: Annotated[
        int | None, Option("Stop iterative solvers after N iterations.", COUNT)
    ] = None
    target: Annotated[
        float | None,
        Option(
            "Max regret at which iterative solvers stop; 0 uses the whole budget.",
            Number(),
            default="1e-10 of the payoff range",
        ),
    ] = None
    memory_bytes: Annotated[
        int,
        Option(
            "Memory per cell, that of Python itself (about 80 MiB) included, mapped files not.",
            Size(),
            "memory",
        ),
    ] = 4 * 2**30
    threads: Annotated[
        int,
        Option("Threads per cell, for CFR on large games and for solvers of programs.", THREADS),
    ] = 1
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
    isolation: Annotated[
        str,
        Option(
            "Fork the process of each cell from one that has eqbench loaded (Linux, one thread; "
            "elsewhere they are spawned all the same), or spawn a new interpreter.",
            Choice(words=("fork", "spawn")),
        ),
    ] = "fork"
    plugins: Plugins = ()


LOCAL_CLUSTER, NO_SCHEDULER = "local", "none"


def placed_scheduler(scheduler: str | None, folder: Path) -> str | None:
    """A scheduler as it is found from everywhere: a file with its address may be relative."""
    if scheduler in (None, LOCAL_CLUSTER, NO_SCHEDULER) or "://" in scheduler:
        return scheduler
    return str((folder / scheduler).absolute())
