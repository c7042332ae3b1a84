"""Requests of commands, declared once: the fields of a frozen dataclass.

A field is annotated with an :class:`Option`, which says what it is for and of which kind its values
are. From these fields come the options of the command line, the keys of files and manifests, and
what a resumed run keeps. Defaults are those of the dataclass.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pkgutil
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from eqbench.documents import checked
from eqbench.errors import UsageError, nearest, warn_former
from eqbench.text import shortened

T = TypeVar("T")

LARGEST = 2**63 - 1
MILLION = 1_000_000
YEAR_S = 365 * 24 * 3600.0
LONGEST_NUMBER = 100  # characters
SMALLEST_MEMORY, LARGEST_MEMORY = 64 * 2**20, 2**50

MOST_OF_A_VALUE = 60  # characters of what was typed, in a message

_EXACT = r"[+-]?(\d+/\d*[1-9]\d*|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?)"
_UNITS = {"": 1, "b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6}
_UNITS["gb"] = 10**9


_TEXTS = {  # what a text stands for, which may be an object in Python
    "game": "a game; give a spec such as 'kuhn3', or an object with build()",
    "solver": "a solver; give a spec such as 'cfr_plus', or an object with solve()",
}


def quoted(value: Any) -> str:
    """A rejected value for a message, which is not to be longer than its reader has time."""
    return shortened(repr(value), MOST_OF_A_VALUE)


@dataclass(frozen=True)
class Kind:
    """A kind of values: this one takes any text.

    `read` takes what was typed or stands in a file, and what it once returned itself; it raises
    ValueError with a sentence. `write` makes a value that JSON and TOML know. `is_list` says that
    a single one is a list already. `completed` are the values that a shell offers: names of each
    `game`, `solver` or `game or solver`, a `file`, or a `dir`.
    """

    is_list: ClassVar[bool] = False

    metavar: str = "TEXT"
    completed: str = dataclasses.field(default="", kw_only=True)

    def read(self, value: Any) -> Any:
        if isinstance(value, str):
            return value
        raise ValueError(f"{quoted(value)} is not {_TEXTS.get(self.completed, 'text')}")

    def write(self, value: Any) -> Any:
        return value


class GivenProfile(NamedTuple):
    """A profile as it was typed, and in its interchange form; None stands for uniform behavior."""

    typed: str
    data: Any


@dataclass(frozen=True)
class ReadProfile(Kind):
    """A stored profile, or one of a few words.

    It is read at once and written whole: a resumed study needs neither file nor input.
    """

    metavar: str = "PROFILE"
    completed: str = dataclasses.field(default="file", kw_only=True)
    words: tuple[str, ...] = ()

    def read(self, value: Any) -> GivenProfile:
        if isinstance(value, GivenProfile):
            return value
        if isinstance(value, Mapping) and len(value) == 1:
            return GivenProfile(*next(iter(value.items())))
        if value in self.words:
            return GivenProfile(value, None)
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not the name of a profile")
        data, _ = pkgutil.resolve_name("eqbench.store.named:named_profile")(value)
        return GivenProfile(value, json.loads(json.dumps(data, default=str)))  # fractions as texts

    def write(self, value: GivenProfile) -> dict[str, Any]:
        return {value.typed: value.data}


@dataclass(frozen=True)
class Flag(Kind):
    """Yes or no."""

    metavar: str = ""

    def read(self, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        raise ValueError(f"{quoted(value)} is neither true nor false")


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few words, which stand in its help."""

    metavar: str = ""
    words: tuple[str, ...] = ()

    def read(self, value: Any) -> str:
        if value in self.words:
            return str(value)
        raise ValueError(f"{quoted(value)} is not a choice here: {nearest(str(value), self.words)}")


