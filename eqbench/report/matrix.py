"""Games × solvers in one table, as a paper prints it: times to the target, regrets, equilibria.

Solvers stand in the order of how many of the games that they take they solved. The longer side
goes down the page. What is no number has a mark, which the caption explains.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eqbench.errors import UsageError, counted
from eqbench.report import trials
from eqbench.report.naming import equilibria
from eqbench.report.rows import FORMATS, Cell, Column, Number, Row, Table
from eqbench.report.trials import RunCell, Trials
from eqbench.store.schema import NEVER_RAN
from eqbench.store.stored_run import StoredRun
from eqbench.text import csv_text

# What is measured: the kind of its numbers, its words, and what a dash stands for.
_MEASURES: dict[str, tuple[Number, str, str]] = {
    "time": ("ratio", "Seconds of solving until {target}", "missed it"),
    "regret": ("small", "Max regret at the end, in payoff units", "no profile"),
    "found": ("count", "Equilibria found: published sets and clusters", "none"),
}
WORDS = ("cells", "matrix", *(f"matrix:{what}" for what in _MEASURES))
MISSED, NOT_RUN, UNSUPPORTED, BROKEN = "–", "·", "n/a", "!"
_OTHERS = {
    NOT_RUN: "not run",
    UNSUPPORTED: "the solver does not take the game",
    BROKEN: "failed, crashed or refuted",
}
BEGAN_THERE = "°"  # after a time that is not compared
SOLVED, IN_ALL, BEST = "games solved", "in all", "best or tied"
_UNTRUSTED = ("crashed", "refuted")
_FACTS = (("", "processor", ""), ("", "cores", " cores"), ("eqbench ", "eqbench", ""))
_WIDE = 9  # characters of a heading, from which it may have two lines


def check_table(table: str | None, formats: Sequence[str] = (), others: Sequence[str] = ()) -> None:
    """Refuse what a matrix cannot serve: some formats, and other choices of rows and columns."""
    if table in (None, "cells"):
        return
    if others:
        words = f"has rows, columns and an order of its own; leave out {' and '.join(others)}"
        raise UsageError(f"table {table} {words}, or choose table cells")
    if without := [each for each in formats if each in ("html", "macros")]:
        words = "choose terminal, md, csv or tex, or leave the table out"
        raise UsageError(f"there is no table {table} in the format {without[0]}; {words}")


def matrix(runs: Sequence[StoredRun], entries: Sequence[RunCell], table: str = "matrix") -> Table:
    """Make the table of the measure that `table` has after a colon; of times if it has none."""
    what = table.partition(":")[2] or "time"
    if not (games := trials.named(entries)):
        return Table("")
    solvers = trials.standings([own for _, own in games])
    measured = [_measured(own, what) for _, own in games]
    rows = [[own.get(each.solver, Cell(NOT_RUN, None)) for each in solvers] for own in measured]
    columns = list(zip(*rows, strict=True))
    totals = {BEST: [Cell(f"{sum(cell.strong for cell in own):,}") for own in columns]}
    if what == "found":
        sums = (sum(int(c.value) for c in own if c.value) for own in columns)
        totals = {IN_ALL: [Cell(f"{number:,}") for number in sums]} | totals
    else:
        totals = {SOLVED: [Cell(f"{each.solved}/{each.taken}") for each in solvers]} | totals
    names, heads = [*(name for name, _ in games), *totals], [each.solver for each in solvers]
    body = [*rows, *totals.values()]
    if len(heads) > len(games):
        names, heads, body = heads, names, [list(own) for own in zip(*body, strict=True)]
    side = Column(identifies=True)
    titles = [Column(each, _MEASURES[what][0], stacked=_halves(each)) for each in heads]
    made = [Row.of([side, *titles], [name, *own]) for name, own in zip(names, body, strict=True)]
    medians = sum(map(len, measured)) < len(entries)
    targets = {entry.record.target or 0.0 for entry in trials.began(entries)}
    shown = {cell.text for own in rows for cell in own}
    lines = tuple(_caption(runs, what, shown, targets, medians=medians))
    return Table("", (side, *titles), tuple(made), lines=lines)


def matrix_csv(table: Table, name: str = "matrix") -> str:
    """Table as CSV, in which numbers have all their digits; its `name` heads the first column."""
    cells = ([row.cell(column) for column in table.columns] for row in table.rows)
    lines = [[c.text if c.value in ("", None) else c.value for c in own] for own in cells]
    return csv_text([[c.title or f"eqbench {name}" for c in table.columns], *lines], end="\r\n")


def _measured(entries: Sequence[RunCell], what: str) -> dict[str, Cell]:
    """Cell of each solver on a game; those that read like the best one stand out."""
    found = [item for item in equilibria(entries) if not item.is_near]
    values: dict[str, float | None] = {}
    marks: dict[str, str] = {}
    idle = set()
    for own in trials.by_solver(entries):
        statuses = {entry.record.status for entry in own.entries}
        sound = [entry for entry in own.entries if entry.record.status not in _UNTRUSTED]
        regrets = Trials(sound).figures("max_regret")
        values[own.solver] = {
            "time": own.time_to(),
            "regret": statistics.median(regrets) if regrets else None,
            "found": sum(bool(item.by(own.solver)) for item in found) or None,
        }[what]
        idle |= {own.solver} if what == "time" and own.is_at_start else set()
        is_broken = any(trials.STATUSES[status]["tone"] == "bad" for status in statuses)
        never_ran = NOT_RUN if statuses <= {*NEVER_RAN, "interrupted"} else ""
        mark = UNSUPPORTED if statuses == {"unsupported"} else never_ran
        marks[own.solver] = mark or (BROKEN if is_broken else MISSED)
    write = FORMATS[_MEASURES[what][0]]
    known = [
        max(v, trials.NEGLIGIBLE) for s, v in values.items() if v is not None and s not in idle
    ]
    best = write((max if what == "found" else min)(known)) if known else ""
    return {
        solver: Cell(marks[solver], None)
        if value is None
        else Cell(write(value) + BEGAN_THERE, value, mark=BEGAN_THERE)
        if solver in idle
        else Cell(write(value), value, strong=write(max(value, trials.NEGLIGIBLE)) == best)
        for solver, value in values.items()
    }


def _caption(
    runs: Sequence[StoredRun], what: str, shown: set[str], targets: set[float], *, medians: bool
) -> Iterator[str]:
    """Yield what is measured and what marks mean, the machine, and the limits of a cell."""
    requests = [run.plan["request"] for run in runs]
    target, *more = dict.fromkeys(request.get("target") for request in requests)
    limit = "1e-10 times the payoff range" if target is None else target
    reached = "the target was met" if more else f"a max regret of at most {limit} was measured"
    if not all(targets):
        reached = f"{reached}, or where there was no target until it ended ok" * any(targets)
        reached = reached or "they ended ok, without a target"
    words, dash = _MEASURES[what][1:]
    marks = [f"{mark} {text}" for mark, text in ({MISSED: dash} | _OTHERS).items() if mark in shown]
    if any(text.endswith(BEGAN_THERE) for text in shown):
        marks.append(f"{BEGAN_THERE} {trials.AT_START}, and not compared")
    median = ", median over seeds" * (medians and what != "found")
    yield f"{words.format(target=reached)}{median}; best in bold{'; '.join(['', *marks])}."
    hosts: list[Mapping[str, Any]] = [host for run in runs for host in run.hosts.values()]
    machines = hosts or [run.plan.get("environment") or {} for run in runs]
    facts = [", ".join(f"{a}{m[n]}{z}" for a, n, z in _FACTS if m.get(n)) for m in machines]
    yield f"Machine: {'; '.join(dict.fromkeys(facts)) or 'unknown'}."
    limits = []
    for run, request in zip(runs, requests, strict=True):
        memory, most = request.get("memory_bytes"), request.get("iterations")
        parts = [f"{run.timeout_s:g} s", f"{memory / 2**30:g} GiB" if memory else ""]
        parts += [counted(most, "iteration") if most else ""]
        limits.append(", ".join(filter(None, [*parts, counted(request.get("seeds") or 1, "seed")])))
    solved = f"; {SOLVED}: of those that a solver takes" * (what != "found")
    yield f"Limits of a cell: {' or '.join(dict.fromkeys(limits))}{solved}."


def _halves(name: str) -> str:
    """Heading in two lines, broken at the sign that is nearest to its middle."""
    places = [found.end() for found in re.finditer(r"[_(,/ ]", name[:-1])]
    if len(name) < _WIDE or not places:
        return ""
    place = min(places, key=lambda end: abs(2 * end - len(name)))
    return f"{name[:place].rstrip()}\n{name[place:]}"
