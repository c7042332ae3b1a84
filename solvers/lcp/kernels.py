"""Compiled pivots of Lemke's algorithm on a dense tableau.

Symbols: S sequences of both players. Variables are numbered 0..S-1 for the weights of the
sequences, S..2S-1 for their slacks (S + s is complementary to s) and 2S for lambda.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.tree import FloatArray

RUNNING, SOLVED, RAY = 0, 1, 2
# Entries of the entering column up to this share of its largest one are rounding.
PIVOT_TOLERANCE = 1e-10
# Steps, and components of lexicographic vectors, that differ by less are equal.
TIE_TOLERANCE = 1e-11


class Tableau(NamedTuple):
    """The system of equations, solved for the basic variables; changed in place.

    Attributes
    ----------
    entries : float64 (S, S+2)
        Row i says that ``basic[i]`` equals the sum of its first S+1 entries times the
        variables in `nonbasic` plus its last entry, which is its value where those are 0.
    basic : int64 (S,)
    nonbasic : int64 (S+1,)
    place : int64 (2S+1,)
        Row of each basic variable, column of each other one.
    is_basic : bool (2S+1,)
    first_basis : int64 (S,)
        Basic variables of the start, by the size of their perturbation, the largest first.
    entering : int64 (1,)
        Variable that enters next.
    """

    entries: FloatArray
    basic: NDArray[np.int64]
    nonbasic: NDArray[np.int64]
    place: NDArray[np.int64]
    is_basic: NDArray[np.bool_]
    first_basis: NDArray[np.int64]
    entering: NDArray[np.int64]


@kernel
def least_step(tableau: Tableau, column: int, candidates: NDArray[np.int64]) -> tuple[int, float]:
    """Number of `candidates`, rows whose variable falls to 0 first, and that step length."""
    entries = tableau.entries
    rows, last = entries.shape[0], entries.shape[1] - 1
    largest = 0.0
    for i in range(rows):
        largest = max(largest, abs(entries[i, column]))
    step = np.inf
    for i in range(rows):
        if tableau.basic[i] < 2 * rows and entries[i, column] < -PIVOT_TOLERANCE * largest:
            # a value below zero is rounding, or the rest of a tie
            step = min(step, max(entries[i, last], 0.0) / -entries[i, column])
    count = 0
    for i in range(rows):
        if (
            tableau.basic[i] < 2 * rows
            and entries[i, column] < -PIVOT_TOLERANCE * largest
            and max(entries[i, last], 0.0) / -entries[i, column] <= step + TIE_TOLERANCE
        ):
            candidates[count] = i
            count += 1
    return count, step


@kernel
def break_tie(tableau: Tableau, column: int, candidates: NDArray[np.int64], count: int) -> int:
    """The one of the first `count` candidates whose variable falls to 0 first if perturbed.

    The variables of the first basis are perturbed by powers of an infinitesimal. A variable
    takes part in the value of row i by minus its entry there, or by 1 if it is basic there.
    """
    entries = tableau.entries
    for variable in tableau.first_basis:
        if count == 1:
            break
        place, basic = tableau.place[variable], tableau.is_basic[variable]
        least = np.inf
        for k in range(count):
            i = candidates[k]
            share = (1.0 if place == i else 0.0) if basic else -entries[i, place]
            least = min(least, share / -entries[i, column])
        kept = 0
        for k in range(count):
            i = candidates[k]
            share = (1.0 if place == i else 0.0) if basic else -entries[i, place]
            if share / -entries[i, column] <= least + TIE_TOLERANCE:
                candidates[kept] = i
                kept += 1
        count = kept
    return candidates[0]


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
    """Do up to `count` pivots, in place; returns their number and how the path goes on.

    When lambda is 1 the path has ended at a solution. Where lambda and others come to their
    bounds in the same step, lambda goes first.
    """
    entries = tableau.entries
    rows, last = entries.shape[0], entries.shape[1] - 1
    end = 2 * rows
    candidates = np.empty(rows, dtype=np.int64)
    for done in range(count):
        entering = tableau.entering[0]
        column = tableau.place[entering]
        found, step = least_step(tableau, column, candidates)
        if entering == end and step >= 1.0 - TIE_TOLERANCE:
            for i in range(rows):
                entries[i, last] += entries[i, column]
            return done + 1, SOLVED
        if tableau.is_basic[end]:
            row = tableau.place[end]
            slope = entries[row, column]
            if slope > 0.0 and (1.0 - entries[row, last]) / slope <= step + TIE_TOLERANCE:
                pivot(tableau, row, column)
                # lambda is no longer basic, and stays at 1
                for i in range(rows):
                    entries[i, last] += entries[i, column]
                return done + 1, SOLVED
        if found == 0:
            return done, RAY
        row = break_tie(tableau, column, candidates, found)
        leaving = tableau.basic[row]
        pivot(tableau, row, column)
        tableau.entering[0] = leaving + rows if leaving < rows else leaving - rows
    return count, RUNNING
