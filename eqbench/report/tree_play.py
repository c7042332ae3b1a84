"""What a drawing says about play: frequencies, reach probabilities and expected payoffs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import CHANCE, GameTree

Number = Fraction | float
LONGEST_FRACTION = 9


@dataclass(frozen=True)
class Play:
    """How a game is played, node by node; Fractions where everything needed is exact.

    Attributes
    ----------
    frequency : of the move that leads to each node; None at the root, and after a player's
        move if there is no profile
    reach : probability that each node is reached, and
    expected : expected payoff of each player; both None without a profile
    """

    frequency: list[Number | None]
    reach: list[Number] | None = None
    expected: list[Number] | None = None


def play_of(tree: GameTree, profile: BehaviorProfile | None) -> Play:
    """The chances of a game and, with a profile, what follows from its frequencies."""
    if profile is None:
        return Play([_chance(tree, node) for node in range(tree.n_nodes)])
    frequency = [_frequency(tree, profile, node) for node in range(tree.n_nodes)]
    reach: list[Number] = [Fraction(1)]
    for parent, value in zip(tree.parent[1:].tolist(), frequency[1:], strict=True):
        reach.append(reach[parent] * (1 if value is None else value))
    expected: list[Number] = [Fraction(0)] * tree.n_players
    for node, payoffs in zip(tree.terminals.tolist(), payoff_rows(tree), strict=True):
        for player, payoff in enumerate(payoffs):
            expected[player] += reach[node] * payoff
    return Play(frequency, reach, expected)


def payoff_rows(tree: GameTree) -> list[list[Number]]:
    """Payoffs of all players at each terminal, in the order of the terminals."""
    if not tree.payoffs.exact:
        return tree.payoffs.table.tolist()
    numerators, denominator = tree.payoffs.rational()
    return [[Fraction(value, denominator) for value in row] for row in numerators.tolist()]


def number_text(value: Number) -> str:
    """A fraction if it is one and short, else four significant digits."""
    if isinstance(value, Fraction) and len(str(value)) <= LONGEST_FRACTION:
        return str(value)
    return f"{float(value):.4g}"


def _chance(tree: GameTree, node: int) -> Number | None:
    if node == 0 or tree.player[tree.parent[node]] != CHANCE:
        return None
    value = tree.chance[node].item()
    return Fraction(value, tree.chance_denominator) if isinstance(value, int) else value


def _frequency(tree: GameTree, profile: BehaviorProfile, node: int) -> Number | None:
    action = int(tree.incoming[node])
    if action < 0:
        return _chance(tree, node)
    if profile.exact is not None:
        return profile.exact[action]
    return float(profile.probabilities[action])
