"""Write and read the folder of a run.

A cell's arrays go to their own files and to the disk first; then one single write appends its
JSON line. So a line never promises more than is there, and a run that is killed leaves at
most one torn line, which is cut off when the folder is opened again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.store.schema import CellRecord

MANIFEST, LINES = "manifest.json", "runs.jsonl"


class RunFolder:
    """An open run: ``manifest.json``, ``runs.jsonl``, ``profiles/`` and ``traces/``."""

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
        try:
            (path / "profiles").mkdir(parents=True, exist_ok=True)
            (path / "traces").mkdir(exist_ok=True)
            if (path / MANIFEST).exists():
                raise UsageError(f"{path} already holds a run; choose another folder with --out")
            _write_file(path / MANIFEST, json.dumps(manifest, indent=2, allow_nan=False).encode())
        except OSError as error:
            raise UsageError(
                f"cannot write results to {path}: {error.strerror}; choose a writable folder "
                "with --out"
            ) from None
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

    def write_profile(self, name: str, profile: dict[str, Any]) -> str:
        """Write a profile and return its path relative to the run."""
        relative = f"profiles/{name}.json"
        _write_file(self.path / relative, json.dumps(profile, allow_nan=False).encode())
        return relative

    def write_trace(self, name: str, arrays: dict[str, NDArray]) -> str:
        """Write the anytime curve of a cell and return its path relative to the run."""
        relative = f"traces/{name}.npz"
        with open(self.path / relative, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        return relative

    def append(self, record: CellRecord) -> None:
        """Append a finished cell, as one line in one write."""
        line = json.dumps(record.to_json(), allow_nan=False) + "\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = os.open(self.path / LINES, flags, 0o644)
        try:
            os.write(descriptor, line.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def cells(self) -> Iterator[CellRecord]:
        """Finished cells in the order in which they ended."""
        lines = self.path / LINES
        if lines.exists():
            for line in lines.read_text(encoding="utf-8").splitlines():
                yield CellRecord.from_json(json.loads(line))

    def _heal(self) -> None:
        lines = self.path / LINES
        if not lines.exists():
            return
        data = lines.read_bytes()
        if data and not data.endswith(b"\n"):
            with open(lines, "r+b") as file:
                file.truncate(data.rfind(b"\n") + 1)


def default_run_path(root: Path, slug: str) -> Path:
    """``<root>/<UTC time>-<slug>``, made unique by a number if it exists."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    name = f"{stamp}-{file_name(slug)[:60]}"
    path, count = root / name, 1
    while path.exists():
        count += 1
        path = root / f"{name}-{count}"
    return path


def file_name(text: str) -> str:
    """Letters, digits, dots and dashes of a text, fit for a file name."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.") or "run"


def _write_file(path: Path, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
