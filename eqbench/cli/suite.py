"""`eqbench suite`: published tables, measured again by one command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from eqbench.cli.options import FiniteNumber, json_option, plugin_option, spec_completion


@click.command()
@click.argument("name", required=False)
@click.option("--list", "list_", is_flag=True, help="List the suites and their sizes.")
@click.option(
    "--games",
    default=None,
    type=click.IntRange(1),
    metavar="N",
    help="Games of each size, with seeds 0 to N-1.  [default: as published, 1000]",
)
@click.option(
    "--size",
    "sizes",
    multiple=True,
    metavar="SIZE",
    help="Only this size, for example 3x4; may be given several times.",
)
@click.option(
    "--solver",
    "solvers",
    multiple=True,
    metavar="SPEC",
    shell_complete=spec_completion("solver"),
    help="Compare these instead of the solvers of the table; give it twice.",
)
@click.option(
    "--backend",
    default=None,
    type=click.Choice(["auto", "gurobi", "scip"]),
    help="Program behind both solvers of the table.",
)
@click.option(
    "--timeout",
    default=60.0,
    type=FiniteNumber(positive=True),
    show_default=True,
    help="Seconds of solving per game; time-outs are counted, with this as a lower bound.",
)
@click.option(
    "--threads", default=1, type=click.IntRange(1), show_default=True, help="Threads per game."
)
@click.option(
    "-j",
    "--jobs",
    default=1,
    type=click.IntRange(1),
    show_default=True,
    help="Games that are solved at the same time; more than there are cores spoils the times.",
)
@click.option(
    "--out",
    default=None,
    type=click.Path(),
    metavar="DIR",
    help="Folder for the results.  [default: results/<UTC time>-<suite>]",
)
@click.option(
    "--resume",
    default=None,
    type=click.Path(),
    metavar="DIR",
    help="Go on with the run of the suite in this folder. Options that are given again replace "
    "those of the run: with more --games only the further ones are run.",
)
@plugin_option
@json_option
@click.option("-q", "--quiet", is_flag=True, help="Nothing but messages on standard error.")
@click.option("-v", "--verbose", is_flag=True, help="Say what each cell did as it ends.")
@click.pass_context
def suite(ctx: click.Context, /, name: str | None, **options: Any) -> None:
    """Measure a published table again and print it beside the published figures.

    It is an ordinary run: every game and solver in a process of its own, everything verified,
    both solvers in turn on each game; `eqbench report` reads it. Into its folder go
    summary.json, table.md, table.csv and table.tex. Exit codes as those of `eqbench run`.
    """
    import signal

    from eqbench.cli.resume import begin
    from eqbench.cli.run import INTERRUPTED, execute, exit_code, say_how_to_go_on
    from eqbench.harness.pipeline import NEVER_CACHED, Run
    from eqbench.registry import default_registry
    from eqbench.studies.suite_plan import unavailable, without_children
    from eqbench.studies.suites import suite_named

    if options["list_"]:
        _list(as_json=options["as_json"])
        return
    if name is None:
        raise click.UsageError(
            "which suite? name one, for example eqbench suite ganzfried_2025_table_1; "
            "eqbench suite --list has all"
        )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C
    chosen = suite_named(name)
    again: set[Any] = {*NEVER_CACHED}
    folder = _folder(options)
    selection, request = _asked(ctx, chosen, folder, options)
    registry = default_registry().with_plugins(request.plugins)
    reasons = unavailable(selection.solvers, registry)
    _say(f"planning {len(request.games) * len(request.solvers):,} cells", options)
    with Run(request, registry) as job:
        job.cells = without_children(job.cells, reasons)
        folder = begin(job, folder, {"out": options["out"], "games": [chosen.name]}, again)
        done = job.finished_in(folder, again)
        rest = [c for c in job.cells if c.key not in done and c.solver.problem is None]
        if rest:
            _say(_cost(chosen, selection, rest, request), options)
        failure = execute(job, folder, options, again)
        # before the scratch files of thousands of games are deleted, which takes a while
        interrupted = isinstance(failure, KeyboardInterrupt)
        _conclude(chosen, folder, options, write=interrupted or failure is None)
        if failure is not None:
            say_how_to_go_on(job, folder, f"eqbench suite {chosen.name}")
    if interrupted:
        ctx.exit(INTERRUPTED)
    if failure is not None:
        raise failure
    ctx.exit(exit_code([record.status for record in job.records]))


def _say(text: str, options: dict[str, Any]) -> None:
    if not options["quiet"]:
        click.echo(text, err=True)


def _list(*, as_json: bool) -> None:
    import json
    from dataclasses import asdict

    from eqbench.studies.suites import suites

    if as_json:
        document = {"schema": "eqbench.suites/1", "suites": [asdict(s) for s in suites()]}
        click.echo(json.dumps(document, indent=2))
        return
    for item in suites():
        click.echo(f"{item.name}  {item.summary}")
        click.echo(f"  sizes    {', '.join(size.name for size in item.sizes)}")
        columns = [f"{column.name} = {column.solver}" for column in item.columns]
        click.echo(f"  columns  {'; '.join(columns)}")
        click.echo(f"  source   {item.citation}")


def _folder(options: dict[str, Any]) -> Any:
    """The folder to go on with, or None for a new run."""
    from eqbench.errors import UsageError
    from eqbench.store.run_folder import RunFolder

    if options["resume"] is None:
        return None
    if options["out"] is not None:
        raise UsageError("give either --resume or --out: a resumed run stays in its folder")
    return RunFolder.open(Path(options["resume"]))


def _asked(
    ctx: click.Context, chosen: Any, folder: Any, options: dict[str, Any]
) -> tuple[Any, Any]:
    """What of the suite is run, and the request that this is.

    Of a resumed run it is what was asked for, unless it is given again.
    """
    from dataclasses import replace

    from click.core import ParameterSource

    from eqbench.harness.plan import Request
    from eqbench.studies.suite_plan import Selection, solvers_of

    def given(name: str) -> bool:
        source = ctx.get_parameter_source(name)
        return folder is None or source is ParameterSource.COMMANDLINE

    stored = {} if folder is None else folder.plan["request"]
    parts: dict[str, Any] = {}
    if given("sizes"):
        parts["sizes"] = chosen.sizes_named(options["sizes"])
    if given("games"):
        parts["games"] = options["games"] or chosen.games
    if given("solvers") or given("backend"):
        parts["solvers"] = solvers_of(chosen, options["solvers"], options["backend"])
    whole = Selection(**parts) if folder is None else Selection.of_request(chosen, stored)
    selection = replace(whole, **parts)
    limits = {"timeout": "timeout_s", "threads": "threads", "jobs": "jobs"}
    fields = {field: options[name] for name, field in limits.items() if given(name)}
    if given("plugins"):
        fields["plugins"] = tuple(str(Path(file).absolute()) for file in options["plugins"])
    fields |= {"games": selection.specs, "solvers": list(selection.solvers)}
    known = {name: value for name, value in stored.items() if name in Request.__dataclass_fields__}
    return selection, Request(**(known | fields))


def _cost(chosen: Any, selection: Any, cells: list[Any], request: Any) -> str:
    """How many cells there are to run and how long that takes."""
    from eqbench.cli.dry_run import duration
    from eqbench.studies.suite_plan import START_S, published_s

    at_once = min(request.jobs, max(len(cells), 1))
    starts = duration(len(cells) * START_S / at_once)
    text = f"{len(cells):,} cells to run: about {starts} for starting processes, off the clock"
    published = published_s(chosen, selection, cells)
    if published is not None:
        text += f"; {duration(published / at_once)} of solving at the published speed"
    longest = duration(len(cells) * request.timeout_s / at_once)
    return f"{text}; at most {longest} of solving, if every game times out"


def _conclude(chosen: Any, folder: Any, options: dict[str, Any], *, write: bool) -> None:
    """Print the table of what there is, and write its files."""
    import json

    from eqbench.cli.output import print_formatted
    from eqbench.report.terminal import print_report
    from eqbench.store.stored_run import read_run
    from eqbench.studies.suite_figures import suite_summary
    from eqbench.studies.suite_table import suite_report, write_suite

    document = suite_summary(chosen, read_run(folder.path))
    if options["as_json"]:
        click.echo(json.dumps(document, indent=2, allow_nan=False))
    else:
        report = suite_report(chosen, document)
        print_formatted(lambda console: print_report(report, console))
    if write:
        files = ", ".join(file.name for file in write_suite(chosen, document, folder.path))
        _say(f"wrote {files} in {folder.path}", options)
