"""Which processes belong to a cell, what they have in memory, and who is killed."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from eqbench.isolation import processes as module
from eqbench.isolation.processes import Process, Sampler, Table, memory_bytes, process_of

SIZE = 64 * 2**20
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all that is resident counts")


def test_family_are_the_group_what_was_known_and_all_below() -> None:
    leader, stranger = Process(10, 1, 10, 1.0), Process(20, 1, 20, 1.0)
    worker, child = Process(11, 10, 11, 2.0), Process(12, 11, 12, 3.0)
    orphan = Process(13, 1, 10, 3.0)  # of the group
    daemon, below = Process(14, 1, 14, 4.0), Process(15, 14, 14, 5.0)
    table = Table([leader, stranger, worker, child, orphan, daemon, below])
    assert set(table.family(10)) == {worker, child, orphan}
    assert set(table.family(10, [daemon])) == {worker, child, orphan, daemon, below}
    successor = Process(20, 10, 10, 0.5)  # it had the number of the stranger before it
    assert stranger not in table.family(10, [successor])


def test_only_the_process_that_was_seen_is_killed_and_not_one_with_its_number() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    seen = process_of(process.pid)
    assert seen is not None
    assert (seen.parent, seen.group) == (os.getpid(), os.getpgid(0))
    seen._replace(started=seen.started - 1).kill()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    seen.kill()
    assert process.wait(60) == -9
    assert process.stdin is not None
    process.stdin.close()
    assert process_of(process.pid) is None
    seen.kill()


def test_all_threads_share_one_look_until_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looks = [1000.0], []

    class Clock:
        monotonic = staticmethod(lambda: now[0])
        thread_time = staticmethod(lambda: 0.01 * len(looks))  # a hundredth of a second each

    monkeypatch.setattr(module, "time", Clock)
    monkeypatch.setattr(module, "all_processes", lambda: looks.append(now[0]) or [])
    sampler = Sampler()
    with ThreadPoolExecutor(4) as threads:
        tables = set(threads.map(lambda _: sampler.newest(), range(40)))
    assert (len(tables), looks) == (1, [1000.0])
    now[0] += 0.19
    assert {sampler.newest()} == tables, "looking would take more than a twentieth of a core"
    now[0] += 0.02
    assert sampler.newest() not in tables
    assert len(looks) == 2


@LINUX
def test_memory_that_may_not_be_dropped_counts_and_mapped_files_do_not(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(SIZE))
    before = memory_bytes("self")
    assert before == memory_bytes(os.getpid()) > 2**20
    with (
        open(file, "rb") as opened,
        mmap.mmap(opened.fileno(), SIZE, prot=mmap.PROT_READ) as mapped,
    ):
        assert mapped.find(b"x") == -1
        assert memory_bytes("self") - before < SIZE / 2
    with mmap.mmap(-1, SIZE) as shared:  # as between the processes of a solver
        shared.write(b"x" * SIZE)
        assert memory_bytes("self") - before > SIZE / 2


def test_process_that_has_ended_has_no_memory() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert memory_bytes(process.pid) == 0
