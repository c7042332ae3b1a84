"""How a run begins: from its request or its manifest, in a new folder or an old one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from eqbench.errors import UsageError, counted, first_of
from eqbench.harness.experiment import Experiment, experiment_text
from eqbench.harness.pipeline import NEVER_CACHED, PlannedRun
from eqbench.harness.plan import Cell, manifest
from eqbench.harness.request import Request
from eqbench.store.latest import remember
from eqbench.store.run_folder import (
    MANIFEST,
    RunFolder,
    file_name,
    game_slug,
    new_run_path,
)
from eqbench.store.schema import CellRecord, Status
from eqbench.store.stored_games import plugins_of
from eqbench.store.stored_run import read_run


def stored_experiment(folder: RunFolder) -> Experiment:
    """What the run in a folder was last asked for; raises as :func:`plugins_of`."""
    plan = folder.plan
    plugins_of(plan)
    parts = plan.get("parts") or [plan["request"]]
    name, report = plan.get("name", ""), tuple(plan.get("report", ()))
    return Experiment(tuple(map(_request, parts)), name, report)


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


def _request(stored: Mapping[str, Any]) -> Request:
    known = {field.name for field in dataclasses.fields(Request)}
    fields = {"games": [], "solvers": []} | {k: v for k, v in stored.items() if k in known}
    return Request(**fields)


def folder_of_experiment(file: Path) -> str | None:
    """Folder into which an experiment is run, again and again; None for the manifest of a run."""
    if (file.parent / MANIFEST).exists():
        return None
    return str(Path("results") / file_name(file.stem))


def begin(
    job: PlannedRun,
    out: Path | None,
    again: Collection[Status],
    folder: RunFolder | None = None,
    *,
    anew: bool = False,
) -> tuple[RunFolder, list[str]]:
    """The folder of an experiment that begins, or goes on if it was begun in `out`.

    Parameters
    ----------
    folder : in which it goes on, if that is known
    anew : refuse a folder in which it was begun

    Returns
    -------
    RunFolder, list of str
        The folder, and what is to be said about it.

    Raises
    ------
    UsageError
        If the folder holds something else, or cannot be written.
    """
    if folder is not None:
        return folder, go_on(job, folder, again)
    try:
        return new_folder(job, out), []
    except UsageError:
        # another runner may have begun it while this one planned
        folder = None if anew or out is None else folder_begun(out, job.experiment)
        if folder is None:
            raise
        _refuse_to_hide(folder, job)
        return folder, go_on(job, folder, again)


def _refuse_to_hide(folder: RunFolder, job: PlannedRun) -> None:
    """Refuse to go on with a run without a name for another request that lacks cells of it."""
    plan, before = manifest(job.experiment, job.cells), folder.plan
    lost = set(before["cells"]) - set(plan["cells"])
    if lost and not job.experiment.name and before.get("request") != plan["request"]:
        raise UsageError(
            f"{folder.path} holds a run with {counted(len(lost), 'cell')} that are not among those "
            "asked for now; choose another folder, or ask for these too"
        )


def new_folder(job: PlannedRun, out: Path | None = None) -> RunFolder:
    """Create the folder of a planned run, with its manifest and the experiment as a file.

    Raises
    ------
    UsageError
        If it holds a run already, or cannot be written.
    """
    experiment = job.experiment
    games = dict.fromkeys(game for part in experiment.parts for game in part.games)
    name = experiment.name or "-".join(map(game_slug, games))
    folder = RunFolder.create(
        out or new_run_path(Path("results"), name), manifest(experiment, job.cells)
    )
    folder.write_experiment(experiment_text(experiment))
    remember(folder.path)
    return folder


def go_on(job: PlannedRun, folder: RunFolder, again: Collection[Status]) -> list[str]:
    """Note in a folder that its run goes on; return what is to be said about the change.

    Parameters
    ----------
    again : statuses of stored cells that are run once more
    """
    plan, before, said = manifest(job.experiment, job.cells), folder.plan, []
    finished = job.finished_in(folder, again)
    given_up = len(set(before["cells"]) - set(plan["cells"]))
    same = all(before.get(key) == plan.get(key) for key in ("request", "parts"))
    if not same and given_up:
        said.append(
            f"{given_up} of {len(before['cells'])} cells of the run so far are not among those "
            "asked for now, because a game, solver, seed or limit differs; they stay in the "
            "folder, but tables no longer show them"
        )
    if same and before["cells"] != plan["cells"]:
        said.append(
            f"{given_up} of {len(plan['cells'])} cells belong to another version of their game, "
            "solver or packages than what is here now; they are run anew"
        )
    if job.mistaken:
        cells = counted(len(job.mistaken), "record")
        said.append(
            f"{cells} under the key of another cell, not counted: {first_of(job.mistaken)}; the "
            "cells that are planned under these keys are run again"
        )
    if len(finished) < len(job.cells) or before["cells"] != plan["cells"]:
        folder.resumed(plan)
        folder.write_experiment(experiment_text(job.experiment))
    if len(finished) == len(job.cells):
        said.append(f"all {len(finished)} cells are there already")
    return said


class _Told:
    """Observer that has each cell told as it ends."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._all, self._done = tell, 0, 0

    def planned(self, cells: Sequence[Cell], finished: int) -> None:
        self._all, self._done = len(cells), finished

    def started(self, cell: Cell) -> None: ...

    def finished(self, record: CellRecord) -> None:
        self._done += 1
        self._tell(f"{self._done}/{self._all} {record!r}")

    def noted(self, words: str) -> None:
        self._tell(words)


def carry_out(
    experiment: Experiment,
    out: Path | None = None,
    tell: Callable[[str], None] = lambda words: None,
) -> Path:
    """Run all cells of an experiment that its folder does not have; return the folder.

    Parameters
    ----------
    out : folder for the results; one that holds this run already is gone on with
    tell : is told a line for each cell that ends

    Raises
    ------
    UsageError
        If a game or solver is unknown, or the folder cannot be written.
    StoreError
        If results can no longer be written; what was stored is kept.
    """
    with PlannedRun(experiment) as job:
        folder, _ = begin(job, out, NEVER_CACHED)
        job.execute(folder, _Told(tell))
        if formats := job.experiment.report:
            from eqbench.report.writing import write_reports  # which takes long to import

            list(write_reports(formats, [read_run(folder.path)], folder.path))
        return folder.path
