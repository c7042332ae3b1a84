"""The page of one or several runs: what was found first, provenance last."""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import resources
from pathlib import Path
from typing import Any

from eqbench.documents import read_file
from eqbench.report.charts import CHARTS, looks, specification
from eqbench.report.charts.datasets import Rows, datasets
from eqbench.report.charts.material import GameFacts, GameTracks, Material, collect
from eqbench.report.exports import report_on, run_names
from eqbench.report.html.document import (
    Beside,
    Block,
    Cell,
    Chart,
    Command,
    Facts,
    Prose,
    Section,
    Table,
    Title,
    document,
)
from eqbench.report.html.tables import matrix, overview, page_table
from eqbench.report.naming import kind_of_match, listing
from eqbench.report.rows import Column, Report, all_cells
from eqbench.report.terminal import mebibytes, seconds
from eqbench.store.run_folder import EXPERIMENT
from eqbench.store.schema import EquilibriumRecord
from eqbench.store.stored_run import StoredRun, cell_name
from eqbench.text import printable, printable_lines

_MOST_LISTED = 12  # candidates of a cell, of which there may be a thousand
# of a page that is to stay below two million bytes with 75 cells
_MOST_CANDIDATES, _MOST_STRATEGY_BYTES = 280, 200_000
_SHARES = 10_000  # a frequency is an integer, in parts of this
_TEXTS = tomllib.loads((resources.files("eqbench.report.html") / "texts.toml").read_text("utf-8"))


def report_page(
    runs: Sequence[StoredRun],
    facts: Mapping[str, GameFacts],
    *,
    summarize: bool = False,
    place: Path | None = None,
) -> str:
    """The page as text; the same runs and facts give the same text.

    Parameters
    ----------
    facts : of games by canonical spec; what is missing costs only what they are for
    summarize : whether to add tables with one row per game and solver over all seeds
    place : folder that the page is for, so that it can link to the files of runs beside it
    """
    material, report = collect(runs, facts), report_on(runs, every_matrix=True)
    data = datasets(material)
    solvers = list(dict.fromkeys(t.solver for g in material.games for t in g.tracks if t.points))
    players = max((len(entry.record.payoffs or ()) for entry in material.entries), default=2)
    specs = {name: specification(name, solvers, players) for name in CHARTS}
    charts = {n: Chart(n, spec) for n, spec in specs.items() if data[spec["usermeta"]["rows"]]}
    keys = {solver: k for k, solver in enumerate(solvers)}
    found, payoffs = _tables(report, "found", material), charts.pop("payoffs", None)
    over_seeds = report_on(runs, summarize=True) if summarize else Report(())
    published, compared = _published(material), ("targets", "profile", "pairs")
    parts: list[tuple[str, Iterable[Block | None]]] = [
        ("What was found", _first(material, report, keys, charts.pop("regret", None))),
        ("All cells", _cells(material, report, keys)),
        ("Equilibria", [_beside(payoffs, *published[:1]), *published[1:], *found]),
        ("Solvers compared", [_beside(*(charts.pop(name, None) for name in compared))]),
        ("Over seeds", _tables(over_seeds, "summary", material)),
        ("Cost", [_beside(*charts.values())]),
        ("What was run", (block for k, run in enumerate(runs, 1) for block in _about(run, k))),
    ]
    sections = [
        Section(title, blocks)
        for title, given in parts
        if (blocks := [block for block in given if block is not None])
    ]
    names = listing([game.short for game in material.games], 4)
    values = _data(runs, material, place) | {
        "solvers": [
            {"name": name, "look": look} for name, look in zip(solvers, looks(solvers), strict=True)
        ],
        "datasets": {name: columns_of(rows) for name, rows in data.items()},
    }
    title = f"eqbench on {' '.join(names)}" if names else "eqbench report"
    return document(title, sections, lead=report.answer, data=values)


