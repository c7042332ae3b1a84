"""Execute a plan: one child per cell, then verify, then store."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from eqbench.errors import EqbenchError, StoreError
from eqbench.harness.child import Limits, Outcome, run_child
from eqbench.harness.evidence import Evidence, Finding, curve, measure_frame, metrics
from eqbench.harness.guard import Guardian
from eqbench.harness.interrupts import interrupts_held
from eqbench.harness.plan import Cell, Request, make_plan
from eqbench.harness.verdict import judge
from eqbench.model.profile_json import profile_text
from eqbench.registry import Registry
from eqbench.store.run_folder import RunFolder, file_name
from eqbench.store.schema import CellRecord
from eqbench.verification import Verifier


class Observer(Protocol):
    """Who watches a run, for example a progress display."""

    def planned(self, cells: Sequence[Cell]) -> None: ...

    def started(self, cell: Cell) -> None: ...

    def finished(self, record: CellRecord) -> None: ...


class Run:
    """A planned run; children and scratch files are gone when the ``with`` ends.

    Attributes
    ----------
    cells : what is planned
    records : what came of it so far; an interrupted cell is the last one
    """

    def __init__(self, request: Request, registry: Registry) -> None:
        self.request, self.registry = request, registry
        self.cells: list[Cell] = []
        self.records: list[CellRecord] = []

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

    def execute(self, folder: RunFolder, observer: Observer) -> None:
        """Run all cells, each stored as soon as it is finished.

        Raises
        ------
        KeyboardInterrupt
            After what the running cell had reported was stored as interrupted.
        StoreError
            If the folder can no longer be written.
        """
        observer.planned(self.cells)
        for cell in self.cells:
            observer.started(cell)
            evidence = Evidence()
            outcome = self._outcome(cell, evidence)
            with interrupts_held():
                record = self._record(cell, outcome, evidence, folder)
                self.records.append(record)
            if record.status == "interrupted":
                raise KeyboardInterrupt
            observer.finished(record)

    def _outcome(self, cell: Cell, evidence: Evidence) -> Outcome | None:
        """How the child of a cell ended; None if its solver cannot even be loaded."""
        if cell.solver.problem is not None:
            return None
        return run_child(_job(cell), _limits(cell), self._guardian, evidence.add)

    def _record(
        self, cell: Cell, outcome: Outcome | None, evidence: Evidence, folder: RunFolder
    ) -> CellRecord:
        """Stored record of a cell. What a child sent must not be able to stop the run."""
        try:
            record = self._judged(cell, outcome, evidence, folder)
            folder.append(record)
        except StoreError:
            raise
        except (EqbenchError, ValueError, TypeError, LookupError, AttributeError) as error:
            reason = f"what the solver sent cannot be used: {error}"
            record = replace(_names(cell), status="crashed", reason=reason)
            folder.append(record)
        return record

    def _judged(
        self, cell: Cell, outcome: Outcome | None, evidence: Evidence, folder: RunFolder
    ) -> CellRecord:
        if outcome is None:
            assert cell.solver.problem is not None
            status, reason = cell.solver.problem
            return replace(_names(cell), status=status, reason=reason)
        verifier = self._verifier(cell)
        path = [measure_frame(frame, verifier, cell.tolerance) for frame in evidence.snapshots]
        found = [measure_frame(frame, verifier, cell.tolerance) for frame in evidence.candidates]
        handed = found or path[-1:]
        status, reason = judge(
            outcome,
            handed,
            path,
            _limits(cell),
            target=cell.target,
            payoff_range=verifier.tree.payoff_range,
        )
        if evidence.dropped:
            reason += f"; {evidence.dropped:,} further candidates were dropped"
        return replace(
            _names(cell),
            status=status,
            reason=reason,
            peak_memory_bytes=outcome.peak_memory_bytes,
            trace=folder.write_trace(_file(cell), curve(path)) if path else None,
            log=_write_log(cell, outcome, folder),
            **_clocks(cell, outcome),
            **metrics(handed, lambda rank, finding: _save(cell, rank, finding, folder)),
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
        target=cell.target,
    )


def _limits(cell: Cell) -> Limits:
    budget = cell.budget
    return Limits(cell.setup_timeout_s, budget.time_s, budget.memory_bytes, budget.threads)


def _clocks(cell: Cell, outcome: Outcome) -> dict[str, Any]:
    """Times and work: as the solver's clocks gave them, or as seen from outside if it died.

    Set-up counts from the start of the child, and includes building the game.
    """
    clocks = outcome.clocks
    fields = {} if outcome.last is None else outcome.last.fields
    elapsed_s = fields.get("elapsed_s")
    if elapsed_s is None and outcome.ready:
        elapsed_s = outcome.solve_s - clocks.get("overhead_s", 0.0)
    return {
        "setup_s": outcome.setup_s + cell.game.build_s,
        "elapsed_s": elapsed_s,
        "cpu_s": clocks.get("cpu_s"),
        "overhead_s": clocks.get("overhead_s"),
        "iterations": clocks.get("work"),
        "statistics": fields.get("statistics", {}),
    }


def _save(cell: Cell, rank: int, finding: Finding, folder: RunFolder) -> str:
    game = cell.game.game
    text = profile_text(game.tree, finding.candidate.profile, game.spec)
    return folder.write_profile(f"{_file(cell)}-{rank}", text)


def _write_log(cell: Cell, outcome: Outcome, folder: RunFolder) -> str | None:
    """Keep what the solver printed, and the traceback of what it raised."""
    raised = "" if outcome.last is None else outcome.last.fields.get("traceback", "")
    text = "\n".join(part for part in (outcome.log, raised) if part)
    return folder.write_log(_file(cell), text) if text else None


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
