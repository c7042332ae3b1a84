"""Branches of regularized equilibria along a payoff parameter; begin with `study`."""
