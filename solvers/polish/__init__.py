"""From a profile near an equilibrium to the equilibrium itself, to rounding."""
