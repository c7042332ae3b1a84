"""eqbench: which equilibria does each method find, how good are they, what did they cost?"""
