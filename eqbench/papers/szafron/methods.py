"""Section 8, method by method: what each solver found, and whether it is in the family."""

from __future__ import annotations

import re
from typing import Any

from eqbench.papers.claims import Claim, Part, Reading, differs, holds, not_attempted
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.jobs import MANY, PATIENT, SINGLE, SLOW
from eqbench.papers.szafron.readings import Read, file_picture

OPEN = "open: no other equilibrium is known"


def _method(solver: str) -> str:
    """Name of a solver without what differs between the extents."""
    return re.sub(r"starts=\d+,", "", solver)


def _of(stored: Stored, method: str) -> dict[str, Any]:
    solvers = stored["open_question"].summary["solvers"]
    found: dict[str, Any] = next(v for name, v in solvers.items() if _method(name) == method)
    return found


def _spread(found: dict[str, Any]) -> str:
    return ", ".join(f"{count:,} with {name}" for name, count in found["names"].items() if count)


def kinds(found: dict[str, Any]) -> str:
    return (
        f"{found['strict']:,} strict, {found['on_path']:,} with other behavior off the path only, "
        f"{found['outside']:,} outside"
    )


def _count(method: str) -> Read:
    def read(stored: Stored) -> Reading:
        found = _of(stored, method)
        cells = f"{found['cells']} run{'s' if found['cells'] != 1 else ''}"
        if not found["equilibria"]:
            return _none(stored, (method,), cells)
        low, high = found["beta"] if found["beta"] else (float("nan"),) * 2
        ours = (
            f"{found['equilibria']:,} equilibria from {cells} ({found['sharp']:,} at 1e-12), "
            f"{found['different']:,} different in behavior, {found['different_outcomes']:,} in "
            f"outcomes: {kinds(found)}"
        )
        detail = f"{_spread(found)}; β from {low:.4f} to {high:.4f}"
        return none_outside(found, ours, detail)

    return read


def _inexact(stored: Stored, methods: tuple[str, ...]) -> dict[str, list[dict[str, float]]]:
    """Runs of methods that ended with a profile which is too inexact to count."""
    found = stored["open_question"].summary["unfinished"]["solvers"]
    return {name: runs for name, runs in found.items() if _method(name) in methods}


def _none(stored: Stored, methods: tuple[str, ...], cells: str) -> Reading:
    """Methods without an equilibrium: how near the family what they found is."""
    found = _inexact(stored, methods)
    if not found:
        return not_attempted(f"{cells} ended without a profile")
    at_random = stored["open_question"].summary["unfinished"]["at_random"]
    farthest = max(run["distance"] for runs in found.values() for run in runs)
    best = min(run["max_regret"] for runs in found.values() for run in runs)
    ours = (
        f"{cells}; what is too inexact to count has max regret {best:.1e} at best, and outcomes "
        f"within {farthest:.1e} of a member's"
    )
    each = "; ".join(
        f"{_method(name)} {max(run['distance'] for run in runs):.1e}"
        for name, runs in found.items()
    )
    return holds(
        farthest < at_random / 10,
        ours,
        f"outcomes up to {farthest:.1e} from any member's",
        f"{each}; the nearest of 20 random profiles is {at_random:.1e} away",
    )


def _slow(stored: Stored) -> Reading:
    """Methods that seldom come near enough to an equilibrium, together."""
    solvers = {name: _of(stored, name) for name in map(_method, SLOW)}
    counted = [name for name, found in solvers.items() if found["equilibria"]]
    outside = sum(found["outside"] for found in solvers.values())
    if outside:
        return differs(f"{outside} equilibria of {', '.join(counted)}", "outside the family")
    cells = sum(found["cells"] for found in solvers.values())
    exact = sum(found["equilibria"] for found in solvers.values())
    also = f" and {exact} equilibria, none outside" if exact else ""
    return _none(stored, tuple(solvers), f"{cells} runs of {len(solvers)} methods{also}")


def none_outside(found: dict[str, Any], ours: str, detail: str) -> Reading:
    outside = found["outside"]
    return holds(outside == 0, ours, f"{outside} are outside the family on the path", detail)


METHODS = Part(
    title="Section 8, the open question: equilibria by method",
    claims=(
        *(
            Claim(_method(solver), "", OPEN, _count(_method(solver)))
            for solver in (*MANY, *SINGLE, *PATIENT)
        ),
        Claim("Methods too inexact to count", "", OPEN, _slow),
    ),
    pictures=(
        file_picture(
            "Transfers that were found",
            "How the equilibria of each method spread over β. Each has its own preferences.",
            "open_question",
            "beta.svg",
        ),
        file_picture(
            "Payoffs",
            "Payoffs of players 1 and 3; the gray band is the segment of the family, from β = 0 "
            "at the lower right to β = 1/4 at the upper left. Some of each method are drawn.",
            "open_question",
            "payoffs.svg",
        ),
    ),
    note=(
        "Solvers from random starts, priors or seeds. As an equilibrium counts what the verifier "
        "measures a max regret of at most 1e-9 times the payoff range for, 6e-9. Strict: all of "
        "Table 3 holds within 1e-7. Off the path only: the outcome distribution is a member's "
        "within 1e-7. Different: some frequency, or outcome, differs by more than 1e-6. A row "
        "counts as reproduced if the method found equilibria and none outside the family, or if "
        "all that it found is too inexact and still near a member, ten times nearer than any of "
        "20 random profiles; that is a search, and no proof."
    ),
)
