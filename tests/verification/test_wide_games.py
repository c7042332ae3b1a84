"""Games whose payoffs span more decimal places than floats have: nothing false is `ok` there."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from helpers.made_games import wide_game
from helpers.runs import handed_over
from helpers.walks import TreeWalk

import eqbench
from eqbench.cli.verify import verify as verify_command
from eqbench.equilibria import Identifier, cluster_identities, known_sets
from eqbench.equilibria.known import some_member
from eqbench.errors import ProfileError, UsageError
from eqbench.harness.judge import ending, measure
from eqbench.model.builder import TreeBuilder
from eqbench.model.gambit_text import efg_text
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, completed_rows
from eqbench.model.tree import GameTree, Payoffs
from eqbench.report.profile_view import play_facts
from eqbench.report.writing import game_facts
from eqbench.solver import Limits
from eqbench.studies.crossplay.study import recognized
from eqbench.verification import Allowance, Verifier, beyond_floats, verify

SMALL = (
    *("kuhn", "kuhn2", "kuhn3", "kuhn3_reduced", "leduc", "goofspiel", "skp", "skp(pot=3.2)"),
    *("matrix", "rock_paper_scissors", "matching_pennies", "prisoners_dilemma", "battle_of_sexes"),
    *("shapley", "jordan", "random", "covariance", "dispersion", "minimum_effort"),
    *("majority_voting", "travelers_dilemma", "random_tree", "random(players=4,actions=5,seed=3)"),
)
WIDE = [10**8, 10**12, 1e19]


@pytest.mark.parametrize("spec", SMALL)
def test_ordinary_games_keep_their_scale(spec: str) -> None:
    tree = eqbench.load_game(spec).tree
    assert not tree.is_wide
    assert tree.payoff_scale == tree.payoff_range
    assert Limits().target_for(tree) == 1e-10 * tree.payoff_range
    assert 0 < tree.stakes <= tree.payoff_range


@pytest.mark.parametrize("prize", WIDE)
def test_scale_of_a_wide_game_is_what_its_least_decision_is_about(prize: float) -> None:
    tree = wide_game(prize)
    assert tree.is_wide
    assert tree.payoff_scale == tree.stakes == 1  # P2 after tails and A: -1 or 1; after heads, B
    assert Limits().target_for(tree) == 1e-10
    assert Limits(target=0.5).target_for(tree) == 0.5


def test_game_is_wide_from_a_hundred_thousand_times_the_stakes() -> None:
    assert not wide_game(10**5).is_wide
    assert not wide_game(1e5).is_wide
    assert wide_game(10**5 + 1).is_wide
    assert wide_game(1e5 + 1).is_wide


def choice(*payoffs: float) -> GameTree:
    """One player, one decision."""
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "root", [str(a) for a in range(len(payoffs))])
    for action, payoff in enumerate(payoffs):
        builder.terminal((root, action), [payoff])
    return builder.tree()


def test_stakes_are_differences_that_a_decision_of_that_player_makes() -> None:
    assert choice(3, 7, 4).stakes == 3, "the least loss by what is dominated"
    assert choice(5, 5).stakes == 0
    assert not choice(10**9, 10**9).is_wide
    assert choice(Fraction(1, 3), Fraction(1, 2)).stakes == pytest.approx(1 / 6)
    builder = TreeBuilder(["P1", "P2"])
    root = builder.chance(None, [Fraction(1, 2), Fraction(1, 2)])
    builder.terminal((root, 0), [0, 0])  # chance alone decides about the 1
    own = builder.decision((root, 1), 1, "own", ["a", "b"])
    builder.terminal((own, 0), [1, 8])
    builder.terminal((own, 1), [2, 2])  # what P2 does to P1 is no stake of P1
    assert builder.tree().stakes == 6


def test_stakes_are_seen_where_floats_are_equal() -> None:
    tree = choice(10**18, 10**18 + 1)
    assert tree.payoff_range == 0
    assert tree.stakes == 1
    first = BehaviorProfile.of(tree, [1.0, 0.0])
    assert verify(tree, first).max_regret == 1.0


def test_rounding_of_float_payoffs_is_no_stake() -> None:
    assert choice(0.1 + 0.2, 0.3).stakes == 0
    assert choice(0.3, 0.3 + 1e-13).stakes == pytest.approx(1e-13, rel=1e-2)


# -- what the verifier measures ----------------------------------------------------------------


def blind_spot(tree: GameTree, error: float) -> BehaviorProfile:
    """P2 gives P1 the prize with a chance that floats can hardly hold; P1 could have more."""
    return BehaviorProfile.of(tree, [0, 1, 0, 1, error, 1 - error, 1 - error, error])


@pytest.mark.parametrize("prize", WIDE)
@pytest.mark.parametrize("error", [0.0, 0.1, 1e-17, 1e-30])
def test_wide_games_are_measured_without_rounding(prize: float, error: float) -> None:
    tree = wide_game(prize)
    profile = blind_spot(tree, error)
    measured = verify(tree, profile)
    walk = TreeWalk(tree, completed_rows(tree, profile))
    assert measured.resolved
    assert list(measured.payoffs) == [float(value) for value in walk.payoffs()]
    assert list(measured.regrets) == [float(value) for value in walk.regrets()]


def test_rows_that_sum_to_1_by_rounding_only_are_completed() -> None:
    tree = wide_game(1e19)
    profile = BehaviorProfile.of(tree, [0, 1, 0, 1, 0, 1, 1, 0])
    loose = BehaviorProfile.of(tree, profile.probabilities * np.array([*[1.0] * 6, 1 - 1e-12, 1]))
    exact, completed = (verify(tree, each).payoffs for each in (profile, loose))
    assert exact == completed


def test_chances_in_floats_are_completed_too() -> None:
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [1 / 3, 1 / 3, 1 / 3])
    for outcome, payoffs in enumerate(((1e19, 0.0), (1.0, 0.0), (5.0, 5.0))):
        node = builder.decision((root, outcome), 0, str(outcome), ["a", "b"])
        for action, payoff in enumerate(payoffs):
            builder.terminal((node, action), [payoff])
    tree = builder.tree()
    profile = BehaviorProfile.of(tree, [1.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    assert verify(tree, profile).max_regret == pytest.approx(1 / 3, rel=1e-15)


def test_frequencies_that_are_known_exactly_count() -> None:
    tree = wide_game(10**12)
    tiny = Fraction(1, 3 * 10**12)
    exact = [0, 1, 0, 1, tiny, 1 - tiny, 1 - tiny, tiny]
    measured = verify(tree, BehaviorProfile.of_exact(tree, exact))
    walk = TreeWalk(tree, [Fraction(value) for value in exact])
    assert list(measured.regrets) == [float(value) for value in walk.regrets()]


# -- what is ok ---------------------------------------------------------------------------------


def found(profile: BehaviorProfile, tree: GameTree, allowance: Allowance | None = None, **claims):
    return measure(handed_over(profile, **claims), Verifier(tree), 1e-6, allowance)


def right(tree: GameTree) -> BehaviorProfile:
    """P2 never gives the prize away; then P1 is best off with A after tails, B after heads."""
    return BehaviorProfile.of(tree, [1, 0, 1, 0, 0, 1, 1, 0])


def wrong(tree: GameTree) -> BehaviorProfile:
    """P1 gets -1 after heads and could get 1, half of the time."""
    return BehaviorProfile.of(tree, [0, 1, 1, 0, 0, 1, 1, 0])


def barely(least: Fraction | int) -> GameTree:
    """P1 has 1 by luck, and in the other half of all cases a decision for so little."""
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [Fraction(1, 2), Fraction(1, 2)])
    builder.terminal((root, 0), [1])
    own = builder.decision((root, 1), 0, "own", ["wrong", "right"])
    builder.terminal((own, 0), [0])
    builder.terminal((own, 1), [least])
    return builder.tree()


@pytest.mark.parametrize("prize", WIDE)
def test_claim_that_is_wrong_by_the_stakes_is_refuted(prize: float) -> None:
    tree = wide_game(prize)
    finding = found(wrong(tree), tree)
    assert finding.max_regret == 1
    assert finding.refuted is not None
    assert "floating-point arithmetic cannot resolve" in finding.refuted


@pytest.mark.parametrize("claimed", [None, 2.0])
def test_regret_of_the_stakes_bears_out_no_convergence(claimed: float | None) -> None:
    tree = wide_game(10**12)
    finding = found(wrong(tree), tree, claim="iterate", claimed_regret=claimed)
    assert finding.refuted is None
    status, reason = ending("converged", "", [finding], target=1e-10, tree=tree)
    assert status == "stopped"
    assert "1, above the target 1e-10" in reason
    assert "floating-point arithmetic cannot resolve" in reason


def test_equilibrium_of_a_wide_game_is_ok() -> None:
    tree = wide_game(1e19)
    finding = found(right(tree), tree)
    assert finding.refuted is None
    assert (finding.max_regret, finding.exact) == (0, None)
    assert ending("converged", "", [finding], target=1e-10, tree=tree)[0] == "ok"


def test_what_cannot_be_measured_is_neither_refuted_nor_ok() -> None:
    tree = wide_game(10**12)
    for profile in (right(tree), wrong(tree)):
        finding = found(profile, tree, Allowance(left=0))
        assert (finding.refuted, finding.measured.resolved) == (None, False)
        status, reason = ending("converged", "", [finding], target=1e9, tree=tree)
        assert status == "stopped"
        assert "cannot resolve" in reason


def test_regrets_that_cannot_be_measured_are_the_largest_possible() -> None:
    tree = wide_game(10**12)
    unresolved = Verifier(tree).verify(BehaviorProfile.uniform(tree), Allowance(left=0))
    largest = np.abs(tree.payoffs.table).max(axis=0)
    assert unresolved.regrets == tuple((2 * largest).tolist())


def test_reason_says_how_wide_a_game_is() -> None:
    assert "the largest payoff of this game is 1e+12 times" in beyond_floats(wide_game(10**12))
    assert beyond_floats(eqbench.load_game("kuhn2").tree) == ""
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [Fraction(1, 2)] * 2)
    choice = builder.decision((root, 0), 0, "choice", ["l", "r"])
    for place, prize in (((choice, 0), 0), ((choice, 1), 4), ((root, 1), 8 * 10**12)):
        builder.terminal(place, [prize])
    assert "is 2e+12 times" in beyond_floats(builder.tree())


def test_what_cannot_be_measured_comes_last_and_is_recorded_as_no_equilibrium() -> None:
    tree = wide_game(10**12)
    unresolved, resolved = found(right(tree), tree, Allowance(left=0)), found(wrong(tree), tree)
    assert sorted([unresolved, resolved], key=lambda item: item.rank)[0] is resolved
    last = max(unresolved, resolved, key=lambda finding: finding.rank).record(None, None)
    assert "cannot be measured" in last.refuted
    assert last.max_regret >= 2e12, "whoever reads the regret alone takes it for no equilibrium"
    assert unresolved.refuted is None


def test_verify_command_says_what_it_cannot_measure(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("eqbench.verification.verifier.MOST_TERMINAL_DIGITS", 0)
    tree = wide_game(10**12)
    file, profile = tmp_path / "wide.efg", tmp_path / "profile.json"
    file.write_text(efg_text(tree))
    profile.write_text(json.dumps(wrong(tree).on(tree).to_json(str(file))))
    asked = ["--profile", str(profile), "--max-regret", "1e9"]
    done = CliRunner().invoke(verify_command, asked)
    assert done.exit_code == 1
    assert "cannot be measured" in " ".join(done.output.split())
    done = CliRunner().invoke(verify_command, [*asked[:2], "--json"])
    assert not json.loads(done.output)["resolved"]
    done = CliRunner().invoke(verify_command, [*asked, "--exact", "--json"])
    assert json.loads(done.output)["max_regret"] == 1
    assert done.exit_code == 0


def test_crossplay_takes_nothing_that_cannot_be_measured(monkeypatch) -> None:
    monkeypatch.setattr("eqbench.verification.verifier.MOST_TERMINAL_DIGITS", 0)
    game = Game("wide", wide_game(10**12))
    with pytest.raises(UsageError, match="measured"):
        recognized(Identifier(game), [("file", right(game.tree))], tolerance=1e-6)


def test_one_profile_that_was_measured_is_enough() -> None:
    tree = wide_game(10**12)
    handed = [found(right(tree), tree, Allowance(left=0)), found(right(tree), tree)]
    assert ending("converged", "", handed, target=1e-10, tree=tree)[0] == "ok"


def test_solve_judges_by_the_stakes() -> None:
    game = Game("wide", wide_game(10**12))

    class Claims:
        def solve(self, game, monitor, rng):
            monitor.candidate(wrong(game.tree))
            return eqbench.Termination("converged")

    record = eqbench.solve(game, Claims())
    assert (record.status, record.target, record.max_regret) == ("refuted", 1e-10, 1.0)


def test_tiny_payoffs_have_a_tiny_allowance_for_rounding() -> None:
    """In units of 1e-16 a regret of half the range is far from rounding."""
    small = eqbench.load_game("matching_pennies").tree
    tree = replace(small, payoffs=Payoffs(small.payoffs.table * 1e-16))
    pure = BehaviorProfile.of(tree, [1.0, 0.0, 1.0, 0.0])
    finding = found(pure, tree, claim="iterate")
    assert finding.max_regret == pytest.approx(2e-16)
    assert ending("converged", "", [finding], target=1e-26, tree=tree)[0] == "stopped"


def test_fractions_that_are_no_distribution_are_refused_in_wide_games_too() -> None:
    tree = wide_game(10**12)
    uniform = BehaviorProfile.uniform(tree)
    assert uniform.exact is not None
    forged = replace(uniform, exact=(Fraction(2), Fraction(-1), *uniform.exact[2:]))
    with pytest.raises(ProfileError):
        verify(tree, forged)


def test_wide_games_have_no_allowance_for_rounding() -> None:
    """What is at stake is less than the rounding of floats near the largest payoff."""
    tree = barely(Fraction(1, 10**17))
    finding = found(BehaviorProfile.of(tree, [1.0, 0.0]), tree, claim="iterate")
    assert finding.max_regret == 5e-18
    assert ending("converged", "", [finding], target=1e-27, tree=tree)[0] == "stopped"


@pytest.mark.parametrize("parameter", [Fraction(2**60 + 1, 2**30), Fraction(2**50 + 1, 2**20)])
def test_payoffs_of_which_little_is_left_are_rounded_once(parameter: Fraction) -> None:
    """Base and slope are far apart and cancel all but 1 of the payoff."""
    base, slope = -(parameter.numerator - 1), parameter.denominator
    columns = (np.array([[value], [0]]) for value in (base, slope))
    payoffs = Payoffs(next(columns), 1, next(columns), "pot", parameter)
    tree = replace(choice(1, 0), payoffs=payoffs)
    assert tree.payoffs.table.tolist() == [[1.0], [0.0]]
    wrong = BehaviorProfile.of_exact(tree, [0, 1])
    assert found(wrong, tree, claimed_regret=1e-9).refuted is not None
    assert verify(tree, BehaviorProfile.of(tree, [0.0, 1.0])).max_regret == 1.0


def test_stakes_below_the_smallest_float_are_stakes() -> None:
    numerators = np.array([[0], [1]])
    exact = Payoffs(
        numerators, slope=np.array([[0], [1]]), parameter="pot", value=Fraction(1, 10**400) - 1
    )
    assert not replace(choice(1, 0), payoffs=exact).is_wide, "the largest payoff is the stakes"
    payoffs = Payoffs(
        np.array([[1], [0], [0]]),
        slope=np.array([[0], [0], [1]]),
        parameter="pot",
        value=Fraction(1, 10**400),
    )
    tree = replace(barely(0), payoffs=payoffs)
    assert tree.is_wide
    wrong, right = (BehaviorProfile.of(tree, row) for row in ([1.0, 0.0], [0.0, 1.0]))
    assert found(wrong, tree).refuted is not None
    for profile, status in ((wrong, "stopped"), (right, "ok")):
        finding = found(profile, tree, claim="iterate")
        assert ending("converged", "", [finding], target=0.0, tree=tree)[0] == status


# -- what counts as an equilibrium elsewhere ------------------------------------------------------


def test_equilibria_of_a_wide_game_are_not_joined_over_what_is_none() -> None:
    """Two players meet at one of two places, half of the time; else both get the prize."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.chance(None, [Fraction(1, 2), Fraction(1, 2)])
    builder.terminal((root, 0), [10**12, 10**12])
    first = builder.decision((root, 1), 0, "P1", ["here", "there"])
    for move in range(2):
        second = builder.decision((first, move), 1, "P2", ["here", "there"])
        for reply in range(2):
            builder.terminal((second, reply), [int(move == reply)] * 2)
    game = Game("meeting", builder.tree())
    rows = [BehaviorProfile(np.array(row, dtype=float)) for row in ([1, 0, 1, 0], [0, 1, 0, 1])]
    one, other = cluster_identities(game, rows, [0.0, 0.0])
    assert one.name != other.name


