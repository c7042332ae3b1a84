"""Realization plans, one weight per sequence instead of one frequency per action, and their worth.

What plans are worth is computed in plain NumPy from the definitions, by the merged columns of the
sequence form: the oracle of the compiled kernels, which read entries by sequence. Loading Numba
takes longer than one such computation. Frequencies are float64 (A,).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import ProfileError
from eqbench.model.sequence_form import SequenceForm, SequenceStructure
from eqbench.model.tree import FloatArray

FLOW_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class RealizationPlan:
    """Realization plans of all players (von Stengel 1996, §3).

    Attributes
    ----------
    weights : float64 (S,), read-only
        Product of the owner's frequencies along each sequence, in [0, 1]; 1 at the N empty
        sequences, which come first.
    """

    weights: FloatArray

    @classmethod
    def of(cls, form: SequenceStructure, behavior: NDArray) -> RealizationPlan:
        """Plan that plays like the frequencies `behavior`, float64 (A,).

        Raises
        ------
        ProfileError
            If `behavior` has another shape.
        """
        behavior = np.asarray(behavior, dtype=np.float64)
        _check_shape(behavior, form.n_actions, "frequencies")
        weights = realization(form, behavior)
        weights.setflags(write=False)
        return cls(weights)

    def to_behavior(self, form: SequenceStructure) -> FloatArray:
        """Frequencies float64 (A,), owned by the caller, that play like this plan.

        The frequency of an action is its share in the weights of its information set. Where
        these are all zero the player's own moves do not lead there, the plan says nothing,
        and **the behavior is uniform**. So ``of(form, plan.to_behavior(form))`` is the plan
        again, but behavior that goes through a plan forgets what it did at such places.

        Raises
        ------
        ProfileError
            If the plan has another shape, a weight is negative or not finite, an empty
            sequence does not weigh 1, or the weights of an information set do not sum to
            that of the sequence leading there, within 1e-9.
        """
        n, weights = form.n_players, np.asarray(self.weights, dtype=np.float64)
        _check_shape(weights, form.n_sequences, "weights")
        if not np.all((weights >= 0) & np.isfinite(weights)):
            raise ProfileError("a realization plan has weights in [0, 1]; one is outside")
        row = np.repeat(np.arange(form.n_infosets), np.diff(form.block_start))
        total = np.bincount(row, weights[n:], form.n_infosets)
        flow = np.concatenate((weights[:n] - 1, total - weights[form.parent]))
        if np.any(np.abs(flow) > FLOW_TOLERANCE):
            raise ProfileError(
                "a realization plan weighs 1 at the empty sequences, and at every information "
                "set its weights sum to that of the sequence leading there; one of these sums "
                f"is off by {np.abs(flow).max():.3g} (allowed: {FLOW_TOLERANCE:g})"
            )
        return shares(form, weights)


def shares(form: SequenceStructure, weights: FloatArray) -> FloatArray:
    """Frequencies (A,) that play like weights >= 0 (S,), whose sums are not checked.

    Mixtures of profiles that are checked themselves are off by what those were allowed.
    """
    n, count = form.n_players, np.diff(form.block_start)
    row = np.repeat(np.arange(form.n_infosets), count)
    total = np.bincount(row, weights[n:], form.n_infosets)
    # The sum itself, not the weight leading there: the same but for rounding, and it
    # gives rows that sum to 1 where weights are so small that they have lost digits.
    reached = total > 0
    share = weights[n:] / np.where(reached, total, 1.0)[row]
    return np.where(reached[row], share, (1.0 / count)[row])


def _check_shape(values: NDArray, size: int, what: str) -> None:
    if values.shape != (size,):
        raise ProfileError(f"this game has {size} {what}; got shape {values.shape}")


# -- the kernels in plain NumPy --------------------------------------------------------------------


def realization(form: SequenceStructure, behavior: NDArray) -> NDArray:
    """Realization plans of all players, (S,); of frequencies (A, K) those of K profiles.

    They are float64, or Fractions if the frequencies are.
    """
    n, kind = form.n_players, np.result_type(behavior, np.float64)
    reach = np.ones((form.n_sequences, *behavior.shape[1:]), dtype=kind)
    reach[n:] = behavior
    for sequences, above in form.depths:
        reach[sequences] *= reach[above]
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
    """Derivatives of counterfactual values (rows) by frequencies, float64 (A, A).

    Frequencies count as independent of each other.
    """
    n, size = form.n_players, form.n_sequences
    reach, frequency = realization(form, behavior), np.concatenate((np.ones(n), behavior))
    values, matrix, there = np.zeros(size), np.zeros((size, size)), reach[form.columns]
    for p, own in enumerate(form.columns.T.astype(np.int64)):
        weighted = form.payoffs[:, p] * np.delete(there, p, axis=1).prod(axis=1)
        values += np.bincount(own, weighted, size)
        for q in (q for q in range(n) if q != p):  # by the reach of another's sequence
            weighted = form.payoffs[:, p] * np.delete(there, [p, q], axis=1).prod(axis=1)
            place = own * size + form.columns[:, q]
            matrix += np.bincount(place, weighted, size * size).reshape(size, size)
    for i in reversed(range(form.n_infosets)):
        above, here = form.parent[i], slice(form.block_start[i], form.block_start[i + 1])
        # the reach of an action is that of its information set times its frequency
        by_reach = matrix[:, here] @ frequency[here]
        matrix[:, here] *= reach[above]
        matrix[:, above] += by_reach
        # and the value of what leads there contains that of own later play
        matrix[above] += frequency[here] @ matrix[here]
        matrix[above, here] += values[here]
        values[above] += frequency[here] @ values[here]
    return matrix[n:, n:]


def _direct_values(form: SequenceForm, reach: FloatArray) -> FloatArray:
    values = np.zeros(form.n_sequences)
    for p in range(form.n_players):
        others = np.delete(reach[form.columns], p, axis=1).prod(axis=1)
        values += np.bincount(form.columns[:, p], others * form.payoffs[:, p], form.n_sequences)
    return values


def _actions(form: SequenceStructure, infoset: int) -> NDArray | slice:
    first, last = form.block_start[infoset], form.block_start[infoset + 1]
    return slice(first - form.n_players, last - form.n_players)
