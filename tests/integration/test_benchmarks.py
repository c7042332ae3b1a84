"""The benchmark scripts run, and their page shows the committed raw results. Nothing is timed."""

from __future__ import annotations

import argparse
import importlib
import itertools
import shutil
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def test_comparison_with_openspiel_does_the_same_work(script) -> None:
    pytest.importorskip("pyspiel")
    row = script("cfr_vs_openspiel").compare("kuhn2", repetitions=1)
    both = next(value for value in row.values() if isinstance(value, dict))
    assert both["ours"] == pytest.approx(both["theirs"], rel=1e-6)


def test_random_starts_are_measured_by_the_verifier(script) -> None:
    options = argparse.Namespace(game="kuhn3", starts=2, iterations=20_000, target=1e-9)
    starts = script("random_starts").measure(options, alternating=False)["starts"]
    assert len(starts) == 2
    assert all(start["max_regret"] <= 1e-9 for start in starts)


def test_large_games_are_built_and_verified(script) -> None:
    row = script("bulk_games").measure(4)
    assert row["nodes"] == 601
    assert all(len(row[name]) > 0 for name in ("build_s", "verify_s", "exact_s"))


def test_leduc_preset_reaches_its_target_by_the_verifiers_measure(script) -> None:
    row = script("leduc_accuracy").measure("pcfr_plus_alternating", repetitions=1)
    assert row["status"] == ["ok"]
    assert row["nash_conv"][0] <= 1e-6


def test_all_equilibria_of_a_pot_are_listed_and_verified(script) -> None:
    row = script("case_enumeration").measure("skp(pot=6)", repetitions=1)
    assert (row["status"], row["claims"]) == (["ok"], ["complete list"])
    assert (row["cases"], row["unresolved"]) == (3**11, 0)
    assert row["max_regret"] <= 1e-13


def test_payoff_models_are_compared_where_they_agree(script) -> None:
    row = script("payoff_models").measure(4, repetitions=1)
    assert row["free"] == 12 * 4 - 22
    assert row["largest_difference"] <= 1e-15
    assert all(len(times) == 1 for by_model in row["us"].values() for times in by_model.values())
    assert [len(by_model) for by_model in row["us"].values()] == [2, 2]


@pytest.mark.parametrize("imported", [False, True])
def test_cost_of_a_game_is_measured_bulk_or_node_by_node(
    script, monkeypatch: pytest.MonkeyPatch, imported: bool
) -> None:
    benchmark = script("large_games")
    game = "random_tree(depth=5,seed=1)"
    monkeypatch.setattr(benchmark, "IMPORTED" if imported else "GAMES", {game: 5})
    row = benchmark.measure(game)
    assert (row["nodes"], row["imported"]) == (63, imported)
    assert len(row["iteration_s"]) == benchmark.REPETITIONS
    assert min(row["build_s"], row["compile_s"], *row["iteration_s"]) > 0


def test_best_of_starts_is_measured_and_drawn(script, tmp_path: Path) -> None:
    benchmark = script("best_of_starts")
    data = benchmark.measure(starts=2, games=1, iterations=20)
    rows = [row for group in data["groups"] for row in group["rows"]]
    assert len(rows) == 2 * len(benchmark.SOLVERS)
    assert all(len(row["max_regrets"]) == 2 and min(row["max_regrets"]) >= 0 for row in rows)
    figures = [tmp_path / name for name in ("one.svg", "other.svg")]
    for figure in figures:
        benchmark.draw(data, figure)
    assert "<svg" in figures[0].read_text()
    assert figures[0].read_bytes() == figures[1].read_bytes()


def test_expected_best_is_the_mean_over_all_sets_of_starts(script) -> None:
    regrets = [0.3, 0.1, 0.7, 0.1, 0.0]
    for k in range(1, 6):
        sets = [min(chosen) for chosen in itertools.combinations(regrets, k)]
        expected = script("best_of_starts").expected_best(regrets, k)
        assert expected == pytest.approx(sum(sets) / len(sets))


def test_page_is_made_from_the_committed_results(
    script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables: ModuleType = script("make_tables")
    page = tmp_path / "README.md"
    shutil.copy(BENCHMARKS / "README.md", page)
    monkeypatch.setattr(tables, "README", page)
    tables.main()
    assert page.read_text() == (BENCHMARKS / "README.md").read_text()
