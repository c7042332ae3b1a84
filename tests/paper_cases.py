"""Verdicts on the claims of a paper, from results of its jobs that were made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from eqbench.papers.paper import Claim, Paper
from eqbench.papers.stored import NotStoredError
from eqbench.papers.verdicts import Facts, verdict_of


class Jobs(dict[str, Any]):
    """Jobs by name, as they would be stored."""

    full = False
    used: tuple[str, ...] = ()

    def listen(self) -> None:
        """Nothing is noted."""

    def __missing__(self, name: str) -> Any:
        raise NotStoredError(name)


def summaries(**found: Any) -> Jobs:
    """Jobs that left these summaries."""
    return Jobs({name: SimpleNamespace(summary=own) for name, own in found.items()})


def claim_at(paper: Paper, row: str, column: str = "", *, title: str = "") -> Claim:
    """The claim at a place, in the parts whose title begins like this."""
    claims = [
        claim for part in paper.parts if part.title.startswith(title) for claim in part.claims
    ]
    (found,) = [claim for claim in claims if (claim.row, claim.column) == (row, column)]
    return found


def facts_of(paper: Paper, jobs: Jobs) -> Facts:
    return Facts(paper, jobs)  # type: ignore[arg-type]


def verdict(claim: Claim, facts: Facts) -> str:
    """What comes of a claim."""
    return verdict_of(claim, facts.at(claim.fact)[0], facts)[0]
