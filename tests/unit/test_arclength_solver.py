"""The arclength solver: options and budgets; paths in eps, folds, and polishing their ends."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from arclength_cases import (
    EXACT,
    descend,
    game,
    log_normal,
    module,
    reduced_kuhn,
    system,
    trace,
)
from solver_cases import Result, bimatrix, max_regret, odd_games, run

import eqbench
from eqbench.equilibria import Identifier
from eqbench.errors import SpecError, UsageError
from eqbench.model.profile import random_profile


def profiles(result: Result) -> list[list[float]]:
    return [candidate.profile.probabilities.tolist() for candidate in result.candidates]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("option", ["epsilon", "window"])
def test_option_that_is_no_finite_number_is_refused(option: str, number: float) -> None:
    solver = type(eqbench.load_solver("arclength"))
    with pytest.raises(SpecError, match=f"{option}={number}"):
        solver(**{option: number})


def test_branch_needs_a_payoff_parameter() -> None:
    with pytest.raises(UsageError, match="no payoff parameter"):
        eqbench.load_solver("arclength").continuation(game("jordan"))


def test_budget_of_factorizations_is_kept_and_leaves_the_iterate() -> None:
    center, early, later = (run("arclength", "kuhn3", iterations=limit) for limit in (1, 7, 60))
    for limit, result in ((1, center), (7, early), (60, later)):
        assert result.monitor.work == result.monitor.statistics["factorizations"] == limit
    assert np.unique(profiles(center)).tolist() == [0.5]  # the path begins at the center
    assert early.termination.reason == "limit"
    assert [candidate.claim for candidate in early.candidates] == ["iterate"]
    assert ((early.behavior > 0) & (early.behavior < 1)).any()
    assert early.max_regret < center.max_regret


SKP = "skp(pot=67/20)"


@pytest.mark.parametrize(
    ("options", "solutions"),
    [
        *((f"regularization={kind}", 3) for kind in ("log", "arctan", "rational")),
        ("starts=0", 3),
        ("starts=0,branch=false", 1),  # the branch finds what a single path does not
        ("starts=0,window=0.001", 1),
    ],
)
def test_solutions_of_skp_are_found(options: str, solutions: int) -> None:
    """Billingham 2017: at this pot they are solutions 2, 3 and 4."""
    result = run(f"arclength({options})", SKP)
    assert max(result.regrets) <= EXACT
    found = [Identifier(result.game).identify(each.profile) for each in result.candidates]
    names = {identity.name for identity in found if identity}
    assert names <= {"skp:2", "skp:3", "skp:4"}
    assert len(names) == solutions


@pytest.mark.parametrize(
    "of",
    [
        "rock_paper_scissors",
        "jordan",
        "random(players=3,actions=4)",
        "kuhn(players=2,cards=4,raises=1)",
        "random(players=4,actions=2)",
        "kuhn(players=3,cards=3,raises=1)",
        *odd_games().values(),
    ],
    ids=str,
)
def test_games_of_all_kinds_are_solved_exactly(of: Any) -> None:
    result = run("arclength(starts=2,branch=false)", of)
    assert result.termination.reason == "converged"
    assert {candidate.claim for candidate in result.candidates} == {"equilibrium"}
    assert max(result.regrets) <= EXACT


def test_snapshots_do_not_depend_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The monitor drops some where it is slow, but never the first four."""

    def snapshots(share: float) -> list[tuple[int, str]]:
        monkeypatch.setattr("eqbench.solver.OVERHEAD_SHARE", share)
        reports = run("arclength(starts=3)", "kuhn3").reports
        return [(r.work, r.candidate.claim) for r in reports if r.kind == "snapshot"]

    assert snapshots(-1.0) == snapshots(np.inf)
    claims = [claim for _, claim in snapshots(np.inf)]
    assert claims == ["iterate", "iterate", "iterate", "equilibrium"]


paths, polish = module("arclength.continuation"), module("polish.frequencies")
# Their weights, of logarithms with spread 2, make the path turn around before it ends.
FOLDED, PLAIN = (26, 53, 62), (0, 1, 2)


@pytest.fixture(scope="module")
def kuhn() -> Any:
    return system("kuhn3")


def residual(made: Any, z: np.ndarray, epsilon: float) -> float:
    """The largest, in payoff units."""
    found, _ = made.evaluate(z, epsilon, made.parameter)
    return float(np.abs(found * made.free_scale).max())


@pytest.mark.parametrize("kind", ["log", "arctan", "rational"])
def test_path_ends_at_a_solution_for_the_given_eps(kind: str) -> None:
    made = system("skp(pot=107/33)", kind)
    for epsilon in (10.0, 0.3, 1e-3, 1e-6, 1e-9):
        z = paths.descend(made, made.parameter, epsilon)
        assert residual(made, z, epsilon) <= 1e-14 * max(1, epsilon)


