"""The published sets of equilibria of a game, read from data by the game's content.

Symbols in shapes: A actions of the game, V named frequencies, K parameters, C constraints.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial
from graphlib import TopologicalSorter
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
    names_in,
)
from eqbench.equilibria.published import LARGEST, documents, same_games
from eqbench.errors import SpecError, UsageError, known_labels
from eqbench.model.game import Game
from eqbench.model.isomorphism import Isomorphism
from eqbench.model.profile import BehaviorProfile, joined_label, label_parts
from eqbench.model.tree import FloatArray, GameTree
from eqbench.spec import Spec, parse_spec

TOLERANCE = 1e-7  # up to which a constraint holds and a frequency or an outcome agrees
# An open end is passed by more than the tolerance: what lies closer belongs to the other side.
OPEN_MARGIN = 2 * TOLERANCE
_AT_END = 1e-5


@dataclass(frozen=True, eq=False)
class Layout:
    """Named frequencies on a tree; at each information set at most one action has no name.

    Attributes
    ----------
    tree : GameTree
    variables : names of the V frequencies
    places : ``PLAYER|INFOSET|ACTION`` of each of them
    action : int64 (V,)
        Action of each, -1 if the game has deleted it.
    infoset : int64 (V,)
        Information set of each.
    rest : int64 (A,)
        1 at the actions that have no name: they get what the others leave.
    spread : float64 (A, V)
        With `rest` it gives the behavior: ``rest + spread @ frequencies``.
    """

    tree: GameTree
    variables: tuple[str, ...]
    places: tuple[str, ...]
    action: NDArray[np.int64]
    infoset: NDArray[np.int64]
    rest: NDArray[np.int64]
    spread: FloatArray

    @classmethod
    def of(cls, tree: GameTree, variables: Mapping[str, str]) -> Layout | None:
        """Layout of frequencies given as ``PLAYER|INFOSET|ACTION``; None if it does not fit.

        An action that the game has deleted is no misfit: its frequency is 0 there.
        """
        action, infoset = [], []
        for place in variables.values():
            player, label, name = label_parts(place)
            try:
                i = tree.infoset_of(tree.players.index(player), label)
            except (KeyError, ValueError):
                return None
            names = tree.infoset_actions[i]
            action.append(tree.action_start[i] + names.index(name) if name in names else -1)
            infoset.append(i)
        rest = np.ones(tree.n_actions, dtype=np.int64)
        rest[[a for a in action if a >= 0]] = 0
        if np.add.reduceat(rest, tree.action_start[:-1]).max() > 1:
            return None
        spread = np.zeros((tree.n_actions, len(variables)))
        for v, (a, i) in enumerate(zip(action, infoset, strict=True)):
            block = slice(tree.action_start[i], tree.action_start[i + 1])
            if a >= 0:
                spread[block, v] = -rest[block]
                spread[a, v] = 1
        return cls(
            tree,
            tuple(variables),
            tuple(variables.values()),
            np.array(action, dtype=np.int64),
            np.array(infoset, dtype=np.int64),
            rest,
            spread,
        )

    def moved(self, tree: GameTree, match: Isomorphism) -> Layout:
        """The same on a tree that is the same game, which `match` maps to that of this layout."""
        infoset = np.argsort(match.infosets)[self.infoset]
        action = np.argsort(match.actions)[self.action]
        names = [name for names in tree.infoset_actions for name in names]
        parts = [
            (
                tree.players[tree.infoset_player[i]],
                tree.infoset_labels[i],
                names[a] if known >= 0 else label_parts(place)[2],
            )
            for place, i, a, known in zip(self.places, infoset, action, self.action, strict=True)
        ]
        return replace(
            self,
            tree=tree,
            places=tuple(joined_label(*own) for own in parts),
            action=np.where(self.action >= 0, action, -1),
            infoset=infoset,
            rest=self.rest[match.actions],
            spread=self.spread[match.actions],
        )

    def frequencies(self, behavior: FloatArray) -> FloatArray:
        """The V named frequencies of behavior (A,); 0 for actions that the game has deleted."""
        return np.where(self.action >= 0, behavior[self.action], 0.0)

    def behavior(self, frequencies: FloatArray) -> FloatArray:
        """Behavior (A,) with the V named frequencies."""
        return self.rest + self.spread @ frequencies

    def exact_profile(self, frequencies: Sequence[Fraction]) -> BehaviorProfile:
        """Exact profile with the V named frequencies.

        Raises
        ------
        ProfileError
            If a frequency is outside [0, 1], or stands at an action that was deleted.
        """
        values = [Fraction(int(rest)) for rest in self.rest]
        for v, frequency in enumerate(frequencies):
            for a in np.flatnonzero(self.spread[:, v]):
                values[a] += int(self.spread[a, v]) * frequency
        return BehaviorProfile.of_exact(self.tree, values)


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

    @classmethod
    def of(cls, texts: Texts, constraints: Sequence[Relation], *, exact: bool) -> Formulas:
        """Compile a set to functions of names, in Fractions or floats.

        Parameters
        ----------
        constraints : those that confine the parameters, in place of those in `texts`

        Raises
        ------
        ValueError
            If an expression is none, or values depend on each other.
        """
        number, compiled = Fraction if exact else float, partial(compile_expression, exact=exact)
        given = {*texts.constants, *texts.readings, "sqrt"}
        needs = {
            name: {name for name in names_in(text) if name not in given}
            for name, text in texts.values.items()
            if name not in given
        }
        sides = [(each.sign, _violations(each, exact=exact)) for each in constraints]
        return cls(
            constants={name: number(value) for name, value in texts.constants.items()},
            values={
                name: compiled(texts.values[name])
                for name in TopologicalSorter(needs).static_order()
            },
            readings=tuple(map(compiled, texts.readings.values())),
            violations=tuple(side for _, own in sides for side in own),
            open_violations=tuple(side for sign, own in sides if sign in "<>" for side in own),
            shown={name: compiled(text) for name, text in texts.figures.items()},
            payoffs=tuple(map(compiled, texts.payoffs)),
        )

    def names(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Value of every name: constants, parameters and frequencies."""
        names = dict(self.constants) | dict(parameters)
        for name, value in self.values.items():
            names[name] = value(names)
        return names


