"""`eqbench export`: a game as a file of Gambit, as a drawing, or as a profile to edit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from eqbench.cli.options import command
from eqbench.cli.output import put, put_page, say, say_note
from eqbench.errors import UsageError
from eqbench.registry import NameOptions
from eqbench.requests import FILE, FLAG, GAME, PROFILE, Integer, Kind, Option

if TYPE_CHECKING:
    from eqbench.model.game import Game

_DRAWN = (".svg", ".tex", ".html")
_FORMATS = {
    ".efg": "Gambit's extensive form",
    ".nfg": "Gambit's strategic form",
    ".svg": "a drawing",
    ".tex": "a drawing for LaTeX",
    ".html": "a tree to click through",
    ".json": "a profile",
}


@dataclass(frozen=True)
class ExportRequest(NameOptions):
    """Write a game, a drawing of it or a profile of it into a file, by the ending of its name.

    With .efg or .nfg it is the game in one of Gambit's formats, with exact payoffs and
    probabilities: any game can be an .efg file; only those in which all players move once and at
    the same time can be an .nfg file. With .json it is a profile, to be edited and verified: that
    of --profile, or uniform behavior. An ending alone, such as .svg, prints the file.

    With .svg and .tex the tree of a small game is drawn, with at most 1,500 nodes; with --profile
    edges are as wide as their frequency, and what is not reached is dotted. A .tex file is a
    picture of TikZ, as large as a page at most. With .html it is a page on which the tree, with at
    most 20,000 nodes, is opened node by node: frequencies, reach, beliefs and gains by deviating.
    --at and --depth choose a part of a tree.
    """

    game: Annotated[
        str,
        Option("Game to write; a game file here is converted.", GAME, argument=True, named=True),
    ]
    out: Annotated[
        str,
        Option(
            "File to write: .efg, .nfg, .json, .svg, .tex or .html.",
            FILE,
            argument=True,
            named=True,
        ),
    ]
    profile: Annotated[
        str | None,
        Option(
            "For .json and trees: a file in JSON, - for standard input, or RUN/CELL.",
            PROFILE,
        ),
    ] = None
    at: Annotated[
        str | None,
        Option(
            "Show what follows these moves, with slashes between them: labels, or numbers from 1.",
            Kind("HISTORY"),
        ),
    ] = None
    depth: Annotated[int | None, Option("Show at most N moves in turn.", Integer(least=1))] = None
    force: Annotated[bool, Option("Replace the file if it exists.", FLAG)] = False


@command(ExportRequest)
def export(request: ExportRequest) -> None:
    from eqbench.store.named import game_of_runs, named_profile
    from eqbench.store.run_folder import write_file

    path = Path(request.out).expanduser()
    is_printed = request.out in _FORMATS
    form = request.out if is_printed else path.suffix.lower()
    if form not in _FORMATS:
        known = ", ".join(f"{ending} ({what})" for ending, what in _FORMATS.items())
        raise UsageError(f"{request.out} has none of the endings {known}; choose one of these")
    if request.profile is not None and form not in (*_DRAWN, ".json"):
        raise UsageError(f"a file {form} holds no profile; leave out --profile, or write .svg")
    if form not in _DRAWN and (request.at, request.depth) != (None, None):
        raise UsageError(f"a file {form} is whole; leave out --at and --depth, or write .svg")
    if not is_printed:
        _check_free(path, request)
    data, run = (None, None) if request.profile is None else named_profile(request.profile)
    game = game_of_runs([run] if run else [], request.game, request.registry(), say_note)
    if run and request.profile and request.profile.startswith("latest/"):
        request = replace(request, profile=f"{run.path}{request.profile.removeprefix('latest')}")
    if form in _DRAWN:
        game = replace(game, spec=request.game)  # as its title
    lines = _lines(form, game, data, request)
    if is_printed:
        for line in lines:
            put_page(f"{line}\n") if form in (".svg", ".html") else put(line)
        return

    def encoded() -> Iterator[bytes]:
        for line in lines:
            yield f"{line}\n".encode()
        _check_free(path, request)  # it may have come while the game was built

    try:
        write_file(path, encoded())
        size = path.stat().st_size
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}; choose a file in a writable folder"
        ) from None
    is_part = (request.at, request.depth) != (None, None)
    nodes = "a part of " * is_part + f"{game.tree.n_nodes:,} nodes"
    say(f"wrote {path}: {nodes}, {size:,} bytes")


def _lines(form: str, game: Game, data: Any, request: ExportRequest) -> Iterator[str]:
    """Lines of the file; `data` is a profile in its interchange form, or None."""
    from eqbench.model.gambit_text import efg_lines, nfg_lines
    from eqbench.model.inspection import excerpt, node_at
    from eqbench.model.profile import BehaviorProfile
    from eqbench.model.profile_json import profile_from_json
    from eqbench.report.tree_drawing import draw_tree, tikz_tree

    if form in (".efg", ".nfg"):
        yield from {".efg": efg_lines, ".nfg": nfg_lines}[form](game.tree, game.spec)
        return
    profile = None if data is None else profile_from_json(game.tree, data)
    if form in _DRAWN:
        part = excerpt(game.tree, node_at(game.tree, request.at or "", game.wording), request.depth)
        if form == ".html":
            from eqbench.report.html.tree import tree_page

            yield tree_page(game, profile, part, request.profile or "")
            return
        draw = draw_tree if form == ".svg" else tikz_tree
        yield draw(game.tree, game.spec, profile, game.wording, part).rstrip("\n")
    else:
        profile = profile or BehaviorProfile.uniform(game)
        text = json.dumps(profile.to_json(game.spec), indent=2)
        # the frequencies of an information set on one line
        yield re.sub(
            r"\{\n([^{}]*)\n *\}",
            lambda row: f"{{{' '.join(map(str.strip, row[1].splitlines()))}}}",
            text,
        )


def _check_free(path: Path, request: ExportRequest) -> None:
    if path.exists() and not request.force:
        raise UsageError(f"{path} exists; choose another file, or replace it with --force")
