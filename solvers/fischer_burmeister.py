"""The complementarity system of a game in sequence form, and the way down to its solutions.

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

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.realization import RealizationPlan, shares
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray

from .search import chance_reach

# Share of the payoff range that, weighted with chance, counts as much as a weight of 1. Found
# by trial: on three-player Kuhn poker with six cards, fewer starts converge with 0.3 and 0.03.
UNIT = 0.1
# Strength of the regularization, times min(1, |residual|^2): without it steps explode where
# the matrix is singular, and much more of it slows down games with many information sets.
REGULARIZATION = 1e-5
# Least share of the largest diagonal entry that the regularization has. More stalls on games of
# a thousand information sets; but with so little, near a solution rounding is blown up along
# directions in which the matrix is singular, and regrets stay at 1e-12.
LEAST_SHARE = 1e-14
LEAST_SHARE_AT_END = 1e-11
END = 1e-9
# A step must not exceed the largest merit of so many points before it (Grippo et al. 1986).
MEMORY = 8
SUFFICIENT = 1e-4
SMALLEST_STEP = 1e-9
# Residuals per square root of their number: solved, and so small that a merit which hardly
# falls shows rounding.
SOLVED = 1e-15
NEARLY_SOLVED = 1e-11
ROUNDING = 0.9
# The smallest merit fell by less than a tenth over so many steps: stalled.
PATIENCE = 40
PROGRESS = 0.9


class Point(NamedTuple):
    """The equations at some unknowns."""

    unknowns: FloatArray  # (A,), F free weights of sequences, then I scaled values
    weights: FloatArray  # (S,), of all sequences; they sum up but may be negative
    slacks: FloatArray  # (A,), scaled, of all but the empty sequences
    residual: FloatArray  # (A,)

    @property
    def merit(self) -> float:
        """Half the squared length of the residual."""
        return 0.5 * float(self.residual @ self.residual)


class System:
    """Residual and derivatives of the complementarity system of a game."""

    def __init__(self, game: Game) -> None:
        form = self.form = game.sequence_form
        self.halvings = 0  # of steps, by line searches
        n, own = form.n_players, form.sequence_infoset[form.n_players :]
        self.model = SequenceFormModel(form)
        # free (F,) are the sequences whose weights are unknowns
        self.free, self._directions, self._constant = affine_plans(form, form.block_start[:-1])
        # Without an alternative: sequences in information sets with one action
        self._single = np.diff(form.block_start)[own] == 1
        # Counterfactual value that counts as 1. Values are weighted with chance: unscaled, sets
        # that it seldom reaches, as in poker with many cards, would hardly count.
        scale = UNIT * (game.tree.payoff_range or 1.0) * chance_reach(game.tree)
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
    given = np.concatenate((free, np.arange(n)))
    entries = np.ones(len(given)), (given, np.arange(len(given)))
    term = total = sparse.csr_array(entries, shape=(size, len(given)))
    # weights that follow from those of sequences one step earlier, until none are left
    while term.nnz:
        term = sparse.csr_array(passed_on @ term)
        total = sparse.csr_array(total + term)
    return free, sparse.csr_array(total[:, : len(free)]), total[:, len(free) :].sum(axis=1)


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


def descend(system: System, start: Point) -> Iterator[Point]:
    """The start and the point after each step, until solved or stalled.

    The last one may lie above the one before it.
    """
    point, root = start, np.sqrt(len(start.residual))
    merits = [point.merit]
    yield point
    while np.sqrt(2 * point.merit) > SOLVED * root:
        before = point
        point = _step(system, point, max(merits[-MEMORY:]))
        yield point
        merits.append(point.merit)
        if point is before:
            return
        nearly = np.sqrt(2 * before.merit) <= NEARLY_SOLVED * root
        if nearly and point.merit > ROUNDING * before.merit:
            return
        if len(merits) > PATIENCE and min(merits) > PROGRESS * min(merits[:-PATIENCE]):
            return


def _step(system: System, point: Point, bound: float) -> Point:
    """The next point; the same one if no step brings the merit below the bound."""
    matrix = system.derivatives(point)
    gradient = matrix.T @ point.residual
    direction = _direction(matrix, gradient, point.merit)
    slope = float(gradient @ direction)
    length = 1.0
    while length > SMALLEST_STEP:
        after = system.at(point.unknowns + length * direction)
        if after.merit <= bound + SUFFICIENT * length * slope:
            return after
        length *= 0.5
        system.halvings += 1
    return point


def _direction(matrix: FloatArray, gradient: FloatArray, merit: float) -> FloatArray:
    """The Levenberg-Marquardt step (A,), which goes downhill whatever the matrix.

    Regularized with the squared residual, as Yamashita and Fukushima 2001: near solutions
    that lie in a continuum it converges about as fast as Newton's method near isolated ones.
    """
    square = matrix.T @ matrix
    diagonal = np.diag_indices_from(square)
    share = LEAST_SHARE if np.sqrt(2 * merit) > END else LEAST_SHARE_AT_END
    least = share * float(square[diagonal].max())
    strength = max(REGULARIZATION * min(1.0, 2 * merit), least)
    while np.isfinite(strength):
        square[diagonal] += strength
        try:
            return -cho_solve(cho_factor(square, check_finite=False), gradient)
        except LinAlgError:
            strength *= 10
    return -gradient
