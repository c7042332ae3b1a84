"""Requests from keywords: the fields of a request, by their names in Python or in files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from eqbench.errors import SpecError, UsageError, check_keywords
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.model.tree_files import content_hash
from eqbench.registry import load_game
from eqbench.requests import fields_of

T = TypeVar("T")


def read_keywords(kind: type, function: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of fields, by attribute; UsageError if a keyword is unknown or a value unfit.

    Also if one field has two, by both of its names.
    """
    fields, values = fields_of(kind), {}
    # by each name: `timeout_s` as well as `timeout`
    known = {field.name.replace("-", "_"): field for field in fields}
    known |= {field.attribute: field for field in fields}
    check_keywords(function, given, known)
    for name, value in given.items():
        attribute = known[name].attribute
        if attribute in values:
            other = next(each for each in given if known[each] == known[name])
            raise UsageError(f"{function}() is given {other!r} and {name!r}, which mean the same")
        is_one = isinstance(value, str | Mapping | os.PathLike) or not isinstance(value, Iterable)
        if known[name].several and value is not None:
            value = [_plain(each) for each in ([value] if is_one else value)]
        try:
            values[attribute] = known[name].read(_plain(value))
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


def _plain(value: Any) -> Any:
    """A game as its spec, a profile as a named document, a path as a text.

    UsageError if the spec of a game, from which other processes make it, means another one.
    """
    if isinstance(value, BehaviorProfile):
        return {"profile": value.to_json()}
    if not isinstance(value, Game):
        return os.fspath(value) if isinstance(value, os.PathLike) else value
    same = None
    with suppress(SpecError):  # what is not known here is looked for in the plugins
        same = load_game(value.spec, max_nodes=max(value.tree.n_nodes, DEFAULT_MAX_NODES))
    if same is not None and content_hash(same.tree) != content_hash(value.tree):
        raise UsageError(
            f"{value!r} is not what its spec means, from which other processes make the game; "
            "give it a name of its own by register_game, or solve it here by eqbench.solve"
        )
    return value.spec
