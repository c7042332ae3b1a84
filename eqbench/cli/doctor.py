"""`eqbench doctor`: checks of the installation, and of locks between processes and machines."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import io
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

from eqbench.cli.options import command
from eqbench.cli.output import put_result, say
from eqbench.documents import read_file
from eqbench.errors import UsageError
from eqbench.extras import EXTRAS, installation_of
from eqbench.harness.environment import Check, environment, installation, version_of
from eqbench.report.rows import Column, Report, Row, Table
from eqbench.requests import FOLDER, Json, Kind, Option
from eqbench.store.locks import NO_LOCKS, lock_byte

WAIT_S = 30.0  # for the other machine


@dataclass(frozen=True)
class DoctorRequest:
    """Check the installation: packages, optional solvers, cache, results folder.

    With --locks DIR it checks instead whether several runners may share a folder; typed on two
    machines within 30 s, whether runners on both of them may. Exit code 1 if something that
    eqbench needs is broken.
    """

    locks: Annotated[
        str | None, Option("Check only whether locks in this folder hold.", FOLDER)
    ] = None
    scheduler: Annotated[
        str | None,
        Option(
            "List the workers of this Dask cluster instead, and whether they may take part in runs "
            "from here.",
            Kind("ADDRESS"),
        ),
    ] = None
    as_json: Json = False


@command(DoctorRequest)
def doctor(request: DoctorRequest) -> int:
    from eqbench.harness.attempt import engine_of

    if request.locks is not None:
        found = lock_checks(Path(request.locks), WAIT_S, say)
    else:
        scheduler = request.scheduler
        found = checks() if scheduler is None else engine_of(scheduler).checks(scheduler)
    columns = (Column("name", identifies=True), Column("state", "status"), Column("detail"))
    rows = tuple(Row(check.name, asdict(check)) for check in found)
    put_result(
        {"schema": "eqbench.doctor/1", "checks": [row.values for row in rows]},
        lambda: Report((Table("", columns, rows),)),
        as_json=request.as_json,
    )
    return int(any(check.state == "broken" for check in found))


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
    needs = (each for each in importlib.metadata.requires("eqbench") or () if ";" not in each)
    for name in sorted(re.split(r"[^\w.-]", need)[0] for need in needs):
        version = version_of(name)
        state: Literal["good", "broken"] = "good" if version else "broken"
        found.append(Check(name, state, version or f"missing: pip install {name}"))
    for extra, packages in EXTRAS.items():
        if absent := [name for name in packages if importlib.util.find_spec(name) is None]:
            detail = f"optional: {installation_of(absent[0])}"
            found.append(Check(extra, "absent", detail))
            continue
        names = dict.fromkeys(packages.values())
        details = [f"{name} {version_of(name) or ''}".strip() for name in names]
        if extra == "gurobi":
            details.append(_gurobi_license())
        found.append(Check(extra, "good", ", ".join(details)))
    return [*found, *_folders()]


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


def _folders() -> list[Check]:
    """Check the caches and the place for results."""
    from eqbench.model.compiled import cache_folder, has_numba
    from eqbench.model.game_cache import game_cache_folder

    kernels, games, results = cache_folder(), game_cache_folder(), Path("results")
    found = []
    if not has_numba():
        detail = f"kernels run as plain Python: {installation_of('numba')} compiles them"
        found.append(Check("kernel cache", "absent", detail))
    elif kernels is None:
        detail = "not writable: every process compiles afresh"
        found.append(Check("kernel cache", "absent", detail))
    else:
        found.append(Check("kernel cache", "good", str(kernels)))
    if games is None:
        detail = "not writable: large games are built every time"
        found.append(Check("game cache", "absent", detail))
    else:
        size = sum(file.stat().st_size for file in games.rglob("*") if file.is_file())
        found.append(Check("game cache", "good", f"{games} ({size / 2**20:,.0f} MiB)"))
    place = results if results.is_dir() else Path.cwd()
    try:
        with tempfile.TemporaryFile(dir=place):
            found.append(Check("results", "good", f"{results.resolve()} can be written"))
    except OSError as error:
        detail = f"{place.resolve()} cannot be written ({error.strerror}): use run --out DIR"
        found.append(Check("results", "absent", detail))
    return found


_PREFIX = ".eqbench-lock-of-"
BEAT_S, LINGER_S = 1.0, 6.0
_TRY = """
import sys
from pathlib import Path
from eqbench.cli.doctor import is_free
print("free" if is_free(Path(sys.argv[1])) else "held")
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
                lock_byte(file.fileno())
                found = [_between_processes(own)]
                if wait_s and found[0].state == "good":
                    tell(
                        f"holding a lock in {folder} for up to {wait_s:g} s: run the same command "
                        "on the other machine now"
                    )
                    found.append(_between_machines(own, file, wait_s))
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


def _between_machines(own: Path, file: io.FileIO, wait_s: float) -> Check:
    """Try the locks of others for some seconds; they are alive as long as their files change."""
    name, found = "locks between machines", None
    seen: dict[Path, bytes] = {}
    free: set[Path] = set()
    until, beat = time.monotonic() + wait_s, 0
    while time.monotonic() < until:
        beat += 1
        file.seek(0)
        file.write(b"%09d" % beat)
        for other in set(own.parent.glob(f"{_PREFIX}*")) - {own}:
            with suppress(OSError):  # it may end at any moment
                text = read_file(other)
                if seen.setdefault(other, text) == text:
                    continue
                seen[other], machine = text, other.name.removeprefix(_PREFIX).rpartition("-")[0]
                if not is_free(other):
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


def is_free(other: Path) -> bool:
    """Return whether this process can lock the first byte of a file."""
    with other.open("r+b") as file:
        try:
            lock_byte(file.fileno())
        except BlockingIOError:
            return False
        return True
