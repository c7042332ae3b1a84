"""`eqbench draw`: a picture of a small game tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from eqbench.cli.options import command
from eqbench.cli.output import deliver, say_note
from eqbench.registry import GameOptions
from eqbench.requests import FILE, GAME, PROFILE, Option, Quiet


@dataclass(frozen=True)
class DrawRequest(GameOptions):
    """Draw the tree of a small game as SVG, with at most 1,500 nodes.

    With a profile, edges are as wide as their frequency, and what is not reached is dotted.
    """

    game: Annotated[str, Option("Game to draw.", GAME, argument=True, named=True)]
    profile: Annotated[
        str | None,
        Option(
            "Also draw how this profile plays: a file in JSON, - for standard input, or RUN/CELL.",
            PROFILE,
        ),
    ] = None
    out: Annotated[
        str | None,
        Option("SVG file to write; - is standard output.", FILE, default="GAME.svg"),
    ] = None
    quiet: Quiet = False


@command(DrawRequest)
def draw(request: DrawRequest) -> None:
    from eqbench.model.profile_json import profile_from_json
    from eqbench.report.tree_drawing import draw_tree
    from eqbench.store.run_folder import file_name, game_slug
    from eqbench.store.stored_games import game_of_runs
    from eqbench.store.stored_profiles import named_profile

    data, run = named_profile(request.profile) if request.profile else (None, None)
    runs = [run] if run else []
    game = game_of_runs(runs, request.game, request.registry(), say_note, request.max_nodes)
    played = profile_from_json(game.tree, data) if request.profile else None
    picture = draw_tree(game.tree, game.spec, played)
    deliver(picture, request.out or f"{file_name(game_slug(request.game))}.svg")