def columns_of(rows: Rows) -> dict[str, Any]:
    """Rows as columns and values, which takes half the space; the page reads datasets so."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return {"columns": columns, "rows": [[row.get(name) for name in columns] for row in rows]}


def _beside(*blocks: Block | None) -> Beside | None:
    known = [block for block in blocks if block is not None]
    return Beside(known) if known else None


def _small(notes: Sequence[str]) -> list[Block]:
    return [Prose(notes, small=True)] if notes else []


def _first(
    material: Material, report: Report, keys: Mapping[str, int], chart: Chart | None
) -> Iterator[Block | None]:
    """The screen that has the answer: who found what, how good, how fast."""
    games = material.games
    tables = [
        replace(matrix(game, keys, _TEXTS["matrix"]), name=f"matrix-{k}", game=str(k))
        for k, game in enumerate(games)
    ]
    if len(games) > 1:
        yield _beside(overview(games, keys, _TEXTS["overview"]), chart)
        yield from tables
    else:
        yield _beside(*tables, chart)
    unread = [cell_name(t.record) for game in games for t in game.tracks if t.unread]
    said = _TEXTS["unread"].format(cells=" ".join(listing(unread)))
    nothing = [] if games else [_TEXTS["nothing"]]
    yield from _small([*nothing, *report.notes, *([said] if unread else [])])


def _cells(material: Material, report: Report, keys: Mapping[str, int]) -> Iterator[Block]:
    """One row for each cell, which opens to its candidates, and notes on them."""
    if not material.entries:
        return
    table = page_table(
        all_cells(material.entries),
        "results",
        caption=_TEXTS["results"],
        filters=("game", "status", "solver"),
        hints=[entry.record.reason for entry in material.entries],
    )
    solvers = {track.place: track.solver for game in material.games for track in game.tracks}
    known = ({"solver": keys[s]} if (s := solvers[k]) in keys else {} for k in sorted(solvers))
    yield replace(table, keys=[{**own, "cell": k} for k, own in enumerate(known)])
    statuses = {entry.record.status for entry in material.entries}
    said = (f"{name}: {text}" for name, text in _TEXTS["statuses"].items() if name in statuses)
    yield Prose((f"Statuses – {'; '.join(said)}.",), small=True)
    reasons = [
        (table.title.partition(" = ")[0], list(table.notes))
        for table in report.tables
        if table.notes and not table.topic
    ]
    if reasons:
        yield Title("Reasons and notes")
        yield Facts(reasons)


def _tables(report: Report, name: str, material: Material) -> Iterator[Table]:
    """The tables of equilibria of a report, or those of its cells, each for its game."""
    places = {title: str(k) for k, g in enumerate(material.games) for title in (g.short, g.title)}
    for k, table in enumerate(report.tables, 1):
        if bool(table.topic) == (name == "found"):
            title = ": ".join(filter(None, (table.title, table.topic)))
            shown = page_table(table, f"{name}-{k}", title=title, caption="\n".join(table.remarks))
            yield replace(shown, game=places.get(printable(table.title), ""))


def _published(material: Material) -> list[Block]:
    """Where the sets that occur were published; empty without names."""
    records = [entry.record for entry in material.entries]
    names = {i.identity["name"] for r in records for i in r.equilibria if i.identity}
    pairs: list[tuple[str, str | Sequence[str]]] = []
    for game in material.games:
        said: dict[str, dict[str, None]] = {}
        for known in (known for known in game.sets if known.name in names):
            meanings = (f"{letter} is {text}" for letter, text in known.symbols.items())
            for text in (known.source, *meanings):
                said.setdefault(text, {})[known.name] = None
        pairs += [(game.short, [f"{', '.join(own)}: {t}" for t, own in said.items()])] * bool(said)
    return [*([Facts(pairs)] if pairs else []), *(_small(_TEXTS["names"]) if names else [])]


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


def _about(run: StoredRun, place: int) -> Iterator[Block]:
    """What was asked for, where it ran, and the keys of cells."""
    spent = sum(cell.elapsed_s or 0.0 for cell in run.cells)
    setup = sum(cell.setup_s or 0.0 for cell in run.cells)
    facts: dict[str, Any] = {
        "cells": f"{len(run.finished)} of {run.planned} finished",
        "time": f"{seconds(spent)} of solving, {seconds(setup)} of set-up, all cells together",
        **run.plan["request"],
        **{k: v for k, v in run.plan.items() if k not in ("cells", "environment", "request")},
        **(run.plan.get("environment") or {}),
    }
    pairs = [
        (name.removesuffix("_bytes").removesuffix("_s").replace("_", " "), _text(name, value))
        for name, value in facts.items()
        if value is not None
    ]
    resume = f"eqbench run --resume {shlex.quote(str(run.path))}"
    yield Title(str(run.path), f"run-{place}")
    yield from [*repetition(run), Command("go on where it stopped", resume), Facts(pairs)]
    titles = ("key", "game", "solver", "seed", "version of solver")
    rows = [
        [
            Cell(cell.key),
            *(Cell(printable(spec)) for spec in (cell.game_spec, cell.solver_spec)),
            Cell("" if cell.seed is None else str(cell.seed), cell.seed),
            Cell(printable(cell.solver_version)),
        ]
        for cell in run.cells
    ]
    columns = [*map(Column, titles)]
    yield Table(f"keys-{place}", columns, rows, _TEXTS["keys"], "Keys of cells")


def _text(name: str, value: Any) -> str:
    if name.endswith("_bytes"):
        return mebibytes(value)
    if isinstance(value, Mapping):
        value = [f"{key} {item}" for key, item in value.items() if item is not None]
    if isinstance(value, list | tuple):
        return printable(", ".join(map(str, value))) or "none"
    return printable(str(value)) + " s" * name.endswith("_s")


def _data(runs: Sequence[StoredRun], material: Material, place: Path | None) -> dict[str, Any]:
    """All rows and what the runs were asked for, for programs; of long lists only the best."""
    run_of = dict(zip(run_names(runs), runs, strict=True))
    most = min(_MOST_LISTED, _MOST_CANDIDATES // max(len(material.entries), 1) + 1)
    cells = []
    for entry in material.entries:
        record, show = entry.record, ["eqbench", "show", str(run_of[entry.run].path)]
        equilibria = [_candidate(item) for item in record.equilibria[:most]]
        facts = {"run": entry.run, "candidates": len(record.equilibria), "equilibria": equilibria}
        command = shlex.join([*show, cell_name(record), "--candidates"])
        cells.append({**record.to_json(), **facts, "command": printable(command)})
    return {
        "schema": "eqbench.report/1",
        "runs": [
            {
                "name": run.path.absolute().name,
                "label": label,
                "folder": _folder(run, place),
                "planned": run.planned,
                "plan": run.plan,
            }
            for label, run in run_of.items()
        ],
        "games": [
            {"name": game.short, "information_sets": _add_strategies(game, cells, run_of)}
            for game in material.games
        ],
        "cells": cells,
    }


def _candidate(item: EquilibriumRecord) -> dict[str, Any]:
    """A candidate without the long list of where it behaves differently off the path."""
    if item.identity is None:
        return asdict(item)
    match, identity = kind_of_match(item.identity), {**item.identity, "off_path": {}}
    return asdict(item) | {"match": match, "identity": identity}


def _folder(run: StoredRun, place: Path | None) -> str | None:
    """Path of a run's folder from that of the page; None if it is not near it."""
    if place is None:
        return None
    relative = os.path.relpath(run.path.resolve(), place.resolve())
    return None if relative.startswith("../..") else "" if relative == "." else f"{relative}/"


