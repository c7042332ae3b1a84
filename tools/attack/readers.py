"""Read the folders of runs with every reader there is, each in a process of its own.

``python -m attack.readers`` reads commands, a JSON object, from its standard input and prints how
each of them ended. All are forked from one process that has imported everything: what they cost is
the work that they do.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from .sandbox import DEADLINE_S, MOST_OUTPUT, Ended, Result, Sandbox

Commands = Mapping[str, Sequence[str | Path]]

MOST_READ = 4 * 2**20
CHEAP = ("report terminal", "report csv", "report html", "cells", "run --resume --dry-run")
FRAMES = ("cells", "equilibria", "traces")


def readings(folder: Path, cell: str, plugins: Sequence[Path] = ()) -> dict[str, list[str | Path]]:
    """All commands that only read the folder of a run, by name; `cell` is the one to show."""
    more: list[str | Path] = [word for plugin in plugins for word in ("--plugin", plugin)]
    formats = ("terminal", "md", "csv", "tex")
    return {
        **{f"report {name}": ["report", folder, "--format", name] for name in formats},
        "report html": ["report", folder, "--format", "html", "--out", _page(folder)],
        "report --summary": ["report", folder, "--summary"],
        "compare": ["compare", folder, folder],
        "show": ["show", folder, cell, *more],
        **{name: [name, folder] for name in FRAMES},
        "run --resume --dry-run": ["run", "--resume", folder, "--dry-run", *more],
    }


def read_everything(
    sandbox: Sandbox,
    folder: Path,
    cell: str,
    plugins: Sequence[Path] = (),
    only: Sequence[str] = (),
    more: Commands | None = None,
) -> dict[str, Ended]:
    """How each reader of a folder ended, and then what is to be done with it besides, by name."""
    chosen = {
        name: words
        for name, words in readings(folder, cell, plugins).items()
        if not only or name in only
    }
    ended = carried_out(sandbox, chosen | dict(more or {}))
    return {n: with_page(how, folder) if "html" in n else how for n, how in ended.items()}


def with_page(ended: Ended, folder: Path) -> Ended:
    """A report with the page that it wrote as its output."""
    file = _page(folder)
    if not file.exists():
        return ended
    return replace(ended, out=file.read_bytes()[: MOST_READ + 1].decode(errors="backslashreplace"))


def carried_out(sandbox: Sandbox, commands: Commands) -> dict[str, Ended]:
    """How each command ended, by name, in the order given."""
    with tempfile.TemporaryFile() as told:
        told.write(json.dumps({n: list(map(str, words)) for n, words in commands.items()}).encode())
        told.seek(0)
        ended = sandbox.command(
            program=("-m", "attack.readers"), deadline_s=10 * DEADLINE_S, stdin=told
        )
    if ended.code != 0:
        return {"all commands": ended}
    return {name: Ended(*how) for name, how in json.loads(ended.out).items()}


def results(
    kind: str, name: str, read: dict[str, Ended], codes: Sequence[int] = (0,), shown: str = ""
) -> list[Result]:
    """One result for each reader; `shown` is what the tables have to contain.

    An exit code other than 0 has to come with a line that says what is wrong.
    """
    return [
        Result(kind, f"{name}: {reader}", tuple(_complaints(reader, ended, codes, shown)))
        for reader, ended in read.items()
    ]


def _complaints(reader: str, ended: Ended, codes: Sequence[int], shown: str) -> list[str]:
    if ended.code:
        return ended.refusal(codes)
    page = "html" in reader
    found = ended.complaints(codes, most_output=MOST_READ if page else 4 * MOST_OUTPUT)
    if shown and reader.startswith("report") and shown not in ended.out.replace("\\_", "_"):
        found.append(f"does not show {shown}")
    if reader == "report csv":
        found += _formulas(ended.out)
    if page and "<script>alert" in ended.out:
        found.append("markup of a stranger in the page")
    return found


def _formulas(text: str) -> list[str]:
    """Fields that a spreadsheet would compute."""
    csv.field_size_limit(MOST_READ + 1)
    cells = (cell for row in csv.reader(text.splitlines()) for cell in row)
    found = [cell for cell in cells if cell[:1] in "=+-@" and cell[:1] and not _is_number(cell)]
    return [f"a formula in the table: {found[0][:40]!a}"] if found else []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _page(folder: Path) -> Path:
    """Where the page of a folder goes, which is beside it."""
    return folder.with_name(f"{folder.name}.html")


def main() -> None:
    _import_everything()
    commands = json.load(sys.stdin)
    sys.stdout.write(json.dumps({name: _forked(words) for name, words in commands.items()}))


def _import_everything() -> None:
    import pandas as pd  # noqa: F401

    import eqbench.cli.compare
    import eqbench.cli.report
    import eqbench.cli.run
    import eqbench.cli.show
    import eqbench.cli.verify
    import eqbench.harness.run
    import eqbench.report.comparison
    import eqbench.report.html
    import eqbench.report.terminal
    import eqbench.store.results  # noqa: F401


def _forked(words: Sequence[str]) -> tuple[int | None, str, str]:
    """Exit code, None after the deadline, and what was written."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            nothing = os.open(os.devnull, os.O_RDONLY)
            for number, file in enumerate((nothing, out.fileno(), err.fileno())):
                os.dup2(file, number)
            signal.alarm(int(DEADLINE_S))
            _do(words)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(MOST_READ + 1).decode("utf-8", "backslashreplace"))
        return None if code == -signal.SIGALRM else code, texts[0], texts[1]


def _do(words: Sequence[str]) -> None:
    """Do in this process, and end it, what the words ask for: a loader or a command."""
    import eqbench.store.results
    from eqbench.cli import main

    code = 1
    try:
        if words[0] in FRAMES:
            eqbench.load_run(words[1]).frame(words[0])
        else:
            sys.argv = ["eqbench", *words]
            main()
        code = 0
    except eqbench.errors.EqbenchError as error:
        os.write(2, f"Error: {error}\n".encode("utf-8", "backslashreplace"))
        code = 2
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except BaseException:
        os.write(2, traceback.format_exc().encode("utf-8", "backslashreplace"))
    finally:
        try:
            sys.stdout.flush()
        finally:
            os._exit(code)


if __name__ == "__main__":
    main()
