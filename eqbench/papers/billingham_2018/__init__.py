"""Billingham 2018: regularization and arclength continuation for three-player Kuhn poker."""

from __future__ import annotations

from eqbench.papers.billingham_2018.figure_10 import FIGURE_10, MEDIA
from eqbench.papers.billingham_2018.four import FOUR
from eqbench.papers.billingham_2018.game import GAME, NUMBERS, P_MIN
from eqbench.papers.billingham_2018.jobs import JOBS
from eqbench.papers.billingham_2018.many import CONCLUSIONS, LARGE
from eqbench.papers.billingham_2018.method import APPENDIX, METHOD
from eqbench.papers.billingham_2018.multiplicity import MULTIPLICITY
from eqbench.papers.billingham_2018.skp import SKP
from eqbench.papers.billingham_2018.small_decks import FIVE, TEN
from eqbench.papers.billingham_2018.strategies import RANGES
from eqbench.papers.claims import Source

SOURCE = Source(
    name="billingham_2018",
    citation="John Billingham, Equilibrium solutions of three player Kuhn poker with N>3 cards: A "
    "new numerical method using regularization and arc-length continuation, 2018, arXiv:1802.04670",
    jobs=JOBS,
    parts=(
        GAME,
        NUMBERS,
        RANGES,
        P_MIN,
        METHOD,
        SKP,
        TEN,
        FOUR,
        FIVE,
        FIGURE_10,
        MEDIA,
        MULTIPLICITY,
        LARGE,
        CONCLUSIONS,
        APPENDIX,
    ),
)
