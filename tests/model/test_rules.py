"""Rules and labels of poker, Goofspiel and liar's dice, beyond what OpenSpiel measures."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from helpers.walks import children, follow, label_at, payoffs_at

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import TERMINAL, GameTree
from eqbench.solver import Budget
from eqbench.verification import verify_exactly

# Moves of chance: with two players the cards are 1a 1b 2a 2b 3a 3b, less those already dealt.
LOW_AND_HIGH = (0, 4)  # P1 holds 1a, P2 holds 3b


@pytest.fixture(scope="module")
def two() -> GameTree:
    return eqbench.load_game("leduc").tree


@pytest.fixture(scope="module")
def three() -> GameTree:
    return eqbench.load_game("leduc(players=3, ranks=2, suits=3, raises=1)").tree


def test_labels_tell_card_betting_and_public_card(two: GameTree) -> None:
    deal = LOW_AND_HIGH
    assert label_at(two, deal) == ("P1", "1a:", ("check", "bet"))
    assert label_at(two, [*deal, "check"]) == ("P2", "3b:K", ("check", "bet"))
    assert label_at(two, [*deal, "bet"])[1:] == ("3b:B", ("fold", "call", "raise"))
    assert label_at(two, [*deal, "bet", "raise"])[1:] == ("1a:BR", ("fold", "call"))
    board_1b = [*deal, "bet", "call", 0]
    assert label_at(two, board_1b) == ("P1", "1a:BC/1b:", ("check", "bet"))
    assert label_at(two, [*board_1b, "check", "bet"])[1] == "1a:BC/1b:KB"


def test_folders_pay_for_those_who_split(three: GameTree) -> None:
    """1a, 2a, 2b; P1 calls and folds later, the twos share the pot: their stakes and P1's 3."""
    moves = [0, 2, 2, "bet", "call", "call", 0, "check", "bet", "call", "fold"]
    assert payoffs_at(three, moves) == [-3, Fraction(3, 2), Fraction(3, 2)]


def test_round_two_begins_with_the_first_player_in_the_hand(three: GameTree) -> None:
    moves = [0, 2, 2, "check", "bet", "call", "fold", 0]
    assert label_at(three, moves) == ("P2", "2a:KBCF/1b:", ("check", "bet"))


def test_hand_ends_when_one_player_is_left(three: GameTree) -> None:
    moves = [0, 2, 2, "bet", "fold", "fold"]
    assert three.player[follow(three, moves)] == TERMINAL
    assert payoffs_at(three, moves) == [2, -1, -1]


@pytest.mark.parametrize("raises", [1, 2, 3])
def test_a_round_has_at_most_so_many_bets_and_raises(raises: int) -> None:
    labels = eqbench.load_game(f"leduc(ranks=2, raises={raises})").tree.infoset_labels
    rounds = [letters for label in labels for letters in label.replace("/", ":").split(":")]
    assert max(sum(text.count(letter) for letter in "BR") for text in rounds) == raises


def test_suits_do_not_change_what_a_hand_is_worth() -> None:
    """Swapping the suits of all cards maps the game onto itself, so rows come in equal pairs."""
    tree = eqbench.load_game("leduc(ranks=2)").tree
    swap = str.maketrans("ab", "ba")
    known = set(zip(tree.infoset_player, tree.infoset_labels, strict=True))
    assert {(player, label.translate(swap)) for player, label in known} == known


def test_labels_tell_own_bids_and_winners() -> None:
    goofspiel = eqbench.load_game("goofspiel").tree
    assert label_at(goofspiel, []) == ("P1", ":", ("1", "2", "3", "4"))
    assert label_at(goofspiel, ["3"]) == ("P2", ":", ("1", "2", "3", "4"))
    assert label_at(goofspiel, ["3", "4"]) == ("P1", "3:2", ("1", "2", "4"))
    assert label_at(goofspiel, ["3", "4", "1"]) == ("P2", "4:2", ("1", "2", "3"))
    assert label_at(goofspiel, ["3", "4", "1", "1"]) == ("P1", "31:2=", ("2", "4"))


