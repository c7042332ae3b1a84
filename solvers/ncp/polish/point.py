"""Equilibrium conditions in realization plans: values, slacks and their derivatives.

Symbols: N players, I information sets, A actions, S sequences. V_s is the value of sequence s
over the terminals that end in it. With lambda_I the value of information set I, the slack is
``r_s = lambda_I(s) - V_s - sum of lambda_J`` over the information sets J to which s leads.
Plans x are an equilibrium if and only if r >= 0 and x_s r_s = 0 (for two players Koller, Megiddo
and von Stengel 1996; for more Ganzfried 2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.payoff_model import PayoffModel, SequenceFormModel
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray

from . import kernels


@dataclass(frozen=True, eq=False)
class PlanGame:
    """What polishing asks of a game.

    Parameters
    ----------
    game : Game
    """

    game: Game

    @cached_property
    def form(self) -> SequenceForm:
        return self.game.sequence_form

    @cached_property
    def model(self) -> SequenceFormModel:
        """The payoff model that knows realization plans."""
        return SequenceFormModel(self.form)

    @cached_property
    def measure(self) -> PayoffModel:
        """The payoff model that measures regrets."""
        return self.game.payoff_model()

    @cached_property
    def scale(self) -> float:
        """Payoff that counts as 1."""
        return self.game.tree.payoff_range or 1.0

    @cached_property
    def infoset(self) -> NDArray[np.int64]:
        """Information set of each sequence but the empty ones, int64 (A,)."""
        return self.form.sequence_infoset[self.form.n_players :].astype(np.int64)

    def above(self, sequence: int) -> int:
        """The sequence that leads to the information set of a sequence that is not empty."""
        return int(self.form.parent[self.infoset[sequence - self.form.n_players]])

    @cached_property
    def flow(self) -> FloatArray:
        """Equations ``flow @ plans = 0`` of each information set, float64 (I, S)."""
        form = self.form
        flow = np.zeros((form.n_infosets, form.n_sequences))
        flow[self.infoset, np.arange(form.n_players, form.n_sequences)] = 1.0
        flow[np.arange(form.n_infosets), form.parent] = -1.0
        return flow

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
        plans[: self.form.n_players] = 1.0
        kernels.make_feasible(self.form.block_start, self.form.parent, plans)
        return plans

    def values(self, plans: FloatArray, chosen: NDArray[np.int64]) -> FloatArray:
        """Values of all sequences, float64 (S,), with later play as `chosen` (I,) says.

        Where that is negative it is filled with a best sequence.
        """
        values = self.model.direct_values(plans)
        kernels.continue_play(self.form.block_start, self.form.parent, chosen, values)
        return values

    def derivatives(self, plans: FloatArray, chosen: NDArray[np.int64]) -> FloatArray:
        """Derivatives of `values` (rows) by the weights, float64 (S, S)."""
        matrix = self.model.direct_derivatives(plans)
        kernels.continue_derivatives(self.form.parent, chosen, matrix)
        return matrix

    def slacks(self, plans: FloatArray) -> FloatArray:
        """What each sequence falls short of the best of its information set, float64 (S,).

        Weighted with the reach of chance and of the other players; 0 at empty sequences.
        """
        chosen = np.full(self.form.n_infosets, -1)
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
        chosen = np.full(form.n_infosets, -1)
        self.values(plans, chosen)
        count = np.diff(form.block_start)
        total = np.bincount(self.infoset, plans[n:], form.n_infosets)
        best = np.zeros(form.n_sequences)
        best[chosen] = 1.0
        row = self.infoset
        unreached = np.where(self._others_lead(plans)[row], best[n:], 1.0 / count[row])
        reached = total > 0
        return np.where(reached[row], plans[n:] / np.where(reached, total, 1.0)[row], unreached)

    def _others_lead(self, plans: FloatArray) -> NDArray[np.bool_]:
        """Whether chance and the other players lead to each information set, bool (I,)."""
        form = self.form
        played = plans[form.columns] > 0
        marked = np.zeros(form.n_sequences, dtype=bool)
        for p in range(form.n_players):
            others = np.delete(played, p, axis=1).all(axis=1) & (form.chance > 0)
            marked[form.columns[others, p]] = True
        kernels.mark_earlier(form.parent, form.sequence_infoset, marked)
        return np.logical_or.reduceat(marked, form.block_start[:-1])
