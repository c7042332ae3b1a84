"""Where the equilibria of a cross-play come from: stored runs, files, known families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import parse_profile, profile_from_json
from eqbench.model.realization import RealizationPlan
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import StoredRun
from eqbench.verification import verify

SAME_PLAN = 1e-9


@dataclass(frozen=True, eq=False)
class Found:
    """An equilibrium and where it was found.

    Attributes
    ----------
    source : str
        A solver with its seed, a file, or a corner of a known family.
    profile : BehaviorProfile
    identity : dict or None
        Which known equilibrium it is, as the record of a run says.
    """

    source: str
    profile: BehaviorProfile
    identity: dict[str, Any] | None = None


def equilibria_of_runs(runs: Sequence[StoredRun], game: Game, tolerance: float) -> list[Found]:
    """Candidates of a game whose measured max regret is at most `tolerance`, in payoff units.

    Raises
    ------
    UsageError
        If there is none, or a profile cannot be read.
    """
    cells = [(run, cell) for run in runs for cell in run.cells if cell.game_spec == game.spec]
    candidates = [
        (run, cell, rank, item)
        for run, cell in cells
        for rank, item in enumerate(cell.equilibria)
        if item.profile is not None
    ]
    good = [found for found in candidates if found[3].max_regret <= tolerance]
    if not good:
        regrets = [item.max_regret for _, _, _, item in candidates]
        best = f"; the smallest max regret is {min(regrets):.2g}" if regrets else ""
        raise UsageError(
            f"no equilibria of {game.spec} in {', '.join(str(run.path) for run in runs)}: "
            f"{len(regrets)} candidates in {len(cells)} cells{best} (allowed: {tolerance:.2g}); "
            "run solvers for longer, or raise --tolerance"
        )
    return [
        Found(
            _source(run if len(runs) > 1 else None, cell, rank),
            read_equilibrium(run.path / str(item.profile), game),
            item.identity,
        )
        for run, cell, rank, item in good
    ]


def read_equilibrium(path: Path, game: Game) -> BehaviorProfile:
    """Profile in a file that a run wrote.

    Raises
    ------
    UsageError
        If the file cannot be read; ProfileError if it is no profile of the game.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the profile {path}: {error.strerror}") from None
    return profile_from_json(game.tree, parse_profile(text))


def check_equilibrium(game: Game, found: Found, tolerance: float) -> None:
    """Raise UsageError if a player gains more than `tolerance` payoff units by deviating."""
    regret = verify(game.tree, found.profile).max_regret
    if not regret <= tolerance:
        raise UsageError(
            f"{found.source} is no equilibrium: a player gains {regret:.2g} by deviating "
            f"(allowed: {tolerance:.2g}); leave it out, or raise --tolerance"
        )


def without_copies(
    game: Game, found: Sequence[Found]
) -> tuple[list[Found], list[tuple[Found, Found]]]:
    """Entries whose realization plans differ, and pairs of a copy and the entry that it repeats.

    Plans count as the same if no weight differs by more than 1e-9. What players would do after
    own moves that they never make does not matter: no payoff and no regret depends on it.
    """
    kept: list[Found] = []
    copies: list[tuple[Found, Found]] = []
    plans = np.empty((len(found), game.sequence_form.n_sequences))
    for item in found:
        plan = RealizationPlan.of(game.sequence_form, item.profile.probabilities).weights
        distance = np.abs(plans[: len(kept)] - plan).max(axis=1, initial=0.0)
        same = np.flatnonzero(distance <= SAME_PLAN)
        if len(same):
            copies.append((item, kept[int(same[0])]))
        else:
            plans[len(kept)] = plan
            kept.append(item)
    return kept, copies


def selection(found: Sequence[Found], most: int) -> list[Found]:
    """At most so many entries, in their order: of each name in turn the first that is left.

    So what has been found once is kept beside what has been found often.
    """
    turns: dict[str, int] = {}
    ranked = []
    for place, item in enumerate(found):
        name = item.identity["name"] if item.identity else item.source.partition(" corner")[0]
        turns[name] = turns.get(name, 0) + 1
        ranked.append((turns[name], place))
    return [found[place] for _, place in sorted(sorted(ranked)[:most], key=lambda pair: pair[1])]


def _source(run: StoredRun | None, cell: CellRecord, rank: int) -> str:
    """Short name of a candidate; with the folder if there are several."""
    folder = "" if run is None else f"{run.path.name}: "
    seed = "" if cell.seed is None else f"/{cell.seed}"
    further = f" #{rank}" if rank else ""
    return f"{folder}{cell.solver}{seed}{further}"
