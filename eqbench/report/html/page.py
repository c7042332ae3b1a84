"""The page of one or several runs: what was found first, provenance last."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.documents import read_file
from eqbench.report.charts import CHARTS, drawable, looks, specification
from eqbench.report.charts.datasets import datasets
from eqbench.report.charts.material import GameFacts, Material, collect
from eqbench.report.exports import report_on, run_names
from eqbench.report.html.document import (
    Beside,
    Block,
    Chart,
    Command,
    Facts,
    Prose,
    Section,
    Table,
    document,
)
from eqbench.report.html.tables import TEXTS, matrix, overview, page_table
from eqbench.report.naming import kind_of_match, listing
from eqbench.report.rows import Report, mebibytes
from eqbench.report.view import all_cells
from eqbench.store.run_folder import EXPERIMENT
from eqbench.store.schema import EquilibriumRecord
from eqbench.store.stored_run import StoredRun, cell_name
from eqbench.text import printable, printable_lines

_MOST_LISTED = 12  # candidates of a cell, of which there may be a thousand
# of a page that is to stay below two million bytes with 75 cells
_MOST_CANDIDATES, _MOST_FREQUENCIES = 280, 150_000
_SHARES = 10_000  # a frequency is an integer, in parts of this


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
    over_seeds = report_on(runs, summarize=True) if summarize else Report(())
    data, games = datasets(material), material.games
    solvers = material.solvers
    specs = {name: specification(name, solvers, material.players) for name in CHARTS}
    charts = {
        name: [Chart(name, spec)] if drawable(spec, data) else [] for name, spec in specs.items()
    }
    matrices = [matrix(material, place) for place in range(len(games))]
    whole, single = (matrices, []) if len(games) < 2 else ([overview(material)], matrices)
    notes = [*([] if games else [TEXTS["nothing"]]), *report.notes]
    if unread := [cell_name(track.record) for track in material.tracks if track.unread]:
        notes.append(TEXTS["unread"].format(cells=" ".join(listing(unread))))
    sources, names = _published(material)
    compared = [*charts["targets"], *charts["profile"], *charts["pairs"]]
    parts: dict[str, Iterable[Block]] = {
        "What was found": [Beside([*whole, *charts["regret"]]), *single, Prose(notes, small=True)],
        "All cells": _cells(material, report),
        "Equilibria": [
            Beside([*charts["payoffs"], *sources]),
            Prose(names, small=True),
            *_tables(report, "found", material),
        ],
        "Solvers compared": [Beside(compared)],
        "Over seeds": _tables(over_seeds, "summary", material),
        "Cost": [Beside([*charts["memory"], *charts["times"]])],
        "What was run": (block for run in runs for block in _about(run)),
    }
    values = _data(runs, material, place) | {
        "solvers": [
            {"name": name, "look": look} for name, look in zip(solvers, looks(solvers), strict=True)
        ],
        "datasets": data,
    }
    shown = " ".join(listing([game.short for game in games], 4))
    title = f"eqbench on {shown}" if shown else "eqbench report"
    sections = [Section(name, list(blocks)) for name, blocks in parts.items()]
    return document(title, sections, lead=report.answer, data=values)


def _cells(material: Material, report: Report) -> Iterator[Block]:
    """One row for each cell, which opens to its candidates, and notes on them."""
    records = [track.record for track in material.tracks]
    if not records:
        return
    yield page_table(
        all_cells([track.entry for track in material.tracks]),
        "results",
        caption=TEXTS["results"],
        filters=("game", "status", "solver"),
        folded=("exploitability",),
        opens=True,
    )
    statuses = {record.status for record in records}
    said = (f"{name}: {text}" for name, text in TEXTS["statuses"].items() if name in statuses)
    yield Prose((f"Statuses – {'; '.join(said)}.",), small=True)
    noted = [table for table in report.tables if table.notes and not table.topic]
    reasons = [(table.title.partition(" = ")[0], list(table.notes)) for table in noted]
    yield Facts(reasons, "Reasons and notes")


def _tables(report: Report, name: str, material: Material) -> Iterator[Table]:
    """The tables of equilibria of a report, or those of its cells, each for its game."""
    places = {title: str(k) for k, g in enumerate(material.games) for title in (g.short, g.title)}
    for k, table in enumerate(report.tables, 1):
        if bool(table.topic) == (name == "found"):
            title = ": ".join(filter(None, (table.title, table.topic)))
            game = places.get(printable(table.title), "")
            caption = "\n".join(table.remarks)
            yield page_table(table, f"{name}-{k}", title=title, caption=caption, game=game)


def _published(material: Material) -> tuple[list[Facts], list[str]]:
    """Where the sets that occur were published, and how to read their names."""
    found = (item.identity for track in material.tracks for item in track.record.equilibria)
    names = {identity["name"] for identity in found if identity}
    pairs = []
    for game in material.games:
        said: dict[str, list[str]] = {}
        for text, name in ((t, known.name) for known in game.sets for t in known.said):
            said.setdefault(text, []).extend({name} & names)
        lines = [f"{', '.join(own)}: {text}" for text, own in said.items() if own]
        pairs += [(game.short, lines)] if lines else []
    return [Facts(pairs)] if pairs else [], TEXTS["names"] if names else []


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


def _about(run: StoredRun) -> list[Block]:
    """What was asked for, where it ran, and how to repeat it."""
    machine = dict(run.plan.get("environment") or {})
    machine["machine's memory_bytes"] = machine.pop("memory_bytes", None)  # not a cell's limit
    cells = f"{len(run.finished)} of {run.planned} finished"
    facts = {**run.plan, "cells": cells, "environment": machine}
    resume = f"eqbench run --resume {shlex.quote(str(run.path))}"
    resumed = Command("go on where it stopped", resume)
    return [Facts(list(_flat(facts)), str(run.path)), *repetition(run), resumed]


def _flat(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is known under names, and under names within these, as texts."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        elif value is not None:
            is_size, unit = name.endswith("_bytes"), " s" * name.endswith("_s")
            listed = ", ".join(map(str, value)) if isinstance(value, list) else f"{value}{unit}"
            words = name.removesuffix("_bytes").removesuffix("_s").replace("_", " ")
            yield words, mebibytes(value) if is_size else printable(listed) or "none"


def _data(runs: Sequence[StoredRun], material: Material, place: Path | None) -> dict[str, Any]:
    """All rows and what the runs were asked for, for programs; of long lists only the best."""
    run_of = dict(zip(run_names(runs), runs, strict=True))
    most = min(_MOST_LISTED, _MOST_CANDIDATES // max(len(material.tracks), 1) + 1)
    cells = []
    for entry in (track.entry for track in material.tracks):
        record, show = entry.record, ["eqbench", "show", str(run_of[entry.run].path)]
        equilibria = [_candidate(item) for item in record.equilibria[:most]]
        facts = {"run": entry.run, "candidates": len(record.equilibria), "equilibria": equilibria}
        command = shlex.join([*show, cell_name(record), "--candidates"])
        cells.append({**record.to_json(), **facts, "command": printable(command)})
    games = []
    for game in material.games:
        tracks = [track for track in material.tracks if track.game is game]
        own = [(cells[track.place], run_of[track.entry.run]) for track in tracks]
        sets = _add_strategies(own, _MOST_FREQUENCIES // len(cells))
        games.append({"name": game.short, "information_sets": sets})
    asked = [
        {
            "name": run.path.absolute().name,
            "label": label,
            "folder": _folder(run, place),
            "planned": run.planned,
            "plan": run.plan,
        }
        for label, run in run_of.items()
    ]
    return {"schema": "eqbench.report/1", "runs": asked, "games": games, "cells": cells}


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
    cells: Sequence[tuple[dict[str, Any], StoredRun]], most: int
) -> list[tuple[str, str, list[str]]]:
    """Give cells of a game the frequencies of their best candidates; return the information sets.

    Each is a player, label and actions. A cell gets as many candidates as have at most so many
    frequencies.
    """
    sets: list[tuple[str, str, list[str]]] = []
    for cell, run in cells:
        shares: list[list[int] | None] = []
        for item in cell["equilibria"]:
            if (len(shares) + 1) * sum(len(actions) for *_, actions in sets) > most:
                break
            shares.append(None)
            # a page can do without files that are missing or damaged
            with suppress(
                OSError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError
            ):
                behavior = json.loads(read_file(run.path / item["profile"]))["behavior"]
                sets = sets or [
                    (player, label, list(actions))
                    for player, sets_of in behavior.items()
                    for label, actions in sets_of.items()
                ]
                shares[-1] = [
                    round(_SHARES * Fraction(str(behavior[player][label].get(action, 0))))
                    for player, label, actions in sets
                    for action in actions
                ]
        if any(shares):
            cell["strategies"] = shares
    return sets if any("strategies" in cell for cell, _ in cells) else []
