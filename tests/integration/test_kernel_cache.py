"""Machine code on disk is never served after an edit, not even of a function it calls."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import types
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.caching import FunctionCache

import eqbench
from eqbench.model import compiled
from eqbench.model.compiled import kernel

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


def copied(place: Path) -> Path:
    """Another checkout."""
    source = Path(eqbench.__file__).parent
    shutil.copytree(source, place / "eqbench", ignore=shutil.ignore_patterns("__pycache__"))
    return place


def edit_kernels(checkout: Path, before: str, after: str) -> None:
    """Edit the file of the kernels on sequence forms."""
    kernels = checkout / "eqbench" / "model" / "kernels.py"
    text = kernels.read_text()
    assert before in text
    kernels.write_text(text.replace(before, after))


def compiled_in(cache: Path) -> set[tuple[Path, int]]:
    """Files with machine code, and when they were written."""
    return {(file, file.stat().st_mtime_ns) for file in cache.rglob("*.nbc")}


def test_machine_code_is_compiled_again_when_a_callee_changes_and_only_then(tmp_path: Path) -> None:
    cache, checkout = tmp_path / "cache", copied(tmp_path / "one")
    assert payoff(checkout, cache) == 2.0
    before = compiled_in(cache)
    assert before
    # another checkout whose lines stand elsewhere
    other = copied(tmp_path / "two")
    edit_kernels(other, "import numpy as np\n", "import numpy as np\n\n# A remark.\n")
    assert payoff(other, cache) == 2.0
    assert compiled_in(cache) == before
    # what `realize` computes is doubled; the kernels that call it stay as they are
    edit_kernels(checkout, "reach[s] = above * behavior[s]", "reach[s] = 2.0 * above * behavior[s]")
    assert payoff(checkout, cache) == 4.0
    assert compiled_in(cache) > before


FACTOR = 2.0


@kernel
def doubled(number: float) -> float:
    return FACTOR * number


@kernel
def doubled_more(number: float) -> float:
    return doubled(number) + FACTOR


@kernel
def doubled_twice(number: float) -> float:
    return doubled(number) + doubled_more(number) + FACTOR(number)  # type: ignore[operator]


LONG = np.arange(2000.0)


@pytest.mark.parametrize(
    ("function", "one", "other"),
    [
        (doubled_more, {}, {"FACTOR": 3.0}),
        (doubled_more, {}, {"doubled": compiled.variant(doubled, "other", FACTOR=np.ones(2))}),
        (doubled_twice, {"FACTOR": doubled}, {"FACTOR": doubled_more}),
        (doubled, {"FACTOR": (LONG,)}, {"FACTOR": (LONG + (LONG == 999),)}),
        (doubled, {"FACTOR": namedtuple("U", "a b")}, {"FACTOR": namedtuple("U", "b a")}),
    ],
)
def test_files_of_a_kernel_depend_on_constants_and_on_kernels_that_it_calls(
    function: compiled.Kernel, one: dict[str, object], other: dict[str, object]
) -> None:
    made, again, changed = (compiled.variant(function, "made", **x) for x in (one, one, other))
    assert made._file == again._file
    assert made._file != changed._file


@pytest.mark.parametrize("module", [compiled, pytest])
def test_kernel_that_reads_constants_of_a_module_is_refused(module: types.ModuleType) -> None:
    made = compiled.variant(doubled, "made", FACTOR=module)
    with pytest.raises(TypeError, match="must import from FACTOR"):
        made.compile(1.0)


def test_machine_code_for_named_tuples_is_not_used_when_their_fields_are_in_another_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "cache_folder", lambda: tmp_path)
    for fields, expected in (["first", "second"], 1.0), (["second", "first"], 2.0):
        pair = namedtuple("pair", fields)  # type: ignore[misc]
        monkeypatch.setattr(sys.modules[__name__], "pair", pair, raising=False)
        own = compiled.Kernel(first_of)
        own.compile(pair(1.0, 2.0))
        assert own(pair(1.0, 2.0)) == expected


def first_of(pair: Any) -> float:
    return pair.first


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
