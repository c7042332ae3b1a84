"""Runs that are killed, and disks that fail them: nothing may be lost, doubled or left behind."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from . import readers
from .sandbox import Ended, Job, Result, Sandbox

KILLS, DISKS = "killed runs", "disks that fail"
RUN = (
    *("run", "--game", "kuhn2,skp", "--solver", "cfr,cfr_plus,dcfr,sequence_lp,mccfr"),
    *("--seeds", "2", "--iterations", "300", "-j", "2", "-q"),
)
LATEST_S = 6.0
MOST_TRIES = 4


def jobs(kills: int, seed: int) -> Iterator[Job]:
    """That many killed runs at moments drawn from `seed`, and disks that fail."""
    chance = random.Random(seed)
    for number in range(kills):
        moments = [chance.uniform(0.05, LATEST_S) for _ in range(MOST_TRIES - 1)]
        yield Job(KILLS, f"kill {number}", partial(_killed, number, moments))
    for name, trial in TRIALS.items():
        yield Job(DISKS, name, partial(_disk, name, trial))


def _killed(number: int, moments: list[float]) -> list[Result]:
    """Kill a run, kill some of its resumptions too, and then let it end."""
    with Sandbox() as sandbox:
        complaints: list[str] = []
        for moment in moments[: 1 + number % (MOST_TRIES - 1)]:
            begun = (sandbox.run / "manifest.json").exists()
            words = ("run", "--resume", "run", "-j", "2", "-q") if begun else (*RUN, "--out", "run")
            shutil.rmtree(sandbox.run, ignore_errors=True) if not begun else None
            process = sandbox.start(
                [sys.executable, "-m", "eqbench", *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                process.wait(moment)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
            complaints += sandbox.left_behind()
            if list(sandbox.scratch.glob("eqbench-*")) and _gone_in_time(sandbox.scratch):
                complaints.append("its scratch folder stays")
        complaints += _ended_well(sandbox)
        return [Result(KILLS, f"kill {number}", tuple(complaints))]


def _gone_in_time(scratch: Path) -> bool:
    """Whether something is still there after a moment for the one who cleans up."""
    limit = time.monotonic() + 5
    while list(scratch.glob("eqbench-*")):
        if time.monotonic() > limit:
            return True
        time.sleep(0.05)
    return False


def _ended_well(sandbox: Sandbox) -> list[str]:
    """Complaints unless the run goes on to its end and holds every cell once."""
    begun = (sandbox.run / "manifest.json").exists()
    words = ("run", "--resume", "run", "-j", "2", "-q") if begun else (*RUN, "--out", "run")
    if not begun:
        shutil.rmtree(sandbox.run, ignore_errors=True)
    complaints = sandbox.command(*words, deadline_s=120).complaints() + sandbox.left_behind()
    return complaints + whole(sandbox)


def whole(sandbox: Sandbox, codes: tuple[int, ...] = (0,)) -> list[str]:
    """Complaints unless the folder has every planned cell once, with all its files.

    `codes` are those with which its readers may end.
    """
    planned = json.loads((sandbox.run / "manifest.json").read_text())["cells"]
    lines = (sandbox.run / "runs.jsonl").read_bytes().splitlines()
    records = [json.loads(line) for line in lines]
    counts = Counter(record["key"] for record in records)
    found = [f"{key} stands {count} times" for key, count in counts.items() if count > 1]
    if missing := set(planned) - set(counts):
        found.append(f"{len(missing)} cells are lost")
    if more := set(counts) - set(planned):
        found.append(f"{len(more)} cells were not planned")
    for record in records:
        files = [record["trace"], *(item["profile"] for item in record["equilibria"])]
        found += [
            f"{file} is missing" for file in files if file and not (sandbox.run / file).exists()
        ]
    if drafts := [path.name for path in sandbox.run.rglob(".*.json*")]:
        found.append(f"a draft stays: {drafts[0]}")
    read = readers.read_everything(sandbox, sandbox.run, "kuhn2/cfr")
    results = readers.results(KILLS, "", read, codes)
    return found + [f"{r.name[2:]}: {'; '.join(r.complaints)}" for r in results if not r.held]


# -- disks -----------------------------------------------------------------------------------


def _disk(name: str, trial: Callable[[Sandbox], list[str]]) -> list[Result]:
    """One result; none where no disk may be mounted, for then nothing was tried."""
    if trial is not _vanishes and not _may_mount():
        return []
    with Sandbox() as sandbox:
        return [Result(DISKS, name, tuple(trial(sandbox)))]


def _mounted(sandbox: Sandbox, options: str, *words: str, after: str = "true") -> Ended:
    """Run a command in a mount namespace of its own with a small disk at `run`."""
    sandbox.run.mkdir(exist_ok=True)
    keep = f"rm -rf kept; cp -r run kept; {after}; exit $code"
    script = f'mount -t tmpfs {options} none run && {{ "$@"; code=$?; {keep}; }}'
    return sandbox.command(*words, wrapper=("unshare", "-m", "bash", "-c", script, "-"))


def _may_mount() -> bool:
    test = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(test, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _full_disk(sandbox: Sandbox) -> list[str]:
    ended = _mounted(sandbox, "-o size=64k", *RUN, "--out", "run/inside")
    found = ended.refusal((1, 2)) + sandbox.left_behind()
    return found + _kept(sandbox, sandbox.root / "kept" / "inside", least=1)


def _full_from_the_start(sandbox: Sandbox) -> list[str]:
    ended = _mounted(sandbox, "-o size=4k,nr_inodes=2", *RUN, "--out", "run/inside")
    return ended.refusal((1, 2)) + sandbox.left_behind()


def _cache_full(sandbox: Sandbox) -> list[str]:
    words = ("run", "--game", "liars_dice", "--solver", "cfr_plus", "--iterations", "3")
    sandbox.run.mkdir()
    script = 'mount -t tmpfs -o size=16k none run && NUMBA_CACHE_DIR=$PWD/run exec "$@"'
    ended = sandbox.command(
        *words, "--out", "out", wrapper=("unshare", "-m", "bash", "-c", script, "-"), deadline_s=200
    )
    return ended.complaints() + sandbox.left_behind()


def _scratch_full(sandbox: Sandbox) -> list[str]:
    script = 'mount -t tmpfs -o size=8k none scratch && exec "$@"'
    wrapper = ("unshare", "-m", "bash", "-c", script, "-")
    ended = sandbox.command(*RUN, "--out", "run", wrapper=wrapper)
    return ended.refusal((0, 1, 2)) + sandbox.left_behind()


def _read_only(sandbox: Sandbox) -> list[str]:
    made = sandbox.command(
        *RUN[:2], "kuhn2", "--solver", "cfr", "--iterations", "5", "--out", "run"
    )
    found = made.complaints()
    script = 'mount --bind run run && mount -o remount,ro,bind run && exec "$@"'
    wrapper = ("unshare", "-m", "bash", "-c", script, "-")
    resumed = sandbox.command("run", "--resume", "run", "--solver", "cfr,cfr_plus", wrapper=wrapper)
    found += resumed.refusal((1, 2))
    found += sandbox.command("report", "run", wrapper=wrapper).complaints()
    page = sandbox.command(
        "report", "run", "--format", "html", "--out", "run/x.html", wrapper=wrapper
    )
    return found + page.refusal((1, 2)) + sandbox.left_behind() + _kept(sandbox, sandbox.run, 1)


def _vanishes(sandbox: Sandbox) -> list[str]:
    """Rename the folder while the run goes on; what was in it stays readable.

    The run makes its folder again and stores its cells anew, or ends with a sentence.
    """
    process = sandbox.start(
        [sys.executable, "-m", "eqbench", *RUN, "--out", "run"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    limit = time.monotonic() + 60
    while not (sandbox.run / "runs.jsonl").exists() and time.monotonic() < limit:
        time.sleep(0.02)
    sandbox.run.rename(sandbox.root / "elsewhere")
    out, err = process.communicate(timeout=120)
    ended = Ended(process.returncode, out.decode(), err.decode())
    found = ended.refusal((1, 2)) if ended.code else ended.complaints() + whole(sandbox, (0, 2))
    return found + sandbox.left_behind() + _kept(sandbox, sandbox.root / "elsewhere", 1)


def _kept(sandbox: Sandbox, folder: Path, least: int) -> list[str]:
    """Complaints unless the folder holds whole records that can be read."""
    ended = sandbox.command("report", folder, "--format", "csv")
    rows = max(0, len(ended.out.splitlines()) - 1)
    found = ended.complaints()
    return found if rows >= least else [*found, f"{rows} cells were kept"]


TRIALS = {
    "a full disk": _full_disk,
    "a disk that is full from the start": _full_from_the_start,
    "a cache on a full disk": _cache_full,
    "temporary files on a full disk": _scratch_full,
    "a read-only folder": _read_only,
    "a folder that vanishes": _vanishes,
}
