"""Charts of runs as specifications of Vega-Lite: templates over datasets of flat rows.

Every chart draws from the same datasets. What it computes of them, such as medians over seeds or
shares of targets, stands in its template.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from itertools import chain, combinations
from typing import Any, Literal, get_args
from zlib import crc32

from eqbench.errors import UsageError, nearest
from eqbench.model.game import Game
from eqbench.model.words import Wording
from eqbench.report.charts.answer import finds, key_of, tints
from eqbench.report.naming import identity_text, kind_of_match
from eqbench.report.recall import recall_rows
from eqbench.report.trials import SHORTEST_S, RunCell, by_trial, entries_of, named, ranked
from eqbench.store.stored_run import StoredRun
from eqbench.text import grouped, printable

VEGA_LITE = "6.4"
ChartName = Literal[
    "answer", "regret", "payoffs", "targets", "performance", "pairs", "times", "recall"
]
CHARTS: tuple[ChartName, ...] = get_args(ChartName)
_WIDTH = 620
_TEMPLATES = resources.files("eqbench.report.charts")

Rows = list[dict[str, Any]]

NEGLIGIBLE = 1e-13  # of the payoff range: what sums of rounded products leave behind
SAME = 1e-5  # of the payoff range: below which payoffs are the same
EQUILIBRIUM = 1e-6  # of the payoff range: up to which regret a profile counts as an equilibrium
COARSE = 1e-3  # of the payoff range: a target that most methods reach
_USUAL_TARGET = 1e-10  # of the payoff range, where a run was given none
_SHORT = 24  # letters of a title that leave room for another
_MOST_DRAWN = 1000  # equilibria, the best of each cell
_METRICS = ("max_regret", "nash_conv")
_FIELDS = (
    *("seed", "repeat", "status", "elapsed_s", "cpu_s", "setup_s", "overhead_s"),
    *(*_METRICS, "iterations"),
)


@dataclass(frozen=True)
class GameFacts:
    """What is known of a game next to what a run stores."""

    payoff_scale: float = 0.0  # 0 if it is not known
    #: names of published sets by their source, and by what symbols in their members' names mean
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: payoffs at both ends of published sets, or at the only point, where these can be drawn
    ends: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    #: what the labels of information sets mean, for :func:`eqbench.model.words.situation`
    wording: Wording | None = None
    #: the game itself, if it was loaded
    game: Game | None = None
    #: published sets and the nodes of the tree, as :mod:`eqbench.equilibria.formulas` gives them
    published: Sequence[Mapping[str, Any]] = ()
    nodes: Mapping[str, Sequence[Any]] | None = None


@dataclass(frozen=True)
class ShownGame:
    """A game as typed, and its cells."""

    name: str
    unit: float  # what targets are relative to: the payoff range, or 1 where it is unknown
    facts: GameFacts
    entries: Sequence[RunCell]


def shown_games(
    entries: Sequence[RunCell], facts: Mapping[str, GameFacts] | None = None
) -> list[ShownGame]:
    """Games of cells; the facts about them are by canonical spec and may lack any."""
    games = []
    for name, own in named(entries):
        known = (facts or {}).get(own[0].record.game_spec, GameFacts())
        sources = [(entry.record.target, entry.source) for entry in own]
        usual = [t for t, run in sources if t and run and run.plan["request"].get("target") is None]
        unit = known.payoff_scale or [*usual, _USUAL_TARGET][0] / _USUAL_TARGET
        games.append(ShownGame(printable(name), unit, known, own))
    return games


def datasets(
    entries: Sequence[RunCell], facts: Mapping[str, GameFacts] | None = None
) -> dict[str, Rows]:
    """All datasets, with columns named as in stored records, and how the solvers look."""
    games = shown_games(entries, facts)
    places = {entry: place for place, entry in enumerate(entries)}
    row_of = _cells(games)
    trials = [
        (name, {printable(solver): entry for solver, entry in own.items()})
        for game in games
        for name, own in by_trial(game.entries)
    ]
    # shares of the trials of which every solver has a cell, however it ended
    labels = {row["solver"] for row in row_of.values()}
    common = [own for _, own in trials if own.keys() == labels]
    for entry, times in Counter(entry for own in common for entry in own.values()).items():
        row_of[entry]["share"] = times / len(common)
    most = _MOST_DRAWN // max(len(entries), 1) + 1
    measured = dict.fromkeys(row_of[entry]["solver"] for entry in entries if entry.curve)
    found = [finds(game.entries, places, NEGLIGIBLE * game.unit) for game in games]
    named = zip(games, tints(game.entries for game in games), strict=True)
    return {
        "solvers": looks(measured),
        "names": [
            {"game": game.name, "key": key_of(game.name, name), "name": name} | look
            for game, own in named
            for name, look in own.items()
        ],
        "finds": [row for rows, _ in found for row in rows],
        "labels": [row for _, labels in found for row in labels],
        "cells": [{"cell": place} | row_of[entry] for entry, place in places.items()],
        "snapshots": [
            {"cell": place} | row for entry, place in places.items() for row in _curve(entry)
        ],
        "equilibria": [row for game in games for row in _equilibria(game, places, most)],
        "recall": recall_rows(entries),
        "trials": [
            {"trial": number, "seed": name, "side": side, "cell": places[entry]}
            for number, (name, own) in enumerate(trials)
            for side, entry in own.items()
        ],
    }


def _cells(games: Iterable[ShownGame]) -> dict[RunCell, dict[str, Any]]:
    """Row of each cell; `target_s` is to the strictest target of the game, if it is not 0."""
    rows = {}
    for game in games:
        target = min(entry.record.target or 0.0 for entry in game.entries)
        drawn = Counter(entry.solver for entry in game.entries if entry.curve)
        for entry in game.entries:
            record = entry.record
            memory = record.peak_memory_bytes if record.elapsed_s is not None else None
            rows[entry] = {
                "game": game.name,
                "solver": printable(entry.solver),
                **{name: getattr(record, name) for name in _FIELDS},
                "memory_mib": None if memory is None else memory / 2**20,
                "to_target_s": _time(entry, record.target),
                "target_s": _time(entry, target),
                "coarse_s": _time(entry, COARSE * game.unit),
                "target": record.target,
                "floor": NEGLIGIBLE * game.unit,
                "alone": drawn[entry.solver] < 2,
            }
    return rows


def _time(entry: RunCell, target: float | None) -> float | None:
    """Seconds to a target; its own a cell reached if it is ok, whatever rounding left."""
    regret = None if target == entry.record.target else target
    time = entry.time_to(regret) if target else math.inf
    return None if time == math.inf else max(time, SHORTEST_S)


def _curve(entry: RunCell) -> Iterator[dict[str, float | None]]:
    """The best regrets so far at each snapshot, with its share of the cell's processor time."""
    record = entry.record
    rate = record.cpu_s / record.elapsed_s if record.cpu_s and record.elapsed_s else math.nan
    best = dict.fromkeys(_METRICS, math.inf)
    for point in entry.curve:
        best = {name: min(best[name], getattr(point, name)) for name in _METRICS}
        time = max(point.elapsed_s, SHORTEST_S)
        axes = {"elapsed_s": time, "cpu_s": time * rate, "work": point.work or math.nan}
        yield {name: _rounded(value) for name, value in (axes | best).items()}


