"""`eqbench compare`: what changed between two runs, or how two solvers of one differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from eqbench.cli.options import command
from eqbench.cli.output import deliver, put_result, say_notes
from eqbench.errors import UsageError
from eqbench.requests import (
    FILE,
    FLAG,
    CellFilter,
    Choice,
    Json,
    Kind,
    Option,
    StoredRun,
)

REGRESSION = 3


@dataclass(frozen=True)
class CompareRequest(CellFilter):
    """Compare two runs, or two solvers of one run, cell by cell.

    BASE and NEW are folders of runs, or `latest`. Without NEW, --solver names two solvers of BASE,
    which are compared on every game, seed by seed.

    Of two runs, cells of the same game, solver with its options, and seed are compared; of several
    seeds the medians. A regression is a worse status, a cell that NEW lacks, or a condition that
    is met. A CONDITION is METRIC OP LIMIT. METRIC: elapsed_s, cpu_s, setup_s, overhead_s,
    peak_memory_bytes, iterations, nash_conv, max_regret or exploitability. OP: > >= < or <=.
    LIMIT: a number (0.5), a multiple of the base (1.2x), or one with a margin (1.2x+0.1, x+1e-9).

    Exit code: 0 no regression, 2 usage, 3 regression.
    """

    base: Annotated[str, Option("Run to compare with.", StoredRun("BASE"), argument=True)]
    new: Annotated[
        str | None,
        Option("Run to compare; two solvers of BASE without.", StoredRun("NEW"), argument=True),
    ] = None
    conditions: Annotated[
        tuple[str, ...],
        Option(
            'Exit with 3 if a cell meets this, for example "elapsed_s>1.2x".',
            Kind("CONDITION"),
            "fail-if",
        ),
    ] = ()
    allow_worse_status: Annotated[
        bool, Option("Do not count a worse status as a regression.", FLAG, "allow-worse-status")
    ] = False
    allow_missing: Annotated[
        bool, Option("Do not count a cell that NEW lacks as a regression.", FLAG, "allow-missing")
    ] = False
    format: Annotated[
        str,
        Option("How to show the tables; html is a page.", Choice(words=("terminal", "md", "html"))),
    ] = "terminal"
    out: Annotated[
        str | None, Option("File of the page; compare.html unless given, - prints it.", FILE)
    ] = None
    as_json: Json = False


@command(CompareRequest)
def compare(request: CompareRequest) -> int:
    from eqbench.report.comparison import (
        Criteria,
        compare_runs,
        compare_solvers,
        parse_rule,
        regressions,
    )
    from eqbench.report.comparison_view import comparison_json, comparison_report
    from eqbench.store.stored_run import read_run, run_folder

    if request.out is not None and request.format != "html":
        raise UsageError("--out is the file of a page; give --format html too")
    are_runs = request.new is not None
    criteria = Criteria(
        tuple(map(parse_rule, request.conditions)),
        statuses=are_runs and not request.allow_worse_status,
        missing=are_runs and not request.allow_missing,
    )
    base = read_run(run_folder(request.base))
    if request.new is None:
        comparison = compare_solvers(base, request.solvers, request.games)
    else:
        new = read_run(run_folder(request.new))
        comparison = compare_runs(base, new, request.games, request.solvers)
    found = regressions(comparison, criteria)
    if request.as_json:
        say_notes(comparison.base, comparison.new)
    if request.format == "html" and not request.as_json:
        from eqbench.report.overview import comparison_page

        page = comparison_page(comparison, comparison_report(comparison, criteria, found))
        deliver(page, request.out or "compare.html")
    else:
        put_result(
            comparison_json(comparison, criteria, found),
            lambda: comparison_report(comparison, criteria, found),
            as_json=request.as_json,
            form=request.format,
        )
    return REGRESSION if found else 0
