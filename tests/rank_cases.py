"""What the tests of the model by sums over ranks share."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

import eqbench
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.rank_sums import RankSums
from eqbench.model.tree import GameTree, Payoffs
from eqbench.verification import verify

REDUCED = [
    *(f"kuhn(players=3,cards={n},pot=16/5,reduce=billingham)" for n in (3, 4, 5, 7)),
    *(f"kuhn(players=3,cards=4,pot=5,reduce=dominated{n})" for n in (21, 22, 25)),
    "skp(pot=107/33)",
]
SPECS = [*(f"kuhn(players=3,cards={n},pot=3)" for n in (3, 4, 5, 7)), *REDUCED]


@cache
def game(spec: str) -> Game:
    """A game, loaded once."""
    return eqbench.load_game(spec)


def ranks(tree: GameTree) -> RankSums:
    """The model of a tree that is such a game."""
    model = RankSums.of(tree)
    assert model is not None
    return model


def distance(first: NDArray, second: NDArray) -> float:
    """Largest difference of two arrays of one shape."""
    assert first.shape == second.shape
    return float(np.abs(first - second).max())


def verified_regrets(tree: GameTree, behavior: NDArray) -> NDArray:
    """Regrets (3,) by the verifier."""
    return np.array(verify(tree, BehaviorProfile.of(tree, behavior)).regrets)


def without_pot(tree: GameTree) -> GameTree:
    """The tree with its present payoffs, which no parameter changes."""
    return replace(tree, payoffs=Payoffs(*tree.payoffs.rational()))
