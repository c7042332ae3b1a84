"""Counterfactual regret minimization (CFR) and its variants, for any number of players.

The presets `cfr`, `cfr_plus`, `cfr_linear`, `dcfr` and `pcfr_plus` are options of
:class:`CFR`, which visits the whole game in every iteration; `mccfr` is
:class:`ExternalSampling`. With two players and constant sum the average profile converges to
an equilibrium. Otherwise nothing is promised, and the verified regret decides.
"""

from .methods import CFR, ExternalSampling

__all__ = ["CFR", "ExternalSampling"]
