"""The abstract and the conclusions, where they say what can be measured."""

from __future__ import annotations

from collections import Counter

from eqbench.papers.billingham_2017.curves import three_ranges
from eqbench.papers.billingham_2017.earnings import rates_match
from eqbench.papers.billingham_2017.regimes import spoken
from eqbench.papers.billingham_2017.stability import none_attracts
from eqbench.papers.claims import Claim, Part, Reading, holds, not_attempted
from eqbench.papers.stored import Stored

_KINDS = {"periodic", "quasi_periodic", "chaotic_transient"}


def _reduced(stored: Stored) -> Reading:
    sizes = [stored[job].printed_json["sizes"]["free frequencies"] for job in ("full_game", "game")]
    return holds(sizes == [23, 11], f"from {sizes[0]} to {sizes[1]}", "other numbers")


def _kinds(stored: Stored) -> Reading:
    counts = Counter(run["regime"] for run in stored["regimes"].summary["runs"])
    ours = ", ".join(f"{spoken(word)} {count}" for word, count in counts.most_common())
    return holds(set(counts) >= _KINDS, f"trajectories at seven pots: {ours}", "not all of them")


def _repeated(stored: Stored) -> Reading:
    return not_attempted(
        "the rules of that repeated play are in another paper, and the statement is an expectation"
    )


ABSTRACT = Part(
    title="Abstract and conclusions",
    note="Read from the same jobs as the parts below, which say how each was measured.",
    claims=(
        Claim("Betting frequencies", "", "reduced from 23 to 11", _reduced),
        Claim("Solutions", "", "three ranges of P with three coexisting ones", three_ranges),
        Claim("Stability", "", "none is asymptotically stable", none_attracts),
        Claim(
            "Trajectories", "",
            "depending on P periodic, close to periodic, or with long chaotic transients", _kinds,
        ),
        Claim("Profits", "", "closely match one of the solutions in each case", rates_match),
        Claim(
            "Repeated play", "", "qualitatively as the equations if play adjusts slowly", _repeated
        ),
    ),
)  # fmt: skip
