"""A built wheel holds every package and nothing beside `eqbench`, and the citation is of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
# Folders of the checkout and where they go in the package.
MAPPING = {"eqbench": "eqbench", "games": "eqbench/games", "solvers": "eqbench/solvers"}


def package_folders(root: Path) -> set[str]:
    """Return the installed paths (``eqbench/games``) of the package folders below `root`."""
    return {
        "/".join((target, *init.parent.relative_to(root / folder).parts))
        for folder, target in MAPPING.items()
        for init in (root / folder).rglob("__init__.py")
    }


def copy_sources(target: Path) -> None:
    """Copy what git tracks or would track: no build/ or egg-info may leak into the wheel."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listing.split("\0")):
        # A tracked file may be deleted in the work tree.
        if os.path.lexists(ROOT / name):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a source distribution of a clean checkout, and the wheel built of it."""
    checkout = tmp_path_factory.mktemp("checkout")
    copy_sources(checkout)
    command = [sys.executable, "-m", "build", "--no-isolation", str(checkout)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return checkout / "dist"


@pytest.fixture(scope="module")
def shipped(built: Path) -> set[str]:
    """The names of the files in the wheel."""
    (wheel,) = built.glob("*.whl")
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_source_distribution_holds_tests_and_documentation(built: Path):
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    own = Path(__file__).relative_to(ROOT).as_posix()
    assert {own, "docs/index.md", "eqbench/games/kuhn.py", "pyproject.toml"} <= names


def test_every_module_is_shipped(shipped: set[str]):
    modules = {
        "/".join((target, *path.relative_to(ROOT / folder).parts))
        for folder, target in MAPPING.items()
        for path in (ROOT / folder).rglob("*.py")
    }
    assert {f"{folder}/__init__.py" for folder in package_folders(ROOT)} <= modules
    assert modules - shipped == set()


def test_nothing_else_is_shipped_at_the_top(shipped: set[str]):
    tops = {name.partition("/")[0] for name in shipped}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"eqbench"}


def test_types_and_license_are_shipped(shipped: set[str]):
    assert {
        "eqbench/py.typed",
        "eqbench/__init__.pyi",
        "eqbench/report/identity.txt",
        "eqbench/studies/legends.toml",
    } <= shipped
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in shipped)


def test_templates_of_pages_are_shipped(shipped: set[str]):
    folders = {"eqbench/report/html/templates": 9, "eqbench/report/charts": 9}
    for folder, count in folders.items():
        files = {f"{folder}/{path.name}" for path in (ROOT / folder).glob("*.[!p]*")}
        assert len(files) == count
        assert files - shipped == set()


def test_citation_is_complete_and_current():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    # The keys that the Citation File Format 1.2.0 requires.
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
    assert citation["authors"] == project["authors"]