@dataclass(frozen=True)
class Words(Kind):
    """Some of a few words, with commas between them; `what` each of them is."""

    is_list = True

    metavar: str = "WORDS"
    what: str = "word"
    words: tuple[str, ...] = ()

    def read(self, value: Any) -> tuple[str, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        words = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
        for word in words:
            if word not in self.words:
                raise ValueError(
                    f"{quoted(word)} is not a {self.what}: {nearest(word, self.words)}"
                )
        return words

    def write(self, value: Any) -> str:
        return ",".join(value)


@dataclass(frozen=True)
class Integer(Kind):
    """An integer between two bounds, both allowed."""

    metavar: str = "N"
    least: int = 0
    most: int = LARGEST

    def read(self, value: Any) -> int:
        try:
            number = int(value) if isinstance(value, str) else value
        except ValueError:
            number = None
        if not isinstance(number, int) or isinstance(number, bool):
            raise ValueError(f"{quoted(value)} is not an integer")
        if not self.least <= number <= self.most:
            raise ValueError(f"{quoted(number)} is not in the range {self.least}<=x<={self.most}")
        return number


@dataclass(frozen=True)
class Number(Kind):
    """A finite number that is not negative, or positive, and not more than `most`."""

    metavar: str = "X"
    positive: bool = False
    most: float = math.inf

    def read(self, value: Any) -> float:
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number) or number < 0 or (self.positive and number == 0):
            wanted = "positive" if self.positive else "not negative"
            raise ValueError(f"{quoted(value)} is not a finite number that is {wanted}")
        if number > self.most:
            raise ValueError(f"{quoted(value)} is too much; at most {self.most:g} is allowed")
        return number


@dataclass(frozen=True)
class MemorySize(Kind):
    """A size such as 2GiB or 500MB, as a number of bytes."""

    metavar: str = "SIZE"

    def read(self, value: Any) -> int:
        text = str(value)
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
        unit = _UNITS.get(match[2].lower()) if match else None
        if match is None or unit is None:
            raise ValueError(f"{quoted(value)} is not a size; write for example 500MB or 2GiB")
        size = float(match[1]) * unit
        if size > LARGEST_MEMORY:
            raise ValueError(f"{quoted(value)} is more than any machine has")
        if size < SMALLEST_MEMORY:
            raise ValueError(
                f"{quoted(value)} is less than the interpreter itself needs; give at least 64MiB, "
                "for example 500MB or 2GiB"
            )
        return int(size)

    def write(self, value: Any) -> Any:
        for unit in ("GiB", "MiB"):
            if value % _UNITS[unit.lower()] == 0:
                return f"{value // _UNITS[unit.lower()]}{unit}"
        return value


@dataclass(frozen=True)
class Exact(Kind):
    """An integer, a decimal or p/q, exactly; or one of a few words."""

    metavar: str = "X"
    words: tuple[str, ...] = ()

    def read(self, value: Any) -> Fraction | str:
        if value in self.words:
            return str(value)
        if isinstance(value, Fraction):
            return value
        text = repr(value) if isinstance(value, float) else str(value).strip()
        if len(text) <= LONGEST_NUMBER and re.fullmatch(_EXACT, text):
            return Fraction(text)
        more = "".join(f", or the word {word}" for word in self.words)
        raise ValueError(f"{quoted(value)} is not a number; write for example 3, 3.2 or 7/2{more}")

    def write(self, value: Any) -> str:
        return str(value)


@dataclass(frozen=True)
class Bounds(Kind):
    """Two numbers with a comma between them, the smaller one first."""

    metavar: str = "LO,HI"

    def read(self, value: Any) -> tuple[float, float]:
        try:
            low, high = map(float, value.split(",") if isinstance(value, str) else value)
        except (TypeError, ValueError):
            low = high = math.nan
        if not -math.inf < low < high < math.inf:
            raise ValueError(f"{quoted(value)} is not an interval; write for example 3.1,3.3")
        return low, high

    def write(self, value: Any) -> list[float]:
        return list(value)


@dataclass(frozen=True)
class Pair(Kind):
    """Two names with a comma between them."""

    metavar: str = "A,B"

    def read(self, value: Any) -> tuple[str, str]:
        if isinstance(value, tuple | list) and len(value) == 2:
            return str(value[0]), str(value[1])
        first, _, second = str(value).partition(",")
        if not first or not second or "," in second:
            raise ValueError(
                f"{quoted(value)} is not a pair of frequencies; write for example b3,d2"
            )
        return first.strip(), second.strip()

    def write(self, value: Any) -> list[str]:
        return list(value)


TEXT, FLAG, FILE, FOLDER = (
    Kind(),
    Flag(),
    Kind("FILE", completed="file"),
    Kind("DIR", completed="dir"),
)
RUN = Kind("RUN", completed="dir")  # the folder of a run, or the word `latest`
# a file, - for standard input, or the cell of a run as RUN/CELL
PROFILE = Kind("PROFILE", completed="file")
GAME, SOLVER = Kind("GAME", completed="game"), Kind("SOLVER", completed="solver")
EITHER = Kind("SPEC", completed="game or solver")
COUNT, NUMBER, NUMBER_OR_NONE = Integer(least=1), Integer("N", 1, MILLION), Integer("N", 0, MILLION)
SEED, JOBS, THREADS = Integer("N", 0, 2**32 - 1), Integer("N", 1, 256), Integer("N", 1, 1024)
NODES = Integer("N", 1, 1000 * MILLION)
DURATION, SHARE = Number("S", positive=True, most=YEAR_S), Number("X", most=1000.0)
POSITIVE = Number("X", positive=True, most=1e9)


