"""The branch with four cards without regularization: every point polished and verified."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria import Identifier
from eqbench.equilibria.kuhn_ranges import KuhnNodes, bet_before
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray, GameTree
from eqbench.papers.billingham_2018.compute_skp import continuation
from eqbench.papers.billingham_2018.jobs import kuhn
from eqbench.registry import load_game
from eqbench.studies.branch import Measured, measured

FIRST, LAST, EPSILON = 2.05, 16.0, 1e-9
_PLAYED = 1e-9
_SAME_POT = 1e-9


def four_cards(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Facts about exact equilibria along the branch with four cards."""
    game = load_game(kuhn(4))
    pots, found = _polished(game)
    nodes = KuhnNodes.of(game.tree)
    aggression = np.array([nodes.aggression(item.profile.probabilities) for item in found])
    payoffs = np.array([item.payoffs for item in found])
    at_three = [item for pot, item in zip(pots, found, strict=True) if abs(pot - 3) < _SAME_POT]
    return {
        "points": len(found),
        "epsilon": EPSILON,
        "max_regret": max(item.max_regret for item in found),
        "pieces": _pieces(pots, payoffs),
        "before_three": _before_three(pots, aggression),
        "bets_from": [_bets_from(pots, aggression[:, node]) for node in range(2)],
        "openings": [_cards(aggression[:, node]) for node in range(3)],
        "third_card": _third_card(aggression),
        "callers": [_cards(_reached(aggression, row)) for row in range(3, 12)],
        "top_card_mixed": _top_card(pots, aggression),
        "family": _family(game.tree, at_three),
        "crossed": _crossed(game, at_three),
    }


def _polished(game: Game) -> tuple[FloatArray, list[Measured]]:
    """Pots (K,) and verified profiles of all points of the branch."""
    method = continuation(game, "log", EPSILON)
    points = [method.start(FIRST)]
    for point in method.follow(points[0]):
        points.append(point)
        if not FIRST <= point.value <= LAST:
            break
    made = [method.polish(point) for point in points]
    found = [measured(method.game_at(pot).tree, behavior) for behavior, pot in made]
    return np.array([pot for _, pot in made]), found


def _pieces(pots: FloatArray, payoffs: FloatArray) -> list[dict[str, Any]]:
    """Pots at which neighboring points have different payoffs."""
    pieces = []
    breaks = np.flatnonzero(np.abs(np.diff(pots)) > _SAME_POT) + 1
    for rows in np.split(np.arange(len(pots)), breaks):
        ranges = np.ptp(payoffs[rows], axis=0)
        if ranges.max() > 1e-7:
            pieces.append({"pot": float(np.median(pots[rows])), "ranges": ranges.tolist()})
    return pieces


def _before_three(pots: FloatArray, aggression: FloatArray) -> dict[str, Any]:
    """What is played at pots between 2 and 3."""
    inside = (pots > 2) & (pots < 3 - _SAME_POT)
    chosen = aggression[inside]
    return {
        "points": int(inside.sum()),
        "bets_of_players_1_and_2": float(chosen[:, :2].max()),
        "bets_of_player_3": float(chosen[:, 2].max(axis=1).min()),
        "calls_with_card_3": [float(chosen[:, row, 2].max()) for row in (3, 4, 5)],
    }


def _bets_from(pots: FloatArray, bets: FloatArray) -> dict[str, float]:
    """The smallest pot with a bet and the largest one without, with frequencies (K, cards)."""
    made = bets.max(axis=1) > _PLAYED
    return {"first": float(pots[made].min()), "last_without": float(pots[~made].max())}


def _cards(frequencies: FloatArray) -> dict[str, float]:
    """The largest frequency with each card, of (K, cards)."""
    return {str(k + 1): float(most) for k, most in enumerate(frequencies.max(axis=0))}


def _reached(aggression: FloatArray, row: int) -> FloatArray:
    """Frequencies (K', cards) at a node with an answer where the bet before it is made."""
    made = aggression[:, bet_before(row)].max(axis=1) > _PLAYED
    reached: FloatArray = aggression[made, row]
    return reached


def _third_card(aggression: FloatArray) -> dict[str, Any]:
    """Where card 3 is bet at node 3, and how often card 4 was bet before there at least."""
    bet = aggression[:, 2, 2] > _PLAYED
    before = aggression[bet][:, :2, 3]
    return {"points": int(bet.sum()), "top_bet_before": float(before.min()) if bet.any() else None}


def _top_card(pots: FloatArray, aggression: FloatArray) -> list[float]:
    """The share of points above a pot of 3 at which card 4 is both bet and checked, by node."""
    top = aggression[pots > 3][:, :2, 3]
    return [float(share) for share in ((top > 1e-6) & (top < 1 - 1e-6)).mean(axis=0)]


def _family(reduced: GameTree, at_three: list[Measured]) -> dict[str, Any]:
    """The points at a pot of 3 as members of the published family of the game with all actions."""
    game = load_game("kuhn3")
    identifier, names, betas, distances, on_path = Identifier(game), [], [], [], []
    errors = []
    for item in at_three:
        behavior = _in_full_game(item.profile.probabilities, reduced, game.tree)
        identity = identifier.identify(BehaviorProfile.of(game.tree, behavior))
        if identity is None:
            continue
        beta = identity.parameters["beta"]
        names.append(identity.name)
        betas.append(beta)
        distances.append(identity.distance)
        on_path.append(identity.on_path)
        # Szafron et al. 2013, section 4, in units of the bet
        published = [-(1 + 2 * beta) / 48, -1 / 48, (1 + beta) / 24]
        errors.append(float(np.abs(np.subtract(item.payoffs, published)).max()))
    return {
        "points": len(at_three),
        "identified": len(names),
        "on_path": sum(on_path),
        "names": sorted(set(names)),
        "beta": [min(betas), max(betas)],
        "largest_distance": max(distances),
        "largest_payoff_error": max(errors),
    }


def _in_full_game(behavior: FloatArray, reduced: GameTree, full: GameTree) -> FloatArray:
    """The same profile where no action is deleted, float64 (A,)."""
    frequencies = np.zeros(full.n_actions)
    for i, label in enumerate(reduced.infoset_labels):
        j = full.infoset_of(int(reduced.infoset_player[i]), label)
        for k, action in enumerate(reduced.infoset_actions[i]):
            place = full.action_start[j] + full.infoset_actions[j].index(action)
            frequencies[place] = behavior[reduced.action_start[i] + k]
    return frequencies


def _crossed(game: Game, at_three: list[Measured]) -> dict[str, Any]:
    """What players get if each plays a strategy of another equilibrium with a pot of 3.

    One equilibrium for each player, out of the two ends and the middle of the vertical piece.
    """
    chosen = [at_three[0], at_three[len(at_three) // 2], at_three[-1]]
    model, owner = game.payoff_model(), _owners(game.tree)
    least, expected = np.full(3, np.inf), np.array([item.payoffs for item in chosen])
    for picks in product(range(len(chosen)), repeat=3):
        profiles = np.array([chosen[pick].profile.probabilities for pick in picks])
        payoffs = model.expected_payoffs(np.choose(owner, profiles))
        least = np.minimum(least, payoffs - expected[list(picks), range(3)])
    return {"largest_shortfall": (-least).tolist()}


def _owners(tree: GameTree) -> NDArray[np.int32]:
    """The player of each action, int32 (A,)."""
    owners: NDArray[np.int32] = np.repeat(tree.infoset_player, np.diff(tree.action_start))
    return owners
