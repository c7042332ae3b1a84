"""A damaged folder of a tree is refused with a sentence, or holds a game all the same."""

from __future__ import annotations

import functools
import shutil
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.tree import GameTree
from eqbench.model.tree_files import content_hash, load_tree, save_tree
from tests.naive_tree_check import faults
from tests.random_trees import random_tree
from tests.tree_damage import damage

GAMES = ("kuhn2", "skp", "rock_paper_scissors", "goofspiel(cards=3)", "inexact", "no decision")
SEEDS = (1, 2, 3, 6, 7)


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


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str | int, Path]:
    folders = {}
    for game in (*GAMES, *SEEDS):
        folders[game] = tmp_path_factory.mktemp("tree")
        save_tree(tree_of(game), folders[game])
    return folders


@pytest.mark.parametrize("game", [*GAMES, *SEEDS])
def test_undamaged_trees_are_read_and_have_no_faults(
    game: str | int, folders: dict[str | int, Path]
) -> None:
    tree = load_tree(folders[game])
    assert content_hash(tree) == content_hash(tree_of(game))
    assert faults(tree) == []


def test_damaged_trees_are_refused_or_without_fault(folders: dict[str | int, Path]) -> None:
    outcomes: Counter[str] = Counter()

    @settings(
        max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(game=st.sampled_from([*GAMES, *SEEDS]), data=st.data())
    def check(game: str | int, data: st.DataObject) -> None:
        with TemporaryDirectory() as scratch:
            folder = Path(scratch) / "tree"
            shutil.copytree(folders[game], folder)
            what = damage(folder, data)
            try:
                tree = load_tree(folder)
            except UsageError:
                outcomes["refused"] += 1
                return
            outcomes["read"] += 1
            assert faults(tree) == [], what
            assert np.isfinite(tree.payoff_range)

    check()
    assert outcomes["refused"] > outcomes["read"] > 0, "some damage makes another game"
