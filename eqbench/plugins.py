"""Entries of the registry, and where they come from besides the built-in tables.

Three sources: installed distributions (entry-point groups ``eqbench.games`` and
``eqbench.solvers``), files (``--plugin FILE``), and classes decorated in this process.
Entry points and files are listed without running any of their code.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import re
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from eqbench.documents import read_file
from eqbench.errors import UsageError
from eqbench.options import OptionValue

Kind = Literal["game", "solver"]
MODULE_PREFIX = "eqbench_plugin_"


@dataclass(frozen=True)
class Entry:
    """One named game or solver; nothing of it need be imported yet.

    Attributes
    ----------
    kind, name : `game` or `solver`, and its name in specs
    target : ``module:Class``
    summary : one line
    preset : defaults of options that differ from those of the class; a spec overrides them
    family : name in canonical specs; the entry's own unless it is an alias
    default_row : for solvers, whether ``all`` includes it
    group : for solvers, of a library whose solvers are named together as ``GROUP_all``
    requires : import names of the optional packages that it needs; ``a or b`` needs one of them
    takes : of a built-in solver, `yes`, `some` or `no` for each kind of games
    origin : `builtin`, `distribution`, `plugin` or `decorator`
    source : who brought it: ``eqbench``, ``distribution NAME``, a file, or a module
    plugin : absolute path of the file that a child process has to load first, or None
    """

    kind: Kind
    name: str
    target: str
    summary: str = ""
    preset: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)
    family: str = ""
    default_row: bool = True
    group: str = ""
    requires: tuple[str, ...] = ()
    takes: Mapping[str, str] = field(default_factory=dict, hash=False)
    origin: Literal["builtin", "distribution", "plugin", "decorator"] = "builtin"
    source: str = "eqbench"
    plugin: str | None = None
    cls: type | None = field(default=None, repr=False, compare=False)

    @property
    def builtin(self) -> bool:
        """Whether eqbench ships it, so that its code may run in the parent process."""
        return self.origin == "builtin"

    @property
    def module(self) -> str:
        """Module that defines it."""
        return self.target.partition(":")[0]

    @property
    def canonical_name(self) -> str:
        """Name in canonical specs."""
        return self.family or self.name

    def missing(self) -> list[str]:
        """Required packages that are not installed; none of them is imported."""
        return [
            need
            for need in self.requires
            if all(importlib.util.find_spec(name) is None for name in need.split(" or "))
        ]


def merge(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Entries by name, in order; the first of several from one source stays.

    Raises
    ------
    UsageError
        If two sources bring the same name.
    """
    table: dict[str, Entry] = {}
    for entry in entries:
        known = table.setdefault(entry.name, entry)
        # A module that an entry point names may also decorate; it may define the class elsewhere
        # in its package than where the entry point looks for it.
        by_both_ways = {known.origin, entry.origin} == {"distribution", "decorator"}
        modules = {re.split(r"[.:]", each.target)[0] for each in (known, entry)}
        is_same = known.source == entry.source or known.target == entry.target
        if not is_same and not (by_both_ways and len(modules) == 1):
            raise UsageError(
                f"the {entry.kind} {entry.name!r} comes from both {known.source} "
                f"and {entry.source}; rename one of them"
            )
    return table


