"""A game tree as a drawing, with what a profile plays.

There is one column per depth, the root on the left. Every terminal has a row of its own and every
other node stands in the middle of its children. So what stands to the left or right of a node on
its row meets no other node's texts, however long they are, once columns are as wide as their
widest text.
"""

from __future__ import annotations

import textwrap
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from eqbench.errors import UsageError
from eqbench.model.builder import payoff_rows
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.report.svg import (
    FONT_SIZE,
    GRAY,
    INK,
    PALE,
    RADIUS,
    add,
    add_mark,
    add_on_white,
    add_text,
    color_of,
    svg_text,
    text_width,
)
from eqbench.text import printable

Number = Fraction | float
LONGEST_FRACTION = 9


@dataclass(frozen=True)
class Play:
    """How a game is played, node by node; Fractions where everything needed is exact.

    Attributes
    ----------
    frequency : of the move that leads to each node; None at the root, and after a player's
        move if there is no profile
    reach : probability that each node is reached, and
    expected : expected payoff of each player; both None without a profile
    """

    frequency: list[Number | None]
    reach: list[Number] | None = None
    expected: list[Number] | None = None


def play_of(tree: GameTree, profile: BehaviorProfile | None) -> Play:
    """The chances of a game and, with a profile, what follows from its frequencies."""
    frequency = [None, *(_frequency(tree, profile, node) for node in range(1, tree.n_nodes))]
    if profile is None:
        return Play(frequency)
    reach: list[Number] = [Fraction(1)]
    for parent, value in zip(tree.parent[1:].tolist(), frequency[1:], strict=True):
        reach.append(reach[parent] * (1 if value is None else value))
    expected: list[Number] = [Fraction(0)] * tree.n_players
    for node, payoffs in zip(tree.terminals.tolist(), payoff_rows(tree), strict=True):
        for player, payoff in enumerate(payoffs):
            expected[player] += reach[node] * payoff
    return Play(frequency, reach, expected)


def number_text(value: Number) -> str:
    """A fraction if it is one and short, else four significant digits."""
    if isinstance(value, Fraction) and len(str(value)) <= LONGEST_FRACTION:
        return str(value)
    return f"{float(value):.4g}"


def _frequency(tree: GameTree, profile: BehaviorProfile | None, node: int) -> Number | None:
    action = int(tree.incoming[node])
    if action < 0:
        value = tree.chance[node].item()
        return Fraction(value, tree.chance_denominator) if isinstance(value, int) else value
    if profile is None:
        return None
    return float(profile.probabilities[action]) if profile.exact is None else profile.exact[action]


MARGIN = 16.0
SIBLING_GAP = 20.0  # between rows of terminals: one text above each line
ROW_GAP = 32.0  # between other rows: also a label below the line
LANE_GAP = 7.0
PADDING = 6.0


@dataclass(frozen=True)
class Join:
    """A vertical line at `x` that joins the nodes of one information set at one depth.

    It runs through the nodes themselves (`through`), or beside them where others are between.
    """

    infoset: int
    nodes: tuple[int, ...]
    x: float
    through: bool


@dataclass(frozen=True)
class Layout:
    """Positions in pixels.

    Attributes
    ----------
    x, y : of each node
    bend : x at which the edge that leads to each node becomes horizontal; the root has none
    joins : lines between nodes of one information set
    width, height : of everything, margins included
    """

    x: list[float]
    y: list[float]
    bend: list[float]
    joins: list[Join]
    width: float
    height: float


