"""What is known about the equilibria of a game, for people who ask."""

from __future__ import annotations

import re
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
    constants : values of names in the expressions, such as P for the pot
    parameters : each with its place ``PLAYER|INFOSET|ACTION`` or the expression that it is
    frequencies : the others, but for those that are always 0 or 1, with places and expressions
    figures : further quantities that members are named by
    constraints : beside that all parameters lie in [0, 1]
    transfer : how much payoff moves between whom within the set; empty if payoffs are fixed, and
        where the corners of the set are not known exactly
    """

    name: str
    source: str
    constants: dict[str, str]
    parameters: dict[str, str]
    frequencies: dict[str, tuple[str, str]]
    figures: dict[str, str]
    constraints: tuple[str, ...]
    payoffs: tuple[str, ...]
    transfer: str


def known_equilibria(game: Game) -> list[KnownEquilibria]:
    """The published sets of equilibria of a game, each once; empty if none is known."""
    pieces: dict[str, list[KnownSet]] = {}
    for known in known_sets(game):
        pieces.setdefault(known.name, []).append(known)
    return [_described(game, of) for of in pieces.values()]


def meanings(known: KnownSet) -> dict[str, str]:
    """Meanings of the symbols in the name of a set and in the names of its members."""
    layout, texts = known.layout, known.texts
    words = {
        name: "how often {} plays {} at the information set {}".format(*_place(place))
        for name, place in zip(layout.variables, layout.places, strict=True)
    }
    found = re.findall(r"[a-z]\w*", known.name.partition(":")[2])
    symbols = {name: words[name] for name in found if name in words}
    if (leading := known.leading) is not None:
        text = texts.figures.get(leading, leading)
        meaning = words.get(texts.readings.get(text, text), text)
        symbols[leading] = meaning if text == leading else f"{text}: {meaning}"
    return symbols


def _place(place: str) -> tuple[str, str, str]:
    """Player, action and information set of a place."""
    player, infoset, action = place.split("|")
    return player, action, infoset


def _described(game: Game, pieces: Sequence[KnownSet]) -> KnownEquilibria:
    known = pieces[0]
    texts, parameters = known.texts, known.parameters
    places = dict(zip(known.layout.variables, known.layout.places, strict=True))
    return KnownEquilibria(
        name=known.name,
        source=known.source,
        constants={name: str(value) for name, value in texts.constants.items()},
        parameters={
            name: places.get(texts.readings[name], texts.readings[name]) for name in parameters
        },
        frequencies={
            name: (places[name], text)
            for name, text in texts.values.items()
            if name not in parameters and text not in ("0", "1")
        },
        figures={n: text for n, text in texts.figures.items() if n not in {*parameters, *places}},
        constraints=texts.constraints,
        payoffs=texts.payoffs,
        transfer=_transfer(game.tree.players, pieces),
    )


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
