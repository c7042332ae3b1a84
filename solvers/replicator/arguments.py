"""States and times as callers give them, checked, since kernels check no bounds."""

from __future__ import annotations

import numpy as np

from eqbench.errors import UsageError
from eqbench.model.tree import FloatArray


def log_odds(state: FloatArray, size: int, what: str = "the state") -> FloatArray:
    """The state as float64 (F,), contiguous.

    Raises
    ------
    UsageError
        If it does not have `size` entries, or one is not finite.
    """
    state = np.ascontiguousarray(state, dtype=np.float64)
    finite = bool(np.all(np.isfinite(state)))
    if state.shape != (size,) or not finite:
        raise UsageError(
            f"{what} must be {size} finite log-odds; got shape {state.shape}"
            + ("" if finite else " with entries that are not finite")
        )
    return state


def ascending(times: FloatArray) -> FloatArray:
    """The times as float64 (K,), contiguous.

    Raises
    ------
    UsageError
        If there is none, one is not finite, or they do not ascend.
    """
    times = np.ascontiguousarray(times, dtype=np.float64)
    if times.ndim != 1 or not len(times) or not np.all(np.isfinite(times)):
        raise UsageError(
            f"times must be finite and ascending, at least one of them; got shape {times.shape}"
            + ("" if np.all(np.isfinite(times)) else " with entries that are not finite")
        )
    later = np.diff(times) > 0
    if not np.all(later):
        k = int(np.argmin(later))
        raise UsageError(f"times must be ascending; {times[k]:g} is followed by {times[k + 1]:g}")
    return times
