"""The sequence-form linear complementarity problem of a two-player game, and pivots on it.

Symbols: I information sets, S sequences of both players (numbered as in the sequence form).
Plans of both players are one vector x over sequences. With E x = e for the constraints on
plans, r = E^T p - G x are the slacks: how much less a sequence is worth than p says, where G x
are the values of sequences against the other player. The problem is to find x >= 0 and p with
r >= 0 and x r = 0 in every component (Koller, Megiddo and von Stengel 1996, §3).

Variables of a tableau are numbered 0..S-1 for the weights of the sequences, S..2S-1 for their
slacks (S + s is complementary to s) and 2S for lambda.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

from eqbench.model.compiled import kernel
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray

from .fischer_burmeister import affine_plans

# Share of the largest value up to which a prior leaves two actions equally good.
TIE = 1e-12
# Weights of a solution up to here are rounding: in a degenerate basis some are zero.
NEGLIGIBLE_WEIGHT = 1e-12
RUNNING, SOLVED, RAY = 0, 1, 2
# Entries of the entering column up to this share of its largest one are rounding.
PIVOT_TOLERANCE = 1e-10
# Steps, and components of lexicographic vectors, that differ by less are equal.
TIE_TOLERANCE = 1e-11


class Tableau(NamedTuple):
    """The system of equations, solved for the basic variables; changed in place."""

    # float64 (S, S+2): row i says that ``basic[i]`` equals the sum of its first S+1 entries times
    # the variables in `nonbasic` plus its last entry, which is its value where those are 0
    entries: FloatArray
    basic: NDArray[np.int64]  # int64 (S,)
    nonbasic: NDArray[np.int64]  # int64 (S+1,)
    place: NDArray[np.int64]  # int64 (2S+1,): row of each basic variable, column of each other one
    is_basic: NDArray[np.bool_]  # bool (2S+1,)
    # int64 (S,): basic variables of the start, by the size of their perturbation, the largest first
    first_basis: NDArray[np.int64]
    entering: NDArray[np.int64]  # int64 (1,): variable that enters next


@dataclass(frozen=True, eq=False)
class Problem:
    """The complementarity problem of a game, and the prior from which the path starts."""

    form: SequenceForm
    # float64 (S, S), sparse: the matrix G, with the payoffs of each player shifted and scaled to
    # lie around 0 and in [-1, 1] after the weighting with chance. That does not change the
    # equilibria
    values: sparse.csr_array
    prior: FloatArray  # float64 (S,): realization plans

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
        responses = np.flatnonzero(self._best_responses())[2:]
        entries, best, others, values, pure = self.equations(responses, 2)
        size = len(best)
        entries[best, size] = pure[best]
        entries[others, size] = -(values @ (pure - self.prior))
        entries[others, size + 1] = np.maximum(-(values @ self.prior), 0.0)
        return tableau_of(entries, best)

    def equations(
        self, dependent: NDArray[np.int64], more: int
    ) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.int64], sparse.csr_array, FloatArray]:
        """Entries of a tableau with `more` columns at its end, which are left at 0.

        Also which sequences are basic, (S,): the empty ones and `dependent` (I,); the others; what
        these are worth, (F, S); and the plans (S,) where they weigh nothing.
        """
        others, directions, pure = affine_plans(self.form, dependent)
        best, dense = np.ones(len(pure), dtype=bool), directions.toarray()
        best[others] = False
        directions = sparse.csr_array(dense)
        values = directions.T @ self.values
        entries = np.zeros((len(pure), len(pure) + more))
        entries[np.ix_(best, others)] = dense[best]
        entries[np.ix_(others, best)] = -dense[best].T
        entries[np.ix_(others, others)] = -(values @ directions).toarray()
        return entries, best, others, values, pure

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
        """Plans of the last basis, float64 (S,), solved again from the data of the game.

        Raises LinAlgError if the basis is singular.
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


def tableau_of(entries: FloatArray, best: NDArray[np.bool_]) -> Tableau:
    """Tableau whose row s belongs to the weight of sequence s where `best`, else to its slack.

    The variables of the first basis are perturbed, slacks more than weights: near lambda = 0,
    where weights are as small as their perturbations, the best response to the prior must stay
    the only one. Within these, the order is shuffled, always in the same way. In the order of
    the sequences the path from the uniform prior has 97,547 pivots on two-player Kuhn poker
    with 40 cards; shuffled it has a few hundred.
    """
    size = len(best)
    sequences, shuffled = np.arange(size), np.random.default_rng(0).permutation(size)
    basic = np.where(best, sequences, sequences + size)
    return Tableau(
        entries,
        basic,
        nonbasic=np.append(np.where(best, sequences + size, sequences), 2 * size),
        place=np.append(np.tile(sequences, 2), size),
        is_basic=np.isin(np.arange(2 * size + 1), basic),
        first_basis=basic[np.concatenate((shuffled[~best[shuffled]], shuffled[best[shuffled]]))],
        entering=np.array([2 * size]),
    )


