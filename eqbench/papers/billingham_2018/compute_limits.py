"""The regularized system and its limit, measured at solutions: equations (2), (3), (10) to (12)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import root

from eqbench.continuation import BranchPoint, Continuation
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.compute_skp import continuation
from eqbench.papers.billingham_2018.jobs import KINDS
from eqbench.registry import load_game

_POT, _ISOLATED_POT, _EPSILON = 2.5, 3.2, 1e-7
# Pots with a range of equilibria, inside (2, 3), and where branches to them begin.
_RANGE_POTS, _FROM_BELOW, _FROM_ABOVE = (2.2, _POT, 2.8), (2.05, 2.15), (2.85, 2.95)
_RESPONSE_EPSILON = 0.02
_RESPONSE_POTS = tuple(np.linspace(2, 6, 41).tolist())
_STARTS, _STRENGTHS = 40, (0.1, 1e-2, 1e-4)
# Chance gives each of the four cards with this probability.
_CHANCE = 0.25


def limits(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """What the regularized system of simplified Kuhn poker does as eps goes to 0."""
    game = load_game("skp")
    return {
        "responses": [_responses(game, kind) for kind in KINDS],
        "tails": [_tails(game, kind) for kind in KINDS],
        "first_order": _first_order(game),
        "selected": [_selected(game, kind, pot) for kind in KINDS for pot in _RANGE_POTS],
        "guesses": [_guesses(game, epsilon) for epsilon in _STRENGTHS],
    }


def _gains(game: Game, pot: float, behavior: FloatArray) -> FloatArray:
    """Gains (F,) of betting and calling in units of the payoff, at one card of four."""
    values = game.payoff_model().at(pot).counterfactual_values(behavior)
    return Choices.of(game.tree).gains(values) / _CHANCE


def _responses(game: Game, kind: str) -> dict[str, Any]:
    """Pairs of u/eps and b at regularized solutions: points on the graph of g, eq. (2)."""
    choices = Choices.of(game.tree)
    method = continuation(game, kind, _RESPONSE_EPSILON)
    pairs: list[tuple[float, float]] = []
    for pot in _RESPONSE_POTS:
        behavior = method.start(pot).behavior
        scaled = _gains(game, pot, behavior) / _RESPONSE_EPSILON
        pairs += zip(scaled.tolist(), behavior[choices.action].tolist(), strict=True)
    pairs.sort()
    x, b = np.array(pairs).T
    return {"kind": kind, "x": x.tolist(), "b": b.tolist(), "falls": float(np.diff(b).min())}


def _tails(game: Game, kind: str) -> dict[str, Any]:
    """Distance of inactive frequencies from their bounds times |u|/eps: A and B of eq. (3)."""
    choices = Choices.of(game.tree)
    point = continuation(game, kind, _EPSILON).start(_POT)
    gains = _gains(game, _POT, point.behavior)
    frequencies = point.behavior[choices.action]
    inactive = np.abs(gains) > 1e-3
    distance = np.where(gains < 0, frequencies, 1 - frequencies)[inactive]
    constants = distance * np.abs(gains[inactive]) / _EPSILON
    return {"kind": kind, "least": float(constants.min()), "greatest": float(constants.max())}


def _first_order(game: Game) -> dict[str, Any]:
    """How well first corrections satisfy the linear equations (12) at an isolated solution.

    Corrections are differences between the regularized and the exact solution over eps, and
    derivatives come from the exact solution.
    """
    choices, strength = Choices.of(game.tree), 1e-6
    method = continuation(game, "log", strength)
    point = method.start(_ISOLATED_POT)
    solution, _ = method.polish(point, _ISOLATED_POT)
    exact, near = solution[choices.action], point.behavior[choices.action]
    corrections = (near - exact) / strength
    inside = np.flatnonzero((exact > 1e-6) & (exact < 1 - 1e-6))
    columns = []
    for place in range(choices.size):
        low, high = exact.copy(), exact.copy()
        low[place], high[place] = 0.0, 1.0
        ends = [_gains(game, _ISOLATED_POT, choices.behavior(free)) for free in (low, high)]
        columns.append((ends[1] - ends[0])[inside])
    matrix = np.column_stack(columns)
    wanted = 1 / (1 - exact[inside]) - 1 / exact[inside]
    error = np.abs(matrix @ corrections - wanted).max()
    return {
        "pot": _ISOLATED_POT,
        "inside": len(inside),
        "error": float(error),
        "size": float(np.abs(wanted).max()),
        "smallest_singular_value": float(np.linalg.svd(matrix[:, inside])[1].min()),
    }


def _selected(game: Game, kind: str, pot: float) -> dict[str, Any]:
    """c1 and d2 at a pot with a range of equilibria, arrived at on several ways."""
    method = continuation(game, kind, _EPSILON)
    labels = {"c1": (0, "3:KKB"), "d2": (1, "3:KKBF")}
    tree = game.tree
    place = {n: int(tree.action_start[tree.infoset_of(*i)]) + 1 for n, i in labels.items()}
    found = [method.start(pot)]
    found += [_arrive(method, first, pot) for first in (*_FROM_BELOW, *_FROM_ABOVE)]
    behavior = np.array([point.behavior for point in found])
    return {
        "kind": kind,
        "pot": pot,
        **{name: float(behavior[0, action]) for name, action in place.items()},
        "ways": len(found),
        "apart": float(np.ptp(behavior, axis=0).max()),
    }


def _arrive(method: Continuation, first: float, pot: float) -> BranchPoint:
    """The point at a pot to which the branch leads that begins at another one."""
    before = method.start(first)
    for point in method.follow(before, increasing=first < pot):
        crossings = method.crossings(before, point, pot)
        if crossings:
            return crossings[0]
        before = point
    raise AssertionError("branches have no end")


def _guesses(game: Game, epsilon: float) -> dict[str, Any]:
    """How often two methods solve eq. (6) from guesses that are uniform in [0, 1]."""
    choices, pot = Choices.of(game.tree), _ISOLATED_POT

    def residual(free: FloatArray) -> FloatArray:
        x = _gains(game, pot, choices.behavior(free)) / epsilon
        return free - 0.5 - np.arctan(x) / np.pi

    rng = np.random.default_rng(0)
    counts = {"hybr": 0, "newton": 0}
    for _ in range(_STARTS):
        guess = rng.uniform(size=choices.size)
        answer = root(residual, guess, method="hybr")
        counts["hybr"] += bool(np.abs(residual(answer.x)).max() < 1e-8)
        counts["newton"] += _newton(residual, guess)
    return {"epsilon": epsilon, "starts": _STARTS, **counts}


def _newton(residual: Any, free: FloatArray) -> bool:
    """Whether Newton's method without safeguards comes to a solution in 50 steps."""
    for _ in range(50):
        now = residual(free)
        if np.abs(now).max() < 1e-8:
            return True
        shifts = 1e-7 * np.eye(len(free))
        matrix = np.column_stack([(residual(free + shift) - now) / 1e-7 for shift in shifts])
        try:
            free = free - np.linalg.solve(matrix, now)
        except np.linalg.LinAlgError:
            return False
        if not np.abs(free).max() < 1e6:
            return False
    return False
