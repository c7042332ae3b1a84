"""Runs of hostile solvers beside innocent ones."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
AT_ONCE = 20
FILES = ("values", "frames", "words", "describes", "processes", "places")
TIMEOUT_S, SETUP_S = 4, 40
INTERRUPTED = 130

Rows = dict[tuple[str, str], dict[str, Any]]


def jobs(*, quick: bool, isolation: str = "fork") -> Iterator[Job]:
    """Runs of many attacks at a time, and those that have a run of their own."""
    chosen = [
        Attempt(plugin, name, what)
        for plugin in FILES
        for name, what in attacks(load(plugin)).items()
        if what.quick or not quick
    ]
    tried = partial(trials, quick=quick, isolation=isolation)
    for attempt in chosen:
        if attempt.expected.alone:
            yield Job(KIND, str(attempt), partial(tried, [attempt]))
    together = [attempt for attempt in chosen if not attempt.expected.alone]
    for start in range(0, len(together), AT_ONCE):
        some = together[start : start + AT_ONCE]
        yield Job(KIND, _label(some), partial(tried, some))


@dataclass(frozen=True)
class Attempt:
    """One attack of a plugin as a solver of a run."""

    plugin: str
    name: str
    expected: Expected

    def __str__(self) -> str:
        return f"{self.plugin}: {self.name}"

    @property
    def spec(self) -> str:
        return f"{self.plugin}(attack={self.name})"


def _label(attempts: Sequence[Attempt]) -> str:
    more = f" and {len(attempts) - 1} more" if len(attempts) > 1 else ""
    return f"{attempts[0]}{more}"


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


def trials(
    attempts: Sequence[Attempt], *, quick: bool = False, isolation: str = "fork"
) -> list[Result]:
    """Results of the cells of one run, of the run itself, and of all readers of its folder."""
    alone = any(attempt.expected.alone for attempt in attempts)
    games = GAMES if alone else GAMES[:1]
    plugins = dict.fromkeys(PLUGINS / f"{attempt.plugin}.py" for attempt in attempts)
    files = [*plugins, NEIGHBORS]
    solvers = [*(attempt.spec for attempt in attempts), *INNOCENT]
    codes = tuple({code for attempt in attempts for code in attempt.expected.codes})
    with Sandbox() as sandbox:
        ended = sandbox.command(
            *("run", "--game", ",".join(games), "--solver", ",".join(solvers), "--out", "run"),
            *("--iterations", "50", "--timeout", str(TIMEOUT_S), "--setup-timeout", str(SETUP_S)),
            *("--isolation", isolation),
            *[word for file in files for word in ("--plugin", file)],
            deadline_s=2 * SETUP_S + 20 * len(attempts) * len(games),
        )
        left = sandbox.left_behind()
        rows = stored_rows(sandbox.run)
        found = [
            Result(KIND, str(attempt), tuple(_row_complaints(attempt, rows, games, sandbox)))
            for attempt in attempts
        ]
        name = f"run of {_label(attempts)}"
        if not any(attempt.expected.statuses for attempt in attempts):
            return [*found, Result(KIND, name, (*ended.refusal(codes), *left))]
        lost = _lost(rows, games) if ended.code != INTERRUPTED else []
        found.append(Result(KIND, name, (*ended.complaints(codes), *left, *lost)))
        read = readers.read_everything(
            *(sandbox, sandbox.run, f"{games[0]}/{INNOCENT[0]}"),
            files,
            readers.CHEAP if quick or alone else (),
        )
        return found + readers.results(KIND, f"after {_label(attempts)}", read, shown=INNOCENT[0])


def _lost(rows: Rows, games: Sequence[str]) -> list[str]:
    """Complaints about innocent cells that did not end as they do otherwise."""
    cells = [(game, solver) for game in games for solver in INNOCENT]
    statuses = [rows[cell]["status"] if cell in rows else "missing" for cell in cells]
    return [
        f"{solver} on {game} {status}"
        for (game, solver), status in zip(cells, statuses, strict=True)
        if status != "limit"
    ]


def _row_complaints(
    attempt: Attempt, rows: Rows, games: Sequence[str], sandbox: Sandbox
) -> list[str]:
    """What is wrong with the rows of one attack."""
    wanted = attempt.expected.statuses
    found = [] if sandbox.struck(attempt.name) else ["the attack did not take place"]
    for game in games if wanted else ():
        row = rows.get((game, attempt.spec))
        if row is None:
            found.append(f"no row on {game}")
        elif row["status"] not in wanted:
            found.append(f"{row['status']} on {game}: {str(row['reason'])[:150]!a}")
        elif not isinstance(row["reason"], str) or not (row["reason"] or row["status"] == "ok"):
            found.append(f"{row['status']} on {game} without a reason")
    return found


def stored_rows(folder: Path) -> Rows:
    """Stored rows by game and solver as typed, as far as lines are rows; interrupted ones too."""
    rows: Rows = {}
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
