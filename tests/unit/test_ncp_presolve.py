"""Presolve of programs: bounds hold whatever is played, and aliases and removals lose nothing."""

from __future__ import annotations

import importlib
import itertools
from fractions import Fraction

import numpy as np
import pytest
from ncp_programs import (
    best_replies,
    compact_games,
    equilibrium,
    measured,
    own_sequences,
    plans_of,
    point,
    program_of,
    random_pure,
    violation,
)
from random_trees import random_tree
from szafron_family import member
from three_player_kuhn import szafron_profile

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import random_profile
from eqbench.model.profile_json import profile_from_json

bounding = dominance = importlib.import_module("eqbench.solvers.ncp.presolve")


def named(spec: str) -> Game:
    """A game by its spec, or ``tree k`` for the k-th random tree."""
    kind, _, seed = spec.partition(" ")
    return Game(spec, random_tree(int(seed))) if kind == "tree" else eqbench.load_game(spec)


# -- bounds ----------------------------------------------------------------------------------------


BOUNDED = [
    "kuhn3",
    "jordan",
    "random_tree(players=3,depth=5,actions=3,seed=4)",
    *(f"tree {seed}" for seed in range(8)),
]


@pytest.mark.parametrize("spec", BOUNDED)
def test_bounds_hold_whatever_is_played(spec: str) -> None:
    game = named(spec)
    form, rng = game.sequence_form, np.random.default_rng(0)
    compact = compact_games.CompactGame.of(form)
    all_low, all_high = bounding.value_bounds(compact, game.tree)
    own = own_sequences(compact)[compact.n_players :]
    infoset = form.sequence_infoset[own]
    first = compact.start[:-1] - compact.n_players
    formulated = program_of(game, "aggregated")
    formulated.tighten(all_low, all_high)
    program, (multipliers,) = formulated.program, [[i for m in formulated.multiplier for (i,) in m]]
    infoset_low = np.array(program.lower)[multipliers]
    infoset_high = np.array(program.upper)[multipliers]
    nearest = np.inf
    for behavior in itertools.chain.from_iterable(
        (random_profile(game.tree, rng), random_pure(game, rng)) for _ in range(100)
    ):
        worth, best = best_replies(form, plans_of(game, behavior))
        low, high = all_low[compact.n_players :], all_high[compact.n_players :]
        assert (low - 1e-12 <= worth[own]).all()
        assert (worth[own] <= high + 1e-12).all()
        multiplier = best[infoset[first]]
        assert (infoset_low - 1e-12 <= multiplier).all()
        assert (multiplier <= infoset_high + 1e-12).all()
        nearest = min(nearest, (high - worth[own]).min(initial=np.inf))
    if len(own):
        assert nearest <= 1e-12  # some value is as large as its bound


@pytest.mark.parametrize("formulation", ["elimination", "aggregated", "constant_sum"])
def test_bounds_of_variables_keep_equilibria_and_leave_only_the_rest_open(
    formulation: str,
) -> None:
    game = eqbench.load_game("kuhn3_reduced")
    plans = equilibrium(game)
    compact = compact_games.CompactGame.of(game.sequence_form)
    formulated = program_of(game, formulation)
    formulated.tighten(*bounding.value_bounds(compact, game.tree))
    program = formulated.program
    assert np.isfinite([program.lower, program.upper]).all()
    assert violation(program, point(formulated, formulation, plans)) <= 1e-9
    assert program.size == program_of(game, formulation).program.size


