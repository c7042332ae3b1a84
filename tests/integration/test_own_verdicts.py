"""Verdicts and engines that others write: those of the documentation, and mistakes in them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from helpers.command import accepted, eqbench, install
from helpers.documentation import ROOT, blocks

RUN = ("run", "--out", "mine", "--game", "kuhn2", "--solver")
PAGE = ROOT / "docs/how_to/write_a_verdict.md"
BROKEN = """
class Odd:
    def __init__(self, value): self.value = value
    def __str__(self): return "a [b]label[/b]"
    def to_json(self): return self.value
def raises(claimed, allowance): raise RuntimeError("of its own")
def endless(claimed, allowance): return Odd({"x": float("nan")})
def other(claimed, allowance): return Odd({"x": {1, 2}})
def plain(claimed, allowance): return Odd({"x": 1})
def silent(claimed, allowance): return None
class Engine:
    def __init__(self, scheduler, *args, **kwargs): raise eqbench.UsageError(f"no {scheduler}")
import eqbench
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder whose modules and distributions are found by the programs that a test starts."""
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path


def test_verdict_of_the_page_has_a_column_everywhere(place: Path) -> None:
    code, project = (block.text for block in blocks(PAGE.read_text()) if block.saved_as)
    assert code.count("\n") <= 40
    assert '[project.entry-points."eqbench.verdicts"]\nmixed = "mixing:mixing"' in project
    (place / "mixing.py").write_text(code)
    install(place, "mixing", verdicts="mixed = mixing:mixing")
    done = eqbench(*RUN, "lcp,cfr", "--json", cwd=place)
    lcp, cfr = sorted(done.json["cells"], key=lambda cell: cell["solver"], reverse=True)
    judged = lcp["equilibria"][0]["verdicts"]["mixed"]
    assert judged["label"] == "{mixed}/{reached}".format(**judged["record"])
    assert "mixed" not in cfr["equilibria"][0].get("verdicts", {}), "averages are not claimed"
    assert eqbench("verify", "mine/lcp", "--json", cwd=place).json["verdicts"]["mixed"] == judged
    (place / "mixing.py").unlink()
    (place / "mixing-1.0.dist-info/entry_points.txt").unlink()
    for command in ("report mine", "show mine lcp", "show mine lcp --candidates"):
        shown = accepted(*command.split(), cwd=place).out
        assert "mixed" in shown, command
        assert judged["label"] in shown, command
    accepted("report", "mine", "--format", "html", cwd=place)
    assert judged["label"] in next(place.rglob("*.html")).read_text()


def test_mistakes_of_a_verdict_cost_its_column_alone(place: Path) -> None:
    (place / "broken.py").write_text(BROKEN)
    names = ("raises", "endless", "other", "plain", "silent")
    points = [f"{name} = broken:{name}" for name in names]
    points += ["missing = nothing_of_this_name:f", "kind = broken:plain"]
    install(place, "broken", verdicts="\n".join(points))
    done = eqbench(*RUN, "lcp", "--json", cwd=place)
    (cell,) = done.json["cells"]
    found = cell["equilibria"][0]
    assert (cell["status"], found["kind"]["undominated"]) == ("ok", "certified")
    labels = {name: each["label"] for name, each in found["verdicts"].items()}
    assert labels.pop("plain") == "a [b]label[/b]"
    assert labels.pop("place")
    assert labels.keys() == {"raises", "endless", "other", "missing"}
    assert all(label.startswith("failed: ") for label in labels.values())
    assert labels["raises"] == "failed: RuntimeError: of its own"
    shown = accepted("show", "mine", "lcp", cwd=place).out
    assert "  raises: failed: RuntimeError: of its own\n" in shown
    assert "  plain: a [b]label[/b]\n" in shown
    (line,) = (place / "mine/runs.jsonl").read_text().splitlines()
    assert json.loads(line)["equilibria"][0]["verdicts"].keys() == found["verdicts"].keys()


def test_scheduler_names_the_engine_of_a_distribution(place: Path) -> None:
    (place / "broken.py").write_text(BROKEN)
    install(place, "broken", engines="mine = broken:Engine")
    done = eqbench(*RUN, "lcp", "--scheduler", "mine://there", cwd=place)
    assert (done.code, done.err.strip().endswith("no mine://there")) == (2, True)
