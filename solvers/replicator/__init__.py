"""Replicator dynamics of extensive-form games, in log-odds of behavior frequencies."""

from .replicator import Replicator

__all__ = ["Replicator"]
