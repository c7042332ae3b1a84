"""Which moving information sets influence each other."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from eqbench.dynamics import Flow
from eqbench.model.tree import FloatArray
from eqbench.studies.regimes.limits import Actions, Limits

# Jacobians that are computed at most.
MOST_POINTS = 16
# Entries below this share of the largest one are no influence.
NO_INFLUENCE = 1e-5


def components_of(
    flow: Flow, states: FloatArray, actions: Actions, limits: Limits
) -> tuple[np.ndarray, ...]:
    """Moving actions that influence each other, as indices into `actions`, in their order.

    Parameters
    ----------
    states : float64 (K, F)
    """
    places = np.flatnonzero(limits.moving)
    if not len(places):
        return ()
    points = limits.since + _points(actions.log_odds[limits.since :, places])
    influence = _influence(flow, states, points)
    start = flow.choices.start
    # Of each free frequency the information set, then the largest entry of each pair of sets.
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    between = np.zeros((len(start) - 1, len(start) - 1))
    np.maximum.at(between, (owner[:, None], owner[None, :]), influence)
    sets = np.unique(actions.choice[places])
    between = between[np.ix_(sets, sets)]
    count, label = connected_components(
        between > NO_INFLUENCE * max(between.max(), np.finfo(float).tiny), directed=False
    )
    group = label[np.searchsorted(sets, actions.choice[places])]
    parts = [places[group == part] for part in range(count)]
    return tuple(sorted(parts, key=lambda part: int(part[0])))


def _points(log_odds: FloatArray) -> np.ndarray:
    """Indices of times at which each action is as far inside as it gets, some if too many."""
    # Near a face an action has hardly any influence, so Jacobians there would not show it.
    inside = np.unique(np.abs(log_odds).argmin(axis=0))
    chosen = np.linspace(0, len(inside) - 1, min(len(inside), MOST_POINTS))
    return inside[chosen.round().astype(int)]


def _influence(flow: Flow, states: FloatArray, points: np.ndarray) -> FloatArray:
    """Largest sizes of the entries of the Jacobian at some points, float64 (F, F)."""
    size = flow.choices.size
    largest = np.zeros((size, size))
    for point in points:
        np.maximum(largest, np.abs(flow.state_jacobian(states[point])), out=largest)
    return largest
