"""`eqbench compare`: what changed between two runs, or how two solvers of one differ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say_notes
from eqbench.requests import FLAG, CellFilter, Choice, Json, Kind, Option, Words

REGRESSION = 3
_BASE, _NEW = Kind("BASE", completed="dir"), Kind("NEW", completed="dir")


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

    base: Annotated[str, Option("Run to compare with.", _BASE, argument=True)]
    new: Annotated[
        str | None,
        Option(
            "Run to compare; two solvers of BASE without.",
            _NEW,
            argument=True,
        ),
    ] = None
    conditions: Annotated[
        tuple[str, ...],
        Option(
            'Exit with 3 if a cell meets this, for example "elapsed_s>1.2x".',
            Kind("CONDITION"),
            "fail-if",
        ),
    ] = ()
    allow: Annotated[
        tuple[str, ...],
        Option(
            "No regression is then a worse status, or a cell that NEW lacks (missing).",
            Words("WORDS", "kind of regression", ("worse-status", "missing")),
        ),
    ] = ()
    only_changed: Annotated[
        bool, Option("Leave out what differs by no more than noise, and say how much.", FLAG)
    ] = False
    format: Annotated[
        str,
        Option("How to print the tables.", Choice(words=("terminal", "md"))),
    ] = "terminal"
    as_json: Json = False


@command(CompareRequest)
def compare(request: CompareRequest) -> int:
    from eqbench.report.comparison import (
        RegressionRule,
        compare_runs,
        compare_solvers,
        comparison_json,
        comparison_report,
    )
    from eqbench.store.stored_run import read_run, run_folder

    base = read_run(run_folder(request.base))
    if request.new is None:
        comparison = compare_solvers(base, request.solvers, request.games)
    else:
        new = read_run(run_folder(request.new))
        comparison = compare_runs(base, new, request.games, request.solvers)
    comparison = replace(
        comparison,
        rules=tuple(map(RegressionRule.of, request.conditions)),
        allow_worse_status="worse-status" in request.allow or request.new is None,
        allow_missing="missing" in request.allow,
        only_changed=request.only_changed,
    )
    if request.as_json:
        say_notes(comparison.base, comparison.new)
    put_result(
        comparison_json(comparison),
        lambda: comparison_report(comparison),
        as_json=request.as_json,
        form=request.format,
    )
    return REGRESSION if comparison.regressions else 0
