"""Published sets of equilibria, read from the files in ``data`` and laid on a game.

A set gives the frequencies of its members as expressions in some parameters, which are confined
by constraints. The files hold facts; what is computed from them is here.

Symbols in shapes: A actions of the game, V named frequencies, K parameters, C constraints.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.expressions import (
    Expression,
    Relation,
    alternatives,
    compile_expression,
    evaluate,
)
from eqbench.equilibria.layout import Layout
from eqbench.errors import SpecError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray
from eqbench.spec import Spec, parse_spec

FILES = ("kuhn2", "kuhn3", "skp", "matrix")
TOLERANCE = 1e-7  # up to which a constraint holds and a frequency or an outcome agrees
# An open end is passed by more than the tolerance: what lies closer belongs to the other side.
_OPEN_MARGIN = 2 * TOLERANCE
_AT_END = 1e-5


@dataclass(frozen=True, eq=False)
class KnownSet:
    """A published set of equilibria of one game, or one convex piece of it.

    Attributes
    ----------
    name : such as ``szafron:c11=0``; the pieces of one set share it
    source : where it was published
    parameters : names of the K parameters
    idle : positions of parameters that change nobody's payoff, whatever one player does
    leading : the shown figure that tells members apart best, for example because payoffs follow
        it; None if there is none
    layout : where the V frequencies stand in the game
    formulas : values, constraints and payoffs as functions of the parameters
    exact : the same in Fractions
    texts : the same as they are written
    """

    name: str
    source: str
    parameters: tuple[str, ...]
    idle: tuple[int, ...]
    leading: str | None
    layout: Layout
    formulas: Formulas
    exact: Formulas
    texts: Texts

    def read(self, frequencies: FloatArray) -> FloatArray:
        """Parameters (K,) that the V frequencies of a profile speak of."""
        names = dict(zip(self.layout.variables, frequencies.tolist(), strict=True))
        return np.array([read(names) for read in self.formulas.readings])

    def frequencies(self, parameters: NDArray) -> FloatArray:
        """Frequencies (V,) of the member with the given parameters (K,)."""
        names = self._names(parameters)
        return np.array([names[variable] for variable in self.layout.variables])

    def violations(self, parameters: NDArray) -> FloatArray:
        """By how much each constraint is violated, (C,); at most 0 where it holds."""
        names = self._names(parameters)
        return np.array([violation(names) for violation in self.formulas.violations])

    def is_at_open_end(self, parameters: NDArray) -> bool:
        """Whether a constraint that excludes its end hardly holds, so that the end is nearer."""
        names = self._names(parameters)
        return any(violation(names) > -_AT_END for violation in self.formulas.open_violations)

    def shown(self, parameters: NDArray) -> dict[str, float]:
        """The figures by which people name a member."""
        names = self._names(parameters)
        return {name: float(value(names)) for name, value in self.formulas.shown.items()}

    def member(self, parameters: Sequence[Fraction]) -> BehaviorProfile:
        """Exact profile of the member with the given parameters (K,).

        Raises
        ------
        IrrationalError
            If its frequencies are not rational.
        ProfileError
            If a frequency is outside [0, 1].
        """
        names = self.exact.names(dict(zip(self.parameters, parameters, strict=True)))
        return self.layout.exact_profile([names[v] for v in self.layout.variables])

    def payoffs_near(self, parameters: NDArray) -> FloatArray:
        """Published payoffs of the member with parameters (K,), one per player, as floats."""
        names = self._names(parameters)
        return np.array([payoff(names) for payoff in self.formulas.payoffs])

    def payoffs(self, parameters: Sequence[Fraction]) -> tuple[Fraction, ...]:
        """Published payoffs of that member, one per player; errors as in :meth:`member`."""
        names = self.exact.names(dict(zip(self.parameters, parameters, strict=True)))
        return tuple(payoff(names) for payoff in self.exact.payoffs)

    def _names(self, parameters: NDArray) -> dict[str, float]:
        return self.formulas.names(dict(zip(self.parameters, parameters.tolist(), strict=True)))


@dataclass(frozen=True)
class Texts:
    """A set as it was written down.

    Attributes
    ----------
    constants : values of names that stand for what is given, such as the pot
    values : frequencies as expressions
    readings : parameters as expressions of frequencies
    figures : what members are named by, as expressions of all these
    """

    constants: Mapping[str, Fraction]
    values: Mapping[str, str]
    readings: Mapping[str, str]
    figures: Mapping[str, str]
    constraints: tuple[str, ...]
    payoffs: tuple[str, ...]


@dataclass(frozen=True)
class Formulas:
    """The expressions of a set, compiled for one arithmetic."""

    constants: Mapping[str, Any]
    values: Mapping[str, Expression]  # each after those that it names
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


def published_sets(game: Game) -> tuple[KnownSet, ...]:
    """The sets that were published for a game of this name with these options.

    In the order in which names are chosen; empty if there are none. A set that is a union of
    convex pieces comes once per piece. Whether the game is the one that was meant is not
    checked here.
    """
    try:
        spec = parse_spec(game.spec)
    except SpecError:  # in Python a game may be called anything
        return ()
    for document in _documents():
        if _is_of(parse_spec(document["game"]), spec):
            layout = Layout.of(game.tree, document["variables"])
            constants = _constants(document, game)
            if layout is not None and constants is not None:
                return tuple(_sets(document, layout, constants))
    return ()


@cache
def _documents() -> tuple[dict[str, Any], ...]:
    folder = resources.files("eqbench.equilibria") / "data"
    texts = (folder.joinpath(f"{name}.json").read_text(encoding="utf-8") for name in FILES)
    return tuple(document for text in texts for document in json.loads(text))


def _is_of(wanted: Spec, spec: Spec) -> bool:
    """Whether a game has the name and all the options that a document names."""
    return wanted.name == spec.name and set(wanted.options) <= set(spec.options)


def _constants(document: Mapping[str, Any], game: Game) -> dict[str, Fraction] | None:
    """Names of constants with their values; None if the game lacks one."""
    if "pot" not in document:
        return {}
    value = game.tree.payoffs.value
    return None if value is None else {document["pot"]: value}


def _sets(document: Mapping[str, Any], layout: Layout, constants: Mapping[str, Fraction]) -> Any:
    """Sets that exist at the present constants, each as its convex pieces.

    Parameters lie in [0, 1], whatever else confines them.
    """
    for entry in document["sets"]:
        if not _in_range(entry, constants):
            continue
        parameters = tuple(entry["parameters"])
        box = [text for p in parameters for text in (f"0 <= {p}", f"{p} <= 1")]
        choices = [alternatives(constraint) for constraint in [*entry["constraints"], *box]]
        for constraints in product(*choices):
            yield KnownSet(
                name=entry["name"],
                source=document["source"],
                parameters=parameters,
                idle=tuple(parameters.index(p) for p in document.get("idle", ())),
                leading=entry.get("leading"),
                layout=layout,
                formulas=_compile(document, entry, constraints, constants, exact=False),
                exact=_compile(document, entry, constraints, constants, exact=True),
                texts=Texts(
                    constants,
                    document.get("common", {}) | entry["values"],
                    entry["parameters"],
                    entry["shown"],
                    tuple(entry["constraints"]),
                    tuple(entry["payoffs"]),
                ),
            )


def _in_range(entry: Mapping[str, Any], constants: Mapping[str, Fraction]) -> bool:
    """Whether the pot lies in the range of a set; its ends belong to it.

    An end that is irrational cannot be met, so floats decide as well as exact numbers would,
    but for pots with more digits than floats have.
    """
    if "from" not in entry:
        return True
    (pot,) = constants.values()
    low, high = (
        math.inf if text == "oo" else evaluate(text, {}, exact="sqrt" not in text)
        for text in (entry["from"], entry["to"])
    )
    return bool(low <= pot <= high)


def _compile(
    document: Mapping[str, Any],
    entry: Mapping[str, Any],
    constraints: Sequence[Relation],
    constants: Mapping[str, Fraction],
    *,
    exact: bool,
) -> Formulas:
    def function(text: str | ast.expr) -> Expression:
        return compile_expression(text, exact=exact)

    texts = document.get("common", {}) | entry["values"]
    parameters = set(entry["parameters"])
    known = {*constants, *parameters}
    return Formulas(
        constants={n: value if exact else float(value) for n, value in constants.items()},
        values={n: function(texts[n]) for n in _in_order(texts, known) if n not in parameters},
        readings=tuple(function(text) for text in entry["parameters"].values()),
        violations=tuple(side for each in constraints for side in _violations(each, exact=exact)),
        open_violations=tuple(
            side
            for each in constraints
            if each.sign in ("<", ">")
            for side in _violations(each, exact=exact)
        ),
        shown={name: function(text) for name, text in entry["shown"].items()},
        payoffs=tuple(function(text) for text in entry["payoffs"]),
    )


def _in_order(texts: Mapping[str, str], known: set[str]) -> list[str]:
    """Names of expressions, each after those that it needs."""
    ordered: list[str] = []
    waiting = {
        name: {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        - {"sqrt"}
        for name, text in texts.items()
    }
    done = set(known)
    while waiting:
        ready = [name for name, needs in waiting.items() if needs <= done]
        if not ready:
            raise ValueError(f"the values of {', '.join(waiting)} depend on each other")
        ordered += ready
        done.update(ready)
        for name in ready:
            del waiting[name]
    return ordered


def _violations(relation: Relation, *, exact: bool) -> list[Expression]:
    """By how much a relation is violated, as functions of names; an equation has two sides."""
    left = compile_expression(relation.left, exact=exact)
    right = compile_expression(relation.right, exact=exact)
    margin = 0 if exact or relation.sign not in "<>" else _OPEN_MARGIN
    sides: list[Expression] = []
    if relation.sign != ">=" and relation.sign != ">":
        sides.append(lambda names: left(names) - right(names) + margin)
    if relation.sign != "<=" and relation.sign != "<":
        sides.append(lambda names: right(names) - left(names) + margin)
    return sides
