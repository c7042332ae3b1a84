"""The published sets of equilibria of a game, read from data by the game's content."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from itertools import product
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.equilibria.expressions import alternatives, evaluate
from eqbench.equilibria.formulas import Formulas, Texts, compile_formulas
from eqbench.equilibria.layout import Layout
from eqbench.errors import SpecError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray, GameTree
from eqbench.spec import Spec, is_foreign, parse_spec

LARGEST = 1_000  # nodes; none of the games with published sets is larger


def fingerprint(tree: GameTree) -> str | None:
    """Hash of structure, labels, chance and payoffs; None if the game is large or not exact.

    Equal for equal games, in whatever order their information sets stand and whatever the
    denominators are; a payoff parameter counts with its value.
    """
    if tree.n_nodes > LARGEST or not tree.exact:
        return None
    decisions = tree.infoset[tree.infoset >= 0]
    met = decisions[np.sort(np.unique(decisions, return_index=True)[1])]
    rank = np.full(tree.n_infosets + 1, -1)
    rank[met] = np.arange(len(met))
    numerators, denominator = tree.payoffs.rational()
    facts = [
        tree.players,
        [(tree.infoset_labels[i], tree.infoset_actions[i]) for i in met.tolist()],
        [array.tolist() for array in (tree.parent, tree.player, rank[tree.infoset])],
        _lowest_terms(tree.chance, tree.chance_denominator),
        _lowest_terms(numerators, denominator),
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def _lowest_terms(numerators: NDArray, denominator: int) -> list[int]:
    flat = [denominator, *numerators.ravel().tolist()]
    common = gcd(*flat)
    return [value // common for value in flat]


FILES = ("kuhn2", "kuhn3", "skp", "matrix")
_AT_END = 1e-5


@dataclass(frozen=True, eq=False)
class KnownSet:
    """A published set of equilibria of one game, or one convex piece of it.

    Attributes
    ----------
    name : such as ``szafron:c11=0``; the pieces of one set share it
    source : where it was published
    parameters : names of the K parameters
    idle : positions of parameters that change no player's payoff, whatever one player does
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


def published_sets(game: Game) -> tuple[KnownSet, ...]:
    """The sets that were published for a game of this name with these options.

    A game from a file goes by its content. In the order in which names are chosen; empty if there
    are none. A set that is a union of convex pieces comes once per piece. Whether a game with a
    name is the one that was meant is not checked here.
    """
    try:
        spec = parse_spec(game.spec)
    except SpecError:  # in Python a game may be called anything
        return ()
    content = fingerprint(game.tree) if is_foreign(spec.name) else None
    for document in _documents():
        if content in document["contents"] or _is_of(parse_spec(document["game"]), spec):
            layout = Layout.of(game.tree, document["variables"])
            constants = _constants(document, game, content)
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


def _constants(
    document: Mapping[str, Any], game: Game, content: str | None
) -> dict[str, Fraction] | None:
    """Names of constants with their values; None if the game lacks one."""
    if "pot" not in document:
        return {}
    value: Any = game.tree.payoffs.value
    if content:
        value = dict(parse_spec(document["contents"][content]).options)["pot"]
    return None if value is None else {document["pot"]: Fraction(value)}


def _sets(document: Mapping[str, Any], layout: Layout, constants: Mapping[str, Fraction]) -> Any:
    """Sets that exist at the present constants, each as its convex pieces.

    Parameters lie in [0, 1], whatever else confines them.
    """
    for entry in document["sets"]:
        if not _in_range(entry, constants):
            continue
        texts = Texts(
            constants,
            document.get("common", {}) | entry["values"],
            entry["parameters"],
            entry["shown"],
            tuple(entry["constraints"]),
            tuple(entry["payoffs"]),
        )
        parameters = tuple(texts.readings)
        box = [text for p in parameters for text in (f"0 <= {p}", f"{p} <= 1")]
        choices = [alternatives(constraint) for constraint in [*texts.constraints, *box]]
        for constraints in product(*choices):
            yield KnownSet(
                name=entry["name"],
                source=document["source"],
                parameters=parameters,
                idle=tuple(parameters.index(p) for p in document.get("idle", ())),
                leading=entry.get("leading"),
                layout=layout,
                formulas=compile_formulas(texts, constraints, exact=False),
                exact=compile_formulas(texts, constraints, exact=True),
                texts=texts,
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
