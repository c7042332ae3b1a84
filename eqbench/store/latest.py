"""Runs that began of late, wherever they are, so that the word `latest` finds them."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from eqbench.documents import decode, read_file
from eqbench.errors import DocumentError, UsageError
from eqbench.store.run_folder import MANIFEST, write_file

LATEST = "latest"
_MOST = 200  # runs that are remembered
_OF_A_RUN = b'"schema": "eqbench.run/'


def remember(run: Path) -> None:
    """Note that a run began, and from which folder; where that cannot be written, nothing."""
    begun = (str(Path.cwd()), str(run.absolute()))
    with suppress(OSError, RuntimeError, UsageError):
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        runs = [*(each for each in _remembered() if each != begun), begun]
        write_file(file, json.dumps(runs[-_MOST:]).encode())


def latest_run() -> Path:
    """Folder of the run that began last: from the current folder, else from any other.

    Raises
    ------
    UsageError
        If there is none.
    """
    here, remembered = str(Path.cwd()), _remembered()
    begun_here = [Path(run) for begun, run in remembered if begun == here]
    stored = [file.parent for file in Path("results").glob(f"*/{MANIFEST}")]
    anywhere = [Path(run) for _, run in remembered]
    found = _newest([*begun_here, *stored]) or _newest(anywhere)
    if found is None:
        raise UsageError(
            f"there is no run in {Path('results').absolute()}, and none is remembered; give the "
            "folder of a run"
        )
    return found.relative_to(here) if found.is_relative_to(here) else found


def _newest(runs: list[Path]) -> Path | None:
    """Of some folders the one with the newest manifest of a run, None if there is no run."""
    begun = [((run / MANIFEST).stat().st_mtime_ns, run.name, run) for run in runs if is_run(run)]
    return max(begun)[-1] if begun else None


def is_run(folder: Path) -> bool:
    """Return whether a folder has the manifest of a run, not that of a study or a web page."""
    with suppress(OSError):
        return _OF_A_RUN in read_file(folder / MANIFEST)[:100]
    return False


def _remembered() -> list[tuple[str, str]]:
    with suppress(OSError, RuntimeError, DocumentError):
        return decode(read_file(_file()), list[tuple[str, str]], "the list of runs")
    return []


def _file() -> Path:
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "eqbench" / "latest.json"
