"""Polishing plans near an equilibrium to machine precision, and to rational equilibria."""

from __future__ import annotations

import importlib
import itertools
from fractions import Fraction

import numpy as np
import pytest
from helpers.solver_cases import bimatrix, max_regret, odd_games, plans_of, solved, with_payoffs

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.verification import verify, verify_exactly

polishing = importlib.import_module("eqbench.solvers.polish.plans")
PlanGame = polishing.PlanGame

GAMES = (
    "kuhn2",
    "kuhn3",
    "kuhn3_reduced",
    "kuhn(players=3,cards=6)",
    "random_tree(players=3,depth=5,actions=3,seed=1)",
    "random(players=3,actions=3,seed=2)",
    "shapley",
    "jordan",
)


def noisy(plans: np.ndarray, noise: float, seed: int = 3) -> np.ndarray:
    """Weights (S,) near plans, which violate flow."""
    return plans + noise * np.random.default_rng(seed).uniform(-1, 1, len(plans))


# -- what comes out --------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [1e-9, 1e-7, 1e-5])
@pytest.mark.parametrize("spec", GAMES)
def test_noise_that_violates_flow_is_polished_away(spec: str, noise: float) -> None:
    game, plans = solved(spec)
    given = noisy(plans, noise)
    kept = given.copy()
    made = polishing.polish(game, given)
    np.testing.assert_array_equal(given, kept)
    assert max(max_regret(game, made.behavior), made.regret) <= 1e-14 * game.tree.payoff_range
    assert made.regret == game.payoff_model().regrets(made.behavior).max()
    np.testing.assert_allclose(plans_of(game, made.behavior), made.weights, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("others", "later", "played"),
    [
        ([0.5, 0.5], "later 0", [0, 1]),  # P2 leads there: a best response
        ([0.5, 0.5], "later 1", [0, 1]),
        ([1, 0], "later 1", [0.5, 0.5]),  # nobody does
    ],
)
def test_behavior_where_the_own_plan_does_not_lead(
    others: list[float], later: str, played: list[float]
) -> None:
    """P1 leaves at once; what they would do later, and P2 then, nobody reaches."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "start", ["leave", "stay"])
    builder.terminal((root, 0), [5, 0])
    reply = builder.decision((root, 1), 1, "reply", ["left", "right"])
    for move in range(2):
        node = builder.decision((reply, move), 0, f"later {move}", ["low", "high"])
        builder.terminal((node, 0), [1, 1 - move])
        builder.terminal((node, 1), [2, move])
    game = Game("escape", builder.tree())
    behavior = np.array([1, 0, 0.5, 0.5, 0.5, 0.5, *others])
    made = polishing.polish(game, plans_of(game, behavior))
    start = game.tree.action_start[game.tree.infoset_of(0, later)]
    assert made.behavior[start : start + 2].tolist() == played
    assert made.behavior[-2:].tolist() == others


@pytest.mark.parametrize("name", odd_games())
def test_singular_and_empty_games_are_polished_without_complaint(name: str) -> None:
    game = odd_games()[name]
    weights = np.random.default_rng(0).uniform(-1, 1, game.sequence_form.n_sequences)
    made = polishing.polish(game, weights)
    assert max_regret(game, made.behavior) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize("weights", [np.ones(3), np.full(8, np.nan), np.full(8, np.inf)])
def test_weights_that_are_none_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(UsageError, match="sequences"):
        polishing.polish(eqbench.load_game("shapley"), weights)


def test_weights_are_shared_out_also_if_negative_or_too_small_for_frequencies() -> None:
    game = bimatrix([[1, 0], [0, 1]], [[0, 1], [1, 0]])
    feasible = PlanGame(game).feasible(np.array([9, 1, -3, 1, 1, 3]))
    assert feasible.tolist() == [1, 1, 0, 1, 0.25, 0.75]
    made = polishing.polish(game, np.array([1, 1, 0.5, 0.5, 1e-320, 1e-320]))
    assert made.behavior.tolist() == [0.5] * 4
    assert made.regret == 0


# -- the steps -------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["kuhn3", "random(players=3,actions=3,seed=2)"])
def test_steps_that_make_things_worse_are_discarded(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, plans = solved(spec)
    plan_game = PlanGame(game)
    start = polishing.measured(plan_game, plan_game.feasible(noisy(plans, 1e-6)))
    proposals = []

    def worse(_: object, weights: np.ndarray, *__: object) -> np.ndarray:
        made = plan_game.feasible(weights + np.abs(noisy(0 * weights, 0.1)))
        proposals.append(polishing.measured(plan_game, made).regret)
        return made

    for step in ("solve_on", "linearized", "descended"):
        monkeypatch.setattr(polishing, step, worse)
    made = polishing.polish(game, noisy(plans, 1e-6))
    assert min(proposals) > start.regret  # the broken steps were there to be taken
    assert made.regret == start.regret
    np.testing.assert_array_equal(made.weights, start.weights)


NEWTON, SEMISMOOTH = {"corrected": lambda *_: []}, {"MOST_ACTIONS": 0}
LINEAR = {"closer": lambda *_: None}


@pytest.mark.parametrize(
    "others",
    [SEMISMOOTH | LINEAR, NEWTON | LINEAR, NEWTON | SEMISMOOTH],
    ids=["newton", "semismooth", "linear"],
)
def test_steps_of_one_kind_alone_reach_the_equilibrium(
    monkeypatch: pytest.MonkeyPatch, others: dict[str, object]
) -> None:
    game, plans = solved("kuhn3")
    for name, value in others.items():
        monkeypatch.setattr(polishing, name, value)
    plan_game = PlanGame(game)
    start = plan_game.feasible(noisy(plans, 1e-5))
    assert polishing.measured(plan_game, start).regret > 1e-7
    assert polishing.polish(game, start).regret <= 1e-13


rational = importlib.import_module("eqbench.solvers.ncp.rational")


def exact_near(game: Game, behavior: np.ndarray, **options: object) -> tuple[Fraction, ...] | None:
    """The rational equilibrium near a behavior profile (A,)."""
    return rational.exact_equilibrium(game, plans_of(game, behavior), **options)


def exact_regret(game: Game, frequencies: tuple[Fraction, ...]) -> Fraction:
    """Max regret, exactly, measured on the tree."""
    profile = BehaviorProfile.of_exact(game.tree, frequencies)
    return max(verify_exactly(game.tree, profile).regrets)


def minority_game() -> Game:
    """Three players choose A or B; B gains 1, 0 or -2 if none, one or two others choose it.

    All three are indifferent only if ``(1-p)(1-q) = 2pq`` for each pair of frequencies of B,
    which gives ``p = sqrt(2) - 1``; near it there is no other equilibrium.
    """
    gain = (1, 0, -2)
    rows = [
        [gain[sum(moves) - move] * move for move in moves]
        for moves in itertools.product(range(2), repeat=3)
    ]
    return with_payoffs(eqbench.load_game("random(players=3,actions=2)"), rows)


ROOT = 2**0.5 - 1
IRRATIONAL = np.array([1 - ROOT, ROOT] * 3)


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn3_reduced", "kuhn2", "jordan"])
@pytest.mark.parametrize("seed", range(4))
def test_there_is_an_exact_equilibrium_near_each_end_of_learning(spec: str, seed: int) -> None:
    game = eqbench.load_game(spec)
    budget = eqbench.Limits(iterations=5_000, target=1e-8)
    run = eqbench.solve(game, "pcfr_plus(start=random)", budget, seed=seed)
    near = run.equilibria[0].profile.probabilities
    found = exact_near(game, near)
    assert found is not None
    assert exact_regret(game, found) == 0
    assert rational.ExactGame(game).is_equilibrium(found)
    # payoffs are those of the equilibrium nearby, not of any
    payoffs = verify(game.tree, BehaviorProfile.of(game.tree, near)).payoffs
    exact = BehaviorProfile.of_exact(game.tree, found)
    np.testing.assert_allclose(verify(game.tree, exact).payoffs, payoffs, atol=5e-3)


def test_denominators_beyond_those_of_floats_are_read() -> None:
    game = eqbench.load_game("random_tree(depth=5,actions=3,seed=2,zero_sum=true)")
    run = eqbench.solve(game, "sequence_lp", eqbench.Limits(timeout_s=600))
    found = exact_near(game, run.equilibria[0].profile.probabilities)
    assert found is not None
    assert max(f.denominator for f in found) > 10**6
    assert exact_regret(game, found) == 0


@pytest.mark.parametrize("name", odd_games())
def test_odd_games_have_exact_equilibria(name: str) -> None:
    game = odd_games()[name]
    found = exact_near(game, BehaviorProfile.uniform(game.tree).probabilities)
    assert found is not None
    assert exact_regret(game, found) == 0


# -- what has none ---------------------------------------------------------------------------------


def test_irrational_equilibrium_gives_none() -> None:
    game = minority_game()
    made = polishing.polish(game, np.append(np.ones(3), IRRATIONAL + 1e-7))
    assert made.regret <= 1e-15
    np.testing.assert_allclose(made.behavior[1::2], ROOT, atol=1e-15)
    assert exact_near(game, IRRATIONAL + 1e-7) is None


def test_what_is_far_from_any_equilibrium_gives_none(monkeypatch: pytest.MonkeyPatch) -> None:
    game = eqbench.load_game("kuhn3")
    monkeypatch.setattr(rational, "improve", polishing.measured)  # a polish that does not help
    assert exact_near(game, BehaviorProfile.uniform(game.tree).probabilities) is None


def test_rounding_that_only_looks_exact_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    game = minority_game()
    near = polishing.polish(game, np.append(np.ones(3), IRRATIONAL))
    monkeypatch.setattr(rational, "READ", (1e-15,))
    width = Fraction(1e-15)
    made = rational.simplest_between(Fraction(ROOT) - width, Fraction(ROOT) + width)
    rounded = (1 - made, made) * 3
    assert game.payoff_model().regrets(np.array(rounded, dtype=float)).max() <= 1e-14
    assert 0 < exact_regret(game, rounded) < 1e-14
    assert rational.read_off(PlanGame(game), rational.ExactGame(game), near) is None


def test_search_stops_when_it_is_told_to() -> None:
    game = eqbench.load_game("kuhn(players=3,cards=5)")
    result = eqbench.solve(game, "semismooth", eqbench.Limits(timeout_s=600))
    asked: list[int] = []
    near = result.equilibria[0].profile.probabilities
    assert exact_near(game, near, stop=lambda: not asked.append(1)) is None
    assert len(asked) == 1


def test_games_in_floats_and_plans_of_another_shape_are_refused() -> None:
    with pytest.raises(UsageError, match="equilibria"):
        rational.exact_equilibrium(eqbench.load_game("random(players=3,actions=3)"), np.ones(12))
    with pytest.raises(UsageError, match="shape"):
        rational.exact_equilibrium(eqbench.load_game("shapley"), np.ones(5))


# -- the pieces ------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn(players=2,cards=3,pot=5/2)", "jordan"])
def test_exact_check_and_direct_values_agree_with_verifier_and_kernels(spec: str) -> None:
    game = eqbench.load_game(spec)
    exact, rng = rational.ExactGame(game), np.random.default_rng(0)
    frequencies: list[Fraction] = []
    for actions in game.tree.infoset_actions:
        counts = [int(c) for c in rng.integers(1, 6, len(actions))]
        frequencies += [Fraction(c, sum(counts)) for c in counts]
    assert exact_regret(game, tuple(frequencies)) > 0
    assert not exact.is_equilibrium(frequencies)
    weights = plans_of(game, np.array(frequencies, dtype=float))
    whole = np.array([int(Fraction(w) * 2**200) for w in weights], dtype=object)
    values = exact.direct_values(whole) / (exact.factor * 2 ** (200 * (game.tree.n_players - 1)))
    expected = PlanGame(game).model.direct_values(weights)
    np.testing.assert_allclose(values.astype(float), expected, atol=1e-15)


def test_exact_check_sees_what_floats_do_not() -> None:
    exact = rational.ExactGame(eqbench.load_game("rock_paper_scissors"))
    third, tiny = Fraction(1, 3), Fraction(1, 10**30)
    assert exact.is_equilibrium([third] * 6)
    for row in (
        [third + tiny, third - tiny, third],
        [third, third, third + tiny],  # no distribution, nor is the next
        [Fraction(2), Fraction(-1), Fraction(0)],
    ):
        assert not exact.is_equilibrium([*row, *[third] * 3])
    nothing_at_stake = rational.ExactGame(odd_games()["all payoffs zero"])
    for first, second in ((Fraction(1, 2), Fraction(1)), (Fraction(2), Fraction(-1))):
        assert not nothing_at_stake.is_equilibrium([first, second, *[third] * 3])


def test_refinement_gives_square_roots_to_hundreds_of_bits() -> None:
    game = minority_game()
    near = polishing.polish(game, np.append(np.ones(3), IRRATIONAL))
    played = near.weights > 0
    equations = polishing.Equations(PlanGame(game), near.weights, played, played, ())
    weights = rational.refined(rational.ExactGame(game), equations, near.weights)
    root = Fraction(int(weights[4]), 2**rational.BITS) + 1
    assert abs(root**2 - 2) < Fraction(1, 2**450)


def test_simplest_fraction_has_the_smallest_denominator() -> None:
    assert rational.simplest_between(Fraction(2, 7), Fraction(2, 7)) == Fraction(2, 7)
    assert rational.simplest_between(Fraction(314, 100), Fraction(3143, 1000)) == Fraction(22, 7)
    rng = np.random.default_rng(0)
    for low, width in rng.uniform(0, [0.9, 0.05], (200, 2)).tolist():
        first, last = Fraction(low), Fraction(low) + Fraction(width)
        found = rational.simplest_between(first, last)
        assert first <= found <= last
        for q in range(1, found.denominator):
            assert (first * q).__ceil__() > last * q
