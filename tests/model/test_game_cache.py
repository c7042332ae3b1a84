"""Large games are kept on disk: the same game comes back, compiled, and never an old one."""

from __future__ import annotations

import errno
import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import eqbench
from eqbench.errors import GameTooLargeError
from eqbench.model import game_cache
from eqbench.model.game import Game
from eqbench.model.game_cache import cached_game, game_cache_folder, mapped_game
from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.model.tree import GameTree
from eqbench.model.tree_files import content_hash, load_form, load_tree, save_form, save_tree
from eqbench.registry import Registry, default_registry
from eqbench.requests import MOST_NODES

KUHN = "kuhn(players=3,cards=5)"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(game_cache, "CACHED_FROM", 100)
    folder = game_cache_folder()
    assert folder is not None
    assert tmp_path in folder.parents
    return folder


class Builds:
    """Counts how often a game is built."""

    def __init__(self, spec: str = KUHN) -> None:
        # by its class, because loading it would put it into the cache
        instance, _, _ = default_registry().describe_game(spec)
        self.tree, self.count = instance.build(), 0

    def __call__(self) -> GameTree:
        self.count += 1
        return self.tree


def same_form(one: Game, other: Game) -> bool:
    mine, theirs = one.sequence_form, other.sequence_form
    arrays = [*mine.arrays, mine.columns, mine.chance, mine.base]
    others = [*theirs.arrays, theirs.columns, theirs.chance, theirs.base]
    return all(map(np.array_equal, arrays, others)) and mine.value == theirs.value


def test_second_time_the_game_is_read_and_the_same() -> None:
    builds = Builds()
    first, second = (cached_game(KUHN, builds) for _ in range(2))
    assert builds.count == 1
    assert content_hash(first.tree) == content_hash(second.tree) == content_hash(builds.tree)
    assert same_form(second, Game(KUHN, builds.tree))
    assert same_form(second.at(pot=5), Game(KUHN, builds.tree.at(Fraction(5))))


def test_other_spec_is_another_entry() -> None:
    one, other = Builds(), Builds("kuhn2")
    cached_game("one", one)
    assert cached_game("other", other).tree.n_players == 2


def test_edited_sources_are_another_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    builds = Builds()
    cached_game("some spec", builds)
    monkeypatch.setattr(game_cache, "source_hash", lambda files: "edited")
    cached_game("some spec", builds)
    assert builds.count == 2


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("parent.npy", "emptied"),
        ("base.npy", "zeroed"),
        ("form/columns.npy", "emptied"),
        ("form/slope.npy", "removed"),
        ("checksums.json", "removed"),
    ],
)
def test_damaged_entry_is_built_anew(cache: Path, file: str, damage: str) -> None:
    builds = Builds()
    cached_game("some spec", builds)
    (entry,) = cache.iterdir()
    place = entry / file
    if damage == "removed":
        place.unlink()
    else:
        data = place.read_bytes()
        place.write_bytes(b"" if damage == "emptied" else data[:128] + bytes(len(data) - 128))
    game = cached_game("some spec", builds)
    assert builds.count == 2
    assert content_hash(game.tree) == content_hash(builds.tree)
    assert same_form(game, Game("some spec", builds.tree))
    assert cached_game("some spec", builds).folder == entry
    assert builds.count == 2, "the entry is whole again"


def test_entry_that_no_builder_could_have_written_is_built_anew(cache: Path) -> None:
    """Checksums say that nothing broke by chance, not that it is a game."""
    builds = Builds()
    cached_game("some spec", builds)
    (entry,) = cache.iterdir()
    chance = np.load(entry / "chance.npy")
    np.save(entry / "chance.npy", np.zeros_like(chance))
    sums = game_cache._checksums(entry)
    (entry / game_cache.CHECKSUMS).write_text(json.dumps(sums))
    assert content_hash(cached_game("some spec", builds).tree) == content_hash(builds.tree)
    assert builds.count == 2


