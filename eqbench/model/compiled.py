"""The decorator for compiled kernels, and where their machine code is cached.

Numba's disk cache notices edits of a function but not of the functions that it calls. So the
cache folder is named after a hash of all sources that may contain kernels: after any edit
everything is compiled afresh.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba


def kernel(function: Callable) -> Callable:
    """Compile `function` with Numba, without the GIL, and keep the result on disk."""
    folder = cache_folder()
    if folder is None:
        return numba.njit(nogil=True)(function)
    # Numba picks the folder when it decorates. The setting is global to the process, so it
    # is put back at once to leave other people's cached functions where they were.
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        return numba.njit(nogil=True, cache=True)(function)
    finally:
        numba.config.CACHE_DIR = before


@cache
def cache_folder() -> Path | None:
    """Folder for machine code of these very sources; None if no folder can be written."""
    try:
        folder = _cache_root() / f"kernels-{source_hash(kernel_sources())}"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: this user has no home folder
        return None
    return folder if os.access(folder, os.W_OK) else None


def kernel_sources() -> list[Path]:
    """All Python files of the model and of the built-in solvers, in a fixed order."""
    import importlib.util

    folders = [Path(__file__).parent]
    solvers = importlib.util.find_spec("eqbench.solvers")
    if solvers is not None and solvers.submodule_search_locations:
        folders += [Path(folder) for folder in solvers.submodule_search_locations]
    return sorted(file for folder in folders for file in folder.rglob("*.py"))


def source_hash(files: list[Path]) -> str:
    """Hash of the contents of `files` and of the compiler's version."""
    digest = hashlib.sha256(f"numba {numba.__version__} {sys.version}".encode())
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen) / "eqbench"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "eqbench"
    base: Any = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "eqbench"
