"""Solve or verify in this very process: no isolation, no kill, the same verified figures."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from eqbench.documents import checked
from eqbench.equilibria import Identifier, Identity
from eqbench.errors import ProfileError, UsageError, check_keywords
from eqbench.harness.child import Limits, Outcome
from eqbench.harness.frames import Frame, ReadyFrame
from eqbench.harness.judge import Judge, Received
from eqbench.harness.solve import solve_once
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import GameTree
from eqbench.registry import default_registry, load_game
from eqbench.solver import Budget, is_deterministic
from eqbench.store.schema import CellRecord, EquilibriumRecord
from eqbench.store.stored_profiles import named_profile
from eqbench.verdict import judge_measured
from eqbench.verification import DEFAULT_TOLERANCE, Verification, Verifier, verify_exactly


@dataclass(frozen=True, repr=False)
class SolvedRecord(CellRecord):
    """What :func:`solve` returns: the fields of a cell, with the profiles themselves."""

    @property
    def profile(self) -> BehaviorProfile | None:
        """The profile with the smallest max regret, if there is any."""
        best: Any = self.equilibria[0].profile if self.equilibria else None
        return best if isinstance(best, BehaviorProfile) else None

    @property
    def identity(self) -> Identity | None:
        """Which equilibrium that is, as :func:`identify` says it."""
        known: Any = self.equilibria[0].identity if self.equilibria else None
        return None if known is None else Identity(**known | {"also": tuple(known["also"])})

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; each `profile` in the interchange form, as in stored files."""
        bare = [replace(found, profile=None) for found in self.equilibria]
        document = CellRecord.to_json(replace(self, equilibria=bare))
        for item, found in zip(document["equilibria"], self.equilibria, strict=True):
            known: Any = found.profile
            item["profile"] = known.to_json() if isinstance(known, BehaviorProfile) else known
        return document


@checked
def solve(
    game: Game | str, solver: Any, budget: Budget | None = None, seed: int = 0, **limits: Any
) -> SolvedRecord:
    """Verified result of one solver on one game, solved in this process.

    Parameters
    ----------
    game : Game or spec
    solver : an object with `solve(game, monitor, rng)`, or a spec
    budget : ten seconds and a target of 1e-10 of the payoff range unless given
    seed : of the generator that the solver gets
    limits : fields of the budget by name instead of a budget; `timeout` is its `time_s`

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

    Examples
    --------
    >>> import eqbench
    >>> found = eqbench.solve("kuhn2", "sequence_lp", timeout=5)
    >>> found.status, round(found.payoffs[0], 6), found.identity.name
    ('ok', -0.055556, 'kuhn2')
    >>> round(found.profile["P1", "2:KB", "call"] - found.profile["P1", "1:", "bet"], 6)
    0.333333
    """
    check_keywords("solve", limits, ["timeout", *(each.name for each in fields(Budget))])
    if "timeout" in limits:  # the word of runs
        if "time_s" in limits:
            raise UsageError("solve() is given 'timeout' and 'time_s', which mean the same")
        limits["time_s"] = limits.pop("timeout")
    if limits and budget is not None:
        raise UsageError(f"give either a budget or {', '.join(limits)}, not both")
    started = time.perf_counter()
    loaded_game = load_game(game) if isinstance(game, str) else game
    instance, spec = _load_solver(solver)
    budget = budget or Budget(**limits)
    if seed < 0:
        raise UsageError(f"the seed is {seed}; give a whole number >= 0")
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
    profiles = [finding.candidate.profile.on(loaded_game) for finding in judgement.handed]
    return replace(record, **judgement.fields(profiles))


def _load_solver(solver: Any) -> tuple[Any, str]:
    if isinstance(solver, str):
        loaded = default_registry().load_solver(solver)
        return loaded.instance, loaded.spec
    methods = ("solve", "supports", "availability")  # a solver may refuse before it solves
    if isinstance(solver, type) or not any(hasattr(solver, name) for name in methods):
        raise UsageError(f"{solver!r:.60} is no solver; give an object with solve(), or a spec")
    return solver, type(solver).__name__


