"""Random games in extensive form: their labels say what players saw, and they recall it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import eqbench
from eqbench.model.tree import CHANCE, TERMINAL, GameTree


def load(**options: object) -> GameTree:
    text = ",".join(f"{name}={str(value).lower()}" for name, value in options.items())
    return eqbench.load_game(f"random_tree({text})").tree


def decisions(tree: GameTree) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Every decision node with the movers and moves that lead to it, from the root on."""
    for node in np.flatnonzero(tree.player >= 0).tolist():
        path: list[tuple[int, int]] = []
        below = node
        while below > 0:
            above = int(tree.parent[below])
            path.append((int(tree.player[above]), int(tree.move[below])))
            below = above
        yield node, path[::-1]


def signs(label: str) -> list[str]:
    """The signs of a label, parentheses and all."""
    found: list[str] = []
    for char in label:
        if found and found[-1].startswith("(") and not found[-1].endswith(")"):
            found[-1] += char
        else:
            found.append(char)
    return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("information", ["0", "1/3", "1"])
def test_label_is_what_the_player_saw(seed: int, information: str) -> None:
    players = 2 + seed % 3
    tree = load(players=players, depth=6, chance="1/3", information=information, seed=seed)
    hidden = shown = 0
    for node, path in decisions(tree):
        player = int(tree.player[node])
        label = signs(tree.infoset_labels[tree.infoset[node]])
        assert len(label) == len(path)
        turn = 0
        for sign, (mover, move) in zip(label, path, strict=True):
            assert sign.startswith("(") == (mover == CHANCE)
            assert mover in (CHANCE, turn)
            turn = (turn + (mover != CHANCE)) % players
            seen = sign.strip("()")
            assert seen in ("?", str(move + 1))
            if mover == player:
                assert seen != "?", "players see their own moves"
            else:
                hidden, shown = hidden + (seen == "?"), shown + (seen != "?")
        assert player == turn
    if information in ("0", "1"):
        assert (shown if information == "0" else hidden) == 0
    else:
        assert 0.2 < shown / (shown + hidden) < 0.5


def test_with_full_information_every_node_is_an_information_set() -> None:
    tree = load(depth=7, information=1, seed=4)
    assert tree.n_infosets == (tree.player >= 0).sum()


def test_without_information_players_know_only_their_own_moves() -> None:
    """P1 moves at depths 0 and 2, P2 at 1 and 3: 1, 1, then 2 and 2 own pasts."""
    tree = load(depth=4, information=0, chance=0)
    assert sorted(tree.infoset_labels) == ["", "1?", "2?", "?", "?1?", "?2?"]


def test_a_seed_stays_the_same_game() -> None:
    tree = load(depth=4, information="1/2", seed=1)
    assert tree.infoset_labels == (
        *("", "12", "2?", "11(1)", "11(2)"),
        *("1", "2", "121", "122", "21?", "221", "222"),
    )


def test_every_path_has_all_moves_and_every_node_all_actions() -> None:
    tree = load(players=3, depth=5, actions=11, seed=2)
    assert len(tree.levels) == 6
    assert (tree.player[: tree.levels[-1].start] != TERMINAL).all()
    assert (np.bincount(tree.parent[1:]) == 11).all()
    assert any("10." in label for label in tree.infoset_labels)


@pytest.mark.parametrize(("chance", "low", "high"), [("0", 0, 0), ("1/4", 0.22, 0.28)])
def test_chance_moves_as_often_as_asked_but_never_last(
    chance: str, low: float, high: float
) -> None:
    tree = load(depth=13, chance=chance, seed=3)
    last = tree.levels[-2].start
    assert low <= (tree.player[:last] == CHANCE).mean() <= high
    assert (tree.player[last : tree.levels[-2].stop] >= 0).all()


def test_payoffs_are_integers_of_the_stated_size() -> None:
    tree = load(players=3, depth=10, seed=1)
    assert tree.payoffs.denominator == 1
    assert (tree.payoffs.base.min(), tree.payoffs.base.max()) == (-100, 100)
    assert (tree.payoffs.base.sum(axis=1) != 0).any()


@pytest.mark.parametrize("players", [2, 4])
def test_payoffs_of_a_zero_sum_game_sum_to_zero(players: int) -> None:
    tree = load(players=players, depth=6, zero_sum=True)
    assert (tree.payoffs.base.sum(axis=1) == 0).all()
    assert np.abs(tree.payoffs.base).min(axis=0).max() < np.abs(tree.payoffs.base).max()
