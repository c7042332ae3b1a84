"""A game tree as a drawing, with what a profile plays.

There is one column per depth, the root on the left. Every terminal has a row of its own and every
other node stands in the middle of its children. So what stands to the left or right of a node on
its row meets no other node's texts, however long they are, once columns are as wide as their
widest text.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from eqbench.errors import UsageError
from eqbench.model.builder import payoff_rows
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.report.svg import GRAY, INK, PALE, RADIUS, color_of, corners_of, text_width
from eqbench.text import printable

Number = Fraction | float
MAX_NODES = 1500
LONGEST_FRACTION, LONGEST_LABEL = 9, 28
NEGLIGIBLE = 1e-6  # averages of iterative methods become small, but never zero
NARROWEST = 480.0  # captions need some width however small the tree is
LINE_HEIGHT, MARK_LINE_HEIGHT, TITLE_SIZE = 18.0, 28.0, 15.0
MARGIN, PADDING, LANE_GAP = 16.0, 6.0, 7.0
LETTER = text_width("n")
SIBLING_GAP = 20.0  # between rows of terminals: one text above each line
ROW_GAP = 32.0  # between other rows: also a label below the line


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

    def share(self, node: int) -> float:
        """Frequency of the move that leads to a node, 1 if it is not known."""
        value = self.frequency[node]
        return 1.0 if value is None else float(value)

    def is_off(self, node: int) -> bool:
        """Whether play under the profile does not come to a node."""
        # a likely move below an unlikely node is off too, and so is the reverse
        return self.reach is not None and min(self.reach[node], self.share(node)) < NEGLIGIBLE


def play_of(tree: GameTree, profile: BehaviorProfile | None) -> Play:
    """The chances of a game and, with a profile, what follows from its frequencies."""
    frequency: list[Number | None] = [None]
    for chance, action in zip(tree.chance[1:].tolist(), tree.incoming[1:].tolist(), strict=True):
        if action < 0:
            whole = isinstance(chance, int)
            frequency.append(Fraction(chance, tree.chance_denominator) if whole else chance)
        elif profile is None:
            frequency.append(None)
        else:
            exact = profile.exact
            frequency.append(float(profile.probabilities[action]) if not exact else exact[action])
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


class Join(NamedTuple):
    """A vertical line that joins the nodes of one information set at one depth.

    On lane 0 it runs through the nodes themselves, elsewhere beside them, where others are
    between; lines that would overlap are on lanes of their own.
    """

    lane: int
    infoset: int
    nodes: list[int]
    x: float = 0.0


@dataclass
class Layout:
    """Positions in pixels.

    Attributes
    ----------
    x, y : of each node
    bend : x at which the edge that leads to each node becomes horizontal; the root has none
    joins : lines between nodes of one information set
    width : of everything, margins included
    """

    x: list[float]
    y: list[float]
    bend: list[float]
    joins: list[Join]
    width: float

    @property
    def height(self) -> float:
        """Height of everything, margins included."""
        return max(self.y) + ROW_GAP / 2 + MARGIN


def lay_out(tree: GameTree, edges: Sequence[str], labels: Sequence[str]) -> Layout:
    """Positions of all nodes of a tree.

    Parameters
    ----------
    edges, labels : what is written on the edge that leads to each node, and as its own label
    """
    nodes = np.arange(tree.n_nodes)
    ends = (np.searchsorted(tree.parent, nodes, side).tolist() for side in ("left", "right"))
    children = [range(first, last) for first, last in zip(*ends, strict=True)]
    found = Layout([], _rows(tree, children), [], [], 0.0)
    y, start = found.y, MARGIN
    for level in tree.levels:
        nodes_here = range(level.start, level.stop)
        joins = _joins(tree, y, nodes_here)
        decisions = [v for v in nodes_here if tree.player[v] >= 0]
        label = max((text_width(labels[v]) for v in decisions), default=0.0)
        edge = max(text_width(edges[v]) for v in nodes_here)
        beside = LANE_GAP * max((join.lane for join in joins), default=0)
        x = start + max(edge + (beside + label if beside else 0), label) + 3 * PADDING + RADIUS
        lanes = x - RADIUS - PADDING - label
        found.joins += [
            join._replace(x=lanes - LANE_GAP * join.lane if join.lane else x) for join in joins
        ]
        others = [text_width(labels[v]) for v in nodes_here if tree.player[v] < 0]
        right = max([x + RADIUS, *(x + 2 * PADDING + width for width in others)])
        found.width = max(found.width, right + MARGIN)
        found.x += [x] * len(nodes_here)
        found.bend += [start] * len(nodes_here)
        span = max((abs(y[c] - y[v]) for v in nodes_here for c in children[v]), default=0.0)
        start = x + RADIUS + min(max(0.15 * span, 18.0), 110.0)
    return found


def _rows(tree: GameTree, children: Sequence[range]) -> list[float]:
    """The y of every node."""
    y = [0.0] * tree.n_nodes
    row, above = MARGIN - ROW_GAP / 2, -2
    pending = [0]
    while pending:  # terminals from top to bottom, whatever their depth
        node = pending.pop()
        pending.extend(reversed(children[node]))
        if not children[node]:
            row += SIBLING_GAP if tree.parent[node] == above else ROW_GAP
            y[node], above = row, int(tree.parent[node])
    for node, own in reversed(list(enumerate(children))):
        if own:
            y[node] = (y[own[0]] + y[own[-1]]) / 2
    return y


def _joins(tree: GameTree, y: Sequence[float], nodes: range) -> list[Join]:
    """The lines at one depth, whose x is open yet."""
    members: dict[int, list[int]] = {}
    for node in nodes:
        if tree.player[node] >= 0:
            members.setdefault(int(tree.infoset[node]), []).append(node)
    ends: list[float] = []  # y at which the last line on each lane ends
    joins = []
    for infoset, joined in members.items():
        lane, (first, last) = 0, (joined[0], joined[-1])
        if last - first >= len(joined):
            lane = next((k for k, end in enumerate(ends) if end < y[first]), len(ends))
            ends[lane : lane + 1] = [y[last]]
            lane += 1
        joins += [Join(lane, infoset, joined)] if len(joined) > 1 else []
    return joins


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
    width = max(layout.width, NARROWEST)
    caption, top = _caption(tree, spec, _notes(tree, play, layout), width - 2 * MARGIN)
    nodes = [
        {
            **{"x": layout.x[v], "y": layout.y[v], "bend": layout.bend[v], "player": player},
            **{
                "parent": int(tree.parent[v]),
                "off": play.is_off(v),
                "title": _title(tree, play, v),
            },
            **{"edge": edges[v], "label": labels[v], "is_end": player == TERMINAL},
            "width": 1.4 if play.reach is None else 1 + 4 * play.share(v),
        }
        for v, player in enumerate(tree.player.tolist())
    ]
    sets = [np.flatnonzero(tree.infoset == k).tolist() for k in range(tree.n_infosets)]
    text = _template().render(
        **{"spec": spec, "size": f"{width:.0f} {top + layout.height:.0f}", "caption": caption},
        **{"top": f"{top:.0f}", "nodes": nodes, "x": layout.x, "y": layout.y},
        **{"joins": layout.joins, "owners": tree.infoset_player.tolist()},
        across=[  # sets that go on at another depth
            (k, above, below)
            for k, own in enumerate(sets)
            for above, below in pairwise(own)
            if layout.x[above] < layout.x[below]
        ],
    )
    # other characters are written as references, so that any terminal can pass them on
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _template() -> Template:
    """Template of drawings, in which texts are escaped and numbers have two decimals at most."""
    environment = Environment(
        loader=PackageLoader("eqbench", "report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        finalize=_written,
    )
    named = {"INK": INK, "GRAY": GRAY, "PALE": PALE, "RADIUS": RADIUS}
    environment.globals |= {**named, "color": color_of, "shape": corners_of, "width": text_width}
    return environment.get_template("tree.svg")


def _written(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    # XML does not allow all that names hold
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


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


def _notes(tree: GameTree, play: Play, layout: Layout) -> Iterator[str]:
    names = [_short(label) for label in tree.players]
    yield f"Payoffs in parentheses: {', '.join(names)}."
    if layout.joins:
        beside = any(join.lane for join in layout.joins)
        dots = "; dots mark the edges that lead to them" if beside else ""
        yield f"Dashed lines join the nodes of one information set{dots}."
    if play.expected is not None:
        values = map(number_text, play.expected)
        pairs = [f"{name} {value}" for name, value in zip(names, values, strict=True)]
        yield f"Expected payoffs: {', '.join(pairs)}."
        if any(map(play.is_off, range(tree.n_nodes))):
            yield "Dotted: played or reached with a probability below 1e-6."


def _caption(
    tree: GameTree, spec: str, notes: Iterable[str], width: float
) -> tuple[dict[str, list[Any]], float]:
    """Lines of the title, marks of chance and the players, and notes, placed; the y below."""
    x, y = 0.0, MARGIN + TITLE_SIZE
    title, movers, lines = [spec], [], []
    if text_width(spec, TITLE_SIZE) > width:  # canonical specs have no spaces to break them at
        spaced = spec.replace(",", ", ").replace(";", "; ")
        title = textwrap.wrap(spaced, int(width / text_width("m", TITLE_SIZE)))
    placed = [(MARGIN, y + k * LINE_HEIGHT, line) for k, line in enumerate(title)]
    y = placed[-1][1] + MARK_LINE_HEIGHT
    chance = [CHANCE] * bool((tree.player == CHANCE).any())
    for mover in [*chance, *range(tree.n_players)]:
        name = "chance" if mover == CHANCE else _short(tree.players[mover])
        room = 2 * RADIUS + text_width(name) + 3 * PADDING
        if x > 0 and x + room > width:
            x, y = 0.0, y + MARK_LINE_HEIGHT
        movers.append((mover, MARGIN + x, y, name))
        x += room
    y += MARK_LINE_HEIGHT
    for line in (line for note in notes for line in textwrap.wrap(note, int(width / LETTER))):
        lines.append((MARGIN, y, line))
        y += LINE_HEIGHT
    return {"title": placed, "movers": movers, "notes": lines}, y


def _title(tree: GameTree, play: Play, node: int) -> str:
    """What viewers show when one points at a node; labels are not shortened here."""
    player, name = int(tree.player[node]), "chance"
    if player >= 0:
        label = tree.infoset_labels[tree.infoset[node]]
        name = f"{tree.players[player]}, information set {label!r}"
    if play.reach is None:
        return name
    return f"{name}, reached with probability {number_text(play.reach[node])}"
