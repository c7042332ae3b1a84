"""Extras as messages name them are those of pyproject.toml, and bring what is imported."""

from __future__ import annotations

import re
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from eqbench.builtin import BUILTIN
from eqbench.errors import MissingPackageError
from eqbench.extras import EXTRAS, installation_of, needed_for

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DECLARED = PROJECT["optional-dependencies"]
# Neither is an extra of eqbench: a solver that needs it names its installation.
OTHERS = {"cvxpy"}


def names(requirements: list[str]) -> set[str]:
    """Normalized names of distributions."""
    found = (re.match(r"[\w.-]+", each)[0] for each in requirements)  # type: ignore[index]
    return {re.sub(r"[-_.]+", "-", name).lower() for name in found}


def test_every_extra_brings_its_packages() -> None:
    for extra, packages in EXTRAS.items():
        assert names(DECLARED[extra]) == names([*packages.values()]), extra
    assert DECLARED.keys() - EXTRAS == {"all", "dev", "docs"}


def test_no_optional_package_is_part_of_the_base() -> None:
    optional = names([*chain.from_iterable(each.values() for each in EXTRAS.values())])
    assert not names(PROJECT["dependencies"]) & optional


def test_all_brings_every_extra_that_has_wheels() -> None:
    text = " ".join(DECLARED["all"] + DECLARED["dev"])
    named = set(re.split(r"[\[\],]", " ".join(re.findall(r"eqbench(\[.*?\])", text))))
    assert EXTRAS.keys() - named == {"liteefg"}  # it is compiled


def test_every_package_that_a_solver_needs_has_an_extra() -> None:
    needs = chain.from_iterable(entry.requires for entry in BUILTIN["solver"].values())
    for need in {*needs} - OTHERS:
        extras = re.findall(r"'eqbench\[(\w+)\]'", installation_of(need))
        assert len(extras) == len(need.split(" or ")), need


def test_every_extra_that_a_file_names_is_declared() -> None:
    listing = ["git", "ls-files", "eqbench", "games", "solvers", "docs", "README.md"]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    texts = (ROOT / name for name in done.stdout.splitlines() if name.endswith((".py", ".md")))
    found = re.findall(r"eqbench\[([\w,]+)\]", "".join(map(Path.read_text, texts)))
    assert {"peers", "scip"} <= {*",".join(found).split(",")} <= DECLARED.keys()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ModuleNotFoundError("gone", name="pandas"),
            "not installed: pip install 'eqbench[frames]'",
        ),
        (ModuleNotFoundError("gone", name="matplotlib.text"), "[plots]"),
        (ImportError("no symbol", name="flint.types"), "cannot be imported (no symbol)"),
    ],
)
def test_missing_package_is_named_with_its_extra(error: ImportError, words: str) -> None:
    with pytest.raises(MissingPackageError, match=re.escape(words)), needed_for("a test"):
        raise error


@pytest.mark.parametrize("name", ["numpy", "pandas_of_mine", None])
def test_other_errors_of_imports_are_left_alone(name: str | None) -> None:
    with pytest.raises(ImportError), needed_for("a test"):
        raise ImportError("gone", name=name)
