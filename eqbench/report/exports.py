"""Results for other programs: CSV of cells and of summaries over seeds."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eqbench.report import trials
from eqbench.report.cells import VIRTUAL_BEST
from eqbench.report.naming import counts
from eqbench.report.trials import RunCell, Trials
from eqbench.store.results import data_frame, result_columns, result_rows
from eqbench.store.stored_run import StoredRun
from eqbench.text import csv_text

if TYPE_CHECKING:
    import pandas as pd


def results_csv(runs: Sequence[StoredRun]) -> str:
    """One row per cell, as in :meth:`eqbench.Run.frame`; empty where nothing is known.

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
    """One row per run, game and solver, with statistics over the seeds; see `summary_rows`.

    `equilibria` is JSON: how many cells found each.
    """
    rows = summary_rows(runs)
    lines = (row | {"equilibria": json.dumps(row["equilibria"])} for row in rows)
    return _csv(SUMMARY_COLUMNS, lines)


def summary_frame(runs: Iterable[StoredRun]) -> pd.DataFrame:
    """Statistics over the seeds as a data frame; see :meth:`eqbench.Run.frame`."""
    return data_frame(summary_rows(runs), SUMMARY_COLUMNS)


def summary_rows(runs: Iterable[StoredRun]) -> list[dict[str, Any]]:
    """Statistics by run, game and solver, and those of the virtual best solver of each game.

    None stands for what is not known, or is longer than the timeout.
    """
    rows: list[dict[str, Any]] = []
    for run in runs:
        for _, game in trials.titled(RunCell("", cell, run) for cell in run.finished):
            best = trials.virtual_best(trials.began(game))
            for own in trials.by_solver(game):
                cell = own.entries[0].record
                wins = {"fastest": best.wins[own.solver] if best else None}
                names = {"solver": cell.solver, "solver_spec": cell.solver_spec}
                rows.append(_summary_row(own.entries, own.statistics | wins) | names)
            if best:
                names = {"solver": VIRTUAL_BEST, "solver_spec": ""}
                rows.append(_summary_row(game, best.statistics) | names | {"equilibria": {}})
    return rows


def _summary_row(entries: Sequence[RunCell], figures: Mapping[str, Any]) -> dict[str, Any]:
    cell, run = entries[0].record, entries[0].source
    row = {"run": str(run and run.path), "game": cell.game, "game_spec": cell.game_spec}
    row |= {name: None if value == math.inf else value for name, value in figures.items()}
    return row | {"processors": len(trials.processors(entries)), "equilibria": counts(entries)}


SUMMARY_COLUMNS = (
    *("run", "game", "solver", "game_spec", "solver_spec", *Trials(()).statistics),
    *("processors", "equilibria"),
)


def _csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    lines = ([*map(row.get, columns)] for row in rows)
    return csv_text([columns, *lines], end="\r\n")  # as the RFC has the ends of lines
