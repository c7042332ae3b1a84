"""Papers as data: what is read of them, jobs in order, verdicts on what is stored, pages."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import eqbench, eqbench_here
from documentation import ROOT, blocks
from msgspec.structs import replace
from paper_cases import PAPER, VALUE, folder_of, made, ran, stored

from eqbench.errors import UsageError
from eqbench.papers.jobs import Job, source_digest, wanted_jobs
from eqbench.papers.pages import claims_csv, index_page, paper_page, texts
from eqbench.papers.paper import find_paper, load_paper, shipped
from eqbench.papers.verdicts import judge

GAMES = Job("games", "list games", out=False)
HOSTILE = "<img src=x onerror=alert()>"


def judged(tmp_path: Path, *claims: tuple[str, ...], **changes: Any) -> dict[str, Any]:
    """The part of a paper whose job has stored the value 1."""
    paper = made(tmp_path / "toy", *claims)
    stored(tmp_path, "games", {"value": changes.pop("value", 1.0)})
    full = changes.pop("full", False)
    (job,) = paper.jobs
    part: dict[str, Any]
    (part,) = judge(paper, folder_of(tmp_path, {"games": ran(job, **changes)}, full=full))["parts"]
    return part


def verdict(tmp_path: Path, *claim: str, **changes: Any) -> tuple[str, str]:
    (found,) = judged(tmp_path, claim or VALUE, **changes)["claims"]
    return found["verdict"], found["detail"]


def test_jobs_come_after_what_they_need_and_long_ones_only_in_full() -> None:
    last = Job("last", "verify --profile {first}/a.json", needs=("middle",))
    first, middle = Job("first", "list"), Job("middle", "list", full=True)
    jobs = (last, first, replace(middle, full=False))
    assert [job.name for job in wanted_jobs(jobs, full=False)] == ["first", "middle", "last"]
    assert wanted_jobs((first, middle), full=False) == [first]
    assert wanted_jobs((first, middle), full=True) == [first, middle]
    assert wanted_jobs((first, middle), full=False, only=["middle"]) == [middle]
    for needs in ("two", "nothing"):
        with pytest.raises(UsageError, match=r"needs itself|is no job"):
            wanted_jobs((Job("one", needs=(needs,)), Job("two", needs=("one",))), full=False)


def test_jobs_of_a_paper_are_repeated_over_values(tmp_path: Path) -> None:
    entry = """
[lists]
pots = ["2.5", "7/2"]

[[job]]
name = "at_$pot"
each = { pot = ["2.5", "3"] }
command = "run --game skp(pot=$pot) --solver lcp"

