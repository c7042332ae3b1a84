"""Quasi-perfect equilibria of two-player games by a symbolic perturbation.

Every sequence of d own actions weighs at least ``c epsilon**d``, and Lemke's algorithm pivots
for all small epsilon at once (Miltersen and Sorensen 2010). With these bounds taken off the
plans, only the constants of the tableau depend on epsilon, as polynomials that are compared
lexicographically. The shares at each information set in the limit are a quasi-perfect equilibrium,
which is sequential. The constants c are drawn at random, since equal ones leave ties where a game
is symmetric.

The path starts at a basis that an equilibrium suggests. In constant-sum games it is optimal but
for powers of epsilon, and there is little to do; Lemke's algorithm then always arrives. With
other payoffs it may end in a ray, and the equilibrium is kept as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray
from eqbench.verification.trembles import Trembles

from ..semismooth.system import affine_plans
from .complementarity import (
    RAY,
    RUNNING,
    SOLVED,
    Problem,
    Tableau,
    break_tie,
    pivot,
    tableau_of,
)

# Coefficients of polynomials, entries of columns, and weights up to here are rounding.
NEGLIGIBLE = 1e-9
# Smaller pivots would spoil the first basis.
LEAST_PIVOT = 1e-7
# With which share of trembles the first basis answers off the path of play.
TREMBLE = 1e-3


class PerturbedPath:
    """Lemke's path from the basis of an equilibrium to one that is quasi-perfect.

    Parameters
    ----------
    problem : Problem
        Its prior is not used.
    behavior : float64 (A,)
        An equilibrium to rounding.

    Attributes
    ----------
    status : RUNNING, SOLVED or RAY
    pivots : pivots so far
    """

    def __init__(self, problem: Problem, behavior: FloatArray) -> None:
        form = self.form = problem.form
        plan = RealizationPlan.of(form, behavior).weights
        self.bound = _bounds(form)
        dependent = _answers(problem, behavior, plan)
        self.tableau = _first_tableau(problem, dependent, self.bound)
        _enter(self.tableau, form, plan, _ties(problem, plan), dependent)
        begin(self.tableau)
        self.pivots, self.status = 0, RUNNING

    @staticmethod
    def bytes_needed(form: SequenceForm) -> int:
        """Memory of the tableau, and of what it is built from."""
        return 3 * 8 * form.n_sequences * (form.n_sequences + 2)

    def advance(self, count: int) -> None:
        """Do up to `count` pivots."""
        done, self.status = advance(self.tableau, self.bound.shape[1], count)
        self.pivots += done

    def limit(self) -> tuple[FloatArray, Trembles]:
        """Frequencies (A,) as epsilon goes to 0, and how unplayed actions vanish."""
        form, n = self.form, self.form.n_players
        size, width = self.bound.shape
        value = np.zeros((2 * size + 1, width))
        value[self.tableau.basic] = self.tableau.entries[:, -width:]
        weight = value[:size] + self.bound
        weight[abs(weight) < NEGLIGIBLE] = 0
        weight[:n] = np.eye(1, width)
        order = np.argmax(weight != 0, axis=1)
        leading = np.maximum(weight[np.arange(size), order], 0)
        before = np.concatenate((np.arange(n), form.parent[form.sequence_infoset[n:]]))
        rises = order - order[before]
        total = np.zeros(form.n_infosets)
        own = form.sequence_infoset[n:]
        np.add.at(total, own, np.where(rises[n:] == 0, leading[n:], 0))
        share = leading[n:] / total[own]
        return np.where(rises[n:] == 0, share, 0.0), Trembles(rises[n:], share)


def _bounds(form: SequenceForm) -> FloatArray:
    """Least weights of sequences as polynomials of epsilon, float64 (S, longest + 1)."""
    n, size = form.n_players, form.n_sequences
    length = np.zeros(size, dtype=np.int64)
    for i, parent in enumerate(form.parent):  # parents come first
        length[form.block_start[i] : form.block_start[i + 1]] = length[parent] + 1
    bound = np.zeros((size, int(length.max()) + 1))
    bound[np.arange(n, size), length[n:]] = np.random.default_rng(0).uniform(0.5, 1, size - n)
    return bound


def _answers(problem: Problem, behavior: FloatArray, plan: FloatArray) -> NDArray[np.int64]:
    """One sequence of each information set: the most played, off the own plan a best answer."""
    form = problem.form
    uniform = np.repeat(1 / np.diff(form.block_start), np.diff(form.block_start))
    mixed = (1 - TREMBLE) * behavior + TREMBLE * uniform
    values = problem.values @ RealizationPlan.of(form, mixed).weights
    chosen = np.zeros(form.n_infosets, dtype=np.int64)
    for i in reversed(range(form.n_infosets)):
        block = slice(form.block_start[i], form.block_start[i + 1])
        of = plan if plan[form.parent[i]] > NEGLIGIBLE else values
        chosen[i] = block.start + np.argmax(of[block])
        values[form.parent[i]] += values[chosen[i]]
    return chosen


def _ties(problem: Problem, plan: FloatArray) -> NDArray[np.bool_]:
    """Which sequences are best at their information set against a plan, (S,)."""
    form = problem.form
    values = problem.values @ plan
    best = np.zeros(form.n_sequences, dtype=bool)
    for i in reversed(range(form.n_infosets)):
        block = slice(form.block_start[i], form.block_start[i + 1])
        highest = values[block].max()
        best[block] = values[block] >= highest - NEGLIGIBLE
        values[form.parent[i]] += highest
    return best


def _first_tableau(problem: Problem, dependent: NDArray[np.int64], bound: FloatArray) -> Tableau:
    """Tableau in which the weights of `dependent` are basic, and polynomials the last columns.

    The variable before these is Lemke's; it makes all others nonnegative once it is large.
    """
    form, (size, width) = problem.form, bound.shape
    others, directions, pure = affine_plans(form, dependent)
    best = np.ones(size, dtype=bool)
    best[others] = False
    dense = directions.toarray()
    values = directions.T @ problem.values
    entries = np.zeros((size, size + 1 + width))
    entries[np.ix_(best, others)] = dense[best]
    entries[np.ix_(others, best)] = -dense[best].T
    entries[np.ix_(others, others)] = -(values @ directions).toarray()
    constants = entries[:, others] @ bound[others]
    constants[best] -= bound[best]
    constants[best, 0] += pure[best]
    constants[others, 0] -= values @ pure
    entries[:, size + 1 :] = constants
    return tableau_of(entries, best)


def _enter(
    tableau: Tableau,
    form: SequenceForm,
    plan: FloatArray,
    ties: NDArray[np.bool_],
    dependent: NDArray[np.int64],
) -> None:
    """Make the weights of all played sequences basic, each with one of the other player.

    Two pivots keep the basis complementary: a weight enters for the slack of the other's sequence,
    whose weight enters for the slack of the first. Played ones are paired first, then with those
    that are as good though not played.
    """
    size, n = form.n_sequences, form.n_players
    owner = np.concatenate((np.arange(n), form.infoset_player[form.sequence_infoset[n:]]))
    left = np.ones(size, dtype=bool)
    left[:n] = left[dependent] = False
    played = plan > NEGLIGIBLE
    spare = ties & ~played
    for first, second in ((played, played), (played, spare), (spare, played)):
        while True:
            rows = np.flatnonzero(left & first & (owner == 0))
            columns = np.flatnonzero(left & second & (owner == 1))
            if not len(rows) or not len(columns):
                break
            entries, place = tableau.entries, tableau.place
            there = abs(entries[np.ix_(place[columns + size], place[rows])].T)
            back = abs(entries[np.ix_(place[rows + size], place[columns])])
            least = np.minimum(there, back)
            r, c = np.unravel_index(int(np.argmax(least)), least.shape)
            if least[r, c] < LEAST_PIVOT:
                break
            s, t = rows[r], columns[c]
            pivot(tableau, place[t + size], place[s])
            pivot(tableau, place[s + size], place[t])
            left[s] = left[t] = False


def begin(tableau: Tableau) -> None:
    """Let Lemke's variable enter for the one that lacks most, in lexicographic order.

    Ties of polynomials are broken by perturbations of the variables that are basic now.
    """
    entries = tableau.entries
    size = len(entries)
    constants = entries[:, size + 1 :]
    entries[:, size] = 1.0
    tableau.first_basis[:] = np.random.default_rng(0).permutation(tableau.basic)
    rounded = np.where(abs(constants) > NEGLIGIBLE, constants, 0)
    row = int(np.lexsort(rounded.T[::-1])[0])
    leaving = tableau.basic[row]
    tableau.entering[0] = leaving + size if leaving < size else leaving - size
    if (rounded[row] < 0).any() and rounded[row][np.argmax(rounded[row] != 0)] < 0:
        pivot(tableau, row, size)
    else:
        tableau.entering[0] = 2 * size


@kernel
def least_ratio(tableau: Tableau, column: int, width: int) -> NDArray[np.int64]:
    """Rows whose polynomial falls to 0 first as the variable of `column` grows."""
    entries = tableau.entries
    rows, ratios, count = np.empty(len(entries), np.int64), np.empty(len(entries)), 0
    for i in range(len(entries)):
        if entries[i, column] < -NEGLIGIBLE:
            rows[count] = i
            count += 1
    for power in range(entries.shape[1] - width, entries.shape[1]):
        least, kept = np.inf, 0
        for k in range(count):
            ratios[k] = -entries[rows[k], power] / entries[rows[k], column]
            least = min(least, ratios[k])
        for k in range(count):
            if ratios[k] <= least + NEGLIGIBLE * max(1.0, abs(least)):
                rows[kept] = rows[k]
                kept += 1
        count = kept
    return rows[:count]


@kernel
def advance(tableau: Tableau, width: int, count: int) -> tuple[int, int]:
    """Do up to `count` pivots; returns their number and how the path goes on.

    It ends when Lemke's variable leaves, as it does wherever it can.
    """
    size = len(tableau.entries)
    end = 2 * size
    for done in range(count):
        entering = tableau.entering[0]
        if entering == end:
            return done, SOLVED
        column = tableau.place[entering]
        rows = least_ratio(tableau, column, width)
        if len(rows) == 0:
            return done, RAY
        row = tableau.place[end]
        if not (rows == row).any():
            row = break_tie(tableau, column, rows)
        leaving = tableau.basic[row]
        pivot(tableau, row, column)
        if leaving < end:
            leaving = leaving + size if leaving < size else leaving - size
        tableau.entering[0] = leaving
    return count, RUNNING
