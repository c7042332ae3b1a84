"""Solve in this very process: no isolation, no kill, the same verified figures.

:class:`CellResult` is what users get of a cell, from here and from stored runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import repeat
from typing import Any

from eqbench.equilibria import Identity
from eqbench.errors import UsageError
from eqbench.harness.judge import Judge, Received
from eqbench.harness.solve import solve_once
from eqbench.isolation.child import Outcome
from eqbench.isolation.messages import Frame, ReadyFrame
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import default_registry, load_game
from eqbench.solver import Limits, is_deterministic
from eqbench.store.schema import (
    CellRecord,
    Claim,
    CredibleRecord,
    EquilibriumRecord,
    ExactRecord,
    FinishedCell,
    KindRecord,
    VerdictRecord,
)
from eqbench.verification import DEFAULT_TOLERANCE, Verification


@dataclass(frozen=True, repr=False, kw_only=True)
class Equilibrium(Verification):
    """A verified candidate: its profile, what it is worth, and which equilibrium it is.

    Attributes
    ----------
    claim : `iterate`, `average`, `equilibrium` or `complete list`
    claimed_regret : the solver's own bound on the max regret, if it gave one
    refuted : how the measurement contradicts the claim, or None
    identity : the known equilibrium, or cluster of the run, that it is or is nearest to
    exact : payoffs and regrets as texts ``p/q``, if they were computed exactly
    credible, kind, verdicts : what was found on a claimed equilibrium
    file : of the profile, relative to the folder of the run; None after `solve`
    """

    claim: Claim
    claimed_regret: float | None
    refuted: str | None
    identity: Identity | None
    exact: ExactRecord | None
    credible: CredibleRecord | None
    kind: KindRecord | None
    verdicts: Mapping[str, VerdictRecord]
    file: str | None
    _load: Callable[[], BehaviorProfile] = field(compare=False)

    @classmethod
    def of(cls, record: EquilibriumRecord, load: Callable[[], BehaviorProfile]) -> Equilibrium:
        """Candidate of a record, whose profile is loaded when it is read."""
        names = ("claim", "claimed_regret", "refuted", "exact", "credible", "kind", "verdicts")
        known = record.identity
        return cls(
            payoffs=tuple(record.payoffs),
            regrets=tuple(record.regrets),
            # what floats do not resolve is stored as a bound that is its own error
            resolved=not 0 < record.max_regret == record.error,
            error=float("inf") if record.error is None else record.error,
            identity=None if known is None else Identity.of_record(known),
            file=record.profile,
            _load=load,
            **{name: getattr(record, name) for name in names},
        )

    def __repr__(self) -> str:
        name = "" if self.identity is None else f" {self.identity.name}"
        name += f" ({self.title})" * bool(self.title)
        return f"<Equilibrium{name}: {self.claim}, max regret {self.max_regret:.1e}>"

    @property
    def title(self) -> str:
        """What is played in the published set or cluster that it belongs to; empty if unknown."""
        return "" if self.identity is None else self.identity.title

    @property
    def is_proved(self) -> bool:
        """Whether no player gains anything at all by deviating, computed exactly."""
        return self.exact is not None and all(value == "0" for value in self.exact["regrets"])

    @cached_property
    def profile(self) -> BehaviorProfile:
        """Its frequencies, with the labels of the game; UsageError if they cannot be read."""
        return self._load()


@dataclass(frozen=True, repr=False)
class CellResult(FinishedCell):
    """One solver on one game, from :func:`eqbench.solve` or a :class:`eqbench.Run`.

    Its fields are those of the stored record; `equilibria` are objects, best first.
    """

    equilibria: tuple[Equilibrium, ...] = ()
    _record: CellRecord = field(kw_only=True, compare=False)

    @classmethod
    def of(cls, record: CellRecord, load: Callable[[int], BehaviorProfile]) -> CellResult:
        """Result of a record; `load` gives the profile of each rank."""
        found = [Equilibrium.of(e, partial(load, rank)) for rank, e in enumerate(record.equilibria)]
        known = {each.name: getattr(record, each.name) for each in fields(FinishedCell)}
        return cls(**known | {"equilibria": tuple(found)}, _record=record)

    @property
    def profile(self) -> BehaviorProfile | None:
        """The profile with the smallest max regret, if there is any."""
        return self.equilibria[0].profile if self.equilibria else None

    @property
    def identity(self) -> Identity | None:
        """Which equilibrium that is, as :func:`eqbench.identify` says it."""
        return self.equilibria[0].identity if self.equilibria else None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; each `profile` in the interchange form, as in stored files."""
        document = self._record.to_json()
        for item, found in zip(document["equilibria"], self.equilibria, strict=True):
            item["profile"] = found.profile.to_json()
        return document


def solve(game: Game | str, solver: Any, budget: Limits, seed: int = 0) -> CellResult:
    """Verified result of one solver on one game, solved in this process.

    Raises
    ------
    SpecError, UsageError
        If a spec is wrong or the seed is negative. What the solver raises passes through.
    """
    started = time.perf_counter()
    loaded_game = load_game(game) if isinstance(game, str) else game
    instance, spec = _load_solver(solver)
    if seed < 0:
        raise UsageError(f"the seed is {seed}; give a whole number >= 0")
    target = budget.target_for(loaded_game.tree)
    record = CellRecord(
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
    known = judgement.fields(repeat(None, len(profiles)))
    return CellResult.of(replace(record, **known), profiles.__getitem__)


def _load_solver(solver: Any) -> tuple[Any, str]:
    if isinstance(solver, str):
        loaded = default_registry().load_solver(solver)
        return loaded.instance, loaded.spec
    methods = ("solve", "supports", "availability")  # a solver may refuse before it solves
    if isinstance(solver, type) or not any(hasattr(solver, name) for name in methods):
        raise UsageError(f"{solver!r:.60} is no solver; give an object with solve(), or a spec")
    return solver, type(solver).__name__