def lay_out(tree: GameTree, edges: Sequence[str], labels: Sequence[str]) -> Layout:
    """Positions of all nodes of a tree.

    Parameters
    ----------
    edges, labels : what is written on the edge that leads to each node, and as its own label
    """
    depth = np.repeat(
        np.arange(len(tree.levels)), [level.stop - level.start for level in tree.levels]
    ).tolist()
    y = _rows(tree)
    lanes = [_lanes(tree, y, range(level.start, level.stop)) for level in tree.levels]
    x: list[float] = []
    bend: list[float] = []
    lane_start: list[float] = []
    right = 0.0
    for level, placed in zip(tree.levels, lanes, strict=True):
        nodes = range(level.start, level.stop)
        decisions = [v for v in nodes if tree.player[v] >= 0]
        label = max((text_width(labels[v]) for v in decisions), default=0.0)
        edge = max(text_width(edges[v]) for v in nodes)
        beside = LANE_GAP * max((lane for lane, _, _ in placed), default=0)
        left = bend[-1] if bend else MARGIN
        here = left + max(edge + (beside + label if beside else 0), label) + 3 * PADDING + RADIUS
        span = max((abs(y[v] - y[tree.parent[v]]) for v in _children(tree, nodes)), default=0.0)
        x.append(here)
        lane_start.append(here - RADIUS - PADDING - label)
        bend.append(here + RADIUS + min(max(0.15 * span, 18.0), 110.0))
        ends = [text_width(labels[v]) for v in nodes if tree.player[v] < 0]
        right = max([right, here + RADIUS, *(here + 2 * PADDING + width for width in ends)])
    joins = [
        Join(infoset, nodes, lane_start[d] - LANE_GAP * lane if lane else x[d], lane == 0)
        for d, placed in enumerate(lanes)
        for lane, infoset, nodes in placed
    ]
    height = max(y) + ROW_GAP / 2 + MARGIN
    bends = [bend[d - 1] for d in depth]
    return Layout([x[d] for d in depth], y, bends, joins, right + MARGIN, height)


def _children(tree: GameTree, nodes: range) -> range:
    """Children of a range of nodes; they stand side by side too."""
    first, last = np.searchsorted(tree.parent, [nodes.start, nodes.stop], side="left")
    return range(int(first), int(last))


def _rows(tree: GameTree) -> list[float]:
    """The y of every node."""
    y = [0.0] * tree.n_nodes
    row, above = MARGIN - ROW_GAP / 2, -2
    pending = [0]
    while pending:  # terminals from top to bottom, whatever their depth
        node = pending.pop()
        children = _children(tree, range(node, node + 1))
        pending.extend(reversed(children))
        if not children:
            row += SIBLING_GAP if tree.parent[node] == above else ROW_GAP
            y[node], above = row, int(tree.parent[node])
    for node in reversed(range(tree.n_nodes)):
        children = _children(tree, range(node, node + 1))
        if children:
            y[node] = (y[children[0]] + y[children[-1]]) / 2
    return y


def _lanes(
    tree: GameTree, y: Sequence[float], nodes: range
) -> list[tuple[int, int, tuple[int, ...]]]:
    """Lane, information set and nodes of every line at one depth.

    Lane 0 runs through the nodes; it is for sets with no other node between theirs. In the
    others lines that would overlap stand side by side.
    """
    members: dict[int, list[int]] = {}
    for node in nodes:
        if tree.player[node] >= 0:
            members.setdefault(int(tree.infoset[node]), []).append(node)
    ends: list[float] = []  # y at which the last line on each lane ends
    placed = []
    for infoset, joined in ((k, own) for k, own in members.items() if len(own) > 1):
        lane = 0
        if joined[-1] - joined[0] >= len(joined):
            fits = (k for k, end in enumerate(ends) if end < y[joined[0]])
            lane = next(fits, len(ends))
            ends[lane : lane + 1] = [y[joined[-1]]]
            lane += 1
        placed.append((lane, infoset, tuple(joined)))
    return placed


MAX_NODES = 1500
LONGEST_LABEL = 28
NEGLIGIBLE = 1e-6  # averages of iterative methods become small, but never zero
NARROWEST = 480.0  # captions need some width however small the tree is
LINE_HEIGHT = 18.0
MARK_LINE_HEIGHT = 28.0
TITLE_SIZE = 15.0


def draw_tree(tree: GameTree, spec: str, profile: BehaviorProfile | None = None) -> str:
    """SVG text of a game tree.

    Players differ in color, shape and number. Information sets are labeled, and those of
    several nodes joined by dashed lines. With a profile, edges are as wide as their frequency,
    and what is played or reached with less than 1e-6 is dotted and pale.

    Parameters
    ----------
    spec : what the caption calls the game

    Raises
    ------
    UsageError
        If the tree has more than 1,500 nodes.
    """
    if tree.n_nodes > MAX_NODES:
        raise UsageError(
            f"{spec} has {tree.n_nodes:,} nodes; a drawing has at most {MAX_NODES:,}. Draw a "
            "smaller game of its kind, with fewer players, cards or actions"
        )
    play = play_of(tree, profile)
    edges, labels = _texts(tree, play)
    layout = lay_out(tree, edges, labels)
    return _Drawing(tree, play, edges, labels, layout).svg(spec)


