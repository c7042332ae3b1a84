"""`eqbench merge`, `publish` and `results`: runs become one, a site, are listed and packed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from eqbench.cli.options import Group, command
from eqbench.cli.output import put_result, say, say_note, say_written
from eqbench.errors import UsageError, counted, first_of
from eqbench.requests import COUNT, FILE, FLAG, FOLDER, RUN, Age, Json, Option, Quiet
from eqbench.spec import split_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from eqbench.report.rows import Report
    from eqbench.store.kept_runs import KeptRun


@dataclass(frozen=True)
class MergeRequest:
    """Make one run of several, such as parts that ran on different machines.

    The new folder has the cells, profiles, curves and logs of all; these stay as they are. Of a
    cell that several runs have, the last that finished counts. Equilibria that no publication has
    are compared anew. `eqbench run --resume DIR` runs what the parts lack.
    """

    runs: Annotated[tuple[str, ...], Option("Folders of runs, or `latest`.", RUN, argument=True)]
    out: Annotated[str, Option("Folder for the run that they become.", FOLDER)]
    quiet: Quiet = False


@command(MergeRequest)
def merge(request: MergeRequest) -> None:
    from eqbench.cli.merge import merge as merge_runs
    from eqbench.cli.progress import Progress
    from eqbench.store.stored_run import read_run, run_folder

    with Progress("merging"):
        folder = merge_runs(map(run_folder, request.runs), Path(request.out), say_note)
    run = read_run(folder.path)
    say(f"{len(run.finished)} of {counted(run.planned, 'cell')} finished; results in {run.path}")


@dataclass(frozen=True)
class PublishRequest:
    """Copy runs with their pages into a folder, with an index that any web server shows.

    DIR is new, or was published into before: it keeps its other runs. A RUN may be a folder of
    runs, such as results; one that is in DIR already is replaced, unless cells would be lost.
    Without RUN only the index is written anew. Links are relative, so that the pages also work as
    files. Links to other places, and files that eqbench did not write, are neither copied nor
    removed.
    """

    folder: Annotated[str, Option("Folder of the index.", FOLDER, argument=True)]
    runs: Annotated[
        tuple[str, ...], Option("Folders of runs, or `latest`.", RUN, argument=True)
    ] = ()
    replace: Annotated[
        bool, Option("Replace a published run also by one that lacks cells of it.", FLAG)
    ] = False
    quiet: Quiet = False


@command(PublishRequest)
def publish(request: PublishRequest) -> None:
    from eqbench.report.writing import publish as write
    from eqbench.report.writing import runs_in
    from eqbench.store.stored_run import read_run, run_folder

    folders = [run_folder(text) for text in request.runs]
    found = [run.path for each in folders for run in runs_in(each) or [read_run(each)]]
    say_written([write(Path(request.folder), found, replace=request.replace, tell=say_note)])


@click.group(cls=Group)
def results() -> None:
    """List, remove or pack the runs below a folder."""


_RESULTS = "results"
_RUNS_BELOW = Option("Folder with runs in it, or a run.", FOLDER, argument=True)


@dataclass(frozen=True)
class ListRequest:
    """List runs: what they ran, how many cells are there, when they changed, what they take.

    DIR is results unless it is given. Games and solvers are listed by eqbench list.
    """

    folder: Annotated[str | None, _RUNS_BELOW] = None
    as_json: Json = False


@command(ListRequest, name="list")
def list_(request: ListRequest) -> None:
    put_result(*_listed(_kept(request.folder or _RESULTS)), as_json=request.as_json)


@dataclass(frozen=True)
class PruneRequest:
    """Remove runs. Without --yes it only says which.

    Removed are the runs in the folder that meet all conditions, and runs that are named. Left
    alone are studies, what is deeper below, such as results/reference, runs on which a runner is
    at work, and those with files that eqbench did not write.
    """

    folders: Annotated[tuple[str, ...], _RUNS_BELOW] = ()
    older_s: Annotated[
        float | None, Option("Only runs in which nothing was stored for so long.", Age(), "older")
    ] = None
    keep: Annotated[
        int | None, Option("Only runs beside the N of a folder that changed last.", COUNT)
    ] = None
    unfinished: Annotated[bool, Option("Only runs that lack cells.", FLAG)] = False
    yes: Annotated[bool, Option("Remove them.", FLAG)] = False
    quiet: Quiet = False


@command(PruneRequest, name="prune")
def prune(request: PruneRequest) -> None:
    from eqbench.store.kept_runs import reason_to_keep, remove
    from eqbench.store.latest import is_run

    all_kept = request.older_s is None and request.keep is None and not request.unfinished
    chosen: dict[Path, KeptRun] = {}
    for folder in request.folders or (_RESULTS,):
        if all_kept and request.folders and not Path(folder).is_dir():
            raise UsageError(f"there is no folder {folder}; eqbench results list names the runs")
        if all_kept and not is_run(Path(folder)):
            raise UsageError(
                f"all runs in {folder} would go; say which: --older 30d, --keep 10, --unfinished, "
                "or the folder of a run"
            )
        for run in _kept(folder)[request.keep or 0 :]:
            is_old = request.older_s is None or time.time() - run.changed > request.older_s
            if is_old and (run.finished < run.planned or not request.unfinished):
                chosen[run.path.resolve()] = run
    gone = []
    for run in chosen.values():
        if reason := reason_to_keep(run.path):
            say_note(f"{run.path} stays: {reason}")
        else:
            gone.append(run)
    if gone:
        put_result(*_listed(gone), as_json=False)
    if request.yes:
        for run in gone:
            remove(run.path)
    done = "removed" if request.yes else "would be removed; nothing was, for lack of --yes"
    size = sum(run.size_bytes for run in gone) / 1e6
    say(f"{counted(len(gone), 'run')} with {size:,.1f} MB {done}")


@dataclass(frozen=True)
class ExportRequest:
    """Pack a run into a zip archive, to be unpacked and read elsewhere.

    It has one folder with everything that the reports need. Left out are links to other places,
    and files that eqbench did not write.
    """

    run: Annotated[str, Option("Folder of the run, or `latest`.", RUN, argument=True)]
    file: Annotated[str, Option("Archive to write, with the ending .zip.", FILE, argument=True)]
    force: Annotated[bool, Option("Replace the file if it exists.", FLAG)] = False
    quiet: Quiet = False


@command(ExportRequest, name="export")
def export(request: ExportRequest) -> None:
    from eqbench.store.kept_runs import export_run
    from eqbench.store.stored_run import run_folder

    if left := export_run(run_folder(request.run), Path(request.file), replace=request.force):
        say_note(f"{request.run} also holds {first_of(left)}, which is left out")
    say_written([Path(request.file)])


for each in (list_, prune, export):
    results.add_command(each)


def _kept(folder: str) -> list[KeptRun]:
    """Runs in a folder; what cannot be read is said."""
    from eqbench.store.kept_runs import kept_runs

    runs, notes = kept_runs(Path(folder))
    for note in notes:
        say_note(note)
    return runs


def _listed(runs: list[KeptRun]) -> tuple[dict[str, Any], Callable[[], Report]]:
    """Runs as a document and as a function that gives a table."""
    from eqbench.report.rows import Column, Report, Row, Table

    facts: list[dict[str, Any]] = [
        {
            "run": str(run.path),
            "changed": datetime.fromtimestamp(run.changed, UTC).isoformat(" ", "minutes"),
            "finished": run.finished,
            "planned": run.planned,
            "size_bytes": run.size_bytes,
            **{name: _names(run.plan["request"].get(name, ())) for name in ("games", "solvers")},
        }
        for run in runs
    ]
    counts = (Column("finished", "count"), Column("planned", "count"), Column("size", "bytes"))
    names = (Column("games", "found"), Column("solvers", "found"))
    columns = (Column("run", identifies=True), Column("changed"), *counts, *names)
    rows = tuple(Row(fact["run"], fact | {"size": fact["size_bytes"]}) for fact in facts)
    table = Table("", columns, rows, lines=() if rows else ("no runs",))
    return {"schema": "eqbench.results/1", "runs": facts}, lambda: Report((table,))


def _names(texts: Iterable[str]) -> list[str]:
    return [part for text in texts for part in split_specs(text)]
