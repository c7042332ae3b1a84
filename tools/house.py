"""What the code of the project counts: ``make size``."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("eqbench", "games", "solvers")
SLICES_MAY_STAND = ("eqbench.papers", "eqbench.solvers")
LONG_TEXT = 12  # characters, from which a test pins the wording of what it compares


def import_graph() -> object:
    """Graph of all imports, those inside functions and for type checkers included."""
    import grimp

    sys.path.insert(0, str(ROOT))
    try:
        return grimp.build_graph("eqbench", cache_dir=None)
    finally:
        sys.path.remove(str(ROOT))


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """Sets of modules that import each other, directly or through others of the set."""
    reached: dict[str, set[str]] = {}
    for module in imports:
        seen: set[str] = set()
        ahead = [module]
        while ahead:
            for other in imports[ahead.pop()] - seen:
                seen.add(other)
                ahead.append(other)
        reached[module] = seen
    found = {
        frozenset(b for b in reached[a] if a in reached[b]) for a in imports if a in reached[a]
    }
    return [set(circle) for circle in found]


def commands() -> dict[str, int]:
    """Count options and arguments of each command; those of `study FILE` belong to its file."""
    import click

    from eqbench.cli import app

    context = click.Context(app)
    found = {name: app.get_command(context, name) for name in app.list_commands(context)}
    return {name: len(command.params) for name, command in found.items() if command}


def lines(*folders: str) -> tuple[int, int]:
    """Return how many modules there are below these folders, and their lines."""
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    return len(files), sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def everyday_words() -> int:
    """Count words of everyday speech where the field has terms, in code and its strings."""
    words = re.compile(
        r"\b(said|told|asked|nobody|somebody|beside|anew|goes on|what became of|gives? up|given up)"
        r"\b",
        re.IGNORECASE,
    )
    files = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return sum(len(words.findall(file.read_text(encoding="utf-8"))) for file in files)


def data_lines(folder: str) -> tuple[int, int]:
    """Return how many tables of data there are below a folder, and their lines but empty ones."""
    files = [f for f in (ROOT / folder).rglob("*") if f.suffix in (".toml", ".csv", ".json")]
    found = [line for f in files for line in f.read_text(encoding="utf-8").splitlines() if line]
    return len(files), len(found)


def wording() -> tuple[int, int]:
    """Return how many tests pin a text of twelve characters or more, in all or by `match=`."""
    tests = [
        node
        for file in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    return sum(any(map(_is_wording, ast.walk(test))) for test in tests), len(tests)


def _is_wording(node: ast.AST) -> bool:
    """Return whether a comparison, or what an error must match, holds a text of words."""
    if isinstance(node, ast.keyword):
        sides = [node.value] * (node.arg == "match")
    else:
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
    sides += [each for side in sides if hasattr(side, "elts") for each in side.elts]
    known = (part for side in sides for part in getattr(side, "values", [side]))
    texts = (part.value for part in known if isinstance(part, ast.Constant))
    return any(isinstance(text, str) and len(text) >= LONG_TEXT for text in texts)


def main() -> None:
    """Print the counts."""
    for name, folders in (
        ("code", FOLDERS),
        *((f"  {folder}", (folder,)) for folder in ("games", "solvers")),
        *(
            (f"  {folder.name}", (f"eqbench/{folder.name}",))
            for folder in sorted((ROOT / "eqbench").iterdir())
            if (folder / "__init__.py").exists() and not folder.is_symlink()
        ),
        ("tests", ("tests",)),
        ("tools", ("tools",)),
        ("benchmarks", ("benchmarks",)),
    ):
        modules, count = lines(*folders)
        print(f"{name:<16}{modules:>5} modules {count:>8,} lines")
    tables, count = data_lines("eqbench/papers")
    print(f"{'data of papers':<16}{tables:>5} tables  {count:>8,} lines")
    graph = import_graph()
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    importers = {name: graph.find_modules_that_directly_import(name) for name in imports}
    # what users import by the names of the package is no slice of another module
    stub = (ROOT / "eqbench" / "__init__.pyi").read_text(encoding="utf-8").splitlines()
    public = {line.split()[1] for line in stub if line.startswith("from ")}
    alone = sorted(name for name, by in importers.items() if len(by) == 1)
    single = [name for name in alone if name not in public]
    slices = [name for name in single if not name.startswith(SLICES_MAY_STAND)]
    print(
        f"{len(single)} modules with one importer, {len(slices)} of them not in papers or solvers:"
    )
    for name in slices:
        print(f"  {name} <- {next(iter(importers[name]))}")
    print(f"{len(circles(imports))} circles")
    options = commands()
    print(f"{len(options)} commands, {sum(options.values())} options and arguments")
    print(f"{everyday_words()} words of everyday speech in the code")
    pinned, tests = wording()
    print(f"{tests:,} tests, {pinned / tests:.0%} of which pin the wording of a text")


if __name__ == "__main__":
    main()
