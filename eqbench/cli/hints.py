"""What was meant by names of games and solvers where a command does not expect them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from eqbench.errors import SpecError


def run_of(words: Iterable[str]) -> str:
    """The run of the games and solvers among these words, all solvers if there is none."""
    words = [*words]
    if not (games := [word for word in words if _is_game(word)]):
        return ""
    solvers = [word for word in words if _are_solvers(word)]
    named = ["--game", ",".join(games), "--solver", ",".join(solvers) or "all"]
    return shlex.join(["eqbench", "run", *named])


def info_on(word: str) -> str:
    """How to learn about a game or a solver, if the word is one."""
    if not (_is_game(word) or _are_solvers(word)):
        return ""
    return f"did you mean: {shlex.join(['eqbench', 'info', word])}"


def check_of(word: str) -> str:
    """The check of a game or a solver, if the word is one."""
    kind = "game" if _is_game(word) else "solver" if _are_solvers(word) else ""
    return f"did you mean: {shlex.join(['eqbench', 'check', kind, word])}" if kind else ""


def _is_game(word: str) -> bool:
    from eqbench.registry import default_registry

    try:
        default_registry().game_entry(word)
    except SpecError:
        return False
    return True


def _are_solvers(word: str) -> bool:
    from eqbench.registry import default_registry

    try:
        default_registry().resolve_solvers(word)
    except SpecError:
        return False
    return True
