"""The encyclopedia article on Kuhn poker: two players, and the family for three in a nutshell."""

from __future__ import annotations

from eqbench.papers.claims import Source
from eqbench.papers.encyclopedia.jobs import JOBS
from eqbench.papers.encyclopedia.three_players import THREE_PLAYERS
from eqbench.papers.encyclopedia.two_players import EQUILIBRIA, RULES, TREE

SOURCE = Source(
    name="encyclopedia",
    citation="Wikipedia, Kuhn poker",
    jobs=JOBS,
    parts=(RULES, EQUILIBRIA, TREE, THREE_PLAYERS),
)
