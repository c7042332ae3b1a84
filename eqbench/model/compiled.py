"""Kernels: plain Python at first, machine code where that pays, and the cache of machine code.

A kernel is a function on flat arrays that Numba can compile. Compiling one takes seconds, running
it once in a small game as plain Python milliseconds. So a kernel runs as plain Python until that
has taken :data:`PATIENCE_S` seconds or is given large arrays, and as machine code from then on, and
from the beginning where the code is on disk. With ``EQBENCH_KERNELS=machine`` it is compiled at its
first call, without Numba never. The bits are the same: a kernel takes :func:`exp`, :func:`log` and
:func:`inner_product` from here, and no sum or power of a whole array. Only quotients of complex
numbers may differ in the last one.

Numba's disk cache notices edits of a function but not of the functions that it calls, and none is
shared between checkouts. So files are named after a hash of what a kernel is compiled of: its code,
that of the kernels that it calls, and the constants that they read. A kernel names these itself,
not as attributes of a module.
"""

from __future__ import annotations

import cmath
import functools
import hashlib
import importlib.metadata
import importlib.util
import math
import os
import re
import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.model.cache import cache_root, source_hash

# Seconds of a kernel in plain Python, and items of arrays that it is given, from which on compiling
# it pays.
PATIENCE_S = 1.0
MANY_ITEMS = 20_000
# A kernel that has taken this share of the patience is compiled with one that has taken all, as are
# those that call it.
WARM_SHARE = 0.05
# Environment variable: `python`, `machine` (from the first call on), or `auto`, the default.
MODE = "EQBENCH_KERNELS"


