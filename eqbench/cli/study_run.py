"""Studies that are ordinary runs with a table of their own: how such a run goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from eqbench.cli.options import DURATION, JOBS, THREADS, json_option, plugin_option
from eqbench.cli.output import put_json, say

_LIMITS = {"timeout": "timeout_s", "threads": "threads", "jobs": "jobs"}


@dataclass(frozen=True)
class Study:
    """What differs between such studies.

    Attributes
    ----------
    command : by which the study is begun, for example ``eqbench suite NAME``
    slug : names its folder where none is given
    reasons : of solvers that cannot run here, by spec
    cost : what is said about the cells that have to be run, from these and the request
    summary : document of the study, from the planned run and its folder
    report : tables of such a document
    write : writes the files of such a document into a folder and returns them
    """

    command: str
    slug: str
    reasons: Mapping[str, str]
    cost: Callable[[list[Any], Any], str]
    summary: Callable[[Any, Any], dict[str, Any]]
    report: Callable[[dict[str, Any]], Any]
    write: Callable[[dict[str, Any], Path], list[Path]]


def study_options(each: str, *, timeout: str, folder: str, resume: str) -> Callable[[Any], Any]:
    """Decorator with the options that all such studies have.

    Parameters
    ----------
    each : what a cell solves, for example a game
    timeout, resume : help on these options, after what is the same for all
    folder : end of the name of a new folder
    """
    options = (
        click.option(
            "--backend",
            default=None,
            type=click.Choice(["auto", "gurobi", "scip"]),
            help="Program behind the solver, where it has such an option.",
        ),
        click.option(
            "--timeout",
            default=60.0,
            type=DURATION,
            show_default=True,
            help=f"Seconds of solving per {each}; {timeout}.",
        ),
        click.option(
            "--threads",
            default=1,
            type=THREADS,
            show_default=True,
            help=f"Threads per {each}.",
        ),
        click.option(
            "-j",
            "--jobs",
            default=1,
            type=JOBS,
            show_default=True,
            help="Cells that are solved at the same time; more than there are cores spoils the "
            "times.",
        ),
        click.option(
            "--out",
            default=None,
            type=click.Path(),
            metavar="DIR",
            help=f"Folder for the results.  [default: results/<UTC time>-{folder}]",
        ),
        click.option(
            "--resume",
            default=None,
            type=click.Path(),
            metavar="DIR",
            help="Go on with the run of this command in this folder. Options that are given again "
            f"replace those of the run: {resume}.",
        ),
        plugin_option,
        json_option,
        click.option("-q", "--quiet", is_flag=True, help="Nothing but messages on standard error."),
        click.option("-v", "--verbose", is_flag=True, help="Say what each cell did as it ends."),
    )

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def tell(text: str, options: Mapping[str, Any]) -> None:
    """Print a message for people, unless they want none."""
    if not options["quiet"]:
        say(text)


def resumed_folder(options: Mapping[str, Any]) -> Any:
    """The folder to go on with, or None for a new run."""
    from eqbench.errors import UsageError
    from eqbench.store.run_folder import RunFolder

    if options["resume"] is None:
        return None
    if options["out"] is not None:
        raise UsageError("give either --resume or --out: a resumed run stays in its folder")
    return RunFolder.open(Path(options["resume"]))


def given(ctx: click.Context, folder: Any, name: str) -> bool:
    """Whether an option counts: of a resumed run only if it was typed."""
    from click.core import ParameterSource

    return folder is None or ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def request_with(ctx: click.Context, folder: Any, options: Mapping[str, Any], **fields: Any) -> Any:
    """The request of a study; of a resumed one the limits and plugins that it had.

    Parameters
    ----------
    fields : what the study says about the request, such as games and solvers
    """
    from eqbench.harness.plan import Request

    stored = {} if folder is None else folder.plan["request"]
    known = {name: value for name, value in stored.items() if name in Request.__dataclass_fields__}
    known |= {field: options[name] for name, field in _LIMITS.items() if given(ctx, folder, name)}
    if given(ctx, folder, "plugins"):
        known["plugins"] = tuple(str(Path(file).absolute()) for file in options["plugins"])
    return Request(**(known | fields))


def carry_out(
    ctx: click.Context, study: Study, request: Any, folder: Any, options: Mapping[str, Any]
) -> None:
    """Run what is missing, print the table, write its files, and exit as `eqbench run` does."""
    import signal

    from eqbench.cli.resume import begin
    from eqbench.cli.run import INTERRUPTED, execute, exit_code, say_how_to_go_on
    from eqbench.errors import counted
    from eqbench.harness.pipeline import NEVER_CACHED, Run
    from eqbench.registry import default_registry
    from eqbench.studies.suite_plan import without_children

    # Gurobi, when a solver asked whether it is here, has put the handler back so that waiting goes
    # on after Ctrl-C; this makes it end again
    signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))
    again: set[Any] = {*NEVER_CACHED}
    tell(f"planning {counted(len(request.games) * len(request.solvers), 'cell')}", options)
    with Run(request, default_registry().with_plugins(request.plugins)) as job:
        job.cells = without_children(job.cells, study.reasons)
        folder = begin(job, folder, {"out": options["out"], "games": [study.slug]}, again)
        done = job.finished_in(folder, again)
        rest = [c for c in job.cells if c.key not in done and c.solver.problem is None]
        if rest:
            tell(study.cost(rest, request), options)
        failure = execute(job, folder, dict(options), again)
        # before the scratch files of thousands of games are deleted, which takes a while
        interrupted = isinstance(failure, KeyboardInterrupt)
        _conclude(study, job, folder, options, write=interrupted or failure is None)
        if failure is not None:
            say_how_to_go_on(job, folder, study.command)
    if interrupted:
        ctx.exit(INTERRUPTED)
    if failure is not None:
        raise failure
    ctx.exit(exit_code([record.status for record in job.records]))


def _conclude(
    study: Study, job: Any, folder: Any, options: Mapping[str, Any], *, write: bool
) -> None:
    """Print the table of what there is, and write its files."""
    from eqbench.cli.output import print_formatted
    from eqbench.report.terminal import print_report

    document = study.summary(job, folder)
    if options["as_json"]:
        put_json(document)
    else:
        report = study.report(document)
        print_formatted(lambda console: print_report(report, console))
    if write:
        files = ", ".join(file.name for file in study.write(document, folder.path))
        tell(f"wrote {files} in {folder.path}", options)
