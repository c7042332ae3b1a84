"""Rules and labels of poker, Goofspiel and liar's dice, beyond what OpenSpiel measures."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from helpers.walks import children, label_at, payoffs_at

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Limits
from eqbench.verification import verify_exactly

# Moves of chance: with two players the cards are 1a 1b 2a 2b 3a 3b, less those already dealt.
LOW_AND_HIGH = (0, 4)  # P1 holds 1a, P2 holds 3b


THREE = "leduc(players=3, ranks=2, suits=3, raises=1)"  # cards 1a 1b 1c 2a 2b 2c
DICE = "liars_dice(sides=3)"  # rolls 11 12 13 21 22 23
CLAIMS = ("1x1", "1x2", "1x3", "2x1", "2x2", "2x3")
THREE_DICE = "liars_dice(sides=2, players=3)"
BOARD_1B = [*LOW_AND_HIGH, "bet", "call", 0]


@pytest.mark.parametrize(
    ("spec", "moves", "label"),
    [
        # card, betting and public card
        ("leduc", LOW_AND_HIGH, ("P1", "1a:", ("check", "bet"))),
        ("leduc", [*LOW_AND_HIGH, "check"], ("P2", "3b:K", ("check", "bet"))),
        ("leduc", [*LOW_AND_HIGH, "bet"], ("P2", "3b:B", ("fold", "call", "raise"))),
        ("leduc", [*LOW_AND_HIGH, "bet", "raise"], ("P1", "1a:BR", ("fold", "call"))),
        ("leduc", BOARD_1B, ("P1", "1a:BC/1b:", ("check", "bet"))),
        ("leduc", [*BOARD_1B, "check", "bet"], ("P1", "1a:BC/1b:KB", ("fold", "call", "raise"))),
        # round two begins with the first player in the hand
        (
            THREE,
            [0, 2, 2, *["check", "bet", "call", "fold"], 0],
            ("P2", "2a:KBCF/1b:", ("check", "bet")),
        ),
        # own bids and winners
        ("goofspiel", [], ("P1", ":", ("1", "2", "3", "4"))),
        ("goofspiel", ["3"], ("P2", ":", ("1", "2", "3", "4"))),
        ("goofspiel", ["3", "4"], ("P1", "3:2", ("1", "2", "4"))),
        ("goofspiel", ["3", "4", "1"], ("P2", "4:2", ("1", "2", "3"))),
        ("goofspiel", ["3", "4", "1", "1"], ("P1", "31:2=", ("2", "4"))),
        # roll and claims
        (DICE, [5], ("P1", "2:", CLAIMS)),
        (DICE, [5, "1x2"], ("P2", "3:1x2", (*CLAIMS[2:], "liar"))),
        (DICE, [5, "1x2", "2x1"], ("P1", "2:1x2,2x1", ("2x2", "2x3", "liar"))),
        (DICE, [0, "2x3"], ("P2", "1:2x3", ("liar",))),
        (THREE_DICE, [0, "1x1", "2x1"], ("P3", "1:1x1,2x1", ("2x2", "3x1", "3x2", "liar"))),
    ],
)
def test_labels_tell_what_the_mover_knows(spec: str, moves: list, label: tuple) -> None:
    assert label_at(eqbench.load_game(spec).tree, moves) == label


@pytest.mark.parametrize(
    ("spec", "moves", "payoffs"),
    [
        # 1a, 2a, 2b; P1 calls and folds later, the twos share the pot: their stakes and P1's 3
        (
            THREE,
            [0, 2, 2, "bet", "call", "call", 0, "check", "bet", "call", "fold"],
            [-3, Fraction(3, 2), Fraction(3, 2)],
        ),
        # the hand ends when one player is left
        (THREE, [0, 2, 2, "bet", "fold", "fold"], [2, -1, -1]),
        # P1 wins the first prize and loses the other: 2 and then 1, or 1 and then 2
        ("goofspiel(cards=2, prizes=descending)", ["2", "1"], [1, -1]),
        ("goofspiel(cards=2, prizes=ascending)", ["2", "1"], [-1, 1]),
        # only caller and claimant pay
        (THREE_DICE, [0, "3x1", "liar"], [1, -1, 0]),
        (THREE_DICE, [0, "1x1", "3x2", "liar"], [0, -1, 1]),
        (THREE_DICE, [0, "1x1", "2x1", "3x1", "liar"], [-1, 0, 1]),
        # affine in the pot
        ("kuhn3(raises=1, pot=9)", [0, "bet", "raise", "fold", "call"], [-5, 8, -3]),
    ],
)
def test_play_is_paid_by_the_rules(spec: str, moves: list, payoffs: list) -> None:
    assert payoffs_at(eqbench.load_game(spec).tree, moves) == payoffs


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
    found = eqbench.solve(game, "sequence_lp", Limits(timeout_s=600))
    limit = pot**2 / (2 * (2 * pot + 1) * (pot + 2))
    assert found.payoffs[1] == pytest.approx(limit, abs=3e-4)
    assert found.payoffs[1] != pytest.approx(limit, abs=1e-6)
