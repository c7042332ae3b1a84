"""CFR and mirror descent: convergence, threads that change no bit, and where it rests."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from helpers.solver_cases import numerical_jacobian, run

import eqbench
from eqbench.errors import SpecError
from eqbench.model import interleaved
from eqbench.model import realization as reference
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach, inspect_profile
from eqbench.model.interleaved import Interleaved, interleave
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import default_registry
from eqbench.verification import verify

cfr = importlib.import_module("eqbench.solvers.cfr.methods")
FULL_WIDTH = {
    name: eqbench.load_solver(name)
    for name in ("cfr", "cfr_plus", "cfr_linear", "dcfr", "pcfr_plus", "dcfr_plus", "pdcfr_plus")
} | {
    "shifted": eqbench.load_solver("dcfr_plus(shift=3/2)"),
    "asymmetric": eqbench.load_solver("sapcfr_plus"),
    "both": eqbench.load_solver("pdcfr_plus(shift=1/2,asymmetry=5)"),
}
ALL = FULL_WIDTH | {name: eqbench.load_solver(name) for name in ("mmd", "reg_cfr", "qfr", "mccfr")}
ITERATIVE = ALL | {"fictitious_play": eqbench.load_solver("fictitious_play")}


@pytest.fixture(scope="module")
def kuhn2() -> Game:
    return eqbench.load_game("kuhn2")


@pytest.fixture(scope="module")
def kuhn3() -> Game:
    return eqbench.load_game("kuhn3")


def max_regret(game: Game, frequencies: np.ndarray) -> float:
    return float(game.payoff_model().regrets(frequencies).max())


# -- convergence ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bound"),
    [("cfr", 1e-3), ("cfr_plus", 1e-4), ("cfr_linear", 1e-4), ("dcfr", 1e-4), ("pcfr_plus", 1e-9)],
)
def test_snapshot_is_the_better_of_average_and_last_iterate_and_has_the_value(name, bound, kuhn2):
    result = run(FULL_WIDTH[name], kuhn2, iterations=20_000)
    snapshot = result.snapshots[-1]
    assert snapshot.claim == ("iterate" if name == "pcfr_plus" else "average")
    measured = verify(kuhn2.tree, snapshot.profile)
    regrets = [max_regret(kuhn2, each) for each in (result.average, result.last)]
    assert measured.max_regret == pytest.approx(min(regrets), abs=1e-15)
    assert measured.max_regret <= bound
    assert measured.payoffs[0] == pytest.approx(-1 / 18, abs=2 * bound)


def test_external_sampling_approaches_the_value(kuhn2, kuhn3):
    average = run(cfr.ExternalSampling(), kuhn2, iterations=50_000).average
    assert max_regret(kuhn2, average) < 0.02
    assert kuhn2.payoff_model().expected_payoffs(average)[0] == pytest.approx(-1 / 18, abs=0.01)
    early, late = (run(cfr.ExternalSampling(), kuhn3, iterations=n).average for n in (300, 30_000))
    assert max_regret(kuhn3, late) < 0.03 < max_regret(kuhn3, early)


@pytest.mark.parametrize(("name", "exponent"), [("dcfr_plus", 4), ("pdcfr_plus", 5)])
def test_two_iterations_of_discounted_cfr_plus_are_those_made_by_hand(name, exponent):
    """Defecting dominates, so iteration 2 defects; its weight is 2 to the exponent."""
    result = run(eqbench.load_solver(name), eqbench.load_game("prisoners_dilemma"), iterations=2)
    cooperate = 1 / 2 / (1 + 2**exponent)
    np.testing.assert_allclose(result.average, [cooperate, 1 - cooperate] * 2, atol=1e-15)


@pytest.mark.parametrize(("word", "exponent"), [("uniform", 0), ("linear", 1), ("quadratic", 2)])
def test_words_for_averages_are_exponents(word, exponent, kuhn2):
    for solver in (cfr.CFR, cfr.MirrorDescent, cfr.ExternalSampling):
        both = [run(solver(averaging=a), kuhn2, iterations=20).average for a in (word, exponent)]
        np.testing.assert_array_equal(*both)


def test_minus_infinity_stands_in_specs():
    solver = eqbench.load_solver("cfr(regrets=discounted, beta=-inf, averaging=5/2)")
    assert (solver.beta, solver.averaging) == (-np.inf, 2.5)
    loaded = default_registry().load_solver("pdcfr_plus")
    assert eqbench.load_solver(loaded.spec) == loaded.instance
    assert default_registry().spec_of(loaded.instance) == "pdcfr_plus"


@pytest.mark.parametrize("name", ["shapley", "jordan", "rock_paper_scissors"])
def test_vanilla_cfr_need_not_converge_and_says_so(name):
    game = eqbench.load_game(name)
    result = run(cfr.CFR(start="random"), game, iterations=10_000, target=1e-6)
    assert result.termination.reason == "limit"
    assert max_regret(game, result.last) > 0.01
    assert (max_regret(game, result.average) < 1e-3) == (name == "rock_paper_scissors")


@pytest.mark.parametrize("alternating", [True, False], ids=["alternating", "simultaneous"])
@pytest.mark.parametrize("name", FULL_WIDTH)
def test_kernels_follow_the_definition(name, alternating, kuhn3):
    solver = dataclasses.replace(FULL_WIDTH[name], alternating=alternating)
    average, last = iterates_by_definition(solver, kuhn3, 12)
    result = run(solver, kuhn3, iterations=12)
    np.testing.assert_allclose(result.last, last, atol=1e-12)
    np.testing.assert_allclose(result.average, average, atol=1e-12)


def iterates_by_definition(solver: Any, game: Game, iterations: int) -> tuple[Any, Any]:
    """Average and last iterate (A,), in plain NumPy and without any fusion of steps."""
    form = game.sequence_form
    n, row = form.n_players, form.sequence_infoset[form.n_players :]
    owner = form.infoset_player[row]

    def by_row(values: np.ndarray) -> np.ndarray:
        return np.bincount(row, values, form.n_infosets)[row]

    def normalized(weights: np.ndarray) -> np.ndarray:
        total = by_row(weights)
        return np.where(total > 0, weights / np.where(total > 0, total, 1), 1 / by_row(weights**0))

    behavior, regrets, plans = normalized(np.zeros(form.n_actions)), 0.0, 0.0
    for t in range(1, iterations + 1):
        words = {"uniform": 1, "linear": t, "quadratic": t**2}
        weight = words[solver.averaging] if solver.averaging in words else t**solver.averaging
        plans = plans + weight * reference.realization(form, behavior)[n:]
        groups = [[p] for p in range(n)] if solver.alternating else [list(range(n))]
        for movers in groups:
            values = reference.counterfactual_values(form, behavior)
            gain = np.where(np.isin(owner, movers), values - by_row(behavior * values), 0.0)
            matched, again = None, gain / (1 + getattr(solver, "asymmetry", 0))
            if solver.regrets == "discounted" and solver.beta == -np.inf:
                # as in the program of Xu et al. 2024: old regrets are discounted by t - 1, then all
                # clipped; those of the prediction by t
                shift = solver.shift
                kept = [each**solver.alpha / (each**solver.alpha + shift) for each in (t - 1, t)]
                mine = np.isin(owner, movers)
                regrets = np.where(mine, np.maximum(regrets * kept[0] + gain, 0), regrets)
                matched = regrets * kept[1] + again if solver.predictive else regrets
            else:
                regrets = regrets + gain
            if solver.regrets == "clipped":
                regrets = np.maximum(regrets, 0)
            elif solver.regrets == "discounted" and matched is None:
                exponent = np.where(regrets > 0, solver.alpha, solver.beta)
                factor = t**exponent / (t**exponent + 1)
                regrets = np.where(np.isin(owner, movers), regrets * factor, regrets)
            if matched is None:
                matched = regrets + again if solver.predictive else regrets
            matched = np.where(matched > 1e-12, matched, 0)
            behavior = np.where(np.isin(owner, movers), normalized(matched), behavior)
    return normalized(plans), behavior


# -- options ----------------------------------------------------------------------------------


def test_infinite_exponent_of_the_discount_keeps_positive_regrets(kuhn2):
    """DCFR(infinity, infinity) is plain CFR (Brown and Sandholm 2019)."""
    kept = cfr.CFR(regrets="discounted", alpha=float("inf"), beta=float("inf"))
    both = [run(solver, kuhn2, iterations=50).last for solver in (kept, cfr.CFR())]
    np.testing.assert_array_equal(*both)


# -- runs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ITERATIVE)
def test_claims_and_uniform_play_before_the_first_iteration(name, kuhn2):
    for iterations in (0, 1, 1000):
        result = run(ITERATIVE[name], kuhn2, iterations=iterations)
        assert result.monitor.work == result.reports[-1].work == iterations
        claims = ["average"] if name == "fictitious_play" else ["average", "iterate"]
        assert [candidate.claim for candidate in result.candidates] == claims
        if iterations == 0:
            for candidate in result.candidates:
                np.testing.assert_array_equal(candidate.profile.probabilities, 0.5)


@pytest.mark.parametrize("name", ALL)
def test_rows_sum_to_one_to_rounding(name, kuhn3):
    result = run(ALL[name], kuhn3, iterations=5_000)
    for frequencies in (result.average, result.last):
        totals = np.add.reduceat(frequencies, kuhn3.tree.action_start[:-1])
        np.testing.assert_allclose(totals, 1, rtol=0, atol=4e-16)


def test_draws_of_chance_follow_its_probabilities():
    """Each outcome gets its share of evenly spaced draws, and 0 never falls short."""
    sampling = importlib.import_module("eqbench.solvers.cfr.sampling")
    cumulative = np.array([0.0, 0.1, 0.4, 0.4, 1.0])
    draws = [int(sampling.draw_outcome(cumulative, 1, 5, u)) for u in (np.arange(1000) + 0.5) / 1e3]
    assert np.bincount(draws).tolist() == [0, 100, 300, 0, 600]
    shares = np.array([0.5, 0.0, 0.5])
    actions = [int(sampling.draw_action(shares, 7, 10, u)) for u in (0.0, 0.49, 0.5, 1.0)]
    assert actions == [7, 7, 9, 9]


methods = importlib.import_module("eqbench.solvers.cfr.methods")
iteration = importlib.import_module("eqbench.solvers.cfr.iteration")
TREE = "random_tree(players={players},depth=6,actions=3,information=1/2,seed={seed})"
TREES = [TREE.format(players=players, seed=seed) for players in (2, 3) for seed in range(3)]
GAMES = ["kuhn2", "kuhn3", "leduc", "skp", "goofspiel", *TREES]
VARIANTS = ["cfr", "cfr_plus", "cfr_linear", "dcfr", "pcfr_plus", "pcfr_plus_alternating"]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small games are laid out like large ones, and there are cores enough."""
    monkeypatch.setattr(interleaved, "LARGE", 0)
    monkeypatch.setattr(methods, "usable_cores", lambda: 8)


