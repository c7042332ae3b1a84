"""The equilibria that a branch leads to at given values of its parameter, and others beside it.

A crossing of the regularized branch becomes an equilibrium by polishing, and only the verifier
says whether it has: it measures the game at the exact value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from eqbench.continuation import BranchPoint, ContinuationError
from eqbench.equilibria import Identifier
from eqbench.errors import EqbenchError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.studies.trace_folder import TraceFolder
from eqbench.studies.trace_follow import crossings_of, pieces, start_of
from eqbench.studies.trace_request import Setting
from eqbench.verification import Verification, Verifier

# A polished profile counts as an equilibrium up to this regret, in payoff units.
POLISHED = 1e-12
# Payoffs that differ by no more are the same.
SAME_PAYOFFS = 1e-8

Payoffs = Sequence[float]


@dataclass(frozen=True, eq=False)
class _Measured:
    """A polished profile as the verifier sees it."""

    profile: BehaviorProfile
    figures: Verification

    @property
    def payoffs(self) -> list[float]:
        return [float(payoff) for payoff in self.figures.payoffs]

    @property
    def max_regret(self) -> float:
        return float(self.figures.max_regret)

    @property
    def is_equilibrium(self) -> bool:
        return self.max_regret <= POLISHED


class Census:
    """Polishes, measures and names equilibria at one value of the parameter."""

    def __init__(self, setting: Setting, value: Fraction) -> None:
        self.continuation, self.value = setting.continuation, float(value)
        self.starts, self.seed = setting.request.starts, setting.request.seed
        self.game: Game = setting.game_at(value)
        self.verifier = Verifier(self.game.tree)

    def entry(
        self, crossings: Iterable[BranchPoint], folder: TraceFolder, name: str
    ) -> dict[str, Any]:
        """What is found at crossings, as JSON values; profiles are written as `name`-1, ….

        Raises
        ------
        StoreError
            If a profile cannot be written.
        """
        found = [self._polished(point) for point in crossings]
        equilibria = [item for item in found if item.is_equilibrium]
        distinct = distinct_payoffs(item.payoffs for item in equilibria)
        identifier = Identifier(self.game)
        entry: dict[str, Any] = {
            "parameter": self.value,
            "crossings": len(found),
            "polished": len(equilibria),
            "distinct_payoffs": len(distinct),
            "equilibria": [
                self._described(item, identifier, folder, f"{name}-{number}")
                for number, item in enumerate(found, start=1)
            ],
        }
        if self.starts:
            entry["beside"] = self._beside(distinct)
        return entry

    def _polished(self, point: BranchPoint) -> _Measured:
        behavior, _ = self.continuation.polish(point, self.value)
        profile = BehaviorProfile.of(self.game.tree, behavior)
        return _Measured(profile, self.verifier.verify(profile))

    def _described(
        self, item: _Measured, identifier: Identifier, folder: TraceFolder, name: str
    ) -> dict[str, Any]:
        identity = identifier.identify(item.profile, item.max_regret)
        text = profile_text(self.game.tree, item.profile, self.game.spec)
        return {
            "payoffs": item.payoffs,
            "max_regret": item.max_regret,
            "profile": folder.write_profile(name, text),
            "identity": None if identity is None else identity.to_json(),
        }

    def _beside(self, on_branch: Sequence[Payoffs]) -> dict[str, Any]:
        """What random starts lead to, compared with the payoffs on the branch."""
        rng, found = np.random.default_rng(self.seed), []
        for _ in range(self.starts):
            try:
                item = self._polished(self.continuation.start(self.value, rng))
            except ContinuationError:
                continue
            if item.is_equilibrium:
                found.append(item.payoffs)
        distinct = distinct_payoffs(found)
        return {
            "starts": self.starts,
            "polished": len(found),
            "distinct_payoffs": len(distinct),
            "payoff_ranges": [[min(own), max(own)] for own in zip(*found, strict=True)],
            "not_on_branch": len(distinct_payoffs([*on_branch, *distinct])) - len(on_branch),
        }


def distinct_payoffs(vectors: Iterable[Payoffs]) -> list[Payoffs]:
    """Those payoff vectors that differ from all before them by more than 1e-8 somewhere."""
    kept: list[Payoffs] = []
    for vector in vectors:
        if all(np.abs(np.subtract(vector, other)).max() > SAME_PAYOFFS for other in kept):
            kept.append(vector)
    return kept


def crossings_again(setting: Setting, value: Fraction, points: int) -> list[BranchPoint]:
    """Crossings of one value, by following the branch once more up to so many points.

    Raises
    ------
    EqbenchError
        If that fails, which another version of the solver may cause.
    """
    try:
        start = start_of(setting)
        found = [start] if setting.request.first == value else []
        for _, piece in zip(range(points - 1), pieces(setting, start), strict=False):
            found += crossings_of(setting.continuation, piece, float(value))
    except ContinuationError as error:
        raise EqbenchError(
            f"the branch cannot be followed once more: {error}; trace it again"
        ) from None
    return found
