"""Smallest and largest values of figures over published sets of equilibria; their payoffs.

Symbols in shapes: K parameters, N players.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from eqbench.equilibria.formulas import TOLERANCE
from eqbench.equilibria.known import known_sets, some_member
from eqbench.equilibria.nearest import linearized
from eqbench.equilibria.reference import KnownSet
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray

_ROUNDS = 10
_SETTLED = 1e-11  # of a step of the parameters
_ASIDE = 0.25  # of the way from a member to other parameters
AGREE = 0.01  # of the largest payoff of a set, in size
_SAME = 1e-9  # of payoffs, or of their range; sets meet where their ranges of the pot end
_GOLDEN = (5**0.5 - 1) / 2  # its multiples without their integer part are all different


def extremes(known: KnownSet, figure: Callable[[FloatArray], float]) -> tuple[float, float]:
    """Smallest and largest value that a figure has over the members of a set.

    Exact to rounding where figure and constraints are linear in the parameters, which takes one
    linear program each. Otherwise (see :func:`is_linear`) it is a sequence of them from one
    member, of which the best counts, so that the range may be too small but never too large. An
    open end belongs to the range.

    Parameters
    ----------
    figure : function of parameters (K,)
    """
    return _extreme(known, figure, sign=-1), _extreme(known, figure, sign=1)


def extremes_by_name(
    sets: tuple[KnownSet, ...], figure: Callable[[KnownSet, FloatArray], float]
) -> dict[str, tuple[float, float]]:
    """Smallest and largest value of a figure by name of the set, whose pieces share its name.

    Parameters
    ----------
    figure : function of a piece and its parameters (K,)
    """
    found: dict[str, tuple[float, float]] = {}
    for piece in sets:
        ends = (*extremes(piece, partial(figure, piece)), *found.get(piece.name, ()))
        found[piece.name] = (min(ends), max(ends))
    return found


def is_linear(known: KnownSet, figure: Callable[[FloatArray], float]) -> bool:
    """Whether a figure and the constraints of a set are linear in the parameters.

    They are compared with their linearization at one member, at parameters of no special kind.

    Parameters
    ----------
    figure : function of parameters (K,)
    """

    def values(parameters: FloatArray) -> FloatArray:
        return np.append(known.violations(parameters), figure(parameters))

    start = some_member(known)
    if not len(start):
        return True
    step = _ASIDE * (_GOLDEN * np.arange(1, len(start) + 1) % 1.0 - start)
    base, slopes = linearized(values, start)
    return bool(np.abs(values(start + step) - base - slopes @ step).max() <= TOLERANCE)


def payoff_ends(known: KnownSet) -> tuple[tuple[float, ...], ...] | None:
    """Payoffs of all players at the two ends of a set, or at its only point.

    None if they neither are a point nor pass between two players.
    """
    first = [float(payoff) for payoff in known.payoffs_near(some_member(known))]
    low, high = list(first), list(first)
    for p in range(len(first)):
        low[p], high[p] = extremes(known, partial(_payoff, p, known))
    moving = [p for p in range(len(first)) if high[p] - low[p] > _SAME]
    if not moving:
        return (tuple(first),)
    if len(moving) != 2:
        return None
    gains, loses = moving
    ends = ({gains: low[gains], loses: high[loses]}, {gains: high[gains], loses: low[loses]})
    if abs(sum(ends[0].values()) - sum(ends[1].values())) > _SAME:
        return None
    return tuple(tuple(end.get(p, first[p]) for p in range(len(first))) for end in ends)


def _payoff(player: int, known: KnownSet, parameters: FloatArray) -> float:
    return float(known.payoffs_near(parameters)[player])


@dataclass(frozen=True, eq=False)
class KnownPayoffs:
    """Payoffs of the published sets of equilibria of a game.

    By name of the set the smallest and largest payoff of each player, (N, 2). They may depend on
    each other, so that not all combinations belong to the set.
    """

    ranges: dict[str, FloatArray]
    rounding: float  # payoffs that differ by no more are the same

    @classmethod
    def of(cls, game: Game) -> KnownPayoffs:
        """Return the payoffs of all published sets of a game, as far as the verifier agrees."""
        sets, count = known_sets(game), game.tree.n_players
        players = [extremes_by_name(sets, partial(_payoff, player)) for player in range(count)]
        ranges = {known.name: np.array([ends[known.name] for ends in players]) for known in sets}
        return cls(ranges, _SAME * game.tree.payoff_range)

    @property
    def tolerances(self) -> dict[str, float]:
        """By name of the set how far payoffs that agree with it may be from its own.

        A hundredth of its largest payoff in size, 0 if all are 0, but at most half the distance of
        the closest two sets whose payoffs differ, so that none agrees with both.
        """
        apart = [_apart(one, other) for one, other in combinations(self.ranges.values(), 2)]
        closest = min((gap for gap in apart if gap > self.rounding), default=np.inf)
        return {name: min(AGREE * self._size(name), closest / 2) for name in self.ranges}

    def _size(self, name: str) -> float:
        """Largest payoff of a set in size, or 0 if that is rounding."""
        size = float(np.abs(self.ranges[name]).max())
        return size if size > self.rounding else 0.0

    def gaps(self, payoffs: FloatArray) -> dict[str, float]:
        """Return by set the largest distance of a player's payoff, of (N,), from its own."""
        point = np.column_stack((payoffs, payoffs))
        return {name: _apart(point, known) for name, known in self.ranges.items()}

    def to_json(self) -> list[dict[str, Any]]:
        return [
            {"name": name, "payoffs": self.ranges[name].tolist(), "agree": agree}
            for name, agree in self.tolerances.items()
        ]

    def beside(self, payoffs: Sequence[FloatArray]) -> list[dict[str, Any]]:
        """Return for each set how far payoffs over several windows are from it, as JSON values.

        `agrees` are the positions of the windows whose payoffs are its payoffs within tolerance.
        """
        found = []
        for name, agree in self.tolerances.items():
            gaps = [self.gaps(row)[name] for row in payoffs]
            agrees = [window for window, gap in enumerate(gaps) if gap <= agree]
            found.append({"name": name, "gaps": gaps, "agrees": agrees})
        return found

    def nearest(self, payoffs: FloatArray) -> dict[str, Any]:
        """Return names of the sets whose payoffs are nearest to (N,), and how far; None without.

        Several are nearest if they share payoffs. `gap` is in payoff units, `gap_share` that over
        the largest payoff of these sets in size, None if it is 0.
        """
        gaps = self.gaps(payoffs)
        if not gaps:
            return dict.fromkeys(("nearest", "gap", "gap_share"))
        gap = min(gaps.values())
        names = [name for name in gaps if gaps[name] <= gap + self.rounding]
        size = max(map(self._size, names))
        return {"nearest": names, "gap": gap, "gap_share": gap / size if size > 0 else None}


def _apart(one: FloatArray, other: FloatArray) -> float:
    """Return the largest distance over the players of two ranges (N, 2); 0 if they overlap."""
    between = np.maximum(one[:, 0] - other[:, 1], other[:, 0] - one[:, 1])
    return float(max(between.max(), 0.0))


def _extreme(known: KnownSet, figure: Callable[[FloatArray], float], *, sign: int) -> float:
    from scipy.optimize import linprog  # takes long to load

    parameters = some_member(known)
    best = figure(parameters)
    for _ in range(_ROUNDS if len(parameters) else 0):
        _, slope = linearized(lambda point: np.array([figure(point)]), parameters)
        excess, slopes = linearized(known.violations, parameters)
        program = linprog(
            c=-sign * slope[0],
            A_ub=slopes,
            b_ub=slopes @ parameters - excess,
            bounds=(0.0, 1.0),
            method="highs",
        )
        if program.x is None:
            break
        step, parameters = np.abs(program.x - parameters).max(), program.x
        if known.violations(parameters).max(initial=0.0) <= TOLERANCE:
            best = sign * max(sign * best, sign * figure(parameters))
        if step <= _SETTLED:
            break
    return float(best)
