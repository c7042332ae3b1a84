"""What a trajectory was found to do, with the figures that the finding rests on."""

from __future__ import annotations

from dataclasses import dataclass

WORDS = ("periodic", "quasi_periodic", "chaotic_transient", "boundary_absorption", "undecided")


@dataclass(frozen=True)
class Window:
    """A mean over a stretch of time.

    Attributes
    ----------
    start, end : float
    mean : float
    """

    start: float
    end: float
    mean: float


@dataclass(frozen=True)
class SpectralLine:
    """A peak of the power spectrum.

    Attributes
    ----------
    frequency : float
        Cycles per unit of time.
    share : float
        Of the power, the mean left out.
    """

    frequency: float
    share: float


@dataclass(frozen=True)
class Component:
    """Moving actions that influence each other, over the last half of the time.

    Attributes
    ----------
    actions : tuple of int
        Global indices.
    section : int
        Of these, and of what stays at 0 or 1 but belongs to them, the one whose log-odds rise
        through their mean most often; these are the returns.
    returns : int
        How many there were.
    samples_per_return : float
    loops : int or None
        After how many returns the motion comes back to the same point; None if it does not.
    mismatch : float or None
        By how much it then misses that point, or if it does not come back, misses it after one
        return; the largest distance, as a share of the largest swing in log-odds.
    period : float or None
        Time that the loops take, if it comes back.
    lines : tuple of SpectralLine
        The strongest lines of the log-odds of `section`, strongest first.
    line_share : float
        Share of the power in lines; 1 minus it is continuous.
    """

    actions: tuple[int, ...]
    section: int
    returns: int
    samples_per_return: float
    loops: int | None
    mismatch: float | None
    period: float | None
    lines: tuple[SpectralLine, ...]
    line_share: float


@dataclass(frozen=True)
class Regime:
    """The regime of a trajectory. Actions are global indices.

    Where an information set has two actions, its second one stands for both.

    Attributes
    ----------
    word : str
        One of `WORDS`.
    reason : str
        A sentence with the figures that the word rests on.
    to_zero, to_one : tuple of int
        Actions whose frequency goes to 0 or to 1: it is within `NEAR_FACE` of it for the whole
        last half of the time, while its log-odds go on growing, or are constant.
    at_zero, at_one : tuple of int
        Other actions that are as near to 0 or to 1 for as long, but whose log-odds are on their
        way back, show no trend, or are so large that rounding hides it; so they may return.
    frozen : tuple of int
        Other actions that settle to a constant.
    components : tuple of tuple of int
        What still moves, in groups that influence each other. Log-odds of what may return count
        wherever those of moving actions are tested, but are not listed here.
    lyapunov : float or None
        Mean growth rate of a small displacement over the last half of the time, per unit of
        time; None if it was not measured.
    lyapunov_windows : tuple of Window
        The same over windows each of which doubles the time, the last one last.
    near_face_fraction : float
        Of the frequencies that still move or may return, over the last half of the time, the
        share within `NEAR_FACE` of 0 or 1; 0 if there are none.
    near_face_windows : tuple of Window
    transient : float or None
        When the motion became what `word` says, for good; None if it is undecided or chaotic.
    facts : tuple of Component
        Returns, periods and spectral lines of the components, in their order.
    """

    word: str
    reason: str
    to_zero: tuple[int, ...]
    to_one: tuple[int, ...]
    at_zero: tuple[int, ...]
    at_one: tuple[int, ...]
    frozen: tuple[int, ...]
    components: tuple[tuple[int, ...], ...]
    lyapunov: float | None
    lyapunov_windows: tuple[Window, ...]
    near_face_fraction: float
    near_face_windows: tuple[Window, ...]
    transient: float | None
    facts: tuple[Component, ...]
