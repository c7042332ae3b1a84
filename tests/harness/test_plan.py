"""The plan of a run: its cells and their keys, plugins that answer badly, folders of games."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.command import PLUGINS

from eqbench import load_game
from eqbench.errors import StoreError, UsageError
from eqbench.harness import plan
from eqbench.harness.environment import solver_version
from eqbench.harness.experiment import Request
from eqbench.harness.plan import GameFolder, PlannedCell, PlannedSolver, make_plan, new_folder
from eqbench.isolation.child import Outcome
from eqbench.isolation.messages import BuiltFrame, DescribedFrame, ErrorFrame, LastFrame
from eqbench.model.game_cache import store_game
from eqbench.model.tree_files import content_hash, load_tree
from eqbench.registry import default_registry
from eqbench.solver import Limits

FILES = [PLUGINS / "faults.py", PLUGINS / "breakers.py"]
GAME = "is_not_frozen_game"


def error(**changes: bool) -> ErrorFrame:
    kinds = {"usage": False, "memory": False, "unavailable": False}
    return ErrorFrame(type="OSError", message="no such card", traceback="", **(kinds | changes))


@dataclass
class Children:
    """Stands in for `run_child`: gives an answer, and keeps the job."""

    last: LastFrame | None = None
    ended: str = "exit"
    garbled: str = ""
    game: str = ""

    def __call__(self, job: dict[str, Any], limits: Limits) -> Outcome:
        self.job, self.limits = job, limits
        if self.game:
            store_game(replace(load_game(self.game), folder=None), Path(job["folder"]))
        return Outcome(last=self.last, ended=self.ended, garbled=self.garbled, exit_code=3)


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[PlannedCell]]:
    def planned(children: Children | None = None, **request: Any) -> list[PlannedCell]:
        monkeypatch.setattr(plan, "run_child", children)
        registry: Any = default_registry().with_plugins(FILES)
        made = Request(**({"games": ["kuhn2"], "solvers": ["cfr"]} | request))
        return make_plan(made, registry, tmp_path)

    return planned


def test_cells_come_in_the_order_of_games_solvers_seeds_and_repeats(cells: Any) -> None:
    found = cells(games=["jordan,kuhn2"], solvers=["mccfr", "cfr"], seeds=3, repeats=2)
    assert [(cell.game.typed, cell.solver.typed, cell.seed, cell.repeat) for cell in found] == [
        (game, solver, seed, repeat)
        for game in ("jordan", "kuhn2")
        for solver, seeds in (("mccfr", (0, 1, 2)), ("cfr", (None,)))
        for seed in seeds
        for repeat in (0, 1)
    ]
    assert len({cell.key for cell in found}) == len(found)
    assert found[-2].key == cells()[0].key, "the first repeat is the cell of a single one"


def test_what_is_named_twice_is_planned_once(cells: Any) -> None:
    twice = ["kuhn2", "kuhn(players=2,cards=3)", "kuhn2"]
    found = cells(games=twice, solvers=["cfr,cfr", "cfr( )"])
    assert [(cell.game.typed, cell.solver.typed) for cell in found] == [("kuhn2", "cfr")]


def test_cell_has_the_limits_that_were_asked_for(cells: Any) -> None:
    limits = Limits(
        timeout_s=3.0,
        setup_timeout_s=4.0,
        iterations=5,
        target=0.25,
        threads=2,
        memory_bytes=10**9,
        isolation="spawn",
    )
    (cell,) = cells(**vars(limits), tolerance=1e-3)
    assert cell.limits == limits
    assert (cell.request.tolerance, cell.id.target) == (1e-3, 0.25)
    assert cell.game.build_s > 0


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        ({"games": []}, "--game kuhn3"),
        ({"games": [f"kuhn2(pot={pot})" for pot in range(1, 1002)]}, "1,000"),
        ({"solvers": ["mccfr"], "seeds": 10**9}, "100,000"),
    ],
)
def test_plan_without_a_game_or_without_end_is_refused_before_anything_is_built(
    cells: Any, request_: dict[str, Any], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "_plan_game", lambda *arguments: pytest.fail("a game was built"))
    with pytest.raises(UsageError, match=complaint):
        cells(**request_)


# -- keys ---------------------------------------------------------------------------------------


def test_key_of_a_cell_is_that_of_stored_runs() -> None:
    """Another key for the same work would run all stored cells again."""
    tree = SimpleNamespace(payoff_scale=1.0)
    game: Any = SimpleNamespace(
        content="a game", typed="", game=SimpleNamespace(spec="", tree=tree, title="")
    )
    solver = PlannedSolver("cfr", "cfr(alpha=1/2)", True, "1.0")
    request = Request([], [], timeout_s=10.0, iterations=7, setup_timeout_s=60.0, tolerance=1e-6)
    cell = PlannedCell(game, solver, 3, request)
    assert cell.key == "c9a424e9ce5148b5"
    assert replace(cell, seed=None).key != cell.key


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        ({"games": ["kuhn2(pot=3)"]}, False),
        ({"solvers": ["mccfr(start=random)"]}, False),
        ({"solvers": ["cfr"]}, False),
        ({"timeout_s": 11.0}, False),
        ({"setup_timeout_s": 60.0}, False),
        ({"iterations": 7}, False),
        ({"target": 0.5}, False),
        ({"memory_bytes": 2**30}, False),
        ({"threads": 2}, False),
        ({"tolerance": 1e-3}, False),
        ({"games": ["kuhn(players=2, cards=3)"]}, True),
        ({"jobs": 4}, True),
        ({"max_nodes": 10**6}, True),
        ({"isolation": "spawn"}, True),
        ({"games": ["kuhn2", "jordan"], "solvers": ["cfr", "mccfr"], "seeds": 3}, True),
    ],
)
def test_key_depends_on_what_a_result_may_depend_on_and_on_nothing_else(
    cells: Any, change: dict[str, Any], is_same: bool
) -> None:
    (before,) = cells(solvers=["mccfr"])
    after = cells(**({"solvers": ["mccfr"]} | change))
    assert (before.key in {cell.key for cell in after}) == is_same


def test_key_depends_on_the_version_of_the_solver(
    cells: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (before,) = cells()
    monkeypatch.setattr(plan, "solver_version", lambda entry: "another version")
    assert cells()[0].key != before.key


def test_plugin_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    file = shutil.copy(PLUGINS / "faults.py", tmp_path / "brought.py")
    entry = default_registry().with_plugins([file]).solver_entry("well_behaved")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(UsageError, match="regular"):
        solver_version(entry)


# -- plugins ------------------------------------------------------------------------------------


def test_solver_of_a_plugin_is_described_in_a_child_with_the_limits_of_the_run(cells: Any) -> None:
    children = Children(DescribedFrame("floods(calls=5)", False, True, []))
    limits = {"setup_timeout_s": 7.0, "memory_bytes": 10**9}
    found = cells(children, solvers=["floods(calls=5)"], seeds=2, **limits)
    assert [(cell.solver.spec, cell.seed, cell.solver.problem) for cell in found] == [
        ("floods(calls=5)", seed, None) for seed in (0, 1)
    ]
    plugins = (str(PLUGINS / "faults.py"),)
    assert {cell.solver.plugins for cell in found} == {plugins}
    assert children.job == {"do": "describe", "solver": "floods(calls=5)", "plugins": plugins}
    assert children.limits == Limits(**limits)
    deterministic = Children(DescribedFrame("floods(calls=5)", True, True, []))
    assert len(cells(deterministic, solvers=["floods(calls=5)"], seeds=2)) == 1


@pytest.mark.parametrize(
    ("children", "problem"),
    [
        (Children(ended="setup timeout"), ("timeout", "loading it took more than 120 s")),
        (Children(ended="memory"), ("memory", "loading it exceeded the memory limit")),
        (Children(None, "garbled", "it sent {}"), ("crashed", "it sent {}")),
        (Children(), ("crashed", "its plugin ended the process while loading (3)")),
        (Children(error()), ("crashed", "OSError: no such card")),
        (
            Children(DescribedFrame("cfr", True, True, [])),
            ("crashed", "its process answered with 'cfr', no spec of the solver floods"),
        ),
        (Children(error(unavailable=True)), ("unavailable", "missing: no such card")),
    ],
)
def test_solver_that_cannot_be_described_has_one_cell_with_the_reason(
    cells: Any, children: Children, problem: tuple[str, str]
) -> None:
    (cell,) = cells(children, solvers=["floods"], seeds=5)
    assert (cell.solver.problem, cell.seed) == (problem, None)


def test_game_of_a_plugin_is_built_in_a_child_and_read_as_a_copy(
    cells: Any, tmp_path: Path
) -> None:
    children, limits = (
        Children(BuiltFrame(GAME, None, True, []), game="kuhn2"),
        {"setup_timeout_s": 7.0, "memory_bytes": 10**9},
    )
    (cell,) = cells(children, games=[GAME], max_nodes=99, **limits)
    folder, plugins = Path(children.job.pop("folder")), (str(PLUGINS / "breakers.py"),)
    assert children.job == {"do": "build", "game": GAME, "plugins": plugins, "max_nodes": 99}
    assert children.limits == Limits(**limits)
    assert cell.game.game.tree.n_nodes == load_game("kuhn2").tree.n_nodes
    assert not folder.exists()
    assert cell.game.folder.intact().parent == folder.parent == tmp_path


@pytest.mark.parametrize(
    ("children", "request_", "ending", "reason"),
    [
        (Children(error(usage=True)), {"solvers": ["floods"]}, UsageError, "no such card"),
        (Children(error(usage=True)), {}, UsageError, "^no such card$"),
        (Children(error()), {}, UsageError, f"the game {GAME} could not be built: no such card"),
        (Children(ended="setup timeout"), {}, UsageError, "could not be built: setup timeout"),
        (Children(None, "garbled", "it sent {}"), {}, UsageError, "be built: it sent {}"),
        (Children(DescribedFrame(GAME, True, True, [])), {}, UsageError, "be built: exit"),
        (Children(BuiltFrame(GAME, None, True, [])), {}, UsageError, "could not be built"),
        (Children(BuiltFrame("kuhn2", None, True, []), game="kuhn2"), {}, UsageError, "no spec of"),
        (Children(BuiltFrame(GAME, None, True, []), game="kuhn3"), {}, UsageError, "nodes"),
        # an interrupt is meant for the run, even if the child has answered
        (Children(BuiltFrame("x", None, True, []), "interrupted"), {}, KeyboardInterrupt, "^$"),
        (
            Children(DescribedFrame("x", True, True, []), "interrupted"),
            {"solvers": ["well_behaved"]},
            KeyboardInterrupt,
            "^$",
        ),
    ],
)
def test_plugin_that_cannot_be_used_at_all_ends_the_plan(
    cells: Any,
    children: Children,
    request_: dict[str, Any],
    ending: type[BaseException],
    reason: str,
) -> None:
    with pytest.raises(ending, match=reason):
        cells(children, **(request_ or {"games": [GAME]}), max_nodes=100)
    if children.game:
        assert not Path(children.job["folder"]).exists()


# -- scratch folders ----------------------------------------------------------------------------


def test_new_folders_differ_and_the_scratch_folder_is_made_again(tmp_path: Path) -> None:
    workspace = tmp_path / "gone" / "too"
    first, second = new_folder(workspace), new_folder(workspace)
    assert first != second
    assert {first.parent, second.parent} == {workspace}
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="/file/below"):
        new_folder(tmp_path / "file" / "below")


DAMAGES = {
    "a file is overwritten": lambda folder: np.save(folder / "base.npy", np.zeros((3, 2))),
    "a file is gone": lambda folder: (folder / "base.npy").unlink(),
    "the folder is gone": shutil.rmtree,
    "all scratch folders are gone": lambda folder: shutil.rmtree(folder.parent),
    "a file is more": lambda folder: (folder / "slope.npy").write_bytes(b"x"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_folder_of_a_game_is_kept_until_it_is_changed(tmp_path: Path, damage: str) -> None:
    workspace = tmp_path / "scratch"
    game, path = load_game("kuhn2"), new_folder(workspace)
    store_game(game, path)
    kept = GameFolder(game, path, workspace)
    before = kept.intact()
    assert kept.intact() == before
    DAMAGES[damage](before)
    after = kept.intact()
    assert after != before
    assert content_hash(load_tree(after)) == content_hash(game.tree)
    assert kept.intact() == after
