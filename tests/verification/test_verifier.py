"""The verifier: regrets by hand, refusals, exact mode, and whether our checks notice its errors."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.made_games import error_ratio, farthest, long_path, random_tree
from helpers.runs import handed_over
from helpers.study_cases import kuhn2_member
from helpers.walks import TreeWalk, disagreement, draw_behavior

import eqbench
from eqbench.errors import ProfileError, UsageError
from eqbench.harness import judge
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, completed, completed_rows
from eqbench.model.profile_json import parse_profile, profile_from_json, profile_text
from eqbench.model.tree import GameTree, Payoffs, largest_integer
from eqbench.verification import Allowance, Verifier, verify, verify_exactly
from eqbench.verification.sweep import UNIT, Numbers, TreeSweep, chance_units
from eqbench.verification.verifier import ExactRules, measure_exactly


def entry_game(*, last_payoff: float = 4) -> GameTree:
    """P1 stays out (1, 5) or enters; P2 fights (-1, -1) or yields; then P1 stops or goes on.

    Actions in order: out, in; fight, yield; stop (2, 2), go on (`last_payoff`, 0).
    """
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "entry", ["out", "in"])
    builder.terminal((root, 0), [1, 5])
    answer = builder.decision((root, 1), 1, "answer", ["fight", "yield"])
    builder.terminal((answer, 0), [-1, -1])
    last = builder.decision((answer, 1), 0, "last", ["stop", "go on"])
    builder.terminal((last, 0), [2, 2])
    builder.terminal((last, 1), [last_payoff, 0])
    return builder.tree()


def entry_profile(tree: GameTree, enter: int, fight: str, go_on: int) -> BehaviorProfile:
    """Profile from the frequencies of in, fight and go on."""
    mixed = Fraction(fight)
    rows = {"entry": (1 - enter, enter), "answer": (mixed, 1 - mixed), "last": (1 - go_on, go_on)}
    return BehaviorProfile.of_exact(tree, [x for label in tree.infoset_labels for x in rows[label]])


# -- regrets by hand ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("enter", "fight", "go_on", "payoffs", "regrets"),
    [
        # kept out by a threat that is never carried out: an equilibrium, though not a good one
        (0, "1", 0, (1, 5), (0, 0)),
        # P1 would have to change two decisions at once, the second off the path: 4 - 1
        (0, "0", 0, (1, 5), (3, 0)),
        (0, "0", 1, (1, 5), (3, 0)),
        # a threat carried out with 3/5 is just enough: -3/5 + 4 * 2/5 = 1
        (0, "3/5", 0, (1, 5), (0, 0)),
        (0, "1/2", 1, (1, 5), (Fraction(1, 2), 0)),
        # on the path P2 loses 2 by fighting, and P1 loses 1 - (-1) by entering
        (1, "1", 0, (-1, -1), (2, 3)),
        # P2 would fight if that were better than what P1 does afterwards
        (1, "0", 1, (4, 0), (0, 0)),
        (1, "0", 0, (2, 2), (2, 0)),
    ],
)
def test_regrets_are_those_computed_by_hand(
    enter: int, fight: str, go_on: int, payoffs: tuple, regrets: tuple
) -> None:
    tree = entry_game()
    profile = entry_profile(tree, enter, fight, go_on)
    exact = verify_exactly(tree, profile)
    assert (exact.payoffs, exact.regrets) == (payoffs, regrets)
    assert verify(tree, profile).regrets == pytest.approx([float(x) for x in regrets], abs=1e-15)


def test_branches_that_chance_never_takes_do_not_count() -> None:
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [Fraction(1), Fraction(0)])
    for outcome, prize in enumerate((1, 10**6)):
        node = builder.decision((root, outcome), 0, f"{outcome}", ["take", "leave"])
        builder.terminal((node, 0), [prize])
        builder.terminal((node, 1), [0])
    tree = builder.tree()
    leave = BehaviorProfile.of_exact(tree, [0, 1, 0, 1])
    assert verify_exactly(tree, leave).regrets == (1,)
    assert verify(tree, leave).regrets == (1.0,)


@pytest.mark.parametrize("exactly", [False, True])
def test_player_who_never_moves_gains_nothing(*, exactly: bool) -> None:
    builder = TreeBuilder(["P1", "P2", "P3"])
    root = builder.decision(None, 1, "choice", ["left", "right"])
    builder.terminal((root, 0), [3, 0, -3])
    builder.terminal((root, 1), [5, 1, -6])
    tree = builder.tree()
    measured = (verify_exactly if exactly else verify)(tree, BehaviorProfile.uniform(tree))
    assert measured.payoffs == (4, 0.5, -4.5)
    assert measured.regrets == (0, 0.5, 0)


def test_summary_figures_follow_from_the_regrets() -> None:
    tree = eqbench.load_game("kuhn3").tree
    measured = verify_exactly(tree, BehaviorProfile.uniform(tree))
    assert measured.nash_conv == sum(measured.regrets)
    assert measured.max_regret == max(measured.regrets) > 0
    assert measured.exploitability == measured.nash_conv / 3
    assert sum(measured.payoffs) == 0


def test_game_and_tree_are_measured_alike() -> None:
    game = eqbench.load_game("kuhn2")
    profile = BehaviorProfile.uniform(game.tree)
    assert eqbench.verify(game, profile) == verify(game.tree, profile)
    exactly = verify_exactly(game.tree, profile)
    assert eqbench.verify(game, profile, exact=True) == exactly
    verifier = Verifier(game.tree)
    assert verifier.verify(profile) == verifier.verify(profile) == verify(game.tree, profile)


# -- refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [0.6, -0.5, math.nan, 2.0])
def test_what_is_no_distribution_is_refused(entry: float) -> None:
    tree = eqbench.load_game("kuhn2").tree
    behavior = np.full(tree.n_actions, 0.5)
    behavior[7] = entry
    forged = BehaviorProfile(behavior)  # past the checks of BehaviorProfile.of
    for measure in (verify, verify_exactly):
        with pytest.raises(ProfileError):
            measure(tree, forged)


def test_profile_of_another_game_is_refused() -> None:
    other = BehaviorProfile.uniform(eqbench.load_game("kuhn3").tree)
    for measure in (verify, verify_exactly):
        with pytest.raises(ProfileError, match="frequencies"):
            measure(eqbench.load_game("kuhn2").tree, other)


def test_exact_mode_refuses_games_in_floating_point() -> None:
    tree = entry_game(last_payoff=4.0)
    with pytest.raises(UsageError, match="exact"):
        verify_exactly(tree, BehaviorProfile.uniform(tree))
    assert verify(tree, BehaviorProfile.uniform(tree)).max_regret > 0


# -- exact mode beyond 64 bits ------------------------------------------------------------


@pytest.fixture
def arithmetic(monkeypatch: pytest.MonkeyPatch) -> list[np.dtype]:
    """Arithmetic of every evaluation in this test."""
    seen: list[np.dtype] = []
    evaluate = TreeSweep.evaluate

    def spy(self: TreeSweep, numbers: Numbers) -> Any:
        seen.append(numbers.action.dtype)
        return evaluate(self, numbers)

    monkeypatch.setattr(TreeSweep, "evaluate", spy)
    return seen


def coprime_profile(tree: GameTree) -> BehaviorProfile:
    """Every information set has its own prime denominator above a million."""
    candidates = range(1_000_003, 1_002_000, 2)
    primes = (n for n in candidates if all(n % d for d in range(3, math.isqrt(n) + 1, 2)))
    rows: list[Fraction] = []
    for actions, prime in zip(tree.infoset_actions, primes, strict=False):
        share = Fraction(prime // 3, prime * max(len(actions) - 1, 1))
        rows += [share] * (len(actions) - 1)
        rows.append(1 - share * (len(actions) - 1))
    return BehaviorProfile.of_exact(tree, rows)


@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3", "skp"])
def test_coprime_denominators_are_measured_in_big_integers(
    spec: str, arithmetic: list[np.dtype]
) -> None:
    tree = eqbench.load_game(spec).tree
    profile = coprime_profile(tree)
    assert profile.exact is not None
    measured, walk = verify_exactly(tree, profile), TreeWalk(tree, profile.exact)
    assert arithmetic == [np.dtype(object)]
    assert list(measured.payoffs) == walk.payoffs()
    assert list(measured.regrets) == walk.regrets()


def test_small_denominators_are_measured_in_machine_integers(arithmetic: list[np.dtype]) -> None:
    tree = eqbench.load_game("kuhn3").tree
    verify_exactly(tree, BehaviorProfile.uniform(tree))
    assert arithmetic == [np.dtype(np.int64)]


def raised(tree: GameTree, least: int) -> GameTree:
    """The same tree with integer payoffs from `least` on, so that no sum is smaller than that."""
    rng = np.random.default_rng(least % 2**32)
    base = least + rng.integers(0, 5, tree.payoffs.base.shape)
    return replace(tree, payoffs=Payoffs(base))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", [6, 7])
def test_no_sum_overflows_however_large_the_payoffs_are(
    seed: int, sign: int, arithmetic: list[np.dtype]
) -> None:
    """Payoffs of 2^k and all denominators together cross 2^63 in steps of a factor of two."""
    structure = random_tree(seed)
    rows = [Fraction(1, 3) if len(row) > 1 else 1 for row in structure.infoset_actions]
    exact = []
    for row, first in zip(structure.infoset_actions, rows, strict=True):
        others = [(1 - Fraction(first)) / max(len(row) - 1, 1)] * (len(row) - 1)
        exact += [Fraction(first), *others]
    for bits in range(20, 62):
        tree = raised(structure, 2**bits)
        tree = replace(tree, payoffs=Payoffs(sign * tree.payoffs.base))
        measured = verify_exactly(tree, BehaviorProfile.of_exact(tree, exact))
        walk = TreeWalk(tree, exact)
        assert list(measured.payoffs) == walk.payoffs(), bits
        assert list(measured.regrets) == walk.regrets(), bits
    assert arithmetic[0] == np.dtype(np.int64)
    assert arithmetic[-1] == np.dtype(object)


@pytest.mark.parametrize(
    ("payoff", "dtype"), [(2**59 - 1, np.int64), (2**59, object), (1 - 2**59, np.int64)]
)
def test_machine_integers_are_left_at_62_bits(
    payoff: int, dtype: type, arithmetic: list[np.dtype]
) -> None:
    """Halves of two moves of P1 and one of P2 are over 8."""
    tree = entry_game(last_payoff=payoff)
    uniform = BehaviorProfile.uniform(tree)
    measured, walk = verify_exactly(tree, uniform), TreeWalk(tree, uniform.exact)
    assert (list(measured.payoffs), list(measured.regrets)) == (walk.payoffs(), walk.regrets())
    assert arithmetic == [np.dtype(dtype)]


def test_least_integer_of_64_bits_is_as_large_as_it_is() -> None:
    """Its absolute value in 64 bits would be negative."""
    assert largest_integer(np.array([-(2**63), 5])) == 2**63
    assert largest_integer(np.array([-3, 7])) == 7


@pytest.mark.parametrize("power", [20, 40, 59, 60, 61])
@pytest.mark.parametrize("value", ["1", "-7/3", "99999999/100000007"])
def test_payoffs_with_a_parameter_do_not_overflow(power: int, value: str) -> None:
    base, slope = np.array([[2**power], [-(2**power)]]), np.array([[-(2**power)], [2**power - 1]])
    payoffs = Payoffs(base, 3, slope, "pot", Fraction(value))
    numerators, denominator = payoffs.rational()
    expected = [
        Fraction(b + s * Fraction(value), 3)
        for b, s in zip(base.ravel().tolist(), slope.ravel().tolist(), strict=True)
    ]
    assert [Fraction(int(n), denominator) for n in numerators.ravel()] == expected
    assert payoffs.table.ravel() == pytest.approx(
        [float(x) for x in expected], rel=1e-15, abs=2.0 ** (power - 50)
    )


@pytest.mark.parametrize("numerator", [2**53 - 1, 2**53 + 1, 2**61 + 1])
def test_payoffs_are_rounded_once(numerator: int) -> None:
    table = Payoffs(np.array([[numerator, -numerator]]), 3).table
    assert table.tolist() == [[numerator / 3, -numerator / 3]]


# -- what counts in exact mode ------------------------------------------------------------


def test_floats_count_in_exact_mode_as_they_are_stored() -> None:
    """As the decimals that they print as; the largest of a row is what the others leave."""
    tree = eqbench.load_game("rock_paper_scissors").tree
    third = 1 / 3
    profile = BehaviorProfile.of(tree, [third, third, third, 0.2, 0.7, 0.1])
    assert 0.2 + 0.7 + 0.1 != 1.0 != sum(map(Fraction, [third] * 3))
    stored = profile_from_json(tree, parse_profile(profile_text(tree, profile)))
    assert verify_exactly(tree, profile) == verify_exactly(tree, stored)
    assert completed_rows(tree, profile) == stored.exact
    assert completed([Fraction(1, 4), Fraction(1, 2), Fraction(1, 2)])[1] == Fraction(1, 4)


@pytest.mark.parametrize("excess", [Fraction(1, 10**10), Fraction(-1, 10**10)])
def test_rows_that_are_given_exactly_must_sum_to_1_exactly(excess: Fraction) -> None:
    tree = eqbench.load_game("matching_pennies").tree
    half = Fraction(1, 2)
    for row in range(2):
        entries = [half] * 4
        entries[2 * row + 1] += excess
        profile = BehaviorProfile.of_exact(tree, entries)
        with pytest.raises(ProfileError, match="not exactly 1"):
            verify_exactly(tree, profile)


def test_games_with_floats_have_exact_rules_of_their_own() -> None:
    tree = entry_game(last_payoff=4.5)
    rules = ExactRules.of(tree)
    assert Fraction(int(rules.payoffs.max()), rules.payoff_denominator) == 5
    assert rules.payoffs.shape == (4, 2)
    exact = BehaviorProfile.uniform(tree).exact
    measured = measure_exactly(TreeSweep(tree), rules, exact)
    walk = TreeWalk(tree, exact)
    assert list(measured.payoffs) == walk.payoffs()
    assert measured.rounded().payoffs == verify(tree, BehaviorProfile.uniform(tree)).payoffs


# -- what is measured is what is stored, within the error -----------------------------------


@pytest.mark.parametrize("spare", [9e-10, -9e-10, 3e-14])
def test_rows_that_miss_1_on_a_long_path_hide_no_regret(spare: float) -> None:
    tree, frequencies = long_path(spare)
    profile = BehaviorProfile.of(tree, frequencies)
    finding = judge.measure(handed_over(profile, "iterate"), Verifier(tree), 1e-6)
    assert farthest(tree, profile, finding.measured) <= finding.measured.error < 1e-7
    assert finding.max_regret == pytest.approx(0.02, abs=1e-4)
    assert not judge.meets(0.019, [finding], tree)
    rows = [dict(zip(("on", "stop"), row, strict=True)) for row in frequencies.reshape(-1, 2)]
    given = {"behavior": {"P1": dict(zip(tree.infoset_labels, rows, strict=True))}}
    found = eqbench.verify(tree, given)
    assert found.max_regret == pytest.approx(finding.max_regret, abs=found.error)


@pytest.mark.parametrize("least", [10**6, 0])
def test_exact_regrets_lie_within_the_error(least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqbench.verification.verifier.COMPILED_FROM", least)
    ratios = list(map(error_ratio, range(60)))
    assert min(ratios) >= 1
    assert np.median(ratios) <= (100 if least else 10_000)


def test_error_covers_sums_over_many_information_sets() -> None:
    """Each of 59 additions to the value of the best response is rounded up by half a unit."""
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "first", ["in", "out"])
    drawn = builder.chance((root, 0), [Fraction(1, 60)] * 60)
    for k in range(60):
        node = builder.decision((drawn, k), 0, f"{k}", ["take", "leave"])
        builder.terminal((node, 0), [60.0 if k == 0 else 61 * 2.0**-53])
        builder.terminal((node, 1), [-1.0])
    builder.terminal((root, 1), [0.0])
    tree = builder.tree()
    profile = BehaviorProfile.of(tree, [0, 1] + [1, 0] * 60)
    measured = verify(tree, profile)
    assert 50 * 2.0**-53 < farthest(tree, profile, measured) <= measured.error < 200 * 2.0**-53


def test_error_grows_with_the_number_of_payoffs_that_are_summed() -> None:
    errors = []
    for ends in (256, 4096):
        builder = TreeBuilder(["P1"])
        root = builder.decision(None, 0, "", list(map(str, range(ends))))
        for action in range(ends):
            builder.terminal((root, action), [int(action > 0)])
        errors.append(verify(builder.tree(), BehaviorProfile(np.eye(1, ends)[0])).error)
    assert 0 < errors[0] < errors[1]


def test_error_covers_rows_that_miss_1_by_rounding() -> None:
    """P1 plays left, where P2's rows sum to more than 1; to the right they sum to less."""
    builder, off = TreeBuilder(["P1", "P2"]), 8 * 2.0**-52
    rows = {"left": [1.0, off, *[0.0] * 6], "right": [1.0 - off, *[0.0] * 7]}
    root = builder.decision(None, 0, "", [*rows])
    for side, name in enumerate(rows):
        place = root, side
        for depth in range(9):
            node = builder.decision(place, 1, f"{name}{depth}", [*"abcdefgh"])
            for action in range(1, 8):
                builder.terminal((node, action), [0, 0])
            place = node, 0
        builder.terminal(place, [1 + side, 0])
    tree = builder.tree()
    frequencies = [x for label in tree.infoset_labels[1:] for x in rows[label[:-1]]]
    profile = BehaviorProfile.of(tree, [1.0, 0.0, *frequencies])
    measured = verify(tree, profile)
    assert 400 * UNIT < farthest(tree, profile, measured) <= measured.error < 1000 * UNIT


