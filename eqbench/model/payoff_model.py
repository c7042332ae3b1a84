"""What a solver asks of a game: values, best responses and derivatives at a profile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from eqbench.model import kernels
from eqbench.model.choices import Choices
from eqbench.model.sequence_form import SequenceForm, SequenceStructure
from eqbench.model.tree import FloatArray

F = TypeVar("F", bound=SequenceStructure)


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


class FormModel(PayoffModel, Generic[F]):
    """Values and best responses by kernels on the arrays of a form."""

    values_of = staticmethod(kernels.payoffs_and_values)
    responses_of = staticmethod(kernels.best_responses)

    def __init__(self, form: F) -> None:
        self.form, self.n_actions, self._arrays = form, form.n_actions, form.arrays

    def expected_payoffs(self, behavior: NDArray) -> FloatArray:
        return self._values(self._extended(behavior))[2]

    def counterfactual_values(self, behavior: NDArray) -> FloatArray:
        return self._values(self._extended(behavior))[1][self.form.n_players :]

    def _extended(self, behavior: NDArray) -> FloatArray:
        """Vector over sequences of frequencies."""
        return np.concatenate((np.ones(self.form.n_players), self._checked(behavior)))

    def _values(self, extended: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Reach and counterfactual values of sequences, and payoffs."""
        made = np.empty_like(extended), np.empty_like(extended), np.empty(self.form.n_players)
        self.values_of(self._arrays, extended, *made)
        return made

    def _best_responses(self, behavior: NDArray) -> tuple[FloatArray, FloatArray]:
        extended, (payoffs, best) = self._extended(behavior), np.empty((2, self.form.n_players))
        scratch = np.empty_like(extended), np.empty_like(extended)
        self.responses_of(self._arrays, extended, *scratch, payoffs, best)
        return payoffs, best


class SequenceFormModel(FormModel[SequenceForm]):
    """The generic kernels on a sequence form; a :class:`PayoffModel` of any game."""

    def __init__(self, form: SequenceForm) -> None:
        super().__init__(form)
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

    def jacobian(self, behavior: NDArray) -> FloatArray:
        n, extended = self.form.n_players, self._extended(behavior)
        matrix = self._derivatives(extended, *self._values(extended)[:2])
        return np.ascontiguousarray(matrix[n:, n:])

    def linearize(self, behavior: NDArray) -> Linearization:
        n, choices, extended = self.form.n_players, self._choices, self._extended(behavior)
        reach, values, payoffs = self._values(extended)
        matrix = self._derivatives(extended, reach, values)
        jacobian = np.empty((choices.size, choices.size))
        kernels.difference(matrix, choices.action + n, choices.first + n, jacobian)
        gains, slope = choices.gains(values[n:]), None
        if self.form.slope_arrays is not None:
            self.values_of(self.form.slope_arrays, extended, reach, values, payoffs)
            slope = choices.gains(values[n:])
        return Linearization(gains, jacobian, slope)

    def _derivatives(self, extended: NDArray, reach: NDArray, values: NDArray) -> FloatArray:
        """Derivatives of values (rows) by entries of `extended`, (S, S)."""
        matrix = np.zeros((len(extended), len(extended)))
        kernels.jacobian(self._arrays, extended, reach, values, matrix)
        return matrix

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
