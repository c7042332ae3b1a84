"""The encyclopedia article on Kuhn poker: two players, and the family for three in a nutshell."""

from eqbench.studies.reproduction.claims import Source
from eqbench.studies.reproduction.encyclopedia.jobs import JOBS
from eqbench.studies.reproduction.encyclopedia.three_players import THREE_PLAYERS
from eqbench.studies.reproduction.encyclopedia.two_players import EQUILIBRIA, RULES, TREE

SOURCE = Source(
    name="encyclopedia",
    citation="Wikipedia, Kuhn poker",
    jobs=JOBS,
    parts=(RULES, EQUILIBRIA, TREE, THREE_PLAYERS),
)
