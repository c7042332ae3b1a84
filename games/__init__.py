"""Built-in game families, installed as `eqbench.games`; one file per family."""
