"""Cross-play: payoffs, exchanges and worst cases; what is taken, left out, printed and written."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.made_games import random_tree
from helpers.solver_cases import odd_games, with_payoffs
from helpers.study_cases import battle, found_of, kuhn2_member, random_entries
from helpers.walks import TreeWalk
from msgspec import to_builtins
from scipy.optimize import linprog

import eqbench
from eqbench.errors import ProfileError, UsageError
from eqbench.model.game import Game
from eqbench.model.joint_player import joint_player
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.store.schema import CellRecord, EquilibriumRecord
from eqbench.store.stored_run import StoredRun
from eqbench.studies.crossplay import measure as crossplay_measure
from eqbench.studies.crossplay.measure import Crossplay, combinations_csv
from eqbench.studies.crossplay.study import (
    Found,
    LeftOut,
    corners,
    equilibria_of_runs,
    selection,
    summary,
    without_copies,
)
from eqbench.verification import Verifier

SEEDS = range(8)  # one to four players, twice


def random_game(seed: int) -> Game:
    return Game(f"random {seed}", random_tree(seed, depth=5))


def walk(game: Game, entries: list[tuple[str, BehaviorProfile]], who: tuple[int, ...]) -> TreeWalk:
    """Plain recursion over the profile in which player p plays entry ``who[p]``."""
    tree = game.tree
    owner = np.repeat(tree.infoset_player, np.diff(tree.action_start))
    mixed = [entries[who[p]][1].exact[a] for a, p in enumerate(owner.tolist())]
    return TreeWalk(tree, mixed)


# -- against the definitions -------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_every_combination_pays_and_regrets_what_a_walk_over_the_tree_says(seed: int) -> None:
    game = random_game(seed)
    n_players = game.tree.n_players
    entries = random_entries(game, 3 if n_players < 4 else 2)
    exact, rounded = Crossplay(game, entries, exact=True), Crossplay(game, entries)
    assert exact.payoffs.shape == rounded.payoffs.shape == (n_players, *[len(entries)] * n_players)
    assert exact.regrets is not None
    assert rounded.regrets is not None
    for who in itertools.product(range(len(entries)), repeat=n_players):
        tested = walk(game, entries, who)
        assert exact.payoffs[(slice(None), *who)].tolist() == tested.payoffs()
        assert exact.regrets[who].tolist() == tested.regrets()
    np.testing.assert_allclose(rounded.payoffs, exact.payoffs.astype(float), atol=1e-13)
    np.testing.assert_allclose(rounded.regrets, exact.regrets.astype(float), atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS)
def test_exchange_puts_one_player_into_the_equilibrium_of_the_others(seed: int) -> None:
    game = random_game(seed)
    entries = random_entries(game)
    result = Crossplay(game, entries, exact=True)
    for i, a, b in np.ndindex(game.tree.n_players, 3, 3):
        who = tuple(a if p == i else b for p in range(game.tree.n_players))
        tested = walk(game, entries, who)
        assert result.swap_payoffs[i, a, b].tolist() == tested.payoffs()
        assert result.swap_regrets[i, a, b].tolist() == tested.regrets()
        assert result.interchangeable[i, a, b] == (max(tested.regrets()) == 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_worst_cases_are_the_least_over_what_the_others_may_play(seed: int) -> None:
    game = random_game(seed)
    n_players = game.tree.n_players
    entries = random_entries(game, 3 if n_players < 4 else 2)
    result = Crossplay(game, entries, exact=True)
    choices = range(len(entries))
    for p, own in itertools.product(range(n_players), choices):
        for cases, agreed in ((result.others_agree, True), (result.others_differ, False)):
            found = {
                (*others[:p], own, *others[p:]): result.payoffs[p][(*others[:p], own, *others[p:])]
                for others in itertools.product(choices, repeat=n_players - 1)
                if not agreed or len(set(others)) <= 1
            }
            assert cases.payoffs[p, own] == min(found.values())
            assert cases.entries is not None
            assert found[tuple(cases.entries[p, own].tolist())] == cases.payoffs[p, own]
        assert result.own_payoffs[p, own] == result.payoffs[p][(own,) * n_players]


@pytest.mark.parametrize("seed", SEEDS)
def test_guaranteed_payoff_is_the_optimum_of_the_linear_program_of_the_others(seed: int) -> None:
    """The others' plans y satisfy F y = f and minimize what the fixed plan leaves them."""
    game = random_game(seed)
    tree = game.tree
    entries = random_entries(game)
    result = Crossplay(game, entries)
    chance = np.array([float(value) for value in reach_by_chance(tree)])
    for p, (e, (_, profile)) in itertools.product(range(tree.n_players), enumerate(entries)):
        own, others = joint_player(tree, [p]), joint_player(tree, set(range(tree.n_players)) - {p})
        weights = np.ones(own.n_sequences)
        for s in range(1, own.n_sequences):
            before = weights[own.parent[own.infoset[s]]]
            weights[s] = before * profile.probabilities[own.action[s]]
        cost = np.zeros(others.n_sequences)
        np.add.at(cost, others.last, weights[own.last] * chance * tree.payoffs.table[:, p])
        flow: Any = others.flow()
        solved = linprog(cost, A_eq=flow, b_eq=np.eye(1, flow.shape[0])[0])
        assert result.guaranteed.payoffs[p, e] == pytest.approx(solved.fun, abs=1e-9)


