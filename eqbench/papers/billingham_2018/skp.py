"""Simplified Kuhn poker: published solutions along the pot, and regularized ones close to them.

Symbols in shapes: K pots, N players, V frequencies, F free frequencies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, pairwise, product
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import root

from eqbench.equilibria.known import some_member
from eqbench.equilibria.reference import published_sets
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2017.lists import layout, published_along, skp
from eqbench.papers.billingham_2018.compute import continuation, one_by_one
from eqbench.papers.records import Table
from eqbench.plots.style import power_law

KINDS = ("log", "arctan", "rational")
EPSILONS = tuple(10.0**-k for k in range(3, 9))
# Published solutions end at half-integers and at (a + √b)/c; samples come close from both sides.
_ENDS = [(3, 15, 2), (3, 97, 4), (3, 23, 2), (7, 113, 4), (7, 105, 4)]
_SAMPLED = [
    *(Fraction(200 + k, 100) for k in range(401)),
    *(Fraction((a + sqrt(b)) / c) + Fraction(side, 10**6) for a, b, c in _ENDS for side in (-1, 1)),
]
# At these pots all equilibria have the same payoffs, and at the first the same a1.
_PLAIN_POTS = (2.5, 3.2, 3.6, 5.5)
_POT, _ISOLATED_POT, _EPSILON = 2.5, 3.2, 1e-7
# Pots with a range of equilibria, inside (2, 3), and where branches to them begin.
_RANGE_POTS, _BRANCHES_FROM = (2.2, _POT, 2.8), (2.05, 2.15, 2.85, 2.95)
_RESPONSE_EPSILON, _STARTS, _SOLVED = 0.02, 40, 1e-8


def exact(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Published solutions along the pot, and how regularized expectations come near them."""
    game, errors = skp(), dict[str, dict[str, list[float]]]()
    for kind, pot in product(KINDS, _PLAIN_POTS):
        known = published_sets(game.at(pot=Fraction(repr(pot))))[0]
        model = game.payoff_model().at(pot)
        payoffs = known.payoffs_near(some_member(known))
        found = [continuation(game, kind, epsilon).start(pot).behavior for epsilon in EPSILONS]
        gaps = [np.abs(model.expected_payoffs(own) - payoffs).max() for own in found]
        errors.setdefault(kind, {})[f"pot {pot:g}"] = gaps
    return {
        "exact": published_along(_SAMPLED, ("u1", "u2", "u3", *layout().variables)),
        "errors": errors,
        "orders": {
            kind: {pot: power_law(EPSILONS, gaps)[1] for pot, gaps in by_pot.items()}
            for kind, by_pot in errors.items()
        },
    }


def exact_curves(exact: Table, name: str) -> Iterator[FloatArray]:
    """Pots with the least and greatest values of a figure in each published set, (K, 2) each."""
    for known in exact.values():
        pots, (low, high) = np.array(known["pots"]), np.array(known[name]).T
        if np.ptp(pots) < 1e-9:
            yield np.array([(pots[0], low.min()), (pots[0], high.max())])
            continue
        yield np.column_stack((pots, low))
        if np.abs(high - low).max() > 1e-9:
            yield np.column_stack((pots, high))


def places() -> dict[str, str]:
    """Columns of a branch that hold the payoff of player 1 and the published frequencies."""
    return {"u1": "u:P1", **dict(zip(layout().variables, layout().places, strict=True))}


def limits(folder: Path, jobs: Path, *, full: bool) -> Table:
    """What the regularized system does as eps goes to 0: equations (2), (3), (10) to (12)."""
    game = skp()
    responses = {kind: _responses(game, kind) for kind in KINDS}
    selected = {case: _selected(game, *case) for case in product(KINDS, _RANGE_POTS)}
    return {
        "responses": responses,
        "g": {
            "least rise": [np.diff(b).min() for _, b in responses.values()],
            "ends": [[min(b), max(b)] for _, b in responses.values()],
        },
        "tails": {kind: _tails(game, kind) for kind in KINDS},
        "first corrections": _first_order(game),
        "ways": {f"pot {pot:g}, {kind}": ways for (kind, pot), (ways, _) in selected.items()},
        "Solution 1": {name: [off[name] for _, off in selected.values()] for name in ("c1", "d2")},
        "guesses": {f"{epsilon:g}": _guesses(game, epsilon) for epsilon in (0.1, 1e-2, 1e-4)},
    }


