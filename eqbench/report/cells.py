"""Reports on runs: the tables of their cells, with all that is noted below them; CSV of both.

A cell of the printed table is made here: `report_on` collects the tables, `cell_table` has a column
for each entry of ``columns.toml``, and `_row` the values of a record, which `rows.py` formats.
"""

from __future__ import annotations

import json
import math
import shlex
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.documents import convert
from eqbench.errors import UsageError
from eqbench.report import naming, read_data, trials
from eqbench.report.answer import MOST_GAMES, answer, overview
from eqbench.report.matrix import WORDS, check_table, matrix
from eqbench.report.played import MOST_ROWS, played_table
from eqbench.report.recall import recall_table
from eqbench.report.rows import EXACT_ZERO, FORMATS, RUN, SOLVER, Cell, Column, Report, Row, Table
from eqbench.report.trials import RunCell, Trials
from eqbench.requests import FLAG, Choice, Option, Words
from eqbench.store.results import data_frame, result_columns, result_rows
from eqbench.store.stored_run import StoredRun
from eqbench.text import csv_text, grouped, printable, seconds, shortened
from eqbench.verification import BY_PRODUCTS

if TYPE_CHECKING:
    import pandas as pd

ABSENT = {status: facts["absent"] for status, facts in trials.STATUSES.items() if "absent" in facts}
ALARMING = frozenset(status for status, facts in trials.STATUSES.items() if facts["tone"] == "bad")
_BUDGETS = ("limit", "timeout", "memory")
MOST_REASONS = 24  # of a status in a note
# of a game, with a row each of several seeds: where people read along, and elsewhere
FEW_CELLS, MOST_CELLS = 24, 500
MOST_PLAYED = 30  # games of a run that have tables of what is played
PLAYED_LINES = 240  # of all these tables together
LONG = (
    "medians of {:,} cells; k/n: k of n cells; eqbench report RUN --table cells has a row for "
    "each, --summary more statistics"
)
SORTS = ("status", "regret", "time", "solver", "given")
COLUMNS = read_data("columns")
CELLS = convert(COLUMNS["cells"], dict[str, Column])
SUMMARY = convert(COLUMNS["summary"], dict[str, Column])
_NAMES = tuple(sorted(CELLS))
LEAST_CELLS = 4  # that have quartiles in a table
VIRTUAL_BEST = "virtual best"


@dataclass(frozen=True, kw_only=True)
class View:
    """Which rows and columns of cells are shown, and in which order."""

    sort: Annotated[
        str,
        Option(
            "Order of the solvers: by status and then max regret, or by one of the others; given "
            "is the order of the request.",
            Choice(words=SORTS),
        ),
    ] = "status"
    columns: Annotated[
        tuple[str, ...],
        Option(
            f"Show just these columns, separated by commas: {', '.join(_NAMES)}.",
            Words("NAMES", "column", _NAMES),
        ),
    ] = ()
    summary: Annotated[
        bool,
        Option("One row per solver over all seeds: statistics of max regret and times.", FLAG),
    ] = False
    table: Annotated[
        str | None,
        Option(
            "cells: one row per cell, however many there are; otherwise a game with more than 24 "
            "cells of several seeds has one row per solver, with medians. matrix: one table of all "
            "games and solvers, as for a paper: times to the target, regrets, or equilibria found.",
            Choice(words=WORDS),
        ),
    ] = None

    def __post_init__(self) -> None:
        chosen = {"columns": self.columns, "summary": self.summary, "sort": self.sort != "status"}
        check_table(self.table, others=[name for name, value in chosen.items() if value])
        if self.summary and self.columns:
            raise UsageError("a summary has columns of its own; leave out summary or columns")

    @property
    def summarize(self) -> bool | None:
        """True for summaries; None for those of games with many cells of several seeds alone."""
        return self.summary or (False if self.table == "cells" or self.columns else None)

    @property
    def is_matrix(self) -> bool:
        """Whether it is one table of games and solvers."""
        return self.table not in (None, "cells")


DEFAULT = View()


