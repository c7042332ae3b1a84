"""Values of arithmetic expressions such as ``(3+sqrt(97))/4``, by a whitelist of syntax.

With Fractions the arithmetic is exact; then a square root that is irrational is refused.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}
RELATIONS = {ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "=="}

Relation = tuple[ast.expr, str, ast.expr]


class IrrationalError(ArithmeticError):
    """A square root is not rational, so the exact value does not exist."""


def evaluate(expression: str | ast.expr, names: Mapping[str, Any], *, exact: bool = True) -> Any:
    """Fraction, or float unless `exact`, of an expression in `names`.

    Raises
    ------
    IrrationalError
        If `exact` and a square root is irrational.
    ValueError
        If the syntax is anything but arithmetic.
    """
    node = ast.parse(expression, mode="eval").body if isinstance(expression, str) else expression
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return Fraction(number) if exact else float(number)
        case ast.Name(id=name):
            return names[name]
        case ast.BinOp(op=ast.Pow(), left=base, right=ast.Constant(value=int(power))):
            return evaluate(base, names, exact=exact) ** power
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _OPERATORS:
            sides = (evaluate(side, names, exact=exact) for side in (left, right))
            return _OPERATORS[type(op)](*sides)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -evaluate(operand, names, exact=exact)
        case ast.Call(func=ast.Name(id="sqrt"), args=[argument], keywords=[]):
            value = evaluate(argument, names, exact=exact)
            return _exact_root(value) if exact else math.sqrt(value)
    raise ValueError(f"not an arithmetic expression: {ast.unparse(node)}")


def alternatives(constraint: str) -> list[Relation]:
    """The relations of a constraint, of which one must hold: several if it says ``or``."""
    node = ast.parse(constraint, mode="eval").body
    parts = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) else [node]
    found = []
    for part in parts:
        match part:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in RELATIONS:
                found.append((left, RELATIONS[type(op)], right))
            case _:
                raise ValueError(f"not a relation: {ast.unparse(part)}")
    return found


def _exact_root(value: Fraction) -> Fraction:
    if value < 0:
        raise IrrationalError(f"sqrt({value})")
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    if root**2 != value:
        raise IrrationalError(f"sqrt({value})")
    return root
