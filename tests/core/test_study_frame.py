"""The frame of studies: what it holds, redoes, refuses and keeps, whatever the study."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from helpers.command import Ended, accepted, eqbench_here
from msgspec import Struct

from eqbench.errors import UsageError
from eqbench.harness.experiment import Request
from eqbench.studies.frame import Document, Session, Study, StudyFolder
from eqbench.studies.requests import StudyRequest

QRE = ("qre", "--game", "matching_pennies", "--to", "10", "-q")
OWN = """
from dataclasses import dataclass
from typing import Annotated, Any
from eqbench.report.rows import Report, Table
from eqbench.requests import Option
from eqbench.studies.frame import Study
from eqbench.studies.requests import StudyRequest

@dataclass(frozen=True, kw_only=True)
class OwnRequest(StudyRequest):
    command = "own"
    {field}

class OwnStudy(Study[OwnRequest, dict, dict]):
    request_type = OwnRequest

    def parts(self):
        return ["first", "second"]

    def do(self, part, session):
        return {found} if part == "second" else {{"x": 1}}

    def conclude(self, parts, session):
        return {{"found": parts}}

    def report(self, document):
        return Report((Table("own"),))
"""


def own(
    folder: Path, *options: str, field: str = "pass", found: str = "{'x': 2}", name: str = "own.py"
) -> Ended:
    """A study of one's own, with such a field, whose second part finds this."""
    (folder / name).write_text(OWN.format(field=field, found=found))
    return eqbench_here("study", name, *options, cwd=folder)


def interrupt(monkeypatch: pytest.MonkeyPatch, pressed: Callable[[], bool]) -> None:
    """Let Ctrl-C be pressed when `pressed` says so."""

    @contextmanager
    def interrupts(farewell: str) -> Iterator[Callable[[], bool]]:
        yield pressed

    monkeypatch.setattr("eqbench.cli.commands.two_interrupts", interrupts)


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line | {"record": {}},
        lambda line: line | {"record": line["record"] | {"points": "many"}},
        lambda line: line | {"record": []},
        lambda line: {"part": line["part"], "record": line["record"]},
        lambda line: line | {"part": "seed0"},
    ],
)
def test_changed_record_is_named_and_its_part_done_again(
    tmp_path: Path, damage: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    begun = eqbench_here(*QRE, "--json", "--out", "q", cwd=tmp_path).json
    records = tmp_path / "q/records.jsonl"
    records.write_text(json.dumps(damage(json.loads(records.read_text()))) + "\n")
    again = accepted("qre", "--resume", "q", "--json", "-q", cwd=tmp_path)
    assert "1 line of q" in again.err
    assert again.json["branches"][0]["equilibrium"] == begun["branches"][0]["equilibrium"]


@pytest.mark.parametrize("schema", ["eqbench.study/9", '"', "7"])
def test_damaged_manifest_is_refused(tmp_path: Path, schema: str) -> None:
    assert eqbench_here(*QRE, "--out", "q", cwd=tmp_path).code == 0
    file = tmp_path / "q/manifest.json"
    file.write_text(file.read_text().replace("eqbench.study/1", schema))
    refused = eqbench_here("qre", "--resume", "q", cwd=tmp_path)
    assert refused.code == 2
    assert "again" in refused.err


@pytest.mark.parametrize(
    "found", ["{'x': float('nan')}", "{'x': object()}", "{(1, 2): 3}", "[1]", "None"]
)
def test_part_that_finds_no_json_is_named_and_what_was_found_before_stays(
    tmp_path: Path, found: str
) -> None:
    refused = own(tmp_path, "--out", "o", found=found)
    assert (refused.code, refused.out) == (2, "")
    assert "'second'" in refused.err
    assert "Traceback" not in refused.err
    again = own(tmp_path, "--resume", "o", "--json")
    assert again.json == {"found": [{"x": 1}, {"x": 2}]}


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("game: str", "the field game of OwnRequest has neither a default nor an Option"),
        ("out: Annotated[str, Option('x')] = ''", "cannot be called --out"),
        ("resume: Annotated[str, Option('x')] = ''", "cannot be called --resume"),
        ("figures: Annotated[str, Option('x')] = ''", "cannot be called --figures"),
        ("quiet: Annotated[str, Option('x')] = ''", "cannot be called --quiet"),
        ("j: Annotated[str, Option('x', name='json')] = ''", "cannot be called --json"),
        ("as_json: Annotated[str, Option('x')] = ''", "cannot be called as_json"),
        ("x: Annotated[str, Option('x', short='q')] = ''", "cannot be called -q"),
        ("x: Annotated[str, Option('x', name='plugin')] = ''", "called --plugin"),
        ("x: 'Annotated[Unknown, Option(1)]' = ''", "'Unknown' is not defined"),
    ],
)
def test_field_that_cannot_be_an_option_is_refused_when_the_study_is_loaded(
    tmp_path: Path, field: str, words: str
) -> None:
    refused = own(tmp_path, "--help", field=field)
    assert (refused.code, refused.out) == (2, "")
    assert words in refused.err
    assert refused.err.count("\n") == 1


def test_hint_how_to_go_on_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(monkeypatch, lambda: True)
    ended = own(tmp_path, "--out", "my out", name="my own.py")
    assert ended.code == 130
    assert ended.err.endswith("go on with:\n  eqbench study 'my own.py' --resume 'my out'\n")