def reach_by_chance(tree: Any) -> list[Fraction]:
    """Probability that chance alone leads to each terminal."""
    result = []
    for node in tree.terminals.tolist():
        reach = Fraction(1)
        while node > 0:
            if tree.incoming[node] < 0:
                reach *= Fraction(int(tree.chance[node]), tree.chance_denominator)
            node = int(tree.parent[node])
        result.append(reach)
    return result


# -- games whose answers are known ---------------------------------------------------------------


def test_equilibria_of_two_player_kuhn_poker_are_interchangeable() -> None:
    """In two-player zero-sum games all are (Nash 1951); alpha in [0, 1/3] (Kuhn 1950)."""
    game = eqbench.load_game("kuhn2")
    alphas = [Fraction(0), Fraction(1, 5), Fraction(1, 3)]
    result = Crossplay(game, [(str(alpha), kuhn2_member(alpha)) for alpha in alphas], exact=True)
    assert result.interchangeable.all()
    assert result.n_strategies == (3, 1), "alpha is of player 1"
    assert result.n_equilibria == math.prod(result.n_strategies) == 3
    for cases in (result.others_agree, result.others_differ, result.guaranteed):
        assert cases.payoffs.tolist() == [[Fraction(-1, 18)] * 3, [Fraction(1, 18)] * 3]
        assert cases.best.all()


def test_battle_of_two_has_two_places_that_nobody_can_be_sure_of() -> None:
    """Strategies of the three equilibria meet in nine ways, three of which are equilibria."""
    game, entries = battle()
    result = Crossplay(game, entries, exact=True)
    assert result.n_equilibria == 3
    np.testing.assert_array_equal(result.interchangeable[0], np.eye(3, dtype=bool))
    assert result.own_payoffs[0].tolist() == [2, 1, Fraction(2, 3)]
    assert result.others_agree.payoffs[0].tolist() == [0, 0, Fraction(1, 3)]
    assert result.others_differ.payoffs[1].tolist() == [0, 0, Fraction(1, 3)]
    np.testing.assert_array_equal(result.others_differ.best[0], [False, False, True])
    assert result.others_agree.entries is not None
    assert result.others_agree.entries[0].tolist() == [[0, 1], [1, 0], [2, 1]]
    # P1 plays first: 2 0, second: 0 1, mixed: 4/3 1/3 against the two places
    assert result.guaranteed.payoffs[0].tolist() == [0, 0, Fraction(1, 3)]
    assert result.swap_regrets[0, 0, 1].tolist() == [1, 1]


@pytest.mark.parametrize("name", odd_games())
def test_odd_games_are_studied_as_well(name: str) -> None:
    game = odd_games()[name]
    entries = [("uniform", BehaviorProfile.uniform(game.tree))]
    result = Crossplay(game, entries, exact=True)
    assert result.own_payoffs[:, 0].tolist() == TreeWalk(game.tree, entries[0][1].exact).payoffs()
    assert Crossplay(game, entries).n_strategies == (1,) * game.tree.n_players


# -- arithmetic and effort -----------------------------------------------------------------------


