"""The sequence-form linear complementarity problem of a two-player game, and its solutions.

Symbols: I information sets, S sequences of both players (numbered as in the sequence form).
Plans of both players are one vector x over sequences. With E x = e for the constraints on
plans, r = E^T p - G x are the slacks: how much less a sequence is worth than p says, where G x
are the values of sequences against the other player. The problem is to find x >= 0 and p with
r >= 0 and x r = 0 in every component (Koller, Megiddo and von Stengel 1996, §3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray

from ..semismooth.system import affine_plans
from .kernels import Tableau

# Share of the largest value up to which a prior leaves two actions equally good.
TIE = 1e-12
# Weights of a solution up to here are rounding: in a degenerate basis some are zero.
NEGLIGIBLE_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False)
class Problem:
    """The complementarity problem of a game, and the prior from which the path starts.

    Attributes
    ----------
    form : SequenceForm
    values : float64 (S, S), sparse
        The matrix G, with the payoffs of each player shifted and scaled to lie around 0 and
        in [-1, 1] after the weighting with chance. That does not change the equilibria.
    prior : float64 (S,)
        Realization plans.
    """

    form: SequenceForm
    values: sparse.csr_array
    prior: FloatArray

    @classmethod
    def of(cls, form: SequenceForm, prior: FloatArray) -> Problem:
        """The problem of a two-player game."""
        first, second = form.columns.T
        shape = (form.n_sequences, form.n_sequences)
        rows, columns = np.concatenate((first, second)), np.concatenate((second, first))
        payoffs = form.payoffs - np.outer(form.chance, form.payoffs.sum(axis=0) / form.chance.sum())
        largest = np.abs(payoffs).max(axis=0)
        payoffs /= np.where(largest > 0, largest, 1.0)
        values = sparse.csr_array((payoffs.T.ravel(), (rows, columns)), shape=shape)
        return cls(form, values, prior)

    def first_tableau(self) -> Tableau:
        """Tableau at lambda = 0, where both players are about to best-respond to the prior.

        Replacing x by x + (1 - lambda) prior, with E x = lambda e, adds the covering vector
        of von Stengel, van den Elzen and Talman 2002. At lambda = 0 all weights are zero. The
        weights of the best responses are basic, as are all p, which never leave the basis and
        are therefore eliminated: with K x_other + k lambda for the plans in terms of the
        weights of the other sequences, only K^T r is left of the slacks, and it is free of p.
        """
        best = self._best_responses()
        others, directions, pure = affine_plans(self.form, np.flatnonzero(best)[2:])
        dense, size = directions.toarray(), len(best)
        directions = sparse.csr_array(dense)
        values = directions.T @ self.values
        entries = np.zeros((size, size + 2))
        entries[np.ix_(best, others)] = dense[best]
        entries[np.ix_(others, best)] = -dense[best].T
        entries[np.ix_(others, others)] = -(values @ directions).toarray()
        entries[best, size] = pure[best]
        entries[others, size] = -(values @ (pure - self.prior))
        entries[others, size + 1] = np.maximum(-(values @ self.prior), 0.0)
        return _tableau(entries, best)

    def _best_responses(self) -> NDArray[np.bool_]:
        """Which sequences the best responses to the prior take at their information set, (S,).

        The first of equally good ones; empty sequences are always taken.
        """
        form = self.form
        values = self.values @ self.prior
        taken = np.zeros(form.n_sequences, dtype=bool)
        taken[: form.n_players] = True
        for i in reversed(range(form.n_infosets)):
            block = values[form.block_start[i] : form.block_start[i + 1]]
            choice = int(np.argmax(block >= block.max() - TIE))
            taken[form.block_start[i] + choice] = True
            values[form.parent[i]] += block[choice]
        return taken

    def plans(self, tableau: Tableau) -> FloatArray:
        """Plans of both players on the path, with the prior's share, float64 (S,)."""
        size, end = self.form.n_sequences, 2 * self.form.n_sequences
        value = np.zeros(2 * size + 1)
        value[tableau.basic] = tableau.entries[:, -1]
        return np.maximum(value[:size] + (1.0 - value[end]) * self.prior, 0.0)

    def solution(self, tableau: Tableau) -> FloatArray:
        """Plans of the last basis, float64 (S,), solved anew from the data of the game.

        Raises
        ------
        LinAlgError
            If the basis is singular.
        """
        form = self.form
        support = np.flatnonzero(tableau.is_basic[: form.n_sequences])
        flow = sparse.csr_array(form.flow()[:, support])
        system = sparse.block_array(
            [[self.values[support][:, support], -flow.T], [flow, None]], format="csc"
        )
        right = np.zeros(system.shape[0])
        right[len(support) : len(support) + form.n_players] = 1.0
        try:
            solved = splu(system).solve(right)
        except RuntimeError as error:
            raise LinAlgError(f"the last basis is singular ({error})") from error
        plans = np.zeros(form.n_sequences)
        plans[support] = solved[: len(support)]
        return np.where(plans > NEGLIGIBLE_WEIGHT, plans, 0.0)


def empty_tableau() -> Tableau:
    """Tableau without sequences, which serves to compile the kernels."""
    return _tableau(np.zeros((0, 2)), np.zeros(0, dtype=bool))


def _tableau(entries: FloatArray, best: NDArray[np.bool_]) -> Tableau:
    """Tableau whose row s belongs to the weight or the slack of sequence s."""
    size = len(best)
    sequences = np.arange(size)
    basic = np.where(best, sequences, sequences + size)
    nonbasic = np.append(np.where(best, sequences + size, sequences), 2 * size)
    place = np.append(np.tile(sequences, 2), size)
    is_basic = np.zeros(2 * size + 1, dtype=bool)
    is_basic[basic] = True
    entering = np.array([2 * size])
    return Tableau(entries, basic, nonbasic, place, is_basic, _perturbations(basic, best), entering)


def _perturbations(basic: NDArray[np.int64], best: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Variables of the first basis by the size of their perturbation, the largest first.

    Slacks before weights: near lambda = 0, where weights are as small as their perturbations,
    the best response to the prior must stay the only one. Within these, the order is shuffled,
    always in the same way. In the order of the sequences the path from the uniform prior has
    97,547 pivots on two-player Kuhn poker with 40 cards; shuffled it has a few hundred.
    """
    shuffled = np.random.default_rng(0).permutation(len(basic))
    return basic[np.concatenate((shuffled[~best[shuffled]], shuffled[best[shuffled]]))]