def _gains(game: Game, pot: float) -> Callable[[FloatArray], FloatArray]:
    """Gains (F,) of betting and calling by frequencies (F,), for payoffs at one card of four."""
    choices, model = Choices.of(game.tree), game.payoff_model().at(pot)
    return lambda free: 4 * choices.gains(model.counterfactual_values(choices.behavior(free)))


def _solution(game: Game, kind: str, epsilon: float, pot: float) -> tuple[FloatArray, FloatArray]:
    """Frequencies (F,) of a regularized solution, and the gains at it (F,)."""
    behavior = continuation(game, kind, epsilon).start(pot).behavior
    free = behavior[Choices.of(game.tree).action]
    return free, _gains(game, pot)(free)


def _responses(game: Game, kind: str) -> list[list[float]]:
    """u/eps in ascending order and b at regularized solutions: the graph of g, eq. (2)."""
    pots = np.linspace(2, 6, 41).tolist()
    found = [_solution(game, kind, _RESPONSE_EPSILON, pot) for pot in pots]
    b, gains = np.hstack([np.array(pair) for pair in found])
    order = np.lexsort((b, gains))
    return [(gains[order] / _RESPONSE_EPSILON).tolist(), b[order].tolist()]


def _tails(game: Game, kind: str) -> list[float]:
    """Distance of inactive frequencies from their bounds times |u|/eps: A and B of eq. (3)."""
    free, gains = _solution(game, kind, _EPSILON, _POT)
    distance = np.where(gains < 0, free, 1 - free)
    constants = (distance * np.abs(gains) / _EPSILON)[np.abs(gains) > 1e-3]
    return [constants.min(), constants.max()]


def _first_order(game: Game) -> float:
    """How well first corrections satisfy the linear equations (12) at an isolated solution.

    Corrections are differences between the regularized and the exact solution over eps, and
    derivatives come from the exact solution. It is the error as a share of the right side.
    """
    action, strength = Choices.of(game.tree).action, 1e-6
    method = continuation(game, "log", strength)
    point = method.start(_ISOLATED_POT)
    exact = method.polish(point, _ISOLATED_POT)[0][action]
    corrections = (point.behavior[action] - exact) / strength
    gains = _gains(game, _ISOLATED_POT)
    one, zero = (np.array(list(map(gains, one_by_one(exact, value)))) for value in (1.0, 0.0))
    inside = (exact > 1e-6) & (exact < 1 - 1e-6)
    wanted = 1 / (1 - exact[inside]) - 1 / exact[inside]
    errors = corrections @ (one - zero)[:, inside] - wanted
    return float(np.abs(errors).max() / np.abs(wanted).max())


def _selected(game: Game, kind: str, pot: float) -> tuple[float, dict[str, float]]:
    """How far five ways to a pot with a range of equilibria end apart, and off what is published.

    The published frequencies are those that are the same in the whole range.
    """
    method = continuation(game, kind, _EPSILON)
    ends = [method.start(pot)]
    for first in _BRANCHES_FROM:
        start = method.start(first)
        points = pairwise(chain([start], method.follow(start, increasing=first < pot)))
        ends.append(next(end for both in points for end in method.crossings(*both, pot)))
    behavior = np.array([point.behavior for point in ends])
    (known,) = published_sets(game.at(pot=Fraction(repr(pot))))
    gaps = np.abs(layout().frequencies(behavior[0]) - known.frequencies(some_member(known)))
    return np.ptp(behavior, axis=0).max(), dict(zip(layout().variables, gaps, strict=True))


def _guesses(game: Game, epsilon: float) -> list[int]:
    """How often Powell's and Newton's method solve eq. (6) from guesses uniform in [0, 1]."""

    gains = _gains(game, _ISOLATED_POT)

    def residual(free: FloatArray) -> FloatArray:
        return free - 0.5 - np.arctan(gains(free) / epsilon) / np.pi

    guesses = np.random.default_rng(0).uniform(size=(_STARTS, Choices.of(game.tree).size))
    newton: Any = {"line_search": None, "maxiter": 50, "fatol": _SOLVED}
    ends = [
        [root(residual, guess, method="hybr").x for guess in guesses],
        [root(residual, guess, method="krylov", options=newton).x for guess in guesses],
    ]
    return [sum(bool(np.abs(residual(end)).max() < _SOLVED) for end in found) for found in ends]
