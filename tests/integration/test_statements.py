"""What is asserted of profiles: an equilibrium, a member of a set; and where it fails."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command import PATIENCE_S, accepted, eqbench_here
from helpers.made_games import entry_deterrence, exact_profile

import eqbench
from eqbench import BehaviorProfile, Game
from eqbench.api.profiles import deviations
from eqbench.equilibria import Identifier, known_corners
from eqbench.model.gambit_text import efg_text
from eqbench.model.play import Play
from eqbench.model.profile_json import profile_text


def drawn(game: Game, sharpness: float, seed: int) -> BehaviorProfile:
    """Profile with random frequencies; of great sharpness they are nearly all 0 or 1."""
    tree = game.tree
    raw = np.exp(sharpness * np.random.default_rng(seed).random(tree.n_actions))
    totals = np.add.reduceat(raw, tree.action_start[:-1])
    return BehaviorProfile.of(game, raw / np.repeat(totals, np.diff(tree.action_start)))


def kuhn2(alpha: Fraction = Fraction(1, 4), **changed: Fraction) -> BehaviorProfile:
    """Member of the published set; `P1_3_KB` is another frequency of the bold action there."""
    half = BehaviorProfile.uniform(eqbench.load_game("kuhn2")).to_json()["behavior"]
    first = {"1:": alpha, "2:": 0, "3:": 3 * alpha, "1:KB": 0, "2:KB": alpha + Fraction(1, 3)}
    second = {"1:K": Fraction(1, 3), "2:K": 0, "3:K": 1, "1:B": 0, "2:B": Fraction(1, 3), "3:B": 1}
    for player, sets in {"P1": first | {"3:KB": 1}, "P2": second}.items():
        for label, share in sets.items():
            passive, active = half[player][label]
            share = changed.get(f"{player}_{label.replace(':', '_')}", share)
            half[player][label] = {passive: str(1 - share), active: str(share)}
    return BehaviorProfile.from_json(eqbench.load_game("kuhn2"), {"behavior": half})


@pytest.mark.parametrize("sharpness", [1.0, 500.0])
@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3", "random_tree(seed=3)", "jordan"])
def test_gains_at_information_sets_sum_to_the_regret_that_is_measured(
    spec: str, sharpness: float
) -> None:
    game = eqbench.load_game(spec)
    for seed in range(3):
        profile = drawn(game, sharpness, seed)
        found = deviations(Play.of(game.tree, profile, tolerance=0, unplayed=0))
        regrets = eqbench.verify(game, profile).regrets
        for player, regret in zip(game.tree.players, regrets, strict=True):
            gain = sum(each.gain for each in found if each.player == player)
            assert gain == pytest.approx(regret, abs=1e-12 * game.tree.payoff_scale)
        assert all(each.gain > 0 for each in found)


def test_error_says_who_gains_how_much_where_exactly() -> None:
    with pytest.raises(AssertionError, match="'2:B'") as caught:
        eqbench.assert_equilibrium("kuhn2", kuhn2(P1_3_=Fraction(1, 2)))
    error = caught.value
    assert isinstance(error, eqbench.NotAnEquilibriumError)
    assert sum(each.gain for each in error.deviations) == error.verdict.nash_conv
    assert isinstance(error.verdict.nash_conv, Fraction)


def test_equilibrium_passes_and_its_measurement_is_returned() -> None:
    assert eqbench.assert_equilibrium("kuhn2", kuhn2().to_json(), tolerance=0).nash_conv == 0
    off = kuhn2(P1_3_=Fraction(74999, 100000))
    with pytest.raises(AssertionError):
        eqbench.assert_equilibrium(off.known_tree, off, tolerance=1e-8)
    assert eqbench.assert_equilibrium(off.known_tree, off, tolerance=1e-5).max_regret > 0


def test_assertion_holds_also_where_python_drops_assertions() -> None:
    data = kuhn2(P1_3_=Fraction(1, 2)).to_json()
    code = f"import eqbench; eqbench.assert_equilibrium('kuhn2', {data})"
    words = [sys.executable, "-O", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 1
    assert "NotAnEquilibriumError" in done.stderr


@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3", "skp(pot=3)", "battle_of_sexes"])
def test_exact_corners_of_published_sets_are_in_them(spec: str) -> None:
    game = eqbench.load_game(spec)
    for title, profile in known_corners(game):
        found = eqbench.contains(title.partition(" corner")[0], profile, game, tolerance=0)
        assert found.contains
        assert found.exact
        assert found.broken == ()
        assert found.distance < 1e-8


def test_end_that_a_set_excludes_is_not_in_it() -> None:
    game = eqbench.load_game("kuhn3")
    corner = next(own for title, own in known_corners(game) if title.startswith("szafron:c11=0"))
    found = eqbench.contains("szafron:0<c11<1/2", corner, game, tolerance=0)
    assert ("0 < c11", 0) in [(own.condition, own.by) for own in found.broken]
    assert not found


@pytest.mark.parametrize(
    ("changed", "condition", "place", "by"),
    [
        ({"P1_3_": Fraction(1, 2)}, "K_bets == 3*alpha", "P1|3:|bet", Fraction(1, 4)),
        ({"P2_2_K": Fraction(1, 9)}, "Q_bluffs == 0", "P2|2:K|bet", Fraction(1, 9)),
        ({"P1_2_KB": Fraction(1)}, "Q_calls == alpha + 1/3", "P1|2:KB|call", Fraction(5, 12)),
        ({"P2_3_B": Fraction(999_999, 10**6)}, "K_follows == 1", "P2|3:B|call", Fraction(1, 10**6)),
    ],
)
def test_condition_that_fails_is_named_with_its_place_and_by_how_much(
    changed: dict[str, Fraction], condition: str, place: str, by: Fraction
) -> None:
    found = eqbench.contains("kuhn2", kuhn2(**changed), tolerance=0)
    assert not found
    (broken,) = found.broken
    assert (broken.condition, broken.places[0], broken.by) == (condition, place, by)
    assert found.differences
    assert eqbench.contains("kuhn2", kuhn2(**changed), tolerance=1.0)


def test_membership_agrees_with_what_identification_calls_strict() -> None:
    game = eqbench.load_game("kuhn3")
    corners = known_corners(game)[::40]
    identifier, verdicts = Identifier(game), set()
    for _, corner in corners:
        for step in (0.0, 1e-9, 1e-3):
            mixed = (1 - step) * corner.probabilities + step * drawn(game, 1.0, 0).probabilities
            profile = BehaviorProfile.of(game, mixed)
            identity = identifier.identify(profile)
            is_strict = identity is not None and identity.strict
            assert bool(eqbench.contains("szafron", profile)) == is_strict
            verdicts.add(is_strict)
    assert verdicts == {True, False}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with equilibria of three games, and a profile that is none."""
    folder = tmp_path_factory.mktemp("runs")
    games = "kuhn2,battle_of_sexes,random(seed=1)"
    solvers = "--solver lcp,sequence_lp,case_enumeration --timeout 2"
    accepted("run", "--game", games, *solvers.split(), "-q", "--out", "one", cwd=folder)
    once = "--game kuhn2 --solver cfr --iterations 1 -q --out two"
    eqbench_here("run", *once.split(), cwd=folder)
    (folder / "member.json").write_text(json.dumps(kuhn2().to_json()))
    accepted("export", "kuhn2", "half.json", cwd=folder)
    return folder