class Preparation:
    """What kernels cost a process that is not their work.

    Attributes
    ----------
    wall_s, cpu_s : seconds of loading Numba, of compiling and of reading machine code
    plain_s : seconds of kernels in plain Python, to which these do not count
    around : what a kernel is compiled in, given its name; the worker of a cell has its own
    """

    def __init__(self) -> None:
        self.wall_s = self.cpu_s = self.plain_s = 0.0
        self.around: Callable[[str], AbstractContextManager[None]] = lambda name: nullcontext()
        self._depth = self._plain_depth = 0
        self._compiling = False

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the time inside a ``with``."""
        self._depth += 1
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self.wall_s += time.perf_counter() - wall
                self.cpu_s += time.process_time() - cpu

    @contextmanager
    def compiling(self, kernel: str) -> Iterator[None]:
        """Compile a kernel inside a ``with``, and perhaps others with it."""
        outermost, self._compiling = not self._compiling, True
        try:
            with self.around(kernel) if outermost else nullcontext(), self.counted():
                yield
        finally:
            self._compiling = not outermost

    def plain(self, function: Callable, args: tuple) -> tuple[Any, float]:
        """Result of a kernel in plain Python, and the seconds that it took."""
        self._plain_depth += 1
        start = method_s()
        try:
            result = function(*args)
        finally:
            self._plain_depth -= 1
            seconds = method_s() - start
            if not self._plain_depth:
                self.plain_s += seconds
        return result, seconds


preparation = Preparation()


def method_s() -> float:
    """Seconds of a clock that stands still while kernels are prepared."""
    return time.perf_counter() - preparation.wall_s


def method_cpu_s() -> float:
    """CPU seconds of this process on a clock that stands still while kernels are prepared."""
    return time.process_time() - preparation.cpu_s


class Kernel:
    """A function that runs as plain Python or as machine code, whichever costs less in all.

    Kernels may call each other by their names.
    """

    def __init__(self, function: Callable, *, inline: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        # where Numba looks for what it copies into callers
        self.targetoptions = {"inline": "always"} if inline else {}
        self._run = function if inline else None
        self._plain_s: dict[Any, float] = {}  # by types of arguments, None while Numba is not there
        self._samples: dict[Any, tuple] = {}  # of these types, as they were given
        self._running = 0  # calls in plain Python that have not returned

    def __call__(self, *args: Any) -> Any:
        """Run it; arguments are not checked."""
        return self._begin(args) if self._run is None else self._run(*args)

    def compile(self, *args: Any) -> None:
        """Have machine code for arguments of such types, if Numba is there."""
        if has_numba():
            self._run = self._dispatcher
            kinds = tuple(map(_numba().typeof, args))
            if kinds not in self._dispatcher.overloads:
                self._machine_code(kinds)

    def _machine_code(self, kinds: tuple) -> Callable:
        """What runs arguments of these types, from disk if it is there."""
        if self._on_disk(kinds):
            with preparation.counted():
                return self._dispatcher.compile(kinds)
        with preparation.compiling(self.py_func.__name__), self._alone():
            return self._dispatcher.compile(kinds)

    @contextmanager
    def _alone(self, what: str = "lock") -> Iterator[None]:
        """Wait for other processes that compile the same kernel, or write its index."""
        with ExitStack() as held:
            if (folder := cache_folder()) is not None:
                with suppress(ImportError, OSError):  # no such locks here: it is compiled twice
                    import fcntl

                    file = held.enter_context(open(folder / f"{self._file}.{what}", "wb"))
                    fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _begin(self, args: tuple) -> Any:
        """Run it while nothing is decided."""
        if not has_numba():
            self._run = self.py_func
        elif "numba" in sys.modules or _pays(args) or self._on_disk():
            self._run = self._dispatcher
        else:
            return self._in_python(None, args)
        return self._run(*args)

    def _in_python(self, kinds: Any, args: tuple) -> Any:
        """Run it as plain Python, and compile it when that has taken long enough."""
        if kinds not in self._samples:
            self._samples[kinds] = _as_given(args)
        self._running += 1
        try:
            result, seconds = preparation.plain(self.py_func, args)
        finally:
            self._running -= 1
        self._plain_s[kinds] = self._plain_s.get(kinds, 0.0) + seconds
        if self._plain_s[kinds] > PATIENCE_S:
            with preparation.compiling(self.py_func.__name__):
                for kernel in _kernels:
                    spent = max(kernel._plain_s.values(), default=0.0)
                    if kernel._running or spent > WARM_SHARE * PATIENCE_S:
                        samples = [*kernel._samples.values()]
                        kernel._samples.clear()
                        kernel._plain_s.clear()
                        for sample in samples:
                            kernel.compile(*sample)
        return result

    def _missing(self, *args: Any) -> Callable:
        """What runs arguments of types that were not met yet; Numba's dispatcher asks for it."""
        with preparation.counted():
            kinds = tuple(map(_numba().typeof, args))
            known = kinds not in self._plain_s and self._on_disk(kinds)
        if known or _pays(args):
            return self._machine_code(kinds)
        return lambda *args: self._in_python(kinds, args)

    @functools.cached_property
    def _dispatcher(self) -> Any:
        with preparation.counted():
            made = _numba().njit(nogil=True, **self.targetoptions)(self.py_func)
            made._compile_for_args = self._missing
            if cache_folder() is not None and not self.targetoptions:
                made._cache = _dispensable_cache()(self)
            return made

    @property
    def _numba_type_(self) -> Any:
        """Its type, where kernels that are compiled call it."""
        return self._dispatcher._numba_type_

    @functools.cached_property
    def _file(self) -> str:
        """Beginning of the names of its files: a hash of all that it is compiled of stands last."""
        digest = hashlib.sha256(self.__module__.encode())
        for part in _ingredients(self.py_func, {}):
            digest.update(repr(part).encode() + b"\0")
        name = f"{self.__module__.rpartition('.')[2]}.{self.py_func.__qualname__}"
        return f"{re.sub(r'[^.a-zA-Z0-9_]', '', name)}-{digest.hexdigest()[:16]}"

    def _on_disk(self, kinds: Any = None) -> bool:
        """Whether there is machine code for arguments of some types, or of any."""
        if kinds is None:
            folder = cache_folder()
            return folder is not None and (folder / f"{self._file}.nbi").exists()
        kept = self._dispatcher._cache
        if not hasattr(kept, "_cache_file"):
            return False
        context = self._dispatcher.targetctx
        context.refresh()
        return kept._index_key(kinds, context.codegen()) in kept._cache_file._load_index()


