"""The benchmark scripts run. Nothing is timed."""

from __future__ import annotations

import argparse
import importlib
import itertools
import math
from pathlib import Path

import pytest

import eqbench

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
    benchmark.draw(data, tmp_path / "one.svg")
    assert "<svg" in (tmp_path / "one.svg").read_text()


@pytest.mark.parametrize("name", ["arclength_cost", "coexisting"])
def test_results_about_branches_are_drawn(script, tmp_path: Path, name: str) -> None:
    script(name).draw(script("measuring").read_results(name), tmp_path / "one.svg")
    assert "<svg" in (tmp_path / "one.svg").read_text()


def test_expected_best_is_the_mean_over_all_sets_of_starts(script) -> None:
    regrets = [0.3, 0.1, 0.7, 0.1, 0.0]
    for k in range(1, 6):
        sets = [min(chosen) for chosen in itertools.combinations(regrets, k)]
        expected = script("best_of_starts").expected_best(regrets, k)
        assert expected == pytest.approx(sum(sets) / len(sets))


def test_cost_of_a_branch_is_measured_to_its_end(script) -> None:
    benchmark = script("arclength_cost")
    row = benchmark.follow_branch("skp", (2.0, 2.4), 1e-6, {})
    assert row["reached"] >= 2.4
    assert row["factorizations"] > row["steps"] > 0
    assert (row["folds"], row["exact_fold_s"]) == (0, [])
    shares = benchmark.shares(row)
    assert sum(shares.values()) == pytest.approx(1)
    assert min(shares[part] for part in ("derivatives", "matrix", "LU")) > 0


def test_folds_are_made_exact_at_some_places(script) -> None:
    row = script("arclength_cost").follow_branch("skp", (3.8, 4.1), 1e-6, {})
    assert row["folds"] == len(row["exact_fold_s"]) == 2  # Billingham 2017: sets 5, 6 and 7 meet
    assert len(script("arclength_cost").some_of(list(range(95)))) == 10


def test_coexisting_equilibria_are_counted_and_verified(script) -> None:
    row = script("coexisting").measure(4, 1e-7, starts=2)
    assert (row["reached"], row["stalled"], row["most"]) == (16, "", 3)  # Billingham 2018, §5.1
    for entry in row["at"]:
        assert [entry[name] for name in ("crossings", "polished", "distinct_payoffs")] == [3, 3, 3]
        assert entry["dimensions"] == [1, 1, 1]
        assert len(entry["beside"]["payoff_ranges"]) == 3


def test_integrators_follow_the_same_trajectory_as_a_plain_script(script) -> None:
    pytest.importorskip("heyoka")
    benchmark = script("replicator")
    row = benchmark.measure(3.1, 1.0, 1)
    assert max(row["differences"].values()) <= 1e-7
    assert all(len(times) == 1 and times[0] > 0 for times in row["seconds"].values())
    assert set(row["seconds"]) == {*benchmark.INTEGRATORS, *benchmark.SCRIPTS}


def test_gambit_stops_where_the_probability_of_an_information_set_underflows(script) -> None:
    pytest.importorskip("pygambit")
    benchmark = script("gambit_stall")
    tree = eqbench.load_game("kuhn3").tree
    path = eqbench.load_solver("logit(stop_lambda=20000)").branch(
        eqbench.load_game("kuhn3"), at=benchmark.WHERE
    )
    assert len(path.turns) == 0, "the branch itself goes on"
    for moves in (0, 8):
        shift = -moves * benchmark.BITS * math.log(2)
        rows = [benchmark.underflow(tree, path, i, shift) for i in range(tree.n_infosets)]
        predicted = min(row["lambda"] for row in rows if benchmark.matters(row))
        stop = benchmark.gambit_stop(tree, moves)
        assert stop["last"] < predicted < stop["refused"]
        harmless = [row for row in rows if row and not benchmark.matters(row)]
        assert min(row["lambda"] for row in harmless) < stop["last"], "underflow alone does no harm"


