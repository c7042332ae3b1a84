"""The page of one or several runs: what was found first, provenance last."""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from eqbench.documents import read_file
from eqbench.report.charts import CHARTS, looks, specification
from eqbench.report.entries import ABSENT, ALARMING, Entry, arranged, reached_target
from eqbench.report.equilibria import Found, equilibria
from eqbench.report.exports import report_on, run_names
from eqbench.report.html.datasets import Rows, datasets, payoff_notes
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
from eqbench.report.html.material import GameFacts, GameTracks, Material, Track, collect
from eqbench.report.naming import handed_over, kind_of_match, listing, spread
from eqbench.report.rows import FORMATS, SOLVER, Column, Kind, Report, Row, all_cells
from eqbench.report.rows import Table as Rows_
from eqbench.report.terminal import mebibytes, seconds, small
from eqbench.store.run_folder import EXPERIMENT
from eqbench.store.schema import CellRecord, Status
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
_MOST_LISTED = 12  # candidates of a cell, of which there may be a thousand
_MOST_EQUILIBRIA = 8  # columns of a matrix
_MOST_STRATEGY_BYTES = 450_000  # of a page that is to stay below two million
_SHARES = 10_000  # a frequency is an integer, in parts of this
_FORMATS: dict[Kind, Callable[[Any], str]] = {**FORMATS, "seconds": seconds, "bytes": mebibytes}
_SIGNS = {"refuted": "✗", "exactly": "✓✓", "verified": "✓", "nothing": ""}
_MATRIX = (
    "Numbers of equilibria found, or in how many seeds, with where in a published family they "
    "are. ✓ measured by the verifier, ✓✓ measured exactly, in integers; "
    "✗ a claim refuted. Time is that of solving until the target was reached."
)
_KINDS = (
    "Strict: every published constraint holds within 1e-7, also where play does not lead. On "
    "path (*): play goes as published, the behavior elsewhere differs.",
    "cluster:k is an equilibrium in no published set; profiles that are alike share a number, "
    "which is given within the run and says nothing else.",
)


def tone(status: str) -> str:
    """Which of the page's colors a status has: ``good``, ``fair``, ``bad`` or ``idle``."""
    if status in ALARMING:
        return "bad"
    return {"ok": "good", "unsupported": "idle", "unavailable": "idle"}.get(status, "fair")


def report_page(
    runs: Sequence[StoredRun],
    facts: Mapping[str, GameFacts],
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    summarize: bool = False,
    place: Path | None = None,
) -> str:
    """The page as text; the same runs and facts give the same text.

    Parameters
    ----------
    facts : of games by canonical spec; what is missing costs only what they are for
    groups : solvers that a word such as ``all`` stands for in what a run was asked for, by word
    summarize : whether to add tables with one row per game and solver over all seeds
    place : folder that the page is for, so that it can link to the files of runs beside it
    """
    material = collect(runs, facts, groups)
    data, report = datasets(material), report_on(runs, every_matrix=True)
    solvers = list(dict.fromkeys(t.solver for g in material.games for t in g.tracks if t.points))
    players = max((len(entry.record.payoffs or ()) for entry in material.entries), default=2)
    specs = {name: specification(name, solvers, players) for name in CHARTS}
    charts = {name: Chart(name, spec) for name, spec in specs.items() if data[_rows(spec)]}
    page = _Page(material, solvers, {game.short: k for k, game in enumerate(material.games)})
    found = [table for table in report.tables if table.topic]
    over_seeds = report_on(runs, summarize=True).tables if summarize else ()
    parts: list[tuple[str, Iterable[Block | None]]] = [
        ("What was found", page.first(charts.pop("regret", None), report)),
        ("All cells", page.cells(report)),
        (
            "Equilibria",
            [
                _beside([charts.pop("payoffs", None)]),
                *_small(payoff_notes(material)),
                *page.names(),
                *_tables(found, "found"),
            ],
        ),
        (
            "Solvers compared",
            [_beside(charts.pop(n, None) for n in ("targets", "profile", "pairs"))],
        ),
        ("Over seeds", _tables([table for table in over_seeds if not table.topic], "summary")),
        ("Cost", [_beside(charts.values())]),
        ("What was run", _headed(runs, _provenance)),
    ]
    sections = [
        Section(title, blocks)
        for title, given in parts
        if (blocks := [block for block in given if block is not None])
    ]
    names = list(dict.fromkeys(game.short for game in material.games))
    more = [f"{', '.join(names[:4])} and {len(names) - 4} more"] if len(names) > 5 else names
    title = f"eqbench on {', '.join(more)}" if names else "eqbench report"
    values = _data(runs, material, place) | {
        "solvers": _looks(solvers),
        "datasets": {name: _columns(rows) for name, rows in data.items()},
    }
    return document(title, sections, lead=report.answer, data=values)


