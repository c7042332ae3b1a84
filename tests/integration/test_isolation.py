"""How the process of a cell is started changes what it costs, and nothing that it finds.

With EQBENCH_EVERY_GAME in the environment each solver is tried on all games of the contract suite
that it gets done with, which takes minutes, instead of on one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import PLUGINS
from gambit_cases import ENDS_ON, ends_on

from eqbench.harness import child as module
from eqbench.harness.experiment import Experiment
from eqbench.harness.request import Request
from eqbench.harness.start import carry_out
from eqbench.registry import default_registry
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run
from eqbench.testing.solver_suite import GAMES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks its children")
SOLVERS = [entry.name for entry in default_registry().solvers() if entry.builtin]
COSTS = ("elapsed_s", "cpu_s", "setup_s", "overhead_s", "peak_memory_bytes")


def games_of(solver: str) -> list[str]:
    """Games on which a solver is tried: one, or all that it gets done with."""
    if "EQBENCH_EVERY_GAME" in os.environ:
        return [game for game in GAMES if ends_on(solver, game)]
    return ["matching_pennies" if solver in (*ENDS_ON, "mip") else "kuhn2"]


def found(folder: Path, record: CellRecord) -> dict[str, Any]:
    """All that is stored of a cell but its costs, with what its files hold in place of names."""
    stored = record.to_json() | dict.fromkeys((*COSTS, "log"))
    for equilibrium in stored["equilibria"]:
        equilibrium["profile"] = (folder / equilibrium["profile"]).read_bytes()
    if record.trace:
        with np.load(folder / record.trace) as arrays:
            stored["trace"] = {n: arrays[n].tobytes() for n in arrays.files if n != "elapsed_s"}
    times = [name for name in record.statistics if name.endswith("_s")]
    stored["statistics"] = record.statistics | dict.fromkeys(times)
    return stored


def all_found(isolation: str, folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    parts = tuple(
        Request(
            [game],
            [solver for solver in SOLVERS if game in games_of(solver)],
            iterations=30,
            timeout_s=300.0,
            setup_timeout_s=300.0,
            jobs=2,
            isolation=isolation,
        )
        for game in GAMES
        if any(game in games_of(solver) for solver in SOLVERS)
    )
    run = read_run(carry_out(Experiment(parts), folder))
    return {(cell.game, cell.solver): found(folder, cell) for cell in run.cells}


def test_every_solver_finds_bit_for_bit_the_same_forked_and_spawned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forked = all_found("fork", tmp_path / "fork")
    monkeypatch.setattr(module, "server_for", None)  # whoever asks for a server fails
    spawned = all_found("spawn", tmp_path / "spawn")
    assert {solver for _, solver in forked} == set(SOLVERS)
    assert [cell for cell in forked if forked[cell] != spawned[cell]] == []
    statuses = [cell["status"] for cell in forked.values()]
    assert not {"crashed", "timeout", "memory", "refuted"} & set(statuses)
    assert statuses.count("unsupported") < len(statuses) // 4, "hardly anything was compared"


def test_nothing_is_forked_where_all_is_to_be_spawned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what solves nor what tells of a plugin's solver or game."""
    monkeypatch.setattr(module, "server_for", None)
    plugins = [str(PLUGINS / "faults.py"), str(PLUGINS / "breakers.py")]
    game, solver = "is_not_frozen_game", "well_behaved"
    request = Request([game], [solver], iterations=5, isolation="spawn", plugins=plugins)
    (cell,) = read_run(carry_out(Experiment((request,)), tmp_path / "run")).cells
    assert (cell.game, cell.solver, cell.status) == (game, solver, "limit")
    with pytest.raises(TypeError):
        carry_out(Experiment((Request(["kuhn2"], ["cfr"]),)), tmp_path / "other")


def test_memory_of_a_forked_cell_is_about_that_of_a_spawned_one(tmp_path: Path) -> None:
    """What is ready in the server may come on top; code that libraries map does not count."""
    peaks = {}
    for isolation in ("fork", "spawn"):
        request = Request(["kuhn2"], ["semismooth"], isolation=isolation)
        folder = carry_out(Experiment((request,)), tmp_path / isolation)
        peaks[isolation] = read_run(folder).cells[0].peak_memory_bytes or 0
    assert 40 * 2**20 < peaks["spawn"] < 1.1 * peaks["fork"]
    assert peaks["fork"] < 1.4 * peaks["spawn"]
