"""Reports on six stored runs read as they did when they were last looked at.

``runs`` holds the runs, and ``reports`` what is printed about them. A change that is meant is
written by ``make goldens`` and reviewed as a diff.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from helpers.command import eqbench_here

import eqbench
from eqbench.equilibria import known_sets
from eqbench.report.tree_drawing import draw_tree

HERE = Path(__file__).parent
RUNS = ("again", "endings", "games", "hostile", "seeds", "verified")
FORMATS = {
    "txt": "terminal",
    "md": "md",
    "csv": "csv",
    "tex": "tex",
    "macros.tex": "macros",
    "html": "html --out -",
}
# A file of ``reports``: the width of the terminal, and the command whose output it holds.
COMMANDS = {
    f"{run}.{ending}": (120, f"report {run} --format {words}")
    for run in RUNS
    for ending, words in FORMATS.items()
} | {
    **{f"endings-{n}.txt": (n, "report endings") for n in (40, 80, 200)},
    "endings-columns.txt": (120, "report endings --sort time --columns time,cpu,setup,credible"),
    "endings-summary.md": (120, "report endings --summary --format md"),
    "endings-summary.csv": (120, "report endings --summary --format csv"),
    "endings-some.md": (120, "report endings --status ok,limit --solver lcp,logit --format md"),
    **{f"seeds-summary.{end}": (120, f"report seeds --summary --format {FORMATS[end]}")
       for end in FORMATS if end != "html"},
    "seeds-80.txt": (80, "report seeds --summary"),
    "seeds-200.txt": (200, "report seeds --summary"),
    "seeds-all.txt": (120, "report seeds --table cells"),
    "games-80.txt": (80, "report games"),
    **{f"games-matrix.{end}": (120, f"report games --table matrix --format {FORMATS[end]}")
       for end in ("txt", "md", "csv", "tex")},
    "two-runs.md": (120, "report seeds again --format md"),
    "two-runs.csv": (120, "report seeds again --format csv --summary"),
    "compare.txt": (120, "compare seeds again"),
    "compare-200.txt": (200, "compare seeds again --fail-if elapsed_s>1.2x+0.1 --fail-if cpu_s>9"),
    "compare-changed.txt": (80, "compare seeds again --only-changed --allow missing"),
    "compare.md": (120, "compare seeds again --format md"),
    "compare.json": (120, "compare seeds again --fail-if elapsed_s>1.2x --json"),
    "compare-solvers.txt": (120, "compare seeds --solver cfr_plus,mccfr"),
    "compare-solvers.md": (120, "compare seeds --solver cfr_plus,sequence_lp --format md"),
    "compare-solvers.json": (120, "compare seeds --solver cfr_plus,mccfr --json"),
    "show.txt": (80, "show verified kuhn2/lcp"),
    "show-proofs.txt": (120, "show verified kuhn2/lcp --proofs"),
    "show-candidates.txt": (80, "show verified battle_of_sexes/case_enumeration --candidates"),
    "show-average.txt": (120, "show verified kuhn2/cfr_plus"),
    "show.json": (120, "show verified kuhn2/lcp --json"),
    "show-no-profile.txt": (80, "show endings sequence_lp"),
    "show-cluster.txt": (80, "show verified minimum_effort/cfr_plus"),
    "verify.txt": (120, "verify verified kuhn2/lcp --exact"),
    "verify-cluster.txt": (80, "verify verified minimum_effort/cfr_plus --exact"),
}  # fmt: skip


def compared(name: str, text: str) -> str:
    """Check a text against the file of this name, or write the file if goldens are to be."""
    file = HERE / "reports" / name
    if os.environ.get("EQBENCH_GOLDENS") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return file.read_text(encoding="utf-8")


def readable(page: str) -> str:
    """A page without its style and programs, in lines, with its data as indented JSON."""
    page = re.sub(r"(<style>|<script>).*?(</style>|</script>)", r"\1…\2", page, flags=re.DOTALL)
    page = re.sub(r"sha256-[\w+/=]+", "sha256-…", page)
    head, data, end = re.split(r'(?<=id="data">)(.*?)(?=</script>)', page, maxsplit=1)
    values = json.loads(data)
    for name, spec in values["charts"].items():  # of templates, which have tests of their own
        values["charts"][name] = {p["name"]: p.get("value") for p in spec["params"]}
    text = json.dumps(values, indent=1, ensure_ascii=False)
    text = re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()), text)
    return re.sub(r"(</\w+>)(?=<\w)", r"\1\n", head) + text + end


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Copy of the runs, in which pages may be written."""
    return shutil.copytree(HERE / "runs", tmp_path / "runs")


@pytest.mark.parametrize("name", COMMANDS)
def test_report_reads_as_before(name: str, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    width, words = COMMANDS[name]
    monkeypatch.setenv("COLUMNS", str(width))
    done = eqbench_here(*words.split(), cwd=runs)
    assert done.code in (0, 3), done.err
    text = readable(done.out) if name.endswith(".html") else done.out
    assert text == compared(name, text)


def test_index_of_runs_reads_as_before(runs: Path) -> None:
    for run in runs.iterdir():  # pages that are newer than their runs stay as they are
        (run / "report.html").write_text("a page")
    assert eqbench_here("report", ".", "--format", "html", cwd=runs).code == 0
    text = readable((runs / "index.html").read_text())
    assert text == compared("index.html", text)


def test_drawing_of_a_tree_is_as_before() -> None:
    """Kuhn 1950: the equilibrium in which P1 bets a third of the lowest cards."""
    game = eqbench.load_game("kuhn2")
    text = draw_tree(game.tree, "kuhn2", known_sets(game)[0].member([Fraction(1, 3)]))
    assert text == compared("kuhn2.svg", text)
