"""The runs that are kept below a folder: what is theirs, what they take, removing, packing."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from eqbench.documents import remove_files
from eqbench.errors import StoreError, UsageError, first_of
from eqbench.store.claims import CLAIMS, RUNNER, is_used
from eqbench.store.json_lines import LineReader
from eqbench.store.latest import is_run
from eqbench.store.run_folder import (
    FILE_OF_CELL,
    FILES,
    INTERRUPTED,
    LINES,
    MANIFEST,
    PARTS,
    RESUMED,
    RunFolder,
    file_name,
    is_report,
)
from eqbench.store.schema import CellRecord, read_manifest

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
    size = sum(file.lstat().st_blocks * 512 for file in entries)
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


def reason_to_keep(run: Path) -> str | None:
    """Why a run must not be removed, None if nothing speaks against it."""
    if run.is_symlink():
        return "it is a link to another place"
    try:
        if is_used(run):
            return "a runner is at work on it, or has left its mark"
        others = contents(run)[1]
    except (OSError, UsageError) as error:
        return f"it cannot be read: {error}"
    return f"it also holds {first_of(others, 3)}" if others else None


def remove(run: Path) -> None:
    """Remove the files of a run that nothing speaks for keeping; StoreError if some of it stays.

    Its manifest goes last, so that what stays is still a run, which can be removed again.
    """
    try:
        remove_files(run, reversed(contents(run)[0]))
        if run.exists():
            run.rmdir()
    except OSError as error:
        raise StoreError(f"cannot remove all of {run}: {error.strerror}; try again") from None


def export_run(run: Path, file: Path, *, replace: bool = False) -> list[str]:
    """Pack a run and its reports into a zip archive with one folder; return what is left out.

    Parameters
    ----------
    replace : whether the file may be there already

    Raises
    ------
    UsageError
        If the file is there, has another ending or cannot be written, or there is no run.
    """
    if file.suffix != ".zip":
        raise UsageError(f"{file} is no zip archive; choose a name that ends in .zip")
    if file.exists() and not replace:
        raise UsageError(f"{file} exists; choose another file, or replace it with --force")
    others, name = contents(run)[1], file_name(run.resolve().name)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        # files may be older than what the format can say
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            for each in packed(run):
                archive.write(run / each, Path(name, each))
        draft.replace(file)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}; choose another place") from None
    finally:
        draft.unlink(missing_ok=True)
    return others


def packed(run: Path) -> Iterator[str]:
    """Names of the files of a run that belong into a copy, those that name others first.

    The folder is read again between both, since the run may go on; raises as :func:`contents`.
    """
    yield from (name for name in contents(run)[0] if name in FILES)
    own = (name for name in contents(run)[0] if name not in (*FILES, *_LOCKS))
    yield from (name for name in own if not _DRAFT.fullmatch(name))
