"""`eqbench publish` and `results`: runs become a site, and are listed."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say_note, say_written
from eqbench.requests import FLAG, FOLDER, RUN, Json, Option
from eqbench.spec import split_specs


@dataclass(frozen=True)
class PublishRequest:
    """Copy runs with their pages into a folder, with an index that any web server shows.

    DIR is new, or was published into before: it keeps its other runs. A RUN may be a folder of
    runs, such as results; one that is in DIR already is replaced, unless cells would be lost.
    Without RUN only the index is rewritten. Links are relative, so that the pages also work as
    files. Links to other places, and files that eqbench did not write, are neither copied nor
    removed.

    With --challenge the folders are measured as answers to the standing challenge, as by eqbench
    challenge, and its leaderboard is written next to the index.
    """

    folder: Annotated[str, Option("Folder of the index.", FOLDER, argument=True)]
    runs: Annotated[
        tuple[str, ...], Option("Folders of runs, or `latest`.", RUN, argument=True)
    ] = ()
    replace: Annotated[
        bool, Option("Replace a published run also by one that lacks cells of it.", FLAG)
    ] = False
    challenge: Annotated[
        bool, Option("Write the leaderboard of submissions and runs, which are not copied.", FLAG)
    ] = False


@command(PublishRequest)
def publish(request: PublishRequest) -> None:
    from eqbench.report.writing import publish as write
    from eqbench.report.writing import runs_in
    from eqbench.store.stored_run import read_run, run_folder

    if request.challenge:
        page = pkgutil.resolve_name("eqbench.studies.challenge.study:page_of")(request.runs)
        index = write(Path(request.folder), (), board=page)
        say_written([index, index.with_name("challenge.html")])
        return
    folders = [run_folder(text) for text in request.runs]
    found = [run.path for each in folders for run in runs_in(each) or [read_run(each)]]
    say_written([write(Path(request.folder), found, replace=request.replace, tell=say_note)])


@dataclass(frozen=True)
class ResultsRequest:
    """List runs: what they ran, how many cells are there, when they changed, what they take.

    DIR is results unless it is given. A run is one folder, which may be moved, packed and removed
    as any other.
    """

    folder: Annotated[str, Option("Folder with runs in it, or a run.", FOLDER, argument=True)] = (
        "results"
    )
    as_json: Json = False


@command(ResultsRequest)
def results(request: ResultsRequest) -> None:
    from eqbench.report.rows import Column, Report, Row, Table
    from eqbench.store.kept_runs import kept_runs

    runs, notes = kept_runs(Path(request.folder))
    for note in notes:
        say_note(note)
    facts: list[dict[str, Any]] = [
        {
            "run": str(run.path),
            "changed": datetime.fromtimestamp(run.changed, UTC).isoformat(" ", "minutes"),
            "finished": run.finished,
            "planned": run.planned,
            "size_bytes": run.size_bytes,
            **{
                name: [
                    part for text in run.plan["request"].get(name, ()) for part in split_specs(text)
                ]
                for name in ("games", "solvers")
            },
        }
        for run in runs
    ]
    counts = (Column("finished", "count"), Column("planned", "count"), Column("size", "bytes"))
    names = (Column("games", "found"), Column("solvers", "found"))
    columns = (Column("run", identifies=True), Column("changed"), *counts, *names)
    rows = tuple(Row(fact["run"], fact | {"size": fact["size_bytes"]}) for fact in facts)
    table = Table("", columns, rows, lines=() if rows else ("no runs",))
    document = {"schema": "eqbench.results/1", "runs": facts}
    put_result(document, lambda: Report((table,)), as_json=request.as_json)
