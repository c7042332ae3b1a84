"""The kernels again in plain NumPy, written from the definitions: slow, and their oracle.

Every function takes frequencies float64 (A,) and reads the merged columns of the sequence
form, not the per-sequence entries that the compiled kernels read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray


def realization(form: SequenceForm, behavior: NDArray) -> NDArray:
    """Realization plans of all players, (S,); of frequencies (A, K) those of K profiles.

    They are float64, or Fractions if the frequencies are.
    """
    kind = np.result_type(behavior, np.float64)
    reach = np.ones((form.n_sequences, *behavior.shape[1:]), dtype=kind)
    for i in range(form.n_infosets):
        block = slice(form.block_start[i], form.block_start[i + 1])
        reach[block] = reach[form.parent[i]] * behavior[_actions(form, i)]
    return reach


def expected_payoffs(form: SequenceForm, behavior: FloatArray) -> FloatArray:
    """Expected payoff of each player, float64 (N,)."""
    reach = realization(form, behavior)
    return reach[form.columns].prod(axis=1) @ form.payoffs


def counterfactual_values(form: SequenceForm, behavior: FloatArray) -> FloatArray:
    """Counterfactual value of every action, float64 (A,)."""
    values = _direct_values(form, realization(form, behavior))
    for i in reversed(range(form.n_infosets)):
        block = slice(form.block_start[i], form.block_start[i + 1])
        values[form.parent[i]] += behavior[_actions(form, i)] @ values[block]
    return values[form.n_players :]


def best_response_values(form: SequenceForm, behavior: FloatArray) -> FloatArray:
    """Best-response value of each player against the others' behavior, float64 (N,)."""
    values = _direct_values(form, realization(form, behavior))
    for i in reversed(range(form.n_infosets)):
        block = slice(form.block_start[i], form.block_start[i + 1])
        values[form.parent[i]] += values[block].max()
    return values[: form.n_players]


def jacobian(form: SequenceForm, behavior: FloatArray) -> FloatArray:
    """Derivative of counterfactual values (rows) by frequencies, float64 (A, A).

    Counterfactual values are of degree at most one in each frequency, so a difference over
    the whole unit interval is the exact derivative.
    """
    columns = []
    for action in range(form.n_actions):
        high, low = behavior.copy(), behavior.copy()
        high[action], low[action] = 1.0, 0.0
        columns.append(counterfactual_values(form, high) - counterfactual_values(form, low))
    return np.stack(columns, axis=1)


def _direct_values(form: SequenceForm, reach: FloatArray) -> FloatArray:
    values = np.zeros(form.n_sequences)
    for p in range(form.n_players):
        others = np.delete(reach[form.columns], p, axis=1).prod(axis=1)
        values += np.bincount(form.columns[:, p], others * form.payoffs[:, p], form.n_sequences)
    return values


def _actions(form: SequenceForm, infoset: int) -> NDArray | slice:
    first, last = form.block_start[infoset], form.block_start[infoset + 1]
    return slice(first - form.n_players, last - form.n_players)
