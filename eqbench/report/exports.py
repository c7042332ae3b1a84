"""Reports on runs, and results for other programs: CSV of cells and of summaries over seeds."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from eqbench.report.answer import answer
from eqbench.report.entries import Entry, Trials, arranged, began, cell_notes, titled, trials
from eqbench.report.equilibria import counts, equilibria_tables
from eqbench.report.rows import Report
from eqbench.report.view import DEFAULT, View, cell_table, summary
from eqbench.store.results import result_columns, result_rows
from eqbench.store.stored_run import StoredRun
from eqbench.text import cell_text, csv_text

MOST_CELLS = 24  # of a game with several seeds, of which there is a summary otherwise


def results_csv(runs: Sequence[StoredRun]) -> str:
    """One row per cell, as in :func:`eqbench.load_results`; empty where nothing is known.

    More on the equilibrium follows, with its parameters as JSON. Paths are as the runs were named,
    not absolute, so that a file may be passed on without telling where it was made.
    """
    facts = ("on_path", "strict", "distance", "parameters")
    rows = result_rows(runs)
    for row, cell in zip(rows, (cell for run in runs for cell in run.cells), strict=True):
        if cell.equilibria and (identity := cell.equilibria[0].identity):
            own = {**identity, "parameters": json.dumps(identity["parameters"])}
            row |= {f"equilibrium_{name}": own[name] for name in facts}
    return _csv([*result_columns(runs), *(f"equilibrium_{name}" for name in facts)], rows)


def summary_csv(runs: Sequence[StoredRun]) -> str:
    """One row per run, game and solver, with statistics over the seeds.

    `equilibria` is JSON: how many cells found each.
    """
    specs = ("game", "solver", "game_spec", "solver_spec")
    rows: list[dict[str, Any]] = []
    for run in runs:
        for _, game in titled(Entry("", cell, run) for cell in run.finished):
            for own in trials(game):
                cell = own.entries[0].record
                row = {"run": str(run.path)} | {name: getattr(cell, name) for name in specs}
                row |= {_csv_name(title): value for title, value in own.statistics.items()}
                rows.append(row | {"equilibria": json.dumps(counts(own.entries))})
    statistics = map(_csv_name, Trials(()).statistics)
    return _csv(["run", *specs, *statistics, "equilibria"], rows)


def _csv_name(title: str) -> str:
    """Name of a column of statistics for other programs."""
    return title.lower().replace("-", "").replace(" ", "_").replace("time", "elapsed_s")


def _csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    lines = (map(row.get, columns) for row in rows)
    texts = [[cell_text(v) if isinstance(v, str) else v for v in line] for line in lines]
    return csv_text([columns, *texts], end="\r\n")  # as the RFC has the ends of lines


def report_on(
    runs: Sequence[StoredRun], view: View = DEFAULT, *, summarize: bool | None = False
) -> Report:
    """Answer and tables about one or several runs, with notes on what is missing or damaged.

    With `summarize` there is one row per game and solver instead of one per cell, and all tables
    of equilibria; with None so it is for games with many cells of several seeds.
    """
    entries = entries_of(runs)
    tables = []
    for title, group in titled(entries):
        finished = [entry for entry in group if entry.record.status != "interrupted"]
        is_long = len(group) > MOST_CELLS and len(group) > len(trials(group))
        if finished and (is_long if summarize is None else summarize):
            table = summary(finished, view)
        else:
            table = cell_table(arranged(began(group), view.sort), view, with_game=False)
        said = (*table.notes, *cell_notes(group))
        tables.append(replace(table, title=title, notes=said))
        tables += equilibria_tables(title, group, always=bool(summarize))
    notes: list[str] = []
    for run in runs:
        if run.missing:
            again = f"eqbench run --resume {shlex.quote(str(run.path))} continues"
            notes.append(f"{run.missing} of {run.planned} cells have not finished: {again}")
        if run.outdated:
            why = f"{run.path} was resumed with another plan"
            notes.append(f"{run.outdated} stored cells are not shown: {why}")
        notes += run.notes
    sentences = answer(entries, sum(run.planned for run in runs))
    return Report(tuple(tables), notes=tuple(notes), answer=sentences)


def entries_of(runs: Sequence[StoredRun]) -> list[Entry]:
    """Cells of runs in their order, each with the name of its run."""
    named = zip(run_names(runs), runs, strict=True)
    return [Entry(name, cell, run) for name, run in named for cell in run.cells]


def run_names(runs: Sequence[StoredRun]) -> list[str]:
    """Names that tell runs apart: those of their folders, or their paths if names repeat."""
    folders = [run.path.absolute().name for run in runs]
    if len(folders) == 1:
        return [""]
    named = zip(folders, runs, strict=True)
    return [name if folders.count(name) == 1 else str(run.path) for name, run in named]
