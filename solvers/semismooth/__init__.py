"""Semismooth Newton method on the complementarity system in sequence form."""
