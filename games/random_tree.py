"""Random games in extensive form: chance, imperfect information and perfect recall."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import SpecError
from eqbench.model.assemble import LevelLayout
from eqbench.model.tree import CHANCE, TERMINAL, GameTree, Payoffs

from .strategic import check_at_least, check_players

MAX_DEPTH = 60
LARGEST_PAYOFF = 100


@dataclass(frozen=True)
class RandomTree:
    """Players move in turn, sometimes chance instead; each sees only some moves of the others.

    Every path has `depth` moves, each out of `actions`. A node is a chance node with
    probability `chance`, but the last move of a path is never chance's. Everybody notices who
    moves. Which move it is the mover sees, and each other player with probability
    `information`, drawn for each player and each node. What a player has seen is the label of
    their information set: one sign per move, the number of a move that they saw, ``?`` for
    one that they did not; moves of chance are in parentheses. Since players see their own
    moves and always know whose turn it was, they have perfect recall.

    Payoffs are integers, uniform from -100 to 100 and independent; in a zero-sum game the last
    player gets what is left. A chance node shares out 2 * `actions` equal parts of probability:
    each outcome gets one, and the others fall on outcomes at random.

    Parameters
    ----------
    players : 2 to 20
    depth : number of moves on every path, at least `players`, at most 60
    actions : number of actions, and of outcomes of chance, at every node
    chance : probability that a node is a chance node; below 1
    information : probability that a player sees a move that is not their own
    zero_sum : whether the payoffs sum to zero
    seed : of the random numbers
    """

    players: int = 2
    depth: int = 3
    actions: int = 2
    chance: Fraction = Fraction(1, 4)
    information: Fraction = Fraction(1, 4)
    zero_sum: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_players(self.players)
        check_at_least(2, actions=self.actions)
        check_at_least(0, seed=self.seed)
        if not self.players <= self.depth <= MAX_DEPTH:
            raise SpecError(
                f"depth={self.depth}; allowed are {self.players} (so that everybody has a turn) "
                f"to {MAX_DEPTH} moves"
            )
        if not 0 <= self.chance < 1:
            raise SpecError(f"chance={self.chance} is not a probability below 1")
        if not 0 <= self.information <= 1:
            raise SpecError(f"information={self.information} is not a probability from 0 to 1")

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return (self.actions ** (self.depth + 1) - 1) // (self.actions - 1)

    def build(self) -> GameTree:
        """Game tree with information sets labeled by what their player has seen."""
        return _Growth(self, np.random.default_rng(self.seed)).grown()


class _Growth(LevelLayout):
    """Grows the tree level by level; arrays hold the nodes of the present level.

    Two nodes look the same to a player if they have the same number in that player's row of
    `view`; `seen` has the text behind each number.
    """

    def __init__(self, game: RandomTree, rng: np.random.Generator) -> None:
        super().__init__()
        self.game, self.rng = game, rng
        self.turn = np.zeros(1, dtype=np.int64)  # who moves next, unless chance does
        self.view = np.zeros((game.players, 1), dtype=np.int64)
        self.seen: list[list[str]] = [[""] for _ in range(game.players)]

    def grown(self) -> GameTree:
        """Game tree of the present draws."""
        game, actions = self.game, self.game.actions
        chance, start = np.zeros(1, dtype=np.int64), -1
        for left in range(game.depth, -1, -1):
            # who moves next, unless chance does; the last move of a path is never chance's
            player = self._movers(last=left == 1) if left else np.full(len(chance), TERMINAL)
            child, first = np.arange(len(player)), self.placed
            move = np.where(start < 0, -1, child % actions)
            infoset = self._infosets(player) if left else -1
            self.add(start + child // actions, move, player, infoset, chance)
            if left:
                chance, start = self._chances(player), first
            if left > 1:
                self._observe(player)
        shape = (actions**game.depth, game.players)
        payoffs = self.rng.integers(-LARGEST_PAYOFF, LARGEST_PAYOFF, shape, endpoint=True)
        if game.zero_sum:
            payoffs[:, -1] = -payoffs[:, :-1].sum(axis=1)
        self.pay(payoffs)
        return self.tree(game.players, Payoffs, chance_denominator=2 * actions)

    def _movers(self, *, last: bool) -> NDArray[np.int64]:
        by_chance = self.rng.random(len(self.turn)) < float(self.game.chance)
        return np.where(by_chance & (not last), CHANCE, self.turn)

    def _infosets(self, player: NDArray) -> NDArray[np.int64]:
        """Information set of each node of the level, -1 at chance nodes; adds them."""
        infoset = np.full(len(player), -1, dtype=np.int64)
        actions = tuple(f"a{move + 1}" for move in range(self.game.actions))
        for p in range(self.game.players):
            own = player == p
            views, place = np.unique(self.view[p, own], return_inverse=True)
            infoset[own] = len(self.table.label) + place
            self.table.player.extend([p] * len(views))
            self.table.label.extend(self.seen[p][view] for view in views)
            self.table.actions.extend([actions] * len(views))
        return infoset

    def _chances(self, player: NDArray) -> NDArray[np.int64]:
        """Numerators of the chances that lead to the next level, over 2 * actions."""
        actions = self.game.actions
        chance = np.zeros((len(player), actions), dtype=np.int64)
        by_chance = player == CHANCE
        extra = self.rng.multinomial(actions, [1 / actions] * actions, int(by_chance.sum()))
        chance[by_chance] = 1 + extra
        return chance.reshape(-1)

    def _observe(self, player: NDArray) -> None:
        """Go down one level: who has the next turn, and what everybody saw of the move."""
        game = self.game
        turn = np.where(player == CHANCE, self.turn, (self.turn + 1) % game.players)
        hidden, signs = game.actions, _signs(game.actions)
        move = np.arange(game.actions)
        after = np.empty((game.players, len(player) * game.actions), dtype=np.int64)
        for p in range(game.players):
            sees = (self.rng.random(len(player)) < float(game.information)) | (player == p)
            sign = np.where(sees[:, None], move, hidden)
            sign = sign + (hidden + 1) * (player == CHANCE)[:, None]
            code = self.view[p][:, None] * len(signs) + sign
            codes, after[p] = np.unique(code.reshape(-1), return_inverse=True)
            seen = (divmod(known, len(signs)) for known in codes.tolist())
            self.seen[p] = [self.seen[p][view] + signs[sign] for view, sign in seen]
        self.view = after
        self.turn = np.repeat(turn, game.actions)


def _signs(actions: int) -> list[str]:
    """How a seen or hidden move of a player appears in labels, then one of chance."""
    numbers = [str(move + 1) for move in range(actions)]
    if actions > 9:
        numbers = [f"{number}." for number in numbers]
    return [*numbers, "?", *(f"({number})" for number in numbers), "(?)"]
