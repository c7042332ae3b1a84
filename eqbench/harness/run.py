"""A run: cells in a folder, of which those that are missing are carried out."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import mean
from typing import Any, cast

from eqbench.documents import read_file
from eqbench.equilibria import cluster_identities, completeness
from eqbench.errors import ProfileError, StoreError, UsageError, counted, first_of
from eqbench.harness.attempt import (
    Attempt,
    Ended,
    Engine,
    LocalEngine,
    Machine,
    engine_of,
    not_loaded,
    record_of,
    unusable,
)
from eqbench.harness.experiment import Experiment, Request, experiment_text
from eqbench.harness.plan import PlannedCell, make_plan, manifest
from eqbench.isolation.child import ScratchFolder, interrupts_held
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import MOST_PROFILE_BYTES, parse_profile, profile_from_json
from eqbench.registry import Registry, default_registry
from eqbench.store.json_lines import LineReader
from eqbench.store.named import plugins_of
from eqbench.store.run_folder import (
    EXPERIMENT,
    LINES,
    MANIFEST,
    Claims,
    RunFolder,
    file_name,
    game_slug,
    new_run_path,
)
from eqbench.store.schema import (
    CellRecord,
    Clusters,
    CompletenessRecord,
    CompletenessRecords,
    EquilibriumRecord,
    IdentityRecord,
    Status,
)
from eqbench.store.stored_run import StoredRun, cell_name, remember

LOOK_AGAIN_S = 0.2
# Statuses that are retried on resume, because they depend on the environment.
NEVER_CACHED: tuple[Status, ...] = ("crashed", "failed", "unavailable")
MOST_KEPT_CHARACTERS = 2**26  # of profiles, so that they need not be read to be compared
# Frequencies that are read and compared at the end of a run; more would take seconds.
MOST_FREQUENCIES = 2_000_000

Say = Callable[[str], None]


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
        self._lines = LineReader(folder.path / LINES, CellRecord.of_line)
        self._own = set[str]()
        self._texts: dict[str, str] = {}
        self._room = MOST_KEPT_CHARACTERS

    def catch_up(self) -> list[CellRecord]:
        """Read what was stored since the last call, and return it."""
        new = self.folder.lines(self._lines)
        self.records |= {record.key: record for record in new if record.key not in self._own}
        return new

    def store(self, cell: PlannedCell, result: Attempt) -> CellRecord:
        """Store the result of a cell with its files and return its record.

        Raises
        ------
        StoreError
            If it cannot be stored.
        """
        record, write = result.record, self.folder.write
        if result.host:
            self.folder.note_host(result.host)
        # a further try must leave the files of a stored one alone
        name = f"{file_name(record.solver)[:40]}-{record.key}-{secrets.token_hex(2)}"
        try:
            equilibria = []
            texts = zip(record.equilibria, result.profiles, strict=True)
            for rank, (item, text) in enumerate(texts):
                path = write(f"profiles/{name}-{rank}.json", text)
                equilibria.append(replace(item, profile=path))
                if len(text) <= self._room and item.max_regret <= (record.tolerance or 0.0):
                    self._texts[path] = text
                    self._room -= len(text)
            trace = None if result.trace is None else write(f"traces/{name}.npz", result.trace)
            log = write(f"logs/{name}.txt", result.log) if result.log else None
            record = replace(record, equilibria=equilibria, trace=trace, log=log)
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

    def conclude(self, cells: Sequence[PlannedCell], tolerance: float) -> None:
        """Name the clusters of all cells, and say which lists of equilibria are incomplete.

        Clusters are numbered per game: first those of the planned cells in their order, then those
        of cells that other runners planned. Equilibria whose profile cannot be read any more get
        no name; those of games that are not planned keep theirs.

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
        games = {cell.game.content: cell.game.game for cell in cells}
        named = self.folder.clusters() if self.records.keys() - self._own else {}
        planned = dict.fromkeys(cell.key for cell in cells if cell.key in self.records)
        ended = [self.records[key] for key in planned | dict.fromkeys(self.records)]
        ended = [record for record in ended if record.status != "interrupted"]
        clusters: Clusters = {}
        for record in ended:
            if record.game_content not in games:
                kept = [str(item.profile) for item in record.unknown]
                clusters |= {path: named[path] for path in kept if path in named}
        for content, game in games.items():
            most = tolerance * game.tree.payoff_scale
            found = [
                (str(item.profile), item.max_regret, profile)
                for record in ended
                if record.game_content == content
                for item in record.unknown
                if item.max_regret <= most and (profile := self._profile(item, game)) is not None
            ]
            if found:
                paths, regrets, profiles = zip(*found, strict=True)
                names = cluster_identities(game, profiles, regrets)
                for path, name in zip(paths, names, strict=True):
                    if name is not None:
                        clusters[path] = cast("IdentityRecord", name.to_json())
        self.records = {key: each.with_clusters(clusters) for key, each in self.records.items()}
        self.completeness = {
            content: judged
            for content, game in games.items()
            if (judged := self._completeness(content, game, tolerance)) is not None
        }
        self.folder.write_derived(clusters, self.completeness)

    def _completeness(
        self, content: str, game: Game, tolerance: float
    ) -> CompletenessRecord | None:
        """Return what the indices of all equilibria of a game say; None if that is too much work.

        None also where there are no equilibria, or one of them cannot be read any more.
        """
        items = [
            item
            for record in self.records.values()
            if record.game_content == content and record.status not in ("interrupted", "refuted")
            for item in record.equilibria
            if item.max_regret <= tolerance * game.tree.payoff_scale
        ]
        if not items or len(items) * game.tree.n_actions > MOST_FREQUENCIES:
            return None
        profiles = []
        for item in items:
            profile = self._profile(item, game)
            if profile is None:
                return None
            # decimals of a file are no proof that a profile is exactly what the solver had
            is_exact = item.is_proved
            profiles.append(profile if is_exact else BehaviorProfile(profile.probabilities))
        judged = completeness(game, profiles, [item.max_regret for item in items])
        return None if judged is None else cast("CompletenessRecord", judged.to_json())

    def _profile(self, item: EquilibriumRecord, game: Game) -> BehaviorProfile | None:
        """Return a stored profile as its file has it, None if it cannot be read."""
        path = item.profile or ""
        try:
            text = self._texts.get(path)
            data = read_file(self.folder.path / path, MOST_PROFILE_BYTES) if text is None else text
            return profile_from_json(game.tree, parse_profile(data))
        except (OSError, ProfileError):  # deleted or edited by hand
            return None


