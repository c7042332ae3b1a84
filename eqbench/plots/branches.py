"""Figures of branches: payoffs, frequencies and counts along a parameter (Billingham 2018).

Symbols in shapes: K points, N players.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from eqbench.equilibria.kuhn_ranges import NODES, KuhnNodes, node_title
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.tree import FloatArray, GameTree
from eqbench.plots.kuhn import bar_figure, write_animation
from eqbench.plots.style import (
    LABEL_SIZE,
    Color,
    add_legend,
    label_axes,
    new_figure,
    ordered_colors,
    player_color,
    sample,
    save_both,
)
from eqbench.report.naming import identity_text
from eqbench.report.svg import COLORS, GRAY, INK
from eqbench.spec import parse_spec
from eqbench.studies.branch import (
    POINTS,
    VERTICAL,
    Branch,
    crossing_counts,
    read_points,
    turning_points,
)
from eqbench.studies.qre import PARAMETER
from eqbench.studies.trace.follow import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MAX_PANELS = 60


@dataclass(frozen=True)
class Line:
    """A line of a panel: what the player holds, the action, the position of the frequency.

    The action is empty where no other is free. Where nothing is held it is the label instead.
    """

    label: str
    action: str
    position: int


@dataclass(frozen=True)
class Panel:
    """A panel: its title, and its lines with positions among the F free frequencies."""

    title: str
    lines: tuple[Line, ...]


def frequency_panels(tree: GameTree) -> tuple[Panel, ...]:
    """Panels of all free frequencies; twelve in Billingham's order for three-player Kuhn poker.

    Raises
    ------
    UsageError
        If nothing is free, or more than 60 panels would be needed.
    """
    choices = Choices.of(tree)
    found: dict[tuple[int, str], list[Line]] = {}
    for c, infoset in enumerate(choices.infoset.tolist()):
        private, _, public = tree.infoset_labels[infoset].partition(":")
        lines = found.setdefault((int(tree.infoset_player[infoset]), public), [])
        actions = tree.infoset_actions[infoset][1:]
        for position, action in enumerate(actions, start=int(choices.start[c])):
            style = action if private and len(actions) > 1 else ""
            lines.append(Line(private or action, style, position))
    if not found:
        raise UsageError("no frequency of this game is free, so there is nothing to draw")
    if len(found) > MAX_PANELS:
        raise UsageError(
            f"the frequencies of this game need {len(found)} panels, one for each player and "
            f"public history; at most {MAX_PANELS} can be read, so choose a smaller game"
        )
    if _has_nodes(tree):
        return tuple(
            Panel(node_title(row), tuple(found.get((node.player, node.history), ())))
            for row, node in enumerate(NODES)
        )
    return tuple(
        Panel(
            f"{tree.players[player]} after {public}" if public else tree.players[player],
            tuple(lines),
        )
        for (player, public), lines in found.items()
    )


def _has_nodes(tree: GameTree) -> bool:
    """Return whether a game has the twelve nodes of three-player Kuhn poker."""
    try:
        KuhnNodes.of(tree)
    except UsageError:
        return False
    return True


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
            label_axes(ax)
    for ax in grid[-1]:
        label_axes(ax, first.parameter)
    if len(branches) == 1:
        label_axes(grid[0, 0], title=next(iter(branches)))
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
        (drawn,) = (branch.broken() for branch in branches.values())
        labels = drawn.game.tree.players
        lines = [
            _Line(drawn.values, drawn.payoffs[:, p], player_color(p), labels[p]) for p in players
        ]
    else:
        (p,) = players
        colors = ordered_colors(len(branches))
        lines = [
            _Line(branch.broken().values, branch.broken().payoffs[:, p], color, name)
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
    label_axes(ax, title=name)
    size = right - left, top - bottom
    main.add_patch(Rectangle((left, bottom), *size, fill=False, edgecolor=GRAY, zorder=4))
    style: dict[str, Any] = {"color": GRAY, "fontsize": LABEL_SIZE, "zorder": 4}
    main.annotate(name, (right, top), (2, 1), textcoords="offset points", **style)


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
        ax.set_axisbelow(True)
        # the outline keeps narrow steps visible
        colors = {"facecolor": COLORS[0], "edgecolor": COLORS[0]}
        ax.stairs(counts, breakpoints, fill=True, linewidth=0.7, snap=False, **colors)
        most = int(counts.max(initial=0))
        ax.set_ylim(0, 1.1 * max(most, 1))
        ax.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
        label_axes(ax, title=f"{name}: up to {most}")
    label_axes(grid[-1], ", ".join(sorted({branch.parameter for branch in branches.values()})))
    figure.supylabel("points of the branch", fontsize=LABEL_SIZE)
    return figure


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
    if window is not None and not window[0] < window[1]:
        raise UsageError(f"a close-up from {window[0]} to {window[1]} shows nothing")
    panels = frequency_panels(branch.game.tree)
    lines = [line for panel in panels for line in panel.lines]
    labels, drawn = list(dict.fromkeys(line.label for line in lines)), branch.broken()
    are_cards = all(map(str.isdecimal, labels))
    if are_cards:
        labels.sort(key=int)
    color = dict(zip(labels, ordered_colors(len(labels)), strict=True))
    actions = list(dict.fromkeys(line.action for line in lines if line.action))
    style = dict(zip(actions, itertools.cycle(LINE_STYLES), strict=False))
    columns = 3 if len(panels) == 12 else min(math.ceil(math.sqrt(len(panels))), MOST_COLUMNS)
    rows = math.ceil(len(panels) / columns)
    figure = new_figure(1.2 + 2.7 * columns, 0.6 + 1.8 * rows)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for ax, panel in zip(grid.flat, panels, strict=False):
        label_axes(ax, title=panel.title)
        for line in sorted(panel.lines, key=lambda line: labels.index(line.label)):
            (curve,) = ax.plot(drawn.values, drawn.free[:, line.position], linewidth=1.1)
            curve.set(color=color[line.label], linestyle=style.get(line.action, "-"))
        if not panel.lines:
            note = {"ha": "center", "va": "center", "color": GRAY, "fontsize": LABEL_SIZE}
            ax.text(0.5, 0.5, "nothing is free", transform=ax.transAxes, **note)
    for ax in grid.flat[len(panels) :]:
        ax.remove()
    for ax in grid.flat[len(panels) - columns : len(panels)]:
        ax.tick_params(labelbottom=True)
    ends = window or (float(branch.values.min()), float(branch.values.max()))
    if logarithmic:
        grid[0, 0].set_xscale("log")
        ends = max(ends[0], LEAST), ends[1]
    grid[0, 0].set(ylim=(-0.04, 1.04), xlim=ends)
    figure.supxlabel(branch.parameter, fontsize=LABEL_SIZE)
    figure.supylabel("frequency", fontsize=LABEL_SIZE)
    handles = [sample(label, color=color[label]) for label in labels]
    handles += [sample(name, color=GRAY, linestyle=style[name]) for name in actions]
    title = "card" if are_cards else None
    add_legend(figure, handles, title=title, columns=math.ceil(len(handles) / LEGEND_ROWS))
    return figure


def draw_quantal(game: Game, folder: Path) -> list[Path]:
    """Write the frequencies along the principal branch as figures; return the files.

    Raises
    ------
    UsageError
        If the points cannot be read or a file cannot be written.
    """
    branch = read_points(game, folder / POINTS, PARAMETER)
    return save_both(frequency_figure(branch, logarithmic=True), folder, "frequencies")


FIGURES, ANIMATION = "figures", "animation.gif"


def draw_trace(setting: Setting, folder: Path, document: Mapping[str, Any]) -> Iterator[Path | str]:
    """Write payoffs, frequencies and counts along a branch; in Kuhn poker for three also bars.

    Bars show the equilibria of the summary `document`. Files are yielded, and for a figure that
    cannot be drawn or written why it is missing; the others are not.

    Raises
    ------
    UsageError
        If the points of the branch or the folder of the figures are damaged.
    """
    branch = read_points(setting.game, folder / POINTS)
    target = _figure_folder(folder)
    for name, draw in _figures(setting, folder, document).items():
        try:
            yield from save_both(draw(branch), target, name)
        except UsageError as error:
            yield f"the figure {name} is missing: {error}"


def check_figures(setting: Setting) -> None:
    """Raise UsageError if the figures of a trace cannot be drawn, whatever its branch is.

    Close-ups must lie within the range of the parameter, and there are at most eight.
    """
    close_ups = setting.request.close_ups
    first, last = sorted((setting.request.first, setting.request.last))
    for low, high in close_ups:
        if high <= first or low >= last:
            raise UsageError(f"--close-up {low:g},{high:g} lies outside {first} to {last}")
    if len(close_ups) > len(WINDOW_NAMES):
        raise UsageError(f"{len(close_ups)} close-ups asked for; at most {len(WINDOW_NAMES)} fit")
    frequency_panels(setting.game.tree)


def animate_trace(setting: Setting, folder: Path) -> Path:
    """Write the strategies along a branch as an animation; return the file.

    Raises
    ------
    UsageError
        If the game is not three-player Kuhn poker, or a file cannot be read or written.
    """
    branch = read_points(setting.game, folder / POINTS)
    gaps = (setting.request.animate or 2) - 1
    step = float(branch.arclength[-1] - branch.arclength[0]) / gaps
    file = _figure_folder(folder) / ANIMATION
    write_animation(branch, file, step=step)
    return file


def check_animation(setting: Setting) -> None:
    """Raise UsageError if the strategies of a game cannot be animated."""
    KuhnNodes.of(setting.game.tree)


def _figures(
    setting: Setting, folder: Path, document: Mapping[str, Any]
) -> dict[str, Callable[[Branch], Figure]]:
    """All figures by the names of their files."""
    title, close_ups = _name(setting), setting.request.close_ups
    windows = [Window(low, high) for low, high in close_ups]
    figures: dict[str, Callable[[Branch], Figure]] = {
        "payoffs": lambda branch: payoff_figure({title: branch}, windows=windows),
        "frequencies": frequency_figure,
        "counts": lambda branch: crossing_figure({title: branch}),
    }
    for number, ends in enumerate(close_ups, start=1):
        figures[f"frequencies-{number}"] = partial(frequency_figure, window=ends)
    if _has_nodes(setting.game.tree):
        for entry in document["at"]:
            for number, item in enumerate(entry["equilibria"], start=1):
                name = f"bars-{Path(item['profile']).stem}"
                figures[name] = partial(_bars, setting, folder, (entry, number))
    return figures


def _bars(setting: Setting, folder: Path, shown: tuple[dict[str, Any], int], _: Branch) -> Figure:
    """Bars of one equilibrium of an entry of the summary, by its number from 1."""
    tree, (entry, number) = setting.game.tree, shown
    item = entry["equilibria"][number - 1]
    behavior = profile_from_json(tree, read_profile(str(folder / item["profile"]))).probabilities
    words = [
        f"{_name(setting)} at {setting.parameter}={entry['parameter']:.9g}",
        f"{number} of {len(entry['equilibria'])}",
        identity_text(item["identity"]),
    ]
    return bar_figure(tree, behavior, title=", ".join(filter(None, words)))


def _name(setting: Setting) -> str:
    """The game without its parameter."""
    return str(parse_spec(setting.game.spec).without(setting.parameter))


def _figure_folder(folder: Path) -> Path:
    path = folder / FIGURES
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write figures to {path}: {error.strerror}") from None
    return path
