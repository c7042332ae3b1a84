"""Large games on disk, built and compiled once for all runs and all processes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from eqbench.documents import decode, open_file, read_file
from eqbench.errors import GameTooLargeError, UsageError
from eqbench.model.cache import cache_root, package_sources, source_hash
from eqbench.model.dealt_form import UnbuiltTree
from eqbench.model.game import Game
from eqbench.model.tree import GameTree
from eqbench.model.tree_files import load_form, load_tree, map_tree, save_form, save_tree

CACHED_FROM = 50_000  # nodes; smaller games are built as fast as they are read
CHECKSUMS = "checksums.json"
MAX_BYTES = 4 * 2**30
_BLOCK = 2**20
_ENTRY = re.compile(r"[0-9a-f]{24}|\.draft-\w+")
SPARED_S = 24 * 3600.0  # a game that was used so recently may be in use


def game_cache_folder() -> Path | None:
    """Folder of all cached games; None if it cannot be written."""
    try:
        folder = cache_root() / "games"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


def cached_game(spec: str, build: Callable[[], GameTree], *, key: str = "") -> Game:
    """Game of a canonical spec, from the cache or built and put there.

    The entry depends on the sources of the model and of the built-in games, so that no edit
    of either meets an old game. Where the spec does not say everything that the game depends
    on, such as the version of another package, `key` does. Without a writable cache, or with one
    full of games that may be in use, the game is just built.
    """
    root = game_cache_folder()
    if root is None:
        return Game(spec, build())
    sources = source_hash(package_sources("eqbench.model", "eqbench.games"))
    folder = root / hashlib.sha256(f"{sources} {key or spec}".encode()).hexdigest()[:24]
    game = _read(spec, folder)
    if game is None:
        built = build()
        if _drop_old(root):
            _write(Game(spec, built), root, folder)
            _drop_old(root)
        game = _read(spec, folder) or Game(spec, built)
    return game


def store_game(game: Game, folder: Path) -> None:
    """Write the tree of a game into an existing folder, and the form if the game is large."""
    save_tree(game.tree, folder)
    if game.tree.n_nodes >= CACHED_FROM and not game.product:
        save_form(game.sequence_form, folder)


def mapped_game(spec: str, folder: Path) -> Game:
    """Game of a folder that another process has written or checked, sharing one copy of its arrays.

    For processes whose answers another process verifies with its own copy.
    """
    tree = map_tree(folder)
    if isinstance(tree, UnbuiltTree):
        product, most = tree.form, tree.most
        return Game(spec, UnbuiltTree.of(product, most, lambda: cached_game(spec, product.tree)))
    game = Game(spec, tree, folder)
    form = load_form(folder, game.tree, mapped=True)
    if form is not None:
        game.__dict__["sequence_form"] = form
    return game


def _read(spec: str, folder: Path) -> Game | None:
    """The game in an entry, None if it is not there or damaged."""
    try:
        stored = decode(read_file(folder / CHECKSUMS), dict[str, int], CHECKSUMS)
        if stored != _checksums(folder):
            return None
        os.utime(folder)
        return Game(spec, load_tree(folder, spec), folder)
    except GameTooLargeError:
        raise
    except (OSError, UsageError):
        return None


def _write(game: Game, root: Path, folder: Path) -> None:
    """Put a game in place at once, or leave the cache as it is."""
    draft = root / f".draft-{secrets.token_hex(8)}"
    try:
        draft.mkdir(mode=0o700)
        store_game(game, draft)
        (draft / CHECKSUMS).write_text(json.dumps(_checksums(draft)), encoding="utf-8")
        if folder.exists() and _read(game.spec, folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
        draft.rename(folder)
    except OSError:  # no space, or another process was faster
        shutil.rmtree(draft, ignore_errors=True)


def _checksums(folder: Path) -> dict[str, int]:
    """Checksum of every file of an entry but that of the checksums."""
    return {
        str(file.relative_to(folder)): _checksum(file)
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != CHECKSUMS
    }


def _checksum(path: Path) -> int:
    checksum = 0
    with open_file(path) as file:
        while data := file.read(_BLOCK):
            checksum = zlib.crc32(data, checksum)
    return checksum


def _drop_old(root: Path) -> bool:
    """Remove the games not used for longest while there are too many; True if the rest is few."""
    entries = []
    for entry in (each for each in root.iterdir() if _ENTRY.fullmatch(each.name)):
        with contextlib.suppress(OSError):
            size = sum(file.stat().st_size for file in entry.rglob("*") if file.is_file())
            entries.append((entry.stat().st_mtime, size, entry))
    total = sum(size for _, size, _ in entries)
    for used, size, entry in sorted(entries):
        if total <= MAX_BYTES or time.time() - used < SPARED_S:
            break
        shutil.rmtree(entry, ignore_errors=True)
        total -= size
    return total <= MAX_BYTES
