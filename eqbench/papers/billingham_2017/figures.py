"""Figures 2 to 7, drawn from what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from eqbench.papers.billingham_2017 import lists
from eqbench.papers.records import Table
from eqbench.papers.stored import Stored
from eqbench.plots.stability import regime_diagram
from eqbench.plots.style import Panel, Series, dots, draw_figure, line, svg_of
from eqbench.report import COLORS, INK
from eqbench.studies.flow.rest_points import SetStability

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
    sets, colors, drawn = stored["curves"].summary, iter(COLORS), []
    found = [each for each in lists.equilibria(stored) if each.pot <= LAST_POT]
    for group in panels:
        series = list[Series]()
        for name, dash, color in zip(group, DASHES, colors, strict=False):
            series.append(line([], [], color, name, linestyle=dash))
            shown = set()
            for title, own in sets.items():
                rows = [k for k in range(len(own["pots"])) if _is_shown(own, k, name, group)]
                if not rows:
                    continue
                shown.add(title.removeprefix("skp:"))
                look = {"linestyle": dash} if len(rows) > 1 else {"marker": "_", "markersize": 7}
                pots = [own["pots"][k] for k in rows]
                series += [
                    line(pots, [own[name][k][j] for k in rows], color, **look) for j in (0, 1)
                ]
            if name == group[-1] or "+" not in group[-1]:
                marked = [each for each in found if each.solutions[0] in shown]
                values = [float(sum(e.names[part] for part in name.split("+"))) for e in marked]
                series.append(dots([float(e.pot) for e in marked], values, INK, size=1.8))
        drawn.append(Panel(series, "", ", ".join(group).replace("E", "24 E")))
    size = 8, 0.6 + 2.2 * len(panels)
    return svg_of(draw_figure(drawn, *size, x_label="pot", sharex=True))


def _is_shown(own: Table, k: int, name: str, group: Sequence[str]) -> bool:
    """A sum, the last of a group, is shown where its parts are not determined, else they are."""
    parts = group[-1].split("+")
    determined = all(own[part][k][1] - own[part][k][0] <= 1e-9 for part in parts)
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
    entries = msgspec.convert(stored["stability"].summary["equilibria"], list[SetStability])
    regimes = [(run["parameter"], run["regime"]) for run in runs]
    return svg_of(regime_diagram(entries, regimes, "pot", between=strip))
