"""All equilibria: of two players as polytopes, of more as points in certified boxes."""