@dataclass(frozen=True)
class Running:
    """A cell at work, since a moment of the monotonic clock."""

    cell: PlannedCell
    since: float


class ActiveRun:
    """A planned run; children and scratch files are gone when the ``with`` ends.

    It begins in a folder by :meth:`begin`, and :meth:`execute` yields the record of each cell as
    it ends. Reports read :attr:`stored`.

    Attributes
    ----------
    cells : what is planned
    folder, recorder : what holds the run and what stores its results, as soon as it has a folder
    waiting : cells that are neither running nor finished, as far as is known, by key
    running : cells at work, by key
    mistaken : names of stored cells that stand under the key of another one
    """

    folder: RunFolder
    recorder: Recorder

    def __init__(self, request: Request | Experiment, registry: Registry | None = None) -> None:
        self.experiment = request if isinstance(request, Experiment) else Experiment((request,))
        self.registry = registry or default_registry().with_plugins(self.experiment.plugins)
        self.cells: list[PlannedCell] = []
        # unlike that of a dict, its beginning is found at once when many have been taken out
        self.waiting = OrderedDict[str, PlannedCell]()
        self.running: dict[str, Running] = {}
        self.mistaken: list[str] = []
        self._plan: dict[str, Any] = {}

    def __enter__(self) -> ActiveRun:
        self._scheduler = self.experiment.scheduler
        self._workspace = ScratchFolder()
        try:
            workspace = Path(self._workspace.name)
            cells = [
                cell
                for part in self.experiment.parts
                for cell in make_plan(part, self.registry, workspace)
            ]
            self.cells = list({cell.key: cell for cell in cells}.values())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._workspace.cleanup()

    # -- the folder ----------------------------------------------------------------------------

    def open(self, folder: RunFolder) -> None:
        """Read what a folder has of this run."""
        self.folder, self.recorder = folder, Recorder(folder)
        self.recorder.catch_up()

    def missing(self, again: Collection[Status] = NEVER_CACHED) -> list[PlannedCell]:
        """Cells that the folder does not have, and those that ended as in `again`."""
        stored, missing = self.recorder.records, []
        self.mistaken = []
        for cell in self.cells:
            record = stored.get(cell.key)
            if record is not None and cell.contradicted_by(record):
                self.mistaken.append(cell_name(record))
                record = None
            if record is None or record.status in again:
                missing.append(cell)
        return missing

    def begin(
        self,
        out: Path | None = None,
        again: Collection[Status] = NEVER_CACHED,
        folder: RunFolder | None = None,
        *,
        fresh: bool = False,
    ) -> list[str]:
        """Begin in a new folder, or resume if the experiment was begun in `out`.

        Parameters
        ----------
        again : statuses of stored cells that are run once more
        folder : that of the run that is resumed, if it is known
        fresh : refuse a folder in which it was begun

        Returns
        -------
        list of str
            Messages about a run that is resumed.

        Raises
        ------
        UsageError
            If the folder holds something else, or cannot be written.
        """
        experiment, plan = self.experiment, manifest(self.experiment, self.cells)
        self._plan = plan
        if folder is None:
            try:
                games = dict.fromkeys(game for part in experiment.parts for game in part.games)
                name = experiment.name or "-".join(map(game_slug, games))
                self.open(RunFolder.create(out or new_run_path(Path("results"), name), plan))
            except UsageError:
                # another runner may have begun it while this one planned
                folder = None if fresh or out is None else folder_begun(out, experiment)
                if folder is None:
                    raise
                before = folder.plan
                lost = set(before["cells"]) - set(plan["cells"])
                if lost and not experiment.name and before.get("request") != plan["request"]:
                    raise UsageError(
                        f"{folder.path} holds a run with {counted(len(lost), 'cell')} that are not "
                        "among those requested now; choose another folder, or request these too"
                    ) from None
            else:
                self.folder.write(EXPERIMENT, experiment_text(experiment))
                remember(self.folder.path)
                return []
        return self._resume(folder, again)

    def _resume(self, folder: RunFolder, again: Collection[Status]) -> list[str]:
        """Note in a folder that its run is resumed; return messages about what differs."""
        plan, before, messages = self._plan, folder.plan, []
        self.open(folder)
        missing = len(self.missing(again))
        gone = len(set(before["cells"]) - set(plan["cells"]))
        same = all(before.get(key) == plan.get(key) for key in ("request", "parts"))
        if not same and gone:
            messages.append(
                f"{gone} of {len(before['cells'])} cells of the run so far are not among those "
                "requested now, because a game, solver, seed or limit differs; they stay in the "
                "folder, but tables no longer show them"
            )
        if same and before["cells"] != plan["cells"]:
            messages.append(
                f"{gone} of {len(plan['cells'])} cells belong to another version of their game, "
                "solver or packages than what is here now; they are run again"
            )
        if self.mistaken:
            cells = counted(len(self.mistaken), "record")
            messages.append(
                f"{cells} under the key of another cell, not counted: {first_of(self.mistaken)}; "
                "the cells that are planned under these keys are run again"
            )
        if missing or before["cells"] != plan["cells"]:
            folder.resumed(plan)
            folder.write(EXPERIMENT, experiment_text(self.experiment))
        else:
            self._plan = before
        if not missing:
            messages.append(f"all {len(self.cells)} cells are there already")
        return messages

    # -- results -------------------------------------------------------------------------------

    @property
    def records(self) -> list[CellRecord]:
        """Records of the cells so far, in the order of the plan; interrupted ones as well."""
        known = self.recorder.records
        return [known[cell.key] for cell in self.cells if cell.key in known]

    @property
    def stored(self) -> StoredRun:
        """The run as reports read it; what was stored here is not read again."""
        records, recorder = tuple(self.records), self.recorder
        outdated = len(recorder.records.keys() - {cell.key for cell in self.cells})
        hosts = self.folder.hosts(record.host for record in records if record.host)
        return StoredRun(
            self.folder.path,
            self._plan,
            records,
            outdated,
            self.folder.notes,
            recorder.completeness,
            hosts,
        )

    def conclude(self) -> None:
        """Compare the equilibria of all cells, and store what follows."""
        self.recorder.conclude(self.cells, self.experiment.tolerance)

    # -- execution -----------------------------------------------------------------------------

    def execute(
        self,
        again: Collection[Status] = NEVER_CACHED,
        interrupted: Callable[[], bool] = lambda: False,
        say: Say = lambda words: None,
    ) -> Generator[CellRecord, None, None]:
        """Run all cells that the folder does not have; yield each as soon as it is stored.

        Several runners may do so in the same folder at the same time; each takes what no other
        has taken. When nothing else is left, it waits for what the others finish. All stored
        records of the plan are in `records` afterwards. When the iterator is closed, what the
        running cells had reported is stored as interrupted.

        Parameters
        ----------
        again : statuses of stored cells that are run once more
        interrupted : called repeatedly; if it returns True the run ends as by an interrupt
        say : gets messages about a cluster

        Raises
        ------
        KeyboardInterrupt
            After what the running cells had reported was stored as interrupted.
        StoreError
            If the folder can no longer be written.
        SchedulerError, UsageError
            If the cluster cannot be used, or not any more.
        """
        self.waiting = OrderedDict((cell.key, cell) for cell in self.missing(again))
        jobs, place = self.experiment.jobs, Machine(self.experiment.jobs or 1)
        claims = self.folder.claims()
        try:
            if not self.waiting:  # where nothing is left, no cluster is needed
                return
            engine: Engine = (
                LocalEngine(place, jobs or 1)
                if self._scheduler is None
                else engine_of(self._scheduler)(
                    self._scheduler,
                    place,
                    Path(self._workspace.name),
                    jobs,
                    verify_here=any(part.verify_here for part in self.experiment.parts),
                    say=say,
                )
            )
            with closing(engine):
                yield from self._work(claims, engine, interrupted)
        finally:
            claims.close()
            self.conclude()

    def _work(
        self, claims: Claims, engine: Engine, interrupted: Callable[[], bool]
    ) -> Iterator[CellRecord]:
        """Move waiting cells to the engine, and store what comes back."""
        try:
            while self.waiting or self.running:
                with interrupts_held():  # nothing that has come back is lost
                    stored = self._store(claims, engine.ended())
                    while len(self.running) < engine.slots() and (cell := self._next(claims)):
                        self.running[cell.key] = Running(cell, time.monotonic())
                        if cell.solver.problem is None:
                            engine.submit(cell)
                        else:
                            stored += self._store(claims, [(cell, not_loaded(cell))])
                yield from stored
                if interrupted():
                    raise KeyboardInterrupt
                if self.waiting or self.running:
                    # Poll: a signal delivered just before the wait does not end it.
                    engine.wait(LOOK_AGAIN_S)
        except BaseException:
            with interrupts_held():
                engine.cancel()
                while engine.at_work:
                    engine.wait(LOOK_AGAIN_S)
                    with suppress(Exception):  # the first failure is reported
                        self._store(claims, engine.ended())
            raise

    def _next(self, claims: Claims) -> PlannedCell | None:
        """Claim a waiting cell; None if other runners hold all that are left.

        A cell is claimed before it is run, and left alone while another process holds it. The
        cells of a process that has died can be claimed again.
        """
        for _ in range(len(self.waiting)):
            if not self.waiting:
                break
            key = next(iter(self.waiting))
            if not claims.take(key):
                self.waiting.move_to_end(key)
                continue
            # another runner may have finished it between the last look and the claim
            for record in self.recorder.catch_up():
                if (own := self.waiting.get(record.key)) and not own.contradicted_by(record):
                    del self.waiting[record.key]
            if key in self.waiting:
                return self.waiting.pop(key)
            claims.release(key)
        return None

    def _store(self, claims: Claims, ended: Iterable[Ended]) -> list[CellRecord]:
        """Store results; raise what is meant for the run when all are stored."""
        failure, stored = None, []
        for cell, result in ended:
            try:
                if isinstance(result, BaseException):
                    raise result
                stored.append(self.recorder.store(cell, result))
            except BaseException as error:
                failure = failure or error
            del self.running[cell.key]
            claims.release(cell.key)
        if failure is not None:
            raise failure
        return stored


