"""What a run's folder holds, as declared types: records of cells, and plans."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from msgspec import Meta

from eqbench.documents import (
    Count,
    Integer,
    Seconds,
    check_plain,
    convert,
    decode,
    decode_closed,
    worded,
)
from eqbench.errors import DocumentError
from eqbench.text import Displayed, printable, seconds, shortened, small

SCHEMA = "eqbench.run/1"

MOST_PLAYERS = 1024

# `interrupted` stands only in interrupted.jsonl: such a cell is not finished
Status = Literal[
    "ok",
    "limit",
    "stopped",
    "timeout",
    "memory",
    "failed",
    "crashed",
    "not_found",
    "unsupported",
    "unavailable",
    "refuted",
    "interrupted",
]
NEVER_RAN = ("unsupported", "unavailable")  # statuses of cells whose solver never began
Claim = Literal["iterate", "average", "equilibrium", "complete list"]
EQUILIBRIA = ("equilibrium", "complete list")  # claims of equilibria

# tests and other programs name cells with fewer digits than runs do
Key = Annotated[str, Meta(min_length=1, max_length=100)]
Name = Annotated[str, Meta(max_length=2**16)]
Figures = Annotated[list[float], Meta(min_length=1, max_length=MOST_PLAYERS)]
# Python neither reads nor writes integers of more digits
_FRACTION = "^-?[0-9]{1,4300}(/[1-9][0-9]{0,4299})?$"
FractionText = Annotated[
    str, worded(_FRACTION, "a whole number or fraction, as -1/3", 2 * 4300 + 2)
]
Fractions = Annotated[list[FractionText], Meta(min_length=1, max_length=MOST_PLAYERS)]
# inside the folder: neither absolute nor with a part ..
_PATH = r"^(?!/)(?!(.*/)?\.\.(/|$))[^\u0000-\u001f\u007f]+$"
FilePath = Annotated[str, worded(_PATH, "a path in the folder, without / before it and ..", 1024)]


class ExactRecord(TypedDict):
    """Figures of a candidate in fractions ``p/q``, one for each player."""

    payoffs: Fractions
    regrets: Fractions


class CredibleRecord(TypedDict):
    """How far the play of a candidate is credible, as the verdict `credible` has it."""

    sets: Count
    credible: Count
    worst: float
    worst_set: list[str] | None
    exact: FractionText | None


class SubgamesRecord(TypedDict):
    """How many proper subgames there are, and in how many of them no player gains by deviating."""

    proper: Count
    perfect: Count


class KindRecord(TypedDict):
    """What kind of equilibrium a candidate is, as the verdict `kind` has it."""

    undominated: Literal["certified", "refuted", "open", "actions only"]
    subgame_perfect: SubgamesRecord
    sequential: Literal["certified", "refuted", "open"]
    quasi_strict: bool | None
    index: Literal[1, -1] | None


class VerdictRecord(TypedDict):
    """What an installed verdict finds on a candidate: the text of its column, and JSON values."""

    label: Annotated[str, Meta(max_length=1000)]
    record: dict[str, Any]


VerdictName = Annotated[str, Meta(min_length=1, max_length=100)]


class JointRecord(TypedDict):
    """What the joint play of a cell is worth: a mixture of `profiles` for so many `iterations`.

    `gains` are those of each player by a best response to the others' joint play, `cce_gap` is the
    sum of those above zero; no gain is off by more than `error`. All are in payoff units.
    """

    iterations: Count
    profiles: Count
    payoffs: Figures
    gains: Figures
    cce_gap: Annotated[float, Meta(ge=0)]
    error: Annotated[float, Meta(ge=0)]


class IdentityRecord(TypedDict):
    """Which equilibrium a candidate is, as its `Identity` says."""

    name: Annotated[str, Meta(min_length=1, max_length=1000)]
    also: list[str]
    parameters: dict[str, float]
    leading: str | None
    on_path: bool
    strict: bool
    distance: Annotated[float, Meta(ge=0)]
    off_path: dict[str, float]
    dimension: Count | None
    same_as: NotRequired[str]
    title: NotRequired[Annotated[str, Meta(max_length=1000)]]
    family: NotRequired[Annotated[str, Meta(max_length=1000)]]
    meaning: NotRequired[Annotated[str, Meta(max_length=1000)]]


# by the path of the profile; see RunFolder.write_derived
Clusters = dict[FilePath, IdentityRecord]


class CompletenessRecord(TypedDict):
    """What the indices of all equilibria that a run found on a game say, as `Completeness` has it.

    An index is null where an equilibrium is not known to be isolated and regular.
    """

    verdict: Literal["proved incomplete", "consistent", "not decided"]
    indices: list[Literal[-1, 1] | None]
    exact: bool


# by the content of the game; see RunFolder.write_derived
CompletenessRecords = dict[Name, CompletenessRecord]


@dataclass(frozen=True)
class EquilibriumRecord:
    """A verified candidate. `profile` is the path of its file relative to the run.

    `exact` is there if it was measured exactly: its `payoffs` and `regrets` as texts ``p/q``, of
    which the other figures are then roundings. `verdicts` are those of other distributions by name.
    """

    claim: Claim
    payoffs: Figures
    regrets: Figures
    nash_conv: float
    max_regret: float
    claimed_regret: float | None = None
    refuted: str | None = None
    profile: FilePath | None = None
    identity: IdentityRecord | None = None
    exact: ExactRecord | None = None
    credible: CredibleRecord | None = None
    kind: KindRecord | None = None
    error: float | None = None
    verdicts: dict[VerdictName, VerdictRecord] = field(default_factory=dict)

    def __post_init__(self) -> None:
        proofs = [] if self.exact is None else [self.exact["payoffs"], self.exact["regrets"]]
        _check_lengths(len(self.payoffs), self.regrets, *proofs)
        known = self.identity
        if known is not None and known["leading"] not in (None, *known["parameters"]):
            raise ValueError("the leading parameter is not among the parameters")
        if self.credible is not None and self.credible["credible"] > self.credible["sets"]:
            raise ValueError("more information sets are credible than there are")
        if self.kind is not None:
            _check_kind(self.kind)

    @property
    def is_proved(self) -> bool:
        """Whether no player gains anything at all by deviating, computed exactly."""
        return self.exact is not None and all(value == "0" for value in self.exact["regrets"])

    @property
    def is_known(self) -> bool:
        """Whether it is, or is near to, a published equilibrium, and not just one of a cluster."""
        return self.identity is not None and not self.identity["name"].startswith("cluster:")

    @property
    def is_unknown(self) -> bool:
        """Whether it has a profile that no published equilibrium is near to."""
        return self.profile is not None and not self.is_known

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; verdicts of others only if there are any."""
        values = asdict(self)
        if not self.verdicts:
            del values["verdicts"]
        return values


