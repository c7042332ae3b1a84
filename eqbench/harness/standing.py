"""How far work has come, in a form that a bar or a line can show."""

from __future__ import annotations

import time
from dataclasses import dataclass

TIME_TO_TELL_S = 2.0  # from when on a share says something about the time that is left


@dataclass(frozen=True)
class Standing:
    """How far work has come at one moment.

    Attributes
    ----------
    words : what is done now, or how much is done
    share : which share is done, None if that is not known
    left : in words how long the rest takes, empty if that is not known
    now : what runs at the moment
    """

    words: str
    share: float | None = None
    left: str = ""
    now: tuple[str, ...] = ()


def clock(seconds: float) -> str:
    """Seconds as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


class Told:
    """Work that tells how far it has come."""

    def __init__(self, words: str) -> None:
        self._words, self._share = words, 0.0
        self._begun = time.monotonic()

    def tell(self, words: str) -> None:
        """Take note of what is done now."""
        self._words = words

    def done(self, share: float) -> None:
        """Take note of the share that is done."""
        self._share = min(max(share, self._share), 1.0)

    def standing(self) -> Standing:
        share, spent_s = self._share, time.monotonic() - self._begun
        left = ""
        if share and spent_s > TIME_TO_TELL_S:
            left = f"about {clock(spent_s * (1 - share) / share)} left"
        return Standing(self._words, share or None, left)