def test_numbers_that_do_not_fit_64_bits_stay_exact() -> None:
    game = eqbench.load_game("kuhn3")
    rng = np.random.default_rng(3)
    tree = game.tree
    entries = []
    for label in "AB":
        dyadic = np.round(random_profile(tree, rng)[::2] * 2**50) / 2**50
        pairs = np.stack((dyadic, 1 - dyadic), axis=1).ravel()  # two actions everywhere
        entries.append((label, BehaviorProfile.of_exact(tree, list(map(Fraction, pairs)))))
    result = Crossplay(game, entries, exact=True)
    assert result.payoffs[:, 0, 1, 0].tolist() == walk(game, entries, (0, 1, 0)).payoffs()
    assert max(value.denominator for value in result.payoffs.flat) > 2**64
    floats = [(label, BehaviorProfile.of(tree, p.probabilities)) for label, p in entries]
    assert (Crossplay(game, floats, exact=True).payoffs == result.payoffs).all()


def test_tolerance_is_a_share_of_the_payoff_range() -> None:
    game = with_payoffs(battle()[0], 100 * battle()[0].tree.payoffs.table)
    off = BehaviorProfile.of(game.tree, [0.999, 0.001, 1, 0])  # P1 loses 0.1% of the range 200
    assert not Crossplay(game, [("A", off)], tolerance=0.00099).interchangeable.any()
    assert Crossplay(game, [("A", off)], tolerance=0.00101).interchangeable.all()


def test_equal_strategies_are_verified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    game, entries = battle()
    measured = []
    original = Verifier.verify

    def counted(self: Verifier, profile: BehaviorProfile) -> Any:
        measured.append(tuple(profile.probabilities))
        return original(self, profile)

    monkeypatch.setattr(Verifier, "verify", counted)
    Crossplay(game, [*entries, ("again", entries[0][1])])
    assert len(measured) == len(set(measured)) == 9


def test_too_many_combinations_are_not_all_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossplay_measure, "MOST_VERIFIED", 8)
    game, entries = battle()
    result = Crossplay(game, entries)
    assert (result.regrets, result.n_equilibria) == (None, None)
    assert result.swap_regrets[0, 0, 1].tolist() == pytest.approx([1, 1])
    document = document_of(result, entries)
    combinations = {"strategies": [3, 3], "count": 9, "equilibria": None, "share": None}
    assert document["combinations"] == combinations
    header, *rows = combinations_csv(result).splitlines()
    assert header == "entry_P1,entry_P2,payoff_P1,payoff_P2"
    assert len(rows) == 9


def document_of(result: Crossplay, entries: list[tuple[str, BehaviorProfile]]) -> dict[str, Any]:
    """The document as JSON values."""
    found: dict[str, Any] = to_builtins(summary(result, found_of(entries), [], LeftOut()))
    return found


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("study", [Crossplay, partial(Crossplay, exact=True)])
def test_entries_that_cannot_be_studied_are_refused(study: Any) -> None:
    game, entries = battle()
    with pytest.raises(UsageError, match="equilibria"):
        study(game, [])
    with pytest.raises(UsageError, match="differ"):
        study(game, [entries[0], entries[0]])
    with pytest.raises(UsageError, match="--limit"):
        study(game, entries, limit=8)
    with pytest.raises(ProfileError, match="frequencies"):
        study(game, [("kuhn", kuhn2_member(Fraction(0)))])


def test_exact_study_refuses_what_is_not_exact() -> None:
    game, entries = battle()
    rounded = with_payoffs(game, game.tree.payoffs.table * 0.1)
    with pytest.raises(UsageError, match="exact"):
        Crossplay(rounded, entries, exact=True)
    thirds = BehaviorProfile.of(game.tree, [0.1, 0.9, 0.7, 0.3])
    with pytest.raises(ProfileError, match="not exactly 1"):
        Crossplay(game, [("A", thirds)], exact=True)


def test_selection_keeps_what_was_found_once_beside_what_was_found_often() -> None:
    profile = kuhn2_member(Fraction(0))
    names = ["common", "common", "common", "rare", "common"]
    found = [Found(f"{k}", profile, {"name": name}) for k, name in enumerate(names)]
    assert [item.source for item in selection(found, 3)] == ["0", "1", "3"]
    assert selection(found, 9) == found


def test_copies_are_told_by_plans_not_by_behavior_that_never_shows() -> None:
    """Card 3 of Kuhn poker bet with certainty: what it would do after a check is no difference."""
    game, first = eqbench.load_game("kuhn2"), kuhn2_member(Fraction(1, 3))
    unseen = kuhn2_member(Fraction(1, 3), king=Fraction(0))
    found = [
        Found("first", first),
        Found("unseen", unseen),
        Found("near", moved(first, Fraction(1, 10**7))),
        Found("far", moved(first, Fraction(1, 10**5))),
    ]
    for exact, different in ((False, ["first", "far"]), (True, ["first", "near", "far"])):
        kept, copies = without_copies(game, found, exact=exact)
        assert [item.source for item in kept] == different
        assert all(kept.source == "first" for _, kept in copies)
        assert len(kept) + len(copies) == len(found)