@dataclass(frozen=True)
class CellId:
    """Which cell it is, and what its profiles are held against.

    `key` is a hash of all that a result may depend on; cells with equal keys need not be run
    twice. `game` and `solver` are as typed, `game_content` is a hash of the game tree, since the
    spec of a game file is only its path. `repeat` counts cells that are the same in all else.
    `game_title` is what a game file calls its game.
    `target` is the max regret at which an iterative solver may stop, `tolerance` that up to which
    a profile is an equilibrium.
    """

    key: Key
    game: Name
    solver: Name
    game_spec: Name
    solver_spec: Name
    seed: Integer | None
    target: float | None = None
    tolerance: float | None = None
    solver_version: Name = ""
    game_content: Name = ""
    repeat: Count = 0
    game_title: Name = ""

    @property
    def id(self) -> CellId:
        """The names alone."""
        return CellId(**{name: getattr(self, name) for name in NAMES})

    @property
    def game_identity(self) -> str:
        """What games are the same by: content, since spec and file may stand for several."""
        return self.game_content or self.game_spec


NAMES = tuple(field.name for field in fields(CellId))


def trial_of(cell: CellId) -> str:
    """Return seed and repeat of a cell in words, as far as there are any."""
    seed = [] if cell.seed is None else [f"seed {cell.seed}"]
    return ", ".join([*seed, *([f"repeat {cell.repeat}"] if cell.repeat else [])])


