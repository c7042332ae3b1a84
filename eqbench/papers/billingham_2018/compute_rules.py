"""The game itself: outcomes, linearity, deals, and which actions are dominated."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

from eqbench.equilibria.kuhn_ranges import N_OPENINGS, NODES, KuhnNodes
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.tree import FloatArray, GameTree
from eqbench.papers.billingham_2018.jobs import SMALL_DECKS, kuhn
from eqbench.registry import load_game

_DECKS, _POTS = (4, 5, 6, 7), (1, 3, 16)
_SEED = 0


def rules(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Facts about the game that no command prints."""
    game = load_game("kuhn(players=3,cards=4)")
    tree = game.tree
    nodes = {(int(p), s.partition(":")[2]) for p, s in _labels(tree)}
    return {
        "nodes": len(nodes),
        "nodes_of_players": [sum(p == player for p, _ in nodes) for player in range(3)],
        "outcomes": tree.n_terminals // int(np.sum(tree.parent == 0)),
        "largest_sum_of_payoffs": float(np.abs(tree.payoffs.table.sum(axis=1)).max()),
        "multilinear": _multilinear(game),
        "deals": [{"cards": cards, **_deals(cards)} for cards in SMALL_DECKS],
        "fixed": [_fixed(cards, pot) for cards in _DECKS for pot in _POTS],
        "second_best": [
            _second_best(node, pot, caught=caught)
            for node in range(3)
            for pot in _POTS
            for caught in (True, False)
        ],
    }


def _labels(tree: GameTree) -> list[tuple[int, str]]:
    return list(zip(tree.infoset_player.tolist(), tree.infoset_labels, strict=True))


def _multilinear(game: Game) -> dict[str, float]:
    """How far payoffs are from linear in each frequency, and unit differences from derivatives."""
    model, choices = game.payoff_model(), Choices.of(game.tree)
    free = np.random.default_rng(_SEED).uniform(size=choices.size)
    bend, error = 0.0, 0.0
    for place, owner in enumerate(game.tree.infoset_player[choices.infoset].tolist()):
        zero, half, one = (
            model.expected_payoffs(choices.behavior(_with(free, place, value)))
            for value in (0.0, 0.5, 1.0)
        )
        bend = max(bend, float(np.abs((zero + one) / 2 - half).max()))
        behavior = choices.behavior(free)
        gain = choices.gains(model.counterfactual_values(behavior))[place]
        before = int(game.tree.infoset_parent[choices.infoset[place]])
        reach = 1.0 if before < 0 else float(behavior[before])
        # the own later play counts too: it is part of the counterfactual value
        error = max(error, abs(float((one - zero)[owner]) - reach * float(gain)))
    return {"bend": bend, "unit_difference_error": error, "frequencies": choices.size}


def _with(free: FloatArray, place: int, value: float) -> FloatArray:
    changed = free.copy()
    changed[place] = value
    return changed


def _deals(cards: int) -> dict[str, float]:
    """Deals in which player 1 has the lowest card, and those of them without the highest one."""
    others = [(a, b) for a, b in product(range(2, cards + 1), repeat=2) if a != b]
    harmless = sum(cards not in pair for pair in others)
    # a bluff wins the pot in these deals and loses a unit in the others
    return {
        "lowest": len(others),
        "without_highest": harmless,
        "even_pot": (len(others) - harmless) / harmless,
    }


