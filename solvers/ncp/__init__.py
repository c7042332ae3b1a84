"""Equilibria by programs with bilinear constraints, on interchangeable backends."""

from .ncp import MIP, NCP

__all__ = ["MIP", "NCP"]
