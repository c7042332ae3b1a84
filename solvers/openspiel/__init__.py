"""Solvers of OpenSpiel as peers, and profiles to and from its tabular policies."""

from .peers import CFR, XFP, CFRPlus, ExternalSampling
from .policies import profile_of_policy, tabular_policy

__all__ = ["CFR", "XFP", "CFRPlus", "ExternalSampling", "profile_of_policy", "tabular_policy"]
