"""Orbits of simulated trajectories in planes of two frequencies (Billingham 2017, Figures 8-14)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eqbench.equilibria import KnownSet, known_sets
from eqbench.errors import UsageError, known_labels
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray, IntArray
from eqbench.report.svg import GRAY
from eqbench.studies.branch_points import action_labels
from eqbench.studies.figure_style import (
    SMALL_SIZE,
    add_legend,
    label_axes,
    new_figure,
    ordered_colors,
    title_figure,
)
from eqbench.studies.simulation_moving import (
    coupled_pairs,
    free_frequencies,
    frequency_names,
    last_turns,
    late_part,
    title_of,
)
from eqbench.studies.simulation_points import SimulatedRun
from eqbench.studies.stability_members import members
from eqbench.studies.stability_style import by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS, MOST_COLUMNS = 8, 4
TURNS = 30
MOST_POINTS = 40_000  # of all lines; beyond that they become a picture inside the SVG
MARK = "#c81e1e"
LONGEST_TAG = 3
TOGETHER = 0.055  # names that are so close to each other are written as one
_RING: dict[str, Any] = {
    "color": MARK,
    "marker": "o",
    "linestyle": "",
    "fillstyle": "none",
    "markersize": 7,
}
_DOT: dict[str, Any] = {"marker": "o", "linestyle": "", "markersize": 2.5}
_SAMPLES = 32
_SAME = 1e-6

Plane = tuple[int, int]  # two free frequencies
Spot = tuple[float, float]  # in a plane


def planes_of(
    game: Game, runs: Sequence[SimulatedRun], pairs: Sequence[tuple[str, str]] = ()
) -> list[Plane]:
    """The planes that are drawn: the named ones, or else the most strongly coupled pairs.

    Empty if no pair is named, and no two frequencies that drive each other move.

    Parameters
    ----------
    pairs : names of frequencies, ``player|information set|action`` or those of a published set

    Raises
    ------
    UsageError
        If a name is unknown, or a pair names one frequency twice.
    """
    if not pairs:
        return coupled_pairs(game, runs, MOST_PANELS)
    labels = action_labels(game.tree)
    written = [labels[action] for action in Choices.of(game.tree).action.tolist()]
    position = {name: place for place, name in enumerate(written)}
    short = frequency_names(game, known_sets(game))
    position |= {name: place for place, name in enumerate(short)}
    return [_named_plane(pair, position) for pair in pairs]


def _named_plane(pair: tuple[str, str], position: Mapping[str, int]) -> Plane:
    for name in pair:
        if name not in position:
            raise UsageError(
                f"{name!r} is no frequency of this game; {known_labels(name, list(position))}"
            )
    x, y = (position[name] for name in pair)
    if x == y:
        raise UsageError(f"{','.join(pair)} names one frequency twice; name two, such as b3,d2")
    return x, y


def phase_figure(game: Game, runs: Sequence[SimulatedRun], planes: Sequence[Plane]) -> Figure:
    """The last 30 turns of all runs, one color each, in planes of two frequencies.

    Of a run with fewer turns in its late part all of that is drawn. A dot is its end. Published
    equilibria are red: circles, lines or areas, each with what its name ends in, or with a number
    where that is long.
    """
    from matplotlib.lines import Line2D

    known = known_sets(game)
    names = frequency_names(game, known)
    rows = math.ceil(len(planes) / MOST_COLUMNS)
    columns = math.ceil(len(planes) / rows)
    figure = new_figure(1.9 + 2.5 * columns, 2.5 * rows)
    figure.set_layout_engine("compressed")  # panels are square
    title_figure(figure, title_of(game))
    grid = figure.subplots(rows, columns, squeeze=False)
    colors, tags = ordered_colors(len(runs)), _tags(known)
    orbits = [[_orbit(game, run, plane) for run in runs] for plane in planes]
    dense = sum(len(orbit) for row in orbits for orbit in row) > MOST_POINTS
    for ax, (x, y), row in zip(grid.flat, planes, orbits, strict=False):
        label_axes(ax, names[x], names[y])
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
        ax.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        for orbit, color in zip(row, colors, strict=True):
            ax.plot(*orbit.T, color=color, linewidth=0.5, rasterized=dense)
            ax.plot(*orbit[-1], color=color, **_DOT, clip_on=False)
        _mark(ax, known, tags, Choices.of(game.tree).action[[x, y]])
    for ax in grid.flat[len(planes) :]:
        ax.remove()
    handles = [
        Line2D([], [], color=color, label=run.name) for run, color in zip(runs, colors, strict=True)
    ]
    handles.append(Line2D([], [], label="end of a run", color=GRAY, **_DOT))
    if known:
        handles.append(Line2D([], [], label="published equilibria", **_RING))
    for name, tag in tags.items():
        if not name.endswith(tag):
            handles.append(Line2D([], [], linestyle="", label=f"{tag}: {name}"))
    end = max(float(run.times[-1]) for run in runs)
    add_legend(figure, handles, title=f"at most {TURNS} turns,\nup to time {end:,.10g}")
    return figure


def _orbit(game: Game, run: SimulatedRun, plane: Plane) -> FloatArray:
    """The last turns in the late part of a run in a plane, float64 (n, 2)."""
    late = free_frequencies(game, run)[late_part(run)][:, plane]
    return late[last_turns(late, TURNS) :]


def _tags(known: Sequence[KnownSet]) -> dict[str, str]:
    """What published sets are called in a plane: the end of their names, or their numbers."""
    ends = {each.name: each.name.rpartition(":")[2] for each in known}
    if all(len(end) <= LONGEST_TAG for end in ends.values()):
        return ends
    return {name: f"({number})" for number, name in enumerate(ends, start=1)}


def _mark(ax: Axes, known: Sequence[KnownSet], tags: Mapping[str, str], actions: IntArray) -> None:
    """Draw where published sets are, with their tags."""
    circles: set[Spot] = set()
    named: dict[Spot, set[str]] = {}
    for each in known:
        corners = _outline(each, actions)
        if not len(corners):
            continue
        x, y = corners.T
        spot = float(x.mean()), float(y.mean())
        if len(corners) == 1:
            ax.plot(x, y, **_RING, clip_on=False, zorder=5)
            circles.add(spot)
        elif len(corners) == 2:
            ax.plot(
                x, y, color=MARK, linewidth=2.2, solid_capstyle="round", clip_on=False, zorder=5
            )
        else:
            ax.fill(x, y, facecolor=MARK, alpha=0.12, edgecolor=MARK, linewidth=0.8)
        near = [other for other in named if np.abs(np.subtract(spot, other)).max() < TOGETHER]
        named.setdefault(near[0] if near else spot, set()).add(tags[each.name])
    for spot, words in named.items():
        _tag(ax, spot, ", ".join(by_name(words)), is_circle=spot in circles)


def _tag(ax: Axes, spot: Spot, text: str, *, is_circle: bool) -> None:
    """Write what is there: beside a circle, so that no other is as near, or above a line."""
    from matplotlib.patheffects import withStroke

    x, y = spot
    side = 1 if x < 0.85 else -1  # toward the middle, so that it stays inside
    ax.annotate(
        text,
        spot,
        (6 * side, 0) if is_circle else (0, 7 if y < 0.9 else -7),
        textcoords="offset points",
        ha="left" if side > 0 else "right",
        va="center",
        fontsize=SMALL_SIZE,
        color=MARK,
        path_effects=[withStroke(linewidth=2.0, foreground="white")],
        zorder=6,
    )


def _outline(known: KnownSet, actions: IntArray) -> FloatArray:
    """Corners (n, 2) of what the members of a set play at two actions: one, two or an area."""
    found = [
        known.layout.behavior(known.frequencies(member.parameters))[actions]
        for member in members(known, _SAMPLES, np.random.default_rng(0))
    ]
    if not found:
        return np.empty((0, 2))
    points = np.array(found)
    middle = points.mean(axis=0)
    if np.ptp(points, axis=0).max() <= _SAME:
        return middle[None]
    _, (length, width), axes = np.linalg.svd(points - middle, full_matrices=False)
    if width <= _SAME * length:
        along = (points - middle) @ axes[0]
        return points[[along.argmin(), along.argmax()]]
    from scipy.spatial import ConvexHull

    return points[ConvexHull(points).vertices]
