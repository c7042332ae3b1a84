"""However CFR lays a game out, on any number of threads, results are the same to the last bit."""

from __future__ import annotations

import dataclasses
import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from solver_cases import run

import eqbench
from eqbench.model import interleaved
from eqbench.model.game import Game
from eqbench.model.interleaved import Interleaved, interleave
from eqbench.model.profile import BehaviorProfile

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
