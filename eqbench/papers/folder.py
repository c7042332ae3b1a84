"""The folder of a reproduction: what was asked for, the jobs, and the files made from them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, TypedDict

from eqbench.documents import decode, read_file
from eqbench.errors import DocumentError, UsageError
from eqbench.papers.jobs import Workshop
from eqbench.papers.judge import SCHEMA
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


def workshop(path: Path, source: str, *, full: bool) -> Workshop:
    """Where the jobs of a source lie in the folder."""
    return Workshop(source, path / "jobs" / source, full=full)


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
