"""A game tree as a drawing, with what a profile plays.

There is one column per depth, the root on the left. Every terminal has a row of its own and every
other node stands in the middle of its children. So what stands to the left or right of a node on
its row meets no other node's texts, however long they are, once columns are as wide as their
widest text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from eqbench import report
from eqbench.errors import UsageError
from eqbench.model.builder import payoff_rows
from eqbench.model.inspection import Excerpt, excerpt, move_name
from eqbench.model.profile import BehaviorProfile
from eqbench.model.rational import short_figure
from eqbench.model.tree import TERMINAL, FloatArray, GameTree, IntArray
from eqbench.model.words import Wording, situation
from eqbench.report.formats import for_latex
from eqbench.text import printable

MAX_NODES = 1500
LONGEST_LABEL = 28
NEGLIGIBLE = 1e-6  # averages of iterative methods become small, but never zero
FONT_SIZE, RADIUS = 12.0, 10.0  # of marks
MARGIN, PADDING, LANE_GAP = 16.0, 6.0, 7.0
SIBLING_GAP = 20.0  # between rows of terminals: one text above each line
ROW_GAP = 32.0  # between other rows: also a label below the line
LETTERS_PT = (8, 7, 6, 5)  # of pictures for LaTeX
PAGE_PT = (484.0, 731.0)  # of A4 with margins of 2 cm
# Widths of characters in units of the font size; others have 0.65, and capitals more.
WIDTHS = dict.fromkeys(" .,:;|'`!()[]{}/\\-ijlt1", 0.46) | dict.fromkeys("mw%@–—", 0.9)
_MEASURES = {"RADIUS": RADIUS, "MARGIN": MARGIN, "ROW_GAP": ROW_GAP, "TERMINAL": TERMINAL}

number_text = partial(short_figure, most=9, digits=4)


def draw_tree(
    tree: GameTree,
    spec: str,
    profile: BehaviorProfile | None = None,
    wording: Wording | None = None,
    part: Excerpt | None = None,
) -> str:
    """Draw a tree of at most 1,500 nodes as SVG, under a caption that calls it `spec`.

    Players differ in color, shape and number. Information sets are labeled, and those of
    several nodes joined by dashed lines. With a profile, edges are as wide as their frequency,
    and what is played or reached with less than 1e-6 is dotted and pale. With a wording, labels of
    information sets and outcomes of chance are in words. Of an excerpt of the tree only that is
    drawn; reach and expected payoffs remain those of the whole game.
    """
    known = report.templates(printable, number=number_text, text_width=text_width)
    text = known.get_template("tree.svg", globals=vars(report) | _MEASURES).render(
        _drawing(tree, spec, profile, wording, part)
    )
    # other characters are written as references, so that any terminal can pass them on
    return f"{text}\n".encode("ascii", "xmlcharrefreplace").decode()


def tikz_tree(
    tree: GameTree,
    spec: str,
    profile: BehaviorProfile | None = None,
    wording: Wording | None = None,
    part: Excerpt | None = None,
) -> str:
    r"""Draw a tree as a picture of TikZ for ``\input``, with letters that a page has room for.

    It shows what :func:`draw_tree` shows, without the caption.

    Raises
    ------
    UsageError
        If it fits no page with letters of 5 pt.
    """
    drawing = _drawing(tree, spec, profile, wording, part, clean=_for_tikz)
    largest = FONT_SIZE / max(drawing["end"] / PAGE_PT[0], drawing["y"].max() / PAGE_PT[1])
    size = next((size for size in LETTERS_PT if size <= largest), None)
    if size is None:
        raise UsageError(
            f"{spec} does not fit on a page with letters of {LETTERS_PT[-1]} pt; draw a part of it "
            "(--at, --depth), or draw it as .svg"
        )
    known = report.templates(for_latex, html=False, math=_with_minus)
    return known.get_template("tree.tex", globals=vars(report) | _MEASURES).render(
        drawing, size=size, unit=size / FONT_SIZE
    )


def _for_tikz(text: str) -> str:
    """A text with code points for characters that LaTeX may not know, as long as it will be."""
    known = report.read_data("latex")
    return re.sub(
        r"[^\x20-\x7e]", lambda m: m[0] if m[0] in known else f"[U+{ord(m[0]):04X}]", text
    )


def _with_minus(text: str) -> Markup:
    """Numbers with signs of mathematics."""
    return Markup(re.sub(r"(?<![\w.])-(?=[\d.])", "$-$", for_latex(text)))


def _drawing(
    tree: GameTree,
    spec: str,
    profile: BehaviorProfile | None,
    wording: Wording | None,
    part: Excerpt | None,
    clean: Callable[[str], str] = str,
) -> dict[str, Any]:
    """All that a template draws, of at most 1,500 nodes."""
    part = part or excerpt(tree)
    if part.tree.n_nodes > MAX_NODES:
        raise UsageError(
            f"{spec} has {part.tree.n_nodes:,} nodes; a drawing has at most {MAX_NODES:,}. Draw "
            "a part of it (--at, --depth), or a smaller game with fewer players, cards or actions"
        )
    share, names = _shares(tree, profile), list(map(_short, tree.players))
    reach, is_off, expected = share.copy(), np.zeros(tree.n_nodes, dtype=bool), list[str]()
    if profile is not None:
        for level in tree.levels[1:]:
            reach[level] *= reach[tree.parent[level]]
        # a likely move below an unlikely node is off too, and so is the reverse
        is_off = np.minimum(reach, share) < NEGLIGIBLE
        payoffs = reach[tree.terminals] @ np.array(payoff_rows(tree), dtype=object)
        expected = [f"{name} {number_text(u)}" for name, u in zip(names, payoffs, strict=True)]
    shown = part.nodes
    return {
        **_layout(part.tree, share[shown], wording, part.is_cut, clean),
        **{"tree": part.tree, "spec": spec, "names": names, "share": share[shown]},
        **{"reach": reach[shown], "is_off": is_off[shown], "expected": expected},
    }


def _shares(tree: GameTree, profile: BehaviorProfile | None) -> NDArray[np.object_]:
    """Probability of the move to each node, 1 at the root; None if unknown, exact if it can be."""
    share = tree.chance.astype(object) * Fraction(1, tree.chance_denominator)
    played = [None] * tree.n_actions if profile is None else profile.exact or profile.probabilities
    made = tree.incoming >= 0
    share[made] = np.array(played, dtype=object)[tree.incoming[made]]
    share[0] = Fraction(1)
    return share


def _layout(
    tree: GameTree,
    share: NDArray[np.object_],
    wording: Wording | None,
    is_cut: NDArray[np.bool_],
    clean: Callable[[str], str] = str,
) -> dict[str, Any]:
    """Texts and places in pixels of all nodes, and where lines join those of information sets.

    `bend` is where the edge to a node becomes horizontal, `line` the place of the vertical line
    that joins a node with others of its depth: `joined` by nodes, `across` those of other depths.
    """
    labels, edges = _texts(tree, share, wording, is_cut)
    labels, edges = [*map(clean, labels)], [*map(clean, edges)]
    label, edge = (np.array([text_width(text) for text in texts]) for texts in (labels, edges))
    y = _heights(tree)
    joined, lane = _lanes(tree, y)
    span = abs(y - y[tree.parent])
    x, bend, line = np.zeros_like(y), np.full_like(y, MARGIN), np.zeros_like(y)
    for level in tree.levels:
        if level.start:
            bend[level] = x[level.start - 1] + RADIUS + np.clip(0.15 * span[level].max(), 18, 110)
        widest, lanes = label[level].max(where=tree.player[level] >= 0, initial=0), lane[level]
        aside = LANE_GAP * lanes.max() + widest if lanes.any() else 0
        x[level] = bend[level] + max(edge[level].max() + aside, widest) + 3 * PADDING + RADIUS
        left = x[level] - RADIUS - PADDING - widest
        line[level] = np.where(lanes, left - LANE_GAP * lanes, x[level])
    # one after the other in an information set that reaches over several depths
    order = np.argsort(tree.infoset, kind="stable")
    pairs = np.column_stack([order[:-1], order[1:]])
    first, second = tree.infoset[pairs].T
    across = pairs[(first >= 0) & (first == second) & (np.diff(x[pairs]).ravel() > 0)]
    end = np.where(tree.player < 0, x + 2 * PADDING + label, x + RADIUS).max()
    return {
        **{"labels": labels, "edges": edges, "width": label, "x": x, "y": y, "bend": bend},
        **{"line": line, "joined": joined, "across": across, "end": end},
    }


def _texts(
    tree: GameTree,
    share: NDArray[np.object_],
    wording: Wording | None,
    is_cut: NDArray[np.bool_],
) -> tuple[list[str], list[str]]:
    """Texts at each node, payoffs at terminals, and on the edge that leads to it."""
    sets = [_short(situation(label, wording).words) for label in tree.infoset_labels]
    labels = [sets[k] if k >= 0 else "" for k in tree.infoset]
    for end, payoffs in zip(tree.terminals, payoff_rows(tree), strict=True):
        labels[end] = "…" if is_cut[end] else f"({', '.join(map(number_text, payoffs))})"
    edges = [""]
    for node, frequency in enumerate(share[1:], start=1):
        figure = "" if frequency is None else number_text(frequency)
        edges.append(f"{_short(move_name(tree, node, wording))} {figure}".strip())
    return labels, edges


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
    for node in np.flatnonzero(tree.player != TERMINAL)[::-1]:
        y[node] = (y[first[node]] + y[end[node] - 1]) / 2
    return y


def _lanes(tree: GameTree, y: FloatArray) -> tuple[list[IntArray], IntArray]:
    """Nodes of one information set and depth, and of each node the lane of the line joining them.

    On lane 0 it runs through the nodes themselves, elsewhere next to them, where others are
    between; lines that would overlap are on lanes of their own.
    """
    joined, lane = [], np.zeros(tree.n_nodes, dtype=np.int32)
    for level in tree.levels:
        ends: list[float] = []  # y at which the last line on each lane ends
        infosets = tree.infoset[level]
        for infoset in dict.fromkeys(infosets[infosets >= 0]):
            own = level.start + np.flatnonzero(infosets == infoset)
            joined += [own] if len(own) > 1 else []
            if own[-1] - own[0] >= len(own):
                free = next((k for k, end in enumerate(ends) if end < y[own[0]]), len(ends))
                ends[free : free + 1] = [y[own[-1]]]
                lane[own] = free + 1
    return joined, lane


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Width that a text may take in a common sans-serif font, in pixels; rather too large."""
    from rich.cells import cell_len

    widths = (WIDTHS.get(c) or 0.65 * cell_len(c) + 0.25 * c.isupper() for c in text)
    return size * sum(widths)


def _short(label: str) -> str:
    label = printable(label)
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
