"""Frames as a child sends them, for tests of what reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.harness.frames import CandidateFrame, Clocks, SnapshotFrame

CLOCKS = Clocks(elapsed_s=0.1, cpu_s=0.1, overhead_s=0.0, work=1)


def candidate(frequencies: NDArray, **changes: Any) -> CandidateFrame:
    """Candidate with a profile; what it claims is `iterate` unless changed."""
    return CandidateFrame(**(_fields(frequencies) | changes))


def snapshot(work: int, frequencies: NDArray | None = None) -> SnapshotFrame:
    """Snapshot after `work` iterations."""
    fields = _fields(np.zeros(0) if frequencies is None else frequencies)
    return SnapshotFrame(**(fields | {"clocks": Clocks(0.1, 0.1, 0.0, work)}))


def _fields(frequencies: NDArray) -> dict[str, Any]:
    return {
        "claim": "iterate",
        "claimed_regret": None,
        "exact": None,
        "profile": np.ascontiguousarray(frequencies, dtype="<f8").tobytes(),
        "clocks": CLOCKS,
    }
