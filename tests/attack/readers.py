"""Read the folder of a run with every reader there is, each in a process of its own.

``python -m attack.readers FOLDER CELL [PLUGIN…]`` prints a JSON list of how each of them ended.
The readers are forked from one process that has imported everything, which makes them cheap.
"""

from __future__ import annotations

import csv
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .sandbox import MOST_OUTPUT, Ended, Result, Sandbox

DEADLINE_S = 120
PAGE_CHARACTERS = 4 * 2**20
CHEAP = ("report terminal", "report csv", "report html", "load_results", "run --resume --dry-run")


def read_everything(
    sandbox: Sandbox,
    folder: Path,
    cell: str,
    plugins: Sequence[Path] = (),
    only: Sequence[str] = (),
) -> dict[str, Ended]:
    """How each reader of a folder ended, by name; `cell` is the one to show."""
    ended = sandbox.command(
        *(folder, cell, ",".join(only), *plugins),
        program=("-m", "attack.readers"),
        deadline_s=5 * DEADLINE_S,
    )
    if ended.code != 0:
        return {"all readers": ended}
    return {name: Ended(code, out, err) for name, code, out, err in json.loads(ended.out)}


def results(
    kind: str, name: str, read: dict[str, Ended], codes: Sequence[int] = (0,), shown: str = ""
) -> list[Result]:
    """One result for each reader; `shown` is what the tables have to contain.

    An exit code other than 0 has to come with a line that says what is wrong.
    """
    found = []
    for reader, ended in read.items():
        page = "html" in reader
        if ended.code:
            complaints = ended.refusal(codes)
        else:
            most = PAGE_CHARACTERS if page else 4 * MOST_OUTPUT
            complaints = ended.complaints(codes, most_output=most)
            if shown and reader.startswith("report") and shown not in ended.out.replace("\\_", "_"):
                complaints.append(f"does not show {shown}")
        if reader == "report csv" and ended.code == 0:
            complaints += _formulas(ended.out)
        if page and "<script>alert" in ended.out:
            complaints.append("markup of a stranger in the page")
        found.append(Result(kind, f"{name}: {reader}", tuple(complaints)))
    return found


def _formulas(text: str) -> list[str]:
    """Fields that a spreadsheet would compute."""
    cells = (cell for row in csv.reader(text.splitlines()) for cell in row)
    found = [cell for cell in cells if cell[:1] in "=+-@" and cell[:1] and not _is_number(cell)]
    return [f"a formula in the table: {found[0][:40]!a}"] if found else []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def main() -> None:
    folder, cell, only, *plugins = sys.argv[1:]
    _import_everything()
    wanted = set(filter(None, only.split(",")))
    readers = _readers(folder, cell, plugins)
    ended = [[name, *_forked(do)] for name, do in readers.items() if not wanted or name in wanted]
    sys.stdout.write(json.dumps(ended))


def _import_everything() -> None:
    import pandas as pd  # noqa: F401

    import eqbench.cli.compare
    import eqbench.cli.report
    import eqbench.cli.run
    import eqbench.cli.show
    import eqbench.harness.pipeline
    import eqbench.report.comparison_views
    import eqbench.report.html
    import eqbench.report.terminal
    import eqbench.store.results  # noqa: F401


def _readers(folder: str, cell: str, plugins: list[str]) -> dict[str, Callable[[], Any]]:
    import eqbench
    from eqbench.store.results import load_equilibria, load_results, load_traces

    more = [word for plugin in plugins for word in ("--plugin", plugin)]
    page = Path(tempfile.mkdtemp()) / "page.html"

    def command(*words: str) -> Callable[[], Any]:
        def do() -> None:
            from eqbench.cli import main

            sys.argv = ["eqbench", *words]
            main()

        return do

    def written_page() -> None:
        try:
            command("report", folder, "--format", "html", "--out", str(page))()
        finally:
            if page.exists():
                os.write(1, page.read_bytes())

    def loaded(load: Callable[[str], Any]) -> Callable[[], Any]:
        def do() -> None:
            try:
                load(folder)
            except eqbench.errors.EqbenchError as error:
                os.write(2, f"Error: {error}\n".encode("utf-8", "backslashreplace"))
                sys.exit(2)

        return do

    formats = ("terminal", "md", "csv", "tex")
    return {
        **{f"report {name}": command("report", folder, "--format", name) for name in formats},
        "report html": written_page,
        "report --summary": command("report", folder, "--summary"),
        "compare": command("compare", folder, folder),
        "show": command("show", folder, cell, *more),
        "load_results": loaded(load_results),
        "load_equilibria": loaded(load_equilibria),
        "load_traces": loaded(load_traces),
        "run --resume --dry-run": command("run", "--resume", folder, "--dry-run", *more),
    }


def _forked(do: Callable[[], Any]) -> tuple[int | None, str, str]:
    """Exit code, None after the deadline, and what was written."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            signal.alarm(DEADLINE_S)
            _do(do)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(PAGE_CHARACTERS + 1).decode("utf-8", "backslashreplace"))
        return None if code == -signal.SIGALRM else code, texts[0], texts[1]


def _do(do: Callable[[], Any]) -> None:
    code = 1
    try:
        do()
        code = 0
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
