"""The page of one or several runs, what was found first, provenance last; the index of many."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, chain, repeat
from pathlib import Path
from statistics import median
from typing import Any

from markupsafe import Markup

from eqbench.documents import convert, read_file
from eqbench.errors import counted, first_of
from eqbench.model.words import Wording
from eqbench.report import charts, naming, read_data, trials
from eqbench.report.answer import MOST_GAMES, NOTHING, answer
from eqbench.report.cells import COLUMNS, MOST_CELLS, MOST_REASONS, cell_table, report_on
from eqbench.report.charts.answer import NONE_YET
from eqbench.report.html import document as html
from eqbench.report.html.equilibria import played
from eqbench.report.html.tree import trees
from eqbench.report.naming import FoundEquilibrium
from eqbench.report.profile_view import identity_lines
from eqbench.report.recall import TOPIC, recall_rows
from eqbench.report.rows import SOLVER, TONES, Cell, Column, Report, Table, address_of, mebibytes
from eqbench.report.trials import RunCell, Trials
from eqbench.store.run_folder import EXPERIMENT, LINES
from eqbench.store.schema import EquilibriumRecord
from eqbench.store.stored_run import StoredRun, cell_name
from eqbench.text import printable, seconds, small

TEXTS = read_data("html/texts")
_MOST_EQUILIBRIA = 8  # columns of a matrix
_MOST_NAMED = 3  # games in the title
_SIGNS, _MORE, _CROSS = "①②③④", "+", "×"  # of equilibria of a game, and of what is not credible
# columns of cells that say no more than the matrix, or what stands elsewhere on the page
_IN_MATRIX = (
    "run",
    "solver",
    "status",
    "max regret",
    "exploitability",
    "equilibrium",
    *trials.TRIAL,
)
_MAIN_PACKAGES = ("numpy", "scipy", "numba")
_MOST_LISTED = 12  # candidates of a cell, of which there may be a thousand
_MOST_CANDIDATES = 280  # of a page that is to stay below two million bytes with 75 cells
_MATRIX, _INDEX = (convert(COLUMNS[name], tuple[Column, ...]) for name in ("matrix", "index"))


def report_page(
    runs: Sequence[StoredRun],
    facts: Mapping[str, charts.GameFacts],
    *,
    summarize: bool | None = False,
    place: Path | None = None,
) -> str:
    """The page as text; the same runs and facts of games, by canonical spec, give the same text.

    It has summaries over all seeds if requested, and links to the files of runs if these are near
    the folder `place`, for which it is. Unless `summarize` is False very many cells have summaries
    alone, and only the first trials are drawn and have rows.
    """
    everything = trials.entries_of(runs)
    first = everything if summarize is False else trials.first_trials(everything, MOST_CELLS)
    shown = trials.ranked(first)
    is_thin = len(shown) < len(everything)
    kept = {entry.record.game_identity for entry in first}
    games = charts.shown_games([e for e in everything if e.record.game_identity in kept], facts)
    data = charts.datasets(shown, facts)
    data.pop(TOPIC)  # of all cells, if of any
    data |= {TOPIC: rows} if (rows := recall_rows(everything)) else {}
    report = report_on(runs, summarize=True, entries=everything)
    places = {entry: place for place, entry in enumerate(shown)}
    matrices = [matrix(game, number, places) for number, game in enumerate(games)]
    notes = [*([] if games else [TEXTS["nothing"]]), *report.notes]
    if is_thin:
        every = {entry.record.game_identity for entry in everything}
        of_games = f" of the first {len(games)} games" * (len(kept) < len(every))
        notes.append(TEXTS["thinned"].format(len(shown), len(everything), of_games))
    if unread := [cell_name(entry.record) for entry in shown if entry.snapshots is None]:
        notes.append(TEXTS["unread"].format(cells=first_of(unread)))
    found = _tables(report, "found", len(games))
    plays, is_one = [*played(charts.shown_games(first, facts))], len(games) == 1
    figures: list[html.Block] = [*plays, *drawn(data, "answer", "regret")]
    parts: dict[str, Sequence[html.Block]] = {
        "What was found": [
            *([] if is_one or not games else [overview(games)]),
            [*matrices, html.Tabs(figures)],
            html.Prose(notes, small=True),
            *(_notes(shown, report) if shown else []),
        ],
        "The tree": [*trees(charts.shown_games(first, facts))],
        "Over seeds": _tables(report, "summary", len(games)) if summarize or is_thin else [],
        "Equilibria": [
            [*drawn(data, "payoffs"), *_sources(games)],
            *found,
            html.Prose(TEXTS["names"] if found else [], small=True),
            *(html.page_table(each, TOPIC) for each in report.tables if each.topic == TOPIC),
        ],
        "Solvers compared": [drawn(data, "targets", "performance", "recall", "pairs")],
        "Cost": drawn(data, "times"),
        "What was run": [block for run in runs for block in about(run)],
    }
    values = _data(runs, shown, charts.shown_games(first, facts), place)
    values |= {"solvers": data.pop("solvers"), "datasets": data}
    names = [game.name for game in games]
    on = first_of(names) if len(names) <= _MOST_NAMED else counted(len(names), "game")
    title = f"eqbench on {on}" if names else "eqbench report"
    lead = [*(trials.described(first[0]) if is_one else ()), *report.answer]
    return html.document(title, parts, lead=lead, data=values)


def drawn(data: Mapping[str, charts.Rows], *names: str) -> list[html.ChartBlock]:
    """Charts for which there are rows and choices, cells with what they need, and enough games."""
    cells, found = data["cells"], []
    games = {row["game"] for row in cells if "share" in row}
    for name in names:
        spec = charts.specification(name, data)
        needs = spec["usermeta"]
        is_known = any(row.get(needs.get("needs", "cell")) is not None for row in cells)
        has_all = bool(data.get(needs["rows"])) and all(needs["switches"].values())
        if has_all and is_known and len(games) >= needs.get("games", 0):
            found.append(html.ChartBlock(name, spec))
    return found


def overview(games: Sequence[charts.ShownGame]) -> html.Table:
    """Outcome of every solver on every game, and their totals.

    The longer side goes down, and always many games, with what was found in each.
    """
    of_game = {
        game.name: {own.solver: own for own in trials.by_solver(game.entries)} for game in games
    }
    every = Trials(trials.ranked([entry for game in games for entry in trials.began(game.entries)]))
    solvers = {own.solver: own for own in trials.by_solver(every.entries)}
    cells = {
        (game, name): _status(own.get(name), with_figure=True)
        for game, own in of_game.items()
        for name in solvers
    }
    totals = {name: f"{own.ok} of {len(own.entries)} ok" for name, own in solvers.items()}
    title, look = "Every solver on every game", {"reading": TEXTS["overview_reading"]}
    if len(games) <= min(len(solvers), MOST_GAMES):
        columns = [SOLVER, Column("total", "count"), *(Column(game) for game in of_game)]
        rows = [
            [name, Cell(totals[name], own.ok), *(cells[game, name] for game in of_game)]
            for name, own in solvers.items()
        ]
        return html.Table("status", columns, rows, TEXTS["overview"], title, **look)
    columns = [Column("game"), Column("equilibria found")]
    columns += [Column(n, "text", f"{n}\n{total}") for n, total in totals.items()]
    rows = []
    for game in games:
        own = of_game[game.name]
        found = [item for item in naming.equilibria(game.entries) if not item.is_near]
        ok = sum(each.ok == len(each.entries) for each in own.values())
        ran = trials.by_solver(trials.began(game.entries))
        total = Cell(f"{ok} of {len(ran)}", ok)
        signed = [_signed(cells[game.name, name], name, found) for name in solvers]
        rows.append([game.name, _briefly(found), *signed, total])
    columns.append(Column("solved by", "count"))
    caption = f"{_key(rows)} {TEXTS['overview']}".strip()
    return html.Table("status", columns, rows, caption, title, **look)


def _briefly(found: Sequence[FoundEquilibrium]) -> Cell:
    """Equilibria that were found in a game, each after its sign, with what is no more than best."""
    texts = [f"{sign} {item.cautious}" for sign, item in zip(_SIGNS, found, strict=False)]
    texts += [f"{_MORE} {len(found) - len(_SIGNS)} more"] * (len(found) > len(_SIGNS))
    return Cell("  ".join(texts) or NOTHING, kind="brief")


def _signed(status: Cell, solver: str, found: Sequence[FoundEquilibrium]) -> Cell:
    """Outcome of a solver with the signs of the equilibria it found, and whether in doubt."""
    signs = [
        sign
        + naming.ROUGH * item.solvers[solver]
        + _CROSS * any(_doubt(naming.handed_over(each)) for each in own)
        for sign, item in zip(chain(_SIGNS, repeat(_MORE)), found, strict=False)
        if (own := item.by(solver))
    ]
    return replace(status, text=" ".join([status.text, *dict.fromkeys(signs)]))


def _doubt(members: Sequence[EquilibriumRecord]) -> str:
    """How far equilibria are credible, if some are known not to be everywhere; or empty."""
    for item in members:
        judged, kind = item.credible, item.kind
        is_full = not judged or judged["credible"] == judged["sets"]
        if not is_full or naming.is_imperfect(item) or (kind and kind["sequential"] == "refuted"):
            return f"credible {(naming.credible_range(members) or '').partition(',')[0]}"
    return ""


def _key(rows: Sequence[Sequence[Any]]) -> str:
    """The meanings of the marks that occur in cells."""
    cells = (cell for row in rows for cell in row if isinstance(cell, Cell))
    text = " ".join(cell.text for cell in cells if cell.kind != "brief")  # of others' words
    own = [meaning for mark, meaning in TEXTS["marks"].items() if mark in text]
    return "; ".join((*own, *naming.marks([text], "verdicts"))) + "." * bool(own)


def matrix(
    game: charts.ShownGame, place: int, places: Mapping[RunCell, int] | None = None
) -> html.Table:
    """Which solver found which equilibria of a game, how good and how fast.

    Rows open to their cells, which have `places` in the data of a page. Where each is one cell,
    its other columns are there to be chosen.
    """
    entries = trials.began(game.entries)
    found = naming.equilibria(entries)
    known = [item for item in found if not item.is_near]
    near = {i.title.removeprefix(f"{naming.NEAR} "): [i] for i in found if i.is_near}
    shown, others = known[:_MOST_EQUILIBRIA], known[_MOST_EQUILIBRIA:]
    heads = [Column(i.title, "count", i.title.replace(":", ":\n", 1)) for i in shown]
    groups = {c: [i, *near.pop(i.title, [])] for c, i in zip(heads, shown, strict=True)}
    groups |= {Column(f"{len(others)} more", "count"): others} if others else {}
    groups |= {Column(NONE_YET, "count"): [*chain(*near.values())]} if near else {}
    solvers = trials.by_solver(entries, "status")
    rows = [
        [
            *(own.solver, _status(own), own.time_to(), own.best),
            *map(own.time_to, trials.REGRETS),
            *(_finds(items, own) for items in groups.values()),
        ]
        for own in solvers
    ]
    columns, folded = [*_MATRIX, *groups], [c.title for c in _MATRIX if c.dispensable]
    if len(entries) == len(solvers):
        cells = cell_table([own.entries[0] for own in solvers])
        split = cells.with_payoff_columns("P")
        known_titles = {*_IN_MATRIX, *(column.title for column in _MATRIX)}
        more = [column for column in split.columns if column.title not in known_titles]
        columns, folded = [*columns, *more], [*folded, *(column.title for column in more)]
        for row, cell in zip(rows, split.rows, strict=True):
            row.extend(cell.values.get(column.title) for column in more)
    return html.Table(
        f"matrix-{place}",
        columns,
        rows,
        f"{_key(rows)} {TEXTS['matrix']}".strip(),
        f"Who found which equilibrium of {game.name}",
        reading=TEXTS["matrix_reading"],
        game=str(place),
        folded=folded,
        cells_of=[[places[e] for e in own.entries if e in places] for own in solvers]
        if places
        else (),
    )


def _status(own: Trials | None, *, with_figure: bool = False) -> Cell:
    """Outcome of a solver's cells, alarms first, with its time to the target or best regret."""
    if own is None:
        return Cell("not run", None, kind="idle")
    records = [entry.record for entry in own.entries]
    statuses = Counter(record.status for record in records)
    ranks = {"bad": 2, "good": 1}
    status = max(statuses, key=lambda name: (ranks.get(TONES[name], 0), statuses[name]))
    often = f"{statuses[status]}/{len(records)}" if len(statuses) > 1 else ""
    signs = {
        "✗": "refuted" in statuses,
        "": status != "ok",
        "✓✓": all(record.equilibria and record.equilibria[0].exact for record in records),
        "✓": True,
    }
    sign = next(sign for sign, holds in signs.items() if holds)
    time, best, at_start = own.time_to(), own.best, own.is_at_start
    notes = [f"{r.status}: {r.reason}" for r in records if r.reason]
    reasons = dict.fromkeys([trials.AT_START] * at_start + notes)
    figure = seconds(time) if time is not None else "" if best is None else small(best)
    shown = "at start" if at_start else figure * with_figure
    return Cell(
        " ".join(filter(None, (status, often, sign, shown))),
        hint="; ".join([*reasons][:MOST_REASONS]),
        kind="fair" if often and TONES[status] == "good" else TONES[status],
    )


