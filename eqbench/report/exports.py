"""Results for other programs and papers: CSV, summaries over seeds, and whole documents."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eqbench.report.answer import answer
from eqbench.report.entries import (
    TRIAL,
    Entry,
    arranged,
    began,
    by_game,
    by_solver,
    cell_notes,
    several,
    titled,
)
from eqbench.report.equilibria import counts, equilibria_tables
from eqbench.report.rows import RUN, SOLVER, Report, Row, Table
from eqbench.report.view import DEFAULT, SUMMARY, View, cell_table
from eqbench.store.results import result_columns, result_rows
from eqbench.store.stored_run import StoredRun
from eqbench.text import cell_text, csv_text


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
    timeouts = {str(run.path): run.timeout_s for run in runs}
    rows = [
        {"run": group[0].run}
        | {name: getattr(group[0].record, name) for name in names}
        | {_csv_name(title): value for title, value in statistics_of(group, timeouts).items()}
        | {"equilibria": json.dumps(counts(group))}
        for run in runs
        for game in by_game(Entry(str(run.path), cell) for cell in run.finished)
        for group in by_solver(game)
    ]
    statistics = map(_csv_name, statistics_of([], timeouts))
    return _csv(["run", *names, *statistics, "equilibria"], rows)


def _csv_name(title: str) -> str:
    """Name of a column of statistics for other programs."""
    return title.lower().replace("-", "").replace(" ", "_").replace("time", "elapsed_s")


def _csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    lines = (map(row.get, columns) for row in rows)
    texts = [[cell_text(v) if isinstance(v, str) else v for v in line] for line in lines]
    return csv_text([columns, *texts], end="\r\n")  # as the RFC has the ends of lines


MOST_CELLS = 24  # of a game with several seeds, of which there is a summary otherwise
LEAST_CELLS = 4  # that have quartiles in a table
_QUARTILES = ("best", "1st quartile", "median", "3rd quartile", "worst")


def statistics_of(group: Sequence[Entry], timeouts: Mapping[str, float]) -> dict[str, Any]:
    """Statistics of the cells of one game and solver, by column; None where none has a figure."""
    records = [entry.record for entry in group]
    found: dict[str, Any] = {
        "cells": len(records),
        "ok": sum(record.status == "ok" for record in records),
    }
    for title, name in (("max regret", "max_regret"), ("time", "elapsed_s")):
        known = [value for record in records if (value := getattr(record, name)) is not None]
        ends = np.quantile(known, [0, 0.25, 0.5, 0.75, 1]).tolist() if known else [None] * 5
        found |= {f"{name} {title}": value for name, value in zip(_QUARTILES, ends, strict=True)}
    times = [e.record.elapsed_s if e.record.status == "ok" else None for e in began(group)]
    penalized = [2 * timeouts[group[0].run] if time is None else time for time in times]
    return found | {"PAR-2 time": sum(penalized) / len(penalized) if penalized else None}


def summary(title: str, entries: Sequence[Entry], timeouts: Mapping[str, float]) -> Table:
    """Table of a game with one row for each solver; `timeouts` are those of the runs."""
    rows = []
    for group in by_solver(arranged(began(entries))):
        run, solver = group[0].run, group[0].record.solver
        figures = statistics_of(group, timeouts).items()
        shown = {t: v for t, v in figures if len(group) >= LEAST_CELLS or "quartile" not in t}
        rows.append(Row(group[0].solver, {"run": run, "solver": solver, **shown}))
    columns = [*([RUN] if entries[0].run else []), SOLVER]
    columns += SUMMARY
    kept = tuple(column for column in columns if any(column.title in row.values for row in rows))
    limits = " or ".join(f"{limit:g} s" for limit in sorted({*timeouts.values()}))
    notes = (f"timeout of a cell: {limits}", *cell_notes(entries))
    return Table(title, kept, tuple(rows), notes)


def report_of(
    entries: Sequence[Entry],
    timeouts: Mapping[str, float],
    view: View = DEFAULT,
    *,
    summarize: bool | None = False,
    every_matrix: bool = False,
    planned: int = 0,
) -> Report:
    """Answer and tables about cells.

    Parameters
    ----------
    timeouts : seconds of solving that each cell of a run had, by the name of the run
    summarize : whether to show one row per game and solver instead of one per cell; None for
        games with many cells of several seeds
    every_matrix : whether to show the table of equilibria also where rows say the same
    planned : number of cells that there are to be
    """
    tables = []
    for title, group in titled(entries):
        finished = [entry for entry in group if entry.record.status != "interrupted"]
        is_long = len(group) > MOST_CELLS and any(several(name, group) for name in TRIAL)
        if finished and (is_long if summarize is None else summarize):
            tables.append(summary(title, finished, timeouts))
        else:
            tables.append(cell_table(title, group, view))
        tables += equilibria_tables(title, group, always=every_matrix or bool(summarize))
    return Report(tuple(tables), answer=answer(entries, planned))


def report_on(
    runs: Sequence[StoredRun],
    view: View = DEFAULT,
    *,
    summarize: bool | None = False,
    every_matrix: bool = False,
) -> Report:
    """Report on one or several runs, with notes on what has not finished or is damaged."""
    timeouts = {name: run.timeout_s for name, run in zip(run_names(runs), runs, strict=True)}
    entries = entries_of(runs)
    report = report_of(
        entries,
        timeouts,
        view,
        summarize=summarize,
        every_matrix=every_matrix,
        planned=sum(run.planned for run in runs),
    )
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
