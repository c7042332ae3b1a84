"""Gambit's methods for Nash equilibria, through pygambit, which is never required.

:mod:`.methods` is the table of the methods, :class:`GambitGame` a game that has gone there.
"""

from .conversion import GambitGame, to_gambit

__all__ = ["GambitGame", "to_gambit"]
