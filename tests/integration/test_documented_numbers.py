"""What the README and the documentation show comes from the committed raw results."""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from helpers.runs import cell, write_run

from eqbench.harness.experiment import read_experiment
from eqbench.report.writing import report_text
from eqbench.store.run_folder import TEXT_END
from eqbench.store.stored_run import read_run

ROOT = Path(__file__).parents[2]
REFERENCE = Path("results/reference")
ABSOLUTE = re.compile(r"(?<![\w.:/<\\])/(?:home|root|Users|tmp|work|var|opt|mnt|srv)/\w")


@pytest.fixture(scope="module")
def pages() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("pages")


# -- Tables and numbers in prose ----------------------------------------------------------------


def test_every_page_shows_the_committed_raw_results(pages) -> None:
    assert {ROOT / "README.md", ROOT / "benchmarks" / "README.md"} < set(pages.pages())
    stale = [str(page.relative_to(ROOT)) for page in pages.stale_pages()]
    assert stale == [], "python benchmarks/run.py --tables fills them in"


def test_other_number_in_prose_and_other_cell_of_a_table_are_stale(pages) -> None:
    page = (ROOT / "docs" / "explanation" / "equilibria.md").read_text(encoding="utf-8")
    for shown, other in (
        ("<!-- fact: cases_pots -->13", "<!-- fact: cases_pots -->14"),
        ("| `dcfr` | 2.0e-08", "| `dcfr` | 2.1e-08"),
    ):
        changed = page.replace(shown, other)
        assert changed != page
        assert pages.filled(changed) == page


def test_every_benchmark_has_raw_results_and_something_that_measures_it(pages) -> None:
    for name, entry in pages.benchmarks().items():
        assert pages.read_results(name)["environment"], name
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
        ("power", 3.9e-16, "4e-16"),
        ("rounded", 1234.5, "1,200"),
        ("rounded", 0.0264, "0.026"),
        ("two_digits", 0.0204, "0.020"),
        ("two_digits", 123.4, "123"),
        ("simple_fraction", -1 / 3, "−1/3"),
        ("simple_fraction", 0.12345, "0.1235"),
        ("escaped", "a|b_c", r"a\|b\_c"),
        ("span", [2, 3, 2], "2 to 3"),
        ("span", [2, 2], "2"),
        ("dash", None, "–"),
        ("dash", 0, "0"),
        ("_seconds", 1.8e-4, "180 µs"),
        ("_seconds", 0.00534, "5.34 ms"),
        ("_seconds", 1.614, "1.61 s"),
        ("_seconds", None, "–"),
        ("_regret", 1e-16, "to rounding"),
        ("_regret", 2.1e-8, "2e-08"),
    ],
)
def test_number_is_laid_out_and_bounds_are_rounded_outward(
    pages, name: str, value: object, printed: str
) -> None:
    assert getattr(importlib.import_module("tables"), name)(value) == printed


def test_every_benchmark_has_facts_and_a_cell_for_each_column(pages) -> None:
    for name, entry in pages.benchmarks().items():
        facts, tables = pages.shown(name)
        assert all(text not in ("", "nan") for text in map(str, facts.values())), name
        for block in entry.get("table", []):
            columns = block.get("columns", "").count(" | ")
            lines = tables[block.get("name", name)].splitlines()
            rows = [line for line in lines if line.count(" | ") == columns]
            assert len(rows) > 2 or not columns, name


@pytest.mark.parametrize(
    ("benchmark", "changed", "shown"),
    [
        ("cfr_vs_openspiel", lambda data: data.rows[0].update(theirs_us=[1e6]), "cfr_ratio_most"),
        ("random_starts", lambda data: data.rows[1].update(starts=[]), None),
        ("who_finds_what", lambda data: data.rows[0].identity.update(on_path=False), "finds_near"),
        ("gambit_catalog", lambda data: data.rows.pop(), "catalog_games"),
        ("ncp", lambda data: data.rows[0].update(max_regret=1e-3), "ncp_reduced_regret"),
        ("ranges", lambda data: data.summaries.kuhn3.quantities.pop(), "ranges_full_optima"),
        ("coexisting", lambda data: data.rows[0].update(most=99), "coexisting_most"),
        ("cells", lambda data: data.rows[0].update(recorded_mib=[7.0]), "forked_python_mib"),
        ("logit", lambda data: data.random.branches.pop(), "priors"),
    ],
)
def test_other_raw_results_give_another_fact_or_no_number(
    pages, monkeypatch: pytest.MonkeyPatch, benchmark: str, changed, shown: str | None
) -> None:
    data, before = pages.read_results(benchmark), pages.shown(benchmark)[0]
    changed(data)
    monkeypatch.setattr(pages, "read_results", lambda name: data)
    if shown is None:
        with pytest.raises(ValueError, match="no median"):
            pages.shown(benchmark)
    else:
        assert pages.shown(benchmark)[0][shown] != before[shown]


