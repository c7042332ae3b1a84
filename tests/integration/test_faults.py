"""Solvers that misbehave: statuses and exit codes of the interface, and nothing lost.

What goes wrong in a solver by accident costs its own cell and nothing else.
"""

from __future__ import annotations

import json
import runpy
import signal
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest
from helpers.command import PATIENCE_S, PLUGINS, Ended, eqbench, eqbench_here, started, wait_for

FAULTS = PLUGINS / "faults.py"
EXPECTED = {
    "aborts": ("crashed", "SIGABRT"),
    "exhausts_memory": ("memory", "above the limit of 600 MiB"),
    "raises": ("crashed", "ArithmeticError: the matrix is singular"),
    "claims_wrong_equilibrium": ("refuted", "claimed an equilibrium, but a player gains"),
    "lies_about_regret": ("refuted", "claimed max regret 1e-12, measured"),
    "says_converged": ("stopped", "above the target"),
    "hands_over_nothing": ("not_found", "no profile"),
    "floods": ("limit", "flooded"),
    "needs_a_licence": ("unavailable", "licence: no licence file found"),
    "needs_a_larger_licence": ("unavailable", "licence_size: 24 variables, 3 allowed"),
    "needs_a_larger_licence(most=24)": ("limit", "did its best"),
    "claims_too_little": ("refuted", "gains 0.542"),
    "meets_target_only_on_the_way": ("stopped", "above the target"),
    "ends_with_nonsense": ("crashed", "the reason is one of converged, limit"),
    "returns_nothing": ("crashed", "it must return a Termination"),
    "sends_what_is_no_profile": ("crashed", "cannot be used"),
    "dies_of_a_nameless_signal": ("crashed", "signal 40"),
    "two_players_only": ("limit", "did its best"),
    "well_behaved": ("limit", "did its best"),
}
STREAMED_BEFORE_DEATH = (
    "loops_in_native_code",
    'ignores_sigterm(pids="pids")',
    "aborts",
    "exhausts_memory",
    "raises",
)


# Each waits for its limit, which must leave a busy machine time for what comes before.
STUBBORN = 'ignores_sigterm(pids="pids")'  # it and a process that it has started
LATE = {
    "loops_in_native_code": ("timeout", "killed 1 s after its limit of 2 s"),
    STUBBORN: ("timeout", "killed 1 s after its limit of 2 s"),
    "hangs_in_prepare": ("timeout", "set-up took more than 15 s"),
}
IMPORTED = {"hangs_on_import": ("timeout", "loading it took more than 15 s")}
TABLE = runpy.run_path(str(PLUGINS / "accidents.py"))["TABLE"]
ACCIDENTS = {f"accidents(kind={kind})": (status, words) for kind, status, words, _ in TABLE}
for solver, (status, words) in ACCIDENTS.items():
    (LATE if status == "timeout" else EXPECTED)[solver] = (status, words)


def _run(folder: Path, solvers: Iterable[str], *options: str) -> Ended:
    return eqbench(
        *("run", "--game", "kuhn2", "--solver", ",".join(solvers), "--json", "--out", "run"),
        *("--plugin", FAULTS, "--plugin", PLUGINS / "hangs_on_import.py"),
        *("--plugin", PLUGINS / "accidents.py", *options),
        cwd=folder,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Ended]:
    """Three runs at a time, since two of them mostly wait for limits."""
    short = ("--timeout", "2", "--setup-timeout", "15", "-j", "4")
    asked = (
        ([*EXPECTED, "cfr_plus"], "--timeout", "300", "--memory", "600MiB", "--iterations", "50"),
        (LATE, *short),
        (IMPORTED, *short),
    )
    folders = [tmp_path_factory.mktemp("run") for _ in asked]
    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(lambda folder, asked: _run(folder, *asked), folders, asked))


@pytest.fixture(scope="module")
def ended(runs: list[Ended]) -> Ended:
    """One run of all faulty solvers that end by themselves; the well-behaved ones come last."""
    return runs[0]


@pytest.fixture(scope="module")
def late(runs: list[Ended]) -> Ended:
    """One run of those that have to be ended."""
    return runs[1]


@pytest.mark.parametrize("solver", EXPECTED)
def test_fault_becomes_its_status_with_a_reason(ended: Ended, solver: str) -> None:
    status, reason = EXPECTED[solver]
    cell = ended.cell(solver)
    assert (cell["status"], reason in cell["reason"]) == (status, True), cell["reason"]
    assert cell["reason"].isprintable()
    assert len(cell["reason"]) < 1000


@pytest.mark.parametrize("solver", [*LATE, *IMPORTED])
def test_solver_that_does_not_end_is_ended_at_its_limit(runs: list[Ended], solver: str) -> None:
    status, reason = (LATE | IMPORTED)[solver]
    run = runs[1 if solver in LATE else 2]
    cell = run.cell(solver)
    assert (cell["status"], reason in cell["reason"]) == (status, True), cell["reason"]
    assert run.code == 0, "limits alone are no failure"


