"""One game of a simulation: its flow, trajectories from starts, and the verifier's figures.

Symbols in shapes: K points of a trajectory, A actions, S sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from eqbench.dynamics import Dynamics, Flow, HandByHand, Trajectory
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray
from eqbench.studies.simulation_profits import KnownPayoffs, Window
from eqbench.studies.simulation_request import SimulationSetting, Start
from eqbench.verification import Verifier

MOST_AVERAGED = 4000  # points of a window
# what generators of a start are for
_TANGENT, _HANDS = 1, 2


class Place:
    """One game of a simulation, with what is needed for all its trajectories."""

    def __init__(self, setting: SimulationSetting, game: Game) -> None:
        self.setting, self.game = setting, game
        value = game.tree.payoffs.value
        self.value = None if setting.parameter is None or value is None else float(value)
        prepare = getattr(setting.solver.instance, "prepare", None)
        if prepare is not None:
            prepare(game)
        self.flow: Flow = self._dynamics.flow(game)
        self.known = KnownPayoffs.of(game)

    @property
    def _follows(self) -> bool:
        """Whether the flow itself is followed, and not play that imitates it."""
        return self.setting.request.model == "ode"

    @property
    def _dynamics(self) -> Dynamics:
        dynamics: Dynamics = self.setting.solver.instance
        return dynamics

    @cached_property
    def _hands(self) -> HandByHand:
        return self._dynamics.hand_by_hand(self.game, self.setting.request.memory)

    @cached_property
    def _verifier(self) -> Verifier:
        return Verifier(self.game.tree)

    def name_of(self, start: Start) -> str:
        """Name of a run, with the value of the parameter if there are several."""
        if len(self.setting.games) == 1:
            return start.name
        return f"{self.setting.parameter}={self.value:.12g} {start.name}"

    def to_json(self) -> dict[str, Any]:
        """The value of the parameter, and the published equilibria there."""
        return {
            "parameter": self.value,
            "game": self.game.spec,
            "integrator": self.flow.integrator if self._follows else None,
            "rate": self.flow.rate,
            "solutions": self.known.to_json(),
        }

    def trajectory(
        self, start: Start, times: FloatArray, interrupted: Callable[[], bool]
    ) -> Trajectory:
        """The trajectory from a start; a tangent at random is followed where there is a flow."""
        state = start.state(self.flow, self.setting.request.spread)
        if not self._follows:
            rng = start.generator(_HANDS)
            return self._hands.play(state, times, rng, interrupted=interrupted)
        tangent = start.generator(_TANGENT).standard_normal(len(state))
        tangent /= np.linalg.norm(tangent)
        return self.flow.integrate(state, times, tangent=tangent, interrupted=interrupted)

    def average(self, path: Trajectory, window: Window) -> FloatArray:
        """Frequencies (A,) that play like the average of the realization plans over a window.

        Of at most 4,000 of its points, equally far apart.
        """
        count = min(window.last - window.first + 1, MOST_AVERAGED)
        points = np.linspace(window.first, window.last, count).astype(np.int64)
        form = self.game.sequence_form
        weights = _plans(form, self.flow.behavior(path.states[points])).mean(axis=0)
        return RealizationPlan(weights).to_behavior(form)

    def measured(self, behavior: FloatArray) -> dict[str, Any]:
        """Payoffs and regrets of frequencies (A,), measured by the verifier."""
        figures = self._verifier.verify(BehaviorProfile.of(self.game.tree, behavior))
        return {
            "payoffs": [float(payoff) for payoff in figures.payoffs],
            "regrets": [float(regret) for regret in figures.regrets],
            "max_regret": float(figures.max_regret),
        }


def _plans(form: SequenceForm, behavior: FloatArray) -> FloatArray:
    """Realization plans (K, S) of frequencies (K, A)."""
    weights = np.ones((len(behavior), form.n_sequences))
    weights[:, form.n_players :] = behavior
    for parent, first, end in zip(
        form.parent.tolist(),
        form.block_start[:-1].tolist(),
        form.block_start[1:].tolist(),
        strict=True,
    ):  # parents come first
        weights[:, first:end] *= weights[:, parent : parent + 1]
    return weights
