"""`eqbench profile`: a simple profile of a game, to be edited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import put
from eqbench.errors import UsageError
from eqbench.requests import FLAG, GAME, MOST_NODES, MaxNodes, Option, Plugins


@dataclass(frozen=True)
class ProfileRequest:
    """Print a simple profile of a game as JSON, to be edited and verified.

    Each information set has a line with the frequencies of its actions.
    """

    examples = (
        "eqbench profile kuhn2 --uniform > mine.json",
        "eqbench profile 'kuhn(players=3, cards=5)' --pure > mine.json",
    )

    game: Annotated[str, Option("The game.", GAME, argument=True, named=True)]
    uniform: Annotated[
        bool, Option("All actions are equally frequent; so it is without --pure.", FLAG)
    ] = False
    pure: Annotated[
        bool, Option("The first action of each information set is always taken.", FLAG)
    ] = False
    max_nodes: MaxNodes = MOST_NODES
    plugins: Plugins = ()


@command(ProfileRequest)
def profile(request: ProfileRequest) -> None:
    from fractions import Fraction

    from eqbench.model.profile import BehaviorProfile
    from eqbench.model.profile_json import profile_to_json
    from eqbench.registry import default_registry

    if request.uniform and request.pure:
        raise UsageError("give either --uniform or --pure")
    registry = default_registry().with_plugins(request.plugins)
    game = registry.load_game(request.game, max_nodes=request.max_nodes)
    values: list[Fraction] = []
    for count in map(len, game.tree.infoset_actions):
        rest = [Fraction(0)] * (count - 1)
        values += [Fraction(1), *rest] if request.pure else [Fraction(1, count)] * count
    chosen = BehaviorProfile.of_exact(game.tree, values)
    put(_by_lines(profile_to_json(game.tree, chosen, game.spec)))


def _by_lines(document: dict[str, Any]) -> str:
    """JSON text of a profile with a line for each information set."""
    import json

    players = []
    for player, sets in document["behavior"].items():
        lines = [f"      {json.dumps(label)}: {json.dumps(row)}" for label, row in sets.items()]
        players.append(f"    {json.dumps(player)}: {{\n" + ",\n".join(lines) + "\n    }")
    behavior = ",\n".join(players)
    return f'{{\n  "game": {json.dumps(document["game"])},\n  "behavior": {{\n{behavior}\n  }}\n}}'
