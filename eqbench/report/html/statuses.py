"""What the statuses on a page mean."""

from __future__ import annotations

from collections.abc import Iterable

from eqbench.report.html.document import Prose
from eqbench.store.schema import Status

MEANINGS: dict[Status, str] = {
    "ok": "converged or complete, and the measured regret bears it out",
    "limit": "stopped by itself when its budget was used up, which is no failure",
    "timeout": "still running at the deadline, so it was killed",
    "memory": "killed at the memory limit",
    "failed": "a numerical failure",
    "crashed": "an exception or a signal",
    "not_found": "ended in order, without an equilibrium",
    "unsupported": "the solver does not take this game",
    "unavailable": "the solver cannot run on this machine",
    "refuted": "it claimed what the verifier contradicts",
    "interrupted": "was running when the run was stopped",
}


def status_note(statuses: Iterable[Status]) -> Prose:
    """The meanings of the statuses that occur, in small print."""
    found = set(statuses)
    said = "; ".join(f"{name}: {text}" for name, text in MEANINGS.items() if name in found)
    return Prose((f"Statuses – {said}.",), small=True)
