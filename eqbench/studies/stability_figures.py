"""Figures of stability: eigenvalues in the complex plane, and verdicts along a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.report.svg import COLORS, GRAY, INK, PALE
from eqbench.studies.figure_style import (
    LABEL_SIZE,
    SUFFIXES,
    add_legend,
    label_axes,
    new_figure,
    save_figure,
    title_figure,
)
from eqbench.studies.log_log import MARKERS
from eqbench.studies.stability_style import by_name, game_title, verdict_colors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST_HALF = 0.1  # of the axis of real parts, as a share of the largest eigenvalue
_LINE = "same verdict at both ends,\nnothing computed between"
_RING: dict[str, Any] = {
    "marker": "o",
    "linestyle": "",
    "markersize": 9,
    "markerfacecolor": "none",
    "markeredgecolor": GRAY,
}


def draw_stability(document: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write the figures of a summary into its folder; return the files.

    Eigenvalues are drawn for one value of the parameter, verdicts for several.

    Raises
    ------
    UsageError
        If a file cannot be written.
    """
    entries = document["equilibria"]
    if not entries:
        return []
    values, parameter = {entry["value"] for entry in entries}, document["parameter"]
    if len(values) > 1:
        name, figure, title = "verdicts", verdict_figure(entries, parameter), document["game"]
    else:
        name, figure = "eigenvalues", eigenvalue_figure(entries)
        title = game_title(document["game"], parameter, *values)
    title_figure(figure, title)
    files = [folder / f"{name}{suffix}" for suffix in SUFFIXES]
    for file in files:
        save_figure(figure, file)
    return files


def eigenvalue_figure(entries: Sequence[Mapping[str, Any]]) -> Figure:
    """Eigenvalues of each equilibrium in the complex plane, unstable ones on the right."""
    figure = new_figure(10, 4.2)
    ax = figure.subplots()
    label_axes(ax, "real part: growth per unit of time", "imaginary part")
    ax.axvline(0, color=GRAY, linewidth=0.8)
    for k, entry in enumerate(entries):
        real, imaginary = np.reshape(entry["eigenvalues"], (-1, 2)).T
        marker = MARKERS[(k + k // len(COLORS)) % len(MARKERS)]  # with each color another in turn
        (drawn,) = ax.plot(real, imaginary, marker, label=f"{entry['name']}: {entry['verdict']}")
        drawn.set(color=COLORS[k % len(COLORS)], markerfacecolor="none", markersize=5)
    ax.margins(0.08)
    largest = max(float(np.abs(entry["eigenvalues"]).max()) for entry in entries)
    low, high = ax.get_xlim()  # where all real parts are rounding, they are not to fill the axis
    ax.set_xlim(min(low, -LEAST_HALF * largest), max(high, LEAST_HALF * largest))
    add_legend(figure, ax.get_legend_handles_labels()[0])
    return figure


def verdict_figure(entries: Sequence[Mapping[str, Any]], parameter: str) -> Figure:
    """Verdicts on all sets at values of a parameter (compare Billingham 2017, Figure 2).

    A thin line joins a set's marks at neighboring values with the same verdict; a ring marks
    values at which members of one set have different verdicts.
    """
    from matplotlib.lines import Line2D

    colors = verdict_colors(entry["verdict"] for entry in entries)
    names = by_name(entry["name"] for entry in entries)
    values = sorted({entry["value"] for entry in entries})
    figure = new_figure(9, 1.2 + 0.28 * len(names))
    ax = figure.subplots()
    label_axes(ax, parameter, "")
    differing = False
    for row, name in enumerate(names):
        own = {entry["value"]: entry for entry in entries if entry["name"] == name}
        for ends in pairwise(values):
            found = {own[value]["verdict"] if value in own else "" for value in ends}
            if len(found) == 1 and (verdict := found.pop()):
                ax.plot(ends, (row, row), color=colors[verdict], linewidth=1)
        for value, entry in own.items():
            ax.plot(value, row, "o", color=colors[entry["verdict"]], markersize=4.5)
            if not entry["members"]["same_everywhere"]:
                ax.plot(value, row, **_RING)
                differing = True
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", labelsize=LABEL_SIZE, color=PALE)
    ax.set_ylim(len(names) - 0.3, -0.7)
    dot: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 4.5}
    handles = [Line2D([], [], color=color, label=name, **dot) for name, color in colors.items()]
    handles.append(Line2D([], [], color=INK, linewidth=1, label=_LINE))
    if differing:
        handles.append(Line2D([], [], label="members of the set differ", **_RING))
    add_legend(figure, handles)
    return figure
