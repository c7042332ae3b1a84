"""The runs that are kept below a folder: what they hold and take, removing and packing them."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eqbench.errors import StoreError, UsageError, first_of
from eqbench.store.claims import CLAIMS, RUNNER, is_used
from eqbench.store.latest import is_run
from eqbench.store.run_folder import (
    CLUSTERS,
    COMPLETENESS,
    EXPERIMENT,
    HOSTS,
    INTERRUPTED,
    LINES,
    MANIFEST,
    PARTS,
    RESUMED,
    RunFolder,
)

# what belongs to a run; the lines come first in an archive: the files that they name are there then
_FILES = (LINES, INTERRUPTED, MANIFEST, RESUMED, CLUSTERS, COMPLETENESS, EXPERIMENT, HOSTS)
_LOCKS = (CLAIMS, RUNNER)
_REPORT = re.compile(r"report\.(html|md|csv|tex|txt|macros\.tex)")
_DRAFT = re.compile(r"\..+\.\d+-\d+")


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


def reason_to_keep(run: Path) -> str | None:
    """Why a run must not be removed, None if nothing speaks against it."""
    if run.is_symlink():
        return "it is a link to another place"
    try:
        if is_used(run):
            return "a runner is at work on it, or has left its mark"
        others = sorted(entry.name for entry in run.iterdir() if not _is_own(entry))
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return f"it also holds {first_of(others, 3)}" if others else None


def _is_own(entry: Path) -> bool:
    """Whether an entry of a run's folder was written by eqbench."""
    if entry.name in PARTS:
        return entry.is_dir() and not entry.is_symlink()
    known = entry.name in (*_FILES, *_LOCKS) or _REPORT.fullmatch(entry.name)
    return bool(known or _DRAFT.fullmatch(entry.name))


def remove(run: Path) -> None:
    """Remove a run that nothing speaks for keeping; StoreError if some of it stays.

    Its manifest goes last, so that what stays is still a run, which can be removed again.
    """
    try:
        for entry in sorted(run.iterdir(), key=lambda entry: entry.name == MANIFEST):
            if entry.is_dir():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        run.rmdir()
    except OSError as error:
        raise StoreError(f"cannot remove all of {run}: {error.strerror}; try again") from None


def export_run(run: Path, file: Path, *, replace: bool = False) -> None:
    """Pack a run and its reports into a zip archive with one folder.

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
    RunFolder.open(run)
    name, draft = run.resolve().name, file.with_name(f".{file.name}.{os.getpid()}")
    try:
        # files may be older than what the format can say
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
            for each in packed(run):
                archive.write(each, Path(name, each.relative_to(run)))
        draft.replace(file)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}; choose another place") from None
    finally:
        draft.unlink(missing_ok=True)


def packed(run: Path) -> Iterator[Path]:
    """Files of a run that belong into an archive, those that name others first."""
    reports = sorted(entry for entry in run.iterdir() if _REPORT.fullmatch(entry.name))
    below = (file for part in PARTS for file in sorted((run / part).rglob("*")))
    for file in (*(run / name for name in _FILES), *reports, *below):
        if file.is_file() and not file.is_symlink():
            yield file
