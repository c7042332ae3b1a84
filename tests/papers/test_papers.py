"""Papers as data: what is read of them, jobs in order, verdicts on what is stored, pages."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from helpers.command import accepted, eqbench, eqbench_here
from helpers.documentation import ROOT, blocks
from msgspec.structs import replace

from eqbench.errors import UsageError
from eqbench.papers.checks import NUMBER
from eqbench.papers.jobs import Job, JobRecord, PaperJobs, function_of, source_digest, wanted_jobs
from eqbench.papers.pages import texts
from eqbench.papers.paper import SHIPPED, Paper, load_paper
from eqbench.papers.verdicts import judge

HOSTILE = "<img src=x onerror=alert()>"
PAPER = """
citation = "Nobody 1900"
lists = { pots = ["2.5", "7/2"] }
part = [
  { title = "Table 1", figure = [{ title = "Figure 1", caption = "Read it so.", draw = "drawn" }] },
]
job = [
  { name = "games", command = "list games", out = false },
  { name = "at_$pot", command = "run --game skp(pot=$pot)", each = { pot = ["2.5", "3"] } },
  { name = "all", command = "trace --at *pots --game skp", needs = ["at_2.5"] },
]
"""
FACTS = """
def value(stored):
    return {"one": stored["games"].summary["value"], "wrong": True}


def drawn(stored):
    return stored["games"].text("drawn.svg")


def table(stored):
    return len(stored["games"].rows("y.csv"))
"""
COLUMNS = ("part", "row", "column", "printed", "fact", "check", "evidence", "cause", "note")
VALUE = ("value", "", "1.0", "value/one", "'close(1.0, abs=0.05)'", "", "", "")


def made(folder: Path, *claims: tuple[str, ...], paper: str = PAPER, facts: str = FACTS) -> Paper:
    """Write a paper and read it."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [COLUMNS, *(("Table 1", *claim) for claim in claims or (VALUE,))]
    lines = "".join(",".join(row).replace("'", '"') + "\n" for row in rows)
    for name, text in (("paper.toml", paper), ("facts.py", facts), ("claims.csv", lines)):
        (folder / name).write_text(text, encoding="utf-8")
    return load_paper(folder)


def judged(place: Path, paper: Paper, value: float | None = 1.0, **changes: Any) -> dict[str, Any]:
    """A paper whose job `games` has just ended well, but for `changes` in its record."""
    if value is not None:
        (place / "games").mkdir(exist_ok=True)
        (place / "games" / "summary.json").write_text(json.dumps({"value": value}))
    now = {"words": ["list", "games"], "version": version("eqbench"), "inputs": {}, "ended": ""}
    record = JobRecord(**{"accepted": True, "elapsed_s": 1.0} | now | changes)
    return judge(paper, PaperJobs("toy", paper.jobs, place, {"games": record}, full=False))


def claims_of(document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(c["verdict"], c["detail"]) for part in document["parts"] for c in part["claims"]]


def nothing_ran(place: Path, paper: Paper | None = None) -> PaperJobs:
    name, jobs = (paper.name, paper.jobs) if paper else ("toy", ())
    return PaperJobs(name, jobs, place, {}, full=paper is not None)


def test_jobs_come_after_what_they_need_and_long_ones_only_in_full() -> None:
    last = Job("last", "verify --profile {first}/a.json", needs=("middle",))
    first, middle = Job("first", "list"), Job("middle", "list", full=True)
    jobs = (last, first, replace(middle, full=False))
    assert [job.name for job in wanted_jobs(jobs, full=False)] == ["first", "middle", "last"]
    assert wanted_jobs((first, middle), full=False) == [first]
    assert wanted_jobs((first, middle), full=True) == [first, middle]
    assert wanted_jobs((first, middle), full=False, only=["middle"]) == [middle]
    for needs in ("two", "nothing"):
        with pytest.raises(UsageError, match=r"needs itself|is not a job"):
            wanted_jobs((Job("one", needs=(needs,)), Job("two", needs=("one",))), full=False)


