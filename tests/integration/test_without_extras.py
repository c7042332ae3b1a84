"""With nothing but the base installed all is computed, and what is left out names its extra."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.command import Ended, eqbench

import eqbench as eq
from eqbench.errors import MissingPackageError
from eqbench.extras import EXTRAS

OPTIONAL = [name for extra, own in EXTRAS.items() if extra != "fast" for name in own]
BLOCK = f"import sys\nsys.modules.update(dict.fromkeys({OPTIONAL!r}))\n"
FORMATS = {"txt", "md", "csv", "tex", "macros.tex", "html"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder for commands, whose processes and their children find no optional package."""
    folder = tmp_path_factory.mktemp("base")
    (folder / "sitecustomize.py").write_text(BLOCK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        yield folder


@pytest.fixture(scope="module")
def ran(base: Path) -> Ended:
    solvers = "pcfr_plus,ncp,ncp(backend=scip),case_enumeration,openspiel_cfr,gambit_lcp"
    target = ("--game", "kuhn2", "--solver", solvers, "--iterations", "2000", "--out", "run")
    return eqbench("run", *target, "--json", cwd=base)


def test_run_without_solvers_of_others_names_their_extras(ran: Ended) -> None:
    assert ran.code == 0, ran.err
    cells = {cell["solver"]: cell for cell in ran.json["cells"]}
    assert cells.pop("pcfr_plus")["status"] == "ok"
    assert {cell["status"] for cell in cells.values()} == {"unavailable"}
    named = ("scip", "scip", "exact", "peers", "gambit")
    for cell, extra in zip(cells.values(), named, strict=True):
        assert f"pip install 'eqbench[{extra}]'" in cell["reason"].partition(";")[0], cell


def test_report_has_every_format_and_says_that_its_page_lacks_charts(ran: Ended) -> None:
    formats = "terminal,md,csv,tex,macros,html"
    done = eqbench("report", "run", "--format", formats, "--out", "reports", cwd=ran.folder)
    assert done.code == 0, done.err
    assert {p.name.partition(".")[2] for p in (ran.folder / "reports").iterdir()} == FORMATS
    page = (ran.folder / "reports/report.html").read_text(encoding="utf-8")
    for text in (done.err, page):
        assert "eqbench[plots]" in text
    assert "pcfr_plus" in page
    assert "vegaEmbed" not in page.partition("<main")[0]


@pytest.mark.parametrize(
    ("words", "code", "named"),
    [
        (("verify", "--game", "kuhn2", "--profile", "run/pcfr_plus"), 0, ""),
        (("show", "run", "pcfr_plus"), 0, ""),
        (("info", "solvers"), 0, "eqbench[exact]"),
        (("info", "kuhn3"), 0, "eqbench[scip]"),
        (("doctor",), 0, "eqbench[plots]"),
        (("export", "kuhn2", ".svg"), 0, "<svg"),
        (("compare", "run", "run", "--format", "md"), 0, "no regression"),
        (("crossplay", "run", "--known", "--most", "2", "--out", "played"), 0, ""),
        (("stability", "skp", "--figures", "--out", "stable"), 0, "eqbench[plots]"),
        (("qre", "kuhn2", "--to", "2", "--figures", "--out", "quantal"), 0, "eqbench[plots]"),
        (("info", "openspiel:kuhn_poker"), 2, "eqbench[peers]"),
        (
            ("run", "--game", "kuhn2", "--solver", "cfr", "--scheduler", "local"),
            2,
            "eqbench[cluster]",
        ),
    ],
)
def test_command_does_what_it_can_and_names_the_extra_of_the_rest(
    ran: Ended, words: tuple[str, ...], code: int, named: str
) -> None:
    done = eqbench(*words, cwd=ran.folder)
    assert (done.code, "Traceback" in done.err) == (code, False), done.err
    assert named in done.out + done.err
    if "--out" in words and "--figures" in words:
        assert json.loads((ran.folder / words[-1] / "summary.json").read_text())


# -- from Python ----------------------------------------------------------------------------------


@pytest.fixture
def lacking(ran: Ended, monkeypatch: pytest.MonkeyPatch) -> eq.Run:
    """A run, in a process that can no longer import optional packages."""
    for name in OPTIONAL:
        monkeypatch.setitem(sys.modules, name, None)
    return eq.Run(ran.folder / "run")


@pytest.mark.parametrize(
    ("use", "extra"),
    [
        (lambda run: eq.load_run(run.path).frame("cells"), "frames"),
        (lambda run: run.frame("equilibria"), "frames"),
        (lambda run: run.frame("summary"), "frames"),
        (lambda run: run.profile("pcfr_plus").to_frame(), "frames"),
        (lambda run: eq.list_solvers(), "frames"),
        (lambda run: eq.crossplay(run, known=True, most=2).to_frame(), "frames"),
        (lambda run: run.figure("regret").to_svg(), "plots"),
        (lambda run: run.figure("regret").save("chart.png"), "plots"),
    ],
)
def test_python_function_names_the_extra(
    lacking: eq.Run, use: Callable[[eq.Run], Any], extra: str
) -> None:
    with pytest.raises(MissingPackageError, match=rf"pip install 'eqbench\[{extra}\]'"):
        use(lacking)


def test_chart_is_shown_by_its_specification_and_saved_as_one(
    lacking: eq.Run, tmp_path: Path
) -> None:
    chart = lacking.figure("regret")
    assert "image/svg+xml" not in chart._repr_mimebundle_()
    saved = json.loads(chart.save(tmp_path / "chart.json").read_text())
    assert saved == json.loads(json.dumps(chart.spec))
    assert "pcfr_plus" in lacking._repr_html_()


def test_study_in_python_says_that_figures_are_left_out(lacking: eq.Run, tmp_path: Path) -> None:
    found = eq.stability("skp", figures=True, out=tmp_path / "stable")
    assert found.figures == ()
    assert any("eqbench[plots]" in note for note in found.notes)
    assert found.document["schema"]
