"""Entries of reports: their order, names, and notes on them."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from eqbench.errors import first_of
from eqbench.report import read_data
from eqbench.report.trials import TRIAL, Entry, Trials, grouped, processors, several
from eqbench.spec import is_foreign
from eqbench.text import printable, shortened

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

    Rows of which the same is to be said are named together.
    """
    targets = sorted({entry.record.target for entry in entries if entry.record.target})
    notes = [f"target: max regret {' or '.join(f'{target:.1e}' for target in targets)}"]
    said = [(head, tail, entry) for entry in arranged(entries) for head, tail in _remarks(entry)]
    label = row_labels(entries)
    for head, own in grouped(said, lambda remark: remark[0]).items():
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
