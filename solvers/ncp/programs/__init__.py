"""Nash equilibrium as programs with bilinear constraints; no backend is known here."""
