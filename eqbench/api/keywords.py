"""Requests from keywords: the fields of a request, as they are written out for Python."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from inspect import Parameter
from os import PathLike
from typing import Any, Protocol, TypeVar

from eqbench.errors import SpecError, UsageError, check_keywords, warn_former
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.model.tree import GameTree
from eqbench.model.tree_files import content_hash
from eqbench.registry import default_registry, load_game
from eqbench.requests import (
    GAME,
    SOLVER,
    Bounds,
    Choice,
    Exact,
    Flag,
    Integer,
    MemorySize,
    Number,
    Pair,
    ReadProfile,
    RequestField,
    Words,
    fields_of,
)
from eqbench.solver import Solver

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class GameFamily(Protocol):
    """An object of a registered class of games, with options that a spec can express."""

    def build(self) -> GameTree:
        """Return the tree of the game."""


# What stands for a file, a game, a solver and a profile.
AnyPath = str | PathLike[str]
AnyGame = str | Game | GameFamily
AnySolver = str | Solver
AnyProfile = BehaviorProfile | Mapping[str, Any] | AnyPath

_FORMER = {"time_s": "timeout_s"}  # besides the names of options
_ACCEPTED = {
    Flag: "bool",
    Words: "str | Iterable[str]",
    Integer: "int",
    Number: "float",
    MemorySize: "int | str",
    Exact: "Fraction | float | str",
    Bounds: "tuple[float, float]",
    Pair: "tuple[str, str]",
    ReadProfile: "AnyProfile",
}


def read_keywords(kind: type, function: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of fields, by attribute; UsageError if a keyword is unknown or a value unfit.

    The names of options are former names of their fields.
    """
    fields, values = {field.attribute: field for field in fields_of(kind)}, dict[str, Any]()
    former = {field.name.replace("-", "_"): field.attribute for field in fields.values()}
    former |= {name: attribute for name, attribute in _FORMER.items() if attribute in fields}
    former = {name: attribute for name, attribute in former.items() if name not in fields}
    check_keywords(function, [name for name in given if name not in former], fields)
    for name, value in given.items():
        attribute = former.get(name, name)
        field = fields[attribute]
        if attribute != name:
            warn_former(f"{function}({name}=...)", f"{function}({attribute}=...)")
        if attribute in values:
            other = next(each for each in given if former.get(each, each) == attribute)
            raise UsageError(f"{function}() is given {other!r} and {name!r}, which mean the same")
        is_one = isinstance(value, str | Mapping | PathLike) or not isinstance(value, Iterable)
        if field.several and value is not None:
            value = [_plain(each) for each in ([value] if is_one else value)]
        try:
            values[attribute] = field.read(_plain(value))
        except ValueError as error:
            raise UsageError(f"{function}({name}=...): {error}") from None
    return values


def request_from(kind: type[T], function: str, given: Mapping[str, Any]) -> T:
    """The request that keywords describe; raises as :func:`read_keywords`, or if one is missing."""
    values = read_keywords(kind, function, given)
    for field in fields_of(kind):
        if field.required and field.attribute not in values:
            raise UsageError(f"{function}() needs {field.attribute!r}: {field.help}")
    return kind(**values)


def written_out(
    kind: type, *, but: tuple[str, ...] = (), first: Parameter | None = None
) -> Callable[[F], F]:
    """Decorator that shows the fields of a request, all `but` some, for ``**keywords``.

    They stand in the signature, where `first` may replace ``*given``, and in the docstring for
    ``{keywords}``. Static tools read them in the stub of the package, which is generated of these
    signatures.
    """

    def write(function: F) -> F:
        fields = [field for field in fields_of(kind) if field.attribute not in but]
        known = inspect.signature(function)
        parameters = [each for each in known.parameters.values() if each.kind != each.VAR_KEYWORD]
        if first is not None:
            parameters = [first, *(each for each in parameters if each.kind != each.VAR_POSITIONAL)]
        parameters += [
            Parameter(
                field.attribute,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if field.required else field.default,
                annotation=accepted(field),
            )
            for field in fields
        ]
        function.__signature__ = known.replace(parameters=parameters)  # type: ignore[attr-defined]
        lines = "\n".join(f"{field.attribute}\n    {field.help}" for field in fields)
        function.__doc__ = (inspect.getdoc(function) or "").replace("{keywords}", lines)
        return function

    return write


def accepted(field: RequestField, *, one: bool = False) -> str:
    """Type of the values of a field in Python, or of `one` of several."""
    kind = field.option.kind
    if isinstance(kind, Choice):
        text = f"Literal[{', '.join(map(repr, kind.words))}]"
    elif kind in (GAME, SOLVER):
        text = "AnyGame" if kind is GAME else "AnySolver"
    else:
        text = _ACCEPTED.get(type(kind), "AnyPath" if kind.completed in ("file", "dir") else "str")
    if field.several and not one:
        text += f" | Iterable[{text}]"
    return text if field.required or field.default is not None else f"{text} | None"


def _plain(value: Any) -> Any:
    """A game or solver as its spec, a profile as a named document, a path as a text.

    UsageError if the spec of a game, from which other processes make it, means another one.
    """
    if isinstance(value, BehaviorProfile):
        return {"profile": value.to_json()}
    if hasattr(value, "solve") or hasattr(value, "build"):
        return default_registry().spec_of(value)
    if not isinstance(value, Game):
        return os.fspath(value) if isinstance(value, PathLike) else value
    same = None
    with suppress(SpecError):  # what is not known here is looked for in the plugins
        same = load_game(value.spec, max_nodes=max(value.tree.n_nodes, DEFAULT_MAX_NODES))
    if same is not None and content_hash(same.tree) != content_hash(value.tree):
        raise UsageError(
            f"{value!r} is not what its spec means, from which other processes make the game; "
            "give it a name of its own by register_game, or solve it here by eqbench.solve"
        )
    return value.spec
