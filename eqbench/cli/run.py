"""`eqbench run`: games × solvers × seeds to a comparison table."""

from __future__ import annotations

from typing import Any

import click

from eqbench.cli.options import (
    COUNT,
    DURATION,
    JOBS,
    NUMBER,
    SHARE,
    THREADS,
    FiniteNumber,
    MemorySize,
    Statuses,
    json_option,
    max_nodes_option,
    plugin_option,
    spec_completion,
)
from eqbench.cli.output import put_json, say
from eqbench.cli.resume import begin, request_of, resumed_folder

NOTHING_RAN = 4
INTERRUPTED = 130
_BAD = ("crashed", "refuted")
_NEVER_RAN = ("unsupported", "unavailable")


@click.command()
@click.option(
    "--game",
    "games",
    multiple=True,
    metavar="SPEC",
    shell_complete=spec_completion("game"),
    help="Game, for example kuhn3 or 'kuhn(players=3, pot=3.2)', or several separated by commas; "
    "may be given several times.",
)
@click.option(
    "--solver",
    "solvers",
    multiple=True,
    metavar="SPEC",
    shell_complete=spec_completion("solver"),
    help="Solver, several separated by commas, 'all', 'gambit_all' or 'openspiel_all'; may be "
    "given several times.",
)
@click.option(
    "--seeds",
    default=1,
    type=NUMBER,
    show_default=True,
    help="Run solvers that use randomness with seeds 0 to N-1.",
)
@click.option(
    "--timeout",
    default=10.0,
    type=DURATION,
    show_default=True,
    help="Seconds of solving per cell; what still runs a second later is killed.",
)
@click.option(
    "--setup-timeout",
    default=120.0,
    type=DURATION,
    show_default=True,
    help="Seconds for imports, conversion and compilation per cell.",
)
@click.option(
    "--iterations",
    default=None,
    type=COUNT,
    help="Stop iterative solvers after N iterations.",
)
@click.option(
    "--target",
    default=None,
    type=FiniteNumber(),
    help="Max regret at which iterative solvers stop; 0 uses the whole budget.  "
    "[default: 1e-10 of the payoff range]",
)
@click.option(
    "--tolerance",
    default=1e-6,
    type=SHARE,
    show_default=True,
    help="Share of the payoff range above which a claimed equilibrium is refuted.",
)
@click.option(
    "--memory",
    default="4GiB",
    type=MemorySize(),
    show_default=True,
    help="Resident memory per cell, that of Python itself (about 150 MiB) included.",
)
@click.option("--threads", default=1, type=THREADS, show_default=True, help="Threads per cell.")
@max_nodes_option
@click.option(
    "-j",
    "--jobs",
    default=1,
    type=JOBS,
    show_default=True,
    help="Cells that run at the same time; more than there are cores spoils the times.",
)
@click.option(
    "--out",
    default=None,
    type=click.Path(),
    help="Folder for the results.  [default: results/<UTC time>-<games>]",
)
@click.option(
    "--resume",
    default=None,
    type=click.Path(),
    metavar="DIR",
    help="Go on with the run in this folder: only what it does not have is run, and what "
    "crashed, failed or was unavailable. Options that are given again replace those of the run.",
)
@click.option(
    "--retry",
    default=(),
    type=Statuses(),
    metavar="STATUS,…",
    help="With --resume: run cells that ended like this once more, for example timeout,memory.",
)
@click.option(
    "--dry-run", is_flag=True, help="Show what would be run and what is there already; run nothing."
)
@plugin_option
@json_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@click.option("-v", "--verbose", is_flag=True, help="Say what each cell did as it ends.")
@click.pass_context
def run(ctx: click.Context, /, **options: Any) -> None:
    """Run solvers on games and compare what they find.

    Every cell runs in a process of its own and every profile is measured by the independent
    verifier. A run that was interrupted goes on with --resume; several runners may share one
    folder. Exit code: 0 ran, 1 some cell crashed or was refuted, 2 usage, 4 nothing could
    run, 130 interrupted.
    """
    import signal

    from eqbench.harness.pipeline import NEVER_CACHED, Run
    from eqbench.registry import default_registry

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C
    folder = resumed_folder(options)
    request = request_of(ctx, options, folder)
    again = {*NEVER_CACHED, *options["retry"]}
    with Run(request, default_registry().with_plugins(request.plugins)) as job:
        if options["dry_run"]:
            from eqbench.cli.dry_run import print_plan
            from eqbench.cli.output import say_notes

            finished = job.finished_in(folder, again) if folder else set()
            if folder is not None:
                say_notes(folder)
            print_plan(job.cells, finished, request, as_json=options["as_json"])
            return
        folder = begin(job, folder, options, again)
        failure = execute(job, folder, options, again)
    _print(job.records, folder, as_json=options["as_json"], quiet=options["quiet"])
    if failure is not None:
        retry = f" --retry {','.join(options['retry'])}" if options["retry"] else ""
        say_how_to_go_on(job, folder, "eqbench run", retry)
        if isinstance(failure, KeyboardInterrupt):
            ctx.exit(INTERRUPTED)
        raise failure
    ctx.exit(exit_code([record.status for record in job.records]))


def execute(
    job: Any, folder: Any, options: dict[str, Any], again: set[str]
) -> BaseException | None:
    """Run what is missing; what stopped it, if something did.

    Of the options it takes `quiet` and `verbose`.
    """
    import signal

    from eqbench.cli.progress import Progress
    from eqbench.errors import StoreError

    try:
        with Progress(quiet=options["quiet"], verbose=options["verbose"]) as observer:
            job.execute(folder, observer, again)
    except (KeyboardInterrupt, StoreError, OSError) as error:
        # whoever presses again and again shall still get the table
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return error
    return None


def say_how_to_go_on(job: Any, folder: Any, command: str, more: str = "") -> None:
    """Say how much was done, and by which command the run goes on."""
    import shlex

    done = sum(record.status != "interrupted" for record in job.records)
    say(
        f"interrupted after {done} of {len(job.cells)} cells; go on with:\n"
        f"  {command} --resume {shlex.quote(str(folder.path))}{more}",
    )


def exit_code(statuses: list[str]) -> int:
    """Exit code of a finished run."""
    if any(status in _BAD for status in statuses):
        return 1
    return NOTHING_RAN if all(status in _NEVER_RAN for status in statuses) else 0


def _print(records: list[Any], folder: Any, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        _print_json(records, folder)
        return
    from eqbench.cli.output import print_formatted
    from eqbench.report.terminal import print_comparison

    print_formatted(lambda console: print_comparison(records, console))
    if not quiet:
        say(f"results in {folder.path}")


def _print_json(records: list[Any], folder: Any) -> None:
    from eqbench.store.schema import SCHEMA

    finished = [record.to_json() for record in records if record.status != "interrupted"]
    document = {"schema": SCHEMA, "run": str(folder.path), "cells": finished}
    if len(finished) < len(records):
        stopped = [record.to_json() for record in records if record.status == "interrupted"]
        document["interrupted"] = stopped
    put_json(document)
