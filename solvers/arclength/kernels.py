"""Compiled kernels: the regularized projection onto the simplices, and the Newton matrix.

Symbols: F free frequencies and C information sets with a choice (`Choices`).

Coordinates z (F,) belong to the free actions; the first action of each set has z = 0. At a set
with strength d > 0 the frequencies p are those that maximize ``z p - |p|^2 / 2`` plus d times
the barrier: with the log barrier ``p_a - d / p_a = z_a - s`` for all actions, where s makes
them sum to one. With two actions that is ``2 b - 1 + d h(b) = z`` for the frequency b of the
second one. For d to 0 it becomes the Euclidean projection onto the simplex.
"""

from __future__ import annotations

import numpy as np

from eqbench.model.compiled import kernel

LOG, ARCTAN, RATIONAL = 0, 1, 2
ITERATIONS = 100


@kernel
def barrier(kind, b):
    """The function h(b) and its derivative at a frequency 0 < b <= 1/2; h(1 - b) = -h(b)."""
    if kind == LOG:
        return 1.0 / (1.0 - b) - 1.0 / b, 1.0 / (1.0 - b) ** 2 + 1.0 / b**2
    if kind == ARCTAN:
        tangent = np.tan(np.pi * b)
        return -1.0 / tangent, np.pi * (1.0 + 1.0 / tangent**2)
    return 1.0 - 0.5 / b, 0.5 / b**2


@kernel
def smaller_frequency(kind, z, d):
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
def project(kind, start, first, z, strength, behavior, weight, by_log):
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
def _project_many(z, d, behavior, weight, by_log):
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
def _above_barrier(t, d):
    """The p > 0 with ``p - d / p = t``, without cancellation, and ``p + d / p``."""
    root = np.sqrt(t * t + 4.0 * d)
    return (0.5 * (t + root) if t > 0 else 2.0 * d / (root - t)), root


@kernel
def _euclidean_shift(z):
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
def newton_matrix(start, jacobian, scale, weight, first_weight, matrix):
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
