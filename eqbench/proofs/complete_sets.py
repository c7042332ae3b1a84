"""Complete sets of equilibria by the content of their games, and where in them a profile is.

``data/complete_sets.json`` is written by ``tools/complete_sets.py``, which computes the sets in
exact arithmetic; nothing in it is written by hand. Symbols: A actions.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray, GameTree
from eqbench.proofs.checker import content
from eqbench.verdict import Claimed
from eqbench.verification import Allowance

DATA = "data/complete_sets.json"
# Largest difference of a weight to a member of the set that a profile is counted to. A regret at
# the usual target leaves weights open by about its root.
NEAR = 1e-3
# Work of a linear program for the nearest point of a polytope, in the units of an allowance.
PROGRAM_DIGITS = 10**6

Polytope = NDArray[np.float64]  # (corners, A), with weights of one player's own actions


@dataclass(frozen=True)
class CompleteSet:
    """All equilibria of a game as products of polytopes of plans, by component.

    Attributes
    ----------
    components : for each component its products, of one polytope for each player
    isolated : whether all components are points
    """

    components: tuple[tuple[tuple[Polytope, ...], ...], ...]
    isolated: bool


@dataclass(frozen=True)
class Place:
    """The component that an equilibrium is in, of all that the game has, counted from 1."""

    component: int
    of: int
    isolated: bool

    def __str__(self) -> str:
        what = "equilibrium" if self.isolated else "component"
        return f"{what} {self.component} of {self.of}"

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"component": self.component, "of": self.of, "isolated": self.isolated}


def place(claimed: Claimed, allowance: Allowance | None) -> Place | None:
    """Which of all equilibria of its game a profile is; None where they are not known."""
    known = None if claimed.refuted else complete_set(claimed.tree)
    if known is None:
        return None
    weights = plan_weights(claimed.tree, claimed.profile.probabilities)
    nearest, least = None, NEAR
    for number, products in enumerate(known.components, 1):
        for product in products:
            if max(_outside(weights, polytope) for polytope in product) >= least:
                continue
            gap = max(_to_corner(weights, polytope) for polytope in product)
            if gap >= NEAR:
                programs = sum(len(polytope) > 1 for polytope in product)
                if allowance is not None and not allowance.spend(programs * PROGRAM_DIGITS):
                    return None
                gap = max(distance(weights, polytope) for polytope in product)
            if gap < least:
                nearest, least = number, gap
    if nearest is None:
        return None
    return Place(nearest, len(known.components), known.isolated)


# Also of profiles that are no claims, but whose regret is within the tolerance.
place.takes_approximations = True  # type: ignore[attr-defined]


@lru_cache(maxsize=16)
def complete_set(tree: GameTree) -> CompleteSet | None:
    """The complete set of a game that is known by its content; None for all others.

    Payoffs in floats count as the binary fractions that they are.
    """
    sizes = [tree.n_players, tree.n_infosets, tree.n_actions, tree.n_terminals]
    if all(known["sizes"] != sizes for known in _stored().values()):
        return None
    tree = tree.in_integers()
    known = _stored().get(content(tree)) if tree.exact else None
    if known is None:
        return None
    components = tuple(
        tuple(
            tuple(_polytope(own, tree.n_actions) for own in product)
            for product in component["products"]
        )
        for component in known["components"]
    )
    return CompleteSet(components, all(not each["dimension"] for each in known["components"]))


@cache
def _stored() -> dict[str, Any]:
    text = files("eqbench.proofs").joinpath(DATA).read_text(encoding="utf-8")
    games: dict[str, Any] = json.loads(text)["games"]
    return games


def _polytope(corners: Sequence[dict[str, str]], actions: int) -> Polytope:
    """Weights of corners, of which those are stored that are not 0; NaN for others' actions."""
    found = np.full((len(corners), actions), np.nan)
    own = sorted({int(action) for corner in corners for action in corner})
    found[:, own] = [[float(Fraction(corner.get(str(a), "0"))) for a in own] for corner in corners]
    return found


def plan_weights(tree: GameTree, frequencies: FloatArray) -> FloatArray:
    """Products of own frequencies up to each action, float64 (A,)."""
    weights = np.array(frequencies, dtype=np.float64)
    for i, above in enumerate(tree.infoset_parent.tolist()):  # parents come first
        if above >= 0:
            weights[tree.action_start[i] : tree.action_start[i + 1]] *= weights[above]
    return weights


def _outside(weights: FloatArray, polytope: Polytope) -> float:
    """Largest difference of a weight to the range that it has in a polytope; at most `distance`."""
    low, high = polytope.min(axis=0), polytope.max(axis=0)
    return float(np.nanmax(np.maximum(low - weights, weights - high), initial=0.0))


def _to_corner(weights: FloatArray, polytope: Polytope) -> float:
    """Largest difference of a weight to the nearest corner of a polytope; at least `distance`."""
    return float(np.nanmax(np.abs(polytope - weights), axis=1, initial=0.0).min())


def distance(weights: FloatArray, polytope: Polytope) -> float:
    """Largest difference of a weight to the nearest point of a polytope, with weights (A,)."""
    own = ~np.isnan(polytope[0])
    corners, point = polytope[:, own], weights[own]
    if len(corners) == 1:
        return _to_corner(weights, polytope)
    from scipy.optimize import linprog

    count, size = corners.shape
    gap = np.full((2 * size, 1), -1.0)
    rows = np.hstack([np.vstack([corners.T, -corners.T]), gap])
    cost = np.append(np.zeros(count), 1.0)
    whole = np.append(np.ones(count), 0.0)[None]
    found = linprog(cost, rows, np.concatenate([point, -point]), whole, [1.0])
    return np.inf if found.x is None else float(found.x[-1])
