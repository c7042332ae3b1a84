"""From the frames of a child to a verified record: nothing is taken on trust."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import ProfileError
from eqbench.harness.child import Limits, Outcome
from eqbench.harness.frames import Frame
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Candidate
from eqbench.store.schema import EquilibriumRecord, Status
from eqbench.verification import Verification, Verifier, refutation

MAX_SNAPSHOTS = 64
ITERATIVE = ("iterate", "average")


@dataclass(frozen=True)
class Finding:
    """A profile as a solver reported it, with what the verifier measured.

    `measured` is None when the profile is no distribution; `refuted` then says so.
    """

    candidate: Candidate
    measured: Verification | None
    refuted: str | None
    work: int
    elapsed_s: float

    @property
    def max_regret(self) -> float:
        return float("inf") if self.measured is None else float(self.measured.max_regret)

    def record(self, profile: Any) -> EquilibriumRecord:
        """Record of a measured finding; `profile` is where its profile is kept."""
        assert self.measured is not None
        return EquilibriumRecord(
            claim=self.candidate.claim,
            payoffs=[float(value) for value in self.measured.payoffs],
            regrets=[float(value) for value in self.measured.regrets],
            nash_conv=float(self.measured.nash_conv),
            max_regret=self.max_regret,
            claimed_regret=self.candidate.claimed_regret,
            refuted=self.refuted,
            profile=profile,
        )


class SnapshotBuffer:
    """Keeps at most 64 snapshots: when it is full, every second of the older ones goes."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    def add(self, frame: Frame) -> None:
        if len(self.frames) == MAX_SNAPSHOTS:
            self.frames = self.frames[::2]
        self.frames.append(frame)


def measure(
    candidate: Candidate, verifier: Verifier, *, tolerance: float, work: int, elapsed_s: float
) -> Finding:
    """Measure a candidate and hold it against its claim."""
    measured, refuted = None, None
    try:
        measured = verifier.verify(candidate.profile)
    except ProfileError as error:
        refuted = f"not a strategy profile: {error}"
    if measured is not None:
        refuted = refutation(
            float(measured.max_regret),
            claim=candidate.claim,
            claimed_regret=candidate.claimed_regret,
            payoff_range=verifier.tree.payoff_range,
            tolerance=tolerance,
        )
    return Finding(candidate, measured, refuted, work, elapsed_s)


def candidate_of(frame: Frame) -> Candidate:
    """The candidate in a frame, not checked in any way."""
    exact = frame.fields["exact"]
    profile = BehaviorProfile(
        frame.arrays["profile"], None if exact is None else tuple(map(Fraction, exact))
    )
    return Candidate(profile, frame.fields["claim"], frame.fields["claimed_regret"])


def measure_frame(frame: Frame, verifier: Verifier, tolerance: float) -> Finding:
    """Measure the profile of a snapshot or candidate frame."""
    return measure(
        candidate_of(frame),
        verifier,
        tolerance=tolerance,
        work=frame.fields["work"],
        elapsed_s=frame.fields["elapsed_s"],
    )


def judge(
    outcome: Outcome, findings: list[Finding], limits: Limits, *, target: float
) -> tuple[Status, str]:
    """Status and reason of a cell; a refuted candidate outranks how the solver ended."""
    refuted = first_refutation(findings)
    if refuted is not None:
        return "refuted", refuted
    if outcome.ended == "setup timeout":
        return "timeout", f"set-up took more than {limits.setup_s:g} s"
    if outcome.ended == "timeout":
        return "timeout", f"killed after {limits.time_s:g} s"
    if outcome.ended == "memory":
        return "memory", (
            f"killed at {outcome.peak_memory_bytes / 2**20:,.0f} MiB, above the limit of "
            f"{limits.memory_bytes / 2**20:,.0f} MiB"
        )
    last = outcome.last
    if last is None:
        return "crashed", _crash(outcome)
    if last.kind == "error":
        if last.fields["memory"]:
            return "memory", "the solver ran out of memory (MemoryError)"
        return "crashed", f"{last.fields['type']}: {last.fields['message']}"
    if last.kind == "refused":
        return last.fields["status"], last.fields["reason"]
    return ending(last.fields["reason"], last.fields["detail"], findings, target)


def first_refutation(findings: list[Finding]) -> str | None:
    """Why the first refuted candidate is refuted, or None."""
    return next((finding.refuted for finding in findings if finding.refuted), None)


def ending(reason: Any, detail: str, findings: list[Finding], target: float) -> tuple[Status, str]:
    """What an orderly end is worth: `ok` needs a profile that bears out the convergence."""
    if reason != "converged":
        return reason, detail
    if not findings:
        return "not_found", detail or "the solver handed over no profile"
    best = min(findings, key=lambda finding: finding.max_regret)
    stands = any(
        finding.candidate.claim not in ITERATIVE or finding.candidate.claimed_regret is not None
        for finding in findings
    )
    # kernels and verifier agree to rounding, so a target that was just met may be just missed
    if stands or best.max_regret <= target * (1 + 1e-6) + 1e-15:
        return "ok", detail
    return "limit", (
        f"the solver stopped at a measured max regret of {best.max_regret:.3g}, "
        f"above the target {target:.3g}"
    )


def _crash(outcome: Outcome) -> str:
    if outcome.ended == "garbled":
        return "it wrote into the channel to the harness"
    code = outcome.exit_code
    how = f"exit code {code}"
    if code is not None and code < 0:
        how = f"signal {signal.Signals(-code).name}"
    tail = outcome.log.splitlines()[-1:] if outcome.log else []
    return ": ".join([f"the process ended with {how}", *tail])


def curve(findings: list[Finding]) -> dict[str, NDArray]:
    """Anytime curve of the measured snapshots, as arrays of length K."""
    measured = [finding for finding in findings if finding.measured is not None]
    return {
        "work": np.array([finding.work for finding in measured], dtype=np.int64),
        "elapsed_s": np.array([finding.elapsed_s for finding in measured]),
        "claim": np.array([finding.candidate.claim for finding in measured], dtype="U16"),
        "regrets": np.array([finding.measured.regrets for finding in measured]),  # type: ignore[union-attr]
        "payoffs": np.array([finding.measured.payoffs for finding in measured]),  # type: ignore[union-attr]
    }


def metrics(findings: list[Finding], keep: Callable[[int, Finding], Any]) -> dict[str, Any]:
    """Fields of a cell that follow from its measured candidates, best first.

    `keep(rank, finding)` puts a profile somewhere and says where.
    """
    measured = [finding for finding in findings if finding.measured is not None]
    if not measured:
        return {}
    measured.sort(key=lambda finding: finding.max_regret)
    records = [finding.record(keep(rank, finding)) for rank, finding in enumerate(measured)]
    best = records[0]
    return {
        "payoffs": best.payoffs,
        "regrets": best.regrets,
        "nash_conv": best.nash_conv,
        "max_regret": best.max_regret,
        "exploitability": best.nash_conv / len(best.regrets),
        "equilibria": records,
    }
