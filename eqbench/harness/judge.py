"""What a solver handed over is measured, and its cell judged: nothing is taken on trust."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from eqbench.equilibria import Identifier, completeness
from eqbench.errors import ProfileError, counted
from eqbench.isolation.child import GRACE_S, Outcome
from eqbench.isolation.messages import (
    CandidateFrame,
    DoneFrame,
    ErrorFrame,
    Frame,
    JointFrame,
    ProfileFrame,
    RefusedFrame,
    SnapshotFrame,
)
from eqbench.model.dealt_form import UnbuiltTree
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, completed_rows
from eqbench.model.tree import GameTree
from eqbench.solver import ENDINGS, Candidate, Limits
from eqbench.store.schema import (
    EQUILIBRIA,
    EquilibriumRecord,
    ExactRecord,
    IdentityRecord,
    JointRecord,
    Status,
)
from eqbench.verdict import Claimed, Judgment, judge_claims, stored
from eqbench.verification import (
    UNRESOLVED,
    Allowance,
    Verification,
    Verifier,
    beyond_floats,
    certify,
    exact_refutation,
    means_of_measuring,
    refutation,
    verify_joint,
)

MAX_SNAPSHOTS = 64
MAX_CANDIDATES = 1024
MAX_CANDIDATE_BYTES = 512 * 2**20
# Profiles of joint play times nodes; so many take some ten seconds.
MAX_JOINT_NODES = 5 * 10**7
# Without a target a solver may stop at a regret of its own, but not call anything converged.
OWN_REGRET_SHARE = 1e-3
# A solver that stops at its target may have computed it in another order.
TARGET_SLACK = 1 + 1e-6
# Ends that do not matter where the profile that the cell shows meets the target all the same.
SHORT_ENDS = frozenset({"limit", "stopped", "timeout", "memory", "failed", "not_found"})

Verdict = tuple[Status, str]


class Received:
    """Profiles that a solver reported, bounded in memory whatever it sends.

    When there are 64 snapshots, every second of the older ones goes. Candidates are kept up
    to a number and a size; `dropped` counts those beyond.

    Parameters
    ----------
    frequencies : number of frequencies of a profile of the game

    Attributes
    ----------
    misfit : what is wrong with the first profile that cannot be one of the game; no such is kept
    newest : profile that was reported last, if any was
    joint : joint play that was reported last, if any was
    """

    def __init__(self, frequencies: int) -> None:
        self.snapshots: list[SnapshotFrame] = []
        self.candidates: list[CandidateFrame] = []
        self.dropped = 0
        self.misfit = ""
        self.newest: ProfileFrame | None = None
        self.joint: JointFrame | None = None
        self._frequencies, self._bytes = frequencies, 0

    def add(self, frame: Frame) -> None:
        """Take a frame of any kind; others than profiles are not kept."""
        if isinstance(frame, JointFrame):
            if len(frame.profiles) != self._frequencies * len(frame.weights):
                self.misfit = self.misfit or (
                    f"joint play of this game has {self._frequencies} frequencies for each weight"
                )
            else:
                self.joint = frame
        if not isinstance(frame, ProfileFrame):
            return
        sent = len(frame.frequencies) if frame.exact is None else len(frame.exact)
        if not sent == len(frame.frequencies) == self._frequencies:
            self.misfit = self.misfit or (
                f"a profile of this game has {self._frequencies} frequencies; got {sent}"
            )
            return
        trembles = frame.trembles if isinstance(frame, CandidateFrame) else None
        misfit = "" if trembles is None else trembles.trembles().misfit(self._frequencies)
        if misfit:
            self.misfit = self.misfit or misfit
            return
        self.newest = frame
        if isinstance(frame, SnapshotFrame):
            if len(self.snapshots) == MAX_SNAPSHOTS:
                self.snapshots = self.snapshots[::2]
            self.snapshots.append(frame)
        elif isinstance(frame, CandidateFrame):
            self._bytes += len(frame.profile) + sum(map(sys.getsizeof, frame.exact or ()))
            if trembles is not None:
                self._bytes += sum(map(sys.getsizeof, [*trembles.order, *trembles.weight]))
            if len(self.candidates) < MAX_CANDIDATES and self._bytes <= MAX_CANDIDATE_BYTES:
                self.candidates.append(frame)
            else:
                self.dropped += 1


@dataclass(frozen=True)
class MeasuredProfile:
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
    def rank(self) -> tuple[bool, bool, float, bool]:
        """Sorts findings, best first: a proof before what only rounds to less.

        What cannot be measured comes last; of equal regrets a claim comes first.
        """
        proved = self.exact is not None and self.exact.max_regret == 0
        return not self.measured.resolved, not proved, self.max_regret, not self.claims

    def as_found(self) -> MeasuredProfile:
        """The same without the claim that there are no other equilibria."""
        if self.candidate.claim != "complete list":
            return self
        return replace(self, candidate=replace(self.candidate, claim="equilibrium"))

    @property
    def claims(self) -> bool:
        """Whether an equilibrium is claimed, and not proved to be only an approximation."""
        return self.candidate.claim in EQUILIBRIA and not self.disproved

    @property
    def disproved(self) -> bool:
        """Whether a claimed equilibrium is proved to be none, however small its regret is."""
        is_claimed = self.candidate.claim in EQUILIBRIA
        return is_claimed and self.exact is not None and self.exact.max_regret > 0

    def claimed(self, tree: GameTree, tolerance: float = -1.0) -> Claimed | None:
        """The claim of an equilibrium for verdicts to judge; None if there is none.

        What is no claim is an approximation if its regret is within the tolerance, a share of the
        payoff scale; as a rule it is none.
        """
        profile, exact, refuted = self.candidate.profile, self.exact is not None, self.refuted
        if self.claims:
            return Claimed(tree, profile, exact, refuted is not None, self.candidate.trembles)
        if refuted or not self.measured.resolved or self.max_regret > tolerance * tree.payoff_scale:
            return None
        return Claimed(tree, profile, exact, approximates=True)

    def record(
        self,
        profile: Any,
        identity: IdentityRecord | None,
        judgments: Mapping[str, Judgment] = MappingProxyType({}),
    ) -> EquilibriumRecord:
        """Record of the finding; `profile` is where its profile is kept.

        A claimed equilibrium that cannot be measured is recorded as one that does not stand, and
        one that is proved to be none, but within the tolerance, as an iterate.
        """
        unresolved = UNRESOLVED if self.claims and not self.measured.resolved else None
        return EquilibriumRecord(
            claim="iterate" if self.disproved and not self.refuted else self.candidate.claim,
            payoffs=[float(value) for value in self.measured.payoffs],
            regrets=[float(value) for value in self.measured.regrets],
            nash_conv=float(self.measured.nash_conv),
            max_regret=self.max_regret,
            claimed_regret=self.candidate.claimed_regret,
            refuted=self.refuted or unresolved,
            profile=profile,
            identity=identity,
            exact=None if self.exact is None else _fractions(self.exact),
            error=self.measured.error,
            **stored(judgments),
        )


def _fractions(exact: Verification) -> ExactRecord:
    return {
        "payoffs": [str(value) for value in exact.payoffs],
        "regrets": [str(value) for value in exact.regrets],
    }


@dataclass(frozen=True)
class JudgedCell:
    """What the end of a cell is worth, and the measurements on which that rests.

    Attributes
    ----------
    path : measured snapshots
    handed : measured candidates, best first; without any, the last snapshot
    identities : for each of `handed` which known equilibrium it is, None if none is near
    judgments : for each of `handed` what verdicts find, by their names
    joint : what the joint play is worth that the solver kept, None if it kept none
    """

    outcome: Outcome
    status: Status
    reason: str
    path: list[MeasuredProfile]
    handed: list[MeasuredProfile]
    identities: list[IdentityRecord | None]
    judgments: list[dict[str, Judgment]]
    joint: JointRecord | None = None

    def fields(self, profiles: Iterable[Any]) -> dict[str, Any]:
        """Fields of the record of the cell; `profiles` says where those of `handed` are kept.

        Times are those of the solver's clocks, or as seen from outside if it died.
        """
        clocks, last = self.outcome.clocks, self.outcome.last
        ended = last if isinstance(last, DoneFrame | ErrorFrame) else None
        elapsed_s = None
        if ended is not None and ended.clocks is not None:
            elapsed_s = ended.clocks.elapsed_s
        elif self.outcome.ready:
            overhead_s = 0.0 if clocks is None else clocks.overhead_s
            elapsed_s = max(self.outcome.solve_s - overhead_s, 0.0)
        known: dict[str, Any] = {
            "status": self.status,
            "reason": self.reason,
            "setup_s": self.outcome.setup_s,
            "elapsed_s": elapsed_s,
            "statistics": {} if ended is None else ended.statistics,
            "joint": self.joint,
        }
        if clocks is not None:
            known |= {"cpu_s": clocks.cpu_s, "overhead_s": clocks.overhead_s}
            known["iterations"] = clocks.work
        if self.handed:
            parts = zip(self.handed, profiles, self.identities, self.judgments, strict=True)
            equilibria = [finding.record(*known_of) for finding, *known_of in parts]
            best = equilibria[0]
            known |= {"payoffs": best.payoffs, "regrets": best.regrets}
            known |= {"nash_conv": best.nash_conv, "max_regret": best.max_regret}
            known["exploitability"] = best.nash_conv / len(best.regrets)
            known["equilibria"] = equilibria
        return known


class Judge:
    """Measures and judges what solvers hand over on one game; several threads may share it."""

    def __init__(self, game: Game) -> None:
        self.verifier, self.identifier = Verifier(game.tree), Identifier(game)

    def judge(
        self,
        outcome: Outcome,
        received: Received,
        limits: Limits,
        *,
        target: float,
        tolerance: float,
    ) -> JudgedCell:
        """Measure all profiles of a cell and say what its end is worth.

        Raises
        ------
        ProfileError
            If what was received are no profiles of this game.
        """
        if received.misfit:
            raise ProfileError(received.misfit)
        path = measure_all(received.snapshots, self.verifier, tolerance, target)
        handed = measure_all(received.candidates, self.verifier, tolerance, target) or path[-1:]
        tree = self.verifier.tree
        status, reason = verdict(outcome, handed, path, limits, target=target, tree=tree)
        if status != "refuted" and (disproved := sum(finding.disproved for finding in handed)):
            proved = f"{counted(disproved, 'claim')} of an equilibrium disproved by an exact regret"
            reason = "; ".join(filter(None, [proved, reason]))
            handed = [finding.as_found() for finding in handed]
        reason = "; ".join(filter(None, [reason, *means_of_measuring(tree).values()]))
        if received.dropped:
            reason += f"; dropped {counted(received.dropped, 'further candidate')}"
        if status != "refuted" and (missing := self._missing(handed)):
            reason = "; ".join(filter(None, [missing, reason]))
            handed = [finding.as_found() for finding in handed]
        handed.sort(key=lambda finding: finding.rank)
        known = [
            self.identifier.identify(finding.candidate.profile, finding.max_regret)
            for finding in handed
        ]
        identities = [
            None if each is None else cast("IdentityRecord", each.to_json()) for each in known
        ]
        judgments = judge_claims([finding.claimed(tree, tolerance) for finding in handed])
        joint = None
        if received.joint is not None:
            size = len(received.joint.weights) // 8 * tree.n_nodes
            if isinstance(tree, UnbuiltTree) or tree.is_wide or size > MAX_JOINT_NODES:
                reason += "; joint play was not measured: too much work, or payoffs too wide"
            else:
                joint = measure_joint(received.joint, tree)
        return JudgedCell(outcome, status, reason, path, handed, identities, judgments, joint)

    def _missing(self, handed: Sequence[MeasuredProfile]) -> str:
        """How a list that is claimed to be complete is proved incomplete; empty if it is not."""
        listed = [each for each in handed if each.candidate.claim == "complete list"]
        if not listed:
            return ""
        profiles, regrets = zip(*((e.candidate.profile, e.max_regret) for e in listed), strict=True)
        found = completeness(self.identifier.game, profiles, regrets)
        return str(found) if found is not None and found.verdict == "proved incomplete" else ""


def measure_joint(frame: JointFrame, tree: GameTree) -> JointRecord:
    """Measure the joint play of a frame; ProfileError if it is none of this game."""
    weights = np.frombuffer(frame.weights, "<f8")
    profiles = np.frombuffer(frame.profiles, "<f8").reshape(len(weights), -1)
    measured = verify_joint(tree, [BehaviorProfile.of(tree, row) for row in profiles], weights)
    return {
        "iterations": frame.iterations,
        "profiles": len(weights),
        "payoffs": list(map(float, measured.payoffs)),
        "gains": list(map(float, measured.gains)),
        "cce_gap": float(measured.gap),
        "error": measured.error,
    }


def measure_all(
    frames: Sequence[ProfileFrame],
    verifier: Verifier,
    tolerance: float,
    target: float | None = None,
) -> list[MeasuredProfile]:
    """Measure frames of a cell, with one allowance for what is measured exactly."""
    allowance = Allowance()
    return [measure(frame, verifier, tolerance, allowance, target) for frame in frames]


def measure(
    frame: ProfileFrame,
    verifier: Verifier,
    tolerance: float,
    allowance: Allowance | None = None,
    target: float | None = None,
) -> MeasuredProfile:
    """Measure the profile of a frame and hold it against its claim.

    A claimed equilibrium, or a claim of no regret at all, is measured exactly if its
    frequencies are known exactly and that is not too much work. Otherwise what the verifier
    measures in floats counts, and nothing is proved.

    Parameters
    ----------
    tolerance : share of the payoff range above which a claimed equilibrium is refuted
    allowance : for exact measurements of the whole cell; one for this frame alone unless given
    target : whether the max regret is within it is to be decided, in integers if need be

    Raises
    ------
    ProfileError
        If its profile is not a profile of this game.
    """
    tree = verifier.tree
    if frame.exact is None:
        profile = BehaviorProfile.of(tree, frame.frequencies)
    else:  # what is known exactly is what counts; the floats follow from it
        try:
            exact = tuple(map(Fraction, frame.exact))
        except ZeroDivisionError:
            raise ProfileError("a frequency has the denominator 0") from None
        profile = BehaviorProfile.of_exact(tree, exact)
    sent = frame.trembles if isinstance(frame, CandidateFrame) else None
    trembles = None if sent is None else sent.trembles()
    certificate, refuted = None, None
    if frame.claim in EQUILIBRIA or frame.claimed_regret == 0:
        certificate = certify(tree, profile, allowance)
    if certificate is None and profile.exact is not None:  # as it is measured, so it is stored
        profile = replace(profile, exact=completed_rows(tree, profile))
    candidate = Candidate(profile, frame.claim, frame.claimed_regret, trembles)
    if certificate is None:
        allowed = None if target is None else target * TARGET_SLACK
        measured = verifier.verify(candidate.profile, allowance, allowed)
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
    work, elapsed_s = frame.clocks.work, frame.clocks.elapsed_s
    return MeasuredProfile(candidate, measured, refuted, work, elapsed_s, certificate)


def verdict(
    outcome: Outcome,
    handed: Sequence[MeasuredProfile],
    path: Sequence[MeasuredProfile],
    limits: Limits,
    *,
    target: float,
    tree: GameTree,
) -> Verdict:
    """Return status and reason of a cell.

    Parameters
    ----------
    handed : candidates, whose figures the cell will show
    path : snapshots on the way; they can be refuted, but they do not bear out convergence
    """
    if refuted := next((each.refuted for each in (*handed, *path) if each.refuted), None):
        return "refuted", refuted
    status: Status
    match outcome:
        case Outcome(ended="setup timeout"):
            status, reason = "timeout", f"set-up took more than {limits.setup_timeout_s:g} s"
        case Outcome(ended="timeout"):
            status = "timeout"
            reason = f"killed {GRACE_S:g} s after its limit of {limits.timeout_s:g} s"
        case Outcome(ended="memory"):
            peak, most = outcome.peak_memory_bytes / 2**20, limits.memory_bytes / 2**20
            status, reason = (
                "memory",
                f"killed at {peak:,.0f} MiB, above the limit of {most:,.0f} MiB",
            )
        case Outcome(ended="interrupted"):
            status, reason = "interrupted", "the run was interrupted"
        case Outcome(ended="garbled"):
            status, reason = "crashed", outcome.garbled
        case Outcome(last=None):
            status, reason = "crashed", _crash(outcome)
        case Outcome(last=ErrorFrame(memory=True)):
            status, reason = "memory", "the solver ran out of memory (MemoryError)"
        case Outcome(last=ErrorFrame() as error):
            status, reason = "crashed", f"{error.type}: {error.message}"
        case Outcome(last=RefusedFrame() as refusal):
            status, reason = refusal.status, refusal.reason
        case Outcome(last=DoneFrame() as done):
            status, reason = ending(done.reason, done.detail, handed, target=target, tree=tree)
        case _:
            kind = outcome.last and outcome.last.kind
            reason = f"it answered a job with {kind!r} that does not ask for that"
            status = "crashed"
    if status in SHORT_ENDS and target > 0 and meets(target, handed, tree):
        return "ok", reason
    return status, reason


def meets(target: float, handed: Sequence[MeasuredProfile], tree: GameTree) -> bool:
    """Whether a measured max regret is within the target, with all that rounding may hide."""
    most = [item.max_regret + item.measured.error for item in handed if item.measured.resolved]
    return any(regret <= target * TARGET_SLACK for regret in most)


def ending(
    reason: str, detail: str, handed: Sequence[MeasuredProfile], *, target: float, tree: GameTree
) -> Verdict:
    """What an orderly end is worth: `ok` needs a measured max regret within the target.

    Without a target, which is one of 0, a claimed equilibrium that stands is enough, or a bound on
    the regret that stands.
    """
    if reason not in ENDINGS or not isinstance(detail, str):
        return "crashed", f"the solver ended with an unknown reason: {reason!r}, {detail!r}"
    if reason != "converged":
        return reason, detail
    if not handed:
        return "not_found", detail or "the solver handed over no profile"
    if meets(target, handed, tree):
        return "ok", detail
    regrets = [(item.max_regret, item.measured.error) for item in handed if item.measured.resolved]
    if not regrets:
        return "stopped", f"its profiles are too large to be measured exactly{beyond_floats(tree)}"
    stands = OWN_REGRET_SHARE * tree.payoff_scale
    bounded = [item for item in handed if item.claims or item.candidate.claimed_regret is not None]
    if not target and any(item.measured.resolved and item.max_regret <= stands for item in bounded):
        return "ok", detail
    detail = f": {detail}" if detail else ""
    least, error = min(regrets)
    within = f" with an error of up to {error:.2g}" if least <= target * TARGET_SLACK else ""
    return "stopped", (
        f"stopped by its own rule at a measured max regret of {least:.3g}{within}, above the "
        f"target {target:.3g}{beyond_floats(tree)}{detail}"
    )


def _crash(outcome: Outcome) -> str:
    code = outcome.exit_code
    how = f"exit code {code}"
    if code is not None and code < 0:
        names = {number.value: number.name for number in signal.Signals}
        how = f"signal {names.get(-code, -code)}"  # real-time signals have no name
    tail = outcome.log.splitlines()[-1:] if outcome.log else []
    return ": ".join([f"the process ended with {how}", *tail])