def test_ascending_prizes_end_with_the_highest() -> None:
    """P1 wins the first prize and loses the other: 2 and then 1, or 1 and then 2."""
    for prizes, first in (("descending", 1), ("ascending", -1)):
        tree = eqbench.load_game(f"goofspiel(cards=2, prizes={prizes})").tree
        assert payoffs_at(tree, ["2", "1"]) == [first, -first]


def test_labels_tell_roll_and_claims() -> None:
    tree = eqbench.load_game("liars_dice(sides=3)").tree
    claims = ("1x1", "1x2", "1x3", "2x1", "2x2", "2x3")
    assert label_at(tree, [5]) == ("P1", "2:", claims)  # rolls 11 12 13 21 22 23
    assert label_at(tree, [5, "1x2"]) == ("P2", "3:1x2", (*claims[2:], "liar"))
    assert label_at(tree, [5, "1x2", "2x1"]) == ("P1", "2:1x2,2x1", ("2x2", "2x3", "liar"))
    assert label_at(tree, [0, "2x3"]) == ("P2", "1:2x3", ("liar",))


def test_rolls_of_several_dice_are_unordered_with_their_probabilities() -> None:
    tree = eqbench.load_game("liars_dice(dice=2, sides=3)").tree
    orders = Counter(tuple(sorted(roll)) for roll in product((1, 2, 3), repeat=2))
    expected = [
        Fraction(first * second, 81)
        for first, second in product([orders[roll] for roll in sorted(orders)], repeat=2)
    ]
    numerators = tree.chance[list(children(tree, 0))].tolist()
    assert [Fraction(value, tree.chance_denominator) for value in numerators] == expected
    assert label_at(tree, [0, "1x2"])[1] == "1,1:1x2"
    assert label_at(tree, [6])[1] == "1,2:"


def test_three_players_pay_only_caller_and_claimant() -> None:
    tree = eqbench.load_game("liars_dice(sides=2, players=3)").tree
    assert label_at(tree, [0, "1x1", "2x1"]) == ("P3", "1:1x1,2x1", ("2x2", "3x1", "3x2", "liar"))
    assert payoffs_at(tree, [0, "3x1", "liar"]) == [1, -1, 0]
    assert payoffs_at(tree, [0, "1x1", "3x2", "liar"]) == [0, -1, 1]
    assert payoffs_at(tree, [0, "1x1", "2x1", "3x1", "liar"]) == [-1, 0, 1]


ACTIONS = {"K": "check", "B": "bet", "F": "fold", "C": "call", "R": "raise"}
# players, cards, raises
GAMES = [(2, 3, 0), (3, 4, 0), (2, 3, 1), (2, 4, 2), (2, 3, 5), (3, 4, 1), (3, 4, 2), (4, 5, 1)]