def moved(profile: BehaviorProfile, distance: Fraction) -> BehaviorProfile:
    """The first two frequencies, of one information set, changed by so much."""
    more, less, *rest = profile.exact or ()
    tree = eqbench.load_game("kuhn2").tree
    return BehaviorProfile.of_exact(tree, [more + distance, less - distance, *rest])


def test_shares_count_strategies_that_are_rounded_differently_once() -> None:
    """Entries B and C hold strategies of A, up to 1e-7; player 2 of kuhn2 has only one."""
    game, first = eqbench.load_game("kuhn2"), kuhn2_member(Fraction(1, 5))
    other = kuhn2_member(Fraction(1, 3))
    entries = [("A", first), ("B", moved(first, Fraction(1, 10**7))), ("C", other)]
    document = document_of(Crossplay(game, entries), entries)
    combinations = {"strategies": [2, 1], "count": 2, "equilibria": 2, "share": 1.0}
    assert document["combinations"] == combinations
    exactly = Crossplay(game, entries, exact=True)
    assert (exactly.n_strategies, exactly.n_equilibria) == ((3, 1), 2)


def test_many_entries_with_few_strategies_are_counted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crossplay_measure, "MOST_VERIFIED", 2)
    game, first = eqbench.load_game("kuhn2"), kuhn2_member(Fraction(1, 5))
    again = moved(first, Fraction(1, 10**7))
    result = Crossplay(game, [("A", first), ("B", again), ("C", kuhn2_member(Fraction(1, 3)))])
    assert result.regrets is None
    assert (result.n_strategies, result.n_equilibria) == ((2, 1), 2)


def test_summary_holds_floats_and_the_same_as_fractions() -> None:
    game, entries = battle()
    found = found_of(entries)
    copies = [(Found("copy", found[0].profile), found[1])]
    document = to_builtins(summary(Crossplay(game, entries, exact=True), found, copies, LeftOut()))
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["copies"] == [{"source": "copy", "same_as": "second"}]
    assert document["entries"][2] == {
        "label": "mixed",
        "source": "mixed",
        "identity": None,
        "payoffs": [2 / 3, 2 / 3],
        "max_regret": 0,
    }
    worst = document["worst_cases"][0]["others_agree"]
    assert worst["payoffs"] == [0, 0, 1 / 3]
    assert worst["entries"][0] == ["first", "second"]
    assert worst["best"] == ["mixed"]
    exact = document["exact"]
    assert exact["worst_cases"][0]["others_agree"]["payoffs"] == ["0", "0", "1/3"]
    assert exact["own"][2]["payoffs"] == ["2/3", "2/3"]
    assert document["interchange"][1]["equilibrium"][0] == [True, False, False]
    # who goes to the first place finds the other at both equally often, who would rather go there
    off = [("off", BehaviorProfile.of_exact(game.tree, [1, 0, 0.5, 0.5])), *entries]
    plain = document_of(Crossplay(game, off), off)
    assert "exact" not in plain
    assert plain["own"][0]["regrets"] == [0, 0.5]
    assert plain["entries"][0]["max_regret"] == 0.5


def test_csv_has_every_combination() -> None:
    game, entries = battle()
    result = Crossplay(game, entries, exact=True)
    rows = list(csv.DictReader(io.StringIO(combinations_csv(result))))
    assert len(rows) == 9
    (mixed,) = [r for r in rows if (r["entry_P1"], r["entry_P2"]) == ("first", "mixed")]
    assert (mixed["payoff_P1"], mixed["payoff_P2"]) == ("2/3", "1/3")
    # P2 answers the first place by going there, and gains 2/3
    assert (mixed["regret_P1"], mixed["regret_P2"], mixed["max_regret"]) == ("0", "2/3", "2/3")
    assert [row["equilibrium"] for row in rows].count("True") == 3


