"""Where the parameters of a sub-family give equilibria, measured on lattices, and drawn.

Figures 3 to 7 of the paper show these domains as it derived them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import HALF, QUARTER, ZERO, Values
from eqbench.plots.style import (
    SMALL_SIZE,
    label_axes,
    new_figure,
    player_color,
    save_figure,
    title_figure,
)

_BLUFFS = [Fraction(k, 16) for k in range(6)]
_SIXTEENTHS = [Fraction(k, 16) for k in range(16)]
_SEVEN_EIGHTHS, _TOP, _STEP = Fraction(7, 8), Fraction(15, 16), Fraction(1, 1024)
Point = Mapping[str, Fraction]


@dataclass(frozen=True)
class Lattice:
    """Points of a figure of the paper.

    Attributes
    ----------
    axes : values of each parameter; all their combinations are family.measured
    c11 : of all points, unless it is an axis
    panel, x, y : how it is drawn: one panel per value of `panel`, and x against y
    drawn : whether a point is in the picture
    """

    axes: Mapping[str, Sequence[Fraction]]
    c11: Fraction
    panel: str = ""
    x: str = ""
    y: str = ""
    drawn: Callable[[Point], bool] = lambda _: True

    def values(self, point: Point) -> Values:
        """The profile that a point stands for: b21 = b11, b32 = 1/2 and c33 at its lowest, and
        the rest by Table 3, unless the point says otherwise."""
        free = {"b21": point["b11"], "b32": HALF, "c11": self.c11} | dict(point)
        if "b32 share" in free:
            free["b32"] = free.pop("b32 share") * family.largest_b32(free["b11"], free["b21"])
        return family.member({"c33": family.lowest_c33(free["b32"])} | free)


LATTICES = {
    "3": Lattice(
        {"b11": _BLUFFS, "b21": _BLUFFS, "b32": [Fraction(k, 8) for k in range(9)]},
        *(ZERO, "b11", "b21", "b32"),
    ),
    "4": Lattice(
        {
            **{"b11": _BLUFFS, "b21": _BLUFFS},
            **{"b32": [ZERO, HALF, _SEVEN_EIGHTHS, _TOP], "c33": _SIXTEENTHS},
        },
        *(ZERO, "b32", "b21", "c33"),
        drawn=lambda point: point["b11"] == point["b21"],
    ),
    "5": Lattice(
        {"b11": _BLUFFS, "b32": [ZERO, HALF, _SEVEN_EIGHTHS], "c33": _SIXTEENTHS},
        *(QUARTER, "b32", "b11", "c33"),
    ),
    "6": Lattice(
        {"b11": [Fraction(k, 48) for k in range(16)], "c11": [Fraction(k, 64) for k in range(34)]},
        *(ZERO, "", "b11", "c11"),
    ),
    "7": Lattice(
        {
            **{"b11": _BLUFFS, "b21": _BLUFFS[:4], "b23": [Fraction(k, 64) for k in range(10)]},
            # b32 at its smallest or largest, or beyond
            "b32 share": [ZERO, Fraction(1), Fraction(9, 8)],
        },
        *(HALF, "b21", "b11", "b23"),
        drawn=lambda point: point["b32 share"] == 1,
    ),
}


def domains(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """For each figure how many points are equilibria and how many the paper says are; drawings."""
    points = {number: _measured(lattice) for number, lattice in LATTICES.items()}
    for number, lattice in LATTICES.items():
        _draw(lattice, points[number], folder / f"figure_{number}.svg")
    # where nothing else bounds c11
    small = [
        one
        for one in points["6"]
        if one["point"]["b11"] <= Fraction(1, 6) and 0 < one["point"]["c11"] < HALF
    ]
    return {
        **{number: _summary(own) for number, own in points.items()},
        "small_bluffs": _summary(small) | {"largest": _summary(small)["largest"]["c11"]},
        "corners": _corners(),
        "swapped": _swapped(),
    }


def _measured(lattice: Lattice) -> list[dict[str, Any]]:
    """The points that are profiles, with whether they are equilibria and whether they should be."""
    found = []
    for place in product(*lattice.axes.values()):
        point = dict(zip(lattice.axes, place, strict=True))
        values = lattice.values(point)
        if family.is_profile(values):
            is_one = family.measured(values).max_regret == 0
            found.append({"point": point, "is": is_one, "said": family.is_member(values)})
    return found


def _summary(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found = [one["point"] for one in points if one["is"]]
    return {
        "points": len(points),
        "equilibria": len(found),
        "agree": sum(one["is"] == one["said"] for one in points),
        "largest": {name: str(max(point[name] for point in found)) for name in points[0]["point"]},
    }


def _corners() -> dict[str, str]:
    """Exact regrets at and just beyond the special points that the text names."""

    def regret(b32: Fraction, c33: Fraction = ZERO, less: tuple[int, int] = (0, 0)) -> str:
        b11, b21 = (QUARTER - k * _STEP for k in less)
        values = family.member({"b11": b11, "b21": b21, "b32": b32, "c33": c33, "c11": ZERO})
        return str(family.measured(values).max_regret)

    eighth = dict.fromkeys(("b11", "b21"), QUARTER / 2)
    half = family.member(eighth | {"b32": HALF, "c33": ZERO, "c11": HALF})
    return {
        "b32=15/16": regret(_TOP),
        "b32=15/16, c33 more": regret(_TOP, _STEP),
        "b32=15/16, b11 less": regret(_TOP, less=(1, 0)),
        "b32=15/16, both less": regret(_TOP, less=(1, 1)),
        "b32 more": regret(_TOP + _STEP),
        "b32=7/8, c33=0": regret(_SEVEN_EIGHTHS),
        "b32=7/8, c33=1/16": regret(_SEVEN_EIGHTHS, Fraction(1, 16)),
        "b32=7/8, c33 more": regret(_SEVEN_EIGHTHS, Fraction(1, 16) + _STEP),
        # beyond c11 = 1/2 Table 3's c21 is no frequency
        "c11=1/2, c21=0": str(family.measured(half).max_regret),
        "c11 more, c21=0": str(family.measured(half | {"c11": HALF + _STEP}).max_regret),
    }


def _swapped() -> dict[str, Any]:
    """Points of Figure 4 with c11 = 0, and with b11 and b21 swapped and c11 = 1/2."""
    rest = {"b32": [ZERO, HALF], "c33": _SIXTEENTHS[::2]}
    low, high = (
        {tuple(one["point"].values()) for one in _measured(lattice) if one["is"]}
        for lattice in (
            Lattice({"b11": _BLUFFS, "b21": _BLUFFS, **rest}, ZERO),
            Lattice({"b21": _BLUFFS, "b11": _BLUFFS, **rest}, HALF),
        )
    )
    example = [str(value) for value in max(low - high, default=())[:2]]
    return {"low": len(low), "high": len(high), "both": len(low & high), "example": example}


def _draw(lattice: Lattice, points: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Panels of full dots where it is an equilibrium and rings where it is none."""
    shown = [one for one in points if lattice.drawn(one["point"])]
    panels = sorted({one["point"].get(lattice.panel, ZERO) for one in shown})
    figure = new_figure(max(3.6, 2.0 * len(panels)), 3.0)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    dots: dict[str, Any] = {"s": 14, "edgecolors": player_color(0), "linewidths": 0.6}
    domain: dict[str, Any] = {"s": 70, "marker": "s", "alpha": 0.25, "linewidths": 0}
    for ax, value in zip(axes, panels, strict=True):
        here = [one for one in shown if one["point"].get(lattice.panel, ZERO) == value]
        for own, style in (
            ([one for one in here if one["is"]], dots | {"facecolors": player_color(0)}),
            ([one for one in here if not one["is"]], dots | {"facecolors": "none"}),
            ([one for one in here if one["said"]], domain | {"color": player_color(1)}),
        ):
            places = [[float(one["point"][name]) for one in own] for name in (lattice.x, lattice.y)]
            ax.scatter(*places, **style)
        label_axes(ax, lattice.x, lattice.y if ax is axes[0] else "")
        if lattice.panel:
            ax.set_title(f"{lattice.panel} = {value}", fontsize=SMALL_SIZE)
    title_figure(figure, "● equilibrium   ○ none   shaded: where the paper has its domain")
    save_figure(figure, path)
