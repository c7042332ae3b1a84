"""Traces of a made-up curve with known folds, for tests."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from command import PLUGINS

from eqbench.registry import default_registry
from eqbench.studies.trace.folder import TraceFolder
from eqbench.studies.trace.request import Setting, TraceRequest

WINDING = PLUGINS / "winding.py"
# Where the pot 3 + t + 1.5 sin t of the plugin turns around, and its value there.
TURNS = (math.acos(-2 / 3), 2 * math.pi - math.acos(-2 / 3))
FOLDS = tuple(3 + t + 1.5 * math.sin(t) for t in TURNS)


def setting(solver: str = "winding", first: Any = 3, last: Any = 8, **more: Any) -> Setting:
    """A trace of SKP by the plugin, unless another game or solver is named."""
    registry = default_registry().with_plugins([WINDING])
    more["at"] = tuple(map(Fraction, more.get("at", ())))
    request = TraceRequest(more.pop("game", "skp"), solver, Fraction(first), Fraction(last), **more)
    return Setting.of(registry, request)


def new_folder(path: Path, of: Setting) -> TraceFolder:
    return TraceFolder.create(path, of.request, "1")


def table(folder: TraceFolder) -> np.ndarray:
    """The numbers of points.csv."""
    return np.loadtxt(folder.points, delimiter=",", skiprows=1, ndmin=2)
