"""Verdicts on claimed equilibria: credible play (`beliefs`), and which kind they are (`kinds`).

The certificates are checked in `beliefs`, `trembles`, `subgames` and `dominance`, whose arithmetic
is that of the verifier; `search` seeks them by programs that nothing trusts.
"""

from eqbench.model.play import Play
from eqbench.model.trembles import Trembles
from eqbench.verdicts.beliefs import Credibility, Reached, credibility
from eqbench.verdicts.dominance import advantage, dominated_actions, proves_undominated
from eqbench.verdicts.kinds import Kind, kind_of
from eqbench.verdicts.search import PlanProof, decide, find_trembles, undominated_plan
from eqbench.verdicts.subgames import SubgameRegrets, subgame_perfect
from eqbench.verdicts.trembles import Proof, Sequential, contradict, sequential

__all__ = [
    "Credibility",
    "Kind",
    "PlanProof",
    "Play",
    "Proof",
    "Reached",
    "Sequential",
    "SubgameRegrets",
    "Trembles",
    "advantage",
    "contradict",
    "credibility",
    "decide",
    "dominated_actions",
    "find_trembles",
    "kind_of",
    "proves_undominated",
    "sequential",
    "subgame_perfect",
    "undominated_plan",
]
