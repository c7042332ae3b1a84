"""Reproductions: jobs in order, readings of what they stored, verdicts, and pages."""

from __future__ import annotations

import importlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from eqbench.errors import UsageError
from eqbench.papers.catalog import MODULES, load_source
from eqbench.papers.claims import (
    Claim,
    Part,
    Picture,
    Reading,
    Source,
    holds,
    number,
    reproduced,
    source_error,
)
from eqbench.papers.folder import claims_csv, document, read_request
from eqbench.papers.html import index_page, source_page
from eqbench.papers.jobs import Job, JobRecord, Workshop
from eqbench.papers.judge import judge
from eqbench.papers.pages import markdown
from eqbench.papers.schedule import run_jobs, wanted_jobs
from eqbench.papers.sources import source_digest
from eqbench.papers.stored import Stored

GAMES = Job("games", ("list", "games"), out=False)
HOSTILE = "<img src=x onerror=alert(1)>"


def stored_job(folder: Path, name: str, summary: Any, **changes: Any) -> None:
    """Lay down a job as if it had been run."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "summary.json").write_text(json.dumps(summary))
    now = version("eqbench")
    words = ["list", "games"]
    record = JobRecord(name, "eqbench …", words, False, 0, True, 1.0, now, "first", {})
    (folder / f"{name}.json").write_text(json.dumps(asdict(replace(record, **changes))))


def value_is_one(stored: Stored) -> Reading:
    return number(1.0, stored["games"].summary["value"], 0.05)


def source(*claims: Claim, jobs: tuple[Job, ...] = (GAMES,)) -> Source:
    return Source("toy", "Nobody 1900", jobs, (Part("Table 1", claims, note="How."),))


def verdict_of(claim: Claim, folder: Path, *jobs: Job, full: bool = False) -> dict[str, Any]:
    judged = judge(source(claim, jobs=jobs or (GAMES,)), Workshop("toy", folder, full=full))
    found: dict[str, Any] = judged["parts"][0]["claims"][0]
    return found


VALUE = Claim("value", "", "1.0", value_is_one)


def test_jobs_come_after_what_they_need_and_long_ones_only_in_full() -> None:
    last = Job("last", ("verify", "--profile", "{first}/a.json"), needs=("middle",))
    first, middle = Job("first", ("list",)), Job("middle", ("list",), full=True)
    jobs = (last, first, replace(middle, full=False))
    assert [job.name for job in wanted_jobs(jobs, full=False)] == ["first", "middle", "last"]
    assert wanted_jobs((first, middle), full=False) == [first]
    assert wanted_jobs((first, middle), full=True) == [first, middle]
    assert wanted_jobs((first, middle), full=False, only=["middle"]) == [middle]


def test_a_job_that_needs_itself_is_refused() -> None:
    with pytest.raises(KeyError, match="needs itself"):
        wanted_jobs((Job("one", needs=("two",)), Job("two", needs=("one",))), full=False)


def test_a_figure_is_reproduced_to_its_last_digit_only() -> None:
    assert number(0.25, 0.2549, 0.005).verdict == "reproduced"
    beyond = number(0.25, 0.2551, 0.005)
    assert (beyond.verdict, beyond.detail) == ("differs", "+0.0051, 1.02 times theirs")
    assert number(1.2, 1.25, 0.05).verdict == number(0.3, 0.35, 0.05).verdict == "reproduced"
    assert holds(False, "no", "all of it") == Reading("differs", "no", "all of it")


@pytest.mark.parametrize(("value", "verdict"), [(1.04, "reproduced"), (1.06, "differs")])
def test_a_verdict_follows_what_is_stored(tmp_path: Path, value: float, verdict: str) -> None:
    stored_job(tmp_path, "games", {"value": value})
    found = verdict_of(VALUE, tmp_path)
    assert (found["verdict"], found["jobs"]) == (verdict, ["games"])


def test_without_its_job_a_claim_is_not_attempted_and_says_why(tmp_path: Path) -> None:
    assert "go on with --resume" in verdict_of(VALUE, tmp_path)["detail"]
    assert "belongs to --full" in verdict_of(VALUE, tmp_path, replace(GAMES, full=True))["detail"]


def test_a_failed_job_gives_its_last_words(tmp_path: Path) -> None:
    stored_job(tmp_path, "games", {"value": 1.0}, exit_code=2, accepted=False)
    (tmp_path / "games.err").write_text("first\nno such game\n")
    found = verdict_of(VALUE, tmp_path)
    assert found["verdict"] == "not_attempted"
    assert found["detail"] == "the job games failed with exit code 2: no such game"


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: (file.unlink(), os.mkfifo(file))])
def test_a_failed_job_whose_last_words_are_gone_is_not_attempted(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    stored_job(tmp_path, "games", {"value": 1.0}, exit_code=2, accepted=False)
    (tmp_path / "games.err").touch()
    damage(tmp_path / "games.err")
    found = verdict_of(VALUE, tmp_path)
    assert found["verdict"] == "not_attempted"
    assert "the job games failed, and games.err cannot be read" in found["detail"]


@pytest.mark.parametrize("name", ["games.json", "games/summary.json", "request.json"])
def test_pipes_in_place_of_stored_files_are_not_waited_for(tmp_path: Path, name: str) -> None:
    stored_job(tmp_path, "games", {"value": 1.0})
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    if name == "request.json":
        with pytest.raises(UsageError, match="holds no reproduction"):
            read_request(tmp_path)
    else:
        assert verdict_of(VALUE, tmp_path)["verdict"] == "not_attempted"


@pytest.mark.parametrize("change", [{"accepted": "yes"}, {"ended": 1}, {"words": "list"}])
def test_a_record_of_other_types_is_none(tmp_path: Path, change: dict[str, Any]) -> None:
    stored_job(tmp_path, "games", {"value": 1.0}, **change)
    assert Workshop("toy", tmp_path, full=False).record("games") is None


@pytest.mark.parametrize(
    "claim",
    [
        Claim("value", "", "", lambda stored: reproduced("1")),
        Claim("value", "", "1", lambda stored: reproduced("")),
        Claim("value", "", "1", lambda stored: source_error("1", "")),
        Claim("value", "", "1", lambda stored: reproduced("1")),
    ],
)
def test_empty_cells_and_verdicts_without_reason_are_refused(tmp_path: Path, claim: Claim) -> None:
    with pytest.raises(ValueError, match=r"empty cell|without its reason|rests on no stored job"):
        verdict_of(claim, tmp_path)


@pytest.mark.parametrize(
    "change", [{"version": "0.0.1"}, {"words": ["list"]}, {"inputs": {"a": "x"}}]
)
def test_what_another_version_stored_is_not_taken_for_ours(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    stored_job(tmp_path, "games", {"value": 1.0}, **change)
    assert not Workshop("toy", tmp_path, full=False).done(GAMES)
    found = verdict_of(VALUE, tmp_path)
    assert found["verdict"] == "not_attempted"
    assert "is of another version" in found["detail"]


def test_a_job_is_done_only_if_it_is_the_same_and_succeeded(tmp_path: Path) -> None:
    workshop = Workshop("toy", tmp_path, full=False)
    assert not workshop.done(GAMES)
    stored_job(tmp_path, "games", {})
    assert workshop.done(GAMES)
    assert not workshop.done(replace(GAMES, command=("list", "solvers")))
    stored_job(tmp_path, "games", {}, accepted=False)
    assert not workshop.done(GAMES)


def test_what_follows_from_a_job_that_was_run_anew_is_run_anew(tmp_path: Path) -> None:
    workshop, last = Workshop("toy", tmp_path, full=False), replace(GAMES, name="last")
    last = replace(last, needs=("games",))
    stored_job(tmp_path, "games", {})
    stored_job(tmp_path, "last", {}, inputs={"games": "first"})
    assert workshop.done(last)
    stored_job(tmp_path, "games", {}, ended="second")
    assert not workshop.done(last)


def test_a_computation_is_done_only_with_the_sources_that_it_had(tmp_path: Path) -> None:
    module = "eqbench.papers.encyclopedia.compute"
    job = Job("games", compute=f"{module}:family_of_kuhn2")
    workshop = Workshop("toy", tmp_path, full=False)
    stored_job(tmp_path, "games", {}, words=[job.compute, source_digest(module)])
    assert workshop.done(job)
    stored_job(tmp_path, "games", {}, words=[job.compute, "another"])
    assert not workshop.done(job)


def test_the_digest_covers_what_a_module_imports_from_its_package() -> None:
    parts = [source_digest(f"eqbench.papers.{name}") for name in ("jobs", "stored")]
    assert parts[0] != parts[1]
    assert all(len(part) == 16 for part in parts)


def test_jobs_run_as_commands_and_leave_their_record(tmp_path: Path) -> None:
    workshop, ended = Workshop("toy", tmp_path, full=False), []
    wrong = Job("wrong", ("list", "nothing"), out=False, needs=("games",))
    after = replace(GAMES, name="after", needs=("wrong",))
    stop, tasks = threading.Event(), [(workshop, job) for job in (GAMES, wrong, after)]
    run_jobs(tasks, 2, stop, lambda *what: ended.append(what))
    codes = [(task[1].name, record.exit_code) for task, record in ended]
    assert codes == [("games", 0), ("wrong", 2)]  # what needs a failed job is not run
    assert "kuhn3" in (tmp_path / "games.out").read_text()
    again: list[Any] = []
    run_jobs(tasks, 2, stop, lambda *what: again.append(what))
    assert [task[1].name for task, _ in again] == ["wrong"]
    claim = Claim("value", "", "1", lambda stored: reproduced(stored["after"].printed))
    found = verdict_of(claim, tmp_path, GAMES, wrong, after)
    assert found["detail"] == "the job after needs the job wrong, which failed"


def test_a_damaged_result_spoils_its_own_claims_only(tmp_path: Path) -> None:
    stored_job(tmp_path, "games", {"other": 1.0})
    picture = Picture("Figure 1", "Read it so.", lambda stored: str(stored["games"].json("x.json")))
    (tmp_path / "games" / "x.json").write_text("{")
    (tmp_path / "games" / "y.csv").write_bytes(b"\xff")
    made = source(
        Claim("a table", "", "1", lambda stored: reproduced(str(stored["games"].rows("y.csv")))),
        Claim("printed", "", "1", lambda stored: holds(bool(stored["games"]), "1", "")),
    )
    made = replace(made, parts=(replace(made.parts[0], pictures=(picture,)),))
    (part,) = judge(made, Workshop("toy", tmp_path, full=False))["parts"]
    assert [claim["verdict"] for claim in part["claims"]] == ["not_attempted", "reproduced"]
    assert "y.csv of the job games cannot be read" in part["claims"][0]["detail"]
    assert "cannot be read (JSONDecodeError" in part["pictures"][0]["missing"]


def test_a_mistake_of_a_reader_is_no_verdict(tmp_path: Path) -> None:
    stored_job(tmp_path, "games", {"other": 1.0})
    with pytest.raises(KeyError):
        judge(source(VALUE), Workshop("toy", tmp_path, full=False))


def test_a_broken_run_goes_on_and_another_command_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words: list[list[str]] = []

    class Broken:
        def __init__(self, command: list[str], **options: Any) -> None:
            words.append(command[2:])

        def wait(self, timeout: float) -> int:
            return 130

    monkeypatch.setattr("eqbench.papers.jobs.subprocess.Popen", Broken)
    workshop, job = Workshop("toy", tmp_path, full=False), Job("one", ("run", "--game", "kuhn2"))
    for command in (job, job, replace(job, command=("run", "--game", "kuhn3"))):
        workshop.run(command, threading.Event())
        (tmp_path / "one").mkdir(exist_ok=True)
    place = str(tmp_path / "one")
    assert words == [
        ["eqbench", "run", "--game", "kuhn2", "--out", place],
        ["eqbench", "run", "--resume", place],
        ["eqbench", "run", "--game", "kuhn3", "--out", place],
    ]


def test_stopping_ends_a_running_job(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    slow = Job("slow", ("run", "--game", "kuhn3", "--solver", "cfr", "--timeout", "60"))
    assert Workshop("toy", tmp_path, full=False).run(slow, stop) is None
    assert not (tmp_path / "slow.json").exists()


def test_pages_show_every_claim_and_escape_what_they_show(tmp_path: Path) -> None:
    stored_job(tmp_path, "games", {"value": 2.0})
    grid = Claim("row", "column", HOSTILE, value_is_one)
    picture = Picture("Figure 1", "Read it so.", lambda stored: "<svg viewBox='0 0 1 1'/>")
    made = source(VALUE)
    made = replace(made, parts=(replace(made.parts[0], claims=(VALUE, grid), pictures=(picture,)),))
    judged = [judge(made, Workshop("toy", tmp_path, full=False))]
    pages = [index_page(judged, full=False), source_page(judged[0])]
    assert all(HOSTILE not in page and "&lt;img src=x" in page for page in pages)
    assert "data:image/svg+xml;base64," in pages[1]
    assert markdown(judged).count("differs: +1, 2 times theirs") == 2
    assert claims_csv(judged).count("differs") == 2
    shown = document(judged, full=False)["sources"][0]
    assert shown["counts"] == {"reproduced": 0, "differs": 2, "source_error": 0, "not_attempted": 0}
    assert "svg" not in shown["parts"][0]["pictures"][0]


def test_a_picture_without_its_job_says_so(tmp_path: Path) -> None:
    picture = Picture("Figure 1", "Read it so.", lambda stored: stored["games"].printed)
    made = source(VALUE)
    made = replace(made, parts=(replace(made.parts[0], pictures=(picture,)),))
    page = source_page(judge(made, Workshop("toy", tmp_path, full=False)))
    assert "no picture, since the job games was not run to its end" in page


def test_an_unknown_source_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean szafron"):
        load_source("szafon")


@pytest.mark.parametrize("name", MODULES)
def test_sources_are_complete(name: str) -> None:
    found = load_source(name)
    jobs = [job.name for job in found.jobs]
    assert found.name == name
    assert len(set(jobs)) == len(jobs)
    for module, _, function in (job.compute.partition(":") for job in found.jobs if job.compute):
        assert callable(getattr(importlib.import_module(module), function))
    for full in (False, True):
        assert {job.name for job in wanted_jobs(found.jobs, full=full)} <= set(jobs)
    titles = [part.title for part in found.parts]
    assert len(set(titles)) == len(titles)
    for part in found.parts:
        places = [(claim.row, claim.column) for claim in part.claims]
        assert len(set(places)) == len(places), part.title
        assert all(claim.row and claim.theirs for claim in part.claims)
        assert all(file.job in jobs for file in part.files)


@pytest.mark.parametrize("name", MODULES)
def test_without_any_run_nothing_is_reproduced(name: str, tmp_path: Path) -> None:
    """So every verdict of a source rests on what is stored."""
    judged = judge(load_source(name), Workshop(name, tmp_path, full=True))
    counts = judged["counts"]
    assert counts["not_attempted"] == sum(counts.values()) > 0
