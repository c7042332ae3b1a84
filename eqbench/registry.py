"""Names of games and solvers, and how a spec becomes one of them.

The built-in ones are explicit tables (:mod:`eqbench.builtin`); nothing is imported before it
is used. Third parties come in through entry points and files (:mod:`eqbench.plugins`) and
the decorators below.
"""

from __future__ import annotations

import dataclasses
import importlib
import operator
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from eqbench.builtin import BUILTIN, FOREIGN_GAMES
from eqbench.documents import checked
from eqbench.errors import (
    EqbenchError,
    GameTooLargeError,
    SolverUnavailableError,
    SpecError,
    UsageError,
    nearest,
)
from eqbench.model.size_limit import (
    DEFAULT_MAX_NODES,
    PRODUCT_PLAYERS,
    PRODUCTS_FROM,
    check_expected_nodes,
    check_product,
    enough_memory,
    max_nodes,
    node_limit,
    too_large,
)
from eqbench.options import (
    ListedOption,
    canonical_text,
    construct,
    list_options,
    option_fields,
    option_texts,
)
from eqbench.plugins import (
    Entry,
    Kind,
    check_name,
    decorated_entry,
    describe,
    entry_points,
    import_plugin,
    merge,
    scan_plugin,
)
from eqbench.requests import Plugins
from eqbench.spec import (
    FOREIGN_HINT,
    PLUGIN_HINT,
    PREFIXES,
    Spec,
    Value,
    format_value,
    is_foreign,
    parse_spec,
    split_specs,
)
from eqbench.text import printable, shortened

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.tree import GameTree
    from eqbench.model.words import Wording

T = TypeVar("T", bound=type)

# Besides `all`: what stands for all solvers of a library.
GROUPS = tuple(sorted({f"{each.group}_all" for each in BUILTIN["solver"].values() if each.group}))

# What the decorators filled in this process, by kind and name.
_registered: dict[tuple[Kind, str], Entry] = {}


@dataclass(frozen=True)
class LoadedSolver:
    """A solver instance with its canonical spec and the entry that it came from."""

    instance: Any
    spec: str
    entry: Entry

    def check(self, game: Game) -> None:
        """Refuse a game: UsageError if it takes no such game, or SolverUnavailableError."""
        from eqbench.solver import obstacle_of

        obstacle = obstacle_of(self.instance, game)
        if obstacle is not None:
            status, reason = obstacle
            raise (SolverUnavailableError if status == "unavailable" else UsageError)(reason)