def stored_experiment(folder: RunFolder) -> Experiment:
    """The request of the run in a folder, when it was last resumed; as :func:`plugins_of`."""
    plan = folder.plan
    plugins_of(plan)
    parts = plan.get("parts") or [plan["request"]]
    known = {field.name for field in fields(Request)}
    requests = [
        Request(**{"games": [], "solvers": []} | {k: v for k, v in part.items() if k in known})
        for part in parts
    ]
    return Experiment(tuple(requests), plan.get("name", ""), tuple(plan.get("report", ())))


def folder_begun(place: Path, experiment: Experiment) -> RunFolder | None:
    """The folder of an experiment that was begun there, None if there is no run.

    Raises
    ------
    UsageError
        If the run there is that of another experiment.
    """
    if not (place / MANIFEST).exists():
        return None
    folder = RunFolder.open(place)
    name = folder.plan.get("name", "")
    if name != experiment.name:
        raise UsageError(
            f"{place} holds the run of {name or 'no experiment'}, not of {experiment.name}; choose "
            "another folder with --out"
        )
    return folder


def folder_of_experiment(file: Path) -> str | None:
    """Folder into which an experiment is run, again and again; None for the manifest of a run."""
    if (file.parent / MANIFEST).exists():
        return None
    return str(Path("results") / file_name(file.stem))