@kernel
def least_step(tableau: Tableau, column: int) -> tuple[NDArray[np.int64], float]:
    """Rows whose variable falls to 0 first as that of `column` grows, and that step length."""
    values, slopes = tableau.entries[:, -1], tableau.entries[:, column]
    rows, lengths = np.empty(len(values), np.int64), np.empty(len(values))
    largest, step, count, kept = np.abs(slopes).max(), np.inf, 0, 0
    for i in range(len(values)):
        if tableau.basic[i] < 2 * len(values) and slopes[i] < -PIVOT_TOLERANCE * largest:
            # a value below zero is rounding, or the rest of a tie
            rows[count], lengths[count] = i, max(values[i], 0.0) / -slopes[i]
            step = min(step, lengths[count])
            count += 1
    for k in range(count):
        if lengths[k] <= step + TIE_TOLERANCE:
            rows[kept] = rows[k]
            kept += 1
    return rows[:kept], step


@kernel
def break_tie(tableau: Tableau, column: int, rows: NDArray[np.int64]) -> int:
    """The one of some rows whose variable falls to 0 first if perturbed.

    The variables of the first basis are perturbed by powers of an infinitesimal. A variable
    takes part in the value of row i by minus its entry there, or by 1 if it is basic there.
    """
    entries, shares, count = tableau.entries, np.empty(len(rows)), len(rows)
    for variable in tableau.first_basis:
        if count == 1:
            break
        place, basic = tableau.place[variable], tableau.is_basic[variable]
        least, kept = np.inf, 0
        for k in range(count):
            row = rows[k]
            entry = entries[row, place] if not basic else -1.0 if place == row else 0.0
            shares[k] = entry / entries[row, column]
            least = min(least, shares[k])
        for k in range(count):
            if shares[k] <= least + TIE_TOLERANCE:
                rows[kept] = rows[k]
                kept += 1
        count = kept
    return rows[0]


@kernel
def pivot(tableau: Tableau, row: int, column: int) -> None:
    """Exchange the basic variable of `row` with the other one of `column`."""
    entries = tableau.entries
    rows, columns = entries.shape
    factor = 1.0 / entries[row, column]
    for j in range(columns):
        entries[row, j] *= -factor
    entries[row, column] = factor
    for i in range(rows):
        multiple = entries[i, column]
        if i != row and multiple != 0.0:
            entries[i, column] = 0.0
            for j in range(columns):
                entries[i, j] += multiple * entries[row, j]
    leaving, entering = tableau.basic[row], tableau.nonbasic[column]
    tableau.basic[row], tableau.nonbasic[column] = entering, leaving
    tableau.place[entering], tableau.place[leaving] = row, column
    tableau.is_basic[entering], tableau.is_basic[leaving] = True, False


@kernel
def advance(tableau: Tableau, count: int) -> tuple[int, int]:
    """Do up to `count` pivots, in place; returns their number and how the path continues.

    When lambda is 1 the path has ended at a solution. Where lambda and others come to their
    bounds in the same step, lambda goes first.
    """
    entries = tableau.entries
    rows, last = entries.shape[0], entries.shape[1] - 1
    end = 2 * rows
    for done in range(count):
        entering = tableau.entering[0]
        column = tableau.place[entering]
        first, step = least_step(tableau, column)
        is_solved = entering == end and step >= 1.0 - TIE_TOLERANCE
        if tableau.is_basic[end]:
            row = tableau.place[end]
            slope = entries[row, column]
            if slope > 0.0 and (1.0 - entries[row, last]) / slope <= step + TIE_TOLERANCE:
                pivot(tableau, row, column)
                is_solved = True
        if is_solved:
            # lambda is not basic, and stays at 1
            for i in range(rows):
                entries[i, last] += entries[i, column]
            return done + 1, SOLVED
        if len(first) == 0:
            return done, RAY
        row = break_tie(tableau, column, first)
        leaving = tableau.basic[row]
        pivot(tableau, row, column)
        tableau.entering[0] = leaving + rows if leaving < rows else leaving - rows
    return count, RUNNING
