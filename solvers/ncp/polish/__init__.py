"""From plans near an equilibrium to the equilibrium, to rounding."""