def test_matrix_that_is_too_wide_to_read_is_counted() -> None:
    game, entries = battle()
    many = [(f"{label}{k}", profile) for k in range(21) for label, profile in entries]
    report = summary(Crossplay(game, many), found_of(many), [], LeftOut()).tables()
    matrix = next(table for table in report.tables if table.title.startswith("P1 follows"))
    assert (matrix.rows, matrix.lines[0].split()[:3]) == ((), ["1323", "of", "3969"])


TOLERANCE = 1e-6


def run_of(folder: Path, cells: dict[str, list[tuple[str, float]]]) -> StoredRun:
    """A run of kuhn2: per solver the claims and regrets of the candidates of its only cell."""
    game = eqbench.load_game("kuhn2")
    profile = kuhn2_member(Fraction(1, 4)).on(game.tree).to_json()
    (folder / "equilibrium.json").write_text(json.dumps(profile))
    records = [
        CellRecord(
            key=solver,
            **{"game": "kuhn2", "game_spec": game.spec, "solver": solver, "solver_spec": solver},
            seed=None,
            status="ok",
            equilibria=[
                EquilibriumRecord(claim, [], [], regret, regret, profile="equilibrium.json")
                for claim, regret in candidates
            ],
        )
        for solver, candidates in cells.items()
    ]
    return StoredRun(folder, {}, tuple(records), outdated=0, notes=())


def taken(folder: Path, cells: dict[str, list[tuple[str, float]]]) -> tuple[list[str], LeftOut]:
    game = eqbench.load_game("kuhn2")
    found, above, same_run = equilibria_of_runs([run_of(folder, cells)], game, TOLERANCE)
    return [item.source for item in found], LeftOut(above_tolerance=above, same_run=same_run)


def test_of_the_last_iterate_and_the_average_of_a_cell_the_better_one_is_taken(
    tmp_path: Path,
) -> None:
    cells = {
        "first": [("iterate", 1e-9), ("average", 1e-8)],
        "second": [("iterate", 1e-8), ("average", 1e-9)],
        "lists": [("equilibrium", 0.0), ("equilibrium", 0.0), ("complete list", 0.0)],
    }
    sources, left_out = taken(tmp_path, cells)
    assert sources == ["first", "second #1", "lists", "lists #1", "lists #2"]
    assert left_out == LeftOut(same_run=2)
    (note,) = left_out.notes()
    assert "2 candidate" in note


def test_candidates_above_the_tolerance_are_counted_with_their_solvers(tmp_path: Path) -> None:
    """The worse one of a cell is no news, whatever its regret."""
    cells = {
        "good": [("iterate", 1e-9), ("average", 1e-2)],
        "bad": [("average", 3e-5), ("iterate", 2e-5)],
        "mixed": [("equilibrium", TOLERANCE), ("equilibrium", 4e-5), ("equilibrium", 5e-5)],
    }
    sources, left_out = taken(tmp_path, cells)
    assert sources == ["good", "mixed"]
    assert left_out.same_run == 2
    assert to_builtins(left_out.above_tolerance) == {
        "candidates": 3,
        "cells": 2,
        "solvers": ["bad", "mixed"],
        "smallest_max_regret": 2e-5,
        "allowed": TOLERANCE,
    }
    assert "2.0e-05" in next(left_out.notes())


def test_run_without_equilibria_is_refused_with_its_smallest_regret(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="regret"):
        taken(tmp_path, {"solver": [("iterate", 2e-5), ("average", 3e-5)]})


@pytest.mark.parametrize(
    ("game", "missing"),
    [("kuhn2", ()), ("kuhn3", ("szafron:0<c11<1/2",)), ("skp(pot=3.35)", ("skp:3",))],
)
def test_published_sets_without_corners_are_named(game: str, missing: tuple[str, ...]) -> None:
    """Szafron et al. 2013, Table 3: c11 (3 + 4 b11) <= 2 - b11; skp:3 is irrational."""
    found, without_corners = corners(eqbench.load_game(game))
    assert found
    assert [item.name for item in without_corners] == list(missing)
    notes = LeftOut(without_corners=without_corners).notes()
    assert all(name in note for name, note in zip(missing, notes, strict=True))


def test_game_whose_sets_have_no_corners_is_not_called_unknown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nothing(game: Any) -> list[Any]:
        return []

    monkeypatch.setattr("eqbench.studies.crossplay.study.known_corners", nothing)
    with pytest.raises(UsageError, match="--known"):
        corners(eqbench.load_game("kuhn2"))
    with pytest.raises(UsageError, match="equilibria"):
        corners(eqbench.load_game("goofspiel"))
