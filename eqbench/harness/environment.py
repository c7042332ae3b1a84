"""What a result depends on besides the request: versions of solvers, platform, packages."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from eqbench.documents import read_file
from eqbench.errors import UsageError
from eqbench.isolation.processes import busy_cores
from eqbench.model.cache import package_sources, source_hash
from eqbench.model.size_limit import machine_bytes
from eqbench.plugins import Entry


@dataclass(frozen=True)
class Check:
    """A thing that eqbench needs or can use, and how it is here."""

    name: str
    state: Literal["good", "absent", "broken"]
    detail: str


def solver_version(entry: Entry) -> str:
    """Version and source of what defines a solver, as far as it can be known from outside.

    Built-in solvers count with the sources of the model, of their own package and of the
    modules next to it; plugin files with their content; both with the optional packages that
    they announce.
    """
    if entry.builtin:
        package, _, module = entry.module.rpartition(".")
        spec = importlib.util.find_spec(package)
        files = package_sources("eqbench.model")
        for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
            files += [*folder.glob("*.py"), *(folder / module).rglob("*.py")]
        own = f"eqbench {version_of('eqbench')} {source_hash(sorted(files))}"
    elif entry.plugin:
        try:
            own = hashlib.sha256(read_file(entry.plugin)).hexdigest()[:16]
        except OSError as error:
            raise UsageError(
                f"cannot read the plugin {entry.plugin}: {error.strerror}; give the path of a "
                "Python file"
            ) from None
    else:
        name = entry.source.removeprefix("distribution ")
        own = f"{name} {version_of(name)}"
    needed = [name for need in entry.requires for name in need.split(" or ")]
    known = importlib.metadata.packages_distributions() if needed else {}
    packages = [f"{name} {version_of(known.get(name, [name])[0])}" for name in needed]
    return ", ".join([own, *packages])


CORE = ("numpy", "scipy", "numba", "pandas", "matplotlib", "click", "rich", "psutil")


def environment() -> dict[str, Any]:
    """Platform and package versions, as JSON values; does not need any package itself."""
    commit, models = checkout_commit(installation()), list[str]()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "eqbench": version_of("eqbench"),
        **({"commit": commit} if commit else {}),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": (models or [platform.processor()])[0] or "unknown",
        "cores": os.cpu_count(),
        "memory_bytes": machine_bytes(),
        "packages": {name: version_of(name) for name in CORE},
    }


def host_facts() -> dict[str, Any]:
    """This machine and its load, as JSON values; `host` is its name in records."""
    name, facts = platform.node(), environment()
    own = "\n".join([name, facts["processor"], str(facts["cores"])])
    host = hashlib.sha256(own.encode()).hexdigest()[:8]
    return {"host": host, "name": name, "load": round(busy_cores(), 2), **facts}


@functools.cache
def fingerprint() -> dict[str, str]:
    """What must be the same wherever cells of one run are carried out.

    Solvers with the packages that they need have versions of their own, which are part of the keys
    of cells.
    """
    sources = source_hash(package_sources("eqbench", "eqbench.games", "eqbench.solvers"))
    packages = {name: str(version_of(name)) for name in ("numpy", "scipy", "numba")}
    eqbench = f"{version_of('eqbench')} {sources}"
    return {"eqbench": eqbench, "python": platform.python_version(), **packages}


def version_of(package: str) -> str | None:
    """Installed version of a distribution, None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def installation() -> Path:
    """Folder that holds the package."""
    return Path(__file__).resolve().parents[2]


def checkout_commit(folder: Path) -> str | None:
    """Commit of a checkout of git as its files have it, None if the folder is none."""
    git = folder / ".git"
    with suppress(OSError, UnicodeDecodeError):
        if git.is_file():  # of a further worktree
            git = folder / git.read_text().removeprefix("gitdir: ").strip()
        shared = git / "commondir"
        common = git / shared.read_text().strip() if shared.is_file() else git
        head = (git / "HEAD").read_text().strip()
        branch = head.removeprefix("ref: ")
        if branch == head:  # none is checked out
            return head
        if (common / branch).is_file():
            return (common / branch).read_text().strip()
        packed = map(str.split, (common / "packed-refs").read_text().splitlines())
        return next((words[0] for words in packed if words[1:] == [branch]), None)
    return None
