"""Pages that hold runs or solvers against each other: a comparison, and the index of a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from eqbench.errors import counted
from eqbench.report.answer import answer
from eqbench.report.charts import (
    Trial,
    datasets,
    drawable,
    shown_games,
    solver_trials,
    specification,
)
from eqbench.report.comparison import TEXTS, Comparison, some
from eqbench.report.entries import Entry, Trials, several
from eqbench.report.exports import entries_of
from eqbench.report.html.document import Block, Chart, Prose, Table, document, page_table
from eqbench.report.rows import Cell, Report
from eqbench.report.view import INDEX
from eqbench.store.stored_run import StoredRun
from eqbench.text import printable


def comparison_page(comparison: Comparison, report: Report) -> str:
    """Page with a point for each trial of a comparison, and its tables."""
    runs = {"base": comparison.base} | ({} if comparison.solvers else {"new": comparison.new})
    sides = comparison.solvers or tuple(
        f"{side}: {printable(run.path.absolute().name)}" for side, run in runs.items()
    )
    trials: list[Trial] = []
    for old, new in comparison.overall.trials:
        solver = "" if comparison.solvers else new.solver
        name = f"{solver} {new.trial or old.trial}".strip()
        cells = Entry("base", old, comparison.base), Entry("new", new, comparison.new)
        trials.append((name, dict(zip(sides, cells, strict=True))))
    tables = [page_table(table, f"comparison-{k}") for k, table in enumerate(report.tables, 1)]
    notes = [note for note in (report.legend, *report.notes) if note]
    charts, data = scatter(trials)
    metrics: list[Block] = [*reversed(tables), Prose(notes, small=True)]
    parts: dict[str, Sequence[Block]] = {"Trial by trial": charts, "Metrics": metrics}
    return document(" and ".join(sides), parts, lead=report.answer, data=data)


def index_page(runs: Mapping[str, StoredRun]) -> str:
    """Page about runs by the links to their pages, with a scatter of any two, or two solvers."""
    rows = [_row(link, run) for link, run in runs.items()]
    table = Table("index", INDEX, rows, TEXTS["index"], wrapped=True)
    charts, data = scatter(_trials(entries_of(list(runs.values()))))
    parts: dict[str, Sequence[Block]] = {"Runs": [table], "Two runs or solvers compared": charts}
    return document(counted(len(runs), "run"), parts, data=data)


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
        some(dict.fromkeys(cell.game for cell in run.cells)),
        some(dict.fromkeys(cell.solver for cell in run.cells)),
        str(run.plan.get("created") or "").replace("T", " ").partition("+")[0],
    ]


def _trials(entries: Sequence[Entry]) -> list[Trial]:
    """Trials of whole runs, and of solvers, each by its name and that of its run."""
    of_runs: dict[Any, tuple[str, dict[str, Entry]]] = {}
    for entry in entries if several("run", entries) else ():
        cell = entry.record
        key = cell.game_spec, cell.solver_spec, cell.seed, cell.repeat
        _, sides = of_runs.setdefault(key, (f"{cell.solver} {cell.trial}".strip(), {}))
        sides[f"all of {entry.run}"] = entry
    games = shown_games(entries)
    return [*of_runs.values(), *(trial for game in games for trial in solver_trials(game))]


def scatter(trials: Sequence[Trial]) -> tuple[list[Chart], dict[str, Any]]:
    """A chart with a point for each trial of two sides, and the data of the page that it needs.

    Without two sides that have a trial in common there is no chart.
    """
    entries = dict.fromkeys(entry for _, own in trials for entry in own.values())
    data = datasets(shown_games([*entries]), trials)
    spec = specification("pairs", data, measure="elapsed_s")
    spec["usermeta"] |= {"title": "Side by side", "caption": TEXTS["points"]}
    charts = [Chart("pairs", spec)] if drawable(spec, data) else []
    return charts, {"datasets": {name: data[name] for name in ("cells", "trials")}}
