"""Faces of polyhedra by simplex dictionaries in integers.

A polyhedron is given by labels: quantities that are >= 0 on it and affine in its points. A face
is where some labels are 0. Entries are Python integers over one denominator, so that a pivot is
one division without a remainder (Edmonds 1967; as in lrs, Avis 2000).

Symbols: R basic labels, K others, which are the coordinates of the dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

Vector = tuple[Fraction, ...]


class Dictionary:
    """A vertex of a polyhedron, with all labels as affine functions of those that are 0 there.

    Attributes
    ----------
    rows, columns : labels that are basic (R), and those that are 0 at the vertex (K)
    table : object (R, 1 + K)
        Constants and coefficients of the basic labels, integers over `denominator`.
    denominator : positive integer
    """

    def __init__(self, rows: list[int], columns: list[int], table: NDArray) -> None:
        self.rows, self.columns, self.table, self.denominator = rows, columns, table, 1

    @classmethod
    def of(cls, equations: NDArray, labels: NDArray, signed: int) -> Dictionary | None:
        """Return a vertex of ``{z : equations = 0, labels >= 0, z[:signed] >= 0}``; None if empty.

        Labels 0 to signed - 1 are the first coordinates, the others those of `labels` in order.
        The coordinates without a sign must be determined by the labels.

        Parameters
        ----------
        equations, labels : object (_, 1 + Z)
            Integers: constants, then coefficients of the Z coordinates.
        """
        size, count = equations.shape[1] - 1, len(labels)
        free = [-1 - k for k in range(size - signed)]
        zero = [signed + count + k for k in range(len(equations))]
        self = cls(
            [*range(signed, signed + count), *zero],
            [*range(signed), *free],
            np.concatenate((labels, equations)),
        )
        for label in free:  # into the basis, where nothing bounds them
            column = self.columns.index(label) + 1
            usable = np.flatnonzero(self.table[:, column])
            self._pivot(int(usable[-1]), column)
            self._drop_row(self.rows.index(label))
        for label in zero:
            if label in self.rows:
                row = self.rows.index(label)
                usable = np.flatnonzero(self.table[row, 1:])
                if not len(usable):
                    if self.table[row, 0]:
                        return None
                    self._drop_row(row)
                    continue
                self._pivot(row, int(usable[0]) + 1)
            self._drop_column(self.columns.index(label))
        return self if self._make_feasible() else None

    def copy(self) -> Dictionary:
        """A dictionary of its own; tables are never changed in place."""
        other = Dictionary(self.rows[:], self.columns[:], self.table)
        other.denominator = self.denominator
        return other

    def value(self, label: int) -> Fraction:
        """Value of a label at the vertex; 0 also for those that are 0 everywhere."""
        if label not in self.rows:
            return Fraction(0)
        return Fraction(self.table[self.rows.index(label), 0], self.denominator)

    def is_positive(self, label: int) -> bool:
        """Whether a label is positive anywhere; moves towards where it is largest."""
        if label in self.columns and self._enter(self.columns.index(label) + 1) is None:
            return True
        while label in self.rows:
            row = self.rows.index(label)
            if self.table[row, 0] > 0:
                return True
            rising = [j for j in range(1, self.table.shape[1]) if self.table[row, j] > 0]
            if not rising:
                return False
            if self._enter(min(rising, key=lambda j: self.columns[j - 1])) is None:
                return True
        return False

    def fix(self, label: int) -> bool:
        """Go to the face where a label is 0; False if there is none, and then this is of no use."""
        while label in self.rows:
            row = self.rows.index(label)
            if self.table[row, 0] == 0:
                usable = np.flatnonzero(self.table[row, 1:])
                if not len(usable):
                    self._drop_row(row)
                    return True
                self._pivot(row, int(usable[0]) + 1)
                break
            falling = [j for j in range(1, self.table.shape[1]) if self.table[row, j] < 0]
            if not falling:
                return False
            self._enter(min(falling, key=lambda j: self.columns[j - 1]))
        if label in self.columns:
            self._drop_column(self.columns.index(label))
        return True

    def _make_feasible(self) -> bool:
        """First phase: with one more label in all rows, which is then made 0."""
        if not len(self.rows) or min(self.table[:, 0]) >= 0:
            return True
        extra = 1 + max(*self.rows, *self.columns, 0)
        self.columns.append(extra)
        ones = np.full((len(self.rows), 1), self.denominator, dtype=object)
        self.table = np.concatenate((self.table, ones), axis=1)
        self._pivot(int(np.argmin(self.table[:, 0])), len(self.columns))
        return self.fix(extra)

    def _enter(self, column: int) -> int | None:
        """Raise a label until another one becomes 0, and exchange them; None if none does."""
        best, leaving = None, None
        for row, (value, slope) in enumerate(
            zip(self.table[:, 0], self.table[:, column], strict=True)
        ):
            if slope < 0:
                ratio = Fraction(value, -slope), self.rows[row]  # ties by Bland's rule
                if best is None or ratio < best:
                    best, leaving = ratio, row
        if leaving is not None:
            self._pivot(leaving, column)
        return leaving

    def _pivot(self, row: int, column: int) -> None:
        """Exchange a basic label with another one."""
        table, pivot, denominator = self.table, self.table[row, column], self.denominator
        new = (table * pivot - np.outer(table[:, column], table[row])) // denominator
        new[:, column] = table[:, column]
        new[row] = -table[row]
        new[row, column] = denominator
        self.table, self.denominator = (new, pivot) if pivot > 0 else (-new, -pivot)
        self.rows[row], self.columns[column - 1] = self.columns[column - 1], self.rows[row]

    def _drop_row(self, row: int) -> None:
        self.table = np.delete(self.table, row, axis=0)
        del self.rows[row]

    def _drop_column(self, column: int) -> None:
        self.table = np.delete(self.table, column + 1, axis=1)
        del self.columns[column]


def corners(
    face: Dictionary, labels: Iterable[int], shown: Sequence[int], check: Callable[[], None]
) -> set[Vector]:
    """Values of the labels `shown` at all vertices of a bounded face, whose faces are visited.

    Parameters
    ----------
    labels : those that may be 0 on a part of it
    """
    seen: set[frozenset[int]] = set()
    found: set[Vector] = set()
    pending = [(face, tuple(labels))]
    while pending:
        check()
        here, open_labels = pending.pop()
        for label in open_labels:
            part = here.copy()
            if not part.fix(label):
                continue
            left = tuple(k for k in open_labels if part.is_positive(k))
            key = frozenset(left)
            if key in seen:
                continue
            seen.add(key)
            for k in open_labels:
                if k not in key:
                    part.fix(k)
            pending.append((part, left))
        if not here.columns:
            found.add(tuple(here.value(k) for k in shown))
    return found


def meet(first: Sequence[Vector], second: Sequence[Vector]) -> bool:
    """Whether the convex hulls of two sets of points have a point in common."""
    if set(first) & set(second):
        return True
    scale = lcm(*(x.denominator for point in (*first, *second) for x in point))
    columns = [
        [0, 0, *([0] * len(first[0]))],
        *([0, 1, *(int(x * scale) for x in point)] for point in first),
        *([1, 0, *(-int(x * scale) for x in point)] for point in second),
    ]
    equations = np.array(columns, dtype=object).T
    equations[:2, 0] = -1
    none = np.zeros((0, len(columns)), dtype=object)
    return Dictionary.of(equations, none, len(columns) - 1) is not None


def extreme(points: Iterable[Vector]) -> tuple[Vector, ...]:
    """Those of some points that lie in no hull of others, sorted."""
    kept = sorted(set(points))
    for point in kept[:]:
        others = [each for each in kept if each != point]
        if len(others) > 1 and meet([point], others):
            kept = others
    return tuple(kept)


def dimension(points: Sequence[Vector]) -> int:
    """Dimension of the affine hull of points."""
    left = [[x - y for x, y in zip(point, points[0], strict=True)] for point in points[1:]]
    rank = 0
    for column in range(len(points[0])):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        rank += 1
        left = [
            [x - row[column] / pivot[column] * y for x, y in zip(row, pivot, strict=True)]
            for row in left
            if row is not pivot
        ]
    return rank
