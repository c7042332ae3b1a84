"""Independent checker of proofs that a list of equilibria is complete.

It follows ``docs/reference/proof_format.md``, shares no code with what writes proofs, and uses the
game's tree and integers alone. Nothing in a file is believed. Variables of polynomials are numbers:
the weight of action a is a, the value of information set I is A + I, and their hats in the blow-up
at node n come n + 1 times the number of both later. Monomials are sorted tuples of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import gcd, lcm
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TextIO

from eqbench.errors import EqbenchError
from eqbench.model.tree import CHANCE, GameTree

Polynomial = dict[tuple[int, ...], int]
Form = Mapping[str, int]
ONE: Polynomial = {(): 1}
ZERO, NONNEGATIVE, POSITIVE = range(3)  # what is known of a sign
KINDS = ("branch", "split", "blow", "closed", "known", "face")
SIGNS = {"+": "+", "+0": "+0", "0": "0", "-0": "0-", "-": "-"}
MOST_CHARACTERS, MOST_TERMS, MOST_ROW, MOST_DIGITS = 2**26, 10**6, 300, 200
MOST_WORK = 2 * 10**8  # terms of all products and sums of one file; a few minutes
MOST_KEPT, MOST_WAITING, MOST_SPLITS = 2 * 10**6, 20_000, 200  # terms, cases, splits on a path
_N = r"(0|[1-9][0-9]{0,17})"
_FACTOR = re.compile(rf"1|w{_N}|g{_N}|u{_N}?|s{_N}|t{_N}|c{_N}\.{_N}")


class ProofError(EqbenchError):
    """A file that proves nothing, with the line at which it fails."""


class ProofSummary(NamedTuple):
    """What a file proves: all equilibria are in known sets, or in faces if there are any.

    Where actions are replaced, faces are about equilibria without them, one for each outcome.

    Attributes
    ----------
    known : names of the known sets
    nodes : number of nodes of each kind
    replaced : number of actions in whose place another one is played in the cases
    """

    known: tuple[str, ...]
    nodes: Mapping[str, int]
    replaced: int = 0


class _Case(NamedTuple):
    """What holds on the path to a node: statuses of actions, signs of forms, blow-ups."""

    out: frozenset[int] = frozenset()
    within: frozenset[int] = frozenset()
    splits: Mapping[int, tuple[Form, str]] = MappingProxyType({})
    blows: Mapping[int, tuple[list[int], list[int]]] = MappingProxyType({})


def check_proof(path: Path, tree: GameTree) -> ProofSummary:
    """Check the proof in a file against the tree of its game.

    Raises
    ------
    ProofError
        If the file is damaged or not complete, is about another game, or does not prove anything.
    """
    if not tree.exact:
        raise ProofError("a proof is about a game in integers; payoffs or chance here are floats")
    with path.open(encoding="utf-8") as file:
        return _Checker(tree).read(file)


def game_of(path: Path) -> str:
    """Spec of the game that the first line of a file names."""
    with path.open(encoding="utf-8") as file:
        header = next(_lines(file), None)
    spec = header.get("game") if isinstance(header, dict) else None
    _demand(isinstance(spec, str), f"{path} does not begin with the header of a proof")
    return str(spec)


class _Checker:
    """One reading of a file; rows that depend on the game alone are multiplied out once."""

    def __init__(self, tree: GameTree) -> None:
        self.tree, self.actions, self.sets = tree, tree.n_actions, tree.n_infosets
        self.left, self.room = MOST_WORK, MOST_KEPT
        starts, self.above = tree.action_start.tolist(), tree.infoset_parent.tolist()
        self.blocks = [range(*starts[i : i + 2]) for i in range(self.sets)]
        self.set_of = [i for i, block in enumerate(self.blocks) for _ in block]
        self.known: list[list[tuple[str, Form]]] = []
        self.replaced: dict[int, int] = {}  # action by set
        self.products: dict[str, Polynomial] = {}

    def _evaluate(self) -> None:
        """Weights; then unit, gaps and totals, by a walk from each terminal to the root."""
        tree, players = self.tree, self.tree.n_players
        self.weights: list[Polynomial] = [{} for _ in range(self.actions)]  # 0 if replaced
        self.variables: set[int] = set()
        for i, above in enumerate(self.above):  # those above come first
            first, *others = (a for a in self.blocks[i] if a != self.replaced.get(i))
            self.variables |= {*others}
            for a in others:
                self.weights[a] = {(a,): 1}
            whole = ONE if above < 0 else self.weights[above]
            self.weights[first] = self._sum([(1, whole), *((-1, self.weights[a]) for a in others)])
        fields = tree.parent, tree.player, tree.move, tree.infoset, tree.chance
        parent, mover, move, infoset, chance = (each.tolist() for each in fields)
        numerators, denominator = tree.payoffs.rational()
        ends = []
        for node, payoffs in zip(tree.terminals.tolist(), numerators.tolist(), strict=True):
            reach, last = Fraction(1, int(denominator)), [-1] * players
            while node:
                above = parent[node]
                if mover[above] == CHANCE:
                    reach *= Fraction(chance[node], int(tree.chance_denominator))
                elif last[mover[above]] < 0:
                    last[mover[above]] = self.blocks[infoset[above]][move[node]]
                node = above
            ends.append((last, [reach * int(each) for each in payoffs]))
        self.unit = lcm(*(each.denominator for _, payoffs in ends for each in payoffs))
        # by action, then by player for the empty sequences
        worth: list[Polynomial] = [{} for _ in range(self.actions + players)]
        self.totals: list[Polynomial] = [{} for _ in range(players)]
        for last, payoffs in ends:
            for i, payoff in enumerate(payoffs):
                reached: Polynomial = {(): int(payoff * self.unit)}
                for action in (q for j, q in enumerate(last) if j != i and q >= 0):
                    reached = self._product(reached, self.weights[action])
                own = last[i] if last[i] >= 0 else self.actions + i
                worth[own] = self._sum([(1, worth[own]), (1, reached)])
                played = self._product(reached, self.weights[last[i]] if last[i] >= 0 else ONE)
                self.totals[i] = self._sum([(1, self.totals[i]), (1, played)])
        for i, above in enumerate(self.above):
            own = above if above >= 0 else self.actions + int(tree.infoset_player[i])
            worth[own] = self._sum([(1, worth[own]), (1, {(self.actions + i,): 1})])
        for i, total in enumerate(self.totals):
            self.totals[i] = self._sum([(1, total), (-1, worth[self.actions + i])])
        pairs = zip(self.set_of, worth, strict=False)
        self.gaps = [self._sum([(1, {(self.actions + i,): 1}), (-1, own)]) for i, own in pairs]
        self.totals.append(self._sum((1, each) for each in self.totals))  # of the row u

    # -- the file -------------------------------------------------------------------------

    def read(self, file: TextIO) -> ProofSummary:
        """Check all lines."""
        lines, number = _lines(file), 1
        try:
            names = self._header(next(lines, None))
            root = _Case(out=frozenset(self.replaced.values()))
            waiting = {(-1, 0): self._settled(root, range(self.sets))}
            counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
            number = 2
            for line in lines:
                if not isinstance(line, dict) or "end" not in line:
                    counts[self._node(line, counts.total(), waiting)] += 1
                    number += 1
                    continue
                totals = {"end": True, "nodes": counts.total(), **counts}
                same = json.dumps(line, sort_keys=True) == json.dumps(totals, sort_keys=True)
                _demand(same, f"the totals are {totals}")
                _demand(not waiting, f"cases are missing: {sorted(waiting)[:3]} (node, case)")
                _demand(next(lines, None) is None, "something follows the totals")
                return ProofSummary(names, dict(counts), len(self.replaced))
            raise ProofError("the file ends without its totals")
        except ProofError as error:
            raise ProofError(f"line {number}: {error}") from None

    def _header(self, header: Any) -> tuple[str, ...]:
        """Check the first line against the game; names of the known sets."""
        _demand(isinstance(header, dict), "no header")
        self._replace(_list(header.get("replaced", [])))
        self._evaluate()
        facts: dict[str, Any] = {"format": "eqbench.proof/1", "content": content(self.tree)}
        facts |= {"players": self.tree.n_players, "sets": self.sets, "actions": self.actions}
        facts |= {"terminals": self.tree.n_terminals, "unit": str(self.unit)}
        for name, value in facts.items():
            same = header.get(name) == value and type(header[name]) is type(value)
            _demand(same, f"{name} is {header.get(name)!r}; that of the game is {value!r}")
        fields = set(header) - {"replaced"}
        _demand(fields == {*facts, "game", "known"}, "the header has other fields")
        names = []
        for known in _list(header["known"]):
            _demand(isinstance(known, dict) and set(known) == {"name", "rows"}, "bad known set")
            name = known["name"]
            _demand(isinstance(name, str) and len(name) <= 100, "bad name of a known set")
            _demand(name.isprintable() and name not in names, "bad name of a known set")
            names.append(name)
            rows = [_list(row, 2) for row in _list(known["rows"])]
            fit = rows and all(sign in ("0", "+0") for sign, _ in rows)
            _demand(fit, f"bad conditions of the known set {names[-1]}")
            self.known.append([(sign, self._form(form)) for sign, form in rows])
        text = " ".join(name for rows in self.known for _, form in rows for name in form)
        named = {self.set_of[int(action)] for action in re.findall(r"w(\d+)", text)}
        touched = named & self.replaced.keys()
        _demand(not touched, f"known sets depend on sets with a replaced action: {touched}")
        return tuple(names)

    def _replace(self, pairs: list[Any]) -> None:
        """Check that the second action ends the game better for its player, worse for others."""
        tree, payoffs = self.tree, self.tree.payoffs.rational()[0].tolist()
        ends = dict(zip(tree.terminals.tolist(), payoffs, strict=True))
        after: list[dict[int, Any]] = [{} for _ in range(self.actions)]  # payoffs by node before
        for node, above in enumerate(tree.parent.tolist()):
            if node and tree.player[above] != CHANCE:
                action = self.blocks[tree.infoset[above]][tree.move[node]]
                after[action][above] = ends.get(node)
        for worse, better in (map(_whole, _list(pair, 2)) for pair in pairs):
            _demand(0 <= worse < self.actions, f"there is no action {worse}")
            infoset = self.set_of[worse]
            player = int(tree.infoset_player[infoset])
            _demand(better in self.blocks[infoset], f"{worse} and {better} are of different sets")
            _demand(infoset not in self.replaced, f"two actions of set {infoset} are replaced")
            _demand(after[worse], f"set {infoset} has no node")
            for node, low in after[worse].items():
                high = after[better][node]
                _demand(low and high, f"action {worse} or {better} does not end the game")
                gains = [b - a for a, b in zip(low, high, strict=True)]
                fits = gains.pop(player) > 0 and max(gains, default=0) <= 0
                _demand(fits, f"action {better} is no replacement of action {worse}")
            self.replaced[infoset] = worse

    def _node(self, line: Any, number: int, waiting: dict[tuple[int, int], _Case]) -> str:
        """Check a node; its cases wait for the lines that treat them."""
        kind = next((k for k in KINDS if isinstance(line, dict) and k in line), "")
        _demand(bool(kind) and set(line) == {"n", "p", "c", kind}, "no node")
        _demand(_whole(line["n"]) == number, f"node {number} is expected")
        place = _whole(line["p"]), _whole(line["c"])
        _demand(place in waiting, f"case {place[1]} of node {place[0]} is not open")
        above, value = waiting.pop(place), line[kind]
        if kind == "face":
            _demand(value is None, "a face is null")
            return kind
        for k, case in enumerate(getattr(self, f"_{kind}")(above, number, value)):
            waiting[number, k] = case
        _demand(len(waiting) <= MOST_WAITING, f"more than {MOST_WAITING:,} cases are open at once")
        return kind

    def _branch(self, case: _Case, number: int, action: Any) -> list[_Case]:
        _demand(0 <= _whole(action) < self.actions, f"there is no action {action}")
        _demand(action not in case.out | case.within, f"the status of action {action} is known")
        out = case._replace(out=case.out | {action})
        within = case._replace(within=case.within | {action})
        return [self._settled(out, [self.set_of[action]]), within]

    def _settled(self, case: _Case, infosets: Iterable[int]) -> _Case:
        """The case with the last action of a set in, if all others are out."""
        left = [[a for a in self.blocks[i] if a not in case.out] for i in infosets]
        return case._replace(within=case.within | {own[0] for own in left if len(own) == 1})

    def _split(self, case: _Case, number: int, value: Any) -> list[_Case]:
        form, signs = self._form(_list(value, 2)[0]), _list(value[1])
        _demand(all(isinstance(sign, str) and sign in SIGNS for sign in signs), "bad sign")
        covered = set("".join(SIGNS[sign] for sign in signs))
        _demand(covered == set("+0-") and len(signs) == len(set(signs)), "signs left out or twice")
        _demand(len(case.splits) < MOST_SPLITS, f"more than {MOST_SPLITS} splits on a path")
        return [case._replace(splits={**case.splits, number: (form, sign)}) for sign in signs]

    def _blow(self, case: _Case, number: int, value: Any) -> list[_Case]:
        actions, sets = map(_list, _list(value, 2))
        _demand(all(_whole(a) in self.variables for a in actions), "an action is no variable")
        _demand(all(0 <= _whole(i) < self.sets for i in sets), "there is no such set")
        sets = [self.actions + i for i in sets]
        earlier = [v for own in case.blows.values() for v in (*own[0], *own[1])]
        listed = [*earlier, *actions, *sets]
        _demand(len(set(listed)) == len(listed), "a variable is listed twice")
        whole = ({f"w{a}": 1 for a in actions}, "+")
        _demand(bool(actions) and whole in case.splits.values(), "no split has a positive sum")
        return [case._replace(blows={**case.blows, number: (actions, sets)})]

    def _closed(self, case: _Case, number: int, certificate: Any) -> list[_Case]:
        total, is_strict = self._combined(case, certificate)
        _demand(is_strict and not total, "the certificate is no contradiction")
        return []

    def _known(self, case: _Case, number: int, value: Any) -> list[_Case]:
        k, certificates = _list(value, 2)
        _demand(0 <= _whole(k) < len(self.known), f"there is no known set {k}")
        given_for = _list(certificates, len(self.known[k]))
        for (sign, form), given in zip(self.known[k], given_for, strict=True):
            pair = _list(given, 2) if sign == "0" else [given]
            for factor, certificate in zip((1, -1), pair, strict=False):
                total, _ = self._combined(case, certificate)
                wanted = self._sum([(factor, self._polynomial(form))])
                _demand(_is_multiple(total, wanted), f"not shown to be in known set {k}")
        return []

    # -- rows -----------------------------------------------------------------------------

    def _combined(self, case: _Case, certificate: Any) -> tuple[Polynomial, bool]:
        """The polynomial of a certificate, and whether one of its rows is positive."""
        _demand(isinstance(certificate, dict), "a certificate is an object")
        is_strict, parts = False, []
        for row, times in certificate.items():
            polynomial, sign = self._row(case, row)
            is_allowed = _whole(times) > 0 or (times < 0 and sign == ZERO)
            _demand(is_allowed, f"{row} cannot be taken {times} times")
            is_strict |= sign == POSITIVE
            parts.append((times, polynomial))
        return self._sum(parts), is_strict

    def _row(self, case: _Case, row: str) -> tuple[Polynomial, int]:
        """Polynomial and sign of a row."""
        _demand(len(row) <= MOST_ROW, "a row is too long")
        names, *blows = row.split("/")
        factors = [self._factor(case, name) for name in names.split("*")]
        polynomial = self.products.get(names)
        if polynomial is None:
            polynomial = ONE
            for each, _ in factors:
                polynomial = self._product(polynomial, each)
            if not set("stc") & set(names) and len(polynomial) < self.room:
                self.products[names] = polynomial  # s, t and c depend on the path
                self.room -= 1 + len(polynomial)
        for blow in blows:
            polynomial = self._divided(case, polynomial, blow)
        return polynomial, min(sign for _, sign in factors)

    def _factor(self, case: _Case, name: str) -> tuple[Polynomial, int]:
        match = _FACTOR.fullmatch(name)
        _demand(match is not None, f"there is no row {name!r}")
        kind, (n, *more) = name[0], [int(g) for g in match.groups() if g] or [-1] if match else [-1]
        if kind == "1":
            return ONE, POSITIVE
        if kind == "u":
            _demand(n < self.tree.n_players, f"there is no row {name}")
            return self.totals[n], ZERO
        if kind in "wg":
            _demand(n < self.actions, f"there is no action {n}")
            if kind == "g":
                return self.gaps[n], ZERO if n in case.within else NONNEGATIVE
            is_mixed = n in case.within and len(case.within & {*self.blocks[self.set_of[n]]}) > 1
            return self.weights[n], ZERO if n in case.out else 1 + is_mixed
        if kind == "s":
            _demand(n in case.splits, f"{name} is no split above")
            form, sign = case.splits[n]
            known = ZERO if sign == "0" else NONNEGATIVE if "0" in sign else POSITIVE
            return self._sum([(-1 if "-" in sign else 1, self._polynomial(form))]), known
        _demand(n in case.blows, f"{name} is no blow-up above")
        listed, _ = case.blows[n]
        if kind == "t":
            hats: Polynomial = {(self._hat(n, a),): 1 for a in listed}
            return self._sum([(1, hats), (-1, ONE)]), ZERO
        _demand(more[0] in listed, f"{name} is no weight of the blow-up")
        hat: Polynomial = {(self._hat(n, more[0]),): len(listed)}
        return self._sum([(1, hat), (-1, self.weights[more[0]])]), NONNEGATIVE

    def _hat(self, number: int, variable: int) -> int:
        return (number + 1) * (self.actions + self.sets) + variable

    def _divided(self, case: _Case, polynomial: Polynomial, blow: str) -> Polynomial:
        """The polynomial divided by the weight of a blow-up."""
        number = next((n for n in case.blows if str(n) == blow), -1)
        _demand(number >= 0, f"{blow!r} is no blow-up above")
        self._work(len(polynomial))
        actions, sets = case.blows[number]
        found: Polynomial = {}
        for monomial, coefficient in polynomial.items():
            own = [v for v in monomial if v in actions or v in sets]
            _demand(len(own) == 1, f"a row cannot be divided by the weight of blow-up {number}")
            rest = [v for v in monomial if v != own[0]]
            found[tuple(sorted([*rest, self._hat(number, own[0])]))] = coefficient
        return found

    def _form(self, form: Any) -> Form:
        """A form, of which all names are known."""
        is_form = isinstance(form, dict) and not set("gustc/") & set("".join(form))
        _demand(is_form, "a form is an object of products of weights")
        self._polynomial(form)
        return dict(form)

    def _polynomial(self, form: Form) -> Polynomial:
        return self._sum((_whole(n), self._row(_Case(), name)[0]) for name, n in form.items())

    def _sum(self, terms: Iterable[tuple[int, Polynomial]]) -> Polynomial:
        """Sum of numbers times polynomials, without what is 0."""
        total: Polynomial = {}
        for number, polynomial in terms:
            self._work(len(polynomial))
            for monomial, coefficient in polynomial.items():
                total[monomial] = total.get(monomial, 0) + number * coefficient
        return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}

    def _product(self, one: Polynomial, other: Polynomial) -> Polynomial:
        terms = len(one) * len(other)
        _demand(terms <= MOST_TERMS, f"a product has more than {MOST_TERMS:,} terms")
        shifted = ({tuple(sorted(m + own)): c for m, c in one.items()} for own in other)
        return self._sum(zip(other.values(), shifted, strict=True))

    def _work(self, terms: int) -> None:
        """Count terms that are multiplied or copied; no file may take hours."""
        self.left -= 1 + terms
        _demand(self.left >= 0, f"the file takes more than {MOST_WORK:,} terms to check")


def content(tree: GameTree) -> str:
    """SHA-256 of what a tree holds, as the format defines it."""
    payoffs, denominator = tree.payoffs.rational()
    chance = [int(tree.chance_denominator), *tree.chance.tolist()]
    ends = [int(denominator), *payoffs.ravel().tolist()]
    facts: list[Any] = [tree.players, tree.infoset_labels, tree.infoset_actions]
    facts += [each.tolist() for each in (tree.parent, tree.player, tree.infoset)]
    facts += [[value // gcd(*own) for value in own] for own in (chance, ends)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _lines(file: TextIO) -> Iterator[Any]:
    """Lines as JSON values, of bounded size, without repeated names."""

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _demand(len(dict(pairs)) == len(pairs), "a name occurs twice in an object")
        return dict(pairs)

    try:
        while text := file.readline(MOST_CHARACTERS):
            _demand(text.endswith("\n"), "the line has no end, or is too long")
            yield json.loads(text, object_pairs_hook=distinct)
    except (ValueError, RecursionError) as error:
        raise ProofError(f"no JSON: {error}") from None


def _is_multiple(one: Polynomial, other: Polynomial) -> bool:
    """Whether a polynomial is another one times a positive integer."""
    if one.keys() != other.keys() or not other:
        return one == other
    monomial = next(iter(other))
    times, rest = divmod(one[monomial], other[monomial])
    return times > 0 == rest and all(one[m] == times * own for m, own in other.items())


def _demand(holds: object, otherwise: str) -> None:
    if not holds:
        raise ProofError(otherwise)


def _whole(value: Any) -> int:
    _demand(type(value) is int, f"{value!r} is no integer")
    _demand(abs(value) < 10**MOST_DIGITS, f"an integer has more than {MOST_DIGITS} digits")
    return int(value)


def _list(value: Any, size: int | None = None) -> list[Any]:
    _demand(isinstance(value, list), "a list is expected")
    _demand(size in (None, len(value)), f"{size} entries are expected")
    return list(value)
