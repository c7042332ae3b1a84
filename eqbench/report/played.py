"""What is played in the equilibria of a game, one next to the other in a table of situations.

Games that declare what their labels mean have a number for each card; of other games each row is an
information set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice, pairwise

import numpy as np
from numpy.typing import NDArray

from eqbench.model.inspection import infoset_reach
from eqbench.model.size_limit import MOST_DESCRIBED
from eqbench.model.tree import FloatArray
from eqbench.report.known import small_game
from eqbench.report.naming import SAME_PAYOFF, FoundEquilibrium, spread
from eqbench.report.profile_picture import DIFFERENT, Block, blocks, most_reached, sets_of
from eqbench.report.rows import Column, Row, Table
from eqbench.report.tree_drawing import NEGLIGIBLE
from eqbench.store.schema import EquilibriumRecord
from eqbench.text import printable, shortened

MOST_EQUILIBRIA, MOST_ROWS = 4, 24
_MOST_MEMBERS = 50  # of an equilibrium, the profiles of which are compared
_STACKED = re.compile(r"(?:, |(:)(?=[^:,]*$))")  # where a heading has its second line
_LONGEST = 40  # characters of a label
_READ = "How often, in one found member of each, where possible a credible one"
_MARKS = {"(": "(…) where play never gets", "!": "! no choice there", "–": "– not possible"}
_MORE = "{:,} more rows: eqbench show RUN CELL --all"
_HEAD = [Column("player", identifies=True), Column("situation", identifies=True)]
_DIFFERS = Column(
    "≠",
    notes=(
        "≠ all found members of one do so more often than all of another; ~ those of one differ",
    ),
)


def played_table(found: Sequence[FoundEquilibrium], most_rows: int = MOST_ROWS) -> Table | None:
    """Table of what a stored member of each of some equilibria of a small game plays and pays.

    Of more than `most_rows` rows it has those that are reached most.
    """
    items = [item for item in found if not item.is_near][:MOST_EQUILIBRIA]
    best = [item.ranked[0] for item in items]
    record = best[0][0].record if best else None
    runs = [cell.source for cell, _ in best if cell.source]
    game = small_game(record.game_spec, record.game_content, runs) if record else None
    if record is None or game is None or (game.product and game.tree.n_infosets > MOST_DESCRIBED):
        return None
    shares = [cell.shares(candidate) for cell, candidate in best]
    if not all(shares):
        return None
    tree, sets = game.tree, sets_of(game)
    names, starts = [actions for *_, actions in sets], tree.action_start
    keys = [(tree.players[player], label, a) for player, label, own in sets for a in own]
    values = np.array([[own.get(key, 0.0) for key in keys] for own in shares])
    plays = [_Play(names, starts, own, infoset_reach(tree, own)) for own in values]
    most = np.max([play.reach for play in plays], axis=0)
    ends = [_ends(item, keys, own) for item, own in zip(items, values, strict=True)]
    low, high = map(np.array, zip(*ends, strict=True))
    is_apart = low.max(axis=0) - high.min(axis=0) > DIFFERENT
    varies = (high - low).max(axis=0) > DIFFERENT
    for is_marked in (is_apart, varies):
        is_marked &= np.repeat(most >= NEGLIGIBLE, np.diff(starts))
    taken = np.split(values.max(axis=0) >= DIFFERENT, starts[1:-1])
    by_action = [_by_action(block, names, taken) for block in blocks(sets, game.wording)]
    grids, more = most_reached(by_action, most, most_rows)
    titles = [
        ", ".join(filter(None, (item.title, spread([candidate.identity]))))
        for item, (_, candidate) in zip(items, best, strict=True)
    ]
    rows, marks = list[Row](), set[str]()
    cards: tuple[str, ...] = ("",)
    for block in grids:
        if block.columns != cards and block.columns[0]:
            held = "".join(f" {card:>{_width(block)}}" for card in block.columns)
            rows.append(Row("with", {"situation": "with", "≠": "", **dict.fromkeys(titles, held)}))
        cards = block.columns
        who = shortened(printable(tree.players[block.player]), _LONGEST)
        for words, actions, at in block.rows:
            texts = [play.row(actions, at, _width(block)) for play in plays]
            marks.update(*(text if cards[0] else text[0] for text in texts))
            where = shortened(printable(words), _LONGEST)
            own = [
                starts[k] + i for k in at if k >= 0 for i, a in enumerate(names[k]) if a in actions
            ]
            mark = "≠" * bool(is_apart[own].any()) + "~" * bool(varies[own].any())
            shown = {"player": who, "situation": where, "≠": mark}
            rows.append(Row(f"{who} {where}", shown | dict(zip(titles, texts, strict=True))))
    rows += _payoffs(tree.players, items, dict(zip(titles, (own for _, own in best), strict=True)))
    notes = ["; ".join([_READ, *(text for mark, text in _MARKS.items() if mark in marks)])]
    notes += [_MORE.format(more)] * bool(more)
    columns = [
        Column(
            title,
            stacked=_STACKED.sub(r"\1\n", title, count=1),
            dispensable=k and 2 + len(titles) - k,
        )
        for k, title in enumerate(titles)
    ]
    columns = [*_HEAD, *columns, *[_DIFFERS] * any(row.values["≠"] for row in rows)]
    return Table(record.game, tuple(columns), tuple(rows), tuple(notes), topic="what is played")


def _payoffs(
    players: Sequence[str],
    items: Sequence[FoundEquilibrium],
    shown: Mapping[str, EquilibriumRecord],
) -> Iterator[Row]:
    """Rows of what each player gets in the shown members, with marks for all members."""
    known = [np.array([own.payoffs for own in item.members]) for item in items]
    low, high = (np.array([end(own, axis=0) for own in known]) for end in (np.min, np.max))
    is_apart = low.max(axis=0) - high.min(axis=0) > SAME_PAYOFF
    varies = (high - low).max(axis=0) > SAME_PAYOFF
    for p, player in enumerate(players):
        who, mark = (
            shortened(printable(player), _LONGEST),
            "≠" * int(is_apart[p]) + "~" * int(varies[p]),
        )
        texts = {title: f" {own.payoffs[p]:+z.5f}" for title, own in shown.items()}
        yield Row(f"{who} payoff", {"player": who, "situation": "payoff", "≠": mark} | texts)


def _ends(
    item: FoundEquilibrium, keys: Sequence[tuple[str, str, str]], shown: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Least and largest frequency of each action in the members of an equilibrium."""
    members = ((cell, each) for cell, own in item.cells for each in own)
    known = filter(None, (c.shares(own) for c, own in islice(members, _MOST_MEMBERS)))
    values = np.array([shown.tolist(), *([own.get(key, 0.0) for key in keys] for own in known)])
    return np.min(values, axis=0), np.max(values, axis=0)


