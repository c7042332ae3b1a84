"""The decorator for compiled kernels, and where their machine code is cached.

Numba's disk cache notices edits of a function but not of the functions that it calls. So the
cache folder is named after a hash of all sources that may contain kernels: after any edit
everything is compiled afresh.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

from eqbench.model.cache import cache_root, package_sources, source_hash

SWEEP = "compiled_sweep.py"


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
        compiled = numba.njit(nogil=True)(function)
        with contextlib.suppress(RuntimeError):  # not even an empty file can be written
            compiled._cache = _DispensableCache(function)
        return compiled
    finally:
        numba.config.CACHE_DIR = before


class _DispensableCache(FunctionCache):  # type: ignore[misc]
    """Machine code on disk; on a full disk everything is compiled once in each process."""

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


@cache
def cache_folder() -> Path | None:
    """Folder for machine code of these very sources; None if no folder can be written."""
    try:
        compiler = f"numba {numba.__version__} {sys.version}"
        name = f"kernels-{source_hash(kernel_sources(), compiler)}"
        folder = cache_root() / name
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError: this user has no home folder
        return None
    return folder if os.access(folder, os.W_OK) else None


def kernel_sources() -> list[Path]:
    """All Python files of the model, of the built-in solvers and of the verifier's own kernels.

    In a fixed order. The rest of the verifier, which is compiled nowhere, is left out.
    """
    verifier = [file for file in package_sources("eqbench.verification") if file.name == SWEEP]
    return package_sources("eqbench.model", "eqbench.solvers") + verifier
