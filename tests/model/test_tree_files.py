"""What lies in a folder is not a game until it is checked, whoever wrote it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.errors import GameTooLargeError, UsageError
from eqbench.harness import plan
from eqbench.harness.experiment import Request
from eqbench.isolation.child import Outcome
from eqbench.isolation.messages import BuiltFrame
from eqbench.model import assemble, size_limit
from eqbench.model.assemble import MOST_PLAYERS
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.size_limit import node_limit
from eqbench.model.tree import GameTree
from eqbench.model.tree_files import (
    content_hash,
    load_form,
    load_tree,
    map_tree,
    save_form,
    save_tree,
)
from eqbench.plugins import Entry
from eqbench.registry import Registry

HEADER = "labels.json"


def two_stage() -> GameTree:
    """Chance, then P1, then P2, who does not see what P1 did, then P1 again."""
    builder = TreeBuilder(["P1", "P2"])
    root = builder.chance(None, [0.25, 0.75])
    for outcome in range(2):
        first = builder.decision((root, outcome), 0, f"first{outcome}", ["l", "r"])
        for move in range(2):
            reply = builder.decision((first, move), 1, "reply", ["l", "r"])
            builder.terminal((reply, 0), [3, 1])
            last = builder.decision((reply, 1), 0, f"last{outcome}{move}", ["l", "r"])
            builder.terminal((last, 0), [0, 5])
            builder.terminal((last, 1), [2, 2])
    return builder.tree()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    place.mkdir()
    save_tree(eqbench.load_game("kuhn2").tree, place)
    return place


def edit(folder: Path, name: str, change: Callable[[np.ndarray], Any]) -> None:
    """Change an array in place, or to what `change` returns."""
    array = np.load(folder / f"{name}.npy")
    changed = change(array)
    np.save(folder / f"{name}.npy", array if changed is None else changed, allow_pickle=True)


def put(name: str, place: int | slice | tuple, value: Any) -> Callable[[Path], None]:
    def change(array: np.ndarray) -> None:
        array[place] = value

    return lambda folder: edit(folder, name, change)


def became(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    return lambda folder: edit(folder, name, change)


def header(**fields: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        known = json.loads((folder / HEADER).read_text())
        (folder / HEADER).write_text(json.dumps(known | fields))

    return change


def write(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


def last_is_huge(array: np.ndarray) -> np.ndarray:
    floats = array.astype(float)
    floats[-1] = 1e308
    return floats


def no_slope(folder: Path) -> None:
    (folder / "slope.npy").unlink()
    header(parameter=None, value=None, payoff_denominator=1)(folder)


def huge(folder: Path) -> None:
    no_slope(folder)
    edit(folder, "base", last_is_huge)


def all_missing(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


TRIALS: dict[str, tuple[Callable[[Path], object], str]] = {
    "node that is its own parent": (put("parent", 5, 5), "must come before it|breadth-first"),
    "cycle": (put("parent", slice(1, 3), [2, 1]), "breadth-first|before it"),
    "two roots": (put("parent", 1, -1), "breadth-first"),
    "no root": (put("parent", 0, 0), "needs a root"),
    "no node": (became("parent", lambda a: a[:0]), "same length"),
    "nan": (became("base", lambda a: np.full(a.shape, np.nan)), "payoff is not finite"),
    "huge": (huge, "payoff is not finite"),
    "smallest integer": (put("base", (0, 0), -(2**63)), r"2\*\*62"),
    "payoffs missing": (became("base", lambda a: a[:-1]), "payoffs have shape"),
    "chance all zero": (became("chance", np.zeros_like), "sum to 0/"),
    "chance negative": (put("chance", slice(1, 3), [-1, 1]), r"lie in \[0, 1\]"),
    "chance wraps around": (put("chance", slice(1, 7), 2**63 - 1), r"2\*\*62"),
    "chance behind a decision": (put("chance", -1, 1), "chance must be 0"),
    "chance at the root": (put("chance", 0, 1), "chance must be 0"),
    "moves swapped": (put("move", slice(1, 3), [1, 0]), "not 0, 1, 2"),
    "move at the root": (put("move", 0, 0), "the root has the move 0"),
    "unknown mover": (put("player", 0, -3), "has the player -3"),
    "mover without a set": (put("player", 1, -1), "exactly the decision nodes"),
    "set of another player": (put("infoset", 1, 6), "another player"),
    "set behind other moves": (put("infoset", 1, 5), "imperfect recall"),
    "set beyond all": (put("infoset", 1, 1000), "beyond"),
    "set just beyond all": (
        became("infoset", lambda a: np.where(a == a.max(), a.max() + 1, a)),
        "beyond",
    ),
    "decision without a set": (put("infoset", 1, -1), "exactly the decision nodes"),
    "set below all": (put("infoset", 0, -2), "exactly the decision nodes"),
    "rows": (became("infoset_player", lambda a: a[::-1]), "another player"),
    "parent of a set": (put("infoset_parent", -1, 0), "infoset_parent is not what follows"),
    "zero denominator": (header(payoff_denominator=0), "denominator of the payoffs is 0"),
    "negative denominator": (header(chance_denominator=-6), "denominator of chance is -6"),
    "denominator beyond 64 bits": (header(payoff_denominator=2**70), "denominator of the payoffs"),
    "denominator true": (header(payoff_denominator=True), "payoff_denominator"),
    "value over zero": (header(value="1/0"), "need its name, its value"),
    "value without end": (header(value="9" * 5000), "need its name, its value"),
    "value beyond floats": (header(value="9" * 400), "payoff is not finite"),
    "value missing": (header(value=None), "need its name, its value and a slope"),
    "slope missing": (lambda folder: (folder / "slope.npy").unlink(), "and a slope"),
    "slope in floats": (became("slope", lambda a: a.astype(float)), "both be floats"),
    "labels no text": (header(infosets=list(range(6))), "infosets"),
    "labels missing": (header(infosets=["x"]), "more players, labels or actions"),
    "labels twice": (header(infosets=["x"] * 6), "labeled 'x'|more players, labels"),
    "actions empty": (header(actions=[[]] * 6), "actions"),
    "players twice": (header(players=["P1", "P1"]), "distinct labels"),
    "nobody": (header(players=[]), "players"),
    "unknown key": (header(surprise=1), "surprise"),
    "header a list": (write(HEADER, b"[]"), "labels.json is damaged"),
    "header no JSON": (write(HEADER, b"{"), "labels.json is damaged"),
    "pickle": (became("base", lambda a: a.astype(object)), "is damaged"),
    "truncated": (lambda f: os.truncate(f / "move.npy", 130), "is damaged"),
    "floats as nodes": (became("parent", lambda a: a.astype(float)), "vector of signed"),
    "wide": (became("base", lambda a: np.tile(a, (1, 1000))), "payoffs have shape"),
    "all missing": (all_missing, "is damaged: .*No such file"),
}


@pytest.mark.parametrize("trial", TRIALS)
def test_what_no_builder_could_have_written_is_refused(trial: str, folder: Path) -> None:
    damage, message = TRIALS[trial]
    damage(folder)
    with pytest.raises(UsageError, match=message):
        load_tree(folder)


def test_information_sets_out_of_order_are_refused(tmp_path: Path) -> None:
    """As the false `ok` came about: rows of sets moved together, in all files alike."""
    tree = two_stage()
    order = np.array([4, 0, 1, 2, 3, 5, 6])
    rank = np.append(np.argsort(order), -1).astype(np.int32)
    save_tree(tree, tmp_path)
    load_tree(tmp_path)
    edit(tmp_path, "infoset", lambda a: rank[a])
    edit(tmp_path, "infoset_player", lambda a: a[order])
    edit(tmp_path, "infoset_parent", lambda a: a[order])
    header(
        infosets=[tree.infoset_labels[i] for i in order],
        actions=[tree.infoset_actions[i] for i in order],
    )(tmp_path)
    with pytest.raises(UsageError, match="canonical"):
        load_tree(tmp_path)


def test_sums_of_chance_do_not_come_round(tmp_path: Path) -> None:
    """Sixteen numerators of 2**60 over 2**60 sum to 2**64, which is 0 in 64 bits."""
    outcomes = 17
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [1 / outcomes] * outcomes)
    for outcome in range(outcomes):
        builder.terminal((root, outcome), [0.0])
    save_tree(builder.tree(), tmp_path)
    edit(tmp_path, "chance", lambda a: np.where(np.arange(len(a)) > 0, 2**60, 0))
    header(chance_denominator=2**60)(tmp_path)
    with pytest.raises(UsageError, match=f"sum to {outcomes * 2**60}/{2**60}"):
        load_tree(tmp_path)


def test_larger_trees_than_allowed_are_not_read(folder: Path) -> None:
    with node_limit(10), pytest.raises(GameTooLargeError, match="kuhn2"):
        load_tree(folder, "kuhn2")


def test_what_is_written_into_the_folder_later_changes_no_tree(folder: Path) -> None:
    tree, mapped = load_tree(folder), map_tree(folder)
    before = content_hash(tree)
    with (folder / "base.npy").open("r+b") as file:
        file.seek(128)
        file.write(bytes(64))
    assert content_hash(tree) == before
    assert content_hash(mapped) != before, "otherwise this test shows nothing"
    assert not tree.payoffs.base.flags.writeable
    assert not mapped.payoffs.base.flags.writeable


def test_value_of_a_parameter_is_read_back_with_all_its_digits(tmp_path: Path) -> None:
    tree = eqbench.load_game("kuhn2").tree.at(Fraction(10**3000 + 1, 10**3000))
    save_tree(tree, tmp_path)
    assert load_tree(tmp_path).payoffs.value == tree.payoffs.value


def test_children_map_the_form_that_the_parent_has_read(folder: Path) -> None:
    game = eqbench.load_game("kuhn2")
    save_form(game.sequence_form, folder)
    mapped, read = (load_form(folder, game.tree, mapped=each) for each in (True, False))
    assert mapped is not None
    assert read is not None
    before = read.columns.copy()
    with (folder / "form" / "columns.npy").open("r+b") as file:
        file.seek(128)
        file.write(bytes(64))
    assert np.array_equal(read.columns, before)
    assert not np.array_equal(mapped.columns, before)


def test_form_of_a_game_of_one_player_is_read_back(tmp_path: Path) -> None:
    builder = TreeBuilder(["P1"])
    root = builder.decision(None, 0, "x", ["l", "r"])
    for move in range(2):
        builder.terminal((root, move), [move])
    game = Game("alone", builder.tree())
    save_form(game.sequence_form, tmp_path)
    assert load_form(tmp_path, game.tree) is not None


def test_limit_of_players_is_kept() -> None:
    builder = TreeBuilder([f"P{p}" for p in range(MOST_PLAYERS + 1)])
    root = builder.decision(None, MOST_PLAYERS, "x", ["only"])
    builder.terminal((root, 0), [0] * (MOST_PLAYERS + 1))
    with pytest.raises(UsageError, match="at most are"):
        builder.tree()


def test_limit_of_moves_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, fits in ((4, True), (3, False)):
        monkeypatch.setattr(assemble, "MOST_MOVES", most)
        with nullcontext() if fits else pytest.raises(UsageError, match="moves"):
            two_stage()


# -- what a plugin's process answers ---------------------------------------------------------


def planned(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    answer: Callable[[Path], Any],
) -> plan.PlannedGame:
    """A planned game whose child is `answer`, which gets the folder and gives the last frame."""
    entry = Entry("game", "mine", "mine:Mine", origin="plugin", plugin="/mine.py")

    def run_child(job: dict[str, Any], *others: Any) -> Outcome:
        return Outcome(last=answer(Path(job["folder"])))

    monkeypatch.setattr(plan, "run_child", run_child)
    monkeypatch.setattr(Registry, "game_entry", lambda self, text: entry)
    request = Request(games=["mine"], solvers=[])
    return plan._plan_game("mine", request, Registry(), tmp_path)


def built(spec: str = "mine") -> BuiltFrame:
    return BuiltFrame(spec=spec, expected_nodes=None, frozen=True, undocumented=[])


def test_game_of_a_child_is_kept_where_no_child_wrote(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    theirs: list[Path] = []

    def answer(folder: Path) -> BuiltFrame:
        theirs.append(folder)
        save_tree(two_stage(), folder)
        (folder / "form").mkdir()  # which no solver may use
        return built()

    game = planned(monkeypatch, tmp_path, answer)
    ours = game.folder.intact()
    assert ours != theirs[0]
    assert not (ours / "form").exists()
    assert content_hash(map_tree(ours)) == content_hash(game.game.tree) == content_hash(two_stage())


@pytest.mark.parametrize("trial", ["rows", "all missing", "header no JSON", "pickle"])
def test_broken_tree_of_a_child_is_one_sentence_with_the_game(
    trial: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def answer(folder: Path) -> BuiltFrame:
        save_tree(eqbench.load_game("kuhn2").tree, folder)
        TRIALS[trial][0](folder)
        return built()

    with pytest.raises(UsageError, match="built") as caught:
        planned(monkeypatch, tmp_path, answer)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("spec", ["", "kuhn2", "mine(", "mine\x1b[31m"])
def test_child_cannot_give_its_game_another_name(
    spec: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def answer(folder: Path) -> BuiltFrame:
        save_tree(two_stage(), folder)
        return built(spec)

    with pytest.raises(UsageError, match="built") as caught:
        planned(monkeypatch, tmp_path, answer)
    assert str(caught.value).isprintable()


def test_frame_of_another_job_is_no_game(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="built"):
        planned(monkeypatch, tmp_path, lambda folder: None)


# -- memory -------------------------------------------------------------------------------


def test_game_beyond_the_memory_of_the_machine_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        size_limit, "machine_bytes", lambda: size_limit.BUILDING_BYTES_PER_NODE * 600
    )
    with pytest.raises(GameTooLargeError, match="600"):
        eqbench.load_game("kuhn3", max_nodes=10**12)
    monkeypatch.setattr(
        size_limit, "machine_bytes", lambda: size_limit.BUILDING_BYTES_PER_NODE * 601
    )
    assert eqbench.load_game("kuhn3", max_nodes=10**12).tree.n_nodes == 601


def test_running_out_of_memory_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(self: Any) -> GameTree:
        raise MemoryError

    monkeypatch.setattr("eqbench.games.kuhn.Kuhn.build", build)
    with pytest.raises(GameTooLargeError, match="memory"):
        eqbench.load_game("kuhn2")