@pytest.fixture(params=["coded", "short", "long"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Weights with codes; without, since there are too many; sequences of more than two bytes."""
    monkeypatch.setattr(interleaved, "LARGE", 10**9 if request.param == "short" else 0)
    if request.param == "long":
        monkeypatch.setattr(interleaved, "SHORT", 3)
    return request.param


def fresh(name: str) -> Game:
    """A game of which nothing is compiled yet."""
    game = eqbench.load_game(name)
    return Game(game.spec, game.tree)


def entries_of(entries: Interleaved, lane: int) -> tuple[Any, Any]:
    """Opponents and weights of the entries of one lane."""
    group, offset = divmod(lane, 4)
    rows = np.arange(entries.group_row[group], entries.group_row[group + 1], dtype=np.int64)
    places = 4 * rows + offset
    weights = entries.weights[entries.codes[places] if entries.coded else places]
    return entries.opponents[places], weights


# -- the layout -----------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("name", ["kuhn3", "leduc", TREES[0], TREES[-1]])
def test_every_sequence_has_the_very_entries_of_the_form_in_their_order(name, parts, layout):
    form = fresh(name).sequence_form
    entries = interleave(form, parts)
    assert entries.opponents.dtype == (np.uint32 if layout == "long" else np.uint16)
    assert bool(entries.coded) == (layout == "coded")
    seen = []
    for lane, s in enumerate(entries.sequences.tolist()):
        opponents, weights = entries_of(entries, lane)
        mine = slice(*form.arrays.entry_start[s : s + 2].tolist())
        count = mine.stop - mine.start
        np.testing.assert_array_equal(opponents[:count], form.arrays.opponents[mine])
        np.testing.assert_array_equal(weights[:count], form.arrays.weight[mine])
        assert not weights[count:].any()
        seen.append(s)
    assert set(seen) == set(range(form.n_players, form.n_sequences))


def test_a_game_is_cut_only_if_it_is_large_and_falls_apart(monkeypatch):
    assert interleave(fresh("leduc").sequence_form).parts == 1
    monkeypatch.setattr(interleaved, "LARGE", 0)
    assert interleave(fresh("leduc").sequence_form).parts == 2
    # each player's first decision is the same whatever happened
    assert interleave(fresh("goofspiel").sequence_form).parts == 1


# -- threads --------------------------------------------------------------------------------------


def state_of(game: Game, solver: Any, parts: int, threads: int) -> Any:
    """State after a few iterations, which are cut as the clock might cut them."""
    game.__dict__["interleaved"] = interleave(game.sequence_form, parts)
    state = iteration.begin(game.sequence_form, BehaviorProfile.uniform(game.tree).probabilities)
    advance = solver._advance(game, state, np.random.default_rng(0), threads)
    for start, count in ((0, 1), (1, 7), (8, 5)):
        advance(start, count)
    return state


@pytest.mark.parametrize("alternating", [True, False], ids=["alternating", "simultaneous"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", GAMES)
def test_threads_leave_the_state_of_one_thread(name, variant, alternating, large):
    solver = dataclasses.replace(eqbench.load_solver(variant), alternating=alternating)
    game = fresh(name)
    alone = state_of(game, solver, parts=1, threads=1)
    for parts, threads in ((2, 1), (2, 2), (3, 3), (3, 2)):
        together = state_of(game, solver, parts, threads)
        for field in alone._fields:
            np.testing.assert_array_equal(getattr(alone, field), getattr(together, field), field)


def test_a_solve_is_the_same_with_any_number_of_threads(large):
    both = [run("pcfr_plus", fresh("leduc"), iterations=60, threads=n).reports for n in (1, 2, 5)]
    kept = [[report.candidate.profile.probabilities for report in each] for each in both]
    np.testing.assert_array_equal(kept[0], kept[1])
    np.testing.assert_array_equal(kept[0], kept[2])


def test_no_more_threads_than_cores_or_where_they_do_not_pay(large, monkeypatch):
    started = []

    def pool(threads: int) -> ThreadPoolExecutor:
        started.append(threads)
        return ThreadPoolExecutor(threads)

    monkeypatch.setattr(iteration, "ThreadPoolExecutor", pool)
    run("cfr_plus", fresh("leduc"), iterations=3, threads=4)
    assert set(started) == {4}
    started.clear()
    run("cfr_plus", fresh("goofspiel"), iterations=3, threads=2)
    monkeypatch.setattr(methods, "usable_cores", lambda: 1)
    run("cfr_plus", fresh("leduc"), iterations=3, threads=2)
    assert started == []


def test_a_thread_that_cannot_start_keeps_nobody_waiting(large, monkeypatch):
    class Exhausted(ThreadPoolExecutor):
        def submit(self, *work: Any, **more: Any) -> Any:
            if self._threads:
                raise RuntimeError("can't start new thread")
            return super().submit(*work, **more)

    monkeypatch.setattr(iteration, "ThreadPoolExecutor", Exhausted)
    with pytest.raises(RuntimeError, match="thread"):
        run("cfr_plus", fresh("leduc"), iterations=3, threads=2)


TEMPERATURE = 0.2


def rested(values: str, game: Game, **options: object) -> np.ndarray:
    """Last iterate (A,) at a fixed temperature, from a random start."""
    fixed = {"values": values, "step": 2, "slowing": 0, "cooling": 0, "start": "random"} | options
    words = ",".join(f"{name}={value}".lower() for name, value in fixed.items())
    return run(f"mmd({words},temperature={TEMPERATURE})", game, iterations=20_000).last


def by_softmax(game: Game, utilities: np.ndarray) -> np.ndarray:
    """Logit responses (A,) to utilities (A,) at each information set."""
    response = np.exp(utilities / (TEMPERATURE * game.tree.payoff_range))
    starts = game.tree.action_start
    return response / np.repeat(np.add.reduceat(response, starts[:-1]), np.diff(starts))


@pytest.mark.parametrize("predictive", [False, True])
@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3"])
def test_mmd_rests_at_the_agent_logit_equilibrium(spec, alternating, predictive):
    """Damped logit responses to payoffs given that an information set is reached lead there."""
    game = eqbench.load_game(spec)
    behavior = by_softmax(game, np.zeros(game.tree.n_actions))
    for _ in range(800):
        response = by_softmax(game, -inspect_profile(game, behavior).gaps)
        behavior = 0.95 * behavior + 0.05 * response
    np.testing.assert_allclose(behavior, response, atol=1e-12)
    found = rested("behavioral", game, alternating=alternating, predictive=predictive)
    np.testing.assert_allclose(found, behavior, atol=1e-10)


def test_reg_cfr_rests_at_the_logit_equilibrium_of_the_reduced_strategic_form():
    game = eqbench.load_game("kuhn2")
    form, sizes = game.sequence_form, [len(each) for each in game.tree.infoset_actions]
    pure = itertools.product(*(np.eye(size) for size in sizes))
    plans = np.array([reference.realization(form, np.concatenate(each)) for each in pure])
    own = [np.unique(plans * (form.sequence_player == p), axis=0) for p in range(form.n_players)]
    mixed = sum(each.mean(axis=0) for each in own)
    for _ in range(800):
        values = reference._direct_values(form, mixed)
        logits = [each @ values / (TEMPERATURE * game.tree.payoff_range) for each in own]
        responses = [np.exp(each - each.max()) for each in logits]
        response = sum(w @ each / w.sum() for w, each in zip(responses, own, strict=True))
        mixed = 0.95 * mixed + 0.05 * response
    np.testing.assert_allclose(mixed, response, atol=1e-12)
    found = reference.realization(form, rested("dilated", game, predictive=True))
    np.testing.assert_allclose(found, mixed, atol=1e-10)


@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3"])
def test_qfr_rests_where_no_player_gains_with_entropy_paid_by_all(spec):
    """Every action of an information set changes the payoff with entropy by the same rate."""
    game = eqbench.load_game(spec)
    tree, starts = game.tree, game.tree.action_start
    sign = np.where(tree.infoset_player[:, None] == np.arange(tree.n_players), 1, -1)

    def payoffs(behavior: np.ndarray) -> np.ndarray:
        entropy = np.add.reduceat(-behavior * np.log(behavior), starts[:-1])
        paid = (infoset_reach(tree, behavior) * entropy) @ sign
        payoffs = reference.expected_payoffs(game.sequence_form, behavior)
        return payoffs + TEMPERATURE * tree.payoff_range * paid

    found = rested("bidilated", game, predictive=True)
    rates = numerical_jacobian(payoffs, found, 1e-4)
    for first, last, player in zip(starts, starts[1:], tree.infoset_player, strict=False):
        np.testing.assert_allclose(np.ptp(rates[player, first:last]), 0, atol=1e-7)


@pytest.mark.parametrize("solver", ["mmd", "reg_cfr", "qfr"])
def test_last_iterate_converges(solver):
    bounds = {
        ("kuhn2", 5_000): 5e-4,
        ("kuhn3", 5_000): 1e-3,
        ("leduc", 500): 1,
        ("leduc", 5_000): 0.1,
    }
    for (game, iterations), bound in bounds.items():
        last = run(solver, game, iterations=iterations).candidates[1]
        assert last.claim == "iterate"
        assert verify(eqbench.load_game(game).tree, last.profile).nash_conv < bound


def test_frequencies_stay_finite_where_the_others_hardly_go():
    """Where they go with 1e-310, the inverse of that is infinite."""
    last = run("mmd(step=2,slowing=0,temperature=2,cooling=1)", "leduc", iterations=10_000).last
    assert np.isfinite(last).all()


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mmd(step=0)", "step=0"),
        ("mmd(slowing=inf)", "slowing=inf"),
        ("mmd(temperature=-1)", "=-1"),
        ("mmd(temperature=0)", "cooling=0"),
        ("mmd(values=other)", "behavioral"),
        ("cfr(regrets=discounted,alpha=nan)", "alpha"),
        ("cfr(averaging=-1)", "0 to 20"),
        ("cfr(averaging=-inf)", "0 to 20"),
        ("cfr(averaging=21)", "0 to 20"),
        ("mccfr(averaging=cubic)", "uniform"),
        ("mmd(averaging=100)", "0 to 20"),
        ("dcfr_plus(shift=-1)", "finite number >= 0"),
        ("sapcfr_plus(shift=2)", "without regrets=discounted"),
        ("dcfr_plus(asymmetry=2)", "without predictive=true"),
        ("sapcfr_plus(asymmetry=inf)", "finite number >= 0"),
    ],
)
def test_options_without_a_meaning_are_refused(spec, words):
    with pytest.raises(SpecError, match=words):
        eqbench.load_solver(spec)
