"""What solvers of one kind have in common, as tables of cases."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.solver_cases import (
    Result,
    bimatrix,
    constant_sum,
    lottery,
    odd_games,
    random_two_player_game,
    run,
    with_payoffs,
)

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.solver import Monitor, refusal_of

CONSTANT_SUM = ["kuhn2", "kuhn(players=2,cards=13)", "rock_paper_scissors", "matching_pennies"]
GENERAL_SUM = [*CONSTANT_SUM, "prisoners_dilemma", "battle_of_sexes", "shapley"]
SOLVED = {
    "sequence_lp": [*CONSTANT_SUM, "kuhn(players=2,cards=5,pot=7/3)"],
    "lcp": GENERAL_SUM,
    "lcp(start=random)": GENERAL_SUM,
    "semismooth": [
        "kuhn2",
        "kuhn3_reduced",
        "kuhn3",
        "skp",
        "jordan",
        "shapley",
        "random(players=3,actions=3,seed=1)",
        "random(players=3,actions=3,seed=2)",
        "random_tree(players=3,depth=5,seed=1)",
        "random_tree(players=3,depth=5,seed=2)",
        "random_tree(players=2,depth=6,zero_sum=true,seed=3)",
    ],
}


def assert_solved(result: Result, tolerance: float = 1e-12) -> None:
    assert result.termination.reason == "converged", result.termination.detail
    assert [candidate.claim for candidate in result.candidates] == ["equilibrium"]
    assert result.max_regret <= tolerance


@pytest.mark.parametrize(
    ("spec", "game"), [(spec, game) for spec, games in SOLVED.items() for game in games]
)
def test_named_games_are_solved_to_rounding(spec: str, game: str) -> None:
    for seed in range(3 if spec == "semismooth" else 1):
        assert_solved(run(spec, game, seed))


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_of_two_players_are_solved_to_rounding(seed: int) -> None:
    game = random_two_player_game(seed, depth=6 + seed % 3)
    assert_solved(run("lcp", game))
    assert_solved(run("lcp(start=random)", game, seed))
    game = constant_sum(game, total=7)
    assert refusal_of(eqbench.load_solver("sequence_lp"), game) is None
    program, path = run("sequence_lp", game), run("lcp", game)
    assert_solved(program)
    value = program.monitor.statistics["value"]
    for result in (program, path):
        payoffs = game.payoff_model().expected_payoffs(result.behavior)
        np.testing.assert_allclose(payoffs, [value, 7 - value], atol=1e-9)


@pytest.mark.parametrize("name", odd_games())
def test_odd_games_are_solved(name: str) -> None:
    game = odd_games()[name]
    for spec, tolerance in (("sequence_lp", 1e-15), ("lcp", 1e-15), ("semismooth", 1e-12)):
        assert refusal_of(eqbench.load_solver(spec), game) is None
        assert_solved(run(spec, game), tolerance)
    for start in ("uniform", "maximin"):
        played = run(f"fictitious_play(start={start})", game, iterations=1000)
        assert played.max_regret <= 0.01


@pytest.mark.parametrize("shift", [0.0, 1e3])
@pytest.mark.parametrize("factors", [(1e-9, 1e-9), (1e6, 1e6), (1e6, 1e-6)])
def test_units_of_the_payoffs_do_not_matter(factors: tuple[float, float], shift: float) -> None:
    game = random_two_player_game(7, depth=8)
    same = with_payoffs(game, (game.tree.payoffs.table + shift) * np.array(factors))
    first, second = (run("lcp", g).behavior for g in (game, same))
    np.testing.assert_allclose(first, second, atol=1e-9)
    game = constant_sum(random_two_player_game(3, depth=8))
    payoffs = factors[0] * game.tree.payoffs.table + np.array([shift, -shift])
    assert_solved(run("sequence_lp", with_payoffs(game, payoffs)), 1e-12 * (factors[0] + shift))
    rows, columns = [[3, 0, 1], [1, 2, 0], [0, 1, 3]], [[1, 2, 0], [3, 0, 1], [0, 3, 1]]
    factor = np.sqrt(factors[0] * factors[1])
    plain, scaled = (
        run("semismooth", bimatrix(unit * np.array(rows), unit * np.array(columns)), 4)
        for unit in (1.0, factor)
    )
    np.testing.assert_allclose(scaled.behavior, plain.behavior, atol=1e-10)
    assert_solved(scaled, 1e-12 * factor)


WIDE = np.zeros((10_000, 1), int)
NEARLY_MINUS = [[-1.0, 0.0], [0.0, -1.0 + 1e-9]]


def constant_sum_but_for_rounding() -> Game:
    game = bimatrix([[0.1, 0.7]], [[0.2, 0.3 - 0.7]])
    first, second = game.tree.payoffs.table.sum(axis=1)
    assert first != second
    return game


def pennies_with_a_ticket() -> Game:
    """A lottery ticket for both players, which changes nothing that they could do."""
    builder = TreeBuilder(["P1", "P2"])
    luck = builder.chance(None, [Fraction(1, 4), Fraction(3, 4)])
    for outcome, ticket in enumerate((9, -3)):
        node = builder.decision((luck, outcome), 0, "", ["heads", "tails"])
        for own in range(2):
            other = builder.decision((node, own), 1, "", ["heads", "tails"])
            for answer in range(2):
                win = 1 if own == answer else -1
                builder.terminal((other, answer), [win + ticket, -win + ticket])
    return Game("pennies with a ticket", builder.tree())


@pytest.mark.parametrize(
    ("spec", "make", "words"),
    [
        ("lcp", lambda: eqbench.load_game("skp"), "this game has 3 players"),
        ("lcp", lottery, "this game has 1 player"),
        ("sequence_lp", lambda: eqbench.load_game("skp"), "this game has 3 players"),
        ("sequence_lp", lottery, "this game has 1 player"),
        ("sequence_lp", lambda: eqbench.load_game("prisoners_dilemma"), "by 4, from 2 to 6"),
        ("sequence_lp", lambda: bimatrix(np.eye(2).tolist(), NEARLY_MINUS), "varies by 1e-09"),
        ("sequence_lp", constant_sum_but_for_rounding, None),
        ("sequence_lp", pennies_with_a_ticket, None),
        ("semismooth", lambda: bimatrix(WIDE, WIDE), "10,001 actions need 4,580 MiB, more than"),
    ],
)
def test_what_a_method_cannot_solve_is_refused(spec: str, make: Any, words: str | None) -> None:
    reason = refusal_of(eqbench.load_solver(spec), make())
    assert reason is None if words is None else words in str(reason)


@pytest.mark.parametrize(
    ("spec", "game", "memory_bytes", "words"),
    [
        ("lcp", "kuhn(players=2,cards=100)", 2**20, "802 sequences and its construction need 15"),
        ("semismooth", "kuhn4", 2**21, "need 5 MiB, more than the limit of 2 MiB"),
        ("arclength", "leduc", 10 * 2**20, "MiB, more than the limit of 10 MiB"),
    ],
)
def test_memory_limit_below_the_matrices_is_named_with_their_size(
    spec: str, game: str, memory_bytes: int, words: str
) -> None:
    result = run(spec, game, memory_bytes=memory_bytes)
    assert (result.termination.reason, result.reports) == ("limit", [])
    assert words in result.termination.detail


@pytest.mark.parametrize(
    ("spec", "game", "budgets"),
    [
        ("sequence_lp", "kuhn(players=2,cards=40)", [{"iterations": 3}, {"time_s": 1e-6}]),
        ("fictitious_play(start=maximin)", "kuhn(players=2,cards=30)", [{"time_s": 1e-6}]),
        ("lcp", "kuhn(players=2,cards=20)", [{"iterations": 0}, {"iterations": 7}]),
        ("lcp", "kuhn(players=2,cards=20)", [{"time_s": 1e-6}]),
        ("semismooth", "kuhn3", [{"iterations": 0}, {"iterations": 1}, {"iterations": 9}]),
    ],
)
def test_budget_ends_a_run_with_what_is_in_hand(
    spec: str, game: str, budgets: list[dict[str, Any]]
) -> None:
    by_program = spec.startswith(("sequence_lp", "fictitious_play"))
    for budget in budgets:
        result = run(spec, game, **budget)
        assert result.termination.reason == "limit"
        if by_program:
            assert "linear program was not solved" in result.termination.detail
            assert result.reports == []
            continue
        assert result.monitor.work == budget.get("iterations", result.monitor.work)
        assert [candidate.claim for candidate in result.candidates] == ["iterate"]
        assert result.max_regret > 1e-3


@pytest.mark.parametrize(
    ("spec", "game"),
    [
        *((name, "kuhn3") for name in ("cfr", "cfr_plus", "cfr_linear", "dcfr", "pcfr_plus")),
        *((name, "kuhn3") for name in ("mmd", "reg_cfr", "qfr", "mccfr", "fictitious_play")),
        ("lcp(start=random)", "kuhn(players=2,cards=13)"),
        *(
            (f"replicator(integrator={name},start=random)", "kuhn2")
            for name in ("dop853", "heyoka")
        ),
    ],
)
def test_cutting_into_chunks_changes_no_bit(
    spec: str, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for cuts in ([300], [1] * 300, [1, 2, 97, 150, 50]):

        def chunks(monitor: Monitor, cuts: list[int] = cuts) -> Iterator[tuple[int, int, bool]]:
            for count in cuts:
                start = monitor.work
                yield start, count, True
                monitor.work = start + count

        monkeypatch.setattr(Monitor, "chunks", chunks)
        result = run(spec, game, seed=5)
        found.append([each.profile.probabilities.tobytes() for each in result.candidates])
    assert found[0]
    assert found == found[:1] * 3


def test_frequencies_are_uniform_where_the_own_plan_does_not_lead() -> None:
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "enter", ["in", "out"])
    inside = builder.decision((root, 0), 0, "inside", ["a", "b", "c"])
    for move in range(3):
        builder.terminal((inside, move), [-1 - move, 1 + move])
    builder.terminal((root, 1), [0, 0])
    for spec in ("sequence_lp", "fictitious_play(start=maximin)"):
        result = run(spec, Game("entry", builder.tree()), iterations=50)
        np.testing.assert_array_equal(result.behavior, [0, 1, 1 / 3, 1 / 3, 1 / 3])
