"""The river: hand ranks by published counts, ranges, removal of cards, known solutions."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

import eqbench
from eqbench.errors import EqbenchError
from eqbench.model.words import clause, situation

holdem = importlib.import_module("eqbench.games.holdem")
River = importlib.import_module("eqbench.games.river").River

RAINBOW = "2c3d7h9sKc"
CLAIRVOYANCE = {"board": RAINBOW, "ranges": "KsKh,6h5d|AsAd"}
# Numbers of hands of five cards in each category (Wikipedia, "Poker probability")
COUNTS = [1_302_540, 1_098_240, 123_552, 54_912, 10_200, 5_108, 3_744, 624, 40]
CLASSES = 7_462


def cards(text: str) -> list[int]:
    return list(holdem.parse_cards(text))


def value(text: str) -> int:
    return int(holdem.hand_values(np.array([cards(text)]))[0])


def profit(**options: object) -> float:
    """What player 1 earns by the sequence-form linear program."""
    return float(eqbench.solve(eqbench.load_game("river", **options), "sequence_lp").payoffs[0])


def test_categories_and_classes_of_five_cards_are_as_many_as_published() -> None:
    hands, copies = [], []
    for ranks in combinations_with_replacement(range(13), 5):
        counts = np.bincount(ranks, minlength=13)
        if counts.max() > 4:
            continue
        # equal ranks have different suits, and not all suits are the same
        suits = [ranks[:k].count(rank) for k, rank in enumerate(ranks)]
        is_flush = counts.max() == 1
        suits[0] = 1 if is_flush else suits[0]
        hands.append([4 * rank + suit for rank, suit in zip(ranks, suits, strict=True)])
        copies.append(math.prod(math.comb(4, int(count)) for count in counts) - 4 * is_flush)
        if is_flush:
            hands.append([4 * rank for rank in ranks])
            copies.append(4)
    values = holdem.hand_values(np.array(hands))
    assert len(np.unique(values)) == len(values) == CLASSES
    assert np.bincount(values >> 26, weights=copies).tolist() == COUNTS


def test_seven_cards_are_worth_the_best_five_of_them() -> None:
    draw = np.random.default_rng(7)
    sevens = np.array([draw.permutation(pack)[:7] for pack in (52, 52, 20, 13) for _ in range(250)])
    sevens[500:750] = 4 * (sevens[500:750] % 5) + sevens[500:750] // 5  # few ranks
    sevens[750:] *= 4  # one suit
    fives = [holdem.hand_values(sevens[:, five]) for five in combinations(range(7), 5)]
    np.testing.assert_array_equal(holdem.hand_values(sevens), np.max(fives, axis=0))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("6s5s4s3s2s", "As5s4s3s2s"),  # the wheel is the lowest straight
        ("KhKdKcAsAd", "QhQdQcAsAd"),
        ("AhKhQhJh9h", "AsKsQsJs8s"),
        ("AsAdKhKcQs", "AhAcKsKdJs"),
        ("QsQdAhKcJs", "QhQcAsKdTs"),
        ("AsAdAhKcKsQdQc", "AsAdAhQcQsJdJc"),
    ],
)
def test_the_better_hand_is_worth_more(better: str, worse: str) -> None:
    assert value(better) > value(worse)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("AA", 6), ("AK", 16), ("AKs", 4), ("KAo", 12), ("88+", 42), ("A5s-A2s", 16)),
        *(("ATs+", 16), ("22-55", 24), ("JTs-54s", 28), ("random", 1326), ("AhKd", 1)),
        *(("AA, KK:0.5 ,AsAh:0", 11), ("random,AA:0", 1320), ("76s:1.", 4), (" ", 0)),
    ],
)
def test_a_range_has_as_many_hands(text: str, size: int) -> None:
    assert len(holdem.parse_range(text)) == size


def test_later_parts_of_a_range_replace_weights_of_earlier_ones() -> None:
    found = holdem.parse_range("AA,AsAh:0.25,KdKc:.125")
    named = {holdem.NAMES[holdem.HANDS.index(hand)]: weight for hand, weight in found.items()}
    assert named["AsAh"] == Fraction(1, 4)
    assert named["AdAc"] == 1
    assert named["KdKc"] == Fraction(1, 8)


NO_RANGES = (
    "AX AAs AA+s AKs-AQo AK-QT AA-AK AsAs AsKsQs A 1010 AA+-KK AA:-1 AA:nan AA:inf AA:1e9 AA: :1 "
    "AA:0.0000000000000001 AA;KK aa"
)


@pytest.mark.parametrize("text", NO_RANGES.split())
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(EqbenchError, match="part of a range"):
        holdem.parse_range(text)


def test_every_hand_has_a_place_in_the_grid() -> None:
    places = dict(zip(holdem.NAMES, map(holdem.place, holdem.HANDS), strict=True))
    assert places["AsAh"] == (0, 0)
    assert (places["AhKh"], places["AhKd"]) == ((0, 1), (1, 0))
    assert places["2d2c"] == (12, 12)
    sizes = np.zeros((13, 13), dtype=int)
    np.add.at(sizes, tuple(np.array(list(places.values())).T), 1)
    assert (np.triu(sizes, 1).max(), np.diag(sizes).min(), np.tril(sizes, -1).max()) == (4, 6, 12)
    assert sizes.sum() == 1326


def test_deals_payoffs_and_probabilities_are_those_of_all_pairs_of_hands() -> None:
    board = "2c3d7h8s4c"
    tree = eqbench.load_game("river", board=board, ranges="QQ+,AKs:0.5|KK,65s,A2o").tree
    first, second = (holdem.parse_range(text) for text in ("QQ+,AKs:0.5", "KK,65s,A2o"))
    public, pairs, total, shown = set(cards(board)), 0, Fraction(0), Fraction(0)
    for one, weight in first.items():
        for other, times in second.items():
            if len({*one, *other} | public) == 9:
                names = (
                    "".join(holdem.CARDS[card] for card in (*hand, *public))
                    for hand in (one, other)
                )
                mine, yours = map(value, names)
                pairs, total = pairs + 1, total + weight * times
                shown += weight * times * ((mine > yours) - (mine < yours))
    assert tree.n_nodes == 1 + pairs * 9  # five endings of public play, four decisions
    checked = np.zeros(tree.n_actions)
    checked[tree.action_start[:-1]] = 1  # check or fold
    found = eqbench.verify(tree, eqbench.BehaviorProfile.of(tree, checked), exact=True)
    assert found.payoffs[0] == 50 * shown / total


KUHN = {"board": "2c3d7c8dTc", "ranges": "AsAh,KsKh,QsQh"}
DECK = {"board": "2c7d9cJdKc", "ranges": ",".join(f"{rank}s{rank}h" for rank in holdem.RANKS)}
REMOVED = {"board": "2c3d7h8s4c", "ranges": "AA,KK,QQ"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # hands that exclude themselves alone are the cards of Kuhn poker
        (KUHN | {"pot": 2, "stack": 1, "bets": "1/2"}, -1 / 18),
        (KUHN | {"pot": 100, "stack": 50, "bets": 0.5}, -25 / 9),
        (KUHN | {"pot": 2, "stack": 7, "bets": "1/2,allin", "raise_sizes": 1}, -1 / 18),
        (DECK | {"pot": 2, "stack": 1, "bets": "1/2"}, -5 / 78),
        (DECK | {"stack": 300, "bets": "1/2,1", "raise_sizes": 1}, -320525 / 87126),
        # a linear program with removal of cards, by another program
        (REMOVED, -25 / 39),
        (REMOVED | {"stack": 400, "bets": "1/2,1", "raise_sizes": 1}, -7550 / 2769),
        ({"board": RAINBOW, "ranges": "AsAd|KsKh,6h5d"}, -25),
        ({"board": RAINBOW, "ranges": "KsKh,AsQs,AhQh|AsAd,AcAd"}, 10),
        (CLAIRVOYANCE | {"bets": "1/2,1"}, 25),
        (CLAIRVOYANCE | {"ranges": "KsKh:3,6h5d:1|AsAd"}, 50),
    ],
)
def test_values_are_those_that_are_known(options: dict[str, object], expected: float) -> None:
    assert profit(**options) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("bet", [Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2)])
def test_bluffs_and_calls_are_those_of_the_clairvoyance_game(bet: Fraction) -> None:
    options = CLAIRVOYANCE | {"ranges": "KsKh,6h5d:2|AsAd", "stack": 100 * bet, "bets": bet}
    game = eqbench.load_game("river", **options)
    profile = eqbench.solve(game, "lcp").equilibria[0].profile
    shove = f"all-in {100 * bet}"
    bluff, call = profile["P1", "6h5d:"][shove], profile["P2", f"AsAd:A{100 * bet}"]["call"]
    assert 2 * float(bluff) == pytest.approx(bet / (1 + bet))
    assert float(call) == pytest.approx(1 / (1 + bet))
    expected = 100 * (Fraction(1, 3) * (1 + bet / (1 + bet)) - Fraction(1, 2))
    assert float(eqbench.verify(game, profile).payoffs[0]) == pytest.approx(float(expected))


def test_the_betting_tree_has_the_sizes_that_were_chosen() -> None:
    game = eqbench.load_game("river", stack=1000, bets="1/2,allin", raises=2, raise_sizes=1)
    sets = dict(zip(game.tree.infoset_labels, game.tree.infoset_actions, strict=True))
    assert sets["KsKh:"] == ("check", "bet 50", "all-in 1000")
    assert sets["AsAd:B50"] == ("fold", "call", "raise to 250")
    assert sets["KsKh:B50 R250"] == ("fold", "call", "raise to 850")
    assert sets["AsAd:B50 R250 R850"] == ("fold", "call")
    assert sets["AsAd:A1000"] == ("fold", "call")
    words = situation("KsKh:K B50", game).words
    assert words == "K♠K♥ after check–bet 50"
    assert clause("P1", "raise to 250", "6h5d:K B50", game).startswith("P1 raises to 250 with 6♥5♦")
    assert clause("P1", "all-in 1000", "6h5d:", game).startswith("P1 goes all-in 1000 with")
    small = eqbench.load_game("river", stack=1000, bets="1/2", raise_sizes="1/100").tree
    assert ("fold", "call", "raise to 100") in small.infoset_actions  # at least by the bet


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"board": "AsAs7h7c2s"}, "different cards"),
        ({"board": "AsKd7h7c"}, "give five"),
        ({"board": "AsKd7h7c2s3s"}, "give five"),
        ({"board": "AsKd7h7c1s"}, "different cards"),
        ({"board": "AsKd7h7cé"}, "different cards"),
        ({"ranges": ""}, "empty"),
        ({"ranges": "AA|"}, "empty"),
        ({"ranges": "AA|KK|QQ"}, "3 parts"),
        ({"ranges": "AAA"}, "part of a range"),
        ({"ranges": "AsKsQs"}, "part of a range"),
        ({"ranges": "AA:0"}, "no deal"),
        ({"ranges": "KcKs"}, "no deal"),  # a card of the board
        ({"ranges": "AsAh"}, "no deal"),  # the same hand for both
        ({"ranges": "AA:0.000000000000001,KK:999999999|QQ"}, "fewer digits"),
        ({"ranges": "AA:0.0000000001,QQ|QQ:0.0000000001,AA"}, "weights of all"),
        ({"stack": -1}, "above 0"),
        ({"stack": 0}, "above 0"),
        ({"pot": 0}, "above 0"),
        ({"pot": 10**30}, "above 0"),
        ({"pot": float("inf")}, "exact number"),
        ({"pot": float("nan")}, "exact number|nan"),
        ({"bets": ""}, "bets="),
        ({"bets": "0"}, "bets="),
        ({"bets": "-1"}, "bets="),
        ({"bets": "1/0"}, "by zero"),
        ({"bets": "half"}, "bets="),
        ({"bets": "1e999999999"}, "bets="),
        ({"bets": "allin,-1"}, "bets="),
        ({"bets": "1,2,3,4,5,6,7,8,9,10,11"}, "1 to 10"),
        ({"raise_sizes": "nan"}, "raise_sizes="),
        ({"raises": -1}, "raises="),
        ({"raises": 101}, "raises="),
        ({"stack": 10**9, "bets": "1/1000,1/2,1", "raises": 100}, "fewer raises"),
        ({"stack": 10**9, "pot": "1/123456789", "bets": "1/1234567,allin"}, "rounder"),
        ({"ranges": "missing.txt"}, "cannot read the range file"),
    ],
)
def test_what_is_no_river_is_refused(options: dict[str, object], named: str) -> None:
    with pytest.raises(EqbenchError, match=named):
        eqbench.load_game("river", **options)


def test_ranges_are_read_from_files(tmp_path) -> None:
    first = tmp_path / "first.txt"
    first.write_text("\ufeff# from a solver\nKsKh, 6h5d:1.0  # nuts and air\n\nAsAh:0\n", "utf-8")
    found = eqbench.load_game("river", ranges=f"{first}|AsAd")
    assert found.tree.infoset_labels == eqbench.load_game("river").tree.infoset_labels
    for content in (b"\xff\xfeAA", b"AA," * 2**19, b"AA\0", b"<html>"):
        first.write_bytes(content)
        with pytest.raises(EqbenchError, match=r"range"):
            eqbench.load_game("river", ranges=str(first))
    first.unlink()
    first.mkdir()
    with pytest.raises(EqbenchError, match="cannot read the range file"):
        eqbench.load_game("river", ranges=str(first))


def test_a_spec_gives_the_same_game_again() -> None:
    game = eqbench.load_game('river(board="2c3d7h9sKc",bets="1,0.5,allin",stack=300,raises=1)')
    assert 'bets="1/2,1,allin"' in game.spec
    again = eqbench.load_game(game.spec)
    assert again.spec == game.spec
    assert again.tree.infoset_labels == game.tree.infoset_labels
    assert River().expected_nodes() == eqbench.load_game("river").tree.n_nodes
