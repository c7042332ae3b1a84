"""The report on runs as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from eqbench.report.document import report_on
from eqbench.report.html.attainment import ecdf, performance_profiles
from eqbench.report.html.costs import memory, times
from eqbench.report.html.curves import curves
from eqbench.report.html.document import Beside, Block, Facts, Prose, Section, Title, document
from eqbench.report.html.facts import GameFacts
from eqbench.report.html.heatmap import heatmap
from eqbench.report.html.payoffs import payoff_scatters
from eqbench.report.html.provenance import overview, provenance
from eqbench.report.html.published import naming_notes
from eqbench.report.html.statuses import status_note
from eqbench.report.html.tables import page_table
from eqbench.report.html.tracks import GameTracks, Material, collect
from eqbench.report.html.trials import common_trials, why_not_all
from eqbench.report.naming import listing
from eqbench.report.rows import Report, Table, all_cells
from eqbench.store.stored_run import StoredRun, cell_name

_MOST_LISTED = 12  # candidates of a cell, of which there may be a thousand
_EMPTY = Prose(("No cell has finished yet.",))


def report_page(
    runs: Sequence[StoredRun],
    facts: Mapping[str, GameFacts],
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    summarize: bool = False,
) -> str:
    """The page as text; the same runs and facts give the same text.

    Parameters
    ----------
    facts : of games by canonical spec; what is missing costs only what they are for
    groups : solvers that a word such as ``all`` stands for in what a run was asked for, by word
    summarize : whether to add tables with one row per game and solver over all seeds
    """
    material = collect(runs, facts, groups)
    report = report_on(runs, every_matrix=True)
    games = material.games
    parts: list[tuple[str, Sequence[Block | None]]] = [
        ("What was run", _what(runs, report)),
        ("Comparison", _comparison(material, report)),
        ("Over seeds", _summaries(report_on(runs, summarize=True)) if summarize else []),
        ("Status and verification", [heatmap(games)] if games else []),
        ("Convergence", [*curves(games), *_unread(games)]),
        ("Targets reached", _attainment(games)),
        ("Equilibria", [*naming_notes(games), *_matrices(report), *payoff_scatters(games)]),
        ("Cost", _beside([memory(games), times(games)])),
        ("Provenance", provenance(runs)),
    ]
    sections = [
        Section(title, blocks)
        for title, given in parts
        if (blocks := [block for block in given if block is not None])
    ]
    return document(
        _title(material), sections, lead=[_lead(runs, material)], data=_data(runs, material)
    )


def _title(material: Material) -> str:
    names = list(dict.fromkeys(game.short for game in material.games))
    if not names:
        return "eqbench report"
    more = f" and {len(names) - 4} more" if len(names) > 5 else ""
    return f"eqbench on {', '.join(names[:4] if more else names)}{more}"


def _lead(runs: Sequence[StoredRun], material: Material) -> str:
    planned, missing = sum(run.planned for run in runs), sum(run.missing for run in runs)
    counts = {"game": len(material.games), "solver": len(material.looks), "cell": planned}
    parts = [f"{n} {name}{'' if n == 1 else 's'}" for name, n in counts.items()]
    said = ", ".join(parts) + (f", {planned - missing} of them finished" if missing else "")
    return (
        f"{said}. Regrets are measured on the game tree by a verifier that shares no arithmetic "
        "with the solvers. Point at or choose a solver in a legend to see it alone in all figures."
    )


def _what(runs: Sequence[StoredRun], report: Report) -> list[Block]:
    blocks: list[Block] = []
    for place, run in enumerate(runs, 1):
        if len(runs) > 1:
            blocks.append(Title(str(run.path), f"run-{place}"))
        blocks += overview(run)
    return blocks + ([Prose(report.notes, small=True)] if report.notes else [])


def _comparison(material: Material, report: Report) -> list[Block]:
    if not material.entries:
        return [_EMPTY]
    cells = all_cells(material.entries)
    table = page_table(
        cells,
        "results",
        caption=" ".join(_how_to_read(cells)),
        filters=("game", "status", "solver"),
        hints=[entry.record.reason for entry in material.entries],
    )
    statuses = status_note(entry.record.status for entry in material.entries)
    blocks: list[Block] = [table, statuses]
    reasons: list[tuple[str, Sequence[str]]] = []
    for own in (table for table in report.tables if not table.topic):
        if own.remarks:
            reasons.append((own.title.partition(" = ")[0], [own.title, *own.remarks]))
    return [*blocks, Title("Reasons and notes"), Facts(reasons)] if reasons else blocks


def _how_to_read(cells: Table) -> Iterator[str]:
    if cells.legend:
        yield cells.legend
    if cells.players:
        yield "P1, P2, … are payoffs."
    yield "Choose a heading to sort by it."


def _attainment(games: Sequence[GameTracks]) -> list[Block]:
    trials = common_trials(games)
    figures = [ecdf(games, trials), *performance_profiles(games, trials)]
    return [*_beside(figures), *why_not_all(games, trials)]


def _unread(games: Sequence[GameTracks]) -> list[Block]:
    """A note on the cells whose snapshots cannot be read."""
    cells = [track.entry.record for game in games for track in game.tracks if track.unread]
    if not cells:
        return []
    names = " ".join(listing([cell_name(cell) for cell in cells]))
    return [
        Prose(
            (
                f"Snapshots cannot be read of {names}: their files are missing from the folder "
                "traces of the run, or damaged. Only what these cells ended with is drawn, and "
                "counts among the targets reached.",
            ),
            small=True,
        )
    ]


def _matrices(report: Report) -> list[Block]:
    """Which solver found which equilibrium; empty if nothing was identified."""
    tables = [table for table in report.tables if table.topic]
    return [Prose((tables[0].legend,)), Beside(_page_tables(tables, "matrix"))] if tables else []


def _summaries(report: Report) -> list[Block]:
    """One table per game over seeds, each with its matrix of equilibria; empty without cells."""
    if not report.tables:
        return []
    return [Prose((report.legend,)), *_page_tables(report.tables, "summary")]


def _page_tables(tables: Sequence[Table], name: str) -> list[Block]:
    return [
        page_table(
            table,
            f"{name}-{place}",
            title=f"{table.title}: {table.topic}" if table.topic else table.title,
            caption="\n".join(table.remarks),
        )
        for place, table in enumerate(tables, 1)
    ]


def _beside(blocks: Sequence[Any]) -> list[Block]:
    known = [block for block in blocks if block is not None]
    return [Beside(known)] if known else []


def _data(runs: Sequence[StoredRun], material: Material) -> dict[str, Any]:
    """All rows and what the runs were asked for, for programs; of long lists only the best."""
    return {
        "schema": "eqbench.report/1",
        "runs": [
            {"name": run.path.absolute().name, "planned": run.planned, "plan": run.plan}
            for run in runs
        ],
        "cells": [
            {"run": entry.run, "candidates": len(entry.record.equilibria)}
            | entry.record.to_json()
            | {"equilibria": [asdict(item) for item in entry.record.equilibria[:_MOST_LISTED]]}
            for entry in material.entries
        ],
    }
