"""Lemke's algorithm on the sequence form of two-player games."""

from .lemke import LCP

__all__ = ["LCP"]
