"""Cells of a run that several processes share: one of them at a time, and none for ever."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from helpers.runs import cell, write_run

from eqbench.errors import UsageError
from eqbench.store.json_lines import LineReader, append_line
from eqbench.store.run_folder import Claims, RunFolder

HOLD = """
import sys, time
from pathlib import Path
from eqbench.store.run_folder import Claims
claims = Claims(Path(sys.argv[1]))
print(*map(claims.take, sys.argv[2:]), flush=True)
time.sleep(60)
"""
WRITE = """
import json, sys
from pathlib import Path
from eqbench.store.json_lines import append_line
for number in range(200):
    line = json.dumps({"writer": sys.argv[2], "number": number, "text": "x" * 5000})
    append_line(Path(sys.argv[1]), line.encode())
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_cell_of_another_process_is_taken_only_after_its_death(tmp_path: Path) -> None:
    file, key = tmp_path / "claims", "00ff00ff00ff00ff"
    other = start(HOLD, file, key)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        claims = Claims(file)
        assert not claims.take(key)
        assert claims.take("ff00ff00ff00ff00"), "other cells are free"
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
        if other.stdout:
            other.stdout.close()
    assert claims.take(key)
    claims.close()


def test_writers_that_append_at_the_same_time_and_are_killed_leave_whole_lines(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lines"
    writers = [start(WRITE, file, name) for name in "ab"]
    while not file.exists() or file.stat().st_size < 200_000:
        pass
    writers[0].kill()
    for writer in writers:
        writer.communicate()
    append_line(file, b'{"writer": "c", "number": 0}')
    lines = list(LineReader(file, json.loads).new())
    assert len(lines) == len(file.read_bytes().splitlines())
    for name in "abc":
        numbers = [line["number"] for line in lines if line["writer"] == name]
        assert numbers == list(range(len(numbers)))
    assert sum(line["writer"] == "b" for line in lines) == 200


@pytest.fixture(params=[errno.ENOLCK, errno.ENOSYS])
def no_locks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(request.param, "No locks available")

    monkeypatch.setattr("fcntl.lockf", fail)
    monkeypatch.setattr("fcntl.flock", fail)


@pytest.mark.usefixtures("no_locks")
def test_without_locks_in_the_file_system_one_runner_can_work(tmp_path: Path) -> None:
    for _ in range(2):  # one after the other
        claims = Claims(tmp_path / "claims")
        assert claims.take("00ff")
        claims.release("00ff")
        claims.close()


@pytest.mark.usefixtures("no_locks")
def test_without_locks_threads_of_one_runner_append_whole_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_in_two(descriptor: int, line: bytes) -> int:
        first = write(descriptor, line[:10])
        time.sleep(0.001)  # who appends meanwhile would take it for a torn line
        return first + write(descriptor, line[10:])

    write = os.write
    monkeypatch.setattr("os.write", write_in_two)
    lines = [b"%d" % number * 200 for number in range(10)] * 8
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(partial(append_line, tmp_path / "lines"), lines))
    found = [line.rstrip() for line in LineReader(tmp_path / "lines", bytes).new()]
    assert sorted(found) == sorted(lines)


@pytest.mark.usefixtures("no_locks")
def test_without_locks_a_second_runner_is_refused_before_it_changes_the_plan(
    tmp_path: Path,
) -> None:
    run = write_run(tmp_path / "run", cell("01"))
    claims = RunFolder.open(run).claims()
    for use in (RunFolder.claims, lambda folder: folder.resumed(folder.plan)):
        with pytest.raises(UsageError, match=f"process {os.getpid()} on .* no locks.*wait until"):
            use(RunFolder.open(run))
    assert not (run / "resumed.jsonl").exists()
    claims.close()
    RunFolder.open(run).claims().close()


@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize(
    ("left", "advice"),
    [
        ({"host": socket.gethostname(), "process": 2**22 + 1}, "it has ended, so remove"),
        ({"host": "elsewhere", "process": 2**22 + 1}, "if it has died, remove"),
        ({"host": socket.gethostname(), "process": 2**70}, "remove"),
        ({}, "remove"),
        ([], "remove"),
    ],
)
def test_mark_that_a_runner_has_left_is_explained_and_stays(
    tmp_path: Path, left: object, advice: str
) -> None:
    (tmp_path / "runner.json").write_text(json.dumps(left))
    with pytest.raises(UsageError, match=advice):
        Claims(tmp_path / "claims")
    assert (tmp_path / "runner.json").exists()
    (tmp_path / "runner.json").unlink()
    Claims(tmp_path / "claims").close()


def test_locks_that_fail_otherwise_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> None:
        raise OSError(errno.EIO, "broken")

    claims = Claims(tmp_path / "claims")
    monkeypatch.setattr("fcntl.lockf", broken)
    with pytest.raises(OSError, match="broken"):
        claims.take("00ff")
    with pytest.raises(OSError, match="broken"):
        Claims(tmp_path / "claims")
    claims.close()


def test_only_the_cell_that_was_released_is_free_for_others(tmp_path: Path) -> None:
    file, keys = tmp_path / "claims", ["00ff", "00fe", "00fd"]
    claims = Claims(file)
    for key in keys:
        assert claims.take(key)
    claims.release(keys[1])
    with start(HOLD, file, *keys) as other:
        assert other.stdout is not None
        assert other.stdout.readline().split() == ["False", "True", "False"]
        other.kill()
    claims.close()
