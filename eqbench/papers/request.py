"""What a reproduction is asked for; the options of ``eqbench reproduce``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from eqbench.papers.catalog import MODULES
from eqbench.requests import FLAG, FOLDER, JOBS, Choice, Json, Kind, Option, Quiet


@dataclass(frozen=True)
class ReproduceRequest:
    """Hold published results against our own, cell by cell.

    SOURCE is encyclopedia, szafron, ganzfried, billingham_2017 or billingham_2018; all of them if
    none is given. Each claim gets a verdict: reproduced, differs (by how much), source_error (with
    evidence), not_attempted (with the reason). What is ours is read from the folders of the jobs,
    which are ordinary commands; the page names them. It is index.html in the folder; beside it
    stand report.md, claims.csv, summary.json and points.csv, with the verified profiles of runs.
    Exit code: 0 whatever the verdicts, 1 a job failed, 2 usage, 130 interrupted.

    \b
      eqbench reproduce                                  what takes minutes
      eqbench reproduce szafron --full
      eqbench reproduce szafron --list
    """

    sources: Annotated[
        tuple[str, ...],
        Option("Sources; all unless given.", Choice("SOURCE", tuple(MODULES)), argument=True),
    ] = ()
    full: Annotated[
        bool, Option("Run everything, not only what takes minutes; see --list for the jobs.", FLAG)
    ] = False
    only: Annotated[
        tuple[str, ...], Option("Run only this job and what it needs.", Kind("NAME"), "job")
    ] = ()
    as_list: Annotated[bool, Option("List the jobs and run nothing.", FLAG, "list")] = False
    jobs: Annotated[
        int,
        Option(
            "Jobs that run at the same time; those that measure times run alone.", JOBS, short="j"
        ),
    ] = 2
    out: Annotated[
        str | None,
        Option("Folder for the results.", FOLDER, default="results/<UTC time>-reproduce"),
    ] = None
    resume: Annotated[
        str | None,
        Option(
            "Go on in this folder: run what is missing or failed, and write the pages anew.", FOLDER
        ),
    ] = None
    as_json: Json = False
    quiet: Quiet = False
