"""Regimes of made-up trajectories, and of games about which something is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import eqbench
from eqbench.dynamics import Trajectory
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.studies.flow.regimes import LEAST_TIMES, WORDS, Regime, classify
from eqbench.studies.requests import SPACING

TIMES = np.arange(8001) * 0.25
SLOW, FAST = 2 * np.pi / 17, 2 * np.pi / (7 * np.sqrt(2))


def components(regime: Regime) -> tuple[tuple[int, ...], ...]:
    return tuple(fact.actions for fact in regime.facts)


def flow(influence: Any, sizes: tuple[int, ...] | None = None) -> Any:
    """A flow whose Jacobian is the same everywhere; all sets have two actions if none is said."""
    matrix = np.array(influence, dtype=float)
    sizes = sizes or (2,) * len(matrix)
    choices = Choices.of_blocks(np.concatenate(([0], np.cumsum(sizes))))
    return SimpleNamespace(choices=choices, state_jacobian=lambda state: matrix)


def trajectory(*log_odds: Any, growth: Any = None, ending: str = "") -> Trajectory:
    """A trajectory with these log-odds; its tangent grows like the time."""
    times = TIMES[: len(log_odds[0])]
    growth = np.log1p(times) if growth is None else growth
    tangent = np.eye(1, len(log_odds))[0]
    states = np.array(log_odds).T
    return Trajectory(times, states, np.zeros((len(times), 2)), growth, tangent, ending)


def circle(frequency: float, size: float = 2.0) -> tuple[Any, Any]:
    return size * np.sin(frequency * TIMES), size * np.cos(frequency * TIMES)


SWINGS = TIMES * np.sin(4 * np.log1p(TIMES)), TIMES * np.cos(4 * np.log1p(TIMES))
PAIR = [[0, 1], [-1, 0]]


def test_a_closed_orbit_is_periodic_with_its_period() -> None:
    regime = classify(flow(PAIR), trajectory(*circle(SLOW)))
    assert regime.word == "periodic"
    assert components(regime) == ((1, 3),)
    (facts,) = regime.facts
    assert facts.loops == 1
    assert facts.period == pytest.approx(17, rel=1e-6)
    assert facts.lines[0].frequency == pytest.approx(1 / 17, rel=1e-3)
    assert facts.line_share > 0.999
    assert regime.transient == 0
    assert "17" in regime.reason


class Motion(NamedTuple):
    """A made-up motion and what it is; `periods` are 0 for none, and None if they do not matter."""

    influence: Any
    log_odds: Any
    word: str
    parts: tuple[tuple[int, ...], ...] = ((1, 3),)
    periods: Sequence[float] | None = (17,)
    growth: Any = None
    reason: str = ""


TWO_PAIRS = np.kron(np.eye(2), PAIR)
ONE_WAY = TWO_PAIRS + 0.01 * (np.arange(16).reshape(4, 4) == 12)
CIRCLES, APART, JOINT = (*circle(SLOW), *circle(FAST)), ((1, 3), (5, 7)), ((1, 3, 5, 7),)
IN_RATIO = *circle(SLOW), *circle(1.5 * SLOW)
ONCE, THRICE = np.sin(SLOW * TIMES), np.sin(3 * SLOW * TIMES)
NOISE = np.random.default_rng(1).normal(size=(2, len(TIMES) + 8))
SMOOTH = [np.convolve(row, np.hanning(9), mode="valid")[: len(TIMES)] for row in NOISE]
DRIFT = np.add(circle(SLOW, 0.5), [0.002 * TIMES, 0 * TIMES])
MOTIONS = {
    "three loops": Motion(PAIR, (ONCE + 2 * THRICE, THRICE + 0.2 * ONCE), "periodic"),
    "two": Motion(TWO_PAIRS, CIRCLES, "quasi_periodic", APART, (17, 7 * np.sqrt(2))),
    "two in a small ratio": Motion(TWO_PAIRS, IN_RATIO, "periodic", APART, (17, 34 / 3)),
    "coupled": Motion(TWO_PAIRS + 0.1, CIRCLES, "quasi_periodic", JOINT, [0]),
    "coupled one way": Motion(ONE_WAY, CIRCLES, "quasi_periodic", JOINT, [0]),
    "chaos just ended": Motion(
        PAIR, circle(SLOW), "undecided", growth=0.05 * np.minimum(TIMES, 1300)
    ),
    "weak chaos": Motion(PAIR, circle(SLOW), "undecided", growth=0.007 * TIMES),
    "broad spectrum": Motion(PAIR, SMOOTH, "undecided", periods=[0]),
    "wide swings that do not grow": Motion(PAIR, circle(SLOW, 60.0), "periodic"),
    "drift": Motion(PAIR, DRIFT, "undecided", periods=None, reason="log-odds drift by"),
    "rest": Motion(PAIR, (0 * TIMES, 0 * TIMES + 1), "periodic", (), [], reason="rests"),
    "few times": Motion(
        PAIR, circle(np.pi), "undecided", periods=None, reason="8.0 times per turn of the 12"
    ),
    "few returns": Motion(
        PAIR, circle(np.pi / 250), "undecided", periods=None, reason="only 2 of the 24 turns"
    ),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_motion_has_its_word_its_components_and_their_periods(name: str) -> None:
    motion = MOTIONS[name]
    regime = classify(flow(motion.influence), trajectory(*motion.log_odds, growth=motion.growth))
    assert (regime.word, components(regime)) == (motion.word, motion.parts)
    assert motion.reason in regime.reason
    assert (regime.transient is None) == (motion.word == "undecided")
    if motion.periods is not None:
        periods = [fact.period or 0 for fact in regime.facts]
        assert periods == pytest.approx(motion.periods, rel=1e-6)


def test_exponential_growth_is_chaos_without_an_end() -> None:
    regime = classify(flow(PAIR), trajectory(*circle(SLOW), growth=0.03 * TIMES))
    assert regime.word == "chaotic_transient"
    assert regime.lyapunov == pytest.approx(0.03)
    assert [window.mean for window in regime.lyapunov_windows] == pytest.approx(
        [0.03] * len(regime.lyapunov_windows)
    )
    assert regime.lyapunov_windows[-1].end == TIMES[-1]
    assert regime.transient is None
    assert "still chaotic at the end of the time: 0.03 since t = 1800" in regime.reason


@pytest.mark.parametrize(
    ("growth", "said"),
    [
        (0.05 * np.minimum(TIMES, 1650), "no faster than in regular motion"),
        (
            0.05 * np.minimum(TIMES, 1500) + 0.01 * np.maximum(TIMES - 1500, 0),
            "less than half as fast, at 0.01 since t = 1800",
        ),
    ],
)
def test_chaos_that_dies_down_before_the_end_is_said_to_be_so_on_average(
    growth: Any, said: str
) -> None:
    regime = classify(flow(PAIR), trajectory(*circle(SLOW), growth=growth))
    assert regime.word == "chaotic_transient"
    assert "still chaotic" not in regime.reason
    assert said in regime.reason
    (since,) = re.findall(r"since t = (\S+) a small displacement", regime.reason)
    assert 1300 < float(since) <= 1650


def test_chaos_that_ends_in_the_first_half_is_a_transient_of_that_length() -> None:
    growth = 0.05 * np.minimum(TIMES, 400)
    regime = classify(flow(PAIR), trajectory(*circle(SLOW), growth=growth))
    assert regime.word == "periodic"
    assert 200 < regime.transient <= 400


def test_longer_and_longer_dwelling_at_faces_is_absorption_even_if_chaotic() -> None:
    regime = classify(flow(PAIR), trajectory(*SWINGS, growth=0.03 * TIMES))
    assert regime.word == "boundary_absorption"
    assert regime.near_face_fraction > 0.95
    assert regime.near_face_windows[0].mean < regime.near_face_fraction
    assert 0 < regime.transient < 200
    assert not regime.to_zero
    assert not regime.to_one


def test_absorption_needs_no_tangent_and_the_rest_does() -> None:
    without = trajectory(*SWINGS)._replace(growth=None, tangent=None)
    regime = classify(flow(PAIR), without)
    assert (regime.word, regime.lyapunov) == ("boundary_absorption", None)
    for log_odds in (circle(SLOW), (0 * TIMES, 0 * TIMES)):
        without = trajectory(*log_odds)._replace(growth=None, tangent=None)
        regime = classify(flow(PAIR), without)
        assert regime.word == "undecided"
        assert "only absorption could be told" in regime.reason


def test_limits_are_told_from_what_settles_and_what_only_visits() -> None:
    down, up = -0.1 * TIMES + np.sin(TIMES), 0.02 * TIMES
    settling = 0.3 + np.exp(-0.05 * TIMES)
    slowly_down = -np.log1p(100 * TIMES)
    visiting = 30 * np.sin(SLOW * TIMES)
    near_but_swinging = -10 + np.sin(SLOW * TIMES)
    regime = classify(
        flow(np.ones((6, 6))),
        trajectory(down, up, settling, slowly_down, visiting, near_but_swinging),
    )
    assert regime.to_zero == (1, 7)
    assert regime.to_one == (3,)
    assert regime.at_zero == (11,)
    assert regime.at_one == ()
    assert regime.frozen == (5,)
    assert components(regime) == ((9,),)
    assert regime.facts[0].actions == (9,)
    # log 999 is reached by `up` at 345 and by `down` before.
    assert 345 < regime.transient < 346


def test_what_comes_back_from_a_face_has_no_limit_there() -> None:
    returning = -150 + 0.07 * TIMES
    regime = classify(flow(np.eye(4)), trajectory(*circle(SLOW), returning, -returning))
    assert not regime.to_zero
    assert not regime.to_one
    assert (regime.at_zero, regime.at_one) == ((5,), (7,))
    assert components(regime) == ((1,), (3,))
    assert regime.word == "undecided"


@pytest.mark.parametrize(
    "log_odds",
    [
        pytest.param(-1000 + 0.1 * TIMES, id="on its way back from farther than it moved"),
        pytest.param(-1000 + 0.2 * np.abs(TIMES - 1800), id="on its way back since lately"),
        pytest.param(-1000 + np.sin(TIMES), id="without a trend"),
        pytest.param(np.full_like(TIMES, -1e300), id="so large that rounding hides its motion"),
        pytest.param(-1e16 - 2.0 * (TIMES > 1500), id="so large that rounding feigns motion"),
    ],
)
def test_what_may_return_from_a_face_has_no_limit_and_nothing_converges(log_odds: Any) -> None:
    regime = classify(flow(np.eye(2)), trajectory(log_odds, 1 + 0 * TIMES))
    assert regime.to_zero == ()
    assert (regime.at_zero, regime.frozen, components(regime)) == ((1,), (3,), ())
    assert (regime.word, regime.transient) == ("undecided", None)
    assert "may return: 1" in regime.reason


def test_what_is_constant_within_rounding_of_a_face_has_its_limit_there() -> None:
    constant = [value + 0 * TIMES for value in (-40, 40, -10)]
    regime = classify(flow(np.eye(3)), trajectory(*constant))
    assert (regime.to_zero, regime.to_one) == ((1,), (3,))
    assert (regime.at_zero, regime.at_one, regime.frozen) == ((), (), (5,))
    assert regime.word == "boundary_absorption"
    assert regime.reason.startswith("converges: nothing moves any more")


def test_dwelling_at_a_face_for_the_last_half_is_no_limit_where_swings_grow() -> None:
    dwelling = np.where(TIMES < 900, 30 * np.sin(SLOW * TIMES), 900 - 30 - TIMES)
    regime = classify(flow(np.ones((3, 3))), trajectory(*SWINGS, dwelling))
    assert regime.word == "boundary_absorption"
    assert regime.reason.startswith("switches along faces with growing dwell times")
    assert (regime.to_zero, regime.at_zero) == ((), (5,))
    assert components(regime) == ((1, 3),)


def test_what_may_return_counts_where_moving_log_odds_are_tested() -> None:
    near = -10 + np.sin(TIMES)
    regime = classify(flow(np.ones((3, 3))), trajectory(*circle(SLOW), near))
    assert regime.at_zero == (5,)
    assert components(regime) == ((1, 3),)
    assert regime.near_face_fraction == pytest.approx(1 / 3)
    assert regime.word == "quasi_periodic"


def test_actions_of_larger_sets_count_one_by_one() -> None:
    # Of three actions the last dies out, and the others swing against each other.
    regime = classify(flow(np.ones((2, 2)), (3,)), trajectory(np.sin(SLOW * TIMES), -0.1 * TIMES))
    assert regime.to_zero == (2,)
    assert regime.to_one == ()
    assert components(regime) == ((0, 1),)
    assert regime.word == "periodic"
    regime = classify(flow(np.ones((2, 2)), (3,)), trajectory(0.1 * TIMES, -0.1 * TIMES))
    assert regime.to_zero == (0, 2)
    assert regime.to_one == (1,)
    assert (regime.word, components(regime)) == ("boundary_absorption", ())


def test_the_regime_does_not_depend_on_where_the_clock_stands() -> None:
    early = trajectory(*circle(SLOW), growth=0.05 * np.minimum(TIMES, 400))
    late = early._replace(times=early.times + 1000)
    first, second = classify(flow(PAIR), early), classify(flow(PAIR), late)
    assert second.transient == first.transient + 1000
    assert _bare(second) == _bare(first)


def _bare(regime: Regime) -> Regime:
    return replace(
        regime, reason="", transient=None, facts=(), lyapunov_windows=(), near_face_windows=()
    )


def test_uneven_grids_are_refused_and_short_ones_leave_it_undecided() -> None:
    good = trajectory(*circle(SLOW))
    with pytest.raises(UsageError, match=r"0\.375"):
        classify(flow(PAIR), good._replace(times=good.times**1.5 + good.times))
    few = LEAST_TIMES - 1
    regime = classify(flow(PAIR), trajectory(*(row[:few] for row in circle(SLOW))))
    assert (regime.word, regime.near_face_fraction) == ("undecided", None)


def test_an_early_end_is_said() -> None:
    regime = classify(flow(PAIR), trajectory(*circle(SLOW), ending="the step became 0"))
    assert regime.word == "periodic"
    assert regime.reason.endswith("ended early: the step became 0")
    few = trajectory(*(row[:9] for row in circle(SLOW)), ending="the step became 0")
    regime = classify(flow(PAIR), few)
    assert regime.word == "undecided"
    assert "9 times" in regime.reason
    assert "the step became 0" in regime.reason


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


@pytest.mark.parametrize(("spec", "horizon"), [("kuhn2", 3000), ("leduc", 600)])
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
