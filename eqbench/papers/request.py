"""The request of ``eqbench reproduce``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from eqbench.requests import FILE, FLAG, JOBS, Kind, Option
from eqbench.studies.requests import StudyCommand


@dataclass(frozen=True, kw_only=True)
class ReproduceRequest(StudyCommand):
    """Hold published results against our own, cell by cell.

    SOURCE is encyclopedia, szafron, ganzfried, billingham_2017 or billingham_2018; all of them if
    none is given. Each claim gets a verdict: reproduced, differs (by how much), not_comparable (of
    another version or machine), source_error (with evidence), not_attempted (with the reason).
    What is ours is read from the folders of the jobs, which are ordinary commands; the page names
    them. It is index.html in the folder; next to it stand report.md, claims.csv, summary.json and
    points.csv, with the verified profiles of runs.
    Exit code: 0 whatever the verdicts, 1 a job failed, 2 usage, 130 interrupted.
    """

    command = "reproduce"
    study = "eqbench.papers.reproduction:Reproduction"

    sources: Annotated[
        tuple[str, ...],
        Option("Papers; all of them if none is given.", Kind("SOURCE"), argument=True),
    ] = ()
    paper: Annotated[
        tuple[str, ...],
        Option("Folder of a paper of your own, with paper.toml, claims.csv and facts.py.", FILE),
    ] = ()
    full: Annotated[
        bool, Option("Run everything, not only what takes minutes; see --list for the jobs.", FLAG)
    ] = False
    only: Annotated[
        tuple[str, ...],
        Option("Run only this job and what it needs.", Kind("NAME"), "job", once=True),
    ] = ()
    again: Annotated[
        tuple[str, ...], Option("Run this job once more.", Kind("NAME"), once=True)
    ] = ()
    part: Annotated[
        str,
        Option(
            "Show the claims of this part only, by the beginning of its title.",
            Kind("TITLE"),
            once=True,
        ),
    ] = ""
    claim: Annotated[
        str,
        Option(
            "Show one claim, by its number on the page (such as szafron-17): its printed value, "
            "ours, the stored files and the commands that made them.",
            Kind("ID"),
            once=True,
        ),
    ] = ""
    listed: Annotated[bool, Option("List the jobs and run nothing.", FLAG, "list", once=True)] = (
        False
    )
    jobs: Annotated[
        int,
        Option(
            "Jobs that run at the same time; those that measure times run alone.",
            JOBS,
            short="j",
            once=True,
        ),
    ] = 2
