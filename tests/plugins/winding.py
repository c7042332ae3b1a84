"""A solver that follows a made-up curve instead of equilibria; its folds are known.

The curve has pot 3 + t + 1.5 sin t, so that it folds where cos t = -2/3, or 3 + sin t, which
returns to where it began. The first heads for larger or smaller pots, as it is asked to.
"""

import itertools
import math
import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.optimize import brentq

import eqbench
from eqbench.continuation import BranchPoint, ContinuationError, Turn
from eqbench.solver import Termination


@eqbench.register_solver("winding", summary="follows a made-up curve", default=False)
@dataclass(frozen=True)
class Winding:
    """Follows a made-up curve.

    Parameters
    ----------
    shape : of the curve
    lost : place at which it cannot be followed further
    start : whether it has one
    delay_s : time that a step takes
    shift : how far folds of the equilibria are from those of the curve
    corner : place after which the second action is played alone where the first choice is
    hidden : value at which crossings cannot be computed
    """

    shape: Literal["folded", "returning"] = "folded"
    lost: float = math.inf
    start: bool = True
    delay_s: float = 0.0
    shift: float = 0.0
    corner: float | None = None
    hidden: float = math.inf
    epsilon: float = 0.5

    def continuation(self, game):
        return Curve(self, game)

    def solve(self, game, monitor, rng):
        return Termination("not_found", "it only follows branches")


class Curve:
    def __init__(self, solver, game):
        self.solver, self.game = solver, game
        self.statistics = {"factorizations": 0, "steps": 0, "refused_steps": 0}

    def place(self, t):
        if self.solver.shape == "folded":
            return 3 + t + 1.5 * math.sin(t), 1 + 1.5 * math.cos(t)
        return 3 + math.sin(t), math.cos(t)

    def behavior(self, t):
        behavior = np.ones(self.game.tree.n_actions)
        for k, start in enumerate(self.game.tree.action_start[:-1].tolist()):
            if len(self.game.tree.infoset_actions[k]) > 1:
                behavior[start + 1] = 0.5 + 0.4 * math.sin(0.3 * t + k)
                behavior[start] = 1 - behavior[start + 1]
        return behavior

    def played(self, t):
        played = np.ones(self.game.tree.n_actions, dtype=bool)
        if self.solver.corner is not None:
            first = int(np.flatnonzero(np.diff(self.game.tree.action_start) > 1)[0])
            begin = int(self.game.tree.action_start[first])
            played[begin : begin + 2] = (t <= self.solver.corner, t > self.solver.corner)
        return played

    def point(self, t, length):
        value, slope = self.place(t)
        behavior = self.behavior(t)
        return BranchPoint(
            value=value,
            behavior=behavior,
            played=self.played(t),
            direction=slope if length > 0 else -slope,
            event="branch point" if 5 < t < 5.2 else "",
            state={"t": np.array(t), "length": np.array(length)},
        )

    def start(self, value, rng=None):
        if not self.solver.start:
            raise ContinuationError("there is none")
        t = brentq(lambda t: self.place(t)[0] - value, -9, 9) if value != 3 else 0.0
        return self.point(t, 0.01)

    def follow(self, point, *, increasing=True):
        t, length = float(point.state["t"]), float(point.state["length"])
        if length == 0.01:
            length = math.copysign(length, self.place(t)[1] * (1 if increasing else -1))
        while True:
            time.sleep(self.solver.delay_s)
            t += length
            # uneven, so that a forgotten length shows in the points
            length = math.copysign(min(1.3 * abs(length), 0.2), length)
            if t > self.solver.lost:
                raise ContinuationError("the road is closed")
            self.statistics["steps"] += 1
            self.statistics["factorizations"] += 3
            yield self.point(t, length)

    def turned(self, point):
        # not of the length of a fresh start, which may head either way
        length = math.copysign(0.011, -point.direction * self.place(float(point.state["t"]))[1])
        state = {**point.state, "length": np.array(length)}
        return replace(point, direction=-point.direction, state=state)

    def fold(self, before, after):
        if before.direction * after.direction >= 0:
            return None
        t = self._turn(before, after)
        value = self.place(t)[0]
        return Turn(value + self.solver.shift, self.behavior(t), self.solver.shift != 0, value)

    def _turn(self, before, after):
        ends = float(before.state["t"]), float(after.state["t"])
        return brentq(lambda t: self.place(t)[1], *ends, xtol=1e-14)

    def crossings(self, before, after, value):
        if value == self.solver.hidden:
            raise ContinuationError("the point cannot be computed")
        ends = [float(before.state["t"]), float(after.state["t"])]
        if before.direction * after.direction < 0:
            ends.insert(1, self._turn(before, after))
        found = []
        for a, b in itertools.pairwise(ends):
            low, high = sorted((self.place(a)[0], self.place(b)[0]))
            if low <= value < high:
                t = brentq(lambda t: self.place(t)[0] - value, a, b, xtol=1e-14)
                found.append(self.point(t, float(after.state["length"])))
        return found

    def polish(self, point, value=None):
        return point.behavior, point.value if value is None else value

    def game_at(self, value):
        return self.game.at(pot=value)
