"""Who may import whom: the checker behind ``tests/unit/test_architecture.py``.

It reads source text and imports nothing, so it also sees what only runs on rare paths. Imports
inside functions count like those at the top, and so do those under ``TYPE_CHECKING``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

VAGUE_NAMES = frozenset({"utils", "util", "helpers", "helper", "misc"})

# What reads data: no solver does, so none can know the equilibria that it is to find.
READING_MODULES = (
    *("csv", "importlib.resources", "io", "json", "os", "pathlib", "pickle", "pkgutil"),
    *("shelve", "sqlite3", "tomllib", "zipfile"),
)
READING_CALLS = frozenset(
    {"open", "read_text", "read_bytes", "load", "loadtxt", "genfromtxt", "fromfile", "memmap"}
)

# What comes from outside is read by eqbench.documents, which never waits for a pipe and never reads
# without end; but these read the system, own sources, or bytes that were read by it.
UNBOUNDED_CALLS = frozenset({"read_text", "read_bytes", "np.load"})
BOUNDED_UNITS = frozenset({"cli", "harness", "store", "studies"})
TRUSTING = frozenset(
    {
        "eqbench.harness.environment",
        "eqbench.harness.keeper",
        "eqbench.store.array_archive",
        "eqbench.papers.sources",
    }
)

# The folders of a checkout and the packages that they are.
FOLDERS = {
    "eqbench": "eqbench",
    "games": "eqbench.games",
    "solvers": "eqbench.solvers",
    "tests": "tests",
}
PLUGINS = ("eqbench.games", "eqbench.solvers", "games", "solvers")

# They import nothing of the project but each other, so everyone may import them.
COMMON = frozenset({"errors", "spec", "text", "documents"})


@dataclass(frozen=True)
class Row:
    """What one unit may import beside itself, the standard library and `COMMON`.

    `core` holds modules below ``eqbench.``, each with what it contains. `third_party` is None
    where any installed package will do. A `lazy` unit imports only the standard library,
    `COMMON`, itself and `third_party_at_top` before one of its functions runs.
    """

    core: frozenset[str] = frozenset()
    third_party: frozenset[str] | None = None
    lazy: bool = False
    third_party_at_top: frozenset[str] = frozenset()


def _row(core: str = "", third_party: str | None = None) -> Row:
    names = None if third_party is None else frozenset(third_party.split())
    return Row(frozenset(core.split()), names)


# The registry in parts: options, where entries come from, the table of built-ins, the names.
_REGISTRY = "options plugins builtin registry"
_BELOW_REPORT = f"model solver continuation dynamics {_REGISTRY} verification equilibria store"
_EVERYTHING = frozenset(f"{_BELOW_REPORT} harness report studies testing".split())

TABLE = {
    "errors": _row(third_party=""),
    "spec": _row(third_party=""),
    "text": _row(third_party=""),
    "documents": _row(third_party="msgspec"),
    "model": _row(third_party="numpy scipy numba msgspec"),
    "solver": _row("model", "numpy"),
    "continuation": _row("model", "numpy"),
    "dynamics": _row("model", "numpy"),
    "options": _row(third_party=""),
    "plugins": _row("options", third_party=""),
    "builtin": _row("options plugins", third_party=""),
    "registry": _row("model solver options plugins builtin", "numpy"),
    "games": _row("model"),
    "solvers": _row("model solver continuation dynamics"),
    "verification": _row("model.tree model.profile model.rational", "numpy"),
    "equilibria": _row("model verification"),
    "store": _row("model"),
    "report": _row("store model"),
    "harness": _row(_BELOW_REPORT),
    "studies": _row(f"{_BELOW_REPORT} harness report testing"),
    "testing": _row(f"{_REGISTRY} solver model verification harness"),
    "cli": Row(_EVERYTHING, lazy=True, third_party_at_top=frozenset({"click"})),
    "__main__": _row("cli", third_party=""),
    # eqbench/__init__.py
    "": Row(_EVERYTHING | {"cli"}, lazy=True),
}


@dataclass(frozen=True)
class Source:
    """One module: its dotted name, its text, and whether it is an ``__init__.py``."""

    module: str
    text: str
    is_package: bool = False

    @property
    def unit(self) -> str:
        """The row of `TABLE` it belongs to, e.g. ``model`` for ``eqbench.model.tree``."""
        return self.module.removeprefix("eqbench").lstrip(".").partition(".")[0]


@dataclass(frozen=True)
class Import:
    """One imported module, as written in one statement."""

    line: int
    module: str
    names: tuple[str, ...]
    level: int
    at_top: bool


def sources(root: Path) -> Iterator[Source]:
    """Yield every module of the checkout at `root`, tests included."""
    for folder, package in FOLDERS.items():
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            is_package = parts[-1] == "__init__"
            module = ".".join((package, *(parts[:-1] if is_package else parts)))
            yield Source(module, path.read_text(encoding="utf-8"), is_package)


def _imports(node: ast.AST, *, at_top: bool = True) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(child.lineno, alias.name, (), 0, at_top)
        elif isinstance(child, ast.ImportFrom):
            names = tuple(alias.name for alias in child.names)
            yield Import(child.lineno, child.module or "", names, child.level, at_top)
        elif isinstance(child, ast.If) and _is_type_checking(child.test):
            yield from _imports(ast.Module(child.body, []), at_top=False)
            yield from _imports(ast.Module(child.orelse, []), at_top=at_top)
        else:
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(child, at_top=at_top and not is_function)


def _is_type_checking(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in (getattr(test, "id", None), getattr(test, "attr", None))


def _targets(source: Source, found: Import, modules: frozenset[str]) -> Iterable[str]:
    """Return the absolute modules that `found` brings in; a name may itself be a module."""
    base = found.module
    if found.level:
        drop = found.level - (1 if source.is_package else 0)
        parts = source.module.split(".")
        base = ".".join([*parts[: len(parts) - drop], *([base] if base else [])])
    inside = [f"{base}.{name}" for name in found.names]
    # A name that is no module (a class, a function) is delivered by the package itself.
    return sorted({name if name in modules else base for name in inside} or {base})


def _is_within(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(f"{prefix}.")


def _fault_of_test(target: str) -> str | None:
    if any(_is_within(target, plugin) for plugin in PLUGINS):
        return f"imports the plugin package {target}; reach it through the registry"
    return None


def _fault_outside(row: Row, target: str, *, at_top: bool) -> str | None:
    """Judge an import of the standard library or of a third party."""
    name = target.partition(".")[0]
    if name in ("games", "solvers"):
        return f"imports {target} as a top-level package"
    if name in sys.stdlib_module_names:
        return None
    if row.lazy and at_top and name not in row.third_party_at_top:
        return f"imports {target} at the top; import it inside a function"
    if row.third_party is not None and name not in row.third_party:
        return f"may not import {target}"
    return None


def _fault_inside(source: Source, row: Row, target: str, found: Import) -> str | None:
    """Judge an import of a module of eqbench."""
    within = target.removeprefix("eqbench").lstrip(".")
    unit = within.partition(".")[0]
    if unit in ("games", "solvers"):
        if unit != source.unit:
            return f"imports the plugin package {target}; reach it through the registry"
        if not found.level:
            return f"imports {target} by its full name; plugins import each other relatively"
        return None
    if source.unit in ("games", "solvers") and found.level:
        return f"imports {target} relatively; plugins import the core as eqbench.…"
    if unit in COMMON or unit == source.unit:
        return None
    if row.lazy and found.at_top:
        return f"imports {target} at the top; import it inside a function"
    if not any(_is_within(within, allowed) for allowed in row.core):
        return f"may not import {target}"
    return None


def import_faults(source: Source, modules: frozenset[str] = frozenset()) -> list[str]:
    """Return one message for each import of `source` that the table forbids.

    `modules` are the names of all modules of the checkout: they tell ``from package import
    module`` from ``from package import function``.
    """
    is_test = _is_within(source.module, "tests")
    row = TABLE.get(source.unit)
    if row is None and not is_test:
        return [
            f"{source.module}: `{source.unit}` has no row in the table of tests/architecture.py"
        ]
    faults = []
    for found in _imports(ast.parse(source.text)):
        for target in _targets(source, found, modules):
            if row is None or is_test:
                fault = _fault_of_test(target)
            elif _is_within(target, "eqbench"):
                fault = _fault_inside(source, row, target, found)
            else:
                fault = _fault_outside(row, target, at_top=found.at_top)
            if fault:
                faults.append(f"{source.module}:{found.line}: {fault}")
    return faults


def name_faults(source: Source) -> list[str]:
    """Return the messages about the name of one module."""
    return [
        f"{source.module}: `{name}` says nothing; name what it holds"
        for name in source.module.split(".")
        if name in VAGUE_NAMES
    ]


def data_faults(source: Source) -> list[str]:
    """Return one message for each way in which a solver gets at data that is no code."""
    if source.unit != "solvers":
        return []
    faults = []
    tree = ast.parse(source.text)
    for found in _imports(tree):
        names = {found.module, *(f"{found.module}.{name}" for name in found.names)}
        for module in READING_MODULES:
            if found.module == "io" and found.names == ("StringIO",):
                continue  # text in memory reads nothing
            if not found.level and any(_is_within(name, module) for name in names):
                faults.append(f"{source.module}:{found.line}: imports {module} to read data")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            if name in READING_CALLS:
                faults.append(f"{source.module}:{node.lineno}: calls {name} to read data")
    return faults


def border_faults(source: Source) -> list[str]:
    """Return one message for each file that is read past the one reader of files."""
    if source.unit not in BOUNDED_UNITS or source.module in TRUSTING:
        return []
    return [
        f"{source.module}:{node.lineno}: calls {ast.unparse(node.func)}; read by eqbench.documents"
        for node in ast.walk(ast.parse(source.text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and not UNBOUNDED_CALLS.isdisjoint({node.func.attr, ast.unparse(node.func)})
    ]


def data_files(root: Path) -> list[str]:
    """Return the files in the folder of the solvers that are no modules."""
    return [
        str(path.relative_to(root))
        for path in sorted((root / "solvers").rglob("*"))
        if path.is_file() and path.suffix != ".py" and path.parent.name != "__pycache__"
    ]


def all_faults(root: Path) -> list[str]:
    """Return every fault of the checkout at `root`."""
    found = list(sources(root))
    modules = frozenset(source.module for source in found)
    return [
        fault
        for source in found
        for fault in (
            *import_faults(source, modules),
            *name_faults(source),
            *data_faults(source),
            *border_faults(source),
        )
    ]
