"""Equilibria in rationals, with regret exactly 0."""
