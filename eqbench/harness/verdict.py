"""The status of a cell: how the child ended, held against what was measured."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from eqbench.harness.child import Limits, Outcome
from eqbench.harness.evidence import Finding
from eqbench.harness.frames import DoneFrame, ErrorFrame, RefusedFrame
from eqbench.model.tree import GameTree
from eqbench.solver import ENDINGS
from eqbench.store.schema import Status
from eqbench.verification import beyond_floats

Verdict = tuple[Status, str]
# A solver may stop at a regret of its own, but not call anything converged.
OWN_REGRET_SHARE = 1e-3
ROUNDING = 1e-15


def judge(
    outcome: Outcome,
    handed: Sequence[Finding],
    path: Sequence[Finding],
    limits: Limits,
    *,
    target: float,
    tree: GameTree,
) -> Verdict:
    """Status and reason of a cell.

    Parameters
    ----------
    handed : candidates, whose figures the cell will show
    path : snapshots on the way; they can be refuted, but they do not bear out convergence
    """
    refuted = first_refutation([*handed, *path])
    if refuted is not None:
        return "refuted", refuted
    if outcome.ended != "exit":
        return _cut_short(outcome, limits)
    match outcome.last:
        case None:
            return "crashed", _crash(outcome)
        case ErrorFrame(memory=True):
            return "memory", "the solver ran out of memory (MemoryError)"
        case ErrorFrame() as error:
            return "crashed", f"{error.type}: {error.message}"
        case RefusedFrame() as refusal:
            return refusal.status, refusal.reason
        case DoneFrame() as done:
            return ending(done.reason, done.detail, handed, target=target, tree=tree)
        case other:
            return "crashed", f"it answered a job with {other.kind!r} that does not ask for that"


def first_refutation(findings: Sequence[Finding]) -> str | None:
    """Why the first refuted candidate is refuted, or None."""
    return next((finding.refuted for finding in findings if finding.refuted), None)


def ending(
    reason: str, detail: str, handed: Sequence[Finding], *, target: float, tree: GameTree
) -> Verdict:
    """What an orderly end is worth: `ok` needs a candidate that bears out the convergence.

    That is a claimed equilibrium that stands, or a measured max regret within the target.
    """
    if reason not in ENDINGS or not isinstance(detail, str):
        return "crashed", f"the solver ended with an unknown reason: {reason!r}, {detail!r}"
    if reason != "converged":
        return reason, detail  # type: ignore[return-value]
    if not handed:
        return "not_found", detail or "the solver handed over no profile"
    resolved = [finding for finding in handed if finding.measured.resolved]
    if not resolved:
        return "limit", f"its profiles are too large to be measured exactly{beyond_floats(tree)}"
    best = min(finding.max_regret for finding in resolved)
    # kernels and verifier agree to rounding, so a target that was just met may be just missed;
    # what was measured in integers has no rounding
    rounding = 0.0 if tree.is_wide else ROUNDING * min(1.0, tree.largest_payoff)
    if best <= target * (1 + 1e-6) + rounding:
        return "ok", detail
    claimed = [
        item for item in resolved if item.candidate.claim in ("equilibrium", "complete list")
    ]
    if any(item.max_regret <= OWN_REGRET_SHARE * tree.payoff_scale for item in claimed):
        return "ok", detail
    return "limit", (
        f"the solver stopped at a measured max regret of {best:.3g}, above the target "
        f"{target:.3g}{beyond_floats(tree)}"
    )


def _cut_short(outcome: Outcome, limits: Limits) -> Verdict:
    if outcome.ended == "setup timeout":
        return "timeout", f"set-up took more than {limits.setup_s:g} s"
    if outcome.ended == "timeout":
        return "timeout", f"still running {limits.time_s:g} s after its start, so it was killed"
    if outcome.ended == "memory":
        return "memory", (
            f"killed at {outcome.peak_memory_bytes / 2**20:,.0f} MiB, above the limit of "
            f"{limits.memory_bytes / 2**20:,.0f} MiB"
        )
    if outcome.ended == "interrupted":
        return "interrupted", "the run was interrupted"
    return "crashed", outcome.garbled


def _crash(outcome: Outcome) -> str:
    code = outcome.exit_code
    how = f"exit code {code}"
    if code is not None and code < 0:
        how = f"signal {_signal_name(-code)}"
    tail = outcome.log.splitlines()[-1:] if outcome.log else []
    return ": ".join([f"the process ended with {how}", *tail])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no name
        return str(number)
