"""Profiles that are named where a command or study asks for one: in files and in runs."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any

from eqbench.errors import UsageError
from eqbench.model.profile_json import read_profile
from eqbench.store.latest import is_run
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun, read_run, run_folder

_RANKED = re.compile(r"(.+):(\d+)")


def named_profile(text: str) -> tuple[Any, StoredRun | RunFolder | None]:
    """Interchange form of the profile that `text` names, and the run that it is part of, if any.

    It names a file, standard input by ``-``, or a cell of a run by ``RUN/CELL``; ``RUN/CELL:2`` is
    the candidate of rank 2.

    Raises
    ------
    UsageError
        If it cannot be read, or there is no such file, cell or candidate.
    """
    path, words = Path(text), PurePath(text)
    if text == "-" or (os.path.exists(path) and not os.path.isdir(path)):
        return read_profile(text), _run_of(path)
    for parent in [*[*reversed(words.parents)][1:], words]:
        folder = run_folder(str(parent))
        if is_run(folder):
            run, cell = read_run(folder), "/".join(words.parts[len(parent.parts) :])
            ranked = _RANKED.fullmatch(cell)
            cell, rank = (ranked[1], int(ranked[2])) if ranked else (cell, 0)
            return read_profile(str(profile_file(run, run.cell(cell), rank))), run
    return read_profile(text), None  # which says that there is no such file


def _run_of(file: Path) -> RunFolder | None:
    """Run that a file in its folder of profiles is part of, if any."""
    folder = file.absolute().parent.parent
    if is_run(folder):
        with suppress(UsageError):  # it may be the manifest of something else
            return RunFolder.open(folder)
    return None


def profile_file(run: StoredRun, cell: CellRecord, rank: int) -> Path:
    """File with the candidate of a cell that has this rank; UsageError if there is none."""
    count = len(cell.equilibria)
    if rank >= count:
        allowed = f"ranks are 0 (the best) to {count - 1}" if count else "it found nothing"
        raise UsageError(f"{cell.solver} on {cell.game} has no candidate of rank {rank}: {allowed}")
    file = cell.equilibria[rank].profile
    if file is None:
        raise UsageError(
            f"the profile of this candidate is not in {run.path}: somebody removed the files of "
            "the run while it went on; run the cell again into another folder"
        )
    return run.path / file
