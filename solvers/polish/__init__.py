"""From a profile near an equilibrium to the equilibrium, by Newton's method on a support."""