def test_jobs_of_a_paper_are_repeated_over_values(tmp_path: Path) -> None:
    jobs = {job.name: (job.command, job.needs) for job in made(tmp_path).jobs}
    assert jobs == {
        "games": ("list games", ()),
        "at_2_5": ("run --game skp(pot=2.5)", ()),
        "at_3": ("run --game skp(pot=3)", ()),
        "all": ("trace --at 2.5 --at 7/2 --game skp", ("at_2_5",)),
    }


@pytest.mark.parametrize(
    ("paper", "claims", "message"),
    [
        ("citation = 3", (), r"paper\.toml"),
        ("citation =", (), r"paper\.toml"),
        (PAPER.replace("command", "comand"), (), "comand"),
        (PAPER.replace("Table 1", "Table 2"), (), "did you mean"),
        (PAPER, [(*VALUE[:4], "", "", "", "")], "line 2"),
        (PAPER, [(*VALUE[:3], "", "", "", "", "")], "a note that says why"),
        (PAPER, [VALUE, ("", *VALUE[1:])], "line 3"),
        (PAPER, [VALUE[:-1]], "9 cells"),
        (PAPER, [(*VALUE[:4], "closer(1)", "", "", "")], "line 2.*closer"),
        (PAPER, [(*VALUE[:4], "equal()(1)", "", "", "")], "line 2"),
        (PAPER, [(*VALUE[:4], "rises(2)", "", "", "")], "line 2.*rises"),
        (PAPER, [(*VALUE[:5], "value/one: equals(1)", "", "")], "line 2.*equals"),
        (PAPER, [(*VALUE[:6], "words, mostly", "")], "10 cells|9 cells"),
        (PAPER, [(*VALUE[:6], "word", "")], "did you mean words"),
    ],
)
def test_mistakes_in_a_paper_are_named_with_their_place(
    tmp_path: Path, paper: str, claims: list[tuple[str, ...]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        made(tmp_path, *claims, paper=paper)


FAILED = {"accepted": False, "exit_code": 2}


OTHER = ("value", "", "2.0", "value/one", "equal(2)")


@pytest.mark.parametrize(
    ("claim", "changes", "wanted", "words"),
    [
        (VALUE, {"value": 1.04}, "reproduced", ""),
        (VALUE, {"value": 1.06}, "differs", "1.06 times theirs"),
        ((*OTHER, "value/wrong", "", ""), {}, "source_error", ""),
        ((*OTHER, "value/one: below(2)", "version", ""), {}, "source_error", ""),
        ((*OTHER, "value/one", "", ""), {}, "differs", ""),  # which is no evidence
        ((*OTHER, "value/one: above(2)", "", ""), {}, "differs", ""),
        ((*OTHER, "", "choice", "of two"), {}, "differs", "of two"),
        ((*OTHER, "", "version", "of Gurobi"), {}, "not_comparable", "of Gurobi"),
        ((*OTHER, "", "machine", ""), {"value": 2.0}, "reproduced", ""),
        ((*OTHER, "value/wrong", "", ""), {"value": 2.0}, "reproduced", ""),
        (VALUE, {"version": "0.0.1"}, "not_attempted", "another version"),
        (VALUE, {"words": ["list"]}, "not_attempted", "another version"),
        (VALUE, {"inputs": {"a": "x"}}, "not_attempted", "another version"),
        (VALUE, FAILED, "not_attempted", "failed with exit code 2: no such game"),
    ],
)
def test_a_verdict_follows_what_is_stored_as_it_would_be_run_now(
    tmp_path: Path, claim: tuple[str, ...], changes: dict[str, Any], wanted: str, words: str
) -> None:
    (tmp_path / "games.err").write_text("first\nno such game\n")
    paper = made(tmp_path / "toy", claim)
    ((verdict, detail),) = claims_of(judged(tmp_path, paper, **changes))
    assert verdict == wanted
    assert words in detail


def test_a_fact_may_be_what_a_job_has_stored(tmp_path: Path) -> None:
    """Without any file of facts: the summary, a printed document, fields of the cells of a run."""
    jobs = "[[job]]\nname = 'at'\ncommand = 'run'\n[[job]]\nname = 'size'\ncommand = 'info'\n"
    names = (("at/status", "equal('ok')"), ("at/max_regret", "at_most(1e-6)"))
    claims = [(f"{n}", "", "x", *each, "", "", "") for n, each in enumerate(names)]
    claims.append(("size", "", "x", "size/sizes/players", "equal(2)", "", "", ""))
    run = accepted("run", "--game", "kuhn2", "--solver", "lcp", "--out", "at", cwd=tmp_path)
    assert run.code == 0
    (tmp_path / "size.out").write_text('{"sizes": {"players": 2}}')
    paper = made(
        tmp_path / "toy",
        *((*c[:4], f"'{c[4]}'".replace("('ok')", '(""ok"")'), *c[5:]) for c in claims),
        paper=f"citation = 'Toy'\n[[part]]\ntitle = 'Table 1'\n{jobs}out = false\n",
    )
    (tmp_path / "toy" / "facts.py").unlink()
    now = {"accepted": True, "version": version("eqbench")}
    records = {job.name: JobRecord(words=job.words(full=False), **now) for job in paper.jobs}
    stored = PaperJobs("toy", paper.jobs, tmp_path, records, full=False)
    assert [verdict for verdict, _ in claims_of(judge(paper, stored))] == ["reproduced"] * 3


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: (file.unlink(), os.mkfifo(file))])
def test_damaged_files_of_a_job_spoil_its_own_claims_only(
    tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    paper = made(tmp_path / "toy", VALUE, ("rows", "", "2", "table", "equal(2)", "", "", ""))
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "y.csv").write_bytes(b"\xff")
    document = judged(tmp_path, paper)
    (whole, _), (damaged, why) = claims_of(document)
    assert (whole, damaged) == ("reproduced", "not_attempted")
    assert "job games" in why
    assert "drawn.svg" in document["parts"][0]["pictures"][0]["missing"]
    damage(tmp_path / "games" / "summary.json")
    assert claims_of(judged(tmp_path, paper, value=None))[0][0] == "not_attempted"


