"""`eqbench ranges`: what payoffs and frequencies can be over all equilibria of a game."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from eqbench.cli import INTERRUPTED
from eqbench.cli.options import command
from eqbench.cli.output import put_json, say
from eqbench.requests import FLAG, FOLDER, Json, Option
from eqbench.studies.requests import RangesRequest

if TYPE_CHECKING:
    from eqbench.harness.pipeline import Run
    from eqbench.harness.request import Request
    from eqbench.store.run_folder import RunFolder
    from eqbench.studies.ranges.request import RangeSelection

_SELECTORS = ("of", "payoffs", "first_actions", "all_actions")
_LIMITS = ("timeout_s", "threads", "jobs", "plugins")


@dataclass(frozen=True)
class RangesOptions:
    """How ranges are looked for."""

    out: Annotated[
        str | None,
        Option("Folder for the results.", FOLDER, default="results/<UTC time>-<game>-ranges"),
    ] = None
    resume: Annotated[
        str | None,
        Option(
            "Go on with the run of this command in this folder. Options that are given again "
            "replace those of the run: a new selection replaces the old one, and what both have "
            "is not run again.",
            FOLDER,
        ),
    ] = None
    as_json: Json = False
    quiet: Annotated[bool, Option("Nothing but messages on standard error.", FLAG, short="q")] = (
        False
    )
    verbose: Annotated[bool, Option("Say what each cell did as it ends.", FLAG, short="v")] = False


@command(RangesOptions, RangesRequest, about=RangesRequest.__doc__)
def ranges(options: RangesOptions) -> int:
    from eqbench.cli.run import begin, end_as_after_interrupt, execute, exit_code, say_how_to_go_on
    from eqbench.errors import counted
    from eqbench.harness.pipeline import NEVER_CACHED, Run
    from eqbench.studies.ranges.request import unavailable, without_children

    end_as_after_interrupt()
    ctx = click.get_current_context()
    typed, again = ctx.params, {*NEVER_CACHED}
    folder = _resumed(typed)
    selection, request = _asked(ctx, folder)
    # Gurobi, when a solver asked whether it is here, has put the handler back so that waiting goes
    # on after Ctrl-C; this makes it end again
    signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
    _tell(f"planning {counted(len(request.solvers), 'cell')}", typed)
    with Run(request) as job:
        reasons = unavailable(selection.solvers, job.registry)
        job.cells = without_children(job.cells, reasons)
        folder = begin(job, folder, typed["out"], again, slug=f"{selection.game}-ranges")
        _tell_cost(job, folder, again, typed)
        quiet, verbose = typed["quiet"], typed["verbose"]
        failure = execute(job, folder, again, quiet=quiet, verbose=verbose)
        # before the scratch files of games are deleted, which may take a while
        interrupted = isinstance(failure, KeyboardInterrupt)
        _conclude(job, folder, typed, write=interrupted or failure is None)
        if failure is not None:
            say_how_to_go_on(job, folder, "eqbench ranges")
    if interrupted:
        return INTERRUPTED
    if failure is not None:
        raise failure
    return exit_code(job.records)


def _tell(text: str, typed: dict[str, Any]) -> None:
    if not typed["quiet"]:
        say(text)


def _tell_cost(job: Run, folder: RunFolder, again: set[Any], typed: dict[str, Any]) -> None:
    """Say how many optima there are to look for and how long that takes."""
    from eqbench.report.terminal import duration

    done = job.finished_in(folder, again)
    rest = [c for c in job.cells if c.key not in done and c.solver.problem is None]
    if rest:
        (request,) = job.experiment.parts
        longest = duration(len(rest) * request.timeout_s / min(request.jobs, len(rest)))
        _tell(f"{len(rest):,} optima to find: at most {longest} of solving", typed)


def _conclude(job: Run, folder: RunFolder, typed: dict[str, Any], *, write: bool) -> None:
    """Print the table of what there is, and write its files."""
    from eqbench.cli.output import print_formatted
    from eqbench.report.terminal import print_report
    from eqbench.store.stored_run import read_run
    from eqbench.studies.ranges.figures import ranges_summary
    from eqbench.studies.ranges.table import ranges_report, write_ranges

    document = ranges_summary(job.cells[0].game.game, read_run(folder.path))
    if typed["as_json"]:
        put_json(document)
    else:
        report = ranges_report(document)
        print_formatted(lambda console: print_report(report, console))
    if write:
        files = ", ".join(file.name for file in write_ranges(document, folder.path))
        _tell(f"wrote {files} in {folder.path}", typed)


def _resumed(typed: dict[str, Any]) -> RunFolder | None:
    """The folder to go on with, or None for a new run."""
    from eqbench.errors import UsageError
    from eqbench.store.run_folder import RunFolder

    if typed["resume"] is None:
        return None
    if typed["out"] is not None:
        raise UsageError("give either --resume or --out: a resumed run stays in its folder")
    return RunFolder.open(Path(typed["resume"]))


def _asked(ctx: click.Context, folder: RunFolder | None) -> tuple[RangeSelection, Request]:
    """The selection and the request that it is; of a resumed run what is not given again."""
    from dataclasses import replace

    from eqbench.cli.run import changes
    from eqbench.errors import UsageError
    from eqbench.harness.request import Request
    from eqbench.harness.start import stored_experiment
    from eqbench.registry import default_registry
    from eqbench.spec import split_specs
    from eqbench.studies.ranges.request import RangeSelection, solver_for_ranges

    typed, given = ctx.params, changes(RangesRequest)
    before = None if folder is None else RangeSelection.of_request(folder.plan["request"])
    game = typed["game"] or (before.game if before else "")
    if not game:
        raise click.UsageError(
            "Missing option '--game'; name one, for example: eqbench ranges --game kuhn2"
        )
    if len(split_specs(game)) != 1:
        raise UsageError(f"--game {game}: give one game; each has a table of its own")
    if before is not None and folder is not None and game != before.game:
        raise UsageError(
            f"--game {game}: the run in {folder.path} is about {before.game}; start a new one "
            "without --resume"
        )
    if folder is None:
        limits = {name: typed[name] for name in _LIMITS} | given
    else:
        (stored,) = stored_experiment(folder).parts
        limits = stored.__dict__ | given
    known = {name: limits[name] for name in Request.__dataclass_fields__ if name in limits}
    request = Request(**(known | {"games": [game], "solvers": []}))
    registry = default_registry().with_plugins(request.plugins)
    solver = typed["solver"] if before is None or "solver" in given else before.solver
    solver = solver_for_ranges(solver, typed["backend"], registry)
    if before is not None and not any(typed[name] for name in _SELECTORS):
        names = before.quantities
    else:
        names = _names(replace(request, solvers=[solver]), typed)
    selection = RangeSelection(game, solver, names)
    return selection, replace(request, solvers=selection.solvers)


def _names(request: Request, typed: dict[str, Any]) -> tuple[str, ...]:
    """What is selected, by names that the game knows."""
    from eqbench.harness.pipeline import Run
    from eqbench.studies.ranges.request import quantities

    # games of plugins are built in a child, so the game comes from a plan, too
    with Run(request) as probe:
        return quantities(
            probe.cells[0].game.game.tree,
            typed["of"],
            payoffs=typed["payoffs"],
            first=typed["first_actions"],
            every=typed["all_actions"],
        )
