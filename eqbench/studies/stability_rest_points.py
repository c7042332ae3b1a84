"""Rest points of a flow that are no equilibria.

A flow also rests where nobody plays an action that would gain. In a game of perfect recall a
regret needs some counterfactual gain (Zinkevich et al. 2007, theorem 3), and at a rest point only
actions that are not played can have one; it is an eigenvalue. So every rest point that is no
equilibrium is unstable (Billingham 2017, section 4.1); here this is put to the test.

Symbols in shapes: A actions, F free frequencies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.dynamics import Flow
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray
from eqbench.studies.branch_points import action_labels
from eqbench.studies.stability_sets import Examiner, Looked
from eqbench.studies.stability_spectrum import blocks, spread

_STEPS = 40
_SINGULAR = 1e-12
_HOPELESS = 0.9  # share of the differences in growth that no step removes
_MOST_OF_THE_WAY = 0.9  # to the border of a face that a step may go
_CONVERGED = 1e-13  # of gains on the face, as a share of the largest derivative of one
_INSIDE = 1e-6  # least frequency of a rest point inside its face
_SAME = 1e-7


def rest_points(
    game: Game,
    flow: Flow,
    draws: int,
    seed: int,
    interrupted: Callable[[], bool] = lambda: False,
) -> tuple[list[Looked], dict[str, Any]]:
    """Distinct rest points that are no equilibria, and figures of the search as JSON values.

    Each draw takes a share at random; so many information sets are mixed, on a random set of their
    actions, and the others pure. From a point inside that face Newton's method looks for one
    where played actions do equally well.

    Parameters
    ----------
    draws : how many faces
    interrupted : asked before each draw whether to stop
    """
    rng, examiner = np.random.default_rng(seed), Examiner(game, flow)
    found: list[Looked] = []
    arrived = equilibria = drawn = 0
    while drawn < draws and not interrupted():
        drawn += 1
        behavior = _rest_point(flow, _random_point(flow.choices, rng))
        if behavior is None:
            continue
        looked = examiner.look(behavior)
        arrived += looked.spectrum.is_rest_point
        equilibria += looked.spectrum.is_rest_point and looked.is_equilibrium
        if looked.spectrum.is_rest_point and not looked.is_equilibrium and _is_new(looked, found):
            found.append(looked)
    growth = [float(each.spectrum.eigenvalues.real.max()) for each in found]
    figures = {
        "draws": drawn,
        "arrived": int(arrived),
        "equilibria": int(equilibria),
        "distinct": len(found),
        "faces": len({tuple(each.behavior > 0) for each in found}),
        "unstable": sum(each.spectrum.counts["unstable"] > 0 for each in found),
        "unstable_across": sum(each.spectrum.across > 0 for each in found),
        "least_growth": min(growth, default=None),
    }
    return found, figures


def entries(game: Game, found: list[Looked]) -> list[dict[str, Any]]:
    """Rest points as JSON values, with the frequencies of actions that are played."""
    labels = action_labels(game.tree)
    free = np.concatenate([np.zeros(0, dtype=np.int64), *blocks(Choices.of(game.tree))])
    return [
        each.to_json()
        | {"frequencies": {labels[a]: float(each.behavior[a]) for a in free if each.behavior[a]}}
        for each in found
    ]


def _random_point(choices: Choices, rng: np.random.Generator) -> FloatArray:
    """A point (A,) inside a face, both at random."""
    behavior, mixed = np.ones(choices.n_actions), rng.random()
    for block in blocks(choices):
        played = rng.integers(2, len(block) + 1) if rng.random() < mixed else 1
        behavior[block] = 0.0
        behavior[rng.permutation(block)[:played]] = rng.dirichlet(np.ones(played))
    return behavior


def _rest_point(flow: Flow, behavior: FloatArray) -> FloatArray | None:
    """The rest point (A,) that Newton's method finds inside a face; None if it finds none."""
    choices = flow.choices
    first, action = _pairs(choices, behavior)
    everywhere = spread(choices.action, choices.first, choices.n_actions)
    directions = spread(action, first, choices.n_actions)
    played = np.append(action, first)
    for _ in range(_STEPS):
        gains, slopes = _gains(flow, behavior, everywhere)
        gap = gains[action] - gains[first]
        limit = _CONVERGED * max(np.abs(slopes).max(initial=0.0), np.finfo(float).tiny)
        if np.abs(gap).max(initial=0.0) <= limit:
            return behavior
        matrix = (slopes[action] - slopes[first]) @ directions[choices.action]
        change = np.linalg.lstsq(matrix, -gap, rcond=_SINGULAR)[0]
        if np.linalg.norm(matrix @ change + gap) > _HOPELESS * np.linalg.norm(gap):
            return None  # for example where a gain is the same all over the face
        step = directions @ change
        falling = step < 0
        way = (behavior[falling] / -step[falling]).min(initial=np.inf)
        behavior = np.maximum(behavior + min(1.0, _MOST_OF_THE_WAY * way) * step, 0.0)
        if behavior[played].min(initial=1.0) < _INSIDE:
            return None
    return None


def _gains(
    flow: Flow, behavior: FloatArray, everywhere: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Growth rates of the frequencies (A,), and derivatives (A, F); zero where nothing is played.

    A frequency f that changes by v grows at the rate v / f.
    """
    inverse = np.divide(1.0, behavior, out=np.zeros_like(behavior), where=behavior > 0)
    rates = everywhere @ flow.frequency_velocity(behavior) * inverse
    slopes = (everywhere @ flow.frequency_jacobian(behavior)) * inverse[:, None]
    slopes -= (rates * inverse)[:, None] * everywhere
    return rates, slopes


def _pairs(choices: Choices, behavior: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First played action of each information set, and the others, for each of the others."""
    first, action = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for block in blocks(choices):
        played = block[behavior[block] > 0]
        action.append(played[1:])
        first.append(np.full(len(played) - 1, played[0]))
    return np.concatenate(first), np.concatenate(action)


def _is_new(looked: Looked, found: list[Looked]) -> bool:
    return all(np.abs(looked.behavior - each.behavior).max() > _SAME for each in found)
