"""Documents with published sets of equilibria: those of eqbench, of distributions and of users.

A document holds the sets of one game. Further documents are files that ``EQBENCH_EQUILIBRIA``
names, and the files of packages that installed distributions name in the group
``eqbench.equilibria``. They come from strangers, so they are bounded and checked when they are
read, and what their expressions may cost is bounded by the evaluator.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import tomllib
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType, field, to_builtins

from eqbench.builtin import BUILTIN_GAMES, extensions
from eqbench.documents import convert, read_file
from eqbench.equilibria.expressions import alternatives, compile_expression, evaluate, names_in
from eqbench.errors import EqbenchError, UsageError, nearest
from eqbench.model.game import Game
from eqbench.model.isomorphism import Isomorphism, isomorphism, signature
from eqbench.model.profile import action_labels
from eqbench.model.tree import GameTree
from eqbench.registry import default_registry
from eqbench.spec import GAME_FILES, is_foreign, parse_spec
from eqbench.text import printable, shortened

FILES = "EQBENCH_EQUILIBRIA"  # environment variable: paths, joined as in PATH
SHIPPED = "eqbench.equilibria.data"
LARGEST = 1_000  # nodes; none of the games with published sets is larger
MOST_NODES = 20_000  # of games that are only named
DEEPEST = 64  # levels; products of probabilities grow with them
MOST_BYTES = 2**20
MOST_PIECES = 256  # convex pieces of a set

_Name = Annotated[str, Meta(pattern=r"^(?!cluster:)[\w:<>=./+-]+$", max_length=100)]
_Symbol = Annotated[str, Meta(pattern=r"^(?!sqrt$)[A-Za-z]\w*$", max_length=40)]
_Text = Annotated[str, Meta(max_length=400)]
_Symbols = Annotated[dict[_Symbol, _Text], Meta(max_length=200)]
_Texts = Annotated[list[_Text], Meta(max_length=32)]


class _Set(Struct, forbid_unknown_fields=True):
    name: _Name
    parameters: Annotated[dict[_Symbol, _Text], Meta(max_length=8)]  # 2^8 corners, if not cut
    values: _Symbols
    payoffs: _Texts
    constraints: _Texts = []
    shown: _Symbols = {}
    leading: _Symbol | UnsetType = UNSET
    low: _Text | UnsetType = field(default=UNSET, name="from")
    high: _Text | UnsetType = field(default=UNSET, name="to")
    title: _Text = ""
    sentence: _Text = ""


class _Document(Struct, forbid_unknown_fields=True):
    game: str
    source: _Text = ""
    variables: _Symbols = {}
    sets: Annotated[list[_Set], Meta(max_length=200)] = []
    common: _Symbols = {}
    pot: _Symbol | UnsetType = UNSET
    idle: list[_Symbol] = []
    family: _Text = ""
    symbols: _Symbols = {}


class SameGame(NamedTuple):
    """A game that is known, and how another that is the same maps onto it."""

    spec: str
    game: Game
    match: Isomorphism

    def described(self, tree: GameTree) -> str:
        """Sentence on a tree that is this game."""
        labels = np.array(action_labels(self.game.tree))[self.match.actions].tolist()
        other = "" if labels == action_labels(tree) else " but for labels and order"
        return f"same game as {self.spec}{other}"


def same_games(game: Game, most: int = MOST_NODES) -> list[SameGame]:
    """Games with a document that a game is the same as but for labels and orders.

    Empty for games that eqbench ships, whose specs say what they are, unless there are sets for
    game files, and for games that are not known exactly, have more than `most` nodes or are deep.
    """
    tree, known = game.tree, list(_known())
    if game.product is not None:
        return []
    own = parse_spec(game.spec).name in BUILTIN_GAMES and not any(is_foreign(s) for s, _ in known)
    if own or tree.n_nodes > most or not tree.exact or len(tree.levels) > DEEPEST:
        return []
    key, found = signature(tree), []
    for spec in (spec for spec, content in known if content == key and spec != game.spec):
        other = default_registry().load_game(spec)
        if other.spec != game.spec and (match := isomorphism(tree, other.tree)) is not None:
            found.append(SameGame(spec, other, match))
    return found


def _known() -> Iterator[tuple[str, str]]:
    """Specs of known games with their signatures."""
    for document in documents():
        yield from ((spec, key) for key, spec in document["contents"].items())
        if "file" in document and is_foreign(document["game"]):
            yield document["game"], _signature_of(document["game"])


@cache
def _signature_of(spec: str) -> str:
    tree = default_registry().load_game(spec).tree
    return signature(tree) if tree.exact and tree.n_nodes <= LARGEST else ""


def documents() -> tuple[dict[str, Any], ...]:
    """All documents that there are, those of eqbench first.

    Raises
    ------
    UsageError
        If a file of others cannot be read, or something in it is not allowed; the message begins
        with the file and names the key.
    """
    return _documents(os.environ.get(FILES, ""))


def set_texts(name: str) -> dict[str, str]:
    """Title and family of a published set, and the meaning of its leading symbol; else nothing."""
    return _texts(os.environ.get(FILES, "")).get(name, {})


@cache
def _texts(paths: str) -> dict[str, dict[str, str]]:
    return {
        own["name"]: {
            **{"title": own.get("title", ""), "family": document.get("family", "")},
            "meaning": document.get("symbols", {}).get(own.get("leading"), ""),
        }
        for document in _documents(paths)
        for own in document["sets"]
    }


@cache
def _documents(paths: str) -> tuple[dict[str, Any], ...]:
    found: list[dict[str, Any]] = []
    names: dict[str, int] = {}
    for package in extensions("equilibria").values():
        spec = importlib.util.find_spec(package)
        for place in (spec and spec.submodule_search_locations) or ():
            for file in sorted(p for p in Path(place).iterdir() if p.suffix in (".json", ".toml")):
                found += json.loads(file.read_bytes()) if package == SHIPPED else _read(file)
    for path in filter(None, paths.split(os.pathsep)):
        found += _read(Path(path).absolute())
    for number, document in enumerate(found):
        for own in document["sets"]:
            if names.setdefault(own["name"], number) != number:
                taken = f"the name {own['name']!r} of a set is taken; choose another"
                raise UsageError(f"{document.get('file', 'eqbench')}: {taken}")
    return tuple(found)


def _read(file: Path) -> list[dict[str, Any]]:
    """Documents of a file that is not eqbench's, checked; `game` is canonical in them."""
    try:
        text = read_file(file, MOST_BYTES).decode("utf-8-sig")
        content = tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise UsageError(
            f"cannot read the published sets {file}: {error.strerror}; "
            f"{FILES} names files, joined by {os.pathsep!r}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: {printable(shortened(str(error)))}") from None
    found = []
    for value in content if isinstance(content, list) else [content]:
        document = to_builtins(convert(value, _Document, str(file)))
        _check(document, file)
        own = {"file": str(file), "game": _game(document, file), "contents": {}}
        found.append(document | own)
    return found