def _finds(items: Sequence[FoundEquilibrium], own: Trials) -> Cell:
    """How many of some equilibria a solver found, or in how many of its cells, and where.

    If it found none, then those that it only came near.
    """
    known = [item for item in items if not item.is_near]
    found = [item for item in known if item.by(own.solver)]
    near = [item for item in items if item.is_near and item.by(own.solver)]
    if not found and not near:
        return Cell("·", None, kind="faint")
    cells = [members for item in found or near for members in item.by(own.solver)]
    of_cells = f"/{len(own.entries)}" * (len(own.entries) > 1)
    if not found:
        names = first_of([*dict.fromkeys(item.name for item in near)])
        parts = (naming.NEAR, of_cells and f"{len(cells)}{of_cells}", "near" if known else names)
        best = small(min(each[0].max_regret for each in cells))
        hint = f"{NONE_YET}, only near {names}; max regret {best}"
        return Cell(" ".join(filter(None, parts)), 0, hint, "faint")
    members = [member for each in cells for member in naming.handed_over(each)]
    rough = naming.ROUGH * all(item.solvers[own.solver] for item in found)
    if len(known) > 1:
        return Cell(f"{len(members)}{rough}", len(members), kind="fair" if rough else "good")
    number = len(cells) if of_cells else len(members)
    where = naming.spread(member.identity for member in members)
    between = ("\n" if "…" in where else " ") * bool(where)
    loose = all(
        item.identity and naming.kind_of_match(item.identity) == "on path" for item in members
    )
    doubt = _doubt(members)
    text = f"{number}{of_cells}{between}{where}{naming.LOOSE * loose}{rough}"
    lines = "\n".join(filter(None, (text, doubt)))
    return Cell(lines, number, kind="fair" if doubt or rough else "good")


