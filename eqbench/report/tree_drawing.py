"""A game tree as a drawing, with what a profile plays.

There is one column per depth, the root on the left. Every terminal has a row of its own and every
other node stands in the middle of its children. So what stands to the left or right of a node on
its row meets no other node's texts, however long they are, once columns are as wide as their
widest text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.builder import payoff_rows
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import CHANCE, TERMINAL, FloatArray, GameTree
from eqbench.report import svg
from eqbench.text import printable
from eqbench.verification.exact import short_figure

MAX_NODES = 1500
LONGEST_LABEL = 28
NEGLIGIBLE = 1e-6  # averages of iterative methods become small, but never zero
NARROWEST = 480.0  # captions need some width however small the tree is
FONT_SIZE, RADIUS = 12.0, 10.0  # of marks
MARGIN, PADDING, LANE_GAP = 16.0, 6.0, 7.0
SIBLING_GAP = 20.0  # between rows of terminals: one text above each line
ROW_GAP = 32.0  # between other rows: also a label below the line

Join = tuple[float, bool, list[int]]  # x of a vertical line, whether it is beside its nodes

number_text = partial(short_figure, most=9, digits=4)


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
    share, names = _shares(tree, profile), list(map(_short, tree.players))
    labels, edges = _texts(tree, share)
    widths = np.array(list(map(text_width, labels)))
    x, bend, y, joins = _places(tree, widths, np.array(list(map(text_width, edges))))
    reach, is_off, expected = share.copy(), np.zeros(tree.n_nodes, dtype=bool), []
    if profile is not None:
        for level in tree.levels[1:]:
            reach[level] *= reach[tree.parent[level]]
        # a likely move below an unlikely node is off too, and so is the reverse
        is_off = np.minimum(reach, share) < NEGLIGIBLE
        payoffs = reach[tree.terminals] @ np.array(payoff_rows(tree), dtype=object)
        expected = [f"{name} {number_text(u)}" for name, u in zip(names, payoffs, strict=True)]
    columns: dict[str, Sequence[Any] | NDArray[Any]] = {
        **{"player": tree.player, "parent": tree.parent, "infoset": tree.infoset},
        **{"x": x, "bend": bend, "y": y, "label": labels, "width": widths, "edge": edges},
        **{"share": share, "reach": reach, "is_off": is_off},
    }
    # of an information set that reaches over several depths: its nodes one after the other
    order = np.argsort(tree.infoset, kind="stable")
    above, below = order[:-1], order[1:]
    is_one = (tree.infoset[above] == tree.infoset[below]) & (tree.infoset[above] >= 0)
    is_across = is_one & (x[above] < x[below])
    ends = np.where(tree.player < 0, x + 2 * PADDING + widths, x + RADIUS)
    text = _template().render(
        **{"tree": tree, "spec": spec, "names": names, "expected": expected, "joins": joins},
        nodes=[dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        movers=({CHANCE: "chance"} if CHANCE in tree.player else {}) | dict(enumerate(names)),
        across=list(zip(above[is_across], below[is_across], strict=True)),
        room=max(ends.max() + MARGIN, NARROWEST) - 2 * MARGIN,
        bottom=y.max() + ROW_GAP / 2,
    )
    # other characters are written as references, so that any terminal can pass them on
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _shares(tree: GameTree, profile: BehaviorProfile | None) -> NDArray[np.object_]:
    """Probability of the move that leads to each node, a Fraction where it is exact.

    1 at the root, and None after moves of players without a profile.
    """
    share = tree.chance.astype(object) * Fraction(1, tree.chance_denominator)
    played = [None] * tree.n_actions if profile is None else profile.exact or profile.probabilities
    made = tree.incoming >= 0
    share[made] = np.array(played, dtype=object)[tree.incoming[made]]
    share[0] = Fraction(1)
    return share


def _texts(tree: GameTree, share: NDArray[np.object_]) -> tuple[list[str], list[str]]:
    """Texts at each node, payoffs at terminals, and on the edge that leads to it."""
    labels = [_short(tree.infoset_labels[k]) if k >= 0 else "" for k in tree.infoset.tolist()]
    for end, payoffs in zip(tree.terminals.tolist(), payoff_rows(tree), strict=True):
        labels[end] = f"({', '.join(map(number_text, payoffs))})"
    edges = []
    for infoset, move, frequency in zip(tree.infoset[tree.parent], tree.move, share, strict=True):
        action = _short(tree.infoset_actions[infoset][move]) if infoset >= 0 else ""
        edges.append(f"{action} {'' if frequency is None else number_text(frequency)}".strip())
    return labels, ["", *edges[1:]]


def _places(
    tree: GameTree, label: FloatArray, edge: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, list[Join]]:
    """Place nodes by the widths of their texts; also where edges bend, and lines of sets."""
    y, joins = _heights(tree), list[Join]()
    x, bend, span = np.zeros_like(y), np.full_like(y, MARGIN), abs(y - y[tree.parent])
    for level in tree.levels:
        if level.start:
            bend[level] = x[level.start - 1] + RADIUS + np.clip(0.15 * span[level].max(), 18, 110)
        lines = _joined(tree, y, level)
        widest = label[level].max(where=tree.player[level] >= 0, initial=0)
        beside = LANE_GAP * max((lane for lane, _ in lines), default=0)
        room = max(edge[level].max() + (beside + widest if beside else 0), widest)
        x[level] = here = bend[level.start] + room + 3 * PADDING + RADIUS
        left = here - RADIUS - PADDING - widest
        joins += [(left - LANE_GAP * lane if lane else here, lane > 0, own) for lane, own in lines]
    return x, bend, y, joins


def _heights(tree: GameTree) -> FloatArray:
    """Distance of each node from the top."""
    nodes = np.arange(tree.n_nodes)
    first, end = (np.searchsorted(tree.parent, nodes, side).tolist() for side in ("left", "right"))
    y, row, above, pending = np.zeros(tree.n_nodes), MARGIN - ROW_GAP / 2, -2, [0]
    while pending:  # terminals from top to bottom, whatever their depth
        node = pending.pop()
        pending += reversed(range(first[node], end[node]))
        if tree.player[node] == TERMINAL:
            row += SIBLING_GAP if tree.parent[node] == above else ROW_GAP
            y[node], above = row, tree.parent[node]
    for node in reversed(np.flatnonzero(tree.player != TERMINAL).tolist()):
        y[node] = (y[first[node]] + y[end[node] - 1]) / 2
    return y


def _joined(tree: GameTree, y: FloatArray, level: slice) -> list[tuple[int, list[int]]]:
    """Nodes of each information set at one depth, with the lane of the line that joins them.

    On lane 0 it runs through the nodes themselves, elsewhere beside them, where others are
    between; lines that would overlap are on lanes of their own.
    """
    ends: list[float] = []  # y at which the last line on each lane ends
    joined, infosets = [], tree.infoset[level]
    for infoset in dict.fromkeys(infosets[infosets >= 0].tolist()):
        own, lane = (level.start + np.flatnonzero(infosets == infoset)).tolist(), 0
        if own[-1] - own[0] >= len(own):
            free = (k for k, end in enumerate(ends) if end < y[own[0]])
            lane = 1 + next(free, len(ends))
            ends[lane - 1 : lane] = [y[own[-1]]]
        joined += [(lane, own)] if len(own) > 1 else []
    return joined


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Width that a text may take in a common sans-serif font, in pixels; rather too large."""
    return sum(map(_width_of, text)) * size


def _width_of(char: str) -> float:
    if char in " .,:;|'`!()[]{}/\\-ijlt1":
        return 0.46
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    return 0.9 if char.isupper() or char in "mw%@–—" else 0.65


def _short(label: str) -> str:
    label = printable(label)
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def _written(value: Any) -> Any:
    """A value as the template writes it: numbers have two decimals at most."""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    # XML does not allow all that names hold
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _template() -> Template:
    """Template of drawings, in which texts are escaped."""
    environment = Environment(
        loader=PackageLoader("eqbench", "report"),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
        finalize=_written,
    )
    measures = {"RADIUS": RADIUS, "MARGIN": MARGIN, "TERMINAL": TERMINAL}
    functions = {"number": number_text, "text_width": text_width}
    return environment.get_template("tree.svg", globals=vars(svg) | measures | functions)
