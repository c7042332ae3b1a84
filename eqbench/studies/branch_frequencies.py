"""Figure of the free frequencies along a branch, by node (Billingham 2018, Figures 7 and 9)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eqbench.errors import UsageError
from eqbench.report.svg import GRAY
from eqbench.studies.branch import Branch
from eqbench.studies.figure_style import (
    LABEL_SIZE,
    add_legend,
    label_axes,
    new_figure,
    ordered_colors,
)
from eqbench.studies.frequency_panels import frequency_panels, line_actions, line_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_COLUMNS = 6
LEAST = 0.1
LEGEND_ROWS = 26
LINE_STYLES: Sequence[Any] = ("-", "--", ":", "-.", (0, (8, 2)), (0, (6, 1, 1, 1, 1, 1)))


def frequency_figure(
    branch: Branch, window: tuple[float, float] | None = None, *, logarithmic: bool = False
) -> Figure:
    """Frequencies against the parameter: a panel for each decision, a line for each card.

    Where several actions are free there is a line for each, and its style says which it is.
    Three-player Kuhn poker has its twelve nodes; other games a panel for each player and public
    history.

    Parameters
    ----------
    window : lower and upper end of the parameter, for a close-up
    logarithmic : whether the parameter is; its first decades, where hardly anything changes,
        are left out

    Raises
    ------
    UsageError
        If the window is empty, nothing is free or there would be more than 60 panels.
    """
    from matplotlib.lines import Line2D

    if window is not None and not window[0] < window[1]:
        raise UsageError(f"a close-up from {window[0]} to {window[1]} shows nothing")
    panels = frequency_panels(branch.game.tree)
    labels = line_labels(panels)
    color = dict(zip(labels, ordered_colors(len(labels)), strict=True))
    actions = line_actions(panels)
    style = dict(zip(actions, itertools.cycle(LINE_STYLES), strict=False))
    columns = 3 if len(panels) == 12 else min(math.ceil(math.sqrt(len(panels))), MOST_COLUMNS)
    rows = math.ceil(len(panels) / columns)
    figure = new_figure(1.2 + 2.7 * columns, 0.6 + 1.8 * rows)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for ax, panel in zip(grid.flat, panels, strict=False):
        label_axes(ax, "", "")
        ax.set_title(panel.title, loc="left", fontsize=LABEL_SIZE)
        for line in sorted(panel.lines, key=lambda line: labels.index(line.label)):
            (drawn,) = ax.plot(branch.values, branch.free[:, line.position], linewidth=1.1)
            drawn.set(color=color[line.label], linestyle=style.get(line.action, "-"))
        if not panel.lines:
            note = {"ha": "center", "va": "center", "color": GRAY, "fontsize": LABEL_SIZE}
            ax.text(0.5, 0.5, "nothing is free", transform=ax.transAxes, **note)
    for ax in grid.flat[len(panels) :]:
        ax.remove()
    for ax in grid.flat[len(panels) - columns : len(panels)]:
        ax.tick_params(labelbottom=True)
    ends = window or _ends(branch)
    if logarithmic:
        grid[0, 0].set_xscale("log")
        ends = max(ends[0], LEAST), ends[1]
    grid[0, 0].set(ylim=(-0.04, 1.04), xlim=ends)
    figure.supxlabel(branch.parameter, fontsize=LABEL_SIZE)
    figure.supylabel("frequency", fontsize=LABEL_SIZE)
    handles = [Line2D([], [], color=color[label], label=label) for label in labels]
    handles += [Line2D([], [], color=GRAY, linestyle=style[name], label=name) for name in actions]
    title = "card" if all(map(str.isdecimal, labels)) else None
    add_legend(figure, handles, title=title, columns=math.ceil(len(handles) / LEGEND_ROWS))
    return figure


def _ends(branch: Branch) -> tuple[float, float]:
    return float(branch.values.min()), float(branch.values.max())
