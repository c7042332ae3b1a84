"""The equilibria that a branch leads to at given values of its parameter, and others beside it.

A crossing of the regularized branch becomes an equilibrium by polishing, and only the verifier
says whether it has: it measures the game at the exact value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from eqbench.continuation import BranchPoint, ContinuationError
from eqbench.equilibria import Identifier
from eqbench.errors import EqbenchError
from eqbench.model.game import Game
from eqbench.model.profile_json import profile_text
from eqbench.studies.trace_folder import TraceFolder
from eqbench.studies.trace_follow import FREELY, Control
from eqbench.studies.trace_measure import SAME_PAYOFFS, Measured, measured
from eqbench.studies.trace_pieces import Crossings, crossings_of, pieces, start_of
from eqbench.studies.trace_request import Setting

Payoffs = Sequence[float]


class Census:
    """Polishes, measures and names equilibria at one value of the parameter.

    Parameters
    ----------
    control : asked between any two equilibria whether to stop, and told how far it has come
    """

    def __init__(self, setting: Setting, value: Fraction, control: Control = FREELY) -> None:
        self.continuation, self.value, self.control = setting.continuation, float(value), control
        self.starts, self.seed = setting.request.starts, setting.request.seed
        self.game: Game = setting.game_at(value)
        self.place = f"{setting.request.parameter}={self.value:.9g}"

    def entry(
        self,
        crossings: Sequence[BranchPoint],
        folder: TraceFolder,
        name: str,
        *,
        vertical: bool = False,
    ) -> dict[str, Any]:
        """What is found at crossings, as JSON values; profiles are written as `name`-1, ….

        Parameters
        ----------
        vertical : whether the branch is vertical there, so that it has more than the crossings

        Raises
        ------
        StoreError
            If a profile cannot be written.
        KeyboardInterrupt
            If the control says that it shall stop.
        """
        found = []
        for number, point in enumerate(crossings, start=1):
            self.control.go_on(f"polishing {number} of {len(crossings)} at {self.place}")
            found.append(self._polished(point))
        equilibria = [item for item in found if item.is_equilibrium]
        distinct = distinct_payoffs(item.payoffs for item in equilibria)
        identifier = Identifier(self.game)
        entry: dict[str, Any] = {
            "parameter": self.value,
            "vertical": vertical,
            "crossings": len(found),
            "polished": len(equilibria),
            "distinct_payoffs": len(distinct),
            "equilibria": [
                self._described(item, identifier, folder, f"{name}-{number}")
                for number, item in enumerate(found, start=1)
            ],
        }
        if self.starts:
            entry["beside"] = self._beside(None if vertical else distinct)
        return entry

    def _polished(self, point: BranchPoint) -> Measured:
        return measured(self.game.tree, self.continuation.polish(point, self.value)[0])

    def _described(
        self, item: Measured, identifier: Identifier, folder: TraceFolder, name: str
    ) -> dict[str, Any]:
        self.control.go_on()
        identity = identifier.identify(item.profile, item.max_regret)
        text = profile_text(self.game.tree, item.profile, self.game.spec)
        return {
            "payoffs": item.payoffs,
            "max_regret": item.max_regret,
            "polished": item.is_equilibrium,
            "profile": folder.write_profile(name, text),
            "identity": None if identity is None else identity.to_json(),
        }

    def _beside(self, on_branch: Sequence[Payoffs] | None) -> dict[str, Any]:
        """What random starts lead to, compared with the payoffs on the branch if they are known."""
        rng, found = np.random.default_rng(self.seed), []
        for number in range(1, self.starts + 1):
            self.control.go_on(f"random start {number} of {self.starts} at {self.place}")
            try:
                item = self._polished(self.continuation.start(self.value, rng))
            except ContinuationError:
                continue
            if item.is_equilibrium:
                found.append(item.payoffs)
        distinct, others = distinct_payoffs(found), None
        if on_branch is not None:
            others = len(distinct_payoffs([*on_branch, *distinct])) - len(on_branch)
        return {
            "starts": self.starts,
            "polished": len(found),
            "distinct_payoffs": len(distinct),
            "payoff_ranges": [[min(own), max(own)] for own in zip(*found, strict=True)],
            "not_on_branch": others,
        }


def distinct_payoffs(vectors: Iterable[Payoffs]) -> list[Payoffs]:
    """Those payoff vectors that differ from all before them by more than `SAME_PAYOFFS`."""
    kept: list[Payoffs] = []
    for vector in vectors:
        if all(np.abs(np.subtract(vector, other)).max() > SAME_PAYOFFS for other in kept):
            kept.append(vector)
    return kept


def crossings_again(
    setting: Setting, value: Fraction, points: int, control: Control = FREELY
) -> Crossings:
    """Crossings of one value, by following the branch once more up to so many points.

    Raises
    ------
    EqbenchError
        If that fails, which another version of the solver may cause.
    KeyboardInterrupt
        If the control says that it shall stop.
    """
    found, lost = [], 0
    control.tell(f"following the branch once more for {float(value):.9g}")
    try:
        start = start_of(setting)
        found += [start] if setting.request.first == value else []
        for _, piece in zip(range(points - 1), pieces(setting, start), strict=False):
            control.go_on()
            more = crossings_of(setting.continuation, piece, float(value))
            found += more.found
            lost += more.lost
    except ContinuationError as error:
        raise EqbenchError(
            f"the branch cannot be followed once more: {error}; trace it again"
        ) from None
    return Crossings(found, lost)
