"""Answers that might be false: games and profiles made to mislead what measures and judges them.

A function that is marked by :func:`neighbors` yields one trial after another, each with its name
and with what is wrong, which is empty if the answer is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from .sandbox import Job, Result

KIND = "false answers"
Trials = Callable[[], Iterator[tuple[str, str]]]
_MARKED: dict[str, list[tuple[str, Trials]]] = {}


def neighbors(kind: str) -> Callable[[Trials], Trials]:
    """Mark a function as trials of this kind; its name is that of the job."""

    def mark(function: Trials) -> Trials:
        _MARKED.setdefault(kind, []).append((function.__name__, function))
        return function

    return mark


def marked(kind: str, *, quick: bool) -> Iterator[Job]:
    """One job for each marked function; none of them is among the tests."""
    if not quick:
        for name, function in _MARKED.get(kind, ()):
            yield Job(kind, name, partial(_tried, kind, name, function))


def _tried(kind: str, name: str, function: Trials) -> list[Result]:
    return [
        Result(kind, f"{name}: {trial}", (wrong,) if wrong else ()) for trial, wrong in function()
    ]


@neighbors(KIND)
def methods_that_take_over() -> Iterator[tuple[str, str]]:
    """Runs of `ncp` that may end with another method's point, or without any."""
    import eqbench

    tree = "random_tree(players={},depth=6,actions=3,seed=4)"
    runs = [(tree.format(players), "ncp", s) for players in (3, 4) for s in (0.05, 0.5, 2.0)]
    runs += [(tree.format(4), f"ncp(fallback={name})", 2.0) for name in ("none", "logit")]
    runs += [(tree.format(2), f"ncp(backend={name})", 30.0) for name in ("gurobi", "scip")]
    runs += [("random(players=2,actions=25,seed=2)", "ncp", 20.0)]
    for game, solver, time_s in runs:
        found = eqbench.solve(game, solver, eqbench.Budget(time_s=time_s), seed=0)
        method = found.statistics.get("fallback")
        claimed = [each.max_regret for each in found.equilibria if each.claim == "equilibrium"]
        wrong = []
        if max(claimed, default=0.0) > 2e-4 or (found.status == "ok" and not found.equilibria):
            wrong.append(f"{found.status} with claims of regrets {claimed}")
        if method and (f"; {method}: " not in found.reason or "fallback=none" in solver):
            wrong.append(f"{method} took over, and the reason is {found.reason!r}")
        if not method and "branch and bound had no point" in found.reason:
            wrong.append("a method took over that the record does not name")
        if "players=2" in game and "scip" not in solver and found.status != "ok":
            wrong.append(f"two players, yet {found.status}: {found.reason}")
        yield f"{solver} on {game}, {time_s} s", "; ".join(wrong)


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for each kind of false answer."""
    return marked(KIND, quick=quick)