[[job]]
name = "all"
command = "trace --at *pots --game skp"
needs = ["at_2.5"]
"""
    paper = made(tmp_path / "toy", paper=PAPER + entry)
    by_name = {job.name: job for job in paper.jobs}
    assert list(by_name) == ["games", "at_2_5", "at_3", "all"]
    assert by_name["at_3"].command == ("run", "--game", "skp(pot=3)", "--solver", "lcp")
    assert by_name["all"].command == ("trace", "--at", "2.5", "--at", "7/2", "--game", "skp")
    assert by_name["all"].needs == ("at_2_5",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"paper": "citation = 3"}, "paper.toml"),
        ({"paper": "citation ="}, "paper.toml"),
        ({"paper": PAPER.replace("command", "comand")}, "comand"),
        ({"claims": [("value", "", "1.0", "value/one", "", "", "")]}, "line 2"),
        ({"claims": [("value", "", "1.0", "", "", "", "")]}, "a note that says why"),
        ({"claims": [VALUE, ("", "", "1", "value", "=", "", "")]}, "line 3"),
        ({"claims": [VALUE[:-1]]}, "a line has 8 cells"),
        ({"paper": PAPER.replace("Table 1", "Table 2")}, "did you mean"),
    ],
)
def test_mistakes_in_a_paper_are_named_with_their_place(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        made(tmp_path / "toy", *changes.pop("claims", ()), **changes)


@pytest.mark.parametrize(("value", "wanted"), [(1.04, "reproduced"), (1.06, "differs")])
def test_a_verdict_follows_what_is_stored(tmp_path: Path, value: float, wanted: str) -> None:
    found, detail = verdict(tmp_path, value=value)
    assert found == wanted
    assert ("1.06 times theirs" in detail) == (wanted == "differs")


@pytest.mark.parametrize(
    ("evidence", "wanted"), [("value/wrong", "source_error"), ("value/one", "differs")]
)
def test_a_source_is_wrong_only_if_the_evidence_is_there(
    tmp_path: Path, evidence: str, wanted: str
) -> None:
    claim = ("value", "", "2.0", "value/one", "~ digits", evidence, "")
    assert verdict(tmp_path, *claim)[0] == wanted
    assert verdict(tmp_path, *claim, value=2.0)[0] == "reproduced"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": "0.0.1"}, "another version"),
        ({"words": ["list"]}, "another version"),
        ({"inputs": {"a": "x"}}, "another version"),
        ({"accepted": False, "exit_code": 2}, "failed with exit code 2"),
    ],
)
def test_what_is_not_as_it_would_be_run_now_is_not_attempted(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    (tmp_path / "games.err").write_text("first\nno such game\n")
    found, detail = verdict(tmp_path, **changes)
    assert found == "not_attempted"
    assert words in detail
    assert ("no such game" in detail) == ("accepted" in changes)


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: (file.unlink(), os.mkfifo(file))])
def test_damaged_files_of_a_job_spoil_its_own_claims_only(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    paper = made(tmp_path / "toy", VALUE, ("rows", "", "2", "table", "=", "", ""))
    stored(tmp_path, "games", {"value": 1.0})
    (tmp_path / "games" / "y.csv").write_bytes(b"\xff")
    (job,) = paper.jobs
    (part,) = judge(paper, folder_of(tmp_path, {"games": ran(job)}))["parts"]
    assert [claim["verdict"] for claim in part["claims"]] == ["reproduced", "not_attempted"]
    assert "y.csv of the job games cannot be read" in part["claims"][1]["detail"]
    assert "left no drawn.svg" in part["pictures"][0]["missing"]
    damage(tmp_path / "games" / "summary.json")
    (part,) = judge(paper, folder_of(tmp_path, {"games": ran(job)}))["parts"]
    assert part["claims"][0]["verdict"] == "not_attempted"


@pytest.mark.parametrize("facts", ["1 / 0", "stored['games'].summary['other']", "stored['none']"])
def test_a_mistake_of_a_paper_is_no_verdict(tmp_path: Path, facts: str) -> None:
    paper = made(tmp_path / f"toy{len(facts)}", facts=f"def value(stored):\n    return {facts}\n")
    stored(tmp_path, "games", {"value": 1.0})
    with pytest.raises((KeyError, ZeroDivisionError)):
        judge(paper, folder_of(tmp_path, {"games": ran(paper.jobs[0])}))


def test_a_computation_is_known_by_its_sources(tmp_path: Path) -> None:
    made(tmp_path / "toy")
    for name, text in (("compute", "from .more import x"), ("more", "x = 1"), ("other", "")):
        (tmp_path / "toy" / f"{name}.py").write_text(text)
    before = source_digest(tmp_path / "toy", "compute")
    (tmp_path / "toy" / "other.py").write_text("x = 2")
    assert source_digest(tmp_path / "toy", "compute") == before
    (tmp_path / "toy" / "more.py").write_text("x = 'table.toml'")
    more = source_digest(tmp_path / "toy", "compute")
    (tmp_path / "toy" / "table.toml").write_text("y = 1")
    assert len({before, more, source_digest(tmp_path / "toy", "compute")}) == 3


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
    jobs, job = folder_of(tmp_path, {}), Job("one", "run --game kuhn2")
    for each in (job, job, replace(job, typed="run --game kuhn3")):
        jobs.run(each, lambda: False)
        (tmp_path / "one").mkdir(exist_ok=True)
    place = str(tmp_path / "one")
    assert words == [
        ["eqbench", "run", "--game", "kuhn2", "--out", place],
        ["eqbench", "run", "--resume", place],
        ["eqbench", "run", "--game", "kuhn3", "--out", place],
    ]


def test_an_interrupt_ends_a_running_job(tmp_path: Path) -> None:
    slow = Job("slow", "run --game kuhn3 --solver cfr --timeout 60")
    assert folder_of(tmp_path, {}).run(slow, lambda: True) is None


def test_pages_show_every_claim_with_a_link_and_escape_what_they_show(tmp_path: Path) -> None:
    paper = made(tmp_path / "toy", VALUE, ("row", "column", f"{HOSTILE} 1.0", *VALUE[3:]))
    stored(tmp_path, "games", {"value": 2.0})
    (tmp_path / "games" / "drawn.svg").write_text("<svg viewBox='0 0 1 1'/>")
    found = [judge(paper, folder_of(tmp_path, {"games": ran(paper.jobs[0])}))]
    pages = [index_page(found), paper_page(found[0])]
    assert all(HOSTILE not in page and "&lt;img src=x" in page for page in pages)
    assert "data:image/svg+xml;base64," in pages[1]
    assert all(pages[1].count(f'id="toy-{k}"') == 1 for k in (1, 2))
    assert claims_csv(found).count("differs") == 2
    assert texts(found)["report.md"].count("2 times theirs") == 2


def test_an_unknown_paper_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="did you mean szafron"):
        find_paper("szafon")


@pytest.mark.parametrize("name", shipped())
def test_papers_are_complete(name: str) -> None:
    paper = load_paper(shipped()[name])
    jobs = [job.name for job in paper.jobs]
    assert len(set(jobs)) == len(jobs)
    for job in paper.jobs:
        assert bool(job.command) != bool(job.compute), job.name
        if job.compute:
            assert callable(paper.function(job.compute))
    for full in (False, True):
        assert {job.name for job in wanted_jobs(paper.jobs, full=full)} <= set(jobs)
    for part in paper.parts:
        places = [(claim.row, claim.column) for claim in part.claims]
        assert len(set(places)) == len(places), part.title
        assert all(file.job in jobs for file in part.files)
        for path in (p for c in part.claims for p in (c.fact, c.evidence) if p):
            assert callable(paper.function(path.partition("/")[0]))


@pytest.mark.parametrize("name", shipped())
def test_without_any_run_nothing_is_reproduced(name: str, tmp_path: Path) -> None:
    """So every verdict of a paper rests on what is stored."""
    counts = judge(load_paper(shipped()[name]), folder_of(tmp_path, {}, name, full=True))["counts"]
    assert counts["not_attempted"] == sum(counts.values()) > 0


def test_paper_of_the_documentation_is_held_against_what_it_runs(tmp_path: Path) -> None:
    folder = tmp_path / "nobody_1900"
    folder.mkdir()
    for block in blocks((ROOT / "docs/how_to/add_a_paper.md").read_text(encoding="utf-8")):
        if block.saved_as:
            (folder / block.saved_as).write_text(block.text, encoding="utf-8")
    options = ("reproduce", "--paper", "nobody_1900", "--out", "page", "--json")
    done = eqbench_here(*options, cwd=tmp_path)
    assert done.code == 0, done.err
    counts = done.json["sources"][0]["counts"]
    assert (counts["reproduced"], counts["source_error"], sum(counts.values())) == (1, 1, 2)
    shown = eqbench_here("reproduce", "--resume", "page", "--claim", "nobody_1900-1", cwd=tmp_path)
    assert "eqbench run --game kuhn2 --solver case_enumeration" in shown.out
    (folder / "facts.py").write_text("def value(stored):\n    return 1 / 0\n")
    broken = eqbench("reproduce", "--resume", "page", cwd=tmp_path)
    assert broken.code not in (0, 2)
    assert "ZeroDivisionError" in broken.err
    assert "1 / 0" in (tmp_path / "page" / "error.log").read_text()
