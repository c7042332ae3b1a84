"""The formulas and ranges in the text of §5 beside Table 3, as polynomials and measured."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.model.game import Game
from eqbench.papers.szafron.certificates import FREE, STEP, measured
from eqbench.papers.szafron.family import Member, largest_b23, largest_c11, sample
from eqbench.papers.szafron.notation import (
    HALF,
    SUB_FAMILIES,
    Values,
    in_kappa,
    is_profile,
    largest_b32,
    load_kuhn3,
    lowest_c33,
    member,
)
from eqbench.papers.szafron.polynomials import Polynomial, parsed

_SIXTH = Fraction(1, 6)
_LOW, _BETWEEN, _HIGH = SUB_FAMILIES
_IN = {
    _LOW: {"c11": "0", "beta": "b21", "b23": "0"},
    _BETWEEN: {"beta": "b11", "b21": "b11", "b23": "0"},
    _HIGH: {"c11": "1/2", "beta": "b11"},
}
_B32 = "1/2 + 3*(b11+b21)/4 + beta/4"
_C33 = "1/2 - b32 + 3*(b11+b21)/4 + beta/4"
_B33 = "1/2 + (b11+b21)/2 + beta/2 - b23*(1-b21)"
_C11 = "c11*(3 + 2*b11 + 2*b21) - (2 - b11)"
_B23 = "b23*2*(1 - b21) - (b11 - b21)"
# name -> sub-family, how the parameter is bound, the formula of the text, that of Table 3; one
# with the parameter in it is 0 at the bound
FORMULAS = {
    "low b11": (_LOW, "≤", "b21", "b21"),
    "low b21": (_LOW, "≤", "1/4", "1/4"),
    "low b23": (_LOW, "=", "0", "0"),
    "low b32": (_LOW, "≤", "(2 + 3*b11 + 4*b21)/4", _B32),
    "low c33": (_LOW, "≤", "1/2 - b32 + (3*b11 + 4*b21)/4", _C33),
    "low c33 least": (_LOW, "≥", "1/2 - b32", "1/2 - b32"),
    "low b33": (_LOW, "=", "(1 + b11 + 2*b21)/2", _B33),
    "low b41": (_LOW, "=", "2*b11 + 2*b21", "2*b11 + 2*b21"),
    "low c21": (_LOW, "=", "1/2", "1/2 - c11"),
    "between b11": (_BETWEEN, "≤", "1/4", "1/4"),
    "between b21": (_BETWEEN, "=", "b11", "b11"),
    "between b23": (_BETWEEN, "=", "0", "0"),
    "between b32": (_BETWEEN, "≤", "(2 + 7*b11)/4", _B32),
    "between c11": (_BETWEEN, "≤", "c11*(3 + 4*b11) - (2 - b11)", _C11),
    "between c33": (_BETWEEN, "≤", "1/2 - b32 + 7*b11/4", _C33),
    "between c33 least": (_BETWEEN, "≥", "1/2 - b32", "1/2 - b32"),
    "between b33": (_BETWEEN, "=", "(1 + 3*b11)/2", _B33),
    "between b41": (_BETWEEN, "=", "4*b11", "2*b11 + 2*b21"),
    "between c21": (_BETWEEN, "=", "1/2 - c11", "1/2 - c11"),
    "high b11": (_HIGH, "≤", "1/4", "1/4"),
    "high b21": (_HIGH, "≤", "b21 - (1/2 - 2*b11)", _C11),
    "high b21 small": (_HIGH, "≤", "b11", "b11"),
    "high b23": (_HIGH, "≤", _B23, _B23),
    "high b32": (_HIGH, "≤", "(2 + 4*b11 + 3*b21)/4", _B32),
    "high c33": (_HIGH, "≤", "1/2 - b32 + (4*b11 + 3*b21)/4", _C33),
    "high c33 least": (_HIGH, "≥", "1/2 - b32", "1/2 - b32"),
    "high b33": (_HIGH, "=", "(1 + b11 + 2*b21)/2", _B33),
    "high b41": (_HIGH, "=", "2*b11 + 2*b21", "2*b11 + 2*b21"),
    "high c21": (_HIGH, "=", "0", "1/2 - c11"),
}
_SIGNS = {"=": (-1, 1), "≤": (1,), "≥": (-1,)}
# where the text gives another bound, b11 is below or above 1/6
_WHERE: dict[str, Callable[[Fraction], bool]] = {
    "between c11": lambda b11: b11 > _SIXTH,
    "high b21": lambda b11: b11 >= _SIXTH,
    "high b21 small": lambda b11: b11 <= _SIXTH,
}


def compute(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """The difference of each formula to Table 3, and what members are at it and beyond it."""
    # corners are many; every fifth still has those of all sub-families
    members = [
        one
        for k, one in enumerate(sample(24 if full else 6, seed=4))
        if k % 5 == 0 or not one.is_corner
    ]
    game = load_kuhn3()
    right = {name: _at_members(game, members, name) for name in SUB_FAMILIES}
    return {name: _held(game, name, members) | right[FORMULAS[name][0]] for name in FORMULAS}


def _at_members(game: Game, members: list[Member], sub_family: str) -> dict[str, int]:
    own = [one for one in members if one.sub_family == sub_family]
    right = sum(measured(game, one.values).max_regret == 0 for one in own)
    return {"table_3_equilibria": right, "of": len(own)}


def _held(game: Game, name: str, members: list[Member]) -> dict[str, Any]:
    sub_family, kind, printed, table = FORMULAS[name]
    where = {symbol: parsed(text, {}) for symbol, text in _IN[sub_family].items()}
    variable, allowed = name.split()[1], _WHERE.get(name, _anywhere)
    # what is bound is no number
    where.pop(variable, None)
    theirs, ours = (parsed(text, {}).at(where).at(where) for text in (printed, table))
    formula = parsed(printed, {})
    own = [
        one.values for one in members if one.sub_family == sub_family and allowed(one.values["b11"])
    ]
    at = [(values, _value(variable, formula, values)) for values in own]
    at_it = _measured(game, [_changed(sub_family, variable, *each) for each in at])
    beyond = _measured(
        game,
        [
            _changed(sub_family, variable, values, value + sign * STEP)
            for values, value in at
            for sign in _SIGNS[kind]
        ],
    )
    return {
        "difference": str(theirs - ours),
        "members": at_it["profiles"],
        "not_equilibria": at_it["not_equilibria"],
        "most": at_it["most"],
        "beyond": beyond,
    }


def _anywhere(b11: Fraction) -> bool:
    return True


def _value(variable: str, formula: Polynomial, values: Values) -> Fraction:
    """What the formula gives for the parameter, which it may hold itself."""
    slope, rest = formula.derivative(variable), formula.at({variable: 0})
    return -rest.value(values) / slope.value(values) if slope.terms else rest.value(values)


def _changed(sub_family: str, variable: str, values: Values, value: Fraction) -> Values:
    """A member with another value of a parameter; what depends on a free one follows Table 3."""
    if variable not in FREE:
        return values | {variable: value}
    free = {name: values[name] for name in FREE} | {variable: value}
    if variable == "b11" and sub_family == _BETWEEN:
        free["b21"] = value
        free["c11"] = min(free["c11"], largest_c11(value, value))
    if variable == "b11" and sub_family == _HIGH:
        free["b21"] = max(Fraction(0), min(free["b21"], value, HALF - 2 * value))
    if sub_family == _HIGH and variable != "b23":
        free["b23"] = min(free["b23"], largest_b23(free["b11"], free["b21"]))
    if variable not in ("b32", "c33"):
        free["b32"] = min(free["b32"], largest_b32(free["b11"], free["b21"]))
    if variable != "c33":
        free["c33"] = lowest_c33(free["b32"])
    changed = member(free)
    # beyond b11 = b21 = 1/4 Table 3's b41 is no frequency
    return changed | {"b41": min(changed["b41"], Fraction(1))}


def _measured(game: Game, profiles: list[Values]) -> dict[str, Any]:
    """Exact regrets of those that are profiles."""
    regrets = [Fraction(measured(game, v).max_regret) for v in profiles if is_profile(v)]
    return {
        "profiles": len(regrets),
        "not_equilibria": sum(regret > 0 for regret in regrets),
        "most": in_kappa(max(regrets, default=Fraction(0))),
    }