def _fixed(cards: int, pot: int) -> dict[str, Any]:
    """Of the actions that section 2 deletes, how many lose or tie at every node, whatever follows.

    The largest payoff after the deleted action is compared with the smallest one after the
    other action, node by node of the information set.
    """
    tree = load_game(f"kuhn(players=3,cards={cards},pot={pot})").tree
    reduced = load_game(kuhn(cards)).tree
    lowest, highest = _payoff_bounds(tree)
    deleted, dominated = 0, 0
    for i, (player, label) in enumerate(_labels(tree)):
        kept = reduced.infoset_actions[reduced.infoset_of(player, label)]
        if len(kept) == 2:
            continue
        deleted += 1
        keep = tree.infoset_actions[i].index(kept[0])
        members = np.flatnonzero(tree.infoset == i)
        children = [
            np.flatnonzero(np.isin(tree.parent, members) & (tree.move == m)) for m in (0, 1)
        ]
        worst = lowest[children[keep], player]
        dominated += bool((worst >= highest[children[1 - keep], player]).all())
    return {"cards": cards, "pot": pot, "deleted": deleted, "dominated": dominated}


def _payoff_bounds(tree: GameTree) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest payoff below each node, float64 (M, N) each."""
    low = np.full((tree.n_nodes, tree.n_players), np.inf)
    high = -low
    low[tree.terminals] = high[tree.terminals] = tree.payoffs.table
    for level in tree.levels[:0:-1]:
        np.minimum.at(low, tree.parent[level], low[level])
        np.maximum.at(high, tree.parent[level], high[level])
    return low, high


def _second_best(node: int, pot: int, *, caught: bool) -> dict[str, Any]:
    """By how much some way to check card 3 of four is at least as good as betting it.

    A mixture of checks with later calls and folds is chosen so that its smallest advantage over
    all pure strategies of the opponents is as large as possible (a linear program); opponents
    use no action that section 2 deletes, and unless `caught` no call with card 2. Where that
    advantage is negative, no check is as good against all of them.
    """
    game = load_game(f"kuhn(players=3,cards=4,pot={pot},reduce=billingham)")
    gains = _advantages(game, node, caught=caught)

    plans, opponents = gains.shape
    answer = linprog(
        np.append(np.zeros(plans), -1.0),
        A_ub=np.column_stack((-gains.T, np.ones(opponents))),
        b_ub=np.zeros(opponents),
        A_eq=[[1.0] * plans + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * plans + [(None, None)],
    )
    assert answer.fun is not None  # bounded: the opponents' choices are finite
    return {"node": node + 1, "pot": pot, "caught": caught, "advantage": -float(answer.fun)}


def _advantages(game: Game, node: int, *, caught: bool) -> FloatArray:
    """Payoff of the ways to check card 3 less that of betting it, (plans, opponents' choices)."""
    tree, choices, nodes = game.tree, Choices.of(game.tree), KuhnNodes.of(game.tree)
    mine = [row for row, entry in enumerate(NODES) if entry.player == node and row > 2]
    calls = [int(nodes.action[row, 2]) for row in mine if node < 2]
    calls = [a for a in calls if a in choices.action]
    bet = int(nodes.action[node, 2])
    theirs = [
        int(nodes.action[row, card])
        for row, entry in enumerate(NODES)
        for card in (0, 1, 3)
        if entry.player != node
        and nodes.action[row, card] in choices.action
        and (caught or row < N_OPENINGS or card != 1)
    ]
    place = {int(action): k for k, action in enumerate(choices.action)}
    model, free = game.payoff_model(), np.zeros(choices.size)
    plans = list(product((0.0, 1.0), repeat=len(calls)))
    table = np.zeros((len(plans), 2 ** len(theirs)))
    own = tree.infoset_of(node, f"3:{NODES[node].history}")
    start = int(tree.action_start[own])
    for column, pure in enumerate(product((0.0, 1.0), repeat=len(theirs))):
        free[[place[a] for a in theirs]] = pure
        for row, plan in enumerate(plans):
            free[[place[a] for a in calls]] = plan
            free[place[bet]] = 0.0
            values = model.counterfactual_values(choices.behavior(free))
            table[row, column] = values[start] - values[bet]
    # chance leads to the card once in four deals
    return 4 * table[:, _distinct(table)]


def _distinct(table: FloatArray) -> Any:
    """Columns of a table without repetitions."""
    return np.unique(np.round(table, 12), axis=1, return_index=True)[1]
