"""Every claim of a source with what the stored jobs say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from eqbench.papers.claims import (
    VERDICTS,
    Attachment,
    Claim,
    Part,
    Picture,
    Reading,
    Source,
    not_attempted,
)
from eqbench.papers.jobs import Job, Workshop
from eqbench.papers.stored import NotStoredError, Stored

SCHEMA = "eqbench.reproduce/1"

T = TypeVar("T")


def judge(source: Source, workshop: Workshop) -> dict[str, Any]:
    """A source with a verdict on each claim, as JSON values; nothing is run."""
    stored = Stored(workshop, source.jobs)
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
    reading, damage = _read(claim.read, stored)
    if reading is None:
        reading = not_attempted(damage)
    _complete(claim, reading, stored.used)
    return {
        "row": claim.row,
        "column": claim.column,
        "theirs": claim.theirs,
        "ours": reading.ours,
        "verdict": reading.verdict,
        "detail": reading.detail,
        "jobs": list(stored.used),
    }


def _read(read: Callable[[Stored], T], stored: Stored) -> tuple[T | None, str]:
    """What a function reads, or None and why it is not there; what else it raises is a bug."""
    stored.listen()
    try:
        return read(stored), ""
    except NotStoredError as error:
        return None, str(error)


def _complete(claim: Claim, reading: Reading, used: Sequence[str]) -> None:
    """No cell of the page is empty, each verdict has its reason, and what is ours is stored."""
    if not (claim.row and claim.theirs and reading.ours):
        raise ValueError(f"an empty cell in {claim!r}: {reading!r}")
    if reading.verdict != "reproduced" and not reading.detail:
        raise ValueError(f"a verdict without its reason: {claim!r}: {reading!r}")
    if reading.verdict != "not_attempted" and not used:
        raise ValueError(f"a verdict that rests on no stored job: {claim!r}: {reading!r}")


def _picture(picture: Picture, stored: Stored) -> dict[str, Any]:
    svg, missing = _read(picture.svg, stored)
    return {
        "title": picture.title,
        "caption": picture.caption,
        "svg": svg or "",
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
