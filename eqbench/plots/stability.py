"""Figures of stability: eigenvalues, and verdicts and regimes along a parameter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eqbench.plots.style import (
    LABEL_SIZE,
    MARKERS,
    Color,
    add_legend,
    by_name,
    game_title,
    label_axes,
    new_figure,
    sample,
    save_both,
    title_figure,
    verdict_colors,
)
from eqbench.report.svg import COLORS, GRAY, INK, PALE
from eqbench.studies.flow.regimes import WORDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# As in the paper where it has the word: green is periodic, blue close to it.
REGIME_COLORS = dict(
    zip(WORDS, ("#2e9e5b", "#3b82c4", "#e8a33d", "#8c4a2f", "#d5d8dc"), strict=True)
)
BAR, STRIP, THIN = 0.22, 1.1, 0.3  # inches
WIDEST = 0.03  # of the range of the parameter: a column of the strip

Piece = tuple[float, float, str]  # start, end, verdict


class Published(NamedTuple):
    """What a paper says of ranges of the parameter, for a strip of its own.

    Attributes
    ----------
    title : whose words these are
    ranges : start, end and the paper's word of each
    colors : of the words
    """

    title: str
    ranges: Sequence[tuple[float, float, str]]
    colors: Mapping[str, Color]


def regime_diagram(
    entries: Sequence[Mapping[str, Any]],
    words: Mapping[float, Counter[str]],
    parameter: str,
    *,
    title: str = "",
    published: Published | None = None,
) -> Figure:
    """Bars of published sets, colored by verdict, above the share of regimes over all starts.

    Parameters
    ----------
    entries : verdicts on sets at values of the parameter (:mod:`eqbench.studies.flow.rest_points`)
        A bar goes from value to value and changes color halfway between two verdicts. A diamond
        is a verdict at one value only: at an end of a bar, or of a set that has no other value.
    words : how often each regime was found, at several values of the parameter
    title : names the game
    published : drawn between the two
    """
    values = sorted({entry["value"] for entry in entries} | set(words))
    names = by_name(entry["name"] for entry in entries)
    bars = max(len(names), 1)
    strips = [THIN] if published else []
    figure = new_figure(9.5, 1.2 + BAR * bars + STRIP + 2 * sum(strips))
    title_figure(figure, title)
    heights = (BAR * bars, *strips, STRIP)
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    above, *between, below = axes
    _draw_sets(above, entries, names, values)
    if published:
        _draw_published(between[0], published)
    _draw_strip(below, words, values[-1] - values[0])
    label_axes(below, parameter, "share of starts", "how trajectories move")
    below.grid(visible=False)
    seen = {word for counts in words.values() for word in counts}
    spoken = {word: word.replace("quasi_", "quasi-").replace("_", " ") for word in WORDS}
    _explain(below, {spoken[word]: REGIME_COLORS[word] for word in WORDS if word in seen})
    return figure


def _draw_sets(
    ax: Axes, entries: Sequence[Mapping[str, Any]], names: Sequence[str], values: Sequence[float]
) -> None:
    """Draw bars and diamonds of published sets, from the first one at the top."""
    colors = verdict_colors(entry["verdict"] for entry in entries)
    title = "published equilibria, by stability" if names else "no equilibria were published"
    label_axes(ax, title=title)
    ax.set_axisbelow(True)
    diamond: dict[str, Any] = {"marker": "D", "linestyle": "", "markeredgecolor": "white"}
    single = False
    for row, name in enumerate(names):
        verdict = {entry["value"]: entry["verdict"] for entry in entries if entry["name"] == name}
        bars, alone = _pieces(verdict, values)
        single |= bool(alone)
        for start, end, word in bars:
            ax.barh(row, end - start, 0.72, start, color=colors[word])
        for value, word in alone.items():
            ax.plot(value, row, color=colors[word], markersize=6, **diamond)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    mark = sample("at one value only", color=PALE, markersize=6, **diamond)
    _explain(ax, colors, [mark] if single else [])


def _draw_published(ax: Axes, published: Published) -> None:
    """Draw the words of a paper as a strip."""
    for start, end, word in published.ranges:
        color = published.colors[word]
        ax.barh(0, end - start, 1.0, start, color=color, edgecolor=INK, linewidth=0.3)
    ax.spines[:].set_visible(False)  # a white range ends where it ends
    ax.tick_params(bottom=False)
    ax.set(ylim=(-0.55, 0.55), yticks=())
    ax.set_title(published.title, loc="left", fontsize=LABEL_SIZE)
    _explain(ax, published.colors)


def _explain(ax: Axes, colors: Mapping[str, Color], more: Sequence[Any] = ()) -> None:
    """Put a legend beside the panel that it explains."""
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=c, edgecolor=PALE, label=name) for name, c in colors.items()]
    style = {"frameon": False, "fontsize": LABEL_SIZE, "borderaxespad": 0.0}
    ax.legend(handles=[*handles, *more], loc="upper left", bbox_to_anchor=(1.02, 1.0), **style)


def _pieces(
    verdict: Mapping[float, str], values: Sequence[float]
) -> tuple[list[Piece], dict[float, str]]:
    """Pieces of the bars of a set, and verdicts that hold at one value only, by value.

    A bar goes through neighboring values at which the set exists. Where its verdict at an end
    differs from the next one, the bar has the verdict of the open range up to that end.
    """
    pieces: list[Piece] = []
    alone: dict[float, str] = {}
    stretches = (list(group) for there, group in groupby(values, verdict.__contains__) if there)
    for stretch in stretches:
        shown = [verdict[value] for value in stretch]
        for end, neighbor in ((0, 1), (-1, -2)):
            if len(stretch) == 1:
                alone[stretch[0]] = shown[0]
            elif len(stretch) > 2 and shown[end] != shown[neighbor]:
                alone[stretch[end]], shown[end] = shown[end], shown[neighbor]
        for place, (before, after) in enumerate(pairwise(stretch)):
            middle = (before + after) / 2
            _extend(pieces, (before, middle, shown[place]))
            _extend(pieces, (middle, after, shown[place + 1]))
    return pieces, alone


def _extend(pieces: list[Piece], piece: Piece) -> None:
    """Append a piece, or make the last one longer if both have the same verdict and touch."""
    start, end, word = piece
    if pieces and pieces[-1][1:] == (start, word):
        pieces[-1] = (pieces[-1][0], end, word)
    else:
        pieces.append(piece)


def _draw_strip(ax: Axes, words: Mapping[float, Counter[str]], length: float) -> None:
    """Draw a column of shares at each value."""
    values = np.array(sorted(words))
    width = min(0.9 * float(np.diff(values).min()), WIDEST * length)
    bottom = np.zeros(len(values))
    for word in WORDS:
        shares = np.array([words[value][word] / words[value].total() for value in values.tolist()])
        color = REGIME_COLORS[word]
        ax.bar(values, shares, width, bottom, color=color, edgecolor=INK, linewidth=0.3)
        bottom += shares
    ax.set(ylim=(0, 1), yticks=(0, 1))


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
    return save_both(figure, folder, name)


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
    handles = [sample(name, color=color, **dot) for name, color in colors.items()]
    handles.append(sample(_LINE, color=INK, linewidth=1))
    if differing:
        handles.append(sample("members of the set differ", **_RING))
    add_legend(figure, handles)
    return figure
