"""Cells on a Dask cluster: every cell once and as on this machine, whatever goes away meanwhile."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from helpers.command import PATIENCE_S, PLUGINS, wait_for
from helpers.command import eqbench_here as eqbench

import eqbench as package
from eqbench.cluster import connected
from eqbench.harness.environment import fingerprint

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="process groups of Linux")
# of runs during which something is killed; more are a matter of minutes
CELLS = int(os.environ.get("EQBENCH_CLUSTER_CELLS", "16"))
NAPS = [
    *("--game", "kuhn2,meeting", "--solver", "naps", "--seeds", str(CELLS // 2)),
    *("--plugin", str(PLUGINS / "naps.py"), "--plugin", str(PLUGINS / "meeting.py")),
]
OF_A_TRY = ("setup_s", "elapsed_s", "cpu_s", "overhead_s", "peak_memory_bytes", "trace", "log")


class Cluster:
    """A scheduler and workers, each in a process group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, list[subprocess.Popen[bytes]]()
        self.file = folder / "scheduler.json"
        self.scheduler = self.start(
            *("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"),
            *("--scheduler-file", str(self.file), "--no-dashboard"),
        )
        wait_for(self.file.exists)

    def start(self, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        with open(self.folder / f"{len(self.processes)}.txt", "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *words],
                cwd=self.folder,
                env=os.environ | variables,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def worker(self, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        """A nanny, whose child is the worker itself."""
        return self.start(
            *("distributed.cli.dask_worker", "--scheduler-file", str(self.file)),
            *("--nthreads", "1", "--memory-limit", "0", "--no-dashboard", *words),
            **variables,
        )

    def close(self) -> None:
        for process in self.processes:
            for child in _tree_of(process.pid):
                child.kill()
            process.wait(PATIENCE_S)


def _tree_of(number: int) -> list[psutil.Process]:
    try:
        process = psutil.Process(number)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def worker_below(nanny: subprocess.Popen[bytes]) -> psutil.Process:
    """The worker that a nanny looks after."""
    found = list[psutil.Process]()

    def there() -> bool:
        for process in _tree_of(nanny.pid)[1:]:
            if "multiprocessing.spawn" in " ".join(process.cmdline()):
                found.append(process)
        return bool(found)

    wait_for(there)
    return found[0]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the same cells come to on this machine."""
    folder = tmp_path_factory.mktemp("local")
    assert eqbench("run", *NAPS, "-j", "2", "--out", "run", "-q", cwd=folder).code == 0
    return cells_of(folder / "run")


def cells_of(run: Path) -> dict[str, Any]:
    """Cells by their keys, without what differs from try to try, with the bytes of profiles."""
    found = dict[str, Any]()
    for line in (run / "runs.jsonl").read_text().splitlines():
        record = json.loads(line)
        for name in OF_A_TRY:
            del record[name]
        files = [(run / each.pop("profile")).read_bytes() for each in record["equilibria"]]
        assert record["key"] not in found, "a cell was stored twice"
        found[record["key"]] = (record, files)
    return found


def begin(cluster: Cluster, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "eqbench", "run", *words, "--scheduler", str(cluster.file)],
        cwd=cluster.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_cells(cluster: Cluster, run: subprocess.Popen[str], number: int) -> None:
    """Wait until a run that goes on has stored so many cells."""
    file = cluster.folder / "run" / "runs.jsonl"

    def stored() -> bool:
        assert run.poll() is None, run.communicate()
        return file.exists() and len(file.read_bytes().splitlines()) >= number

    wait_for(stored)


def test_workers_and_the_run_itself_may_be_killed_and_every_cell_is_as_on_this_machine(
    cluster: Cluster, local: dict[str, Any]
) -> None:
    nannies = [cluster.worker() for _ in range(3)]
    run = begin(cluster, *NAPS, "--out", "run")
    wait_for_cells(cluster, run, CELLS // 8)
    worker_below(nannies[0]).kill()
    wait_for_cells(cluster, run, CELLS // 4)
    for process in _tree_of(nannies[1].pid):  # as when a machine loses its power
        process.kill()
    wait_for_cells(cluster, run, CELLS // 2)
    run.kill()
    run.communicate(timeout=PATIENCE_S)
    resumed = begin(cluster, "--resume", "run", "-q")
    _, said = resumed.communicate(timeout=PATIENCE_S)
    assert resumed.returncode == 0, said
    assert cells_of(cluster.folder / "run") == local


def test_run_begins_without_workers_and_one_that_joins_late_with_other_sources_is_refused(
    cluster: Cluster, local: dict[str, Any], tmp_path: Path
) -> None:
    run = begin(cluster, *NAPS, "--out", "run")
    assert run.stderr is not None
    while "waiting: no worker at" not in (line := run.stderr.readline()):
        assert line, "it ended"
    cluster.worker()
    wait_for_cells(cluster, run, 1)
    cluster.worker(PYTHONPATH=str(edited(tmp_path)))
    _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, said
    assert cells_of(cluster.folder / "run") == local


def test_children_end_with_the_run_that_waits_for_them(cluster: Cluster) -> None:
    nanny = cluster.worker()
    run = begin(cluster, *NAPS[:3], "naps(seconds=600)", *NAPS[6:], "--timeout", "600")
    worker = worker_below(nanny)

    def solving() -> bool:
        return any(len(_tree_of(child.pid)) > 1 for child in worker.children())

    wait_for(solving)
    run.kill()
    run.communicate(timeout=PATIENCE_S)
    wait_for(lambda: not solving())
    assert worker.is_running()


def test_lost_scheduler_leaves_the_store_whole_and_the_way_to_go_on_is_said(
    cluster: Cluster, local: dict[str, Any]
) -> None:
    nanny = cluster.worker()
    run = begin(cluster, *NAPS, "--out", "run")
    wait_for_cells(cluster, run, 2)
    cluster.scheduler.kill()
    _, said = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 1
    assert "--resume" in said
    assert "scheduler" in said
    stored = cells_of(cluster.folder / "run")
    assert 2 <= len(stored) < CELLS
    nanny.wait(PATIENCE_S)  # and its children with it
    resumed = eqbench("run", "--resume", "run", "--scheduler", "none", "-q", cwd=cluster.folder)
    assert resumed.code == 0
    assert cells_of(cluster.folder / "run") == local


def edited(folder: Path) -> Path:
    """Where an eqbench with other sources is."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(package.__file__).parent, folder / "edited" / "eqbench", ignore=ignored)
    with open(folder / "edited" / "eqbench" / "spec.py", "a") as file:
        file.write("# edited\n")
    return folder / "edited"


def test_worker_with_other_sources_takes_no_part_and_both_versions_are_said(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.worker(PYTHONPATH=str(edited(tmp_path)))
    wait_for(lambda: len(workers(cluster)) == 1)
    ended = eqbench("run", *NAPS, "--scheduler", cluster.file, "--out", "run", cwd=tmp_path)
    assert ended.code == 1
    (worker,) = workers(cluster)
    assert worker["state"] == "broken"
    theirs = re.findall(r"\b[0-9a-f]{16}\b", worker["detail"])
    assert set(theirs) == set(re.findall(r"\b[0-9a-f]{16}\b", ended.err))
    assert len({*theirs, fingerprint()["eqbench"].split()[1]}) == 2
    assert not (tmp_path / "run" / "runs.jsonl").exists()

    cluster.worker()  # one that may
    wait_for(lambda: len(workers(cluster)) == 2)
    assert eqbench("run", "--resume", "run", "-q", cwd=tmp_path).code == 0
    assert len(cells_of(tmp_path / "run")) == CELLS


def workers(cluster: Cluster) -> list[dict[str, Any]]:
    """The workers that there are, as `eqbench doctor` sees them."""
    told = eqbench("doctor", "--scheduler", cluster.file, "--json", cwd=cluster.folder)
    return [check for check in told.json["checks"] if check["name"].startswith("tcp://")]


def test_result_that_would_unpickle_to_code_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    cluster.worker()
    file = tmp_path / "touched"
    reads = f"lambda self: (open, ({str(file)!r}, 'w'))"  # what its pickle calls where it is read
    trap = f"type('Trap', (), {{'__reduce__': {reads}}})()"
    with connected(str(cluster.file)) as client:
        # a worker may do what it likes; in the run nothing may come of it
        assert client.submit(eval, "b'bytes'").result(PATIENCE_S) == b"bytes"
        future = client.submit(eval, trap)
        with pytest.raises(TypeError):
            future.result(PATIENCE_S)
        assert future.status == "finished"
    assert not file.exists()


def test_what_was_heard_may_be_judged_by_the_run_itself(
    cluster: Cluster, local: dict[str, Any], tmp_path: Path
) -> None:
    cluster.worker()
    words = ["--scheduler", cluster.file, "--verify-here", "--out", "run", "-q"]
    assert eqbench("run", *NAPS, *words, cwd=tmp_path).code == 0
    assert cells_of(tmp_path / "run") == local
    hosts = (tmp_path / "run" / "hosts.jsonl").read_text().splitlines()
    assert [json.loads(line)["host"] for line in hosts] == [next(iter(local.values()))[0]["host"]]


def test_cluster_on_this_machine_needs_no_address(tmp_path: Path) -> None:
    run = package.run("kuhn2", "sequence_lp", scheduler="local", out=tmp_path / "run")
    assert [record.status for record in run] == ["ok"]


def test_scheduler_that_nobody_answers_for_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    ended = eqbench("run", *NAPS, "--scheduler", "nowhere.json", cwd=tmp_path)
    assert ended.code == 2
    assert "nowhere.json" in ended.err


def test_address_where_nothing_listens_is_refused_before_a_busy_scheduler_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distributed.Client", None)  # which would try for half a minute
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nothing listens
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        ended = eqbench("run", *NAPS, "--scheduler", address, cwd=tmp_path)
    assert ended.code == 2
    assert address in ended.err
