"""The table "who may import whom" holds, and the checker that says so can fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from architecture import (
    TABLE,
    Source,
    all_faults,
    border_faults,
    data_faults,
    data_files,
    import_faults,
    name_faults,
    sources,
)

ROOT = Path(__file__).resolve().parents[2]
MODULES = frozenset(
    {"eqbench.model", "eqbench.model.tree", "eqbench.model.kernels", "eqbench.games.kuhn"}
)


def faults(module: str, text: str, *, is_package: bool = False) -> list[str]:
    return import_faults(Source(module, text, is_package), MODULES)


def test_checkout_follows_the_table():
    assert all_faults(ROOT) == []


def test_the_walk_sees_core_plugins_and_tests():
    seen = {source.module for source in sources(ROOT)}
    assert {"eqbench", "eqbench.model", "eqbench.games", "eqbench.solvers"} <= seen
    assert "tests.unit.test_architecture" in seen


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("eqbench.model.tree", "import pandas"),
        ("eqbench.model.tree", "from eqbench.solver import Budget"),
        ("eqbench.model.tree", "from ..solver import Budget"),
        ("eqbench.model.tree", "def f():\n    from eqbench.solver import Budget"),
        ("eqbench.model.tree", "class C:\n    import eqbench.harness.plan"),
        ("eqbench.model.tree", "if TYPE_CHECKING:\n    import eqbench.store"),
        ("eqbench.model.tree", "try:\n    pass\nexcept OSError:\n    import psutil"),
        ("eqbench.errors", "import numpy"),
        ("eqbench.spec", "import eqbench.model"),
        ("eqbench.solver", "import eqbench.registry"),
        ("eqbench.options", "import eqbench.plugins"),
        ("eqbench.registry", "import eqbench.solvers.cfr"),
        ("eqbench.registry", "def f():\n    from eqbench.games import kuhn"),
        ("eqbench.registry", "def f():\n    from eqbench import games"),
        ("eqbench.registry", "import games"),
        ("eqbench.games.kuhn", "from eqbench.solver import Budget"),
        ("eqbench.games.kuhn", "import eqbench.games.matrix"),
        ("eqbench.games.kuhn", "from ..model import tree"),
        ("eqbench.games.kuhn", "from ..solvers import cfr"),
        ("eqbench.solvers.cfr.variants", "from eqbench.verification import regret"),
        ("eqbench.solvers.cfr.variants", "import eqbench.games.kuhn"),
        ("eqbench.solvers.cfr.variants", "import solvers.cfr"),
        ("eqbench.solvers.ncp.ncp", "from eqbench.equilibria import Identifier"),
        ("eqbench.solvers.ncp.ncp", "def f():\n    import eqbench.equilibria.catalog"),
        ("eqbench.verification.regret", "import numba"),
        ("eqbench.verification.regret", "import scipy.sparse"),
        ("eqbench.verification.regret", "from eqbench.model import kernels"),
        # The package may deliver anything under this name, kernels included.
        ("eqbench.verification.regret", "from eqbench.model import GameTree"),
        ("eqbench.equilibria.match", "import eqbench.store"),
        ("eqbench.store.reader", "import eqbench.verification"),
        ("eqbench.report.tables", "import eqbench.harness"),
        ("eqbench.harness.plan", "import eqbench.report"),
        ("eqbench.harness.plan", "import eqbench.solvers"),
        ("eqbench.studies.trace", "import eqbench.cli"),
        ("eqbench.testing.contract", "import eqbench.studies"),
        ("eqbench.cli", "import numpy"),
        ("eqbench.cli", "import eqbench.model"),
        ("eqbench.cli.run", "from eqbench.harness import plan"),
        ("eqbench.cli.run", "try:\n    import rich\nexcept ImportError:\n    rich = None"),
        ("eqbench.cli.run", "def f():\n    import eqbench.solvers.cfr"),
        ("eqbench", "from eqbench.model import tree"),
        ("eqbench", "import numpy"),
        ("eqbench.unheard_of", ""),
        ("tests.unit.test_cfr", "def f():\n    from eqbench.solvers import cfr"),
        ("tests.unit.test_kuhn", "import games.kuhn"),
    ],
)
def test_forbidden_import_is_flagged(module: str, text: str):
    assert len(faults(module, text)) == 1


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("eqbench.errors", "from __future__ import annotations"),
        ("eqbench.model.tree", "import numpy as np\nfrom scipy import sparse\nimport numba"),
        ("eqbench.model.tree", "from eqbench.errors import EqbenchError\nfrom . import kernels"),
        ("eqbench.registry", "from importlib import import_module\nimport eqbench.model"),
        ("eqbench.games.kuhn", "from . import matrix\nfrom .matrix import payoff"),
        ("eqbench.solvers.cfr.variants", "from . import engine\nfrom ..sampling import draw"),
        ("eqbench.solvers.gambit", "import pygambit\nfrom eqbench.solver import Budget"),
        ("eqbench.verification.regret", "from eqbench.model import tree\nimport numpy"),
        ("eqbench.verification.regret", "from eqbench.model.profile import BehaviorProfile"),
        ("eqbench.studies.trace", "import eqbench.harness\nimport eqbench.report"),
        ("eqbench.cli", "import click\ndef f():\n    import pandas\n    import eqbench.studies"),
        ("eqbench.cli.run", "from eqbench.cli.options import seeds\nfrom eqbench.errors import X"),
        ("eqbench.cli.run", "if TYPE_CHECKING:\n    from eqbench.model import GameTree"),
        ("eqbench", "def __getattr__(name):\n    from eqbench import registry"),
        ("eqbench.__main__", "def f():\n    from eqbench.cli import main"),
        ("tests.unit.test_tree", "from eqbench.model.tree import GameTree\nimport pandas"),
    ],
)
def test_allowed_import_passes(module: str, text: str):
    assert faults(module, text) == []


def test_relative_imports_of_a_package_start_at_the_package():
    assert faults("eqbench.model", "from .tree import GameTree", is_package=True) == []
    assert faults("eqbench.model", "from ..store import writer", is_package=True)


def test_every_row_names_existing_rows():
    for row in TABLE.values():
        assert {module.partition(".")[0] for module in row.core} <= TABLE.keys()


def test_vague_names_are_flagged():
    assert name_faults(Source("eqbench.model.utils", ""))
    assert name_faults(Source("eqbench.helpers.tree", ""))
    assert name_faults(Source("eqbench.model.tree", "")) == []


@pytest.mark.parametrize(
    "text",
    [
        "import json",
        "def f():\n    from importlib import resources",
        "import os.path",
        "import io",
        "from io import StringIO, open_code",
        "table = open('members.txt')",
        "import numpy as np\ntable = np.loadtxt('members.txt')",
        "def f(path):\n    return path.read_text()",
    ],
)
def test_a_solver_that_reads_data_is_flagged(text: str):
    assert len(data_faults(Source("eqbench.solvers.ncp.ncp", text))) == 1
    assert data_faults(Source("eqbench.equilibria.sets", text)) == []


@pytest.mark.parametrize(
    "call", ["path.read_text()", "(folder / 'x').read_bytes()", "np.load(io.BytesIO(data))"]
)
def test_a_file_that_is_read_without_a_bound_is_flagged(call: str):
    text = f"def f(path):\n    return {call}"
    assert len(border_faults(Source("eqbench.studies.trace.folder", text))) == 1
    assert border_faults(Source("eqbench.store.array_archive", text)) == []
    assert border_faults(Source("eqbench.model.cache", text)) == []


def test_a_solver_may_hold_text_in_memory():
    """Gambit reads games from streams, and this one has no file behind it."""
    source = Source("eqbench.solvers.gambit.conversion", "from io import StringIO")
    assert data_faults(source) == []


def test_solvers_come_without_data_files(tmp_path: Path):
    """So no solver can hold a published equilibrium and hand it over as found."""
    assert data_files(ROOT) == []
    (tmp_path / "solvers" / "ncp").mkdir(parents=True)
    (tmp_path / "solvers" / "ncp" / "run.py").write_text("")
    (tmp_path / "solvers" / "ncp" / "szafron.json").write_text("{}")
    assert data_files(tmp_path) == ["solvers/ncp/szafron.json"]


def test_a_violation_on_disk_is_found(tmp_path: Path):
    (tmp_path / "games" / "deep").mkdir(parents=True)
    (tmp_path / "games" / "deep" / "rules.py").write_text("import eqbench.harness\n")
    assert all_faults(tmp_path) == ["eqbench.games.deep.rules:1: may not import eqbench.harness"]


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("eqbench", {"click", "numpy"}),
        ("eqbench.cli", {"matplotlib", "numba", "numpy", "pandas", "rich"}),
        ("eqbench.verification", {"numba", "scipy"}),
    ],
)
def test_importing_it_does_not_load(module: str, unwanted: set[str]):
    """The table speaks of single files; only a fresh interpreter shows what they add up to."""
    program = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert unwanted.intersection(loaded) == set()
