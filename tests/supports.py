"""Equilibria of 2x2x2 games by going through all supports, in floating point."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

# Value gap of a player at the frequencies of all.
Gap = Callable[[int, Sequence[float]], float]


def equilibria_by_supports(payoffs: np.ndarray) -> Iterator[tuple[float, ...]]:
    """Equilibria of a generic 2x2x2 game, in floating point: every player is pure or mixed."""
    table = payoffs.reshape(2, 2, 2, 3).astype(float)

    def gap(player: int, x: Sequence[float]) -> float:
        part = np.moveaxis(table[..., player], player, 0)
        first, second = (np.array([1 - x[i], x[i]]) for i in range(3) if i != player)
        return float(first @ (part[1] - part[0]) @ second)

    for pure in itertools.product((0.0, 1.0, None), repeat=3):
        mixed = [i for i in range(3) if pure[i] is None]
        start = [0.0 if value is None else value for value in pure]
        if len(mixed) == 1:
            continue  # in a generic game nobody mixes alone
        candidates = [start]
        if len(mixed) == 2:
            candidates = [with_two_mixed(gap, start, *mixed)]
        elif len(mixed) == 3:
            candidates = fully_mixed(gap)
        for x in candidates:
            signs = [gap(i, x) * (2 * x[i] - 1) for i in range(3) if i not in mixed]
            if all(0 < x[i] < 1 for i in mixed) and all(sign > 0 for sign in signs):
                yield tuple(x)


def with_two_mixed(gap: Gap, x: list[float], i: int, j: int) -> list[float]:
    """Each of i and j makes the other indifferent; both gaps are linear."""
    found = x[:]
    for own, other in ((i, j), (j, i)):
        low, high = (gap(other, [*x[:own], t, *x[own + 1 :]]) for t in (0.0, 1.0))
        found[own] = -low / (high - low)
    return found


def fully_mixed(gap: Gap) -> list[list[float]]:
    """Given z, the first gap gives y and the second x; the third is then quadratic in z."""

    def others(z: float) -> list[tuple[float, float]]:
        """x and y as fractions: numerator, denominator."""
        ends = [(gap(i, [0.0, 0.0, z]), gap(i, [1.0, 1.0, z])) for i in (1, 0)]
        return [(-low, high - low) for low, high in ends]

    def rest(z: float) -> float:
        (a, b), (c, d) = others(z)
        return sum(
            gap(2, [x, y, z]) * (a if x else b - a) * (c if y else d - c)
            for x in (0.0, 1.0)
            for y in (0.0, 1.0)
        )

    sample = np.array([0.0, 0.5, 1.0])
    roots = np.roots(np.polyfit(sample, [rest(z) for z in sample], 2))
    real = roots[np.isreal(roots)].real.tolist()
    return [[*(numerator / slope for numerator, slope in others(z)), z] for z in real]