def test_figures_of_a_resumed_study_show_what_those_of_a_new_one_do(tmp_path: Path) -> None:
    options = ("qre", "--game", "kuhn2", "--to", "100", "-q", "--json")
    new = eqbench_here(*options, "--figures", "--out", "new", cwd=tmp_path)
    coarse = eqbench_here(*options, "--out", "old", cwd=tmp_path)
    drawn = eqbench_here("qre", "--resume", "old", "--figures", "-q", "--json", cwd=tmp_path)
    for name in ("points.csv", "figures/frequencies.svg"):
        assert (tmp_path / "old" / name).read_bytes() == (tmp_path / "new" / name).read_bytes()
    points = [done.json["branches"][0]["points"] for done in (new, coarse, drawn)]
    assert points[0] == points[2] > points[1]
    with (tmp_path / "old/points.csv").open(newline="") as file:
        lambdas = [float(row["parameter"]) for row in csv.DictReader(file)]
    assert sum(1 <= value < 10 for value in lambdas) >= 20
    records = (tmp_path / "old/records.jsonl").read_bytes()
    assert eqbench_here("qre", "--resume", "old", "--figures", "-q", cwd=tmp_path).code == 0
    assert (tmp_path / "old/records.jsonl").read_bytes() == records, "it is dense enough now"


# -- parts that need others, side by side, and parts that are runs


class Found(Struct, frozen=True):
    """What a part finds: what it read of others, and whether it was interrupted."""

    sum: int
    interrupted: bool = False


class Sums(Document, frozen=True):
    sums: list[int]
    finished: bool


@dataclass(frozen=True, kw_only=True)
class ChainRequest(StudyRequest):
    command = "chain"


class Chain(Study[ChainRequest, Found, Sums]):
    """Parts `a` and `b` at the same time, then their sum, then one alone."""

    jobs = 2

    def __init__(self, stale: str = "", stopping: str = "") -> None:
        self.request, self.stale, self.stopping = ChainRequest(), stale, stopping
        self.meeting = threading.Barrier(2)
        self.done: list[str] = []
        self.running: set[str] = set()

    def parts(self) -> list[str]:
        return ["sum", "a", "alone", "b"]

    def needs(self, part: str) -> tuple[str, ...]:
        return ("a", "b") if part == "sum" else ()

    def is_alone(self, part: str) -> bool:
        return part == "alone"

    def is_done(self, part: str, found: Found, session: Session) -> bool:
        return part != self.stale

    def do(self, part: str, session: Session) -> Found:
        self.running.add(part)
        assert part != "alone" or self.running == {"alone"}
        if part in "ab" and not self.stale:
            self.meeting.wait(timeout=60)
        self.running.remove(part)
        self.done.append(part)
        total = 1 + sum(session.found[need].sum for need in self.needs(part))
        return Found(total, interrupted=part == self.stopping)

    def conclude(self, parts: list[Found], session: Session) -> Sums:
        return Sums([part.sum for part in parts], session.finished)


def test_parts_are_done_side_by_side_each_after_those_that_it_needs(tmp_path: Path) -> None:
    chain = Chain()
    folder = StudyFolder.create(chain, tmp_path / "out")
    document = folder.carry_out(chain, Session(folder.path))
    assert document == Sums([3, 1, 1, 1], finished=True)
    assert chain.done.index("sum") > max(map(chain.done.index, "ab"))
    written = json.loads((folder.path / "summary.json").read_text())
    assert written == {"sums": [3, 1, 1, 1], "finished": True}


@pytest.mark.parametrize(
    ("stale", "stopping", "again"),
    [("a", "", ["a", "sum"]), ("sum", "", ["sum"]), ("?", "", []), ("a", "a", ["a", "sum"])],
)
def test_part_whose_need_is_stale_is_done_again(
    tmp_path: Path, stale: str, stopping: str, again: list[str]
) -> None:
    first = Chain()
    created = StudyFolder.create(first, tmp_path / "out")
    created.carry_out(first, Session(created.path))
    folder, _ = StudyFolder.open(Chain, tmp_path / "out")
    chain = Chain(stale, stopping)
    document = folder.carry_out(chain, Session(folder.path))
    assert chain.done == again
    assert document.finished == folder.finished == (not stopping)


def test_interrupt_between_parts_keeps_those_that_are_there(tmp_path: Path) -> None:
    chain = Chain()
    folder = StudyFolder.create(chain, tmp_path / "out")
    stopped = Session(folder.path, interrupted=lambda: len(chain.done) > 1)
    document = folder.carry_out(chain, stopped)
    assert (document.finished, sorted(folder.records)) == (False, ["a", "b"])
    assert folder.ending(chain, document)[0] == 130


def test_error_of_a_part_ends_the_study_and_keeps_the_others(tmp_path: Path) -> None:
    class Broken(Chain):
        def do(self, part: str, session: Session) -> Found:
            if part == "sum":
                raise UsageError("no sum")
            return super().do(part, session)

    folder = StudyFolder.create(Broken(), tmp_path / "out")
    with pytest.raises(UsageError, match="no sum"):
        folder.carry_out(Broken(), Session(folder.path))
    assert {"a", "b"} <= folder.records.keys()


def test_part_that_is_a_run_continues_it(tmp_path: Path) -> None:
    said: list[str] = []
    session = Session(tmp_path, say=said.append)
    for solvers, cells in ((["lcp"], 1), (["lcp", "sequence_lp"], 2)):
        run = session.run(Request(["kuhn2"], solvers), verbose=True)
        assert [cell.status for cell in run.finished] == ["ok"] * cells
    assert run.path == tmp_path / "run"
    assert sum("on kuhn2" in words for words in said) == 2, "each cell is run once"
    problem = ("unavailable", "not here")
    missing = session.run(Request(["kuhn2"], ["semismooth"]), problem=problem)
    assert [(cell.status, cell.reason) for cell in missing.finished] == [problem]
