"""Frames as a child sends them, for tests of what reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.isolation.messages import CandidateFrame, Clocks, SnapshotFrame
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Claim

CLOCKS = Clocks(elapsed_s=0.1, cpu_s=0.1, overhead_s=0.0, work=1)


def candidate(frequencies: NDArray, **changes: Any) -> CandidateFrame:
    """Candidate with a profile; what it claims is `iterate` unless changed."""
    return CandidateFrame(**(_fields(frequencies) | changes))


def handed_over(
    profile: BehaviorProfile, claim: Claim = "equilibrium", claimed_regret: float | None = None
) -> CandidateFrame:
    """Candidate as a solver hands it over, with exact frequencies where they are known."""
    exact = None if profile.exact is None else [str(value) for value in profile.exact]
    claimed = {"claim": claim, "claimed_regret": claimed_regret}
    return candidate(profile.probabilities, exact=exact, **claimed)


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
