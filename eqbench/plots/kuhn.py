"""Three-player Kuhn poker in pictures: its twelve nodes as Billingham 2018 numbers them, the
strategies at them as bars and ranges, along a branch as an animation, by quantile of the card.

Symbols in shapes: N cards, A actions. The rows of all arrays are the nodes 1 to 12: players
1 to 3 open, then answers to a bet of player 3 (4 to 6), player 2 (7 to 9), player 1 (10 to 12).
"""

from __future__ import annotations

import contextlib
import itertools
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray, GameTree
from eqbench.plots.style import (
    LABEL_SIZE,
    SMALL_SIZE,
    add_legend,
    label_axes,
    new_figure,
    ordered_colors,
    player_color,
)
from eqbench.report.svg import COLORS, GRAY, INK, PALE
from eqbench.studies.branch import Branch

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection, QuadMesh
    from matplotlib.figure import Figure
    from matplotlib.text import Text


class Node(NamedTuple):
    """A decision node: its player (0 to 2), what was played before, and what to call it."""

    player: int
    history: str
    title: str


NODES = (
    Node(0, "", "P1 opens"),
    Node(1, "K", "P2 after a check"),
    Node(2, "KK", "P3 after two checks"),
    Node(0, "KKB", "P1 answers P3's bet"),
    Node(1, "KKBF", "P2 after P1 folds"),
    Node(1, "KKBC", "P2 after P1 calls"),
    Node(2, "KB", "P3 answers P2's bet"),
    Node(0, "KBF", "P1 after P3 folds"),
    Node(0, "KBC", "P1 after P3 calls"),
    Node(1, "B", "P2 answers P1's bet"),
    Node(2, "BF", "P3 after P2 folds"),
    Node(2, "BC", "P3 after P2 calls"),
)
N_OPENINGS = 3
# Rows at which a player has opened before, and the row of that opening.
EARLIER = {3: 0, 7: 0, 8: 0, 4: 1, 5: 1}
AGGRESSIVE = ("bet", "call")


def node_title(row: int) -> str:
    """Title of the node in that row, for example ``1 · P1 opens``."""
    return f"{row + 1} · {NODES[row].title}"


def bet_before(row: int) -> int:
    """Row of the bet to which the nodes in the rows 3 to 11 are answers."""
    return (len(NODES) - 1 - row) // 3


def answers_to(opening: int) -> tuple[int, int, int]:
    """Rows of the answers to a bet: the first opponent's, the other's after a fold and a call."""
    first = 9 - 3 * opening
    return first, first + 1, first + 2


@dataclass(frozen=True, eq=False)
class KuhnNodes:
    """Where the frequencies of the twelve nodes stand in a profile.

    Attributes
    ----------
    cards : int
        N.
    action : int64 (12, N)
        Bet or call with each card; -1 where the rules or a reduction do not allow it.
    """

    cards: int
    action: NDArray[np.int64]

    @classmethod
    def of(cls, tree: GameTree) -> KuhnNodes:
        """The nodes of a tree.

        Raises
        ------
        UsageError
            If it is not three-player Kuhn poker without raises.
        """
        row_of = {(node.player, node.history): row for row, node in enumerate(NODES)}
        places = []
        for i, label in enumerate(tree.infoset_labels):
            card, colon, history = label.partition(":")
            row = row_of.get((int(tree.infoset_player[i]), history))
            if row is None or not colon or not (card.isascii() and card.isdigit()):
                raise UsageError(
                    "the twelve decision nodes belong to three-player Kuhn poker without raises; "
                    f"this game has an information set {label!r}. "
                    "Choose kuhn(players=3, ...) or skp"
                )
            places.append((row, int(card) - 1))
        cards = 1 + max((card for _, card in places), default=-1)
        if len(set(places)) != 12 * cards or cards < 3:
            raise UsageError(
                "the twelve decision nodes belong to three-player Kuhn poker; "
                f"this game has {len(places)} information sets instead of 12 with each card"
            )
        action = np.full((12, cards), -1)
        for i, place in enumerate(places):
            names = tree.infoset_actions[i]
            known = [a for a, name in enumerate(names) if name in AGGRESSIVE]
            if known:
                action[place] = tree.action_start[i] + known[0]
        return cls(cards, action)

    def aggression(self, behavior: FloatArray) -> FloatArray:
        """Frequencies of bet or call, float64 (12, N), from those of all actions (A,)."""
        return np.where(self.action >= 0, behavior[self.action], 0.0)


