"""Files of the user that a command might remove, replace or carry out of their folder."""

from __future__ import annotations

import itertools
import os
import threading
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from stored_runs import cell, write_lines, write_run

from eqbench.errors import UsageError
from eqbench.harness import reports
from eqbench.harness.merge import merge
from eqbench.papers.jobs import Job as PaperJob
from eqbench.papers.paper import _jobs
from eqbench.store.kept_runs import export_run, reason_to_keep, remove
from eqbench.store.run_folder import RunFolder, new_run_path
from eqbench.store.stored_run import read_run

from .answers import marked, neighbors
from .sandbox import Job

KIND = "files of the user"
SECRET = "the user's own words"
FOREIGN = (
    *("profiles/notes.txt", "logs/old/log.txt", ".kept.2024-12/x", "report.html/x", "report.md"),
    *(".git/config", "profiles/01-0.json.bak", ".runs.jsonl.20241224-153000", "logs/x.txt"),
    *("report.txt", "logs/.01.txt.2024-12", "traces/01-0.npz"),
)
LINKS = {"profiles/01-0.json": "../../secret", "profiles": "../folder", "report.html": "../secret"}
LINKS |= {"hosts.jsonl": "../secret", "logs/loop": "loop", "traces/device": "/dev/zero"}
ELSEWHERE = ("../x", "/x/y", "\0", ".", "..", "", "..\\x", "a/../../x", " /x", "\u2024\u2024/x")

_alone = threading.Lock()  # publishing changes the folder of the process


def publish(site: Path, run: Path) -> None:
    with _alone:
        reports.publish(site, [run])


def _written(file: Path, text: str = SECRET) -> Path:
    if file.parent.is_file():
        file.parent.unlink()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def _prune(root: Path, name: str) -> Path:
    file = _written(write_run(root / "run", cell("01")) / name)
    if reason_to_keep(root / "run") is None:
        remove(root / "run")
    return file


def _publish_again(root: Path, name: str) -> Path:
    publish(root / "site", write_run(root / "run", cell("01")))
    file = _written(root / "site/run" / name)
    write_lines(root / "run", [cell("02")])
    publish(root / "site", root / "run")
    return file


def _report(root: Path, name: str) -> Path:
    run, file = write_run(root / "run", cell("01")), _written(root / "there" / name)
    list(
        reports.write_reports(
            ["html", "md", "csv", "tex", "terminal"], [read_run(run)], file.parent
        )
    )
    return file


def _begin_run(root: Path, name: str) -> Path:
    file = _written(root / name)
    RunFolder.create(root, read_run(write_run(root / "run", cell("01"))).plan)
    RunFolder.open(root).write_experiment("")
    RunFolder.open(root).write_clusters({})
    return file


@neighbors(KIND)
def what_eqbench_did_not_write_stays() -> Iterator[tuple[str, str]]:
    names = [f"report.{suffix}" for suffix in ("html", "md", "csv", "tex", "txt")]
    trials = [*itertools.product((_prune, _publish_again), FOREIGN)]
    trials += itertools.product((_report,), names)
    trials += itertools.product((_begin_run,), ("manifest.toml", "clusters.json"))
    for act, name in trials:
        with TemporaryDirectory() as place:
            with suppress(UsageError):
                act(Path(place), name)
            files = [each for each in Path(place).rglob(Path(name).name) if each.is_file()]
            kept = any(file.read_text() == SECRET for file in files)
            yield f"{act.__name__[1:]}, {name}", "" if kept else "is lost"


def _carried(run: Path, target: Path, act: str) -> bytes:
    """All that a command copies from a run."""
    if act == "export":
        export_run(run, target.with_suffix(".zip"))
        with zipfile.ZipFile(target.with_suffix(".zip")) as archive:
            return b"".join(map(archive.read, archive.namelist()))
    other = write_run(run.parent / "other", cell("02"))
    publish(target, run) if act == "publish" else merge([run, other], target, lambda words: None)
    return b"".join(file.read_bytes() for file in target.rglob("*") if file.is_file())


@neighbors(KIND)
def what_lies_behind_a_link_is_not_copied() -> Iterator[tuple[str, str]]:
    for act, (name, to) in itertools.product(("merge", "publish", "export"), LINKS.items()):
        with TemporaryDirectory() as place:
            _written(Path(place) / "secret")
            _written(Path(place) / "folder/01-0.json")
            link = write_run(Path(place) / "run", cell("01")) / name
            with suppress(FileNotFoundError):
                link.rmdir()
            link.symlink_to(to)
            if name.startswith("logs"):
                os.mkfifo(link.with_name("pipe"))
            copied = _carried(Path(place) / "run", Path(place) / "target", act)
            yield f"{act}, {name}", "was copied" if SECRET.encode() in copied else ""


@neighbors(KIND)
def no_cell_gives_way_to_another() -> Iterator[tuple[str, str]]:
    one, two = cell("01"), cell("02")
    for what, records in {"fewer": [one], "others": [one, cell("02", iterations=5)]}.items():
        with TemporaryDirectory() as place:
            write_run(Path(place) / "a/run", one, two)
            write_run(Path(place) / "b/run", *records, planned=["01", "02"])
            publish(Path(place) / "site", Path(place) / "a/run")
            with suppress(UsageError):
                publish(Path(place) / "site", Path(place) / "b/run")
            kept = read_run(Path(place) / "site/run").cells == (one, two)
            yield f"published again with {what}", "" if kept else "cells are lost"
    for part in ("profile", "log", "trace"):
        with TemporaryDirectory() as place:
            runs, name = [Path(place) / key for key in ("01", "02")], f"{part}s/same.json"
            for run in runs:
                record = cell(run.name)
                items = [replace(record.equilibria[0], profile=name)] if part == "profile" else []
                own = {part: name} if part != "profile" else {}
                record = replace(record, equilibria=items, **own)
                _written(write_run(run, record) / name, run.name)
            found = read_run(merge(runs, Path(place) / "all", lambda words: None).path)
            texts = [(found.path / file).read_text() for each in found.cells for file in each.files]
            yield f"merged with one name of a {part}", "" if texts == ["01", "02"] else f"{texts}"
    for log in (".", "profiles", "logs/.", "manifest.json", "claims"):
        with TemporaryDirectory() as place:
            records = [replace(cell(key), log=log, equilibria=[]) for key in ("01", "02")]
            runs = [write_run(Path(place) / each.key, each) for each in records]
            found = merge(runs, Path(place) / "all", lambda words: None).cells()
            yield f"merged with a log {log}", "" if len(found) == 2 else "cells are missing"


@neighbors(KIND)
def no_name_leads_out_of_its_folder() -> Iterator[tuple[str, str]]:
    for name in ELSEWHERE:
        with TemporaryDirectory() as place:
            made = new_run_path(Path(place) / "results", name)
            inside = made.resolve().parent == (Path(place) / "results").resolve()
            yield f"experiment {name!r}", "" if inside else f"writes to {made}"
        jobs = []
        with suppress(UsageError):
            jobs = [each.name for each in _jobs(PaperJob(name), {}, Path())]
        bad = [
            own for own in jobs if (Path("jobs") / own).resolve().parent != Path("jobs").resolve()
        ]
        yield f"job {name!r}", f"writes to {bad[0]}" if bad else ""


def jobs(*, quick: bool) -> Iterator[Job]:
    """One job for each way to lose something."""
    return marked(KIND, quick=quick)
