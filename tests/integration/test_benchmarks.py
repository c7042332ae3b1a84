"""The benchmark scripts run, and their page shows the committed raw results. Nothing is timed."""

from __future__ import annotations

import argparse
import importlib
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


def test_page_is_made_from_the_committed_results(
    script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables: ModuleType = script("make_tables")
    page = tmp_path / "README.md"
    shutil.copy(BENCHMARKS / "README.md", page)
    monkeypatch.setattr(tables, "README", page)
    tables.main()
    assert page.read_text() == (BENCHMARKS / "README.md").read_text()
