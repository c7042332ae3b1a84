"""From equilibria to rounding to rational ones whose regret is exactly 0."""

from __future__ import annotations

import importlib
import itertools
from fractions import Fraction

import numpy as np
import pytest
from solver_cases import odd_games, plans_of, with_payoffs

import eqbench
from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.verification import verify, verify_exactly

rational = importlib.import_module("eqbench.solvers.ncp.rational")
polishing = importlib.import_module("eqbench.solvers.polish.plans")
PlanGame = polishing.PlanGame


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
    budget = eqbench.Budget(iterations=5_000, target=1e-8)
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
    run = eqbench.solve(game, "sequence_lp", eqbench.Budget(time_s=600))
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
    result = eqbench.solve(game, "semismooth", eqbench.Budget(time_s=600))
    asked: list[int] = []
    near = result.equilibria[0].profile.probabilities
    assert exact_near(game, near, stop=lambda: not asked.append(1)) is None
    assert len(asked) == 1


def test_games_in_floats_and_plans_of_another_shape_are_refused() -> None:
    with pytest.raises(UsageError, match="floating-point numbers; exact equilibria need rational"):
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