@dataclass(frozen=True)
class Option:
    """Metadata of a command-line option.

    Attributes
    ----------
    help : what it is for, in a sentence
    kind : of its values, or of each of several
    name : as it is typed and stands in files; that of the field, with hyphens, unless given
    short : one letter, or none
    default : what to say instead of the default, where that needs words
    extends : whether a resumed study may have another value, and keeps what it has found
    once : whether it holds for one call, as limits do, and a resumed study does not keep it
    argument : whether it is typed without the name before it
    named : whether an argument may also be typed with its name before it
    formerly : the name before this one, which old files have
    """

    help: str
    kind: Kind = TEXT
    name: str = ""
    short: str = ""
    default: str = ""
    extends: bool = False
    once: bool = False
    argument: bool = False
    named: bool = False
    formerly: str = ""


STANDARD_OUTPUT = "-"  # in place of a file to write
MOST_NODES = 15_000_000  # that of eqbench.model.size_limit, which is not imported for a help text

# Options of several commands.
Json = Annotated[bool, Option("Print JSON.", FLAG, "json")]
Quiet = Annotated[bool, Option("Nothing but errors on standard error.", FLAG, short="q")]
NoTable = Annotated[bool, Option("Neither tables nor messages but errors.", FLAG, short="q")]
Plugins = Annotated[
    tuple[str, ...],
    Option("Python file that registers games or solvers.", FILE, "plugin", extends=True),
]
Scheduler = Annotated[
    str | None,
    Option(
        "Carry out cells on the workers of a Dask cluster: the address of its scheduler, such as "
        "tcp://HOST:8786, or the file with it; 'local' begins a cluster on this machine, 'none' "
        "does without.",
        Kind("ADDRESS"),
        extends=True,
    ),
]
MaxNodes = Annotated[int, Option("Refuse games with more nodes than this.", NODES)]


@dataclass(frozen=True, kw_only=True)
class CellFilter:
    """Which cells of runs count; all of them unless something is given."""

    games: Annotated[
        tuple[str, ...], Option("Only this game, or several separated by commas.", GAME, "game")
    ] = ()
    solvers: Annotated[
        tuple[str, ...],
        Option(
            "Only this solver, with its options or without, or several separated by commas.",
            SOLVER,
            "solver",
        ),
    ] = ()


@dataclass(frozen=True)
class RequestField:
    """A field of a request with its option."""

    attribute: str
    name: str  #: outside of Python
    option: Option
    help: str  #: what it is for, and whether it may be given several times
    several: bool  #: whether it is a tuple of such values
    default: Any
    required: bool

    def read(self, value: Any) -> Any:
        """Value of the field from what was typed or stands in a file; ValueError if it is none."""
        kind = self.option.kind
        if value is None and self.default is None and not self.required:
            return None
        if not self.several:
            return kind.read(value)
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise ValueError(f"{quoted(value)} is not a list")
        return tuple(kind.read(item) for item in value)

    def write(self, value: Any) -> Any:
        """The same as a value that JSON and TOML know."""
        if value is None:
            return None
        kind = self.option.kind
        return [kind.write(item) for item in value] if self.several else kind.write(value)


def fields_of(request: type) -> tuple[RequestField, ...]:
    """Declared fields of a request: its own in their order, then those of its bases."""
    hints = get_type_hints(request, include_extras=True)
    found = []
    owners = [vars(owner).get("__annotations__", {}) for owner in request.__mro__]
    fields = {field.name: field for field in dataclasses.fields(request)}
    for field in (fields.pop(name) for owner in owners for name in owner if name in fields):
        hint = hints[field.name]
        options = [item for item in get_args(hint)[1:] if isinstance(item, Option)]
        if get_origin(hint) is not Annotated or not options:
            continue
        (option,) = options
        name = option.name or field.name.replace("_", "-")
        is_tuple = get_origin(get_args(hint)[0]) in (tuple, Sequence)
        several = is_tuple and not option.kind.is_list
        often = option.help.removesuffix(".") + "; may be given several times."
        about = often if several else option.help
        required = field.default is dataclasses.MISSING
        default = None if required else field.default
        found.append(RequestField(field.name, name, option, about, several, default, required))
    return tuple(found)