@pytest.mark.parametrize("forced", [False, True])
def test_bounds_are_those_of_an_enemy_and_a_friend(*, forced: bool) -> None:
    builder = TreeBuilder(["P1", "P2"])
    root = builder.decision(None, 0, "", ["stop", "go"])
    builder.terminal((root, 0), [2, 0])
    place = (root, 1)
    if forced:  # an information set of one action changes nothing
        place = (builder.decision(place, 0, "no choice", ["on"]), 0)
    reply = builder.decision(place, 1, "", ["end", "toss"])
    builder.terminal((reply, 0), [-3, 1])
    coin = builder.chance((reply, 1), [Fraction(1, 4), Fraction(3, 4)])
    builder.terminal((coin, 0), [8, 4])
    later = builder.decision((coin, 1), 0, "later", ["low", "high"])
    builder.terminal((later, 0), [0, -1])
    builder.terminal((later, 1), [4, -5])
    game = Game("bounded", builder.tree())
    low, high = bounding.value_bounds(compact_games.CompactGame.of(game.sequence_form), game.tree)
    # stop, go, low, high of P1; end, toss of P2: a sum over what follows, with 0 if others avoid it
    assert low.tolist() == [0, 0, 0, -3, 0, 0, 0, -2.75]
    assert high.tolist() == [0, 0, 2, 5, 0, 3, 1, 0.25]
    formulated = program_of(game, "aggregated")
    formulated.tighten(low, high)
    program = formulated.program
    multipliers = [index for variable in formulated.multiplier for (index,) in variable]
    assert [program.lower[index] for index in multipliers] == [0, 0, 0]
    assert [program.upper[index] for index in multipliers] == [5, 3, 1]
    slacks = [index for variable in formulated.slack.values() for (index,) in variable]
    assert [program.upper[index] for index in slacks] == [5, 8, 3, 3, 1, 3.75]


# -- presolve --------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn3_reduced", *(f"tree {s}" for s in range(8))])
def test_sets_of_one_action_are_aliases_and_plans_come_back_whole(spec: str) -> None:
    game = named(spec)
    form = game.sequence_form
    compact = compact_games.CompactGame.of(form)
    sizes = np.diff(form.block_start)
    assert compact.n_infosets == (sizes > 1).sum()
    assert compact.n_sequences == form.n_players + sizes[sizes > 1].sum()
    plans = plans_of(game, random_profile(game.tree, np.random.default_rng(3)))
    short = plans[own_sequences(compact)]
    np.testing.assert_allclose(compact.weights(short), plans, rtol=0, atol=1e-15)
    payoffs = short[compact.columns].prod(axis=1) @ compact.payoffs
    np.testing.assert_allclose(
        payoffs, plans[form.columns].prod(axis=1) @ form.payoffs, rtol=0, atol=1e-13
    )
    assert len(np.unique(compact.columns, axis=0)) == len(compact.columns)


@pytest.mark.parametrize("spec", ["kuhn3", *(f"tree {s}" for s in range(8))])
def test_removed_actions_go_with_all_that_follows_them(spec: str) -> None:
    game, rng = named(spec), np.random.default_rng(5)
    form, n = game.sequence_form, game.tree.n_players
    start, sizes = game.tree.action_start[:-1], np.diff(game.tree.action_start)
    removed = rng.random(game.tree.n_actions) < 0.5
    removed[start + rng.integers(sizes)] = False  # one stays everywhere
    assert removed.any()
    compact = compact_games.CompactGame.of(form, removed)
    behind = removed.copy()
    for action in range(len(removed)):  # the last own action stands before those that follow it
        above = form.parent[form.sequence_infoset[action + n]] - n
        behind[action] |= above >= 0 and behind[above]
    np.testing.assert_array_equal(compact.alias[n:] < 0, behind)
    behavior = np.where(removed, 0.0, random_profile(game.tree, rng))
    behavior /= np.repeat(np.add.reduceat(behavior, start), sizes)
    plans = plans_of(game, behavior)
    short = plans[own_sequences(compact)]
    np.testing.assert_allclose(compact.weights(short), plans, rtol=0, atol=1e-15)
    payoffs = short[compact.columns].prod(axis=1) @ compact.payoffs
    assert payoffs == pytest.approx(measured(game, behavior).payoffs, abs=1e-13)


def test_equilibria_without_removed_actions_satisfy_the_program_without_them() -> None:
    game = eqbench.load_game("kuhn3")
    frequencies = member(b11=0, b21=0, b32=Fraction(1, 2), c11=0, c33=0)
    profile = profile_from_json(game.tree, szafron_profile(frequencies))
    plans = plans_of(game, profile.probabilities)
    removed = dominance.dominated_actions(game.tree) > 0
    assert not plans[game.tree.n_players :][removed].any()
    compact = compact_games.CompactGame.of(game.sequence_form, removed)
    formulated = program_of(game, "elimination", compact=compact)
    values = point(formulated, "elimination", plans)
    assert violation(formulated.program, values) <= 1e-9
    assert formulated.program.size.columns < program_of(game, "elimination").program.size.columns
