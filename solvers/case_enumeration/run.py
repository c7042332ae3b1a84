"""One run of case enumeration: the search within a budget, and what it hands over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from flint import fmpq_poly

from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.solver import Candidate, Claim, Monitor, Termination

from .cases import ABOVE, BELOW, EVEN, Gaps, Node, binary_sets, value_gaps
from .pieces import Piece, maximal, pieces_of
from .polytope import Point, to_fraction

# The harness takes 1,024 candidates.
MOST_POINTS = 1000


class _BudgetSpentError(Exception):
    """Time or iterations are used up."""


class Run:
    """The state of a search; nothing of it outlives `solve`.

    Attributes
    ----------
    cases : 3^n for the n information sets with two actions
    nodes, leaves : visited nodes, and those of them without open cases
    unresolved : leaves whose equilibria are not all known
    pieces : found so far, faces of others included
    pending : nodes still to be visited: parent, information set and its case (None at the root)
    """

    def __init__(self, tree: GameTree, monitor: Monitor) -> None:
        self.tree, self.monitor = tree, monitor
        self.sets = binary_sets(tree)
        self.cases = 3 ** len(self.sets)
        self.nodes = self.leaves = self.unresolved = 0
        self.pieces: list[Piece] = []
        self.pending: list[tuple[Node, tuple[int, int] | None]] = []

    def finish(self) -> Termination:
        """Search, hand over what was found, and say how it ended."""
        left, reason = self._explore()
        pieces = maximal(self.pieces)
        self._record(pieces)
        points = dict(_points(pieces))
        is_complete = left + self.unresolved == 0 and len(points) <= MOST_POINTS
        claim: Claim = "complete list" if is_complete else "equilibrium"
        for point, piece in list(points.values())[:MOST_POINTS]:
            self.monitor.candidate(self._profile(piece, point), claim)
        return self._termination(left, reason, pieces=len(pieces), points=len(points))

    def _explore(self) -> tuple[int, str]:
        """Search to the end or as far as the budget goes; cases not reached, and why not."""
        try:
            gaps = value_gaps(self.tree, self._check_time)
            self.pending.append((Node.root(gaps.polynomials), None))
            self._search(gaps)
        except _BudgetSpentError as error:
            if not self.pending:
                return self.cases, str(error)
            return sum(3 ** (len(node.open) - bool(way)) for node, way in self.pending), str(error)
        return 0, ""

    def _search(self, gaps: Gaps) -> None:
        while self.pending:
            self._check_time()
            limit = self.monitor.budget.iterations
            if limit is not None and self.nodes >= limit:
                raise _BudgetSpentError(f"stopped after {limit:,} iterations")
            parent, way = self.pending[-1]
            node = parent.settled() if way is None else parent.child(*way)
            self.nodes += 1
            self.monitor.work = self.nodes
            if node is not None and not node.open:
                self._solve_leaf(node, gaps)
            self.pending.pop()  # not before: a node that was broken off is still open
            if node is not None and node.open:
                k = node.next_open()
                self.pending += [(node, (k, case)) for case in (EVEN, ABOVE, BELOW)]

    def _solve_leaf(self, node: Node, gaps: Gaps) -> None:
        found, is_complete = pieces_of(node, gaps, self._check_time)
        self.leaves += 1
        self.unresolved += not is_complete
        if found and not self.pieces:
            first = self._profile(found[0], found[0].interior)
            self.monitor.snapshot(Candidate(first, "equilibrium"), work=self.nodes)
        self.pieces += found

    def _check_time(self) -> None:
        if self.monitor.remaining_s <= 0:
            raise _BudgetSpentError(f"stopped after {self.monitor.budget.time_s:g} s")

    def _record(self, pieces: list[Piece]) -> None:
        dimensions = Counter(piece.dimension for piece in pieces)
        self.monitor.record(
            cases=self.cases,
            nodes=self.nodes,
            leaves=self.leaves,
            unresolved=self.unresolved,
            pieces=len(pieces),
            dimension=max(dimensions, default=None),
            pieces_by_dimension=dict(sorted(dimensions.items())),
        )

    def _profile(self, piece: Piece, point: Point) -> BehaviorProfile:
        """The behavior profile of a point: exact if it is rational, otherwise rounded."""
        one = fmpq_poly([1])
        rows = dict(zip(self.sets, ((1 - x, x) for x in point), strict=True))
        frequencies = [
            frequency
            for i, actions in enumerate(self.tree.infoset_actions)
            for frequency in rows.get(i, (one,) * len(actions))
        ]
        if all(x.degree() <= 0 for x in point):
            return BehaviorProfile.of_exact(self.tree, [to_fraction(f[0]) for f in frequencies])
        return BehaviorProfile.of(self.tree, [piece.field.rounded(f) for f in frequencies])

    def _termination(self, left: int, reason: str, *, pieces: int, points: int) -> Termination:
        cases = f"{self.cases:,} case{'s'[: self.cases != 1]}"
        open_cases = left + self.unresolved
        detail = f"closed all {cases}; found {pieces:,} piece{'s'[: pieces != 1]}"
        if open_cases:
            detail = reason or "some equilibria are curved or lie in no field that was found"
            detail += f"; {open_cases:,} of {cases} stayed open"
        if points > MOST_POINTS:
            detail += f"; handed over {MOST_POINTS:,} of {points:,} points"
        if not open_cases:
            return Termination("converged", detail)
        return Termination("limit" if points else "not_found", detail)


def _points(pieces: list[Piece]) -> Iterator[tuple[object, tuple[Point, Piece]]]:
    """Points that stand for the pieces, by key: one inside each and its corners."""
    for piece in pieces:
        yield piece.key(piece.interior), (piece.interior, piece)
        for key, corner in zip(piece.keys, piece.corners, strict=True):
            yield key, (corner, piece)