def test_games_of_gambits_catalog_are_measured(script, monkeypatch: pytest.MonkeyPatch) -> None:
    pygambit = pytest.importorskip("pygambit")
    benchmark = script("gambit_catalog")
    monkeypatch.setattr(benchmark, "SOLVERS", ("lcp", "gambit_enumpure"))
    folder = Path(pygambit.__file__).parent / "catalog_data"
    game = "journals/geb/bagwell1995.efg"
    row = benchmark.measure(folder / game, game, 5)
    assert [(cell["solver"], cell["status"]) for cell in row["cells"]] == [
        ("lcp", "ok"),
        ("gambit_enumpure", "ok"),
    ]
    refused = benchmark.measure(folder / "journals/geb/wichardt2008.efg", "wichardt2008", 5)
    assert refused["refused"] == "ImperfectRecallError"


def test_half_street_games_tend_to_the_continuous_one(script) -> None:
    benchmark = script("large_n")
    assert benchmark.limit(2) == pytest.approx((0.4, 0.7, 0.1, 0.1))
    for pot in benchmark.HALF_STREET_POTS:
        limit = benchmark.limit(pot)
        rows = [benchmark.half_street_row(cards, pot) for cards in (13, 26, 52)]
        errors = [abs(row["gain"] - limit.gain) for row in rows]
        assert errors == sorted(errors, reverse=True)
        assert errors[-1] <= 2e-4
        for name in ("calls_above", "bets_above", "bluffs_below"):
            assert abs(rows[-1][name] - getattr(limit, name)) <= 1 / 52
        assert max(row["max_regret"] for row in rows) <= 1e-12


def test_starts_of_a_solver_are_told_apart_by_what_they_find(
    script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # runs are kept below the current folder
    row = script("who_finds_what").measure("pcfr_plus", seeds=2, iterations=2_000)
    assert [start["seed"] for start in row["starts"]] == [0, 1]
    assert {start["identity"]["name"] for start in row["starts"]} == {"szafron:c11=0"}
    assert max(start["max_regret"] for start in row["starts"]) <= 1e-9


def test_ranges_are_kept_without_the_place_of_their_run(
    script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyscipopt")
    benchmark = script("ranges")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(benchmark, "TABLES", {"kuhn2": ["--of", "P1"]})
    summary = benchmark.measure("kuhn2", 20.0)
    assert "run" not in summary
    (row,) = summary["quantities"]
    assert row["min"]["found"] == pytest.approx(-1 / 18)  # Kuhn 1950
    assert row["min"]["closed"]
    assert row["max"]["closed"]


def test_branch_of_skp_lies_on_its_exact_sets(script, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = script("skp_figures")
    monkeypatch.setattr(figures, "SAMPLES", 3)
    game = eqbench.load_game("skp")
    sets = list(figures.exact_sets(game))
    assert len(sets) == len(figures.published()["sets"])
    continuation = script("branches").prepared(game, 1e-7).continuation(game)
    pot = 2.5  # Billingham 2017, Solution 1: frequencies vary, payoffs do not
    (exact,) = (found for found in sets if pot in found.pots)
    point = continuation.start(pot)
    payoffs = game.payoff_model().at(pot).expected_payoffs(point.behavior)
    row = exact.pots.tolist().index(pot)
    assert payoffs == pytest.approx(exact.low[row, :3], abs=1e-6)
    assert (exact.high - exact.low)[row, :3].max() <= 1e-15
    assert (exact.high - exact.low)[row].max() > 0.1
    assert len(list(exact.bounds(0))) == 1


def test_figure_of_a_branch_is_drawn_small(
    script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures = script("billingham_2018_figures")
    monkeypatch.setattr(figures, "FOLDER", tmp_path)
    figures.FIGURES["fig06_n4_payoffs"]("one")
    monkeypatch.setattr(figures, "LARGEST_SVG", 1_000)
    figures.FIGURES["fig06_n4_payoffs"]("other")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one.svg", "other.png"]
    assert all(file.stat().st_size < 300_000 for file in tmp_path.iterdir())
