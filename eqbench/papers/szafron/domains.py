"""Where the parameters of a sub-family give equilibria, measured on lattices, and drawn.

Figures 3 to 7 of the paper show these domains as it derived them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eqbench.papers.szafron.certificates import measured
from eqbench.papers.szafron.notation import (
    HALF,
    QUARTER,
    Values,
    is_profile,
    largest_b32,
    load_kuhn3,
    lowest_c33,
    member,
    violated,
)
from eqbench.plots.style import (
    SMALL_SIZE,
    label_axes,
    new_figure,
    player_color,
    save_figure,
    title_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ZERO, _SIXTH = Fraction(0), Fraction(1, 6)
_BLUFFS = [Fraction(k, 16) for k in range(6)]
_EIGHTHS = [Fraction(k, 8) for k in range(9)]
_SIXTEENTHS = [Fraction(k, 16) for k in range(16)]
Point = Mapping[str, Fraction]


@dataclass(frozen=True)
class Lattice:
    """Points of a figure of the paper.

    Attributes
    ----------
    axes : values of each parameter; all their combinations are measured
    free : the free parameters that a point stands for, Table 3 giving the rest
    panel, x, y : how it is drawn: one panel per value of `panel`, and x against y; a parameter
        that is none of them is set by `drawn`
    drawn : whether a point is in the picture
    """

    number: int
    axes: Mapping[str, Sequence[Fraction]]
    free: Callable[[Point], Values]
    panel: str
    x: str
    y: str
    drawn: Callable[[Point], bool] = lambda point: True


def _low(point: Point) -> Values:
    return {"b11": point["b11"], "b21": point["b21"], "c11": _ZERO, "b32": point["b32"]}


def _high_b32(point: Point) -> Fraction:
    """b32 at its smallest or largest, or beyond."""
    return point["b32 share"] * largest_b32(point["b11"], point["b21"])


LATTICES = (
    Lattice(
        3,
        {"b11": _BLUFFS, "b21": _BLUFFS, "b32": _EIGHTHS},
        lambda p: _low(p) | {"c33": lowest_c33(p["b32"])},
        *("b11", "b21", "b32"),
    ),
    Lattice(
        4,
        {
            "b11": _BLUFFS,
            "b21": _BLUFFS,
            "b32": [_ZERO, HALF, Fraction(7, 8), Fraction(15, 16)],
            "c33": _SIXTEENTHS,
        },
        lambda p: _low(p) | {"c33": p["c33"]},
        *("b32", "b21", "c33"),
        drawn=lambda p: p["b11"] == p["b21"],
    ),
    Lattice(
        5,
        {"b11": _BLUFFS, "b32": [_ZERO, HALF, Fraction(7, 8)], "c33": _SIXTEENTHS},
        lambda p: {
            **{"b11": p["b11"], "b21": p["b11"], "c11": QUARTER},
            **{"b32": p["b32"], "c33": p["c33"]},
        },
        *("b32", "b11", "c33"),
    ),
    Lattice(
        6,
        {"b11": [Fraction(k, 48) for k in range(16)], "c11": [Fraction(k, 64) for k in range(34)]},
        lambda p: {
            **{"b11": p["b11"], "b21": p["b11"], "c11": p["c11"]},
            **{"b32": HALF, "c33": _ZERO},
        },
        *("", "b11", "c11"),
    ),
    Lattice(
        7,
        {
            "b11": _BLUFFS,
            "b21": _BLUFFS[:4],
            "b23": [Fraction(k, 64) for k in range(10)],
            "b32 share": [_ZERO, Fraction(1), Fraction(9, 8)],
        },
        lambda p: {
            **{"b11": p["b11"], "b21": p["b21"], "b23": p["b23"], "c11": HALF},
            **{"b32": _high_b32(p), "c33": lowest_c33(_high_b32(p))},
        },
        *("b21", "b11", "b23"),
        drawn=lambda p: p["b32 share"] == 1,
    ),
)


def compute(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """For each figure how many points are equilibria and how many the paper says are; drawings."""
    found = {}
    for lattice in LATTICES:
        points = _measured(lattice)
        found[str(lattice.number)] = _summary(points)
        _draw(lattice, points, folder / f"figure_{lattice.number}.svg")
        if lattice.number == 6:
            found["small_bluffs"] = _small_bluffs(points)
    return found | {"corners": _corners(), "swapped": _swapped()}


def _measured(lattice: Lattice) -> list[dict[str, Any]]:
    """The points that are profiles, with whether they are equilibria and whether they should be."""
    game = load_kuhn3()
    found = []
    for place in product(*lattice.axes.values()):
        point = dict(zip(lattice.axes, place, strict=True))
        values = member(lattice.free(point))
        if not is_profile(values):
            continue
        equilibrium = measured(game, values).max_regret == 0
        found.append({"point": point, "is": equilibrium, "said": not violated(values)})
    return found


def _summary(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found = [entry for entry in points if entry["is"]]
    return {
        "points": len(points),
        "equilibria": sum(entry["is"] for entry in points),
        "said": sum(entry["said"] for entry in points),
        "agree": sum(entry["is"] == entry["said"] for entry in points),
        "missed": [_written(e["point"]) for e in points if e["is"] and not e["said"]][:5],
        "wrong": [_written(e["point"]) for e in points if e["said"] and not e["is"]][:5],
        "largest": {
            name: str(max(entry["point"][name] for entry in found)) for name in points[0]["point"]
        },
    }


def _small_bluffs(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Points with 0 < c11 < 1/2 and b11 up to 1/6, where nothing else bounds c11."""
    inside = [e for e in points if e["point"]["b11"] <= _SIXTH and 0 < e["point"]["c11"] < HALF]
    return {
        "points": len(inside),
        "equilibria": sum(entry["is"] for entry in inside),
        "largest": str(max(entry["point"]["c11"] for entry in inside)),
    }


