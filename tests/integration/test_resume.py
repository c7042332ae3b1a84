"""Runs that are killed, resumed and shared: every cell once, nothing finished is lost."""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from helpers.command import PATIENCE_S, PLUGINS, Ended, started, wait_for
from helpers.command import eqbench_here as eqbench

CELLS = 2
REQUEST = [
    *("--game", "kuhn2", "--solver", "cfr_plus,mccfr"),
    *("--seeds", "1", "--iterations", "50", "--target", "0"),
]
KILLS = 4
LATEST_KILL_S = 2.0


def lines(run: Path) -> list[str]:
    """Lines but for a last one that is not finished, which the next run writes again."""
    file = run / "runs.jsonl"
    return file.read_text().split("\n")[:-1] if file.exists() else []


def check_whole(ended: Ended, run: Path, planned: int = CELLS) -> None:
    """All cells are there once, and what they name is there as well."""
    assert ended.code == 0, ended.err
    cells = ended.json["cells"]
    assert len({cell["key"] for cell in cells}) == len(cells) == planned
    assert sorted(json.loads(line)["key"] for line in lines(run)) == sorted(
        cell["key"] for cell in cells
    )
    for cell in cells:
        assert (cell["status"], cell["iterations"]) == ("limit", 50)
        for found in cell["equilibria"]:
            assert json.loads((run / found["profile"]).read_text())["behavior"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of all cells, to be copied before anything is changed."""
    folder = tmp_path_factory.mktemp("finished")
    eqbench("run", *REQUEST, "--out", "run", "-j", "2", cwd=folder)
    return folder / "run"


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def test_run_that_is_killed_again_and_again_loses_and_repeats_nothing(tmp_path: Path) -> None:
    run, moments, finished = tmp_path / "run", random.Random(0), []
    for kill in range(KILLS):
        new = ("--out", str(run), "--game", "matching_pennies", *REQUEST)
        begun = new if kill == 0 else ("--resume", str(run))
        runner = started("run", *begun, "-j", "2", cwd=tmp_path)
        assert wait_for((run / "manifest.json").exists)
        time.sleep(moments.uniform(0, LATEST_KILL_S))
        runner.send_signal(signal.SIGKILL)
        runner.communicate()
        before, finished = finished, lines(run)
        assert finished[: len(before)] == before, "what was finished stays as it was"
    ended = eqbench("run", "--resume", run, "-j", "2", "--json", cwd=tmp_path)
    check_whole(ended, run, 2 * CELLS)
    assert lines(run)[: len(finished)] == finished


def test_torn_last_line_is_run_again(run: Path, tmp_path: Path) -> None:
    file = run / "runs.jsonl"
    file.write_bytes(file.read_bytes()[:-100])
    assert eqbench("run", "--resume", run, "--dry-run", cwd=tmp_path).out.count("to run") == 2
    check_whole(eqbench("run", "--resume", run, "--json", cwd=tmp_path), run)


def test_two_runners_share_a_folder(tmp_path: Path) -> None:
    run = tmp_path / "run"
    first = started("run", *REQUEST, "--out", str(run), "--json", cwd=tmp_path)
    assert wait_for((run / "manifest.json").exists)
    second = eqbench("run", "--resume", run, "--json", cwd=tmp_path)
    out, err = first.communicate(timeout=PATIENCE_S)
    check_whole(second, run)
    check_whole(Ended(first.returncode, out, err, tmp_path), run)


def test_cells_of_a_runner_that_dies_are_taken_over(tmp_path: Path) -> None:
    pids, run = tmp_path / "pids", tmp_path / "run"
    first = started(
        "run",
        *("--game", "kuhn2", "--solver", f'ignores_sigterm(pids="{pids}"),cfr'),
        *("--timeout", "600", "--iterations", "50", "--plugin", str(PLUGINS / "faults.py")),
        *("--out", str(run)),
        cwd=tmp_path,
    )
    assert wait_for(pids.exists)
    second = started("run", "--resume", str(run), "--json", cwd=tmp_path)
    assert wait_for(lambda: lines(run))
    assert [json.loads(line)["solver"] for line in lines(run)] == ["cfr"], "the free one first"
    pids.unlink()
    first.kill()
    first.communicate()
    assert wait_for(pids.exists), "the second runner has begun the cell of the dead one"
    second.send_signal(signal.SIGINT)
    out, err = second.communicate(timeout=PATIENCE_S)
    assert second.returncode == 130, err
    (stopped,) = json.loads(out)["interrupted"]
    assert stopped["solver"].startswith("ignores_sigterm")


def test_failures_are_run_again_and_results_only_when_asked_for(tmp_path: Path) -> None:
    run = tmp_path / "run"
    eqbench(
        *("run", "--game", "kuhn2", "--solver", "raises,says_converged", "--out", run),
        *("--iterations", "20", "--plugin", PLUGINS / "faults.py"),
        cwd=tmp_path,
    )

    def run_again(*arguments: str) -> list[str]:
        before = len(lines(run))
        eqbench("run", "--resume", run, *arguments, cwd=tmp_path)
        return sorted(json.loads(line)["solver"] for line in lines(run)[before:])

    assert run_again("--retry", "stopped") == ["raises", "says_converged"]
    assert run_again("--retry", "timeout,memory") == ["raises"]


def test_retry_that_is_interrupted_leaves_the_stored_result_as_it_was(tmp_path: Path) -> None:
    pids, run = tmp_path / "pids", tmp_path / "run"
    request = ("--game", "kuhn2", "--solver", f'ignores_sigterm(pids="{pids}")')
    plugin = ("--plugin", str(PLUGINS / "faults.py"))
    eqbench("run", *request, *plugin, "--timeout", "1", "--out", run, cwd=tmp_path)
    (line,) = lines(run)
    stored = json.loads(line)
    assert stored["status"] == "timeout"
    profile = run / stored["equilibria"][0]["profile"]
    before = (profile.read_bytes(), profile.stat().st_mtime_ns)
    pids.unlink()
    again = started("run", "--resume", str(run), "--retry", "timeout,limit", "--json", cwd=tmp_path)
    assert wait_for(lambda: pids.exists() or again.poll() is not None)
    again.send_signal(signal.SIGINT)
    out, err = again.communicate(timeout=PATIENCE_S)
    assert again.returncode == 130
    assert "--retry" in err
    assert [cell["status"] for cell in json.loads(out)["cells"]] == ["timeout"]
    assert (profile.read_bytes(), profile.stat().st_mtime_ns) == before
    assert lines(run) == [line]


def test_plugin_that_is_edited_during_the_run_is_not_taken_for_the_old_one(tmp_path: Path) -> None:
    plugin, run = tmp_path / "partners.py", tmp_path / "run"
    plugin.write_text((PLUGINS / "partners.py").read_text())
    waits = f'waits_for_partner(folder="{tmp_path}",me={{}},partner=edited)'
    runner = started(
        "run",
        *("--game", "kuhn2", "--solver", f"{waits.format('first')},{waits.format('second')}"),
        *("--timeout", "600", "--plugin", str(plugin), "--out", str(run)),
        cwd=tmp_path,
    )
    assert wait_for((tmp_path / "first").exists)
    plugin.write_text(plugin.read_text() + "\n# another version\n")
    (tmp_path / "edited").touch()
    runner.communicate(timeout=PATIENCE_S)
    last = json.loads(lines(run)[-1])
    assert (len(lines(run)), last["status"]) == (2, "crashed")
    assert "edited" in last["reason"]


def test_folder_that_lost_its_profiles_is_made_ready_again(run: Path, tmp_path: Path) -> None:
    (run / "runs.jsonl").unlink()
    shutil.rmtree(run / "profiles")
    check_whole(eqbench("run", "--resume", run, "-j", "2", "--json", cwd=tmp_path), run)


@pytest.mark.parametrize(
    ("file", "text", "code"),
    [
        ("runs.jsonl", "null", 0),
        ("resumed.jsonl", "{}", 0),
        ("manifest.json", '{"schema": "eqbench.run/1"}', 2),
    ],
)
def test_damaged_line_does_not_keep_a_run_from_going_on_and_a_damaged_manifest_does(
    tmp_path: Path, file: str, text: str, code: int
) -> None:
    manifest = {
        "schema": "eqbench.run/1",
        "cells": [],
        "request": {"games": ["kuhn2"], "solvers": ["cfr"], "timeout_s": 1.0},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / file).write_text(text + "\n")
    for command in (("run", "--resume"), ("report",)):
        ended = eqbench(*command, tmp_path, cwd=tmp_path)
        assert ended.code == code, ended.err
        assert "Traceback" not in ended.err
        assert file in "".join((ended.err + ended.out).split()), "lines may be broken in a path"


def test_records_under_exchanged_keys_are_named_and_run_again(run: Path, tmp_path: Path) -> None:
    first, second = map(json.loads, lines(run))
    exchanged = [first | {"key": second["key"]}, second | {"key": first["key"]}]
    (run / "runs.jsonl").write_text("".join(json.dumps(each) + "\n" for each in exchanged))
    ended = eqbench("run", "--resume", run, "--json", cwd=tmp_path)
    solvers = {cell["key"]: cell["solver"] for cell in ended.json["cells"]}
    assert solvers == {each["key"]: each["solver"] for each in (first, second)}
    assert all(name in "".join(ended.err.split()) for name in ("kuhn2/cfr_plus", "kuhn2/mccfr/0"))
    assert len(lines(run)) == 2 * CELLS


def test_options_that_are_given_again_add_what_is_missing(run: Path, tmp_path: Path) -> None:
    ended = eqbench("run", "--resume", run, "--seeds", "2", "--json", cwd=tmp_path)
    assert len(ended.json["cells"]) == CELLS + 1
    assert len(lines(run)) == CELLS + 1
    plan = eqbench("run", "--resume", run, "--dry-run", "--json", cwd=tmp_path).json
    assert {cell["state"] for cell in plan["cells"]} == {"finished"}
    assert len(plan["cells"]) == CELLS + 1


def test_dry_run_writes_nothing(tmp_path: Path) -> None:
    ended = eqbench("run", *REQUEST, "--dry-run", "-j", "2", cwd=tmp_path)
    assert ended.code == 0
    assert f"{CELLS} cells, {CELLS} to run, 2 at a time: up to 10 s of solving" in ended.out
    assert list(tmp_path.iterdir()) == []


def test_edited_plugin_makes_other_cells(tmp_path: Path) -> None:
    plugin, run = tmp_path / "faults.py", tmp_path / "run"
    plugin.write_text((PLUGINS / "faults.py").read_text())
    request = ("--game", "kuhn2", "--solver", "well_behaved", "--plugin", plugin)
    eqbench("run", *request, "--out", run, cwd=tmp_path)
    plugin.write_text(plugin.read_text() + "\n# another version\n")
    ended = eqbench("run", "--resume", run, "--json", cwd=tmp_path)
    assert "version" in ended.err
    assert len(ended.json["cells"]) == 1
    assert len(lines(run)) == 2


REMOVES = """
import shutil
from dataclasses import dataclass
import eqbench

@eqbench.register_solver("removes")
@dataclass(frozen=True)
class Removes:
    def solve(self, game, monitor, rng):
        shutil.rmtree("run")
        monitor.candidate(eqbench.BehaviorProfile.uniform(game.tree), claim="iterate")
        return eqbench.Termination("limit")
"""


def test_run_whose_folder_is_removed_names_no_way_to_go_on_that_there_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "removes.py").write_text(REMOVES)
    words = ("--game", "kuhn2", "--solver", "removes", "--plugin", "removes.py", "--out", "run")
    done = eqbench("run", *words, cwd=tmp_path)
    assert done.code == 1
    assert "was removed" in done.err
    assert "Traceback" not in done.err
    assert "interrupted after" not in done.err