def test_solver_with_the_best_value_is_the_fastest_of_these(pages) -> None:
    tables = importlib.import_module("tables")
    named = [("a(x=1)", 3, 2.0), ("b", 3, 1.0), ("c", 1, 0.1), ("d", None, None)]
    rows = [pages.Record(solver=s, solved=n, time_s=t) for s, n, t in named]
    text = lambda row: str(row.solved)  # noqa: E731
    assert tables._best(rows, "solved", text) == "`b` 3"
    assert tables._best(rows, "solved", text, least=True) == "`c` 1"
    assert tables._best(rows[3:], "solved", text) == "–"


def test_expected_best_is_the_mean_over_all_sets_of_starts(pages) -> None:
    regrets = [0.3, 0.1, 0.7, 0.1, 0.0]
    for k in range(1, 6):
        sets = [min(chosen) for chosen in itertools.combinations(regrets, k)]
        expected = importlib.import_module("tables").expected_best([regrets], k)
        assert expected == pytest.approx(sum(sets) / len(sets))


def test_raw_regrets_of_every_form_lie_within_the_bounds_in_prose(pages) -> None:
    printed, games = pages.contents(), ("kuhn3_reduced", "kuhn3")
    rows = [row for row in pages.read_results("ncp")["rows"] if row["game"] in games]
    found = [row["raw_max_regret"] for row in rows if row["raw_max_regret"] is not None]
    least, most = float(printed["fact", "ncp_raw_least"]), float(printed["fact", "ncp_raw_most"])
    assert least <= min(found) < 2 * least
    assert most / 2 < max(found) <= most


def test_time_of_gambits_linear_methods_is_an_upper_bound(pages) -> None:
    times = [
        row["elapsed_s"]
        for row in pages.read_results("gambit_methods")["rows"]
        if row["game"] == "kuhn2" and row["solver"] in ("gambit_lp", "gambit_lcp")
    ]
    assert max(times) <= float(pages.contents()["fact", "gambit_linear_s"]) < max(times) + 0.01


def test_payoffs_are_compared_among_results_on_the_path_only(pages) -> None:
    rows = pages.read_results("who_finds_what")["rows"]
    third = [row["payoffs"][2] for row in rows if row["identity"]["on_path"]]
    assert len(third) < len(rows)
    more = f"{100 * (max(third) / min(third) - 1):.0f} %"
    assert pages.contents()["fact", "finds_more"] == more


# -- The reference run --------------------------------------------------------------------------


def test_reference_tables_are_those_of_the_stored_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run = read_run(REFERENCE / "kuhn3")
    names = {"txt": "terminal", "md": "md", "csv": "csv", "tex": "tex"}
    made = {suffix: report_text(name, [run], summarize=None) for suffix, name in names.items()}
    made["txt"] += TEXT_END  # by which a report in a file is known
    for suffix, text in made.items():
        assert (REFERENCE / f"report.{suffix}").read_bytes().decode() == text, suffix


def test_documentation_shows_the_reference_run_as_it_is(pages) -> None:
    text = pages.shown("reference")[0]["reference_report"]
    page = ROOT / "docs" / "reference" / "main_job.md"
    assert f"```\n{text}```\n" in page.read_text(encoding="utf-8")


def test_reference_run_is_complete_and_took_three_minutes_at_most(pages) -> None:
    run = read_run(ROOT / REFERENCE / "kuhn3")
    assert run.missing == 0
    data = pages.read_results("reference")
    assert max(data["first_wall_s"], data["wall_s"]) <= 180
    solved = sum(cell.elapsed_s or 0 for cell in run.cells)
    assert data["wall_s"] > solved, "no other run's time"
    for found in run.cells:
        for item in found.equilibria:
            assert (run.path / str(item.profile)).is_file()
        assert found.trace is None or (run.path / found.trace).is_file()


def test_reference_run_is_small_and_names_no_place_on_a_machine() -> None:
    files = [path for path in (ROOT / REFERENCE).rglob("*") if path.is_file()]
    sizes = {file: file.stat().st_size for file in files if file.suffix != ".html"}
    proofs = [sizes.pop(file) for file in files if file.name.endswith(".proof.jsonl")]
    assert sum(sizes.values()) < 1_500_000
    assert sum(proofs) < 3_000_000
    for file in files:
        found = ABSOLUTE.search(file.read_text(encoding="utf-8", errors="replace"))
        assert found is None, (file, found)


def test_place_on_this_machine_is_not_published(pages, tmp_path: Path) -> None:
    script = importlib.import_module("published")
    (tmp_path / "run.json").write_text('{"solver": "cfr"}')
    script.refuse_private(tmp_path)
    (tmp_path / "log.txt").write_text(f'File "{ROOT / "games"}/kuhn.py", line 1')
    with pytest.raises(SystemExit, match=r"log\.txt"):
        script.refuse_private(tmp_path)


def test_csv_names_runs_as_they_were_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(Path("here/run"), cell("01", trace="traces/a.npz", log="logs/a.txt"))
    text = report_text("csv", [read_run("here/run")], summarize=None)
    assert "here/run/traces/a.npz" in text
    assert str(tmp_path) not in text
