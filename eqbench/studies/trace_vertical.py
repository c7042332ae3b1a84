"""Vertical pieces of a branch: equilibria change while the parameter stands still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eqbench.continuation import BranchPoint, Continuation
from eqbench.studies.branch import Branch
from eqbench.studies.trace_follow import FREELY, Control
from eqbench.studies.trace_measure import Measured, measured
from eqbench.studies.trace_stretches import stretches

# Where points of a piece are polished, as shares of its length.
SHARES = (0.15, 0.325, 0.5, 0.675, 0.85)
# Values of the parameter, relative to their size, that differ by no more are the same.
SAME_VALUE = 1e-8


def same_value(one: float, other: float) -> bool:
    """Whether two values of the parameter differ by no more than 1e-8 of their size."""
    return abs(one - other) <= SAME_VALUE * max(abs(one), 1.0)


def vertical_pieces(
    continuation: Continuation,
    branch: Branch,
    still: Sequence[tuple[int, BranchPoint]],
    control: Control = FREELY,
) -> list[dict[str, Any]]:
    """The :func:`stretches` that are vertical without regularization too, for JSON.

    Up to five points of each are polished while the parameter is free, and all of them must
    come out as equilibria at one value. That is the `parameter` of the piece; its `payoffs` are
    the smallest and the largest ones that the polished points have.

    Parameters
    ----------
    still : points of the branch at which the parameter hardly changes, by their row
    control : asked between any two pieces whether to stop

    Raises
    ------
    KeyboardInterrupt
        If the control says so.
    """
    found = []
    for i, j in stretches(branch):
        control.go_on("polishing vertical pieces")
        made = [_polished(continuation, point) for point in _inside(branch, still, i, j)]
        values = [value for value, _ in made]
        if (
            len(made) > 1
            and all(item.is_equilibrium for _, item in made)
            and same_value(max(values), min(values))
        ):
            payoffs = np.array([item.payoffs for _, item in made])
            found.append(
                {
                    "parameter": float(np.median(values)),
                    "payoffs": [payoffs.min(axis=0).tolist(), payoffs.max(axis=0).tolist()],
                }
            )
    return found


def _polished(continuation: Continuation, point: BranchPoint) -> tuple[float, Measured]:
    behavior, value = continuation.polish(point)
    return value, measured(continuation.game_at(value).tree, behavior)


def _inside(
    branch: Branch, still: Sequence[tuple[int, BranchPoint]], i: int, j: int
) -> list[BranchPoint]:
    """Up to five points that are spread over the inside of a stretch."""
    among = [(row, point) for row, point in still if i < row < j]
    if not among:
        return []
    places = branch.arclength[[row for row, _ in among]]
    first, last = branch.arclength[[i, j]]
    nearest = [int(np.abs(places - first - share * (last - first)).argmin()) for share in SHARES]
    return [among[k][1] for k in dict.fromkeys(nearest)]
