"""Pictures of ranges and of curves along the pot, drawn from what is stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from eqbench.documents import read_file
from eqbench.papers.billingham_2017.found import Found, equilibria
from eqbench.papers.stored import Stored
from eqbench.plots.style import add_legend, by_name, label_axes, new_figure, save_figure
from eqbench.report.svg import COLORS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


LAST_POT = 6
SAME = 1e-9
DASHES = ("-", "--", ":")


def svg_text(figure: Figure) -> str:
    """A figure as text of an SVG file."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "figure.svg"
        save_figure(figure, file)
        return read_file(file).decode()


def range_figure(present: Mapping[Fraction, Collection[str]]) -> str:
    """Bars from the first to the last pot at which each solution was found."""
    names = by_name({f"skp:{name}" for found in present.values() for name in found})
    figure = new_figure(8, 3.6)
    ax = figure.subplots()
    label_axes(ax, "pot", "")
    for row, name in enumerate(names):
        short = name.removeprefix("skp:")
        pots = [float(pot) for pot, found in present.items() if short in found and pot <= LAST_POT]
        ax.plot((min(pots), max(pots)), (row, row), color=COLORS[0], linewidth=5, alpha=0.35)
        ax.plot(pots, [row] * len(pots), "o", color=COLORS[0], markersize=3)
    ax.set_yticks(range(len(names)), [name.removeprefix("skp:") for name in names])
    ax.set_ylim(len(names) - 0.4, -0.6)
    return svg_text(figure)


def curve_figure(stored: Stored, panels: Sequence[Sequence[str]]) -> str:
    """Lines of figures against the pot, a panel for each group of them, and the corners found."""
    rows = stored["curves"].summary["rows"]
    found = [each for each in equilibria(stored) if each.pot <= LAST_POT]
    figure = new_figure(8, 0.6 + 2.2 * len(panels))
    axes = figure.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0]
    names = [name for group in panels for name in group]
    handles: dict[str, Any] = {}
    for ax, group in zip(axes, panels, strict=True):
        label_axes(ax, "", ", ".join(group).replace("E", "24 E"))
        for place, name in enumerate(group):
            style = {"color": COLORS[names.index(name) % len(COLORS)], "linestyle": DASHES[place]}
            handles[name] = _lines(ax, rows, name, group, style)
            _dots(ax, rows, found, name, group)
    axes[-1].set_xlabel("pot")
    add_legend(figure, list(handles.values()))
    return svg_text(figure)


def _lines(
    ax: Axes, rows: Sequence[Mapping[str, Any]], name: str, group: Sequence[str], style: Any
) -> Any:
    """Draw least and largest values of each solution where they are shown."""
    handle = None
    for solution in sorted({row["name"] for row in rows}):
        own = [row for row in rows if row["name"] == solution and _is_shown(row, name, group)]
        pots = [row["pot"] for row in own]
        for end in (0, 1):
            values = [row[name][end] for row in own]
            if len(pots) == 1:
                ax.plot(pots, values, "_", color=style["color"], markersize=7)
            elif pots:
                (handle,) = ax.plot(pots, values, linewidth=1.2, label=name, **style)
    return handle


def _is_shown(row: Mapping[str, Any], name: str, group: Sequence[str]) -> bool:
    """A sum is shown where its parts are not determined, and these where they are."""
    sums = [each for each in group if "+" in each]
    if not sums:
        return True
    parts = sums[0].split("+")
    determined = all(row[part][1] - row[part][0] <= SAME for part in parts)
    return determined or name not in parts if name != sums[0] else not determined


def _dots(
    ax: Axes,
    rows: Sequence[Mapping[str, Any]],
    found: Sequence[Found],
    name: str,
    group: Sequence[str],
) -> None:
    """Draw what the equilibria found have, for all but the parts of a sum."""
    if any(name in each.split("+") for each in group if "+" in each):
        return
    where = {row["name"] for row in rows if _is_shown(row, name, group)}
    shown = [each for each in found if each.solutions[0] in where]
    values = [_figure_of(each, name) for each in shown]
    ax.plot([float(each.pot) for each in shown], values, "o", color=INK, markersize=1.8)


def _figure_of(each: Found, name: str) -> float:
    if name.startswith("E"):
        return float(each.payoffs[int(name[1]) - 1])
    return float(sum(each.values[part] for part in name.split("+")))