class Hands:
    """All hands of Kuhn poker; the player to act goes round the table until it is settled."""

    def __init__(self, players: int, cards: int, raises: int, pot: Fraction) -> None:
        self.players, self.raises, self.pot = players, raises, pot
        self.nodes, self.terminals = 1, 0
        self.infosets: dict[tuple[int, str], tuple[str, ...]] = {}
        deals = list(itertools.permutations(range(1, cards + 1), players))
        worth = [self.play(deal, "", (0,) * players, frozenset(), 0, None) for deal in deals]
        self.payoffs = tuple(sum(own) / len(deals) for own in zip(*worth, strict=True))

    def play(
        self,
        deal: tuple[int, ...],
        history: str,
        stakes: tuple[int, ...],
        folded: frozenset[int],
        player: int,
        aggressor: int | None,
    ) -> list[Fraction]:
        """Payoffs if everybody picks each action with the same probability."""
        while player in folded:
            player = (player + 1) % self.players
        self.nodes += 1
        if player == aggressor or (aggressor is None and len(history) == self.players):
            self.terminals += 1
            return self.showdown(deal, stakes, folded)
        level = max(stakes)
        letters = "KB" if level == 0 else "FCR" if level <= self.raises else "FC"
        actions = tuple(ACTIONS[letter] for letter in letters)
        assert self.infosets.setdefault((player, f"{deal[player]}:{history}"), actions) == actions
        worth = []
        for letter in letters:
            new = {"K": 0, "F": stakes[player], "C": level}.get(letter, level + 1)
            worth.append(
                self.play(
                    deal,
                    history + letter,
                    (*stakes[:player], new, *stakes[player + 1 :]),
                    folded | {player} if letter == "F" else folded,
                    (player + 1) % self.players,
                    player if letter in "BR" else aggressor,
                )
            )
        return [sum(own) / Fraction(len(letters)) for own in zip(*worth, strict=True)]

    def showdown(
        self, deal: tuple[int, ...], stakes: tuple[int, ...], folded: frozenset[int]
    ) -> list[Fraction]:
        winner = max(set(range(self.players)) - folded, key=deal.__getitem__)
        profit = [-self.pot / self.players - stake for stake in stakes]
        profit[winner] += self.pot + sum(stakes)
        return profit


Played = tuple[Hands, Game]


@pytest.fixture(scope="module", params=GAMES, ids=str)
def played(request: pytest.FixtureRequest) -> Played:
    players, cards, raises = request.param
    spec = f"kuhn(players={players}, cards={cards}, raises={raises}, pot=7/2)"
    return Hands(players, cards, raises, Fraction(7, 2)), eqbench.load_game(spec)


def test_tree_has_the_nodes_and_information_sets_of_the_rules(played: Played) -> None:
    hands, game = played
    tree = game.tree
    rows = zip(tree.infoset_player.tolist(), tree.infoset_labels, tree.infoset_actions, strict=True)
    assert {(player, label): actions for player, label, actions in rows} == hands.infosets
    assert (tree.n_nodes, tree.n_terminals) == (hands.nodes, hands.terminals)


def test_uniform_play_is_worth_what_the_rules_say(played: Played) -> None:
    hands, game = played
    measured = verify_exactly(game.tree, BehaviorProfile.uniform(game.tree))
    assert measured.payoffs == hands.payoffs


def test_payoffs_stay_affine_in_the_pot() -> None:
    game = eqbench.load_game("kuhn3(raises=1)")
    assert payoffs_at(game.at(pot=9).tree, [0, "bet", "raise", "fold", "call"]) == [-5, 8, -3]


@pytest.mark.parametrize("cards", [2, 3, 7])
def test_only_the_opening_bet_is_gone(cards: int) -> None:
    tree = eqbench.load_game(f"kuhn(players=2,cards={cards},reduce=half_street)").tree
    by_history = {
        label.split(":")[1]: actions
        for label, actions in zip(tree.infoset_labels, tree.infoset_actions, strict=True)
    }
    assert by_history == {"": ("check",), "K": ("check", "bet"), "KB": ("fold", "call")}
    assert tree.n_nodes == 1 + 6 * cards * (cards - 1)


@pytest.mark.parametrize("pot", [2, 5])
def test_many_cards_come_near_the_continuous_game(pot: int) -> None:
    """Hands uniform on [0, 1]: player 2 gains P^2 / (2 (2P + 1) (P + 2)); the linear program
    for 52 cards is off by the order of 1/N^2.
    """
    game = f"kuhn(players=2,cards=52,pot={pot},reduce=half_street)"
    found = eqbench.solve(game, "sequence_lp", Budget(time_s=600))
    limit = pot**2 / (2 * (2 * pot + 1) * (pot + 2))
    assert found.payoffs[1] == pytest.approx(limit, abs=3e-4)
    assert found.payoffs[1] != pytest.approx(limit, abs=1e-6)
