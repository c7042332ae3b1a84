"""Labels of chance: cards in built-in dealt games, shown in drawings, no part of the game."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import eqbench
from eqbench.errors import GameFormatError
from eqbench.model.builder import TreeBuilder, part_of
from eqbench.model.gambit_text import efg_text, file_labels
from eqbench.model.tree import CHANCE
from eqbench.model.tree_files import content_hash
from eqbench.report.tree_drawing import draw_tree


def coin(labels=()):
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [Fraction(1, 3), Fraction(2, 3)], labels)
    for move, name in enumerate(["here", "there"]):
        node = builder.decision((root, move), 0, name, ["stay", "go"])
        builder.terminal((node, 0), [move])
        builder.terminal((node, 1), [1])
    return builder.tree()


def test_labels_stand_at_the_nodes_that_outcomes_lead_to_and_in_drawings():
    tree = coin(["fog", "clear <sky>"])
    assert dict(tree.chance_labels) == {1: "fog", 2: "clear <sky>"}
    drawn = draw_tree(tree, "coin")
    assert "fog 1/3" in drawn
    assert "clear &lt;sky&gt; 2/3" in drawn


def test_labels_are_no_part_of_the_game():
    assert content_hash(coin()) == content_hash(coin(["fog", "clear"]))
    game = eqbench.load_game("kuhn3")
    assert content_hash(game.tree) == content_hash(replace(game.tree, chance_labels={}))


def test_as_many_labels_as_outcomes_or_none():
    with pytest.raises(GameFormatError, match="2 probabilities, but 1 labels"):
        coin(["fog"])


def test_a_part_of_a_tree_keeps_its_labels():
    tree = coin(["fog", "clear"])
    part = part_of(tree, [node not in (3, 4) and node != 1 for node in range(tree.n_nodes)])
    assert list(part.chance_labels.values()) == ["clear"]


@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3", "skp", "leduc", "liars_dice(sides=3)"])
def test_every_outcome_of_chance_in_a_small_dealt_game_is_labeled(spec):
    tree = eqbench.load_game(spec).tree
    drawn = np.flatnonzero(tree.player[tree.parent] == CHANCE)
    assert sorted(tree.chance_labels) == [node for node in drawn.tolist() if node]
    for parent in np.unique(tree.parent[drawn]).tolist():
        labels = [tree.chance_labels[c] for c in np.flatnonzero(tree.parent == parent) if c]
        assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("spec", ["kuhn2", "skp", "leduc"])
def test_labels_of_deals_agree_with_the_information_sets_below(spec):
    tree = eqbench.load_game(spec).tree
    for node in np.flatnonzero(tree.infoset >= 0)[:500].tolist():
        dealt, above = [], node
        while above > 0:
            dealt.insert(0, tree.chance_labels.get(above, ""))
            above = int(tree.parent[above])
        cards = " ".join(filter(None, dealt)).split(" ")
        held = tree.infoset_labels[tree.infoset[node]].partition(":")[0]
        assert cards[tree.player[node]] == held


def test_drawings_of_kuhn_poker_are_in_words():
    game = eqbench.load_game("kuhn2")
    drawn = draw_tree(game.tree, game.spec, wording=game.wording)
    assert "J Q 1/6" in drawn
    assert ">2:KB<" not in drawn  # only where the pointer rests
    assert "Q after check" in drawn


@pytest.mark.parametrize("spec", ["kuhn2", "skp", "leduc", "liars_dice(sides=3)"])
def test_labels_survive_a_file_and_another_one(spec, tmp_path):
    text, labels = "", []
    tree = eqbench.load_game(spec).tree
    for _ in range(2):
        labels.append([tree.chance_labels.get(node, "") for node in tree.in_depth()])
        text = efg_text(tree, "A title")
        (tmp_path / "game.efg").write_text(text, encoding="utf-8")
        tree = eqbench.load_game(str(tmp_path / "game.efg")).tree
    assert labels[0] == labels[1]
    assert efg_text(tree, "A title") == text


@pytest.mark.parametrize("labels", [["3", "5"], ['say "go"', "a \x1b[31m\n b"], ["x" * 900, "y"]])
def test_numbers_and_hostile_labels_are_read_back_as_a_file_can_hold_them(labels, tmp_path):
    (tmp_path / "coin.efg").write_text(efg_text(coin(labels)), encoding="utf-8")
    again = eqbench.load_game(str(tmp_path / "coin.efg")).tree
    assert [again.chance_labels[1], again.chance_labels[2]] == file_labels(labels)
    assert content_hash(again) == content_hash(coin())


def test_outcomes_without_labels_have_numbers_in_a_file_and_none_when_read(tmp_path):
    (tmp_path / "coin.efg").write_text(efg_text(coin()), encoding="utf-8")
    assert '{ "1" 1/3 "2" 2/3 }' in efg_text(coin())
    assert not eqbench.load_game(str(tmp_path / "coin.efg")).tree.chance_labels
