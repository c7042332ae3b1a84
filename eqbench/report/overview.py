"""The page of a folder of runs, and the chart that holds runs or solvers against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from eqbench.errors import counted, first_of
from eqbench.report import read_data
from eqbench.report.answer import answer
from eqbench.report.charts import specification
from eqbench.report.charts.datasets import datasets, shown_games
from eqbench.report.entries import Entry, Trials, grouped, several
from eqbench.report.exports import entries_of
from eqbench.report.html.document import Chart, Section, Table, document
from eqbench.report.rows import Cell
from eqbench.report.view import INDEX
from eqbench.store.stored_run import StoredRun

TEXTS = read_data("html/texts")

# A name, and cells of a game that belong together by what each of them counts for.
Trial = tuple[str, dict[str, Entry]]


def index_page(runs: Mapping[str, StoredRun]) -> str:
    """Page about runs, with a scatter of any two of them or of their solvers.

    Parameters
    ----------
    runs : by the link to the page of each
    """
    rows = [_row(link, run) for link, run in runs.items()]
    table = Table("index", INDEX, rows, TEXTS["index"], wrapped=True)
    charts, data = scatter(_trials(entries_of(list(runs.values()))))
    sections = [Section("Runs", [table]), Section("Two runs or solvers compared", charts)]
    return document(counted(len(runs), "run"), sections, data=data)


def _row(link: str, run: StoredRun) -> list[Any]:
    """What the index says about a run, in the order of its columns."""
    entries = entries_of([run])
    figures = Trials(entries).statistics
    statuses = Counter(cell.status for cell in run.cells)
    return [
        Cell(run.path.absolute().name, link=link),
        next(iter(answer(entries, run.planned)), "No cell has finished yet."),
        ", ".join(f"{count} {status}" for status, count in statuses.most_common()),
        statuses["ok"],
        run.planned,
        figures["median time"],
        figures["best max regret"],
        first_of([*dict.fromkeys(cell.game for cell in run.cells)]),
        first_of([*dict.fromkeys(cell.solver for cell in run.cells)]),
        str(run.plan.get("created") or "").replace("T", " ").partition("+")[0],
    ]


def _trials(entries: Sequence[Entry]) -> list[Trial]:
    """Trials of whole runs, and of solvers, each by its name and that of its run."""
    of_runs: dict[Any, Trial] = {}
    for entry in entries if several("run", entries) else ():
        cell = entry.record
        key = cell.game_spec, cell.solver_spec, cell.seed, cell.repeat
        _, sides = of_runs.setdefault(key, (f"{cell.solver} {cell.trial}".strip(), {}))
        sides[f"all of {entry.run}"] = entry
    rows = datasets(shown_games(entries))["trials"]
    of_solvers = [
        (
            "" if own[0]["seed"] is None else f"seed {own[0]['seed']}",
            {row["side"]: entries[row["cell"]] for row in own},
        )
        for own in grouped(rows, lambda row: row["trial"]).values()
    ]
    return [*of_runs.values(), *of_solvers]


def scatter(trials: Sequence[Trial]) -> tuple[list[Chart], dict[str, Any]]:
    """A chart with a point for each trial of two sides, and the data of the page that it needs.

    It begins with the two that have most trials in common; without any there is no chart.
    """
    sides = dict.fromkeys(side for _, own in trials for side in own)
    timed = [[s for s in sides if s in own and own[s].record.elapsed_s] for _, own in trials]
    common = Counter(pair for own in timed for pair in combinations(own, 2))
    if not common:
        return [], {}
    spec = specification("pairs", [*sides])
    spec["usermeta"] |= {"title": "Side by side", "caption": TEXTS["points"]}
    first, second = max(common, key=lambda pair: common[pair])
    begin = {"first": first, "second": second, "measure": "elapsed_s"}
    for param in spec["params"]:
        param["value"] = begin.get(param["name"], param["value"])
    entries = [*{id(entry): entry for _, own in trials for entry in own.values()}.values()]
    cells = datasets(shown_games(entries))["cells"]
    row_of = {id(entry): row for entry, row in zip(entries, cells, strict=True)}
    rows = [
        {"trial": number, "seed": name, "side": side}
        | {column: row_of[id(entry)][column] for column in ("game", "cell")}
        for number, (name, own) in enumerate(trials)
        for side, entry in own.items()
    ]
    return [Chart("pairs", spec)], {"datasets": {"cells": cells, "trials": rows}}
