"""Deals: what chance hands out privately before the players move."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import GameFormatError

MAX_DEALS = 2_000_000


@dataclass(frozen=True, eq=False)
class Deals:
    """All ways in which the play can begin.

    Attributes
    ----------
    cards : int64 (D, N)
        The card of each player in every deal, rows in lexicographic order. Cards are 1..C.
    weights : int64 (D,)
        Positive and proportional to the probabilities of the deals.
    one_by_one : bool
        Whether there is a chance node for the card of every player, instead of one for all.
    """

    cards: NDArray[np.int64]
    weights: NDArray[np.int64]
    one_by_one: bool = False


@dataclass(frozen=True, eq=False)
class DealtLevel:
    """The K nodes at one depth of the dealing.

    Attributes
    ----------
    parent, move : int64 (K,)
        Position of the parent in the level above, and of the node among its siblings; -1 at
        the root.
    chance : int64 (K,)
        Numerator of the probability of the move, over the denominator of the dealing.
    """

    parent: NDArray[np.int64]
    move: NDArray[np.int64]
    chance: NDArray[np.int64]


def all_deals(cards: int, players: int, *, one_by_one: bool = False) -> Deals:
    """All ways to deal one of the cards 1..C to each player, equally likely.

    Raises
    ------
    GameFormatError
        If there are more than two million; this is known before any is listed.
    """
    count = math.perm(cards, players)
    _check(count, f"{cards} cards for {players} players")
    deals = itertools.chain.from_iterable(itertools.permutations(range(1, cards + 1), players))
    flat = np.fromiter(deals, dtype=np.int64, count=count * players)
    return Deals(flat.reshape(count, players), np.ones(count, dtype=np.int64), one_by_one)


def independent_deals(weights: Sequence[int], players: int) -> Deals:
    """All ways in which each player draws one of the cards 1..C, independently of the others.

    Parameters
    ----------
    weights : sequence of C ints
        Positive and proportional to the probabilities of the cards.

    Raises
    ------
    GameFormatError
        If there are more than two million.
    """
    _check(len(weights) ** players, f"{len(weights)} cards for each of {players} players")
    cards = np.indices((len(weights),) * players).reshape(players, -1).T
    return Deals(cards + 1, np.asarray(weights, dtype=np.int64)[cards].prod(axis=1))


def dealing(deals: Deals) -> tuple[list[DealtLevel], int]:
    """Levels from the root down to one node per deal, and the denominator of chance."""
    cards, players = deals.cards, deals.cards.shape[1]
    above, whole = np.zeros(len(cards), dtype=np.int64), deals.weights.sum(keepdims=True)
    found: list[tuple[NDArray, NDArray, NDArray]] = []
    for dealt in range(1, players + 1) if deals.one_by_one else [players]:
        begins = np.ones(len(cards), dtype=bool)
        begins[1:] = np.any(np.diff(cards[:, :dealt], axis=0), axis=1)
        first = np.flatnonzero(begins)
        weight, parent = np.add.reduceat(deals.weights, first), above[first]
        common = np.gcd(weight, whole[parent])
        found.append((parent, weight // common, whole[parent] // common))
        above, whole = np.cumsum(begins) - 1, weight
    denominator = math.lcm(*(total for _, _, totals in found for total in set(totals.tolist())))
    root = DealtLevel(np.array([-1]), np.array([-1]), np.array([0]))
    levels = [
        DealtLevel(
            parent,
            np.arange(len(parent)) - np.searchsorted(parent, parent),
            share * (denominator // total),
        )
        for parent, share, total in found
    ]
    return [root, *levels], denominator


def _check(count: int, what: str) -> None:
    if count > MAX_DEALS:
        raise GameFormatError(
            f"{what} are {count:,} deals; at most {MAX_DEALS:,} can be built, so choose fewer "
            "cards or players"
        )
