"""Simplified three-player Kuhn poker as the test case of Billingham 2018, section 4, Appendix A.

That paper presents regularization and arclength continuation. The exact solutions are those of
Billingham 2017 (arXiv:1707.01392), as corrected in tests/data/skp.json.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from arclength_cases import EXACT, Trace, descend, game, log_normal, module, system, trace
from skp_solutions import load_solutions

from eqbench.equilibria import Identifier, Identity
from eqbench.model.profile import BehaviorProfile
from eqbench.verification import Verifier

EPSILON = 1e-9
# Along the curve, with the pieces on which the pot stands still.
ALONG = ["1", "2a", "2", "3", "4", "5a", "5", "6", "7", "8", "9", "10a", "10"]
# Pots at which the curve turns around, in this order; those of the ends of solutions.
FOLDS = ["P4", "P3", "4", "P6", "P9", "P8"]
KINDS = ["log", "arctan", "rational"]
PLAIN_POTS = ["5/2", "31/10", "23/5", "11/2"]


@pytest.fixture(scope="session")
def curve() -> Trace:
    return trace("skp(pot=2)", 2, 6, EPSILON)


@cache
def border(name: str) -> float:
    """P_k of the paper is where solution k begins, for P9 where solution 8 ends."""
    if name == "4":
        return 4.0
    rows = {row.name: row for row in load_solutions()}
    ends = {"P3": ("3", 0), "P4": ("3", 1), "P6": ("6", 0), "P8": ("8", 0), "P9": ("8", 1)}
    row, which = ends[name]
    return rows[row].end(which)


@cache
def identifier(value: float) -> Identifier:
    """At the pot itself where polishing has moved it onto a half-integer but for rounding."""
    half = Fraction(round(2 * value), 2)
    return Identifier(game("skp").at(pot=half if abs(value - half) <= EXACT else value))


@pytest.fixture(scope="session")
def polished(curve: Trace) -> list[tuple[Identity, float]]:
    """Identities of every third point without regularization, and their max regrets."""
    found = []
    for point in curve.points[::3]:
        behavior, value = curve.continuation.polish(point)
        known = identifier(value)
        profile = BehaviorProfile.of(known.game.tree, behavior)
        identity = known.identify(profile)
        assert identity is not None, f"nothing known is near at {value}"
        found.append((identity, float(Verifier(known.game.tree).verify(profile).max_regret)))
    return found


def test_one_curve_goes_through_all_ten_solutions_and_three_vertical_pieces(
    polished: list[tuple[Identity, float]],
) -> None:
    """Section 4: continuation computes all equilibria, and smoothly connects them in one curve."""
    names = [identity.name.removeprefix("skp:") for identity, _ in polished]
    assert [name for name in Counter(names) if name != "1a"] == ALONG


def test_every_point_without_regularization_is_a_published_equilibrium(
    polished: list[tuple[Identity, float]],
) -> None:
    assert max(regret for _, regret in polished) <= EXACT
    assert all(identity.on_path for identity, _ in polished)
    assert max(identity.distance for identity, _ in polished) <= 1e-9


def test_curve_turns_around_where_published_solutions_end(curve: Trace) -> None:
    turns = curve.folds()
    assert all(turn.exact for turn in turns)
    assert [turn.value for turn in turns] == pytest.approx([border(n) for n in FOLDS], abs=1e-6)


def test_curve_has_no_branch_points(curve: Trace) -> None:
    assert not [point for point in curve.points if point.event]


@pytest.mark.parametrize(("name", "pot"), [("2a", "3"), ("5a", "7/2"), ("10a", "5")])
def test_range_of_expectations_at_one_pot_is_connected(name: str, pot: str, curve: Trace) -> None:
    """Section 4: at such a pot regularization connects the possible expectations."""
    published = next(row for row in load_solutions() if row.name == name)
    choices = published.choices(Fraction(pot))
    ends = np.array([published.payoffs(values) for values in choices], dtype=float)
    payoffs = curve.payoffs[np.abs(curve.values - float(Fraction(pot))) <= 1e-3]
    assert np.ptp(ends, axis=0).max() > 0.002
    assert np.ptp(payoffs, axis=0) == pytest.approx(np.ptp(ends, axis=0), abs=1e-4)
    assert np.abs(np.diff(payoffs, axis=0)).max() <= 0.5 * np.ptp(ends, axis=0).max()


@pytest.mark.parametrize("pot", PLAIN_POTS)
@pytest.mark.parametrize("kind", KINDS)
def test_error_of_the_expectation_is_proportional_to_eps(kind: str, pot: str) -> None:
    """Figure 2 and eq. (10) of Appendix A, away from corners."""
    made = system(f"skp(pot={pot})", kind)
    exact = made.model.expected_payoffs(descend(made, EPSILON).behavior)
    strengths = [1e-4, 1e-5, 1e-6, 1e-7]
    errors = [
        np.abs(made.model.expected_payoffs(descend(made, eps).regularized) - exact).max()
        for eps in strengths
    ]
    orders = np.diff(np.log(errors)) / np.diff(np.log(strengths))
    assert ((orders >= 0.9) & (orders <= 1.1)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_inactive_frequencies_are_eps_over_the_gain(kind: str) -> None:
    """Appendix A, eq. (11), from the tails of g in eq. (3): A = B = 1 for the log barrier,
    1/pi for arctan, 1/2 for the rational function."""
    made, epsilon = system("skp(pot=5/2)", kind), 1e-7
    tail = {"log": 1, "arctan": 1 / np.pi, "rational": 1 / 2}[kind]
    end = descend(made, epsilon)
    frequencies = end.regularized[made.choices.action]
    gains = made.linearize(end.behavior, 2.5).gains * 4  # over chance, which is 1/4
    inactive = np.abs(gains) > 1e-3
    assert inactive.sum() >= 4
    distance = np.where(gains < 0, frequencies, 1 - frequencies)[inactive]
    assert distance == pytest.approx(epsilon * tail / np.abs(gains[inactive]), rel=1e-3)


def end_from(made: Any, free: np.ndarray, first: float, epsilon: float) -> np.ndarray:
    """The end of a path in eps that begins at `first`, with Newton's method from a guess (F,)."""
    curve = module("curve").Curve(made, "log_epsilon", made.parameter)
    across = np.zeros(made.choices.size + 1)
    across[-1] = -1.0
    behavior = made.choices.behavior(free)
    gains = made.linearize(behavior, made.parameter).gains / made.free_scale
    guess = behavior[made.choices.action] - behavior[made.choices.first] + gains
    start = module("corrector").correct(
        curve, np.append(guess, np.log(first)), across, iterations=50
    )
    z = module("homotopy").lower(curve, start, float(np.log(epsilon)))
    return made.behavior(made.frequencies(z, epsilon))


