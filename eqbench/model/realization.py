"""Realization plans: one weight per sequence instead of one frequency per action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import ProfileError
from eqbench.model.reference import realization
from eqbench.model.sequence_form import SequenceForm
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
    def of(cls, form: SequenceForm, behavior: NDArray) -> RealizationPlan:
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

    def to_behavior(self, form: SequenceForm) -> FloatArray:
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


def shares(form: SequenceForm, weights: FloatArray) -> FloatArray:
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
