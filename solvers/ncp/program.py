"""A program with linear and bilinear constraints, as any backend takes it.

Symbols: V variables (columns), R linear rows, Q quadratic constraints, T terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

Sense = Literal["<=", "=", ">="]
Monomial = tuple[int, ...]


class Polynomial(dict[Monomial, float]):
    """Coefficients by monomial: sorted tuples of at most two variables, () for the constant."""

    @property
    def degree(self) -> int:
        return max((len(monomial) for monomial in self), default=0)

    def terms(self, degree: int) -> list[tuple[Monomial, float]]:
        """Monomials of a degree with their coefficients."""
        return [(m, c) for m, c in self.items() if len(m) == degree]

    def add(self, other: Mapping[Monomial, float], scale: float = 1.0) -> Polynomial:
        """Add a multiple of another one, in place."""
        for monomial, coefficient in other.items():
            self[monomial] = self.get(monomial, 0.0) + scale * coefficient
        return self

    def times(self, other: Mapping[Monomial, float]) -> Polynomial:
        """The product, which must not have terms of three variables."""
        result = Polynomial()
        for left, a in self.items():
            for right, b in other.items():
                monomial = tuple(sorted(left + right))
                if len(monomial) > 2:
                    raise ValueError(f"a product of {len(monomial)} variables is not quadratic")
                result[monomial] = result.get(monomial, 0.0) + a * b
        return result


def total(polynomials: Iterable[Polynomial]) -> Polynomial:
    """The sum."""
    result = Polynomial()
    for polynomial in polynomials:
        result.add(polynomial)
    return result


class Constraint(NamedTuple):
    """``polynomial sense 0``."""

    polynomial: Polynomial
    sense: Sense


class ProgramSize(NamedTuple):
    """What licenses and papers count, before any presolve of a backend."""

    rows: int
    columns: int
    nonzeros: int
    quadratic_constraints: int
    bilinear_terms: int


@dataclass(eq=False)
class Program:
    """Find values of the variables, or the best ones, that satisfy all constraints."""

    # lists of V floats: bounds; infinite ones are allowed
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    binary: list[bool] = field(default_factory=list)  # list of V bools
    linear: list[Constraint] = field(default_factory=list)  # list of R constraints of degree one
    # list of Q constraints: a formulation may count a linear one here, as its author does
    quadratic: list[Constraint] = field(default_factory=list)
    # list of pairs of variables, of which one is zero: special ordered sets of type 1
    exclusive: list[tuple[int, int]] = field(default_factory=list)
    objective: Polynomial | None = None  # linear; None for feasibility
    maximize: bool = False

    def variable(
        self, lower: float = -np.inf, upper: float = np.inf, *, binary: bool = False
    ) -> Polynomial:
        """A new variable."""
        self.lower.append(lower)
        self.upper.append(upper)
        self.binary.append(binary)
        return Polynomial({(len(self.lower) - 1,): 1.0})

    def bound(self, variable: Polynomial, lower: float, upper: float) -> None:
        """Set the bounds of a variable."""
        ((index,),) = variable
        self.lower[index], self.upper[index] = lower, upper

    def require(
        self, polynomial: Polynomial, sense: Sense = "=", *, count_as_quadratic: bool = False
    ) -> None:
        """Add ``polynomial sense 0``."""
        kept = Polynomial({m: c for m, c in polynomial.items() if c != 0})
        quadratic = count_as_quadratic or kept.degree > 1
        (self.quadratic if quadratic else self.linear).append(Constraint(kept, sense))

    @property
    def size(self) -> ProgramSize:
        return ProgramSize(
            rows=len(self.linear),
            columns=len(self.lower),
            nonzeros=sum(len(row.polynomial.terms(1)) for row in self.linear),
            quadratic_constraints=len(self.quadratic),
            bilinear_terms=sum(len(row.polynomial.terms(2)) for row in self.quadratic),
        )
