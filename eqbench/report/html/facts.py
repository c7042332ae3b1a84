"""What a page has to know beside what runs store; whoever makes the page hands it over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PublishedPayoffs:
    """Payoffs of a published set of equilibria: those of its two ends, or of its only point."""

    name: str
    ends: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class PublishedSet:
    """Where a set of equilibria was published, and what the symbols in its members' names are."""

    name: str
    source: str
    symbols: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GameFacts:
    """What is known of a game: payoffs of published sets where these can be drawn, and sources."""

    payoff_scale: float
    published: tuple[PublishedPayoffs, ...] = ()
    sets: tuple[PublishedSet, ...] = ()
