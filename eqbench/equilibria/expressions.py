"""Arithmetic texts such as ``(3+sqrt(97))/4``, read by a whitelist of syntax and never evaluated.

An expression is compiled to a function of named values, which are Fractions or floats. With
Fractions a square root that is irrational is refused, and so is a value with too many digits; with
floats both are not a number.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from numbers import Rational
from typing import Any, Literal, NamedTuple

Expression = Callable[[Mapping[str, Any]], Any]
Sign = Literal["<=", ">=", "==", "<", ">"]

MOST_BITS = 100_000  # of numerators and denominators
LARGEST_POWER = 64

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_WRITTEN = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_SIGNS: dict[type, Sign] = {
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.Lt: "<",
    ast.Gt: ">",
}


class IrrationalError(ArithmeticError):
    """A square root is not rational, so the exact value does not exist."""


class Relation(NamedTuple):
    """A relation between two expressions."""

    left: ast.expr
    sign: Sign
    right: ast.expr


class Arithmetic(NamedTuple):
    """What differs between exact numbers and floats."""

    constant: Callable[[int], Any]
    divide: Callable[[Any, Any], Any]
    root: Callable[[Any], Any]
    power: Callable[[Any, int], Any]


def compile_expression(text: str | ast.expr, *, exact: bool = False) -> Expression:
    """Function from a mapping of names to the value of an arithmetic expression.

    Integers, names, ``+ - * /``, whole powers and ``sqrt`` are allowed.

    Parameters
    ----------
    text : the expression, or its syntax tree
    exact : whether to compute in Fractions; else in floats, where a division by zero gives NaN

    Raises
    ------
    ValueError
        If the syntax is anything but arithmetic. The function raises KeyError for a name that
        it is not given, and if `exact` IrrationalError for an irrational square root and
        ZeroDivisionError.
    """
    node = ast.parse(text, mode="eval").body if isinstance(text, str) else text
    return _compile(node, _EXACT if exact else _FLOAT)


def as_data(text: str | ast.expr) -> Any:
    """An expression as JSON values, for programs elsewhere: a number, a name, or an operation.

    An operation is a list of its sign, one of ``+ - * / ^ neg sqrt``, and one or two expressions.
    In floats a division by zero is NaN. ValueError as in :func:`compile_expression`.

    Examples
    --------
    >>> as_data("1/2 - 3*x**2")
    ['-', ['/', 1, 2], ['*', 3, ['^', 'x', 2]]]
    """
    match ast.parse(text, mode="eval").body if isinstance(text, str) else text:
        case ast.Constant(value=value) if type(value) is int:
            return value
        case ast.Name(id=name):
            return name
        case ast.BinOp(op=ast.Pow(), left=base, right=ast.Constant(value=power)):
            if type(power) is int:
                return ["^", as_data(base), power]
            raise ValueError(f"not a whole power: {power!r}")
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _WRITTEN:
            return [_WRITTEN[type(op)], as_data(left), as_data(right)]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return ["neg", as_data(operand)]
        case ast.Call(func=ast.Name(id="sqrt"), args=[argument], keywords=[]):
            return ["sqrt", as_data(argument)]
        case other:
            raise ValueError(f"not an arithmetic expression: {ast.unparse(other)}")


def evaluate(text: str | ast.expr, names: Mapping[str, Any], *, exact: bool = True) -> Any:
    """Fraction, or float unless `exact`, of an expression; errors as in the other functions."""
    return compile_expression(text, exact=exact)(names)


def names_in(text: str) -> list[str]:
    """Names in an expression or relation, as often as they occur."""
    return [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]


def alternatives(constraint: str) -> list[Relation]:
    """The relations of a constraint, of which one must hold: several if it says ``or``.

    Raises
    ------
    ValueError
        If it is anything else than a relation or relations joined by ``or``.
    """
    node = ast.parse(constraint, mode="eval").body
    parts = node.values if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) else [node]
    found = []
    for part in parts:
        match part:
            case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in _SIGNS:
                found.append(Relation(left, _SIGNS[type(sign)], right))
            case _:
                raise ValueError(f"not a relation: {ast.unparse(part)}")
    return found


def call_of(text: str, functions: Mapping[str, Callable[..., Any]]) -> Any:
    """The value of nested calls of these functions, such as ``all_of(rises(), below(2))``.

    Arguments are texts, truth values, decimals and arithmetic, which is exact. ValueError if it is
    anything else, TypeError if a function does not take its arguments.
    """

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in functions:
                named = {each.arg: value(each.value) for each in node.keywords if each.arg}
                return functions[name](*map(value, node.args), **named)
            case ast.Constant(value=str() | bool() as constant):
                return constant
            case ast.Constant(value=float() as decimal):
                return Fraction(str(decimal))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
        return compile_expression(node, exact=True)({})

    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call):
        raise ValueError(f"not a call: {text}")
    return value(node)


def _compile(node: ast.expr, number: Arithmetic) -> Expression:
    match node:
        case ast.Constant(value=value) if type(value) is int:
            constant = number.constant(value)
            return lambda names: constant
        case ast.Name(id=name):
            return lambda names: names[name]
        case ast.BinOp(op=ast.Pow(), left=base, right=ast.Constant(value=power)):
            if type(power) is int and power <= LARGEST_POWER:
                inner = _compile(base, number)
                return lambda names: number.power(inner(names), power)
        case ast.BinOp(op=op, left=left, right=right):
            if combine := number.divide if isinstance(op, ast.Div) else _OPERATORS.get(type(op)):
                first, second = _compile(left, number), _compile(right, number)
                if number is _EXACT:
                    combine = partial(_exactly, combine)
                return lambda names: combine(first(names), second(names))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _compile(operand, number)
            return lambda names: -inner(names)
        case ast.Call(func=ast.Name(id="sqrt"), args=[argument], keywords=[]):
            inner = _compile(argument, number)
            return lambda names: number.root(inner(names))
    raise ValueError(f"not an arithmetic expression: {ast.unparse(node)}")


def _exact_root(value: Fraction) -> Fraction:
    if value < 0:
        raise IrrationalError(f"sqrt({value})")
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    if root**2 != value:
        raise IrrationalError(f"sqrt({value})")
    return root


def _exactly(combine: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    factor = right if combine is operator.pow else 1
    if max(_bits(left) * factor, _bits(right)) > MOST_BITS:
        raise OverflowError(f"a value has more than {MOST_BITS:,} bits")
    return combine(left, right)


def _bits(value: Any) -> int:
    if not isinstance(value, Rational):  # of a paper's polynomials
        return 0
    return int(value.numerator).bit_length() + int(value.denominator).bit_length()


def _float_power(base: float, power: int) -> float:
    try:
        return base**power
    except (OverflowError, ZeroDivisionError):
        return math.nan


_EXACT = Arithmetic(Fraction, operator.truediv, _exact_root, partial(_exactly, operator.pow))
_FLOAT = Arithmetic(
    float,
    lambda left, right: left / right if right else math.nan,
    lambda value: math.sqrt(value) if value >= 0 else math.nan,
    _float_power,
)
