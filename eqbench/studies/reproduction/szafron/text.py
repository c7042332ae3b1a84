"""The formulas in the text of §5 beside those of Table 3, as polynomials and measured."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.studies.reproduction.szafron.certificates import measured
from eqbench.studies.reproduction.szafron.family import Member, sample
from eqbench.studies.reproduction.szafron.notation import (
    SUB_FAMILIES,
    in_kappa,
    is_profile,
    load_kuhn3,
)
from eqbench.studies.reproduction.szafron.polynomials import parsed

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
# name -> sub-family, the formula of the text, that of Table 3
FORMULAS = {
    "low b32": (_LOW, "(2 + 3*b11 + 4*b21)/4", _B32),
    "low c33": (_LOW, "1/2 - b32 + (3*b11 + 4*b21)/4", _C33),
    "low b33": (_LOW, "(1 + b11 + 2*b21)/2", _B33),
    "low b41": (_LOW, "2*b11 + 2*b21", "2*b11 + 2*b21"),
    "low c21": (_LOW, "1/2", "1/2 - c11"),
    "between b32": (_BETWEEN, "(2 + 7*b11)/4", _B32),
    "between c11": (_BETWEEN, "c11*(3 + 4*b11) - (2 - b11)", _C11),
    "between c33": (_BETWEEN, "1/2 - b32 + 7*b11/4", _C33),
    "between b33": (_BETWEEN, "(1 + 3*b11)/2", _B33),
    "between b41": (_BETWEEN, "4*b11", "2*b11 + 2*b21"),
    "high b21": (_HIGH, "b21 - (1/2 - 2*b11)", _C11),
    "high b32": (_HIGH, "(2 + 4*b11 + 3*b21)/4", _B32),
    "high c33": (_HIGH, "1/2 - b32 + (4*b11 + 3*b21)/4", _C33),
    "high b33": (_HIGH, "(1 + b11 + 2*b21)/2", _B33),
    "high b41": (_HIGH, "2*b11 + 2*b21", "2*b11 + 2*b21"),
    "high c21": (_HIGH, "0", "1/2 - c11"),
}


def compute(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """The difference of each formula to Table 3, and what it does to members if there is one."""
    members = sample(40 if full else 12, seed=4)
    return {name: _held(name, members) for name in FORMULAS}


def _held(name: str, members: list[Member]) -> dict[str, Any]:
    sub_family, printed, table = FORMULAS[name]
    where = {symbol: parsed(text, {}) for symbol, text in _IN[sub_family].items()}
    theirs, ours = (parsed(text, {}).at(where).at(where) for text in (printed, table))
    found: dict[str, Any] = {"difference": str(theirs - ours)}
    variable = name.split()[1]
    if theirs - ours:
        found |= _measured(variable, printed, [m for m in members if m.sub_family == sub_family])
    return found


def _measured(variable: str, printed: str, members: list[Member]) -> dict[str, Any]:
    """Exact regrets of members whose frequency is as the text has it, and as Table 3 has it."""
    game, formula = load_kuhn3(), parsed(printed, {})
    changed = [one.values | {variable: formula.value(one.values)} for one in members]
    regrets = [Fraction(measured(game, v).max_regret) for v in changed if is_profile(v)]
    return {
        "members": len(regrets),
        "not_equilibria": sum(regret > 0 for regret in regrets),
        "most": in_kappa(max(regrets)),
        "table_3_equilibria": sum(measured(game, one.values).max_regret == 0 for one in members),
        "of": len(members),
    }
