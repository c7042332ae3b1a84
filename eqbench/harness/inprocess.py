"""Solve in this very process: no isolation, no kill, the same verified figures."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from typing import Any

from eqbench.documents import checked
from eqbench.equilibria import Identity
from eqbench.errors import UsageError, check_keywords
from eqbench.harness.judge import Judge, Received
from eqbench.harness.solve import solve_once
from eqbench.isolation.child import Outcome
from eqbench.isolation.messages import Frame, ReadyFrame
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import default_registry, load_game
from eqbench.solver import Limits, is_deterministic
from eqbench.store.schema import CellRecord
from eqbench.verification import DEFAULT_TOLERANCE

ALIASES = ("timeout", "time_s")  # of `timeout_s`: the words of runs and of the contract


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
    game: Game | str, solver: Any, budget: Limits | None = None, seed: int = 0, **limits: Any
) -> SolvedRecord:
    """Verified result of one solver on one game, solved in this process.

    Parameters
    ----------
    game : Game or spec
    solver : an object with `solve(game, monitor, rng)`, or a spec
    budget : ten seconds and a target of 1e-10 of the payoff range unless given
    seed : of the generator that the solver gets
    limits : the same by name, such as `timeout` or `iterations`, instead of a budget

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
    check_keywords("solve", limits, [*ALIASES, *(each.name for each in fields(Limits))])
    if len(times := [name for name in (*ALIASES, "timeout_s") if name in limits]) > 1:
        raise UsageError(f"solve() is given {' and '.join(map(repr, times))}, which mean the same")
    limits = {"timeout_s" if name in ALIASES else name: each for name, each in limits.items()}
    if limits and budget is not None:
        raise UsageError(f"give either a budget or {', '.join(limits)}, not both")
    started = time.perf_counter()
    loaded_game = load_game(game) if isinstance(game, str) else game
    instance, spec = _load_solver(solver)
    budget = budget or Limits(**limits)
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
