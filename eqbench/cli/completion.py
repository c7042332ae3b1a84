"""What a shell may put where a game, a solver, a run or a cell is typed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from click.shell_completion import CompletionItem

from eqbench.errors import EqbenchError


def specs(what: str, incomplete: str) -> list[CompletionItem]:
    """Names of games or solvers, also after a comma; for games else files."""
    listed, comma, begun = incomplete.rpartition(",")
    if listed.count("(") > listed.count(")"):  # a comma between options
        return []
    found = _beginning(_names(what), begun, listed + comma)
    return found or (paths(incomplete) if what != "solver" else [])


def runs(incomplete: str) -> list[CompletionItem]:
    """Runs in this folder and in results, and the word `latest`; else folders."""
    from eqbench.store.latest import LATEST, is_run

    folders = [folder for place in ("*", "results/*") for folder in sorted(Path().glob(place))]
    found = _beginning([LATEST, *(str(each) for each in folders if is_run(each))], incomplete)
    return found or paths(incomplete, folders=True)


def cells(run: str | None, incomplete: str) -> list[CompletionItem]:
    """Cells of a run, by their solver where that is enough."""
    from eqbench.store.stored_run import cell_name, read_run, run_folder

    try:
        stored = read_run(run_folder(run or "")).cells
    except EqbenchError:
        return []
    times = Counter(cell.solver for cell in stored)
    names = (cell.solver if times[cell.solver] == 1 else cell_name(cell) for cell in stored)
    return _beginning(names, incomplete)


def profiles(incomplete: str) -> list[CompletionItem]:
    """Cells behind the folder of a run, ``RUN/CELL``; else files."""
    run, slash, begun = incomplete.rpartition("/")
    found = _beginning((item.value for item in cells(run, begun)), begun, run + slash)
    return found or paths(incomplete)


def paths(incomplete: str, *, folders: bool = False) -> list[CompletionItem]:
    """The sign for the shell to complete paths."""
    return [CompletionItem(incomplete, type="dir" if folders else "file")]


def _beginning(names: Iterable[str], begun: str, before: str = "") -> list[CompletionItem]:
    return [CompletionItem(before + name) for name in names if name.startswith(begun)]


def _names(what: str) -> list[str]:
    """Names of the solvers, or of the games and the game files of the current folder."""
    from eqbench.registry import GROUPS, default_registry
    from eqbench.spec import GAME_FILES, PREFIXES

    registry, found = default_registry(), []
    if what != "solver":
        files = (name for name in sorted(os.listdir()) if name.lower().endswith(GAME_FILES))
        found += [*(entry.name for entry in registry.games()), *PREFIXES, *files]
    if what != "game":
        found += [*(entry.name for entry in registry.solvers()), "all", *GROUPS]
    return found
