"""The runs that are kept below a folder: what is theirs, and what they take."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from eqbench.errors import UsageError
from eqbench.store.json_lines import LineReader
from eqbench.store.run_folder import (
    CLAIMS,
    FILE_OF_CELL,
    FILES,
    INTERRUPTED,
    LINES,
    MANIFEST,
    PARTS,
    RESUMED,
    RUNNER,
    RunFolder,
    is_report,
)
from eqbench.store.schema import CellRecord, read_manifest
from eqbench.store.stored_run import is_run

_LOCKS = (CLAIMS, RUNNER)
_REPORT = re.compile(r"report\.(html|md|csv|tex|txt|macros\.tex)")
# by process and thread, whose numbers are shorter and longer than those of dates
_DRAFT = re.compile(r"(.*/)?\.([^/]+)\.\d{1,7}-\d{9,}")


@dataclass(frozen=True)
class KeptRun:
    """A run on disk; `changed` is when its newest line was written, in seconds of the epoch."""

    path: Path
    plan: dict[str, Any]
    finished: int
    size_bytes: int
    changed: float

    @property
    def planned(self) -> int:
        """Number of cells that the run was to have."""
        return len(set(self.plan["cells"]))


def kept_runs(folder: Path) -> tuple[list[KeptRun], list[str]]:
    """Runs in a folder, or the run that it is, the newest first, and what cannot be read.

    Runs deeper below are left alone, and so are studies.

    Raises
    ------
    UsageError
        If there is no such folder.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; name one with runs in it, such as results")
    places = [folder] if is_run(folder) else [each for each in folder.iterdir() if is_run(each)]
    found, notes = [], []
    for place in places:
        try:
            found.append(_kept_run(place))
        except UsageError as error:
            notes.append(str(error))
    return sorted(found, key=lambda run: (run.changed, run.path), reverse=True), notes


def _kept_run(path: Path) -> KeptRun:
    folder = RunFolder.open(path)
    plan = folder.plan
    finished = len(folder.finished_keys().intersection(plan["cells"]))
    lines = [path / name for name in (LINES, INTERRUPTED, MANIFEST, RESUMED)]
    changed = max(file.stat().st_mtime for file in lines if file.exists())
    entries = (Path(place, name) for place, _, names in os.walk(path) for name in names)
    stats = (file.lstat() for file in entries)
    # Windows does not say which blocks a file takes
    size = sum(512 * getattr(each, "st_blocks", -(-each.st_size // 512)) for each in stats)
    return KeptRun(path, plan, finished, size, changed)


def contents(run: Path) -> tuple[list[str], list[str]]:
    """Files of a run that eqbench wrote, those that name others first; and all else in its folder.

    Its own are files of known names, and those that a record names or that bear the key of a
    planned cell. Links and what is no regular file are not its own, and are never followed.

    Raises
    ------
    UsageError
        If there is no run, or it cannot be read.
    """
    folder = RunFolder.open(run)
    tries = (LineReader(run / name, CellRecord.of_line).new() for name in (LINES, INTERRUPTED))
    named = {name for record in chain.from_iterable(tries) for name in record.files}
    plans = [folder.manifest, *LineReader(run / RESUMED, read_manifest).new()]
    keys = {key for plan in plans for key in plan["cells"]}

    def is_own(name: str) -> bool:
        if draft := _DRAFT.fullmatch(name):
            return is_own((draft[1] or "") + draft[2])
        if "/" not in name:
            report = _REPORT.fullmatch(name) and is_report(run / name)
            return bool(report) or name in (*FILES, *_LOCKS)
        return name in named or bool((cell := FILE_OF_CELL.fullmatch(name)) and cell[1] in keys)

    own, others = list[str](), list[str]()
    parts = [part for part in PARTS if (run / part).is_dir() and not (run / part).is_symlink()]
    try:
        for place in (run, *map(run.joinpath, parts)):
            for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
                name = Path(entry.path).relative_to(run).as_posix()
                if name not in parts:
                    is_file = entry.is_file(follow_symlinks=False)
                    (own if is_file and is_own(name) else others).append(name)
    except OSError as error:
        raise UsageError(f"cannot read {run}: {error.strerror}") from None
    return sorted(own, key=lambda name: (name != MANIFEST, name not in FILES, "/" in name)), others


def packed(run: Path) -> Iterator[str]:
    """Names of the files of a run that belong into a copy, those that name others first.

    The folder is read again between both, since the run may go on; raises as :func:`contents`.
    """
    yield from (name for name in contents(run)[0] if name in FILES)
    own = (name for name in contents(run)[0] if name not in (*FILES, *_LOCKS))
    yield from (name for name in own if not _DRAFT.fullmatch(name))
