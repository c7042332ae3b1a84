"""Isolated equilibria of strategic forms, one support after the other, each in a certified box.

On a support all equations are affine in each player's mixture. So a function's range over a box is
that of its values at corners, and boxes without a solution are discarded until Krawczyk's test
(Krawczyk 1969; Neumaier 1990) proves that the rest hold one each. The test that counts is made in
balls (Arb), with payoffs as they are; what only discards is computed in floats, many boxes at once,
with a margin above their rounding. Each gain over a player's first played action has a unit of its
own, so scales of payoffs do not matter.

Symbols: N players, B boxes, K unknown frequencies (of all played actions but each player's first),
C corners of a player's part of a box.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations, product
from math import prod
from typing import Literal

import numpy as np
from flint import arb, arb_mat, ctx, fmpq
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray

Support = tuple[tuple[int, ...], ...]

# Margin of what is discarded in floats, where P S below is up to 50.
#
# Coordinates of boxes are in [0, 1], so a mixture of m actions at a corner, the first of which has
# what is left, has absolute values of sum L <= max(1, 2m - 3), and by its subtractions an error of
# at most u m L, u = 2^-53. Gains are at most 1 and off by u. Contracted with all mixtures, sums of
# m terms each, they are off by at most u P (2 S + N + 2) <= 5 u P S to first order, where P is the
# product of all L, S the sum of all m, and N <= S. Derivatives have differences of two unit vectors
# for one mixture: 10 u P S. In K equations with a preconditioner of absolute row sums R, Krawczyk's
# operator multiplies them by sides of at most 1: 10 u P S K R; products of K x K matrices with
# entries up to 2 P add u P K K R, K < S. The margin is 2e-14 P S = 180 u P S, and in the operator
# it is multiplied by K R + 1, so it is ten times what is needed. Below 50 it is 1e-12.
MARGIN = 1e-12
# Sides are not cut in halves, so that simple fractions do not lie on faces of boxes.
CUT = 0.4871
SMALLEST = 1e-7  # side of a box that is not cut further
AROUND = 1e-4  # added to its sides, so that a solution on a face of the simplex is inside
MOST_BOXES = 2048  # at once
MOST_OPEN = 200  # of a support; then what is left of it stays open
PRECISION = 160
CONTRACTIONS = 12
DENOMINATORS = 10**6


@dataclass(frozen=True)
class CertifiedPoint:
    """An equilibrium that is the only one with its support in a box.

    Attributes
    ----------
    support : actions played by each player
    box : balls of the frequencies of each player's actions; exact where nothing is mixed
    exact : the frequencies, if they are rational with small denominators
    """

    support: Support
    box: tuple[tuple[arb, ...], ...]
    exact: tuple[Fraction, ...] | None

    @property
    def frequencies(self) -> list[float]:
        """Midpoints as floats, of all players in order."""
        return [float(x.mid()) for own in self.box for x in own]


class Strategic:
    """Payoffs of a strategic form of N players.

    Attributes
    ----------
    payoffs : object (N, *actions), integers
    """

    def __init__(self, payoffs: NDArray) -> None:
        self.payoffs, self.n = payoffs, payoffs.shape[0]
        self.actions: tuple[int, ...] = payoffs.shape[1:]

    def supports(self) -> list[Support]:
        """All supports, those with fewer actions first."""
        own = [
            list(chain.from_iterable(combinations(range(a), k) for k in range(1, a + 1)))
            for a in self.actions
        ]
        return sorted(product(*own), key=lambda support: sum(map(len, support)))

    def gains(self, support: Support) -> list[NDArray]:
        """For each player gains of all own actions over the first played one, in integers.

        Own actions come first, then the others' played ones.
        """
        found = []
        for i in range(self.n):
            index = [range(a) if j == i else support[j] for j, a in enumerate(self.actions)]
            payoffs = np.moveaxis(self.payoffs[i][np.ix_(*index)], i, 0)
            found.append(payoffs - payoffs[support[i][0]])
        return found


class SupportSystem:
    """Equations and conditions of one support: played actions are equally good, others no better.

    Attributes
    ----------
    start : first unknown of each player, and their number K
    gains : for each player, as `Strategic.gains` has them
    scaled : float64, the same with each action's in units of the largest
    margin : see `MARGIN`
    """

    def __init__(self, game: Strategic, support: Support) -> None:
        self.game, self.support = game, support
        self.sizes = [len(own) for own in support]
        self.start = np.cumsum([0, *(size - 1 for size in self.sizes)])
        self.size = int(self.start[-1])
        self.gains = game.gains(support)
        self.scaled = [_in_units(own) for own in self.gains]
        rounding = prod(max(1, 2 * size - 3) for size in self.sizes) * sum(self.sizes)
        self.margin = MARGIN * max(1.0, rounding / 50)
        # change of a mixture with one unknown, which takes from the first action
        self.steps = [
            np.eye(size, dtype=int)[1:] - np.eye(size, dtype=int)[:1] for size in self.sizes
        ]

    def solve(self, check: Callable[[], None]) -> tuple[list[CertifiedPoint], int]:
        """Return all equilibria with this support, and the number of boxes that stay open."""
        found: list[CertifiedPoint] = []
        boxes: list[list[arb]] = []  # of those, in which they are alone
        left = 0
        pending = [(np.zeros((1, self.size)), np.ones((1, self.size)))]
        while pending:
            check()
            low, high = pending.pop()
            if len(low) > MOST_BOXES:
                pending.append((low[MOST_BOXES:], high[MOST_BOXES:]))
                low, high = low[:MOST_BOXES], high[:MOST_BOXES]
            low, high = self.possible(low, high)
            if not self.size:
                point = self.certify([]) if len(low) else False
                return [point] if isinstance(point, CertifiedPoint) else [], int(point is None)
            if not len(low):
                continue
            low, high, single = self.contracted(low, high)
            tiny = ~single & ((high - low).max(axis=1, initial=0) < SMALLEST)
            keep = ~single & ~tiny
            for k in np.flatnonzero(single | tiny):
                around = AROUND if tiny[k] else 0.0
                box = _balls(low[k] - around, high[k] + around)
                point = self.certify(box)
                if isinstance(point, CertifiedPoint):
                    root = self._unknowns(point)
                    if any(_holds(each, root) for each in boxes):
                        continue  # found in a box next to this one
                    if not any(_overlap(each, root) for each in boxes):
                        found.append(point)
                        boxes.append(box)
                        continue
                    point = None
                if point is None:
                    left += int(tiny[k])
                    keep[k] = ~tiny[k]
            if left > MOST_OPEN:
                return found, int(left + keep.sum() + sum(len(own) for own, _ in pending))
            if keep.any():
                pending.append(_cut(low[keep], high[keep]))
        return found, left

    # -- in floats ------------------------------------------------------------------------

    def possible(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Boxes (B, K) on which no condition is violated everywhere."""
        keep = np.ones(len(low), dtype=bool)
        for j in range(self.game.n):
            keep &= low[:, self._own(j)].sum(axis=1) <= 1 + self.margin
        low, high = low[keep], high[keep]
        if not len(low):
            return low, high
        mixtures = [self._corners(low, high, j) for j in range(self.game.n)]
        keep = np.ones(len(low), dtype=bool)
        for i, own in enumerate(self.support):
            others = [mixtures[j] for j in range(self.game.n) if j != i]
            gains = _contract(self.scaled[i], others).reshape(len(low), self.game.actions[i], -1)
            keep &= (gains.min(axis=2) <= self.margin).all(axis=1)
            keep &= (gains[:, own].max(axis=2) >= -self.margin).all(axis=1)
        return low[keep], high[keep]

    def contracted(
        self, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """What Krawczyk's operator leaves of boxes (B, K), and which seem to hold one solution."""
        middle, half = (low + high) / 2, (high - low) / 2
        value = self._values(middle)
        least, most = self._derivatives(low, high)
        center, radius = (least + most) / 2, (most - least) / 2
        regular = np.abs(np.linalg.det(center)) > self.margin
        center[~regular] = np.eye(self.size)
        inverse = np.linalg.inv(center)
        spread = np.abs(np.eye(self.size) - inverse @ center) + np.abs(inverse) @ radius
        moved = middle - np.einsum("bij,bj->bi", inverse, value)
        reach = np.einsum("bij,bj->bi", spread, half)
        reach += self.margin * (1 + self.size * np.abs(inverse).sum(axis=2))
        single = regular & (np.abs(moved - middle) + reach < half).all(axis=1)
        reach[~regular] = np.inf
        new_low, new_high = np.maximum(low, moved - reach), np.minimum(high, moved + reach)
        # the test in balls is made on the box as it was
        new_low[single], new_high[single] = low[single], high[single]
        keep = (new_low <= new_high).all(axis=1)
        return new_low[keep], new_high[keep], single[keep]

    def _own(self, player: int) -> slice:
        return slice(int(self.start[player]), int(self.start[player + 1]))

    def _corners(self, low: FloatArray, high: FloatArray, player: int) -> FloatArray:
        """Mixtures of a player at the corners of boxes, (B, C, played actions)."""
        own = self._own(player)
        ends = np.stack((low[:, own], high[:, own]), axis=1)
        count = self.sizes[player] - 1
        choice = np.array(list(product((0, 1), repeat=count)), dtype=int).reshape(2**count, count)
        values = ends[:, choice, np.arange(count)]
        return np.concatenate((1 - values.sum(axis=2, keepdims=True), values), axis=2)

    def _values(self, points: FloatArray) -> FloatArray:
        """Gains of played actions over their player's first one, at points (B, K)."""
        mixtures = [self._corners(points, points, j)[:, :1] for j in range(self.game.n)]
        found = []
        for i, own in enumerate(self.support):
            others = [mixtures[j] for j in range(self.game.n) if j != i]
            gains = _contract(self.scaled[i], others).reshape(len(points), -1)
            found.append(gains[:, own[1:]])
        return np.concatenate(found, axis=1)

    def _derivatives(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest derivatives of `_values` on boxes, (B, K, K) each."""
        least, most = np.zeros((2, len(low), self.size, self.size))
        mixtures = [self._corners(low, high, j) for j in range(self.game.n)]
        for i, own in enumerate(self.support):
            for j in range(self.game.n):
                if i == j or self.sizes[i] == 1 or self.sizes[j] == 1:
                    continue
                step = np.broadcast_to(self.steps[j], (len(low), *self.steps[j].shape))
                others = [step if k == j else mixtures[k] for k in range(self.game.n) if k != i]
                gains = _contract(self.scaled[i], others)[:, own[1:]]
                axis = 2 + j - (j > i)
                gains = np.moveaxis(gains, axis, 2)
                gains = gains.reshape(*gains.shape[:3], -1)
                block = slice(None), self._own(i), self._own(j)
                least[block], most[block] = gains.min(axis=3), gains.max(axis=3)
        return least, most

    # -- in balls -------------------------------------------------------------------------

    def certify(self, box: list[arb]) -> CertifiedPoint | Literal[False] | None:
        """The only equilibrium in a box; False if none is in it, None if that is not decided."""
        before, ctx.prec = ctx.prec, PRECISION
        try:
            for step in range(CONTRACTIONS if self.size else 0):
                middle = [x.mid() for x in box]
                jacobian = self._jacobian_balls(middle)
                rounded = np.array([[float(x.mid()) for x in row] for row in jacobian])
                try:
                    inverse = np.linalg.inv(rounded)
                except np.linalg.LinAlgError:
                    return None
                moved = _krawczyk(self, box, middle, inverse)
                if step == 0 and not all(
                    x.contains_interior(y) for x, y in zip(box, moved, strict=True)
                ):
                    return None
                box = [x.intersection(y) for x, y in zip(box, moved, strict=True)]
            return self._judged(box)
        finally:
            ctx.prec = before

    def _judged(self, box: list[arb]) -> CertifiedPoint | Literal[False] | None:
        """The point of a box that holds one solution, if it satisfies the conditions."""
        mixtures = self._mixtures(box)
        if any(x < 0 for mixture in mixtures for x in mixture):
            return False
        exact = self._exactly(mixtures)
        is_clear = all(x > 0 for mixture in mixtures for x in mixture)
        if exact is not None and min(chain.from_iterable(exact)) == 0:
            return False  # an equilibrium, if it is one, with fewer played actions
        for i, own in enumerate(self.support):
            gains = self._gains(i, mixtures if exact is None else exact)
            for action in range(self.game.actions[i]):
                if action in own or gains[action] < 0:
                    continue
                if gains[action] > 0:
                    return False
                is_clear &= exact is not None  # then it is 0, and the equilibrium may be degenerate
        if not is_clear:
            return None
        full, rationals = [], []
        for player, own in enumerate(self.support):
            row: list[arb] = [arb(0)] * self.game.actions[player]
            rational = [Fraction(0)] * self.game.actions[player]
            for k, action in enumerate(own):
                row[action] = mixtures[player][k]
                if exact is not None:
                    rational[action] = exact[player][k]
            full.append(tuple(row))
            rationals += rational
        return CertifiedPoint(
            self.support, tuple(full), None if exact is None else tuple(rationals)
        )

    def _unknowns(self, point: CertifiedPoint) -> list[arb]:
        """Frequencies of all played actions but each player's first."""
        rows = zip(point.box, self.support, strict=True)
        return [row[action] for row, own in rows for action in own[1:]]

    def _mixtures(self, unknowns: Sequence[arb]) -> list[list[arb]]:
        rows = []
        for player in range(self.game.n):
            own = list(unknowns[self._own(player)])
            rows.append([1 - sum(own, arb(0)), *own])
        return rows

    def _gains(self, player: int, mixtures: Sequence[Sequence[arb | Fraction]]) -> NDArray:
        """Gains of all actions of a player against mixtures, in their arithmetic."""
        values = self.gains[player]
        for j in reversed(range(self.game.n)):
            if j != player:
                values = np.dot(values, np.array(mixtures[j], dtype=object))
        return values

    def _value_balls(self, unknowns: Sequence[arb]) -> list[arb]:
        mixtures = self._mixtures(unknowns)
        found = []
        for i, own in enumerate(self.support):
            if len(own) > 1:
                found += [*self._gains(i, mixtures)[[*own[1:]]]]
        return found

    def _jacobian_balls(self, unknowns: Sequence[arb]) -> list[list[arb]]:
        """Derivatives of `_value_balls`: rows are equations."""
        mixtures = self._mixtures(unknowns)
        columns = []
        for j in range(self.game.n):
            for step in self.steps[j]:
                shifted = [*mixtures]
                shifted[j] = [arb(int(x)) for x in step]
                column: list[arb] = []
                for i, own in enumerate(self.support):
                    if i == j:
                        column += [arb(0)] * (len(own) - 1)
                    elif len(own) > 1:
                        column += [*self._gains(i, shifted)[[*own[1:]]]]
                columns.append(column)
        return [list(row) for row in zip(*columns, strict=True)]

    def _exactly(self, mixtures: list[list[arb]]) -> list[list[Fraction]] | None:
        """The solution in rationals, if simple ones in the box solve the equations."""
        found = []
        for mixture in mixtures:
            row = [_fraction(x) for x in mixture[1:]]
            found.append([1 - sum(row, Fraction(0)), *row])
        for mixture, row in zip(mixtures, found, strict=True):
            rationals = [fmpq(x.numerator, x.denominator) for x in row]
            if not _holds(mixture, rationals):
                return None
        for i, own in enumerate(self.support):
            if any(self._gains(i, found)[[*own]]):
                return None
        return found


def _krawczyk(
    system: SupportSystem, box: list[arb], middle: list[arb], inverse: FloatArray
) -> list[arb]:
    """Krawczyk's operator on a box, with an approximate inverse of the derivatives."""
    size = system.size
    preconditioner = arb_mat([[arb(float(x)) for x in row] for row in inverse])
    derivatives = arb_mat(system._jacobian_balls(box))
    identity = arb_mat([[int(i == j) for j in range(size)] for i in range(size)])
    offset = arb_mat([[x - m] for x, m in zip(box, middle, strict=True)])
    value = arb_mat([[x] for x in system._value_balls(middle)])
    moved = (identity - preconditioner * derivatives) * offset - preconditioner * value
    return [middle[i] + moved[i, 0] for i in range(size)]


def _in_units(gains: NDArray) -> FloatArray:
    """Gains (A, ...) of each action divided by the largest of them, which is then 1."""
    rows = [[int(x) for x in own.ravel()] for own in gains]
    largest = [max(1, *map(abs, own)) for own in rows]
    scaled = [[x / unit for x in own] for own, unit in zip(rows, largest, strict=True)]
    return np.array(scaled).reshape(gains.shape)


def _contract(values: NDArray, mixtures: Sequence[NDArray]) -> NDArray:
    """Payoffs (A, ...) against mixtures (B, C, played) of each other player: (B, A, C, ...)."""
    found = np.broadcast_to(values, (len(mixtures[0]), *values.shape))
    for mixture in mixtures:
        found = np.einsum("bas...,bcs->ba...c", found, mixture)
    return found


def _cut(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both parts of boxes (B, K) that are cut along their longest sides."""
    rows = np.arange(len(low))
    side = np.argmax(high - low, axis=1)
    at = low[rows, side] + CUT * (high[rows, side] - low[rows, side])
    first_high, second_low = high.copy(), low.copy()
    first_high[rows, side] = at
    second_low[rows, side] = at
    return np.concatenate((low, second_low)), np.concatenate((first_high, high))


def _balls(low: FloatArray, high: FloatArray) -> list[arb]:
    """A box that holds all between float ends, rounded outward."""
    return [arb(a).union(arb(b)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def _holds(box: Sequence[arb], inner: Sequence[arb | fmpq]) -> bool:
    return all(x.contains(y) for x, y in zip(box, inner, strict=True))


def _overlap(box: Sequence[arb], other: Sequence[arb]) -> bool:
    return all(x.overlaps(y) for x, y in zip(box, other, strict=True))


def _fraction(ball: arb) -> Fraction:
    return Fraction(str(ball.mid().str(40, radius=False))).limit_denominator(DENOMINATORS)


def certified_points(
    game: Strategic, check: Callable[[], None]
) -> Iterator[tuple[Support, list[CertifiedPoint], int]]:
    """Each support with its equilibria and the number of boxes that stay open."""
    for support in game.supports():
        yield support, *SupportSystem(game, support).solve(check)
