"""`eqbench compare`: what changed between two runs."""

from __future__ import annotations

import click

from eqbench.cli.options import json_option
from eqbench.cli.output import put, put_json

REGRESSION = 3


@click.command()
@click.argument("base")
@click.argument("new")
@click.option(
    "--fail-if",
    "conditions",
    multiple=True,
    metavar="CONDITION",
    help='Exit with 3 if a cell meets this, for example "elapsed_s>1.2x"; may be given several '
    "times.",
)
@click.option(
    "--allow-worse-status", is_flag=True, help="Do not count a worse status as a regression."
)
@click.option(
    "--allow-missing", is_flag=True, help="Do not count a cell that NEW lacks as a regression."
)
@click.option(
    "--game",
    "games",
    multiple=True,
    metavar="SPEC",
    help="Only this game, or several separated by commas; may be given several times.",
)
@click.option(
    "--solver",
    "solvers",
    multiple=True,
    metavar="SPEC",
    help="Only this solver, with its options or without, or several separated by commas.",
)
@click.option(
    "--format",
    "form",
    default="terminal",
    type=click.Choice(["terminal", "md"]),
    show_default=True,
    help="How to print the tables.",
)
@json_option
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    base: str,
    new: str,
    conditions: tuple[str, ...],
    games: tuple[str, ...],
    solvers: tuple[str, ...],
    form: str,
    *,
    allow_worse_status: bool,
    allow_missing: bool,
    as_json: bool,
) -> None:
    """Compare two runs cell by cell, for example before and after a change.

    BASE and NEW are folders of runs, or `latest`. Cells belong together if game, solver with its
    options, and seed agree; several seeds are compared by their medians, and cells that only one
    run has are listed. With --game or --solver only these cells count.

    A regression is a status that became worse (ok before and not now, a result before and none
    now, or now crashed or refuted), a cell that only BASE has, and whatever meets a condition. A
    cell that only NEW has is none. A CONDITION is METRIC OP LIMIT:
    METRIC one of elapsed_s, cpu_s, setup_s, overhead_s, peak_memory_bytes, iterations, nash_conv,
    max_regret and exploitability, OP one of > >= < <=, and LIMIT a number (0.5), a multiple of
    the base (1.2x), or one with a margin (1.2x+0.1, x+1e-9). A multiple is never met by a figure
    that is as in the base, and one of a negative base is 0. A figure that the base has and NEW
    lacks meets every condition about it.

    Timings are noisy: run both on one quiet machine, with several seeds, and allow a margin.
    Regrets around 1e-16 are rounding, so give them a margin too. Exit code: 0 no regression, 2
    usage, 3 regression.
    """
    from eqbench.cli.output import print_formatted, say_notes
    from eqbench.report.comparison import (
        Criteria,
        compare_runs,
        comparison_json,
        comparison_report,
        parse_rule,
        regressions,
    )
    from eqbench.store.stored_run import read_run, run_folder

    criteria = Criteria(
        tuple(map(parse_rule, conditions)),
        statuses=not allow_worse_status,
        missing=not allow_missing,
    )
    before, after = (read_run(run_folder(name)) for name in (base, new))
    comparison = compare_runs(before, after, games, solvers)
    found = regressions(comparison, criteria)
    if as_json:
        say_notes(before, after)
        document = comparison_json(comparison, criteria, found)
        put_json(document)
    else:
        from eqbench.report.markdown import markdown
        from eqbench.report.terminal import print_report

        report = comparison_report(comparison, criteria, found)
        if form == "md":
            put(markdown(report), end="")
        else:
            print_formatted(lambda console: print_report(report, console))
    if found:
        ctx.exit(REGRESSION)
