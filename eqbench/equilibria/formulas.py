"""The expressions of a published set, as texts and compiled to functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from graphlib import TopologicalSorter
from typing import Any

from eqbench.equilibria.expressions import Expression, Relation, compile_expression

TOLERANCE = 1e-7  # up to which a constraint holds and a frequency or an outcome agrees
# An open end is passed by more than the tolerance: what lies closer belongs to the other side.
_OPEN_MARGIN = 2 * TOLERANCE


@dataclass(frozen=True)
class Texts:
    """A set as it was written down.

    Attributes
    ----------
    constants : values of names that stand for what is given, such as the pot
    values : frequencies as expressions
    readings : parameters as expressions of frequencies
    figures : what members are named by, as expressions of all these
    constraints, payoffs : in all these
    """

    constants: Mapping[str, Fraction]
    values: Mapping[str, str]
    readings: Mapping[str, str]
    figures: Mapping[str, str]
    constraints: tuple[str, ...]
    payoffs: tuple[str, ...]


@dataclass(frozen=True)
class Formulas:
    """The expressions of a set, compiled for one arithmetic.

    Attributes
    ----------
    values : frequencies, each after those that it names
    violations : by how much each constraint is violated; at most 0 where it holds
    open_violations : the same of those constraints that exclude their end
    """

    constants: Mapping[str, Any]
    values: Mapping[str, Expression]
    readings: tuple[Expression, ...]
    violations: tuple[Expression, ...]
    open_violations: tuple[Expression, ...]
    shown: Mapping[str, Expression]
    payoffs: tuple[Expression, ...]

    def names(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Value of every name: constants, parameters and frequencies."""
        names = dict(self.constants) | dict(parameters)
        for name, value in self.values.items():
            names[name] = value(names)
        return names


def compile_formulas(texts: Texts, constraints: Sequence[Relation], *, exact: bool) -> Formulas:
    """Formulas of a set, in Fractions or floats.

    Parameters
    ----------
    constraints : those that confine the parameters, in place of those in `texts`

    Raises
    ------
    ValueError
        If an expression is none, or values depend on each other.
    """

    def function(text: str) -> Expression:
        return compile_expression(text, exact=exact)

    def sides(relations: Iterable[Relation]) -> tuple[Expression, ...]:
        return tuple(side for each in relations for side in _violations(each, exact=exact))

    number = (lambda value: value) if exact else float
    return Formulas(
        constants={name: number(value) for name, value in texts.constants.items()},
        values={name: function(texts.values[name]) for name in _dependent(texts)},
        readings=tuple(map(function, texts.readings.values())),
        violations=sides(constraints),
        open_violations=sides(each for each in constraints if each.sign in ("<", ">")),
        shown={name: function(text) for name, text in texts.figures.items()},
        payoffs=tuple(map(function, texts.payoffs)),
    )


def _dependent(texts: Texts) -> list[str]:
    """Names of frequencies that are not parameters, each after those that it needs."""
    given = {*texts.constants, *texts.readings, "sqrt"}
    needs = {
        name: {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)} - given
        for name, text in texts.values.items()
        if name not in given
    }
    return list(TopologicalSorter(needs).static_order())


def _violations(relation: Relation, *, exact: bool) -> list[Expression]:
    """By how much a relation is violated, as functions of names; an equation has two sides."""
    left = compile_expression(relation.left, exact=exact)
    right = compile_expression(relation.right, exact=exact)
    margin = _OPEN_MARGIN if relation.sign in ("<", ">") and not exact else 0
    sides: list[Expression] = []
    if relation.sign not in (">=", ">"):
        sides.append(lambda names: left(names) - right(names) + margin)
    if relation.sign not in ("<=", "<"):
        sides.append(lambda names: right(names) - left(names) + margin)
    return sides
