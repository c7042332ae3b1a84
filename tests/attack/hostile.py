"""What hostile solvers and games have in common; it runs in children of a run.

An attack is a function of a plugin file, marked by :func:`ends` with the statuses that its cell
may have. One solver of the file runs whichever its option names.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import eqbench
from eqbench.solver import Termination

ANY = ("ok", "limit", "stopped", "timeout", "memory", "failed", "crashed", "not_found", "refuted")
Attack = Callable[..., Any]


@dataclass(frozen=True)
class Expected:
    """What must come of an attack, read by the runner.

    Attributes
    ----------
    statuses : that its row may have; none if the run itself must end
    codes : with which the run may exit
    alone : whether it gets a run of its own, because it strikes at more than its cell
    quick : whether it is among the tests
    """

    statuses: tuple[str, ...]
    codes: tuple[int, ...] = (0, 1)
    alone: bool = False
    quick: bool = False


def ends(*statuses: str, **more: Any) -> Callable[[Attack], Attack]:
    """Mark a function as an attack whose cell ends with one of these statuses."""

    def mark(function: Attack) -> Attack:
        function.expected = Expected(statuses, **more)  # type: ignore[attr-defined]
        return function

    return mark


def attacks(module: Any) -> dict[str, Expected]:
    """All attacks of a plugin by name, with what must come of them."""
    return {
        name: value.expected for name, value in vars(module).items() if hasattr(value, "expected")
    }


def marks() -> Path:
    """Folder in which attacks leave their names; the folder of the run is beside it."""
    return Path(os.environ["EQBENCH_ATTACK"])


def strike(name: str) -> None:
    """Leave word that an attack took place."""
    (marks() / name).touch()


@dataclass(frozen=True)
class Hostile:
    """A solver that attacks while it solves, then ends as if nothing had happened."""

    attack: str = ""

    def solve(self, game: Any, monitor: Any, rng: Any) -> Any:
        strike(self.attack)
        answer = getattr(sys.modules[type(self).__module__], self.attack)(game, monitor)
        if answer is not None:
            return answer
        monitor.candidate(uniform(game), claim="iterate")
        return Termination("limit", "survived its attack")


def uniform(game: Any) -> Any:
    return eqbench.BehaviorProfile.uniform(game.tree)


def job() -> dict[str, Any]:
    """What this child was asked to do, found as any plugin could find it."""
    caller = sys._getframe().f_back
    while caller is not None:
        if isinstance(caller.f_locals.get("job"), dict):
            return caller.f_locals["job"]
        caller = caller.f_back
    raise LookupError("no job among the callers")


def pipe() -> int:
    """Descriptor on which this child answers, found as any plugin could find it."""
    for number in range(3, 256):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
            flags = Path(f"/proc/self/fdinfo/{number}").read_text().split()[3]
        except OSError:
            continue
        if target.startswith("pipe:") and int(flags, 8) & os.O_WRONLY:
            return number
    raise LookupError("no pipe to the run")


def write(data: bytes) -> None:
    """Write bytes into the pipe to the run."""
    left = memoryview(data)
    while left:
        left = left[os.write(pipe(), left) :]


def frame(kind: Any, fields: Any) -> bytes:
    """A message as a child writes it, but with anything in it."""
    document = {"kind": kind, **fields} if isinstance(fields, dict) else [kind, fields]
    return prefixed(json.dumps(document).encode())


def prefixed(document: bytes) -> bytes:
    """A message with its length, whatever is in it."""
    return struct.pack("<4sI", b"EQB2", len(document)) + document


CLOCKS = {"work": 3, "elapsed_s": 0.1, "cpu_s": 0.1, "overhead_s": 0.0}
ENDING = {
    **{"reason": "limit", "detail": "by hand", "statistics": {}, "memory_bytes": 10**8},
    "clocks": CLOCKS,
}


def handed(
    game: Any, kind: str = "candidate", profile: bytes | None = None, **fields: Any
) -> bytes:
    """A candidate or snapshot as a message, honest but for what is given."""
    data = uniform(game).probabilities.tobytes() if profile is None else profile
    honest = {"claim": "iterate", "claimed_regret": None, "exact": None, "clocks": CLOCKS}
    return frame(kind, {**honest, "profile": base64.b64encode(data).decode(), **fields})


def done(**fields: Any) -> bytes:
    """The message that ends a cell, honest but for what `fields` says; clocks go into `clocks`."""
    clocks = CLOCKS | {name: fields.pop(name) for name in CLOCKS if name in fields}
    return frame("done", ENDING | {"clocks": clocks} | fields)
