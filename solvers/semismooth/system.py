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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.realization import RealizationPlan, shares
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray, GameTree

# Share of the payoff range that, weighted with chance, counts as much as a weight of 1. Found
# by trial: on three-player Kuhn poker with six cards, fewer starts converge with 0.3 and 0.03.
UNIT = 0.1


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


class System:
    """Residual and derivatives of the complementarity system of a game.

    Attributes
    ----------
    form : SequenceForm
    model : SequenceFormModel
        Direct values of sequences and their derivatives.
    free : int64 (F,)
        The sequences whose weights are unknowns.
    """

    def __init__(self, game: Game) -> None:
        form = self.form = game.sequence_form
        n, own = form.n_players, form.sequence_infoset[form.n_players :]
        self.model = SequenceFormModel(form)
        self.free, self._directions, self._constant = affine_plans(form, form.block_start[:-1])
        # Without an alternative: sequences in information sets with one action
        self._single = np.diff(form.block_start)[own] == 1
        # Counterfactual value that counts as 1. Values are weighted with chance: unscaled, sets
        # that it seldom reaches, as in poker with many cards, would hardly count.
        scale = UNIT * (game.tree.payoff_range or 1.0) * chance_of_infosets(game.tree)
        self._scale, self._row_scale = scale, scale[own]
        slacks = form.flow()[n:, n:].T * scale / self._row_scale[:, None]
        self._slack_matrix = sparse.csr_array(slacks)

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
        n, count = self.form.n_players, len(self.free)
        weights = self._directions @ unknowns[:count] + self._constant
        values = self.model.direct_values(weights)[n:]
        slacks = self._slack_matrix @ unknowns[count:] - values / self._row_scale
        residual = fischer_burmeister(weights[n:], slacks)
        return Point(unknowns, weights, slacks, np.where(self._single, slacks, residual))

    def derivatives(self, point: Point) -> FloatArray:
        """An element of the generalized derivative of the residual, float64 (A, A)."""
        n, count = self.form.n_players, len(self.free)
        by_weight, by_slack = fischer_burmeister_slopes(point.weights[n:], point.slacks)
        by_weight[self._single], by_slack[self._single] = 0.0, 1.0
        matrix = np.empty((self.form.n_actions, self.form.n_actions))
        by_plan = self.model.direct_derivatives(point.weights)[n:]
        matrix[:, :count] = (self._directions.T @ by_plan.T).T
        matrix[:, :count] *= -(by_slack / self._row_scale)[:, None]
        inner = self._directions[n:].tocoo()
        matrix[inner.row, inner.col] += by_weight[inner.row] * inner.data
        matrix[:, count:] = self._slack_matrix.toarray()
        matrix[:, count:] *= by_slack[:, None]
        return matrix

    def behavior(self, weights: FloatArray) -> FloatArray:
        """Frequencies float64 (A,) of weights (S,), negative ones taken as 0.

        Uniform where nothing is left, as for a `RealizationPlan`.
        """
        return shares(self.form, np.maximum(weights, 0.0))

    def random_behavior(self, rng: np.random.Generator) -> FloatArray:
        """Frequencies float64 (A,), uniformly distributed in each information set."""
        draws = rng.exponential(size=self.form.n_actions)
        return shares(self.form, np.append(np.ones(self.form.n_players), draws))


def affine_plans(
    form: SequenceForm, dependent: NDArray
) -> tuple[NDArray[np.int64], sparse.csr_array, FloatArray]:
    """All plans as a function of the weights of some sequences.

    In each information set one sequence, `dependent` (I,), gets what the others leave of the
    weight that leads there.

    Returns
    -------
    free : int64 (F,)
        The other sequences, without the empty ones.
    directions, constant : float64 (S, F), sparse, and (S,)
        With weights y of the free sequences and z of the empty ones, plans are
        ``directions @ y + constant * z``.
    """
    n, size = form.n_players, form.n_sequences
    free = np.setdiff1d(np.arange(n, size), dependent)
    rows = np.concatenate((dependent, dependent[form.sequence_infoset[free]]))
    columns = np.concatenate((form.parent, free))
    signs = np.repeat([1.0, -1.0], [len(dependent), len(free)])
    passed_on = sparse.csr_array((signs, (rows, columns)), shape=(size, size))
    # the last column is for the constant: empty sequences weigh 1
    given = np.concatenate((free, np.arange(n)))
    column = np.minimum(np.arange(len(given)), len(free))
    shape = (size, len(free) + 1)
    term = total = sparse.csr_array((np.ones(len(given)), (given, column)), shape=shape)
    # weights that follow from those of sequences one step earlier, until none are left
    while term.nnz:
        term = sparse.csr_array(passed_on @ term)
        total = sparse.csr_array(total + term)
    return free, sparse.csr_array(total[:, :-1]), total[:, [-1]].toarray().ravel()


def chance_of_infosets(tree: GameTree) -> FloatArray:
    """Chance that the information sets are reached if everybody wants to, float64 (I,).

    At most 1, and 1 where chance never leads.
    """
    reach = tree.chance_probability.copy()
    for level in tree.levels[1:]:
        reach[level] *= reach[tree.parent[level]]
    inside = np.flatnonzero(tree.infoset >= 0)
    total = np.bincount(tree.infoset[inside], reach[inside], tree.n_infosets)
    # nodes that only other players' actions tell apart were counted several times
    return np.minimum(np.where(total > 0, total, 1.0), 1.0)


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
