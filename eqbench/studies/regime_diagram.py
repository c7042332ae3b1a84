"""Stability and regimes along a parameter (Billingham 2017, Figure 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.report.svg import INK, PALE
from eqbench.studies.figure_style import LABEL_SIZE, Color, label_axes, new_figure
from eqbench.studies.regimes import WORDS
from eqbench.studies.stability_figures import verdict_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# As in the paper where it has the word: green is periodic, blue close to it.
COLORS = dict(zip(WORDS, ("#2e9e5b", "#3b82c4", "#e8a33d", "#8c4a2f", "#d5d8dc"), strict=True))
BAR, STRIP = 0.22, 1.1  # inches
WIDEST = 0.03  # of the range of the parameter: a column of the strip


def regime_diagram(
    entries: Sequence[Mapping[str, Any]], words: Mapping[float, Counter[str]], parameter: str
) -> Figure:
    """Bars of published sets, colored by verdict, above the share of regimes over all starts.

    Parameters
    ----------
    entries : verdicts on sets at values of the parameter (:mod:`eqbench.studies.stability_sets`);
        bars go from value to value and change color halfway; a set at one value is a diamond
    words : how often each regime was found, at several values of the parameter
    """
    values = sorted({entry["value"] for entry in entries} | set(words))
    names = list(dict.fromkeys(entry["name"] for entry in sorted(entries, key=_by_value)))
    verdict_color = verdict_colors(entries)
    figure = new_figure(9.5, 1.0 + BAR * len(names) + STRIP)
    heights = (BAR * max(len(names), 1), STRIP)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=heights)
    label_axes(above, "", "")
    above.set_axisbelow(True)
    for row, name in enumerate(names):
        verdict = {entry["value"]: entry["verdict"] for entry in entries if entry["name"] == name}
        for start, end, word in _stretches(verdict, values):
            above.barh(row, end - start, 0.72, start, color=verdict_color[word])
        if len(verdict) == 1:
            ((value, word),) = verdict.items()
            above.plot(value, row, "D", color=verdict_color[word], markersize=6)
    above.set_yticks(range(len(names)), names)
    above.set_ylim(len(names) - 0.4, -0.6)
    title = "published equilibria, by stability" if names else "no equilibria were published"
    above.set_title(title, loc="left", fontsize=LABEL_SIZE)
    _draw_strip(below, words, values[-1] - values[0])
    label_axes(below, parameter, "share of starts")
    below.grid(visible=False)
    below.set_title("how trajectories move", loc="left", fontsize=LABEL_SIZE)
    seen = {word for counts in words.values() for word in counts}
    _explain(above, verdict_color)
    _explain(below, {_spoken(word): COLORS[word] for word in WORDS if word in seen})
    return figure


def _explain(ax: Axes, colors: Mapping[str, Color]) -> None:
    """Put a legend beside the panel that it explains."""
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=c, edgecolor=PALE, label=name) for name, c in colors.items()]
    style = {"frameon": False, "fontsize": LABEL_SIZE, "borderaxespad": 0.0}
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1.0), **style)


def _spoken(word: str) -> str:
    return word.replace("quasi_", "quasi-").replace("_", " ")


def _by_value(entry: Mapping[str, Any]) -> tuple[float, str]:
    return entry["value"], entry["name"]


def _stretches(
    verdict: Mapping[float, str], values: Sequence[float]
) -> list[tuple[float, float, str]]:
    """Start, end and verdict of the pieces of a bar, between neighbors that both have one."""
    pieces: list[tuple[float, float, str]] = []
    for before, after in pairwise(values):
        if before in verdict and after in verdict:
            middle = (before + after) / 2
            for start, end, word in (
                (before, middle, verdict[before]),
                (middle, after, verdict[after]),
            ):
                if pieces and pieces[-1][1:] == (start, word):
                    pieces[-1] = (pieces[-1][0], end, word)
                else:
                    pieces.append((start, end, word))
    return pieces


def _draw_strip(ax: Axes, words: Mapping[float, Counter[str]], length: float) -> None:
    """Draw a column of shares at each value."""
    values = np.array(sorted(words))
    width = min(0.9 * float(np.diff(values).min()), WIDEST * length)
    bottom = np.zeros(len(values))
    for word in WORDS:
        shares = np.array([words[value][word] / words[value].total() for value in values.tolist()])
        ax.bar(values, shares, width, bottom, color=COLORS[word], edgecolor=INK, linewidth=0.3)
        bottom += shares
    ax.set(ylim=(0, 1), yticks=(0, 1))
