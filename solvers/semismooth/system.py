"""The complementarity system of a game in sequence form, as equations to solve.

Symbols: N players, I information sets, S = N + A sequences, F = A - I free weights.

Unknowns are realization plans x and a value p of every information set. The slack r of a
sequence is p of its information set, less its direct value, less the sum of p over the sets
right after it. An equilibrium is x >= 0, r >= 0 and x r = 0 for all sequences but the empty
ones (Koller, Megiddo and von Stengel 1996, §3, for two players; Ganzfried 2025, §2, for more).

Differences: slacks are no unknowns; in each information set the weight of the first sequence
is what the others leave, so that plans always sum up; at an information set with one action
r = 0 replaces the complementarity, which loses no plan and removes free values off the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray

# Share of the payoff range that, weighted with chance, counts as much as a weight of 1. Found
# by trial: on three-player Kuhn poker with six cards, fewer starts converge with 0.3 and 0.03.
UNIT = 0.1
# So many exist at once: derivatives by weights, Newton's matrix, its square, factors, copies.
MATRICES = 6


class Point(NamedTuple):
    """The equations at some unknowns.

    Attributes
    ----------
    unknowns : float64 (A,)
        F free weights of sequences, then I scaled values.
    weights : float64 (S,)
        Weights of all sequences; they sum up but may be negative.
    slacks : float64 (A,)
        Scaled slacks of all but the empty sequences.
    residual : float64 (A,)
    """

    unknowns: FloatArray
    weights: FloatArray
    slacks: FloatArray
    residual: FloatArray

    @property
    def merit(self) -> float:
        """Half the squared length of the residual."""
        return 0.5 * float(self.residual @ self.residual)


@dataclass(frozen=True, eq=False)
class System:
    """Residual and derivatives of the complementarity system of a game.

    Parameters
    ----------
    game : Game
    """

    game: Game

    @property
    def form(self) -> SequenceForm:
        """The compiled game."""
        return self.game.sequence_form

    @cached_property
    def model(self) -> SequenceFormModel:
        """Direct values of sequences and their derivatives."""
        return SequenceFormModel(self.form)

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """The sequences whose weights are unknowns, int64 (F,)."""
        taken = np.ones(self.form.n_sequences, dtype=bool)
        taken[: self.form.n_players] = False
        taken[self.form.block_start[:-1]] = False
        return np.flatnonzero(taken)

    def start(self, behavior: FloatArray) -> Point:
        """The equations at a behavior (A,), with the values of best responses to it."""
        form = self.form
        weights = RealizationPlan.of(form, behavior).weights
        values = self.model.direct_values(weights)
        best = np.empty(form.n_infosets)
        for i in reversed(range(form.n_infosets)):
            best[i] = values[form.block_start[i] : form.block_start[i + 1]].max()
            values[form.parent[i]] += best[i]
        return self.at(np.concatenate((weights[self.free], best / self._scale)))

    def at(self, unknowns: FloatArray) -> Point:
        """The equations at unknowns (A,)."""
        matrix, constant = self._plans
        count = len(self.free)
        weights = matrix @ unknowns[:count] + constant
        values = self.model.direct_values(weights)[self.form.n_players :]
        slacks = self._slack_matrix @ unknowns[count:] - values / self._row_scale
        residual = fischer_burmeister(weights[self.form.n_players :], slacks)
        return Point(unknowns, weights, slacks, np.where(self._single, slacks, residual))

    def derivatives(self, point: Point) -> FloatArray:
        """An element of the generalized derivative of the residual, float64 (A, A)."""
        n, count = self.form.n_players, len(self.free)
        by_weight, by_slack = fischer_burmeister_slopes(point.weights[n:], point.slacks)
        by_weight[self._single], by_slack[self._single] = 0.0, 1.0
        plans = self._plans[0]
        matrix = np.empty((self.form.n_actions, self.form.n_actions))
        by_plan = self.model.direct_derivatives(point.weights)[n:]
        matrix[:, :count] = (plans.T @ by_plan.T).T
        matrix[:, :count] *= -(by_slack / self._row_scale)[:, None]
        inner = plans[n:].tocoo()
        matrix[inner.row, inner.col] += by_weight[inner.row] * inner.data
        matrix[:, count:] = self._slack_matrix.toarray()
        matrix[:, count:] *= by_slack[:, None]
        return matrix

    def behavior(self, weights: FloatArray) -> FloatArray:
        """Frequencies float64 (A,) of weights (S,), negative ones taken as 0.

        Uniform where nothing is left, as for a `RealizationPlan`.
        """
        inside = np.maximum(weights[self.form.n_players :], 0.0)
        row = np.repeat(np.arange(self.form.n_infosets), self._sizes)
        total = np.bincount(row, inside, self.form.n_infosets)
        reached = total > 0
        share = inside / np.where(reached, total, 1.0)[row]
        return np.where(reached[row], share, (1.0 / self._sizes)[row])

    def random_behavior(self, rng: np.random.Generator) -> FloatArray:
        """Frequencies float64 (A,), uniformly distributed in each information set."""
        draws = rng.exponential(size=self.form.n_actions)
        return self.behavior(np.concatenate((np.ones(self.form.n_players), draws)))

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """Number of actions of each information set, (I,)."""
        return np.diff(self.form.block_start)

    @cached_property
    def _single(self) -> NDArray[np.bool_]:
        """Sequences without an alternative, bool (A,)."""
        return np.repeat(self._sizes == 1, self._sizes)

    @cached_property
    def _scale(self) -> FloatArray:
        """Counterfactual value that counts as 1 at each information set, float64 (I,).

        Values are weighted with chance: unscaled, sets that it seldom reaches, as in poker
        with many cards, would hardly count.
        """
        tree = self.game.tree
        reach = tree.chance_probability.copy()
        for level in tree.levels[1:]:
            reach[level] *= reach[tree.parent[level]]
        inside = np.flatnonzero(tree.infoset >= 0)
        total = np.bincount(tree.infoset[inside], reach[inside], tree.n_infosets)
        # nodes that only other players' actions tell apart were counted several times
        chance = np.minimum(np.where(total > 0, total, 1.0), 1.0)
        return UNIT * (tree.payoff_range or 1.0) * chance

    @cached_property
    def _row_scale(self) -> FloatArray:
        """The same for each sequence, float64 (A,)."""
        return np.repeat(self._scale, self._sizes)

    @cached_property
    def _plans(self) -> tuple[sparse.csr_array, FloatArray]:
        """Matrix K (S, F), sparse, and k (S,): plans are K y + k for free weights y (F,)."""
        form, size = self.form, self.form.n_sequences
        first = form.block_start[:-1]
        rows = np.concatenate((first, np.repeat(first, self._sizes - 1)))
        columns = np.concatenate((form.parent, self.free))
        signs = np.repeat([1.0, -1.0], [len(first), len(self.free)])
        passed_on = sparse.csr_array((signs, (rows, columns)), shape=(size, size))
        # the last column is for k: empty sequences weigh 1
        given = np.concatenate((self.free, np.arange(form.n_players)))
        column = np.minimum(np.arange(len(given)), len(self.free))
        shape = (size, len(self.free) + 1)
        term = total = sparse.csr_array((np.ones(len(given)), (given, column)), shape=shape)
        # weights that follow from those of sequences one step earlier, until none are left
        while term.nnz:
            term = sparse.csr_array(passed_on @ term)
            total = sparse.csr_array(total + term)
        return sparse.csr_array(total[:, :-1]), total[:, [-1]].toarray().ravel()

    @cached_property
    def _slack_matrix(self) -> sparse.csr_array:
        """Derivatives of the scaled slacks by the scaled values, (A, I), sparse."""
        n, sets = self.form.n_players, np.arange(self.form.n_infosets)
        inner = self.form.parent >= n
        own = np.repeat(sets, self._sizes)
        rows = np.concatenate((np.arange(len(own)), self.form.parent[inner] - n))
        columns = np.concatenate((own, sets[inner]))
        signs = np.repeat([1.0, -1.0], [len(own), int(inner.sum())])
        entries = signs * self._scale[columns] / self._row_scale[rows]
        return sparse.csr_array((entries, (rows, columns)), shape=(len(own), len(sets)))


def fischer_burmeister(a: FloatArray, b: FloatArray) -> FloatArray:
    """The function a + b - sqrt(a^2 + b^2), zero where a >= 0, b >= 0 and a b = 0.

    Fischer 1992, with the sign that makes it positive where both arguments are.
    """
    total, length = a + b, np.hypot(a, b)
    # the difference as such would lose all digits of the smaller of two positive numbers
    product = 2 * a * b / np.where(total > 0, total + length, 1.0)
    return np.where(total > 0, product, total - length)


def fischer_burmeister_slopes(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Derivatives of `fischer_burmeister` by a and by b; at the kink those from a = b > 0."""
    length = np.hypot(a, b)
    kink = length == 0
    divisor = np.where(kink, np.sqrt(2.0), length)
    return 1 - np.where(kink, 1.0, a) / divisor, 1 - np.where(kink, 1.0, b) / divisor


def bytes_needed(game: Game) -> int:
    """Memory of the dense matrices of a step."""
    tree = game.tree
    return 8 * MATRICES * (tree.n_actions + tree.n_players) ** 2
