"""Play off the path of an equilibrium, solved again by logit or by perturbed paths."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from helpers.made_games import beer_and_quiche, entry_deterrence, exact_profile, selten_horse
from helpers.solver_cases import Result, max_regret, run
from numpy.typing import NDArray

import eqbench
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.model.trembles import Trembles
from eqbench.solver import Limits, Monitor
from eqbench.verdicts import Proof, credibility, sequential
from eqbench.verification import verify

offpath = importlib.import_module("eqbench.solvers.logit.offpath")
branches = importlib.import_module("eqbench.solvers.logit.branch")


def credible(tree: GameTree, behavior: NDArray) -> str:
    return str(credibility(Play.of(tree, BehaviorProfile.of(tree, behavior))))


def found(game: str, solver: str, seed: int = 0) -> list[NDArray]:
    cell = eqbench.solve(game, solver, Limits(timeout_s=60), seed)
    profiles = [each.profile for each in cell.equilibria]
    return [each.probabilities for each in profiles if isinstance(each, BehaviorProfile)]


@pytest.mark.parametrize(
    ("spec", "solver", "verdict"),
    [
        ("kuhn3", "semismooth(offpath=keep)", "48/48"),
        ("kuhn3", "arclength(branch=false,starts=1,offpath=keep)", "48/48"),
        ("kuhn3", "ncp(backend=scip,offpath=keep)", "48/48"),
        ("kuhn2", "lcp", "12/12"),
        # a deviation is as good as the path, and what makes it no better is a mixture off the path
        ("kuhn2", "sequence_lp", "12/12"),
    ],
)
def test_every_set_is_credible_on_the_same_path(spec: str, solver: str, verdict: str) -> None:
    game = eqbench.load_game(spec)
    tree = game.tree
    for behavior in found(spec, solver)[:1]:
        made = offpath.refined(game, behavior)
        before, after = (
            verify(tree, BehaviorProfile.of(tree, each)) for each in (behavior, made.behavior)
        )
        on_path = infoset_reach(tree, np.where(behavior > offpath.OFF_PATH, behavior, 0.0)) > 0
        rows = np.repeat(on_path, np.diff(tree.action_start))
        assert credible(tree, made.behavior) == verdict
        assert not made.reason
        assert (made.behavior[rows] == behavior[rows]).all()
        assert after.payoffs == pytest.approx(before.payoffs, abs=1e-15)
        assert after.max_regret <= max(before.max_regret, 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_every_start_of_semismooth_becomes_credible(seed: int) -> None:
    game = eqbench.load_game("kuhn3")
    (behavior,) = found("kuhn3", "semismooth(offpath=keep)", seed)
    assert credible(game.tree, behavior) != "48/48"
    assert credible(game.tree, offpath.refined(game, behavior).behavior) == "48/48"


@pytest.mark.parametrize(
    ("tree", "rows", "pays"),
    [
        # P3 goes left, so P2 would go down, so P1 would go across
        (selten_horse(), [(1, 0), ("1/3", "2/3"), (1, 0)], ["P1 1"]),
        # P2 would yield, so P1 would enter
        (entry_deterrence(), [(1, 0), (1, 0)], ["P1 1"]),
    ],
)
def test_a_path_that_needs_an_incredible_threat_is_kept_as_it_is(
    tree: GameTree, rows: list[Any], pays: list[str]
) -> None:
    behavior = exact_profile(tree, *rows).probabilities
    made = offpath.refined(Game("textbook", tree), behavior)
    assert (made.behavior == behavior).all()
    assert "deviation" in made.reason
    labels = [f"{tree.players[tree.infoset_player[i]]} {tree.infoset_labels[i]}" for i in made.pays]
    assert labels == pays


def test_a_credible_threat_is_found() -> None:
    """Both have beer. A duel after quiche is credible if P2 thinks that the weak would have it."""
    tree = beer_and_quiche()
    behavior = exact_profile(tree, (1, 0), (1, 0), (0, 1), (1, 0)).probabilities
    made = offpath.refined(Game("beer", tree), behavior)
    assert not made.reason
    assert credible(tree, made.behavior) == "4/4"


def test_nothing_is_done_where_all_is_on_the_path() -> None:
    game = eqbench.load_game("kuhn2")
    behavior = BehaviorProfile.uniform(game.tree).probabilities
    assert offpath.refined(game, behavior).behavior is behavior


@pytest.mark.parametrize("limit", [{"memory_bytes": 1}, {"timeout_s": 1e-9}])
def test_the_profile_is_kept_where_memory_or_time_is_short(limit: dict[str, Any]) -> None:
    game = eqbench.load_game("kuhn2")
    (behavior,) = found("kuhn2", "lcp")
    made = offpath.refined(game, behavior, Monitor(game, Limits(**limit), print))
    assert made.behavior is behavior
    assert made.reason


def test_pinned_frequencies_stay_along_the_whole_branch() -> None:
    game = eqbench.load_game("kuhn3")
    (behavior,) = found("kuhn3", "semismooth(offpath=keep)")
    tree = game.tree
    played = np.where(behavior > offpath.OFF_PATH, behavior, 0.0)
    rows = np.repeat(infoset_reach(tree, played) > 0, np.diff(tree.action_start))
    branch = branches.LogitBranch(game, flat=offpath.pinned(tree, np.where(rows, played, 0.0)))
    branch.advance(np.array([1e6]), 1000)
    logs = branch.log_probabilities(branch.points())
    kept = rows & (played > 0)
    assert np.abs(np.exp(logs[:, kept]) - behavior[kept]).max() <= 1e-9


@pytest.mark.parametrize(
    "name", ["goofspiel(cards=4)", "random_tree(players=3,depth=5,seed=4)", "kuhn3"]
)
def test_equilibria_of_logit_are_credible_off_their_path_like_its_branch(name: str) -> None:
    result = run("logit", name)
    (found,) = (each for each in result.candidates if each.claim == "equilibrium")
    judged = credibility(Play.of(result.game.tree, found.profile))
    assert judged.credible.all()
    assert max_regret(result.game, found.profile.probabilities) <= 1e-13 * (
        result.game.tree.payoff_range
    )


def test_corners_that_become_the_same_profile_are_handed_over_once() -> None:
    result = run("case_enumeration(offpath=logit)", "skp")
    found = [each.profile.probabilities.tobytes() for each in result.candidates]
    assert len(set(found)) == len(found)
    assert len(found) < len(run("case_enumeration", "skp").candidates)
    assert {each.claim for each in result.candidates} == {"equilibrium"}


quasi_perfect = importlib.import_module("eqbench.solvers.quasi_perfect")
complementarity = importlib.import_module("eqbench.solvers.complementarity")


class Patient:
    """A monitor with time."""

    remaining_s = np.inf


def arrive(game: Game, behavior: np.ndarray) -> tuple[BehaviorProfile, Any]:
    """What the path from an equilibrium leads to, and its trembles."""
    problem = complementarity.Problem.of(
        game.sequence_form, np.ones(game.sequence_form.n_sequences)
    )
    paths = (quasi_perfect.PerturbedPath(problem, behavior, seed) for seed in range(20))
    path = next(path for path in paths if path.follow(Patient()))
    found, trembles = path.limit()
    return BehaviorProfile.of(game.tree, found), trembles


def n_credible(result: Result) -> int:
    profile = BehaviorProfile.of(result.game.tree, result.behavior)
    return credibility(Play.of(result.game.tree, profile)).n_credible


@pytest.mark.parametrize("solver", ["sequence_lp", "lcp"])
@pytest.mark.parametrize("name", ["kuhn2(cards=12)", "goofspiel(cards=4)", "liars_dice(sides=3)"])
def test_perturbed_answers_are_credible_everywhere_and_have_the_same_value(
    name: str, solver: str
) -> None:
    kept, perturbed = (run(f"{solver}(offpath={how})", name) for how in ("keep", "perturbed"))
    tree = kept.game.tree
    assert n_credible(kept) < n_credible(perturbed) == tree.n_infosets
    payoffs = [
        verify(tree, BehaviorProfile.of(tree, each.behavior)).payoffs for each in (kept, perturbed)
    ]
    assert payoffs[0] == pytest.approx(payoffs[1], abs=1e-12)


@pytest.mark.parametrize("seed", range(14))
def test_trembles_at_the_end_of_the_path_prove_it_sequential_whatever_the_payoffs(
    seed: int,
) -> None:
    game = eqbench.load_game(f"random_tree(depth=4,seed={seed})")
    profile, trembles = arrive(game, run("lcp", game).behavior)
    play = Play.of(game.tree, profile)
    assert sequential(play, trembles).proof == Proof.CERTIFIED
    assert verify(game.tree, profile).max_regret <= 1e-12 * game.tree.payoff_range


@pytest.mark.parametrize(
    ("tree", "given"),
    [
        (entry_deterrence(), [1, 0, 1, 0]),  # out, since entrants are fought
        (beer_and_quiche(), [0, 1, 0, 1, 1, 0, 0, 1]),  # quiche, since beer is fought
    ],
)
def test_equilibria_with_empty_threats_are_left_for_others(tree: Any, given: list[int]) -> None:
    game = Game("textbook", tree)
    before = Play.of(tree, BehaviorProfile.of(tree, np.array(given, dtype=float)))
    profile, trembles = arrive(game, before.frequency)
    assert sequential(Play.of(tree, profile), trembles).proof == Proof.CERTIFIED
    if not credibility(before).credible.all():
        assert not np.allclose(profile.probabilities, before.frequency)


def test_ray_leaves_the_equilibrium_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quasi_perfect, "advance", lambda *given: (0, complementarity.RAY))
    kept, perturbed = (run(f"lcp(offpath={how})", "kuhn2") for how in ("keep", "perturbed"))
    np.testing.assert_array_equal(kept.behavior, perturbed.behavior)
    assert "rays" in perturbed.monitor.statistics["offpath"]


def test_end_that_is_no_equilibrium_leaves_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    game = eqbench.load_game("kuhn2")
    uniform = BehaviorProfile.uniform(game.tree).probabilities
    trembles = Trembles(np.ones(len(uniform), dtype=np.int64), uniform)
    monkeypatch.setattr(quasi_perfect.PerturbedPath, "limit", lambda self: (uniform, trembles))
    kept, perturbed = (run(f"lcp(offpath={how})", game) for how in ("keep", "perturbed"))
    np.testing.assert_array_equal(kept.behavior, perturbed.behavior)
    assert "spoiled" in perturbed.monitor.statistics["offpath"]


def test_tableau_beyond_the_memory_limit_leaves_the_equilibrium_as_it_was() -> None:
    perturbed = run("sequence_lp(offpath=perturbed)", "leduc", memory_bytes=2**26)
    assert "MiB" in perturbed.monitor.statistics["offpath"]
    np.testing.assert_array_equal(perturbed.behavior, run("sequence_lp", "leduc").behavior)


def test_weights_lost_in_rounding_leave_the_equilibrium_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = eqbench.load_game("kuhn2")
    limit = quasi_perfect.PerturbedPath.limit

    def rounded(self: Any) -> tuple[np.ndarray, Trembles]:
        found, trembles = limit(self)
        return found, Trembles(trembles.order, 0 * trembles.weight)

    monkeypatch.setattr(quasi_perfect.PerturbedPath, "limit", rounded)
    kept, perturbed = (run(f"lcp(offpath={how})", game) for how in ("keep", "perturbed"))
    np.testing.assert_array_equal(kept.behavior, perturbed.behavior)
    assert perturbed.candidates[0].trembles is None


def test_without_time_one_path_is_begun_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    game = eqbench.load_game("kuhn2")
    given = run("lcp", game)
    begun = []
    begin = quasi_perfect.begin
    monkeypatch.setattr(quasi_perfect, "begin", lambda *all: (begun.append(1), begin(*all)))
    profile = BehaviorProfile.of(game.tree, given.behavior)
    late = run("lcp", game, timeout_s=1e-9).monitor
    found = quasi_perfect.perturbed(game, profile, late)
    assert found.profile is profile
    assert len(begun) <= 1
    assert "time" in late.statistics["offpath"]
