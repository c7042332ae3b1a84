"""Runs on disk with made-up records, and records of cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.isolation.messages import CandidateFrame, Clocks, SnapshotFrame
from eqbench.model.profile import BehaviorProfile
from eqbench.solver import Claim
from eqbench.store.json_lines import append_line
from eqbench.store.run_folder import RunFolder
from eqbench.store.schema import SCHEMA, CellRecord, EquilibriumRecord
from eqbench.store.stored_run import StoredRun, read_run

# -- Runs on disk with made-up records, for tests of what reads them


SPECIAL = r"""a_b%c&d#e$f{g}h~i^j\k|l`m"n*o[p]q<r>s--t-u"""


def cell(key: str, **fields: Any) -> CellRecord:
    """A cell that is ok, with one candidate; `fields` says what shall differ."""
    record = CellRecord(
        key=key,
        game="kuhn2",
        solver="cfr_plus",
        game_spec="kuhn(players=2,cards=3)",
        solver_spec="cfr_plus(start=uniform)",
        seed=None,
        status="ok",
        target=4e-10,
        elapsed_s=0.0123456789,
        cpu_s=0.01,
        setup_s=1.5,
        overhead_s=0.001,
        peak_memory_bytes=157 * 2**20,
        iterations=1_234_567,
        statistics={"pivots": 3},
    )
    return with_candidate(replace(record, **fields))


def with_candidate(record: CellRecord, scale: float = 1.0) -> CellRecord:
    """The record with the figures of one measured candidate."""
    payoffs, regrets = [-1 / 18, 1 / 18], [1.2e-11 * scale, 3e-12 * scale]
    found = EquilibriumRecord(
        claim="average",
        payoffs=payoffs,
        regrets=regrets,
        nash_conv=sum(regrets),
        max_regret=max(regrets),
        profile=f"profiles/{record.key}-0.json",
    )
    return replace(
        record,
        payoffs=payoffs,
        regrets=regrets,
        nash_conv=found.nash_conv,
        max_regret=found.max_regret,
        exploitability=found.nash_conv / 2,
        equilibria=[found],
    )


def identity(name: str, **fields: Any) -> dict[str, Any]:
    """An identity as the harness records it: strict and on the path; `fields` may differ.

    Its first parameter is the leading one. What is not strict differs off the path.
    """
    loose = not fields.get("strict", True) and fields.get("on_path", True)
    known = {
        "name": name,
        "also": [],
        "parameters": {},
        "leading": next(iter(fields.get("parameters", {})), None),
        "on_path": True,
        "strict": True,
        "distance": 1e-9,
        "off_path": {"P1|4:|bet": 0.5} if loose and not name.startswith("cluster:") else {},
        "dimension": None,
    }
    return known | fields


def identified(record: CellRecord, *identities: dict[str, Any] | None) -> CellRecord:
    """The record with one candidate for each identity, best first."""
    best = record.equilibria[0]
    found = [
        replace(best, max_regret=best.max_regret * (rank + 1), identity=each)
        for rank, each in enumerate(identities)
    ]
    return replace(record, equilibria=found)


def without_figures(key: str, **fields: Any) -> CellRecord:
    """A cell that never ran, for example because its solver does not support the game."""
    names: dict[str, Any] = {
        "game": "kuhn2",
        "solver": "sequence_lp",
        "game_spec": "kuhn(players=2,cards=3)",
        "solver_spec": "sequence_lp",
        "seed": None,
    }
    return CellRecord(key=key, **(names | fields))


def write_run(path: Path, *records: CellRecord, planned: list[str] | None = None) -> Path:
    """Folder of a run with these records; its plan has their keys unless `planned` is given."""
    keys = [record.key for record in records] if planned is None else planned
    manifest = {"schema": SCHEMA, "cells": keys, "request": {"timeout_s": 10.0}}
    RunFolder.create(path, manifest)
    write_lines(path, records)
    return path


def run_of(*records: CellRecord) -> StoredRun:
    """A finished run with these records, of which nothing is on disk."""
    plan = {"cells": [record.key for record in records], "request": {"timeout_s": 10.0}}
    return StoredRun(Path("run"), plan, records, 0, ())


def write_lines(folder: Path, records: Iterable[CellRecord]) -> None:
    """Append records to a run, whether the files that they name are there or not."""
    for record in records:
        append_line(folder / "runs.jsonl", record.to_line())


def sample_run(path: Path) -> StoredRun:
    """A run of two games with all sorts of cells, read back."""
    records = [
        cell("01", reason="max regret reached"),
        cell("02", solver=SPECIAL, status="limit", reason=f"stopped: {SPECIAL}", seed=3),
        cell("03", solver=SPECIAL, seed=4, elapsed_s=123.4),
        without_figures("04", status="unsupported", reason="two players only"),
        replace(cell("05", game="kuhn3", game_spec="kuhn(players=3)"), iterations=None),
    ]
    return read_run(write_run(path, *records))


# -- Frames as a child sends them, for tests of what reads them


CLOCKS = Clocks(elapsed_s=0.1, cpu_s=0.1, overhead_s=0.0, work=1)


def candidate(frequencies: NDArray, **changes: Any) -> CandidateFrame:
    """Candidate with a profile; what it claims is `iterate` unless changed."""
    return CandidateFrame(**(_fields(frequencies) | changes))


def handed_over(
    profile: BehaviorProfile, claim: Claim = "equilibrium", claimed_regret: float | None = None
) -> CandidateFrame:
    """Candidate as a solver hands it over, with exact frequencies where they are known."""
    exact = None if profile.exact is None else [str(value) for value in profile.exact]
    claimed = {"claim": claim, "claimed_regret": claimed_regret}
    return candidate(profile.probabilities, exact=exact, **claimed)


def snapshot(work: int, frequencies: NDArray | None = None) -> SnapshotFrame:
    """Snapshot after `work` iterations."""
    fields = _fields(np.zeros(0) if frequencies is None else frequencies)
    return SnapshotFrame(**(fields | {"clocks": Clocks(0.1, 0.1, 0.0, work)}))


def _fields(frequencies: NDArray) -> dict[str, Any]:
    return {
        "claim": "iterate",
        "claimed_regret": None,
        "exact": None,
        "profile": np.ascontiguousarray(frequencies, dtype="<f8").tobytes(),
        "clocks": CLOCKS,
    }
