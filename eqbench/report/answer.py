"""The answer of a run in a few sentences: who reached the target, what was found, what was not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from eqbench.errors import SpecError, counted, first_of
from eqbench.report import said
from eqbench.report.entries import STATUSES, arranged, named, trials
from eqbench.report.equilibria import Found, equilibria
from eqbench.report.naming import found
from eqbench.report.trials import Entry, Trials, began
from eqbench.spec import parse_spec
from eqbench.text import seconds, small

MOST_GAMES = 5  # that have a sentence each
# Solvers that set out on the same branch, and the regrets by which payoffs of ends may differ.
TRACERS = (
    {"name": "logit", "form": "agent", "prior": "uniform"},
    {"name": "gambit_logit_path", "use_strategic": False},
)
FAR = 1000.0


def answer(entries: Sequence[Entry], planned: int = 0) -> tuple[str, ...]:
    """Sentences that say what came of some cells: at most four, and one for each of a few games.

    While some of the `planned` cells are missing, the answer says so.
    """
    known = [(name, arranged(game)) for name, game in named(entries)]
    games = [game for _, game in known]
    facts = {
        "whole": _facts(games),
        "games": [(name, _facts([game])) for name, game in known[: MOST_GAMES + 1]],
        "most_games": MOST_GAMES,
    }
    filters = {"counted": counted, "first_of": first_of, "small": small, "finders": _finders}
    sentences = said("answer", facts, **filters)
    finished = sum(entry.record.status != "interrupted" for entry in entries)
    if sentences and finished < planned:
        return (f"So far ({finished} of {planned} cells): {sentences[0]}", *sentences[1:])
    return sentences


def _facts(games: Sequence[Sequence[Entry]]) -> dict[str, Any]:
    """Facts on some games: who reached the target there, who did so first, and what was found."""
    ran = [own for game in games if (own := began(game))]
    cells = [entry for game in ran for entry in game]
    solvers = trials(cells)
    sound = trials(e for e in cells if e.record.status not in ("crashed", "refuted"))
    members = [item for game in ran for item in equilibria(game) if not item.is_near]
    return {
        "games": len(ran),
        "cells": Trials(cells),
        "solvers": solvers,
        "runs": len(solvers) - len({entry.record.solver for entry in cells}),
        "targets": sorted({entry.record.target or 0.0 for entry in cells}),
        "fastest": _fastest(ran),
        "closest": sorted((own.best, own.solver) for own in sound if own.best is not None)[:1],
        "sets": {item.name: item for item in members if not item.is_cluster},
        "clusters": [item for item in members if item.is_cluster],
        "apart": list(filter(None, map(_apart, ran))),
        "ends": [(texts, names) for texts in STATUSES.values() if (names := _ended(games, texts))],
    }


def _ended(games: Sequence[Sequence[Entry]], texts: Mapping[str, Any]) -> list[str]:
    """Solvers some of whose cells ended with a status, and how many."""
    cells = [entry for game in games for entry in game]
    counts = Counter(e.solver for e in cells if STATUSES[e.record.status] is texts)
    return [name + f" ×{number}" * (number > 1) for name, number in counts.items()]


def _fastest(games: Sequence[Sequence[Entry]]) -> list[str]:
    """Solvers with the shortest median times to the target of those that always reach it."""
    firsts: list[tuple[float, str, int]] = []
    for game in games:
        always = [own for own in trials(game) if own.is_always_ok]
        times = ((time, own) for own in always if (time := own.time_to()) is not None)
        firsts += sorted((time, own.solver, own.ok) for time, own in times)[:1]
    if len(games) > 1:
        won = Counter(name for _, name, _ in firsts).most_common()
        return [f"{name} on {counted(times, 'game')}" for name, times in won]
    return [f"{name} ({seconds(time)}{f', median of {n}' * (n > 1)})" for time, name, n in firsts]


def _apart(game: Sequence[Entry]) -> str:
    """Equilibria at which `logit` and Gambit's tracer of the same branch end; empty if one."""
    ends = []
    for options in TRACERS:
        cells = (e.record for e in game if options.items() <= _given(e.record.solver_spec).items())
        reached = [(record, *item) for record in cells for item in found(record).items()]
        if not reached:
            return ""
        ends.append(reached[0])
    (record, name, one), (_, other_name, other) = ends
    # the end of a path without polish is off by about its regret
    off = (record.tolerance or 0.0) + FAR * (one[0].max_regret + other[0].max_regret)
    gap = max(abs(a - b) for a, b in zip(one[0].payoffs, other[0].payoffs, strict=True))
    return f"{name} and {other_name}" if name != other_name and gap > off else ""


def _given(spec: str | None) -> dict[str, Any]:
    """Name and options of a solver; nothing of what is no spec, as in a stored record."""
    try:
        parsed = parse_spec(spec or "")
    except SpecError:
        return {}
    return {"name": parsed.name, **dict(parsed.options)}


def _finders(item: Found) -> str:
    """Name, by how many solvers it was found, how many of them are not ok, and where it is."""
    solvers = {entry.solver for entry, _ in item.cells}
    short = len(solvers - {e.solver for e, _ in item.cells if e.record.status == "ok"})
    not_ok = f"{short} of them not ok" if len(solvers) > 1 else "not ok"
    parts = [counted(len(solvers), "solver"), not_ok * bool(short), item.where]
    return f"{item.title} ({', '.join(filter(None, parts))})"
