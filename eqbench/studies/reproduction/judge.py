"""Every claim of a source with what the stored jobs say of it."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from eqbench.errors import StoreError
from eqbench.studies.reproduction.claims import (
    VERDICTS,
    Attachment,
    Claim,
    Part,
    Picture,
    Reading,
    Source,
    not_attempted,
)
from eqbench.studies.reproduction.jobs import Job, Workshop
from eqbench.studies.reproduction.stored import NotStoredError, Stored

SCHEMA = "eqbench.reproduce/1"


def judge(source: Source, workshop: Workshop) -> dict[str, Any]:
    """A source with a verdict on each claim, as JSON values; nothing is run.

    Raises
    ------
    StoreError
        If a stored result cannot be read.
    """
    stored = Stored(workshop, {job.name: _why_missing(job, workshop) for job in source.jobs})
    parts = [_part(part, stored) for part in source.parts]
    counts = Counter(claim["verdict"] for part in parts for claim in part["claims"])
    return {
        "name": source.name,
        "citation": source.citation,
        "full": workshop.full,
        "counts": {verdict: counts[verdict] for verdict in VERDICTS},
        "parts": parts,
        "jobs": [record for job in source.jobs if (record := _job(job, workshop)) is not None],
    }


def _part(part: Part, stored: Stored) -> dict[str, Any]:
    return {
        "title": part.title,
        "note": part.note,
        "claims": [_claim(claim, stored) for claim in part.claims],
        "pictures": [_picture(picture, stored) for picture in part.pictures],
        "files": [found for file in part.files if (found := _file(file, stored)) is not None],
    }


def _claim(claim: Claim, stored: Stored) -> dict[str, Any]:
    stored.listen()
    try:
        reading = claim.read(stored)
    except NotStoredError as error:
        reading = not_attempted(str(error))
    except (OSError, json.JSONDecodeError) as error:
        raise StoreError(
            f"cannot read what {', '.join(stored.used)} stored for {claim.row!r}: {error}; delete "
            "that job's folder and its JSON file, and run the command again with --resume"
        ) from None
    _complete(claim, reading)
    return {
        "row": claim.row,
        "column": claim.column,
        "theirs": claim.theirs,
        "ours": reading.ours,
        "verdict": reading.verdict,
        "detail": reading.detail,
        "jobs": list(stored.used),
    }


def _complete(claim: Claim, reading: Reading) -> None:
    """No cell of the page is empty, and what is not reproduced says why."""
    if not (claim.row and claim.theirs and reading.ours):
        raise ValueError(f"an empty cell in {claim!r}: {reading!r}")
    if reading.verdict != "reproduced" and not reading.detail:
        raise ValueError(f"a verdict without its reason: {claim!r}: {reading!r}")


def _picture(picture: Picture, stored: Stored) -> dict[str, Any]:
    stored.listen()
    try:
        svg, missing = picture.svg(stored), ""
    except NotStoredError as error:
        svg, missing = "", str(error)
    return {
        "title": picture.title,
        "caption": picture.caption,
        "svg": svg,
        "missing": missing,
        "jobs": list(stored.used),
    }


def _file(file: Attachment, stored: Stored) -> dict[str, str] | None:
    try:
        path = stored[file.job].path / file.file
    except NotStoredError:
        return None
    return {"title": file.title, "job": file.job, "file": file.file} if path.exists() else None


def _job(job: Job, workshop: Workshop) -> dict[str, Any] | None:
    record = workshop.record(job.name)
    if record is None:
        return None
    return {
        "name": job.name,
        "command": record.command,
        "run": str(Path("jobs") / workshop.source / (job.name if job.out else f"{job.name}.out")),
        "exit_code": record.exit_code,
        "failed": not record.accepted,
        "elapsed_s": record.elapsed_s,
    }


def _why_missing(job: Job, workshop: Workshop) -> str:
    if job.full and not workshop.full:
        return f"the job {job.name} belongs to --full"
    return f"the job {job.name} was not run to its end; go on with --resume"
