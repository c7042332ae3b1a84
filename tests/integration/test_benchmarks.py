"""The benchmarks run. Nothing is timed."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
WAYS = ("tree", "product", "openspiel")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.fixture
def entry(script):
    """An entry of the list, as data that a test may change."""
    return lambda name: json.loads(json.dumps(script("pages").benchmarks()[name]))


# -- The runner ----------------------------------------------------------------------------------


def test_results_of_a_function_have_its_options_and_versions(script, entry) -> None:
    changed = entry("identification") | {"versions": ["numpy"]}
    found = script("run").measured(changed, ["count = 3"], small=True)
    assert (found["game"], found["count"]) == ("kuhn3", 3)
    assert found["numpy"].split(".")[0] >= "1"
    assert [len(row["identities"]) for row in found["rows"]] == [3] * 4


def test_of_each_cell_of_an_experiment_is_kept_what_the_list_says(script, entry) -> None:
    small = "--game kuhn3 --solver pcfr_plus(start=random) --seeds 2 --iterations 2000"
    found = script("run").measured(entry("who_finds_what") | {"small": small}, [], small=True)
    assert found["iterations"] == 4_000_000, "of the file"
    assert [row["seed"] for row in found["rows"]] == [0, 1]
    assert {row["identity"]["name"] for row in found["rows"]} == {"szafron:c11=0"}
    assert max(row["max_regret"] for row in found["rows"]) <= 1e-9
    assert set(found["rows"][0]) == set(entry("who_finds_what")["keep"])


def test_all_equilibria_of_a_pot_are_listed_and_verified(script, entry) -> None:
    pytest.importorskip("flint", reason="python-flint is not installed")
    (row,) = script("run").measured(entry("case_enumeration"), [], small=True)["rows"]
    assert row["status"] == "ok"
    assert (row["statistics"]["cases"], row["statistics"]["unresolved"]) == (3**11, 0)
    assert row["max_regret"] <= 1e-13


def test_leduc_preset_reaches_its_target_by_the_verifiers_measure(script, entry) -> None:
    small = "--solver pcfr_plus_alternating --repeats 1"
    found = script("run").measured(entry("leduc_accuracy") | {"small": small}, [], small=True)
    (row,) = found["rows"]
    assert row["status"] == "ok"
    assert row["nash_conv"] <= 1e-6


def test_of_summaries_of_commands_is_kept_what_the_list_says(script, entry) -> None:
    pytest.importorskip("pyscipopt", reason="SCIP is not installed")
    commands = {"commands": {"kuhn2": "ranges --game kuhn2 --of P1"}}
    changed = entry("ranges") | commands | {"small": "--timeout 20"}
    summary = script("run").measured(changed, [], small=True)["summaries"]["kuhn2"]
    assert set(summary) == {"timeout_s", "quantities"}
    (row,) = summary["quantities"]
    assert row["min"]["found"] == pytest.approx(-1 / 18)  # Kuhn 1950
    assert row["min"]["closed"]
    assert row["max"]["closed"]


# -- Solvers and the model -----------------------------------------------------------------------


def test_comparison_with_openspiel_does_the_same_work(script) -> None:
    pytest.importorskip("pyspiel")
    (row,) = script("cfr").beside_openspiel(1, ["kuhn2"])["rows"]
    assert row["nash_conv"]["ours"] == pytest.approx(row["nash_conv"]["theirs"], rel=1e-6)
    assert len(row["ours_us"]) == len(row["theirs_us"]) == 1


def test_random_starts_are_measured_by_the_verifier(script) -> None:
    together, in_turn = script("cfr").random_starts("kuhn3", 2, 20_000, 1e-9)["rows"]
    assert (together["alternating"], in_turn["alternating"]) == (False, True)
    assert len(together["starts"]) == len(in_turn["starts"]) == 2
    for name in ("max_regret", "final_max_regret"):
        assert all(start[name] <= 1e-9 for start in together["starts"])


@pytest.mark.parametrize("imported", [False, True])
def test_cost_of_a_game_is_measured_bulk_or_node_by_node(
    script, monkeypatch: pytest.MonkeyPatch, imported: bool
) -> None:
    benchmark = script("model")
    game = "random_tree(depth=5,seed=1)"
    monkeypatch.setattr(benchmark, "LARGE", {game: 5})
    monkeypatch.setattr(benchmark, "IMPORTED", game if imported else "")
    row = benchmark.large_game(game, 3)
    assert (row["nodes"], row["imported"]) == (63, imported)
    assert len(row["iteration_s"]) == 3
    assert min(row["build_s"], row["compile_s"], *row["iteration_s"]) > 0


def test_members_are_recognized_by_kind(script) -> None:
    rows = script("model").identification("kuhn3", 3)["rows"]
    known = {row["kind"]: [name and name[1:] for name in row["identities"]] for row in rows}
    assert known == {
        "strict member": 3 * [[True, True]],
        "off the path": 3 * [[True, False]],
        "near": 3 * [[False, False]],
        "random": 3 * [None],
    }


def test_best_of_starts_is_measured_and_drawn(
    script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = script("cfr")
    data = benchmark.best_of_starts(starts=2, games=1, iterations=20)
    rows = [row for group in data["groups"] for row in group["rows"]]
    assert len(rows) == 2 * len(benchmark.FROM_RANDOM)
    assert all(len(row["max_regrets"]) == 2 and min(row["max_regrets"]) >= 0 for row in rows)
    monkeypatch.setattr(script("figures"), "FOLDER", tmp_path)
    script("figures").best_of_starts(data | {"starts": 2, "iterations": 20})
    assert "<svg" in (tmp_path / "best_of_starts.svg").read_text()


@pytest.mark.parametrize("name", ["arclength_cost", "coexisting"])
def test_results_about_branches_are_drawn(
    script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(script("figures"), "FOLDER", tmp_path)
    getattr(script("figures"), name)(script("pages").read_results(name))
    assert "<svg" in (tmp_path / f"{name}.svg").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="what is shared is read from /proc")
def test_cost_of_a_cell_is_measured(script) -> None:
    found = script("cells").run("kuhn2", "fork", 2, look=True)
    # the kernel batches counts of pages, for each thread
    assert 0 < max(found["private_mib"]) <= min(found["recorded_mib"]) + 1
    assert set(found["parent_mib"]) == {1, 2}
    assert min(found["own_s"], found["children_s"], found["wall_s"]) > 0


# -- Dealt games as products ---------------------------------------------------------------------


@pytest.fixture
def in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine code in the processes that measure; compiling it takes minutes."""
    monkeypatch.setenv("EQBENCH_KERNELS", "python")