def _notes(entries: Sequence[RunCell], report: Report) -> list[html.Block]:
    """The meanings of statuses, and reasons and notes of each game, to be opened."""
    statuses = {entry.record.status for entry in entries}
    meanings = (
        f"{name}: {own['meaning']}" for name, own in trials.STATUSES.items() if name in statuses
    )
    noted = [table for table in report.tables if table.notes and not table.topic]
    reasons = [(table.title.partition(" = ")[0], table.notes) for table in noted]
    return [
        html.FactList(
            [("statuses", list(meanings)), *reasons], "Statuses, reasons and notes", folded=True
        )
    ]


def _tables(report: Report, name: str, most: int) -> list[html.Table]:
    """The tables of equilibria of a report, or its summaries, each for its game; of the first."""
    games = accumulate(int(not table.topic) for table in report.tables)  # first is its summary
    return [
        html.page_table(_worded(table), f"{name}-{game}", game=str(game - 1))
        for game, table in zip(games, report.tables, strict=True)
        if table.topic != TOPIC and bool(table.topic) == (name == "found") and game <= most
    ]


def _worded(table: Table) -> Table:
    """A table of equilibria that names each by its words, with its name after them."""
    if table.topic != naming.FOUND:
        return table
    rows = [
        replace(row, values={**row.values, "equilibrium": f"{cell.hint} ({cell.text})"})
        if (cell := row.values["equilibrium"]).hint
        else row
        for row in table.rows
    ]
    return replace(table, rows=tuple(rows), lines=())


