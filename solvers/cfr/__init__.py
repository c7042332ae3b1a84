"""Counterfactual regret minimization (CFR) and its variants, for any number of players."""