def test_trees_products_and_openspiel_do_the_same_work(script, in_python) -> None:
    pytest.importorskip("pyspiel")
    name = "kuhn(players=2,cards=4)"  # for which OpenSpiel has no name of its own
    (row,) = script("products").measured([name], 1, 5, dict.fromkeys(WAYS, 1e5))["rows"]
    assert (row["nodes"], row["hands"]) == (109, 4)
    first, *others = (row[path]["nash_conv"] for path in WAYS)
    assert others == pytest.approx([first] * 2, abs=1e-10)
    assert all(len(row[path]["iteration_s"]) == 1 for path in WAYS)


def test_path_is_left_out_where_the_tree_is_too_large(script, in_python) -> None:
    most = {"tree": 10, "product": 1e5}
    (row,) = script("products").measured(["kuhn(players=2,cards=4)"], 1, 1, most)["rows"]
    assert row["tree"] is None
    assert row["product"]["nash_conv"] > 0


def test_large_game_is_solved_to_its_share_of_the_pot(script) -> None:
    row = script("products").solved_game("kuhn(players=2,cards=13)", 2, 1e-3)
    assert row["ended"] == "converged"
    assert 0 < row["nash_conv"] <= 2e-3
    assert row["payoffs"][0] == pytest.approx(-5 / 78, abs=2e-3)


def test_of_a_peer_the_last_line_counts_and_its_mean_gain_is_half_of_nash_conv(
    script, tmp_path: Path
) -> None:
    peer = tmp_path / "peer.py"
    peer.write_text(
        "import sys\n"
        "print('iteration 50 exploitability 0.3')\n"
        "print('iteration 100 exploitability', sys.argv[-3], 'of the pot')\n"
        "print('EV oop 47.5 (net -2.5) total 3 s')\n"
    )
    found = script("products").by_peer(f"{sys.executable} {peer}", "river", ["AA"], 100, 1e-3)
    assert (found["iterations"], found["payoff"]) == (100, -2.5)
    assert found["solve_s"] > 0
    assert found["nash_conv"] == 2 * 5e-4


# -- Branches ------------------------------------------------------------------------------------


@pytest.fixture
def followed(script, monkeypatch: pytest.MonkeyPatch):
    """Raw results of a branch of SKP between two pots."""
    benchmark = script("branches")

    def follow(first: float, last: float):
        cases = (benchmark.Case("skp", first, last, 1e-6, {}),)
        monkeypatch.setattr(benchmark, "CASES", cases)
        return benchmark.follow_branch(0)

    return follow


def test_cost_of_a_branch_is_measured_to_its_end(followed) -> None:
    row = followed(2.0, 2.4)
    assert row["reached"] >= 2.4
    assert row["factorizations"] > row["steps"] > 0
    assert (row["folds"], row["exact_fold_s"]) == (0, [])
    assert all(min(times) > 0 for times in row["parts_us"].values())


def test_folds_are_made_exact(followed) -> None:
    row = followed(3.8, 4.1)
    assert row["folds"] == len(row["exact_fold_s"]) == 2  # Billingham 2017: sets 5, 6 and 7 meet


