"""The results of runs as tidy tables: rows of plain values, and data frames of them.

pandas is imported when a data frame is requested.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, get_args

from eqbench.errors import UsageError
from eqbench.store.schema import CellRecord, EquilibriumRecord, Status
from eqbench.store.stored_run import StoredRun, read_run, run_folder
from eqbench.store.traces import read_trace

if TYPE_CHECKING:
    import pandas as pd

Runs = str | PathLike[str] | Iterable[str | PathLike[str]]

# of columns that hold no floats
_TYPES = {
    **dict.fromkeys(("run", "key", "game", "solver", "game_spec", "solver_spec"), "string"),
    **dict.fromkeys(("game_content", "reason", "claim", "refutation", "profile"), "string"),
    **dict.fromkeys(("equilibrium", "identity", "leading", "title", "trace", "log"), "string"),
    **dict.fromkeys(("exact_max_regret", "undominated", "sequential", "host"), "string"),
    **dict.fromkeys(("statistics", "also", "parameters", "equilibria"), "object"),
    **dict.fromkeys(("seed", "repeat", "iterations", "peak_memory_bytes"), "Int64"),
    **dict.fromkeys(("candidates", "rank", "work", "dimension", "sets", "credible"), "Int64"),
    **dict.fromkeys(("subgames", "subgame_perfect", "index"), "Int64"),
    **dict.fromkeys(("cells", "ok", "fastest", "processors"), "Int64"),
    "refuted": "bool",
    **dict.fromkeys(("on_path", "strict", "quasi_strict"), "boolean"),
}
_CELL = (
    *("run", "key", "game", "solver", "game_spec", "game_content", "solver_spec"),
    *("seed", "repeat"),
)
_COSTS = ("elapsed_s", "cpu_s", "setup_s", "overhead_s", "peak_memory_bytes", "iterations")
_QUALITY = ("nash_conv", "max_regret")
_RESULT_COLUMNS = (*_CELL, "status", "reason", "target", *_COSTS, "host", "candidates", "claim")
_CANDIDATE_COLUMNS = (*_CELL, "rank", "claim", "claimed_regret", "refuted", "refutation")
_IDENTITY_COLUMNS = (
    *("identity", "also", "on_path", "strict", "distance", "dimension"),
    *("leading", "parameter", "parameters", "title"),
)
_CREDIBLE_COLUMNS = ("sets", "credible", "worst")
_KIND_COLUMNS = (
    *("undominated", "subgames", "subgame_perfect", "sequential", "quasi_strict", "index"),
)
_TRACE_COLUMNS = (*_CELL, "work", "elapsed_s", "claim", *_QUALITY)


def cell_frame(runs: Sequence[StoredRun]) -> pd.DataFrame:
    """All cells of runs as a data frame, one row per cell; see :meth:`eqbench.Run.frame`."""
    rows = result_rows(runs)
    statistics = [cell.statistics for run in runs for cell in run.cells]
    columns = [*result_columns(runs), "statistics"]
    return data_frame(
        [row | {"statistics": own} for row, own in zip(rows, statistics, strict=True)], columns
    )


def equilibrium_frame(runs: Sequence[StoredRun]) -> pd.DataFrame:
    """All verified candidates of runs as a data frame, best first in each cell."""
    rows = [
        _cell(run, cell) | _candidate(run, rank, item)
        for run in runs
        for cell in run.cells
        for rank, item in enumerate(cell.equilibria)
    ]
    per_player = _player_columns(_players(runs))
    figures = [*per_player, *_QUALITY, "exploitability", "exact_max_regret"]
    verdicts = [*_IDENTITY_COLUMNS, *_CREDIBLE_COLUMNS, *_KIND_COLUMNS]
    return data_frame(rows, [*_CANDIDATE_COLUMNS, *figures, "profile", *verdicts])


def trace_frame(runs: Sequence[StoredRun]) -> pd.DataFrame:
    """Anytime curves of runs as a data frame, one row per measured snapshot."""
    rows = []
    for run in runs:
        for cell in run.cells:
            if cell.trace is None:
                continue
            try:
                points = read_trace(run.path / cell.trace)
            except UsageError as error:
                warnings.warn(str(error), stacklevel=4)
            else:
                rows += [_cell(run, cell) | asdict(point) for point in points]
    return data_frame(rows, _TRACE_COLUMNS)


def result_columns(runs: Sequence[StoredRun]) -> list[str]:
    """Names of the columns of :func:`result_rows`."""
    per_player = _player_columns(_players(runs))
    columns = [*_RESULT_COLUMNS, *per_player, *_QUALITY, "exploitability"]
    if any(cell.joint for run in runs for cell in run.cells):
        columns.append("cce_gap")
    return [*columns, "trace", "log", "equilibrium", "parameter"]


def result_rows(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """One row of plain values per cell; None where something is not known."""
    return [_result(run, cell) for run in runs for cell in run.cells]


def _result(run: StoredRun, cell: CellRecord) -> dict[str, Any]:
    return (
        _cell(run, cell)
        | {name: getattr(cell, name) for name in ("status", "reason", "target", *_COSTS)}
        | {"candidates": len(cell.equilibria)}
        | {"claim": cell.equilibria[0].claim if cell.equilibria else None}
        | _by_player(cell)
        | {name: getattr(cell, name) for name in (*_QUALITY, "exploitability", "cce_gap")}
        | {"trace": _path(run, cell.trace), "log": _path(run, cell.log)}
        | {"equilibrium": _name(cell.equilibria[0]) if cell.equilibria else None}
        | {"parameter": _parameter(cell.equilibria[0]) if cell.equilibria else None}
    )


def _cell(run: StoredRun, cell: CellRecord) -> dict[str, Any]:
    names = {name: getattr(cell, name) for name in _CELL if name != "run"}
    return {"run": str(run.path)} | names


def _candidate(run: StoredRun, rank: int, item: EquilibriumRecord) -> dict[str, Any]:
    identity: Mapping[str, Any] = item.identity or {}
    credible: Mapping[str, Any] = item.credible or {}
    kind: Mapping[str, Any] = item.kind or {}
    subgames = kind.get("subgame_perfect", {})
    return {
        "rank": rank,
        "claim": item.claim,
        "claimed_regret": item.claimed_regret,
        "refuted": item.refuted is not None,
        "refutation": item.refuted,
        **_by_player(item),
        "nash_conv": item.nash_conv,
        "max_regret": item.max_regret,
        "exploitability": item.nash_conv / len(item.regrets),
        "exact_max_regret": max(item.exact["regrets"], key=Fraction) if item.exact else None,
        "profile": _path(run, item.profile),
        "identity": _name(item),
        "also": identity.get("also", []),
        "on_path": identity.get("on_path"),
        "strict": identity.get("strict"),
        "distance": identity.get("distance"),
        "dimension": identity.get("dimension"),
        "leading": identity.get("leading"),
        "parameter": _parameter(item),
        "parameters": identity.get("parameters", {}),
        "title": identity.get("title") or None,
        **{name: credible.get(name) for name in _CREDIBLE_COLUMNS},
        **{name: kind.get(name) for name in _KIND_COLUMNS},
        "subgames": subgames.get("proper"),
        "subgame_perfect": subgames.get("perfect"),
    }


def _name(item: EquilibriumRecord) -> str | None:
    return None if item.identity is None else item.identity["name"]


def _parameter(item: EquilibriumRecord) -> float | None:
    """Value of the parameter that tells members of a published set apart best."""
    known: Mapping[str, Any] = item.identity or {}
    return known["parameters"].get(known["leading"]) if known.get("leading") else None


def _by_player(item: CellRecord | EquilibriumRecord) -> dict[str, float]:
    payoffs, regrets = item.payoffs or [], item.regrets or []
    names = _player_columns(max(len(payoffs), len(regrets)))
    return dict(zip(names, [*payoffs, *regrets], strict=True))


def _player_columns(players: int) -> list[str]:
    return [f"{what}_P{p + 1}" for what in ("payoff", "regret") for p in range(players)]


def _players(runs: Sequence[StoredRun]) -> int:
    """Largest number of players of any game in the runs that has figures."""
    return max((len(cell.regrets or ()) for run in runs for cell in run.cells), default=0)


def _path(run: StoredRun, relative: str | None) -> str | None:
    return None if relative is None else f"{run.path}/{relative}"


def stored_runs(runs: Runs) -> list[StoredRun]:
    """Runs in folders, by absolute paths; a warning says what is damaged in them."""
    named = [runs] if isinstance(runs, str | PathLike) else runs
    stored = [read_run(run_folder(fspath(run)).absolute()) for run in named]
    for run in stored:
        for note in run.notes:
            warnings.warn(note, stacklevel=4)
    return stored


def data_frame(rows: list[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Data frame whose types depend on the columns alone, also without rows."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=list(columns), dtype=object)
    types: dict[str, Any] = {name: _TYPES.get(name, "float64") for name in columns}
    if "status" in types:
        types["status"] = pd.CategoricalDtype(list(get_args(Status)), ordered=True)
    return frame.astype(types)
