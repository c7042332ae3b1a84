"""Runs of hostile solvers beside innocent ones."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

from . import readers
from .hostile import Expected, attacks
from .sandbox import Job, Result, Sandbox

PLUGINS = Path(__file__).parent / "plugins"
NEIGHBORS = PLUGINS / "games.py"
KIND = "solver plugins"
GAMES = ("kuhn2", "pennies")
INNOCENT = ("cfr_plus", "cfr")
AT_ONCE = 12
FILES = ("values", "frames", "words", "describes", "processes", "places")
TIMEOUT_S, SETUP_S = 4, 40


def jobs(*, quick: bool, at_once: int = AT_ONCE) -> Iterator[Job]:
    """Runs of many attacks at a time, and those that have a run of their own."""
    for plugin in FILES:
        known = attacks(load(plugin))
        chosen = {name: what for name, what in known.items() if what.quick or not quick}
        together = [name for name, what in chosen.items() if not what.alone]
        for start in range(0, len(together), at_once):
            names = together[start : start + at_once]
            yield Job(KIND, f"{plugin} {start}", partial(trials, plugin, names, quick=quick))
        for name, what in chosen.items():
            if what.alone:
                yield Job(KIND, f"{plugin} {name}", partial(trials, plugin, [name], quick=quick))


@cache
def load(plugin: str) -> ModuleType:
    """Module of a plugin, which does nothing by itself."""
    spec = importlib.util.spec_from_file_location(f"attack_{plugin}", PLUGINS / f"{plugin}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def trials(plugin: str, names: list[str], *, quick: bool = False) -> list[Result]:
    """Results of the cells of one run, of the run itself, and of all readers of its folder."""
    known = attacks(load(plugin))
    chosen = {name: known[name] for name in names}
    alone = any(what.alone for what in chosen.values())
    games = GAMES if alone or not quick else GAMES[:1]
    solvers = [f"{plugin}(attack={name})" for name in chosen]
    files = (PLUGINS / f"{plugin}.py", NEIGHBORS)
    label = next(iter(chosen)) + (f" and {len(chosen) - 1} more" if len(chosen) > 1 else "")
    codes = tuple({code for what in chosen.values() for code in what.codes})
    with Sandbox() as sandbox:
        ended = sandbox.command(
            *("run", "--game", ",".join(games), "--solver", ",".join([*solvers, *INNOCENT])),
            *("--iterations", "50", "--timeout", str(TIMEOUT_S), "--setup-timeout", str(SETUP_S)),
            *("--out", "run", *[word for file in files for word in ("--plugin", file)]),
            deadline_s=60 + 15 * len(chosen) * len(games),
        )
        left = sandbox.left_behind()
        rows = stored_rows(sandbox.run)
        found = [
            Result(
                KIND, f"{plugin}: {name}", tuple(_row_complaints(name, what, rows, games, sandbox))
            )
            for name, what in chosen.items()
        ]
        resumable = any(what.statuses for what in chosen.values())
        lost = [
            f"{solver} on {game} {_status(rows, game, solver)}"
            for game in games
            for solver in INNOCENT
            if resumable and ended.code != 130 and _status(rows, game, solver) != "limit"
        ]
        said = ended.complaints(codes) if resumable else ended.refusal(codes)
        found.append(Result(KIND, f"{plugin}: run of {label}", (*said, *left, *lost)))
        if resumable:
            only = readers.CHEAP if quick else ()
            read = readers.read_everything(
                sandbox, sandbox.run, f"{games[0]}/{INNOCENT[0]}", files, only
            )
            found += readers.results(KIND, f"after {plugin}: {label}", read, shown=INNOCENT[0])
        return found


def _row_complaints(
    name: str,
    what: Expected,
    rows: dict[tuple[str, str], dict[str, Any]],
    games: tuple[str, ...],
    sandbox: Sandbox,
) -> list[str]:
    """What is wrong with the rows of one attack."""
    found = [] if sandbox.struck(name) else ["the attack did not take place"]
    for game in games if what.statuses else ():
        row = next((r for (g, s), r in rows.items() if g == game and f"={name})" in s), None)
        if row is None:
            found.append(f"no row on {game}")
        elif row["status"] not in what.statuses:
            found.append(f"{row['status']} on {game}: {ascii(row['reason'][:150])[1:-1]}")
        elif not isinstance(row["reason"], str) or not (row["reason"] or row["status"] == "ok"):
            found.append(f"{row['status']} on {game} without a reason")
    return found


def _status(rows: dict[tuple[str, str], dict[str, Any]], game: str, solver: str) -> str:
    row = rows.get((game, solver))
    return "missing" if row is None else str(row["status"])


def stored_rows(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Stored rows by game and solver as typed, as far as lines are rows; interrupted ones too."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name in ("interrupted.jsonl", "runs.jsonl"):
        file = folder / name
        if not file.is_file():
            continue
        for line in file.read_bytes().splitlines():
            try:
                row = json.loads(line)
                rows[row["game"], row["solver"]] = row
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
    return rows
