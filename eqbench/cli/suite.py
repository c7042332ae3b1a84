"""`eqbench suite`: published tables, measured again by one command."""

from __future__ import annotations

from typing import Any

import click

from eqbench.cli.options import NUMBER, spec_completion
from eqbench.cli.output import put, put_json
from eqbench.cli.study_run import (
    Study,
    carry_out,
    given,
    request_with,
    resumed_folder,
    study_options,
)


@click.command()
@click.argument("name", required=False)
@click.option("--list", "list_", is_flag=True, help="List the suites and their sizes.")
@click.option(
    "--games",
    default=None,
    type=NUMBER,
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
@study_options(
    "game",
    timeout="time-outs are counted, with this as a lower bound",
    folder="<suite>",
    resume="with more --games only the further ones are run",
)
@click.pass_context
def suite(ctx: click.Context, /, name: str | None, **options: Any) -> None:
    """Measure a published table again and print it beside the published figures.

    It is an ordinary run: every game and solver in a process of its own, everything verified,
    both solvers in turn on each game; `eqbench report` reads it. Into its folder go
    summary.json, table.md, table.csv and table.tex. Exit codes as those of `eqbench run`.
    """
    import signal

    from eqbench.registry import default_registry
    from eqbench.store.stored_run import read_run
    from eqbench.studies.suite_figures import suite_summary
    from eqbench.studies.suite_plan import unavailable
    from eqbench.studies.suite_table import suite_report, write_suite
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
    folder = resumed_folder(options)
    selection, request = _asked(ctx, chosen, folder, options)
    study = Study(
        command=f"eqbench suite {chosen.name}",
        slug=chosen.name,
        reasons=unavailable(selection.solvers, default_registry().with_plugins(request.plugins)),
        cost=lambda cells, asked: _cost(chosen, selection, cells, asked),
        summary=lambda job, where: suite_summary(chosen, read_run(where.path)),
        report=lambda document: suite_report(chosen, document),
        write=lambda document, path: write_suite(chosen, document, path),
    )
    carry_out(ctx, study, request, folder, options)


def _list(*, as_json: bool) -> None:
    from dataclasses import asdict

    from eqbench.studies.suites import suites

    if as_json:
        document = {"schema": "eqbench.suites/1", "suites": [asdict(s) for s in suites()]}
        put_json(document)
        return
    for item in suites():
        put(f"{item.name}  {item.summary}")
        put(f"  sizes    {', '.join(size.name for size in item.sizes)}")
        columns = [f"{column.name} = {column.solver}" for column in item.columns]
        put(f"  columns  {'; '.join(columns)}")
        put(f"  source   {item.citation}")


def _asked(
    ctx: click.Context, chosen: Any, folder: Any, options: dict[str, Any]
) -> tuple[Any, Any]:
    """What of the suite is run, and the request that this is.

    Of a resumed run it is what was asked for, unless it is given again.
    """
    from dataclasses import replace

    from eqbench.studies.suite_plan import Selection, solvers_of

    parts: dict[str, Any] = {}
    if given(ctx, folder, "sizes"):
        parts["sizes"] = chosen.sizes_named(options["sizes"])
    if given(ctx, folder, "games"):
        parts["games"] = options["games"] or chosen.games
    if given(ctx, folder, "solvers") or given(ctx, folder, "backend"):
        parts["solvers"] = solvers_of(chosen, options["solvers"], options["backend"])
    whole = (
        Selection(**parts)
        if folder is None
        else Selection.of_request(chosen, folder.plan["request"])
    )
    selection = replace(whole, **parts)
    return selection, request_with(
        ctx, folder, options, games=selection.specs, solvers=list(selection.solvers)
    )


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
