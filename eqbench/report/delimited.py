"""Results as CSV (RFC 4180): a header row, full precision, units in the names of columns."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eqbench.report.entries import Entry, by_game, by_solver
from eqbench.report.equilibria import counts
from eqbench.report.summary import CSV_COLUMNS, statistics_of
from eqbench.store.results import result_columns, result_rows
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun
from eqbench.text import cell_text

_FACTS = ("on_path", "strict", "distance")


def results_csv(runs: Sequence[StoredRun]) -> str:
    """One row per cell, as in :func:`eqbench.load_results`; empty where nothing is known.

    More on the equilibrium follows, with its parameters as JSON. Paths are as the runs were named,
    not absolute, so that a file may be passed on without telling where it was made.
    """
    cells = [(run, cell) for run in runs for cell in run.cells]
    rows = [
        row | _paths(run, cell) | _identity(cell)
        for row, (run, cell) in zip(result_rows(runs), cells, strict=True)
    ]
    more = [f"equilibrium_{name}" for name in (*_FACTS, "parameters")]
    return _csv([*result_columns(runs), *more], rows)


def _paths(run: StoredRun, cell: CellRecord) -> dict[str, str | None]:
    """The run and its files as the run was named."""
    files = {"trace": cell.trace, "log": cell.log}
    paths = {name: file and str(run.path / file) for name, file in files.items()}
    return {"run": str(run.path), **paths}


def _identity(cell: CellRecord) -> dict[str, Any]:
    """What is known of the equilibrium of the best candidate beside its name."""
    identity: Mapping[str, Any] | None = cell.equilibria[0].identity if cell.equilibria else None
    if identity is None:
        return {}
    facts = {f"equilibrium_{name}": identity[name] for name in _FACTS}
    return facts | {"equilibrium_parameters": json.dumps(identity["parameters"])}


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
