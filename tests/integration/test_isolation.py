"""The process of a cell: how it is started changes what it costs, and nothing that it finds; and
nothing of it stays, however it, its server or its run ends.

With EQBENCH_EVERY_GAME in the environment every solver is tried on all games of the contract suite
that it gets done with, which takes minutes, instead of one of each module, and of what draws random
numbers or has several engines, on one game.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from helpers.command import PATIENCE_S, PLUGINS, wait_for
from helpers.gambit_games import ENDS_ON, ends_on

from eqbench import load_game
from eqbench.harness.experiment import Experiment, Request
from eqbench.harness.run import carry_out
from eqbench.isolation import server
from eqbench.isolation.child import Outcome, _Child, run_child
from eqbench.isolation.messages import DoneFrame, Frame, SnapshotFrame
from eqbench.isolation.server import ScratchFolder
from eqbench.model.tree_files import save_tree
from eqbench.registry import default_registry
from eqbench.solver import Limits
from eqbench.store.schema import CellRecord
from eqbench.testing.solver_suite import GAMES

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks its children")
EVERY = "EQBENCH_EVERY_GAME" in os.environ
BUILTIN = [entry for entry in default_registry().solvers() if entry.builtin]
# The first of each module: solvers of one module share its code and the libraries that it loads.
FIRST = {entry.module: entry.name for entry in reversed(BUILTIN)}.values()
RANDOM = ("mccfr", "mip", "openspiel_mccfr", "gambit_simpdiv")
SOLVERS = [entry.name for entry in BUILTIN if EVERY or entry.name in {*FIRST, *RANDOM}]
COSTS = ("elapsed_s", "cpu_s", "setup_s", "overhead_s", "peak_memory_bytes")
LIMITS = Limits(setup_timeout_s=300, timeout_s=300)
SHORT = Limits(setup_timeout_s=300, timeout_s=0.3)
FILES = [str(PLUGINS / f"{name}.py") for name in ("forked", "faults", "accidents")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("game")
    save_tree(load_game("kuhn2").tree, folder)
    return folder


@pytest.fixture
def solve(folder: Path) -> Any:
    def solve(solver: str, limits: Limits = LIMITS, on_frame: Any = lambda frame: None) -> Outcome:
        job = {"do": "solve", "solver": solver, "plugins": FILES, "game_spec": "kuhn2", "seed": 3}
        job |= {"folder": str(folder)}
        job |= {"limits": dataclasses.asdict(dataclasses.replace(limits, iterations=50))}
        return run_child(job, limits, on_frame)

    return solve


def found(outcome: Outcome) -> dict[str, Any]:
    assert isinstance(outcome.last, DoneFrame), outcome
    return outcome.last.statistics


def processes() -> set[int]:
    """Those that this process has started, but for their servers."""
    return {
        process.pid
        for child in psutil.Process().children()
        for process in child.children(recursive=True)
    }


# -- forked and spawned ----------------------------------------------------------------------------


def games_of(solver: str) -> list[str]:
    """Games on which a solver is tried: one, or all that it gets done with."""
    if EVERY:
        return [game for game in GAMES if ends_on(solver, game)]
    return ["matching_pennies" if solver in (*ENDS_ON, "mip") else "kuhn2"]


def stored(folder: Path, record: CellRecord) -> dict[str, Any]:
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


def all_stored(isolation: str, folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
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
    run = carry_out(Experiment(parts), folder)
    return {(cell.game, cell.solver): stored(folder, cell) for cell in run.cells}


@LINUX
def test_solvers_find_bit_for_bit_the_same_forked_and_spawned(tmp_path: Path) -> None:
    forked = all_stored("fork", tmp_path / "fork")
    spawned = all_stored("spawn", tmp_path / "spawn")
    assert {solver for _, solver in forked} == set(SOLVERS)
    assert [cell for cell in forked if forked[cell] != spawned[cell]] == []
    statuses = [cell["status"] for cell in forked.values()]
    assert not {"crashed", "timeout", "memory", "refuted"} & set(statuses)
    assert statuses.count("unsupported") < len(statuses) // 4, "hardly anything was compared"


# What is asked for, variables that are set, and whether the child is a fork of the server.
STARTED: dict[str, tuple[dict[str, Any], dict[str, str], bool]] = {
    "as usual": ({}, {}, True),
    "with another variable": ({}, {"EQBENCH_TEST_VARIABLE": "other"}, True),
    "spawned": ({"isolation": "spawn"}, {}, False),
    "with threads": ({"threads": 2}, {}, False),
    "with another LC_ALL": ({}, {"LC_ALL": "C.UTF-8"}, False),
}


@LINUX
@pytest.mark.parametrize("name", STARTED)
def test_child_is_forked_only_where_that_is_what_a_new_interpreter_would_be(
    solve: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    solve("exits")  # the server is there
    asked, variables, forked = STARTED[name]
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    process = found(solve("process", dataclasses.replace(LIMITS, **asked)))
    assert process["module"] == f"eqbench.isolation.{'server' if forked else 'worker'}"
    assert process["threads"] == str(asked.get("threads", 1))


def test_server_knows_the_variables_that_a_fork_would_read_too_late() -> None:
    connection, other = socket.socketpair()
    with connection, other:
        serving = server._Serving(connection)
        same = dict(os.environ)
        assert not serving._read_other(same | {"EQBENCH_TEST_VARIABLE": "other"})
        for name in ("NUMBA_OPT", "TZ", "MALLOC_ARENA_MAX", "NPY_DISABLE_CPU_FEATURES", "LC_ALL"):
            assert serving._read_other(same | {name: "another"}), name
            assert serving._read_other({k: v for k, v in same.items() if k != name}) == (
                name in same
            )
        for descriptor in (serving._wake, serving._wakes):
            os.close(descriptor)


@LINUX
def test_forked_child_finds_the_surroundings_of_a_spawned_one(
    solve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve("exits")
    monkeypatch.setenv("EQBENCH_TEST_VARIABLE", "set later")
    tmp_path.chmod(0o311)  # a folder that may not be listed is no obstacle
    monkeypatch.chdir(tmp_path)
    first, second = (found(solve("process")) for _ in range(2))
    spawned = found(solve("process", dataclasses.replace(LIMITS, isolation="spawn")))
    tmp_path.chmod(0o700)
    assert (first["folder"], first["variable"]) == (str(tmp_path), "set later")
    assert first["drawn"] != second["drawn"], "a generator without a seed"
    same = first.keys() - {"drawn", "module"}
    assert {name: first[name] for name in same} == {name: spawned[name] for name in same}


@LINUX
def test_memory_of_a_forked_cell_is_about_that_of_a_spawned_one(tmp_path: Path) -> None:
    """What is ready in the server may come on top; code that libraries map does not count."""
    peaks = {}
    for isolation in ("fork", "spawn"):
        request = Request(["kuhn2"], ["semismooth"], isolation=isolation)
        run = carry_out(Experiment((request,)), tmp_path / isolation)
        peaks[isolation] = run.cells[0].peak_memory_bytes or 0
    assert 40 * 2**20 < peaks["spawn"] < 1.1 * peaks["fork"]
    assert peaks["fork"] < 1.4 * peaks["spawn"]


# -- how a child ends ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("isolation", "given", "code", "more"),
    [
        ("fork", "0", 0, ""),
        ("fork", "3", 3, ""),
        ("fork", '"the reason"', 1, "the reason"),
        ("fork", '"interrupt"', -signal.SIGINT, "KeyboardInterrupt"),
        ("spawn", '"the reason"', 1, "the reason"),
        ("spawn", '"interrupt"', -signal.SIGINT, "KeyboardInterrupt"),
    ],
)
def test_exit_code_and_last_words_of_a_child_arrive(
    solve: Any, isolation: str, given: str, code: int, more: str
) -> None:
    outcome = solve(f"exits(code={given})", dataclasses.replace(LIMITS, isolation=isolation))
    assert (outcome.ended, outcome.exit_code) == ("exit", code)
    assert outcome.log.endswith(more or "the last words")


def test_frames_and_exit_code_of_an_aborting_child_are_kept(solve: Any) -> None:
    kinds: list[str] = []
    outcome = solve("aborts", SHORT, lambda frame: kinds.append(frame.kind))
    assert kinds == ["ready", "snapshot"]
    assert (outcome.exit_code, outcome.last) == (-signal.SIGABRT, None)


def test_every_frame_of_a_flood_arrives_in_order(solve: Any) -> None:
    frames: list[Frame] = []
    outcome = solve("floods", LIMITS, frames.append)
    work = [frame.clocks.work for frame in frames if isinstance(frame, SnapshotFrame)]
    assert work == sorted(work)
    assert isinstance(outcome.last, DoneFrame)
    assert outcome.clocks is not None
    assert outcome.clocks.work == 20000


def ends_in_time(solve: Any, solver: str, limit_s: float) -> bool:
    """Whether a job ends within `limit_s`; if it does not, its process is killed here."""
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(solve(solver, SHORT)))
    thread.start()
    thread.join(limit_s)
    in_time = not thread.is_alive()
    if not in_time:
        for number in processes():
            psutil.Process(number).kill()
        thread.join()
    return in_time


@pytest.mark.parametrize("solver", ["loops_in_native_code", "ignores_sigterm"])
def test_hanging_child_is_killed_at_its_deadline(solve: Any, solver: str) -> None:
    assert ends_in_time(solve, solver, limit_s=30)


def test_deadline_test_notices_a_deadline_that_does_not_hold(
    solve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Child, "_exceeded", lambda *args, **options: None)
    assert not ends_in_time(solve, "loops_in_native_code", limit_s=3)


def test_answer_that_came_in_time_counts_however_late_it_is_looked_at(
    solve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run loses the processor until long after the deadline; the child had ended before."""
    measure, waited = _Child._measure_memory, list[bool]()

    def slow(child: _Child) -> None:
        measure(child)
        if child.outcome.ready and not waited:
            waited.append(True)
            time.sleep(SHORT.timeout_s + 4)

    monkeypatch.setattr(_Child, "_measure_memory", slow)
    outcome = solve("well_behaved", SHORT)
    assert outcome.ended == "exit"
    assert isinstance(outcome.last, DoneFrame)


