"""Rows of proofs: polynomials with integer coefficients whose sign is known in an equilibrium.

``docs/reference/proof_format.md`` defines them. Variables are numbered: weights of actions
0..A-1 (none for the first action of a set), values of information sets A..A+I-1, hats of
blow-ups from A+I on. A monomial is the sorted tuple of its variables.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.tree import GameTree

Monomial = tuple[int, ...]
Polynomial = dict[Monomial, int]
Form = Mapping[str, int]
Certificate = dict[str, int]
Sign = Literal["+", "+0", "0", "-0", "-"]
ONE: Polynomial = {(): 1}


def combination(terms: Iterable[tuple[int, Mapping[Monomial, int]]]) -> Polynomial:
    """Sum of integers times polynomials, without monomials whose coefficient is 0."""
    total: Polynomial = {}
    for factor, polynomial in terms:
        for monomial, coefficient in polynomial.items():
            total[monomial] = total.get(monomial, 0) + factor * coefficient
    return {monomial: value for monomial, value in total.items() if value}


def product(one: Polynomial, other: Polynomial) -> Polynomial:
    """Product of two polynomials."""
    total: Polynomial = {}
    for left, a in one.items():
        for right, b in other.items():
            key = tuple(sorted(left + right))
            total[key] = total.get(key, 0) + a * b
    return {monomial: value for monomial, value in total.items() if value}


def content_hash(tree: GameTree) -> str:
    """SHA-256 of the exact tree in the order of its arrays, which the numbers of rows refer to."""
    payoffs, denominator = tree.payoffs.rational()

    def lowest(first: int, rest: list[int]) -> list[int]:
        common = math.gcd(first, *rest)
        return [value // common for value in (first, *rest)]

    facts = [
        list(tree.players),
        list(tree.infoset_labels),
        [list(actions) for actions in tree.infoset_actions],
        *(array.tolist() for array in (tree.parent, tree.player, tree.infoset)),
        lowest(int(tree.chance_denominator), tree.chance.tolist()),
        lowest(int(denominator), payoffs.ravel().tolist()),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class Algebra:
    """Weights, payoffs and gaps of a game as polynomials.

    Attributes
    ----------
    game : Game
    weight : polynomials of the A actions
    payoff : polynomials e(q) in units of 1/`unit`, by action q; by -1-i of the empty sequence of i
    total : expected payoff of each player as a polynomial
    unit : least common denominator of chance times payoffs
    """

    game: Game
    weight: list[Polynomial]
    payoff: dict[int, Polynomial]
    total: list[Polynomial]
    unit: int

    @classmethod
    def of(cls, game: Game, most_terms: int = 20_000, replaced: Collection[int] = ()) -> Algebra:
        """Multiply out the payoffs of a game; UsageError if inexact or too many.

        The weight of `replaced` actions, at most one of each set, is 0.
        """
        tree = game.tree
        if not tree.exact:
            raise UsageError(
                f"{game.spec} has floating-point payoffs or chances; a proof needs rationals. "
                "eqbench export writes the game as an .efg file in which to put short fractions; "
                "the solver complete takes float payoffs as the binary fractions that they are"
            )
        weight: list[Polynomial] = [{}] * tree.n_actions
        start, above = tree.action_start.tolist(), tree.infoset_parent.tolist()
        for infoset in range(tree.n_infosets):
            first, *free = (a for a in range(*start[infoset : infoset + 2]) if a not in replaced)
            parent = weight[above[infoset]] if above[infoset] >= 0 else ONE
            for action in free:
                weight[action] = {(action,): 1}
            rest = [(-1, weight[action]) for action in free]
            weight[first] = combination([(1, parent), *rest])
        merged = _terminals(tree)
        terms = sum(math.prod(len(weight[q]) for q in key if q >= 0) for key in merged)
        if terms > most_terms:
            raise UsageError(
                f"the payoffs of {game.spec} have up to {terms:,} terms, allowed are "
                f"{most_terms:,}; choose a smaller game, or raise --most-terms and expect long "
                "linear programs"
            )
        unit = math.lcm(*(value.denominator for row in merged.values() for value in row))
        players = range(tree.n_players)
        payoff: dict[int, list[tuple[int, Polynomial]]] = {}
        total: list[list[tuple[int, Polynomial]]] = [[] for _ in players]
        reaches: dict[tuple[int, ...], Polynomial] = {}

        def reach(actions: tuple[int, ...]) -> Polynomial:
            if not actions:
                return ONE
            if actions not in reaches:
                reaches[actions] = product(reach(actions[:-1]), weight[actions[-1]])
            return reaches[actions]

        for sequences, row in merged.items():
            for i in players:
                if value := int(row[i] * unit):
                    others = reach(tuple(q for j, q in enumerate(sequences) if j != i and q >= 0))
                    own = sequences[i] if sequences[i] >= 0 else -1 - i
                    payoff.setdefault(own, []).append((value, others))
                    everyone = reach(tuple(q for q in sequences if q >= 0))
                    total[i].append((value, everyone))
        summed = {own: combination(terms) for own, terms in payoff.items()}
        return cls(game, weight, summed, [combination(terms) for terms in total], unit)

    @property
    def tree(self) -> GameTree:
        """The tree of the game."""
        return self.game.tree

    @cached_property
    def following(self) -> dict[int, list[int]]:
        """Sets of the same player that follow an action; by -1-i those that follow none of i."""
        found: dict[int, list[int]] = {}
        tree = self.tree
        for infoset, parent in enumerate(tree.infoset_parent.tolist()):
            own = parent if parent >= 0 else -1 - int(tree.infoset_player[infoset])
            found.setdefault(own, []).append(infoset)
        return found

    @cached_property
    def gap(self) -> list[Polynomial]:
        """Value of the set minus that of the action, for each action."""
        sets = self.tree.action_infoset.tolist()
        one = [
            combination([(1, self._value(sets[a])), (-1, self._worth(a))]) for a in range(len(sets))
        ]
        return one

    @cached_property
    def slack(self) -> list[Polynomial]:
        """Expected payoff minus best-response value of each player; 0 in equilibrium."""
        return [
            combination([(1, total), (-1, self._worth(-1 - i))])
            for i, total in enumerate(self.total)
        ]

    @cached_property
    def constant_sum(self) -> bool:
        """Whether the payoffs of all players together are constant."""
        return not combination((1, total) for total in self.total).keys() - {()}

    def _value(self, infoset: int) -> Polynomial:
        return {(self.tree.n_actions + infoset,): 1}

    def _worth(self, own: int) -> Polynomial:
        values = [(1, self._value(infoset)) for infoset in self.following.get(own, [])]
        return combination([(1, self.payoff.get(own, {})), *values])


def _terminals(tree: GameTree) -> dict[tuple[int, ...], list[Fraction]]:
    """Chance times payoffs, summed over the terminals with the same last action of each player."""
    parents, incoming = tree.parent.tolist(), tree.incoming.tolist()
    mover, chance = tree.player.tolist(), tree.chance.tolist()
    paths: list[tuple[int, ...]] = [(-1,) * tree.n_players]
    reach = [Fraction(1)]
    for node in range(1, tree.n_nodes):
        above = parents[node]
        path, weight = paths[above], reach[above]
        if incoming[node] >= 0:
            i = mover[above]
            path = (*path[:i], incoming[node], *path[i + 1 :])
        else:
            weight *= Fraction(chance[node], int(tree.chance_denominator))
        paths.append(path)
        reach.append(weight)
    payoffs, denominator = tree.payoffs.rational()
    merged: dict[tuple[int, ...], list[Fraction]] = {}
    for node, row in zip(tree.terminals.tolist(), payoffs.tolist(), strict=True):
        sums = merged.setdefault(paths[node], [Fraction(0)] * tree.n_players)
        for i, value in enumerate(row):
            sums[i] += reach[node] * Fraction(value, int(denominator))
    return merged


@dataclass(frozen=True)
class Case:
    """What is known at a node: statuses of actions, splits and blow-ups on the path.

    Attributes
    ----------
    out, within : actions that are out, and that are in
    splits : form and sign by number of the node
    blows : weights and values by number of the node
    """

    out: frozenset[int] = frozenset()
    within: frozenset[int] = frozenset()
    splits: Mapping[int, tuple[Form, Sign]] = field(default_factory=dict)
    blows: Mapping[int, tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=dict)

    def settle(self, tree: GameTree, action: int | None, *, inside: bool = False) -> Case:
        """Case with the status of an action, and what follows of it for the rest of its set."""
        out, within = set(self.out), set(self.within)
        if action is not None:
            (within if inside else out).add(action)
        start = tree.action_start.tolist()
        sets = range(tree.n_infosets) if action is None else [int(tree.action_infoset[action])]
        for infoset in sets:
            left = [a for a in range(start[infoset], start[infoset + 1]) if a not in out]
            if len(left) == 1:
                within.add(left[0])
        return replace(self, out=frozenset(out), within=frozenset(within))

    def is_strict(self, tree: GameTree, action: int) -> bool:
        """Whether an action is in together with another of its set, so that it has weight."""
        infoset = int(tree.action_infoset[action])
        block = range(int(tree.action_start[infoset]), int(tree.action_start[infoset + 1]))
        return action in self.within and len(self.within & {*block}) > 1


class Rows:
    """Polynomials and signs of rows by their names, at a case."""

    def __init__(self, algebra: Algebra, case: Case) -> None:
        self.algebra, self.case = algebra, case
        self._known: dict[str, Polynomial] = {}

    def hat(self, node: int) -> dict[int, int]:
        """Variables that a blow-up divides, and their hats."""
        tree = self.algebra.tree
        base = tree.n_actions + tree.n_infosets
        first = base * (1 + list(self.case.blows).index(node))
        weights, values = self.case.blows[node]
        listed = [*weights, *(tree.n_actions + infoset for infoset in values)]
        return {variable: first + variable for variable in listed}

    def polynomial(self, name: str) -> Polynomial:
        """Polynomial of a row; KeyError if it cannot be divided."""
        if name not in self._known:
            body, *divisors = name.split("/")
            found = ONE
            for factor in body.split("*"):
                found = (
                    product(found, self._factor(factor))
                    if found is not ONE
                    else self._factor(factor)
                )
            for node in divisors:
                found = divided(found, self.hat(int(node)))
            self._known[name] = found
        return self._known[name]

    def form(self, form: Form) -> Polynomial:
        """Polynomial of a form."""
        return combination((value, self.polynomial(name)) for name, value in form.items())

    def sign(self, name: str) -> Literal["0", "+", "+0"]:
        """Sign of a row: 0, greater than 0, or at least 0."""
        signs = {self._sign(factor) for factor in name.split("/", maxsplit=1)[0].split("*")}
        return "0" if "0" in signs else "+0" if "+0" in signs else "+"

    def _factor(self, name: str) -> Polynomial:
        algebra, kind, rest = self.algebra, name[0], name[1:]
        if kind == "1":
            return ONE
        if kind == "w":
            return algebra.weight[int(rest)]
        if kind == "g":
            return algebra.gap[int(rest)]
        if kind == "u":
            slacks = [algebra.slack[int(rest)]] if rest else algebra.slack
            return combination([(1, slack) for slack in slacks])
        if kind == "s":
            form, sign = self.case.splits[int(rest)]
            return combination([(-1 if sign in ("-", "-0") else 1, self.form(form))])
        node, _, action = rest.partition(".")
        hats, weights = self.hat(int(node)), self.case.blows[int(node)][0]
        if kind == "t":
            return combination([(-1, ONE)] + [(1, {(hats[a],): 1}) for a in weights])
        return {(hats[int(action)],): len(weights), (int(action),): -1}

    def _sign(self, name: str) -> Literal["0", "+", "+0"]:
        kind, rest, case = name[0], name[1:], self.case
        if kind == "1":
            return "+"
        if kind in "ut":
            return "0"
        if kind == "s":
            sign = case.splits[int(rest)][1]
            return "0" if sign == "0" else "+" if sign in ("+", "-") else "+0"
        if kind == "g":
            return "0" if int(rest) in case.within else "+0"
        if kind == "w":
            if int(rest) in case.out:
                return "0"
            return "+" if case.is_strict(self.algebra.tree, int(rest)) else "+0"
        return "+0"


def divided(polynomial: Polynomial, hats: Mapping[int, int]) -> Polynomial:
    """Polynomial with the one listed variable of each monomial replaced by its hat, or KeyError."""
    found: Polynomial = {}
    for monomial, coefficient in polynomial.items():
        listed = [variable for variable in monomial if variable in hats]
        if len(listed) != 1:
            raise KeyError("a monomial has not exactly one variable that the blow-up divides")
        place = monomial.index(listed[0])
        key = (*monomial[:place], *monomial[place + 1 :], hats[listed[0]])
        found[tuple(sorted(key))] = coefficient
    return found


def contradicts(rows: Rows, certificate: Certificate) -> bool:
    """Whether a certificate adds up to 0 and has a row that is greater than 0."""
    strict = any(rows.sign(name) == "+" for name in certificate)
    return strict and shows(rows, certificate, {})


def shows(rows: Rows, certificate: Certificate, target: Polynomial) -> bool:
    """Whether a certificate adds up to a positive multiple of the target, or to 0 if that is 0."""
    if any(
        value <= 0 and (rows.sign(name) != "0" or not value) for name, value in certificate.items()
    ):
        return False
    found = combination((value, rows.polynomial(name)) for name, value in certificate.items())
    if found.keys() != target.keys():
        return False
    scales = {Fraction(value, target[monomial]) for monomial, value in found.items()}
    return not scales or (len(scales) == 1 and min(scales) > 0 and min(scales).denominator == 1)
