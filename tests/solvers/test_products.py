"""Solvers on games of hands and showdowns whose trees may not be built."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.errors import GameTooLargeError, UsageError
from eqbench.model.dealt_form import promised
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import Registry
from eqbench.solver import Limits, Monitor, obstacle_of, refusal_of
from eqbench.solvers.replicator.flow import gain_bounds

BY_PRODUCTS = [
    "cfr",
    "cfr_plus",
    "dcfr",
    "pcfr_plus",
    "cfr(alternating=false)",
    "mmd",
    "reg_cfr",
    "fictitious_play",
    "fictitious_play(alternating=true)",
    "replicator",
]
BY_TREE = ["mccfr", "qfr", "fictitious_play(start=maximin)", "sequence_lp"]
# two players without and with public cards and with hands of two cards, and three players
FLOWS = [
    "kuhn2",
    "leduc(ranks=2)",
    "river(board=Kd8c5h3s2c,ranges='AA,K7s,72o',pot=10,stack=20,bets=1)",
    "kuhn(players=3,cards=5)",
    "leduc(players=3,ranks=2,raises=1)",
]


def product(spec: str, most: int = 0) -> Game:
    form = Registry().describe_game(spec)[0].rules().product()
    assert form is not None
    tree = promised(form, most)
    assert tree is not None
    return Game(spec, tree)


def solved(game: Game, solver: str, iterations: int, threads: int = 1) -> list[np.ndarray]:
    """Frequencies of all that a solver hands over at the end."""
    found: list[Any] = []
    limits = Limits(timeout_s=60, iterations=iterations, target=0, threads=threads)
    monitor = Monitor(game, limits, found.append)
    eqbench.load_solver(solver).solve(game, monitor, np.random.default_rng(0))
    return [each.candidate.profile.probabilities for each in found if each.kind == "candidate"]


def nash_conv(game: Game, behavior: np.ndarray) -> float:
    return float(game.payoff_model().regrets(behavior).sum())


@pytest.mark.parametrize("solver", BY_PRODUCTS)
def test_plays_as_on_the_tree(solver: str) -> None:
    spec, count = "leduc(ranks=2)", 20
    known, found = (solved(g, solver, count) for g in (eqbench.load_game(spec), product(spec)))
    assert len(found) == len(known)
    for one, other in zip(found, known, strict=True):
        assert one == pytest.approx(other, rel=0, abs=1e-9)


@pytest.mark.parametrize("spec", FLOWS)
def test_flow_is_that_of_the_tree(spec: str) -> None:
    solver = eqbench.load_solver("replicator(integrator=dop853,rate=4)")
    games = eqbench.load_game(spec), product(spec)
    flows = known, found = [solver.flow(game) for game in games]
    state, tangent = np.random.default_rng(0).standard_normal((2, known.choices.size))
    times = np.linspace(0, 4, 9)
    for direction, count in ((None, 3), (tangent, 5)):
        one, other = (flow.integrate(state, times, tangent=direction) for flow in flows)
        for mine, theirs in zip(other[:count], one[:count], strict=True):
            assert mine == pytest.approx(theirs, rel=0, abs=1e-12)
        assert other.ending == ""
        assert np.abs(other.states[-1] - state).max() > 0.1
    assert found.velocity(state) == pytest.approx(known.velocity(state), rel=0, abs=1e-12)
    assert found.payoffs(other.states) == pytest.approx(known.payoffs(other.states), abs=1e-12)
    tight, loose = (gain_bounds(game.tree) for game in games)
    assert np.all(loose >= tight * (1 - 1e-12))
    assert "built" not in games[1].tree.__dict__


def test_flow_takes_the_tree_only_where_it_may_be_built() -> None:
    solver = eqbench.load_solver("replicator(integrator=dop853)")
    known, large, small = (
        eqbench.load_game("kuhn2"),
        product("kuhn2"),
        product("kuhn2", most=100),
    )
    flow, state, times = solver.flow(large), np.linspace(-1, 1, 12), np.linspace(0, 1, 5)
    with pytest.raises(GameTooLargeError, match="55 nodes"):
        flow.state_jacobian(state)
    with pytest.raises(GameTooLargeError, match="55 nodes"):
        flow.frequency_jacobian(flow.behavior(state))
    with pytest.raises(GameTooLargeError, match="55 nodes"):
        solver.hand_by_hand(large, 5)
    matrices = [solver.flow(game).state_jacobian(state) for game in (known, small)]
    assert np.array_equal(*matrices)
    plays = [
        solver.hand_by_hand(game, 5).play(state, times, np.random.default_rng(0)).states
        for game in (known, small)
    ]
    assert np.array_equal(*plays)


@pytest.mark.parametrize("most", [0, 100])
def test_heyoka_is_refused_without_building_the_tree(most: int) -> None:
    game = product("kuhn2", most)
    solver = eqbench.load_solver("replicator(integrator=heyoka)")
    assert "integrator=auto" in (refusal_of(solver, game) or "")
    with pytest.raises(UsageError, match="integrator=auto"):
        solver.flow(game)
    assert eqbench.load_solver("replicator").flow(game).integrator == "dop853"
    assert "built" not in game.tree.__dict__


@pytest.mark.parametrize("spec", ["leduc", "kuhn2", "kuhn(players=3,cards=5)", "kuhn(players=4)"])
def test_cfr_plus_comes_as_near_on_both_paths(spec: str) -> None:
    tree = eqbench.load_game(spec)
    (known, _), (found, _) = (solved(g, "cfr_plus", 100) for g in (tree, product(spec)))
    assert nash_conv(tree, found) == pytest.approx(nash_conv(tree, known), rel=0, abs=1e-10)
    assert nash_conv(product(spec), found) == pytest.approx(nash_conv(tree, found), abs=1e-13)


def test_three_players_play_alike_until_rounding_has_grown() -> None:
    # perturbing the tree's own start by 1e-15 moves its plays as far
    tree = eqbench.load_game("leduc(players=3,ranks=2)")
    (known, _), (found, _) = (solved(g, "cfr_plus", 6) for g in (tree, product(tree.spec)))
    assert found == pytest.approx(known, rel=0, abs=1e-9)


@pytest.mark.parametrize("solver", ["cfr_plus", "cfr(alternating=false)"])
def test_threads_give_the_same_bits(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from eqbench.solvers.cfr import iteration, methods

    monkeypatch.setattr(iteration, "SHAREABLE", 0)
    monkeypatch.setattr(methods, "usable_cores", lambda: 3)
    game = product("leduc(players=3,ranks=2)")
    results = [solved(game, solver, 20, threads) for threads in (1, 2, 3)]
    for other in results[1:]:
        assert all(map(np.array_equal, other, results[0]))


@pytest.mark.parametrize("solver", BY_TREE)
def test_solvers_that_read_the_tree_are_refused_where_it_may_not_be_built(solver: str) -> None:
    instance, game = eqbench.load_solver(solver), product("leduc")
    status, reason = obstacle_of(instance, game) or ("", "")
    assert status == "unsupported"
    assert "9,457 nodes are more than the 0 allowed" in reason
    assert "built" not in game.tree.__dict__
    with pytest.raises(GameTooLargeError):
        game.sequence_form  # noqa: B018


def test_joint_play_is_refused_and_the_tree_taken_where_it_may_be_built() -> None:
    joint = eqbench.load_solver("cfr(joint=true,alternating=false)")
    assert "nodes" in (refusal_of(joint, product("kuhn2")) or "")
    game = product("kuhn2", most=100)
    assert refusal_of(joint, game) is None
    uniform = BehaviorProfile.uniform(game.tree).probabilities
    (known, _), (found, _) = (solved(g, "mccfr", 50) for g in (eqbench.load_game("kuhn2"), game))
    assert np.array_equal(known, found)
    assert not np.array_equal(found, uniform)
