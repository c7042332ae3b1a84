"""A tree with a mistake is refused with a sentence, or is a game all the same."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.made_games import random_tree
from helpers.walks import faults
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eqbench
from eqbench.errors import UsageError
from eqbench.model.assemble import NODE_ARRAYS, check_tree
from eqbench.model.builder import TreeBuilder
from eqbench.model.tree import GameTree

GAMES = ("kuhn2", "skp", "rock_paper_scissors", "goofspiel(cards=3)", "inexact", "no decision")
SEEDS = (1, 2, 3, 6, 7)
# Laid out in bulk and not checked when they are built, since their families are ours.
LAID_OUT = (
    *("kuhn3", "kuhn(players=4)", "kuhn3_reduced", "kuhn(players=3,raises=2)", "leduc(ranks=2)"),
    *("kuhn(players=3,reduce=billingham)", "kuhn(cards=5,reduce=half_street)", "leduc(suits=1)"),
    *(
        "liars_dice(players=3,sides=2)",
        "liars_dice(dice=2,sides=2)",
        "goofspiel(players=3,cards=3)",
    ),
    *("goofspiel(prizes=ascending)", "random_tree(players=3,depth=5,actions=3,chance=1/2)"),
)


@functools.cache
def tree_of(game: str | int) -> GameTree:
    if isinstance(game, int):
        return random_tree(game, depth=4)
    if game not in ("inexact", "no decision"):
        return eqbench.load_game(game).tree
    builder = TreeBuilder(["P1", "P2"])
    root = builder.chance(None, [0.25, 0.75])
    places = [(root, 0), (root, 1)]
    if game == "inexact":
        node = builder.decision(places.pop(), 0, "x", ["left", "right"])
        places += [(node, 0), (node, 1)]
    for place in places:
        builder.terminal(place, [0.1, -0.1])
    return builder.tree()


NUMBERS = [-(2**31), -7, -3, -2, -1, 0, 1, 2, 3, 7, 2**31 - 1, 2**62, 2**63 - 1, -(2**63)]
FLOATS = [float("nan"), float("inf"), -float("inf"), 1e308, -1e301, 1e300, 5e-324, 0.5]
DTYPES = ["int8", "int16", "int64", "uint32", "float32", "float64", "bool", ">i4", "S3", "complex"]
ARRAYS = (*NODE_ARRAYS, "infoset_player", "infoset_parent", "base", "slope")
LABELS = ("players", "infoset_labels", "infoset_actions")
Change = Callable[[np.ndarray, st.DataObject], np.ndarray]


def mistaken(tree: GameTree, data: st.DataObject) -> tuple[GameTree, str]:
    """Return the tree with one thing changed, and what it is."""
    names = [*ARRAYS, *ARRAYS, *LABELS, "chance_denominator", "denominator"]
    name = data.draw(st.sampled_from(names))
    owner: Any = tree.payoffs if name in ("base", "slope", "denominator") else tree
    value, kind = getattr(owner, name), ""
    if isinstance(value, np.ndarray):
        kinds = [k for k in CHANGES if value.size or k in ("append", "dtype", "shape")]
        kind = data.draw(st.sampled_from(kinds))
        value = CHANGES[kind](value.copy(), data)
    elif name in LABELS:
        items = data.draw(st.sampled_from([list(value[1:]), [*value[:1], *value], ["x"]]))
        value = tuple(data.draw(st.permutations(items)))
    elif name.endswith("denominator"):
        value = data.draw(st.sampled_from([*NUMBERS, 2**70, True]))
    changed = replace(owner, **{name: value})
    return (changed if owner is tree else replace(tree, payoffs=changed)), f"{kind} of {name}"


def _entry(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    values = NUMBERS + (FLOATS if array.dtype.kind == "f" else [])
    place = data.draw(st.integers(0, array.size - 1))
    with np.errstate(all="ignore"):
        array.reshape(-1)[place] = np.array(data.draw(st.sampled_from(values))).astype(array.dtype)
    return array


def _moved(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    first, second = (data.draw(st.integers(0, len(array) - 1)) for _ in range(2))
    array[[first, second]] = array[[second, first]]
    return array


def _dtype(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    with np.errstate(all="ignore"):
        return array.astype(data.draw(st.sampled_from(DTYPES)))


CHANGES: dict[str, Change] = {
    "entry": _entry,
    "two entries": lambda array, data: _entry(_entry(array, data), data),
    "moved": _moved,
    "reversed": lambda array, data: array[::-1],
    "all": lambda array, data: np.full_like(array, data.draw(st.sampled_from([-1, 0, 1]))),
    "drop": lambda array, data: array[:-1],
    "append": lambda array, data: np.concatenate((array, np.zeros_like(array[:1]), array[:1])),
    "none": lambda array, data: array[:0],
    "dtype": _dtype,
    "shape": lambda array, data: array[:, None],
    "scalar": lambda array, data: array.reshape(-1)[0],
}


@pytest.mark.parametrize("game", [*GAMES, *LAID_OUT, *SEEDS])
def test_trees_of_games_have_no_faults(game: str | int) -> None:
    check_tree(tree_of(game))
    assert faults(tree_of(game)) == []


def test_trees_with_a_mistake_are_refused_or_without_fault() -> None:
    outcomes: Counter[str] = Counter()

    @settings(
        max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(game=st.sampled_from([*GAMES, *SEEDS]), data=st.data())
    def check(game: str | int, data: st.DataObject) -> None:
        tree, what = mistaken(tree_of(game), data)
        try:
            check_tree(tree)
        except UsageError:
            outcomes["refused"] += 1
            return
        outcomes["read"] += 1
        assert faults(tree) == [], what
        assert np.isfinite(tree.payoff_range)

    check()
    assert outcomes["refused"] > outcomes["read"] > 0, "some mistakes make another game"
