"""What kind of game it is: sums of payoffs, symmetry, information, numbers of strategies."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eqbench.model.dealt_form import DealtForm
from eqbench.model.game import Game
from eqbench.model.sequence_form import SequenceForm
from eqbench.model.size_limit import HAND_S, PRODUCT_BYTES
from eqbench.model.tree import CHANCE, GameTree

Symmetry = Literal["yes", "with actions renamed", "no", "not decided"]

ROUNDING = 1e-12  # sums whose range is below this, relative to the largest payoff, are constant
MOST_MATCHINGS = 2_000  # of actions of all players, when players trade places


def kind_of_game(game: Game) -> dict[str, Any]:
    """Constant sum (None if it varies), symmetry, information, recall."""
    tree, total = game.tree, constant_sum(game)
    if total is not None and abs(total) <= ROUNDING * tree.largest_payoff:
        total = 0.0
    return {
        "constant sum": total,
        "symmetric": symmetry(game) if game.product is None else "not decided",
        "perfect information": game.product is None
        and int((tree.player >= 0).sum()) == tree.n_infosets,
        "perfect recall": True,  # trees without it are refused
    }


def sizes(game: Game) -> dict[str, Any]:
    """Sizes of a game by their names; what there is for each player is a list."""
    tree = game.tree
    if game.product is not None:
        return _product_sizes(game.product, tree)
    form = game.sequence_form
    return {
        "players": tree.n_players,
        "nodes": tree.n_nodes,
        "chance nodes": int((tree.player == CHANCE).sum()),
        "decision nodes": int((tree.player >= 0).sum()),
        "terminals": tree.n_terminals,
        "depth": len(tree.levels) - 1,
        "information sets": tree.n_infosets,
        "free frequencies": tree.n_actions - tree.n_infosets,
        "sequences": np.bincount(form.sequence_player, minlength=tree.n_players).tolist(),
        "pure strategies": [
            math.prod(len(tree.infoset_actions[i]) for i in tree.infosets_of(player))
            for player in range(tree.n_players)
        ],
        "reduced strategies": [*form.strategy_counts],
        "payoff range": tree.payoff_range,
        "exact": tree.exact,
        "parameter": tree.payoffs.parameter,
    }


def _product_sizes(form: DealtForm, tree: GameTree) -> dict[str, Any]:
    """Sizes of a game whose tree is not built, and by estimate what it takes."""
    count, cards = form.hands.cards.shape
    iteration_s = len(form.terminal) * count * form.n_players * HAND_S[cards > 1]
    return {
        "players": tree.n_players,
        "public nodes": len(form.parent),
        "hands": len(form.hands.labels),
        "nodes if it were a tree": tree.n_nodes,
        "terminals": tree.n_terminals,
        "information sets": tree.n_infosets,
        "free frequencies": tree.n_actions - tree.n_infosets,
        "payoff range": tree.payoff_range,
        "exact": tree.exact,
        "parameter": tree.payoffs.parameter,
        "MiB to solve, about": round(len(form.parent) * count * PRODUCT_BYTES / 2**20),
        "ms an iteration of CFR, about": float(f"{1e3 * iteration_s:.1g}"),
    }


def payoff_sums(form: SequenceForm) -> tuple[float, float]:
    """Smallest and largest sum of all players' payoffs over the columns that chance allows."""
    possible = form.chance > 0
    sums = form.payoffs[possible].sum(axis=1) / form.chance[possible]
    return float(sums.min()), float(sums.max())


def constant_sum(game: Game) -> float | None:
    """What the payoffs of all players sum to, None if that varies."""
    if game.product is not None:
        return 0.0  # the pot is what players have paid
    lowest, highest = payoff_sums(game.sequence_form)
    close = highest - lowest <= ROUNDING * game.tree.largest_payoff
    return (lowest + highest) / 2 if close else None


def symmetry(game: Game) -> Symmetry:
    """Whether the game stays the same when players trade places.

    In a symmetric game each player then takes the other's actions in the order in which they
    are listed. With different numbers of strategies players cannot trade places. In between
    actions would have to be matched in all ways, which is tried for small games in strategic
    form only.
    """
    form, scale = game.sequence_form, game.tree.largest_payoff
    counts, neighbors = form.strategy_counts, range(form.n_players - 1)
    if len(set(counts)) > 1:
        return "no"
    if all(_is_same_exchanged(form, player, scale) for player in neighbors):
        return "yes"
    is_strategic = form.n_infosets == form.n_players and len(form.columns) == math.prod(counts)
    if not is_strategic or math.factorial(counts[0]) ** len(counts) > MOST_MATCHINGS:
        return "not decided"
    table = form.payoffs.reshape(*counts, len(counts))
    is_same = all(_is_same_renamed(table, player, scale) for player in neighbors)
    return "with actions renamed" if is_same else "no"


def _is_same_renamed(table: NDArray, player: int, scale: float) -> bool:
    """Whether a strategic form stays the same if two neighbors trade places and actions names."""
    players = table.ndim - 1
    traded = table.swapaxes(player, player + 1)[..., _exchanged(players, player)]
    renamings = product(permutations(range(len(table))), repeat=players)
    return any(
        np.allclose(traded[np.ix_(*names)], table, rtol=0, atol=ROUNDING * scale)
        for names in renamings
    )


def _exchanged(players: int, player: int) -> list[int]:
    """Players in their order, but one and the next one exchanged."""
    order = list(range(players))
    order[player : player + 2] = player + 1, player
    return order


def _is_same_exchanged(form: SequenceForm, player: int, scale: float) -> bool:
    """Whether the form stays the same if this player and the next one trade places."""
    first, second = (np.flatnonzero(form.sequence_player == p) for p in (player, player + 1))
    if not np.array_equal(_places(form, first), _places(form, second)):
        return False
    trade = np.arange(form.n_sequences)
    trade[first], trade[second] = second, first
    order = _exchanged(form.n_players, player)
    columns = trade[form.columns][:, order]
    row = np.lexsort(columns.T[::-1])
    chance = form.chance[:, None]
    payoffs = np.divide(form.payoffs, chance, out=np.zeros_like(form.payoffs), where=chance > 0)
    return (
        np.array_equal(columns[row], form.columns)
        and np.allclose(form.chance[row], form.chance, rtol=ROUNDING, atol=0)
        and np.allclose(payoffs[row][:, order], payoffs, rtol=0, atol=ROUNDING * scale)
    )


def _places(form: SequenceForm, sequences: NDArray) -> NDArray:
    """Parent and information set of a player's sequences, by their places among them."""
    infoset = form.sequence_infoset[sequences[1:]]
    own = np.searchsorted(sequences, form.parent[infoset])
    return np.stack((own, infoset - infoset.min(initial=form.n_infosets)))
