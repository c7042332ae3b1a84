"""`eqbench merge`: one run of several, with their cells, plans and requests in a new folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import say, say_note
from eqbench.cli.progress import LiveProgress
from eqbench.documents import read_file
from eqbench.errors import UsageError, counted, first_of
from eqbench.harness.experiment import Experiment, Request, experiment_text
from eqbench.harness.plan import manifest
from eqbench.harness.run import NEVER_CACHED, ActiveRun, stored_experiment
from eqbench.model.profile_json import MOST_PROFILE_BYTES
from eqbench.requests import FOLDER, RUN, Option
from eqbench.store.json_lines import LineReader
from eqbench.store.kept_runs import contents
from eqbench.store.run_folder import (
    EXPERIMENT,
    HOSTS,
    INTERRUPTED,
    LINES,
    RunFolder,
    numbered,
    reported,
    write_file,
)
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run, remember, run_folder

# How cells are carried out is no part of the question.
_HOW: dict[str, Any] = {
    field.name: field.default
    for field in fields(Request)
    if field.name in ("jobs", "scheduler", "verify_here")
}


@dataclass(frozen=True)
class MergeRequest:
    """Make one run of several, such as parts that ran on different machines.

    The new folder has the cells, profiles, curves and logs of all; these stay as they are. Of a
    cell that several runs have, the last that finished counts. Equilibria that no publication has
    are compared again. `eqbench run --resume DIR` runs what the parts lack.
    """

    runs: Annotated[tuple[str, ...], Option("Folders of runs, or `latest`.", RUN, argument=True)]
    out: Annotated[str, Option("Folder for the run that they become.", FOLDER)]


@command(MergeRequest)
def merge(request: MergeRequest) -> None:
    with LiveProgress("merging"):
        folder = merge_runs(map(run_folder, request.runs), Path(request.out), say_note)
    run = read_run(folder.path)
    say(f"{len(run.finished)} of {counted(run.planned, 'cell')} finished; results in {run.path}")


def merge_runs(places: Iterable[Path], out: Path, tell: Callable[[str], None]) -> RunFolder:
    """Write the folder of one run that has the cells of several.

    Of a cell that several of them have counts, as in a run that was resumed, one that finished
    before one that is run again, and before one that was interrupted; of equals that of the last
    run. Clusters are found again.

    Parameters
    ----------
    tell : gets messages about what is damaged or missing

    Raises
    ------
    UsageError
        If a place holds no run, only one is given, or `out` holds a run or cannot be written.
    StoreError
        If results can no longer be written; then there is no run in `out` yet.
    """
    runs = [RunFolder.open(path) for path in {path.resolve(): path for path in places}.values()]
    if len(runs) < 2:
        raise UsageError("only one run is given; name at least two different ones")
    folder = RunFolder.begin(out)
    experiment, plan = _plan(runs)
    tries: dict[str, tuple[RunFolder, CellRecord]] = {}
    for run in runs:
        for record in run.all_cells(derived=False):
            if record.key not in tries or _weight(record) >= _weight(tries[record.key][1]):
                tries[record.key] = run, record
    records, without = [], 0
    own = {run.path: contents(run.path) for run in runs}
    for path, (_, others) in own.items():
        if others:
            tell(f"{path} also holds {first_of(others)}, which is left out")
    for run, record in tries.values():
        copy = _copied(run, folder, record, own[run.path][0])
        records.append(copy or record.without_files())
        without += copy is None
    interrupted = [record for record in records if record.status == "interrupted"]
    finished = [record for record in records if record.status != "interrupted"]
    hosts = dict.fromkeys(
        line for run in runs for line in LineReader(run.path / HOSTS, bytes).new()
    )
    for name, lines in (
        (LINES, (record.to_line() + b"\n" for record in finished)),
        (INTERRUPTED, (record.to_line() + b"\n" for record in interrupted)),
        (HOSTS, hosts),
    ):
        with reported(out / name):
            write_file(out / name, lines)
    for note in dict.fromkeys(note for run in runs for note in run.notes):
        tell(note)
    if without:
        tell(f"{counted(without, 'cell')} lack files of theirs, so none of them are named")
    folder = RunFolder.create(out, plan, begun=True)
    folder.write(EXPERIMENT, experiment_text(experiment))
    remember(folder.path)
    try:  # clusters and completeness, unless a game or plugin is not here any more
        with ActiveRun(experiment) as joined:
            joined.open(folder)
            joined.conclude()
    except UsageError as error:
        tell(f"equilibria that only this run knows are not compared yet: {error}")
    return folder


def _plan(runs: list[RunFolder]) -> tuple[Experiment, dict[str, Any]]:
    """The requests of all runs, and the manifest with them."""
    experiments = [stored_experiment(run) for run in runs]
    parts: list[Request] = []
    for part in (replace(part, **_HOW) for each in experiments for part in each.parts):
        if part not in parts:
            parts.append(part)
    named = experiments[0] if len({each.name for each in experiments}) == 1 else Experiment(())
    experiment = Experiment(tuple(parts), named.name, named.report)
    places: list[dict[str, Any]] = []
    for plan in (plan for run in runs for plan in (run.manifest, run.plan)):
        if plan.get("environment", {}) not in places:
            places.append(plan.get("environment", {}))
    cells = dict.fromkeys(key for run in runs for key in run.plan["cells"])
    plan = manifest(experiment, ()) | {"cells": [*cells]}
    # of several machines and versions only what they have in common is true of all cells
    common = [item for item in places[0].items() if all(item in p.items() for p in places)]
    plan["environment"] = dict(common)
    return experiment, plan | ({"environments": places} if len(places) > 1 else {})


def _weight(record: CellRecord) -> int:
    if record.status == "interrupted":
        return 0
    return 1 if record.status in NEVER_CACHED else 2


def _copied(
    run: RunFolder, folder: RunFolder, record: CellRecord, own: Sequence[str]
) -> CellRecord | None:
    """The record with copies of its files, of which no two share a name; None if one is missing."""
    names: dict[str | None, str] = {}
    for name in record.files:
        if name not in own or "/" not in name:
            return None
        try:
            data, file = read_file(run.path / name, MOST_PROFILE_BYTES), Path(name)
        except OSError:
            return None
        places = (folder.path / file.with_stem(stem) for stem in numbered(file.stem))
        place = next(
            p for p in places if not p.exists() or read_file(p, MOST_PROFILE_BYTES) == data
        )
        with reported(place):
            write_file(place, data)
        names[name] = place.relative_to(folder.path).as_posix()
    equilibria = [replace(item, profile=names.get(item.profile)) for item in record.equilibria]
    trace, log = names.get(record.trace), names.get(record.log)
    return replace(record, equilibria=equilibria, trace=trace, log=log)
