"""What was meant by names of games and solvers where a command does not expect them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from contextlib import suppress

from eqbench.errors import SpecError


def kind_of(word: str) -> str:
    """The kind of a word, `game` or `solver`, if it names one; else nothing."""
    from eqbench.registry import default_registry

    registry = default_registry()
    for kind, find in (("game", registry.game_entry), ("solver", registry.resolve_solvers)):
        with suppress(SpecError):
            find(word)
            return kind
    return ""


def run_of(words: Iterable[str]) -> str:
    """The run of the games and solvers among these words, of all solvers if there is none."""
    kinds = {word: kind_of(word) for word in words}
    games, solvers = (
        ",".join(word for word in kinds if kinds[word] == kind) for kind in ("game", "solver")
    )
    asked = ["eqbench", "run", "--game", games, "--solver", solvers or "all"]
    return shlex.join(asked) if games else ""
