"""What a simulation is asked for: games, starts, times, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from command import PLUGINS

from eqbench.cli.simulate import simulate
from eqbench.errors import UsageError
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_to_json
from eqbench.registry import default_registry
from eqbench.studies.flow.request import HORIZON_BY_HAND, SimulationRequest, SimulationSetting

REGISTRY = default_registry().with_plugins([PLUGINS / "drifting.py", PLUGINS / "winding.py"])


def setting(game: str = "skp", solver: str = "drifting", **more: Any) -> SimulationSetting:
    return SimulationSetting.of(REGISTRY, SimulationRequest(game, solver, **more))


def profile(frequency: float) -> Any:
    """A profile of kuhn2 with one frequency as given, otherwise uniform."""
    tree = REGISTRY.load_game("kuhn2").tree
    data = profile_to_json(tree, BehaviorProfile.uniform(tree))
    data["behavior"]["P1"]["1:"] = {"check": 1 - frequency, "bet": frequency}
    return data


def test_random_starts_are_normal_log_odds_of_their_seed() -> None:
    chosen = setting(random=2, seed=7, spread=2.0)
    assert [start.name for start in chosen.starts] == ["seed 7", "seed 8"]
    flow = chosen.solver.instance.flow(chosen.games[0])
    for seed, start in zip((7, 8), chosen.starts, strict=True):
        expected = np.random.default_rng(seed).normal(0, 2, flow.choices.size)
        np.testing.assert_array_equal(start.state(flow, 2.0), expected)


def test_named_starts_come_before_random_ones() -> None:
    chosen = setting("kuhn2", random=1, profiles={"uniform": None, "a.json": profile(0.25)})
    assert [start.name for start in chosen.starts] == ["uniform", "a.json", "seed 0"]
    flow = chosen.solver.instance.flow(chosen.games[0])
    states = [start.state(flow, 1.0) for start in chosen.starts]
    assert states[0] == pytest.approx(np.zeros(flow.choices.size))
    assert states[1][0] == pytest.approx(np.log(1 / 3))


def test_games_stand_at_the_values_that_were_asked_for() -> None:
    chosen = setting(at=(Fraction("3.1"), Fraction(5)), parameter="pot")
    assert [game.spec for game in chosen.games] == ["skp(pot=31/10)", "skp(pot=5)"]
    assert chosen.parameter == "pot"


def test_times_are_even_and_reach_the_end() -> None:
    times = SimulationRequest("skp", "drifting", time=30.0, every=0.1).times
    assert len(times) == 301
    assert (times[0], times[-1]) == (0, 30)
    assert np.diff(times) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("frequency", "words"), [(0, r"P1\|1:\|bet is 0"), (1, r"P1\|1:\|check is 0.*bet is 1")]
)
def test_start_on_the_boundary_is_refused_with_the_place(frequency: float, words: str) -> None:
    with pytest.raises(UsageError, match=f"{words}; give frequencies between 0 and 1"):
        setting("kuhn2", profiles={"a.json": profile(frequency)})


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"solver": "cfr"}, "that of replicator is"),
        ({"solver": "winding", "model": "hands"}, "no flow that could be followed with --model h"),
        ({"solver": "drifting(speed=-1)"}, "drifts outward"),
        ({"solver": "drifting(speed=-1)", "model": "hands"}, "drifts outward"),
        ({"random": 0}, "no start was given"),
        ({"time": 1.0, "every": 0.9}, "makes 1 intervals; choose 2"),
        ({"time": 1e7, "every": 0.1}, "100,000,000 intervals"),
        (
            {"at": (Fraction(3),), "parameter": "ante"},
            "no parameter 'ante'; its parameter is 'pot'",
        ),
        ({"parameter": "pot"}, "give --at"),
        ({"parameter": "ante"}, "no parameter 'ante'"),
        ({"game": "shapley", "parameter": "pot"}, "no parameter 'pot'; it has none"),
        ({"game": "leduc", "at": (Fraction(2),)}, "no payoff parameter; leave out --at"),
        ({"at": (Fraction(3), Fraction(1))}, "pot=1"),
        ({"profiles": {"a.json": {"behavior": {"P7": {}}}}}, "the start a.json: .*P7"),
    ],
)
def test_what_cannot_be_simulated_is_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        setting(**asked)


def test_help_states_the_defaults() -> None:
    help_of = {parameter.name: getattr(parameter, "help", "") for parameter in simulate.params}
    request = SimulationRequest("skp", "drifting")
    assert f"[default: {request.memory}]" in help_of["memory"]
    assert f"[default: {request.every:g}]" in help_of["every"]
    horizons = f"[default: {request.time:.0f}, with --model hands {HORIZON_BY_HAND:.0f}]"
    assert horizons in help_of["time"]
    assert f"[default: {request.random}, without --start]" in help_of["starts"]
