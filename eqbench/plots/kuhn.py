"""Three-player Kuhn poker in pictures: strategies as bars with their ranges, and along a branch.

The panels are the twelve nodes of :mod:`eqbench.studies.kuhn_ranges`. Symbols in shapes:
N cards, A actions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.tree import FloatArray, GameTree
from eqbench.plots import style
from eqbench.report import COLORS, GRAY, INK
from eqbench.studies.branch import Branch
from eqbench.studies.kuhn_ranges import (
    N_OPENINGS,
    NODES,
    TOLERANCE,
    KuhnNodes,
    Range,
    bet_before,
    held,
    node_title,
    strategy_ranges,
)

ROW_TITLES = ("nobody has bet", "P3 has bet", "P2 has bet", "P1 has bet")
HELD_COLOR = "#d5d9de"
RANGE_COLORS = ("#ffffff", *COLORS[: len(Range) - 1])
RANGE_LETTERS = " VBTSC"
STRIP_HEIGHT, STRIP_GAP = 0.13, 0.05
MOST_LETTERS = 16  # those of more cards would touch each other
MIDDLE: style.Look = {"ha": "center", "va": "center"}


def bar_figure(tree: GameTree, behavior: FloatArray, title: str = "") -> style.Figure:
    """Twelve panels in the order of the decision tree, a bar per card, the highest at the right.

    A bar is as high as the fraction of its card that the player still holds at the node, and
    black as far as that is bet or called. Below stand the ranges of bets and calls, and below
    those of the first two nodes the ranges of checks. Behavior is float64 (A,). UsageError unless
    it is three-player Kuhn poker.
    """
    nodes = KuhnNodes.of(tree)
    return _display(nodes.cards, _strategy(nodes, behavior), title)


def _strategy(nodes: KuhnNodes, behavior: FloatArray) -> list[list[style.Series]]:
    """What the panels of all nodes show of a profile."""
    aggression, places = nodes.aggression(behavior), np.arange(1, nodes.cards + 1)
    ranges, fractions = strategy_ranges(aggression), held(aggression)
    made, found = aggression.max(axis=1) > TOLERANCE, []
    for row, fraction in enumerate(fractions):
        series = [
            style.Series("bar", (places, heights), {"color": color})
            for heights, color in ((fraction, HELD_COLOR), (fraction * aggression[row], INK))
        ]
        for strip, kinds in enumerate((ranges.aggressive[row], ranges.passive[row]), start=1):
            bottom = -STRIP_GAP - STRIP_HEIGHT * strip
            for card in np.flatnonzero(kinds):
                place, kind = (card + 1, STRIP_HEIGHT, 1.0, bottom), kinds[card]
                look = {"color": RANGE_COLORS[kind], "edgecolor": "white", "linewidth": 0.8}
                series.append(style.Series("bar", place, look))
                if nodes.cards <= MOST_LETTERS:
                    words = (card + 1, bottom + STRIP_HEIGHT / 2, RANGE_LETTERS[kind])
                    white = {"color": "white", "fontsize": style.SMALL_SIZE - 2}
                    series.append(style.Series("text", words, MIDDLE | white))
        if row >= N_OPENINGS and not made[bet_before(row)]:
            middle = (nodes.cards + 1) / 2, -STRIP_GAP - STRIP_HEIGHT / 2, "nobody makes this bet"
            series.append(
                style.Series("text", middle, MIDDLE | {"color": GRAY, "fontsize": style.SMALL_SIZE})
            )
        found.append(series)
    return found


def _display(
    cards: int, shown: Sequence[Sequence[style.Series]], title: str, *more: style.Panel
) -> style.Figure:
    """Panels of all nodes, and others below them."""
    letters = [f"{letter} " if cards <= MOST_LETTERS else "" for letter in RANGE_LETTERS]
    keys = {"bet or called": INK, "checked or folded": HELD_COLOR}
    keys |= {f"{letters[kind]}{kind.label}": RANGE_COLORS[kind] for kind in list(Range)[1:]}
    blocks = [style.dots([], [], color, word, 9, marker="s") for word, color in keys.items()]
    every = 1 if cards <= MOST_LETTERS else 5 if cards <= 30 else 10
    places, panels = [1, *range(max(every, 2), cards + 1, every)], list[style.Panel]()
    for row, series in enumerate(shown):
        # the first two players may check and call later
        bottom = -STRIP_GAP - STRIP_HEIGHT * (2 if row < N_OPENINGS else 1)
        limits = {"xlim": (0.4, cards + 0.6), "ylim": (bottom, 1.03)}
        words = "card" if row >= 9 else "", "" if row % 3 else ROW_TITLES[row // 3]
        settings = limits | {"xticks": places, "yticks": (0, 0.5, 1)}
        panels.append(style.Panel([*blocks, *series], *words, node_title(row), settings))
    heights = [1.18, 1, 1, 1, 1][: 5 if more else 4]
    size = 11.5, 1.75 * sum(heights)
    return style.draw_figure([*panels, *more], *size, 3, title=title, height_ratios=heights)


FRAMES_PER_SECOND = 4.0
DOTS_PER_INCH = 100
COLORS_IN_GIF = 256


def write_animation(branch: Branch, path: Path, frames: int) -> None:
    """Write the bars along a branch as an animated GIF with so many frames.

    These are equally far apart in arclength. A small panel shows where on the curves of
    expectations they are. UsageError unless it is three-player Kuhn poker and the file can be
    written.
    """
    from PIL import Image

    images = (Image.fromarray(picture) for picture in _pictures(branch, branch.evenly(frames)))
    # one palette for all frames, so that nothing flickers; small patches of color count too
    covering, plain = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE
    first = next(images).quantize(COLORS_IN_GIF, covering, dither=plain)
    others = (image.quantize(palette=first, dither=plain) for image in images)
    film: style.Look = {"save_all": True, "append_images": others, "loop": 0, "optimize": False}
    try:
        path.parent.mkdir(exist_ok=True)
        first.save(path, "gif", duration=1000 / FRAMES_PER_SECOND, **film)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error}") from None


def _pictures(branch: Branch, frames: Branch) -> Iterator[NDArray[np.uint8]]:
    """Pixels uint8 (height, width, 3) of each frame.

    What does not change is drawn once and copied: axes and ticks take most of the time.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    nodes, expectations = KuhnNodes.of(branch.game.tree), list[style.Series]()
    for p, player in enumerate(branch.game.tree.players):
        color, payoffs = style.player_color(p), branch.payoffs[:, p]
        expectations.append(style.line(branch.values, payoffs, color, linewidth=1))
        end = player, branch.values[-1], payoffs[-1], (3, 0)
        expectations.append(style.note(*end, color=color, va="center"))
    below = style.Panel(expectations, y_label="expectation")
    figure = _display(nodes.cards, [()] * len(NODES), "a title", below)
    figure.set_dpi(DOTS_PER_INCH)
    canvas, (*panels, curves) = FigureCanvasAgg(figure), figure.axes
    (title,) = (text for text in figure.texts if text.get_text())
    title.set_animated(True)
    canvas.draw()
    still = canvas.copy_from_bbox(figure.bbox)
    for k, (value, arclength) in enumerate(zip(frames.values, frames.arclength, strict=True)):
        title.set_text(f"{branch.parameter} {value:.4f}   arclength {arclength:.3f}")
        strategy = _strategy(nodes, frames.behavior(k))
        for ax, series in zip(panels, strategy, strict=True):
            style.Panel(series).add_to(ax)
        dots = curves.plot([value] * branch.payoffs.shape[1], frames.payoffs[k], "ko", markersize=4)
        moving = [artist for ax in panels for artist in (*ax.patches, *ax.texts)] + dots
        canvas.restore_region(still)
        for artist in (title, *moving):
            figure.draw_artist(artist)
        for artist in moving:
            artist.remove()
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()
