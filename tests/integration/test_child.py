"""One child: deadlines that hold, and a proof that the deadline test would notice a broken one."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
import pytest
from command import PLUGINS

import eqbench
from eqbench.isolation.child import Limits, Outcome, _Child, _Reader, run_child
from eqbench.isolation.guard import Guardian
from eqbench.isolation.messages import (
    DoneFrame,
    ErrorFrame,
    Frame,
    ReadyFrame,
    SnapshotFrame,
    write_frame,
)
from eqbench.model.tree_files import save_tree
from eqbench.solver import Budget

LIMITS = Limits(setup_timeout_s=300, timeout_s=0.3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("game")
    save_tree(eqbench.load_game("kuhn2").tree, folder)
    return folder


def job(folder: Path, solver: str) -> dict[str, Any]:
    return {
        "do": "solve",
        "solver": solver,
        "plugins": [str(PLUGINS / "faults.py"), str(PLUGINS / "escapes.py")],
        "game_spec": "kuhn2",
        "folder": str(folder),
        "seed": 0,
        "budget": asdict(Budget(time_s=LIMITS.timeout_s)),
    }


def ends_in_time(job: dict[str, Any], guardian: Guardian, limit_s: float) -> bool:
    """Whether a job is over within `limit_s`; if it is not, its process is ended here."""
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(run_child(job, LIMITS, guardian)))
    thread.start()
    thread.join(limit_s)
    over = not thread.is_alive()
    if not over:
        for process in psutil.Process().children(recursive=True):
            if process.pid not in before:
                process.kill()
        thread.join()
    return over


@pytest.mark.parametrize("solver", ["loops_in_native_code", "ignores_sigterm"])
def test_hanging_child_is_killed_at_its_deadline(
    folder: Path, guardian: Guardian, solver: str
) -> None:
    assert ends_in_time(job(folder, solver), guardian, limit_s=30)


def test_deadline_test_notices_a_deadline_that_does_not_hold(
    folder: Path, guardian: Guardian, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Child, "_exceeded", lambda *args, **options: None)
    assert not ends_in_time(job(folder, "loops_in_native_code"), guardian, limit_s=3)


def test_frames_and_exit_code_of_an_aborting_child_are_kept(
    folder: Path, guardian: Guardian
) -> None:
    kinds: list[str] = []
    outcome = run_child(
        job(folder, "aborts"), LIMITS, guardian, lambda frame: kinds.append(frame.kind)
    )
    assert kinds == ["ready", "snapshot"]
    assert outcome.exit_code == -6
    assert outcome.last is None


def test_every_frame_of_a_flood_arrives_in_order(folder: Path, guardian: Guardian) -> None:
    frames: list[Frame] = []
    limits = Limits(setup_timeout_s=300, timeout_s=300)
    outcome = run_child(job(folder, "floods"), limits, guardian, frames.append)
    work = [frame.clocks.work for frame in frames if isinstance(frame, SnapshotFrame)]
    assert work == sorted(work)
    assert isinstance(outcome.last, DoneFrame)
    assert outcome.clocks is not None
    assert outcome.clocks.work == 20000


def test_no_process_is_left_when_a_child_has_ended(folder: Path, guardian: Guardian) -> None:
    run_child(job(folder, "raises"), LIMITS, guardian)  # what forks children stays
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    run_child(job(folder, "ignores_sigterm"), LIMITS, guardian)
    assert guardian._groups == set(), "its number may soon be that of a stranger"
    assert {process.pid for process in psutil.Process().children(recursive=True)} == before


def test_guardian_that_was_killed_is_replaced(folder: Path, guardian: Guardian) -> None:
    guardian._process.kill()
    guardian._process.wait()
    outcome = run_child(job(folder, "raises"), LIMITS, guardian)
    assert isinstance(outcome.last, ErrorFrame)
    assert guardian._process.poll() is None


# -- what tries to escape ---------------------------------------------------------------------


def is_alive(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
@pytest.mark.parametrize("then", ["end", "hang", "kill the keeper"])
def test_daemon_of_a_solver_does_not_outlive_its_cell(
    folder: Path, guardian: Guardian, tmp_path: Path, then: str
) -> None:
    pids = tmp_path / "pids"
    outcome = run_child(
        job(folder, f'leaves_a_daemon(pids="{pids}", then="{then}")'), LIMITS, guardian
    )
    assert not is_alive(int(pids.read_text()))
    assert outcome.ready
    assert isinstance(outcome.last, DoneFrame) == (then == "end")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signal_of_a_solver_to_its_parent_changes_nothing(
    folder: Path, guardian: Guardian, name: str
) -> None:
    limits = Limits(setup_timeout_s=300, timeout_s=300)
    outcome = run_child(job(folder, f"signals_its_parent(signal={name})"), limits, guardian)
    assert isinstance(outcome.last, DoneFrame)
    assert (outcome.ended, outcome.exit_code) == ("exit", 0)


@pytest.mark.parametrize(("name", "last"), [("SIGKILL", False), ("SIGSTOP", True)])
def test_solver_that_ends_its_keeper_hurts_only_itself(
    folder: Path, guardian: Guardian, name: str, last: bool
) -> None:
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    limits = Limits(setup_timeout_s=300, timeout_s=300)
    outcome = run_child(job(folder, f"signals_its_parent(signal={name})"), limits, guardian)
    assert (outcome.last is not None) == last
    assert outcome.ended == "exit"
    assert {process.pid for process in psutil.Process().children(recursive=True)} == before


def test_clock_of_a_solver_starts_only_once(folder: Path, guardian: Guardian) -> None:
    assert ends_in_time(job(folder, "starts_its_clock_again"), guardian, limit_s=30)


def test_frames_of_a_child_that_ends_while_the_reader_is_delayed_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reader sees an empty pipe, loses the processor, and finds that it shall stop."""
    receiver, sender = os.pipe()
    polled, go_on = threading.Event(), threading.Event()
    poll = select.poll

    class DelayedPoll:
        def __init__(self) -> None:
            self._poll = poll()
            self.register = self._poll.register

        def poll(self, timeout: int) -> list[tuple[int, int]]:
            readable = self._poll.poll(timeout)
            if not readable and not polled.is_set():
                polled.set()
                go_on.wait()
            return readable

    monkeypatch.setattr("eqbench.isolation.child.select.poll", DelayedPoll)
    reader = _Reader(receiver)
    assert polled.wait(60)
    write_frame(sender, ReadyFrame())
    os.close(sender)
    threading.Timer(0.1, go_on.set).start()
    assert reader.rest() == [ReadyFrame()]


def test_answer_that_came_in_time_counts_however_late_it_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, folder: Path, guardian: Guardian
) -> None:
    """The run loses the processor until long after the deadline; the child had ended before."""
    measure = _Child._measure_memory
    waited: list[bool] = []

    def slow(child: _Child) -> None:
        measure(child)
        if child.outcome.ready and not waited:
            waited.append(True)
            time.sleep(LIMITS.timeout_s + 4)

    monkeypatch.setattr(_Child, "_measure_memory", slow)
    outcome = run_child(job(folder, "well_behaved"), LIMITS, guardian)
    assert outcome.ended == "exit"
    assert isinstance(outcome.last, DoneFrame)
