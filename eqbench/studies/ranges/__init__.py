"""Payoffs and frequencies over all equilibria of a game; begin with `request`."""
