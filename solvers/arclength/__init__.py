"""Regularized arclength continuation (Billingham 2018)."""
