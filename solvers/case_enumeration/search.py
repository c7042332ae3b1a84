"""Branch and prune over the cases of all information sets.

Each information set with two actions is in exactly one of three cases at a profile in which
it is played best: `BELOW`, frequency 0 and a negative value gap; `ABOVE`, frequency 1 and a
positive one; `EVEN`, any frequency and a gap of zero. A node of the search has decided some of
them and keeps a box with all profiles that its cases allow.

Value gaps are multilinear polynomials in the frequencies, with exact bounds over boxes. For these a
polynomial is a dictionary from monomials to rational coefficients; a monomial is an integer whose
bit k says whether it contains variable k. A box is given by the lowest and the highest values of
all variables, which are not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from eqbench.model.tree import CHANCE, GameTree

Terms = dict[int, fmpq]
Values = Sequence[fmpq]
ZERO, ONE = fmpq(0), fmpq(1)
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


def binary_sets(tree: GameTree) -> list[int]:
    """Information sets with two actions; the k-th of them has frequency k."""
    return [i for i, actions in enumerate(tree.infoset_actions) if len(actions) == 2]


@dataclass(frozen=True, eq=False)
class Gaps:
    """Value gaps of the n information sets with two actions.

    Attributes
    ----------
    context : of the polynomials
        Its variables are the n frequencies of action 1.
    polynomials : n polynomials with rational coefficients
        The counterfactual value of action 1 less that of action 0: the owner's payoff,
        weighted with chance and with the moves of the others on the whole path, but with the
        owner's moves only from the information set on. Every frequency has degree at most 1.
    """

    context: fmpq_mpoly_ctx
    polynomials: tuple[fmpq_mpoly, ...]


def value_gaps(tree: GameTree, check: Callable[[], None]) -> Gaps:
    """Value gaps of an exact tree with at most two actions at every information set.

    `check` is called at every node and may raise to break off.
    """
    sets = binary_sets(tree)
    context = fmpq_mpoly_ctx.get([f"f{k}" for k in range(len(sets))], Ordering.lex)
    steps = _steps(tree, dict(zip(sets, context.gens(), strict=True)), context)
    reach = _reaches(tree, steps, context, check)
    values = _terminal_values(tree, context)
    zero = context.constant(0)
    gaps = dict.fromkeys(sets, zero)
    parent, mover, infoset = tree.parent.tolist(), tree.player.tolist(), tree.infoset.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        check()
        above, own = parent[node], values.pop(node)
        if infoset[above] in gaps:
            part = reach[above][mover[above]] * own[mover[above]]
            gaps[infoset[above]] += part if tree.move[node] else -part
        sums = values.setdefault(above, [zero] * tree.n_players)
        values[above] = [a + steps[node] * b for a, b in zip(sums, own, strict=True)]
    return Gaps(context, tuple(gaps.values()))


def _steps(
    tree: GameTree, variables: dict[int, fmpq_mpoly], context: fmpq_mpoly_ctx
) -> list[fmpq_mpoly]:
    """Probability of the move that leads to each node, 1 at the root."""
    one = context.constant(1)
    steps = [one]
    for node in range(1, tree.n_nodes):
        above = tree.parent[node]
        if tree.player[above] == CHANCE:
            weight = fmpq(int(tree.chance[node]), int(tree.chance_denominator))
            steps.append(context.constant(weight))
            continue
        variable = variables.get(int(tree.infoset[above]))
        if variable is None:
            steps.append(one)
        else:
            steps.append(variable if tree.move[node] else one - variable)
    return steps


def _reaches(
    tree: GameTree,
    steps: Sequence[fmpq_mpoly],
    context: fmpq_mpoly_ctx,
    check: Callable[[], None],
) -> list[list[fmpq_mpoly]]:
    """For each node and player: probability of the path as far as the player does not move."""
    reach = [[context.constant(1)] * tree.n_players]
    for node in range(1, tree.n_nodes):
        check()
        above = tree.parent[node]
        mover = tree.player[above]
        reach.append(
            [
                old if player == mover else old * steps[node]
                for player, old in enumerate(reach[above])
            ]
        )
    return reach


def _terminal_values(tree: GameTree, context: fmpq_mpoly_ctx) -> dict[int, list[fmpq_mpoly]]:
    """Payoffs of all players at each terminal."""
    table, denominator = tree.payoffs.rational()
    return {
        node: [context.constant(fmpq(int(payoff), int(denominator))) for payoff in row]
        for node, row in zip(tree.terminals.tolist(), table.tolist(), strict=True)
    }


def terms_of(polynomial: fmpq_mpoly) -> Terms:
    """Terms of a multilinear polynomial."""
    return {
        sum(1 << k for k, power in enumerate(powers) if power): coefficient
        for powers, coefficient in polynomial.to_dict().items()
    }


def variables_of(terms: Terms) -> list[int]:
    """Variables that occur, in ascending order."""
    mask = 0
    for monomial in terms:
        mask |= monomial
    return [k for k in range(mask.bit_length()) if mask >> k & 1]


def negative(terms: Terms) -> Terms:
    """The polynomial times -1."""
    return {monomial: -coefficient for monomial, coefficient in terms.items()}


def substitute(terms: Terms, variable: int, value: fmpq) -> Terms:
    """The polynomial with a value in place of a variable."""
    bit, result = 1 << variable, Terms()
    for monomial, coefficient in terms.items():
        if monomial & bit:
            monomial ^= bit
            coefficient = coefficient * value
        result[monomial] = result.get(monomial, ZERO) + coefficient
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def lowest(terms: Terms, low: Values, high: Values) -> fmpq:
    """Exact minimum over a box.

    It lies at a corner. Variables in which the polynomial is monotone on the whole box go to
    their better end first, so that only the others are tried at both.
    """
    rest = variables_of(terms)
    while rest:
        mixed = []
        for k in rest:
            least, most = _range_of_slope(terms, k, low, high)
            if least < 0 < most:
                mixed.append(k)
            else:
                terms = substitute(terms, k, high[k] if least < 0 else low[k])
        if len(mixed) == len(rest):
            ends = (substitute(terms, rest[0], end[rest[0]]) for end in (low, high))
            return min(lowest(part, low, high) for part in ends)
        rest = mixed
    return terms.get(0, ZERO)


def highest(terms: Terms, low: Values, high: Values) -> fmpq:
    """Exact maximum over a box."""
    return -lowest(negative(terms), low, high)


def _range_of_slope(terms: Terms, variable: int, low: Values, high: Values) -> tuple[fmpq, fmpq]:
    """Bounds, not always sharp, of the derivative with respect to a variable over a box."""
    least = most = ZERO
    for monomial, coefficient in terms.items():
        if not monomial >> variable & 1:
            continue
        small = large = coefficient
        others = monomial ^ 1 << variable
        while others:
            k = others.bit_length() - 1
            small, large = small * low[k], large * high[k]
            others ^= 1 << k
        if coefficient < 0:
            small, large = large, small
        least, most = least + small, most + large
    return least, most


def tightened(terms: Terms, variable: int, low: Values, high: Values) -> tuple[fmpq, fmpq] | None:
    """Smallest interval of a variable with all points of a box where the polynomial is >= 0.

    At each corner of the other variables the polynomial is linear in this one, and its maximum
    over the others is the largest of these linear functions. None if there are no such points.
    """
    start, end = low[variable], high[variable]
    starts_below = highest(substitute(terms, variable, start), low, high) < 0
    ends_below = highest(substitute(terms, variable, end), low, high) < 0
    if starts_below and ends_below:  # a largest of linear functions is convex
        return None
    if not (starts_below or ends_below):
        return start, end
    zeros = [
        -constant / slope
        for slope, constant in _lines(terms, variable, low, high)
        if (slope > 0 if starts_below else slope < 0)
    ]
    return (min(zeros), end) if starts_below else (start, max(zeros))


def _lines(terms: Terms, variable: int, low: Values, high: Values) -> Iterator[tuple[fmpq, fmpq]]:
    """Slope and constant in a variable at all corners of the others."""
    others = [k for k in variables_of(terms) if k != variable]
    if not others:
        yield terms.get(1 << variable, ZERO), terms.get(0, ZERO)
        return
    for end in (low, high):
        yield from _lines(substitute(terms, others[0], end[others[0]]), variable, low, high)