@dataclass(frozen=True, repr=False)
class FinishedCell(Displayed, CellId):
    """A finished cell, in whatever form its equilibria are."""

    status: Status = field(kw_only=True)
    reason: Name = ""
    elapsed_s: Seconds | None = None
    cpu_s: Seconds | None = None
    setup_s: Seconds | None = None
    overhead_s: Seconds | None = None
    peak_memory_bytes: Count | None = None
    iterations: Count | None = None
    statistics: dict[str, Any] = field(default_factory=dict)
    payoffs: Figures | None = None
    regrets: Figures | None = None
    nash_conv: float | None = None
    max_regret: float | None = None
    exploitability: float | None = None
    joint: JointRecord | None = None
    equilibria: Sequence[Any] = ()
    trace: FilePath | None = None
    log: FilePath | None = None
    host: Name = ""

    @property
    def cce_gap(self) -> float | None:
        """Gap of the joint play, None where none was kept."""
        return None if self.joint is None else self.joint["cce_gap"]

    def __repr__(self) -> str:
        trial = f" ({trial_of(self)})" if trial_of(self) else ""
        regret = "" if self.max_regret is None else f", max regret {self.max_regret:.1e}"
        number = len(self.equilibria)
        found = f", {number} profile{'s' * (number != 1)}" if number else ""
        return f"<{self.solver} on {self.game}{trial}: {self.status}{regret}{found}>"


