"""Where things are kept that take long to make again, and what they depend on."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path


def cache_root() -> Path:
    """Folder for everything that may be deleted at any time; it need not exist yet.

    Raises
    ------
    RuntimeError
        If this user has no home folder.
    """
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen) / "eqbench"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "eqbench"
    else:
        base = os.environ.get("XDG_CACHE_HOME")
        return (Path(base) if base else Path.home() / ".cache") / "eqbench"


def package_sources(*packages: str) -> list[Path]:
    """All Python files of some packages, in a fixed order; nothing is imported."""
    folders = []
    for name in packages:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            folders += [Path(folder) for folder in spec.submodule_search_locations]
    return sorted(file for folder in folders for file in folder.rglob("*.py"))


def source_hash(files: Iterable[Path], *more: str) -> str:
    """Hash of the names and contents of files, and of what else matters."""
    digest = hashlib.sha256("\0".join(more).encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
