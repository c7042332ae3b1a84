"""The contract of methods that follow a branch of equilibria along a payoff parameter.

A solver that can do so offers ``continuation(game)``, which gives a :class:`Continuation` of
that game. Studies follow branches with it; they see branch points and profiles, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from eqbench.model.tree import FloatArray

if TYPE_CHECKING:
    from eqbench.model.game import Game
    from eqbench.model.profile import BehaviorProfile


class ContinuationError(Exception):
    """A branch cannot be followed further, or has no start; the text says why."""


@dataclass(frozen=True, eq=False)
class BranchPoint:
    """A point of a branch of regularized equilibria.

    Attributes
    ----------
    value : float
        The payoff parameter.
    behavior : float64 (A,)
        Frequencies, all strictly inside their bounds.
    played : bool (A,)
        Actions that are inside their bounds by more than the regularization holds them up.
        Where they differ between neighboring points, the branch has turned a corner.
    direction : float
        How fast the parameter changes along the branch; 0 at a fold.
    event : str
        `branch point` if another curve crosses just before, else empty.
    state : mapping of arrays
        What is needed to go on from here; to be stored, not to be read.
    """

    value: float
    behavior: FloatArray
    played: NDArray[np.bool_]
    direction: float
    event: Literal["", "branch point"]
    state: Mapping[str, NDArray]


class Turn(NamedTuple):
    """A fold, where the parameter turns around.

    Attributes
    ----------
    value : float
    behavior : float64 (A,)
    exact : bool
        Whether these are of the equilibria themselves, without regularization. Only folds
        that the support determines are: where frequencies may vary freely the place of the
        fold depends on the regularization.
    regularized : float
        Where the parameter of the regularized branch turns around.
    """

    value: float
    behavior: FloatArray
    exact: bool
    regularized: float


class Continuation(Protocol):
    """Branches of one game along its payoff parameter."""

    @property
    def statistics(self) -> Mapping[str, int]:
        """What the work so far consisted of: `factorizations`, `steps`, `refused_steps`."""

    def start(self, value: float, rng: np.random.Generator | None = None) -> BranchPoint:
        """A point at this value of the parameter, from uniform weights or from random ones.

        Raises
        ------
        ContinuationError
            If none is found.
        """

    def follow(self, point: BranchPoint, *, increasing: bool = True) -> Iterator[BranchPoint]:
        """Points after `point`, without end; a fresh start heads for larger or smaller values.

        A point that was followed to, or a crossing, continues in its own direction.

        Raises
        ------
        ContinuationError
            If the branch cannot be followed further. The last good point was yielded before.
        """

    def turned(self, point: BranchPoint) -> BranchPoint:
        """The same point, followed from which the branch goes the other way."""

    def fold(self, before: BranchPoint, after: BranchPoint) -> Turn | None:
        """The fold between two neighboring points, None if the parameter does not turn."""

    def crossings(self, before: BranchPoint, after: BranchPoint, value: float) -> list[BranchPoint]:
        """Where the branch between two neighboring points has this value of the parameter.

        Raises
        ------
        ContinuationError
            If the branch passes the value there, but the point cannot be computed.
        """

    def polish(self, point: BranchPoint, value: float | None = None) -> tuple[FloatArray, float]:
        """An equilibrium close to a point, float64 (A,), and its value of the parameter.

        Without regularization: frequencies at their bounds are exactly there. The parameter
        is kept at `value` if that is given; otherwise it may move a little, since on a
        vertical piece there are equilibria at one value only. It is the best that was found;
        how good it is the verifier says.
        """

    def game_at(self, value: float) -> Game:
        """The game at a value of its parameter."""


class ResponsePath(NamedTuple):
    """Points of a branch of logit quantal response equilibria, from lambda = 0 on.

    Attributes
    ----------
    lambdas : float64 (K,)
        Precision of the responses, in 1 / payoff; it need not grow all the way.
    behavior : float64 (K, A)
    log_probabilities : float64 (K, A)
        Their logarithms, also where frequencies are too small for floats.
    turns : int64 (T,)
        Points at which lambda turns around.
    landings : int64 (L,)
        Points at which lambda has exactly a value that was requested.
    ending : str
        Why the path ends where it does.
    check : str
        How far steps were tested for jumps to other branches, empty if they were not.
    """

    lambdas: FloatArray
    behavior: FloatArray
    log_probabilities: FloatArray
    turns: NDArray[np.int64]
    landings: NDArray[np.int64]
    ending: str
    check: str = ""


class QuantalResponses(Protocol):
    """A solver that follows branches of logit quantal response equilibria."""

    def branch(
        self,
        game: Game,
        *,
        at: Iterable[float] = (),
        rng: np.random.Generator | None = None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> ResponsePath:
        """The branch to the solver's last lambda, with points at exactly the values `at`.

        Where lambda turns around, it may have such a value several times. The generator
        draws the prior if the solver's option says so. The path ends early when `interrupted`,
        which is polled several times a second, says so.

        Raises
        ------
        UsageError
            If the game is not supported, or a value is not between 0 and the last lambda.
        """

    def equilibrium(self, game: Game, path: ResponsePath) -> FloatArray:
        """An equilibrium close to the end of a path, float64 (A,).

        It is the best profile that was found, that of the last point if there is none better;
        how good it is the verifier says.
        """


class OffPath(Protocol):
    """A solver that makes the play off the path of an equilibrium credible."""

    def credible(self, game: Game, profile: BehaviorProfile) -> tuple[BehaviorProfile, str]:
        """The same path of play with what lies off it solved again; the second is empty.

        Or the given profile, and why it was kept: for example, where a deviation pays if all are
        rational off the path.
        """
