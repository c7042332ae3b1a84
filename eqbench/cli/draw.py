"""`eqbench draw`: a picture of a small game tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from eqbench.cli.options import command
from eqbench.cli.output import put_page, write_text
from eqbench.requests import FILE, Option, Plugins, Spec


@dataclass(frozen=True)
class DrawRequest:
    """Draw the tree of a small game as SVG, with at most 1,500 nodes.

    With a profile, edges are as wide as their frequency, and what is not reached is dotted.
    """

    game: Annotated[str, Option("Game to draw.", Spec("GAME"), argument=True)]
    profile: Annotated[
        str | None,
        Option("Profile in JSON, or - for standard input: also draw how it plays.", FILE),
    ] = None
    out: Annotated[str | None, Option("SVG file to write; standard output unless given.", FILE)] = (
        None
    )
    plugins: Plugins = ()


@command(DrawRequest)
def draw(request: DrawRequest) -> None:
    from eqbench.model.profile_json import profile_from_json, read_profile
    from eqbench.registry import default_registry
    from eqbench.report.tree_drawing import draw_tree

    game = default_registry().with_plugins(request.plugins).load_game(request.game)
    played = None
    if request.profile is not None:
        played = profile_from_json(game.tree, read_profile(request.profile))
    picture = draw_tree(game.tree, game.spec, played)
    if request.out is None:
        put_page(picture)
    else:
        write_text(Path(request.out), picture)
