"""Regularized arclength continuation (Billingham 2018)."""

from .arclength import Arclength

__all__ = ["Arclength"]