def solving_s(cells: Iterable[PlannedCell], jobs: int, ended: Iterable[CellRecord] = ()) -> float:
    """Seconds of solving that cells take, so many at a time.

    Each takes as long as those that have `ended` of its game and solver on average, otherwise as
    long as it may.
    """
    known = defaultdict[tuple[str, str], list[float]](list)
    for record in ended:
        if record.elapsed_s is not None:
            known[record.game_spec, record.solver_spec].append(record.elapsed_s)
    each_s = [
        mean(known.get((cell.id.game_spec, cell.id.solver_spec), [cell.request.timeout_s]))
        for cell in cells
        if cell.solver.problem is None
    ]
    return max(sum(each_s) / jobs, max(each_s, default=0.0))


def carry_out(
    experiment: Experiment, out: Path | None = None, tell: Say = lambda words: None
) -> StoredRun:
    """Run all cells of an experiment that its folder does not have, and write its reports.

    Parameters
    ----------
    out : folder for the results; one that holds this run already is resumed
    tell : gets a line for each cell that ends

    Raises
    ------
    UsageError
        If a game or solver is unknown, or the folder cannot be written.
    StoreError
        If results can no longer be written; what was stored is kept.
    """
    with ActiveRun(experiment) as run:
        run.begin(out)
        total = len(run.cells)
        done = total - len(run.missing())
        with closing(run.execute(say=tell)) as records:
            for number, record in enumerate(records, done + 1):
                tell(f"{number}/{total} {record!r}")
        if experiment.report:
            from eqbench.report.writing import write_reports  # which takes long to import

            list(write_reports(experiment.report, [run.stored], run.folder.path))
        return run.stored