def _rounded(value: float, digits: int = 4) -> float | None:
    """A number with so many digits; None for what JSON does not know."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _equilibria(game: ShownGame, places: Mapping[RunCell, int], most: int) -> Rows:
    """Published payoffs, and the best candidates of each cell that are equilibria.

    Empty unless payoffs pass along a published family, or are more than two.
    """
    sound = [
        (places[entry], rank, item)
        for entry in game.entries
        for rank, item in enumerate(entry.record.equilibria)
        if item.max_regret <= EQUILIBRIUM * game.unit and item.refuted is None
    ]
    ends = game.facts.ends
    points = {tuple(round(u / (SAME * game.unit), 0) for u in item.payoffs) for *_, item in sound}
    if len(points) <= 2 and all(len(own) < 2 for own in ends.values()):
        return []
    rows: list[tuple[dict[str, Any], Sequence[float]]]
    rows = [({"cell": None, "name": name}, end) for name, own in ends.items() for end in own]
    for place, rank, item in sound:
        match = kind_of_match(item.identity) if item.identity else "no name"
        row = {"cell": place, "rank": rank, "name": identity_text(item.identity) or match}
        row |= {"match": match, "max_regret": _rounded(item.max_regret)}
        rows += [(row, item.payoffs)] * (rank < most)
    return [
        {"game": game.name, **row, **{f"u{p}": _rounded(u, 7) for p, u in enumerate(payoffs, 1)}}
        for row, payoffs in rows
    ]


def chart(
    name: str, runs: Sequence[StoredRun], facts: Mapping[str, GameFacts] | None = None
) -> dict[str, Any]:
    """A chart of runs, one of `CHARTS`, as a whole specification of Vega-Lite; else UsageError."""
    return whole(name, datasets(ranked(entries_of(runs)), facts))


def whole(name: str, data: Mapping[str, Rows]) -> dict[str, Any]:
    """A chart with its data, as a specification of Vega-Lite that stands alone."""
    measured = [row for row in data["cells"] if row["max_regret"] is not None]
    games = sorted({row["game"] for row in measured or data["cells"]})
    spec = specification(name, data, game=next(iter(games), ""))
    if len(games) > 1:
        game = next(param for param in spec["params"] if param["name"] == "game")
        game["bind"] = {"input": "select", "options": games, "name": "game "}
    text = json.dumps(spec)
    title = spec["usermeta"]["title"]
    return {
        "$schema": f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE[0]}.json",
        "title": f"{title} on {games[0]}" if len(games) == 1 else title,
        "width": _WIDTH,
        "datasets": {name: data[name] for name in data if f'"data": {{"name": "{name}"' in text},
        **spec,
    }


def specification(name: str, data: Mapping[str, Rows], game: str = "") -> dict[str, Any]:
    """Template of a chart, in which every solver has a color, dashes and a shape of its own.

    In `usermeta` stands what it shows: which rows, what it needs of cells, and what a reader may
    switch, by name of a parameter its values, each with the title that it gives an axis. Two sides
    of trials are first those that have most cells to compare.
    """
    if name not in CHARTS:
        raise UsageError(f"unknown chart {name!r}: {nearest(name, CHARTS)}")
    looked = [row["look"] for row in data["solvers"]]
    columns = ["u1", "u2", *(column for row in data["equilibria"] for column in row)]
    players = dict.fromkeys(column[1:] for column in columns if column[0] == "u")
    sides, first, second = _sides(data)
    tint = {row["key"]: row for row in data.get("names", ())}
    of_game = grouped(tint.values(), lambda row: row["game"]).items()
    named = {game: [row["key"] for row in own] for game, own in of_game}
    given = {
        "@solvers": [row["name"] for row in data["solvers"]],
        "@sides": {side: side for side in sides},
        "@first": first,
        "@second": second,
        "@players": {player: f"payoff of P{player}" for player in players},
        "@floors": {row["game"]: row["floor"] for row in data["cells"]},
        "@equilibria": [*tint],
        "@tints": [row["color"] for row in tint.values()],
        "@words": {key: row["title"] for key, row in tint.items()},
        "@named": named,
        "@columns": 1 if any(len(row["title"]) > _SHORT for row in tint.values()) else 2,
        **{f"@{key}": [look[key] for look in looked] for key in ("color", "strokeDash", "shape")},
    }
    common, own = _template("style")["common"], _template(name, given)
    spec: dict[str, Any] = {**common, **own, "params": common["params"] + own["params"]}
    for param in spec["params"]:
        if param["name"] == "game" and game:
            param["value"] = game
    return spec


def _sides(data: Mapping[str, Rows]) -> tuple[list[str], str, str]:
    """Sides of trials, and which two have most timed cells to compare; none if no two have two."""
    timed = [row for row in data["trials"] if data["cells"][row["cell"]]["elapsed_s"]]
    of_trial = grouped(timed, lambda row: row["trial"]).values()
    pairs = grouped(
        chain.from_iterable(combinations(own, 2) for own in of_trial),
        lambda pair: (pair[0]["side"], pair[1]["side"]),
    )
    cells = {  # of which one may stand in many trials
        sides: min(len({row["cell"] for row in rows}) for rows in zip(*own, strict=True))
        for sides, own in pairs.items()
        if len(own) > 1
    }
    first, second = max(cells, key=cells.__getitem__, default=("", ""))
    return list(dict.fromkeys(row["side"] for row in timed if cells)), first, second


def looks(solvers: Iterable[str]) -> Rows:
    """Color, dashes and shape of each solver, the same in all figures of all runs.

    A look is a number: the place of a built-in solver in ``style.json``, whose list only grows at
    its end, or what the letters of another name sum up to. Variants and runs of a solver keep its
    color if they can. Where two of a chart would look alike, the later one by name gives way.
    """
    style, names = _template("style"), [*solvers]
    colors, shapes, known = style["colors"], style["shapes"], style["solvers"]
    most = len(colors) * len(style["dashes"])
    numbers: dict[str, int] = {}
    for name in sorted(names, key=lambda name: (name not in known, name)):
        base = name.partition("(")[0].strip()
        start = known.index(base) if base in known else crc32(base.encode()) % most
        near = [(start + step * len(colors)) % most for step in range(len(style["dashes"]))]
        free = (n for n in [*near, *range(most)] if n not in numbers.values())
        numbers[name] = next(free, start)
    found = []
    for name in names:
        dash, color = divmod(numbers[name], len(colors))
        look = {"color": colors[color], "strokeDash": style["dashes"][dash]}
        look["shape"] = shapes[numbers[name] % len(shapes)]
        found.append({"name": name, "look": look})
    return found


def _template(name: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a file says, with given values in place of their names."""

    def filled(part: dict[str, Any]) -> dict[str, Any]:
        return {k: known.get(v, v) if isinstance(v, str) else v for k, v in part.items()}

    known = given or {}
    return json.loads((_TEMPLATES / f"{name}.json").read_text("utf-8"), object_hook=filled)