@pytest.mark.parametrize("fact", ["1 / 0", "stored['games'].summary['other']", "stored['none']"])
def test_a_mistake_of_a_paper_is_no_verdict(tmp_path: Path, fact: str) -> None:
    paper = made(tmp_path / f"toy{len(fact)}", facts=f"def value(stored):\n    return {fact}\n")
    with pytest.raises((KeyError, ZeroDivisionError)):
        judged(tmp_path, paper)


def test_a_computation_is_known_by_its_sources(tmp_path: Path) -> None:
    digests = []
    for name, text in (
        ("compute.py", "from .more import (\n    x,\n)"),
        ("other.py", "more = 2"),  # which nothing imports
        ("more.py", "x = 1"),
        ("more.py", "x = 'table.toml'"),
        ("table.toml", "y = 1"),
    ):
        (tmp_path / name).write_text(text)
        digests.append(source_digest(tmp_path, "compute"))
    assert digests[0] == digests[1]
    assert len(set(digests)) == 4


def test_a_broken_run_goes_on_and_another_command_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, job, place = nothing_ran(tmp_path), Job("one", "run --game kuhn2"), tmp_path / "one"
    begun: list[tuple[str, bool]] = []

    class Broken:
        def __init__(self, command: list[str], **options: Any) -> None:
            begun.append((" ".join(command[2:]), place.exists()))

        def wait(self, timeout: float) -> int:
            return 130

    monkeypatch.setattr("eqbench.papers.jobs.subprocess.Popen", Broken)
    for each in (job, job, replace(job, command="run --game kuhn3")):
        jobs.run(each, lambda: False)
        place.mkdir(exist_ok=True)
    assert begun == [
        (f"eqbench run --game kuhn2 --out {place}", False),
        (f"eqbench run --resume {place}", True),
        (f"eqbench run --game kuhn3 --out {place}", False),
    ]


