"""Games are the same if they differ in labels and orders only."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.scrambled import Scrambled

import eqbench
from eqbench.model import isomorphism as module
from eqbench.model.isomorphism import Isomorphism, isomorphism, signature
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.tree import GameTree
from eqbench.verification import verify

GAMES = (
    *("kuhn2", "kuhn3", "kuhn3_reduced", "skp", "kuhn(players=2,cards=4,raises=1)", "jordan"),
    *("leduc(raises=1)", "goofspiel", "rock_paper_scissors", "battle_of_sexes", "shapley"),
    *("matching_pennies", "random_tree(seed=3)", "prisoners_dilemma"),
)
CHANGES = ("change_payoff", "change_probability", "change_information")


@cache
def tree_of(spec: str) -> GameTree:
    return eqbench.load_game(spec).tree


def read(folder: Path, copy: Scrambled) -> GameTree:
    path = folder / "copy.efg"
    path.write_text(copy.text())
    return eqbench.load_game(str(path)).tree


@pytest.mark.parametrize("spec", GAMES)
def test_a_copy_with_other_labels_and_orders_is_recognized(tmp_path: Path, spec: str) -> None:
    tree = tree_of(spec)
    other = read(tmp_path, Scrambled(tree, seed=7))
    assert signature(other) == signature(tree)
    match = isomorphism(other, tree)
    assert match is not None
    for part, size in zip(
        (match.players, match.infosets, match.actions),
        (tree.n_players, tree.n_infosets, tree.n_actions),
        strict=True,
    ):
        assert sorted(part) == list(range(size))
    assert_same_play(other, tree, match)


def assert_same_play(other: GameTree, tree: GameTree, match: Isomorphism) -> None:
    """A random profile has the same payoffs and regrets in both games."""
    behavior = random_profile(tree, np.random.default_rng(1))
    here = verify(tree, BehaviorProfile.of(tree, behavior))
    there = verify(other, BehaviorProfile.of(other, behavior[match.actions]))
    seats = match.players
    assert np.allclose(np.array(there.payoffs), np.array(here.payoffs)[seats])
    assert np.allclose(np.array(there.regrets), np.array(here.regrets)[seats])


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3", "skp", "leduc(raises=1)"])
def test_a_near_copy_is_not_the_same(tmp_path: Path, spec: str, change: str) -> None:
    for seed in range(4):
        copy = Scrambled(tree_of(spec), seed)
        getattr(copy, change)()
        assert isomorphism(read(tmp_path, copy), tree_of(spec)) is None


@pytest.mark.parametrize(
    ("spec", "peer"),
    [
        ("kuhn2", "openspiel:kuhn_poker"),
        ("kuhn3", "openspiel:kuhn_poker(players=3)"),
        ("leduc", "openspiel:leduc_poker"),
    ],
)
def test_poker_of_openspiel_is_the_same_though_it_deals_card_by_card(spec: str, peer: str) -> None:
    pytest.importorskip("pyspiel")
    other = tree_of(peer)
    match = isomorphism(other, tree_of(spec))
    assert match is not None
    assert_same_play(other, tree_of(spec), match)


@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3"])
def test_poker_written_by_gambit_is_the_same(tmp_path: Path, spec: str) -> None:
    gambit = pytest.importorskip("pygambit")
    (tmp_path / "copy.efg").write_text(Scrambled(tree_of(spec), 2).text())
    written = gambit.read_efg(tmp_path / "copy.efg").to_efg()
    (tmp_path / "gambit.efg").write_text(written)
    match = isomorphism(eqbench.load_game(str(tmp_path / "gambit.efg")).tree, tree_of(spec))
    assert match is not None


def test_players_keep_their_seats_where_they_may() -> None:
    match = isomorphism(tree_of("jordan"), tree_of("jordan"))
    assert match is not None
    assert match.players.tolist() == [0, 1, 2]
    assert match.actions.tolist() == list(range(6))


def test_a_wrong_map_and_equal_hashes_of_different_labels_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If all labels looked alike, colors would not tell games apart, and the check still would."""
    tree = tree_of("kuhn2")
    numerators = tree.payoffs.base.copy()
    numerators[numerators == numerators.max()] += 1
    changed = replace(tree, payoffs=replace(tree.payoffs, base=numerators))
    blake = module.hashlib.blake2b
    monkeypatch.setattr(module.hashlib, "blake2b", lambda text, **size: blake(b"", **size))
    assert signature(changed) == signature(tree)
    assert isomorphism(changed, tree) is None


def test_games_that_are_not_exact_are_not_compared() -> None:
    tree = tree_of("shapley")
    floats = replace(tree, payoffs=replace(tree.payoffs, base=tree.payoffs.base * 1.0))
    with pytest.raises(TypeError, match="exactly"):
        signature(floats)
