"""Children forked by a server that is ready are what newly started interpreters would be."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
import pytest
from command import PATIENCE_S, PLUGINS, wait_for

import eqbench
from eqbench.isolation import child as module
from eqbench.isolation import server as fork_server
from eqbench.isolation.child import Limits, Outcome, run_child
from eqbench.isolation.guard import Guardian
from eqbench.isolation.messages import DoneFrame, Frame, ProfileFrame
from eqbench.isolation.server import ForkServerError, server_for
from eqbench.model.tree_files import save_tree
from eqbench.solver import Budget

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks its children")
LIMITS = Limits(setup_timeout_s=300, timeout_s=300)


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {name: tmp_path_factory.mktemp("game") for name in ("kuhn2", "skp")}
    for name, folder in folders.items():
        save_tree(eqbench.load_game(name).tree, folder)
    return folders


@pytest.fixture
def solve(games: dict[str, Path], guardian: Guardian) -> Any:
    def solve(solver: str, game: str = "kuhn2") -> tuple[Outcome, list[Frame]]:
        frames: list[Frame] = []
        job = {
            "do": "solve",
            "solver": solver,
            "plugins": [str(PLUGINS / f"{name}.py") for name in ("forked", "faults", "escapes")],
            "game_spec": game,
            "folder": str(games[game]),
            "seed": 3,
            "budget": asdict(Budget(iterations=50)),
        }
        return run_child(job, LIMITS, guardian, frames.append), frames

    return solve


def no_server(*given: Any) -> Any:
    raise ForkServerError("there is none")


def found(outcome: Outcome) -> dict[str, Any]:
    assert isinstance(outcome.last, DoneFrame), outcome
    return outcome.last.statistics


def server() -> fork_server.ForkServer:
    return fork_server._servers[0]


def test_forked_child_has_the_folder_and_the_variables_of_now(
    solve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(solve("process")[0])  # the server is there
    monkeypatch.setenv("EQBENCH_TEST_VARIABLE", "set later")
    monkeypatch.chdir(tmp_path)
    forked = found(solve("process")[0])
    assert (forked["folder"], forked["variable"]) == (str(tmp_path), "set later")
    monkeypatch.setattr(module, "server_for", no_server)
    spawned = found(solve("process")[0])
    assert {**forked, "drawn": 0} == {**spawned, "drawn": 0}


def test_variable_that_is_read_once_gets_a_server_of_its_own(
    solve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(solve("process")[0])
    before = server()._process
    monkeypatch.setenv("NUMBA_OPT", "2")
    found(solve("process")[0])
    assert server()._process.pid != before.pid
    assert before.poll() is not None


@pytest.mark.parametrize("name", ["LC_ALL", "TZ", "MALLOC_ARENA_MAX", "NPY_DISABLE_CPU_FEATURES"])
def test_server_does_not_serve_what_has_to_be_read_at_the_start(solve: Any, name: str) -> None:
    found(solve("process")[0])
    mine = server()
    assert mine.serves({**mine.environment, "EQBENCH_TEST_VARIABLE": "other"})
    assert not mine.serves({**mine.environment, name: "other"})


def test_folder_that_may_not_be_listed_is_no_obstacle(
    solve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o311)
    monkeypatch.chdir(tmp_path)
    assert found(solve("process")[0])["folder"] == str(tmp_path)
    tmp_path.chmod(0o700)


def test_generators_that_nobody_seeded_differ_between_siblings(solve: Any) -> None:
    assert found(solve("process")[0])["drawn"] != found(solve("process")[0])["drawn"]


def test_parallel_kernel_runs_in_a_forked_child(solve: Any) -> None:
    assert found(solve("parallel")[0])["total"] == 1000


@pytest.mark.parametrize(
    ("given", "code", "more"), [("0", 0, ""), ("3", 3, ""), ('"the reason"', 1, "the reason")]
)
def test_exit_code_and_last_words_of_a_forked_child_arrive(solve: Any, given, code, more) -> None:
    outcome, _ = solve(f"exits(code={given})")
    assert (outcome.exit_code, outcome.log) == (code, f"the last words{more}")


def test_exit_code_arrives_where_the_run_ignores_the_end_of_children(solve: Any) -> None:
    fork_server.close_servers()
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert solve("exits(code=3)")[0].exit_code == 3
        fork_server.close_servers()
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_interrupted_solver_ends_by_the_signal(solve: Any) -> None:
    assert solve("interrupts_itself")[0].exit_code == -signal.SIGINT


def test_interrupt_while_the_server_reaps_leaves_no_answer_to_the_next_request(
    solve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(solve("process")[0])
    ask = fork_server.ForkServer.ask

    def interrupted(
        server: fork_server.ForkServer, request: dict[str, Any], *given: Any
    ) -> dict[str, Any]:
        if "reap" in request:
            signal.raise_signal(signal.SIGINT)
        return ask(server, request, *given)

    with monkeypatch.context() as patched:
        patched.setattr(fork_server.ForkServer, "ask", interrupted)
        outcome, _ = solve("process")
    assert (outcome.ended, outcome.exit_code) == ("interrupted", 0)
    assert solve("process")[0].exit_code == 0


def test_server_whose_answer_was_not_awaited_is_ended(
    solve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted:
        def __init__(self, real: Any) -> None:
            self.real = real

        def __getattr__(self, name: str) -> Any:
            return getattr(self.real, name)

        def recv(self, size: int) -> bytes:
            raise KeyboardInterrupt

    found(solve("process")[0])
    mine = server()
    monkeypatch.setattr(mine, "_socket", Interrupted(mine._socket))
    with pytest.raises(KeyboardInterrupt):
        mine.ask({"reap": 0}, PATIENCE_S)
    assert mine._process.wait(PATIENCE_S) == -signal.SIGKILL


def test_no_server_is_started_where_its_children_cannot_be_watched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(process: int) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", missing)
    with pytest.raises(ForkServerError, match=r"Linux from 5\.3"):
        server_for({}, threads=1)


def test_several_threads_of_a_library_are_never_forked() -> None:
    with pytest.raises(ForkServerError, match="threads"):
        server_for({}, threads=2)


def test_server_that_was_killed_is_replaced(solve: Any) -> None:
    found(solve("process")[0])
    os.kill(server()._process.pid, signal.SIGKILL)
    server()._process.wait()
    assert found(solve("process")[0])["tasks"] == 1


def test_cells_at_work_are_judged_by_what_they_say_when_one_kills_the_server(solve: Any) -> None:
    found(solve("process")[0])
    before = server()._process.pid
    with ThreadPoolExecutor(2) as threads:
        neighbor = threads.submit(solve, "process(seconds=2)")
        assert wait_for(lambda: len(psutil.Process(before).children(recursive=True)) == 2)
        killer = threads.submit(solve, "signals_its_server")
        ended = [neighbor.result()[0], killer.result()[0]]
    assert [outcome.ended for outcome in ended] == ["exit", "exit"]
    assert all(isinstance(outcome.last, DoneFrame) for outcome in ended)
    assert found(solve("process")[0])["tasks"] == 1
    assert server()._process.pid != before


def test_server_that_a_cell_stops_costs_the_next_one_only_a_moment(
    solve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "ANSWER_S", 2.0)
    found(solve("process")[0])
    stopped = server()._process
    assert isinstance(solve("signals_its_server(signal=SIGSTOP)")[0].last, DoneFrame)
    assert found(solve("process")[0])["tasks"] == 1
    assert stopped.wait(PATIENCE_S) == -signal.SIGKILL


def test_process_with_several_threads_does_not_fork() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        with pytest.raises(RuntimeError, match="threads"):
            fork_server._fork({}, [], None)  # type: ignore[arg-type]
    finally:
        stop.set()
        thread.join()


def test_fork_of_this_process_has_no_part_in_its_server(solve: Any) -> None:
    found(solve("process")[0])
    mine = server()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)  # it lives on
        os._exit(len(fork_server._servers) + fork_server._starting.locked())
    os.close(reading)
    assert server_for(mine.environment, 1) is mine
    fork_server.close_servers()
    assert mine._process.returncode == 0
    os.close(writing)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    ("solver", "game"),
    [
        ("pcfr_plus(start=random)", "kuhn2"),
        ("mccfr", "kuhn2"),
        ("arclength", "skp"),
        ("logit", "skp"),
        ("semismooth", "skp"),
        ("lcp", "kuhn2"),
    ],
)
def test_forked_child_finds_bit_for_bit_what_a_new_interpreter_finds(
    solve: Any, monkeypatch: pytest.MonkeyPatch, solver: str, game: str
) -> None:
    def profiles(frames: list[Frame]) -> list[bytes]:
        return [frame.profile for frame in frames if isinstance(frame, ProfileFrame)]

    forked = profiles(solve(solver, game)[1])
    monkeypatch.setattr(module, "server_for", no_server)
    assert forked == profiles(solve(solver, game)[1])
    assert forked
