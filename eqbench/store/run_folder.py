"""Write and read the folder of a run.

A cell's arrays go to their own files and to the disk first; then one single write appends its
JSON line. So a line never promises more than is there, and a run that is killed leaves at
most one torn line, which is cut off when the folder is opened again.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import StoreError, UsageError
from eqbench.store.schema import CellRecord

MANIFEST, LINES, INTERRUPTED = "manifest.json", "runs.jsonl", "interrupted.jsonl"


class RunFolder:
    """An open run: manifest, lines, and the folders ``profiles``, ``traces``, ``logs``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, manifest: dict[str, Any]) -> RunFolder:
        """New folder with its manifest.

        Raises
        ------
        UsageError
            If the folder holds a run already or cannot be written.
        """
        text = json.dumps(manifest, indent=2, allow_nan=False)
        try:
            for part in ("profiles", "traces", "logs"):
                with _reported(path):
                    (path / part).mkdir(parents=True, exist_ok=True)
            _write_file(path / MANIFEST, text.encode(), "xb")
        except FileExistsError:
            raise UsageError(
                f"{path} already holds a run, or a file of that name; choose another folder "
                "with --out"
            ) from None
        except StoreError as error:
            raise UsageError(str(error)) from None
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Existing folder; a torn last line is cut off.

        Raises
        ------
        UsageError
            If there is no run in the folder.
        """
        if not (path / MANIFEST).is_file():
            raise UsageError(f"{path} holds no run: there is no {MANIFEST} in it")
        folder = cls(path)
        folder._heal()
        return folder

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))

    def write_profile(self, name: str, text: str) -> str:
        """Write the JSON text of a profile and return its path relative to the run."""
        relative = f"profiles/{name}.json"
        _write_file(self.path / relative, text.encode())
        return relative

    def write_log(self, name: str, text: str) -> str:
        """Write what a solver printed or raised and return the path relative to the run."""
        relative = f"logs/{name}.txt"
        _write_file(self.path / relative, text.encode())
        return relative

    def write_trace(self, name: str, arrays: dict[str, NDArray]) -> str:
        """Write the anytime curve of a cell and return its path relative to the run."""
        relative = f"traces/{name}.npz"
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        _write_file(self.path / relative, buffer.getvalue())
        return relative

    def append(self, record: CellRecord) -> None:
        """Append a cell, as one line in one write; an interrupted one to a file of its own."""
        name = INTERRUPTED if record.status == "interrupted" else LINES
        line = json.dumps(record.to_json(), allow_nan=False) + "\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        with _reported(self.path / name):
            descriptor = os.open(self.path / name, flags, 0o644)
            try:
                if os.write(descriptor, line.encode()) != len(line.encode()):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def cells(self) -> Iterator[CellRecord]:
        """Finished cells in the order in which they ended."""
        yield from self._records(LINES)

    def interrupted(self) -> Iterator[CellRecord]:
        """Cells that were running when the run was interrupted, as far as they got."""
        yield from self._records(INTERRUPTED)

    def _records(self, name: str) -> Iterator[CellRecord]:
        lines = self.path / name
        if lines.exists():
            for line in lines.read_text(encoding="utf-8").splitlines():
                yield CellRecord.from_json(json.loads(line))

    def _heal(self) -> None:
        for name in (LINES, INTERRUPTED):
            lines = self.path / name
            data = lines.read_bytes() if lines.exists() else b""
            if data and not data.endswith(b"\n"):
                with open(lines, "r+b") as file:
                    file.truncate(data.rfind(b"\n") + 1)


def new_run_path(root: Path, slug: str) -> Path:
    """``<root>/<UTC time>-<slug>``, created; a number is added if another run took the name.

    Raises
    ------
    UsageError
        If it cannot be created.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(root, error) from None
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    name, count = f"{stamp}-{file_name(slug)[:60]}", 1
    while True:
        path = root / (name if count == 1 else f"{name}-{count}")
        try:
            path.mkdir()
        except FileExistsError:
            count += 1
        except OSError as error:
            raise _unwritable(path, error) from None
        else:
            return path


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"cannot write results to {path}: {error.strerror}; choose a writable folder with --out"
    )


def file_name(text: str) -> str:
    """Letters, digits, dots and dashes of a text, fit for a file name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "run"


def _write_file(path: Path, data: bytes, mode: str = "wb") -> None:
    with _reported(path), open(path, mode) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn an error of the file system into one that says what to do."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise StoreError(
            f"cannot write results to {path}: {error.strerror}; choose a writable folder with "
            "--out, or free some space"
        ) from None
