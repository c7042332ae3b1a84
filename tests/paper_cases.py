"""A made-up paper, and jobs laid down as if they had been run."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from eqbench.papers.jobs import Job, JobFolder, JobRecord, source_digest
from eqbench.papers.paper import COLUMNS, Paper, load_paper

PAPER = """
citation = "Nobody 1900"

[[part]]
title = "Table 1"
note = "How."

[[part.figure]]
title = "Figure 1"
caption = "Read it so."
draw = "drawn"

[[part.file]]
title = "a table"
job = "games"
file = "y.csv"

[[job]]
name = "games"
command = "list games"
out = false
"""
FACTS = """
def value(stored):
    return {"one": stored["games"].summary["value"], "wrong": True}


def drawn(stored):
    return stored["games"].text("drawn.svg")


def table(stored):
    return len(stored["games"].rows("y.csv"))
"""
VALUE = ("value", "", "1.0", "value/one", "~ digits", "", "")


def made(folder: Path, *claims: tuple[str, ...], paper: str = PAPER, facts: str = FACTS) -> Paper:
    """Write a paper and read it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "paper.toml").write_text(paper, encoding="utf-8")
    (folder / "facts.py").write_text(facts, encoding="utf-8")
    rows = [COLUMNS, *(("Table 1", *claim) for claim in claims or (VALUE,))]
    text = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows)
    (folder / "claims.csv").write_text(text.replace('"part"', "part"), encoding="utf-8")
    return load_paper(folder)


def ran(job: Job, **changes: Any) -> JobRecord:
    """The record of a job that has just ended well."""
    words = list(job.command)
    if job.compute:
        words = [job.compute, source_digest(job.folder, job.compute.partition(":")[0])]
    record = JobRecord(
        command="eqbench …",
        words=words,
        exit_code=0,
        accepted=True,
        elapsed_s=1.0,
        version=version("eqbench"),
        ended="first",
        inputs={},
    )
    return JobRecord(**(record | changes))  # type: ignore[typeddict-item]


def stored(place: Path, name: str, summary: Any) -> None:
    """What a job has left."""
    (place / name).mkdir(parents=True, exist_ok=True)
    (place / name / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


def folder_of(
    place: Path, records: dict[str, JobRecord], name: str = "toy", *, full: bool = False
) -> JobFolder:
    """The jobs of a paper, with these records."""
    return JobFolder(name, place, records.get, full=full)
