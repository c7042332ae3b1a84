"""Hostile games: every one has to be refused in one line, and none may be run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from .hostile import attacks
from .sandbox import Job, Result, Sandbox
from .solvers import PLUGINS, load

TREES, GAMES = "tricks against verification", "game plugins"
ANNOUNCED = ("text", "negative", "huge", "nan")
HONEST = "honest"
SETUP_S = 20
AT_ONCE = 8


def jobs(*, quick: bool, isolation: str = "fork") -> Iterator[Job]:
    """Several games a job; each has a run of its own, which it ends."""
    for plugin, kind in (("trees", TREES), ("games", GAMES)):
        known = attacks(load(plugin))
        names = [name for name, what in known.items() if what.quick or not quick]
        if not quick:
            names.append(HONEST)
        if plugin == "games" and not quick:
            names += [f"announced({name})" for name in ANNOUNCED]
        for start in range(0, len(names), AT_ONCE):
            some = names[start : start + AT_ONCE]
            yield Job(kind, f"{plugin} {start}", partial(trials, plugin, kind, some, isolation))


def trials(plugin: str, kind: str, names: list[str], isolation: str = "fork") -> list[Result]:
    return [Result(kind, name, tuple(_complaints(plugin, name, isolation))) for name in names]


def _complaints(plugin: str, name: str, isolation: str) -> list[str]:
    announced = name.startswith("announced(")
    attack = name[10:-1] if announced else name
    game = f"announced(attack={attack})" if announced else f"{plugin}(attack={attack})"
    if name == HONEST:
        game = {"trees": "trees", "games": "pennies"}[plugin]
    with Sandbox() as sandbox:
        ended = sandbox.command(
            *("run", "--game", game, "--solver", "cfr_plus", "--iterations", "20"),
            *("--setup-timeout", str(SETUP_S), "--timeout", "4", "--out", "run"),
            *("--isolation", isolation),
            *("--plugin", PLUGINS / f"{plugin}.py"),
            deadline_s=3 * SETUP_S,
        )
        left = sandbox.left_behind()
        if name.startswith(HONEST):
            return ended.complaints() + left
        found = ended.refusal() + left
        if not sandbox.struck(attack):
            found.append("the attack did not take place")
        if list(sandbox.root.rglob("pickle-was-run")):
            found.append("a pickle was run")
        if (sandbox.run / "runs.jsonl").exists():
            found.append("was run")
        return found
