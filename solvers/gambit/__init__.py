"""Gambit's methods for Nash equilibria, through pygambit, which is never required."""

from .conversion import GambitGame, to_gambit
from .enumeration import EnumMixed, EnumPoly, EnumPure
from .logit import Logit, LogitPath
from .strategic import GNM, HP, IPA, Liap, Simpdiv
from .two_players import LCP, LP

__all__ = [
    "GNM",
    "HP",
    "IPA",
    "LCP",
    "LP",
    "EnumMixed",
    "EnumPoly",
    "EnumPure",
    "GambitGame",
    "Liap",
    "Logit",
    "LogitPath",
    "Simpdiv",
    "to_gambit",
]
