"""Simplified Kuhn poker: published solutions along the pot, and regularized ones close to them.

Symbols in shapes: K pots, N players, V frequencies, F free frequencies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import root

from eqbench.continuation import BranchPoint, Continuation
from eqbench.equilibria.corners import corner_parameters
from eqbench.equilibria.expressions import IrrationalError
from eqbench.equilibria.known import some_member
from eqbench.equilibria.reference import KnownSet, published_sets
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.compute import continuation
from eqbench.registry import load_game

KINDS = ("log", "arctan", "rational")
EPSILONS = tuple(10.0**-k for k in range(3, 9))
_SAMPLED = [Fraction(2) + Fraction(k, 100) for k in range(401)]
_SIDES = (Fraction(-1, 10**6), Fraction(1, 10**6))
# Where published solutions end other than at half-integers; samples come close from both sides.
_IRRATIONAL_ENDS = (
    (3 + sqrt(15)) / 2,
    (3 + sqrt(97)) / 4,
    (3 + sqrt(23)) / 2,
    (7 + sqrt(113)) / 4,
    (7 + sqrt(105)) / 4,
)
# At these pots all equilibria have the same payoffs, and at the first the same a1.
_PLAIN_POTS = (2.5, 3.2, 3.6, 5.5)
_POT, _ISOLATED_POT, _EPSILON = 2.5, 3.2, 1e-7
# Pots with a range of equilibria, inside (2, 3), and where branches to them begin.
_RANGE_POTS, _BRANCHES_FROM = (2.2, _POT, 2.8), (2.05, 2.15, 2.85, 2.95)
_RESPONSE_EPSILON, _STARTS = 0.02, 40


def exact(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Published solutions along the pot, and how regularized expectations come near them."""
    game = load_game("skp")
    return {
        "exact": list(_exact_sets(game)),
        "errors": [_errors(game, kind, pot) for kind in KINDS for pot in _PLAIN_POTS],
    }


def _exact_sets(game: Game) -> Iterator[dict[str, Any]]:
    """Pots, least and greatest payoffs and frequencies of all published sets, sampled."""
    found: dict[str, list[list[float]]] = {}
    variables: tuple[str, ...] = ()
    beside = [Fraction(end) + side for end in _IRRATIONAL_ENDS for side in _SIDES]
    for pot in sorted([*_SAMPLED, *beside]):
        for known in published_sets(game.at(pot=pot)):
            variables = tuple(known.layout.variables)
            members = _members(known)
            row = [float(pot), *members.min(axis=0), *members.max(axis=0)]
            found.setdefault(known.name, []).append(row)
    for name, rows in found.items():
        table = np.array(rows)
        low, high = np.split(table[:, 1:], 2, axis=1)
        yield {
            "name": name,
            "pots": table[:, 0].tolist(),
            "variables": ["u1", "u2", "u3", *variables],
            "low": low.tolist(),
            "high": high.tolist(),
        }


