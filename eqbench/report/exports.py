"""Results for other programs and papers: CSV, summaries over seeds, and whole documents."""

from __future__ import annotations

import csv
import io
import json
import shlex
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eqbench.report.entries import Entry, by_game, by_solver, titled
from eqbench.report.equilibria import counted, counts, with_matrices
from eqbench.report.naming import marks
from eqbench.report.rows import RUN, SOLVER, Column, Report, Row, Table, comparison
from eqbench.store.results import result_columns, result_rows
from eqbench.store.stored_run import StoredRun
from eqbench.text import cell_text


def results_csv(runs: Sequence[StoredRun]) -> str:
    """One row per cell, as in :func:`eqbench.load_results`; empty where nothing is known.

    More on the equilibrium follows, with its parameters as JSON. Paths are as the runs were named,
    not absolute, so that a file may be passed on without telling where it was made.
    """
    facts = ("on_path", "strict", "distance")
    rows = list(result_rows(runs))
    for row, (run, cell) in zip(rows, ((r, c) for r in runs for c in r.cells), strict=True):
        row["run"] = str(run.path)
        for name, file in (("trace", cell.trace), ("log", cell.log)):
            row[name] = file and str(run.path / file)
        best = cell.equilibria[0] if cell.equilibria else None
        identity: Mapping[str, Any] | None = best.identity if best else None
        if identity is not None:
            row |= {f"equilibrium_{name}": identity[name] for name in facts}
            row["equilibrium_parameters"] = json.dumps(identity["parameters"])
    more = [f"equilibrium_{name}" for name in (*facts, "parameters")]
    return _csv([*result_columns(runs), *more], rows)


def summary_csv(runs: Sequence[StoredRun]) -> str:
    """One row per run, game and solver, with statistics over the seeds.

    `equilibria` is JSON: how many cells found each.
    """
    names = ("game", "solver", "game_spec", "solver_spec")
    rows = []
    for run in runs:
        for game in by_game(Entry("", cell) for cell in run.finished):
            for group in by_solver(game):
                record, values = group[0].record, statistics_of(group, run.timeout_s)
                rows.append(
                    {"run": str(run.path)}
                    | {name: getattr(record, name) for name in names}
                    | {name: values[title] for name, title in CSV_COLUMNS.items()}
                    | {"equilibria": json.dumps(counts(group))}
                )
    return _csv(["run", *names, *CSV_COLUMNS, "equilibria"], rows)


def _csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns)  # its line ends are CR LF, as the RFC has them
    writer.writeheader()
    for row in rows:
        writer.writerow({k: cell_text(v) if isinstance(v, str) else v for k, v in row.items()})
    return text.getvalue()


_COLUMNS = (
    SOLVER,
    Column("cells", "count"),
    Column("ok", "count"),
    Column("best max regret", "small", "best\nmax regret"),
    Column("median max regret", "small", "median\nmax regret"),
    Column("worst max regret", "small", "worst\nmax regret"),
    Column("median time", "seconds", "median\ntime"),
    Column("PAR-2 time", "seconds", "PAR-2\ntime"),
)
# The columns of the machine-readable form, and those above that they hold.
CSV_COLUMNS = {
    "cells": "cells",
    "ok": "ok",
    "best_max_regret": "best max regret",
    "median_max_regret": "median max regret",
    "worst_max_regret": "worst max regret",
    "median_elapsed_s": "median time",
    "par2_elapsed_s": "PAR-2 time",
}
_LEGEND = (
    "Best, median and worst max regret are over the cells (seeds) that have a measured profile, "
    "in payoff units; median time is over the cells that solved at all. PAR-2 time (penalized "
    "average runtime) is the mean of the solving time of the cells that are ok, and of twice the "
    "timeout of the others, without those that are unsupported or unavailable."
)


