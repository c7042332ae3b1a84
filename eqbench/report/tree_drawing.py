"""A game tree as a drawing, with what a profile plays.

There is one column per depth, the root on the left. Every terminal has a row of its own and every
other node stands in the middle of its children. So what stands to the left or right of a node on
its row meets no other node's texts, however long they are, once columns are as wide as their
widest text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from operator import mul
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from eqbench.errors import UsageError
from eqbench.model.builder import payoff_rows
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.report.svg import COLORS, GRAY, INK, LIGHT, PALE
from eqbench.text import printable

Number = Fraction | float
Join = tuple[float, bool, list["Node"]]  # x of a vertical line, whether it is beside its nodes
MAX_NODES = 1500
LONGEST_FRACTION, LONGEST_LABEL = 9, 28
NEGLIGIBLE = 1e-6  # averages of iterative methods become small, but never zero
NARROWEST = 480.0  # captions need some width however small the tree is
FONT_SIZE, RADIUS = 12.0, 10.0  # of marks
MARGIN, PADDING, LANE_GAP = 16.0, 6.0, 7.0
SIBLING_GAP = 20.0  # between rows of terminals: one text above each line
ROW_GAP = 32.0  # between other rows: also a label below the line


@dataclass
class Node:
    """A node as it is drawn; numbers are Fractions where everything needed is exact.

    Attributes
    ----------
    share : frequency of the move that leads to it; None at the root, and after a player's move if
        there is no profile
    reach : probability that it is reached; None without a profile
    edge, label : texts on the edge that leads to it and at the node; terminals show payoffs
    x, y : its place in pixels
    bend : x at which the edge that leads to it becomes horizontal; the root has none
    """

    parent: int
    player: int
    share: Number | None
    reach: Number | None
    edge: str
    label: str
    name: str
    children: range
    x: float = 0.0
    y: float = 0.0
    bend: float = 0.0

    @property
    def is_off(self) -> bool:
        """Whether play under the profile does not come to it."""
        # a likely move below an unlikely node is off too, and so is the reverse
        share = 1 if self.share is None else self.share
        return self.reach is not None and min(self.reach, share) < NEGLIGIBLE


def nodes_of(tree: GameTree, profile: BehaviorProfile | None) -> list[Node]:
    """All nodes, without places, and with a profile what follows from its frequencies."""
    places = np.arange(tree.n_nodes)
    ends = (np.searchsorted(tree.parent, places, side).tolist() for side in ("left", "right"))
    payoffs = dict(zip(tree.terminals.tolist(), payoff_rows(tree), strict=True))
    frequencies = None if profile is None else profile.exact or profile.probabilities.tolist()
    nodes: list[Node] = []
    for at, (player, parent, *children) in enumerate(
        zip(tree.player.tolist(), tree.parent.tolist(), *ends, strict=True)
    ):
        share: Number | None = None
        words: list[str] = []
        if (action := int(tree.incoming[at])) >= 0:
            words.append(_short(tree.infoset_actions[tree.infoset[parent]][tree.move[at]]))
            share = frequencies and frequencies[action]
        elif at:
            share = tree.chance[at].item()
            share = Fraction(share, tree.chance_denominator) if isinstance(share, int) else share
        words += [] if share is None else [number_text(share)]
        above = nodes[parent].reach if at else Fraction(1)
        reach = None if profile is None else above if share is None else above * share
        name, label = "chance", f"({', '.join(map(number_text, payoffs.get(at, ())))})"
        if player >= 0:
            label = tree.infoset_labels[tree.infoset[at]]
            name = f"{tree.players[player]}, information set {label!r}"
        text = label if at in payoffs else "" if player == CHANCE else _short(label)
        edge = " ".join(words)
        nodes.append(Node(parent, player, share, reach, edge, text, name, range(*children)))
    return nodes


def number_text(value: Number) -> str:
    """A fraction if it is one and short, else four significant digits."""
    if isinstance(value, Fraction) and len(str(value)) <= LONGEST_FRACTION:
        return str(value)
    return f"{float(value):.4g}"


def lay_out(tree: GameTree, nodes: Sequence[Node]) -> tuple[list[Join], float]:
    """Place all nodes; return the lines between those of one information set, and the width."""
    _set_rows(nodes)
    joins: list[Join] = []
    start, right = MARGIN, 0.0
    for level in tree.levels:
        here, lines = nodes[level], _joined(tree, nodes, level)
        label = max((text_width(node.label) for node in here if node.player >= 0), default=0.0)
        edge = max(text_width(node.edge) for node in here)
        beside = LANE_GAP * max((lane for lane, _ in lines), default=0)
        x = start + max(edge + (beside + label if beside else 0), label) + 3 * PADDING + RADIUS
        left = x - RADIUS - PADDING - label
        joins += [(left - LANE_GAP * lane if lane else x, lane > 0, own) for lane, own in lines]
        ends = (x + 2 * PADDING + text_width(node.label) for node in here if node.player < 0)
        right = max([right, x + RADIUS, *ends])
        for node in here:
            node.x, node.bend = x, start
        spans = (abs(nodes[child].y - node.y) for node in here for child in node.children)
        start = x + RADIUS + min(max(0.15 * max(spans, default=0.0), 18.0), 110.0)
    return joins, right + MARGIN


def _set_rows(nodes: Sequence[Node]) -> None:
    """Set the y of every node."""
    row, above = MARGIN - ROW_GAP / 2, -2
    pending = [nodes[0]]
    while pending:  # terminals from top to bottom, whatever their depth
        node = pending.pop()
        pending.extend(nodes[child] for child in reversed(node.children))
        if not node.children:
            row += SIBLING_GAP if node.parent == above else ROW_GAP
            node.y, above = row, node.parent
    for node in reversed(nodes):
        if node.children:
            node.y = (nodes[node.children[0]].y + nodes[node.children[-1]].y) / 2


def _joined(tree: GameTree, nodes: Sequence[Node], level: slice) -> list[tuple[int, list[Node]]]:
    """Nodes of each information set at one depth, with the lane of the line that joins them.

    On lane 0 it runs through the nodes themselves, elsewhere beside them, where others are
    between; lines that would overlap are on lanes of their own.
    """
    ends: list[float] = []  # y at which the last line on each lane ends
    joined = []
    for infoset in dict.fromkeys(tree.infoset[level][tree.player[level] >= 0].tolist()):
        own = level.start + np.flatnonzero(tree.infoset[level] == infoset)
        lane, first, last = 0, nodes[own[0]], nodes[own[-1]]
        if own[-1] - own[0] >= len(own):
            lane = next((k for k, end in enumerate(ends) if end < first.y), len(ends))
            ends[lane : lane + 1] = [last.y]
            lane += 1
        joined += [(lane, [nodes[at] for at in own])] if len(own) > 1 else []
    return joined


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
    nodes = nodes_of(tree, profile)
    joins, right = lay_out(tree, nodes)
    names = list(map(_short, tree.players))
    movers = {CHANCE: "chance"} if (tree.player == CHANCE).any() else {}
    expected = []
    if profile is not None:
        reaches = [nodes[end].reach for end in tree.terminals.tolist()]
        values = (sum(map(mul, reaches, own)) for own in zip(*payoff_rows(tree), strict=True))
        expected = [f"{name} {number_text(u)}" for name, u in zip(names, values, strict=True)]
    sets = (np.flatnonzero(tree.infoset == k).tolist() for k in range(tree.n_infosets))
    pairs = ((nodes[a], nodes[b]) for own in sets for a, b in pairwise(own))
    text = _template().render(
        **{"spec": spec, "movers": movers | dict(enumerate(names)), "names": names},
        **{"expected": expected, "nodes": nodes, "joins": joins},
        room=max(right, NARROWEST) - 2 * MARGIN,
        bottom=max(node.y for node in nodes) + ROW_GAP / 2,
        across=[(above, below) for above, below in pairs if above.x < below.x],
    )
    # other characters are written as references, so that any terminal can pass them on
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _template() -> Template:
    """Template of drawings, in which texts are escaped."""
    environment = Environment(
        loader=PackageLoader("eqbench", "report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        finalize=_written,
    )
    environment.globals |= {"INK": INK, "GRAY": GRAY, "PALE": PALE, "LIGHT": LIGHT}
    environment.globals |= {"COLORS": COLORS, "RADIUS": RADIUS, "TERMINAL": TERMINAL}
    environment.globals |= {"MARGIN": MARGIN, "number": number_text, "text_width": text_width}
    return environment.get_template("tree.svg")


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Width that a text may take in a common sans-serif font, in pixels; rather too large."""
    return sum(map(_width_of, text)) * size


def _width_of(char: str) -> float:
    if char in " .,:;|'`!()[]{}/\\-ijlt1":
        return 0.46
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    return 0.9 if char.isupper() or char in "mw%@–—" else 0.65


def _written(value: Any) -> Any:
    """A value as the template writes it: numbers have two decimals at most."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    # XML does not allow all that names hold
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _short(label: str) -> str:
    label = printable(label)
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