def test_coexisting_equilibria_are_counted_and_verified(script) -> None:
    (row,) = script("branches").coexisting([4], [1e-7], starts=2)["rows"]
    assert (row["reached"], row["stalled"], row["most"]) == (16, "", 3)  # Billingham 2018, §5.1
    for entry in row["at"]:
        assert [entry[name] for name in ("crossings", "polished", "distinct_payoffs")] == [3, 3, 3]
        assert entry["dimensions"] == [1, 1, 1]
        assert len(entry["beside"]["payoff_ranges"]) == 3


def test_decks_are_compared_at_equal_quantiles(script) -> None:
    found = script("branches").many_cards([4, 8], 5, 1e-9)
    assert [row["cards"] for row in found["three_players"]] == [4, 8]
    for row in found["three_players"]:
        assert sum(row["payoffs"]) == pytest.approx(0, abs=1e-12)
        assert row["max_regret"] <= 1e-12
    (pair,) = found["agreement"]
    assert [node["node"] for node in pair["nodes"]] == list(range(1, 13))
    for node in pair["nodes"]:
        first, second = node["shares"]
        assert abs(first - second) <= node["mean_difference"] + 1e-12 <= 1 + 1e-12


# -- Flows and Gambit ----------------------------------------------------------------------------


def test_gambit_stops_where_the_probability_of_an_information_set_underflows(script) -> None:
    pytest.importorskip("pygambit")
    found = script("gambit").stall("kuhn3", 1.02, moves=(0, 8))
    assert found["ours"]["turns"] == 0, "the branch itself continues"
    for row in found["rows"]:
        assert row["last"] < row["predicted"] < row["refused"]
    always, rarely = found["rows"]
    assert rarely["last"] < always["last"]
    first = min(row["lambda"] for row in found["sets"])
    assert first < always["last"], "where beliefs do not matter, underflow does no harm"


def test_games_of_gambits_catalog_are_measured(script, monkeypatch: pytest.MonkeyPatch) -> None:
    pygambit = pytest.importorskip("pygambit")
    benchmark = script("gambit")
    monkeypatch.setattr(benchmark, "CATALOG_SOLVERS", "lcp,gambit_enumpure")
    folder = Path(pygambit.__file__).parent / "catalog_data"
    game = "journals/geb/bagwell1995.efg"
    row = benchmark.catalog_game(folder / game, game, 5)
    assert [(cell["solver"], cell["status"]) for cell in row["cells"]] == [
        ("lcp", "ok"),
        ("gambit_enumpure", "ok"),
    ]
    refused = benchmark.catalog_game(folder / "journals/geb/wichardt2008.efg", "wichardt2008", 5)
    assert refused["refused"] == "ImperfectRecallError"


def test_logit_path_of_gambit_is_the_same_called_directly_and_through_eqbench(script) -> None:
    pytest.importorskip("pygambit")
    (row,) = script("gambit").logit_path(1, ["kuhn2"])["rows"]
    assert row["lambda"] == pytest.approx(1e6)
    assert len(row["directly_s"]) == len(row["through_eqbench_s"]) == 1


def test_methods_are_compared_by_kind_of_game(script, entry) -> None:
    rows = script("run").measured(entry("which_method"), [], small=True)["rows"]
    assert [row["solved"] for row in rows] == [1] * 4  # two solvers on two kinds


# -- Lists of all equilibria ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "game", ["skp(pot=6)", "skp(pot=5)", "skp(pot=4.7)", "kuhn(players=2,cards=4)"]
)
def test_enumerated_equilibria_are_proved_to_be_all(script, game: str) -> None:
    pytest.importorskip("flint", reason="python-flint is not installed")
    pytest.importorskip("highspy", reason="an optional extra is not installed")
    (row,) = script("complete").proved([game], 60.0)["rows"]
    assert (row["faces"], row["empty_faces"]) == (0, 0)


def test_without_one_of_the_pieces_the_proof_does_not_close(
    script, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("flint", reason="python-flint is not installed")
    pytest.importorskip("highspy", reason="an optional extra is not installed")
    complete = script("complete")
    whole = complete._cases
    assert len(whole(complete.load_game("skp(pot=5)"))) == 2
    monkeypatch.setattr(complete, "_cases", lambda game: whole(game)[:1])
    (row,) = complete.proved(["skp(pot=5)"], 5.0)["rows"]
    assert row["empty_faces"] > 0


def test_recall_is_measured_by_kind_and_drawn(
    script, entry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("flint", reason="python-flint is not installed")
    found = script("complete").recall(**entry("recall")["small"])
    by_solver = {row["solver"]: row for row in found["rows"] if row["kind"] == "all"}
    assert by_solver["complete"]["found"] == by_solver["complete"]["of"] == 4
    assert 0 < by_solver["lcp"]["found"] <= 4
    assert len({row["kind"] for row in found["rows"]}) == 2
    monkeypatch.setattr(script("figures"), "FOLDER", tmp_path)
    script("complete").recall_figure(found)
    assert "<svg" in (tmp_path / "recall.svg").read_text()
