"""Branch over the statuses of actions until every case is closed, known or a face.

Statuses, splits, blow-ups and the lines that are written are those of
``docs/reference/proof_format.md``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from eqbench.model.game import Game
from eqbench.proofs.relaxation import Point, Relaxation
from eqbench.proofs.rows import Algebra, Case, Certificate, Form, Sign, combination, content_hash

FORMAT = "eqbench.proof/1"
KINDS = ("branch", "split", "blow", "closed", "known", "face")
_ZERO = 1e-7  # of a form at a point


@dataclass(frozen=True)
class Known:
    """A set of weights, by forms that are 0 (``"0"``) or at least 0 (``"+0"``) in it."""

    name: str
    rows: tuple[tuple[str, Form], ...]


@dataclass(frozen=True)
class Face:
    """A case that was not decided: statuses of actions and splits by node, by its node."""

    node: int
    out: frozenset[int]
    within: frozenset[int]
    splits: dict[int, tuple[Form, Sign]]


@dataclass
class Proof:
    """What was proved: lines of the file, counts by kind, faces, and how many were left at the limit."""

    header: dict[str, Any]
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    faces: list[Face] = field(default_factory=list)
    unfinished: int = 0
    elapsed_s: float = 0.0

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return sum(self.counts.values())

    @property
    def ending(self) -> dict[str, Any]:
        """Last line of the file."""
        return {"end": True, "nodes": self.nodes, **self.counts}


@dataclass
class _Open:
    parent: int
    number: int
    case: Case
    relaxation: Relaxation
    blown: bool = False


class Prover:
    """Search for a proof; :meth:`lines` yields its file line by line.

    Parameters
    ----------
    known : sets of equilibria that need not be excluded
    is_over : whether to end soon; what is open then becomes faces
    """

    def __init__(
        self, game: Game, known: Sequence[Known] = (), is_over: Callable[[], bool] = lambda: False
    ) -> None:
        self.algebra, self.known, self.is_over = Algebra.of(game), known, is_over
        tree = game.tree
        header = {
            "format": FORMAT,
            "game": game.spec,
            "content": content_hash(tree),
            "players": tree.n_players,
            "sets": tree.n_infosets,
            "actions": tree.n_actions,
            "terminals": tree.n_terminals,
            "unit": str(self.algebra.unit),
            "known": [
                {"name": each.name, "rows": [[sign, dict(form)] for sign, form in each.rows]}
                for each in known
            ],
        }
        self.proof = Proof(header)
        self._extra = [form for each in known for _, form in each.rows]
        self._start = tree.action_start.tolist()

    def lines(self) -> Iterator[str]:
        """Yield the lines of the proof; :attr:`proof` has the counts and faces afterwards."""
        begun = time.monotonic()
        yield _line(self.proof.header)
        case = Case().settle(self.algebra.tree, None)
        stack = [_Open(-1, 0, case, Relaxation(self.algebra, case, self._extra))]
        while stack:
            node = stack.pop()
            number = self.proof.nodes
            kind, value, cases = self._decide(node, number)
            self.proof.counts[kind] += 1
            yield _line({"n": number, "p": node.parent, "c": node.number, kind: value})
            stack.extend(
                replace(child, parent=number, number=place)
                for place, child in reversed([*enumerate(cases)])
            )
            self.proof.elapsed_s = time.monotonic() - begun
        yield _line(self.proof.ending)

    # -- one node -----------------------------------------------------------------------------

    def _decide(self, node: _Open, number: int) -> tuple[str, Any, list[_Open]]:
        """Kind of a node, its value and its cases."""
        if self.is_over():
            self.proof.unfinished += 1
            return self._face(node, number)
        if number == 0 and (group := self._groups()):
            return self._split(node, number, dict.fromkeys((f"w{a}" for a in group), 1), ("+", "-0"))
        if not node.blown and (blow := self._blow(node.case)):
            case = replace(node.case, blows={number: blow})
            relaxation = Relaxation(self.algebra, case, self._extra)
            return "blow", [list(part) for part in blow], [replace(node, case=case, relaxation=relaxation, blown=True)]
        node.relaxation.turn_to(node.case)
        certificate, point = node.relaxation.close()
        if certificate is not None:
            return "closed", certificate, []
        if point is not None:
            for k, known in enumerate(self.known):
                if (shown := self._inside(node.relaxation, known, point)) is not None:
                    return "known", [k, shown], []
        action = self._action(node, point)
        if action is not None:
            tree = self.algebra.tree
            cases = [replace(node, case=node.case.settle(tree, action, inside)) for inside in (False, True)]
            return "branch", action, cases
        used = [form for form, _ in node.case.splits.values()]
        for known in self.known:
            for sign, form in known.rows:
                if point is not None and form not in used and abs(point.at(node.relaxation.rows.form(form))) > _ZERO:
                    return self._split(node, number, form, ("+", "0", "-"))
        return self._face(node, number)

    def _face(self, node: _Open, number: int) -> tuple[str, Any, list[_Open]]:
        case = node.case
        self.proof.faces.append(Face(number, case.out, case.within, dict(case.splits)))
        return "face", None, []

    def _split(
        self, node: _Open, number: int, form: Form, signs: tuple[Sign, ...]
    ) -> tuple[str, Any, list[_Open]]:
        cases = [
            replace(node, case=replace(node.case, splits={**node.case.splits, number: (form, sign)}))
            for sign in signs
        ]
        return "split", [dict(form), list(signs)], cases

    def _inside(
        self, relaxation: Relaxation, known: Known, point: Point
    ) -> list[Certificate | list[Certificate]] | None:
        """Certificates that all of a case is in a known set, or None."""
        forms = [(sign, relaxation.rows.form(form)) for sign, form in known.rows]
        for sign, form in forms:
            value = point.at(form)
            if not (abs(value) <= _ZERO if sign == "0" else value >= -_ZERO):
                return None
        found: list[Certificate | list[Certificate]] = []
        for sign, form in forms:
            sides = [form, combination([(-1, form)])] if sign == "0" else [form]
            certificates = []
            for side in sides:
                certificate, _ = relaxation.show(side)
                if certificate is None:
                    return None
                certificates.append(certificate)
            found.append(certificates if sign == "0" else certificates[0])
        return found

    # -- what to branch on --------------------------------------------------------------------

    def _action(self, node: _Open, point: Point | None) -> int | None:
        """Open action whose weight times gap is largest at a point, or whose products are worst."""
        case, algebra = node.case, self.algebra
        undecided = [a for a in range(algebra.tree.n_actions) if a not in case.out | case.within]
        if not undecided or point is None:
            return undecided[0] if undecided else None
        scores = {a: point.at(algebra.weight[a]) * point.at(algebra.gap[a]) for a in undecided}
        best = max(undecided, key=scores.__getitem__)
        if scores[best] > _ZERO:
            return best
        errors = dict.fromkeys(undecided, 0.0)
        sets = algebra.tree.action_infoset
        for monomial, value in point.values.items():
            if len(monomial) == 2 and all(a < algebra.tree.n_actions for a in monomial):
                error = abs(value - point.values[monomial[:1]] * point.values[monomial[1:]])
                for a in undecided:
                    if any(sets[a] == sets[b] for b in monomial):
                        errors[a] += error
        return max(undecided, key=errors.__getitem__)

    def _groups(self) -> list[int]:
        """Weights whose sum may tend to 0 with sets behind it: of who moves first, one label."""
        tree = self.algebra.tree
        if tree.n_players < 3:
            return []
        found: dict[tuple[int, str], list[int]] = {}
        for infoset in range(tree.n_infosets):
            if tree.infoset_parent[infoset] < 0:
                for move, label in enumerate(tree.infoset_actions[infoset][1:], 1):
                    key = int(tree.infoset_player[infoset]), label
                    found.setdefault(key, []).append(self._start[infoset] + move)
        for weights in found.values():
            if len(weights) > 1 and self._behind(weights):
                return weights
        return []

    def _behind(self, weights: Sequence[int]) -> list[int]:
        """Sets whose gaps have exactly one of these weights, or a value of such sets, in each term."""
        tree, listed = self.algebra.tree, set(weights)
        found: list[int] = []
        for infoset in reversed(range(tree.n_infosets)):
            variables = listed | {tree.n_actions + other for other in found}
            gaps = self.algebra.gap[self._start[infoset] : self._start[infoset + 1]]
            own = tree.n_actions + infoset
            if all(
                sum(variable in variables or variable == own for variable in monomial) == 1
                for gap in gaps
                for monomial in gap
            ):
                found.append(infoset)
        return found[::-1]

    def _blow(self, case: Case) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        for form, sign in case.splits.values():
            weights = tuple(int(name[1:]) for name in form if name[0] == "w" and "*" not in name)
            if sign == "+" and len(weights) == len(form) and self._behind(weights):
                return weights, tuple(self._behind(weights))
        return None


def prove(
    game: Game, known: Sequence[Known] = (), is_over: Callable[[], bool] = lambda: False
) -> tuple[Proof, list[str]]:
    """Prove what can be proved about the equilibria of a game; return it with its file's lines."""
    prover = Prover(game, known, is_over)
    lines = [*prover.lines()]
    return prover.proof, lines


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))
