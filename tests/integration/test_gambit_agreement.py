"""Game files against Gambit 17: what one writes the other reads, and both see the same game."""

from __future__ import annotations

import io
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from fuzz_game_files import inputs
from helpers.gambit_games import assert_same_game, depth_first_sets, random_frequencies
from helpers.made_games import SPECS

import eqbench
from eqbench.errors import GameFormatError, ImperfectRecallError
from eqbench.model.gambit_text import efg_text, nfg_text
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.registry import default_registry
from eqbench.verdicts.subgames import subgame_roots
from eqbench.verification import verify

pygambit = pytest.importorskip("pygambit", reason="Gambit is not installed")

MODERATE = 20_000
TOO_LARGE = {"leduc3", "liars_dice"}
VARIANTS = (
    *("kuhn(players=2,cards=5,pot=16/5)", "kuhn(players=3,cards=5)", "kuhn(players=2,raises=1)"),
    *("kuhn3(reduce=billingham)", "kuhn3(reduce=dominated21)", "leduc(ranks=2,raises=1)"),
    *("liars_dice(sides=3)", "liars_dice(sides=2,players=3)", "goofspiel(players=3,cards=3)"),
    *("skp(pot=16/5)", "random(players=4,actions=2)", "random_tree(players=3,depth=5,seed=3)"),
)
STRATEGIC = ("shapley", "jordan", "random(players=3,actions=3)", "dispersion")

# Games of Gambit's catalog in which a player forgets, with the line at which that shows.
IMPERFECT_RECALL = {
    "books/shohamleytonbrown2008/fig5_12.efg": 10,
    "books/vonstengel2022/fig10.7.efg": 21,
    "journals/geb/gilboa1997/fig1.efg": 6,
    "journals/geb/gilboa1997/fig2.efg": 15,
    "journals/geb/wichardt2008.efg": 13,
}
CATALOG = Path(pygambit.__file__).parent / "catalog_data"
CATALOG_FILES = sorted(
    str(path.relative_to(CATALOG)) for path in CATALOG.rglob("*.?fg") if path.suffix != ".agg"
)


BUILT_IN = [entry.name for entry in default_registry().games() if entry.source == "eqbench"]


def gambit(path: Path) -> Any:
    read = pygambit.read_efg if path.suffix == ".efg" else pygambit.read_nfg
    return read(io.StringIO(path.read_text(encoding="utf-8")))


def loaded(path: Path) -> GameTree:
    return eqbench.load_game(str(path)).tree


def payoffs_in_gambit(game: Any, tree: GameTree, rows: list[list[Fraction]]) -> list[float]:
    """Gambit's expected payoffs at a profile of frequencies for each information set of ours."""
    if not hasattr(game, "mixed_behavior_profile"):
        profile = game.mixed_strategy_profile(data=[list(map(float, row)) for row in rows])
    else:
        data = [[list(map(float, rows[i])) for i in own] for own in depth_first_sets(tree)]
        profile = game.mixed_behavior_profile(data=data)
    return [float(profile.payoffs[player]) for player in game.players]


def assert_gambit_agrees(game: Any, tree: GameTree, seed: int) -> None:
    rows = random_frequencies(tree, seed)
    ours = BehaviorProfile.of_exact(tree, [value for row in rows for value in row])
    expected = payoffs_in_gambit(game, tree, rows)
    scale = max(1.0, abs(tree.payoffs.table).max())
    assert list(verify(tree, ours).payoffs) == pytest.approx(expected, rel=0, abs=1e-12 * scale)


@pytest.mark.parametrize(
    ("spec", "suffix"),
    [
        *((spec, "efg") for spec in (*BUILT_IN, *VARIANTS) if spec not in TOO_LARGE),
        *((spec, "nfg") for spec in STRATEGIC),
    ],
)
def test_what_gambit_reads_and_writes_is_the_same_game(
    tmp_path: Path, spec: str, suffix: str
) -> None:
    tree = eqbench.load_game(SPECS.get(spec, spec), max_nodes=MODERATE).tree
    path = tmp_path / f"ours.{suffix}"
    text = efg_text if suffix == "efg" else nfg_text
    path.write_text(text(tree, spec), encoding="utf-8")
    assert_same_game(tree, loaded(path))
    theirs = gambit(path)
    assert len(theirs.players) == tree.n_players
    assert_gambit_agrees(theirs, tree, seed=0)
    path.write_text(getattr(theirs, f"to_{suffix}")(), encoding="utf-8")
    assert_same_game(tree, loaded(path))


@pytest.mark.parametrize("name", [name for name in CATALOG_FILES if name not in IMPERFECT_RECALL])
def test_games_of_the_catalog_have_gambits_sizes_and_payoffs(name: str) -> None:
    game, tree = gambit(CATALOG / name), loaded(CATALOG / name)
    assert list(game.players) == list(tree.players)
    if name.endswith(".efg"):
        sizes = [len(game.get_infosets(player)) for player in game.players]
        assert sizes == [len(tree.infosets_of(player)) for player in range(tree.n_players)]
        assert len(game.get_histories(pygambit.H.plays)) == tree.n_terminals
        assert len(game.get_subgame_roots()) == len(subgame_roots(tree))
    for seed in range(3):
        assert_gambit_agrees(game, tree, seed)


@pytest.mark.parametrize("name", IMPERFECT_RECALL)
def test_games_with_imperfect_recall_are_refused_by_name(name: str) -> None:
    with pytest.raises(ImperfectRecallError) as caught:
        loaded(CATALOG / name)
    assert str(caught.value).startswith(f"{CATALOG / name}:{IMPERFECT_RECALL[name]}: ")
    assert "set" in str(caught.value)


def test_damaged_files_that_both_accept_are_the_same_game(tmp_path: Path) -> None:
    both = 0
    for number, (suffix, data) in enumerate(inputs(seed=5)):
        if number == 300:
            break
        path = tmp_path / f"damaged{suffix}"
        path.write_bytes(data)
        try:
            tree = eqbench.load_game(str(path), max_nodes=2_000).tree
        except GameFormatError:
            continue
        try:
            game = gambit(path)
        except (ValueError, KeyError, IndexError):  # what pygambit raises at bad files
            continue
        both += 1
        assert_gambit_agrees(game, tree, seed=random.Random(number).randrange(100))
    assert both >= 15, "the sample says nothing"
