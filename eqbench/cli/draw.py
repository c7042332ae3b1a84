"""`eqbench draw`: a picture of a small game tree."""

from __future__ import annotations

from pathlib import Path

import click

from eqbench.cli.options import plugin_option, spec_completion
from eqbench.cli.output import put_page


@click.command()
@click.argument("game", shell_complete=spec_completion("game"))
@click.option(
    "--profile",
    default=None,
    type=click.Path(),
    metavar="FILE",
    help="Profile in JSON, or - for standard input: also draw how it plays.",
)
@click.option(
    "--out",
    default=None,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="SVG file to write; standard output unless given.",
)
@plugin_option
def draw(game: str, profile: str | None, out: str | None, plugins: tuple[str, ...]) -> None:
    """Draw the tree of a small game as SVG, with at most 1,500 nodes.

    With a profile, edges are as wide as their frequency, and what is not reached is dotted.
    """
    from eqbench.errors import UsageError
    from eqbench.model.profile_json import profile_from_json, read_profile
    from eqbench.registry import default_registry
    from eqbench.report.tree_drawing import draw_tree

    loaded = default_registry().with_plugins(plugins).load_game(game)
    played = None
    if profile is not None:
        played = profile_from_json(loaded.tree, read_profile(profile))
    picture = draw_tree(loaded.tree, loaded.spec, played)
    if out is None:
        put_page(picture)
        return
    try:
        Path(out).write_text(picture, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the drawing to {out}: {error.strerror}") from None
