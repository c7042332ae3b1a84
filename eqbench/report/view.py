"""Cells of runs for people: their order and names, notes on them, and tables of them.

Also which equilibria they found, and who found which.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Annotated, Any

from eqbench.documents import convert
from eqbench.errors import counted, first_of
from eqbench.report import read_data
from eqbench.report.naming import (
    NEAR,
    handed_over,
    is_cluster,
    label,
    marks,
    order,
    spread,
    verdict_texts,
)
from eqbench.report.naming import found as found_by_name
from eqbench.report.rows import EXACT_ZERO, FORMATS, RUN, SOLVER, Cell, Column, Row, Table
from eqbench.report.trials import (
    INTERVAL,
    TRIAL,
    Entry,
    Trials,
    began,
    grouped,
    processors,
    several,
    virtual_best,
)
from eqbench.requests import FLAG, Choice, Option, Words
from eqbench.spec import is_foreign
from eqbench.store.schema import EquilibriumRecord
from eqbench.text import printable, seconds, shortened

STATUSES = read_data("statuses")
_RANKS = {status: rank for rank, status in enumerate(STATUSES)}
ABSENT = {status: facts["absent"] for status, facts in STATUSES.items() if "absent" in facts}
ALARMING = frozenset(status for status, facts in STATUSES.items() if facts["tone"] == "bad")
_BUDGETS = ("limit", "timeout", "memory")
NEGLIGIBLE = 1e-13  # of a regret: what rounding leaves says nothing about the order
MOST_REASONS = 24  # of a status in a note


def trials(entries: Iterable[Entry], order: str = "given") -> list[Trials]:
    """Entries by solver and run, in an order that :class:`~eqbench.report.view.View` offers."""

    def middle(own: Trials, name: str) -> float:
        return max(statistics.median(own.figures(name) or [math.inf]), NEGLIGIBLE)

    def place(own: Trials) -> Any:
        if order == "status":
            worst = max(_RANKS[entry.record.status] for entry in own.entries)
            return worst, middle(own, "max_regret")
        names = {"regret": "max_regret", "time": "elapsed_s"}
        return middle(own, names[order]) if order in names else own.entries[0].record.solver

    groups = grouped(entries, lambda entry: (entry.run, entry.record.solver)).values()
    return [*map(Trials, groups)] if order == "given" else sorted(map(Trials, groups), key=place)


def arranged(entries: Iterable[Entry], order: str = "status") -> list[Entry]:
    """Entries in the order of the solvers, whose cells stay together; equals as they were given."""
    return [entry for own in trials(entries, order) for entry in own.entries]


def game_title(typed: str, spec: str) -> str:
    """A game as typed and in canonical form; of a foreign game the latter only."""
    return spec if typed == spec or is_foreign(spec) else f"{typed} = {spec}"


def titled(entries: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    """Entries of each game with its title, in the order in which the games first occur.

    Games are the same if their contents are; equal titles say to which runs they belong, and what
    their contents are where that leaves them equal.
    """
    groups = [*grouped(entries, lambda entry: entry.record.game_identity).values()]
    titles = [game_title(group[0].record.game, group[0].record.game_spec) for group in groups]
    runs = [", ".join(filter(None, dict.fromkeys(e.run for e in group))) for group in groups]
    contents = [f"content {group[0].record.game_content[:8]}" for group in groups]
    for more in (runs, contents):
        often = Counter(titles)
        known = zip(titles, more, strict=True)
        titles = [t + f" (in {own})" * (often[t] > 1 and bool(own)) for t, own in known]
    return list(zip(titles, groups, strict=True))


def named(entries: Iterable[Entry]) -> list[tuple[str, list[Entry]]]:
    """Entries of each game with its name as typed, or its title where several are typed alike."""
    groups = [(own[0].record.game, title, own) for title, own in titled(entries)]
    times = Counter(typed for typed, *_ in groups)
    return [(typed if times[typed] == 1 else title, own) for typed, title, own in groups]


def row_labels(entries: Sequence[Entry]) -> Callable[[Entry], str]:
    """Labels of rows: the solver, with its seed, repeat and run where they tell rows apart."""
    has_trials, has_runs = any(several(name, entries) for name in TRIAL), several("run", entries)

    def label(entry: Entry) -> str:
        trial = entry.record.trial if has_trials else ""
        more = ", ".join(filter(None, (trial, entry.run if has_runs else "")))
        return entry.record.solver + (f" ({more})" if more else "")

    return label


def labels(sharing: Iterable[Entry], label: Callable[[Entry], str]) -> str:
    """Labels of some rows; those of a solver share one, which says how many there are."""
    return ", ".join(
        label(first) if not others else f"{first.solver} ×{1 + len(others)}"
        for first, *others in (own.entries for own in trials(sharing))
    )


def cell_notes(entries: Sequence[Entry]) -> list[str]:
    """Target, reasons of what is not ok, bounds, what is proved, who takes no part.

    Rows with the same remark are named together.
    """
    targets = sorted({entry.record.target for entry in entries if entry.record.target})
    notes = [f"target: max regret {' or '.join(f'{target:.1e}' for target in targets)}"]
    remarks = [(head, tail, entry) for entry in arranged(entries) for head, tail in _remarks(entry)]
    label = row_labels(entries)
    for head, own in grouped(remarks, lambda remark: remark[0]).items():
        groups = grouped(own, lambda remark: remark[1])
        most = [*groups.items()][:MOST_REASONS]
        parts = [labels([e for *_, e in same], label) + tail for tail, same in most]
        if head in _BUDGETS and len(groups) == 1 and own[0][1]:  # the table says of whom
            parts = [own[0][1].removeprefix(" – ")]
        parts += [f"and {more:,} more reasons" for more in [len(groups) - len(most)] if more]
        notes.append(": ".join(filter(None, (head, "; ".join(parts)))))
    if len(found := processors(entries)) > 1:
        notes.append(f"times are of different processors: {first_of(found)}")
    return [printable(note) for note in notes[not targets :]]


def _remarks(entry: Entry) -> Iterator[tuple[str, str]]:
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
        if sign := {"max": "<=", "min": ">="}.get(str(record.statistics.get("sense"))):
            figures = (record.statistics.get(name) for name in ("objective", "bound"))
            # infinity is a text
            best, bound = (f"{n:z.6g}" if isinstance(n, int | float) else "" for n in figures)
            proved = f"proved to solver tolerance: all are {sign} {bound}"
            yield "", f": best {best or 'none'}, {proved if bound else 'no bound is proved'}"
        exact = record.statistics.get("exact")
        if isinstance(exact, str) and exact != "found":
            yield "exact", f" – {shortened(printable(exact))}"
        if entry.is_proved:
            yield "max regret exactly 0, in rational arithmetic", ""


SORTS = ("status", "regret", "time", "solver", "given")
COLUMNS = read_data("columns")
CELLS = convert(COLUMNS["cells"], dict[str, Column])
SUMMARY, EQUILIBRIA, INDEX = (
    convert(COLUMNS[name], tuple[Column, ...]) for name in ("summary", "equilibria", "index")
)
_NAMES = tuple(sorted(CELLS))
LEAST_CELLS = 4  # that have quartiles in a table
VIRTUAL_BEST = "virtual best"
_GAME = Column("game", identifies=True)


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
    show_all: Annotated[
        bool,
        Option(
            "One row per cell, however many there are. A game with more than 500 cells has a "
            "summary otherwise, in the terminal with more than 24 of several seeds.",
            FLAG,
            "all",
        ),
    ] = False

    @property
    def summarize(self) -> bool | None:
        """True for summaries; None for those of games with many cells of several seeds alone."""
        return self.summary or (False if self.show_all or self.columns else None)


DEFAULT = View()


def cell_table(entries: Sequence[Entry], view: View = DEFAULT, *, with_game: bool = True) -> Table:
    """Table of cells without title and notes, as a rule with a column for the game as typed."""
    columns = [RUN] * several("run", entries) + [SOLVER] + [_GAME] * with_game
    columns += [Column(name, "count", identifies=True) for name in TRIAL if several(name, entries)]
    label_of = row_labels(entries)
    rows = tuple(_row(entry, label_of(entry)) for entry in entries)
    absent = {name for name in COLUMNS["rare"] if all(row.values[name] is None for row in rows)}
    found = [FORMATS["found"](names) for entry in entries if (names := label(entry.record))]
    texts = (verdict_texts(each.record.equilibria[0]) for each in entries if each.record.equilibria)
    others = sorted({name for own in texts for name in own} - CELLS.keys())
    verdicts = {name: Column(name, "verdict", dispensable=4) for name in others}
    for name, column in (CELLS | verdicts).items():
        if name == "equilibrium":
            column = replace(column, notes=marks(found))
        if name in view.columns:
            columns.append(replace(column, dispensable=0))
        elif not (view.columns or name in COLUMNS["hidden"] or name in absent):
            columns.append(column)
    return Table("", tuple(columns), rows)


def summary(entries: Sequence[Entry], view: View = DEFAULT) -> Table:
    """Table of a game with one row for each solver, and one for the best of them in each trial."""
    ran = began(entries)
    solvers, best = trials(ran, view.sort), virtual_best(ran)
    rows = [
        Row(own.solver, _summary_values(own) | {"fastest": best.wins[own.solver] if best else None})
        for own in solvers
    ]
    limits = sorted({entry.limit_s for entry in ran if entry.source})
    if best:
        values = {"solver": VIRTUAL_BEST, **_shown(best.statistics, best.cells, limits)}
        rows.append(Row(VIRTUAL_BEST, values))
    columns = [RUN] * several("run", entries) + [SOLVER, *SUMMARY]
    kept = (c for c in columns if any(row.values.get(c.title) is not None for row in rows))
    timeout = f"timeout of a cell: {' or '.join(f'{limit:g} s' for limit in limits)}"
    return Table("", tuple(kept), tuple(rows), (timeout,))


def _summary_values(own: Trials) -> dict[str, Any]:
    first, limits = own.entries[0], [entry.limit_s for entry in own.entries]
    shown = _shown(own.statistics, len(own.entries), limits)
    return {"run": first.run, "solver": first.record.solver, **shown}


def _shown(figures: Mapping[str, Any], cells: int, limits: Sequence[float]) -> dict[str, Any]:
    """Statistics as tables have them: few cells have no quartiles, and infinity is a limit."""
    beyond = Cell(f"> {seconds(min(limits, default=0.0))}", None)
    shown = {
        title: beyond if value == math.inf else value
        for title, value in figures.items()
        if cells >= LEAST_CELLS or "quartile" not in title
    }
    if ends := figures[INTERVAL]:
        low, high = (beyond.text if end == math.inf else seconds(end) for end in ends)
        shown[INTERVAL] = low if low == high else f"{low} – {high}"
    return shown


def _row(entry: Entry, name: str) -> Row:
    record, fields = entry.record, COLUMNS["fields"]
    claim = record.equilibria[0].claim if record.equilibria else ""
    known = {c.title: getattr(record, fields.get(name, name), None) for name, c in CELLS.items()}
    known |= {name: getattr(record, name) for name in ("solver", "game", *TRIAL)}
    verdicts = verdict_texts(record.equilibria[0]) if record.equilibria else {}
    values = (
        verdicts
        | known
        | {
            "run": entry.run,
            "status": replace(CELLS["status"].cell(record.status), hint=printable(record.reason)),
            "equilibrium": label(record) or None,
            "credible": verdicts.get("credible"),
            "profile": COLUMNS["claims"].get(claim, claim) or None,
            "iterations": record.iterations or None,  # a method that counts none says 0
            "memory": record.peak_memory_bytes if began([entry]) else None,
        }
    )
    if entry.is_proved and record.max_regret == 0:
        values["max regret"] = EXACT_ZERO
    return Row(name, values)


MOST_CLUSTERS = 12
SAME_PAYOFF = 1e-5  # less is not seen in tables
_OFTEN = {" ×": read_data("profile")["marks"]["×"], "/": "k/n: by k of n cells"}


@dataclass(frozen=True, eq=False)
class Found:
    """An equilibrium and the cells that found it, or came near it, with their candidates.

    `title` names its run too where clusters of several runs have to be distinguished.
    """

    name: str
    title: str
    is_near: bool
    cells: list[tuple[Entry, Sequence[EquilibriumRecord]]]

    @property
    def is_cluster(self) -> bool:
        return is_cluster(self.name)

    @cached_property
    def members(self) -> list[EquilibriumRecord]:
        """All candidates, the best first."""
        members = (item for _, own in self.cells for item in own)
        return sorted(members, key=lambda item: item.max_regret)

    @cached_property
    def where(self) -> str:
        """Place of the candidates in their family."""
        return spread(item.identity for item in self.members)

    def by(self, solver: str) -> list[Sequence[EquilibriumRecord]]:
        """Candidates of each cell of a solver."""
        return [own for entry, own in self.cells if entry.solver == solver]


def equilibria(entries: Sequence[Entry]) -> list[Found]:
    """Equilibria that the cells of a game found, and those that they only came near.

    Clusters stand in the order of how many cells found them. A candidate is near an equilibrium
    if it is the best of a cell none of whose candidates is on the path of any.
    """
    known: dict[str, Found] = {}
    several_runs = several("run", entries)
    for entry in entries:
        found = found_by_name(entry.record)
        near = [(i.identity["name"], [i]) for i in entry.record.equilibria if i.identity][:1]
        for name, own in found.items() or near:
            # clusters are numbered within a run; those of several runs are different ones
            run = f" ({entry.run})" if several_runs and is_cluster(name) else ""
            title = f"{name}{run}" if found else f"{NEAR} {name}{run}"
            known.setdefault(title, Found(name, title, not found, [])).cells.append((entry, own))

    def place(item: Found) -> tuple[object, ...]:
        cells = -len(item.cells) if item.is_cluster else 0
        return item.is_near, item.is_cluster, cells, order(item.name)

    return sorted(known.values(), key=place)


def counts(entries: Iterable[Entry]) -> dict[str, int]:
    """Number of cells that found each equilibrium, in the order of the names."""
    names = (name for entry in entries for name in found_by_name(entry.record))
    return Counter(sorted(names, key=order))


def equilibria_tables(title: str, entries: Sequence[Entry], *, always: bool = False) -> list[Table]:
    """Table of who found which equilibrium of a game, if it says more than the rows of its cells.

    It does where there are several, one of which the name does not say everything (another
    one of the family, or a cluster), or several seeds, of which it says how often they found it.
    With `always` it stands also where all cells found one and the same.
    """
    known, game = equilibria(entries), entries[0].record
    on_path = [item for item in known if not item.is_near]
    tells = always or len(on_path) > 1 or several("seed", entries)
    if not known or not (tells or any(i.is_cluster or "…" in i.where for i in on_path)):
        return []
    entries = arranged(entries)
    solvers = trials(entries)
    clusters = [item for item in known if item.is_cluster]
    shown = _with_room(clusters, solvers)
    rows = tuple(_finders_row(i, solvers) for i in known if not i.is_cluster or i in shown)
    finders = " ".join(name for row in rows for name in row.values["found by"])
    often = tuple(text for mark, text in _OFTEN.items() if mark in finders)
    notes_of = {"equilibrium": marks(row.label for row in rows), "found by": often}
    columns = tuple(
        replace(column, notes=notes_of.get(column.title, column.notes))
        for column in EQUILIBRIA
        if any(row.values[column.title] is not None for row in rows)
    )
    notes = []
    if more := len(clusters) - len(shown):
        listed = "eqbench show RUN CELL --candidates lists all that a cell found"
        notes.append(f"{counted(more, 'more cluster')}; {listed}")
    named = [(entry, [i.identity for i in entry.record.equilibria]) for entry in entries]
    if unknown := [entry for entry, own in named if own and not any(own)]:
        notes.append(f"not identified: {labels(unknown, row_labels(entries))}")
    title = title if is_foreign(game.game_spec) else game.game
    return [Table(title, columns, rows, tuple(notes), topic="equilibria found")]


def _with_room(clusters: Sequence[Found], solvers: Sequence[Trials]) -> list[Found]:
    """Clusters for which a table has room: the best one of every solver, then its second best …"""
    ranked = sorted(clusters, key=lambda each: max(each.members[0].max_regret, NEGLIGIBLE))
    of_each = ([each for each in ranked if each.by(own.solver)] for own in solvers)
    in_turn = dict.fromkeys(each for turn in zip_longest(*of_each) for each in turn if each)
    return list(in_turn)[: max(MOST_CLUSTERS, len(solvers))]


def _finders_row(item: Found, solvers: Iterable[Trials]) -> Row:
    finders = []
    for trial in solvers:
        if own := item.by(trial.solver):
            number, cells = len(handed_over(own[0])), len(trial.entries)
            often = f" {len(own)}/{cells}" if cells > 1 else f" ×{number}" * (number > 1)
            finders.append(trial.solver + often)
    payoffs: list[float | str] = []
    for own_payoffs in zip(*(member.payoffs for member in item.members), strict=True):
        low, high = min(own_payoffs), max(own_payoffs)
        payoffs.append(low if high - low <= SAME_PAYOFF else f"{low:+z.5f}…{high:+z.5f}")
    values = {
        "equilibrium": item.title,
        "solvers": len(finders),
        "best regret": item.members[0].max_regret,
        "family": item.where or None,
        "payoffs": None if item.is_near else payoffs,  # no player's equilibrium
        "found by": finders,
    }
    return Row(item.title, values)
