"""What is played in the equilibria of a game, one next to the other in a table of situations.

Games that declare what their labels mean have a number for each card; of other games each row is an
information set.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

import numpy as np

from eqbench.builtin import BUILTIN_GAMES
from eqbench.documents import read_file
from eqbench.errors import EqbenchError
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.tree import FloatArray
from eqbench.model.tree_files import content_hash
from eqbench.registry import default_registry
from eqbench.report.naming import FoundEquilibrium
from eqbench.report.profile_picture import DIFFERENT, blocks, most_reached, sets_of
from eqbench.report.rows import Column, Row, Table
from eqbench.report.tree_drawing import NEGLIGIBLE
from eqbench.report.trials import RunCell
from eqbench.spec import GAME_FILES
from eqbench.store.schema import CellRecord, EquilibriumRecord
from eqbench.text import printable, shortened

LARGEST = 20_000  # nodes of a game that is built for a report
MOST_EQUILIBRIA, MOST_ROWS = 4, 24
_LONGEST = 40  # characters of a label
_HEAD = [Column(name, identifies=True) for name in ("player", "situation", "action")]
_DIFFERS = Column("≠", notes=("≠ they differ there",))
_READ = "How often each action is taken, in the profile of each that has the least max regret"
_OFF, _MORE = "(…) where play never gets", "{:,} more situations: eqbench show RUN CELL --all"


def played_table(found: Sequence[FoundEquilibrium]) -> Table | None:
    """Table of what the best stored profile of each of some equilibria of a small game plays."""
    items = [item for item in found if not item.is_near][:MOST_EQUILIBRIA]
    record = items[0].cells[0][0].record if items else None
    game = small_game(record) if record else None
    best = [min(item.cells, key=lambda own: own[1][0].max_regret) for item in items]
    shares = [stored_shares(entry, own[0]) for entry, own in best]
    if record is None or game is None or not all(shares):
        return None
    tree, sets = game.tree, sets_of(game)
    keys = [(tree.players[player], label, a) for player, label, own in sets for a in own]
    values = np.array([[own.get(key, 0.0) for key in keys] for own in shares])
    reach, starts = np.array([infoset_reach(tree, own) for own in values]), tree.action_start
    gaps, most = np.maximum.reduceat(np.ptp(values, axis=0), starts[:-1]), reach.max(axis=0)
    differs = (gaps > DIFFERENT) & (most >= NEGLIGIBLE)
    grids, more = most_reached(blocks(sets, game.wording), most, MOST_ROWS)
    has_grid = any(len(block.columns) > 1 for block in grids)
    columns = [*_HEAD[: 2 + has_grid], *(Column(i.title, dispensable=k) for k, i in enumerate(items))]
    columns += [_DIFFERS] * (len(items) > 1)
    rows, cards, notes = list[Row](), ("",), [_READ]
    for block in grids:
        if len(block.columns) > 1 and block.columns != cards:
            held = " " + " ".join(f"{card:>3}" for card in block.columns)
            rows.append(Row.of(columns, ["", "", "with", *[held] * len(items), ""][: len(columns)]))
        cards = block.columns
        for words, actions, places in block.rows:
            at = [int(starts[k]) if k >= 0 else -1 for k in places]
            is_off = (reach[:, [k for k in places if k >= 0]] < NEGLIGIBLE).all(axis=1)
            mark = "≠" * any(bool(differs[k]) for k in places if k >= 0)
            notes += [_OFF] if is_off.any() and _OFF not in notes else []
            if len(cards) > 1:
                shown = [*enumerate(actions)][len(actions) == 2 :]
                lines = [(name, [_of_cards(own, at, n) for own in values]) for n, name in shown]
            else:
                lines = [("", [_of_set(own[at[0] :], actions) for own in values])]
            for name, texts in lines if len(actions) > 1 else ():
                texts = [f"({t})" if off else f" {t}" for t, off in zip(texts, is_off, strict=True)]
                labels = (tree.players[block.player], words, name)[: 2 + has_grid]
                labels = [shortened(printable(label), _LONGEST) for label in labels]
                rows.append(Row.of(columns, [*labels, *texts, mark][: len(columns)]))
    notes = ["; ".join(notes), *[_MORE.format(more)] * bool(more)]
    return Table(record.game, tuple(columns), tuple(rows), tuple(notes), topic="what is played")


def _of_cards(values: FloatArray, at: Sequence[int], number: int) -> str:
    """How often an action is taken with each card."""
    return " ".join("  –" if k < 0 else f"{_share(values[k + number]):>3}" for k in at)


def _of_set(values: FloatArray, actions: Sequence[str]) -> str:
    """What is played at an information set."""
    texts = zip(actions, map(_share, values), strict=False)
    named = [f"{shortened(printable(action), 16)} {text}" for action, text in texts if text != "0"]
    return ", ".join(named).removesuffix(" 1")


def _share(value: float) -> str:
    """A frequency with two decimals, without the zero before them."""
    if min(value, 1 - value) < DIFFERENT:
        return str(round(value))
    return f"{min(max(value, 0.01), 0.99):.2f}".lstrip("0")


def small_game(record: CellRecord) -> Game | None:
    """Game of a cell if it is small, built in or in a file, and still what was run."""
    spec = record.game_spec
    with suppress(EqbenchError, OSError):
        if spec.partition("(")[0] in BUILTIN_GAMES or spec.lower().endswith(GAME_FILES):
            game = default_registry().load_game(spec, max_nodes=LARGEST)
            return game if content_hash(game.tree) == record.game_content else None
    return None


def stored_shares(entry: RunCell, candidate: EquilibriumRecord) -> dict[tuple[str, str, str], float]:
    """Frequencies in a stored profile; none if it is missing or damaged."""
    if entry.source is None or not candidate.profile:
        return {}
    try:
        behavior = json.loads(read_file(entry.source.path / candidate.profile))["behavior"]
        return {
            (player, label, action): float(Fraction(str(share)))
            for player, sets in behavior.items()
            for label, shares in sets.items()
            for action, share in shares.items()
        }
    except (OSError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError):
        return {}  # a report can do without
