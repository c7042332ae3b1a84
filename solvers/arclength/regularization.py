"""The regularized game: frequencies that a smooth response to the gains has to reproduce.

Billingham 2018, eq. (2): ``b = g(u / eps)`` at every information set, where u is the gain of
the aggressive action and g increases from 0 to 1 with algebraic tails. With h the inverse of g
that is ``u = eps h(b)``. Three choices of h:

- ``log``: ``1/(1-b) - 1/b``, the barrier ``eps (log b + log(1-b))``; with more actions
  ``eps sum log p_a``, the only one that is defined there;
- ``arctan``: ``-cot(pi b)``, so ``g(x) = 1/2 + arctan(x) / pi``;
- ``rational``: ``g(x) = (1 + x / (1 + |x|)) / 2``.

Gains are counterfactual values over the largest probability with which chance leads to an
information set (1/N in Kuhn poker with N cards), so that eps is in payoff units whatever the
number of cards.

Differs from the paper, whose own g is lost: the unknowns are not the frequencies but z with
``z = (p - p of the first action) + gain / scale``, of which the frequencies are a regularized
projection (see `project`). In these unknowns the problem stays well scaled for every eps, and
for eps to 0 it is the normal map of the equilibrium conditions, piecewise smooth.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eqbench.model.compiled import kernel
from eqbench.model.payoff_model import Linearization
from eqbench.model.tree import FloatArray, IntArray

from ..polish.frequencies import GainSystem

Regularization = Literal["log", "arctan", "rational"]
Derivative = Literal["counterfactual", "raw"]
Unknown = Literal["parameter", "log_epsilon"]
LARGEST_LOG = 200.0
# Spread of the logarithm of random weights of information sets.
WEIGHT_SPREAD = 1.0
LOG, ARCTAN, RATIONAL = 0, 1, 2
KINDS = {"log": LOG, "arctan": ARCTAN, "rational": RATIONAL}


class Frequencies(NamedTuple):
    """What the projection gives; see `project`."""

    behavior: FloatArray
    weight: FloatArray
    by_log: FloatArray

    @property
    def support(self) -> NDArray[np.bool_]:
        """Actions that are inside their bounds rather than held up by the barrier, bool (A,).

        An action that is played with p stands at least as far from its bound as the barrier
        pushes it, in units of gains: for the log barrier p >= mu / scale, mu = eps / p.
        """
        return (self.weight >= 0.5) | (self.behavior >= 0.5)


@dataclass(frozen=True, eq=False)
class RegularizedGame(GainSystem):
    """Residual and derivatives of the regularized system of a game."""

    kind: Regularization = "log"
    derivative: Derivative = "counterfactual"  # or multiplied with the own reach
    # strength of the barrier at each information set with a choice, times eps, (C,)
    weights: FloatArray | None = None
    counts: dict[str, int] = field(
        default_factory=lambda: {"factorizations": 0, "steps": 0, "refused_steps": 0}
    )

    @cached_property
    def _strength(self) -> FloatArray:
        """Strength of the barrier in the coordinates where eps is 1, float64 (C,)."""
        weights = np.ones(len(self.choices.infoset)) if self.weights is None else self.weights
        return np.ascontiguousarray(weights * self.chance.max() / (self.chance * self.unit))

    def weighted(self, weights: FloatArray) -> RegularizedGame:
        """The same system with other weights of the information sets, float64 (C,)."""
        other = copy(self)  # with all that is computed already
        other.__dict__.pop("_strength", None)
        other.__dict__["weights"] = weights
        return other

    def randomly_weighted(self, rng: np.random.Generator) -> RegularizedGame:
        """The same system with log-normal weights of the information sets."""
        normal = rng.normal(size=len(self.choices.infoset))
        return self.weighted(np.exp(WEIGHT_SPREAD * normal))

    def frequencies(self, z: FloatArray, epsilon: float) -> Frequencies:
        """All frequencies at the coordinates z (F,)."""
        choices, count = self.choices, self.choices.n_actions
        first = choices.first[choices.start[:-1]]
        made = Frequencies(np.ones(count), np.ones(count), np.empty(len(z)))
        project(KINDS[self.kind], choices.start, first, z, epsilon * self._strength, *made)
        return made

    def linearize(self, behavior: FloatArray, parameter: float) -> Linearization:
        """Gains and derivatives, in the chosen sense of derivative.

        The gain of an action is the derivative of the player's expectation by its frequency only
        after division by the probability with which the player's own earlier actions lead there.
        Without that division ("raw") an information set that its own player never reaches has no
        say, and threats in it need not be credible (Billingham 2018, section 3).
        """
        linear = super().linearize(behavior, parameter)
        if self.derivative == "counterfactual":
            return linear
        tree, choices = self.game.tree, self.choices
        # the player's own reach of all sets, and its derivatives by frequencies
        reach, by_action = np.ones(tree.n_infosets), np.zeros((tree.n_infosets, tree.n_actions))
        infoset_of = tree.action_infoset
        for i, above in enumerate(tree.infoset_parent.tolist()):  # earlier sets come first
            if above >= 0:  # -1 is none
                before = infoset_of[above]
                reach[i] = reach[before] * behavior[above]
                by_action[i] = by_action[before] * behavior[above]
                by_action[i, above] = reach[before]
        own = infoset_of[choices.action]
        by_free = choices.gains(by_action[own].T).T  # the first action gives way
        jacobian = reach[own, None] * linear.jacobian + linear.gains[:, None] * by_free
        slope = None if linear.slope is None else reach[own] * linear.slope
        return Linearization(reach[own] * linear.gains, jacobian, slope)

    def evaluate(
        self, z: FloatArray, epsilon: float, parameter: float, unknown: Unknown = "parameter"
    ) -> tuple[FloatArray, FloatArray]:
        """Residual (F,) at the coordinates z (F,), and its derivatives (F+1, F+1) by all unknowns.

        The last unknown is the payoff parameter or the logarithm of eps. The last row is free.
        """
        choices, scale = self.choices, self.free_scale
        behavior, weight, by_log = self.frequencies(z, epsilon)
        linear = self.linearize(behavior, parameter)
        matrix = np.zeros((len(z) + 1, len(z) + 1))
        first_weight = weight[choices.first[choices.start[:-1]]]
        newton_matrix(
            choices.start, linear.jacobian, scale, weight[choices.action], first_weight, matrix
        )
        if unknown == "log_epsilon":
            change = np.add.reduceat(by_log, choices.start[:-1])
            moved = by_log + np.repeat(change, np.diff(choices.start))
            matrix[:-1, -1] = -(moved + linear.jacobian @ by_log / scale)
        elif linear.slope is not None:
            matrix[:-1, -1] = -linear.slope / scale
        return z - choices.gains(behavior) - linear.gains / scale, matrix


@dataclass(frozen=True, eq=False)
class RegularizedCurve:
    """Regularized equilibria of a game along one unknown more than there are equations.

    A point y (F+1,) holds the coordinates z (F,) of the system and one more unknown, which is the
    payoff parameter (at a fixed eps) or the logarithm of eps (at a fixed parameter).
    """

    system: RegularizedGame
    unknown: Unknown
    fixed: float  # eps where the parameter varies; the payoff parameter where eps varies

    @property
    def counts(self) -> dict[str, int]:
        """What the work on the system so far consisted of."""
        return self.system.counts

    def epsilon(self, y: FloatArray) -> float:
        """Strength of the regularization at a point."""
        if self.unknown == "parameter":
            return self.fixed
        # a wild Newton step must not make it 0 or infinite
        return float(np.exp(np.clip(y[-1], -LARGEST_LOG, LARGEST_LOG)))

    def equations(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Residual (F,) at a point, and its derivatives (F+1, F+1), whose last row is free."""
        parameter = float(y[-1]) if self.unknown == "parameter" else self.fixed
        return self.system.evaluate(y[:-1], self.epsilon(y), parameter, self.unknown)


