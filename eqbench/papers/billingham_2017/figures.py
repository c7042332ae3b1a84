"""Figures 2 to 7, drawn from what is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from eqbench.papers.billingham_2017 import lists
from eqbench.papers.stored import Stored
from eqbench.plots.stability import Published, regime_diagram
from eqbench.plots.style import add_legend, label_axes, new_figure, svg_of
from eqbench.report.svg import COLORS, INK

LAST_POT = 6.0
DASHES = ("-", "--", ":")
BEHAVIOR_COLORS = {
    **{"periodic": "#2e9e5b", "chaotic transient": "#ffffff", "close to periodic": "#3b82c4"}
}


def figure_2(stored: Stored) -> str:
    """Bars from the first to the last pot at which each solution was found."""
    found = lists.pots_by_name([each for each in lists.equilibria(stored) if each.pot <= LAST_POT])
    figure = new_figure(8, 3.6)
    ax = figure.subplots()
    label_axes(ax, "pot", "")
    for row, own in enumerate(found.values()):
        pots = [float(pot) for pot in own]
        ax.plot((min(pots), max(pots)), (row, row), color=COLORS[0], linewidth=5, alpha=0.35)
        ax.plot(pots, [row] * len(pots), "o", color=COLORS[0], markersize=3)
    ax.set_yticks(range(len(found)), list(found))
    ax.set_ylim(len(found) - 0.4, -0.6)
    return svg_of(figure)


def _curves(stored: Stored, panels: Sequence[Sequence[str]]) -> str:
    """Lines of figures against the pot, a panel for each group of them, and the corners found."""
    rows = stored["curves"].summary["rows"]
    found = [each for each in lists.equilibria(stored) if each.pot <= LAST_POT]
    figure = new_figure(8, 0.6 + 2.2 * len(panels))
    axes = figure.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0]
    handles: dict[str, Any] = {}
    for ax, group in zip(axes, panels, strict=True):
        label_axes(ax, "", ", ".join(group).replace("E", "24 E"))
        for place, name in enumerate(group):
            color, shown = COLORS[len(handles) % len(COLORS)], dict[str, list[Any]]()
            for row in rows:
                if _is_shown(row, name, group):
                    shown.setdefault(row["name"], []).append((row["pot"], *row[name]))
            for points in shown.values():
                pots, *ends = zip(*points, strict=True)
                mark = "_" if len(pots) == 1 else DASHES[place]
                line = ax.plot(pots, np.transpose(ends), mark, color=color, lw=1.2, ms=7)[0]
                handles[name] = line if len(pots) > 1 else handles.get(name)
            handles[name].set_label(name)
            if name == group[-1] or "+" not in group[-1]:
                dots = [e for e in found if e.solutions[0] in shown]
                values = [float(sum(e.names[part] for part in name.split("+"))) for e in dots]
                ax.plot([float(e.pot) for e in dots], values, "o", color=INK, markersize=1.8)
    axes[-1].set_xlabel("pot")
    add_legend(figure, list(handles.values()))
    return svg_of(figure)


def _is_shown(row: Mapping[str, Any], name: str, group: Sequence[str]) -> bool:
    """A sum, the last of a group, is shown where its parts are not determined, else they are."""
    parts = group[-1].split("+")
    determined = all(row[part][1] - row[part][0] <= 1e-9 for part in parts)
    return len(parts) == 1 or determined == (name in parts)


figure_3 = partial(_curves, panels=(("a1", "b1"), ("c2", "d3", "c2+d3")))
figure_4 = partial(_curves, panels=(("a2", "b2"), ("c3", "d1", "c3+d1")))
figure_5 = partial(_curves, panels=(("b3",), ("c1", "d2")))
figure_6 = partial(_curves, panels=(("E1",), ("E2",), ("E3",)))


def figure_7(stored: Stored) -> str:
    """Stability of the solutions, the paper's strip of colors, and what trajectories did."""
    words: dict[float, Counter[str]] = {}
    job = "regimes_along_the_pot" if stored.full else "regimes"
    for run in stored[job].summary["runs"]:
        words.setdefault(run["parameter"], Counter())[run["regime"]] += 1
    known = lists.borders(lists.equilibria(stored))
    edges = [float(known[f"P{k}"]) for k in (1, 2, 3, 5, 7, 8, 10)] + [LAST_POT]
    printed = lists.printed("Figure 7: stable solutions and kinds of behavior")
    said = [word for _, column, word in printed if column == "trajectories"]
    strips = list(zip(edges, edges[1:], said, strict=False))
    published = Published("Billingham 2017", strips, BEHAVIOR_COLORS)
    entries = stored["stability"].summary["equilibria"]
    return svg_of(regime_diagram(entries, words, "pot", published=published))
