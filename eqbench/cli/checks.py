"""Checks of the installation, and of locks in a folder between processes and machines."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from eqbench.documents import read_file
from eqbench.errors import UsageError
from eqbench.harness.environment import Check, environment, installation, version_of
from eqbench.store.json_lines import NO_LOCKS

OPTIONAL = {
    "gambit": ("pygambit", "pygambit"),
    "gurobi": ("gurobipy", "gurobipy"),
    "scip": ("pyscipopt", "PySCIPOpt"),
    "peers": ("pyspiel", "open_spiel"),
    "liteefg": ("LiteEFG", "LiteEFG"),
    "ode": ("heyoka", "heyoka"),
    "exact": ("flint", "python-flint"),
    "cluster": ("distributed", "distributed"),
}


def split_installation() -> str | None:
    """Complaint if core and plugins come from different checkouts, else None.

    Both are mapped into one package, so a stale installation could pair new code with old.
    """
    core = Path(__file__).resolve().parents[1]
    for name in ("games", "solvers"):
        spec = importlib.util.find_spec(f"eqbench.{name}")
        if spec is None or not spec.submodule_search_locations:
            return f"the package eqbench.{name} is missing; install eqbench again"
        folder = Path(next(iter(spec.submodule_search_locations))).resolve()
        if folder.parent not in (core, core.parent):
            return (
                f"eqbench comes from {core.parent}, but eqbench.{name} from {folder}; install one "
                "of them again, for example with pip install -e ."
            )
    return None


def checks() -> list[Check]:
    """Check packages, optional solvers, caches and the place for results."""
    facts, split = environment(), split_installation()
    about = f"{facts['platform']}, {facts['cores']} cores, {facts['memory_bytes'] / 2**30:.0f} GiB"
    commit = f", commit {facts['commit'][:10]}" if "commit" in facts else ""
    found = [
        Check("eqbench", "good", f"{facts['eqbench']} on Python {facts['python']}{commit}"),
        Check("platform", "good", about),
        Check("installation", "broken" if split else "good", split or str(installation())),
    ]
    for name, version in facts["packages"].items():
        state: Literal["good", "broken"] = "good" if version else "broken"
        found.append(Check(name, state, version or f"missing: pip install {name}"))
    return [*found, *map(_extra, OPTIONAL), _kernel_cache(), _game_cache(), _results()]


def _extra(extra: str) -> Check:
    """The package of an extra for solvers."""
    module, distribution = OPTIONAL[extra]
    if importlib.util.find_spec(module) is None:
        return Check(extra, "absent", f"optional: pip install 'eqbench[{extra}]'")
    detail = f"{distribution} {version_of(distribution) or ''}".strip()
    if extra == "gurobi":
        detail += f", {_gurobi_license()}"
    return Check(extra, "good", detail)


def _gurobi_license() -> str:
    """Which license of Gurobi is here, tried out on a model that the size-limited one refuses."""
    import gurobipy as gp

    try:
        with gp.Env(params={"OutputFlag": 0}) as env, gp.Model(env=env) as model:
            model.addVars(2001)
            model.optimize()
    except gp.GurobiError as error:
        if error.errno == gp.GRB.Error.SIZE_LIMIT_EXCEEDED:
            return "size-limited license: small models only"
        return f"no license: {error}"
    return "license without a limit on size"


def _kernel_cache() -> Check:
    from eqbench.model.compiled import cache_folder

    folder = cache_folder()
    if folder is None:
        return Check("kernel cache", "absent", "not writable: every process compiles afresh")
    return Check("kernel cache", "good", str(folder))


def _game_cache() -> Check:
    from eqbench.model.game_cache import game_cache_folder

    folder = game_cache_folder()
    if folder is None:
        return Check("game cache", "absent", "not writable: large games are built every time")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Check("game cache", "good", f"{folder} ({size / 2**20:,.0f} MiB)")


def _results() -> Check:
    folder = Path("results")
    place = folder if folder.is_dir() else Path.cwd()
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        detail = f"{place.resolve()} cannot be written ({error.strerror}): use run --out DIR"
        return Check("results", "absent", detail)
    return Check("results", "good", f"{folder.resolve()} can be written")


_PREFIX = ".eqbench-lock-of-"
BEAT_S, LINGER_S = 1.0, 6.0
_TRY = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
        print("free")
    except (BlockingIOError, PermissionError):
        print("held")
"""


def lock_checks(
    folder: Path, wait_s: float, tell: Callable[[str], None], host: str = ""
) -> list[Check]:
    """Check whether runners may share a folder.

    A byte of a file is locked, and another process tries to lock it too. Then the lock is held for
    `wait_s` seconds, until the same check on another machine has tried.

    Parameters
    ----------
    wait_s : 0 to check this machine only
    tell : gets a message about what to do meanwhile
    host : name of this machine; as the system says unless given

    Raises
    ------
    UsageError
        If the folder cannot be written.
    """
    own = folder / f"{_PREFIX}{host or socket.gethostname()}-{os.getpid()}"
    try:
        with own.open("x+b", buffering=0) as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
                found = [_between_processes(own)]
                if wait_s and found[0].state == "good":
                    tell(
                        f"holding a lock in {folder} for up to {wait_s:g} s: run the same command "
                        "on the other machine now"
                    )
                    found.append(_between_machines(own, file.fileno(), wait_s))
                return found
            except OSError as error:
                if error.errno not in NO_LOCKS:
                    raise
                detail = f"{error.strerror}: only one runner at a time may work here"
                return [Check("locks", "broken", detail)]
            finally:
                own.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot check locks in {folder}: {error.strerror}; name a folder that can be written"
        ) from None


def _between_processes(own: Path) -> Check:
    command = [sys.executable, "-c", _TRY, str(own)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.stdout.strip() == "held":
        return Check("locks", "good", "processes of this machine may share the folder")
    why = "a process got a lock that another one holds" if done.stdout else done.stderr[-300:]
    return Check("locks", "broken", f"{why}: only one runner at a time may work here")


def _between_machines(own: Path, descriptor: int, wait_s: float) -> Check:
    """Try the locks of others for some seconds; they are alive as long as their files change."""
    name, found = "locks between machines", None
    seen: dict[Path, bytes] = {}
    free: set[Path] = set()
    until, beat = time.monotonic() + wait_s, 0
    while time.monotonic() < until:
        beat += 1
        os.pwrite(descriptor, b"%09d" % beat, 0)
        for other in set(own.parent.glob(f"{_PREFIX}*")) - {own}:
            with suppress(OSError):  # it may end at any moment
                text = read_file(other)
                if seen.setdefault(other, text) == text:
                    continue
                seen[other], machine = text, other.name.removeprefix(_PREFIX).rpartition("-")[0]
                if not _is_free(other):
                    found = found or Check(name, "good", f"{machine} may share the folder")
                elif other in free:  # it was alive after its lock had been free
                    why = f"the lock of {machine} does not hold here; runners there and here must"
                    found = Check(name, "broken", f"{why} not share the folder")
                else:
                    free.add(other)
        if found:  # the other one shall see ours
            until = min(until, time.monotonic() + LINGER_S)
        time.sleep(BEAT_S)
    detail = "no other machine took part; run the same command on two machines at the same time"
    return found or Check(name, "absent", detail)


def _is_free(other: Path) -> bool:
    with other.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
        except (BlockingIOError, PermissionError):
            return False
        return True
