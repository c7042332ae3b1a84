"""Expected profits as polynomials, and what the simplification of the game rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np

from eqbench.harness.inprocess import solve
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import TERMINAL
from eqbench.papers.billingham_2017.found import NAMES, PLACES, layout_of
from eqbench.papers.billingham_2017.polynomials import (
    POTS,
    Polynomial,
    coefficients,
    interpolated,
    to_json,
)
from eqbench.registry import load_game
from eqbench.solver import Budget

DEALS = 24
FURTHER_POT = Fraction(7)  # where the polynomials, fixed at two pots, are tried
DOMINANCE_POTS = ("2", "5/2", "4", "10")
BELOW_TWO = ("3/2", "19/10", "1.999")


def profits(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """24 E of each player as a polynomial, from the payoffs of all pure choices.

    At a third pot, and at random frequencies, it is compared with the payoffs themselves.
    """
    game = load_game("skp")
    corners = [_corner_payoffs(game, pot) for pot in POTS]
    found = [
        interpolated(
            [coefficients({c: round(v[player]) for c, v in at.items()}, NAMES) for at in corners]
        )
        for player in range(3)
    ]
    largest = max(abs(v - round(v)) for at in corners for row in at.values() for v in row)
    return {
        "polynomials": {f"E{player + 1}": to_json(each) for player, each in enumerate(found)},
        "corners": 2 ** len(NAMES) * len(POTS),
        "distance_to_integers": largest,
        "distance_elsewhere": _distance(game, found),
    }


def _corner_payoffs(game: Game, pot: Fraction) -> dict[tuple[int, ...], list[float]]:
    model, layout = game.payoff_model().at(float(pot)), layout_of(game)
    return {
        corner: (
            DEALS * model.expected_payoffs(layout.behavior(np.array(corner, dtype=float)))
        ).tolist()
        for corner in product((0, 1), repeat=len(NAMES))
    }


def _distance(game: Game, found: list[Any]) -> float:
    """Largest difference at random frequencies at another pot."""
    model, layout = game.payoff_model().at(float(FURTHER_POT)), layout_of(game)
    worst = 0.0
    for frequencies in np.random.default_rng(0).random((100, len(NAMES))):
        values = dict(zip(NAMES, frequencies.tolist(), strict=True))
        expected = DEALS * model.expected_payoffs(layout.behavior(frequencies))
        for polynomial, payoff in zip(found, expected.tolist(), strict=True):
            worst = max(worst, abs(evaluate(polynomial, values, float(FURTHER_POT)) - payoff))
    return worst


def evaluate(polynomial: Polynomial, values: Mapping[str, float], pot: float) -> float:
    """Value of a polynomial."""
    return sum(
        (float(base) + float(slope) * pot) * math.prod(values[name] for name in key.split())
        for key, (base, slope) in polynomial.items()
    )


def rules(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Gains by what the simplified game leaves out, and its equilibria at pots below 2.

    Each gain is that of one alternative over another in full Kuhn poker, smallest and largest
    over all pure choices of the other players in the simplified game.
    """
    gains: dict[str, list[float]] = {}
    for pot in DOMINANCE_POTS:
        for name, gain in _gains(load_game(f"kuhn(players=3, cards=4, pot={pot})")):
            low, high = gains.get(name, [gain, gain])
            gains[name] = [min(low, gain), max(high, gain)]
    return {
        "pots": list(DOMINANCE_POTS),
        "gains": gains,
        "below_two": {pot: _bets_and_calls(pot) for pot in BELOW_TWO},
        **_tree(),
    }


def _tree() -> dict[str, Any]:
    """Deals, actions of each information set, and sequences of public actions."""
    tree = load_game("skp").tree
    actions = {label: list(tree.infoset_actions[i]) for i, label in enumerate(tree.infoset_labels)}
    ends = {tuple(_public(tree, node)) for node in np.flatnonzero(tree.player == TERMINAL).tolist()}
    return {
        "deals": int(np.sum(tree.parent == 0)),
        "beside_k": _beside_k(tree),
        "actions": actions,
        "decisions": len({label.partition(":")[2] for label in actions}),
        "ends": len(ends),
    }


def _beside_k(tree: Any) -> list[list[int]]:
    """For each player, deals that give it K, and those of them where another player has A."""
    cards: dict[int, dict[int, str]] = {}
    for node in np.flatnonzero(tree.infoset >= 0).tolist():
        deal, infoset = node, int(tree.infoset[node])
        while tree.parent[deal]:
            deal = int(tree.parent[deal])
        held = tree.infoset_labels[infoset].partition(":")[0]
        cards.setdefault(deal, {})[int(tree.infoset_player[infoset])] = held
    with_k = [[hand for hand in cards.values() if hand[player] == "3"] for player in range(3)]
    return [[len(hands), sum("4" in hand.values() for hand in hands)] for hands in with_k]


