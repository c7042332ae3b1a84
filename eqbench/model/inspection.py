"""How a profile is played: what it reaches, and what the actions there are worth.

Symbols: M nodes, N players, I information sets, A actions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError, known_labels
from eqbench.model.dealt import Hands
from eqbench.model.dealt_form import DealtForm, UnbuiltTree
from eqbench.model.game import Game
from eqbench.model.realization import RealizationPlan
from eqbench.model.tree import CHANCE, TERMINAL, FloatArray, GameTree
from eqbench.model.words import Wording


@dataclass(frozen=True, eq=False)
class Inspection:
    """Reach and action values of a profile.

    Attributes
    ----------
    reach : float64 (I,)
        Probability that play reaches each information set: chance and all players.
    own_reach : float64 (I,)
        The owner's part of it, as if everybody else played to get there.
    counterfactual_reach : float64 (I,)
        The part of chance and the other players, as if the owner played to get there.
    gaps : float64 (A,)
        Value of the best action at the information set minus that of each action, in payoff
        units, given that the information set is reached when the owner plays to get there
        and plays the profile afterwards; NaN where the counterfactual reach is 0.
    """

    reach: FloatArray
    own_reach: FloatArray
    counterfactual_reach: FloatArray
    gaps: FloatArray


def inspect_profile(game: Game, behavior: NDArray) -> Inspection:
    """Reach and action values of the frequencies `behavior`, float64 (A,)."""
    tree, counterfactual = game.tree, counterfactual_reach(game.tree, behavior)
    values = game.payoff_model().counterfactual_values(behavior)
    form, row = game.plan_form, tree.action_infoset
    weight = np.where(counterfactual > 0, counterfactual, np.nan)[row]
    best = np.maximum.reduceat(values, tree.action_start[:-1]) if tree.n_infosets else values
    return Inspection(
        reach=infoset_reach(tree, behavior),
        own_reach=RealizationPlan.of(form, behavior).weights[form.parent],
        counterfactual_reach=counterfactual,
        gaps=(best[row] - values) / weight,
    )


def infosets_as_played(
    game: Game, behavior: NDArray, most: int | None = None
) -> dict[int, dict[str, Any]]:
    """The `most` reached information sets, or all, by their numbers, as JSON values.

    These are what reaches them, and each action's frequency and gap, which is None where the
    counterfactual reach is 0.
    """
    tree, seen = game.tree, inspect_profile(game, behavior)
    reaches = ("reach", "own_reach", "counterfactual_reach")
    gaps = seen.gaps.astype(object)
    gaps[np.isnan(seen.gaps)] = None
    moves = np.stack([behavior.astype(object), gaps], axis=1)
    # of equal ones the first
    places = np.sort(np.argsort(-seen.reach, kind="stable")[:most])
    return {
        at: {
            "player": tree.players[tree.infoset_player[at]],
            "label": tree.infoset_labels[at],
            **{name: float(getattr(seen, name)[at]) for name in reaches},
            "actions": [
                {"action": action, "frequency": frequency, "gap": gap}
                for action, (frequency, gap) in zip(
                    tree.infoset_actions[at], moves[tree.action_start[at] :], strict=False
                )
            ],
        }
        for at in places.tolist()
    }


def infoset_reach(tree: GameTree, behavior: NDArray, but: int = -1) -> FloatArray:
    """Reach of all information sets, where the moves of player `but` count as certain; (I,)."""
    if isinstance(tree, UnbuiltTree):
        return _reach_by_products(tree.form, behavior, but)
    reach = tree.chance_probability.copy()
    made = tree.incoming >= 0
    if but >= 0:
        made &= tree.player[tree.parent] != but
    reach[made] = behavior[tree.incoming[made]]
    reach, inside = tree.along_paths(reach), tree.infoset >= 0
    return np.bincount(tree.infoset[inside], reach[inside], tree.n_infosets).astype(np.float64)


def _reach_by_products(form: DealtForm, behavior: NDArray, but: int) -> FloatArray:
    """What `infoset_reach` returns, from sums over the hands that the others may have."""
    hands = form.hands
    plans = np.ones((form.n_players, len(form.parent), len(hands.labels)))
    for level in form.levels[1:]:
        above, move = form.parent[level], form.move[level]
        plans[:, level] = plans[:, above]
        for p in set(form.player[above].tolist()) - {CHANCE, but}:
            made = np.flatnonzero(form.player[above] == p)
            node, place = above[made], form.place[form.board[above[made]], p]
            action = form.action_start[form.first_infoset[node][:, None] + np.maximum(place, 0)]
            frequency = behavior[action + move[made][:, None]]
            plans[p, level.start + made] *= np.where(place >= 0, frequency, 1.0)
    reach = np.zeros(form.n_infosets)
    for p in range(form.n_players):
        nodes = np.flatnonzero(form.player == p)
        board = form.board[nodes]
        likely = plans[:, nodes] * hands.weights[:, None] * form.possible[board]
        found = likely[p] * _together(hands, np.delete(likely, p, axis=0))
        found /= float(form.deal_weight) * form.chance[nodes, None]
        # information sets of a player stand node by node in another order of nodes
        place = form.place[board, p]
        at = form.first_infoset[nodes][:, None] + place
        reach[at[place >= 0]] = found[place >= 0]
    return reach


def _together(hands: Hands, likely: NDArray) -> NDArray:
    """Sum over hands of others that go with each hand of products of `likely`, (K, V, H) to (V, H).

    Nothing is subtracted, so what is impossible is exactly 0.
    """
    if hands.cards.shape[1] == 0:
        return likely.sum(axis=2).prod(axis=0)[:, None]
    if len(np.unique(hands.cards)) < hands.cards.size:
        (other,) = likely  # there are two players only
        return other @ (~hands.conflicts).astype(np.float64)
    # each has a card of its own: some others have cards before it, the rest those after it
    before, after = _seated(likely), _seated(likely[..., ::-1])[..., ::-1]
    return np.asarray((before * after[::-1]).sum(axis=0))


def _seated(likely: NDArray) -> NDArray:
    """Sums over ways to give cards before each one to the players in a set, (2^K, V, H)."""
    sums = np.zeros((1 << len(likely), *likely.shape[1:]))
    sums[0] = 1.0
    for having in range(1, len(sums)):
        added = sum(
            each * sums[having ^ 1 << k] for k, each in enumerate(likely) if having >> k & 1
        )
        sums[having, :, 1:] = np.cumsum(added, axis=1)[:, :-1]
    return sums


def counterfactual_reach(tree: GameTree, behavior: NDArray) -> FloatArray:
    """Reach of each information set where its owner's moves count as certain, (I,)."""
    reach = [infoset_reach(tree, behavior, player) for player in range(tree.n_players)]
    return np.array(reach)[tree.infoset_player, np.arange(tree.n_infosets)]


