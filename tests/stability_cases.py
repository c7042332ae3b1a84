"""Studies of stability that tests look at."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.report.terminal import plain_text, print_report
from eqbench.studies.flow.stability import StabilityStudy
from eqbench.studies.frame import Session, StudyFolder, answer
from eqbench.studies.requests import GivenProfile, StabilityRequest


@cache
def flow(spec: str) -> Any:
    return eqbench.load_solver("replicator").flow(eqbench.load_game(spec))


def study(game: str, folder: Path | None = None, **options: Any) -> dict[str, Any]:
    """Summary of a study of stability, in a folder of its own unless one is given."""
    begun = StabilityStudy(StabilityRequest(game=game, **options))
    if folder is None:
        return answer(begun)
    return StudyFolder.create(begun, folder).carry_out(begun, Session(folder))


def given(spec: str, behavior: list[float], name: str = "mine") -> tuple[GivenProfile, ...]:
    tree = eqbench.load_game(spec).tree
    profile = BehaviorProfile.of(tree, np.array(behavior))
    return (GivenProfile(name, profile.on(tree).to_json()),)


def printed(document: dict[str, Any], width: int = 160) -> str:
    return plain_text(lambda console: print_report(StabilityStudy.report(document), console), width)
