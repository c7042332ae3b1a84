"""Machine code on disk is never served after an edit, not even of a function it calls."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import FunctionCache

import eqbench
from eqbench.model import compiled

SCRIPT = """
from eqbench.model.builder import TreeBuilder
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.sequence_form import compile_sequence_form
builder = TreeBuilder(["P1", "P2"])
first = builder.decision(None, 0, "", ["go"])
second = builder.decision((first, 0), 1, "", ["left", "right"])
builder.terminal((second, 0), [1, 0])
builder.terminal((second, 1), [3, 0])
model = SequenceFormModel(compile_sequence_form(builder.tree()))
print(float(model.expected_payoffs([1.0, 0.5, 0.5])[0]))
"""


def payoff(checkout: Path, cache: Path) -> float:
    """Expected payoff as the kernels of a copied checkout compute it, in a fresh process."""
    variables = os.environ | {"PYTHONPATH": str(checkout), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=checkout,
        env=variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    source = Path(eqbench.__file__).parent
    shutil.copytree(source, tmp_path / "eqbench", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def edit_callee(checkout: Path) -> None:
    """Double what `realize` computes; the kernels that call it stay as they are."""
    kernels = checkout / "eqbench" / "model" / "kernels.py"
    text = kernels.read_text()
    edited = text.replace("reach[s] = above * behavior[s]", "reach[s] = 2.0 * above * behavior[s]")
    assert edited != text
    kernels.write_text(edited)


def test_edit_of_a_callee_is_never_served_from_a_stale_cache(checkout: Path) -> None:
    cache = checkout / "cache"
    assert payoff(checkout, cache) == 2.0
    assert payoff(checkout, cache) == 2.0
    assert len(list(cache.glob("eqbench/kernels-*"))) == 1
    edit_callee(checkout)
    assert payoff(checkout, cache) == 4.0
    assert len(list(cache.glob("eqbench/kernels-*"))) == 2


def test_every_kernel_source_is_part_of_the_cache_name(checkout: Path) -> None:
    from eqbench.model.cache import source_hash
    from eqbench.model.compiled import kernel_sources

    names = {file.parent.name + "/" + file.name for file in kernel_sources()}
    assert {"model/kernels.py", "model/rank_sums.py", "cfr/iteration.py"} <= names
    assert "verification/compiled_sweep.py" in names
    files = sorted((checkout / "eqbench" / "model").glob("*.py"))
    before = source_hash(files)
    edit_callee(checkout)
    assert source_hash(files) != before


def test_kernels_are_compiled_where_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def full(self: object, sig: object, data: object) -> None:
        tried.append(sig)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(FunctionCache, "save_overload", full)
    own = compiled.Kernel(one_more)
    own.compile(1)
    assert own(1) == 2
    assert tried


def one_more(number: int) -> int:
    return number + 1


def run_cold(
    cache: Path, *words: str, begin: tuple[str, ...] = ("-m", "eqbench"), **more: str
) -> subprocess.CompletedProcess[str]:
    variables = os.environ | {"NUMBA_CACHE_DIR": str(cache), "EQBENCH_KERNELS": "auto"} | more
    command = [sys.executable, *begin, *words]
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


def test_cell_that_has_to_compile_is_run_again_with_machine_code(tmp_path: Path) -> None:
    words = ("run", "--game", "kuhn2", "--solver", "cfr_plus", "--timeout", "3", "--target", "0")
    done = run_cold(tmp_path / "cache", *words, "--out", str(tmp_path / "run"), "--json")
    assert done.returncode == 0, done.stderr
    (cell,) = json.loads(done.stdout)["cells"]
    assert cell["iterations"] > 30_000  # plain Python does not get there in 3 s
    assert "kernels" not in cell["statistics"]


def test_small_cell_runs_as_plain_python_and_says_so(tmp_path: Path) -> None:
    words = ("run", "--game", "kuhn2", "--solver", "logit", "--out", str(tmp_path / "run"))
    done = run_cold(tmp_path / "cache", *words, "--json")
    (cell,) = json.loads(done.stdout)["cells"]
    assert cell["status"] == "ok"
    assert cell["statistics"]["kernels"] == "plain Python"
    assert not list((tmp_path / "cache").rglob("*.nbc"))


def test_warm_up_leaves_machine_code_behind(tmp_path: Path) -> None:
    script = "import sys; from eqbench.cli import main, run; run.WARMING = {!r}; sys.exit(main())"
    chosen = script.format((["kuhn2"], ["lcp(offpath=keep)"]))
    done = run_cold(tmp_path, "warm-up", begin=("-c", chosen))
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("complementarity.advance-*.nbc"))


def test_warm_up_without_numba_names_what_brings_it(tmp_path: Path) -> None:
    done = run_cold(tmp_path, "warm-up", EQBENCH_KERNELS="python")
    assert done.returncode == 2
    assert "eqbench[fast]" in done.stderr
