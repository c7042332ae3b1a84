"""What comes from outside, read against a declared type: one check for every border.

Frames of children, lines of stored runs, trees and profiles are dataclasses or msgspec structs;
their annotations are their schema, as are those of public functions for their arguments. Files are
read only if they are regular and of bounded size, and removed only by name.
"""

from __future__ import annotations

import errno
import functools
import inspect
import io
import os
import stat
import threading
from collections.abc import Callable, Collection, Hashable, Iterable
from contextlib import suppress
from numbers import Integral, Real
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    BinaryIO,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from eqbench.errors import DocumentError, UsageError
from eqbench.extras import needed_for
from eqbench.text import printable, shortened

T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., Any])

MOST_BYTES = 64 * 2**20
LARGEST = 2**63 - 1
# A FIFO without a writer would block in open(); O_BINARY keeps ends of lines on Windows.
OPEN_FLAGS = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
# msgspec keeps what it finds out about a dataclass with the class, while it still does so: two
# threads that ask for the first time at once crash the process (msgspec 0.22).
_building = threading.Lock()
DEEPEST = 32

# JSON knows neither NaN nor infinity, and msgspec refuses numbers beyond floats, so `float` in a
# declared type is a finite number. Integers have no bound of their own.
Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]
Integer = Annotated[int, msgspec.Meta(ge=-LARGEST, le=LARGEST)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


_PATTERNS: dict[str, str] = {}  # what they allow, in words


def worded(pattern: str, words: str, max_length: int) -> msgspec.Meta:
    """Bounds of a text by a pattern, which messages give in words."""
    _PATTERNS[f"`str` matching regex {pattern!r}"] = words
    return msgspec.Meta(pattern=pattern, max_length=max_length)


def decode(data: bytes | str, kind: type[T], name: str = "the document") -> T:
    """Value of a declared type from its JSON text.

    Parameters
    ----------
    kind : a dataclass, struct or other type whose annotations say what is allowed
    name : of the document, for messages

    Raises
    ------
    DocumentError
        If the text is not JSON or does not fit the type.
    """
    try:
        return _decoder(kind).decode(data)  # type: ignore[arg-type]
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _refusal(name, error) from None


def convert(value: Any, kind: type[T], name: str = "the document") -> T:
    """Value of a declared type from plain Python values; otherwise as :func:`decode`."""
    try:
        with _building:
            return msgspec.convert(value, kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise _refusal(name, error) from None


def decode_closed(data: bytes | str, kind: type[T], name: str = "the document") -> T:
    """Value as from :func:`decode`, of a document that another version may have written.

    Dataclasses and TypedDicts pass over keys that they do not declare; here such a key is refused.
    """
    value = decode(data, kind, name)
    try:
        _check_keys(decode(data, object, name), value)
    except ValueError as error:
        raise _refusal(name, error) from None
    return value


def open_file(path: str | Path) -> BinaryIO:
    """A regular file, opened for reading; never waits for a pipe.

    Raises
    ------
    OSError
        If it cannot be opened or is not a regular file; its `strerror` is a sentence for the user.
    """
    descriptor = os.open(path, os.O_RDONLY | OPEN_FLAGS)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def open_text(path: str | Path) -> io.TextIOWrapper:
    """A regular file of UTF-8 text with its ends of lines as they are; otherwise `open_file`."""
    return io.TextIOWrapper(open_file(path), encoding="utf-8", newline="")


def read_file(path: str | Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Content of a regular file; never waits for a pipe, and never reads without end.

    Raises
    ------
    OSError
        If it cannot be read, is not a regular file or has more than `most_bytes`; its `strerror` is
        a sentence for the user.
    """
    with open_file(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it has more than {size_text(most_bytes)}", str(path))
    return data


def size_text(size: int) -> str:
    """A number of bytes in the largest unit that makes it a whole number."""
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size:,} bytes"


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Remove files of a folder by name, then what is empty of its folders and itself; OSError."""
    for name in names:
        (folder / name).unlink(missing_ok=True)
    for place, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):  # a file of the user is in it
            os.rmdir(place)


def checked(function: C) -> C:
    """Let a public function, or the making of a dataclass, refuse what its annotations do not name.

    Numbers may be those of NumPy. Bytes are no list, and a text is not one of texts. What is
    declared as Any or bool is for the function itself to check.

    Raises
    ------
    UsageError
        By the call, in one sentence that names what is allowed.
    MissingPackageError
        By the call, where it needs an optional package that is not installed.
    """
    if isinstance(function, type):
        function.__init__ = checked(function.__init__)  # type: ignore[misc]
        return function
    known = inspect.signature(function).parameters.values()
    places = [each.name for each in known if each.kind is each.POSITIONAL_OR_KEYWORD]
    further = next((each.name for each in known if each.kind is each.VAR_KEYWORD), "")

    @functools.cache
    def kinds() -> dict[str, Any]:
        own = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
        return get_type_hints(SimpleNamespace(__annotations__=own), function.__globals__)

    @functools.wraps(function)
    def checking(*args: Any, **keywords: Any) -> Any:
        for name, value in (*zip(places, args, strict=False), *keywords.items()):
            kind = kinds().get(name, kinds().get(further, Any))
            if not _fits(value, kind):
                parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
                names = ((get_origin(part) or part).__name__ for part in parts)
                words = [_WORDS.get(n, f"{'an' if n[0] in 'AEIOU' else 'a'} {n}") for n in names]
                *more, end = dict.fromkeys(words)
                allowed = f"{', '.join(more)} or {end}" if more else end
                called = function.__qualname__.removesuffix(".__init__")
                given = printable(shortened(repr(value), 60))
                raise UsageError(f"{called}({name}=...): give {allowed}, not {given}")
        with needed_for(f"{function.__qualname__.removesuffix('.__init__')}()"):
            return function(*args, **keywords)

    return checking  # type: ignore[return-value]


_NUMBERS = {int: Integral, float: Real}
_WORDS = {"str": "text", "int": "a whole number", "float": "a number", "Path": "a path"}
_WORDS |= {"PathLike": "a path", "NoneType": "None", "Callable": "a function"}
_WORDS |= {"Iterable": "a list of these"}


def _fits(value: Any, kind: Any) -> bool:
    base = get_origin(kind) or kind
    if base in (Union, UnionType):
        kinds = (each for each in get_args(kind) if each is not bool or isinstance(value, bool))
        return any(_fits(value, each) for each in kinds)
    if base is Iterable:
        items = value if isinstance(value, Collection) else ()  # of others not one may be taken
        own = isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray)
        return own and all(_fits(item, get_args(kind)[0]) for item in items)
    if not isinstance(base, type) or base in (Any, bool):  # bool for whatever is true or not
        return True
    if getattr(base, "_is_protocol", False):  # what it has is seen when it is used
        return True
    return isinstance(value, _NUMBERS.get(base, base))


def check_plain(value: Any, depth: int = DEEPEST) -> None:
    """Refuse JSON values that a reader could not hold: too deep, or integers beyond 64 bits.

    Raises
    ------
    ValueError
    """
    if depth == 0:
        raise ValueError(f"values are nested more than {DEEPEST} deep")
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            check_plain(item, depth - 1)
    elif isinstance(value, int) and not -LARGEST <= value <= LARGEST:
        raise ValueError("an integer has more than 64 bits")


def _check_keys(plain: Any, value: Any) -> None:
    """Refuse keys of a document that its decoder has passed over."""
    # types of decoded JSON are exact, and this comparison is several times as fast as isinstance
    if type(plain) is dict:
        known = value if type(value) is dict else vars(value)
        if not plain.keys() <= known.keys():
            raise ValueError(f"the key {min(plain.keys() - known.keys())!r} is not known")
        for key, item in plain.items():
            if type(item) is dict or type(item) is list:
                _check_keys(item, known[key])
    else:
        for item, decoded in zip(plain, value, strict=True):
            if type(item) is dict or type(item) is list:
                _check_keys(item, decoded)


@functools.cache
def _decoder(kind: Hashable) -> msgspec.json.Decoder[Any]:
    with _building:
        return msgspec.json.Decoder(kind)


def _refusal(name: str, error: Exception) -> DocumentError:
    what = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    for pattern, words in _PATTERNS.items():
        what = what.replace(pattern, words)
    return DocumentError(f"{name} is damaged: {shortened(printable(what))}")
