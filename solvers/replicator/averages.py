"""Averages of play over time, and how many states they must take of it."""

from __future__ import annotations

import math

import numpy as np

from eqbench.model.choices import Choices
from eqbench.model.realization import RealizationPlan
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.tree import CHANCE, FloatArray, GameTree

from . import kernels

# Between two states that an average takes, no log-odds move by more than the first; the second
# bounds how many it takes of a unit of time.
MOVE, MOST_POINTS = 2.0, 2**14
# How far apart the times are, as a ratio, at which an average may begin.
SPACING = 1.05


class Averages:
    """Integrals of the realization plans by the trapezoidal rule, from a state (F,) at time 0 on.

    It takes `points` states of a unit of time.
    """

    def __init__(
        self, form: SequenceForm, field: kernels.Field, state: FloatArray, *, points: int
    ) -> None:
        self._form, self._field, self._points = form, field, points
        self._room = kernels.room(field)
        self._total = np.zeros(form.n_sequences)
        self.units = 0
        kernels.add_plans(field, self._room, state[None, :], self._total)
        self._marks = [(0, self._integral())]

    def add(self, states: FloatArray) -> None:
        """Go on by whole units of time; states are (K, F) with K a multiple of the points."""
        while len(states):
            mark = max(self.units + 1, math.ceil(SPACING * self._marks[-1][0]))
            units = min(mark - self.units, len(states) // self._points)
            kernels.add_plans(self._field, self._room, states[: units * self._points], self._total)
            self.units += units
            states = states[units * self._points :]
            if self.units == mark:
                self._marks.append((mark, self._integral()))

    def latest(self, share: float) -> FloatArray:
        """Frequencies (A,) that play like the average over at least the latest `share`."""
        end = self._integral()
        if self.units == 0:
            plan = self._room.reach
        else:
            since = (1.0 - share) * self.units
            units, begin = max((m for m in self._marks if m[0] <= since), key=lambda m: m[0])
            plan = (end - begin) / (self._points * (self.units - units))
        # of what is hardly ever reached, the difference is rounding and may be negative
        return RealizationPlan(np.maximum(plan, 0.0)).to_behavior(self._form)

    def _integral(self) -> FloatArray:
        """Integral of the plans from the first time to now, less half of the first, (S,)."""
        return self._total - 0.5 * self._room.reach


def points_per_unit(tree: GameTree, choices: Choices, speed: FloatArray) -> int:
    """Number of states that an average takes of a unit of time; log-odds (F,) have these speeds.

    A power of two, so that times are exact, and at most `MOST_POINTS`. With fewer than that no
    log-odds move by more than `MOVE` from one state to the next. Where a frequency goes from 0 to 1
    so fast, the trapezoidal rule is off by less than 1e-4 of the distance of two states, since its
    error at a logistic curve falls like exp(-2 pi**2 / MOVE) (Trefethen and Weideman 2014).
    """
    bounds = np.repeat(gain_bounds(tree)[choices.infoset], np.diff(choices.start))
    with np.errstate(over="ignore"):
        fastest = float((speed * bounds).max(initial=0.0))
    return 2 ** math.ceil(math.log2(min(max(fastest / MOVE, 1.0), MOST_POINTS)))


def gain_bounds(tree: GameTree) -> FloatArray:
    """Bounds of differences of counterfactual values at each information set, float64 (I,).

    At a node, payoffs differ by at most what all players together can make of it. A sum over
    the nodes of a set counts them with the reach of chance, and that of all players is 1 at most.
    """
    nodes = np.flatnonzero(tree.infoset >= 0)
    own, sets = tree.player[nodes], tree.infoset[nodes]
    chance_reach = tree.along_paths(tree.chance_probability)
    best, worst = np.zeros((2, tree.n_nodes, tree.n_players))
    best[tree.terminals] = worst[tree.terminals] = tree.payoffs.table
    for level in reversed(tree.levels[1:]):
        first = np.flatnonzero(np.diff(tree.parent[level], prepend=-1))
        above, by_chance = tree.parent[level][first], tree.chance_probability[level, None]
        drawn = (tree.player[above] == CHANCE)[:, None]
        for values, choose in ((best, np.maximum), (worst, np.minimum)):
            mean = np.add.reduceat(by_chance * values[level], first)
            values[above] = np.where(drawn, mean, choose.reduceat(values[level], first))
    with np.errstate(over="ignore"):  # infinite is a bound too
        spread = (best - worst)[nodes, own]
        summed = np.bincount(sets, chance_reach[nodes] * spread, tree.n_infosets)
    largest = np.zeros(tree.n_infosets)
    np.maximum.at(largest, sets, spread)
    return np.minimum(summed, largest)
