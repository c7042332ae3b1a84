"""Figures 2 to 7, drawn from what is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from eqbench.documents import read_file
from eqbench.papers.billingham_2017.lists import (
    CONTINUA,
    ISOLATED,
    Found,
    borders,
    equilibria,
    present,
    printed_claims,
)
from eqbench.papers.stored import Stored
from eqbench.plots.stability import Published, regime_diagram
from eqbench.plots.style import add_legend, label_axes, new_figure, save_figure
from eqbench.report.svg import COLORS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LAST_POT = 6.0
SAME = 1e-9
DASHES = ("-", "--", ":")
BEHAVIOR_COLORS = {
    **{"periodic": "#2e9e5b", "chaotic transient": "#ffffff", "close to periodic": "#3b82c4"}
}


def _svg(figure: Figure) -> str:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "figure.svg"
        save_figure(figure, file)
        return read_file(file).decode()


def figure_2(stored: Stored) -> str:
    """Bars from the first to the last pot at which each solution was found."""
    found = present(equilibria(stored))
    figure = new_figure(8, 3.6)
    ax = figure.subplots()
    label_axes(ax, "pot", "")
    names = (*CONTINUA, *ISOLATED)
    for row, name in enumerate(names):
        pots = [float(pot) for pot, of in found.items() if name in of and pot <= LAST_POT]
        ax.plot((min(pots), max(pots)), (row, row), color=COLORS[0], linewidth=5, alpha=0.35)
        ax.plot(pots, [row] * len(pots), "o", color=COLORS[0], markersize=3)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    return _svg(figure)


def figure_3(stored: Stored) -> str:
    """Bets of player 1, and who calls them."""
    return _curves(stored, ("a1", "b1"), ("c2", "d3", "c2+d3"))


def figure_4(stored: Stored) -> str:
    """Bets of player 2, and who calls them."""
    return _curves(stored, ("a2", "b2"), ("c3", "d1", "c3+d1"))


def figure_5(stored: Stored) -> str:
    """Bluffs of player 3, and who calls them."""
    return _curves(stored, ("b3",), ("c1", "d2"))


def figure_6(stored: Stored) -> str:
    """Expected profits."""
    return _curves(stored, ("E1",), ("E2",), ("E3",))


def _curves(stored: Stored, *panels: Sequence[str]) -> str:
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
            shown = [row for row in rows if _is_shown(row, name, group)]
            style = {"color": COLORS[names.index(name) % len(COLORS)], "linestyle": DASHES[place]}
            handles[name] = _lines(ax, shown, name, style)
            if not any(name in other.split("+") for other in group if "+" in other):
                _dots(ax, found, name, {row["name"] for row in shown})
    axes[-1].set_xlabel("pot")
    add_legend(figure, list(handles.values()))
    return _svg(figure)


def _is_shown(row: Mapping[str, Any], name: str, group: Sequence[str]) -> bool:
    """A sum is shown where its parts are not determined, and these where they are."""
    sums = [each for each in group if "+" in each]
    if not sums:
        return True
    parts = sums[0].split("+")
    determined = all(row[part][1] - row[part][0] <= SAME for part in parts)
    return determined or name not in parts if name != sums[0] else not determined


def _lines(ax: Axes, rows: Sequence[Mapping[str, Any]], name: str, style: Any) -> Any:
    """Draw the least and the largest values of each solution."""
    handle = None
    for solution in sorted({row["name"] for row in rows}):
        own = [row for row in rows if row["name"] == solution]
        pots = [row["pot"] for row in own]
        for end in (0, 1):
            values = [row[name][end] for row in own]
            if len(pots) == 1:
                ax.plot(pots, values, "_", color=style["color"], markersize=7)
            else:
                (handle,) = ax.plot(pots, values, linewidth=1.2, label=name, **style)
    return handle


def _dots(ax: Axes, found: Sequence[Found], name: str, solutions: set[str]) -> None:
    """Draw what the equilibria found have."""
    shown = [each for each in found if each.solutions[0] in solutions]
    values = [float(sum(each.names[part] for part in name.split("+"))) for each in shown]
    ax.plot([float(each.pot) for each in shown], values, "o", color=INK, markersize=1.8)


def figure_7(stored: Stored) -> str:
    """Stability of the solutions, the paper's strip of colors, and what trajectories did."""
    words: dict[float, Counter[str]] = {}
    job = "regimes_along_the_pot" if stored.full else "regimes"
    for run in stored[job].summary["runs"]:
        words.setdefault(run["parameter"], Counter())[run["regime"]] += 1
    known = borders(equilibria(stored))
    edges = [float(known[f"P{k}"]) for k in (1, 2, 3, 5, 7, 8, 10)] + [LAST_POT]
    said = printed_claims("Figure 7: stable solutions and kinds of behavior", "trajectories")
    strips = list(zip(edges, edges[1:], [word for _, word in said], strict=False))
    published = Published("Billingham 2017", strips, BEHAVIOR_COLORS)
    entries = stored["stability"].summary["equilibria"]
    return _svg(regime_diagram(entries, words, "pot", published=published))