@pytest.mark.parametrize("pot", ["5/2", "31/10"])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_selected_equilibrium_depends_on_the_weights_and_not_on_the_start(
    pot: str, seed: int | None
) -> None:
    """Section 4 and Appendix A: of a range the regularization selects a unique equilibrium.

    The first guess is drawn as in section 3, and the path begins at different eps.
    """
    made = system(f"skp(pot={pot})")
    made = made if seed is None else log_normal(made, seed)
    rng = np.random.default_rng(11)
    ends = [
        end_from(made, rng.uniform(size=made.choices.size), factor * made.unit, 1e-8)
        for factor in (0.2, 0.5, 1, 3, 10)
    ]
    assert np.ptp(ends, axis=0).max() <= 1e-8


def test_other_weights_select_other_equilibria_of_the_same_set() -> None:
    made = system("skp(pot=31/10)")
    known = Identifier(made.game)
    ends = [descend(made if s is None else log_normal(made, s), 1e-8) for s in (None, 1, 2)]
    profiles = [BehaviorProfile.of(made.game.tree, end.behavior) for end in ends]
    identities = [known.identify(profile) for profile in profiles]
    assert {identity.name for identity in identities if identity} == {"skp:2"}
    apart = [np.abs(a.behavior - b.behavior).max() for a in ends for b in ends if a is not b]
    assert min(apart) > 1e-3
