"""From how a child ended and what it sent to the stored record of its cell."""

from __future__ import annotations

import secrets
import threading
from dataclasses import replace
from typing import Any

from eqbench.equilibria import Identifier
from eqbench.errors import ProfileError, StoreError, counted
from eqbench.harness.child import Limits, Outcome
from eqbench.harness.evidence import Evidence, Finding, curve, measure_frames, metrics
from eqbench.harness.frames import DoneFrame, ErrorFrame
from eqbench.harness.naming import identity_of
from eqbench.harness.plan import Cell
from eqbench.harness.verdict import judge
from eqbench.model.profile_json import profile_text
from eqbench.store.run_folder import RunFolder, file_name
from eqbench.store.schema import CellRecord
from eqbench.text import printable, shortened
from eqbench.verification import Verifier


class Recorder:
    """Measures, judges and stores cells; several threads may share it."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._kits: dict[str, tuple[Verifier, Identifier]] = {}
        self._lock = threading.Lock()

    def record(self, cell: Cell, outcome: Outcome | None, evidence: Evidence) -> CellRecord:
        """Stored record of a cell; `outcome` is None if its solver could not even be loaded.

        What a child sent must not be able to stop the run.

        Raises
        ------
        StoreError
            If it cannot be stored.
        """
        try:
            record = self._judged(cell, outcome, evidence)
            self.folder.append(record)
        except StoreError:
            raise
        except Exception as error:  # whatever it sent, only its own cell may suffer
            reason = printable(f"what the solver sent cannot be used: {error or type(error)}")
            record = replace(_names(cell), status="crashed", reason=shortened(reason))
            self.folder.append(record)
        return record

    def _judged(self, cell: Cell, outcome: Outcome | None, evidence: Evidence) -> CellRecord:
        if outcome is None:
            assert cell.solver.problem is not None
            status, reason = cell.solver.problem
            return replace(_names(cell), status=status, reason=reason)
        if evidence.misfit:
            raise ProfileError(evidence.misfit)
        (verifier, identifier), name = self._kit(cell), _file(cell)
        path = measure_frames(evidence.snapshots, verifier, cell.tolerance)
        found = measure_frames(evidence.candidates, verifier, cell.tolerance)
        handed = found or path[-1:]
        status, reason = judge(
            outcome,
            handed,
            path,
            limits_of(cell),
            target=cell.target,
            tree=verifier.tree,
        )
        if evidence.dropped:
            reason += f"; dropped {counted(evidence.dropped, 'further candidate')}"
        return replace(
            _names(cell),
            status=status,
            reason=shortened(printable(reason)),
            peak_memory_bytes=outcome.peak_memory_bytes,
            trace=self._write_trace(name, path, handed),
            log=self._write_log(name, outcome, reason),
            **_clocks(cell, outcome),
            **metrics(
                handed,
                keep=lambda rank, finding: self._save(cell, f"{name}-{rank}", finding),
                name=lambda finding: identity_of(identifier, finding),
            ),
        )

    def _kit(self, cell: Cell) -> tuple[Verifier, Identifier]:
        """They are kept for the game at hand: preparing them costs more than a measurement."""
        content, game = cell.game.content, cell.game.game
        with self._lock:
            if content not in self._kits:
                self._kits = {content: (Verifier(game.tree), Identifier(game))}
            return self._kits[content]

    def _write_trace(self, name: str, path: list[Finding], handed: list[Finding]) -> str | None:
        """Write the anytime curve, which ends with the profile that the cell shows."""
        if not path:
            return None
        best = min(handed, key=lambda finding: finding.rank)
        end = [best] if best.work > path[-1].work else []
        return self.folder.write_trace(name, curve([*path, *end]))

    def _save(self, cell: Cell, name: str, finding: Finding) -> str:
        game = cell.game.game
        text = profile_text(game.tree, finding.candidate.profile, game.spec)
        return self.folder.write_profile(name, text)

    def _write_log(self, name: str, outcome: Outcome, reason: str) -> str | None:
        """Keep what the solver printed, the traceback of what it raised, and a long reason."""
        raised = outcome.last.traceback if isinstance(outcome.last, ErrorFrame) else ""
        whole = reason if shortened(reason) != reason and not raised else ""
        text = "\n".join(part for part in (outcome.log, raised, whole) if part)
        return self.folder.write_log(name, text) if text else None


def limits_of(cell: Cell) -> Limits:
    """Bounds of the child of a cell."""
    budget = cell.budget
    return Limits(cell.setup_timeout_s, budget.time_s, budget.memory_bytes, budget.threads)


def _names(cell: Cell) -> CellRecord:
    """A record that says only which cell it is; status and figures are filled in later."""
    return CellRecord(
        key=cell.key,
        game=cell.game.typed,
        solver=cell.solver.typed,
        game_spec=cell.game.game.spec,
        game_content=cell.game.content,
        solver_spec=cell.solver.spec,
        solver_version=cell.solver.version,
        seed=cell.seed,
        status="crashed",
        target=cell.target,
    )


def _clocks(cell: Cell, outcome: Outcome) -> dict[str, Any]:
    """Times and work: as the solver's clocks gave them, or as seen from outside if it died.

    Set-up counts from the start of the child, and includes building the game.
    """
    clocks, last = outcome.clocks, outcome.last
    ended = last if isinstance(last, DoneFrame | ErrorFrame) else None
    elapsed_s = None
    if ended is not None and ended.clocks is not None:
        elapsed_s = ended.clocks.elapsed_s
    elif outcome.ready:
        elapsed_s = outcome.solve_s - (0.0 if clocks is None else clocks.overhead_s)
    return {
        "setup_s": outcome.setup_s + cell.game.build_s,
        "elapsed_s": elapsed_s,
        "cpu_s": None if clocks is None else clocks.cpu_s,
        "overhead_s": None if clocks is None else clocks.overhead_s,
        "iterations": None if clocks is None else clocks.work,
        "statistics": {} if ended is None else ended.statistics,
    }


def _file(cell: Cell) -> str:
    """Name for the files of one try; a further try must leave those of a stored one alone."""
    return f"{file_name(cell.solver.typed)[:40]}-{cell.key}-{secrets.token_hex(2)}"
