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

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.payoff_model import Linearization, PayoffModel
from eqbench.model.tree import FloatArray

from . import kernels
from .raw_derivatives import OwnReach

Regularization = Literal["log", "arctan", "rational"]
Derivative = Literal["counterfactual", "raw"]
Unknown = Literal["parameter", "log_epsilon"]
# Found by trial: in these units homotopies and branches take few steps.
UNIT = 0.1
KINDS: dict[str, int] = {
    "log": kernels.LOG,
    "arctan": kernels.ARCTAN,
    "rational": kernels.RATIONAL,
}


class Frequencies(NamedTuple):
    """What the projection gives; see `kernels.project`."""

    free: FloatArray
    first: FloatArray
    weight: FloatArray
    first_weight: FloatArray
    by_log: FloatArray


class Evaluation(NamedTuple):
    """The regularized system at a point.

    Attributes
    ----------
    residual : float64 (F,)
    matrix : float64 (F, F)
        Derivatives of the residual by z.
    along : float64 (F,)
        Derivatives of the residual by the other unknown: the payoff parameter, or log eps.
    """

    residual: FloatArray
    matrix: FloatArray
    along: FloatArray


@dataclass(frozen=True, eq=False)
class RegularizedGame:
    """Residual and derivatives of the regularized system of a game.

    Parameters
    ----------
    game : Game
    kind : regularization
    derivative : gains as counterfactual values, or multiplied with the own reach
    weights : float64 (C,), positive
        Strength of the barrier at each information set with a choice, times eps.
    counts : what the work so far consisted of
    before_work : called before each evaluation; may raise to end the work
    """

    game: Game
    kind: Regularization = "log"
    derivative: Derivative = "counterfactual"
    weights: FloatArray | None = None
    counts: dict[str, int] = field(
        default_factory=lambda: {"factorizations": 0, "steps": 0, "refused_steps": 0}
    )
    before_work: Callable[[], None] = lambda: None

    @cached_property
    def choices(self) -> Choices:
        """The free frequencies."""
        return Choices.of(self.game.tree)

    @cached_property
    def model(self) -> PayoffModel:
        """The payoff model at the game's own parameter."""
        return self.game.payoff_model()

    @cached_property
    def parameter(self) -> float:
        """The game's own value of its payoff parameter, 0 without one."""
        return float(self.game.tree.payoffs.value or 0)

    @cached_property
    def chance(self) -> FloatArray:
        """How much of chance leads to each information set with a choice, float64 (C,).

        Its probability where, as in poker, public moves are known to all.
        """
        tree = self.game.tree
        reach = tree.chance_probability.copy()
        for level in tree.levels[1:]:
            reach[level] *= reach[tree.parent[level]]
        inside = np.flatnonzero(tree.infoset >= 0)
        total = np.bincount(tree.infoset[inside], reach[inside], tree.n_infosets)
        # nodes that only other players' actions tell apart were counted several times
        chance = np.minimum(total[self.choices.infoset], 1.0)
        return np.where(chance > 0, chance, 1.0)

    @cached_property
    def unit(self) -> float:
        """Payoff that counts as 1 in the coordinates; solutions do not depend on it."""
        tree = self.game.tree
        return UNIT * (tree.payoff_range or 1.0) / tree.n_players

    @cached_property
    def free_scale(self) -> FloatArray:
        """Gain that counts as 1 in the coordinates, for each free action, float64 (F,)."""
        return np.repeat(self.chance * self.unit, np.diff(self.choices.start))

    @cached_property
    def _own_reach(self) -> OwnReach:
        return OwnReach.of(self.game.tree, self.choices)

    @cached_property
    def _strength(self) -> FloatArray:
        """Strength of the barrier in the coordinates where eps is 1, float64 (C,)."""
        weights = np.ones(len(self.choices.infoset)) if self.weights is None else self.weights
        return np.ascontiguousarray(weights * self.chance.max() / (self.chance * self.unit))

    def weighted(self, weights: FloatArray) -> RegularizedGame:
        """The same system with other weights of the information sets, float64 (C,)."""
        other = replace(self, weights=weights)
        kept = {k: v for k, v in self.__dict__.items() if k not in (*_FIELDS, "_strength")}
        other.__dict__.update(kept)
        return other

    def frequencies(self, z: FloatArray, epsilon: float) -> Frequencies:
        """Frequencies of the free and of the first actions at the coordinates z (F,)."""
        size, sets = len(z), len(self.choices.infoset)
        made = Frequencies(
            np.empty(size), np.empty(sets), np.empty(size), np.empty(sets), np.empty(size)
        )
        kernels.project(KINDS[self.kind], self.choices.start, z, epsilon * self._strength, *made)
        return made

    def behavior(self, frequencies: Frequencies) -> FloatArray:
        """All frequencies, float64 (A,)."""
        behavior = np.ones(self.choices.n_actions)
        behavior[self.choices.action] = frequencies.free
        behavior[self.choices.first[self.choices.start[:-1]]] = frequencies.first
        return behavior

    def model_at(self, parameter: float) -> PayoffModel:
        """The payoff model at a value of the parameter; the game's own if it has none."""
        return self.model if self.game.tree.payoffs.slope is None else self.model.at(parameter)

    def linearize(self, behavior: FloatArray, parameter: float) -> Linearization:
        """Gains and derivatives, in the chosen sense of derivative."""
        self.before_work()
        linear = self.model_at(parameter).linearize(behavior)
        return self._own_reach.weigh(behavior, linear) if self.derivative == "raw" else linear

    def evaluate(
        self, z: FloatArray, epsilon: float, parameter: float, unknown: Unknown = "parameter"
    ) -> Evaluation:
        """Residual and derivatives at the coordinates z (F,)."""
        choices, scale = self.choices, self.free_scale
        made = self.frequencies(z, epsilon)
        linear = self.linearize(self.behavior(made), parameter)
        first = np.repeat(made.first, np.diff(choices.start))
        matrix = np.empty((len(z) + 1, len(z) + 1))
        kernels.newton_matrix(
            choices.start, linear.jacobian, scale, made.weight, made.first_weight, matrix
        )
        residual = z - (made.free - first) - linear.gains / scale
        if unknown == "log_epsilon":
            change = np.add.reduceat(made.by_log, choices.start[:-1])
            moved = made.by_log + np.repeat(change, np.diff(choices.start))
            along = -(moved + linear.jacobian @ made.by_log / scale)
        elif linear.slope is not None:
            along = -linear.slope / scale
        else:
            along = np.zeros(len(z))
        return Evaluation(residual, matrix, along)


_FIELDS = tuple(field.name for field in fields(RegularizedGame))