def _by_action(
    block: Block, names: Sequence[tuple[str, ...]], taken: Sequence[NDArray[np.bool_]]
) -> Block:
    """Grid with a row for each action: of two the last, of more those taken; a list as it is."""
    if not block.columns[0]:
        return block
    known: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {}
    for words, actions, at in block.rows:  # whoever has no choice has a row of their own
        others, places = known.get(words, ((), at))
        longest = max(others, actions, key=len)
        every = tuple(dict.fromkeys((*longest, *others, *actions)))
        known[words] = every, tuple(map(max, places, at))
    rows = []
    for words, (actions, at) in known.items():
        used = {a for k in at if k >= 0 for a in compress(names[k], taken[k])}
        shown = actions[1:] if len(actions) == 2 else [a for a in actions if a in used]
        rows += [(f"{words}: {action}", (action,), at) for action in shown]
    return Block(block.player, block.columns, tuple(rows))


def _width(block: Block) -> int:
    return max(3, *map(len, block.columns))


@dataclass(frozen=True, eq=False)
class _Play:
    """What a profile plays: actions of each information set, where they begin, values, reach."""

    names: Sequence[tuple[str, ...]]
    starts: NDArray[np.int32]
    values: FloatArray
    reach: FloatArray

    def row(self, actions: Sequence[str], places: Sequence[int], width: int) -> str:
        """Row of a grid, in brackets where play never gets, or what an information set plays."""
        is_off = [k >= 0 and bool(self.reach[k] < NEGLIGIBLE) for k in places]
        if len(places) == 1:
            return f"({self._all(places[0])})" if is_off[0] else f" {self._all(places[0])}"
        cells = [f"{self._one(k, actions[0]):>{width}}" for k in places]
        edges = [" ()"[off - was] for was, off in pairwise([False, *is_off, False])]
        return "".join(chain.from_iterable(zip(edges, [*cells, ""], strict=True))).rstrip()

    def _one(self, k: int, action: str) -> str:
        names = self.names[k] if k >= 0 else ()
        if action not in names:
            return "0!" if len(names) == 1 else "–"
        return _share(self.values[self.starts[k] + names.index(action)]) + "!" * (len(names) == 1)

    def _all(self, k: int) -> str:
        texts = zip(self.names[k], map(_share, self.values[self.starts[k] :]), strict=False)
        named = [f"{shortened(printable(name), 16)} {text}" for name, text in texts if text != "0"]
        return ", ".join(named).removesuffix(" 1")


def _share(value: float) -> str:
    """A frequency with two decimals, without the zero before them."""
    if min(value, 1 - value) < DIFFERENT:
        return str(round(value))
    return f"{min(max(value, 0.01), 0.99):.2f}".lstrip("0")