def _sources(games: Sequence[charts.ShownGame]) -> list[html.FactList]:
    """Where the published sets that occur are from, and what the symbols in their names are."""
    pairs = []
    for game in games:
        records = [entry.record for entry in game.entries]
        found = {i.identity["name"] for record in records for i in record.equilibria if i.identity}
        sources = {t: [n for n in names if n in found] for t, names in game.facts.sources.items()}
        lines = [f"{', '.join(names)}: {text}" for text, names in sources.items() if names]
        pairs += [(game.name, lines)] * bool(lines)
    return [html.FactList(pairs)] * bool(pairs)


def about(run: StoredRun) -> list[html.Block]:
    """What was requested, where it ran, and how to repeat it."""
    machine = dict(run.plan.get("environment") or {})
    machine["machine's memory_bytes"] = machine.pop("memory_bytes", None)  # not a cell's limit
    cells = f"{len(run.finished)} of {run.planned} finished"
    packages = machine.pop("packages", None) or {}
    machine["packages"] = {name: packages[name] for name in _MAIN_PACKAGES if name in packages}
    facts = {**run.plan, "cells": cells, "environment": machine}
    folder = shlex.quote(str(run.path))
    commands = {
        "what a cell plays, as text or picture": f"eqbench show {folder} CELL --figure cell.svg",
        "go on where it stopped": f"eqbench run --resume {folder}",
    }
    file = run.path / EXPERIMENT
    with suppress(OSError, UnicodeDecodeError):  # a version before experiments wrote it
        text = read_file(file).decode()
        commands["the same run again"] = f"eqbench run {shlex.quote(str(file))}"
        commands["which is this experiment"] = text
    return [
        html.FactList(list(_flat(facts)), str(run.path)),
        html.FactList(list(_flat(packages)), "All packages", folded=True),
        *map(html.Command, commands, commands.values()),
    ]


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


