"""Figures of stability: eigenvalues in the complex plane, and verdicts along a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.report.svg import COLORS, GRAY, PALE
from eqbench.studies.figure_style import (
    LABEL_SIZE,
    SUFFIXES,
    Color,
    add_legend,
    label_axes,
    new_figure,
    ordered_colors,
    save_figure,
)
from eqbench.studies.log_log import MARKERS
from eqbench.studies.stability_spectrum import STABLE, UNSTABLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GAP = 2.5  # values of the parameter that are so many usual distances apart are not joined


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
    if len({entry["value"] for entry in entries}) > 1:
        name, figure = "verdicts", verdict_figure(entries, document["parameter"])
    else:
        name, figure = "eigenvalues", eigenvalue_figure(entries)
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
    add_legend(figure, ax.get_legend_handles_labels()[0])
    return figure


def verdict_figure(entries: Sequence[Mapping[str, Any]], parameter: str) -> Figure:
    """Ranges of all sets along a parameter, colored by verdict (Billingham 2017, Figure 2).

    A line joins neighboring values with the same verdict; a ring marks values at which members
    of one set have different verdicts.
    """
    from matplotlib.lines import Line2D

    colors = verdict_colors(entries)
    names = list(dict.fromkeys(entry["name"] for entry in sorted(entries, key=_first(entries))))
    values = sorted({entry["value"] for entry in entries})
    steps = sorted(after - before for before, after in pairwise(values))
    widest = _GAP * steps[len(steps) // 2]
    figure = new_figure(9, 1 + 0.28 * len(names))
    ax = figure.subplots()
    label_axes(ax, parameter, "")
    for row, name in enumerate(names):
        own = sorted((e for e in entries if e["name"] == name), key=lambda e: e["value"])
        for before, after in pairwise(own):
            if before["verdict"] == after["verdict"] and after["value"] - before["value"] <= widest:
                ends = before["value"], after["value"]
                ax.plot(ends, (row, row), color=colors[before["verdict"]], linewidth=4)
        for entry in own:
            ax.plot(entry["value"], row, "o", color=colors[entry["verdict"]], markersize=3.5)
            if not entry["members"]["same_everywhere"]:
                (ring,) = ax.plot(entry["value"], row, "o", markersize=8)
                ring.set(markerfacecolor="none", markeredgecolor=GRAY)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", labelsize=LABEL_SIZE, color=PALE)
    ax.set_ylim(-0.7, len(names) - 0.3)
    handles = [Line2D([], [], color=colors[v], linewidth=4, label=v) for v in colors]
    add_legend(figure, handles)
    return figure


def verdict_colors(entries: Sequence[Mapping[str, Any]]) -> dict[str, Color]:
    """A color for each verdict that occurs: dark to light by oscillatory dimension."""
    found = {entry["verdict"] for entry in entries}
    centers = sorted(found - {UNSTABLE, STABLE}, key=lambda text: int(text.rpartition(" ")[2]))
    colors: dict[str, Color] = dict(zip(centers, ordered_colors(len(centers)), strict=True))
    named = {STABLE: COLORS[0], UNSTABLE: COLORS[1]}
    return colors | {verdict: named[verdict] for verdict in named if verdict in found}


def _first(entries: Sequence[Mapping[str, Any]]) -> Any:
    """Order of sets: by the value at which they begin, then by that at which they end."""
    values: dict[str, list[float]] = {}
    for entry in entries:
        values.setdefault(entry["name"], []).append(entry["value"])
    return lambda entry: (min(values[entry["name"]]), max(values[entry["name"]]), entry["name"])
