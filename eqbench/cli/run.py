"""`eqbench run`: games × solvers × seeds to a comparison table, from options or from a file."""

from __future__ import annotations

import os
import shlex
import signal
import time
from collections.abc import Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from eqbench.cli.options import STATUSES, command, given, require
from eqbench.cli.output import (
    print_report,
    put_json,
    put_result,
    say,
    say_always,
    say_next,
    say_note,
    say_notes,
    say_written,
    write_text,
)
from eqbench.cli.progress import LiveProgress
from eqbench.documents import remove_files
from eqbench.errors import INTERRUPTED, UsageError
from eqbench.extras import installation_of
from eqbench.harness.experiment import Request
from eqbench.requests import FILE, FLAG, FOLDER, Json, Kind, NoTable, Option

if TYPE_CHECKING:
    from eqbench.harness.experiment import Experiment
    from eqbench.harness.run import ActiveRun
    from eqbench.store.run_folder import RunFolder
    from eqbench.store.schema import CellId, Status

NOTHING_RAN = 4
WARM_S = 1.0  # for each solver, less compiling
WARMING = ("kuhn2", "kuhn3"), ("all",)
_BAD = ("crashed", "refuted")
_EXPERIMENT = Kind("EXPERIMENT", completed="file")


def run_of(words: Iterable[str]) -> str:
    """The run of the games and solvers among these words, of all solvers if there is none."""
    from eqbench.registry import default_registry

    kinds = {word: default_registry().kind_of(word) for word in words}
    games, solvers = (
        ",".join(word for word in kinds if kinds[word] == kind) for kind in ("game", "solver")
    )
    typed = ["eqbench", "run", "--game", games, "--solver", solvers or "all"]
    return shlex.join(typed) if games else ""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Run solvers on games and compare what they find.

    EXPERIMENT is a file that says what to run, such as manifest.toml in the folder of a run or
    the name of one that is shipped (eqbench info experiments); options that are given replace
    what it says. It is run into the folder results/<its name> and, run again, continues there; the
    manifest.toml of a run is run into a new folder.

    Every cell runs in a process of its own and every profile is measured by the independent
    verifier. A run that was interrupted continues with --resume; several runners may share one
    folder. Exit code: 0 ran, 1 some cell crashed or was refuted, 2 usage, 4 nothing could
    run, 130 interrupted.
    """

    file: Annotated[
        str | None,
        Option("Experiment to run.", _EXPERIMENT, argument=True),
    ] = None
    out: Annotated[
        str | None, Option("Folder for the results.", FOLDER, default="results/<UTC time>-<games>")
    ] = None
    resume: Annotated[
        str | None,
        Option(
            "Go on with the run in this folder: only what it does not have is run, and what "
            "crashed, failed or was unavailable. Options that are given again replace those of "
            "the run.",
            FOLDER,
        ),
    ] = None
    retry: Annotated[
        tuple[str, ...],
        Option(
            "With --resume: run cells that ended like this once more, for example timeout,memory.",
            STATUSES,
        ),
    ] = ()
    save_as: Annotated[
        str | None,
        Option("Write these options as an experiment into FILE and run nothing.", FILE, "save-as"),
    ] = None
    dry_run: Annotated[
        bool,
        Option("Show what would be run and what is there already; run nothing.", FLAG, "dry-run"),
    ] = False
    as_json: Json = False
    quiet: NoTable = False
    verbose: Annotated[bool, Option("Say what each cell did as it ends.", FLAG, short="v")] = False


@command(RunOptions, Request, meant=run_of)
def run(options: RunOptions) -> int:
    from eqbench.harness.experiment import experiment_text
    from eqbench.harness.run import NEVER_CACHED, ActiveRun
    from eqbench.store.kept_runs import contents
    from eqbench.store.run_folder import MANIFEST
    from eqbench.store.schema import NEVER_RAN

    experiment, folder, out = _chosen(options)
    if options.save_as is not None:
        experiment.check_names()
        write_text(Path(options.save_as), experiment_text(experiment), new=True)
        say(f"wrote {options.save_as}")
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C
    again = cast("set[Status]", {*NEVER_CACHED, *options.retry})
    with ExitStack() as opened:
        with LiveProgress("building games"):
            run = opened.enter_context(ActiveRun(experiment))
        if options.dry_run:
            _print_plan(run, folder, again, as_json=options.as_json)
            return 0
        resumed = run.begin(Path(out) if out else None, again, folder, fresh=not experiment.name)
        say_notes(run.folder)
        if crowded := experiment.crowding():
            say_note(crowded)
        for words in resumed:
            say(words)
        failure = _execute(run, again, verbose=options.verbose)
    statuses = [record.status for record in run.records]
    nothing_ran = failure is None and all(status in NEVER_RAN for status in statuses)
    removed = nothing_ran and out is None and folder is None  # a folder of its own, with no result
    if options.as_json or not options.quiet:
        _print(run, options, kept=not removed)
    if failure is not None:
        done = sum(record.status != "interrupted" for record in run.records)
        retry = f" --retry {','.join(options.retry)}" if options.retry else ""
        if (run.folder.path / MANIFEST).exists():  # else it was removed
            say_always(
                f"interrupted after {done} of {len(run.cells)} cells; go on with:\n"
                f"  eqbench run --resume {shlex.quote(str(run.folder.path))}{retry}"
            )
        if isinstance(failure, KeyboardInterrupt):
            return INTERRUPTED
        raise failure
    if experiment.report:
        from eqbench.report.writing import write_reports

        say_written(write_reports(experiment.report, [run.stored], run.folder.path))
    if any(status in _BAD for status in statuses):
        return 1
    if removed:
        remove_files(run.folder.path, contents(run.folder.path)[0])
        say("nothing could run, so no folder is kept")
    return NOTHING_RAN if nothing_ran else 0


@dataclass(frozen=True)
class WarmUpRequest:
    """Compile the kernels of all solvers, once for each version of eqbench.

    Without it each is compiled when it is first needed. Machine code differs by number of players;
    this makes that for two and three.
    """


@command(WarmUpRequest, name="warm-up")
def warm_up(request: WarmUpRequest) -> int:
    from tempfile import TemporaryDirectory

    from eqbench.harness.experiment import Experiment
    from eqbench.harness.run import ActiveRun
    from eqbench.model.compiled import MODE, cache_folder, has_numba
    from eqbench.solver import usable_cores

    if not has_numba():
        raise UsageError(f"kernels are compiled by Numba: {installation_of('numba')}")
    os.environ[MODE] = "machine"
    games, solvers = WARMING
    cells = Request(games=games, solvers=solvers, timeout_s=WARM_S, jobs=usable_cores())
    with TemporaryDirectory() as folder, ActiveRun(Experiment((cells,))) as run:
        run.begin(Path(folder) / "run", set())
        failure = _execute(run, set(), verbose=False)
    if failure is not None:
        raise failure
    say(f"machine code is in {cache_folder()}")
    return 0


def _chosen(options: RunOptions) -> tuple[Experiment, RunFolder | None, str | None]:
    """Return what to run, the folder that is resumed if there is one, and that for a new run."""
    from eqbench.harness.experiment import Experiment, find_experiment, read_experiment
    from eqbench.harness.run import folder_begun, folder_of_experiment, stored_experiment
    from eqbench.spec import is_foreign
    from eqbench.store.run_folder import RunFolder

    typed, folder, out = given(Request), None, options.out
    if options.save_as is not None and (options.out or options.retry or options.dry_run):
        raise UsageError(
            "--save-as runs nothing, so it takes none of --out, --retry and --dry-run; give these "
            "when the experiment is run"
        )
    if options.resume is not None:
        if options.file is not None:
            raise UsageError("give either an experiment or --resume")
        if options.out is not None:
            raise UsageError("give either --resume or --out: a resumed run stays in its folder")
        folder = RunFolder.open(Path(options.resume))
        experiment = stored_experiment(folder).with_changes(typed)
    elif options.file is not None:
        file = find_experiment(options.file)
        is_file = file.exists() and not is_foreign(options.file)
        if not is_file and (words := run_of([options.file])):  # a game, or a game file
            raise UsageError(f"{options.file} is not an experiment. Did you mean: {words}")
        experiment = read_experiment(file).with_changes(typed)
        out = out or folder_of_experiment(file)
        folder = folder_begun(Path(out), experiment) if out else None
    else:
        require(Request)
        experiment = Experiment((Request(**typed),))
    if options.retry and folder is None:
        raise UsageError("--retry is about a run that is there; name its folder with --resume")
    return experiment, folder, out


def _execute(run: ActiveRun, again: set[Status], *, verbose: bool) -> BaseException | None:
    """Run what is missing; return what stopped it, if something did."""
    from eqbench.errors import SchedulerError, StoreError
    from eqbench.harness.attempt import compiling

    total, done = len(run.cells), len(run.cells) - len(run.missing(again))

    def at_work() -> list[str]:
        now = time.monotonic()
        running = list(run.running.values())
        kernels = dict(compiling)
        return [
            f"{_cell_words(each.cell.id)}: {now - each.since:.0f} s"
            + (f", compiling {kernels[each.cell.key]}, once" if each.cell.key in kernels else "")
            for each in running
        ]

    try:
        with (
            LiveProgress(f"{done} of {total} cells done", at_work) as progress,
            closing(run.execute(again, say=progress.say)) as records,
        ):
            for record in records:
                done += record.status != "interrupted"
                progress.describe(f"{done} of {total} cells done")
                progress.done(done / total)
                if verbose:
                    progress.say(f"{_cell_words(record)}: {record.ending}")
    except (KeyboardInterrupt, StoreError, SchedulerError, OSError) as error:
        # Ignore further Ctrl-C while the table is printed.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return error
    return None


def _cell_words(cell: CellId) -> str:
    seed = "" if cell.seed is None else f", seed {cell.seed}"
    return f"{cell.solver} on {cell.game}{seed}"


def _print_plan(
    run: ActiveRun, folder: RunFolder | None, again: set[Status], *, as_json: bool
) -> None:
    """Print planned cells, which of them are there already, and how long the rest may take."""
    from eqbench.errors import counted
    from eqbench.harness.run import solving_s
    from eqbench.report.rows import Column, Report, Row, Table

    missing, ended = run.cells, []
    if folder is not None:
        run.open(folder)
        missing, ended = run.missing(again), run.records
        say_notes(folder)
    to_run = {cell.key for cell in missing}
    rows = [
        {name: getattr(cell.id, name) for name in ("key", "game", "game_spec")}
        | {"nodes": cell.game.game.tree.n_nodes}
        | {name: getattr(cell.id, name) for name in ("solver", "solver_spec", "seed")}
        | {"state": "to run" if cell.key in to_run else "finished"}
        for cell in run.cells
    ]
    if as_json:
        put_json({"schema": "eqbench.plan/1", "cells": rows})
        return
    columns = tuple(map(Column, ("key", "game", "solver", "seed", "state")))
    cells = Table("", columns, tuple(Row(row["key"], row) for row in rows))
    sums = f"{counted(len(rows), 'cell')}, {len(missing)} to run"
    if missing:
        jobs = run.experiment.jobs or 1
        at_once = f", {jobs} at a time" if jobs > 1 else ""
        word, time = "about" if ended else "up to", max(solving_s(missing, jobs, ended), 1)
        unit, size = ("s", 1) if time < 120 else ("min", 60) if time < 7200 else ("h", 3600)
        sums += f"{at_once}: {word} {time / size:.{int(unit == 'h')}f} {unit} of solving"
    print_report(Report((cells, Table("", lines=(sums,)))))


def _print(run: ActiveRun, options: RunOptions, *, kept: bool) -> None:
    from eqbench.report.cells import report_on
    from eqbench.store.schema import SCHEMA

    stored = run.stored
    document: dict[str, Any] = {"schema": SCHEMA, "run": str(stored.path), "cells": []}
    for record in stored.cells:
        where = "interrupted" if record.status == "interrupted" else "cells"
        document.setdefault(where, []).append(record.to_json())
    put_result(
        document,
        # a message below says what has not finished
        lambda: replace(report_on([stored], summarize=None), notes=()),
        as_json=options.as_json,
    )
    if kept and not options.as_json:
        say_next(stored.path)
        say(f"results in {stored.path}")
