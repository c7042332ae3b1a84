"""Newton's method in realization plans on a support, with corrections of the support."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lstsq

from eqbench.model.tree import FloatArray

from .point import PlanGame

# Singular values below this share of the largest belong to weights that may vary freely.
RANK_TOLERANCE = 1e-10
ITERATIONS = 15
ROUNDING = 1e-15
LARGEST_STEP = 3.0
# A weight or a slack, as a share of the payoff range, beyond its bound by less is rounding.
BEYOND = 1e-14
CORRECTIONS = 12


@dataclass(frozen=True, eq=False)
class Support:
    """Which sequences are played, and which are as good as the best.

    Attributes
    ----------
    played : bool (S,)
        Weights that are unknowns; the others are 0.
    tied : bool (S,)
        Sequences whose slack is 0: all that are played and maybe others.
    """

    played: NDArray[np.bool_]
    tied: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Held:
    """Frequencies that are given: linear equations of realization plans.

    Attributes
    ----------
    rows : float64 (H, S)
        ``rows @ plans = 0``
    frequencies : tuple of H pairs of a sequence and its frequency
    """

    rows: FloatArray
    frequencies: tuple[tuple[int, Fraction], ...] = ()

    @classmethod
    def nothing(cls, game: PlanGame) -> Held:
        """No equations."""
        return cls(np.empty((0, game.form.n_sequences)))

    def also(self, game: PlanGame, sequence: int, frequency: Fraction) -> Held:
        """These equations, and the frequency of one more sequence."""
        row = np.zeros(game.form.n_sequences)
        row[sequence] = 1.0
        row[game.above(sequence)] = -float(frequency)
        more = (*self.frequencies, (sequence, frequency))
        return Held(np.vstack((self.rows, row)), more)

    def error(self, plans: FloatArray) -> float:
        """Largest violation by plans (S,)."""
        return float(np.abs(self.rows @ plans).max(initial=0.0))


def corrected(
    game: PlanGame, plans: FloatArray, played: NDArray[np.bool_], held: Held
) -> list[FloatArray]:
    """Plans (S,) that solve the equations of a support and of those that it turns into.

    Weights that come out negative leave the support, sequences that come out better than the
    best enter it. What has left already and enters again is only tied: its weight stays 0.
    Weights may still be negative.
    """
    found: list[FloatArray] = []
    support = Support(played, played)
    seen: set[bytes] = set()
    has_left = np.zeros(len(plans), dtype=bool)
    for _ in range(CORRECTIONS):
        support = _with_paths(game, plans, support)
        key = support.played.tobytes() + support.tied.tobytes()
        if key in seen:
            break
        seen.add(key)
        made = solve_on(game, plans, support, held)
        if made is None:
            break
        found.append(made)
        slack = _signed_slacks(game, made, support)
        leaving = support.played & (made < -BEYOND)
        entering = ~support.tied & (slack < -BEYOND * game.scale)
        if not leaving.any() and not entering.any():
            break
        has_left |= leaving
        support = Support(
            (support.played & ~leaving) | (entering & ~has_left),
            (support.tied & ~leaving) | entering,
        )
    return found


@dataclass(frozen=True, eq=False)
class Equations:
    """What the weights of a support solve: ties, flow, and what is held.

    Attributes
    ----------
    unknown : int64 (K,)
        Sequences with an unknown weight.
    tied, best : int64 (T,)
        Sequences that must be as good as another of their information set, and that one.
    chosen : int64 (I,)
        The sequence that each information set goes on with.
    """

    game: PlanGame
    held: Held
    unknown: NDArray[np.int64]
    tied: NDArray[np.int64]
    best: NDArray[np.int64]
    chosen: NDArray[np.int64]

    @classmethod
    def of(cls, game: PlanGame, plans: FloatArray, support: Support, held: Held) -> Equations:
        """The equations of a support that is consistent, near plans (S,)."""
        n = game.form.n_players
        chosen = _reference(game, plans, support)
        tied = np.flatnonzero(support.tied[n:])
        tied = tied[tied + n != chosen[game.infoset[tied]]]
        unknown = np.flatnonzero(support.played[n:]) + n
        return cls(game, held, unknown, tied + n, chosen[game.infoset[tied]], chosen)

    def scaled(self, plans: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Derivatives (E, K) by the unknown weights, rows divided by their scale (E,).

        Ties first, then flow, then what is held.
        """
        matrix = self.game.derivatives(plans, self.chosen)
        ties = matrix[self.best] - matrix[self.tied]
        rows = np.vstack((ties, self.game.flow, self.held.rows))[:, self.unknown]
        # sets that others hardly reach have short rows, and the rank is a matter of ratios
        scale = np.abs(rows).max(axis=1, initial=0.0)
        scale[scale == 0.0] = 1.0
        return rows / scale[:, None], scale

    def left(self, plans: FloatArray) -> FloatArray:
        """By how much plans (S,) violate the equations, float64 (E,)."""
        values = self.game.values(plans, self.chosen)
        ties = values[self.best] - values[self.tied]
        return np.concatenate((ties, self.game.flow @ plans, self.held.rows @ plans))