def _data(
    runs: Sequence[StoredRun],
    entries: Sequence[RunCell],
    games: Sequence[charts.ShownGame],
    place: Path | None,
) -> dict[str, Any]:
    """All rows and the requests of the runs, for programs; of long lists only the best."""
    run_of = dict(zip(trials.run_names(runs), runs, strict=True))
    shown_keys = {entry.record.key for entry in entries}
    left_out = {cell.key for run in runs for cell in run.cells} - shown_keys
    most = min(_MOST_LISTED, _MOST_CANDIDATES // max(len(entries), 1) + 1)
    cells = []
    wordings = {entry: game.facts.wording for game in games for entry in game.entries}
    for entry in entries:
        record, words = entry.record, wordings[entry]
        show = ["eqbench", "show", str(run_of[entry.run].path), cell_name(record), "--candidates"]
        more = {
            "run": entry.run,
            "candidates": len(record.equilibria),
            "equilibria": [_candidate(item, entry, words) for item in record.equilibria[:most]],
            "command": printable(shlex.join(show)),
        }
        cells.append(record.to_json() | more)
    requests = [
        {
            "name": run.path.absolute().name,
            "label": label,
            "folder": _folder(run, place),
            "planned": run.planned,
            "plan": run.plan | {"cells": [key for key in run.plan["cells"] if key not in left_out]},
        }
        for label, run in run_of.items()
    ]
    return {
        "schema": "eqbench.report/1",
        "runs": requests,
        "games": [{"name": game.name} for game in games],
        "cells": cells,
    }


def _candidate(item: EquilibriumRecord, entry: RunCell, words: Wording | None) -> dict[str, Any]:
    """A candidate in words too, without the long list of where it differs off the path."""
    own, is_equilibrium = item.to_json(), naming.holds(entry.record, item)
    own["lines"] = identity_lines(own, is_equilibrium=is_equilibrium, wording=words)
    if item.identity is None:
        return own
    identity = {**item.identity, "off_path": {}}
    return own | {"match": naming.kind_of_match(item.identity), "identity": identity}


def _folder(run: StoredRun, place: Path | None) -> str | None:
    """Path of a run's folder from that of the page; None if it is not near it."""
    if place is None:
        return None
    try:
        relative = Path(os.path.relpath(run.path.resolve(), place.resolve())).as_posix()
    except ValueError:  # they are on two drives of Windows
        return None
    return None if relative.startswith("../..") else "" if relative == "." else f"{relative}/"


def index_page(runs: Mapping[str, StoredRun], *, board: str = "") -> str:
    """Page about runs by the links to their pages, and to that of a leaderboard, if any."""
    rows = []
    for link, run in runs.items():
        entries = trials.entries_of([run])
        own = Trials(entries)
        times = own.figures("elapsed_s")
        statuses = Counter(cell.status for cell in run.cells)
        size = sum(file.stat().st_size for file in run.path.rglob("*") if file.is_file())
        name, counts = run.path.absolute().name, statuses.most_common()
        row = [Cell(name, link=link), next(iter(answer(entries, run.planned)), TEXTS["nothing"])]
        row += [", ".join(f"{count} {status}" for status, count in counts), statuses["ok"]]
        row += [run.planned, median(times) if times else None, own.best]
        row += [first_of([*dict.fromkeys(cell.game for cell in run.cells)])]
        row += [first_of([*dict.fromkeys(cell.solver for cell in run.cells)])]
        row += [str(run.plan.get("created") or "").replace("T", " ").partition("+")[0]]
        row += [(run.plan.get("environment") or {}).get("eqbench")]
        row += [Cell(f"{size / 1e6:.1f} MB", size, link=link.removesuffix("report.html") + LINES)]
        rows.append(row)
    table = html.Table("index", _INDEX, rows, TEXTS["index"], wrapped=True)
    link = Markup('<a href="{}">The leaderboard of the challenge</a>')
    lead = [link.format(address_of(board))] if board else []
    return html.document(counted(len(runs), "run"), {"Runs": [table]}, lead=lead)
