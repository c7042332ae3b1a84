"""The arclength solver: its system, steps along curves, paths in eps, and what it hands over."""

from __future__ import annotations

import importlib
import itertools
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from helpers.solver_cases import Result, bimatrix, max_regret, numerical_jacobian, odd_games, run
from scipy.linalg import lapack

import eqbench
from eqbench.continuation import BranchPoint
from eqbench.equilibria import Identifier
from eqbench.errors import SpecError, UsageError
from eqbench.model.game import Game
from eqbench.model.profile import random_profile

# What rounding may leave of a regret, in payoff units.
EXACT = 1e-12


def module(name: str) -> Any:
    """A module of the solver's package, or one that it shares with others."""
    return importlib.import_module(f"eqbench.solvers.{name}")


@cache
def game(spec: str) -> Game:
    return eqbench.load_game(spec)


def reduced_kuhn(cards: int) -> str:
    """Three-player Kuhn poker as in Billingham 2018, dominated actions deleted."""
    return f"kuhn(players=3,cards={cards},reduce=billingham)"


def system(of: str | Game, kind: str = "log", derivative: str = "counterfactual") -> Any:
    loaded = game(of) if isinstance(of, str) else of
    return module("arclength.regularization").RegularizedGame(
        loaded, kind=kind, derivative=derivative
    )


def log_normal(made: Any, seed: int, spread: float = 1.0) -> Any:
    """The same system with random weights of its information sets."""
    normal = np.random.default_rng(seed).normal(size=len(made.choices.infoset))
    return made.weighted(np.exp(spread * normal))


def descend(made: Any, epsilon: float) -> tuple[np.ndarray, Any]:
    """The end of the path from the center to a small eps: its frequencies, and polished."""
    paths = module("arclength.continuation")
    z = paths.descend(made, made.parameter, epsilon)
    assert z is not None
    polished = paths.polished_end(made, made.parameter, epsilon, z)
    return made.frequencies(z, epsilon).behavior, polished


@dataclass(frozen=True, eq=False)
class Trace:
    """A branch that was followed along the pot."""

    continuation: Any
    points: list[BranchPoint]

    def at(self, value: float) -> list[BranchPoint]:
        """All points of the branch with this value of the pot."""
        pairs = itertools.pairwise(self.points)
        return [point for pair in pairs for point in self.continuation.crossings(*pair, value)]


@cache
def trace(spec: str, first: float, last: float, epsilon: float) -> Trace:
    """The branch from one pot until another is passed, whichever way it goes."""
    solver = eqbench.load_solver(f"arclength(epsilon={epsilon})")
    continuation = solver.continuation(game(spec))
    points = [continuation.start(first)]
    for point in continuation.follow(points[0], increasing=last > first):
        points.append(point)
        if not min(first, last) <= point.value <= max(first, last):
            break
    return Trace(continuation, points)


KINDS = ("log", "arctan", "rational")
STRENGTHS = (1e-9, 1e-6, 1e-3, 0.1, 10.0)
DERIVED = [
    ("skp(pot=107/33)", "log", "counterfactual"),
    ("skp(pot=107/33)", "rational", "raw"),
    ("kuhn3", "arctan", "counterfactual"),
    ("kuhn3", "log", "raw"),
    ("kuhn(players=2,cards=4,raises=1)", "log", "counterfactual"),
    ("kuhn(players=2,cards=4,raises=1)", "log", "raw"),
    ("random(players=2,actions=3)", "log", "counterfactual"),
]


