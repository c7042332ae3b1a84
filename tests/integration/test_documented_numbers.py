"""What the README and the documentation show comes from the committed raw results."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from helpers.runs import cell, write_run

from eqbench.harness.experiment import read_experiment
from eqbench.report.cells import report_on
from eqbench.report.exports import results_csv
from eqbench.report.formats import latex, markdown
from eqbench.report.terminal import plain_text, print_report
from eqbench.store.stored_run import read_run

ROOT = Path(__file__).parents[2]
REFERENCE = Path("results/reference")
ABSOLUTE = re.compile(r"(?<![\w.:/<\\])/(?:home|root|Users|tmp|work|var|opt|mnt|srv)/\w")


@pytest.fixture(scope="module")
def tables() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("tables")


# -- Tables and numbers in prose ----------------------------------------------------------------


def test_every_page_shows_the_committed_raw_results(tables) -> None:
    pages = tables.pages()
    assert {ROOT / "README.md", ROOT / "benchmarks" / "README.md"} < set(pages)
    stale = [str(page.relative_to(ROOT)) for page in tables.stale_pages()]
    assert stale == [], "python benchmarks/run.py --tables fills them in"


def test_other_number_in_prose_and_other_cell_of_a_table_are_stale(tables) -> None:
    page = (ROOT / "docs" / "equilibria.md").read_text(encoding="utf-8")
    for shown, other in (
        ("<!-- fact: cases_pots -->13", "<!-- fact: cases_pots -->14"),
        ("| `dcfr` | 2.0e-08", "| `dcfr` | 2.1e-08"),
    ):
        changed = page.replace(shown, other)
        assert changed != page
        assert tables.filled(changed) == page


def test_every_benchmark_has_raw_results_and_something_that_measures_it(tables) -> None:
    for name, entry in tables.benchmarks().items():
        assert tables.read_results(name)["environment"], name
        kinds = {"function", "experiment", "commands"} & set(entry)
        assert len(kinds) == (name != "ganzfried_2025_table_1"), name
        if "experiment" in entry:
            assert read_experiment(ROOT / "benchmarks" / "experiments" / entry["experiment"])
        for key in ("function", "draw"):
            if key in entry:
                module, _, function = entry[key].partition(":")
                assert hasattr(importlib.import_module(module), function), name


@pytest.mark.parametrize(
    ("name", "value", "printed"),
    [
        ("at_most", 0.02211, "0.03"),
        ("at_most", 0.0201, "0.03"),
        ("at_most", 0.25, "0.25"),
        ("power_at_most", 3.39e-6, "4e-6"),
        ("power_at_most", 9.1e-8, "1e-7"),
        ("power_at_least", 3.99e-17, "3e-17"),
        ("power_at_least", 4.775e-08, "4e-8"),
    ],
)
def test_bound_is_rounded_outward(tables, name: str, value: float, printed: str) -> None:
    assert tables.laid_out(value, name) == printed


def test_raw_regrets_of_every_form_lie_within_the_bounds_in_prose(tables) -> None:
    printed, games = tables.all_facts(), ("kuhn3_reduced", "kuhn3")
    rows = [row for row in tables.read_results("ncp")["rows"] if row["game"] in games]
    found = [row["raw_max_regret"] for row in rows if row["raw_max_regret"] is not None]
    least, most = float(printed["ncp_raw_least"]), float(printed["ncp_raw_most"])
    assert least <= min(found) < 2 * least
    assert most / 2 < max(found) <= most


def test_time_of_gambits_linear_methods_is_an_upper_bound(tables) -> None:
    times = [
        row["elapsed_s"]
        for row in tables.read_results("gambit_methods")["rows"]
        if row["game"] == "kuhn2" and row["solver"] in ("gambit_lp", "gambit_lcp")
    ]
    assert max(times) <= float(tables.all_facts()["gambit_linear_s"]) < max(times) + 0.01


def test_payoffs_are_compared_among_results_on_the_path_only(tables) -> None:
    rows = tables.read_results("who_finds_what")["rows"]
    third = [row["payoffs"][2] for row in rows if row["identity"]["on_path"]]
    assert len(third) < len(rows)
    more = f"{100 * (max(third) / min(third) - 1):.0f} %"
    assert tables.all_facts()["finds_more"] == more


# -- The reference run --------------------------------------------------------------------------


def test_reference_tables_are_those_of_the_stored_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run = read_run(REFERENCE / "kuhn3")
    report = report_on([run])
    made = {
        "txt": plain_text(lambda console: print_report(report, console, answer_first=True)),
        "md": markdown(report),
        "csv": results_csv([run]),
        "tex": latex(report),
    }
    for suffix, text in made.items():
        assert (REFERENCE / f"report.{suffix}").read_bytes().decode() == text, suffix


def test_documentation_shows_the_reference_run_as_it_is(tables) -> None:
    page = ROOT / "docs" / "reference" / "main_job.md"
    assert f"```\n{tables.reference_table()}```\n" in page.read_text(encoding="utf-8")


def test_reference_run_is_complete_and_took_three_minutes_at_most(tables) -> None:
    run = read_run(ROOT / REFERENCE / "kuhn3")
    assert run.missing == 0
    data = tables.read_results("reference")
    assert max(data["first_wall_s"], data["wall_s"]) <= 180
    solved = sum(cell.elapsed_s or 0 for cell in run.cells)
    assert data["wall_s"] > solved, "no other run's time"
    for found in run.cells:
        for item in found.equilibria:
            assert (run.path / str(item.profile)).is_file()
        assert found.trace is None or (run.path / found.trace).is_file()


def test_reference_run_is_small_and_names_no_place_on_a_machine() -> None:
    files = [path for path in (ROOT / REFERENCE).rglob("*") if path.is_file()]
    assert sum(file.stat().st_size for file in files if file.suffix != ".html") < 1_500_000
    for file in files:
        found = ABSOLUTE.search(file.read_text(encoding="utf-8", errors="replace"))
        assert found is None, (file, found)


def test_place_on_this_machine_is_not_published(tables, tmp_path: Path) -> None:
    script = importlib.import_module("published")
    (tmp_path / "run.json").write_text('{"solver": "cfr"}')
    script.refuse_private(tmp_path)
    (tmp_path / "log.txt").write_text(f'File "{ROOT / "games"}/kuhn.py", line 1')
    with pytest.raises(SystemExit, match=r"log\.txt"):
        script.refuse_private(tmp_path)


def test_csv_names_runs_as_they_were_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(Path("here/run"), cell("01", trace="traces/a.npz", log="logs/a.txt"))
    text = results_csv([read_run("here/run")])
    assert "here/run/traces/a.npz" in text
    assert str(tmp_path) not in text
