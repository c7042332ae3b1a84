"""Pages that hold runs or solvers against each other: a comparison, and the index of a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eqbench.errors import counted
from eqbench.report.answer import answer
from eqbench.report.charts import specification
from eqbench.report.charts.datasets import Rows, datasets
from eqbench.report.charts.material import Material, collect
from eqbench.report.comparison import TEXTS, Comparison, some
from eqbench.report.entries import Trials
from eqbench.report.exports import entries_of
from eqbench.report.html.document import Block, Chart, Prose, Section, document
from eqbench.report.html.tables import page_table
from eqbench.report.rows import Report, Row
from eqbench.report.rows import Table as ReportTable
from eqbench.report.view import INDEX
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun
from eqbench.text import printable

_ALL = "all of "

# Game, name, and cells that belong together by what each of them counts for.
Trial = tuple[str, str, dict[str, CellRecord]]


def comparison_page(comparison: Comparison, report: Report) -> str:
    """Page with a point for each trial of a comparison, and its tables."""
    runs = {"base": comparison.base} | ({} if comparison.solvers else {"new": comparison.new})
    sides = comparison.solvers or tuple(
        f"{side}: {printable(run.path.absolute().name)}" for side, run in runs.items()
    )
    trials = []
    for cells in comparison.overall.trials:
        old, new = cells
        solver = "" if comparison.solvers else new.solver
        name = f"{solver} {new.trial or old.trial}".strip()
        trials.append((new.game, name, dict(zip(sides, cells, strict=True))))
    tables: list[Block] = []
    for k, table in enumerate(report.tables, 1):
        caption = "\n".join((*table.lines, *table.remarks))
        tables.append(page_table(table, f"comparison-{k}", title=table.title, caption=caption))
    notes = [note for note in (report.legend, *report.notes) if note]
    material = collect(list(runs.values()))
    chart, data = _scatter(material, datasets(material)["cells"], sides, trials)
    sections = [
        Section("Trial by trial", [chart]),
        Section("Metrics", [*reversed(tables), Prose(notes, small=True)]),
    ]
    return document(" and ".join(sides), sections, lead=report.answer, data=data)


def index_page(runs: Mapping[str, StoredRun]) -> str:
    """Page about runs, with a scatter of any two of them or of their solvers.

    Parameters
    ----------
    runs : by the link to the page of each
    """
    rows = tuple(Row.of(INDEX, _facts(run)) for run in runs.values())
    found = page_table(ReportTable("", INDEX, rows), "index", caption=TEXTS["index"])
    linked = [
        [replace(name, link=link), *cells]
        for link, (name, *cells) in zip(runs, found.rows, strict=True)
    ]
    sections = [Section("Runs", [replace(found, rows=linked, wrapped=True)])]
    material = collect(list(runs.values()))
    known = datasets(material)
    trials = _trials(material, known["trials"])
    sides = list(dict.fromkeys(side for *_, cells in trials for side in cells))
    sides.sort(key=lambda side: not side.startswith(_ALL))
    chart, data = _scatter(material, known["cells"], sides, trials)
    sections += [Section("Two runs or solvers compared", [chart])] if len(sides) > 1 else []
    return document(counted(len(runs), "run"), sections, data=data)


def _facts(run: StoredRun) -> Sequence[Any]:
    """What the index says about a run, in the order of its columns."""
    entries = entries_of([run])
    figures = Trials(entries).statistics
    statuses = Counter(cell.status for cell in run.cells)
    return (
        run.path.absolute().name,
        next(iter(answer(entries, run.planned)), "No cell has finished yet."),
        ", ".join(f"{count} {status}" for status, count in statuses.most_common()),
        statuses["ok"],
        run.planned,
        figures["median time"],
        figures["best max regret"],
        some(dict.fromkeys(cell.game for cell in run.cells)),
        some(dict.fromkeys(cell.solver for cell in run.cells)),
        str(run.plan.get("created") or "").replace("T", " ").partition("+")[0],
    )


def _trials(material: Material, of_solvers: Rows) -> list[Trial]:
    """Trials of solvers, each by its name and that of its run, and of whole runs."""
    trials: dict[Any, Trial] = {}
    for row in of_solvers:
        track = material.tracks[row["cell"]]
        seed = "" if row["seed"] is None else f"seed {row['seed']}"
        *_, cells = trials.setdefault(row["trial"], (row["game"], seed, {}))
        cells[track.solver] = track.record
    if len({track.entry.run for track in material.tracks}) > 1:
        for track in material.tracks:
            cell = track.record
            key = (cell.game_spec, cell.solver_spec, cell.seed, cell.repeat)
            name = f"{cell.solver} {cell.trial}".strip()
            *_, cells = trials.setdefault(key, (cell.game, name, {}))
            cells[f"{_ALL}{track.entry.run}"] = cell
    return list(trials.values())


def _scatter(
    material: Material, known: Rows, sides: Sequence[str], trials: Iterable[Trial]
) -> tuple[Chart, dict[str, Any]]:
    """A chart with a point for each trial of two sides, and the data of the page that it needs."""
    found = zip(material.tracks, known, strict=True)
    row_of = {id(track.record): row for track, row in found}
    cells: Rows = []
    rows: Rows = []
    for at, (game, name, own) in enumerate(trials):
        for side, record in own.items():
            rows.append({"trial": at, "game": game, "seed": name, "cell": len(cells)})
            cells.append(row_of[id(record)] | {"cell": len(cells), "solver": side})
    spec = specification("pairs", sides)
    spec["usermeta"] |= {"title": "Side by side", "caption": TEXTS["points"]}
    for param in spec["params"]:
        param |= {"value": "elapsed_s"} if param["name"] == "measure" else {}
    return Chart("pairs", spec), {"datasets": {"cells": cells, "trials": rows}}
