"""The guess for the next point of a curve."""

from __future__ import annotations

from eqbench.model.tree import FloatArray


def predict(
    y: FloatArray, tangent: FloatArray, step: float, earlier: FloatArray | None
) -> FloatArray:
    """Extrapolation along the parabola through a point, its tangent and the point before.

    The projection of the step on the tangent is `step`.

    Parameters
    ----------
    y, tangent : float64 (F+1,)
    earlier : float64 (F+1,) or None
        The point before; without it the guess lies on the tangent.
    """
    guess = y + step * tangent
    if earlier is not None:
        length = float((y - earlier) @ tangent)
        # what the tangent leaves; it is orthogonal to it
        bend = earlier - y + length * tangent
        guess += (step / length) ** 2 * bend
    return guess
