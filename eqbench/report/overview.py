"""The index of a folder of runs, and a chart that holds runs or solvers against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from eqbench.errors import counted, first_of
from eqbench.report.answer import answer
from eqbench.report.charts import specification
from eqbench.report.charts.datasets import Rows, cell_row, datasets, shown_games
from eqbench.report.entries import Entry, grouped, several
from eqbench.report.exports import entries_of, statistics_of
from eqbench.report.html.document import Chart, Section, document
from eqbench.report.html.tables import TEXTS, page_table
from eqbench.report.rows import Row, declared
from eqbench.report.rows import Table as ReportTable
from eqbench.report.view import COLUMNS
from eqbench.store.stored_run import StoredRun
from eqbench.text import printable

_COLUMNS = tuple(declared("", facts) for facts in COLUMNS["index"])

# A name, and cells of a game that belong together by what each of them counts for.
Trial = tuple[str, Mapping[str, Entry]]


def index_page(runs: Mapping[str, StoredRun]) -> str:
    """Page about runs, with a scatter of any two of them or of their solvers.

    Parameters
    ----------
    runs : by the link to the page of each
    """
    rows = tuple(Row.of(_COLUMNS, _facts(run)) for run in runs.values())
    found = page_table(ReportTable("", _COLUMNS, rows), "index", caption=TEXTS["index"])
    linked = [
        [replace(name, link=link), *cells]
        for link, (name, *cells) in zip(runs, found.rows, strict=True)
    ]
    sections = [Section("Runs", [replace(found, rows=linked, wrapped=True)])]
    charts, data = scatter(_trials(entries_of(list(runs.values()))))
    sections.append(Section("Two runs or solvers compared", charts))
    return document(counted(len(runs), "run"), sections, data=data)


def _facts(run: StoredRun) -> Sequence[Any]:
    """What the index says about a run, in the order of its columns."""
    entries = [Entry("", cell) for cell in run.cells]
    figures = statistics_of(entries, {"": run.timeout_s})
    statuses = Counter(cell.status for cell in run.cells)
    return (
        run.path.absolute().name,
        next(iter(answer(entries, run.planned)), "No cell has finished yet."),
        ", ".join(f"{count} {status}" for status, count in statuses.most_common()),
        statuses["ok"],
        run.planned,
        figures["median time"],
        figures["best max regret"],
        first_of([*dict.fromkeys(cell.game for cell in run.cells)]),
        first_of([*dict.fromkeys(cell.solver for cell in run.cells)]),
        str(run.plan.get("created") or "").replace("T", " ").partition("+")[0],
    )


def _trials(entries: Sequence[Entry]) -> list[Trial]:
    """Trials of whole runs, and of solvers, each by its name and that of its run."""
    of_runs: dict[Any, dict[str, Entry]] = {}
    for entry in entries if several("run", entries) else ():
        cell = entry.record
        key = cell.game_spec, cell.solver_spec, cell.seed, cell.repeat
        of_runs.setdefault(key, {})[f"all of {entry.run}"] = entry
    trials: list[Trial] = []
    for own in of_runs.values():
        cell = next(iter(own.values())).record
        trials.append((f"{cell.solver} {cell.trial}".strip(), own))
    rows = datasets(shown_games(entries))["trials"]
    for same in grouped(rows, lambda row: row["trial"]).values():
        cells = [entries[row["cell"]] for row in same]
        seed = "" if same[0]["seed"] is None else f"seed {same[0]['seed']}"
        trials.append((seed, {printable(entry.solver): entry for entry in cells}))
    return trials


def scatter(trials: Sequence[Trial]) -> tuple[list[Chart], dict[str, Any]]:
    """A chart with a point for each trial of two sides, and the data of the page that it needs.

    It begins with the two that have most trials in common; without any there is no chart.
    """
    sides = dict.fromkeys(side for _, own in trials for side in own)
    timed = [[s for s in sides if s in own and own[s].record.elapsed_s] for _, own in trials]
    common = Counter(pair for own in timed for pair in combinations(own, 2))
    if not common:
        return [], {}
    entries = {id(entry): entry for _, own in trials for entry in own.values()}
    found = {
        id(entry): cell_row(place, game, entry)
        for game in shown_games([*entries.values()])
        for place, entry in game.cells.items()
    }
    cells: Rows = []
    rows: Rows = []
    for at, (name, own) in enumerate(trials):
        for side, entry in own.items():
            row = found[id(entry)]
            rows.append({"trial": at, "game": row["game"], "seed": name, "cell": len(cells)})
            cells.append(row | {"cell": len(cells), "solver": side})
    spec = specification("pairs", [*sides])
    spec["usermeta"] |= {"title": "Side by side", "caption": TEXTS["points"]}
    first, second = max(common, key=lambda pair: common[pair])
    begin = {"first": first, "second": second, "measure": "elapsed_s"}
    for param in spec["params"]:
        param["value"] = begin.get(param["name"], param["value"])
    return [Chart("pairs", spec)], {"datasets": {"cells": cells, "trials": rows}}