def _violations(relation: Relation, *, exact: bool) -> list[Expression]:
    """By how much a relation is violated, as functions of names; an equation has two sides."""
    left = compile_expression(relation.left, exact=exact)
    right = compile_expression(relation.right, exact=exact)
    margin = OPEN_MARGIN if relation.sign in "<>" and not exact else 0
    sides: list[Expression] = []
    if ">" not in relation.sign:
        sides.append(lambda names: left(names) - right(names) + margin)
    if "<" not in relation.sign:
        sides.append(lambda names: right(names) - left(names) + margin)
    return sides


@dataclass(frozen=True, eq=False)
class KnownSet:
    """A published set of equilibria of one game, or one convex piece of it.

    Attributes
    ----------
    name : such as ``szafron:c11=0``; the pieces of one set share it
    title, sentence : what is played in it, in a few words and in one or two sentences
    family : name of the family that it is one part of; empty if of none
    symbols : what its symbols mean, where that is no single frequency
    source : where it was published
    parameters : names of the K parameters
    idle : positions of parameters that change no player's payoff, whatever one player does
    leading : the shown figure that tells members apart best, for example because payoffs follow
        it; None if there is none
    layout : where the V frequencies stand in the game
    texts : values, constraints and payoffs as they are written
    constraints : those that confine the parameters of this piece
    file : where it was read, if it is not eqbench's
    same_as : spec of the game that it was published for, if that has other labels or orders
    """

    name: str
    title: str
    sentence: str
    family: str
    symbols: Mapping[str, str]
    source: str
    parameters: tuple[str, ...]
    idle: tuple[int, ...]
    leading: str | None
    layout: Layout
    texts: Texts
    constraints: tuple[Relation, ...]
    file: str = ""
    same_as: str = ""

    @cached_property
    def formulas(self) -> Formulas:
        """Values, constraints and payoffs as functions of the parameters, in floats."""
        return Formulas.of(self.texts, self.constraints, exact=False)

    @cached_property
    def exact(self) -> Formulas:
        """The same in Fractions."""
        return Formulas.of(self.texts, self.constraints, exact=True)

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
    """The sets that were published for a game of this name with these options, or for the same.

    Games that differ but for labels and orders are the same; then payoffs stand in the order of the
    players of this one. In the order in which names are chosen; empty if there are none. A set that
    is a union of convex pieces comes once per piece. Whether a game with a name is the one that was
    meant is not checked here.

    Raises
    ------
    UsageError
        If a document that is not eqbench's has mistakes, or does not fit its game.
    """
    try:
        spec = parse_spec(game.spec)
    except SpecError:  # in Python a game may be called anything
        return ()
    found = _named(spec, game.tree)
    for same in same_games(game, LARGEST):
        players = same.match.players.tolist()
        moved = cache(partial(Layout.moved, tree=game.tree, match=same.match))
        for known in _named(parse_spec(same.game.spec), same.game.tree):
            payoffs = tuple(known.texts.payoffs[p] for p in players)
            if players != sorted(players):  # words count players
                known = replace(known, title="", sentence="", symbols={})
            found.append(
                replace(
                    known,
                    same_as=same.spec,
                    layout=moved(known.layout),
                    texts=replace(known.texts, payoffs=payoffs),
                )
            )
    return tuple(found)


