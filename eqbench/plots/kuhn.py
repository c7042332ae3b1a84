"""Three-player Kuhn poker in pictures: strategies as bars with their ranges, and along a branch.

The panels are the twelve nodes of :mod:`eqbench.equilibria.kuhn_ranges`. Symbols in shapes:
N cards, A actions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.kuhn_ranges import (
    N_OPENINGS,
    NODES,
    TOLERANCE,
    KuhnNodes,
    Range,
    Ranges,
    bet_before,
    held,
    node_title,
    strategy_ranges,
)
from eqbench.errors import UsageError
from eqbench.model.tree import FloatArray, GameTree
from eqbench.plots.style import LABEL_SIZE, SMALL_SIZE, new_figure, player_color
from eqbench.report.svg import COLORS, GRAY, INK, PALE
from eqbench.studies.branch import Branch

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection, QuadMesh
    from matplotlib.figure import Figure
    from matplotlib.text import Text


ROW_TITLES = ("nobody has bet", "P3 has bet", "P2 has bet", "P1 has bet")
HELD_COLOR = "#d5d9de"
RANGE_COLORS = ("#ffffff", *COLORS[: len(Range) - 1])
RANGE_LETTERS = " VBTSC"
STRIP_HEIGHT, STRIP_GAP = 0.13, 0.05
MOST_LETTERS = 16  # those of more cards would touch each other
BAR_WIDTH = 0.8


def bar_figure(
    tree: GameTree, behavior: FloatArray, *, title: str = "", tolerance: float = TOLERANCE
) -> Figure:
    """Twelve panels in the order of the decision tree, a bar per card, the highest at the right.

    A bar is as high as the fraction of its card that the player still holds at the node, and
    black as far as that is bet or called. Below stand the ranges of bets and calls, and below
    those of the first two nodes the ranges of checks.

    Parameters
    ----------
    behavior : float64 (A,)
    tolerance : frequencies up to this one do not count for the ranges

    Raises
    ------
    UsageError
        If the game is not three-player Kuhn poker.
    """
    bars = new_bars(KuhnNodes.of(tree), tolerance)
    bars.show(behavior, title)
    return bars.figure


@dataclass(frozen=True, eq=False)
class _Panel:
    """What changes in the panel of one node."""

    held: PolyCollection
    played: PolyCollection
    strips: QuadMesh
    letters: Sequence[Sequence[Text]]
    note: Text

    def artists(self) -> list[Artist]:
        letters = [letter for row in self.letters for letter in row]
        return [self.held, self.played, self.strips, *letters, self.note]


@dataclass(frozen=True, eq=False)
class Bars:
    """The display; :meth:`show` puts another profile into the same artists.

    Attributes
    ----------
    header : Axes
        Empty stretch above the panels, with the title and the legend.
    """

    figure: Figure
    header: Axes
    title: Text
    panels: Sequence[_Panel]
    nodes: KuhnNodes
    tolerance: float

    def show(self, behavior: FloatArray, title: str) -> None:
        """Show a profile, given as float64 (A,)."""
        aggression = self.nodes.aggression(behavior)
        ranges = strategy_ranges(aggression, self.tolerance)
        fractions = held(aggression)
        made = aggression.max(axis=1) > self.tolerance
        self.title.set_text(title)
        for row, panel in enumerate(self.panels):
            panel.held.set_verts(list(_rectangles(fractions[row])))
            panel.played.set_verts(list(_rectangles(fractions[row] * aggression[row])))
            kinds = _strip_kinds(ranges, row)
            panel.strips.set_array(kinds)
            for letters, row_kinds in zip(panel.letters, kinds, strict=False):
                for letter, kind in zip(letters, row_kinds, strict=True):
                    letter.set_text(RANGE_LETTERS[kind])
            faced = row < N_OPENINGS or made[bet_before(row)]
            panel.note.set_text("" if faced else "nobody makes this bet")

    def artists(self) -> list[Artist]:
        """All that :meth:`show` changes."""
        return [self.title, *(artist for panel in self.panels for artist in panel.artists())]


def new_bars(nodes: KuhnNodes, tolerance: float, header_height: float = 0.3) -> Bars:
    """The display without a profile; the height of the header is in panels."""
    figure = new_figure(10.5, 7.6 + 1.7 * header_height)
    grid = figure.add_gridspec(5, 3, height_ratios=[header_height, 1.18, 1, 1, 1])
    header = figure.add_subplot(grid[0, :])
    header.set_axis_off()
    panels = []
    for row in range(len(NODES)):
        ax = figure.add_subplot(grid[1 + row // 3, row % 3])
        panels.append(_new_panel(ax, row, nodes.cards))
    style: dict[str, Any] = {"transform": header.transAxes, "va": "top", "fontsize": LABEL_SIZE + 2}
    title = header.text(0.0, 1.0, "", **style)
    _add_legend(header, letters=nodes.cards <= MOST_LETTERS)
    return Bars(figure, header, title, panels, nodes, tolerance)


def _new_panel(ax: Axes, row: int, cards: int) -> _Panel:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import ListedColormap

    edges = -STRIP_GAP - STRIP_HEIGHT * np.arange(_n_strips(row) + 1)
    # panels beside each other have the same height
    bottom = -STRIP_GAP - STRIP_HEIGHT * (2 if row < N_OPENINGS else 1)
    ax.set(xlim=(0.4, cards + 0.6), ylim=(bottom, 1.03))
    _label(ax, row, cards)
    strips = ax.pcolormesh(
        np.arange(cards + 1) + 0.5,
        edges,
        np.zeros((_n_strips(row), cards), dtype=int),
        cmap=ListedColormap(RANGE_COLORS),
        vmin=-0.5,
        vmax=len(Range) - 0.5,
        edgecolors="white",
        linewidth=0.8,
    )
    whole, black = (PolyCollection([], facecolors=color) for color in (HELD_COLOR, INK))
    for bars in (whole, black):
        ax.add_collection(bars, autolim=False)
    centered: dict[str, Any] = {"ha": "center", "va": "center"}
    white = centered | {"color": "white", "fontsize": SMALL_SIZE - 2}
    quiet = centered | {"color": GRAY, "fontsize": SMALL_SIZE}
    letters = [
        [ax.text(card, (upper + lower) / 2, "", **white) for card in range(1, cards + 1)]
        for upper, lower in itertools.pairwise(edges)
        if cards <= MOST_LETTERS
    ]
    note = ax.text((cards + 1) / 2, (bottom - STRIP_GAP) / 2, "", **quiet)
    return _Panel(whole, black, strips, letters, note)


def _label(ax: Axes, row: int, cards: int) -> None:
    """Title and ticks of a panel; frequencies stand at the left only."""
    every = 1 if cards <= MOST_LETTERS else 5 if cards <= 30 else 10
    ax.set(xticks=[1, *range(max(every, 2), cards + 1, every)], yticks=[0, 0.5, 1])
    ax.tick_params(labelsize=SMALL_SIZE, color=PALE, length=2, labelleft=row % 3 == 0)
    ax.spines[:].set_color(PALE)
    ax.set_title(node_title(row), loc="left", fontsize=LABEL_SIZE)
    if row % 3 == 0:
        ax.set_ylabel(ROW_TITLES[row // 3], fontsize=LABEL_SIZE, color=GRAY)
    if row // 3 == 3:
        ax.set_xlabel("card", fontsize=LABEL_SIZE)


def _n_strips(row: int) -> int:
    """How many rows of ranges a node has: players who may check and call later have two."""
    return 2 if row < 2 else 1


def _strip_kinds(ranges: Ranges, row: int) -> NDArray[np.int8]:
    """Ranges of a node by strip and card, int8 (1 or 2, N)."""
    return np.stack([ranges.aggressive[row], ranges.passive[row]][: _n_strips(row)])


def _rectangles(heights: FloatArray) -> FloatArray:
    """Corners of bars (N, 4, 2) over the cards."""
    left = np.arange(1, len(heights) + 1) - BAR_WIDTH / 2
    right, zero = left + BAR_WIDTH, np.zeros(len(heights))
    corners = [(left, zero), (left, heights), (right, heights), (right, zero)]
    return np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)


def _add_legend(header: Axes, *, letters: bool) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(color=INK, label="bet or called"),
        Patch(color=HELD_COLOR, label="checked or folded"),
    ]
    for kind in list(Range)[1:]:
        label = f"{RANGE_LETTERS[kind]} {kind.label}" if letters else kind.label
        handles.append(Patch(color=RANGE_COLORS[kind], label=label))
    header.legend(
        handles=handles,
        loc="lower left",
        ncols=len(handles),
        frameon=False,
        fontsize=SMALL_SIZE,
        borderpad=0,
        handlelength=1.2,
        columnspacing=1.4,
    )


HEADER_HEIGHT = 1.0  # in panels
FRAMES_PER_SECOND = 4.0
Pixels = NDArray[np.uint8]
DOTS_PER_INCH = 100
COLORS_IN_GIF = 256


def write_animation(
    branch: Branch, path: Path, *, step: float, tolerance: float = TOLERANCE
) -> int:
    """Write the bars along a branch as an animated GIF; return how many frames it has.

    Frames are equally far apart in arclength. A small panel shows where on the curves of
    expectations they are.

    Parameters
    ----------
    path : with the suffix ``.gif``
    step : arclength between frames
    tolerance : frequencies up to this one do not count for the ranges

    Raises
    ------
    UsageError
        If the game is not three-player Kuhn poker, the suffix is another one, the step is not
        positive, or the file cannot be written.
    """
    from PIL import Image

    if path.suffix.lower() != ".gif":
        raise UsageError(f"an animation cannot become {path.name}; use .gif")
    frames = branch.equal_arclength(step)
    images = (Image.fromarray(picture) for picture in _pictures(branch, frames, tolerance))
    # one palette for all frames, so that nothing flickers; small patches of color count too
    covering, plain = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    first = next(images).quantize(COLORS_IN_GIF, covering, dither=plain)
    others = (image.quantize(palette=first, dither=plain) for image in images)
    film: dict[str, Any] = {"save_all": True, "append_images": others, "loop": 0, "optimize": False}
    try:
        first.save(path, duration=1000 / FRAMES_PER_SECOND, **film)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error}") from None
    return len(frames.values)


def _pictures(branch: Branch, frames: Branch, tolerance: float) -> Iterator[Pixels]:
    """Pixels uint8 (height, width, 3) of each frame.

    What does not change is drawn once and copied: axes and ticks take most of the time.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    bars = new_bars(KuhnNodes.of(branch.game.tree), tolerance, HEADER_HEIGHT)
    bars.figure.set_dpi(DOTS_PER_INCH)
    canvas = FigureCanvasAgg(bars.figure)
    curves = _curves(bars, branch)
    (dots,) = curves.plot([], [], "o", color="black", markersize=4)
    moving = [*bars.artists(), dots]
    for artist in moving:
        artist.set_animated(True)
    canvas.draw()
    still = canvas.copy_from_bbox(bars.figure.bbox)
    for k in range(len(frames.values)):
        value, arclength = frames.values[k], frames.arclength[k]
        title = f"{branch.parameter} {value:.4f}   arclength {arclength:.3f}"
        bars.show(frames.behavior(k), title)
        dots.set_data(np.full(branch.payoffs.shape[1], value), frames.payoffs[k])
        canvas.restore_region(still)
        for artist in moving:
            bars.figure.draw_artist(artist)
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _curves(bars: Bars, branch: Branch) -> Axes:
    """A panel in the header with the expectations along the branch."""
    ax = bars.header.inset_axes((0.5, 0.36, 0.46, 0.64))
    for p, player in enumerate(branch.game.tree.players):
        ax.plot(branch.values, branch.payoffs[:, p], color=player_color(p), linewidth=1)
        ax.annotate(
            player,
            (branch.values[-1], branch.payoffs[-1, p]),
            (3, 0),
            textcoords="offset points",
            va="center",
            color=player_color(p),
            fontsize=SMALL_SIZE,
        )
    ax.set_ylabel("expectation", fontsize=SMALL_SIZE)
    ax.tick_params(labelsize=SMALL_SIZE - 1, color=PALE, length=2)
    ax.spines[:].set_color(PALE)
    return ax
