"""All frequencies on a set of solutions, as polynomials in a few that remain free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpq_poly

from .elimination import System, used
from .polytope import Affine


class CurvedError(Exception):
    """The solutions are no polytope over a field Q(alpha), as far as can be told."""


@dataclass(frozen=True, eq=False)
class Chart:
    """Solutions of a triangular system, as functions of parameters.

    Attributes
    ----------
    context : of the polynomials
    relation : irreducible polynomial in the one frequency alpha, or None if there is no such
    parameters : frequencies that are free
    dependent : frequencies that are functions of alpha and the parameters, alpha among them
    values : all frequencies as polynomials in alpha and the parameters
    """

    context: fmpq_mpoly_ctx
    relation: fmpq_mpoly | None
    parameters: tuple[int, ...]
    dependent: tuple[int, ...]
    values: tuple[fmpq_mpoly, ...]

    @classmethod
    def of(cls, system: System, fixed: dict[int, fmpq], context: fmpq_mpoly_ctx) -> Chart | None:
        """Chart of what the elimination left, or None if that has no solution.

        Raises
        ------
        CurvedError
            If the system is not resolved, or a frequency is no polynomial in the others.
        """
        if len(system.equations) > 1 or any(len(used(e)) > 1 for e in system.equations):
            raise CurvedError
        relation = system.equations[0] if system.equations else None
        dependent = [step.variable for step in system.steps]
        if relation is not None:
            dependent += used(relation)
        free = [k for k in range(context.nvars()) if k not in fixed and k not in dependent]
        values = list(context.gens())
        for k, value in fixed.items():
            values[k] = context.constant(value)
        chart = cls(context, relation, tuple(free), tuple(dependent), tuple(values))
        for step in reversed(system.steps):
            slope, constant = chart.put_in(step.slope), chart.put_in(step.constant)
            if slope.is_zero():
                return None
            values[step.variable] = chart._quotient(-constant, slope)
            chart = cls(context, relation, tuple(free), tuple(dependent), tuple(values))
        return chart

    @property
    def modulus(self) -> fmpq_poly | None:
        """The relation as a polynomial in alpha alone."""
        return None if self.relation is None else self._in_alpha(self.relation.to_dict())

    def put_in(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        """A polynomial in the frequencies as one in alpha and the parameters."""
        return self._reduced(polynomial.compose(*self.values, ctx=self.context))

    def affine(self, polynomial: fmpq_mpoly) -> Affine | None:
        """Slopes and constant over Q(alpha) in the parameters; None if it is not affine."""
        parts: list[dict[tuple[int, ...], fmpq]] = [{} for _ in (*self.parameters, None)]
        for powers, coefficient in polynomial.to_dict().items():
            degrees = [powers[k] for k in self.parameters]
            if sum(degrees) > 1:
                return None
            parts[degrees.index(1) if any(degrees) else -1][powers] = coefficient
        return [self._in_alpha(part) for part in parts]

    def is_number(self, polynomial: fmpq_mpoly) -> bool:
        """Whether no parameter occurs."""
        return not any(polynomial.degrees()[k] > 0 for k in self.parameters)

    def _in_alpha(self, terms: dict[tuple[int, ...], fmpq]) -> fmpq_poly:
        """Terms with one and the same product of parameters, as a polynomial in alpha."""
        if self.relation is None:
            return fmpq_poly(list(terms.values()))
        (alpha,) = used(self.relation)
        by_power = {powers[alpha]: coefficient for powers, coefficient in terms.items()}
        return fmpq_poly([by_power.get(i, 0) for i in range(max(by_power, default=-1) + 1)])

    def _reduced(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        return polynomial if self.relation is None else divmod(polynomial, self.relation)[1]

    def _quotient(self, numerator: fmpq_mpoly, denominator: fmpq_mpoly) -> fmpq_mpoly:
        """Quotient of polynomials over Q(alpha).

        Raises
        ------
        CurvedError
            If there remains a rest.
        """
        inverse = self._inverse(self._leading(denominator))
        numerator, denominator = (self._reduced(p * inverse) for p in (numerator, denominator))
        quotient, rest = divmod(numerator, denominator)
        if not self._reduced(rest).is_zero():
            raise CurvedError
        return self._reduced(quotient)

    def _leading(self, polynomial: fmpq_mpoly) -> fmpq_poly:
        """Coefficient in Q(alpha) of the product of parameters that comes first."""
        by_product: dict[tuple[int, ...], dict[tuple[int, ...], fmpq]] = {}
        for powers, coefficient in polynomial.to_dict().items():
            product = tuple(powers[k] for k in self.parameters)
            by_product.setdefault(product, {})[powers] = coefficient
        return self._in_alpha(by_product[max(by_product)])

    def _inverse(self, number: fmpq_poly) -> fmpq_mpoly:
        """Inverse of an element of Q(alpha)."""
        if self.relation is None:
            return self.context.constant(1 / number[0])
        (alpha,) = used(self.relation)
        inverse = number.xgcd(self.modulus)[1] % self.modulus
        return _evaluated(inverse.coeffs(), self.context.gens()[alpha])


def _evaluated(coefficients: Sequence[fmpq], at: fmpq_mpoly) -> fmpq_mpoly:
    """Value of a polynomial in one variable, by Horner's scheme."""
    total = 0 * at
    for coefficient in reversed(coefficients):
        total = total * at + coefficient
    return total
