"""`eqbench export`: a game as a file that Gambit reads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from eqbench.cli.options import game_option, json_option, max_nodes_option, plugin_option
from eqbench.cli.output import put_json, say

SCHEMA = "eqbench.export/1"
SUFFIXES = (".efg", ".nfg")


@click.command()
@game_option("Game to write; a game file here is converted.")
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="File to write: .efg for extensive form, .nfg for strategic form.",
)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@max_nodes_option
@plugin_option
@json_option
def export(
    game: str, target: str, force: bool, max_nodes: int, plugins: tuple[str, ...], as_json: bool
) -> None:
    """Write a game in one of Gambit's formats, with exact payoffs and probabilities.

    Any game can be an .efg file; only those in which all players move once and at the same time
    can be an .nfg file.
    """
    from eqbench.errors import UsageError
    from eqbench.registry import default_registry

    path = Path(os.path.expanduser(target))
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"{target} ends in neither {SUFFIXES[0]} (extensive form) nor {SUFFIXES[1]} (strategic "
            "form); choose one of these for --to"
        )
    if path.exists() and not force:
        raise _exists(path)
    loaded = default_registry().with_plugins(plugins).load_game(game, max_nodes=max_nodes)
    size = _write(path, _lines(loaded, path.suffix.lower()), force=force)
    nodes = loaded.tree.n_nodes
    if as_json:
        facts = {"game": loaded.spec, "file": str(path), "nodes": nodes, "bytes": size}
        put_json({"schema": SCHEMA} | facts)
    else:
        say(f"{path}: {nodes:,} nodes, {size:,} bytes")


def _lines(game: Any, suffix: str) -> Iterable[str]:
    if suffix == ".nfg":
        from eqbench.model.gambit_text import nfg_lines

        return nfg_lines(game.tree, game.spec)
    from eqbench.model.gambit_text import efg_lines

    return efg_lines(game.tree, game.spec)


def _write(path: Path, lines: Iterable[str], *, force: bool) -> int:
    """Put the whole file in place, or nothing; its size in bytes."""
    from eqbench.errors import UsageError

    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            with open(draft, "w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines)
            size = draft.stat().st_size
            if path.exists() and not force:  # it may have come while the game was built
                raise _exists(path)
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}; choose a file in a writable folder"
        ) from None
    return size


def _exists(path: Path) -> Exception:
    from eqbench.errors import UsageError

    return UsageError(f"{path} exists; choose another file for --to, or replace it with --force")