def exact_curves(exact: list[dict[str, Any]], name: str) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Pots and least and greatest values of a payoff or frequency along each published set."""
    for entry in exact:
        column = entry["variables"].index(name)
        pots = np.array(entry["pots"])
        low, high = (np.array(entry[end])[:, column] for end in ("low", "high"))
        if np.ptp(pots) < 1e-9:
            yield np.repeat(pots[0], 2), np.array([low.min(), high.max()])
            continue
        yield pots, low
        if np.abs(high - low).max() > 1e-9:
            yield pots, high


def places() -> dict[str, str]:
    """Columns of a branch that hold the payoff of player 1 and the published frequencies."""
    layout = published_sets(load_game("skp"))[0].layout
    return {"u1": "u:P1", **dict(zip(layout.variables, layout.places, strict=True))}


def _members(known: KnownSet) -> FloatArray:
    """Payoffs and frequencies (K, N + V) at the corners of a set, or of one member if in vain."""
    try:
        corners = [np.array(corner, dtype=float) for corner in corner_parameters(known)]
    except IrrationalError:
        corners = []
    chosen = corners or [some_member(known)]
    return np.array([[*known.payoffs_near(p), *known.frequencies(p)] for p in chosen])


def _errors(game: Game, kind: str, pot: float) -> dict[str, Any]:
    """How far expectations of regularized solutions at one pot are from the published ones."""
    known = published_sets(game.at(pot=Fraction(repr(pot))))[0]
    payoffs, model = known.payoffs_near(some_member(known)), game.payoff_model().at(pot)
    errors = []
    for epsilon in EPSILONS:
        point = continuation(game, kind, epsilon).start(pot)
        errors.append(float(np.abs(model.expected_payoffs(point.behavior) - payoffs).max()))
    slope = np.polyfit(np.log(EPSILONS), np.log(errors), 1)[0]
    return {"kind": kind, "pot": pot, "errors": errors, "order": float(slope)}


def limits(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """What the regularized system does as eps goes to 0: equations (2), (3), (10) to (12)."""
    game = load_game("skp")
    return {
        "responses": [_responses(game, kind) for kind in KINDS],
        "tails": [_tails(game, kind) for kind in KINDS],
        "first_order": _first_order(game),
        "selected": [_selected(game, kind, pot) for kind in KINDS for pot in _RANGE_POTS],
        "guesses": [_guesses(game, epsilon) for epsilon in (0.1, 1e-2, 1e-4)],
    }


def _gains(game: Game, pot: float, behavior: FloatArray) -> FloatArray:
    """Gains (F,) of betting and calling in units of the payoff, at one card of four."""
    values = game.payoff_model().at(pot).counterfactual_values(behavior)
    return 4 * Choices.of(game.tree).gains(values)


def _responses(game: Game, kind: str) -> dict[str, Any]:
    """Pairs of u/eps and b at regularized solutions: points on the graph of g, eq. (2)."""
    choices = Choices.of(game.tree)
    method = continuation(game, kind, _RESPONSE_EPSILON)
    pairs: list[tuple[float, float]] = []
    for pot in np.linspace(2, 6, 41).tolist():
        behavior = method.start(pot).behavior
        scaled = _gains(game, pot, behavior) / _RESPONSE_EPSILON
        pairs += zip(scaled.tolist(), behavior[choices.action].tolist(), strict=True)
    x, b = np.array(sorted(pairs)).T
    return {"kind": kind, "x": x.tolist(), "b": b.tolist(), "falls": float(np.diff(b).min())}


def _tails(game: Game, kind: str) -> dict[str, Any]:
    """Distance of inactive frequencies from their bounds times |u|/eps: A and B of eq. (3)."""
    point = continuation(game, kind, _EPSILON).start(_POT)
    gains = _gains(game, _POT, point.behavior)
    frequencies = point.behavior[Choices.of(game.tree).action]
    distance = np.where(gains < 0, frequencies, 1 - frequencies)
    constants = (distance * np.abs(gains) / _EPSILON)[np.abs(gains) > 1e-3]
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
    exact = solution[choices.action]
    corrections = (point.behavior[choices.action] - exact) / strength
    inside = np.flatnonzero((exact > 1e-6) & (exact < 1 - 1e-6))

    def gains(place: int, value: float) -> FloatArray:
        free = np.r_[exact[:place], value, exact[place + 1 :]]
        return _gains(game, _ISOLATED_POT, choices.behavior(free))[inside]

    matrix = np.column_stack([gains(p, 1.0) - gains(p, 0.0) for p in range(choices.size)])
    wanted = 1 / (1 - exact[inside]) - 1 / exact[inside]
    return {
        "pot": _ISOLATED_POT,
        "inside": len(inside),
        "error": float(np.abs(matrix @ corrections - wanted).max()),
        "size": float(np.abs(wanted).max()),
    }


def _selected(game: Game, kind: str, pot: float) -> dict[str, Any]:
    """c1 and d2 at a pot with a range of equilibria, arrived at on several ways."""
    method = continuation(game, kind, _EPSILON)
    found = [method.start(pot), *(_arrive(method, first, pot) for first in _BRANCHES_FROM)]
    behavior = np.array([point.behavior for point in found])
    layout = published_sets(game)[0].layout
    named = dict(zip(layout.variables, layout.frequencies(behavior[0]).tolist(), strict=True))
    chosen = {"kind": kind, "pot": pot, "c1": named["c1"], "d2": named["d2"]}
    return {**chosen, "ways": len(found), "apart": float(np.ptp(behavior, axis=0).max())}


def _arrive(method: Continuation, first: float, pot: float) -> BranchPoint:
    """The point at a pot to which the branch leads that begins at another one."""
    before = method.start(first)
    for point in method.follow(before, increasing=first < pot):
        if crossings := method.crossings(before, point, pot):
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
    guesses = [rng.uniform(size=choices.size) for _ in range(_STARTS)]
    ends = [root(residual, guess, method="hybr").x for guess in guesses]
    return {
        "epsilon": epsilon,
        "starts": _STARTS,
        "hybr": sum(bool(np.abs(residual(end)).max() < 1e-8) for end in ends),
        "newton": sum(_newton(residual, guess) for guess in guesses),
    }


def _newton(residual: Callable[[FloatArray], FloatArray], free: FloatArray) -> bool:
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