# -- kernels: the projection onto the simplices, and the Newton matrix -----------------------------

# Coordinates z (F,) belong to the free actions; the first action of each set has z = 0. At a set
# with strength d > 0 the frequencies p are those that maximize ``z p - |p|^2 / 2`` plus d times
# the barrier: with the log barrier ``p_a - d / p_a = z_a - s`` for all actions, where s makes
# them sum to one. With two actions that is ``2 b - 1 + d h(b) = z`` for the frequency b of the
# second one. For d to 0 it becomes the Euclidean projection onto the simplex.

ITERATIONS = 100


@kernel
def barrier(kind: int, b: float) -> tuple[float, float]:
    """The function h(b) and its derivative at a frequency 0 < b <= 1/2; h(1 - b) = -h(b)."""
    if kind == LOG:
        return 1.0 / (1.0 - b) - 1.0 / b, 1.0 / (1.0 - b) ** 2 + 1.0 / b**2
    if kind == ARCTAN:
        tangent = np.tan(np.pi * b)
        return -1.0 / tangent, np.pi * (1.0 + 1.0 / tangent**2)
    return 1.0 - 0.5 / b, 0.5 / b**2


@kernel
def smaller_frequency(kind: int, z: float, d: float) -> float:
    """The frequency 0 < b <= 1/2 with ``2 b - 1 + d h(b) = z``, for z <= 0."""
    c = 1.0 + z
    root = np.sqrt(c * c + 8.0 * d)
    # without cancellation where c < 0
    b = (c + root) / 4.0 if c > 0 else 2.0 * d / (root - c)
    b = min(b, 0.5)
    # h is concave here: after at most one step the iteration comes from the left, where it
    # never oversteps
    for _ in range(ITERATIONS):
        h, slope = barrier(kind, b)
        step = (2.0 * b - 1.0 + d * h - z) / (2.0 + d * slope)
        b_new = b - step
        if b_new <= 0.0:
            b_new = 0.5 * b
        b_new = min(b_new, 0.5)
        if abs(b_new - b) <= 1e-16 * b_new:
            return b_new
        b = b_new
    return b


