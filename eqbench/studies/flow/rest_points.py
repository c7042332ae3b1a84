"""Rest points of a flow: eigenvalues, what they say about stability, and a search.

Actions that are not played have rows of their own: how fast their frequency grows depends, to
first order, on that frequency alone. So the Jacobian is block triangular. The eigenvalues across
the face on which a rest point lies are read off; only those within it are computed.

A Jacobian with a defective eigenvalue zero, as it occurs at continua of equilibria, has computed
eigenvalues of the order of the square root of rounding. Such eigenvalues are found by ranks
instead: null spaces are split off until none is left (Golub and Wilkinson 1976, section 10).
Singular values, unlike eigenvalues, change by no more than the matrix does.

Symbols in shapes: A actions, F free frequencies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, Struct, UnsetType
from numpy.typing import NDArray

from eqbench.dynamics import Flow
from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.members import Place, members
from eqbench.errors import UsageError
from eqbench.model.choices import Choices, directions, exchanges
from eqbench.model.game import Game
from eqbench.model.profile import action_labels
from eqbench.model.tree import FloatArray
from eqbench.report.naming import identity_text
from eqbench.report.rows import Column
from eqbench.store.schema import IdentityRecord
from eqbench.studies.branch import Measured, alike, measured
from eqbench.studies.requests import SAMPLES
from eqbench.studies.resolve import value_of

# Real parts and singular values up to this share of the spectral norm of the Jacobian are zero.
TOLERANCE = 1e-9
# Frequencies up to here are zero; a profile with so many digits is one of the face.
FACE = 1e-9

UNSTABLE, STABLE = "unstable", "asymptotically stable"
COUNTS = ("unstable", "centre_oscillatory", "zero", "stable")
_WORDS = {UNSTABLE: "unstable", STABLE: "stable"}


# -- documents ------------------------------------------------------------------------------------


def _word(entry: Counted) -> str:
    return _WORDS.get(entry.verdict, "centre")


class Counted(Struct, frozen=True, kw_only=True):
    """Numbers of eigenvalues at a rest point and what they say; its place if it is of a set."""

    unstable: Annotated[int, Column(kind="count")]
    centre_oscillatory: Annotated[int, Column("oscillating", "count")]
    zero: Annotated[int, Column(kind="count")]
    stable: Annotated[int, Column(kind="count")]
    verdict: Annotated[str, Column(of=_word)]
    place: Place | None
    parameters: dict[str, float]


def _growth(entry: Stability) -> float:
    growth = max((real for real, _ in entry.eigenvalues), default=0.0)
    return growth if abs(growth) > TOLERANCE * entry.scale else 0


class Stability(Counted, frozen=True, kw_only=True):
    """A rest point: its eigenvalues, and how the verifier sees it."""

    eigenvalues: Annotated[
        list[tuple[float, float]],
        Column("max re", "number", dispensable=3, layout=".3g", of=_growth),
    ]
    scale: float
    speed: float
    across: float | None
    payoffs: list[float]
    max_regret: Annotated[float, Column(kind="small", dispensable=1)]
    is_equilibrium: bool


class RestPoint(Stability, frozen=True, kw_only=True):
    """A rest point with the frequencies of actions that are played."""

    frequencies: dict[str, float]


class Members(Struct, frozen=True, kw_only=True):
    """What members of a set have in common: of each number of eigenvalues the least and most."""

    examined: int
    refuted: int
    places: dict[str, int]
    unstable: tuple[int, int]
    centre_oscillatory: tuple[int, int]
    zero: tuple[int, int]
    stable: tuple[int, int]
    verdicts: dict[str, int]
    same_everywhere: bool
    deviating: list[Counted]


def _examined(entry: SetStability) -> str | None:
    if not entry.members:
        return None
    return f"{entry.members.examined}{'' if entry.members.same_everywhere else ' *'}"


class SetStability(Stability, frozen=True, kw_only=True):
    """A published set by one of its members, or a given profile with what it is."""

    name: str
    value: float | None
    members: Annotated[Members | UnsetType, Column(kind="number", dispensable=2, of=_examined)] = (
        UNSET
    )
    identity: IdentityRecord | UnsetType | None = UNSET

    @property
    def equilibrium(self) -> Annotated[str, Column(identifies=True)]:
        """Its name, what it is, and a mark unless it is an equilibrium."""
        words = [self.name, f"= {identity_text(self.identity)}" if self.identity else ""]
        return " ".join(filter(None, [*words, "" if self.is_equilibrium else "!"]))


class Search(Struct, frozen=True, kw_only=True):
    """A search for rest points that are no equilibria, in figures, and those found."""

    value: float | None
    draws: int
    arrived: int
    equilibria: int
    distinct: int
    faces: int
    unstable: int
    unstable_across: int
    least_growth: float | None
    points: list[RestPoint]


# -- eigenvalues ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues at one rest point, the largest real part first.

    Attributes
    ----------
    across : the largest of those across the face of the rest point, positive where an action that
        is not played would gain; minus infinity if there are none
    scale : spectral norm of the Jacobian
    speed : largest derivative of a frequency by time, which is zero at a rest point
    """

    eigenvalues: NDArray[np.complex128]
    across: float
    scale: float
    speed: float

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of eigenvalues, not pairs; those that oscillate are on the center manifold."""
        limit = TOLERANCE * self.scale
        real, turns = self.eigenvalues.real, np.abs(self.eigenvalues.imag) > limit
        center = np.abs(real) <= limit
        masks = (real > limit, center & turns, center & ~turns, real < -limit)
        return {name: int(mask.sum()) for name, mask in zip(COUNTS, masks, strict=True)}

    @property
    def verdict(self) -> str:
        """Stability by linearization, in the words of Billingham 2017, section 4.1.

        On a center manifold linearization does not decide: without unstable eigenvalues a rest
        point with one is not shown to be stable or unstable, only not to attract exponentially.
        """
        counts = self.counts
        if counts["unstable"]:
            return UNSTABLE
        if counts["centre_oscillatory"] or counts["zero"]:
            return center_manifold(counts["centre_oscillatory"])
        return STABLE

    @property
    def is_rest_point(self) -> bool:
        """Whether nothing moves there, up to what counts as zero."""
        return self.speed <= TOLERANCE * max(self.scale, np.finfo(float).tiny)


def center_manifold(dimension: int) -> str:
    """The verdict on a rest point with so many imaginary eigenvalues and no unstable one."""
    return f"centre manifold of oscillatory dimension {dimension}"


def on_face(choices: Choices, behavior: FloatArray) -> FloatArray:
    """Frequencies (A,) of which tiny ones are made zero and the largest of each set gives way."""
    found = np.where(behavior <= FACE, 0.0, behavior)
    for block in choices.blocks():
        largest = block[np.argmax(found[block])]
        found[largest] = 1.0 - (found[block].sum() - found[largest])
    return found


def spectrum(flow: Flow, behavior: FloatArray) -> Spectrum:
    """Return the eigenvalues at a rest point (A,); UsageError if the Jacobian is not finite."""
    choices = flow.choices
    behavior = on_face(choices, behavior)
    velocity, jacobian = flow.frequency_velocity(behavior), flow.frequency_jacobian(behavior)
    if not (np.isfinite(jacobian).all() and np.isfinite(velocity).all()):
        raise UsageError("the flow has no finite Jacobian at this profile; check its rates")
    if not choices.size:
        return Spectrum(np.zeros(0, dtype=np.complex128), -np.inf, 0.0, 0.0)
    # of each set the largest frequency gives way, so an action that is not played has its own row
    largest = ((block, np.argmax(behavior[block])) for block in choices.blocks())
    action, base = exchanges(np.r_[block[k], np.delete(block, k)] for block, k in largest)
    there = directions(choices.action, choices.first, choices.n_actions)[action]
    back = directions(action, base, choices.n_actions)[choices.action]
    matrix = there @ jacobian @ back
    scale = float(np.linalg.norm(matrix, 2))
    played = behavior[action] > 0
    across = matrix.diagonal()[~played]
    within = eigenvalues(matrix[np.ix_(played, played)], TOLERANCE * scale)
    values = np.concatenate((across.astype(np.complex128), within))
    order = np.lexsort((values.imag, -values.real))
    most, speed = float(across.max(initial=-np.inf)), float(np.abs(velocity).max())
    return Spectrum(values[order], most, scale, speed)


def eigenvalues(matrix: FloatArray, rounding: float) -> NDArray[np.complex128]:
    """Eigenvalues of a square matrix; those zero within rounding, defective or not, are exact."""
    zeros = 0
    while len(matrix):
        _, singular, right = np.linalg.svd(matrix)
        rank = int((singular > rounding).sum())
        if rank == len(matrix):
            break
        zeros += len(matrix) - rank
        # the null space is the first block of a basis in which the matrix is block triangular
        matrix = right[:rank] @ matrix @ right[:rank].T
    return np.concatenate((np.linalg.eigvals(matrix), np.zeros(zeros, dtype=np.complex128)))


# -- published sets -------------------------------------------------------------------------------

# Regret of an equilibrium as a share of the payoff range: what formulas in floats may miss.
ROUNDING = 1e-9


S = TypeVar("S", bound=Counted)


@dataclass(frozen=True, eq=False)
class Looked(Measured):
    """A profile as the verifier sees it, and what the flow does near it."""

    spectrum: Spectrum
    place: Place | None = None  # in its set, if it is of one
    figures: Mapping[str, float] = field(default_factory=dict)  # by which people name it

    def entry(self, kind: type[S], **more: object) -> S:
        """Return its entry of a document, a struct with the fields of its kind."""
        seen, across = self.spectrum, self.spectrum.across
        figures = {
            **seen.counts,
            "verdict": seen.verdict,
            "place": self.place,
            "parameters": self.figures,
            "eigenvalues": [(value.real, value.imag) for value in seen.eigenvalues.tolist()],
            "scale": seen.scale,
            "speed": seen.speed,
            "across": across if np.isfinite(across) else None,
            "payoffs": self.payoffs,
            "max_regret": self.max_regret,
            "is_equilibrium": self.is_equilibrium,
        }
        return msgspec.convert(figures | more, kind)


def look(game: Game, flow: Flow, behavior: FloatArray) -> Looked:
    """Measure a profile (A,), and what the flow does near it."""
    behavior = on_face(flow.choices, np.clip(behavior, 0.0, 1.0))
    seen = measured(game.tree, behavior, ROUNDING)
    return Looked(**vars(seen), spectrum=spectrum(flow, behavior))


@dataclass(frozen=True, eq=False)
class SetVerdict:
    """The stability of a published set under a flow.

    Attributes
    ----------
    value : of the payoff parameter; None if the game has none
    looked : members that were looked at, equilibria and rest points all of them, at least one;
        the first speaks for the set and lies inside it, unless that one was refuted
    refuted : how many members are not equilibria or not rest points by measurement
    """

    name: str
    value: float | None
    looked: tuple[Looked, ...]
    refuted: int

    def entry(self) -> SetStability:
        """Return the entry of the first member, and what the others have in common with it."""
        entries = [each.entry(Counted) for each in self.looked]
        words = [each.verdict for each in entries]
        deviating = [each for each in entries if each.verdict != words[0]]
        counts = {key: [getattr(each, key) for each in entries] for key in COUNTS}
        members = {
            "examined": len(entries),
            "refuted": self.refuted,
            "places": Counter(str(each.place) for each in entries),
            **{key: (min(values), max(values)) for key, values in counts.items()},
            "verdicts": Counter(words),
            "same_everywhere": not deviating,
            "deviating": deviating,
        }
        return self.looked[0].entry(SetStability, name=self.name, value=self.value, members=members)


def verdicts(game: Game, flow: Flow, *, samples: int = SAMPLES, seed: int = 0) -> list[SetVerdict]:
    """Return how stable each published set of equilibria is under a flow, in their order.

    Looked at are one member inside, the corners, and `samples` drawn at random. Those that are not
    equilibria or not rest points by measurement are left out and counted; UsageError if none is
    left: such a flow is no model of how the game is played.
    """
    pieces: dict[str, list[KnownSet]] = {}
    for known in known_sets(game):  # the pieces of one set share its name, the first speaks for it
        pieces.setdefault(known.name, []).append(known)
    found = []
    for name, sets in pieces.items():
        rng = np.random.default_rng(seed)
        looked = [
            replace(
                look(game, flow, known.layout.behavior(known.frequencies(parameters))),
                place=place,
                figures=known.shown(parameters),
            )
            for known in sets
            for place, parameters in members(known, samples, rng)
        ]
        held = [each for each in looked if each.is_equilibrium and each.spectrum.is_rest_point]
        if not held:
            raise UsageError(
                f"the flow does not rest at any member of {name} that was looked at ({len(looked)})"
                "; choose a solver whose flow rests at equilibria, such as replicator"
            )
        found.append(SetVerdict(name, value_of(game), tuple(held), len(looked) - len(held)))
    return found


# -- other rest points ----------------------------------------------------------------------------

_STEPS = 40
_SINGULAR = 1e-12
_HOPELESS = 0.9  # share of the differences in growth that no step removes
_MOST_OF_THE_WAY = 0.9  # to the border of a face that a step may go
_CONVERGED = 1e-13  # of gains on the face, as a share of the largest derivative of one
_INSIDE = 1e-6  # least frequency of a rest point inside its face
_SAME = 1e-7


def rest_points(
    game: Game, flow: Flow, draws: int, seed: int, interrupted: Callable[[], bool] = lambda: False
) -> tuple[list[Looked], Search]:
    """Return distinct rest points that are not equilibria, and the search as a document has it.

    Each draw takes a share at random; so many information sets are mixed, on a random set of their
    actions, and the others pure. From a point inside that face Newton's method looks for one
    where played actions do equally well.
    """
    rng = np.random.default_rng(seed)
    arrived: list[Looked] = []
    drawn = 0
    while drawn < draws and not interrupted():
        drawn += 1
        behavior = _rest_point(flow, _random_point(flow.choices, rng))
        if behavior is not None:
            looked = look(game, flow, behavior)
            arrived += [looked] * looked.spectrum.is_rest_point
    others = [each for each in arrived if not each.is_equilibrium]
    places = alike([each.behavior for each in others], _SAME)
    found = [each for place, each in enumerate(others) if places[place] == place]
    growth = [float(each.spectrum.eigenvalues.real.max()) for each in found]
    labels = action_labels(game.tree)
    free = [action for block in flow.choices.blocks() for action in block]
    search = Search(
        value=value_of(game),
        draws=drawn,
        arrived=len(arrived),
        equilibria=len(arrived) - len(others),
        distinct=len(found),
        faces=len({tuple(each.behavior > 0) for each in found}),
        unstable=sum(each.spectrum.counts["unstable"] > 0 for each in found),
        unstable_across=sum(each.spectrum.across > 0 for each in found),
        least_growth=min(growth, default=None),
        points=[
            each.entry(
                RestPoint,
                frequencies={labels[a]: float(each.behavior[a]) for a in free if each.behavior[a]},
            )
            for each in found
        ],
    )
    return found, search


def _random_point(choices: Choices, rng: np.random.Generator) -> FloatArray:
    behavior, mixed = np.ones(choices.n_actions), rng.random()
    for block in choices.blocks():
        played = rng.integers(2, len(block) + 1) if rng.random() < mixed else 1
        behavior[block] = 0.0
        behavior[rng.permutation(block)[:played]] = rng.dirichlet(np.ones(played))
    return behavior


def _rest_point(flow: Flow, behavior: FloatArray) -> FloatArray | None:
    """Return the rest point (A,) that Newton's method finds inside a face, if any."""
    choices = flow.choices
    # where play is mixed, all actions do as well as the first one, which gives way
    action, first = exchanges(block[behavior[block] > 0] for block in choices.blocks())
    everywhere = directions(choices.action, choices.first, choices.n_actions)
    inside = directions(action, first, choices.n_actions)
    mixed = np.append(action, first)
    for _ in range(_STEPS):
        gains, slopes = _gains(flow, behavior, everywhere)
        gap = gains[action] - gains[first]
        limit = _CONVERGED * max(np.abs(slopes).max(initial=0.0), np.finfo(float).tiny)
        if np.abs(gap).max(initial=0.0) <= limit:
            return behavior
        matrix = (slopes[action] - slopes[first]) @ inside[choices.action]
        change = np.linalg.lstsq(matrix, -gap, rcond=_SINGULAR)[0]
        if np.linalg.norm(matrix @ change + gap) > _HOPELESS * np.linalg.norm(gap):
            return None  # for example where a gain is the same all over the face
        step = inside @ change
        falling = step < 0
        way = (behavior[falling] / -step[falling]).min(initial=np.inf)
        behavior = np.maximum(behavior + min(1.0, _MOST_OF_THE_WAY * way) * step, 0.0)
        if behavior[mixed].min(initial=1.0) < _INSIDE:
            return None
    return None


def _gains(
    flow: Flow, behavior: FloatArray, everywhere: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return growth rates (A,) of frequencies and derivatives (A, F), zero if nothing is played.

    A frequency f that changes by v grows at the rate v / f.
    """
    inverse = np.divide(1.0, behavior, out=np.zeros_like(behavior), where=behavior > 0)
    rates = everywhere @ flow.frequency_velocity(behavior) * inverse
    slopes = (everywhere @ flow.frequency_jacobian(behavior)) * inverse[:, None]
    slopes -= (rates * inverse)[:, None] * everywhere
    return rates, slopes
