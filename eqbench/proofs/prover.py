"""Branch over the statuses of actions until every case is closed, known or a face.

Statuses, splits, blow-ups and the lines that are written are those of
``docs/reference/proof_format.md``.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations
from random import Random
from typing import Any

import numpy as np

from eqbench.model.game import Game
from eqbench.model.inspection import payoff_bounds
from eqbench.model.tree import GameTree
from eqbench.proofs.known import Known, Split, known_sets
from eqbench.proofs.relaxation import Point, Relaxation
from eqbench.proofs.rows import (
    Algebra,
    Case,
    Certificate,
    Form,
    Sign,
    combination,
    content_hash,
)

FORMAT = "eqbench.proof/1"
KINDS = ("branch", "split", "blow", "closed", "known", "face")
_ZERO = 1e-7  # of a form at a point
_LOOSE = 1e-3  # by which a product differs from what it is the product of


@dataclass(frozen=True)
class Face:
    """A case that was not decided: statuses of actions and splits by node, by its node."""

    node: int
    out: frozenset[int]
    within: frozenset[int]
    splits: dict[int, tuple[Form, Sign]]


@dataclass
class Proof:
    """What was proved.

    Attributes
    ----------
    header : first line of the file
    counts : nodes by kind
    faces : cases that are not decided
    inside : numbers of the known sets of the nodes that are inside one
    unfinished : number of faces that the search did not reach
    """

    header: dict[str, Any]
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    faces: list[Face] = field(default_factory=list)
    inside: list[int] = field(default_factory=list)
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
    shown: dict[tuple[int, int, int], Certificate] = field(default_factory=dict)


class Prover:
    """Search for a proof; :meth:`lines` yields its file line by line.

    Parameters
    ----------
    known : sets of equilibria that need not be excluded
    is_over : whether to end soon; what is open then becomes faces
    """

    def __init__(
        self,
        game: Game,
        known: Sequence[Known] = (),
        splits: Sequence[Split] = (),
        is_over: Callable[[], bool] = lambda: False,
        *,
        most_terms: int = 20_000,
    ) -> None:
        self.known, self.splits, self.is_over = known, splits, is_over
        tree = game.tree
        self.replaced = _replaceable(tree, known) if known and tree.exact else []
        self.algebra = Algebra.of(game, most_terms, [worse for worse, _ in self.replaced])
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
        if self.replaced:
            header["replaced"] = self.replaced
        self.proof = Proof(header)
        self._extra = [form for each in known for _, form in each.rows]
        self._extra += _products(known, self.algebra)
        self.most_splits = 24
        self._start = tree.action_start.tolist()
        self.group = self._groups()
        self.dominated = _dominated(tree)
        sets = tree.action_infoset.tolist()
        first = [*(sets[a] for a in self.group), *self._behind(self.group)]
        self._first = [*self.group, *(a for i in first for a in range(*self._start[i : i + 2]))]

    def lines(self, before: Iterable[str] = ()) -> Iterator[str]:
        """Yield the lines of the proof; :attr:`proof` has the counts and faces afterwards.

        Parameters
        ----------
        before : lines of nodes of an earlier search, as far as it was not ended; they are kept
        """
        begun, kept = time.monotonic(), iter(before)
        yield _line(self.proof.header)
        stack = [self._root()]
        while stack:
            node, number = stack.pop(), self.proof.nodes
            kind, value = self._decided(next(kept, "")) or self._decide(node, number)
            self.proof.counts[kind] += 1
            if kind == "face":
                case = node.case
                self.proof.faces.append(Face(number, case.out, case.within, dict(case.splits)))
            if kind == "known":
                self.proof.inside.append(value[0])
            yield _line({"n": number, "p": node.parent, "c": node.number, kind: value})
            cases = self._cases(node, number, kind, value)
            for place in reversed(range(len(cases))):
                stack.append(replace(cases[place], parent=number, number=place))
            self.proof.elapsed_s = time.monotonic() - begun
        yield _line(self.proof.ending)

    def estimate(self, time_s: float = 1.0, seed: int = 0) -> dict[str, float]:
        """Return expected nodes, seconds and bytes of the search, and most nodes by any descent.

        A descent looks at all cases of a node, enters one that is open, and weighs what it meets by
        the number of open cases (Knuth 1975, Estimating the efficiency of backtrack programs).
        There are three at least, and more until so many seconds are over.
        """
        random, begun = Random(seed), time.monotonic()
        descents: list[float] = []
        size, visited = 0.0, 0
        while len(descents) < 3 or time.monotonic() - begun < time_s:
            cases, weight, nodes, number = [self._root()], 1.0, 0.0, 0
            while cases:
                decided = [(node, *self._decide(node, number)) for node in cases]
                visited += len(cases)
                nodes += weight * len(cases)
                size += weight * sum(len(_line({kind: value})) + 20 for _, kind, value in decided)
                below = [self._cases(node, number, *found) for node, *found in decided]
                left = [each for each in below if each]
                cases, weight = random.choice(left) if left else [], weight * len(left)
                number += 1
            descents.append(nodes)
        mean, each_s = sum(descents) / len(descents), (time.monotonic() - begun) / visited
        found = {"nodes": mean, "most_nodes": max(descents)}
        return {**found, "seconds": mean * each_s, "bytes": size / len(descents)}

    def _root(self) -> _Open:
        out = frozenset(worse for worse, _ in self.replaced)
        case = Case(out).settle(self.algebra.tree, None)
        return _Open(-1, 0, case, Relaxation(self.algebra, case, self._extra))

    # -- one node -----------------------------------------------------------------------------

    def _decided(self, line: str) -> tuple[str, Any] | None:
        found = json.loads(line) if line else {}
        return next(((kind, found[kind]) for kind in KINDS if kind in found), None)

    def _decide(self, node: _Open, number: int) -> tuple[str, Any]:
        """Kind of a node and its value."""
        if self.is_over():
            self.proof.unfinished += 1
            return "face", None
        if number == 0 and self.group:
            return "split", [dict.fromkeys((f"w{a}" for a in self.group), 1), ["+", "-0"]]
        if not node.blown and (blow := self._blow(node.case)):
            return "blow", blow
        used = [form for form, _ in node.case.splits.values()]
        for split in () if node.blown else self.splits:
            if split.form not in used:
                return "split", [dict(split.form), list(split.signs)]
        node.relaxation.turn_to(node.case)
        certificate, point = node.relaxation.close()
        if certificate is not None:
            return "closed", certificate
        if point is not None:
            node.shown = dict(node.shown)
            for k in range(len(self.known)):
                if (shown := self._inside(node, k, point)) is not None:
                    return "known", [k, shown]
        action, urgent = self._action(node, point)
        if self.known and not node.blown and point is not None and not urgent:
            loose = self._ranges(node, point, used)
            if loose is not None:
                return "split", [dict(loose.form), list(loose.signs)]
        return ("face", None) if action is None else ("branch", action)

    def _cases(self, node: _Open, number: int, kind: str, value: Any) -> list[_Open]:
        """Cases of a node, in their order."""
        case, tree = node.case, self.algebra.tree
        if kind == "branch":
            settled = (case.settle(tree, value, inside=inside) for inside in (False, True))
            return [replace(node, case=each) for each in settled]
        if kind == "split":
            form, signs = value
            splits = ({**case.splits, number: (form, sign)} for sign in signs)
            return [replace(node, case=replace(case, splits=each)) for each in splits]
        if kind == "blow":
            case = replace(case, blows={number: (tuple(value[0]), tuple(value[1]))})
            relaxation = Relaxation(self.algebra, case, self._extra)
            return [replace(node, case=case, relaxation=relaxation, blown=True, shown={})]
        return []

    def _ranges(self, node: _Open, point: Point, used: Sequence[Form]) -> Split | None:
        """Return a split of an equation of a known set, or of a weight's range, or None."""
        rows = node.relaxation.rows
        for form in (form for known in self.known for sign, form in known.rows if sign == "0"):
            has_terms = len(form.keys() - {"1"}) > 1
            if has_terms and form not in used and abs(point.at(rows.form(form))) <= _ZERO:
                return Split(form, ("+", "0", "-"))
        if len(used) >= self.most_splits:
            return None
        values, size = point.values, self.algebra.tree.n_actions
        products = [m for m in values if len(m) == 2 and max(m) < size]
        errors = {m: abs(values[m] - values[m[:1]] * values[m[1:]]) for m in products}
        worst = max(products, key=errors.__getitem__, default=())
        if not worst or errors[worst] < _LOOSE:
            return None
        ranges = {variable: _range(variable, node.case) for variable in worst}
        widest = max(worst, key=lambda variable: ranges[variable][1] - ranges[variable][0])
        low, high = ranges[widest]
        cut = Fraction(values[(widest,)]).limit_denominator(16)
        if not low + (high - low) / 8 < cut < high - (high - low) / 8:
            cut = (low + high) / 2
        return Split({f"w{widest}": cut.denominator, "1": -cut.numerator}, ("+0", "-"))

    def _inside(self, node: _Open, k: int, point: Point) -> list[Any] | None:
        """Certificates that all of a case is in the known set of this number, or None.

        What was shown at a node is right below it too, and kept there.
        """
        relaxation, known = node.relaxation, self.known[k]
        forms = [(sign, relaxation.rows.form(form)) for sign, form in known.rows]
        for sign, form in forms:
            value = point.at(form)
            if not (abs(value) <= _ZERO if sign == "0" else value >= -_ZERO):
                return None
        for place in sorted(range(len(forms)), key=lambda place: forms[place][0] == "0"):
            sign, form = forms[place]
            for side, factor in enumerate((1, -1) if sign == "0" else (1,)):
                if (k, place, side) in node.shown:
                    continue
                certificate, _ = relaxation.show(combination([(factor, form)]))
                if certificate is None:
                    return None
                node.shown[k, place, side] = certificate
        return [
            [node.shown[k, place, 0], node.shown[k, place, 1]]
            if sign == "0"
            else node.shown[k, place, 0]
            for place, (sign, _) in enumerate(forms)
        ]

    # -- what to branch on --------------------------------------------------------------------

    def _action(self, node: _Open, point: Point | None) -> tuple[int | None, bool]:
        """Open action whose weight times gap is largest at a point, or whose products are worst.

        Also whether that product is above 0, so that the point is no equilibrium. A dominated
        action comes last, as it is played only where the others never lead. In a blow-up all that
        it divides comes first, in order of play: then it is known who leads where.
        """
        case, algebra = node.case, self.algebra
        undecided = [a for a in range(algebra.tree.n_actions) if a not in case.out | case.within]
        if not undecided or point is None:
            return (undecided[0], True) if undecided else (None, False)
        for action in self._first if node.blown else ():
            if action in undecided:
                return action, True
        scores = {a: point.at(algebra.weight[a]) * point.at(algebra.gap[a]) for a in undecided}
        best = max(undecided, key=lambda a: (scores[a] > _ZERO, a not in self.dominated, scores[a]))
        if scores[best] > _ZERO:
            return best, True
        sets = algebra.tree.action_infoset.tolist()
        errors = [0.0] * algebra.tree.n_infosets
        for monomial, value in point.values.items():
            if len(monomial) == 2 and monomial[1] < len(sets):
                error = abs(value - point.values[monomial[:1]] * point.values[monomial[1:]])
                for a in monomial:
                    errors[sets[a]] += error
        return max(undecided, key=lambda a: errors[sets[a]]), False

    def _groups(self) -> list[int]:
        """Weights whose sum may tend to 0 with sets behind it: of who moves first, one label."""
        tree = self.algebra.tree
        if tree.n_players < 3:
            return []
        found: dict[tuple[int, str], list[int]] = {}
        for infoset in range(tree.n_infosets):
            if tree.infoset_parent[infoset] < 0:
                for action, label in enumerate(tree.infoset_actions[infoset], self._start[infoset]):
                    if self.algebra.weight[action] == {(action,): 1}:
                        key = int(tree.infoset_player[infoset]), label
                        found.setdefault(key, []).append(action)
        for weights in found.values():
            if len(weights) > 1 and self._behind(weights):
                return weights
        return []

    def _behind(self, weights: Sequence[int]) -> list[int]:
        """Sets whose gaps have one of these weights, or a value of such sets, in each term."""
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

    def _blow(self, case: Case) -> list[list[int]] | None:
        """Return weights and sets to divide by a sum that is greater than 0 at this case."""
        total = dict.fromkeys((f"w{a}" for a in self.group), 1)
        if total and (total, "+") in case.splits.values():
            return [self.group, self._behind(self.group)]
        return None


