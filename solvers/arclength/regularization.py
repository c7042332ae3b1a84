"""The regularized game: frequencies that a smooth response to the gains has to reproduce.

Billingham 2018, eq. (2): ``b = g(u / eps)`` at every information set, where u is the gain of
the aggressive action and g increases from 0 to 1 with algebraic tails. With h the inverse of g
that is ``u = eps h(b)``. Three choices of h:

- ``log``: ``1/(1-b) - 1/b``, the barrier ``eps (log b + log(1-b))``; with more actions
  ``eps sum log p_a``, the only one that is defined there;
- ``arctan``: ``-cot(pi b)``, so ``g(x) = 1/2 + arctan(x) / pi``;
- ``rational``: ``g(x) = (1 + x / (1 + |x|)) / 2``.

Gains are counterfactual values over the largest probability with which chance leads to an
information set (1/N in Kuhn poker with N cards), so that eps is in payoff units whatever the
number of cards.

Differs from the paper, whose own g is lost: the unknowns are not the frequencies but z with
``z = (p - p of the first action) + gain / scale``, of which the frequencies are a regularized
projection (see `kernels`). In these unknowns the problem stays well scaled for every eps, and
for eps to 0 it is the normal map of the equilibrium conditions, piecewise smooth.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.payoff_model import Linearization
from eqbench.model.tree import FloatArray

from ..polish.frequencies import GainSystem
from . import kernels

Regularization = Literal["log", "arctan", "rational"]
Derivative = Literal["counterfactual", "raw"]
Unknown = Literal["parameter", "log_epsilon"]
LARGEST_LOG = 200.0
# Spread of the logarithm of random weights of information sets.
WEIGHT_SPREAD = 1.0
KINDS = {"log": kernels.LOG, "arctan": kernels.ARCTAN, "rational": kernels.RATIONAL}


class Frequencies(NamedTuple):
    """What the projection gives; see `kernels.project`."""

    behavior: FloatArray
    weight: FloatArray
    by_log: FloatArray

    @property
    def support(self) -> NDArray[np.bool_]:
        """Actions that are inside their bounds rather than held up by the barrier, bool (A,).

        An action that is played with p stands at least as far from its bound as the barrier
        pushes it, in units of gains: for the log barrier p >= mu / scale, mu = eps / p.
        """
        return (self.weight >= 0.5) | (self.behavior >= 0.5)


@dataclass(frozen=True, eq=False)
class RegularizedGame(GainSystem):
    """Residual and derivatives of the regularized system of a game."""

    kind: Regularization = "log"
    derivative: Derivative = "counterfactual"  # or multiplied with the own reach
    # strength of the barrier at each information set with a choice, times eps, (C,)
    weights: FloatArray | None = None
    counts: dict[str, int] = field(
        default_factory=lambda: {"factorizations": 0, "steps": 0, "refused_steps": 0}
    )

    @cached_property
    def _strength(self) -> FloatArray:
        """Strength of the barrier in the coordinates where eps is 1, float64 (C,)."""
        weights = np.ones(len(self.choices.infoset)) if self.weights is None else self.weights
        return np.ascontiguousarray(weights * self.chance.max() / (self.chance * self.unit))

    def weighted(self, weights: FloatArray) -> RegularizedGame:
        """The same system with other weights of the information sets, float64 (C,)."""
        other = copy(self)  # with all that is computed already
        other.__dict__.pop("_strength", None)
        other.__dict__["weights"] = weights
        return other

    def randomly_weighted(self, rng: np.random.Generator) -> RegularizedGame:
        """The same system with log-normal weights of the information sets."""
        normal = rng.normal(size=len(self.choices.infoset))
        return self.weighted(np.exp(WEIGHT_SPREAD * normal))

    def frequencies(self, z: FloatArray, epsilon: float) -> Frequencies:
        """All frequencies at the coordinates z (F,)."""
        choices, count = self.choices, self.choices.n_actions
        first = choices.first[choices.start[:-1]]
        made = Frequencies(np.ones(count), np.ones(count), np.empty(len(z)))
        kernels.project(KINDS[self.kind], choices.start, first, z, epsilon * self._strength, *made)
        return made

    def linearize(self, behavior: FloatArray, parameter: float) -> Linearization:
        """Gains and derivatives, in the chosen sense of derivative.

        The gain of an action is the derivative of the player's expectation by its frequency only
        after division by the probability with which the player's own earlier actions lead there.
        Without that division ("raw") an information set that its own player never reaches has no
        say, and threats in it need not be credible (Billingham 2018, section 3).
        """
        linear = super().linearize(behavior, parameter)
        if self.derivative == "counterfactual":
            return linear
        tree, choices = self.game.tree, self.choices
        # the player's own reach of all sets, and its derivatives by frequencies
        reach, by_action = np.ones(tree.n_infosets), np.zeros((tree.n_infosets, tree.n_actions))
        infoset_of = tree.action_infoset
        for i, above in enumerate(tree.infoset_parent.tolist()):  # earlier sets come first
            if above >= 0:  # -1 is none
                before = infoset_of[above]
                reach[i] = reach[before] * behavior[above]
                by_action[i] = by_action[before] * behavior[above]
                by_action[i, above] = reach[before]
        own = infoset_of[choices.action]
        by_free = choices.gains(by_action[own].T).T  # the first action gives way
        jacobian = reach[own, None] * linear.jacobian + linear.gains[:, None] * by_free
        slope = None if linear.slope is None else reach[own] * linear.slope
        return Linearization(reach[own] * linear.gains, jacobian, slope)

    def evaluate(
        self, z: FloatArray, epsilon: float, parameter: float, unknown: Unknown = "parameter"
    ) -> tuple[FloatArray, FloatArray]:
        """Residual (F,) at the coordinates z (F,), and its derivatives (F+1, F+1) by all unknowns.

        The last unknown is the payoff parameter or the logarithm of eps. The last row is free.
        """
        choices, scale = self.choices, self.free_scale
        behavior, weight, by_log = self.frequencies(z, epsilon)
        linear = self.linearize(behavior, parameter)
        matrix = np.zeros((len(z) + 1, len(z) + 1))
        first_weight = weight[choices.first[choices.start[:-1]]]
        kernels.newton_matrix(
            choices.start, linear.jacobian, scale, weight[choices.action], first_weight, matrix
        )
        if unknown == "log_epsilon":
            change = np.add.reduceat(by_log, choices.start[:-1])
            moved = by_log + np.repeat(change, np.diff(choices.start))
            matrix[:-1, -1] = -(moved + linear.jacobian @ by_log / scale)
        elif linear.slope is not None:
            matrix[:-1, -1] = -linear.slope / scale
        return z - choices.gains(behavior) - linear.gains / scale, matrix


@dataclass(frozen=True, eq=False)
class RegularizedCurve:
    """Regularized equilibria of a game along one unknown more than there are equations.

    A point y (F+1,) holds the coordinates z (F,) of the system and one more unknown, which is the
    payoff parameter (at a fixed eps) or the logarithm of eps (at a fixed parameter).
    """

    system: RegularizedGame
    unknown: Unknown
    fixed: float  # eps where the parameter varies; the payoff parameter where eps varies

    @property
    def counts(self) -> dict[str, int]:
        """What the work on the system so far consisted of."""
        return self.system.counts

    def epsilon(self, y: FloatArray) -> float:
        """Strength of the regularization at a point."""
        if self.unknown == "parameter":
            return self.fixed
        # a wild Newton step must not make it 0 or infinite
        return float(np.exp(np.clip(y[-1], -LARGEST_LOG, LARGEST_LOG)))

    def equations(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Residual (F,) at a point, and its derivatives (F+1, F+1), whose last row is free."""
        parameter = float(y[-1]) if self.unknown == "parameter" else self.fixed
        return self.system.evaluate(y[:-1], self.epsilon(y), parameter, self.unknown)
