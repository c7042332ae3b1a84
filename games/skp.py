"""Simplified three-player Kuhn poker (SKP) of Billingham 2017: J, Q, K, A are cards 1 to 4."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from eqbench.errors import SpecError
from eqbench.model.tree import GameTree

from .kuhn import LARGEST_POT, build_kuhn, reduced_nodes

J, Q, K, A = 1, 2, 3, 4


@dataclass(frozen=True)
class SimplifiedKuhn:
    """SKP at any pot >= 2, all dominated actions deleted; eleven frequencies remain.

    J is passive. Q may bluff and never calls. K never opens, and calls only if nobody called
    before. A always calls, and player 3 bets it after two checks (Billingham 2017, §2).

    Parameters
    ----------
    pot : sum of the antes; at least 2
    """

    pot: Fraction = Fraction(3)

    def __post_init__(self) -> None:
        if self.pot < 2:
            raise SpecError(f"pot={self.pot} is below 2; nobody bets then, so choose a pot >= 2")
        if self.pot > LARGEST_POT:
            raise SpecError(f"the pot is too large; choose a pot up to {LARGEST_POT:.0e}")

    def expected_nodes(self) -> int:
        """Number of nodes of the tree, known without building it."""
        return reduced_nodes(4, _allowed)

    def build(self) -> GameTree:
        """Game tree labeled as Kuhn poker with three players and four cards."""
        return build_kuhn(3, 4, self.pot, _allowed)


def _allowed(history: str, card: int) -> tuple[str, ...]:
    if "B" not in history:
        if card in (J, K):
            return ("check",)
        return ("bet",) if card == A and history == "KK" else ("check", "bet")
    if card == A:
        return ("call",)
    return ("fold", "call") if card == K and "C" not in history else ("fold",)
