"""What is played in the equilibria of a game, one next to the other in a table of situations.

Games that declare what their labels mean have a number for each card; of other games each row is an
information set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eqbench.documents import decode, read_file
from eqbench.errors import EqbenchError
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import frequency_of
from eqbench.model.profile_json import ProfileDocument
from eqbench.model.tree import FloatArray
from eqbench.report.known import small_game
from eqbench.report.naming import FoundEquilibrium
from eqbench.report.profile_picture import DIFFERENT, blocks, most_reached, sets_of
from eqbench.report.rows import Column, Row, Table
from eqbench.report.tree_drawing import NEGLIGIBLE
from eqbench.report.trials import RunCell
from eqbench.store.schema import EquilibriumRecord
from eqbench.text import printable, shortened

MOST_EQUILIBRIA, MOST_ROWS = 4, 24
_LONGEST = 40  # characters of a label
_READ = "How often each is done, in the profile of each equilibrium that has the least max regret"
_OFF, _MORE = "(…) where play never gets", "{:,} more situations: eqbench show RUN CELL --all"
_HEAD = [Column("player", identifies=True), Column("situation", identifies=True)]
_DIFFERS = Column("≠", notes=("≠ they differ there",))


def played_table(found: Sequence[FoundEquilibrium]) -> Table | None:
    """Table of what the best stored profile of each of some equilibria of a small game plays."""
    items = [item for item in found if not item.is_near][:MOST_EQUILIBRIA]
    best = [min(item.cells, key=lambda own: own[1][0].max_regret) for item in items]
    record = best[0][0].record if best else None
    game = small_game(record.game_spec, record.game_content) if record else None
    shares = [stored_shares(entry, own[0]) for entry, own in best] if game else []
    if record is None or game is None or not all(shares):
        return None
    tree, sets = game.tree, sets_of(game)
    keys = [(tree.players[player], label, a) for player, label, own in sets for a in own]
    values = np.array([[own.get(key, 0.0) for key in keys] for own in shares])
    reach, starts = np.array([infoset_reach(tree, own) for own in values]), tree.action_start
    gaps, most = np.maximum.reduceat(np.ptp(values, axis=0), starts[:-1]), reach.max(axis=0)
    differs = (gaps > DIFFERENT) & (most >= NEGLIGIBLE)
    grids, more = most_reached(blocks(sets, game.wording), most, MOST_ROWS)
    rows, titles = list[Row](), [item.title for item in items]
    cards: tuple[str, ...] = ("",)
    for block in grids:
        if block.columns != cards and block.columns[0]:
            held = "".join(f" {card:>3}" for card in block.columns)
            rows.append(Row("", {"situation": "with", "≠": "", **dict.fromkeys(titles, held)}))
        cards = block.columns
        for words, actions, places in block.rows:
            own = [k for k in places if k >= 0]
            name = "/".join(actions[len(actions) == 2 :]) if cards[0] else ""
            texts = [
                _text(of, actions, [starts[k] if k >= 0 else -1 for k in places]) for of in values
            ]
            is_off = np.all(reach[:, own] < NEGLIGIBLE, axis=1)
            texts = [f"({t})" if off else f" {t}" for t, off in zip(texts, is_off, strict=True)]
            where = shortened(printable(f"{words}: {name}" if name else words), _LONGEST)
            shown = {"player": shortened(printable(tree.players[block.player]), _LONGEST)}
            shown |= {"situation": where, "≠": "≠" * bool(differs[own].any())}
            rows.append(Row(where, {**shown, **dict(zip(titles, texts, strict=True))}))
    columns = [*_HEAD, *(Column(each, dispensable=k) for k, each in enumerate(titles))]
    notes = ["; ".join([_READ, *[_OFF] * bool((reach < NEGLIGIBLE).any())])]
    notes += [_MORE.format(more)] * bool(more)
    columns += [_DIFFERS] * (len(titles) > 1)
    return Table(record.game, tuple(columns), tuple(rows), tuple(notes), topic="what is played")


def _text(values: FloatArray, actions: Sequence[str], at: Sequence[int]) -> str:
    """What is played: with each card how often, or at an information set which action how often."""
    if len(at) > 1:
        first = len(actions) == 2
        own = [
            "–" if k < 0 else "/".join(map(_share, values[k + first : k + len(actions)]))
            for k in at
        ]
        return " ".join(f"{text:>3}" for text in own)
    texts = zip(actions, map(_share, values[at[0] :]), strict=False)
    named = [f"{shortened(printable(action), 16)} {text}" for action, text in texts if text != "0"]
    return ", ".join(named).removesuffix(" 1")


def _share(value: float) -> str:
    """A frequency with two decimals, without the zero before them."""
    if min(value, 1 - value) < DIFFERENT:
        return str(round(value))
    return f"{min(max(value, 0.01), 0.99):.2f}".lstrip("0")


def stored_shares(entry: RunCell, item: EquilibriumRecord) -> dict[tuple[str, str, str], float]:
    """Frequencies in a stored profile; none if it is missing or damaged."""
    if entry.source is None or not item.profile:
        return {}
    try:
        data = read_file(entry.source.path / item.profile)
        found = {
            (player, label, action): float(frequency_of(share, action))
            for player, sets in decode(data, ProfileDocument)["behavior"].items()
            for label, shares in sets.items()
            for action, share in shares.items()
        }
    except (OSError, OverflowError, EqbenchError):
        return {}  # a report can do without
    return found if all(0 <= share <= 1 for share in found.values()) else {}