@dataclass(frozen=True)
class Registry:
    """All games and solvers that can be named here.

    Attributes
    ----------
    plugins : entries of plugin files, which have been scanned and not run
    """

    plugins: tuple[Entry, ...] = ()

    def with_plugins(self, paths: Iterable[str | Path]) -> Registry:
        """Registry that also knows what the files register; none of their code runs.

        Raises
        ------
        UsageError
            If a file cannot be scanned or brings a name that is taken.
        """
        scanned = list(chain.from_iterable(map(scan_plugin, dict.fromkeys(paths))))
        again = {entry.plugin for entry in scanned}
        kept = (entry for entry in self.plugins if entry.plugin not in again)
        registry = Registry((*kept, *scanned))
        for kind in BUILTIN:
            registry.entries(kind)
        return registry

    def entries(self, kind: Kind) -> dict[str, Entry]:
        """Games or solvers by name: the built-in ones in the order of their table, then others.

        The order also says which of two ways to one plugin is kept.
        """
        files = (entry for entry in self.plugins if entry.kind == kind)
        # a plugin file that failed half-way does not count
        decorated = (
            entry
            for entry in _registered.values()
            if entry.kind == kind and (entry.origin != "plugin" or entry.module in sys.modules)
        )
        return merge(chain(BUILTIN[kind].values(), entry_points(kind), files, decorated))

    def games(self) -> list[Entry]:
        """Built-in games in the order of their table, then those of third parties."""
        return list(self.entries("game").values())

    def solvers(self) -> list[Entry]:
        """Built-in solvers in the order of their table, then those of third parties."""
        return list(self.entries("solver").values())

    def game_entry(self, spec: str | Spec) -> Entry:
        """Entry that a game spec names; imports nothing.

        Raises
        ------
        SpecError
            If the spec cannot be read, or nothing has its name.
        """
        return self._find("game", spec)[0]

    def solver_entry(self, spec: str | Spec) -> Entry:
        """Entry that a solver spec names; imports nothing, and raises as `game_entry`."""
        return self._find("solver", spec)[0]

    def entry(self, spec: str) -> Entry:
        """Return the game or solver that a spec names; SpecError if there is none."""
        name = parse_spec(spec).name
        if is_foreign(name):
            return self.game_entry(spec)
        entries = self.entries("solver") | self.entries("game")
        if name not in entries:
            raise SpecError(
                f"unknown game or solver {name!r}: {_near(name, entries, FOREIGN_HINT)}"
            )
        return entries[name]

    def kind_of(self, word: str) -> Kind | None:
        """Whether a word names games or solvers, None if neither."""
        with suppress(SpecError):
            self.game_entry(word)
            return "game"
        with suppress(SpecError):
            self.resolve_solvers(word)
            return "solver"
        return None

    def options(self, entry: Entry) -> list[ListedOption]:
        """Options in field order with the defaults of this entry; imports its class.

        Foreign games have none: what their classes hold is the spec itself.

        Raises
        ------
        SolverUnavailableError, UsageError
            If the class of a solver or of a game cannot be loaded.
        """
        if entry in FOREIGN_GAMES.values():
            return []
        return list_options(_class_of(entry), entry.preset)

    def load_game(self, spec: str | Spec, *, max_nodes: int = DEFAULT_MAX_NODES) -> Game:
        """Game with its canonical spec; builds the tree, or reads a large one from the cache.

        A game may say in advance how many nodes it will have, by a method
        ``expected_nodes() -> int``; then one that is too large is refused at once. One that changes
        another game names it by an attribute ``base_game``, and its ``build`` takes the tree of it.

        Raises
        ------
        SpecError
            If the spec cannot be read, names something unknown, or the game refuses a value.
        GameTooLargeError
            If the game has more than `max_nodes` nodes, or there is not enough memory.
        UsageError
            If the game cannot be loaded or built.
        """
        from eqbench.model.assemble import check_tree
        from eqbench.model.game import Game
        from eqbench.model.game_cache import CACHED_FROM, cached_game

        instance, canonical, entry = self._load("game", spec)
        try:
            with node_limit(max_nodes), enough_memory(canonical):
                expected = _expected_nodes(canonical, instance)
                if entry.builtin and expected > min(PRODUCTS_FROM, max_nodes):
                    product = self._by_products(canonical, instance, expected)
                    if product is not None:
                        return product
                check_expected_nodes(canonical, expected)
                # what a slowly built game depends on besides its spec; most are built again
                depends_on = getattr(instance, "cache_key", str)()
                if entry.builtin and (depends_on or expected >= CACHED_FROM):
                    key = f"{canonical} {depends_on}" if depends_on else ""
                    game = cached_game(canonical, lambda: self._build(instance), key=key)
                    check_expected_nodes(canonical, game.tree.n_nodes)
                    return dataclasses.replace(game, **self._words(instance))
                tree = self._build(instance)
                if not entry.builtin:
                    check_tree(tree)
                return Game(canonical, tree, **self._words(instance))
        except Exception as error:
            if entry.builtin or isinstance(error, GameTooLargeError):
                raise
            _fail(entry, error)

    def _by_products(self, spec: str, instance: Any, expected: int) -> Game | None:
        """Dealt game whose tree is not built before it is needed; None if it is no such game."""
        from eqbench.model.dealt_form import ShowdownGame, promised
        from eqbench.model.game import Game
        from eqbench.model.game_cache import cached_game

        if not isinstance(instance, ShowdownGame):
            return None
        rules = instance.rules()
        hands = len(rules.hands.labels)
        if rules.hands.n_players > PRODUCT_PLAYERS:
            return None
        check_product(spec, expected // max(1, rules.hands.total(count=True)), hands)
        form = rules.product()
        if form is None:
            return None
        depends_on = getattr(instance, "cache_key", str)()
        key = f"{spec} {depends_on}" if depends_on else ""
        tree = promised(form, max_nodes(), lambda: cached_game(spec, rules.tree, key=key))
        return None if tree is None else Game(spec, tree, **self._words(instance))

    def _words(self, game: Any) -> dict[str, Any]:
        """Title and wording of a game that was built, as far as it declares any."""
        title = getattr(game, "title", "")
        title = shortened(printable(title)) if isinstance(title, str) else ""
        return {"title": title, "wording": self._wording(game)}

    def _wording(self, game: Any) -> Wording | None:
        """What a game declares on its labels, or the game that it changes, if it is that."""
        from eqbench.model.words import Wording

        declared = getattr(game, "wording", None)
        if declared is None and (base := getattr(game, "base_game", None)):
            return self._wording(self.describe_game(base)[0])
        return declared if isinstance(declared, Wording) else None

    def describe_game(self, spec: str | Spec) -> tuple[Any, str, Entry]:
        """Instance of a game's dataclass, its canonical spec and entry; builds nothing.

        Raises
        ------
        SpecError, UsageError
            As `load_game`.
        """
        return self._load("game", spec)

    def load_solver(self, spec: str | Spec) -> LoadedSolver:
        """Solver instance with its canonical spec and entry.

        Raises
        ------
        SpecError
            If the spec cannot be read, names something unknown, or the solver refuses a value.
        SolverUnavailableError
            If the solver cannot be loaded; the message is the reason.
        """
        return LoadedSolver(*self._load("solver", spec))

    def obstacles(self, game: Game) -> dict[str, tuple[str, str] | None]:
        """Status and reason of each solver that cannot take a game, None of those that can."""
        from eqbench.solver import obstacle_of

        found: dict[str, tuple[str, str] | None] = {}
        for entry in self.solvers():
            try:
                found[entry.name] = obstacle_of(self.load_solver(entry.name).instance, game)
            except SolverUnavailableError as error:
                found[entry.name] = "unavailable", str(error)
            except Exception as error:  # of a plugin
                if entry.builtin:
                    raise
                found[entry.name] = "unavailable", f"it cannot be queried: {describe(error)}"
        return found

    def resolve_solvers(self, text: str) -> list[str]:
        """Solver specs of a comma-separated list.

        ``all`` stands for all default rows, ``GROUP_all`` for all solvers of a group, as
        ``gambit_all``. Names are checked, options are not. Of equal specs the first stays.

        Raises
        ------
        SpecError
            If a spec cannot be read or names nothing, or there is none at all.
        """
        chosen: dict[str, str] = {}
        for part in split_specs(text):
            members = [
                entry.name
                for entry in self.solvers()
                if (entry.default_row if part == "all" else f"{entry.group}_all" == part)
            ]
            for row in members if part in ("all", *GROUPS) else [part]:
                chosen.setdefault(str(self._find("solver", row)[1]), row)
        if not chosen:
            raise SpecError("no solver given; name one or more, separated by commas, or use all")
        return list(chosen.values())

    def spec_of(self, instance: Any) -> str:
        """Shortest spec that makes a game or solver of a registered class again.

        Raises
        ------
        UsageError
            If its class is not registered, or a spec cannot express it.
        """
        cls, advice = type(instance), "or solve here by eqbench.solve"
        if cls is type:
            raise UsageError(f"{instance!r} is a class; give an object, {instance.__name__}(...)")
        own = [
            entry
            for kind in BUILTIN
            for entry in self.entries(kind).values()
            if entry.target.endswith(f":{cls.__qualname__}") and _class_of(entry) is cls
        ]
        if not own:
            raise UsageError(
                f"{instance!r:.60} is no object of a registered class, and cells run in processes "
                "of their own; decorate its class with eqbench.register_solver or register_game, "
                f"{advice}"
            )
        specs = []
        try:
            texts = option_texts(instance)
            for entry in own:
                usual = {each.name: format_value(each.default) for each in self.options(entry)}
                given = [f"{name}={text}" for name, text in texts.items() if usual[name] != text]
                specs.append((len(given), f"{entry.name}({','.join(given)})", entry.kind))
        except TypeError as error:
            raise UsageError(
                f"{instance!r:.60} has no spec: {error}; choose others, {advice}"
            ) from None
        _, spec, kind = min(specs, key=operator.itemgetter(0))
        if self._load(kind, spec)[0] != instance:
            raise UsageError(
                f"{instance!r:.60} is not what its options make, {spec}; make all that it depends "
                f"on options, {advice}"
            )
        return spec.removesuffix("()")

    def _build(self, game: Any) -> GameTree:
        from eqbench.model.tree import GameTree

        given: tuple[GameTree, ...] = ()
        if base := getattr(game, "base_game", None):  # of a game that changes another one
            other, spec, _ = self.describe_game(base)
            # which takes its nodes, even where values of the other one itself do not
            check_expected_nodes(spec, _expected_nodes(spec, other))
            given = (self.load_game(base, max_nodes=max_nodes()).tree,)
        tree = game.build(*given)
        if not isinstance(tree, GameTree):
            raise TypeError(f"build() returned {type(tree).__name__}, not a GameTree")
        if tree.n_nodes > max_nodes():  # not every game comes from a builder that looks
            raise too_large()
        return tree

    def _find(self, kind: Kind, spec: str | Spec) -> tuple[Entry, Spec]:
        parsed = parse_spec(spec) if isinstance(spec, str) else spec
        if kind == "game" and is_foreign(parsed.name):
            prefix = parsed.name.partition(":")[0] + ":"
            return FOREIGN_GAMES[prefix if prefix in PREFIXES else parsed.name[-4:].lower()], parsed
        entries = self.entries(kind)
        if parsed.name not in entries:
            known = _near(parsed.name, entries, *([FOREIGN_HINT] if kind == "game" else []))
            raise SpecError(f"unknown {kind} {parsed.name!r}: {known}")
        return entries[parsed.name], parsed

    def _load(self, kind: Kind, spec: str | Spec) -> tuple[Any, str, Entry]:
        """Instance of what a spec names, its canonical spec and its entry."""
        entry, parsed = self._find(kind, spec)
        cls = _class_of(entry)
        if is_foreign(parsed.name):
            instance = cls(parsed.name)
            return instance, instance.spec, entry
        try:
            instance = construct(cls, entry.name, entry.preset, parsed.options)
            return instance, canonical_text(entry.canonical_name, instance), entry
        except Exception as error:
            if entry.builtin or isinstance(error, EqbenchError | MemoryError):
                raise
            _fail(entry, error)


@dataclass(frozen=True, kw_only=True)
class NameOptions:
    """Options of commands that take names of games or solvers."""

    plugins: Plugins = ()

    def registry(self) -> Registry:
        """Registry of the names that specs may use."""
        return default_registry().with_plugins(self.plugins)


#: Registry of the built-in, installed and decorated games and solvers.
default_registry = Registry


@checked
def load_game(
    spec: str | Spec, *, max_nodes: int = DEFAULT_MAX_NODES, **options: Value | float | None
) -> Game:
    """Game of a spec, as :meth:`Registry.load_game`; its options may be given as keywords.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.load_game("kuhn", players=4, pot="9/2").spec
    'kuhn(players=4,cards=5,pot=9/2,reduce=none,raises=0)'
    >>> eqbench.load_game("kuhn", player=4)
    Traceback (most recent call last):
    eqbench.errors.SpecError: unknown option 'player' of kuhn: did you mean players? ...
    """
    return default_registry().load_game(_with_options(spec, options), max_nodes=max_nodes)


@checked
def load_solver(spec: str | Spec, **options: Value | float | None) -> Any:
    """Solver instance of a spec, whose options may be given as keywords.

    Raises as :meth:`Registry.load_solver`.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.load_solver("cfr", alternating=False).alternating
    False
    """
    return default_registry().load_solver(_with_options(spec, options)).instance


def _with_options(spec: str | Spec, options: Mapping[str, Value | float | None]) -> str | Spec:
    """Spec with options added; numbers and texts mean what they do in a spec."""
    if not options:
        return spec
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    texts = {
        name: value
        if isinstance(value, str) and re.fullmatch(r"-?[0-9./]+", value)
        else format_value(value)
        for name, value in options.items()
    }
    added = ",".join(f"{name}={text}" for name, text in texts.items())
    return parsed.replace(**dict(parse_spec(f"{parsed.name}({added})").options))


@checked
def register_game(name: str, *, summary: str = "", default: bool = True) -> Callable[[T], T]:
    """Decorator that names a dataclass with a method ``build() -> GameTree`` a game.

    Raises
    ------
    UsageError
        When it decorates, if the name is taken or the class is not a dataclass.
    """
    return lambda cls: _register("game", name, cls, summary=summary, default=default)


@checked
def register_solver(name: str, *, summary: str = "", default: bool = True) -> Callable[[T], T]:
    """Decorator that names a dataclass with the solver contract; `default` puts it in ``all``.

    Raises as :func:`register_game`.
    """
    return lambda cls: _register("solver", name, cls, summary=summary, default=default)


def _register(kind: Kind, name: str, cls: Any, *, summary: str, default: bool) -> Any:
    check_name(kind, name)
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        raise UsageError(
            f"register_{kind}({name!r}) wants a dataclass, got {cls!r}; "
            "its fields are the options, so put the decorator above @dataclass"
        )
    entry = decorated_entry(kind, name, cls, summary=summary, default=default)
    merge(e for e in (BUILTIN[kind].get(name), _registered.get((kind, name)), entry) if e)
    _registered[kind, name] = entry
    return cls


def _expected_nodes(spec: str, game: Any) -> int:
    """Number of nodes that a game announces, 0 if it does not."""
    expected = getattr(game, "expected_nodes", int)()
    if not isinstance(expected, Integral) or expected < 0:
        found = shortened(printable(repr(expected)))
        raise UsageError(
            f"expected_nodes() of {spec} returned {found}; it must return a whole number that is "
            "not negative"
        )
    return int(expected)


def _class_of(entry: Entry) -> type:
    """Class behind an entry, all of whose options a spec can express."""
    cls: Any = entry.cls
    try:
        if cls is None and entry.plugin:
            name = import_plugin(entry.plugin).__name__
            known = _registered.get((entry.kind, entry.name))
            if known is None or known.module != name:
                raise UsageError(f"{entry.plugin} does not register {entry.name!r} when it runs")
            cls = known.cls
        elif cls is None:
            module, _, path = entry.target.partition(":")
            cls = operator.attrgetter(path)(importlib.import_module(module))
        method = "build" if entry.kind == "game" else "solve"
        if not callable(getattr(cls, method, None)):
            raise TypeError(f"{entry.target} has no method {method}")
        option_fields(cls)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        _fail(entry, error)
    return cls


def _near(name: str, known: Iterable[str], *hints: str) -> str:
    """Hint at the known names closest to one, or at all, and at plugins."""
    words = nearest(name, known, *hints)
    if words.endswith("?"):  # a question, after which a sentence begins
        return f"{words} {PLUGIN_HINT[0].upper()}{PLUGIN_HINT[1:]}"
    return f"{words}; {PLUGIN_HINT}"


def _fail(entry: Entry, error: BaseException) -> NoReturn:
    """Raise the error that tells why an entry cannot be used."""
    reason = str(error) if isinstance(error, EqbenchError) else describe(error)
    text = f"the {entry.kind} {entry.name!r} of {entry.source} cannot be used: {reason}"
    raise (SolverUnavailableError if entry.kind == "solver" else UsageError)(text) from error
