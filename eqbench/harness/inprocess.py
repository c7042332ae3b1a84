"""Solve or verify in this very process: no isolation, no kill, the same verified figures."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from eqbench.documents import read_file
from eqbench.equilibria import Identifier, Identity
from eqbench.errors import ProfileError, UsageError
from eqbench.harness.child import Limits, Outcome
from eqbench.harness.frames import Frame, ReadyFrame
from eqbench.harness.judge import Judge, Received
from eqbench.harness.solve import solve_once
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import (
    MOST_PROFILE_BYTES,
    parse_profile,
    profile_data,
    profile_from_json,
)
from eqbench.model.tree import GameTree
from eqbench.registry import default_registry
from eqbench.solver import Budget, is_deterministic
from eqbench.store.schema import CellRecord
from eqbench.verification import DEFAULT_TOLERANCE, Verification, Verifier, verify_exactly


@dataclass(frozen=True)
class SolvedRecord(CellRecord):
    """What :func:`solve` returns: the fields of a cell, with the profiles themselves.

    Attributes
    ----------
    tree : of the game; its labels are those of the profiles in JSON
    """

    tree: GameTree | None = field(default=None, repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; each `profile` in the interchange form, as in stored files."""
        document = asdict(replace(self, tree=None))
        del document["tree"]
        for item, found in zip(document["equilibria"], self.equilibria, strict=True):
            if isinstance(found.profile, BehaviorProfile) and self.tree is not None:
                item["profile"] = profile_data(self.tree, found.profile, self.game_spec)
        return document


def solve(
    game: Game | str, solver: Any, budget: Budget | None = None, seed: int = 0
) -> SolvedRecord:
    """Verified result of one solver on one game.

    Parameters
    ----------
    game : Game or spec
    solver : an object with `solve(game, monitor, rng)`, or a spec
    budget : ten seconds and a target of 1e-10 of the payoff range unless given
    seed : of the generator that the solver gets

    Returns
    -------
    SolvedRecord
        The fields of a cell of `eqbench run`; the `profile` of each of its `equilibria` is
        the BehaviorProfile itself. `to_json()` gives plain JSON values, profiles included.
        As in a run, at most 1,024 candidates are kept.

    Raises
    ------
    SpecError, UsageError
        If a spec is wrong or the budget is none. What the solver raises passes through.
    """
    started = time.perf_counter()
    loaded_game = default_registry().load_game(game) if isinstance(game, str) else game
    instance, spec = _load_solver(solver)
    budget = budget or Budget()
    if not isinstance(budget, Budget):
        raise UsageError(
            f"the budget is {budget!r}; give an eqbench.Budget, for example "
            "eqbench.Budget(time_s=10)"
        )
    target = budget.target_for(loaded_game.tree)
    record = SolvedRecord(
        key="",
        game=game if isinstance(game, str) else game.spec,
        solver=solver if isinstance(solver, str) else spec,
        game_spec=loaded_game.spec,
        solver_spec=spec,
        seed=None if is_deterministic(instance) else seed,
        target=target,
        status="crashed",
        tree=loaded_game.tree,
    )
    outcome, received = Outcome(), Received(loaded_game.tree.n_actions)

    def take(frame: Frame) -> None:
        if isinstance(frame, ReadyFrame):
            outcome.setup_s = time.perf_counter() - started
        outcome.take(frame)
        received.add(frame)

    last, error = solve_once(instance, loaded_game, budget, seed, take)
    if error is not None:
        raise error
    outcome.take(last)
    judgement = Judge(loaded_game).judge(
        outcome, received, Limits(), target=target, tolerance=DEFAULT_TOLERANCE
    )
    profiles = [finding.candidate.profile for finding in judgement.handed]
    return replace(record, **judgement.fields(profiles))


def _load_solver(solver: Any) -> tuple[Any, str]:
    if isinstance(solver, str):
        loaded = default_registry().load_solver(solver)
        return loaded.instance, loaded.spec
    return solver, type(solver).__name__


def verify(game: Game | GameTree | str, profile: Any, *, exact: bool = False) -> Verification:
    """Measured payoffs and regrets of a profile; Fractions if `exact`.

    In exact mode the floats of a BehaviorProfile count as they are stored: as decimals, the
    largest at an information set as what the others leave of 1. The numbers of a dict or a file
    count as they are written.

    Parameters
    ----------
    game : Game, tree or spec
    profile : BehaviorProfile, the interchange form as a dict, or the path of its JSON file

    Raises
    ------
    SpecError, ProfileError
        If the spec is wrong, or the profile does not fit the game.
    """
    if isinstance(game, str):
        game = default_registry().load_game(game)
    tree = game.tree if isinstance(game, Game) else game
    profile = _profile(tree, profile)
    return verify_exactly(tree, profile) if exact else Verifier(tree).verify(profile)


def identify(game: Game | str, profile: Any) -> Identity | None:
    """Which known equilibrium a profile is, or is nearest to; None if nothing known is near.

    Whether it is an equilibrium at all is for the regrets of :func:`verify` to say; they are
    measured here to tell what is near from what is something else. Clusters of unknown ones
    are made in runs only.

    Parameters
    ----------
    game : Game or spec; a tree alone does not say which game it is
    profile : as in :func:`verify`

    Raises
    ------
    UsageError, SpecError, ProfileError
        If it is no game, the spec is wrong, or the profile does not fit the game.
    """
    if isinstance(game, str):
        game = default_registry().load_game(game)
    if not isinstance(game, Game):
        raise UsageError(f"identify needs a Game or its spec; got {type(game).__name__}")
    profile = _profile(game.tree, profile)
    max_regret = float(Verifier(game.tree).verify(profile).max_regret)
    return Identifier(game).identify(profile, max_regret)


def _profile(tree: GameTree, profile: Any) -> BehaviorProfile:
    """Profile of a game from any of its forms."""
    if isinstance(profile, str | Path):
        profile = parse_profile(read_file(profile, MOST_PROFILE_BYTES))
    if isinstance(profile, dict):
        profile = profile_from_json(tree, profile)
    if not isinstance(profile, BehaviorProfile):
        raise ProfileError(
            f"cannot read {type(profile).__name__} as a profile; give a BehaviorProfile (for "
            "example BehaviorProfile.of(game.tree, frequencies)), a dict or the path of a JSON file"
        )
    return profile