@pytest.mark.parametrize("place", ["mkdir", "write_bytes", "rename"])
def test_cache_on_a_full_disk_is_done_without(
    place: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    builds = Builds()
    game_cache_folder()
    monkeypatch.setattr(game_cache, "game_cache_folder", lambda: cache)
    monkeypatch.setattr(Path, place, full)
    game = cached_game("some spec", builds)
    assert (game.tree, game.folder) == (builds.tree, None)
    assert list(cache.iterdir()) == []


def test_entry_that_another_process_was_faster_to_write_stays(cache: Path) -> None:
    builds = Builds()

    def build_while_another_does() -> GameTree:
        cached_game("some spec", builds)
        (entry,) = cache.iterdir()
        entries.append((entry, entry.stat().st_ino))
        return builds()

    entries: list[tuple[Path, int]] = []
    game = cached_game("some spec", build_while_another_does)
    ((entry, inode),) = entries
    assert (game.folder, entry.stat().st_ino) == (entry, inode)
    assert list(cache.iterdir()) == [entry]


def test_without_a_writable_cache_games_are_just_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    builds = Builds()
    for _ in range(2):
        assert cached_game("some spec", builds).folder is None
    assert builds.count == 2


def test_games_not_used_for_longest_make_room(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builds = Builds()
    for spec in ("old", "new"):
        cached_game(spec, builds)
    (old, new) = sorted(cache.iterdir(), key=lambda entry: entry.stat().st_mtime)
    for entry, day in ((old, 1), (new, 2)):
        os.utime(entry, (day * 1e5, day * 1e5))
    size = sum(file.stat().st_size for file in new.rglob("*") if file.is_file())
    monkeypatch.setattr(game_cache, "MAX_BYTES", int(2.5 * size))
    cached_game("newest", builds)
    assert not old.exists()
    assert new.exists()


def test_full_cache_of_games_in_use_grows_no_more(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = Builds()
    cached_game("used a moment ago", builds)
    monkeypatch.setattr(game_cache, "MAX_BYTES", 0)
    assert cached_game("one more", builds).folder is None
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("spec", ["kuhn3", "leduc(ranks=2)"])  # with a parameter and without one
def test_form_beside_a_tree_is_used_instead_of_compiling(spec: str, tmp_path: Path) -> None:
    game = eqbench.load_game(spec)
    folder = tmp_path / "game"
    folder.mkdir()
    save_tree(game.tree, folder)
    assert load_form(folder, game.tree) is None
    save_form(game.sequence_form, folder)
    mapped = mapped_game(game.spec, folder)
    assert same_form(mapped, game)
    assert same_form(Game(game.spec, load_tree(folder), folder), game)
    assert not mapped.sequence_form.columns.flags.writeable
    arrays = mapped.sequence_form.arrays
    assert all(not large.flags.owndata for large in (arrays.opponents, arrays.entry_start))
    assert arrays.weight.flags.owndata == (game.tree.payoffs.parameter is not None)
    payoffs = [
        g.payoff_model().expected_payoffs(np.full(g.tree.n_actions, 0.5)) for g in (mapped, game)
    ]
    assert np.array_equal(*payoffs)


@pytest.mark.parametrize(
    ("spec", "size"),
    [
        ("goofspiel(cards=7)", r"about [\d,]+ nodes, which take about [\d,.]+ GiB"),
        ("liars_dice(dice=20)", "more memory than any machine has"),
        ("kuhn(players=3,cards=100,reduce=billingham)", r"about [\d,]+ nodes, which take about 4"),
        ("kuhn(players=4,cards=9000,raises=90)", r"about 10\^\d+ public nodes with 9,000 hands"),
        ("kuhn(players=6,cards=40)", r"about 10\^12 nodes, which take about [\d,.]+ GiB"),
        ("kuhn(cards=100000)", "choose at most 10,000 cards"),
    ],
)
def test_game_that_is_too_large_is_refused_at_once_with_its_size(spec: str, size: str) -> None:
    with pytest.raises(GameTooLargeError, match=size):
        eqbench.load_game(spec)


def test_limit_is_that_of_the_caller() -> None:
    with pytest.raises(GameTooLargeError, match="200"):
        eqbench.load_game("skp", max_nodes=200)
    assert eqbench.load_game("kuhn3", max_nodes=601).tree.n_nodes == 601


def test_tree_of_a_dealt_game_beyond_the_limit_is_not_built() -> None:
    game = eqbench.load_game("kuhn3", max_nodes=600)
    assert game.product is not None
    assert game.tree.n_nodes == 601
    with pytest.raises(GameTooLargeError, match="600"):
        game.tree.parent  # noqa: B018


PLUGIN = """
from dataclasses import dataclass
import eqbench

@eqbench.register_game('{game}')
@dataclass(frozen=True)
class Game:
    def build(self):
        if '{game}' == 'borrowed':
            return eqbench.load_game('kuhn2').tree
        builder = eqbench.TreeBuilder(['P1'])
        node = builder.decision(None, 0, 'x', ['on'])
        while True:
            node = builder.decision((node, 0), 0, str(node), ['on'])
"""


@pytest.mark.parametrize("game", ["borrowed", "endless"])
def test_limit_holds_for_games_that_announce_nothing(tmp_path: Path, game: str) -> None:
    (tmp_path / "plugin.py").write_text(PLUGIN.format(game=game))
    registry = Registry().with_plugins([tmp_path / "plugin.py"])
    with pytest.raises(GameTooLargeError, match="nodes"):
        registry.load_game(game, max_nodes=50)


def test_commands_allow_as_many_nodes_as_the_library() -> None:
    assert MOST_NODES == DEFAULT_MAX_NODES