def inverse(kind: str, first: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The function h of Billingham 2018, eq. (2) as ``u = eps h(b)``, without cancellation."""
    if kind == "log":  # for any number of actions
        return 1 / first - 1 / b
    small = np.minimum(first, b)
    below_half = -1 / np.tan(np.pi * small) if kind == "arctan" else 1 - 0.5 / small
    return np.where(b <= first, below_half, -below_half)


def project(kind: str, z: np.ndarray, strength: float, actions: int = 2) -> np.ndarray:
    """Frequencies (sets, actions)."""
    sets = len(z) // (actions - 1)
    behavior, weight, by_log = np.empty(sets * actions), np.empty(sets * actions), np.empty(len(z))
    module("arclength.regularization").project(
        module("arclength.regularization").KINDS[kind],
        np.arange(sets + 1, dtype=np.int32) * (actions - 1),
        np.arange(sets, dtype=np.int32) * actions,
        z,
        np.full(sets, strength),
        *(behavior, weight, by_log),
    )
    return behavior.reshape(sets, actions)


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize(
    ("kind", "actions"), [*((kind, 2) for kind in KINDS), *(("log", n) for n in (3, 4, 7))]
)
def test_projection_solves_its_equation(kind: str, actions: int, strength: float) -> None:
    """``p - p of the first action + d h(p) = z``, from 1e-9 to 1e9 or for many actions."""
    far = np.logspace(-9, 9, 37)
    z = np.concatenate((-far, far))
    if actions > 2:
        z = np.random.default_rng(actions).normal(size=50 * (actions - 1), scale=1.5)
    rows = project(kind, z, strength, actions)
    assert np.abs(rows.sum(axis=1) - 1).max() <= 2e-15
    first, free = rows[:, :1], rows[:, 1:]
    push = strength * inverse(kind, first, free)
    left = free - first + push - z.reshape(free.shape)
    size = 1 + np.abs(z.reshape(free.shape)) + np.abs(push) + strength / first
    assert (np.abs(left) <= 1e-14 * size).all()


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn(players=2,cards=4,raises=1)"])
@pytest.mark.parametrize("kind", KINDS)
def test_residual_is_that_of_the_paper(kind: str, spec: str) -> None:
    """Billingham 2018, eq. (2), with gains over the largest chance."""
    made = system(spec, kind if spec == "kuhn3" else "log")
    choices = made.choices
    weights = np.linspace(0.5, 2, len(choices.infoset))
    made = made.weighted(weights)
    z = np.random.default_rng(6).normal(size=choices.size)
    behavior = made.frequencies(z, 0.02).behavior
    h = inverse(made.kind, behavior[choices.first], behavior[choices.action])
    unit = 1 / 4  # chance leads to each set with probability 1/4: four cards
    barrier = unit * np.repeat(weights, np.diff(choices.start)) * 0.02 * h
    found = made.evaluate(z, 0.02, 3.5)[0] * made.free_scale
    assert np.abs(found - (barrier - made.linearize(behavior, 3.5).gains)).max() <= 1e-13


@pytest.mark.parametrize("unknown", ["parameter", "log_epsilon"])
@pytest.mark.parametrize(("spec", "kind", "sense"), DERIVED)
def test_factors_are_those_of_the_bordered_derivatives(
    spec: str, kind: str, sense: str, unknown: str
) -> None:
    made = system(spec, kind, sense)
    fixed = 0.1 if unknown == "parameter" else made.parameter
    curve = module("arclength.regularization").RegularizedCurve(made, unknown, fixed)
    rng = np.random.default_rng(8)
    y = np.append(rng.normal(size=made.choices.size), 3.3 if unknown == "parameter" else -2.5)
    border = rng.normal(size=len(y))
    matrix = curve.equations(y)[1]
    matrix[-1] = border
    lu, pivots, _ = lapack.dgetrf(matrix.T)

    numerical = numerical_jacobian(lambda point: curve.equations(point)[0], y, 1e-4)
    numerical = np.vstack((numerical, border))
    assert np.abs(numerical[:-1]).max() > 0.1
    right = rng.normal(size=len(y))
    assert numerical @ np.linalg.solve(matrix, right) == pytest.approx(right, abs=1e-7)
    sign = module("pseudo_arclength")._determinant_sign(lu, pivots)
    assert sign == np.sign(np.linalg.det(numerical / np.abs(numerical).max()))


@pytest.mark.parametrize("spec", ["skp(pot=107/33)", "kuhn3", "kuhn(players=2,cards=4,raises=1)"])
def test_raw_gains_are_derivatives_of_the_expectation(spec: str) -> None:
    """Expectations are linear in each frequency, so differences are exact."""
    made = system(spec, "log", "raw")
    tree, choices = game(spec).tree, made.choices
    behavior = random_profile(tree, np.random.default_rng(9))
    linear = made.linearize(behavior, made.parameter)
    player = np.repeat(tree.infoset_player[choices.infoset], np.diff(choices.start))
    for f in range(choices.size):
        step = np.zeros(choices.n_actions)
        step[choices.action[f]], step[choices.first[f]] = 1, -1
        ahead, back = (made.model.expected_payoffs(behavior + s * step) for s in (0.5, -0.5))
        assert linear.gains[f] == pytest.approx((ahead - back)[player[f]], abs=1e-14)
        ahead, back = (made.linearize(behavior + s * step, made.parameter) for s in (0.5, -0.5))
        assert linear.jacobian[:, f] == pytest.approx(ahead.gains - back.gains, abs=1e-14)
    rise = made.linearize(behavior, 7.5).gains - made.linearize(behavior, 6.5).gains
    assert linear.slope == pytest.approx(rise, abs=1e-14)


@pytest.mark.parametrize("kind", ["arctan", "rational"])
@pytest.mark.parametrize("spec", ["rock_paper_scissors", "kuhn(players=3,cards=4,raises=1)"])
def test_other_barriers_than_log_refuse_games_with_more_than_two_actions(
    kind: str, spec: str
) -> None:
    solver = eqbench.load_solver(f"arclength(regularization={kind})")
    text = rf"regularization={kind} is defined for two actions; .* with 3; use regularization=log"
    assert re.search(text, solver.supports(game(spec)))
    with pytest.raises(UsageError, match=text):
        solver.continuation(game(spec))


steps = module("pseudo_arclength")
ACROSS = np.array([1.0, 0])


@dataclass(frozen=True, eq=False)
class PlaneCurve:
    """Where a function of two unknowns vanishes."""

    function: Callable[[np.ndarray], float]
    gradient: Callable[[np.ndarray], np.ndarray]
    seen: list[float] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)

    def equations(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.seen.append(abs(self.function(y)))
        return np.array([self.function(y)]), np.array([self.gradient(y), [np.nan, np.nan]])

    @property
    def refused(self) -> int:
        return self.counts["refused_steps"]


def circle() -> PlaneCurve:
    return PlaneCurve(lambda y: float(y @ y) - 1, lambda y: 2 * y)


def begin(curve: PlaneCurve, at: Any, tangent: Any, length: float) -> Any:
    """A point of a curve with a first step length."""
    made = steps.correct(curve, np.array(at, dtype=float), np.array(tangent, dtype=float))
    return replace(made, next_length=length)


def test_guess_lies_on_the_parabola_through_the_last_points() -> None:
    """A parabola in the plane, turned into three dimensions; Billingham 2018, eq. (7)."""
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]

    def point(t: float) -> np.ndarray:
        return rotation @ np.array([1 + t, 2 - 0.7 * t * t, 3.0])

    first = steps.CurvePoint(point(0), rotation[:, 0], 1)
    assert first.ahead(0.25) == pytest.approx(first.y + 0.25 * first.tangent, abs=1e-15)
    for step, before in ((0.2, -0.3), (1.5, -0.1), (1e-3, -2.0)):
        guess = replace(first, earlier=point(before)).ahead(step)
        assert guess == pytest.approx(point(step), abs=1e-12)


def line(function: Callable[[np.ndarray], float]) -> PlaneCurve:
    """The line where the first unknown vanishes, or whatever a function says."""
    return PlaneCurve(function, lambda y: ACROSS)


@pytest.mark.parametrize(
    ("curve", "guess", "normal", "limits"),
    [
        (circle(), [0.3, 30.0], ACROSS, {"iterations": 5}),
        (circle(), [0.3, 30.0], ACROSS, {"iterations": 20, "reach": 25}),
        (circle(), [1.2, 0.5], ACROSS, {"iterations": 50}),  # this plane does not meet the circle
        (line(lambda y: float(y[0])), [1.0, 0], ACROSS, {}),  # singular
        (line(lambda y: np.nan), [1.0, 0], np.array([0, 1.0]), {}),
    ],
)
def test_correction_gives_up(curve: Any, guess: Any, normal: Any, limits: Any) -> None:
    assert steps.correct(curve, np.array(guess), normal, **limits) is None
    assert steps.correct(circle(), np.array([0.3, 30.0]), ACROSS, iterations=20) is not None


LAX = {"first": 0.1, "largest": 9, "iterations": 50, "correction": 1e9, "cosine": -2, "growth": 1}


def walk(curve: PlaneCurve, length: float, count: int, **control: Any) -> list[Any]:
    """The first points of a walk around the circle."""
    start = begin(curve, [1, 0], [0, 1], length)
    return [start, *islice(steps.follow(curve, start, steps.StepControl(**(LAX | control))), count)]


def test_walk_goes_around_the_circle_through_its_turning_points() -> None:
    points = walk(circle(), 0.1, 70)
    angles = np.unwrap([np.arctan2(point.y[1], point.y[0]) for point in points])
    assert (np.diff(angles) > 0).all()
    assert angles[-1] > 2 * np.pi
    assert {point.orientation for point in points} == {points[0].orientation}
    stretches = [steps.Between(circle(), *pair) for pair in pairwise(points)]
    for value, times in ((0.3, 2), (0.9999, 2), (1.0001, 0)):  # also within one stretch
        found = [point for stretch in stretches[:63] for point in stretch.crossings(value)]
        assert [point.y[1] for point in found] == [pytest.approx(value, abs=1e-12)] * times


def test_walk_says_why_it_cannot_go_on() -> None:
    """The line x = 0 that ends at p = 1."""
    curve = line(lambda y: y[0] if y[1] < 1 else np.nan)
    with pytest.raises(steps.CurveError, match="1e-12"):
        list(steps.follow(curve, begin(curve, [0, 0], [0, 1], 0.3)))
    assert curve.refused > 30


def test_jump_to_another_piece_of_the_curve_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the orientation can object to the length of such steps along SKP's branch."""
    raised, judge = [], steps.objection

    def listen(*arguments: Any) -> str:
        raised.append(judge(*arguments))
        return raised[-1]

    monkeypatch.setattr(steps, "objection", listen)
    lax = {"first": 0.5, "largest": 0.6, "iterations": 15, "correction": 5, "cosine": -2}
    continuation = module("arclength.continuation").ArclengthContinuation(
        system("skp"), 1e-5, steps.StepControl(**lax, growth=3)
    )
    points = [continuation.start(2.0)]
    for point in islice(continuation.follow(points[0]), 200):
        points.append(point)
        if not 2.0 <= point.value <= 6.0:
            break
    turns = [a.value for a, b in pairwise(points) if a.direction * b.direction < 0]
    assert steps.ORIENTATION in raised
    # Billingham 2017: SKP turns around at these pots, in this order
    assert turns == pytest.approx([3.436, 3.212, 4.0, 3.898, 4.408, 4.312], abs=0.15)
    assert points[-1].value > 6.0


def test_crossing_of_two_curves_is_passed_and_marked() -> None:
    """The curves x = 0 and x^2 = p, which cross at the origin; p is the last unknown."""
    curve = PlaneCurve(
        lambda y: float(y[0] ** 3 - y[0] * y[1]),
        lambda y: np.array([3 * y[0] ** 2 - y[1], -y[0]]),
    )
    points = list(islice(steps.follow(curve, begin(curve, [0, -1], [0, 1], 0.1)), 120))
    assert points[-1].y[1] > 1
    assert max(abs(point.y[0]) for point in points) <= 1e-12
    (marked,) = [k for k, point in enumerate(points) if point.orientation_changed]
    assert points[marked - 1].y[1] < 0 < points[marked].y[1] < 1e-6
    assert points[marked].orientation == -points[marked - 1].orientation


@pytest.mark.parametrize(("start", "heading"), [(5.0, 1), (6.0, -1)])
def test_branch_goes_on_from_a_crossing_either_way(start: float, heading: int) -> None:
    """As it must where a range ends: no branch point is seen there, and steps are as long."""
    continuation = module("arclength.continuation").ArclengthContinuation(system("skp"), 1e-7)
    before = continuation.start(start)
    for after in continuation.follow(before, increasing=heading > 0):
        if (after.value - 5.5) * heading > 0:
            break
        before = after
    (crossing,) = continuation.crossings(before, after, 5.5)
    for point, sign in ((crossing, heading), (continuation.turned(crossing), -heading)):
        for ahead in islice(continuation.follow(point), 3):
            assert ahead.event == ""
        assert (ahead.value - 5.5) * sign > 0.1


def profiles(result: Result) -> list[list[float]]:
    return [candidate.profile.probabilities.tolist() for candidate in result.candidates]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("option", ["epsilon", "window"])
def test_option_that_is_no_finite_number_is_refused(option: str, number: float) -> None:
    solver = type(eqbench.load_solver("arclength"))
    with pytest.raises(SpecError, match=f"{option}={number}"):
        solver(**{option: number})


def test_branch_needs_a_payoff_parameter() -> None:
    with pytest.raises(UsageError, match="parameter"):
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
