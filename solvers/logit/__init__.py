"""Branches of logit quantal response equilibria, and the equilibria at their ends."""

from .logit import Logit

__all__ = ["Logit"]
