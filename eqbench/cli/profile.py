"""`eqbench profile`: a simple profile of a game, to be edited."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated

from eqbench.cli.options import command
from eqbench.cli.output import put
from eqbench.errors import UsageError
from eqbench.registry import GameOptions
from eqbench.requests import FLAG, GAME, Option


@dataclass(frozen=True)
class ProfileRequest(GameOptions):
    """Print a simple profile of a game as JSON, to be edited and verified.

    Each information set has a line with the frequencies of its actions.
    """

    game: Annotated[str, Option("The game.", GAME, argument=True, named=True)]
    uniform: Annotated[
        bool, Option("All actions are equally frequent; this is the default.", FLAG)
    ] = False
    pure: Annotated[
        bool, Option("The first action of each information set is always taken.", FLAG)
    ] = False


@command(ProfileRequest)
def profile(request: ProfileRequest) -> None:
    from fractions import Fraction

    from eqbench.model.profile import BehaviorProfile

    if request.uniform and request.pure:
        raise UsageError("give either --uniform or --pure")
    game = request.load_game(request.game)
    values: list[Fraction] = []
    for count in map(len, game.tree.infoset_actions):
        rest = [Fraction(0)] * (count - 1)
        values += [Fraction(1), *rest] if request.pure else [Fraction(1, count)] * count
    text = json.dumps(BehaviorProfile.of_exact(game, values).to_json(), indent=2)
    put(re.sub(r"\{\n([^{}]*)\n *\}", _on_one_line, text))


def _on_one_line(row: re.Match[str]) -> str:
    """The frequencies of an information set as one line."""
    return f"{{{' '.join(line.strip() for line in row[1].splitlines())}}}"
