"""Half-street Kuhn poker for two: player 1 only checks at first."""

from __future__ import annotations

import pytest

import eqbench
from eqbench.solver import Budget


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
