"""Kuhn poker with raises, against the rules played out hand by hand, and half a street of it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from tree_path import payoffs_at

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Budget
from eqbench.verification import verify_exactly

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
