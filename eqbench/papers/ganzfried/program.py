"""The sizes of the paper's program, and what Gurobi makes of it: a computation of its own.

No command has this: `ncp(formulation=paper)` is the program before any presolve, which is beyond
Gurobi's size-limited license.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.papers.ganzfried.gurobi import Limits, solve
from eqbench.papers.ganzfried.presolve import PaperModel, missing_actions
from eqbench.registry import load_game
from eqbench.verification import verify

REDUCED = "kuhn(players=3,cards=4,reduce=dominated{})"
TIME_S = 100.0


def program(folder: Path, _jobs: Path, *, full: bool) -> dict[str, Any]:
    """Sizes of the full model and of those with 21 and 22 actions fixed; what Gurobi says of them.

    `kept` holds the sizes with 21 of the 22 actions fixed, by the one that is not. The model with
    22 takes Gurobi a minute, so it belongs to the full extent.
    """
    game = load_game("kuhn3")
    form = game.sequence_form
    missing = {
        count: missing_actions(game.tree, load_game(REDUCED.format(count)).tree)
        for count in (21, 22)
    }
    models = {
        "full": PaperModel.of(form, ()),
        **{str(count): PaperModel.of(form, [*names.values()]) for count, names in missing.items()},
    }
    kept = {
        name: PaperModel.of(form, [a for other, a in missing[22].items() if other != name]).sizes()
        for name in missing[22]
    }
    return {
        "models": {name: model.sizes() for name, model in models.items()},
        "removed": list(missing[22]),
        "kept": kept,
        "limit_s": TIME_S,
        "gurobi": {
            name: _measured(game, model, Limits(TIME_S, folder / f"{name}.log"))
            for name, model in models.items()
            if full or name != "22"
        },
    }


def _measured(game: Game, model: PaperModel, limits: Limits) -> dict[str, Any]:
    """What Gurobi says, with the regrets of what it found, measured on the full game's tree."""
    answer = solve(model, limits)
    behavior = answer.pop("behavior", None)
    if behavior is not None:
        found = verify(game.tree, BehaviorProfile.of(game.tree, behavior))
        answer |= {"payoffs": list(found.payoffs), "regrets": list(found.regrets)}
    return answer
