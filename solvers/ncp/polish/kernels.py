"""Compiled passes over the information sets of realization plans.

Information sets stand in the order of a player's decisions, so that one pass forward or
backward is enough. Symbols: S sequences, I information sets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.tree import FloatArray, IntArray


@kernel
def make_feasible(block_start: IntArray, parent: IntArray, weights: FloatArray) -> None:
    """Turn `weights` (S,) into realization plans, in place.

    Negative weights become 0; each information set shares out what leads there in the ratio of
    its weights, equally where these are all 0.
    """
    for i in range(len(parent)):
        first, last = block_start[i], block_start[i + 1]
        total = 0.0
        for s in range(first, last):
            weights[s] = max(weights[s], 0.0)
            total += weights[s]
        above = weights[parent[i]]
        for s in range(first, last):
            if total > 0.0:
                # the share first: of weights near the smallest floats the product would be 0
                weights[s] = above * (weights[s] / total)
            else:
                weights[s] = above / (last - first)


@kernel
def continue_play(
    block_start: IntArray, parent: IntArray, chosen: NDArray[np.int64], values: FloatArray
) -> None:
    """Turn direct values (S,) into values with later play of the chosen sequences, in place.

    ``chosen[i]`` (I,) is the sequence played at information set i; where it is negative it
    becomes the first of the best ones.
    """
    for back in range(len(parent)):
        i = len(parent) - 1 - back
        if chosen[i] < 0:
            best = block_start[i]
            for s in range(block_start[i] + 1, block_start[i + 1]):
                if values[s] > values[best]:
                    best = s
            chosen[i] = best
        values[parent[i]] += values[chosen[i]]


@kernel
def continue_derivatives(parent: IntArray, chosen: NDArray[np.int64], matrix: FloatArray) -> None:
    """From derivatives of direct values (rows) to those of values with later play, in place."""
    for back in range(len(parent)):
        i = len(parent) - 1 - back
        for t in range(matrix.shape[1]):
            matrix[parent[i], t] += matrix[chosen[i], t]


@kernel
def mark_earlier(parent: IntArray, infoset_of: IntArray, marked: NDArray[np.bool_]) -> None:
    """Mark, in place in `marked` (S,), whatever leads to a marked sequence of the same player."""
    for s in range(len(marked) - 1, -1, -1):
        if marked[s] and infoset_of[s] >= 0:
            marked[parent[infoset_of[s]]] = True