def _texts(tree: GameTree, play: Play) -> tuple[list[str], list[str]]:
    """Texts of the edges that lead to nodes and of nodes; terminals show their payoffs."""
    edge, label = [], [""] * tree.n_nodes
    for node, frequency in enumerate(play.frequency):
        words = [] if frequency is None else [number_text(frequency)]
        if tree.incoming[node] >= 0:
            actions = tree.infoset_actions[tree.infoset[tree.parent[node]]]
            words.insert(0, _short(actions[tree.move[node]]))
        edge.append(" ".join(words))
        if tree.player[node] >= 0:
            label[node] = _short(tree.infoset_labels[tree.infoset[node]])
    for node, payoffs in zip(tree.terminals.tolist(), payoff_rows(tree), strict=True):
        label[node] = f"({', '.join(map(number_text, payoffs))})"
    return edge, label


def _short(label: str) -> str:
    label = printable(label)
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


@dataclass(frozen=True)
class _Drawing:
    tree: GameTree
    play: Play
    edges: Sequence[str]
    labels: Sequence[str]
    layout: Layout

    def svg(self, spec: str) -> str:
        width = max(self.layout.width, NARROWEST, text_width(spec, TITLE_SIZE) + 2 * MARGIN)
        root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img"})
        font = {"font-family": "Helvetica, Arial, sans-serif", "font-size": f"{FONT_SIZE:g}"}
        root.attrib |= font
        add(root, "title").text = spec
        add(root, "rect", width="100%", height="100%", fill="white")
        top = self._caption(add(root, "g"), spec, width - 2 * MARGIN)
        height = top + self.layout.height
        size = {"width": f"{width:.0f}", "height": f"{height:.0f}"}
        root.attrib |= {"viewBox": f"0 0 {width:.0f} {height:.0f}", **size}
        body = add(root, "g", transform=f"translate(0 {top:.0f})")
        self._joins(add(body, "g", fill="none", stroke_width=1.4, stroke_dasharray="5 4"))
        edges = add(body, "g", fill="none", stroke_linejoin="round")
        for node in range(1, self.tree.n_nodes):
            self._edge(edges, node)
        self._junctions(body)
        for node in range(self.tree.n_nodes):
            self._node(body, node)
        ET.indent(root)
        # other characters are written as references, so that any terminal can pass them on
        return svg_text(root, "us-ascii") + "\n"

    def _caption(self, group: ET.Element, spec: str, width: float) -> float:
        """Write the caption; return the y below it."""
        y = MARGIN + TITLE_SIZE
        add_text(group, spec, MARGIN, y, font_size=TITLE_SIZE, font_weight="bold", fill=INK)
        y = self._legend(group, y + MARK_LINE_HEIGHT, width)
        for note in self._notes():
            for line in textwrap.wrap(note, int(width / text_width("n"))):
                add_text(group, line, MARGIN, y, fill=INK)
                y += LINE_HEIGHT
        return y

    def _legend(self, group: ET.Element, y: float, width: float) -> float:
        """Write the marks of chance and the players; return the y of the next line."""
        chance = [CHANCE] * bool((self.tree.player == CHANCE).any())
        x = 0.0
        for mover in [*chance, *range(self.tree.n_players)]:
            name = "chance" if mover == CHANCE else _short(self.tree.players[mover])
            room = 2 * RADIUS + text_width(name) + 3 * PADDING
            if x > 0 and x + room > width:
                x, y = 0.0, y + MARK_LINE_HEIGHT
            add_mark(group, mover, MARGIN + x + RADIUS, y - 4)
            add_text(group, name, MARGIN + x + 2 * RADIUS + PADDING, y, fill=INK)
            x += room
        return y + MARK_LINE_HEIGHT

    def _notes(self) -> Iterator[str]:
        names = [_short(label) for label in self.tree.players]
        yield f"Payoffs in parentheses: {', '.join(names)}."
        if self.layout.joins:
            beside = not all(join.through for join in self.layout.joins)
            dots = "; dots mark the edges that lead to them" if beside else ""
            yield f"Dashed lines join the nodes of one information set{dots}."
        if self.play.expected is not None:
            values = map(number_text, self.play.expected)
            pairs = [f"{name} {value}" for name, value in zip(names, values, strict=True)]
            yield f"Expected payoffs: {', '.join(pairs)}."
            if any(self._is_off(node) for node in range(self.tree.n_nodes)):
                yield "Dotted: played or reached with a probability below 1e-6."

    def _is_off(self, node: int) -> bool:
        """Whether play under the profile does not come to a node."""
        reach = self.play.reach
        # A likely move below an unlikely node is off too, and so is the reverse.
        return reach is not None and min(reach[node], self._frequency(node)) < NEGLIGIBLE

    def _frequency(self, node: int) -> float:
        value = self.play.frequency[node]
        return 1.0 if value is None else float(value)

    def _joins(self, group: ET.Element) -> None:
        tree, x, y = self.tree, self.layout.x, self.layout.y
        for join in self.layout.joins:
            color = color_of(int(tree.infoset_player[join.infoset]))
            line = {"d": f"M{join.x:.2f} {y[join.nodes[0]]:.2f}V{y[join.nodes[-1]]:.2f}"}
            add(group, "path", **line, stroke=color)
        for infoset, player in enumerate(tree.infoset_player.tolist()):
            for above, below in pairwise(np.flatnonzero(tree.infoset == infoset).tolist()):
                if x[above] < x[below]:  # the set goes on at another depth
                    ends = {"x1": x[above], "y1": y[above], "x2": x[below], "y2": y[below]}
                    add(group, "line", **ends, stroke=color_of(player))

    def _junctions(self, group: ET.Element) -> None:
        """Dots where a line beside the nodes of an information set meets their edges."""
        for join in self.layout.joins:
            color = color_of(int(self.tree.infoset_player[join.infoset]))
            for node in () if join.through else join.nodes:
                y = self.layout.y[node]
                add(group, "circle", cx=join.x, cy=y, r=3.4, fill=color, stroke="white")

    def _edge(self, group: ET.Element, node: int) -> None:
        parent = int(self.tree.parent[node])
        x, y, bend = self.layout.x, self.layout.y, self.layout.bend[node]
        line = f"M{x[parent]:.2f} {y[parent]:.2f}L{bend:.2f} {y[node]:.2f}H{x[node]:.2f}"
        if self._is_off(node):
            style = {"stroke_dasharray": "0.1 4", "stroke_linecap": "round", "stroke": PALE}
            add(group, "path", d=line, stroke_width=1.6, **style)
        else:
            width = 1.4 if self.play.reach is None else 1 + 4 * self._frequency(node)
            color = color_of(int(self.tree.player[parent]))
            add(group, "path", d=line, stroke_width=width, stroke=color)

    def _node(self, group: ET.Element, node: int) -> None:
        x, y, off = self.layout.x[node], self.layout.y[node], self._is_off(node)
        player, label = int(self.tree.player[node]), self.labels[node]
        ink = GRAY if off else INK
        if self.edges[node]:
            add_text(group, self.edges[node], self.layout.bend[node], y - 4.5, fill=ink)
        if player == TERMINAL:
            add(group, "circle", cx=x, cy=y, r=3, fill=PALE if off else INK)
            add_on_white(group, label, x + 2 * PADDING - 3, y + 4, fill=ink)
            return
        mark = add_mark(group, player, x, y, pale=off)
        add(mark, "title").text = self._title(node)
        add_on_white(group, label, x - RADIUS - 4, y + 14, fill=ink, text_anchor="end")

    def _title(self, node: int) -> str:
        """What viewers show when one points at a node; labels are not shortened here."""
        player, name = int(self.tree.player[node]), "chance"
        if player >= 0:
            label = self.tree.infoset_labels[self.tree.infoset[node]]
            name = f"{self.tree.players[player]}, information set {label!r}"
        if self.play.reach is None:
            return name
        return f"{name}, reached with probability {number_text(self.play.reach[node])}"
