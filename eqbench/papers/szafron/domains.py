"""Where the parameters of a sub-family give equilibria, measured on lattices, and drawn.

Figures 3 to 7 of the paper show these domains as it derived them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import HALF, ZERO, Values
from eqbench.plots.style import (
    SMALL_SIZE,
    label_axes,
    new_figure,
    player_color,
    save_figure,
    title_figure,
)

Point = Mapping[str, Fraction]
Points = list[dict[str, Any]]


def domains(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """For each figure how many points are equilibria and how many the paper says are; drawings."""
    points = {name: _measured(each["axes"]) for name, each in family.PROFILES["lattices"].items()}
    low, mirrored = (
        {tuple(one["point"].values())[:4] for one in points.pop(name) if one["is"]}
        for name in ("low", "mirrored")
    )
    for number, own in points.items():
        axes = family.PROFILES["lattices"][number]["panels"]
        _draw(own, axes, folder / f"figure_{number}.svg")
    # where nothing else bounds c11
    small = [
        one
        for one in points["6"]
        if one["point"]["b11"] <= Fraction(1, 6) and 0 < one["point"]["c11"] < HALF
    ]
    return {
        **{number: _summary(own) for number, own in points.items()},
        "small bluffs": _summary(small) | {"largest": _summary(small)["largest"]["c11"]},
        "swapped": {
            "low": len(low),
            "high": len(mirrored),
            "both": len(low & mirrored),
            "example": [str(value) for value in max(low - mirrored, default=())[:2]],
        },
    }


def _measured(axes: Mapping[str, str]) -> Points:
    """The points that are profiles, with whether they are equilibria and whether they should be."""
    found = []
    for place in product(*map(_values, axes.values())):
        point = dict(zip(axes, place, strict=True))
        values = _profile(point)
        if family.is_profile(values):
            is_one = family.regret(values) == 0
            found.append({"point": point, "is": is_one, "said": family.is_member(values)})
    return found


def _values(text: str) -> list[Fraction]:
    """Values of an axis: as they stand, or all multiples up to a fraction."""
    if not text.startswith(".."):
        return list(map(Fraction, text.split()))
    most, unit = map(int, text[2:].split("/"))
    return [Fraction(k, unit) for k in range(most + 1)]


def _profile(point: Point) -> Values:
    """The profile that a point stands for."""
    free = {"b21": point["b11"], "b32": HALF, "c11": ZERO} | dict(point)
    if "b32 share" in free:
        free["b32"] = free.pop("b32 share") * family.largest_b32(free["b11"], free["b21"])
    return family.member({"c33": family.lowest_c33(free["b32"])} | free)


def _summary(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found = [one["point"] for one in points if one["is"]]
    return {
        "points": len(points),
        "equilibria": len(found),
        "agree": sum(one["is"] == one["said"] for one in points),
        "largest": {name: str(max(point[name] for point in found)) for name in points[0]["point"]},
    }


def _draw(points: Points, axes: Sequence[str], path: Path) -> None:
    """Panels of full dots where it is an equilibrium and rings where it is none.

    Of b11 and b21 that are no axes only equal ones are shown, of b32 only its largest.
    """
    panel, x, y = axes
    shown = [
        one
        for one in points
        if ("b11" in (panel, x) or one["point"]["b11"] == one["point"]["b21"])
        and one["point"].get("b32 share", 1) == 1
    ]
    panels = sorted({one["point"].get(panel, ZERO) for one in shown})
    figure = new_figure(max(3.6, 2.0 * len(panels)), 3.0)
    drawn = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    dots: dict[str, Any] = {"s": 14, "edgecolors": player_color(0), "linewidths": 0.6}
    domain: dict[str, Any] = {"s": 70, "marker": "s", "alpha": 0.25, "linewidths": 0}
    for ax, value in zip(drawn, panels, strict=True):
        here = [one for one in shown if one["point"].get(panel, ZERO) == value]
        for own, style in (
            ([one for one in here if one["is"]], dots | {"facecolors": player_color(0)}),
            ([one for one in here if not one["is"]], dots | {"facecolors": "none"}),
            ([one for one in here if one["said"]], domain | {"color": player_color(1)}),
        ):
            places = [[float(one["point"][name]) for one in own] for name in (x, y)]
            ax.scatter(*places, **style)
        label_axes(ax, x, y if ax is drawn[0] else "")
        if panel:
            ax.set_title(f"{panel} = {value}", fontsize=SMALL_SIZE)
    title_figure(figure, "● equilibrium   ○ none   shaded: where the paper has its domain")
    save_figure(figure, path)
