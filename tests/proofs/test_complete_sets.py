"""Complete sets that are shipped: as computed again, and what is counted as found of them."""

from __future__ import annotations

import json
from fractions import Fraction
from importlib.resources import files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from helpers.command import eqbench_here
from helpers.solver_cases import with_payoffs

import eqbench
from eqbench.harness.experiment import find_experiment, read_experiment
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.proofs.complete_sets import DATA, complete_set, distance, place, plan_weights
from eqbench.spec import is_foreign
from eqbench.verdict import Claimed

STORED = json.loads(files("eqbench.proofs").joinpath(DATA).read_text())["games"]


def tool() -> ModuleType:
    path = Path(__file__).parents[2] / "tools" / "complete_sets.py"
    spec = spec_from_file_location("complete_sets_tool", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def claimed(game: Any, frequencies: Any, **fields: Any) -> Claimed:
    return Claimed(game.tree, BehaviorProfile.of(game.tree, frequencies), **fields)


@pytest.mark.parametrize(
    "game",
    [
        "battle_of_sexes",
        "shapley",
        "kuhn2",
        "prisoners_dilemma",
        "random(players=2,actions=4,seed=0)",
    ],
)
def test_stored_set_is_what_is_computed_again(game: str) -> None:
    content, found = tool().record(game)
    assert STORED[content] == found


def test_all_games_of_the_experiment_have_stored_sets() -> None:
    parts = read_experiment(find_experiment("recall")).parts
    specs = {spec for part in parts for spec in part.games}
    registry = eqbench.registry.default_registry()
    named = {s if is_foreign(s) else registry.describe_game(s)[1] for s in specs}
    assert len(named) == 100
    assert named <= {known["game"] for known in STORED.values()}


def test_float_payoffs_count_as_the_binary_fractions_that_they_are() -> None:
    game = eqbench.load_game("random(players=3,actions=3,seed=0)")
    numerators, denominator = game.tree.in_integers().payoffs.rational()
    table = game.tree.payoffs.table
    for numerator, payoff in zip(numerators.ravel().tolist(), table.ravel().tolist(), strict=True):
        assert Fraction(numerator, denominator) == Fraction(payoff)
    assert complete_set(game.tree) is not None
    assert complete_set(with_payoffs(game, np.nextafter(table, 2)).tree) is None
    tiny = with_payoffs(game, table * 1e-30).tree
    assert tiny.in_integers() is tiny
    assert complete_set(tiny) is None


@pytest.mark.parametrize("block", range(4))
def test_corners_of_stored_sets_are_equilibria(block: int) -> None:
    names = [known["game"] for known in STORED.values() if not is_foreign(known["game"])]
    for name in names[block::4]:
        assert_corners_are_equilibria(name)


def assert_corners_are_equilibria(name: str) -> None:
    game = eqbench.load_game(name)
    known = complete_set(game.tree)
    assert known is not None
    for component in known.components:
        for product in component:
            weights = np.nansum([polytope.mean(axis=0) for polytope in product], axis=0)
            form = game.sequence_form
            plans = np.concatenate((np.ones(form.n_players), weights))
            behavior = eqbench.RealizationPlan(plans).to_behavior(form)
            assert game.payoff_model().regrets(behavior).max() <= 1e-12 * game.tree.payoff_range


def test_games_with_other_payoffs_have_no_stored_set() -> None:
    assert complete_set(eqbench.load_game("kuhn2").tree) is not None
    assert complete_set(eqbench.load_game("kuhn(players=2,cards=3,pot=3)").tree) is None
    assert complete_set(eqbench.load_game("kuhn3").tree) is None


def test_members_of_a_line_are_in_its_component_and_others_are_not() -> None:
    game = eqbench.load_game("kuhn2")
    lcp = eqbench.solve(game, "lcp").equilibria[0].profile.probabilities
    logit = eqbench.solve(game, "logit").equilibria[0].profile.probabilities
    for behavior in (lcp, logit):
        found = place(claimed(game, behavior), None)
        assert found is not None
        assert str(found) == "component 1 of 1"
    assert place(claimed(game, random_profile(game.tree, np.random.default_rng(0))), None) is None
    assert place(claimed(game, lcp, refuted=True), None) is None


def test_distance_to_a_polytope_is_that_to_its_nearest_point() -> None:
    triangle = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert distance(np.array([0.2, 0.3, 0.5]), triangle) == pytest.approx(0.0, abs=1e-12)
    assert distance(np.array([1.0, 0.3, -0.3]), triangle) == pytest.approx(0.3)
    others = np.column_stack((triangle, np.full(3, np.nan)))
    assert distance(np.array([0.2, 0.3, 0.5, 7.0]), others) == pytest.approx(0.0, abs=1e-12)


def test_weights_are_products_of_own_frequencies() -> None:
    game = eqbench.load_game("kuhn2")
    behavior = random_profile(game.tree, np.random.default_rng(1))
    weights = eqbench.RealizationPlan.of(game.sequence_form, behavior).weights
    assert np.allclose(plan_weights(game.tree, behavior), weights[2:], atol=1e-15)


def test_table_and_answer_say_how_many_of_all_equilibria_were_found(tmp_path: Path) -> None:
    solvers = "complete,cfr_plus,lcp"
    command = ("run", "--game", "battle_of_sexes,kuhn2", "--solver", solvers, "--out", "r")
    assert eqbench_here(*command, "--iterations", "20000", cwd=tmp_path).code == 0
    text = eqbench_here("report", "r", "--columns", "found_of", cwd=tmp_path).out
    rows = [line.split() for line in text.splitlines()]
    assert ["complete", "3/3"] in rows
    assert ["cfr_plus", "1/3"] in rows
    assert ["lcp", "1/1", "component"] in rows
    assert "Of all 3 equilibria complete found 3; cfr_plus, lcp found 1 each" in " ".join(
        text.split()
    )
    summed = eqbench_here("report", "r", "--summary", cwd=tmp_path).out
    assert [
        word for line in summed.splitlines() for word in line.split() if word in ("3/3", "1/3")
    ] == ["3/3", "1/3", "1/3"]
    stored = (tmp_path / "r" / "runs.jsonl").read_text().splitlines()
    places = [
        [item["verdicts"]["place"]["record"]["component"] for item in record["equilibria"]]
        for record in map(json.loads, stored)
        if record["game"] == "battle_of_sexes" and record["solver"] == "complete"
    ]
    assert [sorted(own) for own in places] == [[1, 2, 3]]


def test_games_that_are_not_stored_have_no_column(tmp_path: Path) -> None:
    command = ("run", "--game", "random", "--solver", "lcp", "--out", "r")
    shown = eqbench_here(*command, cwd=tmp_path).out
    assert "found of" not in shown
