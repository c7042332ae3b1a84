"""Solvers of OpenSpiel as peers (peers.py), and profiles to and from its tabular policies."""

from .matching import profile_of_policy, tabular_policy

__all__ = ["profile_of_policy", "tabular_policy"]
