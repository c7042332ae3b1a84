"""Branch and prune over the cases of all information sets.

Each information set with two actions is in exactly one of three cases at a profile in which
it is played best: `BELOW`, frequency 0 and a negative value gap; `ABOVE`, frequency 1 and a
positive one; `EVEN`, any frequency and a gap of zero. A node of the search has decided some of
them and keeps a box with all profiles that its cases allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mpoly

from .bounds import (
    ONE,
    ZERO,
    Terms,
    highest,
    lowest,
    negative,
    substitute,
    terms_of,
    tightened,
    variables_of,
)

BELOW, ABOVE, EVEN, OPEN = range(4)
# Ends of boxes are rounded outward to multiples of 1 / GRID, which keeps fractions short. A
# contraction counts if it leaves at most three quarters of an interval: with seven eighths SKP
# at pot 5 takes five times as long for as many nodes, with a half two-player Kuhn poker with
# five cards takes twice as many nodes.
GRID = 2**24
LARGEST_SHARE = fmpq(3, 4)


@dataclass(eq=False)
class Node:
    """Cases of the n information sets, the box, and the gaps with fixed frequencies put in."""

    cases: list[int]
    low: list[fmpq]
    high: list[fmpq]
    gaps: list[Terms]

    @classmethod
    def root(cls, gaps: Sequence[fmpq_mpoly]) -> Node:
        """The node with everything open."""
        n = len(gaps)
        return cls([OPEN] * n, [ZERO] * n, [ONE] * n, [terms_of(gap) for gap in gaps])

    @property
    def open(self) -> list[int]:
        """Information sets whose case is not decided."""
        return [k for k, case in enumerate(self.cases) if case == OPEN]

    def next_open(self) -> int:
        """The open information set whose gap depends on the fewest frequencies."""
        return min(self.open, key=lambda k: len(variables_of(self.gaps[k])))

    def child(self, k: int, case: int) -> Node | None:
        """The node with one more case decided and all that follows; None if it is empty."""
        node = Node(self.cases[:], self.low[:], self.high[:], self.gaps[:])
        changed: set[int] = set()
        return node if node._decide(k, case, changed) and node._settle(changed) else None

    def settled(self) -> Node | None:
        """This node with all that follows from its cases and box; None if it is empty."""
        return self if self._settle(set(range(len(self.cases)))) else None

    def _decide(self, k: int, case: int, changed: set[int]) -> bool:
        self.cases[k] = case
        changed.add(k)
        if case == BELOW:
            return self._restrict(k, ZERO, ZERO, changed)
        return case == EVEN or self._restrict(k, ONE, ONE, changed)

    def _restrict(self, k: int, low: fmpq, high: fmpq, changed: set[int]) -> bool:
        """Intersect the interval of frequency k; False if nothing remains."""
        low, high = max(low, self.low[k]), min(high, self.high[k])
        if low > high:
            return False
        if (low, high) != (self.low[k], self.high[k]):
            self.low[k], self.high[k] = low, high
            for j, gap in enumerate(self.gaps):
                if any(monomial >> k & 1 for monomial in gap):
                    changed.add(j)
                    if low == high:
                        self.gaps[j] = substitute(gap, k, low)
        return True

    def _settle(self, changed: set[int]) -> bool:
        """Draw all conclusions from the gaps that changed; False if the node is empty."""
        while changed:
            k = min(changed)
            changed.remove(k)
            if not (self._judge(k, changed) and self._contract(k, changed)):
                return False
        return True

    def _judge(self, k: int, changed: set[int]) -> bool:
        """Hold the case of k against the range of its gap, and decide it if one is left."""
        least = lowest(self.gaps[k], self.low, self.high)
        most = highest(self.gaps[k], self.low, self.high)
        possible = {
            BELOW: least < 0 and self.low[k] <= 0,
            ABOVE: most > 0 and self.high[k] >= 1,
            EVEN: least <= 0 <= most,
        }
        if self.cases[k] != OPEN:
            return possible[self.cases[k]]
        left = [case for case, is_possible in possible.items() if is_possible]
        return len(left) > 1 or (bool(left) and self._decide(k, left[0], changed))

    def _contract(self, k: int, changed: set[int]) -> bool:
        """Cut off the box what contradicts the sign of the gap of k."""
        signs = {BELOW: (-1,), ABOVE: (1,), EVEN: (1, -1), OPEN: ()}[self.cases[k]]
        for sign in signs:
            for j in variables_of(self.gaps[k]):
                if self.low[j] == self.high[j]:
                    continue
                gap = self.gaps[k] if sign > 0 else negative(self.gaps[k])
                interval = tightened(gap, j, self.low, self.high)
                if interval is None:
                    return False
                low = fmpq((interval[0] * GRID).floor(), GRID)
                high = fmpq((interval[1] * GRID).ceil(), GRID)
                if high - low <= LARGEST_SHARE * (self.high[j] - self.low[j]):
                    self._restrict(j, low, high, changed)
        return True