@pytest.mark.parametrize("seed", [*FOLDED, *PLAIN])
def test_fold_in_eps_is_followed_around(
    seed: int, kuhn: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Log eps falls along the curve, rises and falls again; on a short way that is not seen."""
    weighted = log_normal(kuhn, seed, 2.0)
    z = paths.descend(weighted, 3.0, 1e-7)
    assert residual(weighted, z, 1e-7) <= 1e-12
    assert max_regret(game("kuhn3"), descend(weighted, 1e-7)[1].behavior) <= EXACT
    monkeypatch.setattr(paths, "LONGEST_WAY", 3)
    assert (paths.descend(weighted, 3.0, 1e-7) is None) == (seed in FOLDED)


def test_random_weights_lead_to_equilibria_of_kuhn_poker(kuhn: Any) -> None:
    """And to different ones: the equilibria form a family (Szafron et al. 2013)."""
    found = [descend(log_normal(kuhn, seed), 1e-7)[1].behavior for seed in range(100)]
    ends = [behavior for behavior in found if max_regret(game("kuhn3"), behavior) <= EXACT]
    assert len(ends) >= 99
    assert len(np.unique(np.round(ends, 6), axis=0)) >= 90


SYSTEMS = [
    ("skp(pot=107/33)", "log"),
    *(("kuhn3", kind) for kind in ("log", "arctan", "rational")),
    ("kuhn(players=2,cards=4,raises=1)", "log"),
    ("rock_paper_scissors", "log"),
    ("random(players=3,actions=4)", "log"),
]


@pytest.mark.parametrize(("spec", "kind"), SYSTEMS)
def test_polished_profile_is_an_equilibrium_whatever_eps_it_comes_from(
    spec: str, kind: str
) -> None:
    made = system(spec, kind)
    first = made.game.tree.action_start[:-1]
    for epsilon in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9):
        regularized, polished = descend(made, epsilon)
        behavior = polished.behavior
        assert max_regret(made.game, behavior) <= EXACT
        assert polished.regret == pytest.approx(max_regret(made.game, behavior), abs=1e-14)
        assert np.abs(behavior - regularized).max() <= 10 * np.sqrt(epsilon)
        free = regularized[made.choices.action]
        assert ((free > 0) & (free < 1)).all()
        assert ((behavior >= 0) & (behavior <= 1)).all()
        assert np.abs(np.add.reduceat(behavior, first) - 1).max() <= 2**-52
    assert np.count_nonzero(behavior == 0) >= (24 if spec == "kuhn3" else 0)


@pytest.mark.parametrize("seed", range(20))
def test_polishing_never_worsens(seed: int) -> None:
    """From any profile and with any support."""
    made, rng = system("kuhn3"), np.random.default_rng(seed)
    start = made.measured(random_profile(made.game.tree, rng), made.parameter)
    support = rng.uniform(size=made.choices.n_actions) < 0.6
    support[made.choices.first] |= ~support[made.choices.action]
    found = polish.polish(made, start, support)
    assert found.regret <= start.regret
    assert max_regret(made.game, found.behavior) == pytest.approx(found.regret, abs=1e-14)


@pytest.mark.parametrize("missing", [1, 2, 4, 5])
def test_action_that_gains_enters_the_support(
    missing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only equilibrium of this game mixes all actions."""
    rows = np.array([[4, -1, 0], [-1, 2, -2], [0, -1, 3]])
    made = system(bimatrix(rows, -rows))
    regularized, polished = descend(made, 1e-3)
    assert polished.behavior.min() > 0.1
    start, support = made.measured(regularized, 0.0), np.arange(6) != missing
    found = polish.polish(made, start, support).behavior
    assert found == pytest.approx(polished.behavior, abs=1e-14)
    monkeypatch.setattr(polish, "gaining", lambda *_: np.zeros(6, dtype=bool))
    assert polish.polish(made, start, support).regret > 1e-4


def test_free_parameter_moves_onto_the_pot_of_a_vertical_piece() -> None:
    """At a pot of 3 equilibria form a family; beside it they do not (Billingham 2018, 5.1)."""
    made = trace(reduced_kuhn(4), 2.05, 16, 1e-9)
    beside = [p for p in made.points if 1e-9 < abs(p.value - 3) < 1e-5]
    assert len(beside) >= 5
    for point in beside:
        behavior, value = made.continuation.polish(point)
        assert value == pytest.approx(3, abs=1e-12)
        assert max_regret(made.continuation.game_at(3), behavior) <= EXACT
        assert np.abs(behavior - point.behavior).max() <= 1e-2


@pytest.mark.parametrize("pot", ["5/2", "31/10", "419/100", "6", "12"])
def test_given_parameter_stays_where_it_is(pot: str) -> None:
    made, value = trace(reduced_kuhn(4), 2.05, 16, 1e-9), float(Fraction(pot))
    crossings = made.at(value)
    assert crossings
    for point in crossings:
        behavior, found = made.continuation.polish(point, value)
        assert found == value
        assert max_regret(made.continuation.game_at(value), behavior) <= EXACT