@dataclass(frozen=True, repr=False)
class CellRecord(FinishedCell):
    """Everything that is known about a finished cell; times in seconds.

    The metrics are those of the candidate with the smallest max regret, None without one.
    `equilibria` holds all verified candidates, best first. `trace` and `log` are paths relative to
    the run. `host` is the name of the machine where it ran, as ``hosts.jsonl`` in the folder of
    the run describes it.
    """

    equilibria: list[EquilibriumRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        if (self.payoffs is None) != (self.regrets is None):
            raise ValueError("payoffs without regrets, or regrets without payoffs")
        figures = [self.payoffs, self.regrets, *(item.payoffs for item in self.equilibria)]
        figures += [self.joint["payoffs"], self.joint["gains"]] if self.joint else []
        there = [each for each in figures if each is not None]
        if there:
            _check_lengths(len(there[0]), *there)

    @property
    def ending(self) -> str:
        """How it ended and what it took, in words."""
        regret = "" if self.max_regret is None else f", max regret {small(self.max_regret)}"
        took = f"set-up {seconds(self.setup_s)}, solving {seconds(self.elapsed_s)}"
        return f"{self.status}{regret}, {took}"

    @property
    def files(self) -> list[str]:
        """Paths of its files relative to the run."""
        profiles = (item.profile for item in self.equilibria)
        return [name for name in (*profiles, self.trace, self.log) if name is not None]

    @property
    def unknown(self) -> list[EquilibriumRecord]:
        """Candidates with a profile that no published equilibrium is near to."""
        return [item for item in self.equilibria if item.is_unknown]

    def with_clusters(self, clusters: Clusters) -> CellRecord:
        """Record whose unknown candidates have their names in these clusters, and in no others."""
        equilibria = [
            replace(item, identity=clusters.get(str(item.profile))) if item.is_unknown else item
            for item in self.equilibria
        ]
        return self if equilibria == self.equilibria else replace(self, equilibria=equilibria)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; without joint play, repeat and title where there is none."""
        values = asdict(replace(self, equilibria=[]))
        values["equilibria"] = [item.to_json() for item in self.equilibria]
        for name in ("repeat", "game_title", "joint"):
            if not values[name]:
                del values[name]
        return {name: values[name] for name in _KEYS if name in values}

    def without_files(self) -> CellRecord:
        """Same record for a folder that does not have its files."""
        equilibria = [replace(item, profile=None) for item in self.equilibria]
        return replace(self, equilibria=equilibria, trace=None, log=None)

    def to_line(self) -> bytes:
        """JSON text in one line, which :meth:`of_line` reads.

        Raises
        ------
        ValueError
            If a number is NaN or infinite.
        """
        return json.dumps(self.to_json(), allow_nan=False).encode()

    @classmethod
    def of_line(cls, line: bytes) -> CellRecord:
        """Record from what :meth:`to_line` gave.

        Raises
        ------
        DocumentError
            If it is none, or one of another version.
        """
        record = decode_closed(line, cls, "the record")
        try:
            check_plain(record.statistics)
            for item in record.equilibria:
                check_plain(item.verdicts)
        except ValueError as error:
            raise DocumentError(f"the record is damaged: {error}") from None
        return record


# The order of keys in documents, so that those of several versions can be compared as texts.
_REST = [each.name for each in fields(CellRecord) if each.name not in (*NAMES, "status", "host")]
_KEYS = (*NAMES[:6], "status", "target", "tolerance", *_REST, *NAMES[8:], "host")


class RequestRecord(TypedDict, total=False):
    """The request of a run."""

    games: list[Name]
    solvers: list[Name]
    seeds: Count
    repeats: Count
    timeout_s: Required[Seconds]
    setup_timeout_s: Seconds
    iterations: Count | None
    target: Annotated[float, Meta(ge=0)] | None
    memory_bytes: Count
    threads: Count
    tolerance: Annotated[float, Meta(ge=0)]
    max_nodes: Count
    jobs: Count | None
    isolation: Literal["fork", "spawn"]
    plugins: list[Name]
    scheduler: Name | None
    verify_here: bool


class EnvironmentRecord(TypedDict, total=False):
    """Where a run took place; `commit` is that of a checkout of eqbench."""

    eqbench: str | None
    commit: str
    python: str
    platform: str
    processor: str
    cores: Count | None
    memory_bytes: Count
    packages: dict[str, str | None]


class HostRecord(EnvironmentRecord, total=False):
    """A machine where cells ran: its name in records and in the network, its load at that time."""

    host: Required[Name]
    name: Name
    load: Seconds


class Manifest(TypedDict):
    """The plan of a run: the keys of its cells in their order, and where they come from.

    `environments` are those of runs that became one.
    """

    schema: str
    cells: list[Key]
    request: RequestRecord
    parts: NotRequired[list[RequestRecord]]
    name: NotRequired[str]
    report: NotRequired[list[Literal["csv", "html", "md", "tex"]]]
    created: NotRequired[str]
    environment: NotRequired[EnvironmentRecord]
    environments: NotRequired[list[EnvironmentRecord]]


def read_host(line: bytes) -> HostRecord:
    """A machine from its JSON text; DocumentError if that is damaged."""
    return decode(line, HostRecord, "the machine")


def read_manifest(text: bytes, name: str = "the manifest") -> dict[str, Any]:
    """Plan of a run from its JSON text, with the keys that other programs have added.

    Raises
    ------
    DocumentError
        If it is damaged or of another version; `name` stands in the message.
    """
    plan = decode(text, dict[str, Any], name)
    if plan.get("schema") != SCHEMA:
        written = printable(shortened(repr(plan.get("schema"))))
        raise DocumentError(
            f"{name} was written in the format {written}; this version reads {SCHEMA!r}"
        )
    convert(plan, Manifest, name)
    try:
        check_plain(plan)
    except ValueError as error:
        raise DocumentError(f"{name} is damaged: {error}") from None
    return plan


def _check_kind(kind: KindRecord) -> None:
    subgames = kind["subgame_perfect"]
    if subgames["perfect"] > subgames["proper"]:
        raise ValueError("more subgames are played perfectly than there are")
    if kind["index"] is not None and not kind["quasi_strict"]:
        raise ValueError("only quasi-strict equilibria have an index")


def _check_lengths(players: int, *figures: Sequence[Any]) -> None:
    if any(len(each) != players for each in figures):
        raise ValueError("figures of different numbers of players")
