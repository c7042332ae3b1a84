"""Gambit's methods as solvers: games and profiles go there and come back, by path and not by name;
what the methods hand over and claim, and when they stop.
"""

from __future__ import annotations

import importlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command import eqbench_here as eqbench_command
from helpers.made_games import random_tree, spread_infosets
from helpers.solver_cases import odd_games, run

import eqbench
from eqbench.errors import ProfileError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.solver import Limits
from eqbench.verification import verify

pytest.importorskip("pygambit")
conversion = importlib.import_module("eqbench.solvers.gambit.conversion")

# -- conversion -----------------------------------------------------------------------------------


def test_sets_and_actions_are_found_by_path_whatever_their_labels_are() -> None:
    """Actions of P2 stand in different orders; files cannot hold some of the labels."""
    sets = ['say "x"', " ", "back\\"]
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "", ["c", "b", "a"])
    for move, (label, actions) in enumerate(zip(sets, ["rl", "lr", "rl"], strict=True)):
        names = [{"r": "", "l": "ü"}[action] for action in actions]
        node = builder.decision((root, move), 1, label, names)
        for reply in range(2):
            builder.terminal((node, reply), [move, 10 * move + reply])
    tree = builder.tree()
    gambit = conversion.to_gambit(Game("shuffled", tree))
    for move in range(3):
        frequencies = np.zeros(tree.n_actions)
        for player, label, action in [(0, "", move), *((1, label, 1) for label in sets)]:
            frequencies[tree.action_start[tree.infoset_of(player, label)] + action] = 1
        profile = gambit.profile(BehaviorProfile.of(tree, frequencies))
        payoffs = [float(profile.payoffs[player]) for player in gambit.game.players]
        assert payoffs == [move, 10 * move + 1]
        np.testing.assert_array_equal(gambit.behavior(profile).probabilities, frequencies)


def test_random_trees_have_the_same_payoffs_regrets_and_strategies() -> None:
    spread = reordered = 0
    for seed in range(24):
        game = Game("random", random_tree(seed))
        gambit = conversion.to_gambit(game)
        rng = np.random.default_rng(seed)
        ours = BehaviorProfile.of(game.tree, random_profile(game.tree, rng))
        theirs, measured = gambit.profile(ours), verify(game.tree, ours)
        payoffs = [float(theirs.payoffs[player]) for player in gambit.game.players]
        np.testing.assert_allclose(payoffs, measured.payoffs, atol=1e-12)
        assert float(theirs.max_regret()) == pytest.approx(float(measured.max_regret), abs=1e-12)
        back = gambit.behavior(theirs).probabilities
        np.testing.assert_allclose(back, ours.probabilities, rtol=0, atol=1e-15)
        strategies = [len(gambit.game.get_strategies(player)) for player in gambit.game.players]
        assert [*game.sequence_form.strategy_counts] == strategies
        spread += spread_infosets(game.tree) > 0
        reordered += gambit.infosets != sorted(gambit.infosets)
    assert min(spread, reordered) >= 5, "trees that numbering by depth gets wrong are missing"


@pytest.mark.parametrize("name", [*odd_games(), "kuhn2"])
def test_rationals_stay_rationals(name: str) -> None:
    game = odd_games().get(name) or eqbench.load_game(name)
    profile = BehaviorProfile.uniform(game.tree)
    if name == "kuhn2":
        thirds = [Fraction(1, 3), Fraction(2, 3)] * game.tree.n_infosets
        profile = BehaviorProfile.of_exact(game.tree, thirds)
    gambit = conversion.to_gambit(game)
    theirs = gambit.profile(profile)
    assert gambit.behavior(theirs).exact == profile.exact is not None
    regret = float(verify(game.tree, profile).max_regret)
    assert float(theirs.max_regret()) == pytest.approx(regret, abs=1e-14)