def test_what_is_near_or_shown_goes_by_the_scale_of_regrets(monkeypatch) -> None:
    game = Game("wide", wide_game(10**12))
    assert play_facts(game, BehaviorProfile.uniform(game.tree))["payoff_scale"] == 1
    kuhn3 = eqbench.load_game("kuhn3")
    identifier, uniform = Identifier(kuhn3), BehaviorProfile.uniform(kuhn3.tree)
    assert identifier.known
    far = member_near_the_first(kuhn3)
    assert identifier.identify(far, 1e-8) is None, "so small a regret is not near but another"
    identifier = Identifier(kuhn3)
    assert identifier.known
    monkeypatch.setattr(GameTree, "payoff_scale", 1e-8)
    assert identifier.identify(far, 1e-8) is not None
    assert identifier.identify(uniform, 1e-8) is None
    assert dict(game_facts(["kuhn3"]))["kuhn3"].payoff_scale == 1e-8
    monkeypatch.setattr(GameTree, "payoff_scale", 1e-30)
    assert not known_sets(kuhn3), "the regret of their floats is rounding"


def member_near_the_first(game: Game) -> BehaviorProfile:
    """Not quite a member of a published set."""
    known = known_sets(game)[0]
    behavior = known.layout.behavior(known.frequencies(some_member(known)))
    blurred = 0.997 * np.clip(behavior, 0, 1) + 0.003 * uniform_frequencies(game)
    return BehaviorProfile.of(game.tree, blurred)


def uniform_frequencies(game: Game) -> np.ndarray:
    return BehaviorProfile.uniform(game.tree).probabilities
