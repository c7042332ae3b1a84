"""Verdicts become stored records, and what nothing known is near to becomes clusters."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from eqbench.documents import read_file
from eqbench.equilibria import cluster_identities
from eqbench.errors import ProfileError, StoreError
from eqbench.harness.child import Outcome
from eqbench.harness.frames import ErrorFrame
from eqbench.harness.judge import Finding, Judge, Received
from eqbench.harness.lists import completeness_of
from eqbench.harness.plan import Cell
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, completed_rows
from eqbench.model.profile_json import (
    MOST_PROFILE_BYTES,
    parse_profile,
    profile_from_json,
    profile_text,
)
from eqbench.solver import CLAIMS
from eqbench.store.run_folder import RunFolder, file_name
from eqbench.store.schema import (
    CellRecord,
    Clusters,
    CompletenessRecord,
    CompletenessRecords,
    EquilibriumRecord,
    IdentityRecord,
)
from eqbench.text import printable, shortened


class Recorder:
    """Has cells judged, and stores them; several threads may share it.

    Parameters
    ----------
    games : how many may be at work at a time

    Attributes
    ----------
    records : of this run by key, interrupted ones as well; from :meth:`conclude` on also what
        other runners have stored
    """

    def __init__(self, folder: RunFolder, games: int = 1) -> None:
        self.folder, self._games = folder, games
        self.records: dict[str, CellRecord] = {}
        self._profiles: dict[str, BehaviorProfile] = {}  # unknown equilibria, by their files
        self._judges: dict[str, Judge] = {}
        self._lock = threading.Lock()

    def record(self, cell: Cell, outcome: Outcome | None, received: Received) -> CellRecord:
        """Stored record of a cell; `outcome` is None if its solver could not even be loaded.

        What a child sent must not be able to stop the run.

        Raises
        ------
        StoreError
            If it cannot be stored.
        """
        try:
            record = self.folder.append(self._judged(cell, outcome, received))
        except StoreError:
            raise
        except Exception as error:  # whatever it sent, only its own cell may suffer
            reason = printable(f"what the solver sent cannot be used: {error or type(error)}")
            record = replace(_names(cell), status="crashed", reason=shortened(reason))
            record = self.folder.append(record)
        self.records[cell.key] = record
        return record

    def conclude(self, cells: Sequence[Cell], tolerance: float) -> None:
        """Store again what is gone, add what other runners stored, and name the clusters.

        Parameters
        ----------
        cells : that were planned
        tolerance : share of the payoff range up to which a profile counts as an equilibrium

        Raises
        ------
        StoreError
            If the folder cannot be written.
        """
        stored = {record.key: record for record in self.folder.cells()}
        # what is stored counts: a try that was interrupted does not undo an earlier one
        own = {key: each for key, each in self.records.items() if each.status != "interrupted"}
        self.records |= stored | own
        self.folder.restore()
        for key, record in own.items():
            if key not in stored:  # as when a solver removes the folder
                self.records[key] = self.folder.append(record)
        clusters = self._clusters(cells, tolerance)
        self.records = {key: _named(each, clusters) for key, each in self.records.items()}
        self.folder.write_clusters(clusters)
        self.folder.write_completeness(self._completeness(cells, tolerance))

    def _judged(self, cell: Cell, outcome: Outcome | None, received: Received) -> CellRecord:
        if outcome is None:
            assert cell.solver.problem is not None
            status, reason = cell.solver.problem
            return replace(_names(cell), status=status, reason=reason)
        judge, name, game = self.judge_of(cell), _file(cell), cell.game.game
        tolerance = cell.request.tolerance
        judgement = judge.judge(
            outcome, received, cell.limits, target=cell.target, tolerance=tolerance
        )
        paths = []
        for rank, finding in enumerate(judgement.handed):
            profile = finding.candidate.profile
            text = profile_text(game.tree, profile, game.spec)
            paths.append(self.folder.write_profile(f"{name}-{rank}", text))
            if judgement.identities[rank] is None and _is_equilibrium(finding, game, tolerance):
                self._profiles[paths[-1]] = profile
        fields = judgement.fields(paths) | {
            "reason": shortened(printable(judgement.reason)),
            "setup_s": outcome.setup_s + cell.game.build_s,  # building the game is part of it
            "peak_memory_bytes": outcome.peak_memory_bytes,
            "trace": self._write_trace(name, judgement.path, judgement.handed),
            "log": self._write_log(name, outcome, judgement.reason),
        }
        return replace(_names(cell), **fields)

    def judge_of(self, cell: Cell) -> Judge:
        """The judge of a cell, kept for the games at hand: it costs more than a measurement."""
        content = cell.game.content
        with self._lock:
            # those that were asked for last are last, and never more than are at work
            judge = self._judges.pop(content, None) or Judge(cell.game.game)
            self._judges[content] = judge
            if len(self._judges) > self._games:
                del self._judges[next(iter(self._judges))]
            return judge

    def _write_trace(self, name: str, path: list[Finding], handed: list[Finding]) -> str | None:
        """Write the anytime curve, which ends with the profile that the cell shows."""
        if not path:
            return None
        best = min(handed, key=lambda finding: finding.rank)
        end = [best] if best.work > path[-1].work else []
        return self.folder.write_trace(name, _curve([*path, *end]))

    def _write_log(self, name: str, outcome: Outcome, reason: str) -> str | None:
        """Keep what the solver printed, the traceback of what it raised, and a long reason."""
        raised = outcome.last.traceback if isinstance(outcome.last, ErrorFrame) else ""
        whole = reason if shortened(reason) != reason and not raised else ""
        text = "\n".join(part for part in (outcome.log, raised, whole) if part)
        return self.folder.write_log(name, text) if text else None

    def _clusters(self, cells: Sequence[Cell], tolerance: float) -> Clusters:
        """Identities of equilibria that nothing known is near to, by the paths of their profiles.

        They are numbered per game: first those of the planned cells in their order, then those of
        cells that other runners planned. Equilibria whose profile cannot be read any more get no
        name; those of games that are not planned keep theirs.
        """
        games = {cell.game.game.spec: cell.game.game for cell in cells}
        unknown: dict[str, list[EquilibriumRecord]] = {spec: [] for spec in games}
        clusters: Clusters = {}
        for key in dict.fromkeys([*(cell.key for cell in cells), *self.records]):
            record = self.records.get(key)
            if record is None or record.status == "interrupted":
                continue
            game = games.get(record.game_spec)
            for item in record.equilibria:
                if item.profile is None or _is_known(item):
                    continue
                if game is not None and _is_equilibrium(item, game, tolerance):
                    unknown[record.game_spec].append(item)
                elif game is None and item.identity is not None:
                    clusters[item.profile] = item.identity
        for spec, items in unknown.items():
            clusters |= self._clusters_of(games[spec], items)
        return clusters

    def _clusters_of(self, game: Game, items: Sequence[EquilibriumRecord]) -> Clusters:
        """Identities of equilibria of one game by the paths of their profiles."""
        found = [
            (path, item.max_regret, profile.probabilities)
            for path, item in ((str(item.profile), item) for item in items)
            if (profile := self._profile(path, game)) is not None
        ]
        if not found:
            return {}
        paths, regrets, profiles = zip(*found, strict=True)
        identities = cluster_identities(game, profiles, regrets)
        return {
            path: cast("IdentityRecord", identity.to_json())
            for path, identity in zip(paths, identities, strict=True)
            if identity is not None
        }

    def _completeness(self, cells: Sequence[Cell], tolerance: float) -> CompletenessRecords:
        """What the indices of all equilibria say, by the specs of the planned games."""
        known: CompletenessRecords = {}
        for spec, game in {cell.game.game.spec: cell.game.game for cell in cells}.items():
            records = [
                record
                for record in self.records.values()
                if record.game_spec == spec and record.status not in ("interrupted", "refuted")
            ]
            items = [item for record in records for item in record.equilibria]
            most = tolerance * game.tree.payoff_scale
            judged = completeness_of(game, items, partial(self._profile, game=game), most)
            if judged is not None:
                known[spec] = cast("CompletenessRecord", judged.to_json())
        return known

    def _profile(self, path: str, game: Game) -> BehaviorProfile | None:
        """A stored profile as its file says it, None if it cannot be read any more."""
        if path in self._profiles:
            # the largest frequency of a row is what the others leave of 1
            rows = completed_rows(game.tree, self._profiles[path])
            return BehaviorProfile(np.array([float(value) for value in rows]), rows)
        try:
            text = read_file(self.folder.path / path, MOST_PROFILE_BYTES)
            return profile_from_json(game.tree, parse_profile(text))
        except (OSError, ProfileError):  # somebody has deleted or changed it
            return None


def _is_known(item: EquilibriumRecord) -> bool:
    return item.identity is not None and not item.identity["name"].startswith("cluster:")


def _is_equilibrium(item: Finding | EquilibriumRecord, game: Game, tolerance: float) -> bool:
    return item.max_regret <= tolerance * game.tree.payoff_scale


def _named(record: CellRecord, clusters: Clusters) -> CellRecord:
    """Record whose equilibria have their names in these clusters, and in no others."""
    names = [
        item.identity if _is_known(item) else clusters.get(item.profile or "")
        for item in record.equilibria
    ]
    if all(item.identity == name for item, name in zip(record.equilibria, names, strict=True)):
        return record
    equilibria = [
        replace(item, identity=name) for item, name in zip(record.equilibria, names, strict=True)
    ]
    return replace(record, equilibria=equilibria)


def _curve(findings: Sequence[Finding]) -> dict[str, NDArray]:
    """Anytime curve of measured snapshots, as arrays of length K (and (K, N))."""
    width = max(map(len, CLAIMS))
    return {
        "work": np.array([finding.work for finding in findings], dtype=np.int64),
        "elapsed_s": np.array([finding.elapsed_s for finding in findings]),
        "claim": np.array([finding.candidate.claim for finding in findings], dtype=f"U{width}"),
        "regrets": np.array([finding.measured.regrets for finding in findings], dtype=float),
        "payoffs": np.array([finding.measured.payoffs for finding in findings], dtype=float),
    }


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
        repeat=cell.repeat,
        status="crashed",
        target=cell.target,
        tolerance=cell.request.tolerance * cell.game.game.tree.payoff_scale,
    )


def _file(cell: Cell) -> str:
    """Name for the files of one try; a further try must leave those of a stored one alone."""
    return f"{file_name(cell.solver.typed)[:40]}-{cell.key}-{secrets.token_hex(2)}"
