"""Figures of branches: payoffs, frequencies and counts along a parameter (Billingham 2018).

Symbols in shapes: K points, N players.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import binary_erosion

from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile_json import profile_from_json, read_profile
from eqbench.model.tree import FloatArray, GameTree
from eqbench.plots import style
from eqbench.plots.kuhn import bar_figure, write_animation
from eqbench.report import COLORS, GRAY, INK
from eqbench.report.naming import identity_text
from eqbench.spec import parse_spec
from eqbench.studies.branch import (
    LAMBDA,
    POINTS,
    Branch,
    crossing_counts,
    read_points,
    turning_points,
)
from eqbench.studies.frame import FIGURES, Drawn
from eqbench.studies.kuhn_ranges import NODES, KuhnNodes, node_title
from eqbench.studies.trace.follow import Setting

TOGETHER = 0.004  # of all payoffs: lines that are so close hide each other
DASHES = (0, (8, 8))
ANIMATION = "animation.gif"

Curve = tuple[FloatArray, FloatArray]  # values of the parameter (K,), payoffs (K, N)
Window = tuple[float, ...]  # left, right, and bottom, top unless all payoffs between are shown


def payoff_figure(
    branches: Mapping[str, Branch],
    *,
    exact: Sequence[Curve] = (),
    windows: Sequence[Window] = (),
    players: Sequence[int] | None = None,
    folds: bool = True,
) -> style.Figure:
    """Expectations against the parameter: of one branch in one panel, of several by player.

    Where players of one branch have the same expectation, lines of the later ones are dashed.
    UsageError if there is nothing in a close-up.

    Parameters
    ----------
    branches : by the name that the figure shows
    exact : reference curves, laid over the branches as dashed lines
    windows : close-ups; each is a panel of its own, marked in the main one
    players : numbers, from 0, of those whose expectations are shown; all unless given
    folds : whether folds are dots; those of many branches hide the curves
    """
    first = next(iter(branches.values()))
    names, single = first.game.tree.players, len(branches) == 1
    shown = range(len(names)) if players is None else players
    panels, rows = list[style.Panel](), [shown] if single else [[p] for p in shown]
    for row in rows:
        series = _lines(branches, row, folds=folds)
        series += [
            style.line(values, payoffs[:, p], INK, "exact", linestyle="--")
            for p, (values, payoffs) in itertools.product(row, exact)
        ]
        whose = "expectation" if single else f"expectation of {names[row[0]]}"
        main, close_ups = list(series), list[style.Panel]()
        for number, window in enumerate(windows, start=1):
            left, right, bottom, top = _box(window, series)
            sides = (left, right, right, left, left), (bottom, bottom, top, top, bottom)
            main.append(style.line(*sides, GRAY, linewidth=1, zorder=4))
            main.append(style.note(str(number), right, top, (2, 1), color=GRAY, zorder=4))
            limits = {"xlim": (left, right), "ylim": (bottom, top)}
            close_ups.append(style.Panel(series, title=str(number), settings=limits))
        panels += [style.Panel(main, "", whose, settings={"xmargin": 0.01}), *close_ups]
    size = 7.2 + 3.0 * len(windows), max(4.4, 2.7 * len(rows))
    title, columns = next(iter(branches)) if single else "", 1 + len(windows)
    grid: style.Look = {"sharex": "col", "width_ratios": [2.2] + [1.0] * len(windows)}
    return style.draw_figure(panels, *size, columns, title=title, x_label=first.parameter, **grid)


def _lines(
    branches: Mapping[str, Branch], players: Sequence[int], *, folds: bool
) -> list[style.Series]:
    """Lines of one row of panels and their folds: of one branch by player, of several by branch."""
    series, drawn = list[style.Series](), list[FloatArray]()
    colors = zip(branches.items(), style.ordered_colors(len(branches)), strict=True)
    for ((name, branch), color), p in itertools.product(colors, players):
        points = branch.broken()
        x, y = points.values, points.payoffs[:, p]
        hides = np.zeros(len(x), dtype=bool)
        for other in drawn:
            hides |= np.abs(y - other) <= TOGETHER * float(np.ptp(branch.payoffs))
        if len(branches) == 1:
            name, color = branch.game.tree.players[p], style.player_color(p)
            drawn.append(y)
        inside = binary_erosion(hides, border_value=1)
        series.append(style.line(x, np.where(inside, np.nan, y), color, name))
        if inside.any():
            series.append(style.line(x, np.where(hides, y, np.nan), color, linestyle=DASHES))
        if folds:
            turns = turning_points(x)
            series.append(style.dots(x[turns], y[turns], color, size=2, zorder=3))
    return [*series, style.dots([], [], GRAY, "fold", 2)] if folds else series


def _box(window: Window, series: Sequence[style.Series]) -> tuple[float, float, float, float]:
    """What a close-up shows, from left to right and from bottom to top; UsageError if nothing."""
    left, right, *heights = window
    x, y = (np.concatenate([[*s.data[k], np.nan] for s in series]) for k in (0, 1))
    found = [y[(x >= left) & (x <= right)]]
    for edge in (left, right):  # where a line enters
        crossing = np.flatnonzero((x[:-1] - edge) * (x[1:] - edge) < 0)
        share = (edge - x[crossing]) / np.diff(x)[crossing]
        found.append((1 - share) * y[crossing] + share * y[crossing + 1])
    seen = np.concatenate(found)
    seen = seen[np.isfinite(seen)]
    low, high = heights or (-math.inf, math.inf)
    if not ((seen <= high).any() and (seen >= low).any()):
        raise UsageError(f"there is nothing in the close-up {window}; choose another one")
    if not heights:
        margin = 0.06 * float(np.ptp(seen)) or 1e-3
        low, high = float(seen.min()) - margin, float(seen.max()) + margin
    return left, right, low, high


def crossing_figure(branches: Mapping[str, Branch]) -> style.Figure:
    """Number of points of each branch, by its name, in panels one above the other.

    They are crossings of the regularized curve; how many equilibria they become is for a
    verifier to say (cf. Billingham 2018, Figure 12).
    """
    panels = []
    for name, branch in branches.items():
        edges, counts = crossing_counts(branch.values)
        if not counts.size:  # it only stands still: one flat step
            edges, counts = np.sort(branch.values)[[0, -1]], np.ones(1, dtype=np.int64)
        most = int(counts.max())
        # the outline keeps narrow steps visible
        look = {"fill": True, "facecolor": COLORS[0], "edgecolor": COLORS[0], "snap": False}
        steps = style.Series("stairs", (counts, edges), look | {"linewidth": 0.7})
        ticks = range(0, most + 1, math.ceil(most / 4))
        limits = {"ylim": (0, 1.1 * most), "yticks": ticks}
        panels.append(style.Panel([steps], title=f"{name}: up to {most}", settings=limits))
    parameter = ", ".join(sorted({branch.parameter for branch in branches.values()}))
    size, y_label = (7.5, 0.8 + 0.95 * len(panels)), "points of the branch"
    return style.draw_figure(panels, *size, x_label=parameter, y_label=y_label, sharex=True)


MAX_PANELS = 60
MOST_COLUMNS = 6
LEAST = 0.1
LINE_STYLES: Sequence[Any] = ("-", "--", ":", "-.", (0, (8, 2)), (0, (6, 1, 1, 1, 1, 1)))
_OTHERS: style.Look = {"linewidth": 0.6, "alpha": 0.7}


class Free(NamedTuple):
    """A free frequency: its position, panel, label, and the action where several are free."""

    position: int
    panel: str
    label: str
    action: str


def frequency_table(tree: GameTree) -> list[Free]:
    """All free frequencies by panel, each at its position in ``Branch.free``.

    There is a panel for each player and public history; those of three-player Kuhn poker come in
    Billingham's order. UsageError if nothing is free, or more than 60 panels would be needed.
    """
    rows, order = list[Free](), _node_titles(tree)
    for infoset in Choices.of(tree).infoset.tolist():
        private, is_dealt, public = tree.infoset_labels[infoset].partition(":")
        player, actions = int(tree.infoset_player[infoset]), tree.infoset_actions[infoset][1:]
        name = tree.players[player]
        name += f": {actions[0]}" * bool(is_dealt and len(actions) == 1)  # what is drawn
        name += f" after {public}" * bool(public)
        panel = order.get((player, public), name)
        for action in actions:  # where nothing is held, it is the label
            which = action if private and actions[1:] else ""
            rows.append(Free(len(rows), panel, private or action, which))
    panels = list(dict.fromkeys(row.panel for row in rows))
    if not 0 < len(panels) <= MAX_PANELS:
        raise UsageError(
            f"the frequencies of this game need {len(panels)} panels, one for each player and "
            f"public history; 1 to {MAX_PANELS} can be drawn, so choose another game"
        )
    titles = list(order.values()) or panels
    return sorted(rows, key=lambda row: titles.index(row.panel))


def _node_titles(tree: GameTree) -> dict[tuple[int, str], str]:
    """The twelve nodes of three-player Kuhn poker by player and history; none of other games."""
    try:
        KuhnNodes.of(tree)
    except UsageError:
        return {}
    return {(node.player, node.history): node_title(row) for row, node in enumerate(NODES)}


def frequency_figure(
    branch: Branch,
    window: tuple[float, float] | None = None,
    *,
    others: Sequence[Branch] = (),
    title: str = "",
) -> style.Figure:
    """Frequencies against the parameter: a panel for each decision, a line for each card.

    Where several actions are free there is a line for each, and dashes say which it is.

    Parameters
    ----------
    window : lower and upper end of the parameter, for a close-up
    others : other branches of the game, as thin lines
    """
    table, nodes = frequency_table(branch.game.tree), _node_titles(branch.game.tree)
    labels = list(dict.fromkeys(row.label for row in table))
    actions = list(dict.fromkeys(row.action for row in table))
    if are_cards := all(map(str.isdecimal, labels)):
        labels.sort(key=int)
    color = dict(zip(labels, style.ordered_colors(len(labels)), strict=True))
    dashes = dict(zip(filter(None, actions), itertools.cycle(LINE_STYLES), strict=False))
    keys = [style.line([], [], color[label], label) for label in labels]
    keys += [style.line([], [], GRAY, name, linestyle=dash) for name, dash in dashes.items()]
    if others:
        looks = {"principal branch": {}, "others": _OTHERS}
        keys += [style.line([], [], GRAY, name, **look) for name, look in looks.items()]
    drawn = [(each.broken(), _OTHERS) for each in others] + [(branch.broken(), {})]
    values = np.concatenate([each.values for each in (branch, *others)])
    low, high = window or (float(values.min()), float(values.max()))
    limits: style.Look = {"xlim": (low, high), "ylim": (-0.04, 1.04)}
    if branch.parameter == LAMBDA:  # in its first decades hardly anything changes
        limits = {"xscale": "log"} | limits | {"xlim": (max(low, LEAST), high)}
    panels = []
    for name, own in itertools.groupby(table, lambda row: row.panel):
        lines = list(keys)
        for (points, look), (k, _, label, action) in itertools.product(drawn, own):
            look = look | {"linestyle": dashes.get(action, "-")}
            lines.append(style.line(points.values, points.free[:, k], color[label], **look))
        panels.append(style.Panel(lines, title=name, settings=limits))
    titles = [panel.title for panel in panels]
    columns = 3 if nodes else min(math.ceil(math.sqrt(len(panels))), MOST_COLUMNS)
    fixed = [name.partition(" ")[0] for name in nodes.values() if name not in titles]
    if fixed:
        title += f"; nothing is free at {', '.join(fixed)}"
    size = 1.2 + 2.7 * columns, 0.6 + 1.8 * math.ceil(len(panels) / columns)
    words: style.Look = {"title": title, "x_label": branch.parameter, "y_label": "frequency"}
    words["legend"] = "card" if are_cards else None
    return style.draw_figure(panels, *size, columns, **words, sharex=True, sharey=True)


def draw_quantal(game: Game, folder: Path, title: str) -> Iterator[Drawn]:
    """Draw the frequencies along branches; the first one, the principal branch, stands out."""
    files = folder / POINTS, *sorted(folder.glob("points-*.csv"))
    branch, *others = (read_points(game, file, LAMBDA) for file in files)
    yield "frequencies", frequency_figure(branch, others=others, title=title)


def draw_trace(setting: Setting, folder: Path, document: Mapping[str, Any]) -> Iterator[Drawn]:
    """Draw payoffs, frequencies and counts along a branch; in Kuhn poker for three also bars.

    Bars show the equilibria of the summary `document`. A figure that cannot be drawn states
    why it is missing; the others are not.
    """
    branch, tree = read_points(setting.game, folder / POINTS), setting.game.tree
    title = str(parse_spec(setting.game.spec).without(setting.parameter))
    close_ups = setting.request.close_ups
    figures: dict[str, Callable[[], style.Figure]] = {
        "payoffs": partial(payoff_figure, {title: branch}, windows=close_ups),
        "frequencies": partial(frequency_figure, branch, title=title),
        "counts": partial(crossing_figure, {title: branch}),
    }
    for number, ends in enumerate(close_ups, start=1):
        figures[f"frequencies-{number}"] = partial(frequency_figure, branch, ends, title=title)
    for entry in document["at"] if _node_titles(tree) else ():
        for number, item in enumerate(entry["equilibria"], start=1):
            place = f"{title} at {setting.parameter}={entry['parameter']:.9g}"
            which = f"{number} of {len(entry['equilibria'])}"
            words = filter(None, (place, which, identity_text(item["identity"])))
            file = folder / item["profile"]
            figures[f"bars-{file.stem}"] = partial(_bars, tree, file, ", ".join(words))
    for name, draw in figures.items():
        try:
            yield name, draw()
        except UsageError as error:
            yield f"the figure {name} is missing: {error}"


def _bars(tree: GameTree, file: Path, title: str) -> style.Figure:
    behavior = profile_from_json(tree, read_profile(str(file))).probabilities
    return bar_figure(tree, behavior, title=title)


def check_figures(setting: Setting) -> None:
    """Raise UsageError if the figures of a trace cannot be drawn, whatever its branch is."""
    first, last = sorted((setting.request.first, setting.request.last))
    for low, high in setting.request.close_ups:
        if high <= first or low >= last:
            raise UsageError(f"--close-up {low:g},{high:g} lies outside {first} to {last}")
    frequency_table(setting.game.tree)


def animate_trace(setting: Setting, folder: Path) -> Path:
    """Write the strategies along a branch as an animation; return the file."""
    branch, file = read_points(setting.game, folder / POINTS), folder / FIGURES / ANIMATION
    write_animation(branch, file, setting.request.animate or 2)
    return file