@LINUX
@pytest.mark.parametrize("isolation", ["fork", "spawn"])
@pytest.mark.parametrize(
    ("kind", "last"),
    [("daemon", True), ("helpers", True), ("kills_itself", False), ("daemon_and_hang", False)],
)
def test_nothing_that_a_solver_starts_outlives_its_cell(
    solve: Any, isolation: str, kind: str, last: bool
) -> None:
    outcome = solve(f"accidents(kind={kind})", dataclasses.replace(SHORT, isolation=isolation))
    assert outcome.ready
    assert isinstance(outcome.last, DoneFrame) == last
    assert processes() == set()


@LINUX
def test_what_a_solver_leaves_is_killed_while_its_neighbor_keeps_its_own(solve: Any) -> None:
    solve("exits")
    with ThreadPoolExecutor(2) as threads:
        neighbor = threads.submit(solve, "accidents(kind=daemon_and_hang)", SHORT)
        assert wait_for(lambda: len(processes()) >= 2)
        limits = dataclasses.replace(SHORT, timeout_s=0.1)
        assert isinstance(solve("accidents(kind=daemon)", limits).last, DoneFrame)
        assert neighbor.result().ended == "timeout"
    assert processes() == set()


# -- the server and the run ------------------------------------------------------------------------


@LINUX
def test_server_that_was_killed_costs_the_cells_at_work_and_is_replaced(solve: Any) -> None:
    solve("exits")
    before = server._servers[0]._process
    with ScratchFolder() as scratch, ThreadPoolExecutor(1) as threads:
        neighbor = threads.submit(solve, "process(seconds=600)")
        assert wait_for(lambda: len(processes()) == 1)
        before.kill()
        outcome = neighbor.result(PATIENCE_S)
        assert (outcome.ended, outcome.last, outcome.exit_code) == ("exit", None, -signal.SIGKILL)
        assert found(solve("process"))["tasks"] == 1
        assert Path(scratch).exists()
    assert server._servers[0]._process.pid != before.pid
    assert not Path(scratch).exists()


def test_fork_of_this_process_has_no_part_in_its_server(solve: Any) -> None:
    solve("exits")
    mine = server._servers[0]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)  # it lives on
        os._exit(len(server._servers) + server._starting.locked())
    os.close(reading)
    server.close_server()
    assert mine._process.returncode == 0
    os.close(writing)
    assert os.waitpid(child, 0)[1] == 0


def test_worker_that_cannot_be_started_is_a_crash_with_the_reason(
    solve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getcwd", lambda: "/nowhere/at/all")
    outcome = solve("process")
    assert (outcome.ended, outcome.exit_code) == ("exit", 1)
    assert "/nowhere" in outcome.log


def test_scratch_folder_is_removed_with_whatever_is_in_it() -> None:
    scratch = ScratchFolder()
    deep = Path(scratch.name, *["d"] * 50)
    deep.mkdir(parents=True)
    deep.chmod(0o500)
    scratch.cleanup()
    assert not Path(scratch.name).exists()