def _dominated(tree: GameTree) -> list[int]:
    """Actions than which another one of their set pays more, whatever follows."""
    (low, high), first = payoff_bounds(tree), tree.first_children()
    found: list[int] = []
    for infoset, player in enumerate(tree.infoset_player.tolist()):
        moves = np.arange(len(tree.infoset_actions[infoset]))
        below = first[np.flatnonzero(tree.infoset == infoset)][:, None] + moves
        worst, best = low[below, player], high[below, player]
        for move in moves.tolist():
            least, most = np.delete(worst, move, axis=1), best[:, [move]]
            if ((least >= most).all(axis=0) & (least > most).any(axis=0)).any():
                found.append(int(tree.action_start[infoset]) + move)
    return found


def _replaceable(tree: GameTree, known: Sequence[Known]) -> list[list[int]]:
    """Pairs of actions that end the game, the second better for its player, for others no better.

    One pair at most of a set, and none of a set that known sets depend on.
    """
    names = [name for each in known for _, form in each.rows for name in form]
    used = {int(tree.action_infoset[int(a)]) for a in re.findall(r"w(\d+)", " ".join(names))}
    first, payoffs = tree.first_children(), tree.payoffs.rational()[0]
    values = np.zeros((tree.n_nodes, tree.n_players), dtype=payoffs.dtype)
    values[tree.terminals] = payoffs
    found: list[list[int]] = []
    for infoset, player in enumerate(tree.infoset_player.tolist()):
        start, end = tree.action_start[infoset : infoset + 2].tolist()
        nodes = first[np.flatnonzero(tree.infoset == infoset)]
        for worse, better in permutations(range(end - start), 2) if infoset not in used else ():
            pair = nodes + worse, nodes + better
            gains = values[pair[1]] - values[pair[0]]
            own = gains[:, player].copy()
            gains[:, player] = 0
            is_end = all(np.isin(each, tree.terminals).all() for each in pair)
            if is_end and (own > 0).all() and (gains <= 0).all():
                found.append([start + worse, start + better])
                break
    return found


