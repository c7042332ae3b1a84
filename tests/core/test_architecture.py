"""The contracts of who may import whom hold and can fail; what they cannot say is checked here."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import ROOT

# What reads data: no solver does, so none can know the equilibria that it is to find.
READING_CALLS = frozenset(
    {"open", "read_text", "read_bytes", "load", "loadtxt", "genfromtxt", "fromfile", "memmap"}
)
# What comes from outside is read by eqbench.documents, which never waits for a pipe and never reads
# without end; but these read the system, own sources, or bytes that were read by it.
UNBOUNDED_CALLS = frozenset({"read_text", "read_bytes", "np.load"})
BOUNDED = ("cli", "harness", "isolation", "papers", "plots", "store", "studies")
TRUSTING = frozenset({"harness/environment.py"})


def lint(place: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts in pyproject.toml against the package in that folder."""
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--config", ROOT / "pyproject.toml", "--no-cache"],
        cwd=place,
        env=os.environ | {"PYTHONPATH": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_contracts_of_who_may_import_whom_hold():
    checked = lint(ROOT)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("games/deep.py", "import eqbench.harness.plan"),
        ("solvers/deep.py", "def f():\n    from eqbench.games import kuhn"),
        ("solvers/deep.py", "import pathlib"),
        ("eqbench/report/deep.py", "def f():\n    import eqbench.harness.plan"),
        ("eqbench/model/deep.py", "if TYPE_CHECKING:\n    import eqbench.store.schema"),
        ("eqbench/verification/deep.py", "from eqbench.model import kernels"),
        ("eqbench/verification/deep.py", "from eqbench.model.compiled import kernel"),
        (
            "eqbench/verification/compiled_sweep.py",
            "from eqbench.model.compiled import kernel\nfrom eqbench.model import kernels",
        ),
        ("eqbench/cli/deep.py", "import eqbench.solvers.lcp"),
        ("eqbench/unheard_of.py", ""),
    ],
)
def test_a_forbidden_import_is_noticed(tmp_path: Path, file: str, text: str):
    left_out = shutil.ignore_patterns("__pycache__")
    for folder in ("eqbench", "games", "solvers"):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=left_out)
    (tmp_path / file).write_text(f"from typing import TYPE_CHECKING\n\n{text}\n")
    assert lint(tmp_path).returncode == 1


def calls(text: str) -> Iterator[str]:
    """What is called in a source text: names, and methods by their last part and in full."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr


def test_no_solver_reads_data_and_none_comes_with_any():
    files = [file for file in (ROOT / "solvers").rglob("*") if file.is_file()]
    sources = [file for file in files if file.suffix == ".py"]
    reading = [file for file in sources if READING_CALLS.intersection(calls(file.read_text()))]
    assert reading == []
    is_code = (".py", ".pyi", ".pyc")
    others = [file for file in files if file.suffix not in is_code]
    assert others == []


def test_files_from_outside_are_read_with_a_bound():
    core = ROOT / "eqbench"
    unbounded = {
        str(file.relative_to(core))
        for package in BOUNDED
        for file in (core / package).rglob("*.py")
        if UNBOUNDED_CALLS.intersection(calls(file.read_text()))
    }
    assert unbounded == TRUSTING


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("eqbench; eqbench.load_game('kuhn3')", {"numba", "pandas", "scipy"}),
        ("eqbench.cli", {"matplotlib", "numba", "numpy", "pandas", "rich"}),
        ("eqbench.verification", {"numba", "scipy"}),
        (
            "eqbench.solvers.cfr.methods, eqbench.solvers.fictitious_play.full_width, "
            "eqbench.solvers.sequence_lp, eqbench.solvers.lcp",
            {"numba", "pandas", "scipy"},
        ),
        ("eqbench.solvers.case_enumeration.enumeration", {"flint"}),
        (
            "eqbench.plots.branches, eqbench.plots.flow, eqbench.plots.kuhn, "
            "eqbench.plots.stability, eqbench.plots.style",
            {"matplotlib"},
        ),
    ],
)
def test_importing_it_does_not_load(module: str, unwanted: set[str]):
    """Contracts speak of single files; only a fresh interpreter shows what they add up to."""
    program = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert unwanted.intersection(loaded) == set()
