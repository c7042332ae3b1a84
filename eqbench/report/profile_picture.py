"""What one or two profiles play, as a picture: a grid of situations and cards, or a table of sets.

Every cell is an information set with a bar, divided among its actions. Games that declare what
their labels mean have a column for each card; of other games each row is an information set. Many
hands of two cards are put together by kinds such as ``AKs``, in the usual grid of 13 x 13.
"""

from __future__ import annotations

import struct
import textwrap
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench import report
from eqbench.errors import UsageError
from eqbench.extras import needed_for
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile
from eqbench.model.words import Wording, key_line, situation
from eqbench.report.tree_drawing import NEGLIGIBLE, number_text, text_width
from eqbench.store.run_folder import PDF_END, PNG_MARK
from eqbench.text import printable
from eqbench.verification import Verifier

MOST_ROWS = 40
MOST_COLUMNS = 16
MOST_GRIDS = 6  # of 13 x 13
SPARSE = 3  # cells of a grid for each information set, above which these have rows of their own
DIFFERENT = 5e-4  # up to which two frequencies are the same to who reads three decimals
HAND_RANKS = "AKQJT98765432"
FORMATS = (".svg", ".png", ".pdf")
_LONGEST = {"title": 120, "words": 52, "action": 16, "column": 10, "cell": 46}  # characters
_FONT = 12.0
_GRID_CELL, _HAND_CELL, _TABLE_CELL, _GAP, _MARGIN = 66.0, 46.0, 250.0, 26.0, 16.0
_MEASURES = {"MARGIN": _MARGIN, "ROW": 36.0, "LINE": 17.0, "BAR": 10.0, "PAD": 5.0}


InfosetKey = tuple[int, str, tuple[str, ...]]  # player, label and actions


@dataclass(frozen=True)
class Block:
    """The information sets of one player."""

    player: int  #: position
    columns: tuple[str, ...]  #: cards, for example; one empty text if rows are information sets
    #: situation in words, its actions, and the information set in each column, -1 for none
    rows: tuple[tuple[str, tuple[str, ...], tuple[int, ...]], ...]
    title: str = ""  #: situation of a grid of hands, which has no words in its rows


