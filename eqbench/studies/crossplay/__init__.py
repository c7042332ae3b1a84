"""Players whose strategies come from different equilibria; begin with `study`."""
