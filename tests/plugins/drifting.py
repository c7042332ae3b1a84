"""A solver whose flow is made up: log-odds drift at constant speeds, to infinity."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import cumulative_trapezoid

import eqbench
from eqbench.dynamics import Trajectory
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.solver import Termination


@eqbench.register_solver("drifting", summary="drifts to the boundary", default=False)
@dataclass(frozen=True)
class Drifting:
    """Drifts.

    Parameters
    ----------
    speed : of every log-odds
    lost : time at which the flow cannot be followed further
    delay_s : how long a trajectory takes
    deaf : whether it goes on after an interrupt
    mark : file that it makes when it begins with a trajectory
    """

    speed: float = 0.5
    lost: float = float("inf")
    delay_s: float = 0.0
    deaf: bool = False
    mark: str = ""

    def flow(self, game):
        if self.speed < 0:
            raise UsageError("it drifts outward; choose another speed")
        return Drift(self, game)

    def hand_by_hand(self, game, memory):
        return Hands(self.flow(game), memory)

    def solve(self, game, monitor, rng):
        return Termination("not_found", "it only drifts")


class Drift:
    integrator = "none"

    def __init__(self, solver, game):
        self.solver, self.game = solver, game
        self.choices = Choices.of(game.tree)
        self.model = game.payoff_model()
        self.statistics = {"steps": 0}

    @property
    def rate(self):
        return self.solver.speed

    def state_of(self, behavior):
        return np.log(behavior[self.choices.action] / behavior[self.choices.first])

    def behavior(self, states):
        logits = np.zeros((*states.shape[:-1], self.choices.n_actions))
        logits[..., self.choices.action] = states
        start = self.game.tree.action_start
        row = np.repeat(np.arange(len(start) - 1), np.diff(start))
        weight = np.exp(logits - np.maximum.reduceat(logits, start[:-1], axis=-1)[..., row])
        return weight / np.add.reduceat(weight, start[:-1], axis=-1)[..., row]

    def payoffs(self, states):
        rows = self.behavior(np.atleast_2d(states))
        found = np.array([self.model.expected_payoffs(row) for row in rows])
        return found.reshape(*states.shape[:-1], -1)

    def velocity(self, state):
        return np.full(self.choices.size, self.solver.speed)

    def state_jacobian(self, state):
        return np.zeros((self.choices.size,) * 2)

    def integrate(self, state, times, *, tangent=None, interrupted=lambda: False):
        if self.solver.mark:
            Path(self.solver.mark).touch()
        until = time.perf_counter() + self.solver.delay_s
        while time.perf_counter() < until and (self.solver.deaf or not interrupted()):
            time.sleep(0.01)
        came = times[times <= self.solver.lost]
        ending = "" if len(came) == len(times) else "the road is closed; take another"
        if interrupted():
            came, ending = times[:2], "interrupted"
        self.statistics["steps"] += len(came)
        states = state + self.solver.speed * came[:, None]
        profits = cumulative_trapezoid(self.payoffs(states), came, axis=0, initial=0)
        followed = tangent is not None
        return Trajectory(
            came,
            states,
            profits,
            np.zeros(len(came)) if followed else None,
            tangent if followed else None,
            ending,
        )


class Hands:
    def __init__(self, flow, memory):
        self.flow, self.memory = flow, memory

    def play(self, state, times, rng, *, interrupted=lambda: False):
        path = self.flow.integrate(state, times, interrupted=interrupted)
        noise = rng.normal(0, 1 / self.memory, path.states.shape)
        return path._replace(states=path.states + noise)
