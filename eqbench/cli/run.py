"""`eqbench run`: games × solvers × seeds to a comparison table, from options or from a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eqbench.cli.options import Statuses, given_options, json_option, with_options_of
from eqbench.cli.output import put_json, say
from eqbench.harness.request import Request

if TYPE_CHECKING:
    from eqbench.harness.experiment import Experiment
    from eqbench.harness.pipeline import Run
    from eqbench.store.run_folder import RunFolder
    from eqbench.store.schema import CellRecord


NOTHING_RAN = 4
INTERRUPTED = 130
_BAD = ("crashed", "refuted")
_NEVER_RAN = ("unsupported", "unavailable")


@click.command()
@click.argument("file", required=False, type=click.Path(), metavar="[EXPERIMENT]")
@with_options_of(Request)
@click.option(
    "--out",
    default=None,
    type=click.Path(),
    metavar="DIR",
    help="Folder for the results.  [default: results/<UTC time>-<games>]",
)
@click.option(
    "--resume",
    default=None,
    type=click.Path(),
    metavar="DIR",
    help="Go on with the run in this folder: only what it does not have is run, and what "
    "crashed, failed or was unavailable. Options that are given again replace those of the run.",
)
@click.option(
    "--retry",
    default=(),
    type=Statuses(),
    metavar="STATUS,…",
    help="With --resume: run cells that ended like this once more, for example timeout,memory.",
)
@click.option(
    "--save-as",
    default=None,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write these options as an experiment into FILE and run nothing.",
)
@click.option(
    "--dry-run", is_flag=True, help="Show what would be run and what is there already; run nothing."
)
@json_option
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@click.option("-v", "--verbose", is_flag=True, help="Say what each cell did as it ends.")
@click.pass_context
def run(ctx: click.Context, /, **_: Any) -> None:
    """Run solvers on games and compare what they find.

    EXPERIMENT is a file that says what to run, such as manifest.toml in the folder of a run or
    the name of one that is shipped (eqbench list experiments); options that are given replace
    what it says. It is run into the folder results/<its name> and, run again, goes on there; the
    manifest.toml of a run is run into a new folder.

    Every cell runs in a process of its own and every profile is measured by the independent
    verifier. A run that was interrupted goes on with --resume; several runners may share one
    folder. Exit code: 0 ran, 1 some cell crashed or was refuted, 2 usage, 4 nothing could
    run, 130 interrupted.
    """
    from eqbench.harness.pipeline import NEVER_CACHED, Run

    typed = ctx.params
    experiment, folder = _asked(ctx)
    if typed["save_as"] is not None:
        _save(experiment, Path(typed["save_as"]))
        return
    end_as_after_interrupt()
    again = {*NEVER_CACHED, *typed["retry"]}
    with Run(experiment) as job:
        if typed["dry_run"]:
            _print_plan(job, folder, again, as_json=typed["as_json"])
            return
        folder = begin(job, folder, typed["out"], again)
        failure = execute(job, folder, again, quiet=typed["quiet"], verbose=typed["verbose"])
    _print(job.records, folder, as_json=typed["as_json"], quiet=typed["quiet"])
    if failure is not None:
        retry = f" --retry {','.join(typed['retry'])}" if typed["retry"] else ""
        say_how_to_go_on(job, folder, "eqbench run", retry)
        if isinstance(failure, KeyboardInterrupt):
            ctx.exit(INTERRUPTED)
        raise failure
    _write_reports(experiment, folder, quiet=typed["quiet"])
    ctx.exit(exit_code(job.records))


def _asked(ctx: click.Context) -> tuple[Experiment, RunFolder | None]:
    """What to run, and the folder to go on in, if there is one."""
    from eqbench.errors import UsageError
    from eqbench.harness.experiment import Experiment, find_experiment, read_experiment
    from eqbench.harness.start import folder_begun, folder_of_experiment, stored_experiment
    from eqbench.store.run_folder import RunFolder

    typed, given = ctx.params, changes(ctx)
    if typed["file"] is not None and typed["resume"] is not None:
        raise UsageError("give either an experiment or --resume")
    if typed["resume"] is not None and typed["out"] is not None:
        raise UsageError("give either --resume or --out: a resumed run stays in its folder")
    if typed["resume"] is not None:
        folder = RunFolder.open(Path(typed["resume"]))
        return stored_experiment(folder).with_changes(given), folder
    if typed["file"] is not None:
        file = find_experiment(typed["file"])
        typed["out"] = typed["out"] or folder_of_experiment(file)
        experiment = read_experiment(file).with_changes(given)
        place = typed["out"]
        return experiment, folder_begun(Path(place), experiment) if place else None
    if typed["retry"]:
        raise UsageError("--retry is about a run that is there; name its folder with --resume")
    for name in ("game", "solver"):
        if f"{name}s" not in given:
            raise click.UsageError(
                f"Missing option '--{name}'; a new run needs --game and --solver, for "
                "example: eqbench run --game kuhn3 --solver all"
            )
    return Experiment((Request(**given),)), None


def changes(ctx: click.Context, request: type = Request) -> dict[str, Any]:
    """What was typed, by attributes of the request; files of plugins by their whole paths."""
    given = {field.attribute: ctx.params[field.attribute] for field in given_options(ctx, request)}
    if "plugins" in given:
        given["plugins"] = tuple(str(Path(file).absolute()) for file in given["plugins"])
    return given


def begin(
    job: Run, folder: RunFolder | None, out: str | None, again: set[Any], slug: str = ""
) -> RunFolder:
    """The folder of a run that is about to begin or to go on."""
    from eqbench.cli.output import say_notes
    from eqbench.harness import start

    if folder is None:
        anew = not job.experiment.name
        folder, said = start.begin(job, Path(out) if out else None, again, slug, anew=anew)
    else:
        said = start.go_on(job, folder, again)
    say_notes(folder)
    for words in said:
        say(words)
    return folder


def execute(
    job: Run, folder: RunFolder, again: set[Any], *, quiet: bool, verbose: bool
) -> BaseException | None:
    """Run what is missing; what stopped it, if something did."""
    import signal

    from eqbench.errors import StoreError

    try:
        with Progress(quiet=quiet, verbose=verbose) as observer:
            job.execute(folder, observer, again)
    except (KeyboardInterrupt, StoreError, OSError) as error:
        # Ignore further Ctrl-C while the table is printed.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return error
    return None


def end_as_after_interrupt() -> None:
    """Let a request to terminate end the run as Ctrl-C does."""
    import signal

    signal.signal(signal.SIGTERM, signal.default_int_handler)


def say_how_to_go_on(job: Run, folder: RunFolder, command: str, more: str = "") -> None:
    """Say how much was done, and by which command the run goes on."""
    import shlex

    done = sum(record.status != "interrupted" for record in job.records)
    say(
        f"interrupted after {done} of {len(job.cells)} cells; go on with:\n"
        f"  {command} --resume {shlex.quote(str(folder.path))}{more}",
    )


def exit_code(records: list[CellRecord]) -> int:
    """Exit code of a finished run."""
    statuses = [record.status for record in records]
    if any(status in _BAD for status in statuses):
        return 1
    return NOTHING_RAN if all(status in _NEVER_RAN for status in statuses) else 0


def _save(experiment: Experiment, file: Path) -> None:
    from eqbench.errors import UsageError
    from eqbench.harness.experiment import experiment_text

    try:
        with file.open("x", encoding="utf-8") as place:
            place.write(experiment_text(experiment))
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}; choose another file") from None
    say(f"wrote {file}")


def _write_reports(experiment: Experiment, folder: RunFolder, *, quiet: bool) -> None:
    """Write the reports that an experiment asks for into its folder."""
    if not experiment.report:
        return
    from eqbench.cli.report import write_reports
    from eqbench.store.stored_run import read_run

    for file in write_reports(experiment.report, [read_run(folder.path)], folder.path):
        if not quiet:
            say(f"wrote {file}")


def _print_plan(job: Run, folder: RunFolder | None, again: set[Any], *, as_json: bool) -> None:
    from eqbench.cli.dry_run import print_plan
    from eqbench.cli.output import say_notes

    finished = job.finished_in(folder, again) if folder else set()
    if folder is not None:
        say_notes(folder)
    print_plan(job.cells, finished, job.experiment.jobs, as_json=as_json)


def _print(records: list[CellRecord], folder: RunFolder, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        _print_json(records, folder)
        return
    from eqbench.cli.output import print_formatted
    from eqbench.report.terminal import print_comparison

    print_formatted(lambda console: print_comparison(records, console))
    if not quiet:
        say(f"results in {folder.path}")


def _print_json(records: list[CellRecord], folder: RunFolder) -> None:
    from eqbench.store.schema import SCHEMA

    finished = [record.to_json() for record in records if record.status != "interrupted"]
    document: dict[str, Any] = {"schema": SCHEMA, "run": str(folder.path), "cells": finished}
    if len(finished) < len(records):
        stopped = [record.to_json() for record in records if record.status == "interrupted"]
        document["interrupted"] = stopped
    put_json(document)


class Progress:
    """Observer of a run; use it in a ``with``."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self.verbose = verbose and not quiet
        self.display: Any = None
        if not quiet:
            from eqbench.report.screen import Screen

            console = Screen(stderr=True)
            if console.is_terminal:
                self.display = _display(console)

    def __enter__(self) -> Progress:
        if self.display is not None:
            self.display.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.display is not None:
            self.display.stop()

    def planned(self, cells: Sequence[Any], finished: int) -> None:
        if self.display is not None:
            self.task = self.display.add_task("", total=len(cells), completed=finished)

    def started(self, cell: Any) -> None:
        if self.display is not None:
            seed = "" if cell.seed is None else f", seed {cell.seed}"
            name = f"{cell.solver.typed} on {cell.game.typed}{seed}"
            self.display.update(self.task, description=name)

    def finished(self, record: Any) -> None:
        if self.display is not None:
            self.display.advance(self.task)
        if self.verbose:
            from eqbench.report.terminal import seconds

            regret = "" if record.max_regret is None else f", max regret {record.max_regret:.1e}"
            line = (
                f"{record.solver} on {record.game}: {record.status}{regret}, "
                f"set-up {seconds(record.setup_s)}, solving {seconds(record.elapsed_s)}"
            )
            if self.display is not None:
                self.display.console.print(line)
            else:
                say(line)


def _display(console: Any) -> Any:
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("cell"),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
    )
