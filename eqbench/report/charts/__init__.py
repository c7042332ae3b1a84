"""Charts of runs as specifications of Vega-Lite: templates, filled with the data of runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from eqbench.errors import UsageError, nearest
from eqbench.report.charts.datasets import Rows, datasets
from eqbench.report.charts.material import GameFacts, collect
from eqbench.store.stored_run import StoredRun

VEGA_LITE = "6.4"
CHARTS = ("regret", "payoffs", "targets", "profile", "pairs", "memory", "times")
_WIDTH = 620
_LOOKS = {"color": "color", "fill": "color", "strokeDash": "strokeDash", "shape": "shape"}
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
    material = collect(runs, facts)
    data = datasets(material)
    solvers = dict.fromkeys(row["solver"] for row in data["cells"] if row["max_regret"] is not None)
    players = max((len(entry.record.payoffs or ()) for entry in material.entries), default=2)
    spec = specification(name, list(solvers), players)
    games = sorted({row["game"] for row in data["cells"] if row["max_regret"] is not None})
    games = games or [game.short for game in material.games]
    game = next(param for param in spec["params"] if param["name"] == "game")
    game |= {"value": games[0]} if games else {}
    if len(games) > 1:
        game["bind"] = {"input": "select", "options": games, "name": "game "}
    used = {part["name"] for part in _parts(spec, "data") if "name" in part}
    title = spec["usermeta"]["title"]
    return {
        "$schema": f"https://vega.github.io/schema/vega-lite/v{VEGA_LITE[0]}.json",
        "title": f"{title} on {games[0]}" if len(games) == 1 else title,
        "width": _WIDTH,
        "datasets": {name: data[name] for name in sorted(used)},
        **spec,
    }


def specification(name: str, solvers: Sequence[str], players: int = 2) -> dict[str, Any]:
    """Template of a chart, in which every solver has a color, dashes and a shape of its own.

    In `usermeta` stands what it shows: which rows, what it needs of cells, and what a reader may
    switch, by name of a parameter its values, each with the title that it gives an axis.
    """
    if name not in CHARTS:
        raise UsageError(f"unknown chart {name!r}: {nearest(name, CHARTS)}")
    common, style = _template("style")["common"], looks(solvers)
    spec: dict[str, Any] = {**common, **_template(name)}
    spec["params"] = common["params"] + spec["params"]
    lists = {
        "solvers": {solver: solver for solver in solvers},
        "players": {str(p): f"payoff of P{p}" for p in range(2, max(players, 2) + 1)},
    }
    switches = spec["usermeta"].setdefault("switches", {})
    for param in spec["params"]:
        choices = switches.get(param["name"], {})
        if isinstance(choices, str):
            choices = switches[param["name"]] = lists[choices]
        if choices:
            param["value"] = [*choices][:2][-1 if param["name"] == "second" else 0]
    for encoding in _parts(spec, "encoding"):
        for channel, own in encoding.items():
            if channel in _LOOKS and own and own.get("field") == "solver":
                looked = [look[_LOOKS[channel]] for look in style]
                scale = {"domain": list(solvers), "range": looked}
                encoding[channel] = {"type": "nominal", "scale": scale} | own
    return spec


def drawable(spec: Mapping[str, Any], data: Mapping[str, Rows]) -> bool:
    """Whether data have rows that a chart draws, and cells with what it needs."""
    told = spec["usermeta"]
    known = (row.get(told.get("needs", "cell")) is not None for row in data["cells"])
    return bool(data[told["rows"]]) and any(known)


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


def _template(name: str) -> dict[str, Any]:
    """What a file says, as a copy of its own, which is filled."""
    return json.loads((_TEMPLATES / f"{name}.json").read_text(encoding="utf-8"))


def _parts(spec: Any, key: str) -> Iterator[dict[str, Any]]:
    """All values of a key, wherever it stands in a specification."""
    for name, value in spec.items() if isinstance(spec, dict) else enumerate(spec):
        if name == key and isinstance(value, dict):
            yield value
        elif isinstance(value, dict | list):
            yield from _parts(value, key)
