"""One run of case enumeration: the search within a budget, and what it hands over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import replace
from fractions import Fraction
from functools import partial

from flint import fmpq, fmpq_mpoly

from eqbench.errors import counted
from eqbench.model.game import Game
from eqbench.model.polytope import Point
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Candidate, Claim, Ending, Monitor, Termination

from ..handover import MOST_CANDIDATES, OffPath, handed_over
from ..search import BudgetSpentError, check_budget, check_time, memory_refusal
from .cases import ABOVE, BELOW, EVEN, CaseNode, binary_sets, value_gaps
from .elimination import used
from .pieces import EquilibriumPiece, key_of, maximal, pieces_of, rational

BYTES_FOR_A_CORNER = 200  # measured: 107 where few gaps depend on much


class CaseRun:
    """The state of a search; nothing of it outlives `solve`.

    Attributes
    ----------
    cases : 3^n for the n information sets with two actions
    nodes, leaves : visited nodes, and those of them without open cases
    unresolved : leaves whose equilibria are not all known
    pieces : found so far, faces of others included
    gaps : value gaps, once they are computed
    pending : of each node still to be visited, its number of cases, and how to make it
    """

    def __init__(self, game: Game, monitor: Monitor, offpath: OffPath) -> None:
        self.tree, self.monitor, self.offpath = game.tree, monitor, offpath
        self.hand_over = partial(handed_over, offpath, game, monitor)
        self.check = partial(check_time, monitor)
        self.sets = binary_sets(self.tree)
        self.cases = 3 ** len(self.sets)
        self.nodes = self.leaves = self.unresolved = 0
        self.pieces: list[EquilibriumPiece] = []
        self.gaps: tuple[fmpq_mpoly, ...] = ()
        root = (self.cases, lambda: CaseNode.root(self.gaps))
        self.pending: list[tuple[int, Callable[[], CaseNode | None]]] = [root]

    def finish(self) -> Termination:
        """Search, hand over what was found, and say how it ended."""
        ended: Ending = "stopped"
        reason = "some equilibria are curved or lie in no field that was found"
        try:
            self.gaps = value_gaps(self.tree, self.check)
            corners = sum(2 ** len(used(gap)) for gap in self.gaps)
            parts, limit = f"{corners:,} corners of gaps", self.monitor.budget.memory_bytes
            if refusal := memory_refusal(parts, BYTES_FOR_A_CORNER * corners, limit):
                raise BudgetSpentError(refusal)
            while self.pending:
                check_budget(self.monitor)
                self._visit(self.pending[-1][1]())
        except BudgetSpentError as error:
            ended, reason = "limit", str(error)
        left = self.unresolved + sum(cases for cases, _ in self.pending)
        pieces = maximal(self.pieces)
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
        points: dict[Hashable, Point] = {}
        for piece in pieces:
            points |= {key_of(piece.interior): piece.interior} | piece.corners
        whole = not left and len(points) <= MOST_CANDIDATES and self.offpath == "keep"
        claim: Claim = "complete list" if whole else "equilibrium"
        handed_over: set[bytes] = set()
        for point in list(points.values())[:MOST_CANDIDATES]:
            found = self.hand_over(self._profile(point))
            key = found.profile.probabilities.tobytes()
            if key not in handed_over:  # several may become the same one
                handed_over.add(key)
                self.monitor.candidate(replace(found, claim=claim))
        if not left:
            ended, reason = "converged", f"found {counted(len(pieces), 'piece')}"
        elif not points:
            ended = "not_found"
        return Termination(ended, self._detail(left, reason, points=len(points)))

    def _visit(self, node: CaseNode | None) -> None:
        """Solve a node or branch on it, unless nothing satisfies its conditions."""
        self.nodes += 1
        self.monitor.work = self.nodes
        ways: list[tuple[int, Callable[[], CaseNode | None]]] = []
        if node is not None and node.open:
            # the information set whose gap depends on the fewest frequencies
            k = min(node.open, key=lambda k: len(node.gaps[k].variables))
            cases = 3 ** (len(node.open) - 1)
            ways = [(cases, partial(node.child, k, case)) for case in (EVEN, ABOVE, BELOW)]
        elif node is not None:
            found, is_complete = pieces_of(node, self.gaps, self.check)
            self.leaves += 1
            self.unresolved += not is_complete
            if found and not self.pieces:
                first = Candidate(self._profile(found[0].interior), "equilibrium")
                self.monitor.snapshot(first, work=self.nodes)
            self.pieces += found
        self.pending[-1:] = ways  # not before: a node that was broken off is still open

    def _profile(self, point: Point) -> BehaviorProfile:
        """The behavior profile of a point: exact if it is rational, otherwise rounded once."""
        pairs = {i: (1 - x, x) for i, x in zip(self.sets, point, strict=True)}
        frequencies = [
            own
            for i, actions in enumerate(self.tree.infoset_actions)
            for own in pairs.get(i, (fmpq(1),) * len(actions))
        ]
        exact = [Fraction(int(x.p), int(x.q)) for x in map(rational, frequencies) if x is not None]
        if len(exact) == len(frequencies):
            return BehaviorProfile.of_exact(self.tree, exact)
        return BehaviorProfile.of(self.tree, list(map(float, frequencies)))

    def _detail(self, left: int, reason: str, *, points: int) -> str:
        cases = counted(self.cases, "case")
        detail = f"{reason}; {left:,} of {cases} stayed open"
        if not left:
            detail = f"closed all {cases}; {reason}"
        if points > MOST_CANDIDATES:
            detail += f"; handed over {MOST_CANDIDATES:,} of {points:,} points"
        return detail
