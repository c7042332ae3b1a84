"""Payoffs of a game as polynomials in its frequencies, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from eqbench.equilibria.expressions import evaluate
from eqbench.model.tree import CHANCE, TERMINAL, GameTree

Monomial = tuple[str, ...]  # names in order, repeated for powers
Number = int | Fraction


@dataclass(frozen=True, eq=False)
class Polynomial:
    """A polynomial with rational coefficients.

    Attributes
    ----------
    terms : coefficients by monomial, none of them 0
    """

    terms: Mapping[Monomial, Fraction]

    @classmethod
    def of(cls, terms: Iterator[tuple[Monomial, Fraction]]) -> Polynomial:
        """Sum of terms, of which several may have one monomial."""
        total: dict[Monomial, Fraction] = {}
        for monomial, coefficient in terms:
            total[monomial] = total.get(monomial, Fraction(0)) + coefficient
        return cls({monomial: value for monomial, value in total.items() if value})

    @classmethod
    def constant(cls, value: Number) -> Polynomial:
        """The polynomial that is a number."""
        return cls({(): Fraction(value)} if value else {})

    @classmethod
    def variable(cls, name: str) -> Polynomial:
        """The polynomial that is a name."""
        return cls({(name,): Fraction(1)})

    def __len__(self) -> int:
        return len(self.terms)

    def __str__(self) -> str:
        words = [
            "*".join([*([str(value)] if value != 1 or not names else []), *names])
            for names, value in sorted(self.terms.items(), key=lambda term: (len(term[0]), term[0]))
        ]
        return " + ".join(words).replace("+ -1*", "- ").replace("+ -", "- ") or "0"

    def __add__(self, other: Polynomial | Number) -> Polynomial:
        both = (self, _lifted(other))
        return Polynomial.of(term for each in both for term in each.terms.items())

    def __mul__(self, other: Polynomial | Number) -> Polynomial:
        return Polynomial.of(
            (tuple(sorted((*left, *right))), a * b)
            for left, a in self.terms.items()
            for right, b in _lifted(other).terms.items()
        )

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Polynomial:
        return self * -1

    def __sub__(self, other: Polynomial | Number) -> Polynomial:
        return self + -_lifted(other)

    def __rsub__(self, other: Polynomial | Number) -> Polynomial:
        return _lifted(other) - self

    def __truediv__(self, other: Number) -> Polynomial:
        return self * (1 / Fraction(other))

    def derivative(self, name: str) -> Polynomial:
        """Partial derivative by a name."""
        return Polynomial.of(
            (_without(monomial, name), value * monomial.count(name))
            for monomial, value in self.terms.items()
            if name in monomial
        )

    def at(self, values: Mapping[str, Polynomial | Number]) -> Polynomial:
        """The polynomial with some names replaced by numbers or polynomials."""
        kept, others = [], Polynomial({})
        for monomial, value in self.terms.items():
            product = Polynomial.constant(value)
            for name in monomial:
                product = product * values.get(name, Polynomial.variable(name))
            kept.append(product)
        return reduce(add, kept, others)

    def value(self, values: Mapping[str, Fraction]) -> Fraction:
        """The number that it is at given values of all its names."""
        total = Fraction(0)
        for monomial, coefficient in self.terms.items():
            for name in monomial:
                coefficient *= values[name]
            total += coefficient
        return total


def parsed(text: str, names: Mapping[str, Polynomial | Number]) -> Polynomial:
    """Polynomial of an arithmetic text; a name that `names` does not have stands for itself."""
    return _lifted(evaluate(" ".join(text.split()), _Names(names)))


def expected(tree: GameTree, name_of: Mapping[int, str], value: Callable[[int], Any]) -> Polynomial:
    """Expectation of a function of the terminals, as polynomial in the frequencies.

    Every information set has two actions; its name is the frequency of the second one. Chance is
    left out, so that the expectation is in units of the probability of a deal.

    Parameters
    ----------
    name_of : name of each information set
    value : of the terminal with that number, or of any other node, where the tree is then cut off;
        None at nodes that have no value of their own
    """
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parent.tolist()):
        children.setdefault(parent, []).append(node)

    def below(node: int) -> Polynomial:
        own = value(node)
        if own is not None:
            return Polynomial.constant(own)
        if tree.player[node] == TERMINAL:
            return Polynomial({})
        parts = [below(child) for child in children[node]]
        if tree.player[node] == CHANCE:
            return reduce(add, parts)
        name = Polynomial.variable(name_of[int(tree.infoset[node])])
        return parts[0] * (1 - name) + parts[1] * name

    return below(0)


class _Names(dict[str, Any]):
    def __missing__(self, name: str) -> Polynomial:
        return Polynomial.variable(name)


def _lifted(value: Polynomial | Number) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial.constant(value)


def _without(monomial: Monomial, name: str) -> Monomial:
    place = monomial.index(name)
    return monomial[:place] + monomial[place + 1 :]
