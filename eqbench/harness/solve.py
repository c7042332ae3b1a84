"""One solve, in a child or in the caller's process: ask, prepare, warm up, solve, check."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from eqbench.errors import SolverUnavailableError, UsageError
from eqbench.isolation.messages import (
    CandidateFrame,
    Clocks,
    DoneFrame,
    ErrorFrame,
    Frame,
    LastFrame,
    ProfileFrame,
    ReadyFrame,
    RefusedFrame,
    SnapshotFrame,
    TremblesMessage,
    text,
)
from eqbench.model.game import Game
from eqbench.solver import Limits, Monitor, Report, check_termination, obstacle_of, warm_up


def solve_once(
    solver: Any, game: Game, limits: Limits, seed: int, send: Callable[[Frame], None]
) -> tuple[LastFrame, Exception | None]:
    """Let a solver solve a game; set-up is over when `send` gets the frame `ready`.

    Parameters
    ----------
    seed : of the generator that the solver gets
    send : takes the frames on the way: `ready`, then snapshots and candidates

    Returns
    -------
    LastFrame, Exception or None
        How it ended: refused, done or with an error; and what the solver raised.

    Raises
    ------
    Exception
        What the solver raises before the clock starts.
    """
    obstacle = obstacle_of(solver, game)
    if obstacle is not None:
        status, reason = obstacle
        return RefusedFrame(status, text(reason)), None
    if hasattr(solver, "prepare"):
        solver.prepare(game)
    warm_up(game)
    rng = np.random.default_rng(seed)
    send(ReadyFrame())
    monitor = Monitor(game, limits, lambda report: send(_profile_frame(report)))
    ended, failure, statistics = None, None, dict[str, Any]()
    try:
        ended = check_termination(solver.solve(game, monitor, rng))
    except Exception as error:
        failure = error
    try:
        statistics = _plain_statistics(monitor.statistics)
    except Exception as error:
        failure = failure or error
    clocks = _clocks(monitor)
    if ended is None or failure is not None:
        failure = failure or RuntimeError("solve() did not end")
        return error_frame(failure, clocks=clocks, statistics=statistics), failure
    detail = text(ended.detail)
    return DoneFrame(reason=ended.reason, detail=detail, clocks=clocks, statistics=statistics), None


def error_frame(error: BaseException, **figures: Any) -> ErrorFrame:
    """Frame about an exception; `figures` are those that a solver had reached."""
    return ErrorFrame(
        type=text(type(error).__name__),
        message=text(_message(error)),
        traceback=text("".join(traceback.format_exception(error)[-6:])),
        usage=isinstance(error, UsageError),
        memory=isinstance(error, MemoryError),
        unavailable=isinstance(error, SolverUnavailableError),
        **figures,
    )


def _message(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:  # a plugin's exception need not be able to say anything
        return type(error).__name__


def _clocks(of: Monitor | Report) -> Clocks:
    """Clocks of a monitor or a report; differences of clocks may round below zero."""
    elapsed_s, cpu_s = max(float(of.elapsed_s), 0.0), max(float(of.cpu_s), 0.0)
    return Clocks(elapsed_s, cpu_s, max(float(of.overhead_s), 0.0), int(of.work))


def _profile_frame(report: Report) -> ProfileFrame:
    """Frame of a snapshot or candidate.

    Raises
    ------
    TypeError
        If the frequencies are no real numbers.
    """
    candidate = report.candidate
    exact, claimed = candidate.profile.exact, candidate.claimed_regret
    frequencies = np.asarray(candidate.profile.probabilities)
    fields: dict[str, Any] = {
        "claim": candidate.claim,
        "claimed_regret": None if claimed is None else float(claimed),
        "exact": None if exact is None else [str(value) for value in exact],
        "profile": frequencies.astype("<f8", casting="same_kind").tobytes(),
        "clocks": _clocks(report),
    }
    if report.kind == "snapshot":
        return SnapshotFrame(**fields)
    trembles = candidate.trembles
    message = None if trembles is None else TremblesMessage.of(trembles)
    return CandidateFrame(**fields, trembles=message)


def _plain_statistics(figures: Any) -> dict[str, Any]:
    """Figures of a method with NumPy's types replaced; what JSON has no word for becomes text.

    Raises
    ------
    TypeError
        If they are no dictionary.
    """
    if not isinstance(figures, dict):
        raise TypeError(
            f"the statistics are {type(figures).__name__}; use monitor.record(name=value)"
        )
    return {_plain_text(key): _plain(value) for key, value in figures.items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, str):
        return _plain_text(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {_plain_text(key): _plain(item) for key, item in value.items()}
    return _plain_text(value)


def _plain_text(value: object) -> str:
    """Text without lone surrogates, which no file could hold."""
    return str(value).encode(errors="backslashreplace").decode()
