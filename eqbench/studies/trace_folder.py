"""The folder of a trace: its request, points, checkpoint, summary and profiles."""

from __future__ import annotations

import csv
import io
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypedDict

from eqbench.documents import decode, decode_closed, open_file, read_file
from eqbench.errors import DocumentError, StoreError, UsageError
from eqbench.model.tree import GameTree
from eqbench.studies.branch_points import columns
from eqbench.studies.trace_checkpoint import MOST_CHECKPOINT_BYTES, Progress
from eqbench.studies.trace_request import StoredRequest, TraceRequest

SCHEMA = "eqbench.trace/1"
REQUEST, POINTS, CHECKPOINT, SUMMARY = "trace.json", "points.csv", "checkpoint.npz", "summary.json"
PROFILES, FIGURES = "profiles", "figures"


class _Schema(TypedDict):
    schema: str


class _About(_Schema):
    solver_version: str
    request: StoredRequest


class TraceFolder:
    """A trace on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def points(self) -> Path:
        """The file of points."""
        return self.path / POINTS

    @classmethod
    def create(cls, path: Path, request: TraceRequest, version: str) -> TraceFolder:
        """New folder with a request and the version of the solver.

        Raises
        ------
        UsageError
            If the folder holds a trace or anything else already, or cannot be written.
        """
        if (path / REQUEST).exists():
            raise UsageError(
                f"{path} already holds a trace; choose another folder with --out, or go on with "
                f"that trace by --resume {path}"
            )
        folder = cls(path)
        about = {"schema": SCHEMA, "solver_version": version, "request": request.to_json()}
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise UsageError(
                    f"{path} holds other files and no trace; choose a new or an empty folder "
                    "with --out"
                )
            folder._put(REQUEST, json.dumps(about, indent=2).encode())
        except (OSError, StoreError) as error:
            raise UsageError(
                f"cannot write to {path}: {error}; choose another folder with --out"
            ) from None
        return folder

    @classmethod
    def open(cls, path: Path) -> TraceFolder:
        """The folder of a trace that was begun.

        Raises
        ------
        UsageError
            If there is no trace in it.
        """
        if not (path / REQUEST).is_file():
            raise UsageError(
                f"{path} holds no trace: there is no {REQUEST} in it; name a folder that "
                "`eqbench trace` wrote, for example one below results/"
            )
        return cls(path)

    def discard(self) -> None:
        """Remove the request of a trace that could not begin, and the folder if it is empty."""
        (self.path / REQUEST).unlink(missing_ok=True)
        if not any(self.path.iterdir()):
            self.path.rmdir()

    def request(self) -> tuple[TraceRequest, str]:
        """The request, and the version of the solver with which the trace began.

        Raises
        ------
        UsageError
            If the file is damaged, or of another version.
        """
        file = self.path / REQUEST
        try:
            data = read_file(file)
            schema = decode(data, _Schema)["schema"]
            if schema == SCHEMA:
                about = decode_closed(data, _About)
                return TraceRequest.from_json(about["request"]), about["solver_version"]
        except (ValueError, OSError, DocumentError) as error:
            raise UsageError(f"{file}: {error}; trace the branch again") from None
        raise UsageError(f"{file} has the format {schema!r}; this version reads {SCHEMA!r}")

    def progress(self, request: TraceRequest) -> Progress | None:
        """How far the trace has come, None if it did not come to its first checkpoint.

        Raises
        ------
        UsageError
            If the checkpoint is damaged.
        """
        file = self.path / CHECKPOINT
        try:
            return Progress.from_bytes(read_file(file, MOST_CHECKPOINT_BYTES), request)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(
                f"cannot read {file}: {error.strerror}; restore it, or trace the branch again"
            ) from None

    def write_checkpoint(self, progress: Progress) -> None:
        """Put a checkpoint in place of the last one; StoreError if that fails."""
        self._put(CHECKPOINT, progress.to_bytes())

    def write_profile(self, name: str, text: str) -> str:
        """Write the JSON text of a profile and return its path relative to the folder."""
        relative = f"{PROFILES}/{name}.json"
        with _reported(self.path / relative):
            (self.path / PROFILES).mkdir(exist_ok=True)
        self._put(relative, text.encode())
        return relative

    def write_summary(self, document: dict[str, Any]) -> None:
        """Write the summary; StoreError if that fails."""
        self._put(SUMMARY, f"{json.dumps(document, indent=2, allow_nan=False)}\n".encode())

    def summary(self) -> dict[str, Any] | None:
        """The summary, None if there is none yet.

        Raises
        ------
        UsageError
            If it is damaged.
        """
        file = self.path / SUMMARY
        try:
            return decode(read_file(file), dict[str, Any], "the summary")
        except FileNotFoundError:
            return None
        except (DocumentError, OSError) as error:
            raise UsageError(
                f"cannot read {file}: {error}; delete it, and --resume writes it again"
            ) from None

    def drop_summary(self) -> None:
        """Remove the summary, if there is one."""
        (self.path / SUMMARY).unlink(missing_ok=True)

    def _put(self, name: str, data: bytes) -> None:
        """Put a whole file in place, or nothing."""
        path = self.path / name
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with _reported(path):
            try:
                with draft.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)


class PointsWriter:
    """Appends rows to a file of points and keeps its size and checksum; use it in a ``with``."""

    def __init__(self, path: Path, tree: GameTree, progress: Progress) -> None:
        """Open a file, new or cut to what a checkpoint says.

        Raises
        ------
        UsageError
            If the file is not the one that the checkpoint speaks of.
        """
        self._path, self._progress = path, progress
        if progress.points:
            _cut(path, progress)
        with _reported(path):
            if not progress.points:
                path.unlink(missing_ok=True)  # opening a pipe would wait for a reader
            self._file = path.open("ab" if progress.points else "xb")
        if not progress.points:
            header = io.StringIO()
            csv.writer(header, lineterminator="\n").writerow(columns(tree))
            self._write(header.getvalue())

    def __enter__(self) -> PointsWriter:
        return self

    def __exit__(self, *error: object) -> None:
        with _reported(self._path):
            self._file.close()

    def append(self, row: list[float]) -> None:
        """Add a point; it is in the file after the next `flush`."""
        self._write(",".join(map(repr, row)) + "\n")
        self._progress.points += 1

    def flush(self, *, to_disk: bool = False) -> None:
        """Hand all rows to the system, or wait until the disk has them; StoreError if it fails."""
        with _reported(self._path):
            self._file.flush()
            if to_disk:
                os.fsync(self._file.fileno())

    def _write(self, line: str) -> None:
        data = line.encode()
        with _reported(self._path):
            self._file.write(data)
        self._progress.size += len(data)
        self._progress.checksum = zlib.crc32(data, self._progress.checksum)


def _cut(path: Path, progress: Progress) -> None:
    """Cut a file of points to those of a checkpoint."""
    try:
        checksum, rest = 0, progress.size
        with open_file(path) as file:
            while rest and (block := file.read(min(rest, 2**20))):
                checksum, rest = zlib.crc32(block, checksum), rest - len(block)
            if rest or checksum != progress.checksum:
                raise UsageError(
                    f"{path} is not as it was at the last checkpoint, when it had "
                    f"{progress.size:,} bytes; restore it, or trace the branch again"
                )
        os.truncate(path, progress.size)
    except OSError as error:
        raise UsageError(
            f"cannot go on writing {path}: {error.strerror}; restore it, or trace the branch again"
        ) from None


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Turn an error of the file system into one that says what to do."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror}; free some space and go on with --resume"
        ) from None
