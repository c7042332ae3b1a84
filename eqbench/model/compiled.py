"""Decorators for compiled kernels, what these need of the processor, and their cache.

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
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.caching import FunctionCache
from numba.extending import intrinsic
from numpy.typing import NDArray

from eqbench.model.cache import cache_root, package_sources, source_hash


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


def inlined(function: Callable) -> Callable:
    """Variant of a function or kernel whose body is copied into the kernels that call it.

    A call between kernels passes every array as a structure of its own and counts references.
    In two-player Kuhn poker that took two thirds of the time.
    """
    return numba.njit(nogil=True, inline="always")(getattr(function, "py_func", function))


@intrinsic
def prefetch(_: Any, array: Any, place: Any) -> Any:
    """Have an item of a C-contiguous array, which may lie beyond its end, fetched into the caches.

    Processors notice by themselves that arrays are read in order, but those measured here
    do not look far enough ahead: CFR on three-player Leduc poker took twice as long.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        call = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        # for reading, to stay in all caches, data
        builder.call(call, [address, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, place), generate


@intrinsic
def _add_and_fetch(_: Any, array: Any, amount: Any) -> Any:
    """Add to the first item of an int64 array at once; all threads see it and what came before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        before = builder.atomic_rmw("add", data, arguments[1], "seq_cst")
        return builder.add(before, arguments[1])

    return types.int64(array, types.int64), generate


_let_others_run = types.ExternalFunction("sched_yield", types.int32())


@numba.njit(nogil=True)
def wait_for_all(arrivals: NDArray[np.int64], awaited: int) -> None:
    """Count this thread in, and wait until so many have been counted.

    A mere spin would keep others, perhaps the very thread awaited, from the core.
    """
    there = _add_and_fetch(arrivals, 1)
    while there < awaited:
        _let_others_run()
        there = _add_and_fetch(arrivals, 0)


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
    """All Python files that may hold kernels, in a fixed order: model, verifier, solvers."""
    return package_sources("eqbench.model", "eqbench.solvers", "eqbench.verification")