@checked
def verify(game: Game | GameTree | str, profile: Any, *, exact: bool = False) -> Verification:
    """Measure payoffs and regrets of a profile; in Fractions if `exact`.

    In exact mode the floats of a BehaviorProfile count as they are stored: as decimals, the
    largest at an information set as what the others leave of 1. The numbers of a dict or a file
    count as they are written.

    Parameters
    ----------
    game : Game, tree or spec
    profile : as in :func:`load_profile`

    Raises
    ------
    SpecError, ProfileError
        If the spec is wrong, or the profile does not fit the game.

    Examples
    --------
    >>> import eqbench
    >>> game = eqbench.load_game("kuhn2")
    >>> eqbench.verify(game, eqbench.BehaviorProfile.uniform(game), exact=True).nash_conv
    Fraction(11, 12)
    >>> found = eqbench.solve(game, "sequence_lp")
    >>> eqbench.verify(game, found).max_regret < 1e-15
    True
    """
    game = load_game(game) if isinstance(game, str) else game
    tree = game.tree if isinstance(game, Game) else game
    profile = load_profile(game, profile)
    return verify_exactly(tree, profile) if exact else Verifier(tree).verify(profile)


@checked
def identify(game: Game | str, profile: Any) -> Identity | None:
    """Name the known equilibrium that a profile is, or is nearest to; None if none is near.

    Whether it is an equilibrium at all is for the regrets of :func:`verify` to say; they are
    measured here to tell what is near from what is something else. Clusters of unknown ones
    are made in runs only.

    Parameters
    ----------
    game : Game or spec; a tree alone does not say which game it is
    profile : as in :func:`load_profile`

    Raises
    ------
    UsageError, SpecError, ProfileError
        If it is not a game, the spec is wrong, or the profile does not fit the game.

    Examples
    --------
    >>> import eqbench
    >>> eqbench.identify("kuhn2", eqbench.solve("kuhn2", "sequence_lp")).name
    'kuhn2'
    """
    game = load_game(game) if isinstance(game, str) else game
    profile = load_profile(game, profile)
    max_regret = float(Verifier(game.tree).verify(profile).max_regret)
    return Identifier(game).identify(profile, max_regret)


@checked
def kind(game: Game | GameTree | str, profile: Any, *, exact: bool = False) -> Any:
    """Judge whether an equilibrium is undominated, subgame-perfect, sequential, and regular.

    Returns an `eqbench.verdicts.Kind`, or None if it is no equilibrium, by a max regret above 1e-10
    of the payoff scale, or too much work.

    Parameters
    ----------
    game : Game, tree or spec
    profile : as in :func:`load_profile`
    exact : whether to judge in Fractions, if the profile is an equilibrium without any regret;
        floats are read as in :func:`verify`

    Raises
    ------
    SpecError, ProfileError
        If the spec is wrong, or the profile does not fit the game.
    UsageError
        If `exact` is asked for of a game whose payoffs are floats.

    Examples
    --------
    >>> import eqbench
    >>> found = eqbench.kind("kuhn2", eqbench.solve("kuhn2", "logit"))
    >>> found.undominated, found.to_json()["sequential"]
    ('certified', 'certified')
    >>> found.proofs()["trembles"][0]["action"]
    'bet'
    """
    game = load_game(game) if isinstance(game, str) else game
    tree = game.tree if isinstance(game, Game) else game
    profile = load_profile(game, profile)
    certified = verify_exactly(tree, profile) if exact else None
    measured = Verifier(tree).verify(profile)
    return judge_measured(tree, profile, measured, certified, ["kind"]).get("kind")


@checked
def load_profile(game: Game | GameTree | str, profile: Any = None) -> BehaviorProfile:
    """Profile of a game from any of its forms; both are needed.

    Parameters
    ----------
    game : Game, tree or spec
    profile : BehaviorProfile, the interchange form as a dictionary, the path of its JSON file,
        a cell of a run as ``RUN/CELL``, or what :func:`solve` returns, of which the best is taken

    Raises
    ------
    SpecError, ProfileError
        If the spec is wrong, or the profile does not fit the game.

    Examples
    --------
    >>> import eqbench
    >>> run = eqbench.run("kuhn2", "lcp", out="one")
    >>> eqbench.load_profile("kuhn2", "one/lcp")
    <BehaviorProfile of kuhn(players=2,cards=3,pot=2,reduce=none,raises=0): 24 frequencies...>
    """
    if profile is None:
        raise UsageError(
            "give a game and its profile, for example load_profile('kuhn2', 'mine.json')"
        )
    game = load_game(game) if isinstance(game, str) else game
    if isinstance(profile, CellRecord | EquilibriumRecord):
        profile = getattr(profile, "profile", None)
    if isinstance(profile, str | Path):
        profile, _ = named_profile(str(profile))
    if isinstance(profile, dict):
        return BehaviorProfile.from_json(game, profile)
    if not isinstance(profile, BehaviorProfile):
        raise ProfileError(
            f"cannot read {type(profile).__name__} as a profile; give a BehaviorProfile (for "
            "example BehaviorProfile.of(game, frequencies)), a dict or the path of a JSON file"
        )
    return profile.on(game)
