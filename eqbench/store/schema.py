"""The record of one cell: a game, a solver and a seed, and what came of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

SCHEMA = "eqbench.run/1"

# `interrupted` stands only in interrupted.jsonl: such a cell is not finished
Status = Literal[
    "ok",
    "limit",
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


@dataclass(frozen=True)
class EquilibriumRecord:
    """A verified candidate. `profile` is the path of its file relative to the run.

    `exact` is there if it was measured exactly: its `payoffs` and `regrets` as texts ``p/q``, of
    which the other figures are then roundings.
    """

    claim: str
    payoffs: list[float]
    regrets: list[float]
    nash_conv: float
    max_regret: float
    claimed_regret: float | None = None
    refuted: str | None = None
    profile: str | None = None
    identity: dict[str, Any] | None = None
    exact: dict[str, list[str]] | None = None

    @property
    def is_proved(self) -> bool:
        """Whether no player gains anything at all by deviating, computed exactly."""
        return self.exact is not None and all(value == "0" for value in self.exact["regrets"])


@dataclass(frozen=True)
class CellRecord:
    """Everything that is known about a finished cell; times in seconds.

    The metrics are those of the candidate with the smallest max regret, None without one.
    `equilibria` holds all verified candidates, best first. `target` is the max regret at
    which an iterative solver may stop. `trace` and `log` are paths relative to the run.
    `game_content` is a hash of the game tree, since the spec of a game file is only its path.
    """

    key: str
    game: str
    solver: str
    game_spec: str
    solver_spec: str
    seed: int | None
    status: Status
    target: float | None = None
    reason: str = ""
    elapsed_s: float | None = None
    cpu_s: float | None = None
    setup_s: float | None = None
    overhead_s: float | None = None
    peak_memory_bytes: int | None = None
    iterations: int | None = None
    statistics: dict[str, Any] = field(default_factory=dict)
    payoffs: list[float] | None = None
    regrets: list[float] | None = None
    nash_conv: float | None = None
    max_regret: float | None = None
    exploitability: float | None = None
    equilibria: list[EquilibriumRecord] = field(default_factory=list)
    trace: str | None = None
    log: str | None = None
    solver_version: str = ""
    game_content: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CellRecord:
        """Record from what :meth:`to_json` gave."""
        equilibria = [EquilibriumRecord(**item) for item in data["equilibria"]]
        return cls(**(data | {"equilibria": equilibria}))