def report_on(
    runs: Sequence[StoredRun],
    view: View = DEFAULT,
    *,
    summarize: bool | None = False,
    few: int = FEW_CELLS,
    entries: Sequence[RunCell] = (),
) -> Report:
    """Answer and tables about one or several runs, with notes on what is missing or damaged.

    With `summarize` there are statistics of each game and solver instead of a row per cell, all
    tables of equilibria, and recall over games; with None games with more than `few` cells of
    several seeds have medians. The `entries` of the runs may be known, with what was read for
    them. A matrix stands alone, with what is missing.
    """
    entries = entries or trials.entries_of(runs)
    tables = [matrix(runs, entries, view.table or "")] if view.is_matrix else []
    games = trials.titled(entries) if not view.is_matrix else []
    for title, group in games:
        finished = [entry for entry in group if entry.record.status != "interrupted"]
        is_long = summarize is None and len(group) > max(few, len(trials.by_solver(group)))
        if finished and summarize:
            table = summary(finished, view)
        else:
            cells = trials.arranged(trials.began(group), view.sort)
            table = cell_table(cells, view, medians=is_long)
            table = replace(table, lines=(LONG.format(len(cells)),) * is_long)
        found = naming.equilibria_tables(title, group, always=bool(summarize))
        items = naming.equilibria(group)
        words = () if found else (*naming.explained(items), *naming.meanings(items))
        lines = (*trials.described(group[0]), *table.lines)
        remarks = (*table.notes, *words, *cell_notes(group))
        tables.append(replace(table, title=title, notes=remarks, lines=lines))
        tables += found
        if len(games) <= MOST_PLAYED and not summarize:
            most = min(MOST_ROWS, PLAYED_LINES // len(games))
            tables += filter(None, [played_table(items, most)])
    if len(games) > MOST_GAMES and not summarize:
        key, lines = CELLS["status"].key, tuple(overview(games))
        tables.insert(0, Table("All games", lines=lines, notes=key, topic=naming.FOUND))
    tables += recall_table(entries) if summarize else []
    notes: list[str] = []
    for run in runs:
        if run.missing:
            again = f"eqbench run --resume {shlex.quote(str(run.path))} continues"
            notes.append(f"{run.missing} of {run.planned} cells have not finished: {again}")
        if run.outdated:
            why = f"{run.path} was resumed with another plan"
            notes.append(f"{run.outdated} stored cells are not shown: {why}")
        notes += run.notes
    known = () if view.is_matrix else answer(entries, sum(run.planned for run in runs))
    return Report(tuple(tables), notes=tuple(notes), answer=known)


def cell_table(entries: Sequence[RunCell], view: View = DEFAULT, *, medians: bool = False) -> Table:
    """Table of the cells of a game without title and notes; of many cells `medians` by solver."""
    columns = [RUN] * trials.several("run", entries) + [SOLVER]
    trial = [name for name in trials.TRIAL if not medians and trials.several(name, entries)]
    columns += [Column(name, "count", identifies=True) for name in trial]
    label_of = trials.row_labels(entries)
    groups = (
        [own.entries for own in trials.by_solver(entries)]
        if medians
        else [[each] for each in entries]
    )
    rows = tuple(
        _middle(Trials(own)) if len(own) > 1 else _row(own[0], label_of[own[0]]) for own in groups
    )
    known = {column for row in rows for column, value in row.values.items() if value is not None}
    named = (row.values[CELLS["equilibrium"].title] for row in rows)
    read = " ".join if medians else FORMATS["found"]  # of several the best has the figures
    found = [read(names) for names in named if names]
    texts = (
        naming.verdict_texts(each.record.equilibria[0])
        for each in entries
        if each.record.equilibria
    )
    others = sorted({name for own in texts for name in own} - CELLS.keys())
    verdicts = {name: Column(name, "verdict", dispensable=4) for name in others}
    for name, column in (CELLS | verdicts).items():
        own_key = naming.marks_of(entries, found) if name == "equilibrium" else ()
        if name in ("payoffs", "credible"):
            written = (row.cell(column).text.partition(",")[0] for row in rows)
            own_key = naming.marks(written, "verdicts")
        column = replace(column, key=(*column.key, *own_key))
        if name in view.columns:
            columns.append(replace(column, dispensable=0))
        elif not view.columns:
            shown = COLUMNS["cells"].get(name, {}).get("shown", "always")
            if shown == "always" or (shown == "where known" and column.title in known):
                columns.append(column)
    return Table("", tuple(columns), rows)


def _row(entry: RunCell, name: str) -> Row:
    record = entry.record
    claim = record.equilibria[0].claim if record.equilibria else ""
    verdicts = naming.verdict_texts(record.equilibria[0]) if record.equilibria else {}
    is_zero = entry.is_proved and record.max_regret == 0
    members = [item for own in naming.found(record).values() for item in naming.handed_over(own)]
    # what is not just a field of the record, by the names of columns
    made: dict[str, Any] = {
        "status": replace(CELLS["status"].cell(record.status), hint=printable(record.reason)),
        "max_regret": EXACT_ZERO if is_zero else record.max_regret,
        "equilibrium": naming.label(record) or None,
        "found_of": naming.found_of(record) or None,
        "payoffs": naming.payoff_ranges(members) if len(members) > 1 else record.payoffs,
        "credible": naming.credible_range(members)
        if len(members) > 1
        else verdicts.get("credible"),
        "profile": COLUMNS["claims"].get(claim, claim) or None,
        "iterations": record.iterations or None,  # 0 is reported by methods that count none
        "memory": record.peak_memory_bytes if trials.began([entry]) else None,
        "time_to_target": time if (time := entry.time_to()) < math.inf else None,
    }
    values: dict[str, Any] = {**verdicts, "run": entry.run}
    values |= {column: getattr(record, column) for column in ("solver", *trials.TRIAL)}
    for column, facts in COLUMNS["cells"].items():
        own = getattr(record, facts.get("field", column), None)
        values[facts["title"]] = made.get(column, own)
    return Row(name, values)


def _middle(own: Trials) -> Row:
    """Medians of the cells of a solver, how many ended how, and how many found what."""
    first, records = own.entries[0], [entry.record for entry in own.entries]
    statuses = Counter(record.status for record in records).most_common()
    names = Counter(name for record in records for name in naming.found(record)).most_common()
    best = [record.equilibria[0] for record in records if record.equilibria]
    claims, payoffs = {each.claim for each in best}, [each.payoffs for each in best]
    claim = claims.pop() if len(claims) == 1 else ""
    is_same = all(max(own) - min(own) <= naming.SAME_PAYOFF for own in zip(*payoffs, strict=False))
    tones = {trials.STATUSES[status]["tone"] for status, _ in statuses}
    tone = "bad" if "bad" in tones else "fair" if len(tones) > 1 else tones.pop()
    made: dict[str, Any] = {
        "status": Cell(", ".join(f"{n} {status}" for status, n in statuses), kind=tone),
        "equilibrium": [f"{name} {n}/{len(records)}" for name, n in names] or None,
        "payoffs": payoffs[0] if payoffs and is_same else None,
        "profile": COLUMNS["claims"].get(claim, claim) or None,
        "time_to_target": own.time_to(),
        "found_of": naming.found_of(*records) or None,
        "credible": None,
    }
    values: dict[str, Any] = {"run": first.run, "solver": first.record.solver}
    for column, facts in COLUMNS["cells"].items():
        if column not in made:
            figures = own.figures(facts.get("field", column))
            middle = statistics.median(figures) if figures else None
            made[column] = int(middle) if middle and facts["kind"] == "count" else middle
        values[facts["title"]] = made[column]
    return Row(own.solver, values)


def cell_notes(entries: Sequence[RunCell]) -> list[str]:
    """Target, reasons of what is not ok, bounds, what is proved, who takes no part.

    Rows with the same remark are named together.
    """
    targets = sorted({entry.record.target for entry in entries if entry.record.target})
    notes = [f"target: max regret {' or '.join(f'{target:.1e}' for target in targets)}"]
    if tolerances := sorted({e.record.tolerance for e in entries if e.record.tolerance}):
        numbers = " or ".join(f"{tolerance:.1e}" for tolerance in tolerances)
        notes[0] += f"; equilibria are named up to a max regret of {numbers}"
    remarks = [
        (head, tail, entry) for entry in trials.arranged(entries) for head, tail in _remarks(entry)
    ]
    label = trials.row_labels(entries)
    for head, own in grouped(remarks, lambda remark: remark[0]).items():
        groups = grouped(own, lambda remark: remark[1])
        most = [*groups.items()][:MOST_REASONS]
        parts = [trials.labels([e for *_, e in same], label) + tail for tail, same in most]
        if head in _BUDGETS and len(groups) == 1 and own[0][1]:  # the table says of whom
            parts = [own[0][1].removeprefix(" – ")]
        parts += [f"and {more:,} more reasons" for more in [len(groups) - len(most)] if more]
        notes.append(": ".join(filter(None, (head, "; ".join(parts)))))
    clauses = {clause for e in entries for clause in e.record.reason.split("; ")}
    notes += sorted(clause for clause in clauses if clause.startswith(BY_PRODUCTS))
    notes += trials.mixed_processors(entries)
    return [printable(note) for note in notes[not targets :]]


def _remarks(entry: RunCell) -> Iterator[tuple[str, str]]:
    """Remarks on a row, each in two parts: before the name of the row, and after."""
    record = entry.record
    clause = shortened(printable(record.reason.partition(";")[0].strip()))
    if record.status in ABSENT:
        why = clause.removeprefix(f"{record.solver.partition('(')[0]} ")
        yield ABSENT[record.status], f" ({why})" if why else ""
    elif record.status in ALARMING:  # nothing that such a cell found is to be trusted
        log = f" (see {entry.run and f'{entry.run}/'}{record.log})" if record.log else ""
        why = shortened(printable(record.reason))
        yield record.status, (f" – {why}" if why else "") + log
    else:
        if record.status != "ok":
            yield record.status, f" – {clause}" if clause else ""
        if entry.is_at_start:
            yield trials.AT_START, ""
        if sign := {"max": "<=", "min": ">="}.get(str(record.statistics.get("sense"))):
            figures = (record.statistics.get(name) for name in ("objective", "bound"))
            # infinity is a text
            best, bound = (f"{n:z.6g}" if isinstance(n, int | float) else "" for n in figures)
            proved = f"proved to solver tolerance: all are {sign} {bound}"
            yield "", f": best {best or 'none'}, {proved if bound else 'no bound is proved'}"
        if record.statistics.get("kernels") == "plain Python":
            yield "kernels in plain Python", " (faster as machine code: eqbench warm-up)"
        exact = record.statistics.get("exact")
        if isinstance(exact, str) and exact != "found":
            yield "exact", f" – {shortened(printable(exact))}"
        claims = {item.claim for item in record.equilibria[:1]}
        if record.status == "ok" and "complete list" in claims:
            yield "complete list", f" – {clause}" if clause else ""
        if entry.is_proved:
            yield "max regret exactly 0, in rational arithmetic", ""


def summary(entries: Sequence[RunCell], view: View = DEFAULT) -> Table:
    """Table of a game with one row for each solver, and one for the best of them in each trial."""
    ran, rows = trials.began(entries), []
    for name, own, figures in _statistics(ran, view.sort):
        is_best = name == VIRTUAL_BEST
        found = "" if is_best else naming.found_of(*(entry.record for entry in own))
        values = {"run": None if is_best else own[0].run, "found of": found or None}
        values["solver"] = name if is_best else own[0].record.solver
        rows.append(Row(name, values | _shown(figures, own)))
    columns = [RUN] * trials.several("run", entries) + [SOLVER, *SUMMARY.values()]
    kept = (c for c in columns if any(row.values.get(c.title) is not None for row in rows))
    limits = sorted({entry.limit_s for entry in ran if entry.source})
    timeout = f"timeout of a cell: {' or '.join(f'{limit:g} s' for limit in limits)}"
    return Table("", tuple(kept), tuple(rows), (timeout,))


def _statistics(
    entries: Sequence[RunCell], order: str = "given"
) -> Iterator[tuple[str, Sequence[RunCell], dict[str, Any]]]:
    """Yield solvers with cells and statistics, last the virtual best one, by names of CSV."""
    ran = trials.began(entries)
    best = trials.virtual_best(ran)
    for own in trials.by_solver(entries, order):
        wins = best[0][own.solver] if best else None
        yield own.solver, own.entries, own.statistics | {"fastest": wins}
    if best:
        yield VIRTUAL_BEST, ran, best[1]


def _shown(figures: Mapping[str, Any], entries: Sequence[RunCell]) -> dict[str, Any]:
    """Statistics as tables have them: few cells have no quartiles, and infinity is a limit."""
    limits = [entry.limit_s for entry in entries if entry.source]
    beyond = f"> {seconds(min(limits, default=0.0))}"
    low, high = figures["interval_low_s"], figures["interval_high_s"]
    ends = [beyond if end == math.inf else seconds(end) for end in (low, high) if end is not None]
    shown = {
        SUMMARY[name].title: Cell(beyond, None) if value == math.inf else value
        for name, value in figures.items()
        if name in SUMMARY and (figures["cells"] >= LEAST_CELLS or "quartile" not in name)
    }
    return shown | {SUMMARY["interval"].title: " – ".join(dict.fromkeys(ends)) or None}


# -- for other programs ----------------------------------------------------------------------------


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
            for name, own, figures in _statistics(game):
                is_best, cell = name == VIRTUAL_BEST, own[0].record
                row: dict[str, Any] = {"run": str(run.path), "game": cell.game}
                row["game_spec"] = cell.game_spec
                row |= {"solver": name, "solver_spec": "" if is_best else cell.solver_spec}
                row |= {key: None if each == math.inf else each for key, each in figures.items()}
                row["processors"] = len(trials.processors(game if is_best else own))
                rows.append(row | {"equilibria": {} if is_best else naming.counts(own)})
    return rows


SUMMARY_COLUMNS = (
    *("run", "game", "solver", "game_spec", "solver_spec", *Trials(()).statistics),
    *("processors", "equilibria"),
)


def _csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    lines = ([*map(row.get, columns)] for row in rows)
    return csv_text([columns, *lines], end="\r\n")  # as the RFC has the ends of lines
