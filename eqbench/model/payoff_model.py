"""What a solver asks of a game: values, best responses and derivatives at a profile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model import kernels
from eqbench.model.choices import Choices
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray


class Linearization(NamedTuple):
    """Counterfactual gains of the free actions (`Choices`) at a profile, and derivatives.

    Attributes
    ----------
    gains : float64 (F,)
        Counterfactual value of each free action less that of the first action of its set.
    jacobian : float64 (F, F)
        Derivatives of the gains (rows) by the free frequencies; the first action of each
        information set gives way.
    slope : float64 (F,) or None
        Derivative of the gains by the payoff parameter, None if the game has none.
    """

    gains: FloatArray
    jacobian: FloatArray
    slope: FloatArray | None


class PayoffModel(ABC):
    """Values, best responses and derivatives; some games have a faster model of their own.

    All methods take behavior frequencies float64 (A,) and return arrays that the caller owns.

    Attributes
    ----------
    n_actions : number of actions A
    """

    n_actions: int

    @abstractmethod
    def at(self, value: float) -> PayoffModel:
        """Same model at another value of the payoff parameter; all else is shared.

        Raises
        ------
        ValueError
            If the game has no payoff parameter.
        """

    @abstractmethod
    def counterfactual_values(self, behavior: NDArray) -> FloatArray:
        """Counterfactual value of each action, float64 (A,).

        Weighted with the reach of chance and of the other players, not with the own reach.
        """

    @abstractmethod
    def jacobian(self, behavior: NDArray) -> FloatArray:
        """Derivatives of counterfactual values (rows) by frequencies, float64 (A, A).

        Frequencies count as independent of each other.
        """

    @abstractmethod
    def linearize(self, behavior: NDArray) -> Linearization:
        """Gains of the free actions and their derivatives, frequencies summing to one."""

    @abstractmethod
    def _best_responses(self, behavior: NDArray) -> tuple[FloatArray, FloatArray]:
        """Expected payoffs and values of best responses, float64 (N,) each."""

    def expected_payoffs(self, behavior: NDArray) -> FloatArray:
        """Expected payoff of each player, float64 (N,)."""
        return self._best_responses(behavior)[0]

    def best_response_values(self, behavior: NDArray) -> FloatArray:
        """Value of a best response of each player to the others' behavior, float64 (N,)."""
        return self._best_responses(behavior)[1]

    def regrets(self, behavior: NDArray) -> FloatArray:
        """Best-response gain of each player, float64 (N,); rounding is not clipped."""
        payoffs, best = self._best_responses(behavior)
        return best - payoffs

    def _checked(self, behavior: NDArray) -> FloatArray:
        """A copy that is writable, as kernels expect; they check no bounds, so this does."""
        if np.shape(behavior) != (self.n_actions,):
            raise ValueError(
                f"behavior has shape {np.shape(behavior)}; this game has {self.n_actions} "
                "frequencies"
            )
        return np.array(behavior, dtype=np.float64)


class SequenceFormModel(PayoffModel):
    """The generic kernels on a sequence form; a :class:`PayoffModel` of any game."""

    def __init__(self, form: SequenceForm) -> None:
        self.form, self.n_actions = form, form.n_actions
        self._arrays = form.arrays
        self._choices = Choices.of_blocks(form.block_start - form.n_players)

    def at(self, value: float) -> SequenceFormModel:
        base, slope = self.form.base_arrays, self.form.slope_arrays
        if slope is None:
            raise ValueError("this game has no payoff parameter")
        model = copy(self)
        weight = base.weight + value * slope.weight
        weight.setflags(write=False)  # to Numba a writable array is another type
        model._arrays = base._replace(weight=weight)
        return model

    def expected_payoffs(self, behavior: NDArray) -> FloatArray:
        return self._values(behavior)[2]

    def counterfactual_values(self, behavior: NDArray) -> FloatArray:
        return self._values(behavior)[1][self.form.n_players :]

    def jacobian(self, behavior: NDArray) -> FloatArray:
        size, n = self.form.n_sequences, self.form.n_players
        reach, values, _ = self._values(behavior)
        matrix = np.zeros((size, size))
        kernels.jacobian(self._arrays, self._extended(behavior), reach, values, matrix)
        return np.ascontiguousarray(matrix[n:, n:])

    def linearize(self, behavior: NDArray) -> Linearization:
        size, n, choices = self.form.n_sequences, self.form.n_players, self._choices
        extended = self._extended(behavior)
        reach, values, payoffs = np.empty(size), np.empty(size), np.empty(n)
        kernels.payoffs_and_values(self._arrays, extended, reach, values, payoffs)
        matrix = np.zeros((size, size))
        kernels.jacobian(self._arrays, extended, reach, values, matrix)
        action, first = choices.action + n, choices.first + n
        jacobian = np.empty((choices.size, choices.size))
        kernels.difference(matrix, action, first, jacobian)
        gains, slope = choices.gains(values[n:]), None
        if self.form.slope_arrays is not None:
            kernels.payoffs_and_values(self.form.slope_arrays, extended, reach, values, payoffs)
            slope = choices.gains(values[n:])
        return Linearization(gains, jacobian, slope)

    def direct_values(self, weights: NDArray) -> FloatArray:
        """Value of each sequence over the terminals that end in it, float64 (S,).

        Multilinear in the realization plans `weights`, float64 (S,), of the other players.
        """
        values = np.empty(self.form.n_sequences)
        kernels.all_direct_values(self._arrays, self._weights(weights), values)
        return values

    def direct_derivatives(self, weights: NDArray) -> FloatArray:
        """Derivatives of the direct values (rows) by the weights of sequences, float64 (S, S)."""
        matrix = np.zeros((self.form.n_sequences, self.form.n_sequences))
        kernels.cross_derivatives(self._arrays, self._weights(weights), matrix)
        return matrix

    def _weights(self, weights: NDArray) -> FloatArray:
        """Weights of sequences, whose bounds kernels do not check either."""
        if np.shape(weights) != (self.form.n_sequences,):
            raise ValueError(
                f"weights have shape {np.shape(weights)}; this game has "
                f"{self.form.n_sequences} sequences"
            )
        return np.ascontiguousarray(weights, dtype=np.float64)

    def _extended(self, behavior: NDArray) -> FloatArray:
        """Vector over sequences of frequencies."""
        return np.concatenate((np.ones(self.form.n_players), self._checked(behavior)))

    def _values(self, behavior: NDArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        size, n = self.form.n_sequences, self.form.n_players
        reach, values, payoffs = np.empty(size), np.empty(size), np.empty(n)
        kernels.payoffs_and_values(self._arrays, self._extended(behavior), reach, values, payoffs)
        return reach, values, payoffs

    def _best_responses(self, behavior: NDArray) -> tuple[FloatArray, FloatArray]:
        size, n = self.form.n_sequences, self.form.n_players
        payoffs, best = np.empty(n), np.empty(n)
        kernels.best_responses(
            self._arrays, self._extended(behavior), np.empty(size), np.empty(size), payoffs, best
        )
        return payoffs, best
