"""The page of one or several runs: its sections, tables and provenance."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from eqbench.documents import read_file
from eqbench.report.exports import report_on
from eqbench.report.html import views
from eqbench.report.html.document import (
    Beside,
    Block,
    Cell,
    Command,
    Facts,
    Prose,
    Section,
    Table,
    Title,
    document,
)
from eqbench.report.html.tracks import GameFacts, GameTracks, Material, PublishedSet, collect
from eqbench.report.naming import is_cluster, label, listing, marks, order
from eqbench.report.rows import FORMATS, SOLVER, Column, Kind, Report, Row, all_cells
from eqbench.report.rows import Table as Rows
from eqbench.report.terminal import mebibytes, seconds
from eqbench.store.run_folder import EXPERIMENT
from eqbench.store.schema import Status
from eqbench.store.stored_run import StoredRun, cell_name
from eqbench.text import printable, printable_lines

MEANINGS: dict[Status, str] = {
    "ok": "the measured max regret is within the target",
    "limit": "its budget was used up before it met the target, which is no failure",
    "stopped": "ended by its own rule, or got stuck, before it met the target",
    "timeout": "still running at the deadline, so it was killed",
    "memory": "killed at the memory limit",
    "failed": "a numerical failure",
    "crashed": "an exception or a signal",
    "not_found": "ended in order, without an equilibrium",
    "unsupported": "the solver does not take this game",
    "unavailable": "the solver cannot run on this machine",
    "refuted": "it claimed what the verifier contradicts",
    "interrupted": "was running when the run was stopped",
}


_KINDS = (
    "A name says in which published set a profile is, and what stands behind it is the figure by "
    "which members of the set are told apart. Strict: every published constraint holds within "
    "1e-7, also where play does not lead. On path: play goes as published, the behavior "
    "elsewhere differs."
)
_CLUSTERS = (
    "cluster:k: in no published set, with a regret up to 1e-6 of the payoff range; profiles that "
    "are alike share a number, which is given within the run and says nothing else."
)


def naming_notes(games: Sequence[GameTracks]) -> list[Block]:
    """Where the sets that occur were published, and what the marks mean; empty without names."""
    records = [track.entry.record for game in games for track in game.tracks]
    everything: set[str] = set()
    pairs = []
    for game in games:
        items = (item for track in game.tracks for item in track.entry.record.equilibria)
        names = {item.identity["name"] for item in items if item.identity}
        everything |= names
        if lines := _published_lines([known for known in game.sets if known.name in names]):
            pairs.append((game.short, lines))
    if not everything:
        return []
    notes = [text for text in marks(map(label, records)) if not text.startswith("cluster")]
    kinds = [_KINDS] if any(not is_cluster(name) for name in everything) else []
    clusters = [_CLUSTERS] if any(map(is_cluster, everything)) else []
    blocks: list[Block] = [Facts(pairs)] if pairs else []
    return [*blocks, Prose((*kinds, *clusters, *notes), small=True)]


def _published_lines(known: Sequence[PublishedSet]) -> list[str]:
    """Sources with the names of their sets, then symbols."""
    by_source: dict[str, list[str]] = {}
    by_symbol: dict[tuple[str, str], list[str]] = {}
    for each in sorted(known, key=lambda each: order(each.name)):
        by_source.setdefault(each.source, []).append(each.name)
        for symbol in each.symbols.items():
            by_symbol.setdefault(symbol, []).append(each.name)
    found = [symbol for symbol, _ in by_symbol]
    lines = [f"{', '.join(names)}: {source}" for source, names in by_source.items()]
    for (letter, meaning), names in by_symbol.items():
        where = f", in {', '.join(names)}" if found.count(letter) > 1 else ""
        lines.append(f"{letter} is {meaning}{where}")
    return lines


_UNKNOWN = "–"


def repetition(run: StoredRun) -> list[Block]:
    """What a run was asked for as an experiment, and the command that repeats it."""
    file = run.path / EXPERIMENT
    try:
        text = read_file(file).decode()
    except (OSError, UnicodeDecodeError):
        return []  # a version before experiments wrote it
    return [
        Command("the same run again", f"eqbench run {printable(shlex.quote(str(file)))}"),
        Command("which is this experiment", printable_lines(text)),
    ]


def overview(run: StoredRun, _: int) -> list[Block]:
    """What a run was asked for, what came of it, and the commands for it."""
    request, cells = run.plan["request"], run.cells
    statuses = Counter(cell.status for cell in cells)
    came = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    spent = sum(cell.elapsed_s or 0.0 for cell in cells)
    setup = sum(cell.setup_s or 0.0 for cell in cells)
    target = "max regret 1e-10 of the payoff range"
    if (given := request.get("target")) is not None:
        target = f"max regret {given:g}" if given else "none: the whole budget is used"
    pairs = [
        ("run", str(run.path)),
        ("started", _text(run.plan.get("created")).replace("T", " ").replace("+00:00", " UTC")),
        ("games", _text(_asked(run, "games", [cell.game for cell in cells]))),
        ("solvers", _text(_asked(run, "solvers", [cell.solver for cell in cells]))),
        ("seeds", _text(request.get("seeds"))),
        ("limits per cell", _limits(request)),
        ("target", target),
        ("cells", f"{len(run.finished)} of {run.planned} finished" + (f": {came}" if came else "")),
        ("time", f"{seconds(spent)} of solving, {seconds(setup)} of set-up, all cells together"),
    ]
    folder = shlex.quote(str(run.path))
    return [
        Facts([(name, value) for name, value in pairs if value not in ("", _UNKNOWN)]),
        *repetition(run),
        Command("go on where it stopped", f"eqbench run --resume {folder}"),
    ]


def _asked(run: StoredRun, name: str, found: Sequence[str]) -> Any:
    """What the request says while cells are missing, else what is there."""
    asked = run.plan["request"].get(name)
    return asked if run.missing and asked else [*dict.fromkeys(found)] or asked


def provenance(run: StoredRun, place: int) -> list[Block]:
    """Machine, packages, thread settings and keys of a run."""
    plan = {k: v for k, v in run.plan.items() if k not in ("cells", "environment", "request")}
    machine, asked = run.plan.get("environment") or {}, {"request": run.plan["request"]}
    pairs = []
    for name, value in (plan | machine | asked).items():
        text = mebibytes(value) if name.endswith("_bytes") else _text(value)
        if isinstance(value, Mapping):
            text = ", ".join(f"{key} {_text(item)}" for key, item in value.items())
        pairs.append((name.removesuffix("_bytes").replace("_", " "), text))
    return [Facts(pairs), _keys(run, f"keys-{place}")]


def _keys(run: StoredRun, name: str) -> Table:
    titles = ("key", "game", "solver", "seed", "version of solver")
    columns = [Column(title, "count" if title == "seed" else "text") for title in titles]
    rows = []
    for cell in run.cells:
        seed = Cell("" if cell.seed is None else str(cell.seed), cell.seed)
        specs = (Cell(printable(spec)) for spec in (cell.game_spec, cell.solver_spec))
        rows.append([Cell(cell.key), *specs, seed, Cell(printable(cell.solver_version))])
    caption = (
        "A key is a hash of everything a result may depend on: the content of the game, the solver "
        "with its options, version and source, seed and limits. Cells of equal keys are the same "
        "piece of work."
    )
    return Table(name, columns, rows, caption, "Keys of cells")


def _limits(request: Mapping[str, Any]) -> str:
    formats: dict[str, Callable[[Any], str]] = {
        "timeout_s": "{:g} s of solving".format,
        "setup_timeout_s": "{:g} s of set-up".format,
        "memory_bytes": mebibytes,
        "iterations": "{:,} iterations".format,
        "threads": lambda count: "1 thread" if count == 1 else f"{count} threads",
        "jobs": "{} at a time".format,
    }
    given = ((request.get(name), text) for name, text in formats.items())
    return ", ".join(text(value) for value, text in given if value is not None)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return printable(", ".join(map(str, value))) or "none"
    return _UNKNOWN if value is None else printable(str(value))


_FORMATS: dict[Kind, Callable[[Any], str]] = {**FORMATS, "seconds": seconds, "bytes": mebibytes}


def page_table(
    table: Rows,
    name: str,
    *,
    title: str = "",
    caption: str = "",
    filters: Sequence[str] = (),
    hints: Sequence[str] | None = None,
) -> Table:
    """A table for a page; the solver stands first, where it stays when the table is scrolled.

    Parameters
    ----------
    table : of a report
    name, title, caption, filters : as in :class:`~eqbench.report.html.document.Table`
    hints : what is shown when the status of a row is pointed at
    """
    split = table.with_payoff_columns("P")
    columns = sorted(split.columns, key=lambda column: column.title != SOLVER.title)
    return Table(
        name=name,
        columns=columns,
        rows=[
            [_cell(row, column, hint) for column in columns]
            for row, hint in zip(split.rows, hints or [""] * len(split.rows), strict=True)
        ],
        caption=caption,
        title=title,
        filters=filters,
    )


def _cell(row: Row, column: Column, hint: str) -> Cell:
    value = row.values.get(column.title)
    if value is None:
        return Cell("" if column.identifies else "–", None)
    if column.kind == "status":
        return Cell(value, hint=hint, kind=views.tone(value))
    if not column.numeric:
        return Cell(printable(" ".join(value) if column.kind == "words" else str(value)))
    if value == 0 and column.title in row.exact:
        return Cell("0 exactly", value)
    if value == 0 and column.kind == "small":
        return Cell("0", value)
    is_faint = value == 0 and not column.identifies
    return Cell(_FORMATS.get(column.kind, str)(value), value, kind="faint" if is_faint else "")


_MOST_LISTED = 12  # candidates of a cell, of which there may be a thousand


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
    trials = views.common_trials(games)
    notes = [Prose(report.notes, small=True)] if report.notes else []
    shares = [views.ecdf(games, trials), *views.performance_profiles(games, trials)]
    over_seeds = report_on(runs, summarize=True) if summarize else Report(())
    matrices = [table for table in report.tables if table.topic]
    found = _tables(matrices, "matrix", matrices[0].legend) if matrices else []
    parts: list[tuple[str, Iterable[Block]]] = [
        ("What was run", [*_headed(runs, "run", overview), *notes]),
        ("Comparison", _comparison(material, report)),
        ("Over seeds", _tables(over_seeds.tables, "summary", over_seeds.legend)),
        ("Status and verification", [views.heatmap(games)] if games else []),
        ("Convergence", [*views.curves(games), *_unread(games)]),
        ("Targets reached", [*_beside(shares), *views.why_not_all(games, trials)]),
        (
            "Equilibria",
            [*naming_notes(games), *found[:1], *_beside(found[1:]), *views.payoff_scatters(games)],
        ),
        ("Cost", _beside([views.memory(games), views.times(games)])),
        ("Provenance", _headed(runs, "provenance", provenance)),
    ]
    sections = [Section(title, blocks) for title, given in parts if (blocks := list(given))]
    names = list(dict.fromkeys(game.short for game in games))
    more = [f"{', '.join(names[:4])} and {len(names) - 4} more"] if len(names) > 5 else names
    title = f"eqbench on {', '.join(more)}" if names else "eqbench report"
    return document(title, sections, lead=[_lead(runs, material)], data=_data(runs, material))


def _lead(runs: Sequence[StoredRun], material: Material) -> str:
    planned, missing = sum(run.planned for run in runs), sum(run.missing for run in runs)
    counts = {"game": len(material.games), "solver": len(material.looks), "cell": planned}
    said = ", ".join(f"{n} {name}{'' if n == 1 else 's'}" for name, n in counts.items())
    finished = f", {planned - missing} of them finished" if missing else ""
    return (
        f"{said}{finished}. Regrets are measured on the game tree by a verifier that shares no "
        "arithmetic with the solvers. Point at or choose a solver in a legend to see it alone in "
        "all figures."
    )


def _comparison(material: Material, report: Report) -> list[Block]:
    if not material.entries:
        return [Prose(("No cell has finished yet.",))]
    cells = all_cells(material.entries)
    payoffs = "P1, P2, … are payoffs." if cells.players else ""
    table = page_table(
        cells,
        "results",
        caption=" ".join(filter(None, (cells.legend, payoffs, "Choose a heading to sort by it."))),
        filters=("game", "status", "solver"),
        hints=[entry.record.reason for entry in material.entries],
    )
    occurring = {entry.record.status for entry in material.entries}
    said = "; ".join(f"{name}: {text}" for name, text in MEANINGS.items() if name in occurring)
    reasons: list[tuple[str, Sequence[str]]] = [
        (own.title.partition(" = ")[0], [own.title, *own.remarks])
        for own in report.tables
        if own.remarks and not own.topic
    ]
    more: list[Block] = [Title("Reasons and notes"), Facts(reasons)] if reasons else []
    return [table, Prose((f"Statuses – {said}.",), small=True), *more]


def _unread(games: Sequence[GameTracks]) -> list[Block]:
    """A note on the cells whose snapshots cannot be read."""
    cells = [track.entry.record for game in games for track in game.tracks if track.unread]
    if not cells:
        return []
    names = " ".join(listing([cell_name(cell) for cell in cells]))
    text = (
        f"Snapshots cannot be read of {names}: their files are missing from the folder traces of "
        "the run, or damaged. Only what these cells ended with is drawn, and counts among the "
        "targets reached."
    )
    return [Prose((text,), small=True)]


def _tables(tables: Sequence[Rows], name: str, legend: str) -> list[Block]:
    """Tables below their legend; empty without any."""
    shown = (
        page_table(
            table,
            f"{name}-{place}",
            title=f"{table.title}: {table.topic}" if table.topic else table.title,
            caption="\n".join(table.remarks),
        )
        for place, table in enumerate(tables, 1)
    )
    return [Prose((legend,)), *shown] if tables else []


def _headed(
    runs: Sequence[StoredRun], name: str, blocks: Callable[[StoredRun, int], list[Block]]
) -> Iterator[Block]:
    """Blocks about each run, with its path where there are several."""
    for place, run in enumerate(runs, 1):
        if len(runs) > 1:
            yield Title(str(run.path), f"{name}-{place}")
        yield from blocks(run, place)


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