def payoff_bounds(tree: GameTree) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest payoffs of each player that can follow on each node, (M, N) each."""
    low = np.full((tree.n_nodes, tree.n_players), np.inf)
    high = -low
    low[tree.terminals] = high[tree.terminals] = tree.payoffs.table
    for level in tree.levels[:0:-1]:
        np.minimum.at(low, tree.parent[level], low[level])
        np.maximum.at(high, tree.parent[level], high[level])
    return low, high


def moves_to(tree: GameTree, node: int) -> list[tuple[int, int]]:
    """Information sets and moves of the players on the way to a node, from the root on."""
    found = []
    while node > 0:
        parent = int(tree.parent[node])
        if tree.infoset[parent] >= 0:
            found.append((int(tree.infoset[parent]), int(tree.move[node])))
        node = parent
    return found[::-1]


def on_the_way(tree: GameTree, ends: NDArray) -> NDArray[np.bool_]:
    """Nodes, bool (M,), that are some of `ends` (numbers of nodes) or on the way there."""
    passed = np.zeros(tree.n_nodes, dtype=bool)
    passed[ends] = True
    for level in reversed(tree.levels[1:]):
        passed[tree.parent[level][passed[level]]] = True
    return passed


@dataclass(frozen=True, eq=False)
class Excerpt:
    """A node of a tree with what follows it, perhaps only down to some depth.

    Attributes
    ----------
    tree : GameTree
        The excerpt as a tree; where moves are left out there are terminals with payoffs of 0.
    nodes : int (M',)
        Its nodes by their numbers in the whole tree.
    is_cut : bool (M',)
        Nodes whose moves are left out.
    """

    tree: GameTree
    nodes: NDArray[np.intp]
    is_cut: NDArray[np.bool_]


def excerpt(tree: GameTree, node: int = 0, depth: int | None = None) -> Excerpt:
    """Return what follows a node by at most `depth` moves, or all of it."""
    inside, first = np.zeros(tree.n_nodes, dtype=bool), tree.first_children()
    inside[node] = True
    above = next(k for k, level in enumerate(tree.levels) if node < level.stop)
    for level in tree.levels[above + 1 :][:depth]:
        inside[level] = inside[tree.parent[level]]
    nodes, place = np.flatnonzero(inside), np.cumsum(inside, dtype=np.int32) - np.int32(1)
    ends = tree.player[nodes] == TERMINAL
    is_cut = ~ends & ~inside[np.minimum(first[nodes], tree.n_nodes - 1)]
    row = np.searchsorted(tree.terminals, nodes[ends | is_cut]) % tree.n_terminals
    kept, given = ends[ends | is_cut, None], tree.payoffs
    payoffs = replace(
        given,
        base=given.base[row] * kept,
        slope=None if given.slope is None else given.slope[row] * kept,
    )
    parent, move, chance = place[tree.parent[nodes]], tree.move[nodes], tree.chance[nodes]
    parent[0], move[0], chance[0] = -1, -1, 0
    part = replace(
        tree,
        parent=parent,
        move=move,
        chance=chance,
        payoffs=payoffs,
        player=np.where(is_cut, np.int8(TERMINAL), tree.player[nodes]),
        infoset=np.where(is_cut, np.int32(-1), tree.infoset[nodes]),
        chance_labels={
            int(place[at]): label for at, label in tree.chance_labels.items() if inside[at]
        },
    )
    return Excerpt(part, nodes, is_cut)


def move_name(tree: GameTree, node: int, wording: Wording | None = None) -> str:
    """Label of the move that leads to a node; of chance in words, empty where it has none."""
    above = tree.infoset[tree.parent[node]]
    if above >= 0:
        return tree.infoset_actions[above][tree.move[node]]
    private, label = wording.private if wording else {}, tree.chance_labels.get(node, "")
    return " ".join(private.get(part, part) for part in label.split(" "))


def way_to(tree: GameTree, node: int) -> list[int]:
    """Nodes on the way to a node, and itself, without the root."""
    return [*way_to(tree, int(tree.parent[node])), node] if node > 0 else []


def node_at(tree: GameTree, history: str, wording: Wording | None = None) -> int:
    """Node to which moves lead, with slashes between them: labels, or numbers from 1 on.

    Raises
    ------
    UsageError
        If there is no such move.
    """
    node, first = 0, tree.first_children()
    for word in filter(None, history.split("/")):
        children = range(first[node], first[node + 1])
        known = {str(k): child for k, child in enumerate(children, start=1)}
        for words in (None, wording):
            known |= {name: each for each in children if (name := move_name(tree, each, words))}
        if word not in known:
            what = known_labels(word, known) if known else "the game is over there"
            raise UsageError(f"{history!r}: there is no move {word!r}; {what}")
        node = known[word]
    return node
