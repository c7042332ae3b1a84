"""Execute a plan: one child per cell, then verify, then store."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from eqbench.harness.child import Guardian, Limits, Outcome, run_child
from eqbench.harness.evidence import (
    Finding,
    SnapshotBuffer,
    curve,
    judge,
    measure_frame,
    metrics,
)
from eqbench.harness.frames import Frame
from eqbench.harness.plan import Cell, Request, make_plan
from eqbench.model.profile import profile_to_json
from eqbench.registry import Registry
from eqbench.store.run_folder import RunFolder, file_name
from eqbench.store.schema import CellRecord
from eqbench.verification import Verifier

_CLOCKS = ("elapsed_s", "cpu_s", "overhead_s", "iterations", "work", "statistics")


class Observer(Protocol):
    """Who watches a run, for example a progress display."""

    def planned(self, cells: Sequence[Cell]) -> None: ...

    def started(self, cell: Cell) -> None: ...

    def finished(self, record: CellRecord) -> None: ...


class Run:
    """A planned run; children and scratch files are gone when the ``with`` ends."""

    def __init__(self, request: Request, registry: Registry) -> None:
        self.request, self.registry = request, registry
        self.cells: list[Cell] = []

    def __enter__(self) -> Run:
        self._workspace = tempfile.TemporaryDirectory(prefix="eqbench-")
        self._guardian = Guardian(self._workspace.name)
        self._verifiers: dict[str, Verifier] = {}
        try:
            workspace = Path(self._workspace.name)
            self.cells = make_plan(self.request, self.registry, self._guardian, workspace)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._workspace.cleanup()
        self._guardian.close()

    def execute(self, folder: RunFolder, observer: Observer) -> list[CellRecord]:
        """Records of all cells, each stored as soon as it is finished."""
        records = []
        observer.planned(self.cells)
        for cell in self.cells:
            observer.started(cell)
            record = self._run_cell(cell, folder)
            folder.append(record)
            observer.finished(record)
            records.append(record)
        return records

    def _run_cell(self, cell: Cell, folder: RunFolder) -> CellRecord:
        if cell.solver.problem is not None:
            status, reason = cell.solver.problem
            return replace(_names(cell), status=status, reason=reason)
        limits = Limits(
            cell.setup_timeout_s,
            cell.budget.time_s,
            cell.budget.memory_bytes,
            cell.budget.threads,
        )
        snapshots, candidates = SnapshotBuffer(), list[Frame]()

        def on_frame(frame: Frame) -> None:
            if frame.kind == "snapshot":
                snapshots.add(frame)
            elif frame.kind == "candidate":
                candidates.append(frame)

        outcome = run_child(_job(cell), limits, self._guardian, on_frame)
        verifier = self._verifier(cell)
        path = [measure_frame(frame, verifier, cell.tolerance) for frame in snapshots.frames]
        found = [measure_frame(frame, verifier, cell.tolerance) for frame in candidates]
        status, reason = judge(outcome, found + path, limits, target=cell.budget.target)
        return replace(
            _names(cell),
            status=status,
            reason=reason,
            peak_memory_bytes=outcome.peak_memory_bytes,
            trace=folder.write_trace(_file(cell), curve(path)) if path else None,
            **_clocks(cell, outcome),
            **metrics(found or path[-1:], lambda k, finding: _save(cell, k, finding, folder)),
        )

    def _verifier(self, cell: Cell) -> Verifier:
        """Verifiers are kept: preparing one costs more than a measurement."""
        content = cell.game.content
        if content not in self._verifiers:
            self._verifiers = {content: Verifier(cell.game.game.tree)}
        return self._verifiers[content]


def _names(cell: Cell) -> CellRecord:
    """A record that says only which cell it is; status and figures are filled in later."""
    return CellRecord(
        key=cell.key,
        game=cell.game.typed,
        solver=cell.solver.typed,
        game_spec=cell.game.game.spec,
        solver_spec=cell.solver.spec,
        seed=cell.seed,
        status="crashed",
    )


def _clocks(cell: Cell, outcome: Outcome) -> dict[str, Any]:
    """Times and work: as the solver's clocks gave them, or as seen from outside if it died.

    Set-up counts from the start of the child, and includes building the game.
    """
    fields: dict[str, Any] = {}
    for frame in outcome.frames:
        fields |= {k: v for k, v in frame.fields.items() if k in _CLOCKS}
    killed = outcome.last is None and "elapsed_s" in fields
    started = any(frame.kind == "ready" for frame in outcome.frames)
    elapsed_s = fields.get("elapsed_s")
    if started and (killed or elapsed_s is None):
        elapsed_s = outcome.solve_s - fields.get("overhead_s", 0.0)
    return {
        "setup_s": outcome.setup_s + cell.game.build_s,
        "elapsed_s": elapsed_s,
        "cpu_s": fields.get("cpu_s"),
        "overhead_s": fields.get("overhead_s"),
        "iterations": fields.get("iterations", fields.get("work")),
        "statistics": fields.get("statistics", {}),
    }


def _save(cell: Cell, rank: int, finding: Finding, folder: RunFolder) -> str:
    profile = profile_to_json(cell.game.game.tree, finding.candidate.profile, cell.game.game.spec)
    return folder.write_profile(f"{_file(cell)}-{rank}", profile)


def _file(cell: Cell) -> str:
    return f"{file_name(cell.solver.typed)[:40]}-{cell.key}"


def _job(cell: Cell) -> dict[str, Any]:
    return {
        "do": "solve",
        "solver": cell.solver.spec,
        "plugins": cell.solver.plugins,
        "game_spec": cell.game.game.spec,
        "folder": str(cell.game.folder),
        "seed": cell.seed or 0,
        "budget": asdict(cell.budget),
    }