def _range(variable: int, case: Case) -> tuple[Fraction, Fraction]:
    """Range of a weight by the splits on the path."""
    low, high = Fraction(0), Fraction(1)
    for form, sign in case.splits.values():
        if form.keys() == {f"w{variable}", "1"}:
            cut = Fraction(-form["1"], form[f"w{variable}"])
            low = max(low, cut) if "-" not in sign else low
            high = min(high, cut) if "+" not in sign else high
    return low, high


def _products(known: Sequence[Known], algebra: Algebra) -> list[Form]:
    """Products of the weights of different players that equations of known sets have."""
    forms = [form for each in known for sign, form in each.rows if sign == "0"]
    names = {name for form in forms if len(form.keys() - {"1"}) > 1 for name in form if name != "1"}
    actions = sorted(int(name[1:]) for name in names if "*" not in name)
    owner = algebra.tree.infoset_player[algebra.tree.action_infoset]
    return [{f"w{a}*w{b}": 1} for a in actions for b in actions if a < b and owner[a] != owner[b]]


def prove(game: Game, is_over: Callable[[], bool] = lambda: False) -> tuple[Proof, list[str]]:
    """Prove what can be proved about the equilibria of a game; return it with its file's lines."""
    prover = Prover(game, *known_sets(game), is_over)
    lines = [*prover.lines()]
    return prover.proof, lines


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":"))
