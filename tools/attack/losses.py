"""Files of the user that a command might remove, replace or carry out of their folder."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from helpers.runs import cell, write_lines, write_run

from eqbench.cli.merge import merge_runs
from eqbench.errors import UsageError
from eqbench.papers.jobs import Job as PaperJob
from eqbench.papers.paper import _jobs
from eqbench.report import writing as reports
from eqbench.store.run_folder import RunFolder, new_run_path
from eqbench.store.stored_run import read_run

from .answers import NEIGHBORS, marked, neighbors
from .sandbox import Sandbox

KIND = "files of the user"
SECRET = "the user's own words"
FILES = NEIGHBORS["files"]

_alone = threading.Lock()  # publishing changes the folder of the process


def publish(site: Path, run: Path) -> None:
    with _alone:
        reports.publish(site, [run])


def _written(file: Path, text: str = SECRET) -> None:
    if file.parent.is_file():
        file.parent.unlink()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def _contents(folder: Path, name: str = "*") -> list[bytes]:
    return [file.read_bytes() for file in folder.rglob(name) if file.is_file()]


def _publish_again(root: Path, name: str) -> None:
    publish(root / "site", write_run(root / "run", cell("01")))
    _written(root / "site/run" / name)
    write_lines(root / "run", [cell("02")])
    publish(root / "site", root / "run")


def _report(root: Path, name: str) -> None:
    _written(root / name)
    run = read_run(write_run(root / "run", cell("01")))
    list(reports.write_reports(["html", "md", "csv", "tex", "terminal"], [run], root))


def _begin_run(root: Path, name: str) -> None:
    _written(root / name)
    folder = RunFolder.create(root, read_run(write_run(root / "run", cell("01"))).plan)
    folder.write("manifest.toml", "")
    folder.write_derived({}, {})


@neighbors(KIND, quick=True)
def what_eqbench_did_not_write_stays() -> Iterator[tuple[str, str]]:
    trials = [*product((_publish_again,), FILES["foreign"]), (_begin_run, "clusters.json")]
    trials += product((_report,), [f"report.{end}" for end in ("html", "md", "csv", "tex", "txt")])
    for act, name in [*trials, (_begin_run, "manifest.toml")]:
        with TemporaryDirectory() as place:
            with suppress(UsageError):
                act(Path(place), name)
            kept = SECRET.encode() in _contents(Path(place), Path(name).name)
            yield f"{act.__name__[1:]}, {name}", "" if kept else "is lost"


@neighbors(KIND, quick=True)
def what_lies_behind_a_link_is_not_copied() -> Iterator[tuple[str, str]]:
    for act, (name, to) in product(("merge", "publish"), FILES["links"].items()):
        with TemporaryDirectory() as place:
            root, target = Path(place), Path(place, "target")
            _written(root / "secret")
            _written(root / "folder/01-0.json")
            run, other = (write_run(root / key, cell(key)) for key in ("01", "02"))
            with suppress(FileNotFoundError):
                (run / name).rmdir()
            (run / name).symlink_to(to)
            if act == "merge":
                merge_runs([run, other], target, lambda words: None)
            else:
                publish(target, run)
            copied = SECRET.encode() in _contents(target)
            yield f"{act}, {name}", "was copied" if copied else ""


@neighbors(KIND, quick=True)
def no_cell_gives_way_to_another() -> Iterator[tuple[str, str]]:
    one, two = cell("01"), cell("02")
    for records in ([one], [one, cell("02", iterations=5)]):
        with TemporaryDirectory() as place:
            root = Path(place)
            publish(root / "site", write_run(root / "a/run", one, two))
            with suppress(UsageError):
                publish(root / "site", write_run(root / "b/run", *records, planned=["01", "02"]))
            kept = read_run(root / "site/run").cells == (one, two)
            yield f"published again with {len(records)}", "" if kept else "cells are lost"
    for log in ("profiles/x", "logs/x", "traces/x", ".", "profiles", "logs/.", "manifest.json"):
        with TemporaryDirectory() as place:
            runs = [Path(place, key) for key in ("01", "02")]
            for run in runs:
                write_run(run, replace(cell(run.name), log=log, equilibria=[]))
                if log.endswith("x"):
                    _written(run / log, run.name)
            found = read_run(merge_runs(runs, Path(place, "all"), lambda words: None).path)
            texts = [(found.path / file).read_text() for each in found.cells for file in each.files]
            wanted = ["01", "02"] if log.endswith("x") else []
            right = texts == wanted and len(found.cells) == 2
            yield f"merged with one log {log}", "" if right else f"holds {texts}"


@neighbors(KIND, quick=True)
def no_name_leads_out_of_its_folder() -> Iterator[tuple[str, str]]:
    for name in FILES["elsewhere"]:
        with TemporaryDirectory() as place:
            made = os.path.relpath(new_run_path(Path(place).resolve(), name), Path(place).resolve())
        yield f"experiment {name!r}", f"leads to {made}" if "/" in made else ""
        made = ""
        with suppress(UsageError):
            made = next(_jobs(PaperJob(name), {}, Path())).name
        yield f"job {name!r}", f"leads to {made!r}" if set(made) & set("/\\\0 ") else ""


@neighbors(KIND)
def records_under_exchanged_keys_are_run_again() -> Iterator[tuple[str, str]]:
    with Sandbox() as sandbox:
        experiment = Path(__file__).with_name("exchanged.toml")
        sandbox.command("run", str(experiment), "--out", "run")
        file = sandbox.run / "runs.jsonl"
        records = [json.loads(line) for line in file.read_text().splitlines()]
        facts = ("game", "solver", "seed", "repeat", "iterations")
        known = {own["key"]: [own.get(name) for name in facts] for own in records}
        for name, copied in ((name, copied) for name in facts for copied in (False, True)):
            one, other = next(
                (own, each)
                for own in records
                for each in records
                if [fact for fact in facts if own.get(fact) != each.get(fact)] == [name]
            )
            swap = {one["key"]: other} | ({} if copied else {other["key"]: one})
            lines = [swap.get(own["key"], own) | {"key": own["key"]} for own in records]
            file.write_text("".join(json.dumps(own) + "\n" for own in lines))
            ended = sandbox.command("run", "--resume", "run")
            found = {own["key"]: own for own in map(json.loads, file.read_text().splitlines())}
            wrong = [key for key in known if [found[key].get(f) for f in facts] != known[key]]
            named = f"{other['game']}/{other['solver']}" in "".join(ended.err.split())
            trial = f"{name} {'copied' if copied else 'exchanged'}"
            yield trial, f"{len(wrong)} wrong" * bool(wrong) or "not named" * (not named)


jobs = partial(marked, KIND)  # one for each marked function
