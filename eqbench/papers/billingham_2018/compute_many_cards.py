"""Many cards: the continuous half-street game, strategies at equal quantiles, and memory."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.equilibria.kuhn_ranges import NODES, KuhnNodes, held
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.compute_skp import continuation
from eqbench.papers.billingham_2018.jobs import kuhn
from eqbench.registry import load_game
from eqbench.studies.branch import measured

_EPSILON, _POT = 1e-9, 5
_HALF_STREET_POTS, _HALF_STREET_DECKS = (2, 5), (13, 26, 52, 104)
_LARGE, _FIRST, _STEPS = 26, 0.5, 60


def many_cards(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Equilibria of larger and larger decks beside what they may tend to."""
    decks = (13, 26, 52) if full else (13, 26)
    solved = [_solve(kuhn(cards), _POT) for cards in decks]
    return {
        "half_street": [
            _half_street(cards, pot) for pot in _HALF_STREET_POTS for cards in _HALF_STREET_DECKS
        ],
        "three_players": [
            {"cards": cards, "max_regret": item[2], "payoffs": item[3]}
            for cards, item in zip(decks, solved, strict=True)
        ],
        "agreement": [
            {"cards": list(decks[k : k + 2]), "nodes": _agreement(*solved[k : k + 2])}
            for k in range(len(decks) - 1)
        ],
    }


def _solve(spec: str, pot: int) -> tuple[Game, FloatArray, float, list[float]]:
    """A game at a pot, its polished equilibrium from uniform weights, its regret and payoffs."""
    game = load_game(spec).at(pot=pot)
    method = continuation(game, "log", _EPSILON)
    behavior, _ = method.polish(method.start(float(pot)), float(pot))
    item = measured(game.tree, behavior)
    return game, behavior, item.max_regret, item.payoffs


def _half_street(cards: int, pot: int) -> dict[str, Any]:
    """Gain of player 2 and shares of hands, beside the continuous game's.

    With hands uniform on [0, 1], player 2 bets above v and below b, and player 1 calls above c.
    At v a call is as often worse as better, v = (1 + c)/2; at c a call wins P + 1 from bluffs and
    loses 1 to the others, (P + 1) b = 1 - v; at b a bluff wins P from hands between b and c and
    loses 1 to those that call, P (c - b) = 1 - c.
    """
    spec = f"kuhn(players=2,cards={cards},reduce=half_street)"
    game, behavior, regret, payoffs = _solve(spec, pot)
    bets, calls = (_after(game, behavior, history) for history in ("K", "KB"))
    above = (3 * pot + 2) / ((2 * pot + 1) * (pot + 2))
    return {
        "cards": cards,
        "pot": pot,
        "max_regret": regret,
        "gain": payoffs[1],
        "calls_above": float(1 - calls.mean()),
        "bets_above": float(1 - bets[cards // 2 :].sum() / cards),
        "bluffs_below": float(bets[: cards // 2].sum() / cards),
        "limit": {
            "gain": pot**2 / (2 * (2 * pot + 1) * (pot + 2)),
            "calls_above": above,
            "bets_above": (1 + above) / 2,
            "bluffs_below": (1 - above) / (2 * (pot + 1)),
        },
    }


def _after(game: Game, behavior: FloatArray, history: str) -> FloatArray:
    """How often each card bets or calls after a history, float64 (cards,)."""
    tree, found = game.tree, {}
    for i, label in enumerate(tree.infoset_labels):
        card, _, seen = label.partition(":")
        if seen == history:
            last = tree.infoset_actions[i][-1]
            played = float(behavior[tree.action_start[i + 1] - 1])
            found[int(card)] = played if last in ("bet", "call") else 0.0
    return np.array([found[card] for card in sorted(found)])


def _agreement(small: Any, large: Any) -> list[dict[str, Any]]:
    """How far shares of hands and frequencies at equal quantiles differ between N and 2N cards."""
    both = []
    for game, behavior, *_ in (small, large):
        aggression = KuhnNodes.of(game.tree).aggression(behavior)
        both.append(held(aggression) * aggression)
    ours, theirs = both
    pairs = theirs.reshape(len(NODES), ours.shape[1], 2).mean(axis=2)
    return [
        {
            "node": row + 1,
            "shares": [float(ours[row].mean()), float(theirs[row].mean())],
            "mean_difference": float(np.abs(pairs[row] - ours[row]).mean()),
        }
        for row in range(len(NODES))
    ]


def memory(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Peak memory of following the branch with 26 cards for some steps, in bytes."""
    game = load_game(kuhn(_LARGE))
    method = continuation(game, "log", 1e-6)
    points = method.follow(method.start(_FIRST))
    last = [point for _, point in zip(range(_STEPS), points, strict=False)][-1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "cards": _LARGE,
        "steps": _STEPS,
        "reached": last.value,
        "peak_bytes": peak if sys.platform == "darwin" else 1024 * peak,
    }
