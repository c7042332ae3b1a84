"""Polynomial equations solved by splitting into factors and eliminating variables.

Elimination takes variables that occur linearly where it can, and splits on whether their
coefficient is zero. Where nothing is linear, pseudo-division of two equations by each other
lowers a degree. This is triangular decomposition (Ritt 1950; Wu 1978) without more of it than
small games need: what it cannot finish is reported as unresolved.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from flint import fmpq, fmpq_mpoly

Polynomials = tuple[fmpq_mpoly, ...]
# Longer equations in several variables are left alone: those of five random players soon have
# 600 terms, and a division of such takes many seconds. Four players need 22 terms, SKP 7.
MOST_TERMS = 200


@dataclass(frozen=True)
class PolynomialSystem:
    """Equations that remain, polynomials known to be nonzero, and what was eliminated.

    That is, in order: a variable, and the equation that is linear in it, its slope not zero.
    """

    equations: Polynomials
    nonzero: Polynomials = ()
    steps: tuple[tuple[int, fmpq_mpoly], ...] = ()


def used(polynomial: fmpq_mpoly) -> list[int]:
    """Variables that occur, in ascending order."""
    return [k for k, degree in enumerate(polynomial.degrees()) if degree > 0]


def leading(polynomial: fmpq_mpoly, variable: int) -> fmpq_mpoly:
    """Coefficient of the highest power of a variable."""
    for power in range(polynomial.degrees()[variable], 0, -1):
        polynomial = polynomial.derivative(variable) / power
    return polynomial


def bounds(polynomial: fmpq_mpoly, low: Sequence[fmpq], high: Sequence[fmpq]) -> tuple[fmpq, fmpq]:
    """Bounds, not always sharp, over a box of numbers that are not negative."""
    least = most = fmpq(0)
    for powers, coefficient in polynomial.to_dict().items():
        small = large = coefficient
        for k, power in enumerate(powers):
            if power:
                small, large = small * low[k] ** power, large * high[k] ** power
        least, most = least + min(small, large), most + max(small, large)
    return least, most


@dataclass(frozen=True)
class Elimination:
    """Solves systems whose solutions are looked for in one box."""

    # ends of the box
    low: Sequence[fmpq]
    high: Sequence[fmpq]
    check: Callable[[], None]  # called at every step; may raise to break off

    def solve(self, system: PolynomialSystem) -> Iterator[PolynomialSystem]:
        """Systems that have all solutions of the given one in the box between them.

        Each has no equation left, or an irreducible one in a single variable; any others
        are unresolved. Solutions of a system need not solve the given one.
        """
        self.check()
        if any(polynomial.is_zero() for polynomial in system.nonzero):
            return
        if any(map(_is_too_long, system.equations)):
            yield system
            return
        simple: list[fmpq_mpoly] = []
        for i, equation in enumerate(system.equations):
            if equation.is_zero():
                continue
            factors = self._factors(equation, system.nonzero)
            if len(factors) != 1:
                rest = (*simple, *system.equations[i + 1 :])
                for k, factor in enumerate(factors):
                    nonzero = (*system.nonzero, *factors[:k])
                    yield from self.solve(
                        replace(system, equations=(factor, *rest), nonzero=nonzero)
                    )
                return
            if factors[0] not in simple:
                simple.append(factors[0])
        yield from self._reduce(replace(system, equations=tuple(simple)))

    def _factors(self, equation: fmpq_mpoly, nonzero: Polynomials) -> Polynomials:
        """Irreducible factors that may vanish in the box."""
        return tuple(
            factor
            for factor, _ in equation.factor()[1]
            if not self._is_definite(factor)
            and not any(divmod(known, factor)[1].is_zero() for known in nonzero)
        )

    def _is_definite(self, polynomial: fmpq_mpoly) -> bool:
        least, most = bounds(polynomial, self.low, self.high)
        return least > 0 or most < 0

    def _reduce(self, system: PolynomialSystem) -> Iterator[PolynomialSystem]:
        """One elimination or pseudo-division of distinct irreducible equations."""
        linear = self._linear_choice(system.equations)
        if linear is not None:
            yield from self._eliminate(system, *linear)
            return
        single = [used(equation)[0] for equation in system.equations if len(used(equation)) == 1]
        if len(single) > len(set(single)):
            return  # different irreducible polynomials in one variable have no common root
        pair = _pair_choice(system.equations)
        if pair is not None:
            yield from self._divide(system, *pair)
        else:
            yield system

    def _linear_choice(self, equations: Polynomials) -> tuple[int, int] | None:
        """Equation and variable that occurs linearly in it, if there is one.

        Coefficients of known sign come first, since they need no split.
        """
        choices = []
        for i, equation in enumerate(equations):
            for k in (k for k, degree in enumerate(equation.degrees()) if degree == 1):
                slope = equation.derivative(k)
                effort = 2 - slope.is_constant() - self._is_definite(slope)
                choices.append((effort, len(equation), i, k))
        return min(choices)[2:] if choices else None

    def _eliminate(
        self, system: PolynomialSystem, i: int, variable: int
    ) -> Iterator[PolynomialSystem]:
        """Solve equation i for a variable in which it is linear."""
        equation = system.equations[i]
        rest = system.equations[:i] + system.equations[i + 1 :]
        nonzero = yield from self._apart(system, equation, variable, rest)
        # with a resultant the variable goes, and a power of its coefficient comes as a factor
        rest, nonzero = (
            tuple(equation.resultant(polynomial, variable) for polynomial in polynomials)
            for polynomials in (rest, nonzero)
        )
        yield from self.solve(
            PolynomialSystem(rest, nonzero, (*system.steps, (variable, equation)))
        )

    def _divide(
        self, system: PolynomialSystem, i: int, j: int, variable: int
    ) -> Iterator[PolynomialSystem]:
        """Replace equation i by its pseudo-remainder modulo equation j of lower degree."""
        dividend, divisor = system.equations[i], system.equations[j]
        rest = tuple(e for k, e in enumerate(system.equations) if k not in (i, j))
        nonzero = yield from self._apart(system, divisor, variable, (dividend, *rest))
        power, degree = dividend.context().gen(variable), divisor.degrees()[variable]
        while dividend.degrees()[variable] >= degree and not _is_too_long(dividend):
            factor = leading(dividend, variable) * power ** (dividend.degrees()[variable] - degree)
            dividend = leading(divisor, variable) * dividend - factor * divisor
        equations = (dividend, divisor, *rest)
        yield from self.solve(replace(system, equations=equations, nonzero=nonzero))

    def _apart(
        self, system: PolynomialSystem, equation: fmpq_mpoly, variable: int, others: Polynomials
    ) -> Generator[PolynomialSystem, None, Polynomials]:
        """Solve where the leading coefficient vanishes; return what is nonzero elsewhere."""
        first = leading(equation, variable)
        if self._is_definite(first):
            return system.nonzero
        power = equation.context().gen(variable) ** equation.degrees()[variable]
        equations = (first, equation - first * power, *others)
        yield from self.solve(replace(system, equations=equations))
        return (*system.nonzero, first)


def _is_too_long(polynomial: fmpq_mpoly) -> bool:
    return len(polynomial) > MOST_TERMS and len(used(polynomial)) > 1


def _pair_choice(equations: Polynomials) -> tuple[int, int, int] | None:
    """Two equations with a common variable, the second of lower degree in it, and the variable."""
    choices = []
    for variable in sorted({k for equation in equations for k in used(equation)}):
        having = sorted(
            (equation.degrees()[variable], len(equation), i)
            for i, equation in enumerate(equations)
            if equation.degrees()[variable]
        )
        if len(having) > 1:
            (degree, terms, j), (larger, more, i) = having[:2]
            choices.append((degree + larger, terms + more, i, j, variable))
    return min(choices)[2:] if choices else None
