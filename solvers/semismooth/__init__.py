"""Semismooth Newton method on the complementarity system in sequence form."""

from .semismooth import Semismooth

__all__ = ["Semismooth"]