def _ingredients(function: Any, seen: dict[Any, int]) -> Iterator[Any]:
    """Code of a function and of the kernels that it calls, and the constants that they read.

    A function that was met before, as `seen` counts them, is given by its number.
    """
    yield seen.setdefault(function, len(seen))
    closure = [cell.cell_contents for cell in function.__closure__ or ()]
    named = function.__globals__ | dict(zip(function.__code__.co_freevars, closure, strict=True))
    yield from _constants(function.__defaults__)
    codes = [function.__code__]
    for code in codes:
        yield code.co_code, code.co_names, code.co_freevars
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                codes.append(constant)
            else:
                yield from _constants(constant)
        for name in (*code.co_names, *code.co_freevars):
            value = named.get(name)
            if isinstance(value, Kernel):
                yield name, value.targetoptions
                met = seen.get(value.py_func)
                yield from _ingredients(value.py_func, seen) if met is None else [met]
            elif isinstance(value, types.ModuleType):
                if value.__name__.partition(".")[0] not in ("numpy", "math", "cmath"):
                    raise TypeError(f"{function.__name__} is a kernel and must import from {name}")
            else:
                yield from _constants(value)


def _constants(value: Any) -> Iterator[Any]:
    """What tells a constant of a kernel from others, down to the last bit."""
    if isinstance(value, np.ndarray):
        yield value.dtype.str, value.shape, value.tobytes()
    elif isinstance(value, tuple):
        yield type(value).__qualname__, len(value)
        for each in value:
            yield from _constants(each)
    elif isinstance(value, type):  # of a named tuple that a kernel makes, or of an Enum
        fields = getattr(value, "_fields", ()), getattr(value, "_field_defaults", {})
        members = {each.name: each.value for each in getattr(value, "__members__", {}).values()}
        yield value.__qualname__, *fields, members
    elif not callable(value):
        yield value


_kernels: list[Kernel] = []


def kernel(function: Callable) -> Kernel:
    """Make a kernel of a function that Numba can compile, without the GIL then."""
    _kernels.append(Kernel(function))
    return _kernels[-1]


def inlined(function: Callable) -> Kernel:
    """Variant of a function or kernel whose body is copied into the kernels that call it.

    A call between kernels passes every array as a structure of its own and counts references.
    In two-player Kuhn poker that took two thirds of the time.
    """
    return Kernel(getattr(function, "py_func", function), inline=True)


def rebound(function: Callable, name: str, **called: Any) -> Any:
    """Plain function of a kernel that calls others in place of those of these names."""
    source: Any = getattr(function, "py_func", function)
    made = types.FunctionType(source.__code__, {**source.__globals__, **called}, source.__name__)
    made.__qualname__, made.__doc__ = f"{source.__qualname__}_{name}", source.__doc__
    made.__module__ = source.__module__
    return made


def variant(function: Callable, name: str, **called: Any) -> Kernel:
    """Kernel that calls others in place of those of these names, or reads other constants.

    Its machine code is kept under both names.
    """
    made = rebound(function, name, **called)
    is_inlined = isinstance(function, Kernel) and bool(function.targetoptions)
    return inlined(made) if is_inlined else kernel(made)


def prefetch(array: NDArray, place: Any) -> None:
    """Have an item of a C-contiguous array, which may lie beyond its end, fetched into the caches.

    Processors notice by themselves that arrays are read in order, but those measured here
    do not look far enough ahead: CFR on three-player Leduc poker took twice as long.
    """


def exp(x: Any) -> Any:
    """Exponential by the C library, as in machine code; NumPy's differs in the last bits."""
    try:
        return cmath.exp(x) if isinstance(x, complex) else math.exp(x)
    except OverflowError:
        return math.inf


def log(x: float) -> float:
    """Natural logarithm of a nonnegative number by the C library, -inf at 0."""
    return math.log(x) if x > 0.0 else -math.inf


