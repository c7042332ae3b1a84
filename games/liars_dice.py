"""Liar's dice, with the rules of OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453).

Everybody rolls some dice in secret. In turn the players claim how many dice of all players
show a face, each more than the one before, or call the last claim a lie. The highest face is
wild: it counts for every other face as well. If the claim holds, the claimant wins 1 from the
caller, otherwise the caller from the claimant; other players get nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import SpecError
from eqbench.model.dealt import DealtLayout, DealtRules, Hands, Turn, public_tree
from eqbench.model.tree import GameTree, Payoffs
from eqbench.model.words import Wording

LARGEST = 100
LIAR = "liar"


@dataclass(frozen=True)
class LiarsDice:
    """Liar's dice; information sets ``"<roll>:<claims>"``, claims such as ``2x5``.

    ``2x5`` says that there are at least two fives. Claims rise by number, then by face, and
    are separated by commas, as in ``"5:1x2,1x5"``; so are the dice of a roll, sorted, as in
    ``"2,5:"``. The roll is one chance move for all players.

    Parameters
    ----------
    dice : number of dice of each player, 1 to 100
    sides : number of faces, 2 to 100; the highest is wild
    players : 2 to 6
    """

    dice: int = 1
    sides: int = 6
    players: int = 2

    def __post_init__(self) -> None:
        for name, least, most in (("dice", 1, LARGEST), ("sides", 2, LARGEST), ("players", 2, 6)):
            value = getattr(self, name)
            if not least <= value <= most:
                raise SpecError(f"{name}={value}; allowed are {least} to {most}")

    @property
    def wording(self) -> Wording:
        """What labels mean: a roll, then claims one after the other."""
        key = "2,5 after 1x2: dice that show 2 and 5, after the claim that one of all shows 2."
        return Wording(separator=",", verbs={LIAR: "calls the claim a lie"}, key=key)

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        rolls = math.comb(self.sides + self.dice - 1, self.dice)
        claims = self.players * self.dice * self.sides
        # Claims rise, so a history is a set of claims; all but the empty one may be called.
        return 1 + rolls**self.players * (2 * 2**claims - 1)

    def build(self) -> GameTree:
        """Game tree; rolls are unordered, with their exact probabilities."""
        rolls = list(combinations_with_replacement(range(1, self.sides + 1), self.dice))
        hands = Hands(
            tuple(",".join(map(str, roll)) for roll in rolls),
            np.zeros((len(rolls), 0), dtype=np.int64),  # rolls do not exclude each other
            np.array([[_orders(roll) for roll in rolls]] * self.players),
        )
        public = public_tree(
            DealtRules(
                hands,
                self._turns(),
                lambda history, move: f"{history},{move}" if history else move,
            )
        )

        def paid(nodes: NDArray, cards: NDArray) -> tuple[NDArray]:
            showing = self._showing(np.array(rolls))[cards - 1].sum(axis=1)
            histories = (public.histories[v] for v in nodes.tolist())
            return (np.stack([self._payoffs(each, showing) for each in histories], axis=1),)

        return DealtLayout(public, paid).build(Payoffs)

    def _turns(self) -> Callable[[str], Turn | None]:
        numbers = range(1, self.players * self.dice + 1)
        claims = tuple(f"{n}x{face}" for n in numbers for face in range(1, self.sides + 1))
        higher = {claim: (*claims[k + 1 :], LIAR) for k, claim in enumerate(claims)}

        def turn(history: str) -> Turn | None:
            moves = history.split(",") if history else []
            if moves and moves[-1] == LIAR:
                return None
            return len(moves) % self.players, higher[moves[-1]] if moves else claims

        return turn

    def _showing(self, rolls: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many dice of each roll count for each face, int64 (R, sides)."""
        faces = np.arange(1, self.sides + 1)
        shown = (rolls[:, :, None] == faces) | (rolls == self.sides)[:, :, None]
        return shown.sum(axis=1)

    def _payoffs(self, history: str, showing: NDArray[np.int64]) -> NDArray[np.int64]:
        """Payoffs after a call in every deal, int64 (D, N)."""
        *moves, claim, _ = history.split(",")
        number, face = map(int, claim.split("x"))
        claimant, caller = len(moves) % self.players, (len(moves) + 1) % self.players
        payoffs = np.zeros((len(showing), self.players), dtype=np.int64)
        payoffs[:, claimant] = np.where(showing[:, face - 1] >= number, 1, -1)
        payoffs[:, caller] = -payoffs[:, claimant]
        return payoffs


def _orders(roll: tuple[int, ...]) -> int:
    """In how many orders the dice of a roll can fall."""
    same = Counter(roll).values()
    return math.factorial(len(roll)) // math.prod(map(math.factorial, same))
