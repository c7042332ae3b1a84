"""What works on a system without forks, signals and locks: Windows, as far as it can be simulated.

Of the standard library modules of eqbench see only what Windows has, in every process.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from helpers.command import PLUGINS, Ended, eqbench, started, wait_for

from eqbench.store.run_folder import RUNNER

FAULTS = ("--plugin", str(PLUGINS / "faults.py"))
CODE = """
import sys
import eqbench
import eqbench.isolation.child
assert eqbench.isolation.child.Worker.__module__ == "eqbench.isolation.spawned"
solved = eqbench.solve("kuhn2", "sequence_lp")
print(solved.status, solved.identity.name)
print(eqbench.verify("kuhn2", solved.profile).max_regret < 1e-12)
"""


@pytest.fixture(autouse=True)
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "helpers" / "windows"))


def carried_out(*words: str | Path, cwd: Path, code: int = 0) -> Ended:
    done = eqbench(*words, cwd=cwd)
    assert (done.code, "Traceback" in done.err) == (code, False), done.err
    return done


def test_games_are_solved_and_verified_in_process(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["ok", "kuhn2", "True"]


def test_run_is_stored_and_read_again(tmp_path: Path) -> None:
    ran = carried_out(
        *("run", "--game", "kuhn2", "--solver", "sequence_lp,case_enumeration", "--out", "r"),
        *("--json", "--jobs", "2"),
        cwd=tmp_path,
    )
    assert {cell["status"] for cell in ran.json["cells"]} == {"ok"}
    stored = [item["profile"] for cell in ran.json["cells"] for item in cell["equilibria"]]
    assert stored
    assert all("\\" not in path and (tmp_path / "r" / path).is_file() for path in stored)
    shown = carried_out("show", "r", "sequence_lp", "--json", cwd=tmp_path).json
    assert shown["candidate"]["max_regret"] < 1e-12
    verified = carried_out("verify", "r/sequence_lp", "--json", cwd=tmp_path).json
    assert verified["max_regret"] < 1e-12
    carried_out("info", "kuhn2", cwd=tmp_path)
    carried_out("report", "r", "--format", "html,csv,md", "--out", "reports", cwd=tmp_path)
    carried_out("results", ".", cwd=tmp_path)
    resumed = carried_out("run", "--resume", "r", cwd=tmp_path)
    assert "all 2 cells are there already" in resumed.err
    assert not (tmp_path / "r" / RUNNER).exists()


def test_study_is_carried_out_and_resumed(tmp_path: Path) -> None:
    begun = carried_out(
        *("qre", "--game", "kuhn2", "--at", "1", "--out", "q", "--json"), cwd=tmp_path
    )
    again = carried_out("qre", "--resume", "q", "--json", cwd=tmp_path)
    assert again.json["branches"] == begun.json["branches"] != []


@pytest.mark.parametrize(
    ("solver", "limits", "status"),
    [
        ("ignores_sigterm(pids=pids.txt)", ("--timeout", "1"), "timeout"),
        ("loops_in_native_code", ("--timeout", "1"), "timeout"),
        ("hangs_in_prepare", ("--setup-timeout", "3"), "timeout"),
        ("exhausts_memory", ("--memory", "600MiB"), "memory"),
        ("floods", (), "limit"),
        ("aborts", (), "crashed"),
        ("well_behaved", (), "limit"),
    ],
)
def test_spawned_child_is_ended_at_its_limits_with_what_it_started(
    tmp_path: Path, solver: str, limits: tuple[str, ...], status: str
) -> None:
    words = ("run", "--game", "kuhn2", "--solver", solver, *FAULTS, *limits, "--json")
    done = eqbench(*words, cwd=tmp_path)
    assert "Traceback" not in done.err
    (cell,) = done.json["cells"]
    assert cell["status"] == status
    if solver.startswith("ignores"):
        assert cell["equilibria"], "what it had reported is kept"
        numbers = map(int, (tmp_path / "pids.txt").read_text(encoding="utf-8").split())
        assert wait_for(lambda: not any(map(psutil.pid_exists, numbers)))


def test_second_runner_is_refused_where_no_locks_share_a_run(tmp_path: Path) -> None:
    words = ("run", "--game", "kuhn2", "--solver", "loops_in_native_code", *FAULTS)
    first = started(*words, "--timeout", "600", "--out", "r", cwd=tmp_path)
    try:
        assert wait_for((tmp_path / "r" / RUNNER).exists)
        second = carried_out("run", "--resume", "r", cwd=tmp_path, code=2)
        assert "only one runner" in second.err
    finally:
        first.send_signal(signal.SIGINT)  # stands for Ctrl-C
        _out, err = first.communicate()
    assert (first.returncode, "Traceback" in err) == (130, False), err
    lines = (tmp_path / "r" / "interrupted.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["status"] for line in lines] == ["interrupted"]
    assert not (tmp_path / "r" / RUNNER).exists()
