"""Simulations of a made-up flow: what is followed, measured, written and kept."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from helpers.command import PLUGINS

import eqbench
from eqbench.errors import UsageError
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import parse_profile, profile_from_json
from eqbench.model.realization import RealizationPlan
from eqbench.registry import default_registry
from eqbench.report.terminal import plain_text, print_report
from eqbench.requests import GivenProfile, from_data, to_data
from eqbench.studies.extremes import KnownPayoffs
from eqbench.studies.flow.points import read_points
from eqbench.studies.flow.simulate import (
    SimulationDocument,
    SimulationStudy,
    times_of,
    windows_of,
)
from eqbench.studies.frame import Session, StudyFolder
from eqbench.studies.requests import SimulationRequest
from eqbench.verification import verify

UNIFORM = (GivenProfile("uniform", None),)


def setting(game: str = "skp(pot=3.35)", solver: str = "drifting", **more: Any) -> SimulationStudy:
    more = {"duration": 20.0, "every": 0.1, "starts": 2} | more
    plugins = (str(PLUGINS / "drifting.py"),)
    return SimulationStudy(SimulationRequest(game=game, solver=solver, plugins=plugins, **more))


def simulated(folder: Path, of: SimulationStudy, **more: Any) -> dict[str, Any]:
    """Summary of a simulation in a folder."""
    StudyFolder.create(of, folder).carry_out(of, Session(folder, **more))
    document: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return document


def printed(document: dict[str, Any], width: int = 150) -> str:
    report = msgspec.convert(document, SimulationDocument).tables()
    return plain_text(lambda console: print_report(report, console), width)


def behavior(folder: Path, of: Any, run: dict[str, Any], name: str) -> np.ndarray:
    text = (folder / run["profiles"][name]["profile"]).read_text()
    return profile_from_json(of.games[0].tree, parse_profile(text)).probabilities


def test_every_start_is_followed_at_every_value(tmp_path: Path) -> None:
    of = setting(at=(Fraction("3.35"), Fraction(5)), profiles=UNIFORM, starts=1, seed=4)
    document = simulated(tmp_path, of)
    assert document["finished"]
    names = [f"pot={pot} {start}" for pot in ("3.35", "5") for start in ("uniform", "seed 4")]
    assert [run["name"] for run in document["runs"]] == names
    assert [run["parameter"] for run in document["runs"]] == [3.35, 3.35, 5, 5]
    assert [run.name for run in read_points(of.games[0], tmp_path / "points.csv")] == names
    solutions = [[known["name"] for known in value["solutions"]] for value in document["values"]]
    assert solutions[0] == ["skp:2", "skp:3", "skp:4"]
    assert "skp:9" in solutions[1]
    for run, value in zip(document["runs"], (0, 0, 1, 1), strict=True):
        assert [item["name"] for item in run["solutions"]] == solutions[value]


def test_payoffs_of_a_profile_at_rest_are_those_of_the_verifier(tmp_path: Path) -> None:
    of = setting(solver="drifting(speed=0)")
    run = simulated(tmp_path, of)["runs"][0]
    start = behavior(tmp_path, of, run, "start")
    np.testing.assert_array_equal(start, behavior(tmp_path, of, run, "final"))
    assert behavior(tmp_path, of, run, "average") == pytest.approx(start, abs=1e-13)
    tree = of.games[0].tree
    text = (tmp_path / run["profiles"]["start"]["profile"]).read_text()
    figures = verify(tree, profile_from_json(tree, parse_profile(text)))
    for window in run["windows"]:
        assert window["payoffs"] == pytest.approx(figures.payoffs, abs=1e-13)
        assert window["average_max_regret"] == pytest.approx(figures.max_regret, abs=1e-13)
    assert run["profiles"]["final"]["regrets"] == pytest.approx(figures.regrets, abs=1e-15)
    assert run["payoffs"] == run["windows"][run["longest_window"]]["payoffs"]


def test_windows_and_average_follow_from_the_points(tmp_path: Path) -> None:
    of = setting("kuhn2", "drifting(speed=0.2)", starts=1)
    run = simulated(tmp_path, of)["runs"][0]
    (points,) = read_points(of.games[0], tmp_path / "points.csv")
    window = run["windows"][run["longest_window"]]
    assert (window["from"], window["to"]) == pytest.approx((10, 20))
    chosen = np.flatnonzero((points.times >= window["from"]) & (points.times <= window["to"]))
    earned = (points.profits[chosen[-1]] - points.profits[chosen[0]]) / 10
    assert run["payoffs"] == pytest.approx(earned, abs=1e-13)
    form = of.games[0].sequence_form
    plans = [RealizationPlan.of(form, row).weights for row in points.behavior[chosen]]
    average = RealizationPlan(np.mean(plans, axis=0)).to_behavior(form)
    assert behavior(tmp_path, of, run, "average") == pytest.approx(average, abs=1e-12)


def test_gap_to_a_solution_is_the_largest_of_any_player(tmp_path: Path) -> None:
    document = simulated(tmp_path, setting(starts=1))
    run, value = document["runs"][0], document["values"][0]
    for known, item in zip(value["solutions"], run["solutions"], strict=True):
        payoffs = np.array(known["payoffs"])[:, 0]
        apart = np.abs(np.array(run["payoffs"]) - payoffs).max()
        assert item["gaps"][run["longest_window"]] == pytest.approx(apart, abs=1e-12)
    window = run["windows"][run["longest_window"]]
    nearest = min(run["solutions"], key=lambda item: item["gaps"][run["longest_window"]])
    assert window["nearest"] == [nearest["name"]]


def test_trajectory_that_breaks_off_is_kept_with_its_reason(tmp_path: Path) -> None:
    of = setting(solver="drifting(lost=12.34)")
    document = simulated(tmp_path, of)
    assert document["finished"]
    for run in document["runs"]:
        assert run["ending"] == "the road is closed; take another"
        assert run["time"] == pytest.approx(12.3)
        assert not run["interrupted"]
        assert run["windows"][-1]["to"] == pytest.approx(12.3)
    assert len(read_points(of.games[0], tmp_path / "points.csv")[1].times) == 124
    text = " ".join(printed(document).split())  # lines may break anywhere
    assert "124 times" in text
    assert text.count("ended early: the road is closed; take another") == 1


@pytest.mark.parametrize("lost", [0.0, 0.15])
def test_trajectory_that_breaks_off_at_once_is_undecided(tmp_path: Path, lost: float) -> None:
    document = simulated(tmp_path, setting(solver=f"drifting(lost={lost})"))
    for run in document["runs"]:
        assert run["regime"] == "undecided"
        assert (run["payoffs"] is None) == (lost == 0)
        assert len(run["windows"]) == (lost > 0)
    assert printed(document)


def test_interrupt_ends_the_present_trajectory_and_keeps_it(tmp_path: Path) -> None:
    asked: list[None] = []

    def interrupted() -> bool:
        asked.append(None)
        return len(asked) > 40

    document = simulated(
        tmp_path, setting(solver="drifting(delay_s=60)", starts=3), interrupted=interrupted
    )
    assert not document["finished"]
    (run,) = document["runs"]
    assert run["interrupted"]
    assert run["time"] < 20
    assert (tmp_path / run["profiles"]["final"]["profile"]).exists()


def test_play_by_hand_is_random_by_start_and_has_no_exponent(tmp_path: Path) -> None:
    of = setting(model="hands", remember=50, profiles=UNIFORM, starts=1, solver="drifting")
    document = simulated(tmp_path, of)
    assert (document["model"], document["memory"]) == ("hands", 50)
    assert [run["lyapunov"] for run in document["runs"]] == [None, None]
    runs = read_points(of.games[0], tmp_path / "points.csv")
    free = of.solver.instance.flow(of.games[0]).choices.action
    drift = [np.log(run.behavior[:, free] / (1 - run.behavior[:, free])) for run in runs]
    noise = [log_odds - 0.5 * runs[0].times[:, None] for log_odds in drift]
    assert np.abs(np.diff(noise[0][:20], axis=0)).max() > 0.01
    assert not np.allclose(np.diff(noise[0][:20], axis=0), np.diff(noise[1][:20], axis=0))


def test_agreement_over_windows_that_follow_on_each_other_is_one_stretch(tmp_path: Path) -> None:
    document = simulated(tmp_path, setting(duration=200.0, starts=1))
    run = document["runs"][0]
    times = [(window["from"], window["to"]) for window in run["windows"]]
    run["solutions"][0]["agrees"] = [0, 2, 3]
    text = printed(document)
    first, joined = times[0], (times[2][0], times[3][1])
    assert f"skp:2: seed 0 over times {first[0]:.5g}–{first[1]:.5g}, " in text
    assert f", {joined[0]:.5g}–{joined[1]:.5g}\n" in text


def test_all_solutions_whose_payoffs_are_nearest_are_named(tmp_path: Path) -> None:
    """The families of three-player Kuhn poker share payoffs (Szafron et al. 2013)."""
    document = simulated(tmp_path, setting("kuhn3", starts=1))
    run = document["runs"][0]
    window = run["windows"][run["longest_window"]]
    gaps = {item["name"]: item["gaps"][run["longest_window"]] for item in run["solutions"]}
    nearest = [name for name, gap in gaps.items() if gap == pytest.approx(window["gap"])]
    assert window["nearest"] == nearest
    assert len(nearest) > 1
    text = printed(document, 300)
    assert ", ".join(nearest) in text


DOUBLING = [(2.0**k, 2.0 ** (k + 1)) for k in range(1, 9)]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        pytest.param(np.linspace(0, 512, 5121), [*DOUBLING, (460.8, 512)], id="last tenth"),
        pytest.param(np.linspace(0, 1, 101), [(0.25, 0.5), (0.5, 1)], id="20 intervals each"),
        pytest.param(np.linspace(7, 8, 101), [(7.25, 7.5), (7.5, 8)], id="from the first time"),
        pytest.param(np.linspace(0, 1, 11), [], id="too few"),
        pytest.param(np.zeros(1), [], id="no motion"),
    ],
)
def test_windows_double_and_the_last_tenth_comes_last(times: Any, expected: Any) -> None:
    found = [(times[window.first], times[window.last]) for window in windows_of(times)]
    assert np.reshape(found, (-1, 2)) == pytest.approx(np.reshape(expected, (-1, 2)))


def test_payoffs_over_a_window_are_the_slope_of_profits() -> None:
    times = np.linspace(0, 10, 1001)
    profits = np.column_stack((times**2, -3 * times))
    last = windows_of(times)[-2]
    # the mean of 2 t over [5, 10]
    assert last.payoffs(times, profits) == pytest.approx([15, -3])


def test_payoffs_of_a_solution_agree_with_it_and_with_no_other_one() -> None:
    """Three solutions of SKP exist together at a pot of 3.35 (Billingham 2017, section 3)."""
    known = KnownPayoffs.of(eqbench.load_game("skp(pot=3.35)"))
    assert list(known.ranges) == ["skp:2", "skp:3", "skp:4"]
    for name, payoffs in known.ranges.items():
        tolerance = known.tolerances[name]
        assert 0 < tolerance <= 0.01 * np.abs(payoffs).max()
        rows = [payoffs[:, 0] + shift * tolerance for shift in (0, 0.99, 1.01)]
        beside = {item.name: item.agrees for item in known.beside(rows)}
        assert beside.pop(name) == [0, 1]
        assert set(map(tuple, beside.values())) == {()}
        nearest = known.nearest(rows[2])
        assert nearest.nearest == [name]
        assert nearest.gap == pytest.approx(1.01 * tolerance)
        assert nearest.gap_share == pytest.approx(nearest.gap / np.abs(payoffs).max())


def test_payoffs_that_vary_within_a_set_are_ranges() -> None:
    """Between players 2 and 3 up to 1/96 moves in three-player Kuhn poker (Szafron 2013)."""
    game = eqbench.load_game("kuhn3")
    known = KnownPayoffs.of(game)
    widest = max((payoffs[2] for payoffs in known.ranges.values()), key=np.ptp)
    assert np.ptp(widest) > 0.01
    inside = np.array([payoffs.mean(axis=1) for payoffs in known.ranges.values()])
    for name, row in zip(known.ranges, inside, strict=True):
        assert known.gaps(row)[name] == 0
    # sets that touch do not make tolerances vanish
    for name, payoffs in known.ranges.items():
        assert known.tolerances[name] == pytest.approx(0.01 * np.abs(payoffs).max())


def test_tolerances_separate_sets_but_not_by_rounding() -> None:
    payoffs = np.array([[0.1, 0.1], [-2.0, 1.0]])

    def found(*sets: np.ndarray) -> list[float]:
        return list(
            KnownPayoffs({str(i): each for i, each in enumerate(sets)}, 1e-9).tolerances.values()
        )

    assert found(payoffs) == pytest.approx([0.02])
    assert found(payoffs, 10 * payoffs + 9) == pytest.approx([0.02, 0.19])
    assert found(payoffs, payoffs + np.array([[0.01], [0]])) == pytest.approx([0.005, 0.005])
    # at the ends of their ranges of the pot two sets have the same payoffs
    assert found(payoffs, payoffs + 1e-16) == pytest.approx([0.02, 0.02])
    # nothing is a share of payoffs that are 0 but for rounding
    assert found(1e-17 * payoffs) == [0]


@pytest.mark.parametrize(
    ("known", "payoffs", "expected"),
    [
        pytest.param(
            {"one": np.ones((2, 2)), "other": np.ones((2, 2)) + 1e-15, "far": np.zeros((2, 2))},
            [1.0, 1.5],
            (["one", "other"], 0.5, 0.5),
            id="same payoffs",
        ),
        pytest.param(
            "rock_paper_scissors",
            [0.25, -0.25],
            (["matrix:rock_paper_scissors"], 0.25, None),
            id="no share of payoffs that are zero",
        ),
        pytest.param("leduc", [0.0, 0.0], (None, None, None), id="nothing published"),
    ],
)
def test_nearest_are_all_sets_that_are_equally_near(
    known: Any, payoffs: list[float], expected: tuple[Any, ...]
) -> None:
    if isinstance(known, str):
        known = KnownPayoffs.of(eqbench.load_game(known))
        assert [each.name for each in known.beside([np.array(payoffs)])] == (expected[0] or [])
    else:
        known = KnownPayoffs(known, 1e-9)
    nearest = known.nearest(np.array(payoffs))
    names, *figures = expected
    assert nearest.nearest == names
    assert [nearest.gap, nearest.gap_share] == pytest.approx(figures)


FLOWS = (str(PLUGINS / "drifting.py"), str(PLUGINS / "winding.py"))


def request_of(game: str = "skp", solver: str = "drifting", **more: Any) -> SimulationStudy:
    return SimulationStudy(SimulationRequest(game=game, solver=solver, plugins=FLOWS, **more))


def given(frequency: float, typed: str = "a.json") -> GivenProfile:
    """A profile of kuhn2 with one frequency as given, otherwise uniform."""
    tree = default_registry().load_game("kuhn2").tree
    data = BehaviorProfile.uniform(tree).to_json()
    data["behavior"]["P1"]["1:"] = {"check": 1 - frequency, "bet": frequency}
    return GivenProfile(typed, data)


def test_random_starts_are_normal_log_odds_of_their_seed() -> None:
    chosen = request_of(starts=2, seed=7, spread=2.0)
    assert [start.name for start in chosen.starts] == ["seed 7", "seed 8"]
    flow = chosen.solver.instance.flow(chosen.games[0])
    for seed, start in zip((7, 8), chosen.starts, strict=True):
        expected = np.random.default_rng(seed).normal(0, 2, flow.choices.size)
        np.testing.assert_array_equal(start.state, expected)


def test_named_starts_come_before_random_ones() -> None:
    chosen = request_of("kuhn2", starts=1, profiles=(GivenProfile("uniform", None), given(0.25)))
    assert [start.name for start in chosen.starts] == ["uniform", "a.json", "seed 0"]
    flow = chosen.solver.instance.flow(chosen.games[0])
    first, second, _ = (start.state for start in chosen.starts)
    assert first == pytest.approx(np.zeros(flow.choices.size))
    assert second[0] == pytest.approx(np.log(1 / 3))


def test_games_stand_at_the_values_that_were_asked_for() -> None:
    chosen = request_of(at=(Fraction("3.1"), Fraction(5)), parameter="pot")
    assert [game.spec for game in chosen.games] == ["skp(pot=31/10)", "skp(pot=5)"]
    assert chosen.parameter == "pot"


def test_times_are_even_and_reach_the_end() -> None:
    times = times_of(30.0, 0.1)
    assert len(times) == 301
    assert (times[0], times[-1]) == (0, 30)
    assert np.diff(times) == pytest.approx(0.1)


@pytest.mark.parametrize("frequency", [0, 1])
def test_start_on_the_boundary_is_refused_with_the_place(frequency: float) -> None:
    with pytest.raises(UsageError, match=r"P1\|1"):
        request_of("kuhn2", "replicator", profiles=(given(frequency),))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"solver": "cfr"}, "replicator does"),
        ({"solver": "winding", "model": "hands"}, "no `hand_by_hand`, .* replicator does"),
        ({"solver": "drifting(speed=-1)"}, "drifts outward"),
        ({"solver": "drifting(speed=-1)", "model": "hands"}, "drifts outward"),
        ({"starts": 0}, "no start was given"),
        ({"game": "kuhn3", "max_nodes": 600}, "Jacobians, .* 601 nodes"),
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
        request_of(**asked)


def test_files_are_called_without_their_folders_if_that_tells_them_apart() -> None:
    typed = ("a.json", "other/a.json", "other/b.json", "-")
    starts = request_of("kuhn2", profiles=tuple(given(0.25, name) for name in typed)).starts
    assert [start.name for start in starts] == [*typed[:2], "b.json", "standard input"]


def test_names_before_are_read_from_files_of_earlier_studies() -> None:
    kept = {"game": "kuhn2", "model": "hands", "time": 30.0, "memory": 5}
    request = from_data(SimulationRequest, kept)
    assert (request.duration, request.remember) == (30.0, 5)
    assert {"time", "memory"}.isdisjoint(to_data(request))