def test_process_that_outlives_its_solver_is_killed(late: Ended) -> None:
    family = [int(word) for word in (late.folder / "pids").read_text().split()]
    assert len(family) == 2
    assert not any(map(_alive, family))


@pytest.mark.parametrize("solver", STREAMED_BEFORE_DEATH)
def test_what_was_streamed_before_death_is_kept_and_measured(
    ended: Ended, late: Ended, solver: str
) -> None:
    cell = (late if solver in LATE else ended).cell(solver)
    assert cell["nash_conv"] == pytest.approx(11 / 12)
    assert cell["iterations"] == 7
    assert [item["claim"] for item in cell["equilibria"]] == ["iterate"]


def test_traceback_and_output_of_a_crash_are_kept(ended: Ended) -> None:
    log = Path(ended.json["run"]) / ended.cell("raises")["log"]
    text = (ended.folder / log).read_text()
    assert "to fail" in text
    assert "singular" in text


def test_clock_of_a_crash_runs_until_the_crash(ended: Ended) -> None:
    assert ended.cell("raises")["elapsed_s"] > 0.05


def test_crash_and_refutation_end_the_run_with_code_1(ended: Ended) -> None:
    assert ended.code == 1
    assert "Traceback" not in ended.err


def test_refuted_candidate_is_marked_but_still_measured(ended: Ended) -> None:
    (item,) = ended.cell("claims_wrong_equilibrium")["equilibria"]
    assert item["refuted"]
    assert item["nash_conv"] == pytest.approx(11 / 12)


def test_flood_is_thinned_to_64_snapshots_and_its_cost_kept_apart(ended: Ended) -> None:
    cell = ended.cell("floods")
    trace = np.load(ended.folder / ended.json["run"] / cell["trace"])
    assert cell["iterations"] == 20000, "the flood was not cut short"
    assert 0 < len(trace["work"]) <= 64
    assert trace["work"][0] == 1
    assert cell["overhead_s"] > 0


def test_memory_peak_of_the_killed_cell_is_recorded(ended: Ended) -> None:
    assert ended.cell("exhausts_memory")["peak_memory_bytes"] > 600 * 2**20


def test_run_in_which_nothing_could_run_ends_with_code_4(tmp_path: Path) -> None:
    done = eqbench_here(
        *("run", "--game", "kuhn3", "--solver", "needs_a_licence,two_players_only", "--json"),
        *("--plugin", FAULTS),
        cwd=tmp_path,
    )
    assert done.code == 4
    assert done.cell("two_players_only")["status"] == "unsupported"
    assert done.cell("two_players_only")["reason"].endswith("two players")


def _start(tmp_path: Path, *solvers: str, jobs: int = 1) -> subprocess.Popen[str]:
    named = (part for solver in solvers for part in ("--solver", solver))
    limits = ("--timeout", "600", "--plugin", FAULTS, "-j", str(jobs))
    return started("run", "--game", "kuhn2", "--json", *named, *limits, cwd=tmp_path)


def _alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_sigkill_of_the_run_leaves_no_live_process_and_no_scratch_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids, scratch = tmp_path / "pids", tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    run = _start(tmp_path, f'ignores_sigterm(pids="{pids}")')
    try:
        assert wait_for(pids.exists)
        family = [int(word) for word in pids.read_text().split()]
        assert len(family) == 2
        assert all(map(_alive, family))
    finally:
        run.send_signal(signal.SIGKILL)
        run.communicate()
    assert wait_for(lambda: not any(map(_alive, family)))
    assert wait_for(lambda: not list(scratch.iterdir()))


def test_interrupt_keeps_finished_cells_and_what_all_running_ones_had_reported(
    tmp_path: Path,
) -> None:
    pids = [tmp_path / name for name in "ab"]
    stubborn = (f'ignores_sigterm(pids="{file}")' for file in pids)
    run = _start(tmp_path, "well_behaved", *stubborn, jobs=2)
    assert wait_for(lambda: all(file.exists() for file in pids))
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 130
    document = json.loads(out)
    assert [cell["solver"] for cell in document["cells"]] == ["well_behaved"]
    assert "1 of 3" in err
    assert f"eqbench run --resume {document['run']}" in err
    assert "Traceback" not in err
    assert len(document["interrupted"]) == 2
    for stopped in document["interrupted"]:
        assert stopped["status"] == "interrupted"
        assert stopped["nash_conv"] == pytest.approx(11 / 12), "what it had streamed is kept"
        assert (tmp_path / document["run"] / stopped["equilibria"][0]["profile"]).exists()
    family = [int(word) for file in pids for word in file.read_text().split()]
    assert wait_for(lambda: not any(map(_alive, family)))


def test_cells_after_one_that_removes_or_overwrites_their_game_are_run_as_usual(
    ended: Ended,
) -> None:
    """They come last in their run, after the cells that do so."""
    innocent = ended.cell("cfr_plus")
    assert (innocent["status"], innocent["iterations"]) == ("limit", 50)
    assert innocent["payoffs"] == pytest.approx([-1 / 18, 1 / 18], abs=0.1)
