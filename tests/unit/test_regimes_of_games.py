"""Regimes of the replicator dynamics of games about which something is known."""

from __future__ import annotations

import numpy as np
import pytest

import eqbench
from eqbench.studies.flow.regimes import WORDS, Regime, classify
from eqbench.studies.requests import SPACING


def components(regime: Regime) -> tuple[tuple[int, ...], ...]:
    return tuple(fact.actions for fact in regime.facts)


def regime_of(spec: str, seed: int, *, horizon: float, spacing: float, scale: float = 1) -> Regime:
    flow = eqbench.load_solver("replicator").flow(eqbench.load_game(spec))
    rng = np.random.default_rng(seed)
    start = rng.normal(scale=scale, size=flow.choices.size)
    tangent = rng.normal(size=flow.choices.size)
    times = np.arange(round(horizon / spacing) + 1) * spacing
    return classify(flow, flow.integrate(start, times, tangent=tangent / np.linalg.norm(tangent)))


def named(spec: str, actions: tuple[int, ...]) -> set[str]:
    """Player and label of the information sets whose second actions these are."""
    tree = eqbench.load_game(spec).tree
    owner = np.searchsorted(tree.action_start, actions, side="right") - 1
    return {f"P{tree.infoset_player[i] + 1}|{tree.infoset_labels[i]}" for i in owner}


def test_small_swings_of_matching_pennies_have_the_period_of_their_linearization() -> None:
    # With payoffs of 1 and -1 the log-odds turn with angular velocity 1 around the equilibrium.
    regime = regime_of("matching_pennies", 3, horizon=400, spacing=0.2, scale=0.01)
    assert regime.word == "periodic"
    assert regime.facts[0].period == pytest.approx(2 * np.pi, rel=1e-4)
    assert not regime.to_zero
    assert not regime.to_one


@pytest.mark.parametrize("seed", [3, 4])
def test_rock_paper_scissors_moves_on_a_torus(seed: int) -> None:
    # Sato, Akiyama and Farmer 2002: integrable if the payoffs for ties add up to zero.
    regime = regime_of("rock_paper_scissors", seed, horizon=1000, spacing=0.1)
    assert regime.word == "quasi_periodic"
    assert components(regime) == ((0, 1, 2, 3, 4, 5),)


@pytest.mark.parametrize("horizon", [1000, 10000])
def test_play_of_shapleys_game_dwells_longer_and_longer(horizon: float) -> None:
    # All six actions come back, so none of them has a limit, however long it dwells.
    regime = regime_of("shapley", 5, horizon=horizon, spacing=0.25)
    assert regime.word == "boundary_absorption"
    assert regime.reason.startswith("switches along faces")
    assert not regime.to_zero
    assert not regime.to_one
    (moving,) = components(regime)
    assert sorted(moving + regime.at_zero + regime.at_one) == [0, 1, 2, 3, 4, 5]
    assert regime.near_face_fraction > 0.95
    assert regime.transient < 100


def test_dominated_actions_die_out() -> None:
    spec = "prisoners_dilemma"
    regime = regime_of(spec, 6, horizon=40, spacing=0.05)
    assert sorted(regime.to_zero + regime.to_one) == [1, 3]
    assert regime.word == "boundary_absorption"
    assert components(regime) == ()
    assert regime.reason.startswith("converges: nothing moves any more")


def test_case_1_of_skp_is_periodic() -> None:
    # Billingham 2017, section 4.2.1: a1, a2 and c1 go to 0; b3 and d2 vary periodically.
    spec = "skp(pot=2.4)"
    regime = regime_of(spec, 7, horizon=3000, spacing=SPACING)
    assert regime.word == "periodic"
    assert named(spec, regime.to_zero) >= {"P1|4:", "P2|4:K", "P1|3:KKB"}
    (component,) = components(regime)
    assert named(spec, component) == {"P3|2:KK", "P2|3:KKBF"}
    assert regime.lyapunov < 1e-3


def test_case_4_of_skp_is_two_oscillators() -> None:
    # Billingham 2017, section 4.5: a2 and c1 go to 1, c3 to 0; periodic on a centre manifold
    # whose oscillatory part has four dimensions.
    spec = "skp(pot=3.7)"
    regime = regime_of(spec, 8, horizon=3000, spacing=SPACING)
    assert regime.word == "quasi_periodic"
    assert named(spec, regime.to_one) == {"P2|4:K", "P1|3:KKB"}
    assert "P3|3:KB" in named(spec, regime.to_zero)
    parts = [named(spec, part) for part in components(regime)]
    assert {"P2|2:K", "P1|3:KBF"} in parts
    assert {"P3|2:KK", "P2|3:KKBF"} in parts
    assert all(fact.period for fact in regime.facts)


def test_in_case_5_of_skp_chaos_is_no_regular_motion() -> None:
    # Billingham 2017, section 4.6: a complicated transient, then absorption at the boundary.
    regime = regime_of("skp(pot=4.2)", 9, horizon=3000, spacing=SPACING)
    assert regime.word in {"chaotic_transient", "boundary_absorption"}
    assert max(window.mean for window in regime.lyapunov_windows) > 0.01


def test_log_odds_too_large_to_change_have_no_limits() -> None:
    regime = regime_of("skp(pot=2.5)", 0, horizon=300, spacing=SPACING, scale=1e300)
    assert (regime.word, regime.to_zero, regime.to_one) == ("undecided", (), ())


@pytest.mark.parametrize(("spec", "horizon"), [("kuhn2", 3000), ("kuhn3", 1000), ("leduc", 600)])
def test_every_action_of_a_poker_game_has_one_fate(spec: str, horizon: float) -> None:
    regime = regime_of(spec, 10, horizon=horizon, spacing=1)
    moving = [action for part in components(regime) for action in part]
    at = [*regime.at_zero, *regime.at_one]
    fates = [*regime.to_zero, *regime.to_one, *at, *regime.frozen, *moving]
    tree = eqbench.load_game(spec).tree
    sizes = np.diff(tree.action_start)
    assert len(fates) == len(set(fates)) == (sizes[sizes > 2].sum() + (sizes == 2).sum())
    assert regime.word in WORDS
    assert 0 <= regime.near_face_fraction <= 1