@pytest.mark.parametrize("rational", [False, True])
def test_mixed_strategies_become_behavior_that_is_uniform_where_they_never_come(
    rational: bool,
) -> None:
    tree = eqbench.load_game("kuhn2").tree
    gambit = conversion.to_gambit(eqbench.load_game("kuhn2"))
    mixed = gambit.game.mixed_strategy_profile(rational=rational)
    strategies = gambit.game.get_strategies("P1")
    # the last strategy bets every card, so P1 never faces a bet
    mixed["P1"] = {name: int(name == strategies[-1]) for name in strategies}
    behavior = gambit.behavior(mixed)
    for card in "123":
        for history, expected in (("", [0, 1]), ("KB", [0.5, 0.5])):
            start = tree.action_start[tree.infoset_of(0, f"{card}:{history}")]
            assert behavior.probabilities[start : start + 2].tolist() == expected
    regret = float(gambit.profile(behavior).max_regret())
    assert regret == pytest.approx(max(verify(tree, behavior).regrets), abs=1e-12)


def test_rounding_is_taken_out_of_floats_and_more_than_rounding_is_refused() -> None:
    gambit = conversion.to_gambit(eqbench.load_game("matching_pennies"))

    def behavior(*values: float) -> np.ndarray:
        """Frequencies of a profile as pygambit iterates over it: by player, set and action."""
        rows = [[("set", [("heads", values[k]), ("tails", values[k + 1])])] for k in (0, 2)]
        return gambit.behavior(rows).probabilities

    off = behavior(0.5 + 4e-9, 0.5, 1 + 1e-9, -1e-9)
    np.testing.assert_allclose(off, [0.5, 0.5, 1, 0], atol=5e-9)
    assert off.min() >= 0
    np.testing.assert_allclose(off.reshape(2, 2).sum(axis=1), 1, rtol=0, atol=1e-15)
    assert behavior(np.nan, np.nan, 0.0, 0.0).tolist() == [0.5] * 4
    with pytest.raises(ProfileError, match=r"sum to 1\.1"):
        behavior(0.5, 0.6, 1.0, 0.0)


# -- runs -----------------------------------------------------------------------------------------

BATTLE = {
    "enumpure": 2,
    "enummixed": 3,
    "enumpoly": 3,
    "gnm": 3,
    "lcp": 1,
    "lcp(use_strategic=true)": 3,
    "lcp(use_strategic=true,stop_after=2)": 2,
}


@pytest.mark.parametrize("solver", BATTLE)
def test_battle_of_the_sexes_has_two_pure_equilibria_and_a_mixed_one(solver: str) -> None:
    result = run(f"gambit_{solver}", "battle_of_sexes")
    assert result.termination.reason == "converged"
    assert {candidate.claim for candidate in result.candidates} == {"equilibrium"}
    assert max(result.regrets) <= 1e-8
    different = {tuple(c.profile.probabilities.round(6)) for c in result.candidates}
    assert len(different) == len(result.candidates) == BATTLE[solver]


@pytest.mark.parametrize("solver", ["gambit_lp", "gambit_lcp", "gambit_enummixed"])
def test_rationals_are_handed_over_with_no_regret_and_floats_on_request(solver: str) -> None:
    result = run(solver, "matching_pennies")
    (candidate,) = result.candidates
    assert "steps" not in result.monitor.statistics, "they tell of none"
    assert candidate.profile.exact == (Fraction(1, 2),) * 4
    assert candidate.claimed_regret == 0
    (candidate,) = run(f"{solver}(rational=false)", "matching_pennies").candidates
    assert candidate.profile.exact is candidate.claimed_regret is None
    np.testing.assert_allclose(candidate.profile.probabilities, 0.5, atol=1e-12)


@pytest.mark.parametrize(
    ("solver", "game", "share"),
    [
        ("gambit_logit", "prisoners_dilemma", 1e-8),
        ("gambit_logit(use_strategic=true,maxregret=1e-3)", "prisoners_dilemma", 1e-3),
        ("gambit_simpdiv", "prisoners_dilemma", 1e-7),
        ("gambit_liap", "prisoners_dilemma", 1e-4),
        ("gambit_enumpoly", "prisoners_dilemma", 1e-8),
        # on trees Gambit looks at deviations at single sets; here P1 may decide twice
        ("gambit_logit", "kuhn2", 2 * 1e-8),
    ],
)
def test_claimed_regret_is_the_promised_share_of_the_payoff_range(
    solver: str, game: str, share: float
) -> None:
    result = run(solver, game)
    assert result.candidates
    for candidate, regret in zip(result.candidates, result.regrets, strict=True):
        assert candidate.claimed_regret == pytest.approx(share * result.game.tree.payoff_range)
        assert regret <= candidate.claimed_regret


