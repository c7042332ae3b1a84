"""Which regime a trajectory is in: periodic, quasi-periodic, chaotic, absorbed, or undecided."""

from eqbench.studies.regimes.classify import LEAST_TIMES, classify
from eqbench.studies.regimes.limits import NEAR_FACE
from eqbench.studies.regimes.regime import WORDS, Component, Regime, SpectralLine, Window

# What a study follows by default, in units of time of the flow: three-player Kuhn poker with
# few cards moves with periods from 5 on, and some of its transients last for 1e4.
HORIZON = 10_000.0
SPACING = 0.25

__all__ = [
    "HORIZON",
    "LEAST_TIMES",
    "NEAR_FACE",
    "SPACING",
    "WORDS",
    "Component",
    "Regime",
    "SpectralLine",
    "Window",
    "classify",
]
