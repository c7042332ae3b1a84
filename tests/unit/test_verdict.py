"""The status of a cell follows from what was measured, not from what a solver says."""

from __future__ import annotations

from fractions import Fraction

import pytest

import eqbench
from eqbench.errors import ProfileError
from eqbench.harness.evidence import Finding, measure, measure_frame
from eqbench.harness.frames import Frame
from eqbench.harness.verdict import ending
from eqbench.solver import Candidate
from eqbench.verification import Verification, Verifier

TREE = eqbench.load_game("kuhn2").tree
PROFILE = eqbench.BehaviorProfile.uniform(TREE)


def finding(max_regret: float, claim: str = "iterate", claimed: float | None = None) -> Finding:
    measured = Verification((0.0, 0.0), (max_regret, 0.0))
    return Finding(Candidate(PROFILE, claim, claimed), measured, None, 1, 0.1)


@pytest.mark.parametrize(
    ("reason", "handed", "status"),
    [
        ("converged", [finding(1e-9)], "ok"),
        ("converged", [finding(1e-7)], "limit"),
        ("converged", [finding(1e-7, claimed=1e-6)], "limit"),
        ("converged", [finding(1e-7, "equilibrium")], "ok"),
        ("converged", [finding(1e-2, "equilibrium", claimed=1e9)], "limit"),
        ("converged", [finding(1e-2), finding(1e-7, "complete list")], "ok"),
        ("converged", [], "not_found"),
        ("limit", [finding(0.0)], "limit"),
        ("failed", [], "failed"),
        ("not_found", [], "not_found"),
        ("ok", [finding(0.0)], "crashed"),
        (7, [finding(0.0)], "crashed"),
    ],
)
def test_ok_needs_a_candidate_that_bears_it_out(reason, handed, status) -> None:
    assert ending(reason, "", handed, target=1e-8, tree=TREE)[0] == status


def test_exact_frequencies_outrank_the_floats_beside_them() -> None:
    tree = eqbench.load_game("kuhn2").tree
    pure = [Fraction(1 - action % 2) for action in range(tree.n_actions)]
    liar = Candidate(eqbench.BehaviorProfile(PROFILE.probabilities, tuple(pure)), "iterate")
    honest = Candidate(eqbench.BehaviorProfile.of_exact(tree, pure), "iterate")
    verifier = Verifier(tree)
    options = {"tolerance": 1e-6, "work": 1, "elapsed_s": 0.1}
    one, other = (measure(candidate, verifier, **options) for candidate in (liar, honest))
    assert one.measured == other.measured
    assert one.candidate.profile.probabilities.tolist() == [float(value) for value in pure]


@pytest.mark.parametrize("text", ["1e400000000", "nan", "1/0", "", "1" * 5000])
def test_number_that_no_solver_of_ours_would_send_is_refused_quickly(text: str) -> None:
    fields = {
        "claim": "iterate",
        "claimed_regret": None,
        "exact": [text] * PROFILE.probabilities.size,
        "work": 1,
        "elapsed_s": 0.1,
    }
    frame = Frame("candidate", fields, {"profile": PROFILE.probabilities})
    with pytest.raises(ProfileError):
        measure_frame(frame, Verifier(eqbench.load_game("kuhn2").tree), 1e-6)
