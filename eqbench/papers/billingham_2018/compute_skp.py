"""The exact solution of simplified Kuhn poker beside which regularized branches are held.

Symbols in shapes: K pots, N players, V frequencies.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.continuation import Continuation
from eqbench.equilibria.corners import corner_parameters
from eqbench.equilibria.expressions import IrrationalError
from eqbench.equilibria.known import some_member
from eqbench.equilibria.reference import KnownSet, published_sets
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2018.jobs import KINDS
from eqbench.registry import load_game, load_solver

FIRST, LAST = Fraction(2), Fraction(6)
# At these pots all equilibria have the same payoffs, and at the first the same a1.
PLAIN_POTS = (2.5, 3.2, 3.6, 5.5)
EPSILONS = tuple(10.0**-k for k in range(3, 9))
SAMPLES = 401
# Where published solutions end other than at half-integers; samples come close from both sides.
IRRATIONAL_ENDS = (
    (3 + sqrt(15)) / 2,
    (3 + sqrt(97)) / 4,
    (3 + sqrt(23)) / 2,
    (7 + sqrt(113)) / 4,
    (7 + sqrt(105)) / 4,
)
_BESIDE = Fraction(1, 10**6)


def exact(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Published solutions along the pot, and how regularized expectations come near them."""
    game = load_game("skp")
    return {
        "exact": list(_exact_sets(game)),
        "errors": [_errors(game, kind, pot) for kind in KINDS for pot in PLAIN_POTS],
    }


def _exact_sets(game: Game) -> Iterator[dict[str, Any]]:
    """Pots, least and greatest payoffs and frequencies of all published sets, sampled."""
    found: dict[str, list[list[float]]] = {}
    variables: tuple[str, ...] = ()
    step = (LAST - FIRST) / (SAMPLES - 1)
    pots = [FIRST + k * step for k in range(SAMPLES)]
    pots += [Fraction(end) + side for end in IRRATIONAL_ENDS for side in (-_BESIDE, _BESIDE)]
    for pot in sorted(pots):
        for known in published_sets(game.at(pot=pot)):
            variables = tuple(known.layout.variables)
            members = np.array([_figures(known, p) for p in _corners(known)])
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


def _corners(known: KnownSet) -> list[FloatArray]:
    """Parameters of the corners of a set, or of a member where they cannot be had."""
    try:
        corners = [np.array(corner, dtype=float) for corner in corner_parameters(known)]
    except IrrationalError:
        corners = []
    return corners or [some_member(known)]


def _figures(known: KnownSet, parameters: FloatArray) -> FloatArray:
    """Payoffs and frequencies (N + V,) of a member."""
    return np.concatenate((known.payoffs_near(parameters), known.frequencies(parameters)))


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


def continuation(
    game: Game, kind: str, epsilon: float, derivative: str = "counterfactual"
) -> Continuation:
    """The solver that follows branches, for this game and regularization."""
    options = f"epsilon={epsilon},regularization={kind},derivative={derivative}"
    solver: Any = load_solver(f"arclength({options})")
    followed: Continuation = solver.continuation(game)
    return followed
