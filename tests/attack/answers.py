"""Answers that might be false: games and profiles made to mislead what measures and judges them.

A function that is marked by :func:`neighbors` yields one trial after another, each with its name
and with what is wrong, which is empty if the answer is right.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from frame_cases import candidate, snapshot
from random_trees import scattered_game
from wide_games import farthest, long_path

from eqbench.errors import ProfileError
from eqbench.harness.judge import Finding, measure, meets
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.verification import Verifier, verifier

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
def rows_that_miss_one() -> Iterator[tuple[str, str]]:
    """Profiles whose rows do not sum to 1 are measured as they are stored."""
    games = {
        f"{name}, rows {spare:g} off": long_path(spare, **of)
        for spare in (9e-10, -9e-10, 1e-12)
        for name, of in {
            "one player": {},
            "three players": {"players": 3, "sets": 60},
            "rows of the opponent": {"players": 2, "off": 1},
            "own rows": {"players": 2, "off": 0},
            "a wide game": {"prize": 10**9, "sets": 40},
            "small payoffs": {"prize": 1, "sets": 900},
        }.items()
    }
    for name, (tree, frequencies) in games.items():
        frames = [candidate(frequencies, claim=claim) for claim in ("iterate", "average")]
        decimals = [str(Fraction(repr(value))) for value in frequencies.tolist()]
        frames += [candidate(frequencies, exact=decimals), snapshot(1, frequencies)]
        findings = [measure(frame, Verifier(tree), 1e-6) for frame in frames]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(verifier, "COMPILED_FROM", 0)
            findings.append(measure(frames[0], Verifier(tree), 1e-6))
        yield name, "; ".join(filter(None, (astray(tree, finding) for finding in findings)))
    for name, row in {"negative": (-1e-17, 1.0), "above 1": (1 + 1e-12, 0.0)}.items():
        tree, frequencies = long_path(0.0)
        frequencies[:2] = row
        try:
            measure(candidate(frequencies), Verifier(tree), 1e-6)
            yield f"an entry that is {name}", "it is taken"
        except ProfileError:
            yield f"an entry that is {name}", ""
    for seed in range(0, 24, 3):  # with chances in floats
        tree, profile = scattered_game(seed)
        tree = replace(tree, chance=tree.chance * (1 - 9e-13))
        profile = BehaviorProfile.of(tree, profile.probabilities * (1 - 9e-10))
        measured = Verifier(tree).verify(profile)
        off = farthest(tree, profile, measured)
        wrong = f"off by {off}, bound {measured.error}"
        yield f"all rows and chances of game {seed}", wrong if off > measured.error else ""


@neighbors(KIND)
def errors_of_regrets() -> Iterator[tuple[str, str]]:
    """Exact regrets of 1,000 games lie within the errors, which are near to the differences."""
    ratios = []
    for seed in range(1000):
        tree, profile = scattered_game(seed)
        measured = Verifier(tree)._in_floats(profile.probabilities)
        off = farthest(tree, profile, measured)
        ratios.append(measured.error / off if off else math.inf)
        if off > measured.error:
            yield f"game {seed}", f"off by {off}, bound {measured.error}"
    median = statistics.median(ratios)
    yield "1,000 games", f"errors are {median:.3g} times too large" if median > 100 else ""


def astray(tree: GameTree, finding: Finding) -> str:
    """What is wrong with a measured regret, which is 1/50 in each game of `long_path`."""
    off = farthest(tree, finding.candidate.profile, finding.measured)
    if not off <= finding.measured.error <= 1e-11 * tree.largest_payoff:
        return f"off by {off}, bound {finding.measured.error}"
    return "a target of 0.019 is met" if meets(0.019, [finding], tree) else ""


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for each kind of false answer."""
    return marked(KIND, quick=quick)
