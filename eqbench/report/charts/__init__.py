"""Charts of runs as specifications of Vega-Lite: templates, filled with the data of runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from eqbench.errors import UsageError, nearest
from eqbench.report.charts.datasets import GameFacts, Rows, datasets, shown_games, solvers_in
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

    Parameters
    ----------
    name : one of `CHARTS`
    facts : of games by canonical spec, as on a page; what is missing costs only what it is for

    Raises
    ------
    UsageError
        If there is no chart of that name.
    """
    data = datasets(shown_games(entries_of(runs), facts))
    spec = specification(name, solvers_in(data), data["equilibria"])
    games = sorted({row["game"] for row in data["cells"] if row["max_regret"] is not None})
    games = games or list(dict.fromkeys(row["game"] for row in data["cells"]))
    game = next(param for param in spec["params"] if param["name"] == "game")
    game |= {"value": games[0]} if games else {}
    if len(games) > 1:
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


def specification(
    name: str, solvers: Sequence[str], equilibria: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Template of a chart, in which every solver has a color, dashes and a shape of its own.

    The players of the rows of equilibria are those whose payoff may stand upwards.

    In `usermeta` stands what it shows: which rows, what it needs of cells, and what a reader may
    switch, by name of a parameter its values, each with the title that it gives an axis.
    """
    if name not in CHARTS:
        raise UsageError(f"unknown chart {name!r}: {nearest(name, CHARTS)}")
    look = looks(solvers)
    names = ["u1", "u2", *(name for row in equilibria for name in row)]
    players = dict.fromkeys(name[1:] for name in names if name[0] == "u")
    given = {
        "@solvers": list(solvers),
        "@names": {solver: solver for solver in solvers},
        "@players": {player: f"payoff of P{player}" for player in players},
        **{f"@{key}": [own[key] for own in look] for key in ("color", "strokeDash", "shape")},
    }
    common, own = _template("style")["common"], _template(name, given)
    spec: dict[str, Any] = {**common, **own, "params": common["params"] + own["params"]}
    switches = spec["usermeta"].setdefault("switches", {})
    for param in spec["params"]:
        choices = [*switches.get(param["name"], {})][:2]
        if choices and param["value"] not in choices:
            param["value"] = choices[-1 if param["name"] == "second" else 0]
    return spec


def drawable(spec: Mapping[str, Any], data: Mapping[str, Rows]) -> bool:
    """Whether data have rows that a chart draws, cells with what it needs, and as many games."""
    told, cells = spec["usermeta"], data["cells"]
    known = any(row.get(told.get("needs", "cell")) is not None for row in cells)
    games = {row["game"] for row in cells if "share" in row}
    return bool(data[told["rows"]]) and known and len(games) >= told.get("games", 0)


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
