"""A report on stored runs in each of its formats."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from eqbench.report.entries import Entry
from eqbench.report.equilibria import with_matrices
from eqbench.report.rows import Report, comparison
from eqbench.report.summary import summary
from eqbench.store.stored_run import StoredRun


def report_on(
    runs: Sequence[StoredRun], *, summarize: bool = False, every_matrix: bool = False
) -> Report:
    """Tables of one or several runs, with notes on what has not finished or is damaged.

    Parameters
    ----------
    summarize : whether to show one row per game and solver instead of one per cell
    every_matrix : whether to show the matrix of equilibria also where rows say the same
    """
    entries = entries_of(runs)
    if summarize:
        timeouts = {name: run.timeout_s for name, run in zip(run_names(runs), runs, strict=True)}
        report = summary(entries, timeouts)
    else:
        report = with_matrices(comparison(entries), entries, always=every_matrix)
    return replace(report, notes=tuple(note for run in runs for note in _missing(run)))


def entries_of(runs: Sequence[StoredRun]) -> list[Entry]:
    """Cells of runs in their order, each with the name of its run."""
    return [
        Entry(name, cell)
        for name, run in zip(run_names(runs), runs, strict=True)
        for cell in run.cells
    ]


def run_names(runs: Sequence[StoredRun]) -> list[str]:
    """What tells the runs apart: their folders' names, or their paths if names repeat."""
    if len(runs) == 1:
        return [""]
    folders = [run.path.absolute().name for run in runs]
    count = Counter(folders)
    return [
        folder if count[folder] == 1 else str(run.path)
        for folder, run in zip(folders, runs, strict=True)
    ]


def _missing(run: StoredRun) -> Iterator[str]:
    if run.missing:
        yield (
            f"{run.missing} of {run.planned} cells have not finished: "
            f"eqbench run --resume {shlex.quote(str(run.path))} continues"
        )
    if run.outdated:
        yield (
            f"{run.outdated} stored cells are not shown: {run.path} was resumed with another plan"
        )
    yield from run.notes