def held(aggression: FloatArray) -> FloatArray:
    """Fraction of each card that a player still holds at each node, float64 (12, N).

    At their second decision that is what they checked at their first one (Billingham 2018,
    Figure 10).
    """
    fraction = np.ones_like(aggression)
    fraction[list(EARLIER)] -= aggression[list(EARLIER.values())]
    return fraction


# Regularized equilibria play inferior actions with small frequencies too.
TOLERANCE = 0.02

BoolArray = NDArray[np.bool_]


class Range(IntEnum):
    """What an action with a card is; NONE if it is none of these or is not played."""

    NONE = 0
    VALUE_BET = 1
    BLUFF = 2
    TWO_WAY_BET = 3
    SANDBAG = 4
    BLUFF_CATCH = 5

    @property
    def label(self) -> str:
        """The name in words, for example ``two-way bet``."""
        return RANGE_LABELS[self]


RANGE_LABELS = ("none", "value bet", "bluff", "two-way bet", "sandbag", "bluff-catch")


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of the twelve nodes with N cards; entries are those of :class:`Range`.

    Attributes
    ----------
    aggressive : int8 (12, N)
        Of bets at nodes 1 to 3 and of calls at the others.
    passive : int8 (12, N)
        Of checks at nodes 1 and 2; zero elsewhere.
    """

    aggressive: NDArray[np.int8]
    passive: NDArray[np.int8]


def strategy_ranges(aggression: FloatArray, tolerance: float = TOLERANCE) -> Ranges:
    """Ranges of a profile with frequencies of bet or call float64 (12, N)."""
    played = (aggression > tolerance) & (held(aggression) > tolerance)
    aggressive = np.zeros(aggression.shape, dtype=np.int8)
    passive = np.zeros_like(aggressive)
    for opening in range(N_OPENINGS):
        bet = played[opening]
        first, second = (_against(aggression, opening, j, tolerance) for j in (0, 1))
        for_value, bluff = first.for_value | second.for_value, first.bluff | second.bluff
        aggressive[opening, bet & for_value & ~bluff] = Range.VALUE_BET
        aggressive[opening, bet & bluff & ~for_value] = Range.BLUFF
        aggressive[opening, bet & bluff & for_value] = Range.TWO_WAY_BET
        for row, faced in zip(answers_to(opening), (first, second, second), strict=True):
            aggressive[row, played[row] & _beats_bluffs_only(bet, faced.bluff)] = Range.BLUFF_CATCH
    for opening in range(N_OPENINGS - 1):
        value_bets = np.flatnonzero(aggressive[opening] == Range.VALUE_BET)
        worst = value_bets[0] if len(value_bets) else played.shape[1] - 1
        sandbags = _calls_later(played, opening) & (1 - aggression[opening] > tolerance)
        sandbags[:worst] = False
        passive[opening, sandbags] = Range.SANDBAG
    return Ranges(aggressive, passive)


class _Against(NamedTuple):
    """What bets with each card are against one opponent, bool (N,) each."""

    for_value: BoolArray
    bluff: BoolArray


def _against(aggression: FloatArray, opening: int, opponent: int, tolerance: float) -> _Against:
    """What bets are against the first (0) or the second opponent (1) who answers."""
    first, second, _ = answers_to(opening)
    row, other = (first, second) if opponent == 0 else (second, first)
    fraction = held(aggression)
    # the second opponent answers alone only if the first one folds
    lets_pass = fraction[other] * (1 - aggression[other] if opponent else 1) > tolerance
    # the third card is neither the bettor's (rows) nor this opponent's (columns)
    third = np.sum(lets_pass) > lets_pass[:, None].astype(int) + lets_pass
    answers = third & (fraction[row] > tolerance)
    calls = answers & (aggression[row] > tolerance)
    folds = answers & (1 - aggression[row] > tolerance)
    calls_worse = np.tril(calls, -1).any(axis=1)
    folds_better = np.triu(folds, 1).any(axis=1)
    return _Against(calls_worse & ~folds_better, folds_better & ~calls_worse)


def _beats_bluffs_only(bet: BoolArray, bluff: BoolArray) -> BoolArray:
    """Cards (N,) that beat bets, bluffs all of them, and that some bet beats."""
    above = np.cumsum(bet[::-1])[::-1] > bet
    return _any_below(bet) & ~_any_below(bet & ~bluff) & above


def _any_below(cards: BoolArray) -> BoolArray:
    return np.cumsum(cards) > cards


def _calls_later(played: BoolArray, opening: int) -> BoolArray:
    """Cards (N,) with which the player who opens here calls a bet that somebody makes later."""
    calls = np.zeros(played.shape[1], dtype=np.bool_)
    for row, own_opening in EARLIER.items():
        if own_opening == opening:
            bet = played[bet_before(row)]
            calls |= played[row] & (np.sum(bet) > bet)
    return calls


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
    those of the first two nodes the ranges of checks (:mod:`eqbench.plots.kuhn`).

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


def quantiles(cards: int) -> FloatArray:
    """Where the cards stand between 0 and 1, float64 (N,)."""
    return (np.arange(cards) + 0.5) / cards


def card_payoffs(game: Game, behavior: FloatArray) -> FloatArray:
    """Expected payoff of each player with each card, float64 (3, N).

    A player's first decision comes in every hand, at one of their first information sets; so
    these share out the payoff.

    Raises
    ------
    UsageError
        If the game is not three-player Kuhn poker.
    """
    tree = game.tree
    cards = KuhnNodes.of(tree).cards
    values = behavior * game.payoff_model().counterfactual_values(behavior)
    payoffs = np.zeros((tree.n_players, cards))
    for i in np.flatnonzero(tree.infoset_parent < 0).tolist():
        card = int(tree.infoset_labels[i].partition(":")[0]) - 1
        actions = slice(tree.action_start[i], tree.action_start[i + 1])
        payoffs[tree.infoset_player[i], card] += cards * values[actions].sum()
    return payoffs


def quantile_figure(profiles: Mapping[str, tuple[Game, FloatArray]]) -> Figure:
    """Payoffs by player and frequencies by node against the quantile of the card.

    Parameters
    ----------
    profiles : a game and frequencies float64 (A,), by the name that the legend shows

    Raises
    ------
    UsageError
        If there is no profile, or a game is not three-player Kuhn poker.
    """
    if not profiles:
        raise UsageError("there is no profile to draw; give at least one")
    figure = new_figure(10.5, 10.0)
    grid = figure.subplots(5, 3, sharex=True, sharey="row")
    titles = [f"payoff of P{p + 1}" for p in range(3)] + [node_title(n) for n in range(len(NODES))]
    for ax, title in zip(grid.flat, titles, strict=True):
        label_axes(ax, "", "")
        ax.set_title(title, loc="left", fontsize=LABEL_SIZE)
    colors = ordered_colors(len(profiles))
    for color, (name, (game, behavior)) in zip(colors, profiles.items(), strict=True):
        nodes = KuhnNodes.of(game.tree)
        curves = [*card_payoffs(game, behavior), *nodes.aggression(behavior)]
        style = {"color": color, "marker": ".", "markersize": 3, "linewidth": 0.9, "label": name}
        for ax, curve in zip(grid.flat, curves, strict=True):
            ax.plot(quantiles(nodes.cards), curve, **style)
    for row in grid[1:]:
        row[0].set_ylim(-0.04, 1.04)
        row[0].set_ylabel("frequency", fontsize=LABEL_SIZE)
    grid[0, 0].set_ylabel("payoff", fontsize=LABEL_SIZE)
    figure.supxlabel("quantile of the card", fontsize=LABEL_SIZE)
    add_legend(figure, grid[0, 0].get_legend_handles_labels()[0])
    return figure


HEADER_HEIGHT = 1.0  # in panels
FRAMES_PER_SECOND = 4.0
Pixels = NDArray[np.uint8]
DOTS_PER_INCH = 100
COLORS_IN_GIF = 256


def write_animation(
    branch: Branch,
    path: Path,
    *,
    step: float,
    frames_per_second: float = FRAMES_PER_SECOND,
    tolerance: float = TOLERANCE,
) -> int:
    """Write the bars of :mod:`eqbench.plots.kuhn` along a branch as GIF or MP4.

    Frames are equally far apart in arclength. A small panel shows where on the curves of
    expectations they are.

    Parameters
    ----------
    path : with the suffix ``.gif``, or ``.mp4`` if ffmpeg is installed
    step : arclength between frames
    tolerance : frequencies up to this one do not count for the ranges

    Returns
    -------
    int
        How many frames there are.

    Raises
    ------
    UsageError
        If the game is not three-player Kuhn poker, the suffix is another one, ffmpeg is missing
        or fails, the step or the number of frames a second is not positive, or the file cannot
        be written.
    """
    suffix = path.suffix.lower()
    if suffix not in (".gif", ".mp4"):
        raise UsageError(f"an animation cannot become {path.name}; use .gif or .mp4")
    if suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise UsageError(f"{path.name} needs ffmpeg, which is not installed; use .gif")
    if not 0 < frames_per_second <= 50:
        raise UsageError(
            f"{frames_per_second} frames a second asked for; choose a number above 0, at most 50"
        )
    frames = branch.equal_arclength(step)
    pictures = _pictures(branch, frames, tolerance)
    write = _write_gif if suffix == ".gif" else _write_mp4
    try:
        write(pictures, path, frames_per_second)
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


def _write_gif(pictures: Iterator[Pixels], path: Path, frames_per_second: float) -> None:
    from PIL import Image

    images = (Image.fromarray(picture) for picture in pictures)
    # one palette for all frames, so that nothing flickers
    covering = Image.Quantize.MAXCOVERAGE  # small patches of color count too
    first = next(images).quantize(COLORS_IN_GIF, covering, dither=Image.Dither.NONE)
    others = (image.quantize(palette=first, dither=Image.Dither.NONE) for image in images)
    first.save(
        path,
        save_all=True,
        append_images=others,
        duration=1000 / frames_per_second,
        loop=0,
        optimize=False,
    )


def _write_mp4(pictures: Iterator[Pixels], path: Path, frames_per_second: float) -> None:
    first = next(pictures)
    height, width = (side - side % 2 for side in first.shape[:2])  # H.264 wants even sides
    command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "rgb24"]
    command += ["-video_size", f"{width}x{height}", "-framerate", str(frames_per_second)]
    command += ["-i", "-", "-pix_fmt", "yuv420p", str(path.resolve())]
    with tempfile.TemporaryFile() as log:
        # leaving the block closes the pipe and waits; the pipe breaks when ffmpeg gives up
        with (
            contextlib.suppress(BrokenPipeError),
            subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log) as ffmpeg,
        ):
            assert ffmpeg.stdin is not None
            for picture in itertools.chain([first], pictures):
                ffmpeg.stdin.write(picture[:height, :width].tobytes())
        if ffmpeg.returncode:
            log.seek(0)
            message = log.read().decode(errors="replace").strip()
            raise UsageError(f"ffmpeg cannot write {path}: {message}; use .gif")
