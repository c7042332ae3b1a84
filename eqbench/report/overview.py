"""Pages that hold runs or solvers against each other: a comparison, and the index of a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from eqbench.errors import counted
from eqbench.report.answer import answer
from eqbench.report.charts import specification
from eqbench.report.charts.datasets import Rows, datasets
from eqbench.report.charts.material import Material, collect
from eqbench.report.comparison import Comparison, some
from eqbench.report.entries import Entry
from eqbench.report.exports import statistics_of
from eqbench.report.html.document import Block, Chart, Prose, Section, document
from eqbench.report.html.page import columns_of
from eqbench.report.html.tables import page_table
from eqbench.report.rows import Column, Report, Row
from eqbench.report.rows import Table as ReportTable
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun
from eqbench.text import printable

_COLUMNS = (
    *(Column(name) for name in ("run", "what came of it", "statuses")),
    *(Column(name, "count") for name in ("at target", "cells")),
    Column("median time", "seconds", "median\ntime"),
    Column("best max regret", "small", "best\nmax regret"),
    *(Column(name) for name in ("games", "solvers", "started")),
)
_INDEX = "At target: cells whose measured regret is within it. Choose a run for its own page."
_ALL = "all of "
_CAPTION = (
    "One point for each game and seed of which both have a value; of two runs also for each "
    "solver. On the line both are equal; above it the first, which is on the horizontal axis, has "
    "less."
)


class _Trial(NamedTuple):
    """Cells that belong together, by what each of them counts for."""

    game: str
    name: str
    cells: dict[str, CellRecord]


def comparison_page(comparison: Comparison, report: Report) -> str:
    """Page with a point for each trial of a comparison, and its tables."""
    runs = [comparison.base, *([] if comparison.solvers else [comparison.new])]
    sides = comparison.solvers or tuple(
        f"{side}: {printable(run.path.absolute().name)}"
        for side, run in (("base", comparison.base), ("new", comparison.new))
    )
    trials = []
    for old, new in comparison.overall.trials:
        solver = "" if comparison.solvers else new.solver
        name = " ".join(filter(None, (solver, new.trial or old.trial)))
        trials.append(_Trial(new.game, name, dict(zip(sides, (old, new), strict=True))))
    tables: list[Block] = [
        page_table(
            table,
            f"comparison-{k}",
            title=table.title,
            caption="\n".join((*table.lines, *table.remarks)),
        )
        for k, table in enumerate(report.tables, 1)
    ]
    notes = [note for note in (report.legend, *report.notes) if note]
    material = collect(runs)
    chart, data = _scatter(material, datasets(material)["cells"], sides, trials)
    sections = [
        Section("Trial by trial", [chart]),
        Section("Figures", [*reversed(tables), Prose(notes, small=True)]),
    ]
    return document(" and ".join(sides), sections, lead=report.answer, data=data)


def index_page(runs: Mapping[str, StoredRun]) -> str:
    """Page about runs, with a scatter of any two of them or of their solvers.

    Parameters
    ----------
    runs : by the link to the page of each
    """
    rows = tuple(_row(run) for run in runs.values())
    found = page_table(ReportTable("", _COLUMNS, rows), "index", caption=_INDEX)
    linked = [
        [replace(name, link=link), *cells]
        for link, (name, *cells) in zip(runs, found.rows, strict=True)
    ]
    table = replace(found, rows=linked, wrapped=True)
    material = collect(list(runs.values()))
    by_place = {track.place: track for game in material.games for track in game.tracks}
    trials: dict[tuple[Any, ...], _Trial] = {}
    known = datasets(material)
    for row in known["trials"]:  # of solvers, each by its name and that of its run
        track = by_place[row["cell"]]
        seed = "" if row["seed"] is None else f"seed {row['seed']}"
        own = trials.setdefault((row["trial"],), _Trial(row["game"], seed, {}))
        own.cells[track.solver] = track.entry.record
    for entry in material.entries if len(runs) > 1 else ():
        cell, side = entry.record, f"{_ALL}{entry.run}"
        key = (cell.game_spec, cell.solver_spec, cell.seed, cell.repeat)
        name = f"{cell.solver} {cell.trial}".strip()
        trials.setdefault(key, _Trial(cell.game, name, {})).cells[side] = cell
    sides = list(dict.fromkeys(side for trial in trials.values() for side in trial.cells))
    sides.sort(key=lambda side: not side.startswith(_ALL))
    chart, data = _scatter(material, known["cells"], sides, trials.values())
    parts: list[tuple[str, Block]] = [("Runs", table)]
    parts += [("Held against each other", chart)] if len(sides) > 1 else []
    sections = [Section(name, [block]) for name, block in parts]
    return document(counted(len(runs), "run"), sections, data=data)


def _row(run: StoredRun) -> Row:
    entries = [Entry("", cell) for cell in run.cells]
    figures = statistics_of(entries, {"": run.timeout_s})
    statuses = Counter(cell.status for cell in run.cells)
    values = (
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
    return Row.of(_COLUMNS, values)


def _scatter(
    material: Material, known: Rows, sides: Sequence[str], trials: Iterable[_Trial]
) -> tuple[Chart, dict[str, Any]]:
    """A chart with a point for each trial of two sides, and the data of the page that it needs."""
    found = zip(material.entries, known, strict=True)
    row_of = {id(entry.record): row for entry, row in found}
    cells: Rows = []
    rows: Rows = []
    for at, trial in enumerate(trials):
        for side, record in trial.cells.items():
            rows.append({"trial": at, "game": trial.game, "seed": trial.name, "cell": len(cells)})
            cells.append(row_of[id(record)] | {"cell": len(cells), "solver": side})
    spec = specification("pairs", sides)
    spec["usermeta"] |= {"title": "Side by side", "caption": _CAPTION}
    for param in spec["params"]:
        param |= {"value": "elapsed_s"} if param["name"] == "measure" else {}
    data = {"cells": columns_of(cells), "trials": columns_of(rows)}
    return Chart("pairs", spec), {"datasets": data}
