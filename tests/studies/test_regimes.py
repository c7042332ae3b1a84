"""Regimes of made-up trajectories, and of games about which something is known."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from msgspec import to_builtins

import eqbench
from eqbench.dynamics import Trajectory
from eqbench.errors import UsageError
from eqbench.model.choices import Choices
from eqbench.studies.flow import regimes
from eqbench.studies.flow.regimes import LEAST_TIMES, WORDS, Regime, classify
from eqbench.studies.requests import SPACING

FIGURES = Path(__file__).parents[1] / "data" / "regimes.json"
TIMES = np.arange(8001) * 0.25
SLOW, FAST = 2 * np.pi / 17, 2 * np.pi / (7 * np.sqrt(2))
ENDS = ("to_zero", "to_one", "at_zero", "at_one", "frozen")


class Motion(NamedTuple):
    """A made-up motion: influence of sets on each other, log-odds, and what it is.

    `ends` are the actions that go to a face, stay at one or freeze; `periods` are 0 for none, and
    None if they do not matter. Its tangent grows like the time unless `growth` says otherwise, or
    is not measured if that is 0. All sets have two actions unless `sizes` are given.
    """

    influence: Any
    log_odds: Sequence[Any]
    word: str
    parts: Sequence[Sequence[int]] = ((1, 3),)
    periods: Sequence[float] | None = (17,)
    growth: Any = None
    reason: str = ""
    ends: dict[str, list[int]] | None = None
    transient: tuple[float, float] | None = None
    sizes: tuple[int, ...] = ()
    ending: str = ""

    def flow(self) -> Any:
        """A flow whose Jacobian is the same everywhere."""
        matrix = np.array(self.influence, dtype=float)
        sizes = self.sizes or (2,) * len(matrix)
        choices = Choices.of_blocks(np.concatenate(([0], np.cumsum(sizes))))
        return SimpleNamespace(choices=choices, state_jacobian=lambda state: matrix)

    def trajectory(self) -> Trajectory:
        times = TIMES[: len(self.log_odds[0])]
        growth = np.log1p(times) if self.growth is None else self.growth
        measured = not (isinstance(growth, int) and growth == 0)
        tangent = np.eye(1, len(self.log_odds))[0] if measured else None
        profits = np.zeros((len(times), 2))
        states = np.array(self.log_odds).T
        return Trajectory(
            times, states, profits, growth if measured else None, tangent, self.ending
        )

    def regime(self, **changes: Any) -> Regime:
        return classify(self.flow(), self.trajectory()._replace(**changes), LABELS)


LABELS = [str(action) for action in range(20)]


def numbers(actions: Sequence[str]) -> list[int]:
    return [int(action) for action in actions]


def components(regime: Regime) -> list[list[int]]:
    return [numbers(each.actions) for each in regime.components]


def circle(frequency: float, size: float = 2.0) -> tuple[Any, Any]:
    return size * np.sin(frequency * TIMES), size * np.cos(frequency * TIMES)


STILL = 0 * TIMES
SWINGS = TIMES * np.sin(4 * np.log1p(TIMES)), TIMES * np.cos(4 * np.log1p(TIMES))
PAIR, TWO_PAIRS = [[0, 1], [-1, 0]], np.kron(np.eye(2), [[0, 1], [-1, 0]])
ONE_WAY = TWO_PAIRS + 0.01 * (np.arange(16).reshape(4, 4) == 12)
HARDLY = TWO_PAIRS + 0.9e-5 * (np.arange(16).reshape(4, 4) == 12)
CIRCLES, APART, JOINT = (*circle(SLOW), *circle(FAST)), ((1, 3), (5, 7)), ((1, 3, 5, 7),)
IN_RATIO = *circle(SLOW), *circle(1.5 * SLOW)
OUT_OF_RATIO = *circle(SLOW), *circle(11 / 9 * SLOW)
ONCE, THRICE = np.sin(SLOW * TIMES), np.sin(3 * SLOW * TIMES)
NOISE = np.random.default_rng(1).normal(size=(2, len(TIMES) + 8))
SMOOTH = [np.convolve(row, np.hanning(9), mode="valid")[: len(TIMES)] for row in NOISE]
DRIFT = np.add(circle(SLOW, 0.5), [0.002 * TIMES, STILL])
DWELLING = np.where(TIMES < 900, 30 * np.sin(SLOW * TIMES), 900 - 30 - TIMES)
FATES = (
    *(-0.1 * TIMES + np.sin(TIMES), 0.02 * TIMES, 0.3 + np.exp(-0.05 * TIMES)),
    *(-np.log1p(100 * TIMES), 30 * np.sin(SLOW * TIMES), -10 + np.sin(SLOW * TIMES)),
)
ROUND = circle(SLOW)
RETURNING = {"at_zero": [1], "frozen": [3]}
MOTIONS = {
    "closed orbit": Motion(PAIR, ROUND, "periodic", reason="17", transient=(0, 0)),
    "early end": Motion(
        PAIR, ROUND, "periodic", ending="the step became 0", reason="ended early: the step became 0"
    ),
    "three loops": Motion(PAIR, (ONCE + 2 * THRICE, THRICE + 0.2 * ONCE), "periodic"),
    "two": Motion(TWO_PAIRS, CIRCLES, "quasi_periodic", APART, (17, 7 * np.sqrt(2))),
    "two in a small ratio": Motion(TWO_PAIRS, IN_RATIO, "periodic", APART, (17, 34 / 3)),
    "two in a larger ratio": Motion(
        TWO_PAIRS, OUT_OF_RATIO, "quasi_periodic", APART, (17, 17 * 9 / 11)
    ),
    "coupled": Motion(TWO_PAIRS + 0.1, CIRCLES, "quasi_periodic", JOINT, [0]),
    "coupled one way": Motion(ONE_WAY, CIRCLES, "quasi_periodic", JOINT, [0]),
    "hardly coupled": Motion(HARDLY, CIRCLES, "quasi_periodic", APART, None),
    "chaos just ended": Motion(PAIR, ROUND, "undecided", growth=0.05 * np.minimum(TIMES, 1300)),
    "weak chaos": Motion(PAIR, ROUND, "undecided", growth=0.007 * TIMES),
    "broad spectrum": Motion(PAIR, SMOOTH, "undecided", periods=[0]),
    "wide swings that do not grow": Motion(PAIR, circle(SLOW, 60.0), "periodic"),
    "drift": Motion(PAIR, DRIFT, "undecided", periods=None, reason="log-odds drift by"),
    "rest": Motion(
        PAIR, (STILL, STILL + 1), "periodic", (), [], reason="rests", ends={"frozen": [1, 3]}
    ),
    "few times": Motion(
        PAIR, circle(np.pi), "undecided", periods=None, reason="8.0 times per turn of the 12"
    ),
    "few returns": Motion(
        PAIR, circle(np.pi / 250), "undecided", periods=None, reason="only 2 of the 24 turns"
    ),
    "exponential growth": Motion(
        PAIR, ROUND, "chaotic_transient", growth=0.03 * TIMES, reason="0.03 since t = 1800"
    ),
    "chaos that ended lately": Motion(
        *(PAIR, ROUND, "chaotic_transient"),
        growth=0.05 * np.minimum(TIMES, 1650),
        reason="no faster than in regular motion",
    ),
    "chaos that slowed down": Motion(
        *(PAIR, ROUND, "chaotic_transient"),
        growth=0.05 * np.minimum(TIMES, 1500) + 0.01 * np.maximum(TIMES - 1500, 0),
        reason="less than half as fast, at 0.01 since t = 1800",
    ),
    "chaos in the first half": Motion(
        PAIR, ROUND, "periodic", growth=0.05 * np.minimum(TIMES, 400), transient=(200, 400)
    ),
    "growing swings": Motion(
        *(PAIR, SWINGS, "boundary_absorption"),
        periods=None,
        growth=0.03 * TIMES,
        transient=(1, 200),
        reason="switches along faces",
    ),
    "growing swings, not measured": Motion(
        PAIR, SWINGS, "boundary_absorption", periods=None, growth=0, transient=(1, 200)
    ),
    "orbit, not measured": Motion(
        PAIR, ROUND, "undecided", growth=0, reason="only absorption could be told"
    ),
    "rest, not measured": Motion(
        *(PAIR, (STILL, STILL), "undecided", (), []),
        growth=0,
        reason="only absorption could be told",
        ends={"frozen": [1, 3]},
    ),
    # log 999 is reached by the second at 345 and by the first before
    "all fates": Motion(
        *(np.ones((6, 6)), FATES, "periodic", [[9]], None),
        ends={"to_zero": [1, 7], "to_one": [3], "at_zero": [11], "frozen": [5]},
        transient=(345, 346),
    ),
    "coming back from a face": Motion(
        *(np.eye(4), (*ROUND, -150 + 0.07 * TIMES, 150 - 0.07 * TIMES), "undecided"),
        *([[1], [3]], None),
        ends={"at_zero": [5], "at_one": [7]},
    ),
    **{
        f"near a face {why}": Motion(
            *(np.eye(2), (log_odds, STILL + 1), "undecided", (), []),
            reason="may return: 1",
            ends=RETURNING,
        )
        for why, log_odds in {
            "on its way back from farther than it moved": -1000 + 0.1 * TIMES,
            "on its way back since lately": -1000 + 0.2 * np.abs(TIMES - 1800),
            "without a trend": -1000 + np.sin(TIMES),
            "so far that rounding hides its motion": np.full_like(TIMES, -1e300),
            "so far that rounding feigns motion": -1e16 - 2.0 * (TIMES > 1500),
        }.items()
    },
    "constant": Motion(
        *(np.eye(3), [value + STILL for value in (-40, 40, -10)], "boundary_absorption", (), []),
        reason="converges: nothing moves any more",
        ends={"to_zero": [1], "to_one": [3], "frozen": [5]},
        transient=(0, 0),
    ),
    "dwelling where swings grow": Motion(
        *(np.ones((3, 3)), (*SWINGS, DWELLING), "boundary_absorption"),
        periods=None,
        reason="switches along faces with growing dwell times",
        ends={"at_zero": [5]},
        transient=(0, 2000),
    ),
    "one near a face": Motion(
        *(np.ones((3, 3)), (*ROUND, -10 + np.sin(TIMES)), "quasi_periodic"),
        periods=None,
        ends={"at_zero": [5]},
    ),
    # of three actions the last dies out, and the others swing against each other
    "larger set": Motion(
        *(np.ones((2, 2)), (np.sin(SLOW * TIMES), -0.1 * TIMES), "periodic", [[0, 1]]),
        ends={"to_zero": [2]},
        sizes=(3,),
        transient=(60, 90),
    ),
    "larger set without motion": Motion(
        *(np.ones((2, 2)), (0.1 * TIMES, -0.1 * TIMES), "boundary_absorption", (), []),
        ends={"to_zero": [0, 2], "to_one": [1]},
        sizes=(3,),
        transient=(60, 90),
    ),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_motion_has_its_word_its_ends_its_components_and_their_periods(name: str) -> None:
    motion = MOTIONS[name]
    regime = motion.regime()
    assert (regime.regime, components(regime)) == (motion.word, [*map(list, motion.parts)])
    assert motion.reason in regime.reason
    assert {end: numbers(own) for end in ENDS if (own := getattr(regime, end))} == (
        motion.ends or {}
    )
    settled = motion.word not in ("undecided", "chaotic_transient")
    assert (regime.transient is not None) == settled
    if motion.transient:
        assert motion.transient[0] <= regime.transient <= motion.transient[1]
    if motion.periods is not None:
        periods = [each.period or 0 for each in regime.components]
        assert periods == pytest.approx(motion.periods, rel=1e-6)


def figures(regime: Regime) -> dict[str, Any]:
    """All numbers of a regime, also those in its reason."""
    found = to_builtins(regime)
    found["reason"] = [float(text) for text in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", regime.reason)]
    return found


@pytest.mark.parametrize("name", MOTIONS)
def test_figures_of_a_motion_are_those_that_are_stored(name: str) -> None:
    """`python tests/studies/test_regimes.py` stores them; what changes is seen in the file."""
    assert_near(figures(MOTIONS[name].regime()), json.loads(FIGURES.read_text())[name])


def assert_near(found: Any, stored: Any) -> None:
    if isinstance(stored, dict):
        assert found.keys() == stored.keys()
        found, stored = [*found.values()], [stored[key] for key in found]
    if isinstance(stored, list):
        assert len(found) == len(stored)
        for one, other in zip(found, stored, strict=True):
            assert_near(one, other)
    elif isinstance(stored, float):
        assert found == pytest.approx(stored, rel=1e-5, abs=1e-9)
    else:
        assert found == stored


def test_regime_does_not_depend_on_where_the_clock_stands() -> None:
    motion = MOTIONS["chaos in the first half"]
    first, second = motion.regime(), motion.regime(times=TIMES + 1000)
    assert second.transient == first.transient + 1000
    assert (second.regime, components(second)) == (first.regime, components(first))
    assert second.lyapunov == pytest.approx(first.lyapunov)


def test_uneven_grids_are_refused_and_short_ones_leave_it_undecided() -> None:
    orbit = MOTIONS["closed orbit"]
    with pytest.raises(UsageError, match=r"0\.375"):
        orbit.regime(times=TIMES**1.5 + TIMES)
    for count, word in ((LEAST_TIMES - 1, "undecided"), (LEAST_TIMES, "undecided"), (9, "")):
        few = orbit._replace(log_odds=[row[:count] for row in ROUND], ending="the step became 0")
        regime = few.regime()
        assert regime.reason.endswith("the step became 0")
        assert (regime.near_face_fraction is None) == (count < LEAST_TIMES)
        assert word in regime.regime


@pytest.mark.parametrize(
    ("periods", "expected"),
    [([17.0], True), ([8.0, 1.0], True), ([9.0, 1.0], False), ([3.0, 2.0 + 1e-5], False)],
)
def test_periods_are_commensurate_in_small_whole_numbers(
    periods: list[float], expected: bool
) -> None:
    assert regimes._commensurate(periods) == expected


def test_windows_double_the_time_and_the_last_one_comes_last() -> None:
    regime = MOTIONS["exponential growth"].regime()
    ends = [(window.start, window.end) for window in regime.lyapunov_windows]
    assert ends[-2:] == [(500, 1000), (1000, 2000)]
    assert ends[0] == (31.25, 62.5)  # of 126 times, half of which would be too few
    assert [window.mean for window in regime.lyapunov_windows] == pytest.approx([0.03] * len(ends))
    assert regime.lyapunov == regime.lyapunov_windows[-1].mean


def regime_of(spec: str, seed: int, *, horizon: float, spacing: float, scale: float = 1) -> Regime:
    flow = eqbench.load_solver("replicator").flow(eqbench.load_game(spec))
    rng = np.random.default_rng(seed)
    start = rng.normal(scale=scale, size=flow.choices.size)
    tangent = rng.normal(size=flow.choices.size)
    times = np.arange(round(horizon / spacing) + 1) * spacing
    labels = [str(action) for action in range(flow.choices.n_actions)]
    path = flow.integrate(start, times, tangent=tangent / np.linalg.norm(tangent))
    return classify(flow, path, labels)


def named(spec: str, actions: Sequence[str]) -> set[str]:
    """Player and label of the information sets whose second actions these are."""
    tree = eqbench.load_game(spec).tree
    owner = np.searchsorted(tree.action_start, numbers(actions), side="right") - 1
    return {f"P{tree.infoset_player[i] + 1}|{tree.infoset_labels[i]}" for i in owner}


def test_small_swings_of_matching_pennies_have_the_period_of_their_linearization() -> None:
    # With payoffs of 1 and -1 the log-odds turn with angular velocity 1 around the equilibrium.
    regime = regime_of("matching_pennies", 3, horizon=400, spacing=0.2, scale=0.01)
    assert regime.regime == "periodic"
    assert regime.components[0].period == pytest.approx(2 * np.pi, rel=1e-4)
    assert not regime.to_zero
    assert not regime.to_one


@pytest.mark.parametrize("seed", [3, 4])
def test_rock_paper_scissors_moves_on_a_torus(seed: int) -> None:
    # Sato, Akiyama and Farmer 2002: integrable if the payoffs for ties add up to zero.
    regime = regime_of("rock_paper_scissors", seed, horizon=1000, spacing=0.1)
    assert regime.regime == "quasi_periodic"
    assert components(regime) == [[0, 1, 2, 3, 4, 5]]


@pytest.mark.parametrize("horizon", [1000, 10000])
def test_play_of_shapleys_game_dwells_longer_and_longer(horizon: float) -> None:
    # All six actions come back, so none of them has a limit, however long it dwells.
    regime = regime_of("shapley", 5, horizon=horizon, spacing=0.25)
    assert regime.regime == "boundary_absorption"
    assert regime.reason.startswith("switches along faces")
    assert not regime.to_zero
    assert not regime.to_one
    (moving,) = components(regime)
    assert sorted(moving + numbers([*regime.at_zero, *regime.at_one])) == [0, 1, 2, 3, 4, 5]
    assert regime.near_face_fraction > 0.95
    assert regime.transient < 100


def test_dominated_actions_die_out() -> None:
    spec = "prisoners_dilemma"
    regime = regime_of(spec, 6, horizon=40, spacing=0.05)
    assert sorted(regime.to_zero + regime.to_one) == ["1", "3"]
    assert regime.regime == "boundary_absorption"
    assert components(regime) == []
    assert regime.reason.startswith("converges: nothing moves any more")


def test_case_1_of_skp_is_periodic() -> None:
    # Billingham 2017, section 4.2.1: a1, a2 and c1 go to 0; b3 and d2 vary periodically.
    spec = "skp(pot=2.4)"
    regime = regime_of(spec, 7, horizon=3000, spacing=SPACING)
    assert regime.regime == "periodic"
    assert named(spec, regime.to_zero) >= {"P1|4:", "P2|4:K", "P1|3:KKB"}
    (component,) = regime.components
    assert named(spec, component.actions) == {"P3|2:KK", "P2|3:KKBF"}
    assert regime.lyapunov < 1e-3


def test_case_4_of_skp_is_two_oscillators() -> None:
    # Billingham 2017, section 4.5: a2 and c1 go to 1, c3 to 0; periodic on a centre manifold
    # whose oscillatory part has four dimensions.
    spec = "skp(pot=3.7)"
    regime = regime_of(spec, 8, horizon=3000, spacing=SPACING)
    assert regime.regime == "quasi_periodic"
    assert named(spec, regime.to_one) == {"P2|4:K", "P1|3:KKB"}
    assert "P3|3:KB" in named(spec, regime.to_zero)
    parts = [named(spec, each.actions) for each in regime.components]
    assert {"P2|2:K", "P1|3:KBF"} in parts
    assert {"P3|2:KK", "P2|3:KKBF"} in parts
    assert all(each.period for each in regime.components)


def test_in_case_5_of_skp_chaos_is_no_regular_motion() -> None:
    # Billingham 2017, section 4.6: a complicated transient, then absorption at the boundary.
    regime = regime_of("skp(pot=4.2)", 9, horizon=3000, spacing=SPACING)
    assert regime.regime in {"chaotic_transient", "boundary_absorption"}
    assert max(window.mean for window in regime.lyapunov_windows) > 0.01


@pytest.mark.parametrize(("spec", "horizon"), [("kuhn2", 3000), ("leduc", 600)])
def test_every_action_of_a_poker_game_has_one_fate(spec: str, horizon: float) -> None:
    regime = regime_of(spec, 10, horizon=horizon, spacing=1)
    moving = [action for each in regime.components for action in each.actions]
    at = [*regime.at_zero, *regime.at_one]
    fates = [*regime.to_zero, *regime.to_one, *at, *regime.frozen, *moving]
    tree = eqbench.load_game(spec).tree
    sizes = np.diff(tree.action_start)
    assert len(fates) == len(set(fates)) == (sizes[sizes > 2].sum() + (sizes == 2).sum())
    assert regime.regime in WORDS
    assert 0 <= regime.near_face_fraction <= 1


if __name__ == "__main__":
    stored = [f"{json.dumps(n)}: {json.dumps(figures(m.regime()))}" for n, m in MOTIONS.items()]
    FIGURES.write_text("{" + ",\n".join(stored) + "}\n", encoding="utf-8")
