"""Domains in which parameters give equilibria, measured on lattices and drawn.

Figures 3 to 7 of the paper show these domains as it derived them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import pandas as pd

from eqbench.papers.records import Table
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import HALF
from eqbench.plots import style


def domains(folder: Path, jobs: Path, *, full: bool) -> Table:
    """For each figure how many points are equilibria and how many the paper says are; drawings."""
    lattices = family.PROFILES["lattices"]
    points = {name: _measured(each["axes"]) for name, each in lattices.items()}
    low, mirrored = (
        {tuple(row) for row in own[own["is"]].to_numpy()[:, :4]}
        for own in (points.pop("low"), points.pop("mirrored"))
    )
    for number, own in points.items():
        _draw(own, lattices[number]["panels"], folder / f"figure_{number}.svg")
    small = points["6"]  # where nothing else bounds c11
    small = small[(small["b11"] <= Fraction(1, 6)) & (small["c11"] > 0) & (small["c11"] < HALF)]
    return {
        **{number: _summary(own) for number, own in points.items()},
        "small bluffs": _summary(small) | {"largest": small[small["is"]]["c11"].max()},
        "swapped": {
            "low": len(low),
            "high": len(mirrored),
            "both": len(low & mirrored),
            "example": max(low - mirrored, default=())[:2],
        },
    }


def _measured(axes: Mapping[str, str]) -> pd.DataFrame:
    """The points that are profiles, with whether they are equilibria and whether they should be.

    Values of an axis are as they stand, or all multiples of a fraction up to it.
    """
    values, rows = [], []
    for text in axes.values():
        most, _, unit = text.removeprefix("..").partition("/")
        up_to = [Fraction(k, int(unit)) for k in range(int(most) + 1)] if text[:2] == ".." else []
        values.append(up_to or list(map(Fraction, text.split())))
    for place in product(*values):
        point = dict(zip(axes, place, strict=True))
        free = {"b21": point["b11"], "b32": HALF} | point
        if "b32 share" in free:
            free["b32"] = free.pop("b32 share") * family.largest_b32(free["b11"], free["b21"])
        profile = family.member({"c33": family.lowest_c33(free["b32"])} | free)
        if family.is_profile(profile):
            is_one, member = family.regret(profile) == 0, family.is_member(profile)
            rows.append(point | {"is": is_one, "member": member})
    return pd.DataFrame(rows)


def _summary(points: pd.DataFrame) -> dict[str, object]:
    found = points[points["is"]].drop(columns=["is", "member"])
    return {
        "points": len(points),
        "equilibria": len(found),
        "agree": int((points["is"] == points["member"]).sum()),
        "largest": {name: max(values) for name, values in found.items()},
    }


def _draw(points: pd.DataFrame, axes: Sequence[str], path: Path) -> None:
    """Panels of full dots where it is an equilibrium and rings where it is none.

    Of b11 and b21 that are no axes only equal ones are shown, of b32 only its largest.
    """
    panel, x, y = axes
    shown = points
    if "b11" not in axes:
        shown = shown[shown["b11"] == shown["b21"]]
    if "b32 share" in shown:
        shown = shown[shown["b32 share"] == 1]
    panels = list(shown.groupby(panel)) if panel else [("", shown)]
    dot = {"s": 14, "linewidths": 0.6, "edgecolors": style.player_color(0)}
    domain = {"s": 70, "marker": "s", "alpha": 0.25, "linewidths": 0}
    drawn = list[style.Panel]()
    for value, here in panels:
        looks = (
            (here[here["is"]], dot | {"facecolors": style.player_color(0)}),
            (here[~here["is"]], dot | {"facecolors": "none"}),
            (here[here["member"]], domain | {"color": style.player_color(1)}),
        )
        clouds = [
            style.Series("scatter", (own[x].astype(float), own[y].astype(float)), look)
            for own, look in looks
        ]
        title = f"{panel} = {value!s}" if panel else ""
        drawn.append(style.Panel(clouds, x, "" if drawn else y, title))
    title = "● equilibrium   ○ none   shaded: where the paper has its domain"
    width = max(3.6, 2.0 * len(panels))
    figure = style.draw_figure(drawn, width, 3.0, len(drawn), title=title, sharey=True)
    style.save_figure(figure, path)