def solve_on(game: PlanGame, plans: FloatArray, support: Support, held: Held) -> FloatArray | None:
    """Weights (S,) with all tied sequences equally good; they may be negative.

    None if Newton's method, with the shortest steps, leaves the neighborhood.
    """
    x = np.where(support.played, plans, 0.0)
    equations = Equations.of(game, x, support, held)
    if not len(equations.unknown):
        return x
    for _ in range(ITERATIONS):
        matrix, scale = equations.scaled(x)
        try:
            # QR is several times faster than singular values and as good where the rank is clear
            step = lstsq(
                matrix, -equations.left(x) / scale, cond=RANK_TOLERANCE, lapack_driver="gelsy"
            )[0]
        except (LinAlgError, ValueError):  # ValueError: not finite
            return None
        size = np.abs(step).max()
        if not size <= LARGEST_STEP:
            return None
        x[equations.unknown] += step
        if size <= ROUNDING:
            break
    return x


def _reference(game: PlanGame, plans: FloatArray, support: Support) -> NDArray[np.int64]:
    """The sequence that others of its set are compared with, int64 (I,): the most played one.

    Where none is played the first of the best.
    """
    form = game.form
    chosen = np.full(form.n_infosets, -1)
    for i in range(form.n_infosets):
        first, last = form.block_start[i], form.block_start[i + 1]
        if support.played[first:last].any():
            weight = np.where(support.played[first:last], plans[first:last], -np.inf)
            chosen[i] = first + int(np.argmax(weight))
    game.values(np.maximum(plans, 0.0), chosen)
    return chosen


def _with_paths(game: PlanGame, plans: FloatArray, support: Support) -> Support:
    """The support made consistent: what leads to a played sequence is played and leads on."""
    form, n = game.form, game.form.n_players
    played, tied = support.played.copy(), support.tied.copy()
    played[:n] = True
    best: NDArray[np.int64] | None = None
    for i in range(form.n_infosets):
        block = slice(form.block_start[i], form.block_start[i + 1])
        if not played[form.parent[i]]:
            played[block] = tied[block] = False
        elif not played[block].any():
            if best is None:
                best = np.full(form.n_infosets, -1)
                game.values(plans, best)
            played[best[i]] = True
    return Support(played, tied | played)


def _signed_slacks(game: PlanGame, plans: FloatArray, support: Support) -> FloatArray:
    """Slacks (S,) against the sequences of the support; negative where another is better.

    Only where the own plan leads; elsewhere 0.
    """
    form, n = game.form, game.form.n_players
    chosen = _reference(game, plans, support)
    values = game.values(plans, chosen)
    slacks = np.zeros(len(values))
    slacks[n:] = values[chosen[game.infoset]] - values[n:]
    slacks[n:][~support.played[form.parent[game.infoset]]] = 0.0
    return slacks
