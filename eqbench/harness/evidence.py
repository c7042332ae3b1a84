"""From what a child sent to verified findings: nothing is taken on trust."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import ProfileError
from eqbench.harness.frames import CandidateFrame, Frame, ProfileFrame, SnapshotFrame
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import CLAIMS, Candidate
from eqbench.store.schema import EquilibriumRecord, ExactRecord, IdentityRecord
from eqbench.verification import (
    UNRESOLVED,
    Allowance,
    Verification,
    Verifier,
    beyond_floats,
    certify,
    exact_refutation,
    refutation,
)

MAX_SNAPSHOTS = 64
MAX_CANDIDATES = 1024
MAX_CANDIDATE_BYTES = 512 * 2**20


@dataclass(frozen=True)
class Finding:
    """A profile as a solver reported it, with what the verifier measured.

    Attributes
    ----------
    measured : floats; where there is a certificate, its Fractions rounded
    exact : the certificate in Fractions, or None
    """

    candidate: Candidate
    measured: Verification
    refuted: str | None
    work: int
    elapsed_s: float
    exact: Verification | None = None

    @property
    def max_regret(self) -> float:
        return float(self.measured.max_regret)

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """Sorts findings, best first: a proof before what only rounds to less.

        What cannot be measured comes last.
        """
        proved = self.exact is not None and self.exact.max_regret == 0
        return not self.measured.resolved, not proved, self.max_regret

    def record(self, profile: Any, identity: IdentityRecord | None) -> EquilibriumRecord:
        """Record of the finding; `profile` is where its profile is kept.

        A claimed equilibrium that cannot be measured is recorded as one that does not stand.
        """
        claims = self.candidate.claim in ("equilibrium", "complete list")
        unresolved = UNRESOLVED if claims and not self.measured.resolved else None
        return EquilibriumRecord(
            claim=self.candidate.claim,
            payoffs=[float(value) for value in self.measured.payoffs],
            regrets=[float(value) for value in self.measured.regrets],
            nash_conv=float(self.measured.nash_conv),
            max_regret=self.max_regret,
            claimed_regret=self.candidate.claimed_regret,
            refuted=self.refuted or unresolved,
            profile=profile,
            identity=identity,
            exact=None if self.exact is None else _fractions(self.exact),
        )


class Evidence:
    """What a child streamed, bounded in memory whatever it sends.

    When there are 64 snapshots, every second of the older ones goes. Candidates are kept up
    to a number and a size; `dropped` counts those beyond.

    Parameters
    ----------
    frequencies : number of frequencies of a profile of the game

    Attributes
    ----------
    misfit : what is wrong with the first profile that cannot be one of the game; no such is kept
    """

    def __init__(self, frequencies: int) -> None:
        self.snapshots: list[SnapshotFrame] = []
        self.candidates: list[CandidateFrame] = []
        self.dropped = 0
        self.misfit = ""
        self._frequencies, self._bytes = frequencies, 0

    def add(self, frame: Frame) -> None:
        """Take a frame of any kind; others than these two are not evidence."""
        if not isinstance(frame, ProfileFrame):
            return
        sent = len(frame.frequencies) if frame.exact is None else len(frame.exact)
        if not sent == len(frame.frequencies) == self._frequencies:
            self.misfit = self.misfit or (
                f"a profile of this game has {self._frequencies} frequencies; got {sent}"
            )
        elif isinstance(frame, SnapshotFrame):
            if len(self.snapshots) == MAX_SNAPSHOTS:
                self.snapshots = self.snapshots[::2]
            self.snapshots.append(frame)
        elif isinstance(frame, CandidateFrame):
            self._bytes += len(frame.profile) + sum(map(sys.getsizeof, frame.exact or ()))
            if len(self.candidates) < MAX_CANDIDATES and self._bytes <= MAX_CANDIDATE_BYTES:
                self.candidates.append(frame)
            else:
                self.dropped += 1


def measure(
    candidate: Candidate,
    verifier: Verifier,
    *,
    tolerance: float,
    work: int,
    elapsed_s: float,
    allowance: Allowance | None = None,
) -> Finding:
    """Measure a candidate and hold it against its claim.

    A claimed equilibrium, or a claim of no regret at all, is measured exactly if its
    frequencies are known exactly and that is not too much work. Otherwise what the verifier
    measures in floats counts, and nothing is proved.

    Parameters
    ----------
    allowance : for exact measurements of the whole cell; one for this candidate alone unless given

    Raises
    ------
    ProfileError
        If its profile is no profile of this game.
    """
    exact = candidate.profile.exact
    if exact is not None:  # what is known exactly is what counts; the floats follow from it
        candidate = replace(candidate, profile=BehaviorProfile.of_exact(verifier.tree, exact))
    certificate, refuted = None, None
    if candidate.claim in ("equilibrium", "complete list") or candidate.claimed_regret == 0:
        certificate = certify(verifier.tree, candidate.profile, allowance)
    if certificate is None:
        measured = verifier.verify(candidate.profile, allowance)
    else:
        measured = certificate.rounded()
        worst = Fraction(certificate.max_regret)
        refuted = exact_refutation(worst, claimed_regret=candidate.claimed_regret)
    if refuted is None and measured.resolved:
        refuted = refutation(
            float(measured.max_regret),
            claim=candidate.claim,
            claimed_regret=candidate.claimed_regret,
            scale=verifier.tree.payoff_scale,
            tolerance=tolerance,
        )
        refuted = refuted and refuted + beyond_floats(verifier.tree)
    return Finding(candidate, measured, refuted, work, elapsed_s, certificate)


def _fractions(exact: Verification) -> ExactRecord:
    return {
        "payoffs": [str(value) for value in exact.payoffs],
        "regrets": [str(value) for value in exact.regrets],
    }


def measure_frames(
    frames: Sequence[ProfileFrame], verifier: Verifier, tolerance: float
) -> list[Finding]:
    """Measured profiles of frames of a cell, with one allowance for what is measured exactly.

    Raises
    ------
    ProfileError
        As `measure_frame`.
    """
    allowance = Allowance()
    return [measure_frame(frame, verifier, tolerance, allowance) for frame in frames]


def measure_frame(
    frame: ProfileFrame, verifier: Verifier, tolerance: float, allowance: Allowance | None = None
) -> Finding:
    """Measure the profile of a snapshot or candidate frame.

    Raises
    ------
    ProfileError
        If the frame does not hold a profile of this game.
    """
    try:
        exact = None if frame.exact is None else tuple(map(Fraction, frame.exact))
    except ZeroDivisionError:
        raise ProfileError("a frequency has the denominator 0") from None
    return measure(
        Candidate(BehaviorProfile(frame.frequencies, exact), frame.claim, frame.claimed_regret),
        verifier,
        tolerance=tolerance,
        work=frame.clocks.work,
        elapsed_s=frame.clocks.elapsed_s,
        allowance=allowance,
    )


def curve(findings: Sequence[Finding]) -> dict[str, NDArray]:
    """Anytime curve of measured snapshots, as arrays of length K (and (K, N))."""
    width = max(map(len, CLAIMS))
    return {
        "work": np.array([finding.work for finding in findings], dtype=np.int64),
        "elapsed_s": np.array([finding.elapsed_s for finding in findings]),
        "claim": np.array([finding.candidate.claim for finding in findings], dtype=f"U{width}"),
        "regrets": np.array([finding.measured.regrets for finding in findings], dtype=float),
        "payoffs": np.array([finding.measured.payoffs for finding in findings], dtype=float),
    }


def metrics(
    findings: Sequence[Finding],
    *,
    keep: Callable[[int, Finding], Any],
    name: Callable[[Finding], IdentityRecord | None],
) -> dict[str, Any]:
    """Fields of a cell that follow from its measured candidates, best first.

    `keep(rank, finding)` puts a profile somewhere and says where; `name(finding)` says which
    equilibrium it is.
    """
    if not findings:
        return {}
    ordered = sorted(findings, key=lambda finding: finding.rank)
    records = [
        finding.record(keep(rank, finding), name(finding)) for rank, finding in enumerate(ordered)
    ]
    best = records[0]
    return {
        "payoffs": best.payoffs,
        "regrets": best.regrets,
        "nash_conv": best.nash_conv,
        "max_regret": best.max_regret,
        "exploitability": best.nash_conv / len(best.regrets),
        "equilibria": records,
    }