def _written(point: Point) -> dict[str, str]:
    return {name: str(value) for name, value in point.items()}


def _corners() -> dict[str, Any]:
    """Exact regrets at and just beyond the special points that the text names."""
    game = load_kuhn3()

    def regret(**free: Fraction) -> str:
        return str(measured(game, member({"c11": _ZERO} | free)).max_regret)

    top, most = Fraction(15, 16), Fraction(7, 8)
    both = {"b11": QUARTER, "b21": QUARTER}
    step = Fraction(1, 1024)
    eighth = {"b11": QUARTER / 2, "b21": QUARTER / 2, "b32": HALF, "c33": _ZERO}
    half = member(eighth | {"c11": HALF})
    return {
        "b32=15/16": regret(**both, b32=top, c33=_ZERO),
        "b32=15/16, c33 more": regret(**both, b32=top, c33=step),
        "b32=15/16, b11 less": regret(b11=QUARTER - step, b21=QUARTER, b32=top, c33=_ZERO),
        "b32=15/16, both less": regret(b11=QUARTER - step, b21=QUARTER - step, b32=top, c33=_ZERO),
        "b32 more": regret(**both, b32=top + step, c33=_ZERO),
        "b32=7/8, c33=0": regret(**both, b32=most, c33=_ZERO),
        "b32=7/8, c33=1/16": regret(**both, b32=most, c33=Fraction(1, 16)),
        "b32=7/8, c33 more": regret(**both, b32=most, c33=Fraction(1, 16) + step),
        # beyond c11 = 1/2 Table 3's c21 is no frequency
        "c11=1/2, c21=0": str(measured(game, half).max_regret),
        "c11 more, c21=0": str(measured(game, half | {"c11": HALF + step}).max_regret),
    }


def _swapped() -> dict[str, Any]:
    """Points of Figure 4 with c11 = 0, and with b11 and b21 swapped and c11 = 1/2."""
    game = load_kuhn3()
    low: set[tuple[Fraction, ...]] = set()
    high: set[tuple[Fraction, ...]] = set()
    example = ["", ""]
    points = [
        (b11, b21, b32, c33)
        for b11, b21, b32, c33 in product(_BLUFFS, _BLUFFS, (_ZERO, HALF), _SIXTEENTHS[::2])
    ]
    for point in points:
        b11, b21, b32, c33 = point
        for found, first, second, c11 in ((low, b11, b21, _ZERO), (high, b21, b11, HALF)):
            free = {"b11": first, "b21": second, "b32": b32, "c33": c33, "c11": c11}
            values = member(free)
            if is_profile(values) and measured(game, values).max_regret == 0:
                found.add(point)
        if point in low - high:
            example = [str(b11), str(b21)]
    return {
        "points": len(points),
        "low": len(low),
        "high": len(high),
        "both": len(low & high),
        "example": example,
    }


def _draw(lattice: Lattice, points: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Panels of full dots where it is an equilibrium and rings where it is none."""
    shown = [entry for entry in points if lattice.drawn(entry["point"])]
    panels = sorted({entry["point"].get(lattice.panel, _ZERO) for entry in shown})
    figure = new_figure(max(3.6, 2.0 * len(panels)), 3.0)
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, value in zip(axes, panels, strict=True):
        here = [entry for entry in shown if entry["point"].get(lattice.panel, _ZERO) == value]
        _dots(ax, lattice, here)
        label_axes(ax, lattice.x, lattice.y if ax is axes[0] else "")
        if lattice.panel:
            ax.set_title(f"{lattice.panel} = {value}", fontsize=SMALL_SIZE)
    title_figure(figure, "● equilibrium   ○ none   shaded: where the paper has its domain")
    save_figure(figure, path)


def _dots(ax: Axes, lattice: Lattice, entries: Sequence[Mapping[str, Any]]) -> None:
    for is_one, face in ((True, player_color(0)), (False, "none")):
        own = [entry["point"] for entry in entries if entry["is"] is is_one]
        ax.scatter(
            [float(point[lattice.x]) for point in own],
            [float(point[lattice.y]) for point in own],
            s=14,
            facecolors=face,
            edgecolors=player_color(0),
            linewidths=0.6,
        )
    said = [entry["point"] for entry in entries if entry["said"]]
    ax.scatter(
        [float(point[lattice.x]) for point in said],
        [float(point[lattice.y]) for point in said],
        s=70,
        marker="s",
        color=player_color(1),
        alpha=0.25,
        linewidths=0,
    )
