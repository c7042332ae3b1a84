"""Charts of runs as specifications of Vega-Lite: templates, filled with the data of runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from itertools import combinations
from typing import Any

from eqbench.errors import UsageError, nearest
from eqbench.report.charts.datasets import GameFacts, Rows, datasets, shown_games, solvers_in
from eqbench.report.entries import grouped
from eqbench.report.exports import entries_of
from eqbench.store.stored_run import StoredRun

VEGA_LITE = "6.4"
CHARTS = ("regret", "payoffs", "targets", "profile", "pairs", "memory", "times")
_WIDTH = 620
_TEMPLATES = resources.files("eqbench.report.charts")


def chart(
    name: str, runs: Sequence[StoredRun], facts: Mapping[str, GameFacts] | None = None
) -> dict[str, Any]:
    """A chart of runs as a complete specification of Vega-Lite with its data.

    Facts of games are by canonical spec; what is missing costs only what it is for. It raises a
    `UsageError` if the name is none of `CHARTS`.
    """
    data = datasets(shown_games(entries_of(runs), facts))
    measured = {row["game"] for row in data["cells"] if row["max_regret"] is not None}
    games = sorted(measured) or list(dict.fromkeys(row["game"] for row in data["cells"]))
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


def specification(name: str, data: Mapping[str, Rows], **values: str) -> dict[str, Any]:
    """Template of a chart, in which every solver has a color, dashes and a shape of its own.

    In `usermeta` stands what it shows: which rows, what it needs of cells, and what a reader may
    switch, by name of a parameter its values, each with the title that it gives an axis. Two sides
    of trials are first those that have most trials in common.
    """
    if name not in CHARTS:
        raise UsageError(f"unknown chart {name!r}: {nearest(name, CHARTS)}")
    solvers = solvers_in(data)
    look = looks(solvers)
    columns = ["u1", "u2", *(column for row in data["equilibria"] for column in row)]
    players = dict.fromkeys(column[1:] for column in columns if column[0] == "u")
    sides, first, second = _sides(data)
    given = {
        "@solvers": solvers,
        "@sides": {side: side for side in sides},
        "@first": first,
        "@second": second,
        "@players": {player: f"payoff of P{player}" for player in players},
        **{f"@{key}": [own[key] for own in look] for key in ("color", "strokeDash", "shape")},
    }
    common, own = _template("style")["common"], _template(name, given)
    spec: dict[str, Any] = {**common, **own, "params": common["params"] + own["params"]}
    spec["usermeta"].setdefault("switches", {})
    for param in spec["params"]:
        param["value"] = values.get(param["name"], param["value"])
    return spec


def _sides(data: Mapping[str, Rows]) -> tuple[list[str], str, str]:
    """Sides of trials, and which two are timed in most trials; none without two such sides."""
    timed = [row for row in data["trials"] if data["cells"][row["cell"]]["elapsed_s"]]
    of_side = grouped(timed, lambda row: row["side"]).items()
    trials = {side: {row["trial"] for row in own} for side, own in of_side}
    common = {pair: len(trials[pair[0]] & trials[pair[1]]) for pair in combinations(trials, 2)}
    first, second = max(common, key=lambda pair: common[pair], default=("", ""))
    return (list(trials), first, second) if common.get((first, second)) else ([], "", "")


def drawable(spec: Mapping[str, Any], data: Mapping[str, Rows]) -> bool:
    """Whether data have rows and choices for a chart, cells with what it needs, enough games."""
    told, cells = spec["usermeta"], data["cells"]
    known = any(row.get(told.get("needs", "cell")) is not None for row in cells)
    games = {row["game"] for row in cells if "share" in row}
    has_all = bool(data[told["rows"]]) and all(told["switches"].values())
    return has_all and known and len(games) >= told.get("games", 0)


def looks(solvers: Sequence[str]) -> list[dict[str, Any]]:
    """Color, dashes and shape of each solver; beyond ten a color comes again with other dashes."""
    style = _template("style")
    colors, dashes, shapes = style["colors"], style["dashes"], style["shapes"]
    return [
        {
            "color": colors[k % len(colors)],
            "strokeDash": dashes[k // len(colors) % len(dashes)],
            "shape": shapes[k % len(shapes)],
        }
        for k in range(len(solvers))
    ]


def _template(name: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a file says, with given values in place of their names."""

    def filled(part: dict[str, Any]) -> dict[str, Any]:
        return {k: known.get(v, v) if isinstance(v, str) else v for k, v in part.items()}

    known = given or {}
    return json.loads((_TEMPLATES / f"{name}.json").read_text("utf-8"), object_hook=filled)