def statistics_of(group: Sequence[Entry], timeout_s: float) -> dict[str, Any]:
    """Statistics of the cells of one game and solver, by column; None where none has a figure."""
    records = [entry.record for entry in group]
    never = ("unsupported", "unavailable")
    penalized = [
        record.elapsed_s
        if record.status == "ok" and record.elapsed_s is not None
        else 2 * timeout_s
        for record in records
        if record.status not in never
    ]
    regrets = [record.max_regret for record in records if record.max_regret is not None]
    times = [record.elapsed_s for record in records if record.elapsed_s is not None]
    return {
        "cells": len(records),
        "ok": sum(record.status == "ok" for record in records),
        "best max regret": min(regrets, default=None),
        "median max regret": statistics.median(regrets) if regrets else None,
        "worst max regret": max(regrets, default=None),
        "median time": statistics.median(times) if times else None,
        "PAR-2 time": statistics.fmean(penalized) if penalized else None,
    }


def _table(title: str, entries: Sequence[Entry], timeouts: Mapping[str, float]) -> Table:
    rows = []
    for group in by_solver(entries):
        run, solver = group[0].run, group[0].record.solver
        values = {"run": run, "solver": solver, **statistics_of(group, timeouts[run])}
        values["equilibria"] = counted(group) or None
        rows.append(Row(f"{solver} ({run})" if run else solver, values))
    # commas stand between counts here, and there are no figures that belong to the first
    found = [[word.rstrip(",") for word in row.values["equilibria"] or ()] for row in rows]
    # dispensable, since the matrix below has these numbers too
    equilibria = Column("equilibria", "words", dispensable=3, notes=tuple(marks(found)))
    columns = ((RUN,) if entries[0].run else ()) + _COLUMNS + ((equilibria,) if any(found) else ())
    limits = sorted({timeouts[entry.run] for entry in entries})
    note = f"timeout: {' or '.join(f'{limit:g} s' for limit in limits)}"
    return Table(title, columns, tuple(rows), (note,), _LEGEND, players=0)


def report_on(
    runs: Sequence[StoredRun], *, summarize: bool = False, every_matrix: bool = False
) -> Report:
    """Tables of one or several runs, with notes on what has not finished or is damaged.

    Parameters
    ----------
    summarize : whether to show one row per game and solver instead of one per cell
    every_matrix : whether to show the matrix of equilibria also where rows say the same
    """
    entries = entries_of(runs)
    if summarize:
        timeouts = {k: run.timeout_s for k, run in zip(run_names(runs), runs, strict=True)}
        finished = [entry for entry in entries if entry.record.status != "interrupted"]
        tables = tuple(_table(*game, timeouts) for game in titled(finished))
        report = Report(tables, _LEGEND if tables else "")
        report = with_matrices(report, finished, always=True)
    else:
        report = with_matrices(comparison(entries), entries, always=every_matrix)
    notes: list[str] = []
    for run in runs:
        if run.missing:
            again = f"eqbench run --resume {shlex.quote(str(run.path))} continues"
            notes.append(f"{run.missing} of {run.planned} cells have not finished: {again}")
        if run.outdated:
            why = f"{run.path} was resumed with another plan"
            notes.append(f"{run.outdated} stored cells are not shown: {why}")
        notes += run.notes
    return replace(report, notes=tuple(notes))


def entries_of(runs: Sequence[StoredRun]) -> list[Entry]:
    """Cells of runs in their order, each with the name of its run."""
    named = zip(run_names(runs), runs, strict=True)
    return [Entry(name, cell) for name, run in named for cell in run.cells]


def run_names(runs: Sequence[StoredRun]) -> list[str]:
    """What tells the runs apart: their folders' names, or their paths if names repeat."""
    if len(runs) == 1:
        return [""]
    folders = [run.path.absolute().name for run in runs]
    count = Counter(folders)
    return [
        folder if count[folder] == 1 else str(run.path)
        for folder, run in zip(folders, runs, strict=True)
    ]
