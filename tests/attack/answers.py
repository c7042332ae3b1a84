"""Answers that might be false: games and profiles made to mislead what measures and judges them.

A function that is marked by :func:`neighbors` yields one trial after another, each with its name
and with what is wrong, which is empty if the answer is right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import textbook_games as books

import eqbench

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


class _HandsOver:
    """Calls one profile an equilibrium, up to a regret."""

    def __init__(self, profile: eqbench.BehaviorProfile, claimed: float | None = None) -> None:
        self.given = profile, "equilibrium", claimed

    def solve(self, game: Any, monitor: Any, rng: Any) -> eqbench.Termination:
        """Hand it over."""
        monitor.candidate(*self.given)
        return eqbench.Termination("converged")


RUIN = "-1e11"
# Payoffs by rows and columns. The first row is dominated, and the second ones are an equilibrium.
RUINOUS = """
-9e4 for all: 2,2 0,3 -9e4,-9e4/3,0 1,1 -9e4,-9e4/-9e4,-9e4 -9e4,-9e4 -9e4,-9e4
-1e6 for all: 2,2 0,3 -1e6,-1e6/3,0 1,1 -1e6,-1e6/-1e6,-1e6 -1e6,-1e6 -1e6,-1e6
-1e11 for all: 2,2 0,3 -1e11,-1e11/3,0 1,1 -1e11,-1e11/-1e11,-1e11 -1e11,-1e11 -1e11,-1e11
by P1: 2,2 0,3/3,0 1,1/-1e19,-1e19 -1e19,-1e19
by P2: 2,2 0,3 -1e19,-1e19/3,0 1,1 -1e19,-1e19
by two equal actions: 2,2 0,3 -1e11,-1e11 -1e11,-1e11/3,0 1,1 -1e11,-1e11 -1e11,-1e11
in steps: 2,2 0,3 0,-50 0,-2500 0,-1e5 0,-5e6 0,-2e8/3,0 1,1 0,-50 0,-2500 0,-1e5 0,-5e6 0,-2e8
of others alone: 2,2 0,3/3,0 1,1/3,-1e11 1,-1e11
against some actions: 2,0 0,0/3,0 1,0/2.5,0 -1e11,0
dominated by mixtures: 0,1 0,2 0,0/6,1 1,2 0,0/0,1 1,2 6,0/2.5,1 0,2 -1e11,0
bonanza: 2,2 0,3 0,0/3,0 1,1 0,0/0,0 0,0 1e11,1e11
other units: 2,2e11 0,3e11/3,0 1,1e11/-1e11,0 -1e11,0
large constant: 100000000002,2 1e11,3/100000000003,0 100000000001,1
"""


def _ruinous() -> Iterator[tuple[str, books.Node]]:
    """Games with an outcome far beyond what play is about."""
    for line in RUINOUS.strip().splitlines():
        name, rows = line.split(": ")
        yield name, books.matrix(rows)
    alone = {"C": "2 0", "D": "3 0", "R": f"{RUIN} 0"}
    yield "one player", ("1", alone)
    yield "roulette", ("1", alone | {"R": ("", {"dies 1/2": f"{RUIN} 0", "wins 1/2": "4 0"})})
    fate = {a: ("", {"dies 1/2": f"{RUIN} 0", "lives 1/2": alone[a]}) for a in "CD"}
    yield "whatever is done", ("1", fate)
    side = {"l": "0 0", "r": "0 0"}
    pennies = ("1 side", {"l": ("2 side", side), "r": ("2 side", side | {"r": "1e11 1e11"})})
    yield "next to real stakes", ("", {"small 1/2": ("1", alone), "large 1/2": pennies})
    node = books.matrix("2,2 0,3/3,0 1,1")
    for turn in range(6):
        node = (f"{1 + turn % 2} turn {turn}", {"on": node, "ruin": f"{RUIN} {RUIN}"})
    yield "behind moves", node
    yield "three players", _three_players()


def _three_players(before: str = "") -> books.Node:
    """The same dilemma of three, any of whom may ruin all."""
    if len(before) < 3:
        return (str(len(before) + 1), {end: _three_players(before + end) for end in "CDR"})
    paid = [RUIN if "R" in before else 2 * (own == "D") + before.count("C") for own in before]
    return " ".join(map(str, paid))


@neighbors(KIND)
def ruin_sets_no_scale() -> Iterator[tuple[str, str]]:
    """Outcomes that players avoid make no equilibrium of dominated play, nor of one in 100."""
    for name, node in _ruinous():
        tree = books.tree_of(node)
        for share, right in ((Fraction(1), "refuted"), (Fraction(1, 100), "refuted"), (0, "ok")):
            rows = ([share, 1 - share] + [0] * len(each) for each in tree.infoset_actions)
            sizes = map(len, tree.infoset_actions)
            chosen = [x for row, size in zip(rows, sizes, strict=True) for x in row[:size]]
            exact = eqbench.BehaviorProfile.of_exact(tree, chosen)
            for profile in (exact, eqbench.BehaviorProfile.of(tree, exact.probabilities)):
                result = eqbench.solve(eqbench.Game(name, tree), _HandsOver(profile))
                kind = result.equilibria[0].kind if share else None
                wrong = "" if (result.status, kind) == (right, None) else f"{result.status}, {kind}"
                yield f"{name}, {share} dominated, exact {profile.exact is not None}", wrong


@neighbors(KIND)
def bounds_shield_no_claim() -> Iterator[tuple[str, str]]:
    """A bound on the regret that a solver names makes no equilibrium of what is none."""
    uniform = eqbench.BehaviorProfile.uniform(eqbench.load_game("kuhn2").tree)
    for bound in (1e-5, 1.0, 1e6, 1e300, -1.0, -1e-300, float("nan"), float("inf"), 10**400):
        try:
            status = eqbench.solve("kuhn2", _HandsOver(uniform, bound)).status
        except (ValueError, OverflowError):
            status = "refused"
        yield f"a bound of {str(bound)[:9]}", "" if status in ("refuted", "refused") else status


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for each kind of false answer."""
    return marked(KIND, quick=quick)
