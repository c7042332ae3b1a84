"""Quasi-perfect equilibria of two-player games by a symbolic perturbation.

Every sequence of d own actions weighs at least ``c epsilon**d``, and Lemke's algorithm pivots
for all small epsilon at once (Miltersen and Sorensen 2010). With these bounds taken off the
plans, only the constants of the tableau depend on epsilon, as polynomials that are compared
lexicographically. The shares at each information set in the limit are a quasi-perfect equilibrium,
which is sequential. The constants c are drawn at random, since equal ones leave ties where a game
is symmetric.

The path starts at a basis that an equilibrium suggests. In constant-sum games it is optimal but
for powers of epsilon, and there is little to do; Lemke's algorithm then always arrives. With
other payoffs it may end in a ray; then other covering vectors are tried. What is played at
information sets to which chance never leads does not matter to any of this.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import counted
from eqbench.model.compiled import kernel
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import FloatArray
from eqbench.model.trembles import Trembles
from eqbench.solver import Candidate, Monitor

from .complementarity import RAY, RUNNING, SOLVED, Problem, Tableau, break_tie, pivot, tableau_of
from .search import memory_refusal

# As in `lemke`: more regret, as a share of the payoff range, means a wrong basis.
LARGEST_REGRET, ROUNDING = 1e-9, 1e-14
# Building the tableau takes up to twice its own memory next to it.
MEMORY_FACTOR = 3
# Coefficients of polynomials, entries of columns, and weights up to here are rounding.
NEGLIGIBLE = 1e-9
# Smaller pivots would spoil the first basis.
LEAST_PIVOT = 1e-7
# With which share of trembles the first basis answers off the path of play.
TREMBLE = 1e-3


CHUNK = 50  # pivots between looks at the clock
TRIES = 20


def perturbed(game: Game, profile: BehaviorProfile, monitor: Monitor) -> Candidate:
    """A quasi-perfect equilibrium near one of two players, with its trembles.

    The one given, without trembles, where this takes more than there is of memory or time, ends
    in rays, or is spoiled by rounding; the record says as `offpath` which. Iterations are not
    counted.
    """
    form, tree, kept = game.sequence_form, game.tree, Candidate(profile, "equilibrium")
    needed = MEMORY_FACTOR * 8 * form.n_sequences * (form.n_sequences + 2)
    refusal = memory_refusal("the perturbed tableau", needed, monitor.budget.memory_bytes)
    if refusal:
        monitor.record(offpath=refusal)
        return kept
    problem = Problem.of(form, np.ones(form.n_sequences))
    tries = (PerturbedPath(problem, profile.probabilities, seed) for seed in range(TRIES))
    path = next((path for path in tries if path.follow(monitor) or monitor.remaining_s <= 0), None)
    if path is None or not path.arrived:
        why = "no time was left" if monitor.remaining_s <= 0 else f"{TRIES} paths ended in rays"
        monitor.record(offpath=why)
        return kept
    found, trembles = path.limit()
    regret = float(game.payoff_model().regrets(found).max())
    if trembles.misfit(len(found)):  # a weight is lost in rounding
        regret = np.inf
    if not regret <= LARGEST_REGRET * tree.payoff_range + ROUNDING * tree.largest_payoff:
        monitor.record(offpath=f"rounding has spoiled the tableau: max regret {regret:.3g}")
        return kept
    monitor.record(offpath=counted(path.pivots, "pivot"))
    return Candidate(BehaviorProfile.of(tree, found), "equilibrium", trembles=trembles)


def warm_up() -> None:
    """Compile the kernels of this module; keeps nothing but the machine code."""
    tableau = tableau_of(np.zeros((0, 2)), np.zeros(0, dtype=bool))
    tableau.entering[0] = 1
    advance(tableau, 1, 0)


class PerturbedPath:
    """Lemke's path from the basis of an equilibrium to one that is quasi-perfect.

    Parameters
    ----------
    problem : Problem
        Its prior is not used.
    behavior : float64 (A,)
        An equilibrium to rounding.
    seed : of the covering vector; 0 for one of ones

    Attributes
    ----------
    pivots : pivots so far
    arrived : whether the path has come to its end
    """

    def __init__(self, problem: Problem, behavior: FloatArray, seed: int = 0) -> None:
        form = self.form = problem.form
        plan = RealizationPlan.of(form, behavior).weights
        self.bound = _bounds(form)
        dependent = _answers(problem, behavior, plan)
        self.tableau = _first_tableau(problem, dependent, self.bound)
        _enter(self.tableau, form, plan, _ties(problem, plan), dependent)
        begin(self.tableau, seed)
        self.pivots, self.arrived = 0, False

    def follow(self, monitor: Monitor) -> bool:
        """Pivot to the end, or until no time is left; whether it arrived."""
        width, status = self.bound.shape[1], RUNNING
        while status == RUNNING and monitor.remaining_s > 0:
            done, status = advance(self.tableau, width, CHUNK)
            self.pivots += done
        self.arrived = status == SOLVED
        return self.arrived

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
        return np.where(rises[n:] == 0, share, 0.0), Trembles(np.maximum(rises[n:], 1), share)


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
    size, width = bound.shape
    entries, best, others, values, pure = problem.equations(dependent, 1 + width)
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

    That keeps the basis complementary and regular. Played ones are paired first, then with those
    that are as good though not played; of all pairs always that with the largest pivots.
    """
    size, n = form.n_sequences, form.n_players
    entries, place = tableau.entries, tableau.place
    owner = np.concatenate((np.arange(n), form.infoset_player[form.sequence_infoset[n:]]))
    left = ties | (plan > NEGLIGIBLE)
    left[:n] = left[dependent] = False
    first, second = (np.flatnonzero(left & (owner == player)) for player in (0, 1))
    there = entries[np.ix_(place[second + size], place[first])].T
    back = entries[np.ix_(place[first + size], place[second])]
    played = plan > NEGLIGIBLE
    chosen = []
    for rows, columns in ((played, played), (played, ~played), (~played, played)):
        allowed = np.outer(rows[first], columns[second])
        while allowed.any():
            least = np.where(allowed, np.minimum(abs(there), abs(back)), 0)
            s, t = np.unravel_index(int(np.argmax(least)), least.shape)
            if least[s, t] < LEAST_PIVOT:
                break
            for block in (there, back):
                block -= np.outer(block[:, t] / block[s, t], block[s])
            allowed[s] = allowed[:, t] = False
            there[s] = there[:, t] = back[s] = back[:, t] = 0
            chosen += [first[s], second[t]]
    if chosen:
        exchange(tableau, np.array(chosen))