@pytest.mark.parametrize(
    ("name", "profile", "code"),
    [
        ("kuhn2", "member.json", 0),
        ("kuhn2", "half.json", 1),
        ("matrix:battle_of_sexes", "one/battle_of_sexes/lcp", 0),
        ("one/kuhn2", "one/kuhn2/sequence_lp", 0),
        ("one/kuhn2/lcp", "one/kuhn2/sequence_lp", 0),
        ("one/kuhn2/lcp", "half.json", 1),
        ("one/cluster:1", "one/random(seed=1)/lcp", 0),
        ("one/battle_of_sexes/case_enumeration:0", "one/battle_of_sexes/case_enumeration:0", 0),
        ("one/battle_of_sexes/case_enumeration:0", "one/battle_of_sexes/case_enumeration:1", 1),
    ],
)
def test_command_ends_with_0_for_a_member_and_1_for_others(
    runs: Path, name: str, profile: str, code: int
) -> None:
    done = eqbench_here("verify", profile, "--in", name, "--json", cwd=runs)
    assert done.code == code, done.err
    found = done.json["in"]
    assert found["contains"] == (code == 0)
    assert (found["dimension"] is None) == ("/" not in name)
    assert (found["distance"] > 1e-6) or code == 0
    assert bool(found["broken"]) == (code == 1 and "/" not in name)
    said = eqbench_here("verify", profile, "--in", name, cwd=runs).out
    assert ("\nno: " if code else "\nyes") in said


def test_what_cannot_be_decided_is_refused() -> None:
    uniform = BehaviorProfile.uniform(eqbench.load_game("skp")).to_json()
    with pytest.raises(eqbench.UsageError, match="which game"):
        eqbench.contains("kuhn2", BehaviorProfile.uniform(eqbench.load_game("kuhn2").tree))
    for tolerance in (-1e-9, math.nan):
        with pytest.raises(eqbench.UsageError, match="tolerance"):
            eqbench.contains("kuhn2", uniform, tolerance=tolerance)
        with pytest.raises(eqbench.UsageError, match="tolerance"):
            eqbench.assert_equilibrium("skp", uniform, tolerance)


# -- refined profiles ------------------------------------------------------------------------------


def refined(place: Path, *words: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `verify` measures before and after a profile was refined."""
    before = accepted("verify", *words, "--refine", "made.json", "--json", cwd=place).json
    after = accepted("verify", "made.json", "--json", "--exact", cwd=place).json
    (place / "made.json").unlink()
    return before, after


def test_cell_becomes_credible_at_the_same_payoffs(runs: Path) -> None:
    before, after = refined(runs, "one/kuhn2/lcp")
    assert (before["credible"]["credible"], after["credible"]["credible"]) == (11, 12)
    assert after["payoffs"] == pytest.approx(before["payoffs"], abs=1e-15)
    assert before["kept"] == ""


def test_exact_profile_stays_exact(tmp_path: Path) -> None:
    solver = "ncp(backend=scip,exact=true,offpath=keep)"
    exact = eqbench.solve("kuhn3", solver, seed=0).equilibria[0].profile
    assert isinstance(exact, BehaviorProfile)
    (tmp_path / "exact.json").write_text(json.dumps(exact.to_json()))
    before, after = refined(tmp_path, "kuhn3", "exact.json")
    assert after["exact"]["max_regret"] == "0"
    assert before["credible"]["credible"] < after["credible"]["credible"] == 48


def test_where_a_deviation_pays_the_profile_is_kept_and_the_set_is_named(tmp_path: Path) -> None:
    """Entry deterrence: out, lest P2 fights, which it would not do."""
    tree = entry_deterrence()
    (tmp_path / "entry.efg").write_text(efg_text(tree))
    threat = profile_text(tree, exact_profile(tree, (1, 0), (1, 0)), "entry.efg")
    (tmp_path / "threat.json").write_text(threat)
    before, after = refined(tmp_path, "threat.json")
    assert "'1' of P1" in before["kept"]
    assert before["credible"]["credible"] == after["credible"]["credible"] == 1
