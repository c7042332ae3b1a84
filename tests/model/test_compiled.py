"""Kernels run as plain Python until machine code pays, with the same results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from eqbench.model import compiled
from eqbench.model.compiled import Kernel, kernel, preparation

SOLVE = """
import json, sys
for name in {blocked!r}:
    sys.modules[name] = None
import eqbench
found = []
for game, solver in {cells!r}:
    iterations = 40 if solver.startswith({iterative!r}) else None
    record = eqbench.solve(game, solver, iterations=iterations)
    found.append([record.status, record.max_regret, record.profile.probabilities.tobytes().hex()])
print(json.dumps(found))
"""
ITERATIVE = ("cfr", "mccfr", "fictitious_play", "replicator", "mmd")
CELLS = [
    ("kuhn2", "lcp(offpath=keep)"),
    ("kuhn2", "semismooth(offpath=keep)"),
    ("kuhn3", "cfr_plus(start=random)"),
    ("kuhn2", "mccfr(start=random)"),
    ("kuhn2", "fictitious_play(start=random)"),
    ("kuhn2", "logit"),
    ("matching_pennies", "logit(form=normal)"),
    ("kuhn2", "arclength(starts=1,branch=false)"),
    ("kuhn3", "replicator"),
    ("jordan", "replicator"),
    ("kuhn2", "mmd"),
]
NEITHER_NEEDED = (
    *("numba", "llvmlite", "psutil", "vl_convert", "matplotlib", "pandas", "rich", "click"),
    *("jinja2", "PIL", "networkx", "sklearn", "pyspiel", "pygambit", "gurobipy", "pyscipopt"),
)


def solved(mode: str, cells: list[tuple[str, str]], blocked: tuple[str, ...] = ()) -> list[list]:
    """Status, max regret and bits of the profile of each cell, of another process."""
    script = SOLVE.format(blocked=blocked, cells=cells, iterative=ITERATIVE)
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {compiled.MODE: mode},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def sums(numbers: NDArray) -> float:
    total = 0.0
    for i in range(len(numbers)):
        total += numbers[i]
    return total


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kernel:
    """A kernel of which no machine code is on disk."""
    monkeypatch.setenv(compiled.MODE, "auto")
    monkeypatch.setattr(compiled, "_kernels", [])
    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path)
    return kernel(sums)


def is_compiled(own: Kernel) -> bool:
    return bool(own._dispatcher.overloads)


def test_small_arguments_run_as_plain_python(own: Kernel) -> None:
    assert own(np.ones(3)) == 3.0
    assert not is_compiled(own)


def test_large_arguments_are_compiled_at_once(own: Kernel) -> None:
    assert own(np.ones(compiled.MANY_ITEMS + 1)) == compiled.MANY_ITEMS + 1
    assert is_compiled(own)


def test_kernel_is_compiled_when_plain_python_has_taken_long(
    own: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "PATIENCE_S", 0.0)
    assert own(np.ones(3)) == 3.0
    assert is_compiled(own)
    assert own(np.ones(4)) == 4.0


def test_kernels_that_call_one_that_takes_long_are_compiled_with_it(
    own: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "PATIENCE_S", 1e-9)
    caller = kernel(lambda numbers: float(own(numbers)))
    monkeypatch.setattr(compiled, "WARM_SHARE", np.inf)
    caller.compile = lambda *args: done.append(args)  # type: ignore[method-assign]
    done: list[tuple] = []
    assert caller(np.ones(3)) == 3.0
    assert len(done) == 1


def test_array_that_is_locked_after_the_call_is_compiled_as_it_was_given(
    monkeypatch: pytest.MonkeyPatch, own: Kernel
) -> None:
    def fill(numbers: NDArray) -> None:
        for i in range(len(numbers)):
            numbers[i] = 1.0

    filling, numbers = kernel(fill), np.zeros(3)
    filling(numbers)
    numbers.flags.writeable = False
    monkeypatch.setattr(compiled, "PATIENCE_S", 0.0)
    assert own(np.ones(3)) == 3.0
    assert is_compiled(filling)


def test_types_of_arguments_are_decided_about_one_by_one(own: Kernel) -> None:
    own.compile(np.ones(3))
    assert own(np.ones(3, dtype=np.int64)) == 3
    assert len(own._dispatcher.overloads) == 1


def test_machine_code_on_disk_is_used_from_the_first_call(own: Kernel) -> None:
    own.compile(np.ones(3))
    again = kernel(sums)
    assert again(np.ones(3)) == 3.0
    assert is_compiled(again)


def test_clock_of_methods_stands_still_while_a_kernel_is_compiled(own: Kernel) -> None:
    wall, method = time.perf_counter(), compiled.method_s()
    prepared = preparation.wall_s
    own.compile(np.ones(3))
    wall, method = time.perf_counter() - wall, compiled.method_s() - method
    assert preparation.wall_s - prepared > 0.9 * wall
    assert method < 0.1 * wall


def test_kernels_are_not_compiled_where_that_is_switched_off(
    own: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(compiled.MODE, "python")
    assert own(np.ones(compiled.MANY_ITEMS + 1)) == compiled.MANY_ITEMS + 1
    own.compile(np.ones(3))
    assert not is_compiled(own)


def test_plain_python_and_machine_code_give_the_same_bits() -> None:
    plain, machine = solved("python", CELLS), solved("machine", CELLS)
    for cell, one, other in zip(CELLS, plain, machine, strict=True):
        assert one == other, cell


def test_kuhn_poker_is_solved_with_numpy_scipy_and_msgspec_alone() -> None:
    cells = [("kuhn2", "sequence_lp"), ("kuhn2", "logit"), ("kuhn3", "logit")]
    for cell, (status, regret, _) in zip(cells, solved("", cells, NEITHER_NEEDED), strict=True):
        assert status == "ok", cell
        assert regret <= 1e-15, cell


def test_small_games_are_solved_without_numba() -> None:
    cells = [
        *[("kuhn2", solver) for solver in ("lcp", "case_enumeration", "semismooth", "arclength")],
        *[("kuhn3", solver) for solver in ("semismooth", "pcfr_plus")],
        *[("matching_pennies", solver) for solver in ("cfr_plus", "logit(form=normal)")],
    ]
    for cell, (status, regret, _) in zip(cells, solved("", cells, ("numba",)), strict=True):
        assert status == "ok", cell
        assert regret <= 1e-9, cell
