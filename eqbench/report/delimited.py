"""Results as CSV (RFC 4180): a header row, full precision, units in the names of columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from eqbench.report.rows import Entry, by_game
from eqbench.report.summary import CSV_COLUMNS, by_solver, statistics_of
from eqbench.store.results import result_columns, result_rows
from eqbench.store.stored_run import StoredRun


def results_csv(runs: Sequence[StoredRun]) -> str:
    """One row per cell, as in :func:`eqbench.load_results`; empty where nothing is known."""
    return _csv(result_columns(runs), result_rows(runs))


def summary_csv(runs: Sequence[StoredRun]) -> str:
    """One row per run, game and solver, with statistics over the seeds."""
    names = ("game", "solver", "game_spec", "solver_spec")
    rows = []
    for run in runs:
        for game in by_game(Entry("", cell) for cell in run.finished):
            for group in by_solver(game):
                record, values = group[0].record, statistics_of(group, run.timeout_s)
                rows.append(
                    {"run": str(run.path.absolute())}
                    | {name: getattr(record, name) for name in names}
                    | {name: values[title] for name, title in CSV_COLUMNS.items()}
                )
    return _csv(["run", *names, *CSV_COLUMNS], rows)


def _csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns)  # its line ends are CR LF, as the RFC has them
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