@pytest.mark.parametrize("denominator", [2**53 - 1, 2**53 + 3, 2**54 - 1])
def test_error_covers_the_rounding_of_long_chances(denominator: int) -> None:
    chances = [Fraction(10**13 * k + 1, denominator) for k in range(1, 40)]
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [*chances, 1 - sum(chances)])
    for k in range(40):
        builder.terminal((root, k), [k])
    tree = builder.tree()
    drawn = zip(chances, tree.chance_probability[1:].tolist(), strict=False)
    off = max(abs(Fraction(rounded) / exact - 1) for exact, rounded in drawn)
    assert off <= (chance_units(tree)[1] - 1) * UNIT  # one is for a product with it


def test_target_within_the_error_is_decided_in_integers() -> None:
    tree, member = eqbench.load_game("kuhn2").tree, kuhn2_member(Fraction(1, 7))
    profile = BehaviorProfile.of(tree, member.probabilities)
    frame, verifier = handed_over(profile, "iterate"), Verifier(tree)
    rough = judge.measure(frame, verifier, 1e-6, target=1e-9)
    assert 1e-17 < rough.measured.error < 1e-13
    fine = judge.measure(frame, verifier, 1e-6, target=1e-15)
    assert farthest(tree, profile, fine.measured) <= fine.measured.error < 1e-30
    assert judge.meets(1e-15, [fine], tree)
    scarce = judge.measure(frame, verifier, 1e-6, Allowance(0), 1e-15)
    assert scarce.max_regret <= 1e-15
    assert not judge.meets(1e-15, [scarce], tree)


