"""`eqbench doctor --locks`: locks that hold are told from those that do not."""

from __future__ import annotations

import errno
import fcntl
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.command import PATIENCE_S, eqbench_here

from eqbench.cli import doctor as lock_check
from eqbench.cli.doctor import lock_checks

OTHER = """
import sys
from pathlib import Path
from eqbench.cli.doctor import lock_checks
print([check.state for check in lock_checks(Path(sys.argv[1]), float(sys.argv[2]), print, "node7")])
"""


def states(folder: Path, wait_s: float) -> list[str]:
    return [check.state for check in lock_checks(folder, wait_s, lambda words: None)]


def test_two_machines_that_refuse_each_other_see_it_and_leave_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OTHER, str(tmp_path), str(PATIENCE_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        found = lock_checks(tmp_path, PATIENCE_S, lambda words: None)
        out, _ = other.communicate(timeout=PATIENCE_S)
    assert [check.state for check in found] == ["good", "good"]
    assert "node7" in found[1].detail
    assert out.endswith("['good', 'good']\n")
    assert list(tmp_path.iterdir()) == []


def test_machine_whose_lock_can_be_taken_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It beats, but what it holds is not seen here, as with locks that are local to a machine."""
    monkeypatch.setattr(lock_check, "BEAT_S", 0.02)
    monkeypatch.setattr(lock_check, "LINGER_S", 0.02)
    stop, file = threading.Event(), tmp_path / ".eqbench-lock-of-node7-1"

    def beat() -> None:
        number = 0
        while not stop.wait(0.005):
            number += 1
            file.write_text(str(number))

    other = threading.Thread(target=beat)
    other.start()
    try:
        found = lock_checks(tmp_path, PATIENCE_S, lambda words: None)
    finally:
        stop.set()
        other.join()
    assert [check.state for check in found] == ["good", "broken"]
    assert "node7" in found[1].detail


def test_what_a_killed_check_has_left_is_no_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock_check, "BEAT_S", 0.01)
    (tmp_path / ".eqbench-lock-of-node7-1").write_text("000000003")
    assert states(tmp_path, 0.1) == ["good", "absent"]


def test_locks_that_do_not_keep_processes_apart_are_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "lockf", lambda *arguments: None)  # the other process has real ones
    assert states(tmp_path, PATIENCE_S) == ["broken"]


def test_folder_without_locks_fails_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", fail)
    done = eqbench_here("doctor", "--locks", ".", "--json", cwd=tmp_path)
    assert done.code == 1
    assert [check["state"] for check in json.loads(done.out)["checks"]] == ["broken"]
    assert list(tmp_path.iterdir()) == []
