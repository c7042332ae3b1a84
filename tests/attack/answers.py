"""Answers that might be false: games and profiles made to mislead what measures and judges them.

A function that is marked by :func:`neighbors` yields one trial after another, each with its name
and with what is wrong, which is empty if the answer is right.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product

import numpy as np
from random_trees import random_tree
from solver_cases import bimatrix, random_two_player_game, run, with_payoffs
from strategic_form import dominated_plans

import eqbench
from eqbench.equilibria import kind_of
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import refusal_of
from eqbench.verification import Play, verify, verify_exactly

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


def _ties(seed: int, size: int, base: int = 0) -> Game:
    rng = np.random.default_rng(seed)
    shape = (2, *rng.integers(2, size, 2))
    return bimatrix(*(base + rng.integers(0, 2 + seed % 3, shape)).tolist())


_SMALL_GAMES: dict[str, Callable[[int], Game]] = {
    "2 by 2": lambda seed: _ties(seed, 3),
    "matrices with ties": lambda seed: _ties(seed, 6),
    "near ties": lambda seed: _ties(seed, 5, 10**9),
    "floats": lambda seed: with_payoffs(_ties(seed, 6), _ties(seed, 6).tree.payoffs.table / 10),
    "trees": lambda seed: random_two_player_game(seed, depth=5),
    "regular trees": lambda seed: eqbench.load_game(f"random_tree(players=2,depth=4,seed={seed})"),
    "trees of three": lambda seed: Game("", random_tree(2 + 4 * seed, depth=4)),
}


def _equilibria(game: Game, solver: str) -> Iterator[BehaviorProfile]:
    """Equilibria that a solver finds in two seconds, or in pure strategies."""
    tree, profiles = game.tree, iter(())
    if solver == "pure":
        rows = product(*(np.eye(len(actions)) for actions in tree.infoset_actions))
        profiles = (BehaviorProfile.of(tree, np.concatenate(each)) for each in rows)
    elif not refusal_of(eqbench.load_solver(solver), game):
        found = run(solver, game, time_s=2, target=1e-12).candidates
        profiles = (each.profile for each in found if each.claim == "equilibrium")
    measure = verify_exactly if tree.exact else verify
    return (x for x in profiles if measure(tree, x).max_regret <= 1e-10 * tree.payoff_scale)


@neighbors(KIND)
def dominated_plans_by_linear_programs() -> Iterator[tuple[str, str]]:
    """Verdicts on plans of equilibria of small games, against linear programs over pure plans."""
    solvers = ("pure", "lcp", "semismooth", "logit", "case_enumeration")
    for (family, make), solver in product(_SMALL_GAMES.items(), solvers):
        counts, wrong = Counter[str](), []
        for seed, game in enumerate(map(make, range(40))):
            tree = game.tree
            if not 1 < math.prod(map(len, tree.infoset_actions)) <= 3000:
                continue
            for profile in islice(_equilibria(game, solver), 4):
                for read in (Play.of,) * (not tree.is_wide) + (Play.exactly,) * tree.exact:
                    play = read(tree, profile)
                    found = kind_of(play).undominated
                    counts[found] += 1
                    dominated = any(dominated_plans(tree, (play.played > 0).astype(float)))
                    if found == ("certified" if dominated else "refuted"):
                        wrong.append(f"{found} at seed {seed}")
        if counts:
            yield f"{family}, {solver}: {dict(counts)}", "; ".join(wrong)


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for each kind of false answer."""
    return marked(KIND, quick=quick)