def _named(spec: Spec, tree: GameTree) -> list[KnownSet]:
    """Pieces of the sets of all documents whose game has this name and these options."""
    found: list[KnownSet] = []
    for document in documents():
        wanted = parse_spec(document["game"])
        if wanted.name != spec.name or not set(wanted.options) <= set(spec.options):
            continue
        if "file" in document:
            _check_places(document, tree)
        layout = Layout.of(tree, document["variables"])
        constants = {}
        if "pot" in document and tree.payoffs.value is not None:
            constants = {document["pot"]: tree.payoffs.value}
        if layout is not None and len(constants) == ("pot" in document):
            found += _pieces(document, layout, constants)
    return found


def _check_places(document: Mapping[str, Any], tree: GameTree) -> None:
    """Refuse places and payoffs in a document of others that its game does not have."""
    kept: dict[int, list[str]] = {}
    for variable, place in document["variables"].items():
        at, parts = f"{document['file']}: variables.{variable}: {place!r}", label_parts(place)
        if len(parts) != 3:
            raise UsageError(f"{at} is not PLAYER|INFOSET|ACTION")
        if parts[0] not in tree.players:
            raise UsageError(f"{at}: no such player; {known_labels(parts[0], tree.players)}")
        player = tree.players.index(parts[0])
        own = [tree.infoset_labels[i] for i in tree.infosets_of(player)]
        if parts[1] not in own:
            raise UsageError(f"{at}: no such information set; {known_labels(parts[1], own)}")
        i = tree.infoset_of(player, parts[1])
        if parts[2] not in tree.infoset_actions[i]:
            hint = known_labels(parts[2], tree.infoset_actions[i])
            raise UsageError(f"{at}: no such action; {hint}")
        kept.setdefault(i, []).append(parts[2])
        if len(kept[i]) != len(set(kept[i])) or len(kept[i]) == len(tree.infoset_actions[i]):
            raise UsageError(f"{at}: name all actions but one of an information set, each once")
    for n, own_set in enumerate(document["sets"]):
        if len(own_set["payoffs"]) != tree.n_players:
            raise UsageError(
                f"{document['file']}: sets[{n}].payoffs: the game has {tree.n_players} players, "
                f"got {len(own_set['payoffs'])}"
            )


def _pieces(
    document: Mapping[str, Any], layout: Layout, constants: Mapping[str, Fraction]
) -> Iterator[KnownSet]:
    """Convex pieces of the sets that exist at the present constants.

    Parameters lie in [0, 1], whatever else confines them.
    """
    for entry in document["sets"]:
        if "from" in entry:  # both ends belong to a range of the pot
            (pot,) = constants.values()
            # an end that is irrational cannot be met, so floats decide as well as exact numbers
            # would, but for pots with more digits than floats have
            low, high = (
                math.inf if text == "oo" else evaluate(text, {}, exact="sqrt" not in text)
                for text in (entry["from"], entry["to"])
            )
            if not low <= pot <= high:
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
        for constraints in product(*map(alternatives, [*texts.constraints, *box])):
            yield KnownSet(
                name=entry["name"],
                title=entry.get("title", ""),
                sentence=entry.get("sentence", ""),
                family=document.get("family", ""),
                symbols=document.get("symbols", {}),
                source=document["source"],
                parameters=parameters,
                idle=tuple(parameters.index(p) for p in document.get("idle", ())),
                leading=entry.get("leading"),
                layout=layout,
                texts=texts,
                constraints=constraints,
                file=document.get("file", ""),
            )