def _rows(spec: Mapping[str, Any]) -> str:
    """Dataset without which there is nothing to draw."""
    name: str = spec["usermeta"]["rows"]
    return name


def _looks(solvers: Sequence[str]) -> list[dict[str, Any]]:
    style = looks(solvers)
    dashes = [" ".join(map(str, dash)) if dash[1] else "" for dash in style["strokeDash"]]
    columns = zip(solvers, style["color"], style["shape"], dashes, strict=True)
    return [
        {"name": name, "look": {"color": color, "shape": shape, "dash": dash}}
        for name, color, shape, dash in columns
    ]


def _columns(rows: Rows) -> dict[str, Any]:
    """Rows as columns and values, which takes half the space."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return {"columns": columns, "rows": [[row.get(name) for name in columns] for row in rows]}


def _beside(blocks: Iterable[Block | None]) -> Beside | None:
    known = [block for block in blocks if block is not None]
    return Beside(known) if known else None


def _small(notes: Sequence[str]) -> list[Prose]:
    return [Prose(notes, small=True)] if notes else []


class _Page:
    """Blocks about the cells of some runs.

    `solvers` are those that charts show, `games` the places of games in the data of the page.
    """

    def __init__(
        self, material: Material, solvers: Sequence[str], games: Mapping[str, int]
    ) -> None:
        self.material, self.games = material, games
        self.place = {solver: k for k, solver in enumerate(solvers)}

    def key(self, solver: str) -> dict[str, Any]:
        """What ties a row to the solver in charts."""
        return {"solver": self.place[solver]} if solver in self.place else {}

    def first(self, chart: Chart | None, report: Report) -> Iterator[Block | None]:
        """The screen that has the answer: who found what, how good, how fast."""
        if not self.material.entries:
            yield Prose(("No cell has finished yet.",))
        games = [game for game in self.material.games if game.tracks]
        matrices = [self.matrix(game) for game in games]
        if len(self.material.games) > 1 or any(game.awaited for game in self.material.games):
            yield _beside([self.overview(), chart])
            yield from matrices
        else:
            yield _beside([*matrices, chart])
        yield from _small([*report.notes, *self.unread()])

    def overview(self) -> Table:
        """What became of every solver on every game."""
        games = self.material.games
        named = (name for g in games for name in (*(t.solver for t in g.tracks), *g.awaited))
        solvers = list(dict.fromkeys(named))
        rows = []
        for solver in solvers:
            cells = [Cell(printable(solver))]
            for game in games:
                own = [track for track in game.tracks if track.solver == solver]
                waits = "not run yet" if solver in game.awaited else "not run"
                cells.append(_outcome(own) if own else Cell(waits, None, kind="idle"))
            rows.append(cells)
        return Table(
            "status",
            [SOLVER, *(Column(game.short) for game in games)],
            rows,
            "Time to the target where it was reached, else the smallest max regret. ✓ measured by "
            "the verifier, ✓✓ exactly, ✗ a claim refuted. Point at a cell for its reason.",
            "Every solver on every game",
            keys=[self.key(solver) for solver in solvers],
        )

    def matrix(self, game: GameTracks) -> Table:
        """Which solver found which equilibria of a game, how good and how fast."""
        track_of = {id(track.entry): track for track in game.tracks}
        entries = arranged([t.entry for t in game.tracks if t.entry.record.status not in ABSENT])
        groups: dict[str, list[Track]] = {}
        for entry in entries:
            groups.setdefault(track_of[id(entry)].solver, []).append(track_of[id(entry)])
        everything = equilibria(entries)
        near = [item for item in everything if item.is_near]
        known = [item for item in everything if not item.is_near]
        shown, others = known[:_MOST_EQUILIBRIA], known[_MOST_EQUILIBRIA:]
        columns = [
            SOLVER,
            Column("status", "status"),
            Column("best regret", "small", "best\nregret"),
            Column("time to target", "seconds", "time to\ntarget"),
            *(Column(item.title, "count", item.title.replace(":", ":\n", 1)) for item in shown),
            *([Column(f"{len(others)} more", "count")] if others else []),
            *([Column("only near")] if near else []),
        ]
        rows = []
        for solver, own in groups.items():
            regrets = [r for t in own if (r := t.entry.record.max_regret) is not None]
            times = sorted(t.time_to(t.entry.record.target or 0.0) for t in own)
            time = times[len(times) // 2]
            reached = any(reached_target(t.entry.record) for t in own) and time < float("inf")
            ours = [track.entry for track in own]
            rows.append(
                [
                    Cell(printable(solver)),
                    _status(own),
                    _number(min(regrets, default=None), "small"),
                    _number(time if reached else None, "seconds"),
                    *(_finds(ours, [item]) for item in shown),
                    *([_finds(ours, others)] if others else []),
                    *([_near(ours, near)] if near else []),
                ]
            )
        title = game.title if len(self.games) > 1 else "Equilibria that each solver found"
        keys = [self.key(solver) for solver in groups]
        place = str(self.games[game.short]) if len(self.games) > 1 else ""
        name = f"matrix-{self.games[game.short] + 1}"
        return Table(name, columns, rows, _MATRIX, title, keys=keys, game=place)

    def cells(self, report: Report) -> list[Block | None]:
        """One row for each cell, which opens to its candidates."""
        entries = self.material.entries
        if not entries:
            return []
        by_place = {t.place: t for game in self.material.games for t in game.tracks}
        table = page_table(
            all_cells(entries),
            "results",
            caption="P1, P2, … are payoffs. Choose a row to see all that its cell found, a heading "
            "to sort by it.",
            filters=("game", "status", "solver"),
            hints=[entry.record.reason for entry in entries],
        )
        keys = [self.key(by_place[k].solver) | {"cell": k} for k in range(len(entries))]
        occurring = {entry.record.status for entry in entries}
        said = "; ".join(f"{name}: {text}" for name, text in MEANINGS.items() if name in occurring)
        reasons: list[tuple[str, Sequence[str]]] = [
            (own.title.partition(" = ")[0], [own.title, *own.notes])
            for own in report.tables
            if own.notes and not own.topic
        ]
        more: list[Block] = [Title("Reasons and notes"), Facts(reasons)] if reasons else []
        return [replace(table, keys=keys), Prose((f"Statuses – {said}.",), small=True), *more]

    def names(self) -> list[Block]:
        """Where the sets that occur were published; empty without names."""
        pairs = []
        records = [entry.record for entry in self.material.entries]
        names = {i.identity["name"] for r in records for i in r.equilibria if i.identity}
        for game in self.material.games:
            by_source: dict[str, list[str]] = {}
            symbols: dict[str, list[str]] = {}
            for known in (known for known in game.sets if known.name in names):
                by_source.setdefault(known.source, []).append(known.name)
                for letter, meaning in known.symbols.items():
                    symbols.setdefault(f"{letter} is {meaning}", []).append(known.name)
            lines = [f"{', '.join(own)}: {source}" for source, own in by_source.items()]
            lines += [f"{text}, in {', '.join(own)}" for text, own in symbols.items()]
            pairs += [(game.short, lines)] if lines else []
        return [*([Facts(pairs)] if pairs else []), *(_small(_KINDS) if names else [])]

    def unread(self) -> list[str]:
        """A note on the cells whose snapshots cannot be read."""
        tracks = [track for game in self.material.games for track in game.tracks if track.unread]
        names = " ".join(listing([cell_name(track.entry.record) for track in tracks]))
        text = (
            f"Snapshots cannot be read of {names}: their files are missing from the folder traces "
            "of the run, or damaged. Only what these cells ended with is drawn."
        )
        return [text] if tracks else []


def _records(tracks: Sequence[Track]) -> list[CellRecord]:
    return [track.entry.record for track in tracks]


def _status(tracks: Sequence[Track]) -> Cell:
    """What became of the cells of a solver, alarms first, and how they were verified."""
    records = _records(tracks)
    statuses = Counter(record.status for record in records)
    ranks = {"bad": 2, "good": 1}
    shown = max(statuses, key=lambda status: (ranks.get(tone(status), 0), statuses[status]))
    kind = tone(shown) if len(statuses) == 1 or tone(shown) == "bad" else "fair"
    share = f" {statuses[shown]}/{len(records)}" if len(statuses) > 1 else ""
    reasons = dict.fromkeys(f"{r.status}: {r.reason}" for r in records if r.reason)
    text = f"{shown}{share} {_SIGNS[_verification(records)]}".strip()
    return Cell(text, hint=printable("; ".join(reasons)), kind=kind)


def _outcome(tracks: Sequence[Track]) -> Cell:
    """Status with the time to the target, or else the smallest regret."""
    cell, records = _status(tracks), _records(tracks)
    times = sorted(track.time_to(track.entry.record.target or 0.0) for track in tracks)
    regrets = [record.max_regret for record in records if record.max_regret is not None]
    more = ""
    if all(map(reached_target, records)) and times[-1] < float("inf"):
        more = f" {seconds(times[len(times) // 2])}"
    elif regrets:
        more = f" {small(min(regrets))}"
    return replace(cell, text=cell.text + more)


def _verification(records: Sequence[CellRecord]) -> str:
    if any(record.status == "refuted" for record in records):
        return "refuted"
    if all(record.equilibria and record.equilibria[0].exact for record in records):
        return "exactly"
    return "verified" if any(record.equilibria for record in records) else "nothing"


def _finds(entries: Sequence[Entry], items: Sequence[Found]) -> Cell:
    """How many of some equilibria a solver found, or in how many of its cells, and where."""
    own = {id(entry) for entry in entries}
    cells = [members for item in items for entry, members in item.cells if id(entry) in own]
    if not cells:
        return Cell("·", None, kind="faint")
    members = [member for each in cells for member in handed_over(each)]
    where = spread([member.identity for member in members]) if len(items) == 1 else ""
    number = len(cells) if len(entries) > 1 else len(members)
    text = f"{number}/{len(entries)}" if len(entries) > 1 else str(number)
    return Cell(f"{text}\n{where}".strip(), number, kind="good")


def _near(entries: Sequence[Entry], items: Sequence[Found]) -> Cell:
    """What a solver only came near, with none of its candidates on the path of any."""
    own = {id(entry) for entry in entries}
    names = [item.name for item in items if any(id(entry) in own for entry, _ in item.cells)]
    return Cell(", ".join(names) or "·", kind="faint")


def _number(value: float | None, kind: Kind) -> Cell:
    return Cell("–", None) if value is None else Cell(_FORMATS[kind](value), value)


def page_table(
    table: Rows_,
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
    rows = [
        [_cell(row, column, hint) for column in columns]
        for row, hint in zip(split.rows, hints or [""] * len(split.rows), strict=True)
    ]
    return Table(name, columns, rows, caption, title, filters)


def _cell(row: Row, column: Column, hint: str) -> Cell:
    value = row.values.get(column.title)
    if value is None:
        return Cell("" if column.identifies else "–", None)
    if column.kind == "status":
        return Cell(value, hint=printable(hint), kind=tone(value))
    if not column.numeric:
        return Cell(printable(value if isinstance(value, str) else " ".join(value)))
    if isinstance(value, str):
        return Cell(value)
    if value == 0 and column.title in row.exact:
        return Cell("0 exactly", value)
    is_faint = value == 0 and not column.identifies
    return Cell(_FORMATS.get(column.kind, str)(value), value, kind="faint" if is_faint else "")


def _tables(tables: Sequence[Rows_], name: str) -> list[Block]:
    return [
        page_table(
            table,
            f"{name}-{place}",
            title=f"{table.title}: {table.topic}" if table.topic else table.title,
            caption="\n".join(table.remarks),
        )
        for place, table in enumerate(tables, 1)
    ]


def _headed(
    runs: Sequence[StoredRun], blocks: Callable[[StoredRun, int], Iterable[Block]]
) -> Iterator[Block]:
    """Blocks about each run, with its path where there are several."""
    for place, run in enumerate(runs, 1):
        if len(runs) > 1:
            yield Title(str(run.path), f"run-{place}")
        yield from blocks(run, place)


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


def _provenance(run: StoredRun, place: int) -> Iterator[Block]:
    """What was asked for, where it ran, and the keys of cells."""
    spent = sum(cell.elapsed_s or 0.0 for cell in run.cells)
    setup = sum(cell.setup_s or 0.0 for cell in run.cells)
    facts: dict[str, Any] = {
        "run": str(run.path),
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
    caption = (
        "A key is a hash of everything a result may depend on: the content of the game, the solver "
        "with its options, version and source, seed and limits. Cells of equal keys are the same "
        "piece of work."
    )
    yield Table(f"keys-{place}", [*map(Column, titles)], rows, caption, "Keys of cells")


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
    names, run_of = run_names(runs), dict(zip(run_names(runs), runs, strict=True))
    cells = [
        {"run": entry.run, "candidates": len(entry.record.equilibria)}
        | entry.record.to_json()
        | {
            "equilibria": [
                asdict(item) | {"match": kind_of_match(item.identity) if item.identity else None}
                for item in entry.record.equilibria[:_MOST_LISTED]
            ],
            "command": shlex.join(
                ["eqbench", "show", str(run_of[entry.run].path), cell_name(entry.record)]
            )
            + " --candidates",
        }
        for entry in material.entries
    ]
    return {
        "schema": "eqbench.report/1",
        "runs": [
            {
                "name": run.path.absolute().name,
                "label": name,
                "folder": _folder(run, place),
                "planned": run.planned,
                "plan": run.plan,
            }
            for name, run in zip(names, runs, strict=True)
        ],
        "games": [
            {"name": game.short, "information_sets": _add_strategies(game, cells, run_of)}
            for game in material.games
        ],
        "cells": cells,
    }


def _folder(run: StoredRun, place: Path | None) -> str | None:
    """Address of a run's folder from that of the page; None if it is not near it."""
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
    for rank in range(_MOST_LISTED):
        for cell in (cells[track.place] for track in game.tracks):
            item = cell["equilibria"][rank] if rank < len(cell["equilibria"]) else {}
            if not item.get("profile") or spent > most:
                continue
            with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                file = run_of[cell["run"]].path / item["profile"]
                behavior = json.loads(read_file(file))["behavior"]
                sets = sets or [
                    (player, label, list(actions))
                    for player, own in behavior.items()
                    for label, actions in own.items()
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
