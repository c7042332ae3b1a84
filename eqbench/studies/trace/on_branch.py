"""Vertical pieces of a traced branch, its points at each value, and the equilibria at one."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from eqbench.continuation import BranchPoint, Continuation, ContinuationError
from eqbench.equilibria import Identifier
from eqbench.errors import EqbenchError
from eqbench.model.profile_json import profile_text
from eqbench.model.tree import FloatArray
from eqbench.studies.branch import (
    Branch,
    Counts,
    Measured,
    Payoffs,
    crossing_counts,
    distinct_payoffs,
    measured,
)
from eqbench.studies.frame import Session
from eqbench.studies.study_files import write_profile
from eqbench.studies.trace.follow import (
    Crossings,
    Setting,
    crossings_of,
    pieces,
    start_of,
    stretches,
)

# Where points of a piece are polished, as shares of its length.
SHARES = (0.15, 0.325, 0.5, 0.675, 0.85)
# Values of the parameter, relative to their size, that differ by no more are the same.
SAME_VALUE = 1e-8


def same_value(one: float, other: float) -> bool:
    """Return whether two values of the parameter differ by no more than 1e-8 of their size."""
    return abs(one - other) <= SAME_VALUE * max(abs(one), 1.0)


def vertical_pieces(
    continuation: Continuation,
    branch: Branch,
    still: Sequence[tuple[int, BranchPoint]],
    session: Session,
) -> list[dict[str, Any]]:
    """The :func:`stretches` that are vertical without regularization too, for JSON.

    Up to five points of each are polished while the parameter is free, and all of them must
    come out as equilibria at one value. That is the `parameter` of the piece; its `payoffs` are
    the smallest and the largest ones that the polished points have.

    Parameters
    ----------
    still : points of the branch at which the parameter hardly changes, by their row

    Raises
    ------
    KeyboardInterrupt
        If the session is interrupted.
    """
    found = []
    for i, j in stretches(branch):
        session.go_on("polishing vertical pieces")
        made = [_polished(continuation, point) for point in _inside(branch, still, i, j)]
        values = [value for value, _ in made]
        if (
            len(made) > 1
            and all(item.is_equilibrium for _, item in made)
            and same_value(max(values), min(values))
        ):
            payoffs = np.array([item.payoffs for _, item in made])
            found.append(
                {
                    "parameter": float(np.median(values)),
                    "payoffs": [payoffs.min(axis=0).tolist(), payoffs.max(axis=0).tolist()],
                }
            )
    return found


def _polished(continuation: Continuation, point: BranchPoint) -> tuple[float, Measured]:
    behavior, value = continuation.polish(point)
    return value, measured(continuation.game_at(value).tree, behavior)


def _inside(
    branch: Branch, still: Sequence[tuple[int, BranchPoint]], i: int, j: int
) -> list[BranchPoint]:
    """Up to five points that are spread over the inside of a stretch."""
    among = [(row, point) for row, point in still if i < row < j]
    if not among:
        return []
    places = branch.arclength[[row for row, _ in among]]
    first, last = branch.arclength[[i, j]]
    nearest = [int(np.abs(places - first - share * (last - first)).argmin()) for share in SHARES]
    return [among[k][1] for k in dict.fromkeys(nearest)]


# Where a regularized branch is nearly vertical it may wind; narrower intervals are not looked at.
NARROWEST = 1e-6


def counts_of(
    values: FloatArray, turns: Sequence[tuple[int, float]], tolerance: float = 0.0
) -> Counts:
    """Count the points of a branch with these values of the parameter, float64 (K,).

    Parameters
    ----------
    turns : before which point the parameter turns, and at which value
    tolerance : breakpoints that are no further apart become one
    """
    rows = [row for row, _ in turns]
    return crossing_counts(np.insert(values, rows, [value for _, value in turns]), tolerance)


def in_the_middle_of_most(counts: Counts) -> Fraction:
    """A value in the middle of the widest interval with most points, with few decimals."""
    low, high = max(counts.intervals(counts.most), key=lambda ends: ends[1] - ends[0])
    middle, digits = (low + high) / 2, 0
    while abs(round(middle, digits) - middle) > 0.1 * (high - low):
        digits += 1
    return Fraction(repr(round(middle, digits)))


def equilibria_at(
    setting: Setting,
    value: Fraction,
    crossings: Sequence[BranchPoint],
    name: str,
    session: Session,
    *,
    vertical: bool = False,
) -> dict[str, Any]:
    """Polish, measure and name the equilibria at one value of the parameter, for JSON.

    Parameters
    ----------
    crossings : points of the branch there
    name : of the profiles, which are written as `name`-1, …
    vertical : whether the branch is vertical there, so that it has more than the crossings

    Raises
    ------
    StoreError
        If a profile cannot be written.
    KeyboardInterrupt
        If the session is interrupted.
    """
    game, continuation = setting.game_at(value), setting.continuation
    place = f"{setting.parameter}={float(value):.9g}"
    found = []
    for number, point in enumerate(crossings, start=1):
        session.go_on(f"polishing {number} of {len(crossings)} at {place}")
        found.append(measured(game.tree, continuation.polish(point, float(value))[0]))
    equilibria = [item for item in found if item.is_equilibrium]
    distinct = distinct_payoffs(item.payoffs for item in equilibria)
    identifier, described = Identifier(game), []
    for number, item in enumerate(found, start=1):
        session.go_on()
        identity = identifier.identify(item.profile, item.max_regret)
        text = profile_text(game.tree, item.profile, game.spec)
        described.append(
            {
                "payoffs": item.payoffs,
                "max_regret": item.max_regret,
                "polished": item.is_equilibrium,
                "profile": write_profile(session.folder, f"{name}-{number}", text),
                "identity": None if identity is None else identity.to_json(),
            }
        )
    entry: dict[str, Any] = {
        "parameter": float(value),
        "vertical": vertical,
        "crossings": len(found),
        "polished": len(equilibria),
        "distinct_payoffs": len(distinct),
        "equilibria": described,
    }
    if setting.request.starts:
        on_branch = None if vertical else distinct
        entry["beside"] = _beside(setting, value, on_branch, session)
    return entry


def _beside(
    setting: Setting, value: Fraction, on_branch: Sequence[Payoffs] | None, session: Session
) -> dict[str, Any]:
    """Equilibria from random starts, compared with the payoffs on the branch if these are known."""
    starts, rng = setting.request.starts, np.random.default_rng(setting.request.seed)
    tree, continuation = setting.game_at(value).tree, setting.continuation
    place, found = f"{setting.parameter}={float(value):.9g}", []
    for number in range(1, starts + 1):
        session.go_on(f"random start {number} of {starts} at {place}")
        try:
            start = continuation.start(float(value), rng)
            item = measured(tree, continuation.polish(start, float(value))[0])
        except ContinuationError:
            continue
        if item.is_equilibrium:
            found.append(item.payoffs)
    distinct, others = distinct_payoffs(found), None
    if on_branch is not None:
        others = len(distinct_payoffs([*on_branch, *distinct])) - len(on_branch)
    return {
        "starts": starts,
        "polished": len(found),
        "distinct_payoffs": len(distinct),
        "payoff_ranges": [[min(own), max(own)] for own in zip(*found, strict=True)],
        "not_on_branch": others,
    }


def crossings_again(setting: Setting, value: Fraction, points: int, session: Session) -> Crossings:
    """Crossings of one value, by following the branch once more up to so many points.

    Raises
    ------
    EqbenchError
        If that fails, which another version of the solver may cause.
    KeyboardInterrupt
        If the session is interrupted.
    """
    found, lost = [], 0
    session.tell(f"following the branch once more for {float(value):.9g}")
    try:
        start = start_of(setting)
        found += [start] if setting.request.first == value else []
        for _, piece in zip(range(points - 1), pieces(setting, start), strict=False):
            session.go_on()
            more = crossings_of(setting.continuation, piece, float(value))
            found += more.found
            lost += more.lost
    except ContinuationError as error:
        raise EqbenchError(
            f"the branch cannot be followed once more: {error}; trace it again"
        ) from None
    return Crossings(found, lost)