def _public(tree: Any, node: int) -> Iterator[str]:
    """Actions of the players on the way to a node, the last one first."""
    while tree.parent[node] >= 0:
        above = int(tree.parent[node])
        if tree.infoset[above] >= 0:
            children = np.flatnonzero(tree.parent == above)
            place = int(np.searchsorted(children, node))
            yield tree.infoset_actions[tree.infoset[above]][place]
        node = above


# What is compared: the player's alternatives (set: action), the better one first.
_ALTERNATIVES: dict[str, tuple[int, dict[str, str], dict[str, str]]] = {
    "bet K, P1": (0, {"3:": "check", "3:KKB": "call", "3:KBF": "call"}, {"3:": "bet"}),
    "bet K, P2": (1, {"3:K": "check", "3:KKBF": "call"}, {"3:K": "bet"}),
    "bet K, P3": (2, {"3:KK": "check"}, {"3:KK": "bet"}),
    "overcall K, P1": (0, {"3:": "check", "3:KBC": "fold"}, {"3:": "check", "3:KBC": "call"}),
    "overcall K, P2": (1, {"3:K": "check", "3:KKBC": "fold"}, {"3:K": "check", "3:KKBC": "call"}),
    "overcall K, P3": (2, {"3:BC": "fold"}, {"3:BC": "call"}),
    "overcall Q, P1": (0, {"2:": "check", "2:KBC": "fold"}, {"2:": "check", "2:KBC": "call"}),
    "overcall Q, P2": (1, {"2:K": "check", "2:KKBC": "fold"}, {"2:K": "check", "2:KKBC": "call"}),
    "overcall Q, P3": (2, {"2:BC": "fold"}, {"2:BC": "call"}),
    "check A, P3": (2, {"4:KK": "bet"}, {"4:KK": "check"}),
}


def _gains(game: Game) -> Iterator[tuple[str, float]]:
    """How much each better alternative gains against each choice of the others."""
    tree, model = game.tree, game.payoff_model()
    base = _simplified(game)
    for name, (player, better, worse) in _ALTERNATIVES.items():
        others = [n for n, place in PLACES.items() if place[0] != tree.players[player]]
        for corner in product((0, 1), repeat=len(others)):
            behavior = base.copy()
            for other, used in zip(others, corner, strict=True):
                _set(tree, behavior, *PLACES[other], weight=used)
            values = []
            for choice in (better, worse):
                own = behavior.copy()
                for infoset, action in choice.items():
                    _set(tree, own, tree.players[player], infoset, action, weight=1)
                values.append(float(model.expected_payoffs(own)[player]))
            yield name, DEALS * (values[0] - values[1])


def _simplified(game: Game) -> Any:
    """Behavior (A,) in full Kuhn poker of those who never bet and call with A only."""
    tree = game.tree
    behavior = np.zeros(tree.n_actions)
    for i, (player, label) in enumerate(zip(tree.infoset_player, tree.infoset_labels, strict=True)):
        card, _, history = label.partition(":")
        active = card == "4" and ("B" in history or history == "KK")
        action = tree.infoset_actions[i][int(active)]
        _set(tree, behavior, tree.players[player], label, action, weight=1)
    return behavior


def _set(
    tree: Any, behavior: Any, player: str, infoset: str, action: str, *, weight: float
) -> None:
    """Give an action a weight, and the other one at its information set the rest."""
    i = tree.infoset_of(tree.players.index(player), infoset)
    block = slice(tree.action_start[i], tree.action_start[i + 1])
    behavior[block] = 1 - weight
    behavior[tree.action_start[i] + tree.infoset_actions[i].index(action)] = weight


def _bets_and_calls(pot: str) -> dict[str, Any]:
    """The largest frequency of a bet or call with less than A over all equilibria at a pot."""
    game = load_game("skp").at(pot=Fraction(pot))
    cell = solve(game, "case_enumeration", Budget(time_s=60.0))
    layout = layout_of(game)
    found = [
        dict(zip(NAMES, layout.frequencies(profile.probabilities).tolist(), strict=True))
        for profile in (cast(BehaviorProfile, each.profile) for each in cell.equilibria)
    ]
    largest = {name: max(row[name] for row in found) for name in NAMES if name[0] != "a"}
    return {"complete": cell.status == "ok", "equilibria": len(cell.equilibria), "largest": largest}
