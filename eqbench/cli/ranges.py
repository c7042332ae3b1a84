"""`eqbench ranges`: what payoffs and frequencies can be over all equilibria of a game."""

from __future__ import annotations

from typing import Any

import click

from eqbench.cli.options import spec_completion
from eqbench.cli.study_run import (
    Study,
    carry_out,
    given,
    request_with,
    resumed_folder,
    study_options,
)

_SELECTORS = ("of", "payoffs", "first_actions", "all_actions")


@click.command()
@click.option(
    "--game",
    default=None,
    metavar="SPEC",
    shell_complete=spec_completion("game"),
    help="The game; needed unless a run goes on.",
)
@click.option(
    "--of",
    multiple=True,
    metavar="NAME",
    help='A payoff, such as P1, or a frequency, such as "P3|3:KB|call"; may be given several '
    "times.",
)
@click.option("--payoffs", is_flag=True, help="All payoffs; so it is without any selection.")
@click.option(
    "--first-actions",
    is_flag=True,
    help="Frequencies where the player has a choice and has not moved before; of two actions "
    "only the last one, such as bet or call.",
)
@click.option(
    "--all-actions",
    is_flag=True,
    help="Frequencies wherever there is a choice. Where the plan of an equilibrium never leads, "
    "any frequency counts.",
)
@click.option(
    "--solver",
    default="ncp",
    show_default=True,
    metavar="SPEC",
    shell_complete=spec_completion("solver"),
    help="Solver that looks for optima; its options sense and of are set here.",
)
@study_options(
    "optimum",
    timeout="what was found and proved until then is shown",
    folder="<game>-ranges",
    resume="a new selection replaces the old one, and what both have is not run again",
)
@click.pass_context
def ranges(ctx: click.Context, /, **options: Any) -> None:
    """Find the smallest and largest payoffs and frequencies over all equilibria of a game.

    Each end of a range is a cell of an ordinary run, verified as any other, with a bound proved
    to the solver's tolerance; beside it stands the range over the published equilibria. Into
    the folder go summary.json, ranges.md, ranges.csv and ranges.tex. Exit codes as those of
    `eqbench run`.
    """
    import signal

    from eqbench.registry import default_registry
    from eqbench.store.stored_run import read_run
    from eqbench.studies.ranges.figures import ranges_summary
    from eqbench.studies.ranges.table import ranges_report, write_ranges
    from eqbench.studies.suite_plan import unavailable

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C
    folder = resumed_folder(options)
    selection, request = _asked(ctx, folder, options)
    registry = default_registry().with_plugins(request.plugins)
    study = Study(
        command="eqbench ranges",
        slug=f"{selection.game}-ranges",
        reasons=unavailable(selection.solvers, registry),
        cost=_cost,
        summary=lambda job, where: ranges_summary(job.cells[0].game.game, read_run(where.path)),
        report=ranges_report,
        write=write_ranges,
    )
    carry_out(ctx, study, request, folder, options)


def _asked(ctx: click.Context, folder: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """The selection and the request that it is; of a resumed run what is not given again."""
    from eqbench.errors import UsageError
    from eqbench.registry import default_registry
    from eqbench.spec import split_specs
    from eqbench.studies.ranges.request import RangeSelection, solver_for_ranges

    before = None if folder is None else RangeSelection.of_request(folder.plan["request"])
    game = options["game"] or (before.game if before else None)
    if game is None:
        raise click.UsageError(
            "Missing option '--game'; name one, for example: eqbench ranges --game kuhn2"
        )
    if len(split_specs(game)) != 1:
        raise UsageError(f"--game {game}: give one game; each has a table of its own")
    if before is not None and game != before.game:
        raise UsageError(
            f"--game {game}: the run in {folder.path} is about {before.game}; start a new one "
            "without --resume"
        )
    request = request_with(ctx, folder, options, games=[game], solvers=[])
    registry = default_registry().with_plugins(request.plugins)
    solver = options["solver"]
    if before is not None and not given(ctx, folder, "solver"):
        solver = before.solver
    solver = solver_for_ranges(solver, options["backend"], registry)
    if before is not None and not any(options[name] for name in _SELECTORS):
        names = before.quantities
    else:
        names = _names(request, solver, registry, options)
    selection = RangeSelection(game, solver, names)
    return selection, request_with(ctx, folder, options, games=[game], solvers=selection.solvers)


def _names(request: Any, solver: str, registry: Any, options: dict[str, Any]) -> tuple[str, ...]:
    """What is selected, by names that the game knows."""
    from dataclasses import replace

    from eqbench.harness.pipeline import Run
    from eqbench.studies.ranges.request import quantities

    # games of plugins are built in a child, so the game comes from a plan, too
    with Run(replace(request, solvers=[solver]), registry) as probe:
        return quantities(
            probe.cells[0].game.game.tree,
            options["of"],
            payoffs=options["payoffs"],
            first=options["first_actions"],
            every=options["all_actions"],
        )


def _cost(cells: list[Any], request: Any) -> str:
    """How many optima there are to look for and how long that takes."""
    from eqbench.cli.dry_run import duration

    longest = duration(len(cells) * request.timeout_s / min(request.jobs, len(cells)))
    return f"{len(cells):,} optima to find: at most {longest} of solving"
