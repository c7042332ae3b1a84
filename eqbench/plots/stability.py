"""Figures of stability: eigenvalues, and verdicts and regimes along a parameter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np

from eqbench.plots import style
from eqbench.report import COLORS, GRAY, INK
from eqbench.studies.flow.regimes import WORDS
from eqbench.studies.flow.rest_points import STABLE, UNSTABLE, SetStability
from eqbench.studies.frame import Drawn

Entries = Sequence[SetStability]  # at one value of a parameter or several

# As in the paper where it has the word: green is periodic, blue close to it.
REGIME_COLORS = dict(
    zip(WORDS, ("#2e9e5b", "#3b82c4", "#e8a33d", "#8c4a2f", "#d5d8dc"), strict=True)
)
# Centre manifolds of oscillatory dimension 0, 2, 4, ... are violet, light to dark; what comes after
# the last one looks like it. No regime has one of these colors.
_CENTERS = ("#d9cdf0", "#b795e0", "#8a5cc4", "#5a2d94", "#2f0f57")
_LINE = "same verdict at both ends,\nnothing computed between"
_SQUARE: style.Look = {"marker": "s", "size": 9}
_NAMED = {STABLE: "#0f4c5c", UNSTABLE: "#d6336c"}
ROW, STRIP, THIN = 0.22, 1.1, 0.3  # inches
WIDEST = 0.03  # of the range of the parameter: a column of the strip
LEAST_HALF = 0.1  # of the axis of real parts, as a share of the largest eigenvalue


def verdict_colors(verdicts: Iterable[str]) -> dict[str, str]:
    """Colors of the verdicts that occur: centre manifolds by dimension, stable, unstable."""
    found, last = set(verdicts), len(_CENTERS) - 1
    centers = sorted((int(word.rpartition(" ")[2]), word) for word in found - set(_NAMED))
    colors = {word: _CENTERS[min(dimension // 2, last)] for dimension, word in centers}
    return colors | {word: color for word, color in _NAMED.items() if word in found}


def regime_diagram(
    entries: Entries,
    runs: Sequence[tuple[float, str]],
    parameter: str,
    title: str = "",
    between: style.Panel | None = None,
) -> style.Figure:
    """Verdicts on published sets above the shares of regimes over runs, given by their values.

    Another thin panel may stand between the two.
    """
    places, rows = np.unique([value for value, _ in runs], return_inverse=True)
    regimes = np.zeros((len(WORDS), len(places)))
    for row, (_, word) in zip(rows, runs, strict=True):
        regimes[WORDS.index(word), row] += 1
    regimes /= np.bincount(rows)
    values = sorted({entry.value or 0.0 for entry in entries} | set(places.tolist()))
    sets = verdict_panel(entries, values, bars=True)
    width = min(0.9 * float(np.diff(places).min()), WIDEST * (values[-1] - values[0]))
    columns, bottoms = list[style.Series](), regimes.cumsum(axis=0) - regimes
    for (word, color), shares, bottom in zip(REGIME_COLORS.items(), regimes, bottoms, strict=True):
        label = word.replace("quasi_", "quasi-").replace("_", " ") if shares.any() else ""
        look = {"color": color, "label": label, "edgecolor": INK, "linewidth": 0.3}
        columns.append(style.Series("bar", (places, shares, width, bottom), look))
    heading = f"how trajectories move at the simulated values of the {parameter}"
    margin = 0.04 * (values[-1] - values[0])
    limits = {"xlim": (values[0] - margin, values[-1] + margin), "ylim": (0, 1), "yticks": (0, 1)}
    strip = style.Panel(columns, parameter, "share of starts", heading, limits, own_legend=True)
    middle = [between] if between else []
    heights = [ROW * max(len(sets.settings["yticks"]), 1), *[THIN] * len(middle), STRIP]
    panels, height = [sets, *middle, strip], 1.2 + sum(heights) + THIN * len(middle)
    return style.draw_figure(panels, 9.5, height, title=title, sharex=True, height_ratios=heights)


def verdict_panel(entries: Entries, values: Sequence[float], *, bars: bool = False) -> style.Panel:
    """Verdicts on all sets at some values of a parameter (compare Billingham 2017, Figure 2).

    Where neighboring values have the same verdict a line joins them, or where they are dense a
    bar, with marks for other verdicts only. A ring is where members of one set have different ones.
    """
    colors = verdict_colors(entry.verdict for entry in entries)
    names = style.by_name(entry.name for entry in entries)
    mark: style.Look = {"marker": "D", "size": 6, "markeredgecolor": "white"} if bars else {}
    joint: style.Look = {"linewidth": 10, "solid_capstyle": "butt"} if bars else {"linewidth": 1}
    keys = [style.dots([], [], c, word, **(_SQUARE if bars else {})) for word, c in colors.items()]
    keys += [] if bars else [style.line([], [], INK, _LINE)]
    series = list[style.Series]()
    for row, name in enumerate(names):
        own = {entry.value or 0.0: entry for entry in entries if entry.name == name}
        verdict = dict.fromkeys(values, "") | {v: entry.verdict for v, entry in own.items()}
        for word, run in groupby(values, verdict.__getitem__):
            place = list(run)
            if word:
                at = place, [row] * len(place), colors[word]
                series.append(style.line(*at, **joint))
                if len(place) == 1 or not bars:
                    series.append(style.dots(*at, **mark))
        if not bars:
            rings = [v for v, e in own.items() if e.members and not e.members.same_everywhere]
            label = "members of the set differ" if rings else ""
            series.append(
                style.dots(rings, [row] * len(rings), GRAY, label, 9, markerfacecolor="none")
            )
    if bars and any(len(each.data[0]) == 1 for each in series):
        keys.append(style.dots([], [], GRAY, "at one value only", **mark))
    ticks = {"yticks": range(len(names)), "yticklabels": names}
    limits = ticks | {"ylim": (len(names) - 0.4, -0.6)}
    title = "published equilibria wherever they exist, by stability" if bars else ""
    title = title if names else "no equilibria were published"
    return style.Panel([*keys, *series], title=title, settings=limits, own_legend=bars)


def eigenvalue_figure(entries: Entries, title: str = "") -> style.Figure:
    """Eigenvalues of each equilibrium in the complex plane, unstable ones on the right."""
    series = [style.Series("axvline", (0,), {"color": GRAY, "linewidth": 0.8})]
    points = [np.reshape(entry.eigenvalues, (-1, 2)).T for entry in entries]
    for k, ((real, imaginary), entry) in enumerate(zip(points, entries, strict=True)):
        # with each color another in turn
        marker = style.MARKERS[(k + k // len(COLORS)) % len(style.MARKERS)]
        look: style.Look = {"marker": marker, "size": 5, "markerfacecolor": "none"}
        label = f"{entry.name}: {entry.verdict}"
        series.append(style.dots(real, imaginary, COLORS[k % len(COLORS)], label, **look))
    # where all real parts are rounding, they are not to fill the axis
    half = LEAST_HALF * max(float(np.abs(each).max()) for each in points)
    series.append(style.Series("update_datalim", ([(-half, 0), (half, 0)],), {}))
    labels = "real part: growth per unit of time", "imaginary part"
    panel = style.Panel(series, *labels, settings={"xmargin": 0.08, "ymargin": 0.08})
    return style.draw_figure([panel], 10, 4.2, title=title)


def draw_stability(entries: Entries, game: str, parameter: str | None) -> Iterator[Drawn]:
    """Draw eigenvalues at one value of the parameter, else verdicts along it."""
    values = sorted({entry.value or 0.0 for entry in entries})
    if len(values) > 1:
        panel = verdict_panel(entries, values)
        height = 1.2 + 0.28 * len(panel.settings["yticks"])
        figure = style.draw_figure([panel], 9, height, title=game, x_label=parameter or "")
        yield "verdicts", figure
    elif entries:
        title = style.game_title(game, parameter, *values)
        yield "eigenvalues", eigenvalue_figure(entries, title)
