"""Files that a study leaves in its folder, and the lock on that folder."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from eqbench.errors import UsageError
from eqbench.store.json_lines import NO_LOCKS
from eqbench.store.run_folder import reported, write_file


def write_texts(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write texts into a folder by names of files, which are returned; StoreError if one cannot."""
    files = [folder / name for name in texts]
    for file, text in zip(files, texts.values(), strict=True):
        with reported(file):
            file.parent.mkdir(exist_ok=True)
            write_file(file, text.encode())  # whole, however the process ends
    return files


def new_folder(path: Path) -> None:
    """Make the folder of a study; UsageError if it holds anything, or cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise UsageError(f"{path} is not empty; choose a new or an empty folder with --out")
    except OSError as error:
        raise UsageError(
            f"cannot write to {path}: {error.strerror}; choose another folder with --out"
        ) from None


@contextmanager
def held(folder: Path, command: str) -> Iterator[None]:
    """Keep other processes out of a folder while the block goes on.

    UsageError if one is at work in it, or it cannot be opened.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UsageError(f"cannot open {folder}: {error.strerror}; give another folder") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UsageError(
            f"another eqbench {command} runs in {folder}; wait for it, or end it first"
        ) from None
    except OSError as error:
        if error.errno not in (*NO_LOCKS, errno.EBADF):  # NFS locks no folder
            os.close(descriptor)
            raise
    try:
        yield
    finally:
        os.close(descriptor)  # the system does so too, however the process ends
