"""Studies that others write: that of the documentation, and what is refused."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from helpers.command import Ended, accepted, eqbench, eqbench_here, install, refused
from helpers.documentation import ROOT, blocks

POTS = ("--game", "kuhn2", "--pot", "2", "--pot", "3", "--pot", "4")
PAGE = ROOT / "docs/how_to/write_a_study.md"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Folder with ``pots.py``, as the page says."""
    (code,) = (block for block in blocks(PAGE.read_text()) if block.saved_as == "pots.py")
    assert code.text.count("\n") <= 70
    (tmp_path / "pots.py").write_text(code.text)
    return tmp_path


def study(cwd: Path, *arguments: str) -> Ended:
    return accepted("study", "pots.py", *arguments, cwd=cwd)


def test_study_of_the_page_runs_and_goes_on_after_a_break(place: Path) -> None:
    assert "--pot POT" in study(place, "--help").out
    begun = study(place, *POTS, "--figures", "--out", "out", "--json").json
    assert begun == json.loads((place / "out/summary.json").read_text())
    # Kuhn 1950: with a pot of 2 the value is -1/18
    assert begun["pots"][0]["payoffs"][0] == pytest.approx(-1 / 18, abs=1e-4)
    assert (place / "out/figures/payoffs.svg").stat().st_size > 1000
    records = place / "out/records.jsonl"
    lines = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(lines[:1]) + lines[1][:20])
    assert study(place, "--resume", "out", "--json").json == begun
    more = study(place, "--resume", "out", "--pot", "2", "--pot", "7/2")
    assert [line.split()[0] for line in more.out.splitlines()[2:4]] == ["2", "3.5"]
    assert (place / "out/pots.csv").read_text().splitlines()[2].startswith("3.5,")
    other = ("study", "pots.py", "--resume", "out", "--solver", "cfr")
    refused(*other, words="--solver pcfr_plus", cwd=place)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "defines no study"),
        ("import nothing_of_this_name\n", "No module named 'nothing_of_this_name'"),
        ("class\n", "SyntaxError"),
        ("raise ValueError('one\\ntwo')\n", "one two"),
        (
            "from eqbench.studies.frame import Study\nclass A(Study): ...\nclass B(Study): ...\n",
            "defines several studies (A, B)",
        ),
        ("from eqbench.studies.frame import Study\nclass A(Study): ...\n", "request_type of A is"),
        (
            "from eqbench.studies.frame import Study\n"
            "from eqbench.studies.requests import StudyRequest\n"
            "class R(StudyRequest): ...\nclass A(Study):\n    request_type = R\n",
            "must be a dataclass",
        ),
        (None, "cannot read the study own.py"),
    ],
)
def test_file_without_a_study_is_refused_in_one_line(
    tmp_path: Path, text: str | None, words: str
) -> None:
    if text is not None:
        (tmp_path / "own.py").write_text(text)
    done = eqbench_here("study", "own.py", "--help", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_installed_studies_are_commands_beside_the_others(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = place / "pots.py"
    name = '    command = "pots"\n'
    file.write_text(file.read_text().replace(name, f'{name}    study = "pots:PotsStudy"\n'))
    install(place, "pots", studies="pots = pots:PotsRequest\nverify = pots:PotsRequest")
    install(place, "broken", studies="broken = nothing_of_this_name:Request")
    monkeypatch.setenv("PYTHONPATH", f"{place}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    listed = eqbench("--help", cwd=place)
    assert listed.code == 0
    assert re.search(r"^  pots +Solve a game at several pots", listed.out, re.MULTILINE)
    assert "NashConv" in listed.out, "eqbench keeps its own names"
    done = eqbench("pots", "--game", "kuhn2", "--pot", "2", "--out", "out", "--json", cwd=place)
    assert len(done.json["pots"]) == 1
    broken = eqbench("broken", "--game", "kuhn2", cwd=place)
    assert broken.code == 2
    assert "nothing_of" in broken.err
    assert broken.err.count("\n") == 1
    assert "mean pots" in eqbench("potts", cwd=place).err
