"""Planning and recording: interrupts are obeyed, and curves end with what the cell shows."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command import PLUGINS

from eqbench import load_game
from eqbench.errors import UsageError
from eqbench.harness import plan
from eqbench.harness.attempt import trace_of
from eqbench.harness.environment import solver_version
from eqbench.harness.plan import GameFolder, make_plan, new_folder
from eqbench.harness.request import Request
from eqbench.isolation.child import Outcome
from eqbench.isolation.messages import BuiltFrame, DescribedFrame
from eqbench.model.game_cache import store_game
from eqbench.model.tree_files import content_hash, load_tree
from eqbench.registry import default_registry


def test_plugin_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    file = shutil.copy(PLUGINS / "faults.py", tmp_path / "brought.py")
    entry = default_registry().with_plugins([file]).solver_entry("well_behaved")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(UsageError, match=r"cannot read the plugin .* it is not a regular file"):
        solver_version(entry)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (Request(["kuhn2"], ["well_behaved"]), DescribedFrame("x", True, True, [])),
        (Request(["is_not_frozen_game"], ["cfr"]), BuiltFrame("x", None, True, [])),
    ],
)
def test_interrupt_during_planning_ends_it_even_if_the_child_has_answered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request_: Request, answer: Any
) -> None:
    outcome = Outcome(last=answer, ended="interrupted")
    monkeypatch.setattr(plan, "run_child", lambda *arguments: outcome)
    files = [PLUGINS / "faults.py", PLUGINS / "breakers.py"]
    registry: Any = default_registry().with_plugins(files)
    with pytest.raises(KeyboardInterrupt):
        make_plan(request_, registry, tmp_path)


def finding(work: int, regret: float, claim: str) -> Any:
    return SimpleNamespace(
        work=work,
        elapsed_s=work / 10,
        max_regret=regret,
        rank=(True, regret),
        candidate=SimpleNamespace(claim=claim),
        measured=SimpleNamespace(regrets=(regret, 0.0), payoffs=(1.0, -1.0)),
    )


@pytest.mark.parametrize(("last", "works"), [(12, [4, 8, 12]), (8, [4, 8])])
def test_anytime_curve_ends_with_the_profile_that_the_cell_shows(
    last: int, works: list[int]
) -> None:
    path = [finding(4, 0.5, "average"), finding(8, 0.25, "average")]
    handed = [finding(last, 0.2, "iterate"), finding(last, 0.1, "average")]
    curve = trace_of(path, handed)
    assert curve is not None
    with np.load(io.BytesIO(curve)) as arrays:
        assert arrays["work"].tolist() == works
        if last == 12:
            assert arrays["regrets"][-1].tolist() == [0.1, 0.0]
            assert arrays["claim"][-1] == "average"


def keys(tmp_path: Path, **changes: Any) -> list[str]:
    request = Request(**({"games": ["kuhn2"], "solvers": ["mccfr"]} | changes))
    return [cell.key for cell in make_plan(request, default_registry(), tmp_path)]


@pytest.mark.parametrize(
    "change",
    [
        {"games": ["kuhn2(pot=3)"]},
        {"solvers": ["mccfr(start=random)"]},
        {"solvers": ["cfr"]},
        {"timeout_s": 11.0},
        {"setup_timeout_s": 60.0},
        {"iterations": 7},
        {"target": 0.5},
        {"memory_bytes": 2**30},
        {"threads": 2},
        {"tolerance": 1e-3},
    ],
)
def test_key_depends_on_all_that_a_result_may_depend_on(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    assert keys(tmp_path) != keys(tmp_path, **change)


@pytest.mark.parametrize(
    "change",
    [
        {"games": ["kuhn(players=2, cards=3)"]},
        {"jobs": 4},
        {"max_nodes": 10**6},
        {"games": ["kuhn2", "jordan"], "solvers": ["cfr", "mccfr"], "seeds": 3},
    ],
)
def test_key_does_not_depend_on_spelling_company_or_order(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    (key,) = keys(tmp_path)
    assert key in keys(tmp_path, **change)


def test_key_depends_on_the_version_of_the_solver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keys(tmp_path)
    assert keys(tmp_path) == before
    monkeypatch.setattr(plan, "solver_version", lambda entry: "another version")
    assert keys(tmp_path) != before


# -- the folder of a game -----------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path: Path) -> GameFolder:
    workspace = tmp_path / "scratch"
    workspace.mkdir()
    game = load_game("kuhn2")
    path = new_folder(workspace)
    store_game(game, path)
    return GameFolder(game, path, workspace)


def test_folder_of_a_game_stays_while_it_is_as_it_was_written(kept: GameFolder) -> None:
    assert kept.intact() == kept.intact()


DAMAGES = {
    "a file is overwritten": lambda folder: np.save(folder / "base.npy", np.zeros((3, 2))),
    "a file is gone": lambda folder: (folder / "base.npy").unlink(),
    "the folder is gone": shutil.rmtree,
    "all scratch folders are gone": lambda folder: shutil.rmtree(folder.parent),
    "a file is more": lambda folder: (folder / "slope.npy").write_bytes(b"x"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_folder_that_was_changed_is_replaced(kept: GameFolder, damage: str) -> None:
    before = kept.intact()
    DAMAGES[damage](before)
    after = kept.intact()
    assert after != before
    assert content_hash(load_tree(after)) == content_hash(load_game("kuhn2").tree)
    assert kept.intact() == after


@pytest.mark.parametrize(
    ("change", "limit"),
    [
        ({"games": [f"kuhn2(pot={pot})" for pot in range(1, 1002)]}, "1,000"),
        ({"solvers": ["mccfr"], "seeds": 10**9}, "100,000"),
    ],
)
def test_plan_without_end_is_refused_before_anything_is_built(
    tmp_path: Path, change: dict[str, Any], limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "_plan_game", lambda *arguments: pytest.fail("a game was built"))
    with pytest.raises(UsageError, match=limit):
        keys(tmp_path, **change)