def exchange(tableau: Tableau, chosen: NDArray[np.int64]) -> None:
    """Let the weights of some sequences enter for their slacks, all at once."""
    entries, size = tableau.entries, len(tableau.entries)
    rows, columns = tableau.place[chosen + size], tableau.place[chosen]
    inverse = np.linalg.inv(entries[np.ix_(rows, columns)])
    solved = inverse @ entries[rows]
    taken = entries[:, columns].copy()
    entries -= taken @ solved
    entries[:, columns] = taken @ inverse
    entries[rows] = -solved
    entries[np.ix_(rows, columns)] = inverse
    tableau.basic[rows], tableau.nonbasic[columns] = chosen, chosen + size
    tableau.place[chosen], tableau.place[chosen + size] = rows, columns
    tableau.is_basic[chosen], tableau.is_basic[chosen + size] = True, False


def begin(tableau: Tableau, seed: int) -> None:
    """Let Lemke's variable enter for the one that lacks most, in lexicographic order.

    Ties of polynomials are broken by perturbations of the variables that are basic now.
    """
    entries = tableau.entries
    size = len(entries)
    rng = np.random.default_rng(seed)
    covering = rng.uniform(0, 1, size) ** 3 if seed else np.ones(size)
    entries[:, size] = covering
    tableau.first_basis[:] = rng.permutation(tableau.basic)
    constants = entries[:, size + 1 :]
    lacking = np.where(abs(constants) > NEGLIGIBLE, constants, 0) / covering[:, None]
    row = int(np.lexsort(lacking.T[::-1])[0])
    if lacking[row][np.argmax(lacking[row] != 0)] < 0:
        leaving = tableau.basic[row]
        tableau.entering[0] = leaving + size if leaving < size else leaving - size
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
    """Do up to `count` pivots; returns their number and how the path continues.

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