def _add_strategies(
    game: GameTracks, cells: Sequence[dict[str, Any]], run_of: Mapping[str, StoredRun]
) -> list[Any]:
    """Give cells the frequencies of their best candidates; return the information sets.

    Each is a list of player, label, actions. The best candidates of all cells come first, and
    what would make the page too large is left out.
    """
    sets: list[tuple[str, str, list[str]]] = []
    spent, most = 0, _MOST_STRATEGY_BYTES * len(game.tracks) // max(len(cells), 1)
    own = [cells[track.place] for track in game.tracks]
    for rank, cell in ((rank, cell) for rank in range(_MOST_LISTED) for cell in own):
        item = cell["equilibria"][rank] if rank < len(cell["equilibria"]) else {}
        if not item.get("profile") or spent > most:
            continue
        # a page can do without files that are missing or damaged
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
            behavior = json.loads(read_file(run_of[cell["run"]].path / item["profile"]))["behavior"]
            sets = sets or [
                (player, label, list(actions))
                for player, sets_of in behavior.items()
                for label, actions in sets_of.items()
            ]
            shares = [
                round(_SHARES * _share(behavior[player][label].get(action, 0)))
                for player, label, actions in sets
                for action in actions
            ]
            spent += len(str(shares))
            if spent <= most:
                cell.setdefault("strategies", [None] * len(cell["equilibria"]))[rank] = shares
    return sets


def _share(value: float | str) -> float:
    numerator, _, denominator = str(value).partition("/")
    return float(numerator) / float(denominator or 1)