@kernel
def project(
    kind: int,
    start: IntArray,
    first: IntArray,
    z: FloatArray,
    strength: FloatArray,
    behavior: FloatArray,
    weight: FloatArray,
    by_log: FloatArray,
) -> None:
    """Frequencies of all actions, their weights, and how the free ones change with the strength.

    The first action of a set (C,) stands before its free ones. Writes `behavior` (A,);
    `weight` (A,): derivatives of ``p(z - s)`` with s fixed, which say how far an action is
    inside its bounds; `by_log` (F,): derivatives by the logarithm of d.
    """
    for c in range(len(first)):
        low, high, d = start[c], start[c + 1], strength[c]
        begin, end = first[c], first[c] + high - low + 1
        if high - low == 1:
            small, large = (begin, begin + 1) if z[low] > 0 else (begin + 1, begin)
            b = smaller_frequency(kind, -abs(z[low]), d)
            h, slope = barrier(kind, b)
            behavior[small], behavior[large] = b, 1.0 - b
            # both actions share this: dp/dz = w / 2
            w = 2.0 / (2.0 + d * slope)
            weight[small], weight[large] = w, w
            by_log[low] = d * h * w / 2.0 if z[low] > 0 else -d * h * w / 2.0
        else:
            _project_many(z[low:high], d, behavior[begin:end], weight[begin:end], by_log[low:high])


@kernel
def _project_many(
    z: FloatArray, d: float, behavior: FloatArray, weight: FloatArray, by_log: FloatArray
) -> None:
    """The log barrier on one set with three actions or more."""
    shift = _euclidean_shift(z)
    for _ in range(ITERATIONS):
        total, slope = -1.0, 0.0
        for a in range(len(behavior)):
            p, root = _above_barrier((z[a - 1] if a else 0.0) - shift, d)
            total += p
            slope += p / root
        step = total / slope
        shift += step
        if abs(step) <= 1e-15 * (1.0 + abs(shift)):
            break
    weights, changes = 0.0, 0.0
    for a in range(len(behavior)):
        behavior[a], root = _above_barrier((z[a - 1] if a else 0.0) - shift, d)
        weight[a] = behavior[a] / root  # 1 / (1 + d / p^2)
        weights += weight[a]
        changes += d * weight[a] / behavior[a]
    for a in range(1, len(behavior)):
        by_log[a - 1] = weight[a] * (d / behavior[a] - changes / weights)


@kernel
def _above_barrier(t: float, d: float) -> tuple[float, float]:
    """The p > 0 with ``p - d / p = t``, without cancellation, and ``p + d / p``."""
    root = np.sqrt(t * t + 4.0 * d)
    return (0.5 * (t + root) if t > 0 else 2.0 * d / (root - t)), root


@kernel
def _euclidean_shift(z: FloatArray) -> float:
    """The s with sum of max(z - s, 0) equal to 1; the regularized s is larger."""
    ordered = np.zeros(len(z) + 1)
    ordered[1:] = z
    ordered.sort()
    total, shift = 0.0, 0.0
    for count in range(1, len(ordered) + 1):
        value = ordered[len(ordered) - count]
        if count > 1 and value <= shift:
            break
        total += value
        shift = (total - 1.0) / count
    return shift


@kernel
def newton_matrix(
    start: IntArray,
    jacobian: FloatArray,
    scale: FloatArray,
    weight: FloatArray,
    first_weight: FloatArray,
    matrix: FloatArray,
) -> None:
    """``matrix = 1 - (E + jacobian / scale) B`` in its leading F rows and columns.

    E (F, F) are the derivatives of ``p - p of the first action`` by the free p, and B those of
    the free p by z; both couple actions of the same set only. `scale` is (F,).
    """
    size, sets = len(scale), len(start) - 1
    for f in range(size):
        inverse = 1.0 / scale[f]
        if sets == size:
            # two actions everywhere, as in most games that are followed far: half of the general
            # expression cancels, and the loop is several times faster
            for g in range(size):
                matrix[f, g] = -0.5 * weight[g] * (jacobian[f, g] * inverse)
            matrix[f, f] += 1.0 - weight[f]
            continue
        for c in range(sets):
            low, high = start[c], start[c + 1]
            own = 1.0 if low <= f < high else 0.0
            total, mean = first_weight[c], 0.0
            for g in range(low, high):
                matrix[f, g] = jacobian[f, g] * inverse + own
                if g == f:
                    matrix[f, g] += 1.0
                mean += matrix[f, g] * weight[g]
                total += weight[g]
            mean /= total
            for g in range(low, high):
                matrix[f, g] = -weight[g] * (matrix[f, g] - mean)
        matrix[f, f] += 1.0
