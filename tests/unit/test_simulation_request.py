"""What a simulation is asked for: games, starts, times, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import PLUGINS

from eqbench.errors import UsageError
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import default_registry
from eqbench.requests import GivenProfile, from_data, to_data
from eqbench.studies.flow.simulate import SimulationStudy, times_of
from eqbench.studies.requests import SimulationRequest

FLOWS = (str(PLUGINS / "drifting.py"), str(PLUGINS / "winding.py"))


def setting(game: str = "skp", solver: str = "drifting", **more: Any) -> SimulationStudy:
    return SimulationStudy(SimulationRequest(game=game, solver=solver, plugins=FLOWS, **more))


def given(frequency: float, typed: str = "a.json") -> GivenProfile:
    """A profile of kuhn2 with one frequency as given, otherwise uniform."""
    tree = default_registry().load_game("kuhn2").tree
    data = BehaviorProfile.uniform(tree).to_json()
    data["behavior"]["P1"]["1:"] = {"check": 1 - frequency, "bet": frequency}
    return GivenProfile(typed, data)


def test_random_starts_are_normal_log_odds_of_their_seed() -> None:
    chosen = setting(starts=2, seed=7, spread=2.0)
    assert [start.name for start in chosen.starts] == ["seed 7", "seed 8"]
    flow = chosen.solver.instance.flow(chosen.games[0])
    for seed, start in zip((7, 8), chosen.starts, strict=True):
        expected = np.random.default_rng(seed).normal(0, 2, flow.choices.size)
        np.testing.assert_array_equal(start.state, expected)


def test_named_starts_come_before_random_ones() -> None:
    chosen = setting("kuhn2", starts=1, profiles=(GivenProfile("uniform", None), given(0.25)))
    assert [start.name for start in chosen.starts] == ["uniform", "a.json", "seed 0"]
    flow = chosen.solver.instance.flow(chosen.games[0])
    first, second, _ = (start.state for start in chosen.starts)
    assert first == pytest.approx(np.zeros(flow.choices.size))
    assert second[0] == pytest.approx(np.log(1 / 3))


def test_games_stand_at_the_values_that_were_asked_for() -> None:
    chosen = setting(at=(Fraction("3.1"), Fraction(5)), parameter="pot")
    assert [game.spec for game in chosen.games] == ["skp(pot=31/10)", "skp(pot=5)"]
    assert chosen.parameter == "pot"


def test_times_are_even_and_reach_the_end() -> None:
    times = times_of(30.0, 0.1)
    assert len(times) == 301
    assert (times[0], times[-1]) == (0, 30)
    assert np.diff(times) == pytest.approx(0.1)


@pytest.mark.parametrize("frequency", [0, 1])
def test_start_on_the_boundary_is_refused_with_the_place(frequency: float) -> None:
    with pytest.raises(UsageError, match=r"the start a\.json: .*P1\|1:\|check"):
        setting("kuhn2", "replicator", profiles=(given(frequency),))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"solver": "cfr"}, "replicator does"),
        ({"solver": "winding", "model": "hands"}, "no `hand_by_hand`, .* replicator does"),
        ({"solver": "drifting(speed=-1)"}, "drifts outward"),
        ({"solver": "drifting(speed=-1)", "model": "hands"}, "drifts outward"),
        ({"starts": 0}, "no start was given"),
        ({"duration": 1.0, "every": 0.9}, "makes 1 intervals; choose 2"),
        ({"duration": 1e7, "every": 0.1}, "100,000,000 intervals"),
        (
            {"at": (Fraction(3),), "parameter": "ante"},
            "no parameter 'ante'; its parameter is 'pot'",
        ),
        ({"parameter": "pot"}, "give --at"),
        ({"parameter": "ante"}, "no parameter 'ante'"),
        ({"game": "shapley", "parameter": "pot"}, "no parameter 'pot'; it has none"),
        ({"game": "leduc", "at": (Fraction(2),)}, "no payoff parameter"),
        ({"at": (Fraction(3), Fraction(1))}, "pot=1"),
        (
            {"profiles": (GivenProfile("a.json", {"behavior": {"P7": {}}}),)},
            "the start a.json: .*P7",
        ),
    ],
)
def test_what_cannot_be_simulated_is_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        setting(**asked)


def test_files_are_called_without_their_folders_if_that_tells_them_apart() -> None:
    typed = ("a.json", "other/a.json", "other/b.json", "-")
    starts = setting("kuhn2", profiles=tuple(given(0.25, name) for name in typed)).starts
    assert [start.name for start in starts] == [*typed[:2], "b.json", "standard input"]


def test_profile_is_read_once_and_kept_with_all_its_digits(tmp_path: Path) -> None:
    digits = "0.1234567890123456789012345678901234567890"
    text = json.dumps(given(0.25).data).replace("0.25", digits)
    (tmp_path / "a.json").write_text(text)
    request = from_data(SimulationRequest, {"game": "kuhn2", "start": [str(tmp_path / "a.json")]})
    stored = json.loads(json.dumps(to_data(request)))
    (tmp_path / "a.json").unlink()
    assert from_data(SimulationRequest, stored) == request
    (((_, data),),) = (entry.items() for entry in stored["start"])
    assert Fraction(data["behavior"]["P1"]["1:"]["bet"]) == Fraction(digits)


def test_names_before_are_read_from_files_of_earlier_studies() -> None:
    kept = {"game": "kuhn2", "model": "hands", "time": 30.0, "memory": 5}
    request = from_data(SimulationRequest, kept)
    assert (request.duration, request.remember) == (30.0, 5)
    assert {"time", "memory"}.isdisjoint(to_data(request))
