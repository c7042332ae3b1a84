"""The status of a cell follows from what was measured, not from what a solver says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from helpers.runs import candidate, handed_over
from helpers.study_cases import kuhn2_member

import eqbench
from eqbench.errors import ProfileError
from eqbench.harness.judge import MeasuredProfile, ending, measure
from eqbench.harness.judge import verdict as verdict_of
from eqbench.isolation.child import Limits, Outcome
from eqbench.isolation.messages import (
    DescribedFrame,
    DoneFrame,
    ErrorFrame,
    LastFrame,
    RefusedFrame,
)
from eqbench.solver import Candidate
from eqbench.verdict import judge_claims, stored
from eqbench.verdicts.kinds import credible
from eqbench.verification import Allowance, Verification, Verifier, verify_exactly

TREE = eqbench.load_game("kuhn2").tree
PROFILE = eqbench.BehaviorProfile.uniform(TREE)


def finding(
    max_regret: float, claim: str = "iterate", claimed: float | None = None
) -> MeasuredProfile:
    measured = Verification((0.0, 0.0), (max_regret, 0.0))
    return MeasuredProfile(Candidate(PROFILE, claim, claimed), measured, None, 1, 0.1)


SHARE = 1e-3 * TREE.payoff_range  # at which a solver may stop without a target
# A reason, what was handed over, the target, and the status that follows.
ENDINGS: list[tuple[Any, list[MeasuredProfile], float, str]] = [
    ("converged", [finding(1e-9)], 1e-8, "ok"),
    ("converged", [finding(1e-7)], 1e-8, "stopped"),
    ("converged", [finding(1e-7, claimed=1e-6)], 1e-8, "stopped"),
    ("converged", [finding(1e-7, "equilibrium")], 1e-8, "stopped"),
    ("converged", [finding(1e-2), finding(1e-9, "complete list")], 1e-8, "ok"),
    ("converged", [], 1e-8, "not_found"),
    ("limit", [finding(1e-7)], 1e-8, "limit"),
    ("stopped", [finding(1e-7, "equilibrium")], 1e-8, "stopped"),
    ("failed", [], 1e-8, "failed"),
    ("not_found", [], 1e-8, "not_found"),
    ("ok", [finding(0.0)], 1e-8, "crashed"),
    (7, [finding(0.0)], 1e-8, "crashed"),
    # a target may be missed by rounding only, and one of 0 is met by a regret of 0 alone
    ("converged", [finding(1e-8)], 1e-8, "ok"),
    ("converged", [finding(1e-8 * (1 + 0.9e-6))], 1e-8, "ok"),
    ("converged", [finding(1e-8 * (1 + 3e-6))], 1e-8, "stopped"),
    ("converged", [finding(-1.0)], 1e-8, "ok"),
    ("converged", [finding(float("nan"))], 1e-8, "stopped"),
    ("converged", [finding(0.0)], 0.0, "ok"),
    ("converged", [finding(1e-300)], 0.0, "stopped"),
    # without a target a solver may stop at a thousandth of the range with a claim
    ("converged", [finding(SHARE, "equilibrium")], 0.0, "ok"),
    ("converged", [finding(1.001 * SHARE, "equilibrium")], 0.0, "stopped"),
    ("converged", [finding(SHARE, "equilibrium")], 1e-8, "stopped"),
    ("converged", [finding(SHARE, "complete list")], 0.0, "ok"),
    ("converged", [finding(1.001 * SHARE, "complete list")], 0.0, "stopped"),
]


@pytest.mark.parametrize(("reason", "handed", "target", "status"), ENDINGS)
def test_ok_needs_a_candidate_that_bears_it_out(
    reason: Any, handed: list[MeasuredProfile], target: float, status: str
) -> None:
    assert ending(reason, "", handed, target=target, tree=TREE)[0] == status


def test_exact_frequencies_outrank_the_floats_beside_them() -> None:
    tree = eqbench.load_game("kuhn2").tree
    pure = [Fraction(1 - action % 2) for action in range(tree.n_actions)]
    liar = handed_over(eqbench.BehaviorProfile(PROFILE.probabilities, tuple(pure)), "iterate")
    honest = handed_over(eqbench.BehaviorProfile.of_exact(tree, pure), "iterate")
    one, other = (measure(frame, Verifier(tree), 1e-6) for frame in (liar, honest))
    assert one.measured == other.measured
    assert one.candidate.profile.probabilities.tolist() == [float(value) for value in pure]


def test_exact_rows_that_nearly_sum_to_1_are_stored_so_that_they_can_be_verified() -> None:
    tree = eqbench.load_game("kuhn2").tree
    exact = [Fraction(1, 2)] * tree.n_actions
    exact[0] += Fraction(1, 10**10)
    frame = handed_over(eqbench.BehaviorProfile.of_exact(tree, exact), "iterate")
    found = measure(frame, Verifier(tree), 1e-6)
    regrets = verify_exactly(tree, found.candidate.profile).regrets
    assert found.measured.regrets == pytest.approx([*map(float, regrets)], abs=1e-14)


def test_frequency_without_a_value_is_refused() -> None:
    frame = candidate(PROFILE.probabilities, exact=["1/0"] * PROFILE.probabilities.size)
    with pytest.raises(ProfileError):
        measure(frame, Verifier(eqbench.load_game("kuhn2").tree), 1e-6)


# -- how the child ended ------------------------------------------------------------------------

LIMITS = Limits(setup_timeout_s=120.0, timeout_s=10.0, memory_bytes=3 * 2**30, threads=1)


def verdict(
    outcome: Outcome,
    handed: tuple[MeasuredProfile, ...] = (),
    path: tuple[MeasuredProfile, ...] = (),
    target: float = 1e-8,
) -> tuple[str, str]:
    return verdict_of(outcome, handed, path, LIMITS, target=target, tree=TREE)


def ended(how: str = "exit", last: LastFrame | None = None, **fields: Any) -> Outcome:
    outcome = Outcome(ended=how, last=last)
    for name, value in fields.items():
        setattr(outcome, name, value)
    return outcome


def failure(**fields: Any) -> ErrorFrame:
    unsaid = {"type": "", "message": "", "traceback": "", "usage": False, "memory": False}
    return ErrorFrame(**(unsaid | {"unavailable": False} | fields))


def refuted(reason: str) -> MeasuredProfile:
    return replace(finding(1.0), refuted=reason)


@pytest.mark.parametrize(
    ("outcome", "status", "said"),
    [
        (ended("setup timeout"), "timeout", "set-up took more than 120 s"),
        (ended("timeout"), "timeout", "killed 1 s after its limit of 10 s"),
        (
            ended("memory", peak_memory_bytes=5 * 2**30),
            "memory",
            "5,120 MiB, above the limit of 3,072",
        ),
        (ended("interrupted"), "interrupted", "interrupted"),
        (ended("garbled", garbled="it does not fit"), "crashed", "it does not fit"),
        (
            ended(last=DescribedFrame("s", deterministic=True, frozen=True, undocumented=[])),
            "crashed",
            "described",
        ),
        (ended(exit_code=3), "crashed", "the process ended with exit code 3"),
        (ended(exit_code=0), "crashed", "exit code 0"),
        (ended(exit_code=-9), "crashed", "signal SIGKILL"),
        (ended(exit_code=-63), "crashed", "signal 63"),
        (ended(exit_code=1, log="first\nmiddle\nlast"), "crashed", "exit code 1: last"),
        (ended(last=failure(memory=True)), "memory", "MemoryError"),
        (ended(last=failure(type="KeyError", message="'x'")), "crashed", "KeyError: 'x'"),
        (ended(last=RefusedFrame("unsupported", "why")), "unsupported", "why"),
        (ended(last=RefusedFrame("unavailable", "why")), "unavailable", "why"),
    ],
)
def test_status_follows_from_how_the_child_ended(outcome: Outcome, status: str, said: str) -> None:
    got = verdict(outcome)
    assert got[0] == status
    assert said in got[1]


def done(reason: str) -> Outcome:
    return ended(last=DoneFrame(reason=reason, detail="as it says"))


def test_orderly_end_is_judged_by_what_was_handed_over_and_not_by_the_path() -> None:
    good = finding(1e-9)
    assert verdict(done("converged"), (good,)) == ("ok", "as it says")
    assert verdict(done("converged"), (), (good,))[0] == "not_found"


@pytest.mark.parametrize(
    "outcome",
    [
        *(done(reason) for reason in ("limit", "stopped", "not_found", "failed")),
        *(ended("timeout"), ended("memory"), ended(last=failure(memory=True))),
    ],
)
def test_what_meets_the_target_is_ok_whatever_ended_the_solver(outcome: Outcome) -> None:
    """The reason stays; nothing is met without a target, or where the solver broke or lied."""
    good, fair = finding(1e-9), finding(1e-7)
    short = verdict(outcome, (fair,))
    assert short[0] not in ("ok", "crashed")
    assert verdict(outcome, (good,)) == ("ok", short[1])
    assert verdict(outcome, (good,), target=0.0) == short
    assert verdict(outcome, (), (good,)) == short
    assert verdict(outcome, (good, refuted("a lie"))) == ("refuted", "a lie")


@pytest.mark.parametrize("how", ["interrupted", "garbled"])
def test_what_broke_off_stays_what_it_is(how: str) -> None:
    assert verdict(ended(how), (finding(1e-9),))[0] in ("interrupted", "crashed")
    assert verdict(ended(exit_code=-9), (finding(1e-9),))[0] == "crashed"


def test_refutation_comes_before_everything_else_and_handed_before_path() -> None:
    handed, path = (finding(0.0), refuted("first"), refuted("second")), (refuted("path"),)
    for outcome in (done("converged"), ended("timeout"), ended(exit_code=1)):
        assert verdict(outcome, handed, path) == ("refuted", "first")
        assert verdict(outcome, (), path) == ("refuted", "path")


def test_reason_of_a_missed_target_names_the_best_and_the_target() -> None:
    _, reason = ending("converged", "", [finding(0.5), finding(0.25)], target=1e-8, tree=TREE)
    assert "1e-08" in reason
    assert ending("converged", "why", [], target=1e-8, tree=TREE) == ("not_found", "why")
    assert ending("converged", "", [], target=1e-8, tree=TREE)[1] != ""
    assert ending("failed", 7, [], target=1e-8, tree=TREE)[0] == "crashed"


# -- credible -----------------------------------------------------------------------------------


# An equilibrium of kuhn2 in which P1 always bets a king, and would fold it after a check.
FOLDS_A_KING = kuhn2_member(Fraction(1, 3), king=Fraction(0))


@pytest.mark.parametrize(
    ("profile", "claim", "judged"),
    [
        (FOLDS_A_KING, "equilibrium", {"credible", "kind", "place"}),
        (
            eqbench.BehaviorProfile(FOLDS_A_KING.probabilities),
            "complete list",
            {"credible", "kind", "place"},
        ),
        (FOLDS_A_KING, "average", set()),
        (PROFILE, "average", set()),
        (PROFILE, "equilibrium", set()),  # disproved in Fractions, so no claim is left
        (eqbench.BehaviorProfile(PROFILE.probabilities), "equilibrium", {"credible"}),  # refuted
    ],
)
def test_claimed_equilibria_alone_are_judged(
    profile: eqbench.BehaviorProfile, claim: str, judged: set[str]
) -> None:
    finding = measure(handed_over(profile, claim), Verifier(TREE), 1e-6)
    (found,) = judge_claims([finding.claimed(TREE)])
    assert found.keys() == judged
    if "kind" in judged:
        record, is_exact = stored(found), profile.exact is not None
        assert record["credible"] == {
            "sets": 12,
            "credible": 11,
            "worst": pytest.approx(3),
            "worst_set": ["P1", "3:KB"],
            "exact": "3" if is_exact else None,
        }
        assert record["kind"] == {
            "undominated": "certified",  # the bet that it folds to never comes, by its own moves
            "subgame_perfect": {"proper": 0, "perfect": 0},
            "sequential": "refuted",
            "quasi_strict": False,
            "index": None,
        }


def test_best_candidates_of_a_cell_come_first_where_not_all_can_be_judged() -> None:
    pytest.importorskip("flint")
    solved = eqbench.solve("kuhn2", "case_enumeration", timeout_s=30)
    assert len(solved.equilibria) > 1
    assert all(item.credible for item in solved.equilibria)
    finding = measure(handed_over(FOLDS_A_KING, "equilibrium"), Verifier(TREE), 1e-6)
    scarce = Allowance(1000 * TREE.n_nodes)
    found = [credible(finding.claimed(TREE), scarce) for _ in range(30)]
    exact, floats = (
        [bool(each and each.loss.dtype == object) for each in found],
        list(map(bool, found)),
    )
    assert exact == sorted(exact, reverse=True)
    assert floats == sorted(floats, reverse=True)
    assert sum(exact) < sum(floats) < 30


def test_kinds_of_cells() -> None:
    pytest.importorskip("flint")
    listed = eqbench.solve("kuhn2", "case_enumeration", timeout_s=30)
    kinds = [item.kind for item in listed.equilibria]
    assert len(kinds) > 1
    for kind in kinds:
        assert kind is not None
        assert (kind["undominated"], kind["sequential"]) == ("certified", "certified")
    only = eqbench.solve("kuhn3", "logit", timeout_s=60).equilibria[0]
    assert only.credible is not None
    assert only.credible["credible"] == 48
    assert only.kind is not None
    assert (only.kind["undominated"], only.kind["sequential"]) == ("actions only", "certified")
    alone = eqbench.solve("skp(pot=7)", "logit", timeout_s=60).equilibria[0]
    assert alone.kind is not None
    assert (alone.kind["quasi_strict"], alone.kind["index"]) == (True, 1)
