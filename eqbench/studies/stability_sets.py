"""Stability of published sets of equilibria under a flow, over the whole of each set."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from eqbench.dynamics import Flow
from eqbench.equilibria import KnownSet, known_sets
from eqbench.errors import UsageError
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import FloatArray
from eqbench.studies.stability_members import Member, Place, members
from eqbench.studies.stability_spectrum import COUNTS, Spectrum, on_face, spectrum
from eqbench.verification import Verifier

SAMPLES = 16
# Regret of an equilibrium as a share of the payoff range: what formulas in floats may miss.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Looked:
    """A profile that was looked at.

    Attributes
    ----------
    place : where in its set it lies; None if it is of no set
    figures : by which people name it
    behavior : float64 (A,)
    payoffs : expected ones by the verifier
    max_regret : the largest one of any player by the verifier, in payoff units
    is_equilibrium : whether that regret is rounding
    spectrum : Spectrum
    """

    place: Place | None
    figures: dict[str, float]
    behavior: FloatArray
    payoffs: list[float]
    max_regret: float
    is_equilibrium: bool
    spectrum: Spectrum

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values, all but the behavior."""
        return self.spectrum.to_json() | {
            "across": float(self.spectrum.across) if np.isfinite(self.spectrum.across) else None,
            "payoffs": self.payoffs,
            "max_regret": self.max_regret,
            "is_equilibrium": self.is_equilibrium,
            "place": self.place,
            "parameters": self.figures,
        }


@dataclass(frozen=True, eq=False)
class SetVerdict:
    """What a published set is under a flow.

    Attributes
    ----------
    name : such as ``skp:4``
    value : of the payoff parameter; None if the game has none
    looked : members that were looked at, equilibria and rest points all of them, at least one;
        the first speaks for the set and lies inside it, unless that one was refuted
    refuted : how many members are no equilibria or no rest points by measurement
    """

    name: str
    value: Fraction | None
    looked: tuple[Looked, ...]
    refuted: int

    @property
    def representative(self) -> Looked:
        """The member inside the set."""
        return self.looked[0]

    @property
    def verdict(self) -> str:
        """The verdict inside the set."""
        return self.representative.spectrum.verdict

    @property
    def is_same_everywhere(self) -> bool:
        """Whether all members that were looked at have this verdict."""
        return not self.deviating

    @property
    def deviating(self) -> list[Looked]:
        """Members that have another verdict."""
        return [each for each in self.looked if each.spectrum.verdict != self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values: the representative, and what the others have in common with it."""
        counts = [each.spectrum.counts for each in self.looked]
        verdicts = Counter(each.spectrum.verdict for each in self.looked)
        value = None if self.value is None else float(self.value)
        return {
            "name": self.name,
            "value": value,
            **self.representative.to_json(),
            "members": {
                "examined": len(self.looked),
                "refuted": self.refuted,
                "places": dict(Counter(str(each.place) for each in self.looked)),
                **{
                    key: [min(c[key] for c in counts), max(c[key] for c in counts)]
                    for key in COUNTS
                },
                "verdicts": dict(verdicts),
                "same_everywhere": self.is_same_everywhere,
                "deviating": [
                    {"place": each.place, "parameters": each.figures}
                    | each.spectrum.counts
                    | {"verdict": each.spectrum.verdict}
                    for each in self.deviating
                ],
            },
        }


class Examiner:
    """Looks at profiles of one game under one flow."""

    def __init__(self, game: Game, flow: Flow) -> None:
        self.game, self.flow = game, flow
        self._verifier = Verifier(game.tree)
        self.allowed = ROUNDING * game.tree.payoff_range

    def look(
        self,
        behavior: FloatArray,
        place: Place | None = None,
        figures: dict[str, float] | None = None,
    ) -> Looked:
        """What a profile (A,) is worth and what the flow does near it."""
        behavior = on_face(self.flow.choices, np.clip(behavior, 0.0, 1.0))
        measured = self._verifier.verify(BehaviorProfile.of(self.game.tree, behavior))
        regret = float(measured.max_regret)
        return Looked(
            place,
            figures or {},
            behavior,
            [float(payoff) for payoff in measured.payoffs],
            regret,
            regret <= self.allowed,
            spectrum(self.flow, behavior),
        )

    def member(self, known: KnownSet, member: Member) -> Looked:
        """The same of a member of a published set."""
        frequencies = known.frequencies(member.parameters)
        figures = known.shown(member.parameters)
        return self.look(known.layout.behavior(frequencies), member.place, figures)


def verdicts(game: Game, flow: Flow, *, samples: int = SAMPLES, seed: int = 0) -> list[SetVerdict]:
    """What each published set of equilibria of a game is under a flow, in their order.

    Members that are no equilibria or no rest points by measurement are left out and counted.

    Parameters
    ----------
    samples : members drawn at random from each set, beside one inside and the corners
    seed : of these

    Raises
    ------
    UsageError
        If none is left of a set: such a flow is no model of how the game is played.
    """
    examiner = Examiner(game, flow)
    pieces: dict[str, list[KnownSet]] = {}
    for known in known_sets(game):  # the pieces of one set share its name
        pieces.setdefault(known.name, []).append(known)
    return [_of_set(examiner, sets, samples, seed) for sets in pieces.values()]


def _of_set(examiner: Examiner, pieces: list[KnownSet], samples: int, seed: int) -> SetVerdict:
    """The verdict on a set from all its pieces; the first piece speaks for it."""
    rng = np.random.default_rng(seed)
    looked = [
        examiner.member(known, member)
        for known in pieces
        for member in members(known, samples, rng)
    ]
    held = [each for each in looked if each.is_equilibrium and each.spectrum.is_rest_point]
    name, value = pieces[0].name, examiner.game.tree.payoffs.value
    if not held:
        raise UsageError(
            f"the flow does not rest at any member of {name} that was looked at ({len(looked)}); "
            "choose a solver whose flow rests at equilibria, such as replicator"
        )
    return SetVerdict(name, value, tuple(held), len(looked) - len(held))
