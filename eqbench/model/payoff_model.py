"""What a solver asks of a game: values, best responses and derivatives at a profile."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqbench.model import kernels
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray


class PayoffModel:
    """The generic kernels on a sequence form; a game may bring a faster model.

    All methods take behavior frequencies float64 (A,), which need not sum to one in a row
    (derivatives treat them as independent), and return arrays that the caller owns.
    """

    def __init__(self, form: SequenceForm) -> None:
        self.form = form
        self._arrays = form.arrays

    def expected_payoffs(self, behavior: NDArray) -> FloatArray:
        """Expected payoff of each player, float64 (N,)."""
        return self._values(behavior)[2]

    def counterfactual_values(self, behavior: NDArray) -> FloatArray:
        """Counterfactual value of each action, float64 (A,).

        Weighted with the reach of chance and of the other players, not with the own reach.
        """
        return self._values(behavior)[1][self.form.n_players :]

    def best_response_values(self, behavior: NDArray) -> FloatArray:
        """Value of a best response of each player to the others' behavior, float64 (N,)."""
        return self._best_responses(behavior)[1]

    def regrets(self, behavior: NDArray) -> FloatArray:
        """Best-response gain of each player, float64 (N,); rounding is not clipped."""
        payoffs, best = self._best_responses(behavior)
        return best - payoffs

    def jacobian(self, behavior: NDArray) -> FloatArray:
        """Derivatives of counterfactual values (rows) by frequencies, float64 (A, A)."""
        size, n = self.form.n_sequences, self.form.n_players
        reach, values, _ = self._values(behavior)
        matrix = np.zeros((size, size))
        kernels.jacobian(self._arrays, self._extended(behavior), reach, values, matrix)
        return np.ascontiguousarray(matrix[n:, n:])

    def _extended(self, behavior: NDArray) -> FloatArray:
        """Vector over sequences; compiled kernels do not check bounds, so this does."""
        if np.shape(behavior) != (self.form.n_actions,):
            raise ValueError(
                f"behavior has shape {np.shape(behavior)}; this game has {self.form.n_actions} "
                "frequencies"
            )
        return np.concatenate((np.ones(self.form.n_players), behavior))

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
