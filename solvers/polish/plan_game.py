"""Equilibrium conditions in realization plans: values, slacks and their derivatives.

Symbols: N players, I information sets, A actions, S sequences. Information sets stand in the
order of a player's decisions, so that one pass forward or backward is enough.

V_s is the value of sequence s over the terminals that end in it. With lambda_I the value of
information set I, the slack is ``r_s = lambda_I(s) - V_s - sum of lambda_J`` over the information
sets J to which s leads. Plans x are an equilibrium if and only if r >= 0 and x_s r_s = 0 (for two
players Koller, Megiddo and von Stengel 1996; for more Ganzfried 2025).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.compiled import kernel
from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.realization import shares
from eqbench.model.reference import realization
from eqbench.model.tree import FloatArray, IntArray


class PlanGame:
    """What polishing asks of a game.

    Attributes
    ----------
    model, measure
        The payoff model that knows realization plans, and the one that measures regrets.
    scale : payoff that counts as 1
    infoset : int64 (A,)
        Information set of each sequence but the empty ones.
    """

    def __init__(self, game: Game) -> None:
        self.game, self.form = game, game.sequence_form
        self.model, self.measure = SequenceFormModel(self.form), game.payoff_model()
        self.scale = game.tree.payoff_range or 1.0
        self.infoset = self.form.sequence_infoset[self.form.n_players :].astype(np.int64)

    def above(self, sequence: int) -> int:
        """The sequence that leads to the information set of a sequence that is not empty."""
        return int(self.form.parent[self.infoset[sequence - self.form.n_players]])

    @cached_property
    def flow(self) -> FloatArray:
        """Equations ``flow @ plans = 0`` of each information set, float64 (I, S)."""
        return self.form.flow()[self.form.n_players :]

    def feasible(self, weights: NDArray) -> FloatArray:
        """The realization plans (S,) nearest at hand to weights (S,) that may be no plans.

        Raises
        ------
        UsageError
            If the shape is wrong or a weight is not finite.
        """
        plans = np.array(weights, dtype=np.float64)
        if plans.shape != (self.form.n_sequences,) or not np.isfinite(plans).all():
            raise UsageError(
                f"weights have shape {plans.shape}, finite: {np.isfinite(plans).all()}; give one "
                f"finite weight for each of the {self.form.n_sequences} sequences"
            )
        return realization(self.form, shares(self.form, np.maximum(plans, 0.0)))

    def values(self, plans: FloatArray, chosen: NDArray[np.int64]) -> FloatArray:
        """Values of all sequences, float64 (S,), with later play as `chosen` (I,) says.

        Where that is negative it is filled with a best sequence.
        """
        values = self.model.direct_values(plans)
        _continue_play(self.form.block_start, self.form.parent, chosen, values[:, None])
        return values

    def derivatives(self, plans: FloatArray, chosen: NDArray[np.int64]) -> FloatArray:
        """Derivatives of `values` (rows) by the weights, float64 (S, S)."""
        matrix = self.model.direct_derivatives(plans)
        _continue_play(self.form.block_start, self.form.parent, chosen, matrix)
        return matrix

    def slacks(self, plans: FloatArray, chosen: NDArray[np.int64] | None = None) -> FloatArray:
        """What each sequence falls short of the chosen (I,) of its information set, float64 (S,).

        Of the best unless given. Weighted with the reach of chance and of the other players; 0
        at empty sequences.
        """
        chosen = self._best_of_all() if chosen is None else chosen
        values = self.values(plans, chosen)
        slacks = np.zeros(len(values))
        slacks[self.form.n_players :] = values[chosen[self.infoset]] - values[self.form.n_players :]
        return slacks

    def behavior(self, plans: FloatArray) -> FloatArray:
        """Frequencies, float64 (A,), that play like feasible plans (S,).

        Where the own plan does not lead: the first best action, or equal frequencies if the
        other players do not lead there either.
        """
        form, n = self.form, self.form.n_players
        chosen = self._best_of_all()
        self.values(plans, chosen)
        best = np.zeros(form.n_sequences)
        best[chosen] = 1.0
        missed = np.bincount(self.infoset, plans[n:], form.n_infosets) == 0
        replies = (missed & self._others_lead(plans))[self.infoset]
        return np.where(replies, best[n:], shares(form, plans))

    def _others_lead(self, plans: FloatArray) -> NDArray[np.bool_]:
        """Whether chance and the other players lead to each information set, bool (I,)."""
        form = self.form
        played = plans[form.columns] > 0
        led = np.zeros((form.n_sequences, 1))
        for p in range(form.n_players):
            others = np.delete(played, p, axis=1).all(axis=1) & (form.chance > 0)
            led[form.columns[others, p]] = 1.0
        _continue_play(form.block_start, form.parent, self._best_of_all(), led)
        return np.logical_or.reduceat(led[:, 0] > 0, form.block_start[:-1])

    def _best_of_all(self) -> NDArray[np.int64]:
        """Choices (I,) that are still to be filled with the best sequences."""
        return np.full(self.form.n_infosets, -1)


@kernel
def _continue_play(
    block_start: IntArray, parent: IntArray, chosen: NDArray[np.int64], values: FloatArray
) -> None:
    """Turn direct values into values with later play of the chosen sequences, in place.

    Of each column of `values` (S, K). ``chosen[i]`` (I,) is the sequence played at information
    set i; where it is negative it becomes the first of the best ones by the first column.
    """
    for back in range(len(parent)):
        i = len(parent) - 1 - back
        if chosen[i] < 0:
            best = block_start[i]
            for s in range(block_start[i] + 1, block_start[i + 1]):
                if values[s, 0] > values[best, 0]:
                    best = s
            chosen[i] = best
        for t in range(values.shape[1]):
            values[parent[i], t] += values[chosen[i], t]
