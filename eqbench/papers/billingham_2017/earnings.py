"""Section 4.7 and Figure 15: profits over time beside those of the solutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eqbench.papers.billingham_2017.jobs import CASES
from eqbench.papers.billingham_2017.regimes import Read, orbit_figure
from eqbench.papers.claims import Claim, Part, Picture, Reading, holds
from eqbench.papers.stored import Stored

AGREES = 0.01
SOLUTION = {"2.5": "1", "3.1": "2", "3.35": "4", "3.75": "5", "4.15": "7", "4.65": "9", "5.5": "10"}
FIGURE_15_JOB, FIGURE_15_POT = "orbits_3_1", "3.1"


def _shares(summary: Mapping[str, Any], pot: str, where: str) -> list[float]:
    """Largest distance of any player's average profit from a solution's, as a share of its largest.

    Over the whole time, or over the longest window, which is the last half.
    """
    known = next(
        row
        for value in summary["values"]
        if value["parameter"] in (float(pot), None)
        for row in value["solutions"]
        if row["name"] == f"skp:{SOLUTION[pot]}"
    )
    largest = max(abs(end) for ends in known["payoffs"] for end in ends)
    return [
        _gap(run["payoffs"] if where == "last half" else run["whole"]["payoffs"], known["payoffs"])
        / largest
        for run in summary["runs"]
        if run["parameter"] in (float(pot), None)
    ]


def _gap(payoffs: Sequence[float], known: Sequence[Sequence[float]]) -> float:
    return max(
        max(low - own, own - high, 0.0) for own, (low, high) in zip(payoffs, known, strict=True)
    )


def close(pot: str, where: str, job: str = "regimes") -> Read:
    """Whether average profits agree with a solution in all trajectories."""

    def read(stored: Stored) -> Reading:
        shares = _shares(stored[job].summary, pot, where)
        ours = f"{min(shares):.2%} to {max(shares):.2%} away in {len(shares)} trajectories"
        return holds(max(shares) <= AGREES, ours, f"by up to {max(shares):.1%}")

    return read


def rates_match(stored: Stored) -> Reading:
    """Whether average profits are close to a solution's at all pots."""
    worst = {pot: max(_shares(stored["regimes"].summary, pot, "whole time")) for pot in CASES}
    beyond = {pot: share for pot, share in worst.items() if share > AGREES}
    ours = "within 1% at pots " + ", ".join(pot for pot in CASES if pot not in beyond)
    by = ", ".join(f"up to {share:.1%} away at pot {pot}" for pot, share in beyond.items())
    return holds(not beyond, ours, by)


EARNINGS = Part(
    title="Section 4.7: profits over time",
    note=(
        "Average profits of each trajectory over its whole time from t = 0, and over the last "
        "half. The distance is that of the player who is farthest off, over the largest profit of "
        "the solution. The paper says close; here 1% is."
    ),
    claims=tuple(
        Claim(f"P = {pot}", where, f"close to the profits of Solution {name}", close(pot, where))
        for pot, name in SOLUTION.items()
        for where in ("whole time", "last half")
    ),
)

FIGURE_15 = Part(
    title="Figure 15: profits at P = 3.1",
    note=(
        "The three trajectories of Figure 9, until t = 3,000; measured as in the part before. In "
        "the picture, p / t stays visibly off the dashed lines of Solution 2."
    ),
    claims=(
        Claim(
            "Three trajectories", "whole time", "closely match the profits of Solution 2",
            close(FIGURE_15_POT, "whole time", FIGURE_15_JOB),
        ),
    ),
    pictures=(
        Picture(
            "Figure 15",
            "Above, profits p against time; below, p / t; dashed, those of Solution 2.",
            orbit_figure(FIGURE_15_POT, "profits"),
        ),
    ),
)  # fmt: skip
