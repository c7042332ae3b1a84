"""One row per game and solver over its seeds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from eqbench.report.entries import Entry, by_game, by_solver, titles
from eqbench.report.equilibria import counted, with_matrices
from eqbench.report.naming import marks
from eqbench.report.rows import RUN, SOLVER, Column, Report, Row, Table

_COLUMNS = (
    SOLVER,
    Column("cells", "count"),
    Column("ok", "count"),
    Column("best max regret", "small", "best\nmax regret"),
    Column("median max regret", "small", "median\nmax regret"),
    Column("worst max regret", "small", "worst\nmax regret"),
    Column("median time", "seconds", "median\ntime"),
    Column("PAR-2 time", "seconds", "PAR-2\ntime"),
)
# The columns of the machine-readable form, and those above that they hold.
CSV_COLUMNS = {
    "cells": "cells",
    "ok": "ok",
    "best_max_regret": "best max regret",
    "median_max_regret": "median max regret",
    "worst_max_regret": "worst max regret",
    "median_elapsed_s": "median time",
    "par2_elapsed_s": "PAR-2 time",
}
_NEVER_TRIED = ("unsupported", "unavailable")
_LEGEND = (
    "Best, median and worst max regret are over the cells (seeds) that have a measured profile, "
    "in payoff units; median time is over the cells that solved at all. PAR-2 time (penalized "
    "average runtime) is the mean of the solving time of the cells that are ok, and of twice the "
    "timeout of the others, without those that are unsupported or unavailable."
)


def summary(entries: Sequence[Entry], timeouts: Mapping[str, float]) -> Report:
    """One table per game with one row per solver and run; interrupted cells are left out.

    Parameters
    ----------
    timeouts : seconds of solving that a cell had, by run
    """
    finished = [entry for entry in entries if entry.record.status != "interrupted"]
    groups = by_game(finished)
    both = zip(titles(groups), groups, strict=True)
    tables = tuple(_table(title, group, timeouts) for title, group in both)
    return with_matrices(Report(tables, _LEGEND if tables else ""), finished, always=True)


def statistics_of(group: Sequence[Entry], timeout_s: float) -> dict[str, Any]:
    """Statistics of the cells of one game and solver, by column; None where none has a figure."""
    records = [entry.record for entry in group]
    regrets = [record.max_regret for record in records if record.max_regret is not None]
    times = [record.elapsed_s for record in records if record.elapsed_s is not None]
    tried = [record for record in records if record.status not in _NEVER_TRIED]
    return {
        "cells": len(records),
        "ok": sum(record.status == "ok" for record in records),
        "best max regret": min(regrets, default=None),
        "median max regret": statistics.median(regrets) if regrets else None,
        "worst max regret": max(regrets, default=None),
        "median time": statistics.median(times) if times else None,
        "PAR-2 time": statistics.fmean(
            record.elapsed_s
            if record.status == "ok" and record.elapsed_s is not None
            else 2 * timeout_s
            for record in tried
        )
        if tried
        else None,
    }


def _table(title: str, entries: Sequence[Entry], timeouts: Mapping[str, float]) -> Table:
    rows = []
    for group in by_solver(entries):
        run, solver = group[0].run, group[0].record.solver
        values = {"run": run, "solver": solver, **statistics_of(group, timeouts[run])}
        values["equilibria"] = counted(group) or None
        rows.append(Row(f"{solver} ({run})" if run else solver, values))
    # commas stand between counts here, and there are no figures that belong to the first
    found = [[word.rstrip(",") for word in row.values["equilibria"] or ()] for row in rows]
    # dispensable, since the matrix below has these numbers too
    equilibria = Column("equilibria", "words", dispensable=3, notes=tuple(marks(found)))
    columns = ((RUN,) if entries[0].run else ()) + _COLUMNS + ((equilibria,) if any(found) else ())
    limits = sorted({timeouts[entry.run] for entry in entries})
    note = f"timeout: {' or '.join(f'{limit:g} s' for limit in limits)}"
    return Table(title, columns, tuple(rows), (note,), _LEGEND, players=0)
