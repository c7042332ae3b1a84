"""`eqbench compare`: what changed between two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say_notes
from eqbench.requests import FLAG, CellFilter, Choice, Json, Kind, Option, StoredRun

REGRESSION = 3


@dataclass(frozen=True)
class CompareRequest(CellFilter):
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

    base: Annotated[str, Option("Run to compare with.", StoredRun("BASE"), argument=True)]
    new: Annotated[str, Option("Run to compare.", StoredRun("NEW"), argument=True)]
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
    format: Annotated[str, Option("How to print the tables.", Choice(words=("terminal", "md")))] = (
        "terminal"
    )
    as_json: Json = False


@command(CompareRequest)
def compare(request: CompareRequest) -> int:
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
        tuple(map(parse_rule, request.conditions)),
        statuses=not request.allow_worse_status,
        missing=not request.allow_missing,
    )
    before, after = (read_run(run_folder(name)) for name in (request.base, request.new))
    comparison = compare_runs(before, after, request.games, request.solvers)
    found = regressions(comparison, criteria)
    if request.as_json:
        say_notes(before, after)
    put_result(
        comparison_json(comparison, criteria, found),
        lambda: comparison_report(comparison, criteria, found),
        as_json=request.as_json,
        form=request.format,
    )
    return REGRESSION if found else 0
