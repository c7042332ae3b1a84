"""`eqbench draw`, `export` and `profile`: a game as a picture, as a file, as a profile to edit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from eqbench.cli.options import command
from eqbench.cli.output import deliver, put, put_json, say, say_note
from eqbench.errors import UsageError
from eqbench.registry import GameOptions
from eqbench.requests import FILE, FLAG, GAME, PROFILE, Json, Option, Quiet


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
        str | None, Option("SVG file to write; - is standard output.", FILE, default="GAME.svg")
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


@dataclass(frozen=True)
class ExportRequest(GameOptions):
    """Write a game in one of Gambit's formats, with exact payoffs and probabilities.

    Any game can be an .efg file; only those in which all players move once and at the same time
    can be an .nfg file.
    """

    game: Annotated[
        str,
        Option("Game to write; a game file here is converted.", GAME, argument=True, named=True),
    ]
    out: Annotated[
        str,
        Option(
            "File to write: .efg for extensive form, .nfg for strategic form.",
            FILE,
            argument=True,
            named=True,
            formerly="to",
        ),
    ]
    force: Annotated[bool, Option("Replace the file if it exists.", FLAG)] = False
    quiet: Quiet = False
    as_json: Json = False


@command(ExportRequest)
def export(request: ExportRequest) -> None:
    from eqbench.model.gambit_text import efg_lines, nfg_lines
    from eqbench.store.run_folder import write_file

    formats = {".efg": efg_lines, ".nfg": nfg_lines}
    path = Path(request.out).expanduser()
    suffix = path.suffix.lower()
    if suffix not in formats:
        raise UsageError(
            f"{request.out} ends in neither .efg (extensive form) nor .nfg (strategic form); "
            "choose one of these"
        )
    _check_free(path, request)
    game = request.load_game(request.game)

    def lines() -> Iterator[bytes]:
        for line in formats[suffix](game.tree, game.spec):
            yield f"{line}\n".encode()
        _check_free(path, request)  # it may have come while the game was built

    try:
        write_file(path, lines())
        size = path.stat().st_size
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}; choose a file in a writable folder"
        ) from None
    nodes = game.tree.n_nodes
    if request.as_json:
        facts = {"game": game.spec, "file": str(path), "nodes": nodes, "bytes": size}
        put_json({"schema": "eqbench.export/1"} | facts)
    else:
        say(f"wrote {path}: {nodes:,} nodes, {size:,} bytes")


def _check_free(path: Path, request: ExportRequest) -> None:
    if path.exists() and not request.force:
        raise UsageError(f"{path} exists; choose another file, or replace it with --force")


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