def test_points_that_gambit_wrongly_calls_equilibria_are_refuted() -> None:
    """pygambit 17.0.0b2 ends on a profile with a regret of 1, of which nothing is hidden."""
    result = eqbench.solve("rock_paper_scissors", "gambit_gnm", Limits())
    assert result.status == "refuted"
    assert result.max_regret == pytest.approx(1)


@pytest.mark.parametrize(
    ("solver", "game", "budget", "reason", "detail", "left"),
    [
        ("enumpure", "matching_pennies", {}, "not_found", "", 0),
        ("hp", "matching_pennies", {}, "failed", "Multiple best responses", 0),
        ("logit_path(end=100)", "kuhn2", {}, "stopped", "lambda = 100", 1),
        ("logit_path", "kuhn2", {"target": 0.01}, "converged", "max regret reached", 1),
        # its path comes near equilibria more than once
        ("gnm", "kuhn2", {"target": 1}, "not_found", "no more boundaries", 0),
        # nothing is begun without a budget
        *((s, "kuhn2", {"iterations": 0}, "limit", "", 0) for s in ("lp", "logit_path", "gnm")),
    ],
)
def test_end_without_an_equilibrium_says_why_and_leaves_iterates(
    solver: str, game: str, budget: dict[str, Any], reason: str, detail: str, left: int
) -> None:
    result = run(f"gambit_{solver}", game, **budget)
    assert (result.termination.reason, len(result.candidates)) == (reason, left)
    assert detail in result.termination.detail
    assert {candidate.claim for candidate in result.candidates} <= {"iterate"}
    assert left == 0 or result.max_regret <= 0.01


def test_what_is_no_profile_makes_the_run_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    row = [("heads", 0.5), ("tails", 0.6)]

    def lp_solve(game: Any, nash_callback: Any, **options: Any) -> None:
        try:
            nash_callback([row, row])
        except Exception as error:
            raise RuntimeError(f"{type(error).__name__}: {error}") from None  # as Gambit does

    monkeypatch.setattr("pygambit.nash.lp_solve", lp_solve)
    result = run("gambit_lp", "matching_pennies")
    assert (result.termination.reason, result.candidates) == ("failed", [])
    assert "sum to 1.1" in result.termination.detail


@pytest.mark.parametrize(
    ("solver", "steps"),
    [("logit_path", 1), ("logit_path", 37), ("logit", 37), ("gnm", 5), ("enumpoly", 10)],
)
def test_steps_are_counted_and_stop_at_the_budget_where_the_method_is(
    solver: str, steps: int
) -> None:
    result = run(f"gambit_{solver}", "kuhn2", iterations=steps)
    assert result.termination.reason == "limit"
    assert f"after {steps} iteration" in result.termination.detail
    assert result.monitor.work == result.monitor.statistics["steps"] == steps
    if solver == "enumpoly":  # its steps lead nowhere
        assert result.reports == []
    else:
        assert [candidate.claim for candidate in result.candidates] == ["iterate"]
        assert result.reports[-1].work == steps
    if solver.startswith("logit"):
        *_, snapshot, last = (report.candidate.profile.probabilities for report in result.reports)
        assert np.array_equal(last, snapshot)
        assert (np.ptp(last) == 0) == (steps == 1), "the path begins at uniform play"


def test_method_that_never_calls_back_is_killed(tmp_path: Path) -> None:
    """Iterated polymatrix approximation goes on for ever on the prisoner's dilemma."""
    game, solver = ("--game", "prisoners_dilemma"), ("--solver", "gambit_ipa")
    ended = eqbench_command("run", *game, *solver, "--timeout", "0.1", "--json", cwd=tmp_path)
    (cell,) = ended.json["cells"]
    assert (ended.code, cell["status"]) == (0, "timeout")
    assert "killed" in cell["reason"]
