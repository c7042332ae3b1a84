"""Gurobi's license as `eqbench doctor` names it, and the commit of a checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eqbench.cli.doctor import checks
from eqbench.harness import environment

TOO_LARGE = 10010


class GurobiError(Exception):
    def __init__(self, errno: int, text: str) -> None:
        super().__init__(text)
        self.errno = errno


class Quiet:
    """Environment or model that does nothing but count its variables."""

    def __init__(self, **_: Any) -> None:
        self.variables = 0

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *error: object) -> None: ...

    def addVars(self, count: int) -> None:  # noqa: N802 (the name that Gurobi gave it)
        self.variables += count

    def optimize(self) -> None: ...


class Limited(Quiet):
    def optimize(self) -> None:
        if self.variables > 2000:
            raise GurobiError(TOO_LARGE, "Model too large for size-limited license")


def expired(**_: Any) -> Quiet:
    raise GurobiError(10009, "License expired 2020-01-01")


@pytest.mark.parametrize(
    ("env", "model", "said"),
    [
        (Quiet, Limited, "size-limited license: small models only"),
        (Quiet, Quiet, "license without a limit on size"),
        (expired, Quiet, "no license: License expired 2020-01-01"),
    ],
)
def test_license_of_gurobi_is_named(
    monkeypatch: pytest.MonkeyPatch, env: Any, model: Any, said: str
) -> None:
    codes = SimpleNamespace(Error=SimpleNamespace(SIZE_LIMIT_EXCEEDED=TOO_LARGE))
    fake = SimpleNamespace(
        Env=env, Model=model, GurobiError=GurobiError, GRB=codes, __spec__=object()
    )
    monkeypatch.setitem(sys.modules, "gurobipy", fake)
    (check,) = [check for check in checks() if check.name == "gurobi"]
    assert check.state == "good"
    assert check.detail.endswith(said)


def test_every_extra_with_a_package_for_solvers_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    absent = {check.name for check in checks() if check.state == "absent"}
    assert {"gambit", "gurobi", "scip", "peers", "ode", "exact"} <= absent


def test_what_is_required_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eqbench.cli.doctor.version_of", lambda name: None)
    broken = {check.name for check in checks() if check.state == "broken"}
    assert {"click", "jinja2", "msgspec", "numpy", "rich", "scipy", "tomli-w"} <= broken


def test_commit_of_a_checkout_is_read_from_its_files(tmp_path: Path) -> None:
    main = tmp_path / "main"

    def git(*words: str, folder: Path = main) -> str:
        named = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e"]
        return subprocess.run([*named, *words], check=True, capture_output=True, text=True).stdout

    main.mkdir()
    assert environment.checkout_commit(main) is None
    git("init")
    assert environment.checkout_commit(main) is None
    git("commit", "--allow-empty", "--message", "first")
    git("worktree", "add", str(tmp_path / "other"))
    git("commit", "--allow-empty", "--message", "second", folder=tmp_path / "other")
    for words in (("status",), ("pack-refs", "--all"), ("checkout", "--detach")):
        git(*words)
        for folder in (main, tmp_path / "other"):
            commit = git("rev-parse", "HEAD", folder=folder).strip()
            assert environment.checkout_commit(folder) == commit


def test_without_numba_the_cache_is_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQBENCH_KERNELS", "python")
    (cache,) = (check for check in checks() if check.name == "kernel cache")
    assert "plain Python" in cache.detail
