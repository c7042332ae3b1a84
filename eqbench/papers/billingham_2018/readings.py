"""What the parts ask of the stored jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from eqbench.model.tree import FloatArray
from eqbench.papers.claims import Claim, Picture, Reading
from eqbench.papers.stored import NotStoredError, Stored

# As a share of the payoff range, what rounding may leave of a regret.
EXACT = 1e-12


def deck(stored: Stored, cards: int) -> dict[str, Any]:
    """Facts about the branch with so many cards."""
    job = "branches" if cards < 20 else "large_branches"
    entry: dict[str, Any] = next(e for e in stored[job].summary["decks"] if e["cards"] == cards)
    return entry


def at(stored: Stored, job: str, pot: float) -> dict[str, Any]:
    """What a trace found at one pot.

    Raises
    ------
    NotStoredError
        If the branch did not come there.
    """
    for entry in stored[job].summary["at"]:
        if entry["parameter"] == pot:
            found: dict[str, Any] = entry
            return found
    raise NotStoredError(f"the branch of {job} did not come to a pot of {pot:g}")


def worst_regret(entry: dict[str, Any]) -> float:
    """The largest regret among the equilibria at one pot."""
    return max((abs(item["max_regret"]) for item in entry["equilibria"]), default=float("inf"))


class Payoffs(NamedTuple):
    """Pots (K,) and payoffs (K, 3) along a branch."""

    pots: FloatArray
    payoffs: FloatArray


def payoffs(stored: Stored, job: str) -> Payoffs:
    """Payoffs along a traced branch."""
    rows = stored[job].rows()
    names = [f"u:P{player}" for player in (1, 2, 3)]
    table = np.array([[float(row[name]) for name in ("parameter", *names)] for row in rows])
    return Payoffs(table[:, 0], table[:, 1:])


def statement(row: str, theirs: str, read: Callable[[Stored], Reading]) -> Claim:
    """A claim in a part that is a list of statements."""
    return Claim(row, "", theirs, read)


def drawn(title: str, caption: str, job: str, file: str) -> Picture:
    """A picture that a job left as a file."""

    def svg(stored: Stored) -> str:
        return stored[job].text(file)

    return Picture(title, caption, svg)


def rounding(value: float) -> str:
    """A figure that is 0 but for rounding as 0, any other with two digits."""
    return "0" if abs(value) <= EXACT else f"{value:.1e}" if abs(value) < 1e-4 else f"{value:.2g}"


def spans(pairs: list[list[float]], digits: int = 5) -> str:
    """Intervals as text."""
    return ", ".join(" to ".join(f"{end:.{digits}g}" for end in pair) for pair in pairs)


def card_list(cards: list[int]) -> str:
    """Cards as text."""
    return ", ".join(map(str, cards))
