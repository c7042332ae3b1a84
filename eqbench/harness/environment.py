"""What a result depends on besides the request: versions of solvers, platform, packages."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
from pathlib import Path
from typing import Any

from eqbench.documents import read_file
from eqbench.errors import UsageError
from eqbench.model.cache import package_sources, source_hash
from eqbench.plugins import Entry

_DISTRIBUTION = "distribution "


def solver_version(entry: Entry) -> str:
    """Version and source of what defines a solver, as far as it can be told from outside.

    Built-in solvers count with the sources of the model, of their own package and of the
    modules beside it; plugin files with their content; both with the optional packages that
    they announce.
    """
    if entry.builtin:
        own = f"eqbench {version_of('eqbench')} {_builtin_source(entry)}"
    elif entry.plugin:
        own = hashlib.sha256(_content(entry.plugin)).hexdigest()[:16]
    else:
        name = entry.source.removeprefix(_DISTRIBUTION)
        own = f"{name} {version_of(name)}"
    names = [name for need in entry.requires for name in need.split(" or ")]
    packages = [f"{name} {_version_of_module(name)}" for name in names]
    return ", ".join([own, *packages])


def _content(plugin: str) -> bytes:
    try:
        return read_file(plugin)
    except OSError as error:
        raise UsageError(
            f"cannot read the plugin {plugin}: {error.strerror}; give the path of a Python file"
        ) from None


def _builtin_source(entry: Entry) -> str:
    package, _, module = entry.module.rpartition(".")
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    files = package_sources("eqbench.model")
    for folder in map(Path, folders):
        files += [*folder.glob("*.py"), *(folder / module).rglob("*.py")]
    return source_hash(sorted(files))


def _version_of_module(name: str) -> str | None:
    from importlib.metadata import packages_distributions

    found = packages_distributions().get(name, [name])
    return version_of(found[0])


CORE = ("numpy", "scipy", "numba", "pandas", "matplotlib", "click", "rich", "psutil")
OPTIONAL = {
    "gambit": ("pygambit", "pygambit"),
    "gurobi": ("gurobipy", "gurobipy"),
    "scip": ("pyscipopt", "PySCIPOpt"),
    "peers": ("pyspiel", "open_spiel"),
    "ode": ("heyoka", "heyoka"),
    "exact": ("flint", "python-flint"),
}


def environment() -> dict[str, Any]:
    """Platform and package versions, as JSON values; does not need any package itself."""
    return {
        "eqbench": version_of("eqbench"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "packages": {name: version_of(name) for name in CORE},
    }


def version_of(package: str) -> str | None:
    """Installed version of a distribution, None if it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def installation() -> Path:
    """Folder that holds the package."""
    return Path(__file__).resolve().parents[2]


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


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
