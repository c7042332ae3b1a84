"""Trembles: how likely unplayed actions are compared with each other, as they become impossible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST_ORDER = 2**20


@dataclass(frozen=True, eq=False)
class Trembles:
    """Likelihoods of unplayed actions, compared with each other; other entries do not count.

    Such an action is played with frequency ``weight * epsilon**order``, and epsilon goes to 0.

    Attributes
    ----------
    order : int64 (A,)
        From 1 to 2**20 at unplayed actions.
    weight : (A,) floats, or Fractions as objects
        Positive at unplayed actions.
    """

    order: NDArray
    weight: NDArray

    def misfit(self, n_actions: int) -> str:
        """What forbids to hand these over for a game with so many actions; empty if nothing.

        Whether an action is played is for the verifier to say, so all entries are looked at.
        """
        order, weight = np.asarray(self.order), np.asarray(self.weight)
        for name, values in (("orders", order), ("weights", weight)):
            if values.shape != (n_actions,):
                return f"{name} of trembles have shape {values.shape}; expected ({n_actions},)"
        if order.dtype.kind not in "iu" or not ((order >= 1) & (order <= LARGEST_ORDER)).all():
            return f"orders of trembles are whole numbers from 1 to {LARGEST_ORDER}"
        if weight.dtype.kind not in "fO" or not all(map(_is_weight, weight.tolist())):
            return "weights of trembles are positive and finite, floats or Fractions"
        return ""


def _is_weight(value: Any) -> bool:
    """Whether a value is a Fraction or float that is positive and finite as a float."""
    try:
        return isinstance(value, float | Fraction) and 0 < float(value) < math.inf
    except OverflowError:
        return False