@kernel
def inner_product(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Inner product, summed in the order of the entries; NumPy's order depends on the length."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def _add_and_fetch(array: NDArray[np.int64], amount: int) -> int:
    """Add to the first item; in machine code at once, so that all threads see it."""
    array[0] += amount
    return array[0]


def _let_others_run() -> int:
    """Leave the core to another thread."""
    time.sleep(0)
    return 0


@kernel
def wait_for_all(arrivals: NDArray[np.int64], awaited: int) -> None:
    """Count this thread in, and wait until so many have been counted; for machine code.

    A mere spin would keep others, perhaps the very thread awaited, from the core.
    """
    there = _add_and_fetch(arrivals, 1)
    while there < awaited:
        _let_others_run()
        there = _add_and_fetch(arrivals, 0)


def has_numba() -> bool:
    """Whether kernels can be compiled here."""
    return os.environ.get(MODE) != "python" and _finds_numba()


@cache
def _finds_numba() -> bool:
    return importlib.util.find_spec("numba") is not None


def are_plain() -> bool:
    """Whether kernels have run that cannot be compiled here."""
    return any(each._run is each.py_func for each in _kernels)


def always() -> bool:
    """Whether every kernel is compiled at its first call."""
    return os.environ.get(MODE) == "machine"


def _pays(args: tuple) -> bool:
    """Whether a kernel is compiled at once for such arguments."""
    return always() or _items(args) > MANY_ITEMS


def _as_given(value: Any) -> Any:
    """Arguments that remain writable or not as they are now, which is part of their types."""
    if isinstance(value, np.ndarray):
        return value.view()
    if isinstance(value, tuple):
        parts = map(_as_given, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def _items(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.size
    return sum(map(_items, value)) if isinstance(value, tuple) else 0


@cache
def _numba() -> Any:
    """Numba, which knows what to make of :func:`prefetch` and :func:`wait_for_all`."""
    import numba
    from llvmlite import ir
    from numba import types as kinds
    from numba.core.cgutils import get_or_insert_function
    from numba.extending import lower_builtin, overload, type_callable

    @type_callable(prefetch)
    def _(context: Any) -> Any:
        return lambda array, place: kinds.void

    @lower_builtin(prefetch, kinds.Array, kinds.Any)
    def _(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), ir.IntType(8).as_pointer())
        flag = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        call = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        # for reading, to stay in all caches, data
        builder.call(call, [address, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    overload(exp, inline="always")(lambda x: lambda x: np.exp(x))  # noqa: PLW0108
    overload(log, inline="always")(lambda x: lambda x: np.log(x))  # noqa: PLW0108

    @type_callable(_add_and_fetch)
    def _(context: Any) -> Any:
        return lambda array, amount: kinds.int64

    @lower_builtin(_add_and_fetch, kinds.Array, kinds.Integer)
    def _(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        amount = context.cast(builder, arguments[1], signature.args[1], kinds.int64)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.add(builder.atomic_rmw("add", data, amount, "seq_cst"), amount)

    @type_callable(_let_others_run)
    def _(context: Any) -> Any:
        return lambda: kinds.int32

    @lower_builtin(_let_others_run)
    def _(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        kind = ir.FunctionType(ir.IntType(32), [])
        return builder.call(get_or_insert_function(builder.module, kind, name), [])

    return numba


@cache
def _dispensable_cache() -> Any:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache

    class Files(CompileResultCacheImpl):  # type: ignore[misc]
        """Names and place of the files of a kernel."""

        def __init__(self, kernel: Kernel) -> None:
            self._locator, self._filename_base = self, kernel._file
            self._lineno, self._py_file = 0, kernel.py_func.__code__.co_filename

        def get_cache_path(self) -> str:
            return str(cache_folder())

        def get_source_stamp(self) -> str:
            return ""

        def ensure_cache_path(self) -> None:
            os.makedirs(self.get_cache_path(), exist_ok=True)

    class DispensableCache(FunctionCache):  # type: ignore[misc]
        """Machine code on disk; on a full disk everything is compiled once in each process."""

        _impl_class = Files

        def _index_key(self, sig: Any, codegen: Any) -> tuple:
            return _in_words(sig), codegen.magic_tuple()

        def save_overload(self, sig: Any, data: Any) -> None:
            # callees are compiled under the locks of their callers
            with suppress(OSError), self._py_func._alone("index"):
                super().save_overload(sig, data)

    return DispensableCache


def _in_words(kinds: Any) -> tuple:
    """Types as they are written, and the classes and fields of named tuples; nothing to import."""
    parts = kinds if isinstance(kinds, tuple) else getattr(kinds, "types", ())
    named = getattr(kinds, "instance_class", None)
    words = (named.__module__, named.__qualname__, *named._fields) if named else ()
    return (str(kinds), *words, *map(_in_words, parts))


@cache
def cache_folder() -> Path | None:
    """Folder for machine code of this compiler; None if no folder can be written."""
    try:
        compiler = f"numba {importlib.metadata.version('numba')} {sys.version}"
        folder = cache_root() / f"kernels-{source_hash([Path(__file__)], compiler)}"
        folder.mkdir(parents=True, exist_ok=True)
    # RuntimeError: this user has no home folder
    except (OSError, RuntimeError, importlib.metadata.PackageNotFoundError):
        return None
    return folder if os.access(folder, os.W_OK) else None
