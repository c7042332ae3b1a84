"""Branches of three-player Kuhn poker in memory, for the scripts that count and draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eqbench.continuation import BranchPoint, Continuation
    from eqbench.model.game import Game
    from eqbench.studies.branch import Branch


@dataclass(frozen=True, eq=False)
class Followed:
    """The points of a branch, in their order, and why it ended before its range did."""

    continuation: Continuation
    points: Sequence[BranchPoint]
    stalled: str

    def crossings(self, value: float) -> list[BranchPoint]:
        """Points of the branch at a value of the parameter."""
        found = []
        for before, after in zip(self.points, self.points[1:], strict=False):
            low, high = sorted((before.value, after.value))
            turns = before.direction * after.direction < 0  # beyond both neighbors, perhaps
            if turns or low <= value <= high:
                found += self.continuation.crossings(before, after, value)
        return found

    def branch(self, game: Game) -> Branch:
        """What figures are drawn from."""
        import numpy as np

        from eqbench.model.choices import Choices
        from eqbench.studies.branch import Branch

        values = np.array([point.value for point in self.points])
        model, actions = game.payoff_model(), Choices.of(game.tree).action
        free = np.array([point.behavior[actions] for point in self.points])
        payoffs = [model.at(p.value).expected_payoffs(p.behavior) for p in self.points]
        moved = np.diff(np.column_stack((free, values)), axis=0)
        arclength = np.concatenate(([0.0], np.cumsum(np.linalg.norm(moved, axis=1))))
        parameter = game.tree.payoffs.parameter
        return Branch(game, parameter, values, arclength, free, np.array(payoffs))


def kuhn(cards: int, pot: float | None = None) -> str:
    """Three-player Kuhn poker with the reductions of Billingham 2018, §2."""
    own = "" if pot is None else f",pot={pot:g}"
    return f"kuhn(players=3,cards={cards},reduce=billingham{own})"


def first_pot(cards: int) -> float:
    """Where branches begin: below 2/(N-3), the least pot at which anybody can gain (§2)."""
    return 0.9 * 2 / (cards - 3)


def prepared(game: Game, epsilon: float) -> Any:
    """The solver, its kernels compiled for a game."""
    from eqbench.registry import load_solver
    from eqbench.solver import warm_up

    solver = load_solver(f"arclength(epsilon={epsilon})")
    solver.prepare(game)
    warm_up(game)
    return solver


def follow(
    game: Game, ends: tuple[float, float], epsilon: float, *, longest: float | None = None
) -> Followed:
    """The branch from the first value of the parameter up to the last, or as far as it can be.

    Shorter steps than the solver's own longest ones make smoother figures.
    """
    from eqbench.continuation import ContinuationError

    first, last = ends
    continuation = prepared(game, epsilon).continuation(game)
    if longest is not None:
        control = replace(continuation.control, largest=longest)
        continuation = replace(continuation, control=control)
    points, stalled = [continuation.start(first)], ""
    try:
        for point in continuation.follow(points[0]):
            leaves = not first <= point.value <= last
            if leaves:
                border = last if point.value > last else first
                point = continuation.crossings(points[-1], point, border)[0]
            points.append(point)
            if leaves:
                break
    except ContinuationError as error:
        stalled = str(error)
    return Followed(continuation, points, stalled)
