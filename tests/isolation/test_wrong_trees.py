"""A plugin's game whose tree was made by hand, with a mistake in it, is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.errors import UsageError
from eqbench.harness.solve import perform
from eqbench.isolation.messages import BuiltFrame, ErrorFrame
from eqbench.model.tree import GameTree
from eqbench.model.tree_files import load_tree


def honest() -> GameTree:
    """A coin decides who moves first; the other sees the move but not the coin."""
    builder = eqbench.TreeBuilder(["P1", "P2"])
    coin = builder.chance(None, [Fraction(1, 3), Fraction(2, 3)])
    for side in range(2):
        first = builder.decision((coin, side), 0, f"coin {side}", ["left", "right"])
        for move in range(2):
            second = builder.decision((first, move), 1, f"seen {move}", ["up", "down"])
            for answer in range(2):
                payoff = (1 + side) * (1 if move == answer else -1)
                builder.terminal((second, answer), [payoff, -payoff])
    return builder.tree()


TREE = honest()
BASE = TREE.payoffs.base


def put(name: str, *places: tuple[Any, Any], dtype: Any = None) -> GameTree:
    """The tree with entries of an array replaced, given as pairs of index and value."""
    array = np.array(getattr(TREE, name), dtype=dtype)
    for index, value in places:
        array[index] = value
    return replace(TREE, **{name: array})


def paid(**fields: Any) -> GameTree:
    return replace(TREE, payoffs=replace(TREE.payoffs, **fields))


def fields(**changes: Any) -> GameTree:
    return replace(TREE, **changes)


N = TREE.n_infosets
WRONG: dict[str, Callable[[], Any]] = {
    "a node is its own parent": lambda: put("parent", (3, 3)),
    "a cycle": lambda: put("parent", (1, 3), (3, 1)),
    "two roots": lambda: put("parent", (1, -1)),
    "no root": lambda: put("parent", (0, 0)),
    "parents beyond": lambda: put("parent", (-1, 10**6)),
    "parents that come later": lambda: fields(parent=TREE.parent[::-1].copy()),
    "a terminal parent": lambda: put("parent", (-1, TREE.n_nodes - 2)),
    "parents as floats": lambda: fields(parent=TREE.parent.astype(float)),
    "parents in a square": lambda: fields(parent=np.tile(TREE.parent, (2, 1))),
    "too few parents": lambda: fields(parent=TREE.parent[:-1]),
    "parents as texts": lambda: fields(parent=TREE.parent.astype("U3")),
    "moves beyond": lambda: put("move", (3, 9)),
    "a move twice": lambda: put("move", (4, TREE.move[3])),
    "moves exchanged": lambda: put("move", (3, TREE.move[4]), (4, TREE.move[3])),
    "an unknown player": lambda: put("player", (1, 7)),
    "the player of another set": lambda: put("player", (1, 1)),
    "a terminal inside": lambda: put("player", (1, -2)),
    "a leaf that decides": lambda: put("player", (-1, 0)),
    "sets beyond": lambda: put("infoset", (1, 99)),
    "no set": lambda: put("infoset", (1, -1)),
    "the set of another": lambda: put("infoset", (1, 3)),
    "sets merged": lambda: put("infoset", *((k, 2) for k in range(3, 7))),
    "chance all zero": lambda: fields(chance=np.zeros_like(TREE.chance)),
    "chance of more than 1": lambda: put("chance", (1, 2)),
    "negative chance": lambda: put("chance", (1, -1), (2, 4)),
    "chance nan": lambda: put("chance", (1, np.nan), dtype=float),
    "chance as objects": lambda: fields(chance=TREE.chance.astype(object)),
    "chance over 0": lambda: fields(chance_denominator=0),
    "chance over a text": lambda: fields(chance_denominator="3"),
    "payoffs nan": lambda: paid(base=np.full(BASE.shape, np.nan)),
    "payoffs beyond floats": lambda: paid(base=np.full(BASE.shape, 1.7e308)),
    "payoffs over 0": lambda: paid(denominator=0),
    "payoffs for one": lambda: paid(base=BASE[:, :1]),
    "payoffs of a row less": lambda: paid(base=BASE[:-1]),
    "complex payoffs": lambda: paid(base=BASE.astype(complex)),
    "a slope without a value": lambda: paid(slope=np.ones_like(BASE)),
    "a slope of another shape": lambda: paid(slope=np.ones((1, 1)), parameter="pot", value=1),
    "a value that is a text": lambda: paid(slope=BASE, parameter="pot", value="much"),
    "labels that are numbers": lambda: fields(infoset_labels=tuple(range(N))),
    "a label less": lambda: fields(infoset_labels=TREE.infoset_labels[:-1]),
    "one label for all": lambda: fields(infoset_labels=("same",) * N),
    "actions that are numbers": lambda: fields(infoset_actions=((1, 2),) * N),
    "no actions": lambda: fields(infoset_actions=((),) * N),
    "an action twice": lambda: fields(infoset_actions=(("a", "a"),) * N),
    "players that are numbers": lambda: fields(players=(1, 2)),
    "no players": lambda: fields(players=()),
    "a player more": lambda: fields(players=("P1", "P2", "P3")),
    "a wrong owner": lambda: put("infoset_player", (0, 1)),
    "rows out of order": lambda: put("infoset_parent", (0, 2)),
    "an earlier action beyond": lambda: put("infoset_parent", (0, 99)),
    "a text": lambda: "tree",
    "nothing": lambda: None,
}


@dataclass(frozen=True)
class ByHand:
    wrong: str = ""

    def build(self) -> Any:
        return WRONG[self.wrong]() if self.wrong else TREE


@pytest.fixture(autouse=True, scope="module")
def _registered() -> None:
    eqbench.register_game("by_hand")(ByHand)


def built(spec: str, folder: Path) -> Any:
    frames: list[Any] = []
    job = {"do": "build", "game": spec, "plugins": (), "folder": str(folder), "max_nodes": 1000}
    perform(job, frames.append)
    return frames[-1]


def test_tree_that_is_right_is_taken(tmp_path: Path) -> None:
    assert isinstance(built("by_hand", tmp_path), BuiltFrame)
    assert load_tree(tmp_path, "by_hand").n_nodes == TREE.n_nodes


@pytest.mark.parametrize("wrong", WRONG)
def test_tree_with_a_mistake_is_refused_by_its_process_or_by_the_run(
    tmp_path: Path, wrong: str
) -> None:
    last = built(f'by_hand(wrong="{wrong}")', tmp_path)
    if isinstance(last, ErrorFrame):
        assert last.message
        return
    with pytest.raises(UsageError):
        load_tree(tmp_path, "by_hand")
