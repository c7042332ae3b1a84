"""Figures of expectations along branches (Billingham 2018, Figures 2, 5, 6, 8 and 11 to 14).

Symbols in shapes: K points, N players.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from eqbench.errors import UsageError
from eqbench.model.tree import FloatArray
from eqbench.report.svg import COLORS, GRAY, INK
from eqbench.studies.branch_crossings import VERTICAL, crossing_counts
from eqbench.studies.branch import Branch, turning_points
from eqbench.studies.figure_style import (
    LABEL_SIZE,
    Color,
    add_legend,
    label_axes,
    new_figure,
    ordered_colors,
    player_color,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WINDOW_NAMES = "abcdefgh"


class Curve(NamedTuple):
    """Payoffs float64 (K, N) over values of the parameter float64 (K,)."""

    values: FloatArray
    payoffs: FloatArray


class Window(NamedTuple):
    """What a close-up shows; without `bottom` and `top`, all payoffs between left and right."""

    left: float
    right: float
    bottom: float | None = None
    top: float | None = None


class _Line(NamedTuple):
    """One polyline of a panel; its folds are points of it, and reference curves have none."""

    x: FloatArray
    y: FloatArray
    color: Color
    label: str
    style: str = "-"

    def between(self, left: float, right: float) -> FloatArray:
        """Values of y at the points of the polyline between two values of x and where it enters."""
        inside = self.y[(self.x >= left) & (self.x <= right)]
        before, step = self.x[:-1], np.diff(self.x)
        entered = []
        for edge in (left, right):
            crossing = np.flatnonzero((before - edge) * (self.x[1:] - edge) < 0)
            share = (edge - before[crossing]) / step[crossing]
            entered.append((1 - share) * self.y[crossing] + share * self.y[crossing + 1])
        return np.concatenate((inside, *entered))


def payoff_figure(
    branches: Mapping[str, Branch],
    *,
    exact: Sequence[Curve] = (),
    windows: Sequence[Window] = (),
    players: Sequence[int] | None = None,
    folds: bool = True,
) -> Figure:
    """Expectations against the parameter: of one branch in one panel, of several by player.

    Parameters
    ----------
    branches : by the name that the figure shows
    exact : reference curves, laid over the branches as dashed lines
    windows : close-ups; each is a panel of its own, marked in the main one
    players : numbers, from 0, of those whose expectations are shown; all unless given
    folds : whether folds are dots; those of many branches hide the curves

    Raises
    ------
    UsageError
        If there is no branch, the branches differ in their players or parameter, a player does
        not exist, or a window is empty, has a range of payoffs for several panels, or shows
        nothing.
    """
    first = _first(branches)
    names = first.game.tree.players
    shown = list(range(len(names))) if players is None else list(players)
    if not shown or not set(shown) <= set(range(len(names))):
        raise UsageError(f"players {shown} asked for; choose some of 0 to {len(names) - 1}")
    rows = [shown] if len(branches) == 1 else [[p] for p in shown]
    _check_windows(windows, len(rows))

    figure = new_figure(7.2 + 3.0 * len(windows), max(4.4, 2.7 * len(rows)))
    grid = figure.subplots(
        len(rows),
        1 + len(windows),
        squeeze=False,
        sharex="col",
        gridspec_kw={"width_ratios": [2.2] + [1.0] * len(windows)},
    )
    for axes, row in zip(grid, rows, strict=True):
        lines = _lines(branches, row, exact)
        main, *close_ups = axes
        _draw(main, lines, folds=folds)
        main.margins(x=0.01)
        for name, window, ax in zip(WINDOW_NAMES, windows, close_ups, strict=False):
            _draw(ax, lines, folds=folds)
            _close_up(main, ax, window, name, lines)
        whose = "expectation" if len(branches) == 1 else f"expectation of {names[row[0]]}"
        label_axes(main, "", whose)
        for ax in close_ups:
            label_axes(ax, "", "")
    for ax in grid[-1]:
        ax.set_xlabel(first.parameter, fontsize=LABEL_SIZE)
    if len(branches) == 1:
        grid[0, 0].set_title(next(iter(branches)), loc="left", fontsize=LABEL_SIZE)
    add_legend(figure, grid[0, 0].get_legend_handles_labels()[0])
    return figure


def _first(branches: Mapping[str, Branch]) -> Branch:
    """One of the branches, if all have the same players and the same parameter."""
    if not branches:
        raise UsageError("there is no branch to draw; give at least one")
    first, *others = branches.values()
    for other in others:
        one, two = ((b.parameter, *b.game.tree.players) for b in (first, other))
        if one != two:
            raise UsageError(
                f"{first.game.spec} and {other.game.spec} differ in their parameter or players "
                f"({', '.join(one)}; {', '.join(two)}); draw them in figures of their own"
            )
    return first


def _check_windows(windows: Sequence[Window], rows: int) -> None:
    if len(windows) > len(WINDOW_NAMES):
        raise UsageError(f"{len(windows)} close-ups asked for; at most {len(WINDOW_NAMES)} fit")
    for window in windows:
        if not window.left < window.right:
            raise UsageError(f"a close-up from {window.left} to {window.right} shows nothing")
        if (window.bottom is None) != (window.top is None):
            raise UsageError("a close-up has both bottom and top, or neither")
        if window.bottom is not None and window.top is not None:
            if not window.bottom < window.top:
                raise UsageError(f"a close-up from {window.bottom} to {window.top} shows nothing")
            if rows > 1:
                raise UsageError(
                    "a range of payoffs does not fit the panels of several players; "
                    "leave it out, or choose one player"
                )


def _lines(
    branches: Mapping[str, Branch], players: Sequence[int], exact: Sequence[Curve]
) -> list[_Line]:
    """What one row of panels shows: of one branch by player, of several by branch."""
    if len(branches) == 1:
        (branch,) = branches.values()
        labels = branch.game.tree.players
        lines = [
            _Line(branch.values, branch.payoffs[:, p], player_color(p), labels[p]) for p in players
        ]
    else:
        (p,) = players
        colors = ordered_colors(len(branches))
        lines = [
            _Line(branch.values, branch.payoffs[:, p], color, name)
            for color, (name, branch) in zip(colors, branches.items(), strict=True)
        ]
    for p in players:
        for curve in exact:
            label = "exact" if all(line.style == "-" for line in lines) else ""
            lines.append(_Line(curve.values, curve.payoffs[:, p], INK, label, "--"))
    return lines


def _draw(ax: Axes, lines: Sequence[_Line], *, folds: bool) -> None:
    for x, y, color, label, style in lines:
        ax.plot(x, y, style, color=color, linewidth=1.2, label=label, solid_joinstyle="round")
        if folds and style == "-":
            turns = turning_points(x)
            ax.plot(x[turns], y[turns], "o", color=color, markersize=2, zorder=3)
    if folds:
        ax.plot([], [], "o", color=GRAY, markersize=2, label="fold")


def _close_up(main: Axes, ax: Axes, window: Window, name: str, lines: Sequence[_Line]) -> None:
    """Limit `ax` to a window and mark the window in the main panel."""
    from matplotlib.patches import Rectangle

    left, right, bottom, top = window
    seen = np.concatenate([line.between(left, right) for line in lines])
    if (
        not len(seen)
        or (top is not None and not seen.min() <= top)
        or (bottom is not None and not seen.max() >= bottom)
    ):
        raise UsageError(f"there is nothing in the close-up {tuple(window)}; choose another one")
    if bottom is None or top is None:
        margin = 0.06 * float(np.ptp(seen)) or 1e-3
        bottom, top = float(seen.min()) - margin, float(seen.max()) + margin
    ax.set(xlim=(left, right), ylim=(bottom, top))
    ax.set_title(name, loc="left", fontsize=LABEL_SIZE)
    main.add_patch(
        Rectangle((left, bottom), right - left, top - bottom, fill=False, edgecolor=GRAY, zorder=4)
    )
    main.annotate(
        name,
        (right, top),
        (2, 1),
        textcoords="offset points",
        color=GRAY,
        fontsize=LABEL_SIZE,
        zorder=4,
    )


def crossing_figure(branches: Mapping[str, Branch], *, tolerance: float = VERTICAL) -> Figure:
    """Number of points of each branch against the parameter, in panels one above the other.

    They are crossings of the regularized curve; how many equilibria they become is for a
    verifier to say (cf. Billingham 2018, Figure 12).

    Parameters
    ----------
    branches : by the name that the figure shows
    tolerance : as in :func:`crossing_counts`

    Raises
    ------
    UsageError
        If there is no branch.
    """
    from matplotlib.ticker import MaxNLocator

    if not branches:
        raise UsageError("there is no branch to draw; give at least one")
    figure = new_figure(7.5, 0.8 + 0.95 * len(branches))
    grid = figure.subplots(len(branches), 1, squeeze=False, sharex=True)[:, 0]
    for ax, (name, branch) in zip(grid, branches.items(), strict=True):
        breakpoints, counts = crossing_counts(branch.values, tolerance)
        if not counts.size:  # it only stands still: one flat step
            breakpoints = np.array([branch.values.min(), branch.values.max()])
            counts = np.ones(1, dtype=np.int64)
        label_axes(ax, "", "")
        ax.set_axisbelow(True)
        # the outline keeps narrow steps visible
        colors = {"facecolor": COLORS[0], "edgecolor": COLORS[0]}
        ax.stairs(counts, breakpoints, fill=True, linewidth=0.7, snap=False, **colors)
        most = int(counts.max(initial=0))
        ax.set_ylim(0, 1.1 * max(most, 1))
        ax.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
        ax.set_title(f"{name}: up to {most}", loc="left", fontsize=LABEL_SIZE)
    parameters = sorted({branch.parameter for branch in branches.values()})
    grid[-1].set_xlabel(", ".join(parameters), fontsize=LABEL_SIZE)
    figure.supylabel("points of the branch", fontsize=LABEL_SIZE)
    return figure
