"""Results become stored records, and what nothing known is near to becomes clusters."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from eqbench.documents import read_file
from eqbench.equilibria import cluster_identities
from eqbench.errors import ProfileError, StoreError
from eqbench.harness.attempt import Result, record_of, unusable
from eqbench.harness.judge import completeness_of
from eqbench.harness.plan import Cell
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import MOST_PROFILE_BYTES, parse_profile, profile_from_json
from eqbench.store.run_folder import LINES, RunFolder, file_name
from eqbench.store.schema import (
    CellRecord,
    Clusters,
    CompletenessRecord,
    CompletenessRecords,
    EquilibriumRecord,
    IdentityRecord,
)

MOST_KEPT_CHARACTERS = 2**26  # of profiles, so that they need not be read to be compared


class Recorder:
    """Stores results of cells, and what follows from all of them.

    Several runners may share a folder. What others store is read from it; what was stored here is
    known and not read again.

    Attributes
    ----------
    records : by key, of this runner and of others as far as they were read; an interrupted one
        only of this runner, and where none has finished
    completeness : what indices say about the equilibria of each game, from :meth:`conclude` on
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.records: dict[str, CellRecord] = {}
        self.completeness: CompletenessRecords = {}
        self._lines, self._own = folder.new_cells(), set[str]()
        self._texts: dict[str, str] = {}
        self._room = MOST_KEPT_CHARACTERS

    def catch_up(self) -> list[CellRecord]:
        """Read what was stored since the last call, and return it."""
        new = self.folder.lines(LINES, CellRecord.of_line, self._lines)
        self.records |= {record.key: record for record in new if record.key not in self._own}
        return new

    def store(self, cell: Cell, result: Result) -> CellRecord:
        """Stored record of a cell.

        Raises
        ------
        StoreError
            If it cannot be stored.
        """
        if result.host:
            self.folder.note_host(result.host)
        try:
            record = self._with_files(result)
            self.folder.append(record, self._lines)
        except StoreError:
            raise
        except Exception as error:  # no reader would take it
            record = unusable(record_of(cell), error).record
            self.folder.append(record, self._lines)
        if record.status != "interrupted":
            self._own.add(record.key)
        elif record.key in self.records:  # an earlier try has finished
            return record
        self.records[record.key] = record
        return record

    def _with_files(self, result: Result) -> CellRecord:
        """The record of a result, whose files are written."""
        record, write = result.record, self.folder.write
        # a further try must leave the files of a stored one alone
        name = f"{file_name(record.solver)[:40]}-{record.key}-{secrets.token_hex(2)}"
        equilibria = []
        for rank, (item, text) in enumerate(zip(record.equilibria, result.profiles, strict=True)):
            path = write(f"profiles/{name}-{rank}.json", text)
            equilibria.append(replace(item, profile=path))
            if len(text) <= self._room and item.max_regret <= (record.tolerance or 0.0):
                self._texts[path] = text
                self._room -= len(text)
        trace = None if result.trace is None else write(f"traces/{name}.npz", result.trace)
        log = write(f"logs/{name}.txt", result.log) if result.log else None
        return replace(record, equilibria=equilibria, trace=trace, log=log)

    def conclude(self, cells: Sequence[Cell], tolerance: float) -> None:
        """Name the clusters of all cells, and say which lists of equilibria are incomplete.

        Parameters
        ----------
        cells : that were planned
        tolerance : share of the payoff range up to which a profile counts as an equilibrium

        Raises
        ------
        StoreError
            If the folder cannot be written.
        """
        self.catch_up()
        named = self.folder.clusters() if self.records.keys() - self._own else {}
        clusters = self._clusters(cells, tolerance, named)
        self.records = {key: _named(each, clusters) for key, each in self.records.items()}
        self.completeness = self._completeness(cells, tolerance)
        self.folder.write_derived(clusters, self.completeness)

    def _clusters(self, cells: Sequence[Cell], tolerance: float, named: Clusters) -> Clusters:
        """Identities of equilibria that nothing known is near to, by the paths of their profiles.

        They are numbered per game: first those of the planned cells in their order, then those of
        cells that other runners planned. Equilibria whose profile cannot be read any more get no
        name; those of games that are not planned keep theirs, which are among those `named`.
        """
        games = {cell.game.content: cell.game.game for cell in cells}
        unknown: dict[str, list[EquilibriumRecord]] = {content: [] for content in games}
        clusters: Clusters = {}
        for key in dict.fromkeys([*(cell.key for cell in cells), *self.records]):
            record = self.records.get(key)
            if record is None or record.status == "interrupted":
                continue
            game = games.get(record.game_content)
            for item in record.equilibria:
                if item.profile is None or _is_known(item):
                    continue
                if game is not None and _is_equilibrium(item, game, tolerance):
                    unknown[record.game_content].append(item)
                elif game is None and item.profile in named:
                    clusters[item.profile] = named[item.profile]
        for content, items in unknown.items():
            clusters |= self._clusters_of(games[content], items)
        return clusters

    def _clusters_of(self, game: Game, items: Sequence[EquilibriumRecord]) -> Clusters:
        """Identities of equilibria of one game by the paths of their profiles."""
        found = [
            (path, item.max_regret, profile)
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
        """What the indices of all equilibria say, by the contents of the planned games."""
        known: CompletenessRecords = {}
        for content, game in {cell.game.content: cell.game.game for cell in cells}.items():
            records = [
                record
                for record in self.records.values()
                if record.game_content == content
                and record.status not in ("interrupted", "refuted")
            ]
            items = [item for record in records for item in record.equilibria]
            most = tolerance * game.tree.payoff_scale
            judged = completeness_of(game, items, partial(self._profile, game=game), most)
            if judged is not None:
                known[content] = cast("CompletenessRecord", judged.to_json())
        return known

    def _profile(self, path: str, game: Game) -> BehaviorProfile | None:
        """A stored profile as its file has it, None if it cannot be read."""
        try:
            text = self._texts.get(path)
            data = read_file(self.folder.path / path, MOST_PROFILE_BYTES) if text is None else text
            return profile_from_json(game.tree, parse_profile(data))
        except (OSError, ProfileError):  # deleted or edited by hand
            return None


def _is_known(item: EquilibriumRecord) -> bool:
    return item.identity is not None and not item.identity["name"].startswith("cluster:")


def _is_equilibrium(item: EquilibriumRecord, game: Game, tolerance: float) -> bool:
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
