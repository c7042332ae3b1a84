"""Gambit's methods for Nash equilibria, through pygambit, which is never required."""

from .conversion import GambitGame, to_gambit
from .methods import (
    GNM,
    HP,
    IPA,
    LCP,
    LP,
    EnumMixed,
    EnumPoly,
    EnumPure,
    Liap,
    Logit,
    LogitPath,
    Simpdiv,
)

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