# -- do our checks notice? ----------------------------------------------------------------


def own_payoff(self: TreeSweep, numbers: Numbers, player: int) -> Any:
    return (self._reach(numbers, None) * numbers.payoffs[:, player]).sum()


def reach_without_chance(self: TreeSweep, numbers: Numbers, left_out: int | None) -> Any:
    return HONEST_REACH(self, replace(numbers, chance=np.ones_like(numbers.chance)), left_out)


def reach_with_own_moves(self: TreeSweep, numbers: Numbers, left_out: int | None) -> Any:
    return HONEST_REACH(self, numbers, None)


def no_own_depth(self: TreeSweep) -> Any:
    return np.zeros(self.tree.n_infosets, dtype=np.int64)


HONEST_REACH = TreeSweep._reach


@pytest.mark.parametrize(
    ("method", "mutant"),
    [
        ("_best_response", own_payoff),
        ("_reach", reach_without_chance),
        ("_reach", reach_with_own_moves),
        ("_own_depth", no_own_depth),
    ],
)
def test_agreement_check_notices_a_broken_verifier(
    method: str, mutant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check of tests/property: largest disagreement with the walk on a random tree."""
    game = Game("random", random_tree(6))
    behavior = draw_behavior(game.tree, np.random.default_rng(1), "random")
    assert disagreement(game, behavior)["verifier"] <= 1e-12
    monkeypatch.setattr(TreeSweep, method, mutant)
    assert disagreement(game, behavior)["verifier"] > 1e-3


def test_chances_in_floats_are_completed_in_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search per chance node would take milliseconds each in a large tree."""
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [0.1] * 10)
    for outcome in range(10):
        node = builder.chance((root, outcome), [1 / 3] * 3)
        for end in range(3):
            builder.terminal((node, end), [end])
    tree, searches = builder.tree(), []
    search, levels = np.searchsorted, tree.levels
    monkeypatch.setattr(np, "searchsorted", lambda *of: searches.append(of) or search(*of))
    rules = ExactRules.of(tree)
    assert len(searches) <= 2
    assert all(where.dtype == what.dtype for where, what, *_ in searches)
    inner = rules.chance[levels[2]].reshape(10, 3)
    assert set(inner.sum(axis=1).tolist()) == {rules.chance_denominator}


@pytest.mark.parametrize(("below", "shown"), [(1e-15, 0.0), (1e-6, -1e-6)])
def test_regrets_below_zero_are_0_if_they_are_rounding(
    below: float, shown: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is farther below would be a mistake of the verifier and must not be hidden."""
    tree, evaluate = eqbench.load_game("matching_pennies").tree, TreeSweep.evaluate

    def lower(self: TreeSweep, numbers: Numbers) -> Any:
        payoffs, best = evaluate(self, numbers)
        return payoffs, best - below

    monkeypatch.setattr(TreeSweep, "evaluate", lower)
    assert verify(tree, BehaviorProfile.uniform(tree)).regrets == (shown, shown)
