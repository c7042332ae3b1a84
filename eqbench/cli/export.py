"""`eqbench export`: a game as a file that Gambit reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from eqbench.cli.options import command
from eqbench.cli.output import put_json, say
from eqbench.errors import UsageError
from eqbench.registry import GameOptions
from eqbench.requests import FILE, FLAG, GAME, Json, Option, Quiet

SCHEMA = "eqbench.export/1"


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
        put_json({"schema": SCHEMA} | facts)
    else:
        say(f"wrote {path}: {nodes:,} nodes, {size:,} bytes")


def _check_free(path: Path, request: ExportRequest) -> None:
    if path.exists() and not request.force:
        raise UsageError(f"{path} exists; choose another file, or replace it with --force")
