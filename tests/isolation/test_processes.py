"""Which processes belong to a cell, and what they have in memory."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.command import wait_for

from eqbench.isolation import processes as module
from eqbench.isolation.processes import children, family_memory_bytes, memory_bytes

SIZE = 64 * 2**20
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all that is resident counts")


@pytest.mark.parametrize("listed", [True, False])
def test_children_and_their_memory_are_found_until_they_have_ended(
    monkeypatch: pytest.MonkeyPatch, listed: bool
) -> None:
    if not listed:  # as on macOS
        monkeypatch.setattr(module, "_LISTS_CHILDREN", False)
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    assert process.pid in children(os.getpid())
    assert wait_for(lambda: len(children(process.pid)) == 1)
    assert family_memory_bytes(process.pid) > memory_bytes(process.pid) > 2**20
    process.communicate()
    assert process.pid not in children(os.getpid())
    assert (children(process.pid), family_memory_bytes(process.pid)) == ([], 0)


@LINUX
def test_memory_that_may_not_be_dropped_counts_and_mapped_files_do_not(tmp_path: Path) -> None:
    file, own = tmp_path / "file", os.getpid()
    file.write_bytes(bytes(SIZE))
    before = memory_bytes(own)
    with (
        open(file, "rb") as opened,
        mmap.mmap(opened.fileno(), SIZE, prot=mmap.PROT_READ) as mapped,
    ):
        assert mapped.find(b"x") == -1
        assert memory_bytes(own) - before < SIZE / 2
    with mmap.mmap(-1, SIZE) as shared:  # as between the processes of a solver
        shared.write(b"x" * SIZE)
        assert memory_bytes(own) - before > SIZE / 2
