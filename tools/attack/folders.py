"""Damaged folders of runs, through every reader and through --resume."""

from __future__ import annotations

import atexit
import copy
import io
import json
import os
import shutil
import tempfile
import threading
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import readers
from .sandbox import Ended, Job, Result, Sandbox

KIND = "damaged run folders"
DAMAGES = tomllib.loads((Path(__file__).parent / "damages.toml").read_text(encoding="utf-8"))
DAMAGED, INNOCENT = "cfr", "cfr_plus"
RESUME = "run --resume"
QUICK = ("status: 5", "payoffs: [null, 1.0]", "line deep", "trace is a pipe")
_HOLE = "@@damaged@@"
_stored: list[Path] = []
_lock = threading.Lock()


@dataclass(frozen=True)
class Damage:
    """One way to damage a folder.

    Attributes
    ----------
    do : damages the folder of the name given
    codes : with which its readers may end
    mended : whether --resume has to run the damaged cell again
    resumed : whether --resume is tried, which costs more than all readers
    """

    name: str
    do: Callable[[Path], None]
    codes: tuple[int, ...] = (0,)
    mended: bool = False
    resumed: bool = True

    @property
    def quick(self) -> bool:
        return self.name in QUICK


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for the damages to one thing."""
    groups = dict(_groups())
    if quick:
        groups = {"some": [damage for some in groups.values() for damage in some if damage.quick]}
    for name, damages in groups.items():
        yield Job(KIND, name, partial(_trials, damages, quick=quick))


def _groups() -> Iterator[tuple[str, list[Damage]]]:
    """Damages by what they damage: a field, the whole line, a file."""
    for part in ("values", "harmless"):
        for field, texts in DAMAGES[part].items():
            of_field = [
                Damage(
                    f"{field}: {text[:60]}",
                    partial(_with_value, field=field, text=text),
                    mended=part == "values",
                    resumed=text == texts[0],
                )
                for text in texts
            ]
            yield f"{part} of {field}", of_field
    of_line = [
        Damage(f"line {kind}", partial(_with_line, text=text), mended=True)
        for kind, text in DAMAGES["lines"].items()
    ]
    yield "lines", of_line
    for file, kinds in DAMAGES["files"].items():
        of_file = [
            Damage(
                f"{file} is a {kind}" if kind != "empty" else f"{file} is empty",
                partial(_with_file, file=file, kind=kind),
                codes=(0, 1, 2),
            )
            for kind in kinds
        ]
        yield file, of_file


def _trials(damages: Sequence[Damage], *, quick: bool) -> list[Result]:
    """Readers of copies of one run, each damaged in its own way."""
    with Sandbox() as sandbox:
        commands: dict[str, Sequence[str | Path]] = {}
        for number, damage in enumerate(damages):
            folder = sandbox.root / str(number)
            shutil.copytree(_stored_run(), folder)
            damage.do(folder)
            for reader, words in readers.readings(folder, _key(INNOCENT)).items():
                if reader in readers.CHEAP or (damage.resumed and not quick):
                    commands[f"{number}: {reader}"] = words
            if damage.resumed and not quick:
                commands[f"{number}: {RESUME}"] = ["run", "--resume", folder]
        ended = readers.carried_out(sandbox, commands)
        left = sandbox.left_behind()
        found = [Result(KIND, f"{damages[0].name} and so on: processes", tuple(left))]
        for number, damage in enumerate(damages):
            found += _found(damage, sandbox.root / str(number), str(number), ended)
        return found


def _found(damage: Damage, folder: Path, number: str, ended: dict[str, Ended]) -> list[Result]:
    """What readers made of a damage, and whether --resume mended it."""
    read = {
        name.partition(": ")[2]: readers.with_page(how, folder) if "html" in name else how
        for name, how in ended.items()
        if name.partition(": ")[0] in (number, "all commands")
    }
    resumed = read.get(RESUME)
    shown = INNOCENT if damage.codes == (0,) else ""
    found = readers.results(KIND, damage.name, read, damage.codes, shown)
    if damage.mended and resumed is not None and resumed.code == 0:
        found.append(Result(KIND, f"{damage.name}: mended", tuple(_not_mended(folder))))
    return found


def _not_mended(folder: Path) -> list[str]:
    """Complaints unless the damaged cell was run again and stands in the last line."""
    last = json.loads((folder / "runs.jsonl").read_bytes().splitlines()[-1])
    good = (
        isinstance(last, dict) and last.get("solver") == DAMAGED and last.get("status") == "limit"
    )
    return [] if good else ["the damaged cell was not run again"]


def _stored_run() -> Path:
    """Folder of a run that is made once and damaged in copies."""
    with _lock:
        if not _stored:
            sandbox = Sandbox(Path(tempfile.mkdtemp(prefix="eqbench-attack-stored-")))
            ended = sandbox.command(
                *("run", "--game", "kuhn2", "--iterations", "20", "--out", "run"),
                *("--solver", f"{DAMAGED},{INNOCENT},sequence_lp"),
            )
            if ended.code != 0:
                raise RuntimeError(ended.err)
            _stored.append(sandbox.run)
            atexit.register(shutil.rmtree, sandbox.root, ignore_errors=True)
        return _stored[0]


def _records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]


def _key(solver: str) -> str:
    return next(r["key"] for r in _records(_stored_run()) if r["solver"] == solver)


def _bytes(text: str) -> bytes:
    """What a name in the table stands for."""
    special = {
        "@deep": b"[" * 100_000 + b"]" * 100_000,
        "@long": b'"' + b"x" * 2_000_000 + b'"',
        "@gigantic": b'{"key": "' + b"x" * 200_000_000 + b'"}' if text == "@gigantic" else b"",
        "@bytes": b'{"key": "\xff\xfe"}',
        "@nul": b"\0" * 1000,
    }
    return special.get(text, text.encode())


def _with_value(folder: Path, field: str, text: str) -> None:
    """Put a JSON text in place of a field of the first record."""
    records = _records(folder)
    record = copy.deepcopy(next(r for r in records if r["solver"] == DAMAGED))
    place: Any = record
    *way, last = field.split(".")
    for step in way:
        place = place[int(step)] if step.isdigit() else place[step]
    place[last] = _HOLE
    line = json.dumps(record).encode().replace(json.dumps(_HOLE).encode(), _bytes(text))
    _write_lines(folder, line)


def _with_line(folder: Path, text: str) -> None:
    _write_lines(folder, _bytes(text))


def _write_lines(folder: Path, damaged: bytes) -> None:
    """Write the line in place of that of the damaged cell, before the others."""
    others = [json.dumps(r).encode() for r in _records(folder) if r["solver"] != DAMAGED]
    (folder / "runs.jsonl").write_bytes(b"\n".join([damaged, *others]) + b"\n")


def _with_file(folder: Path, file: str, kind: str) -> None:
    """Put something else in place of a file."""
    record = next(r for r in _records(folder) if r["solver"] == DAMAGED)
    named = {"trace": record["trace"], "profile": record["equilibria"][0]["profile"]}
    path = folder / named.get(file, file)
    path.unlink(missing_ok=True)
    contents = {
        "empty": b"",
        "random": bytes(range(256)) * 10,
        "deep": b"[" * 100_000 + b"]" * 100_000 + b"\n",
        "list": b"[1, 2]\n",
        "bomb": _bomb() if kind == "bomb" else b"",
    }
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(contents[kind])


def _bomb() -> bytes:
    """An archive of arrays that is a megabyte and unpacks to a gigabyte."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("regrets", "work", "elapsed_s", "claim", "payoffs"):
            header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (25000000, 1)}"
            text = header.ljust(117) + b"\n"
            with archive.open(f"{name}.npy", "w") as file:
                file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text)
                for _ in range(200):
                    file.write(bytes(1_000_000))
    return buffer.getvalue()