def test_pages_show_every_claim_with_a_link_and_escape_what_they_show(tmp_path: Path) -> None:
    paper = made(tmp_path / "toy", VALUE, ("row", "column", f"{HOSTILE} 1.0", *VALUE[3:]))
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "drawn.svg").write_text("<svg viewBox='0 0 1 1'/>")
    pages = texts([judged(tmp_path, paper, value=2.0)])
    shown = pages["index.html"], pages["toy.html"]
    assert all(HOSTILE not in page and "&lt;img src=x" in page for page in shown)
    assert "data:image/svg+xml;base64," in pages["toy.html"]
    assert all(pages["toy.html"].count(f'id="toy-{k}"') == 1 for k in (1, 2))
    assert pages["claims.csv"].count("differs") == 2
    assert pages["report.md"].count("2 times theirs") == 4  # by cause, and in its part


@pytest.mark.parametrize("name", SHIPPED)
def test_papers_are_complete_and_without_any_run_nothing_is_reproduced(
    name: str, tmp_path: Path
) -> None:
    paper = load_paper(SHIPPED[name])
    jobs = {job.name for job in wanted_jobs(paper.jobs, full=True)}
    assert len(jobs) == len(paper.jobs)
    assert not any(job.full for job in wanted_jobs(paper.jobs, full=False))
    for job in paper.jobs:
        assert bool(job.command) != bool(job.compute), job.name
        assert not job.compute or callable(function_of(paper.folder, job.compute))
    for part in paper.parts:
        assert len({(c.row, c.column) for c in part.claims}) == len(part.claims), part.title
        assert {file.job for file in part.files} <= jobs
        for path in (p for c in part.claims for p in (c.fact, c.evidence) if p):
            assert callable(function_of(paper.folder, path.partition(": ")[0].partition("/")[0]))
    claims = [claim for part in paper.parts for claim in part.claims]
    assert [claim.row for claim in claims if not claim.place] == []
    assert all(claim.note for claim in claims if claim.cause)
    for claim in claims:  # what is nothing but a number is compared with this number
        number = re.fullmatch(r"(?:equal|close)\((-?[\d./e-]+)(?:, .*)?\)", claim.check)
        if number and NUMBER.fullmatch(claim.printed):
            theirs = Fraction(claim.printed.replace(",", "").replace("−", "-"))
            assert Fraction(number[1]) == theirs, claim
    counts = judge(paper, nothing_ran(tmp_path, paper))["counts"]
    assert counts["not_attempted"] == sum(counts.values()) > 0


def test_paper_of_the_documentation_is_held_against_what_it_runs(tmp_path: Path) -> None:
    """First with three claims in two files, then with functions and two further claims."""
    folder = tmp_path / "example_1900"
    folder.mkdir()
    found = blocks((ROOT / "docs/how_to/add_a_paper.md").read_text(encoding="utf-8"))
    saved = [block for block in found if block.saved_as]
    for block in saved[:2]:
        (folder / block.saved_as).write_text(block.text, encoding="utf-8")
    options = ("--paper", "example_1900", "--out", "page", "--json")
    first = accepted("reproduce", *options, cwd=tmp_path).json["sources"][0]["counts"]
    assert first["reproduced"] == sum(first.values()) == 3
    more = [block for block in found if block not in saved and block.language in ("toml", "text")]
    for block, name in zip(more, ("paper.toml", "claims.csv"), strict=True):
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(block.text)
    for block in saved[2:]:
        (folder / block.saved_as).write_text(block.text, encoding="utf-8")
    counts = accepted("reproduce", *options[:3], "again", "--json", cwd=tmp_path)
    then = counts.json["sources"][0]["counts"]
    assert (then["reproduced"], then["source_error"], sum(then.values())) == (4, 1, 5)
    shown = eqbench_here(
        "reproduce", "--resume", "again", "--claim", "example_1900-2", cwd=tmp_path
    )
    assert "enumeration" in shown.out
    (folder / "facts.py").write_text("def value(stored):\n    return 1 / 0\n")
    broken = eqbench("reproduce", "--resume", "again", cwd=tmp_path)
    assert broken.code not in (0, 2)
    assert "ZeroDivisionError" in broken.err
    assert "1 / 0" in (tmp_path / "again" / "error.log").read_text()
