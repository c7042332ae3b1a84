"""Solvers of OpenSpiel as peers, and profiles to and from its tabular policies."""

from .matching import profile_of_policy, tabular_policy
from .peers import CFR, XFP, CFRPlus, ExternalSampling

__all__ = ["CFR", "XFP", "CFRPlus", "ExternalSampling", "profile_of_policy", "tabular_policy"]
