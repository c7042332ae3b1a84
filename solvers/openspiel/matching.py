"""Which of OpenSpiel's information states is which information set, found by playing both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.tree import CHANCE, TERMINAL
from eqbench.spec import OPENSPIEL

from .names import their_game

TOLERANCE = 1e-12


@dataclass(frozen=True)
class Match:
    """A game in OpenSpiel.

    Attributes
    ----------
    game : pyspiel.Game
        In which one player moves at a time.
    texts : list of I str
        Information state strings, the keys of tabular policies.
    actions : list of I lists of int
        OpenSpiel's numbers of the actions, in the order of the tree.
    states : list of I pyspiel.State
        A state in each information set.
    """

    game: Any
    texts: list[str]
    actions: list[list[int]]
    states: list[Any]


@lru_cache(maxsize=1)  # whether a game is supported, its preparation and its solution need it
def match(game: Game) -> Match:
    """How a game is played in OpenSpiel.

    Both trees are walked together, children in the same order. Chance moves that follow each
    other count as one, since cards may be dealt at once or one by one. A game that came from
    OpenSpiel is walked as far as it takes to meet every information set.

    Raises
    ------
    UsageError
        If OpenSpiel does not have the game, or it differs in whatever respect.
    SolverUnavailableError
        If OpenSpiel is not installed.
    """
    theirs = their_game(game.spec)
    tree = game.tree
    if theirs.num_players() != tree.n_players:
        raise _differs(game, f"it has {theirs.num_players()} players")
    walk = _Walk(game, _needed(game))
    for node, state in walk.pairs(theirs.new_initial_state()):
        walk.meet(node, state)
    found = [walk.met[infoset] for infoset in range(tree.n_infosets)]
    texts = [text for text, _, _ in found]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise UsageError(
            f"OpenSpiel calls several information sets of {game.spec} {twice!r}, and its solvers "
            "and policies cannot tell them apart; use other solvers"
        )
    return Match(theirs, texts, [actions for _, actions, _ in found], [s for *_, s in found])


def _needed(game: Game) -> NDArray[np.bool_]:
    """Nodes that have to be walked, bool (M,)."""
    tree = game.tree
    if not game.spec.startswith(OPENSPIEL):
        return np.ones(tree.n_nodes, dtype=bool)
    needed = np.zeros(tree.n_nodes, dtype=bool)
    needed[np.unique(tree.infoset, return_index=True)[1]] = True
    needed[0] = True
    for level in reversed(tree.levels[1:]):
        needed[tree.parent[level][needed[level]]] = True
    return needed


class _Walk:
    """The walk through both trees, and what was met at information sets: text, actions, state."""

    def __init__(self, game: Game, needed: NDArray[np.bool_]) -> None:
        self.game, self.tree, self.needed = game, game.tree, needed
        self.first_child = np.searchsorted(self.tree.parent, np.arange(self.tree.n_nodes + 1))
        self.row = np.cumsum(self.tree.player == TERMINAL) - 1  # of terminals, in the payoffs
        self.tolerance = TOLERANCE * max(1.0, self.tree.payoff_range)
        self.met: dict[int, tuple[str, list[int], Any]] = {}

    def pairs(self, root: Any) -> Iterator[tuple[int, Any]]:
        """Decision nodes with their states; raises where the rest differs."""
        stack = [(0, root)]
        while stack:
            node, state = stack.pop()
            player = self.tree.player[node]
            if player == CHANCE or state.is_chance_node():
                stack += self._outcomes(node, state)
            elif player == TERMINAL or state.is_terminal():
                self._compare_payoffs(node, state)
            else:
                yield node, state
                children = self._children(node)
                actions = state.legal_actions()
                below = zip(children, actions, strict=True)
                stack += [(c, state.child(a)) for c, a in below if self.needed[c]]

    def meet(self, node: int, state: Any) -> None:
        """Note the information set of a decision node, or compare it with what is known."""
        if state.current_player() != self.tree.player[node]:
            raise self._differs(node, "another player moves there")
        infoset, actions = int(self.tree.infoset[node]), state.legal_actions()
        text = state.information_state_string()
        if len(actions) != len(self._children(node)):
            raise self._differs(node, f"there are {len(actions)} actions there")
        if self.met.setdefault(infoset, (text, actions, state))[:2] != (text, actions):
            raise self._differs(node, "the player knows more or less there")

    def _children(self, node: int) -> range:
        return range(self.first_child[node], self.first_child[node + 1])

    def _moves(self, node: int) -> list[tuple[int, float]] | None:
        if self.tree.player[node] != CHANCE:
            return None
        return [(child, self.tree.chance_probability[child]) for child in self._children(node)]

    def _outcomes(self, node: int, state: Any) -> list[tuple[int, Any]]:
        """What a run of chance moves leads to, in both trees."""
        ours, theirs = _after_chance(node, self._moves), _after_chance(state, _their_moves)
        if len(ours) != len(theirs):
            raise self._differs(node, f"chance has {len(theirs)} outcomes there")
        for (mine, _), (their, _) in zip(ours, theirs, strict=True):
            if abs(mine - their) > TOLERANCE:
                raise self._differs(node, "chance has other probabilities there")
        both = zip(ours, theirs, strict=True)
        return [(c, below) for (_, c), (_, below) in both if self.needed[c]]

    def _compare_payoffs(self, node: int, state: Any) -> None:
        if not (state.is_terminal() and self.tree.player[node] == TERMINAL):
            raise self._differs(node, "only one of both games is over there")
        off = np.abs(self.tree.payoffs.table[self.row[node]] - state.returns()).max()
        if off > self.tolerance:
            raise self._differs(node, f"it pays {state.returns()} there")

    def _differs(self, node: int, how: str) -> UsageError:
        return _differs(self.game, f"{how} (node {node})")


def _after_chance(
    place: Any, moves: Callable[[Any], list[tuple[Any, float]] | None], probability: float = 1.0
) -> list[tuple[float, Any]]:
    """Probabilities and places after chance moves that follow each other.

    `moves` gives the places that chance may lead to with their probabilities, None where another
    moves or nobody.
    """
    following = moves(place)
    if following is None:
        return [(probability, place)]
    ends = (_after_chance(below, moves, probability * share) for below, share in following)
    return list(chain.from_iterable(ends))


def _their_moves(state: Any) -> list[tuple[Any, float]] | None:
    if not state.is_chance_node():
        return None
    return [(state.child(outcome), share) for outcome, share in state.chance_outcomes()]


def _differs(game: Game, how: str) -> UsageError:
    return UsageError(
        f"OpenSpiel's game is not {game.spec}: {how}; use one of its own games by "
        "--game openspiel:NAME"
    )
