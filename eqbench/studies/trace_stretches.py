"""Stretches of a traced branch on which the parameter stands still.

Symbols in shapes: K points.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray
from eqbench.studies.branch import Branch

# Half the width, as a share of the parameter, of what counts as standing still.
TOLERANCE = 1e-3
# At a smooth fold, or where the branch is only steep, little of what lies within the width also
# lies within a fraction of it. At epsilon = 1e-7 vertical pieces of Kuhn poker for three keep
# 69% or more, and everything else 53% or less.
NARROWER, KEPT = 0.025, 0.6
LEAST_LENGTH = 0.05
LEAST_SHARE = 1e-3
# Slope of the parameter on a stretch of the least length that keeps just enough.
SLOPE = 2 * TOLERANCE * NARROWER / (KEPT * LEAST_LENGTH)
# Length of the branch between two points that are kept to be polished.
SPACING = LEAST_LENGTH / 10


def stands_still(change: float, length: float, value: float) -> bool:
    """Whether the parameter hardly changes over a length of the branch."""
    return abs(change) <= SLOPE * max(abs(value), 1.0) * length


def stretches(branch: Branch) -> list[tuple[int, int]]:
    """First and last points of maximal stretches on which the parameter stands still, in order.

    There the parameter stays within 1e-3 of its size to both sides of a value, and most of the
    stretch within a fortieth of that, while frequencies move by more than 0.05 or the payoff of
    some player changes by more than 1e-3 of the payoff range. Where the regularization is strong
    it bends vertical pieces, and then none are found.
    """
    values, arclength = branch.values, branch.arclength
    ends = _last_within(values, 2 * TOLERANCE)
    length = arclength[ends] - arclength
    narrow = _last_within(values, 2 * TOLERANCE * NARROWER)
    found: list[tuple[int, int]] = []
    # the longest first; what overlaps one of them is part of it
    for i in np.argsort(-length, kind="stable").tolist():
        j = int(ends[i])
        if length[i] <= 0 or any(i <= b and a <= j for a, b in found):
            continue
        inner = arclength[np.minimum(narrow[i : j + 1], j)] - arclength[i : j + 1]
        if inner.max() >= KEPT * length[i] and _moves(branch, i, j):
            found.append((i, j))
    return sorted(found)


def _moves(branch: Branch, i: int, j: int) -> bool:
    """Whether enough changes between two points."""
    changes = np.ptp(branch.payoffs[i : j + 1], axis=0)
    return bool(
        branch.arclength[j] - branch.arclength[i] > LEAST_LENGTH
        or changes.max() > LEAST_SHARE * branch.game.tree.payoff_range
    )


def _last_within(values: FloatArray, width: float) -> NDArray[np.int64]:
    """For each point the last one up to which values (K,) stay within a relative width."""
    last = np.empty(len(values), dtype=np.int64)
    # candidates for the least and the largest value from i to j, the present one in front
    least: deque[int] = deque()
    most: deque[int] = deque()
    j = 0
    numbers = values.tolist()
    for i, value in enumerate(numbers):
        allowed = width * max(abs(value), 1.0)
        while j < len(numbers):
            low = min(numbers[j], numbers[least[0]]) if least else numbers[j]
            high = max(numbers[j], numbers[most[0]]) if most else numbers[j]
            if high - low > allowed:
                break
            while least and numbers[least[-1]] >= numbers[j]:
                least.pop()
            while most and numbers[most[-1]] <= numbers[j]:
                most.pop()
            least.append(j)
            most.append(j)
            j += 1
        last[i] = j - 1
        for ends in (least, most):
            if ends[0] == i:
                ends.popleft()
    return last