@dataclass(frozen=True, eq=False)
class Grids:
    """Information sets of a game in grids; many hands of two cards are put together by kinds."""

    sets: tuple[InfosetKey, ...]  #: information sets; of kinds with labels such as ``AKs:K B50``
    place: NDArray[np.intp]  #: (I,) which of these each information set belongs to
    sizes: NDArray[np.intp]  #: (I,) its number of actions
    blocks: tuple[Block, ...]  #: of hands 13 x 13 for each situation, -1 where there are none
    by_kind: bool  #: whether hands are put together

    @cached_property
    def start(self) -> NDArray[np.intp]:
        """First action of each of `sets`, and their number."""
        return np.cumsum([0, *(len(actions) for *_, actions in self.sets)])

    def averages(
        self, values: NDArray[np.float64], reach: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Frequencies of actions and reach of `sets`, from those of information sets.

        A hand counts as much as it is likely there; all count alike where play never gets.
        """
        total = np.bincount(self.place, reach)
        never = np.bincount(self.place)[self.place]
        safe = np.where(total > 0, total, 1.0)[self.place]
        weight = np.where(total[self.place] > 0, reach / safe, 1 / never)
        first = np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        action = np.repeat(self.start[self.place], self.sizes) + np.arange(len(first)) - first
        averages = np.bincount(action, np.repeat(weight, self.sizes) * values)
        return averages.astype(np.float64), total.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Shown:
    """A profile to be drawn, and what is known about it."""

    profile: BehaviorProfile
    title: str = ""  #: which profile it is
    credible: Sequence[bool] = ()  #: if some belief supports the play at each information set


def blocks(sets: Sequence[tuple[int, str, Sequence[str]]], wording: Wording | None) -> list[Block]:
    """Grids of information sets, each given by its player, label and actions."""
    found = []
    for player in dict.fromkeys(player for player, *_ in sets):
        own = [
            (at, situation(label, wording), tuple(actions))
            for at, (owner, label, actions) in enumerate(sets)
            if owner == player
        ]
        cards = dict.fromkeys(where.private for _, where, _ in own)
        in_grid = len(cards) * len({(where.history, actions) for _, where, actions in own})
        if "" in cards or not 1 < len(cards) <= MOST_COLUMNS or in_grid > SPARSE * len(own):
            empty = '""' if len(own) > 1 else "only set"
            rows = tuple((where.words or empty, actions, (at,)) for at, where, actions in own)
            found.append(Block(player, ("",), rows))
            continue
        grid: dict[tuple[str, tuple[str, ...]], dict[str, int]] = {}
        for at, where, actions in own:
            grid.setdefault((where.history, actions), {})[where.private] = at
        places = {key: tuple(of.get(card, -1) for card in cards) for key, of in grid.items()}
        lines = tuple((*key, at) for key, at in places.items())
        found.append(Block(player, tuple(cards), lines))
    return found


def grids_of(
    sets: Sequence[InfosetKey], wording: Wording | None, *, by_groups: bool = False
) -> Grids:
    """Grids of kinds of hands if a player has many hands of two cards, else of information sets.

    With `by_groups` neighboring hands are put together where a player has too many others for a
    column each.
    """
    held = dict.fromkeys((player, label.partition(":")[0]) for player, label, _ in sets)
    hands = [*dict.fromkeys(hand for _, hand in held)]
    most = max(Counter(player for player, _ in held).values(), default=0)
    kinds, place, found = [*sets], np.arange(len(sets)), list[Block]()
    if wording and most > MOST_COLUMNS and wording.grid and wording.grid.keys() >= {*hands}:
        cells = {hand: 13 * row + column for hand, (row, column) in wording.grid.items()}
        names = [kind_of_hand(*divmod(cell, 13)) for cell in range(13 * 13)]
        kinds, place, grids = _by_kind(sets, cells, names)
        for (player, history, actions), grid in grids.items():
            ranks = zip(HAND_RANKS, grid.reshape(13, 13).tolist(), strict=True)
            rows = tuple((rank, actions, tuple(row)) for rank, row in ranks)
            title = wording.history(history) or history
            found.append(Block(player, tuple(HAND_RANKS), rows, title))
    elif wording and most > MOST_COLUMNS and by_groups:
        least = -(-len(hands) // MOST_COLUMNS)
        size = next((k for k in range(least, 2 * least) if len(hands) % k == 0), least)
        named = [situation(f"{hand}:", wording).private or hand for hand in hands]
        names, words = (_ends(each, size) for each in (hands, named))
        kinds, place, _ = _by_kind(sets, {hand: k // size for k, hand in enumerate(hands)}, names)
        private = dict(zip(names, words, strict=True))
        found = blocks(kinds, replace(wording, private=private))
    sizes = np.array([len(actions) for *_, actions in sets], dtype=int)
    by_kind = bool(found)
    each = tuple(found or blocks(sets, wording))
    return Grids(tuple(kinds), place, sizes, each, by_kind)


def _ends(names: Sequence[str], size: int) -> list[str]:
    """Names of groups of a size by their first and last members."""
    groups = (names[k : k + size] for k in range(0, len(names), size))
    return ["–".join(dict.fromkeys([own[0], own[-1]])) for own in groups]


def _by_kind(
    sets: Sequence[InfosetKey], kind: Mapping[str, int], names: Sequence[str]
) -> tuple[list[InfosetKey], NDArray[np.intp], dict[InfosetKey, NDArray[np.intp]]]:
    """Kinds of information sets by hands, the kind of each set, and those in each situation or -1.

    Kinds come in the order of the first of their sets.
    """
    situations, cells = dict[InfosetKey, int](), list[int]()
    for player, label, actions in sets:
        hand, _, history = label.partition(":")
        where = situations.setdefault((player, history, actions), len(situations))
        cells.append(where * len(names) + kind[hand])
    cell, first, place = np.unique(cells, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.argsort(order)
    every, grids = [*situations], np.full((len(situations), len(names)), -1)
    grids.flat[cell] = number
    kinds = []
    for where, own in zip(*np.divmod(cell[order], len(names)), strict=True):
        player, history, actions = every[where]
        kinds.append((player, f"{names[own]}:{history}", actions))
    return kinds, number[place], dict(zip(every, grids, strict=True))


def kind_of_hand(row: int, column: int) -> str:
    """Name of a cell of the grid: ``AA``, above the diagonal ``AKs``, below it ``AKo``."""
    high, low = HAND_RANKS[min(row, column)], HAND_RANKS[max(row, column)]
    return high + low + ("" if row == column else "s" if row < column else "o")


def most_reached(
    grids: Sequence[Block], reach: NDArray[np.float64], most: int
) -> tuple[list[Block], int]:
    """The rows that are reached most, in their order, and how many others there are.

    Of grids of hands it is up to six whole ones.
    """
    if any(block.title for block in grids):
        sums = [sum(reach[at] for *_, own in b.rows for at in own if at >= 0) for b in grids]
        kept = sorted(nlargest(MOST_GRIDS, range(len(grids)), key=sums.__getitem__))
        return [grids[k] for k in kept], len(grids) - len(kept)
    rows = [(b, row) for b, block in enumerate(grids) for row in block.rows]
    best = [max(reach[at] for at in places if at >= 0) for _, (*_, places) in rows]
    kept = sorted(nlargest(most, range(len(rows)), key=best.__getitem__))
    by_block = [tuple(rows[k][1] for k in kept if rows[k][0] == b) for b in range(len(grids))]
    shown = [
        Block(block.player, block.columns, own)
        for block, own in zip(grids, by_block, strict=True)
        if own
    ]
    return shown, len(rows) - len(kept)


def sets_of(game: Game) -> list[InfosetKey]:
    """Player, label and actions of each information set of a game."""
    tree = game.tree
    owners = tree.infoset_player.tolist()
    return list(zip(owners, tree.infoset_labels, map(tuple, tree.infoset_actions), strict=True))


def draw_profiles(
    game: Game, shown: Sequence[Shown], *, title: str = "", most: int = MOST_ROWS
) -> str:
    """Draw what one or two profiles of a game play, as SVG, under its spec or another title.

    Information sets that are reached with less than 1e-6 are pale, those at which two profiles
    differ by more than 0.0005 are framed. Of many rows the `most` reached ones are drawn. Payoffs
    are measured.
    """
    tree, verifier, known = game.tree, Verifier(game.tree), grids_of(sets_of(game), game.wording)
    plays = []
    for each in shown:
        values = each.profile.probabilities
        averages, reach = known.averages(values, infoset_reach(tree, values))
        exact = None if known.by_kind else each.profile.exact
        credible = () if known.by_kind else each.credible
        plays.append(_Side(known, averages, reach, exact or averages.tolist(), credible))
    grids, left_out = most_reached(known.blocks, np.max([own.reach for own in plays], axis=0), most)
    is_different = np.zeros(len(known.sets), dtype=bool)
    if len(shown) > 1 and len(is_different):
        gap = np.ptp([own.values for own in plays], axis=0)
        is_different = np.maximum.reduceat(gap, known.start[:-1]) > DIFFERENT
    cell = max(map(_cell_width, grids), default=_TABLE_CELL)
    rows = [row for block in grids for row in block.rows if not block.title]
    head = max(map(_head_width, rows), default=0.0)
    widest = max((len(block.columns) for block in grids), default=1)
    span = max(widest * cell, 190.0) + _GAP
    width = max(head + len(shown) * span, 460.0) + 2 * _MARGIN
    panels = []
    for side, (each, own) in enumerate(zip(shown, plays, strict=True)):
        payoffs: Any = verifier.verify(each.profile).payoffs
        paid = [f"{n} {number_text(u)}" for n, u in zip(tree.players, payoffs, strict=True)]
        room = span - _GAP if len(shown) > 1 else width - 2 * _MARGIN
        left = _MARGIN + head + side * span
        panels.append(
            {
                "x": left,
                "text_x": left if len(shown) > 1 else _MARGIN,
                "titles": _lines(_cut(each.title, "title"), room, 1.15),
                "notes": _lines(f"Payoffs: {', '.join(paid)}", room),
                "cells": [
                    [
                        [own.cell(at, block, row, column) for column, at in enumerate(places)]
                        for row, (*_, places) in enumerate(block.rows)
                    ]
                    for block in grids
                ],
            }
        )
    has_marks = any(len(each.credible) for each in shown)
    said = report.read_data("profile")["picture"]
    notes = [key_line(game.wording), said["hands" if known.by_kind else "bars"]]
    notes += [said["framed"]] * bool(is_different.any()) + [said["credible"]] * has_marks
    notes += [said["left_out"].format(left_out)] * bool(left_out)
    title = _cut(title or game.spec, "title")
    made = report.templates(printable, cut=_cut, text_width=text_width)
    text = made.get_template("profile.svg", globals=vars(report) | _MEASURES).render(
        **{"spec": title, "players": tree.players, "panels": panels},
        **{"blocks": grids, "cell": cell, "head": head, "width": width},
        **{"is_different": is_different, "full": printable},
        notes=[line for note in notes if note for line in _lines(note, width - 2 * _MARGIN)],
        heading=_lines(title, width - 2 * _MARGIN, 1.25),
    )
    return f"{text}\n".encode("ascii", "xmlcharrefreplace").decode()


@dataclass(frozen=True, eq=False)
class _Side:
    """What is drawn of a profile: what is done in grids, also as it is written, and the reach."""

    grids: Grids
    values: NDArray[np.float64]
    reach: NDArray[np.float64]
    written: Sequence[Any]
    credible: Sequence[bool]  # as in `Shown`

    def cell(self, at: int, block: Block, row: int, column: int) -> dict[str, Any] | None:
        """Bar and texts of an information set, of a kind without hands its name; else None."""
        if at < 0:
            if not block.title:
                return None
            return {"column": column, "at": at, "text": kind_of_hand(row, column)}
        (first, end), (_, label, actions) = self.grids.start[at : at + 2], self.grids.sets[at]
        values = self.written[first:end]
        texts = [*map(share_text, values)]
        named = [
            f"{_cut(action, 'action')} {text}".removesuffix(" 1")
            for action, text in zip(actions, texts, strict=True)
            if text != "0"
        ]
        numbers = texts[-1] if len(texts) == 2 else " ".join(texts)
        if block.title:
            numbers = kind_of_hand(row, column)
        is_off = bool(self.reach[at] < NEGLIGIBLE)
        return {
            **{"column": column, "at": at},
            **{"shares": [float(value) for value in values], "is_off": is_off},
            "text": _cut(numbers if len(block.columns) > 1 else ", ".join(named), "cell"),
            "title": f"{label}: {', '.join(named)}",
            "credible": self.credible[at] if is_off and len(self.credible) else None,
        }


def share_text(value: Any) -> str:
    """A frequency as a short fraction or three decimals; 0 and 1 are those within 1e-6."""
    if min(value, 1 - value) < NEGLIGIBLE:
        return str(round(value))
    text = str(value)
    if "/" in text and len(text) <= 5:
        return text
    shown = f"{float(value):.3f}".rstrip("0")
    return {"0.": "<.001", "1.": ">.999"}.get(shown, shown)


def _cell_width(block: Block) -> float:
    if block.title:
        return _HAND_CELL
    if len(block.columns) == 1:
        return _TABLE_CELL
    most = max(len(actions) for _, actions, _ in block.rows)
    return _GRID_CELL if most <= 2 else 26.0 + 30.0 * min(most, 6)


def _head_width(row: tuple[str, tuple[str, ...], Any]) -> float:
    words, actions, _ = row
    swatches = sum(text_width(_cut(action, "action"), 10.0) + 20 for action in actions[:6])
    return max(text_width(_cut(words, "words"), _FONT), swatches) + 14


def _cut(text: str, what: str) -> str:
    """A text that strangers wrote, printable and bounded; of what is long the end matters too."""
    text, most = printable(text), _LONGEST[what]
    return text if len(text) <= most else f"{text[: most // 2 - 1]}…{text[-(most // 2) :]}"


def _lines(text: str, width: float, size: float = 1.0) -> list[str]:
    return textwrap.wrap(text, max(int(width / (0.62 * _FONT * size)), 12))


def rendered(svg: str, suffix: str) -> bytes:
    """A picture as the content of a file, by the suffix of its name; it says who wrote it.

    Raises
    ------
    UsageError
        If the suffix is none of `FORMATS`, or what converts pictures is not installed.
    """
    if suffix not in FORMATS:
        raise UsageError(f"a picture is saved as {', '.join(FORMATS)}, not as {suffix!r}")
    if suffix == ".svg":
        return svg.encode()
    with needed_for("a picture as PNG or PDF"):
        import vl_convert
    if suffix == ".pdf":
        return bytes(vl_convert.svg_to_pdf(svg)) + PDF_END
    data = bytes(vl_convert.svg_to_png(svg, scale=2.0))
    chunk = PNG_MARK  # its type and text, before the checksum
    length, check = struct.pack(">I", len(chunk) - 4), struct.pack(">I", zlib.crc32(chunk))
    return data[:33] + length + chunk + check + data[33:]  # behind the header
