"""The cheapest hostile trials of every kind; `make attack` runs them all."""

from __future__ import annotations

import subprocess
import sys

import pytest
from attack import run
from attack.sandbox import Ended, Job, Sandbox

QUICK = list(run.all_jobs(quick=True))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("job", QUICK, ids=lambda job: f"{job.kind}, {job.name}")
def test_promise_holds_under_attack(job: Job) -> None:
    results = job.run()
    assert results
    assert [result for result in results if not result.held] == []


@pytest.mark.parametrize(
    ("ended", "complaint"),
    [
        (Ended(None, "", ""), "hung"),
        (Ended(1, "", "Error: no"), "exit 1"),
        (Ended(0, "\x1b[2J", ""), "control"),
        (Ended(0, "", "a\x9bb"), "control"),
        (Ended(0, "\u202e", ""), "control"),
        (Ended(0, "x" * 10**6, ""), "prints"),
        (Ended(0, "", "Traceback (most recent call last):\n"), "traceback"),
    ],
)
def test_what_no_command_may_do_is_noticed(ended: Ended, complaint: str) -> None:
    assert any(complaint in found for found in ended.complaints())


def test_process_that_stays_is_noticed_and_killed() -> None:
    with Sandbox() as sandbox:
        code = "import os, time; os.setsid() if os.fork() == 0 else os._exit(0); time.sleep(300)"
        process = sandbox.start([sys.executable, "-c", code], stdin=subprocess.DEVNULL)
        process.wait()
        assert len(sandbox.left_behind()) == 1
        assert sandbox.survivors() == []
