"""Studies of stability that tests look at."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import numpy as np
from rich.console import Console

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_to_json
from eqbench.registry import default_registry
from eqbench.studies.flow.stability import GivenProfile, StabilityRequest, StabilitySetting, examine
from eqbench.studies.flow.stability_table import print_stability


@cache
def flow(spec: str) -> Any:
    return eqbench.load_solver("replicator").flow(eqbench.load_game(spec))


def study(game: str, **options: Any) -> dict[str, Any]:
    request = StabilityRequest(game, "replicator", **options)
    return examine(StabilitySetting.of(default_registry(), request)).document


def given(spec: str, behavior: list[float], name: str = "mine") -> tuple[GivenProfile, ...]:
    tree = eqbench.load_game(spec).tree
    profile = BehaviorProfile.of(tree, np.array(behavior))
    return (GivenProfile(name, profile_to_json(tree, profile)),)


def printed(found: dict[str, Any], width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as capture:
        print_stability(found, console)
    return capture.get()
