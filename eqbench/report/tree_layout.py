"""Where the nodes of a drawn game tree stand: one column per depth, the root on the left.

Every terminal has a row of its own and every other node stands in the middle of its children.
So what stands to the left or right of a node on its row meets no other node's texts, however
long they are, once columns are as wide as their widest text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eqbench.model.tree import GameTree

FONT_SIZE = 12.0
RADIUS = 10.0
MARGIN = 16.0
SIBLING_GAP = 20.0  # between rows of terminals: one text above each line
ROW_GAP = 32.0  # between other rows: also a label below the line
LANE_GAP = 7.0
PADDING = 6.0


@dataclass(frozen=True)
class Texts:
    """What is written at each node: on the edge that leads to it, and as its own label.

    The payoffs of a terminal are its label.
    """

    edge: list[str]
    label: list[str]


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
    bend : x at which the edges from a node's column become horizontal, by depth
    depth : of each node
    joins : lines between nodes of one information set
    width, height : of everything, margins included
    """

    x: list[float]
    y: list[float]
    bend: list[float]
    depth: list[int]
    joins: list[Join]
    width: float
    height: float


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Width that a text may take in a common sans-serif font, in pixels; rather too large."""
    return sum(_width_of(char) for char in text) * size


def lay_out(tree: GameTree, texts: Texts) -> Layout:
    """Positions of all nodes of a tree with these texts."""
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
        label = max((text_width(texts.label[v]) for v in decisions), default=0.0)
        edge = max(text_width(texts.edge[v]) for v in nodes)
        beside = LANE_GAP * max((lane for lane, _, _ in placed), default=0)
        left = bend[-1] if bend else MARGIN
        here = left + max(edge + (beside + label if beside else 0), label) + 3 * PADDING + RADIUS
        span = max((abs(y[v] - y[tree.parent[v]]) for v in _children(tree, nodes)), default=0.0)
        x.append(here)
        lane_start.append(here - RADIUS - PADDING - label)
        bend.append(here + RADIUS + min(max(0.15 * span, 18.0), 110.0))
        ends = [text_width(texts.label[v]) for v in nodes if tree.player[v] < 0]
        right = max([right, here + RADIUS, *(here + 2 * PADDING + width for width in ends)])
    joins = [
        Join(infoset, nodes, lane_start[d] - LANE_GAP * lane if lane else x[d], lane == 0)
        for d, placed in enumerate(lanes)
        for lane, infoset, nodes in placed
    ]
    height = max(y) + ROW_GAP / 2 + MARGIN
    return Layout([x[d] for d in depth], y, bend, depth, joins, right + MARGIN, height)


def _width_of(char: str) -> float:
    if char in " .,:;|'`!()[]{}/\\-ijlt1":
        return 0.46
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    return 0.9 if char.isupper() or char in "mw%@–—" else 0.65


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
    for infoset, joined in members.items():
        if len(joined) == 1:
            continue
        lane = 0
        if joined[-1] - joined[0] >= len(joined):
            fits = (k for k, end in enumerate(ends) if end < y[joined[0]])
            lane = next(fits, len(ends))
            ends[lane : lane + 1] = [y[joined[-1]]]
            lane += 1
        placed.append((lane, infoset, tuple(joined)))
    return placed
