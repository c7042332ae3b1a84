"""What a result depends on besides the code: platform, packages, limits."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eqbench.harness.plan import Cell, Request

CORE = ("numpy", "scipy", "numba", "pandas", "matplotlib", "click", "rich", "psutil")
OPTIONAL = {
    "gambit": ("pygambit", "pygambit"),
    "gurobi": ("gurobipy", "gurobipy"),
    "scip": ("pyscipopt", "PySCIPOpt"),
    "peers": ("pyspiel", "open_spiel"),
    "ode": ("heyoka", "heyoka"),
    "exact": ("flint", "python-flint"),
}


def manifest(request: Request, cells: Sequence[Cell]) -> dict[str, Any]:
    """What a run was asked for and where it ran, as JSON values."""
    from eqbench.store.schema import SCHEMA

    return {
        "schema": SCHEMA,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "request": {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(request).items()},
        "cells": [cell.key for cell in cells],
        "environment": environment(),
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
