"""Which cards are called value bets, bluffs, two-way bets, sandbags and bluff-catchers."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.kuhn_and_skp import SUB_FAMILIES, random_member, szafron_profile

import eqbench
from eqbench.errors import UsageError
from eqbench.model.profile_json import profile_from_json
from eqbench.model.tree import FloatArray
from eqbench.studies.kuhn_ranges import KuhnNodes, Range, held, strategy_ranges

NONE, VALUE, BLUFF, TWO_WAY = Range.NONE, Range.VALUE_BET, Range.BLUFF, Range.TWO_WAY_BET
SANDBAG, CATCH = Range.SANDBAG, Range.BLUFF_CATCH


def profile(**nodes: list[float]) -> FloatArray:
    """Frequencies of bet or call (12, N); nodes that are not named are passive throughout."""
    cards = len(next(iter(nodes.values())))
    rows = np.zeros((12, cards))
    for name, row in nodes.items():
        rows[int(name.removeprefix("node")) - 1] = row
    return rows


def bets(aggression: FloatArray, node: int, tolerance: float = 1e-6) -> list[int]:
    return strategy_ranges(aggression, tolerance).aggressive[node - 1].tolist()


def checks(aggression: FloatArray, node: int) -> list[int]:
    return strategy_ranges(aggression, 1e-6).passive[node - 1].tolist()


def test_bet_called_by_worse_cards_is_for_value_and_bet_that_folds_better_ones_a_bluff() -> None:
    calls = [0, 0, 1, 1]
    aggression = profile(node1=[0.5, 0, 0, 1], node10=calls, node11=calls)
    assert bets(aggression, 1) == [BLUFF, NONE, NONE, VALUE]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Billingham 2018, §5.2: player 1 calls with worse and never folds better, 2 vice versa
        ([0, 1, 0, 1, 1], [0, 0, 0, 0.5, 1], TWO_WAY),
        ([0, 1, 0, 1, 1], [0, 0, 0, 1, 1], VALUE),  # no better card folds
        ([0, 0, 0, 1, 1], [0, 0, 0, 0, 1], BLUFF),  # no worse card calls
        ([0, 0.5, 0, 0.5, 1], [0, 0.5, 0, 0.5, 1], NONE),  # both do, at both opponents
    ],
)
def test_bet_for_value_against_one_and_a_bluff_against_the_other_is_two_way(
    first: list[float], second: list[float], expected: Range
) -> None:
    aggression = profile(node3=[0, 0, 1, 0, 0], node4=first, node5=second)
    assert bets(aggression, 3) == [NONE, NONE, expected, NONE, NONE]


def test_highest_card_that_no_worse_one_calls_has_no_range() -> None:
    assert bets(profile(node1=[0, 0, 0, 1]), 1) == [NONE] * 4


def test_answer_after_another_call_does_not_count() -> None:
    # player 3 folds the 4 behind a call only
    calls = [0, 0.5, 0, 1, 1]
    aggression = profile(node1=[0, 0, 1, 0, 0], node10=calls, node11=calls, node12=[0, 0, 0, 0, 1])
    assert bets(aggression, 1)[2] == VALUE


def test_cards_that_the_opponent_has_bet_before_do_not_call() -> None:
    calls = {"node4": [0, 1, 0, 1], "node5": [0, 0, 0, 1]}
    assert bets(profile(node3=[0, 0, 1, 0], **calls), 3)[2] == VALUE
    assert bets(profile(node3=[0, 0, 1, 0], node1=[0, 1, 0, 0], **calls), 3)[2] == NONE


@pytest.mark.parametrize(("fold", "expected"), [(0.0, NONE), (0.5, TWO_WAY)])
def test_second_opponent_answers_only_if_some_first_one_folds(fold: float, expected: int) -> None:
    # three cards: when player 1 bets the 2, player 3 has the 1 if player 2 has the 3
    aggression = profile(node1=[0, 1, 0], node10=[0, 0, 1 - fold], node11=[1, 0, 1])
    assert bets(aggression, 1)[1] == expected


def test_high_card_that_is_checked_and_called_with_later_is_a_sandbag() -> None:
    answers = {"node10": [0, 0, 1, 1], "node11": [0, 0, 1, 1]}
    aggression = profile(node1=[0.5, 0, 0, 0.5], node3=[1, 0, 0, 0], node4=[0, 0, 1, 1], **answers)
    assert checks(aggression, 1) == [NONE, NONE, NONE, SANDBAG]
    assert bets(aggression, 1)[3] == VALUE
    aggression[3, 3] = 0  # folds it later
    assert checks(aggression, 1) == [NONE] * 4


def test_card_above_the_worst_value_bet_is_a_sandbag_and_one_below_is_not() -> None:
    answers = {"node10": [0, 1, 1, 1, 1, 1], "node11": [0, 1, 1, 1, 1, 1]}
    aggression = profile(
        node1=[0, 0, 0, 1, 0, 0], node3=[1, 0, 0, 0, 0, 0], node4=[0, 0, 1, 1, 1, 1], **answers
    )
    assert checks(aggression, 1) == [NONE, NONE, NONE, NONE, SANDBAG, SANDBAG]


def test_only_the_highest_card_is_a_sandbag_where_nothing_is_bet_for_value() -> None:
    aggression = profile(node3=[1, 0, 0, 0], node4=[0, 0, 1, 1], node5=[0, 0, 1, 1])
    assert checks(aggression, 1) == checks(aggression, 2) == [NONE, NONE, NONE, SANDBAG]


def test_call_of_a_bet_that_nobody_makes_is_neither_sandbag_nor_catch() -> None:
    aggression = profile(node4=[0, 0, 1, 1], node8=[0, 0, 1, 1])
    ranges = strategy_ranges(aggression, 1e-6)
    assert not ranges.passive.any()
    assert not ranges.aggressive.any()


def test_call_that_beats_bluffs_only_is_a_bluff_catch() -> None:
    # the value range is 4 and 5: the 4 beats no value bet, the 5 cannot lose
    calls = [0, 0.2, 0.8, 1, 1]
    aggression = profile(node1=[1, 0, 0, 1, 1], node10=calls, node11=calls, node12=[0, 0, 0, 1, 1])
    assert bets(aggression, 1) == [BLUFF, NONE, NONE, VALUE, VALUE]
    assert bets(aggression, 10) == bets(aggression, 11) == [NONE, CATCH, CATCH, CATCH, NONE]
    assert bets(aggression, 12) == [NONE, NONE, NONE, CATCH, NONE]


def test_call_that_beats_a_value_bet_is_no_bluff_catch() -> None:
    aggression = profile(node1=[1, 0, 1, 0, 1], node10=[0, 1, 0, 1, 1], node11=[0, 1, 0, 1, 1])
    assert bets(aggression, 1) == [BLUFF, NONE, VALUE, NONE, VALUE]
    assert bets(aggression, 10) == [NONE, CATCH, NONE, NONE, NONE]


def test_call_that_beats_no_bet_is_no_bluff_catch() -> None:
    aggression = profile(node1=[0, 0, 1, 1], node10=[1, 1, 1, 1], node11=[1, 1, 1, 1])
    assert bets(aggression, 10)[:2] == [NONE, NONE]


def test_two_way_bet_counts_for_each_caller_as_what_it_is_against_them() -> None:
    # the 3 is bet for value against player 1 and as a bluff against player 2
    aggression = profile(
        node3=[1, 0, 1, 0, 0, 1], node4=[0, 1, 0, 1, 1, 1], node5=[0, 0, 0, 0.5, 1, 1]
    )
    assert bets(aggression, 3) == [BLUFF, NONE, TWO_WAY, NONE, NONE, VALUE]
    assert bets(aggression, 4) == [NONE, CATCH, NONE, NONE, NONE, NONE]
    assert bets(aggression, 5) == [NONE, NONE, NONE, CATCH, CATCH, NONE]


def test_frequency_equal_to_the_tolerance_does_not_count() -> None:
    calls = [0, 0, 1, 1]
    aggression = profile(node1=[0.25, 0, 0, 1], node10=calls, node11=calls)
    assert bets(aggression, 1, tolerance=0.25)[0] == NONE
    assert bets(aggression, 1, tolerance=0.2499)[0] == BLUFF


@pytest.mark.parametrize("sub_family", SUB_FAMILIES)
def test_ranges_of_four_cards_are_as_published(sub_family: str) -> None:
    """Billingham 2018, §2: sandbags and value bets with 4, catches with 3, bluffs with 1 and 2."""
    tree = eqbench.load_game("kuhn3").tree
    rng = np.random.default_rng(1)
    for _ in range(20):
        point = profile_from_json(tree, szafron_profile(random_member(sub_family, rng)))
        ranges = strategy_ranges(KuhnNodes.of(tree).aggression(point.probabilities), 1e-9)
        found = {kind: set(np.nonzero(ranges.aggressive == kind)[1] + 1) for kind in Range}
        assert found[VALUE] == {4}
        assert found[BLUFF]
        assert found[BLUFF] <= {1, 2}
        # where b23 > 0, player 2 catches the bluffs with 1 by a 2 as well
        assert found[CATCH] == ({2, 3} if sub_family == "c11=1/2" else {3})
        assert not found[TWO_WAY]
        assert set(np.nonzero(ranges.passive)[1] + 1) == {4}


def test_nodes_of_a_reduced_game_count_what_is_forced() -> None:
    tree = eqbench.load_game("skp").tree
    behavior = np.full(tree.n_actions, 0.5)
    behavior[tree.action_start[:-1][np.diff(tree.action_start) == 1]] = 1
    aggression = KuhnNodes.of(tree).aggression(behavior)
    assert aggression[0].tolist() == [0, 0.5, 0, 0.5]
    assert aggression[2].tolist() == [0, 0.5, 0, 1]
    assert aggression[11].tolist() == [0, 0, 0, 1]


def test_held_is_what_the_same_player_has_checked() -> None:
    first, second = [0.1, 0.2, 0.3, 1], [0, 0.5, 0, 0.25]
    fraction = held(profile(node1=first, node2=second, node3=[1, 1, 1, 1]))
    for node in (4, 8, 9):
        assert fraction[node - 1] == pytest.approx(1 - np.array(first))
    for node in (5, 6):
        assert fraction[node - 1] == pytest.approx(1 - np.array(second))
    for node in (1, 2, 3, 7, 10, 11, 12):
        assert fraction[node - 1].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    "spec", ["kuhn2", "kuhn4", "kuhn(players=3, raises=1)", "rock_paper_scissors"]
)
def test_other_games_have_no_twelve_nodes(spec: str) -> None:
    with pytest.raises(UsageError, match="poker"):
        KuhnNodes.of(eqbench.load_game(spec).tree)