def check_name(kind: Kind, name: str) -> None:
    """Raise a UsageError for names that no spec can hold."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name) or f"_{name}".endswith("_all"):
        raise UsageError(
            f"{name!r} cannot name a {kind}: a name is letters, digits and underscores, "
            "neither all nor ending in _all"
        )


def decorated_entry(kind: Kind, name: str, cls: type, *, summary: str, default: bool) -> Entry:
    """Entry of a class that is decorated right now."""
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    source = str(Path(file).resolve()) if file else f"module {cls.__module__}"
    place = Path(file).name if file else source
    from_plugin = cls.__module__.startswith(MODULE_PREFIX)
    # A dataclass without a docstring is given its signature as one.
    doc = "" if (cls.__doc__ or "").startswith(f"{cls.__name__}(") else cls.__doc__
    return Entry(
        kind,
        name,
        f"{cls.__module__}:{cls.__qualname__}",
        summary=summary or _first_line(doc) or f"from {place}",
        default_row=default,
        origin="plugin" if from_plugin else "decorator",
        source=source,
        plugin=source if from_plugin else None,
        cls=cls,
    )


def entry_points(kind: Kind) -> list[Entry]:
    """Games or solvers of installed distributions by these and by name; imports none of them."""
    found = [
        Entry(
            kind,
            point.name,
            point.value.partition("[")[0].strip(),
            summary=f"from {point.dist.name if point.dist else 'an unknown distribution'}",
            origin="distribution",
            source=f"distribution {point.dist.name if point.dist else point.value}",
        )
        for point in _points(tuple(sys.path)).select(group=f"eqbench.{kind}s")
    ]
    return sorted(found, key=lambda entry: (entry.source, entry.name))


def installed(group: str) -> dict[str, str]:
    """``module:attribute`` by name of what installed distributions bring in a group of eqbench."""
    points = _points(tuple(sys.path)).select(group=f"eqbench.{group}")
    return {point.name: point.value for point in sorted(points, key=lambda point: point.name)}


@functools.cache  # reading the files of all distributions takes about 10 ms
def _points(path: tuple[str, ...]) -> Any:
    """Return the entry points of distributions in the folders of a path."""
    return metadata.entry_points()


def absolute_files(files: Iterable[str | Path]) -> tuple[str, ...]:
    """Plugin files as they are stored: from another folder each is still the same file."""
    return tuple(str(Path(file).absolute()) for file in files)


def scan_plugin(path: str | Path) -> list[Entry]:
    """Entries of what a file registers, read from its text; none of its code runs.

    Found are classes decorated with ``register_game`` or ``register_solver``, plain or as
    an attribute (``eqbench.register_solver``), if the name is a literal string.

    Raises
    ------
    UsageError
        If the file cannot be read, is not Python, or registers nothing.
    """
    file, content = _read_file(path)
    try:
        tree = ast.parse(content, filename=str(file))
    except SyntaxError as error:
        raise UsageError(f"{file}:{error.lineno}: not valid Python: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file}: not valid Python: {error}") from error
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found = [e for node in classes for e in _registrations(node, file, _module_name(content))]
    if not found:
        raise UsageError(
            f"{file} registers nothing; decorate a dataclass with "
            '@eqbench.register_solver("name") or @eqbench.register_game("name"), '
            "the name written as a literal string"
        )
    for number, entry in enumerate(found):
        check_name(entry.kind, entry.name)
        if (entry.kind, entry.name) in [(other.kind, other.name) for other in found[:number]]:
            raise UsageError(f"{file} registers the {entry.kind} {entry.name!r} twice; rename one")
    return found


def import_plugin(path: str | Path, what: str = "plugin") -> types.ModuleType:
    """Module of a plugin file, named after its content; it runs once per process.

    Parameters
    ----------
    what : what the file is called in messages

    Raises
    ------
    UsageError
        If the file cannot be read or running it fails.
    """
    file, content = _read_file(path, what)
    name = _module_name(content)
    if name in sys.modules:
        return sys.modules[name]
    module = types.ModuleType(name)
    module.__file__ = str(file)
    # Dataclasses look their module up while it runs. And a loader would trust a stale .pyc
    # where size and second of an edit agree, so the very bytes that were hashed are run.
    sys.modules[name] = module
    try:
        exec(compile(content, str(file), "exec"), module.__dict__)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception | SystemExit):
            raise UsageError(f"the {what} {file} fails when it runs: {describe(error)}") from error
        raise
    return module


def describe(error: BaseException) -> str:
    """Type and text of an exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _read_file(path: str | Path, what: str = "plugin") -> tuple[Path, bytes]:
    try:
        file = Path(path).resolve()
        return file, read_file(file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", error)
        raise UsageError(
            f"cannot read the {what} {path}: {reason}; give the path of a Python file"
        ) from error


def _module_name(content: bytes) -> str:
    return MODULE_PREFIX + hashlib.sha256(content).hexdigest()[:16]


def _registrations(node: ast.ClassDef, file: Path, module: str) -> Iterator[Entry]:
    """Entries for the decorators of a class that register it under a literal name."""
    for call in node.decorator_list:
        if not isinstance(call, ast.Call):
            continue
        function = getattr(call.func, "attr", None) or getattr(call.func, "id", None)
        given = {k.arg: k.value.value for k in call.keywords if isinstance(k.value, ast.Constant)}
        if call.args and isinstance(call.args[0], ast.Constant):
            given["name"] = call.args[0].value
        name = given.get("name")
        if function in ("register_game", "register_solver") and isinstance(name, str):
            doc = _first_line(ast.get_docstring(node))
            yield Entry(
                "game" if function == "register_game" else "solver",
                name,
                f"{module}:{node.name}",
                summary=str(given.get("summary") or doc or f"from {file.name}"),
                default_row=bool(given.get("default", True)),
                origin="plugin",
                source=str(file),
                plugin=str(file),
            )


def _first_line(doc: str | None) -> str:
    return next(iter((doc or "").strip().splitlines()), "")
