"""Which sources a computation rests on, so that a stored result of older ones is not taken for new.

What it uses of eqbench beyond its own package changes with the version.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def source_digest(module: str) -> str:
    """Hash of the sources of a module and of all that it imports from its own package."""
    files: dict[str, bytes] = {}
    left = [module]
    while left:
        name = left.pop()
        if name in files:
            continue
        files[name] = _file(name).read_bytes()
        left += _imports(files[name], module.rpartition(".")[0])
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(files[name])
    return digest.hexdigest()[:16]


def _file(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise KeyError(module)
    return Path(spec.origin)


def _imports(source: bytes, package: str) -> Iterator[str]:
    """Modules of the package that a source imports, wherever it does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            if node.module.startswith(f"{package}."):
                yield node.module
            elif node.module == package:
                names = (f"{package}.{alias.name}" for alias in node.names)
                yield from (name for name in names if find_spec(name) is not None)