def to_data(request: Any, *, kept: bool = False) -> dict[str, Any]:
    """A request as JSON values, by the names of its options; `kept` leaves out what holds once."""
    return {
        field.name: field.write(getattr(request, field.attribute))
        for field in fields_of(type(request))
        if not (kept and field.option.once)
    }


def from_data(kind: type[T], data: Mapping[str, Any], where: str = "") -> T:
    """The request that such values describe; fields that are not among them have their defaults.

    Parameters
    ----------
    where : where the values stand, for messages

    Raises
    ------
    UsageError
        If a key is unknown or missing, or a value is none of its kind.
    """
    fields = fields_of(kind)
    known = {field.name: field for field in fields}
    before = {field.option.formerly: field.name for field in fields if field.option.formerly}
    data = {name if name in known else before.get(name, name): data[name] for name in data}
    at = f"{where}: " if where else ""
    chosen = {}
    for name, value in data.items():
        if name not in known:
            raise UsageError(f"{at}unknown key {shortened(name)!r}: {nearest(name, known)}")
        try:
            chosen[known[name].attribute] = known[name].read(value)
        except ValueError as error:
            raise UsageError(f"{at}{name}: {error}") from None
    missing = [name for name, field in known.items() if field.required and name not in data]
    if missing:
        raise UsageError(f"{at}the key {missing[0]!r} is missing; {known[missing[0]].help}")
    return kind(**chosen)


DEFAULT_TARGET = 1e-10  # of the payoff scale


@checked
@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of a cell: options of commands, what a child is held to, and what its solver sees.

    A solver reads them as `monitor.budget`. A None means no bound of that kind.

    Attributes
    ----------
    timeout_s : seconds of solving, monitor time not counted
    setup_timeout_s : seconds before the clock of solving starts
    iterations : iterations of the method
    target : max regret in payoff units at which an iterative solver may stop
        None means 1e-10 of the payoff range, 0 never. In wide games, whose largest payoff is
        more than 1e5 times what is at stake in some decision, it is 1e-10 of these stakes.
    memory_bytes : summed resident memory, enforced by the harness
    threads : threads that the solver may use
    isolation : `fork` from a server that is ready, if that can be done, or `spawn`
    """

    timeout_s: Annotated[
        float,
        Option(
            "Seconds of solving per cell; what still runs a second later is killed.",
            DURATION,
            "timeout",
        ),
    ] = 10.0
    setup_timeout_s: Annotated[
        float,
        Option(
            "Seconds for imports, conversion and compilation per cell.", DURATION, "setup-timeout"
        ),
    ] = 120.0
    iterations: Annotated[
        int | None, Option("Stop iterative solvers after N iterations.", COUNT)
    ] = None
    target: Annotated[
        float | None,
        Option(
            "Max regret at which iterative solvers stop; 0 uses the whole budget.",
            Number(),
            default="1e-10 of the payoff range",
        ),
    ] = None
    memory_bytes: Annotated[
        int,
        Option(
            "Memory per cell, that of Python itself (about 80 MiB) included, mapped files not.",
            MemorySize(),
            "memory",
        ),
    ] = 4 * 2**30
    threads: Annotated[
        int,
        Option("Threads per cell, for CFR on large games and for solvers of programs.", THREADS),
    ] = 1
    isolation: Annotated[
        str,
        Option(
            "Fork the process of each cell from one that has eqbench loaded (Linux, one thread; "
            "elsewhere they are spawned all the same), or spawn a new interpreter.",
            Choice(words=("fork", "spawn")),
        ),
    ] = "fork"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.timeout_s) and self.timeout_s > 0):
            raise UsageError(f"timeout_s={self.timeout_s}; give a positive number of seconds")
        if self.iterations is not None and self.iterations < 0:
            raise UsageError(f"iterations={self.iterations}; give a number >= 0, or None")
        if self.target is not None and not (math.isfinite(self.target) and self.target >= 0):
            raise UsageError(f"target={self.target}; give a max regret >= 0, or None")
        if self.threads < 1 or self.memory_bytes < 1:
            raise UsageError(
                f"threads={self.threads}, memory_bytes={self.memory_bytes}; give positive numbers"
            )

    @property
    def time_s(self) -> float:
        """Former name of `timeout_s`."""
        warn_former("budget.time_s", "budget.timeout_s")
        return self.timeout_s

    def target_for(self, tree: Any) -> float:
        """The target in payoff units, for a `GameTree`."""
        return DEFAULT_TARGET * tree.payoff_scale if self.target is None else self.target