def _game(document: dict[str, Any], file: Path) -> str:
    """Canonical spec of the game of a document, without the option that may vary."""
    given, registry = document["game"], default_registry()
    if is_foreign(given) and given.lower().endswith(GAME_FILES):
        given = str(file.parent / given)
    name = parse_spec(given).name
    known = {entry.name for entry in registry.games()}
    if not is_foreign(given) and name not in known and not get_close_matches(name, known, 1, 0.75):
        return given  # of a plugin that is not there
    try:
        game = registry.load_game(given)
    except EqbenchError as error:
        raise UsageError(f"{file}: game: {error}") from None
    if "pot" not in document:
        return game.spec
    if game.tree.payoffs.parameter is None:
        raise UsageError(f"{file}: pot: {game.spec} has no payoff parameter; leave pot out")
    return str(parse_spec(game.spec).without(game.tree.payoffs.parameter))


def _check(document: dict[str, Any], file: Path) -> None:
    """Refuse names that nothing defines, texts that are no expressions, and too many pieces."""
    variables = set(document["variables"])
    for n, own in enumerate(document["sets"]):
        values, parameters = document["common"] | own["values"], set(own["parameters"])
        every = variables | parameters | {document.get("pot", "sqrt")}
        ends = [own[key] for key in ("from", "to") if own.get(key, "oo") != "oo"]
        parts: tuple[tuple[str, Iterable[str], set[str]], ...] = (
            ("parameters", own["parameters"].values(), variables),
            ("values", values.values(), every),
            ("constraints", own["constraints"], every),
            ("payoffs", own["payoffs"], every),
            ("shown", own["shown"].values(), every),
            ("from", ends, set()),
        )
        for key, texts, known in parts:
            for text in texts:
                try:
                    _check_text(text, known, is_relation=key == "constraints")
                except (ValueError, ArithmeticError, SyntaxError, RecursionError) as error:
                    what = printable(shortened(f"{text!r}: {getattr(error, 'msg', error)}"))
                    raise UsageError(f"{file}: sets[{n}].{key}: {what}") from None
        wrong: dict[str, Iterable[str]] = {
            "values: missing": variables - set(values) - parameters,
            "values: not among the variables": set(values) - variables,
            "values: defined by themselves": _circle(values, parameters),
            "idle: not among the parameters": set(document["idle"]) - parameters,
            "leading: not shown": {own.get("leading", "")} - {"", *own["shown"]},
            "from: to and the pot of the document belong to it": (
                {"from", "to", "pot"} - {*own, *document} if {"from", "to"} & set(own) else ()
            ),
        }
        for what, which in wrong.items():
            if which:
                raise UsageError(f"{file}: sets[{n}].{what}: {', '.join(sorted(which))}")
        if math.prod(len(alternatives(text)) for text in own["constraints"]) > MOST_PIECES:
            raise UsageError(f"{file}: sets[{n}].constraints: more than {MOST_PIECES} cases")


def _check_text(text: str, known: set[str], *, is_relation: bool) -> None:
    for relation in alternatives(text) if is_relation else ():
        compile_expression(relation.left), compile_expression(relation.right)
    if not is_relation:
        compile_expression(text)
    if not known:
        evaluate(text, {}, exact=False)
    if unknown := sorted(set(names_in(text)) - known - {"sqrt"}):
        raise ValueError(f"the name {unknown[0]!r} is not defined; {nearest(unknown[0], known)}")


def _circle(values: dict[str, str], parameters: set[str]) -> list[str]:
    needs = {name: set(names_in(text)) - parameters for name, text in values.items()}
    try:
        TopologicalSorter({n: own for n, own in needs.items() if n not in parameters}).prepare()
    except CycleError as error:
        return list(dict.fromkeys(error.args[1]))
    return []
