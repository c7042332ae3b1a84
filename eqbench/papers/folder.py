"""The folder of a reproduction: what was asked for, the jobs, and the files made from them."""

from __future__ import annotations

import csv
import io
import json
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypedDict

from eqbench.documents import decode, read_file
from eqbench.errors import DocumentError, EqbenchError, UsageError, nearest
from eqbench.papers.catalog import MODULES, load_source
from eqbench.papers.claims import Source
from eqbench.papers.jobs import Workshop
from eqbench.papers.judge import SCHEMA, judge
from eqbench.papers.request import ReproduceRequest
from eqbench.papers.schedule import Task, wanted_jobs
from eqbench.store.run_folder import new_run_path
from eqbench.studies.study_files import new_folder, write_texts

_REQUEST = "request.json"
_COLUMNS = ("source", "part", "row", "column", "theirs", "ours", "verdict", "detail", "jobs")


class Request(TypedDict):
    """What was asked for."""

    schema: str
    sources: list[str]
    full: bool


def begin(path: Path, sources: list[str], *, full: bool) -> None:
    """Make the folder of a reproduction.

    Raises
    ------
    UsageError
        If it holds anything, or cannot be written.
    """
    new_folder(path)
    request = json.dumps({"schema": SCHEMA, "sources": sources, "full": full}, indent=1)
    write_texts(path, {_REQUEST: request + "\n"})


def read_request(path: Path) -> Request:
    """What was asked for when the folder was made: `sources` and `full`.

    Raises
    ------
    UsageError
        If the folder holds no reproduction.
    """
    try:
        request = decode(read_file(path / _REQUEST), Request)
    except (OSError, DocumentError):
        request = None
    if request is None or request["schema"] != SCHEMA:
        raise UsageError(f"{path} holds no reproduction; give a folder of eqbench reproduce")
    return request


def place_of(request: ReproduceRequest) -> tuple[Path, list[str], bool]:
    """Return the folder of a reproduction, new or gone on with, all its sources and its extent.

    Raises
    ------
    UsageError
        If the folder cannot be written, or was begun for something else.
    """
    names = list(dict.fromkeys(request.sources))
    if request.resume is None:
        slug = "-".join(["reproduce", *names])
        path = Path(request.out) if request.out else new_run_path(Path("results"), slug)
        begin(path, names or list(MODULES), full=request.full)
        return path, names or list(MODULES), request.full
    if request.out is not None:
        raise UsageError("give either --resume or --out: what is resumed stays in its folder")
    path = Path(request.resume)
    before = read_request(path)
    if request.full and not before["full"]:
        raise UsageError(f"{path} was begun without --full; begin a new one with --full")
    if strangers := [name for name in names if name not in before["sources"]]:
        raise UsageError(
            f"{path} was begun for {', '.join(before['sources'])}; begin a new one for "
            f"{', '.join(strangers)}"
        )
    return path, before["sources"], before["full"]


def workshop(path: Path, source: str, *, full: bool) -> Workshop:
    """Where the jobs of a source lie in the folder."""
    return Workshop(source, path / "jobs" / source, full=full)


def check_jobs(sources: Sequence[Source], names: Sequence[str]) -> None:
    """Refuse names of jobs that none of the sources has; UsageError if there is one."""
    known = [job.name for source in sources for job in source.jobs]
    for name in names:
        if name not in known:
            raise UsageError(f"unknown job {name!r}: {nearest(name, known)}")


def tasks_of(
    path: Path, sources: Sequence[Source], *, full: bool, only: Sequence[str] = ()
) -> list[Task]:
    """Jobs of sources to run for this extent, each with where it lies in the folder.

    Parameters
    ----------
    only : names of jobs to which it is restricted, with what these need; all if empty
    """
    tasks: list[Task] = []
    for source in sources:
        mine = [job.name for job in source.jobs if job.name in only]
        if mine or not only:
            place = workshop(path, source.name, full=full)
            tasks += [(place, job) for job in wanted_jobs(source.jobs, full=full, only=mine)]
    return tasks


def verdicts(path: Path, workshops: Sequence[Workshop]) -> list[dict[str, Any]]:
    """Sources with a verdict on each claim.

    Raises
    ------
    EqbenchError
        If a page of a source fails, which is a mistake in it; its traceback is in the folder then.
    """
    try:
        return [judge(load_source(place.source), place) for place in workshops]
    except Exception as error:
        log = path / "error.log"
        log.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        raise EqbenchError(
            f"the verdicts cannot be read off, which is a mistake in eqbench "
            f"({type(error).__name__}: {error}); please report {log}. What was computed is kept: "
            f"with a mended version go on with --resume {path}"
        ) from error


def document(judged: list[dict[str, Any]], *, full: bool) -> dict[str, Any]:
    """What ``--json`` prints: all sources, without the text of the pictures."""
    bare = [
        source
        | {
            "parts": [
                part
                | {
                    "pictures": [
                        {key: value for key, value in picture.items() if key != "svg"}
                        for picture in part["pictures"]
                    ]
                }
                for part in source["parts"]
            ]
        }
        for source in judged
    ]
    return {"schema": SCHEMA, "full": full, "sources": bare}


def claims_csv(judged: list[dict[str, Any]]) -> str:
    """All claims as a table in CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for source in judged:
        for part in source["parts"]:
            for claim in part["claims"]:
                values = [claim[name] for name in _COLUMNS[2:-1]]
                jobs = " ".join(claim["jobs"])
                writer.writerow([source["name"], part["title"], *values, jobs])
    return text.getvalue()
