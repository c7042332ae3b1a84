"""What is known about the equilibria of a game, for people who ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eqbench.equilibria.corners import corner_parameters
from eqbench.equilibria.expressions import IrrationalError
from eqbench.equilibria.known import known_sets
from eqbench.equilibria.reference import KnownSet
from eqbench.model.game import Game


@dataclass(frozen=True)
class KnownEquilibria:
    """A published set of equilibria as it was written down.

    Attributes
    ----------
    constraints, payoffs : texts in the parameters
    transfer : how much payoff moves between whom within the set; empty if payoffs are fixed, and
        where the corners of the set are not known exactly
    """

    name: str
    source: str
    parameters: tuple[str, ...]
    constraints: tuple[str, ...]
    payoffs: tuple[str, ...]
    transfer: str


def known_equilibria(game: Game) -> list[KnownEquilibria]:
    """The published sets of equilibria of a game, each once; empty if none is known."""
    pieces: dict[str, list[KnownSet]] = {}
    for known in known_sets(game):
        pieces.setdefault(known.name, []).append(known)
    return [
        KnownEquilibria(
            name, of[0].source, of[0].parameters, *of[0].texts, _transfer(game.tree.players, of)
        )
        for name, of in pieces.items()
    ]


def _transfer(players: Sequence[str], pieces: Sequence[KnownSet]) -> str:
    try:
        payoffs = [known.payoffs(point) for known in pieces for point in corner_parameters(known)]
    except IrrationalError:
        return ""
    ranges = [max(own) - min(own) for own in zip(*payoffs, strict=True)]
    moving = [p for p, width in enumerate(ranges) if width]
    if len(moving) != 2:
        return ""
    first, second = (players[p] for p in moving)
    staying = ", ".join(players[p] for p in range(len(players)) if p not in moving)
    kept = f"; the payoff of {staying} stays" if staying else ""
    return f"up to {ranges[moving[0]]} between {first} and {second}{kept}"
