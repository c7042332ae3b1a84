"""Figures 2 to 7, drawn from what is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from eqbench.papers.billingham_2017 import lists
from eqbench.papers.stored import Stored
from eqbench.plots.stability import regime_diagram
from eqbench.plots.style import Panel, Series, dots, draw_figure, line, svg_of
from eqbench.report import COLORS, INK

LAST_POT = 6.0
DASHES = ("-", "--", ":")
BEHAVIOR_COLORS = {
    **{"periodic": "#2e9e5b", "chaotic transient": "#ffffff", "close to periodic": "#3b82c4"}
}


def figure_2(stored: Stored) -> str:
    """Bars from the first to the last pot at which each solution was found."""
    found = lists.pots_by_name([each for each in lists.equilibria(stored) if each.pot <= LAST_POT])
    series = list[Series]()
    for row, own in enumerate(found.values()):
        pots = [float(pot) for pot in own]
        series.append(line((min(pots), max(pots)), (row, row), COLORS[0], linewidth=5, alpha=0.35))
        series.append(dots(pots, [row] * len(pots), COLORS[0], size=3))
    ticks = {"yticks": range(len(found)), "yticklabels": list(found)}
    settings = ticks | {"ylim": (len(found) - 0.4, -0.6)}
    return svg_of(draw_figure([Panel(series, "pot", settings=settings)], 8, 3.6))


def _curves(stored: Stored, panels: Sequence[Sequence[str]]) -> str:
    """Lines of figures against the pot, a panel for each group of them, and the corners found."""
    rows = stored["curves"].summary["rows"]
    found = [each for each in lists.equilibria(stored) if each.pot <= LAST_POT]
    drawn, colors = [], iter(COLORS)
    for group in panels:
        series = list[Series]()
        for name, dash, color in zip(group, DASHES, colors, strict=False):
            shown = dict[str, list[Any]]()
            for row in rows:
                if _is_shown(row, name, group):
                    shown.setdefault(row["name"], []).append((row["pot"], *row[name]))
            series.append(line([], [], color, name, linestyle=dash))
            for points in shown.values():
                pots, *ends = zip(*points, strict=True)
                look = {"linestyle": dash} if len(pots) > 1 else {"marker": "_", "markersize": 7}
                series += [line(pots, end, color, **look) for end in ends]
            if name == group[-1] or "+" not in group[-1]:
                marked = [each for each in found if each.solutions[0] in shown]
                values = [float(sum(e.names[part] for part in name.split("+"))) for e in marked]
                series.append(dots([float(e.pot) for e in marked], values, INK, size=1.8))
        drawn.append(Panel(series, "", ", ".join(group).replace("E", "24 E")))
    size = 8, 0.6 + 2.2 * len(panels)
    return svg_of(draw_figure(drawn, *size, x_label="pot", sharex=True))


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
    runs = stored["regimes_along_the_pot" if stored.full else "regimes"].summary["runs"]
    known = lists.borders(lists.equilibria(stored))
    edges = [float(known[f"P{k}"]) for k in (1, 2, 3, 5, 7, 8, 10)] + [LAST_POT]
    printed = lists.printed("Figure 7: stable solutions and kinds of behavior")
    printed_words = [word for _, column, word in printed if column == "trajectories"]
    look = {"edgecolor": INK, "linewidth": 0.3}
    strips = [
        Series("barh", (0, b - a, 1.0, a), look | {"color": BEHAVIOR_COLORS[word], "label": word})
        for a, b, word in zip(edges, edges[1:], printed_words, strict=False)
    ]
    limits = {"ylim": (-0.55, 0.55), "yticks": ()}
    strip = Panel(strips, title="Billingham 2017", settings=limits, own_legend=True)
    entries = stored["stability"].summary["equilibria"]
    return svg_of(regime_diagram(entries, runs, "pot", between=strip))
