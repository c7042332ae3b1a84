"""`eqbench.solve` from scripts without a guard and from standard input."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import eqbench
from eqbench.errors import ProfileError, UsageError
from eqbench.harness.solve import perform
from eqbench.model.game_cache import store_game
from eqbench.model.profile_json import profile_text

SCRIPT = """
import eqbench
result = eqbench.solve("kuhn2", "cfr_plus", eqbench.Limits(iterations=2000))
print(result.status, round(result.payoffs[0], 3), len(result.equilibria))
"""


@pytest.mark.parametrize("through", ["script", "stdin"])
def test_solve_works_without_a_main_guard(tmp_path: Path, through: str) -> None:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(file) if through == "script" else "-"],
        input=SCRIPT if through == "stdin" else None,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["limit", "-0.056", "2"]


def test_solve_verifies_what_the_solver_claims() -> None:
    class Overconfident:
        def solve(self, game, monitor, rng):
            monitor.candidate(eqbench.BehaviorProfile.uniform(game.tree), claim="equilibrium")
            return eqbench.Termination("converged")

    result = eqbench.solve("kuhn2", Overconfident())
    assert result.status == "refuted"
    assert result.nash_conv == pytest.approx(11 / 12)


def test_refutation_test_notices_a_verifier_that_believes_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("eqbench.harness.judge.refutation", lambda *a, **k: None)
    with pytest.raises(AssertionError):
        test_solve_verifies_what_the_solver_claims()


def test_record_in_json_is_plain_and_its_profiles_can_be_verified() -> None:
    result = eqbench.solve("kuhn2", "cfr_plus", eqbench.Limits(iterations=300))
    document = json.loads(json.dumps(result.to_json(), allow_nan=False))
    assert "tree" not in document
    assert document["max_regret"] == result.max_regret
    for item, found in zip(document["equilibria"], result.equilibria, strict=True):
        assert item["profile"]["game"] == result.game_spec
        measured = eqbench.verify("kuhn2", item["profile"], exact=True)
        assert measured == eqbench.verify("kuhn2", found.profile, exact=True)
        assert float(measured.max_regret) == pytest.approx(item["max_regret"], abs=1e-15)
    refused = eqbench.solve("kuhn3", "sequence_lp")
    assert json.loads(json.dumps(refused.to_json()))["equilibria"] == []


def test_same_profiles_are_handed_over_in_a_child_and_in_process(tmp_path: Path) -> None:
    game = eqbench.load_game("kuhn2")
    store_game(game, tmp_path)
    job = {"do": "solve", "solver": "mccfr", "plugins": (), "game_spec": game.spec}
    job |= {"folder": str(tmp_path), "seed": 3, "limits": {"iterations": 200, "target": 0.0}}
    frames: list[Any] = []
    perform(job, frames.append)
    solved = eqbench.solve(game, "mccfr", eqbench.Limits(iterations=200, target=0.0), seed=3)
    sent = {frame.profile for frame in frames if frame.kind == "candidate"}
    assert {item.profile.probabilities.tobytes() for item in solved.equilibria} == sent
    last, statistics = frames[-1], dict(solved.statistics)
    for own in (last.statistics, statistics):
        own.pop("kernels", None)  # the first to solve may have had no machine code
    assert (last.reason, last.detail, last.clocks.work, last.statistics) == (
        *(solved.status, solved.reason, solved.iterations, statistics),
    )


def test_unsupported_and_unavailable_solvers_say_why() -> None:
    class Picky:
        def supports(self, game):
            return "it wants two players"

    class Unlicensed:
        def availability(self):
            return eqbench.Availability("licence_size", "249 columns, 200 allowed")

    assert eqbench.solve("kuhn3", Picky()).reason.endswith("players")
    result = eqbench.solve("kuhn3", Unlicensed())
    assert (result.status, result.reason) == (
        "unavailable",
        "licence_size: 249 columns, 200 allowed",
    )


class SmallLicence:
    """Keeps the questions that it is asked in their order."""

    def __init__(self, actions: int, *, players: int = 2) -> None:
        self.actions, self.players = actions, players
        self.asked: list[str] = []

    def availability(self):
        self.asked.append("availability")
        return eqbench.Availability()

    def supports(self, game):
        self.asked.append("supports")
        return game.tree.n_players == self.players or "another number of players"

    def availability_for(self, game):
        self.asked.append("availability_for")
        needed = game.tree.n_actions
        if needed <= self.actions:
            return eqbench.Availability()
        return eqbench.Availability("licence_size", f"{needed} actions, {self.actions} allowed")

    def prepare(self, game):
        self.asked.append("prepare")

    def solve(self, game, monitor, rng):
        self.asked.append("solve")
        monitor.candidate(eqbench.BehaviorProfile.uniform(game.tree), claim="iterate")
        return eqbench.Termination("limit", "did its best")


def test_licence_may_depend_on_the_size_of_a_supported_game() -> None:
    solver = SmallLicence(actions=4)
    assert eqbench.solve("matching_pennies", solver).status == "ok"
    assert solver.asked == ["availability", "supports", "availability_for", "prepare", "solve"]
    solver = SmallLicence(actions=4)
    result = eqbench.solve("kuhn2", solver)
    reason = "licence_size: 24 actions, 4 allowed"
    assert (result.status, result.reason) == ("unavailable", reason)
    assert solver.asked == ["availability", "supports", "availability_for"]


def test_licence_is_not_asked_about_a_game_that_is_not_supported() -> None:
    solver = SmallLicence(actions=4, players=3)
    assert eqbench.solve("kuhn2", solver).status == "unsupported"
    assert solver.asked == ["availability", "supports"]


def test_verify_takes_specs_trees_dictionaries_and_files(tmp_path: Path) -> None:
    game = eqbench.load_game("kuhn2")
    uniform = eqbench.BehaviorProfile.uniform(game.tree)
    text = profile_text(game.tree, uniform)
    file = tmp_path / "uniform.json"
    file.write_text(text)
    for target in (game, game.tree, "kuhn2"):
        for profile in (uniform, json.loads(text), file):
            assert eqbench.verify(target, profile).nash_conv == pytest.approx(11 / 12)
    assert eqbench.verify(game, file, exact=True).nash_conv == Fraction(11, 12)
    with pytest.raises(ProfileError, match="profile"):
        eqbench.verify(game, [0.5])


def test_former_names_of_limits_warn_and_mean_the_same() -> None:
    limits = eqbench.Limits(timeout_s=5, iterations=7, threads=2)
    with pytest.deprecated_call(match="timeout_s"):
        assert eqbench.Budget(5, 7, threads=2) == limits
    with pytest.deprecated_call(match="timeout_s"):
        assert limits.time_s == 5


def test_default_budget_has_the_default_target() -> None:
    for budget in (None, eqbench.Limits(timeout_s=5)):
        assert eqbench.solve("rock_paper_scissors", "cfr", budget).status == "ok"
    forever = eqbench.Limits(iterations=20, target=0)
    assert eqbench.solve("rock_paper_scissors", "cfr", forever).status == "limit"


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout_s": -1},
        {"timeout_s": float("nan")},
        {"iterations": -1},
        {"target": -1},
        {"threads": 0},
    ],
)
def test_limits_refuse_what_makes_no_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(wrong))):
        eqbench.Limits(**wrong)
