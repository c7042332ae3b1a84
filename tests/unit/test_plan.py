"""The plan of a run: which cells there are, and what becomes of plugins that do not answer well."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command import PLUGINS

from eqbench import load_game
from eqbench.errors import StoreError, UsageError
from eqbench.harness import plan
from eqbench.harness.plan import Cell, PlannedSolver, make_plan, new_folder
from eqbench.harness.request import Request
from eqbench.isolation.child import Limits, Outcome
from eqbench.isolation.messages import BuiltFrame, DescribedFrame, ErrorFrame, LastFrame
from eqbench.model.game_cache import store_game
from eqbench.registry import default_registry

FILES = [PLUGINS / "faults.py", PLUGINS / "breakers.py"]


def error(**changes: bool) -> ErrorFrame:
    kinds = {"usage": False, "memory": False, "unavailable": False}
    return ErrorFrame(type="OSError", message="no such card", traceback="", **(kinds | changes))


@dataclass
class Children:
    """Stands in for `run_child`: gives an answer, and keeps what was asked."""

    last: LastFrame | None = None
    ended: str = "exit"
    garbled: str = ""
    game: str = ""

    def __call__(self, job: dict[str, Any], limits: Limits) -> Outcome:
        self.job, self.limits = job, limits
        if self.game:
            store_game(replace(load_game(self.game), folder=None), Path(job["folder"]))
        return Outcome(last=self.last, ended=self.ended, garbled=self.garbled, exit_code=3)


def cells_of(
    monkeypatch: pytest.MonkeyPatch, folder: Path, children: Children | None = None, **asked: Any
) -> list[Cell]:
    monkeypatch.setattr(plan, "run_child", children)
    registry: Any = default_registry().with_plugins(FILES)
    request = Request(**({"games": ["kuhn2"], "solvers": ["cfr"]} | asked))
    return make_plan(request, registry, folder)


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    return lambda *children, **asked: cells_of(monkeypatch, tmp_path, *children, **asked)


def test_cells_come_in_the_order_of_games_solvers_and_seeds(cells: Any) -> None:
    found = cells(games=["jordan,kuhn2"], solvers=["mccfr", "cfr"], seeds=3)
    assert [(cell.game.typed, cell.solver.typed, cell.seed) for cell in found] == [
        (game, solver, seed)
        for game in ("jordan", "kuhn2")
        for solver, seeds in (("mccfr", (0, 1, 2)), ("cfr", (None,)))
        for seed in seeds
    ]


def test_repeats_are_planned_one_after_another_and_the_first_has_the_key_of_a_single_one(
    cells: Any,
) -> None:
    once, thrice = cells(), cells(repeats=3)
    assert [cell.repeat for cell in thrice] == [0, 1, 2]
    assert len({cell.key for cell in thrice}) == 3
    assert thrice[0].key == once[0].key


def test_what_is_named_twice_is_planned_once(cells: Any) -> None:
    twice = ["kuhn2", "kuhn(players=2,cards=3)", "kuhn2"]
    found = cells(games=twice, solvers=["cfr,cfr", "cfr( )"])
    assert [(cell.game.typed, cell.solver.typed) for cell in found] == [("kuhn2", "cfr")]


def test_plan_without_a_game_is_refused(cells: Any) -> None:
    with pytest.raises(UsageError, match="--game kuhn3"):
        cells(games=[])


def test_cell_has_the_limits_that_were_asked_for(cells: Any) -> None:
    (cell,) = cells(
        timeout_s=3.0,
        setup_timeout_s=4.0,
        iterations=5,
        target=0.25,
        threads=2,
        memory_bytes=10**9,
        tolerance=1e-3,
        isolation="spawn",
    )
    budget = cell.budget
    assert (budget.time_s, budget.iterations, budget.target) == (3.0, 5, 0.25)
    assert (budget.threads, budget.memory_bytes) == (2, 10**9)
    assert (cell.limits.setup_timeout_s, cell.request.tolerance, cell.target) == (4.0, 1e-3, 0.25)
    assert cell.limits.isolation == "spawn"
    assert len(cell.key) == 16
    assert cell.game.build_s > 0


def test_key_of_a_cell_is_that_of_stored_runs() -> None:
    """Another key for the same work would run all stored cells again."""
    game: Any = SimpleNamespace(content="a game")
    solver = PlannedSolver("cfr", "cfr(alpha=1/2)", True, "1.0")
    request = Request([], [], timeout_s=10.0, iterations=7, setup_timeout_s=60.0, tolerance=1e-6)
    cell = Cell(game, solver, 3, request)
    assert cell.key == "c9a424e9ce5148b5"
    assert replace(cell, seed=None).key != cell.key
    assert replace(cell, request=replace(request, isolation="spawn")).key == cell.key


# -- solvers of plugins -------------------------------------------------------------------------


def test_solver_of_a_plugin_is_described_in_a_child_with_the_limits_of_the_run(cells: Any) -> None:
    children = Children(DescribedFrame("floods(calls=5)", False, True, []))
    found = cells(
        children, solvers=["floods(calls=5)"], seeds=2, setup_timeout_s=7.0, memory_bytes=10**9
    )
    assert [(cell.solver.spec, cell.seed) for cell in found] == [
        ("floods(calls=5)", 0),
        ("floods(calls=5)", 1),
    ]
    (file,) = {cell.solver.plugins for cell in found}
    assert children.job == {"do": "describe", "solver": "floods(calls=5)", "plugins": file}
    assert file == (str(PLUGINS / "faults.py"),)
    assert (children.limits.setup_timeout_s, children.limits.memory_bytes) == (7.0, 10**9)
    assert found[0].solver.problem is None
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


def test_solver_with_wrong_options_ends_the_plan(cells: Any) -> None:
    with pytest.raises(UsageError, match="no such card"):
        cells(Children(error(usage=True)), solvers=["floods"])


# -- games of plugins ---------------------------------------------------------------------------

GAME = "is_not_frozen_game"


def test_game_of_a_plugin_is_built_in_a_child_and_read_as_a_copy(
    cells: Any, tmp_path: Path
) -> None:
    children = Children(BuiltFrame(GAME, None, True, []), game="kuhn2")
    (cell,) = cells(children, games=[GAME], setup_timeout_s=7.0, memory_bytes=10**9, max_nodes=99)
    folder = Path(children.job["folder"])
    assert children.job == {
        "do": "build",
        "game": GAME,
        "plugins": (str(PLUGINS / "breakers.py"),),
        "folder": str(folder),
        "max_nodes": 99,
    }
    assert (children.limits.setup_timeout_s, children.limits.memory_bytes) == (7.0, 10**9)
    assert cell.game.game.tree.n_nodes == load_game("kuhn2").tree.n_nodes
    assert not folder.exists()
    assert cell.game.folder.intact().parent == folder.parent == tmp_path


@pytest.mark.parametrize(
    ("children", "reason"),
    [
        (Children(error(usage=True)), "^no such card$"),
        (Children(error()), f"the game {GAME} could not be built: no such card"),
        (Children(ended="setup timeout"), "could not be built: setup timeout"),
        (Children(None, "garbled", "it sent {}"), "could not be built: it sent {}"),
        (Children(DescribedFrame(GAME, True, True, [])), "could not be built: exit"),
        (Children(BuiltFrame(GAME, None, True, [])), "could not be built"),
        (Children(BuiltFrame("kuhn2", None, True, []), game="kuhn2"), "no spec of"),
        (Children(BuiltFrame(GAME, None, True, []), game="kuhn3"), "nodes"),
    ],
)
def test_game_that_cannot_be_built_ends_the_plan_with_the_reason(
    cells: Any, tmp_path: Path, children: Children, reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        cells(children, games=[GAME], max_nodes=100)
    if not isinstance(children.last, ErrorFrame) and children.game:
        assert not Path(children.job["folder"]).exists()


# -- scratch folders ----------------------------------------------------------------------------


def test_new_folders_differ_and_the_scratch_folder_is_made_again(tmp_path: Path) -> None:
    workspace = tmp_path / "gone" / "too"
    first, second = new_folder(workspace), new_folder(workspace)
    assert first != second
    assert {first.parent, second.parent} == {workspace}


def test_scratch_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"scratch folder .*/file/below: .*TMPDIR"):
        new_folder(tmp_path / "file" / "below")


def test_plan_has_at_most_so_many_games(cells: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "MOST_GAMES", 2)
    assert len(cells(games=["kuhn2", "jordan"])) == 2
    with pytest.raises(UsageError, match="3 games"):
        cells(games=["kuhn2", "jordan", "shapley"])
