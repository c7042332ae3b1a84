"""Traces of a made-up curve with known folds, for tests."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from command import PLUGINS

from eqbench.studies.frame import Session, StudyFolder
from eqbench.studies.requests import TraceRequest
from eqbench.studies.trace.checkpoint import Progress
from eqbench.studies.trace.study import TraceStudy

WINDING = PLUGINS / "winding.py"
# Where the pot 3 + t + 1.5 sin t of the plugin turns around, and its value there.
TURNS = (math.acos(-2 / 3), 2 * math.pi - math.acos(-2 / 3))
FOLDS = tuple(3 + t + 1.5 * math.sin(t) for t in TURNS)


def study(solver: str = "winding", first: Any = 3, last: Any = 8, **more: Any) -> TraceStudy:
    """A trace of SKP by the plugin, unless another game or solver is named."""
    at = tuple(value if value == "most" else Fraction(value) for value in more.pop("at", ()))
    fields = {"game": "skp", "plugins": (str(WINDING),), **more}
    return TraceStudy(
        TraceRequest(solver=solver, first=Fraction(first), last=Fraction(last), at=at, **fields)
    )


def followed(case: TraceStudy, folder: Path, **session: Any) -> Progress:
    """Follow a branch, from where the folder has it; nothing is polished."""
    folder.mkdir(exist_ok=True)
    return case.followed(Session(folder, **session))


def traced(case: TraceStudy, folder: Path, **session: Any) -> dict[str, Any]:
    """Follow a branch, from where the folder has it; return the summary of what is on it."""
    folder.mkdir(exist_ok=True)
    return StudyFolder(folder).carry_out(case, Session(folder, **session))


def table(folder: Path) -> np.ndarray:
    """The numbers of points.csv."""
    return np.loadtxt(folder / "points.csv", delimiter=",", skiprows=1, ndmin=2)
