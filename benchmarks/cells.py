"""What a cell costs beside its solving: with a solver that returns at once, forked and spawned."""

from __future__ import annotations

import itertools
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import in_child

from eqbench.harness.experiment import Experiment, Request
from eqbench.harness.run import carry_out
from eqbench.isolation.server import close_server

# It tells what only its process has in memory, and what the record counts as memory.
AT_ONCE = '''
from dataclasses import dataclass
import eqbench
from eqbench.solver import Termination

@eqbench.register_solver("at_once")
@dataclass(frozen=True)
class AtOnce:
    """Hand over the uniform profile and return."""

    look: bool = False

    def solve(self, game, monitor, rng):
        if self.look:
            with open("/proc/self/smaps_rollup", "rb") as lines:
                sizes = dict(line.split()[:2] for line in lines if line.endswith(b" kB\\n"))
            own = int(sizes[b"Private_Clean:"]) + int(sizes[b"Private_Dirty:"])
            monitor.record(private_mib=own / 1024)
        monitor.candidate(eqbench.BehaviorProfile.uniform(game.tree), claim="iterate")
        return Termination("limit", "at once")
'''


def overhead(game: str, cells: int, repetitions: int, many: int, more: int) -> dict[str, Any]:
    """Forked and spawned cells in turns, then many forked ones, two at a time."""

    def measured(isolation: str, cells: int, **more: Any) -> dict[str, Any]:
        return in_child("cells:run", game=game, isolation=isolation, cells=cells, **more)

    rows: dict[str, Any] = {isolation: {"isolation": isolation} for isolation in ("fork", "spawn")}
    for name, row in rows.items():
        looked = measured(name, 3, look=True)
        row |= {key: looked[key] for key in ("private_mib", "recorded_mib")}
    for _ in range(repetitions):
        for name, row in rows.items():
            one, several = measured(name, 1), measured(name, cells)
            for key in ("own_s", "children_s", "wall_s"):
                row.setdefault(key, []).append((several[key] - one[key]) / (cells - 1))
    first, last = measured("fork", many, jobs=2), measured("fork", more, jobs=2)
    return {
        "rows": [*rows.values()],
        "many_s": first["wall_s"],
        "many_others": first["others"],
        "parent_mib": last["parent_mib"],
    }


def run(
    game: str, isolation: str, cells: int, jobs: int = 1, *, look: bool = False
) -> dict[str, Any]:
    """CPU and wall seconds of a run with all that it starts, and what it takes in memory.

    `parent_mib` is the resident memory of this process after 1, 2, 5, 10, … cells and after all,
    `others` how many cores other programs have used meanwhile.
    """
    parent_mib: dict[int, float] = {}
    finished = itertools.count(1)

    def note(line: str) -> None:
        count = next(finished)
        if count == cells or str(count).strip("0") in ("1", "2", "5"):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            parent_mib[count] = pages * resource.getpagesize() / 2**20

    with tempfile.TemporaryDirectory() as folder:
        plugin = Path(folder, "at_once.py")
        plugin.write_text(AT_ONCE, encoding="utf-8")
        request = Request(
            (game,),
            (f"at_once(look={str(look).lower()})",),
            repeats=cells,
            jobs=jobs,
            isolation=isolation,
            plugins=(str(plugin),),
        )
        begin_s, busy_s = time.perf_counter(), _busy_s()
        stored = carry_out(Experiment((request,)), Path(folder, "run"), note)
        wall_s, busy_s = time.perf_counter() - begin_s, _busy_s() - busy_s
        records = stored.cells
    close_server()  # only what has been reaped counts
    assert [record.status for record in records] == ["limit"] * cells
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    own_s, children_s = (each.ru_utime + each.ru_stime for each in used)
    return {
        "own_s": own_s,
        "children_s": children_s,
        "wall_s": wall_s,
        "others": max(0.0, (busy_s - own_s - children_s) / wall_s),
        "parent_mib": parent_mib,
        "recorded_mib": [record.peak_memory_bytes / 2**20 for record in records],
        "private_mib": [record.statistics.get("private_mib") for record in records],
    }


def _busy_s() -> float:
    """CPU seconds that all programs of this machine have taken so far."""
    import psutil

    times = psutil.cpu_times()
    return times.user + times.system
