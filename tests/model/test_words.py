"""Labels of information sets in words: every one of a dealt game, each its own."""

import json
import re

import pytest

import eqbench
from eqbench.model.profile_json import parse_profile, profile_from_json, profile_text
from eqbench.model.words import Situation, Wording, deed, key_line, situation

DEALT = [
    *("kuhn2", "kuhn3", "kuhn4", "kuhn(cards=16)", "kuhn(raises=2)", "skp", "kuhn3_reduced"),
    *("river", 'river(ranges="AA,KK,QQ,65s",stack=300,raises=3)'),
    *("goofspiel(cards=3)", "goofspiel(cards=4,players=3)"),
    *("leduc", "leduc(suits=5,ranks=2)", "liars_dice(sides=3)", "liars_dice(dice=2,sides=2)"),
]


@pytest.mark.parametrize("spec", DEALT)
def test_every_label_of_a_dealt_game_has_words_of_its_own(spec):
    game = eqbench.load_game(spec)
    for player in range(game.tree.n_players):
        labels = [game.tree.infoset_labels[i] for i in game.tree.infosets_of(player)]
        found = [situation(label, game) for label in labels]
        assert all(own.private and own.history for own in found)
        assert len({own.words for own in found}) == len(labels)
        assert not any(re.search(r"\b\d*:[KBFCR]", own.words) for own in found)
    assert key_line(game)


@pytest.mark.parametrize(
    ("spec", "label", "private", "history"),
    [
        ("kuhn2", "3:", "K", "at the start"),
        ("kuhn3", "2:KB", "Q", "after check–bet"),
        ("kuhn3", "4:KBF", "A", "after check–bet–fold"),
        ("kuhn(raises=1)", "1:KBR", "J", "after check–bet–raise"),
        ("kuhn(cards=5)", "1:K", "10", "after check"),
        ("kuhn(cards=14)", "14:K", "14", "after check"),
        ("leduc", "2a:KBC/3b:K", "Q♠", "after check–bet–call, K♥, check"),
        ("leduc", "1b:KK/1a:", "J♥", "after check–check, J♠"),
        ("leduc(ranks=15)", "15a:KBRC/9b:KB", "15♠", "after check–bet–raise–call, 9♥, check–bet"),
        ("liars_dice", "5:1x2,1x5", "5", "after 1x2–1x5"),
        ("goofspiel(cards=4)", "31:2=", "bids 31", "after P2 won–a tie"),
        ("goofspiel(cards=4)", ":", "no bids", "at the start"),
    ],
)  # fmt: skip
def test_cards_are_named_by_their_rank_and_histories_by_their_moves(spec, label, private, history):
    game = eqbench.load_game(spec)
    assert situation(label, game) == Situation(private, history, f"{private} {history}")


@pytest.mark.parametrize("label", ["9:KB", "2:KX", "2", "", "pair:of:colons", "2:KB/1a:"])
def test_a_label_that_is_none_of_the_game_stands_as_it_is(label):
    assert situation(label, eqbench.load_game("kuhn3")) == Situation("", "", label)


def test_games_that_declare_nothing_keep_their_labels():
    game = eqbench.load_game("random_tree")
    label = game.tree.infoset_labels[0]
    assert situation(label, game).words == label
    assert key_line(game) == ""
    assert deed("beer", game) == "plays beer"


def test_words_survive_another_pot_and_the_cache():
    assert situation("2:KB", eqbench.load_game("kuhn3").at(pot=4)).private == "Q"
    assert situation("1:", eqbench.load_game("kuhn(players=2,cards=130)")).words == "1 at the start"


def test_a_plugin_declares_words_by_its_own_attribute():
    words = Wording({"h": "heads"}, {"g": "guess"}, separator="-", verbs={"guess": "guesses"})
    assert situation("h:g-g", words).words == "heads after guess–guess"
    assert deed("guess", words) == "guesses"


@pytest.mark.parametrize(
    ("row", "text", "has_exact"),
    [
        ({"check": "2/3", "bet": "1/3"}, "known exactly", True),
        ({"check": 1, "bet": 0}, "known exactly", True),
        ({"check": 0.75, "bet": 0.25}, "stored decimals", False),
        ({"check": "0.75", "bet": "0.25"}, "stored decimals", False),
    ],
)
def test_a_profile_of_decimals_is_not_called_known_exactly(row, text, has_exact):
    game = eqbench.load_game("kuhn2")
    data = eqbench.BehaviorProfile.uniform(game).to_json()
    data["behavior"]["P1"]["1:"] = row
    written = parse_profile(json.dumps(data))
    for profile in (eqbench.BehaviorProfile.from_json(game, each) for each in (data, written)):
        assert text in repr(profile)
        assert ("exact" in profile.to_frame()) == has_exact
        again = profile_from_json(game.tree, parse_profile(profile_text(game.tree, profile)))
        assert (again.exact, again.is_decimal) == (profile.exact, profile.is_decimal)
