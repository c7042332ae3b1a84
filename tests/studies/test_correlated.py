"""Correlated equilibria by linear programs, against programs over pure strategies."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from helpers.command import accepted, refused
from numpy.typing import NDArray
from scipy.optimize import linprog

import eqbench
from eqbench.errors import ProfileError, UsageError
from eqbench.games.strategic import strategic_form
from eqbench.model.game import Game
from eqbench.model.tree import GameTree
from eqbench.studies.correlated import correlated
from eqbench.verification import verify_plan


def pure_strategies(tree: GameTree, player: int) -> list[NDArray]:
    """Pure strategies of a player, as frequencies (A,) that are 0 elsewhere."""
    own = [range(*tree.action_start[i : i + 2].tolist()) for i in tree.infosets_of(player)]
    rows = []
    for chosen in product(*own):
        rows.append(np.zeros(tree.n_actions))
        rows[-1][list(chosen)] = 1.0
    return rows


@cache
def pure_payoffs(spec: str) -> NDArray:
    """Payoffs of all pure profiles, (K1, K2, N), walked through the tree one by one."""
    tree = eqbench.load_game(spec).tree
    strategies = [pure_strategies(tree, p) for p in range(2)]
    shape = tuple(map(len, strategies))
    table = np.empty((*shape, tree.n_players))
    for place in np.ndindex(shape):
        profile = sum(strategies[p][k] for p, k in enumerate(place))
        table[place] = eqbench.verify(tree, eqbench.BehaviorProfile.of(tree, profile)).payoffs
    return table


def left(tree: GameTree, own: NDArray, other: NDArray, infoset: int) -> NDArray:
    """Strategy that is `own` and, at an information set and after it, `other`."""
    mixed = own.copy()
    player = tree.infoset_player[infoset]
    for i in tree.infosets_of(int(player)):
        above = i
        while above != infoset and tree.infoset_parent[above] >= 0:
            above = int(tree.action_infoset[tree.infoset_parent[above]])
        if above == infoset:
            actions = slice(*tree.action_start[i : i + 2].tolist())
            mixed[actions] = other[actions]
    return mixed


def allows(tree: GameTree, own: NDArray, infoset: int) -> bool:
    """Whether a pure strategy plays all that leads to its own information set."""
    above = int(tree.infoset_parent[infoset])
    while above >= 0:
        if not own[above]:
            return False
        above = int(tree.infoset_parent[tree.action_infoset[above]])
    return True


def by_pure_strategies(game: Game, kind: str) -> float:
    """Largest sum of payoffs: a program over pure profiles with every deviation written out."""
    tree = game.tree
    strategies = [pure_strategies(tree, p) for p in range(2)]
    table = pure_payoffs(game.spec)
    index = [{tuple(row): k for k, row in enumerate(rows)} for rows in strategies]
    rows = []
    for p in range(2):
        u = np.moveaxis(table[..., p], p, 0)
        triggers: list = [None]
        if kind != "nfcce":
            triggers = [(i, None) for i in tree.infosets_of(p)]
        if kind == "efce":
            triggers = [(i, a) for i, _ in triggers for a in range(*tree.action_start[i : i + 2])]
        for trigger, (d, other) in product(triggers, enumerate(strategies[p])):
            gain = np.zeros_like(u)
            for k, own in enumerate(strategies[p]):
                if trigger is None:
                    gain[k] = u[d] - u[k]
                elif allows(tree, own, trigger[0]) and (trigger[1] is None or own[trigger[1]]):
                    gain[k] = u[index[p][tuple(left(tree, own, other, trigger[0]))]] - u[k]
            rows.append(np.moveaxis(gain, 0, p).ravel())
    costs = -table.sum(axis=-1).ravel()
    ones = np.ones((1, len(costs)))
    return -float(linprog(costs, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=ones, b_eq=[1]).fun)


@pytest.mark.parametrize("kind", ["nfcce", "efcce", "efce"])
def test_optimum_is_that_of_a_program_over_pure_strategies(kind: str) -> None:
    different = set()
    for seed in range(34):
        game = eqbench.load_game(f"random_tree(chance=0,seed={seed},information=1/2)")
        found = correlated(game, kind)  # type: ignore[arg-type]
        assert found.value == pytest.approx(by_pure_strategies(game, kind), abs=1e-6)
        assert float(sum(found.measured.payoffs)) == pytest.approx(found.value, abs=1e-4)
        assert found.measured.gap <= 1e-6
        different.add(round(found.value, 6))
    assert len(different) > 25


def test_leaving_later_allows_less() -> None:
    values = []
    for kind in ("nfcce", "efcce", "efce"):
        spec = "random_tree(chance=0,depth=4,seed={})"
        values.append([correlated(spec.format(seed), kind).value for seed in range(12)])  # type: ignore[arg-type]
    coarse, later, fine = np.array(values)
    assert (coarse >= later - 1e-6).all()
    assert (later >= fine - 1e-6).all()
    assert (coarse > fine + 1).any()


def chicken() -> Game:
    """Aumann (1974): (6, 6), (2, 7), (7, 2), (0, 0)."""
    payoffs = np.array([[[6, 6], [2, 7]], [[7, 2], [0, 0]]])
    return Game("chicken", strategic_form([["swerve", "dare"]] * 2, payoffs))


def test_chicken_has_the_correlated_equilibrium_of_the_literature() -> None:
    found = correlated(chicken(), "ce")
    # swerve both with 1/2, and either one alone with 1/4
    assert found.measured.payoffs == (Fraction(21, 4), Fraction(21, 4))
    assert set(found.outcomes.values()) == {Fraction(1, 2), Fraction(1, 4)}
    assert found.measured.gap == 0
    assert isinstance(found.measured.gap, Fraction)
    assert correlated(chicken(), "cce").value >= 10.5 - 1e-9
    least = correlated(chicken(), "ce", sense="min").value
    assert least < found.value
    assert correlated(chicken(), "ce", of="P1").measured.payoffs[0] == 7


def test_matching_pennies_leaves_nothing_to_correlate() -> None:
    for kind in ("cce", "ce"):
        for of in ("P1", "P2"):
            assert correlated("matching_pennies", kind, of).measured.payoffs == (0, 0)  # type: ignore[arg-type]


def test_three_players_may_coordinate() -> None:
    found = correlated("jordan", "ce")
    assert found.measured.gap == 0
    assert sum(found.measured.payoffs) == 1


@pytest.mark.parametrize(
    ("game", "kind", "word"),
    [
        ("kuhn2", "nfcce", "chance"),
        ("random_tree(players=3,chance=0,depth=4)", "efce", "3 players"),
        ("random_tree(chance=0)", "ce", "every player moves once"),
        ("random_tree(chance=0,depth=12,information=1)", "efce", "20,000"),
        ("matching_pennies", "nash", "choose"),
    ],
)
def test_what_has_no_small_program_is_refused(game: str, kind: str, word: str) -> None:
    with pytest.raises(UsageError, match=word):
        correlated(game, kind)  # type: ignore[arg-type]


def test_pairs_of_players_who_never_all_meet_are_refused(tmp_path: Path) -> None:
    ends = iter(range(1, 13))
    lines = ['EFG 2 R "" { "A" "B" "C" "D" }', 'p "" 1 1 "" { "x" "y" "z" } 0']
    for one, two in ((2, 3), (3, 4), (2, 4)):
        lines.append(f'p "" {one} {one} "" {{ "0" "1" }} 0')
        for same in ((1, 0), (0, 1)):
            lines.append(f'p "" {two} {two} "" {{ "0" "1" }} 0')
            lines += [f't "" {next(ends)} "" {{ {x}, 0, 0, 0 }}' for x in same]
    file = tmp_path / "pairs.efg"
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(UsageError, match="4 players"):  # no three coins differ pair by pair
        correlated(str(file), "nfcce", "A", "min")


def test_many_players_are_refused_before_their_plans_are_made(tmp_path: Path) -> None:
    names = " ".join(f'"P{p}"' for p in range(30))
    moves = "".join(f'p "" {p} {p} "" {{ "a" }} 0\n' for p in range(1, 31))
    file = tmp_path / "many.efg"
    file.write_text(f'EFG 2 R "" {{ {names} }}\n{moves}t "" 1 "" {{ {", ".join("0" * 30)} }}\n')
    with pytest.raises(UsageError, match="20,000"):
        correlated(str(file))


def test_a_program_that_takes_longer_than_allowed_is_refused() -> None:
    assert correlated(chicken(), timeout_s=60).measured.gap == 0
    with pytest.raises(UsageError, match="1e-09 s"):
        correlated("random(players=2,actions=6,seed=1)", "efce", timeout_s=1e-9)


def test_verifier_refuses_what_is_no_plan_and_measures_what_is_no_equilibrium() -> None:
    tree = chicken().tree
    both_dare = {
        key: Fraction(all(s in (p, 3 + 2 * p) for p, s in enumerate(key)))
        for key in product((0, 2, 3), (1, 4, 5))
    }
    measured = verify_plan(tree, "efce", both_dare)
    assert measured.payoffs == (0, 0)
    assert measured.gap == 4  # each gains 2 by swerving
    for wrong in ({(3, 5): Fraction(1, 2)}, {(3, 1): Fraction(0)}, {(9, 9): Fraction(0)}):
        with pytest.raises(ProfileError, match="no correlation plan"):
            verify_plan(tree, "efce", both_dare | wrong)
    with pytest.raises(ProfileError, match="no correlation plan"):
        verify_plan(tree, "efce", both_dare | {(2, 4): Fraction(-1), (2, 5): Fraction(1)})
    assert verify_plan(tree, "efce", {key: float(x) for key, x in both_dare.items()}).gap == 4


def test_command_prints_the_payoffs_in_fractions(tmp_path: Path) -> None:
    words = ("correlated", "battle_of_sexes", "--kind", "ce", "--of", "P1")
    found = json.loads(accepted(*words, "--json", cwd=tmp_path).out)
    assert (found["payoffs"], found["gap"]) == (["2", "1"], "0")
    assert "rational" in accepted(*words, cwd=tmp_path).out
    refused("correlated", "kuhn2", words="chance", cwd=tmp_path)
