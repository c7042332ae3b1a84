"""The independent verifier: payoffs, best responses and regrets measured on the tree.

It reads the tree's nodes, not the sequence form, and shares no arithmetic with the kernels
that solvers use.
"""

from eqbench.model.trembles import Trembles
from eqbench.verification.beliefs import (
    Credibility,
    Reached,
    SetVerdict,
    credibility,
    credible_text,
)
from eqbench.verification.certificate import (
    Allowance,
    affordable_credibility,
    affordable_play,
    certify,
)
from eqbench.verification.dominance import advantage, dominated_actions, proves_undominated
from eqbench.verification.exact import Verification, verify_exactly
from eqbench.verification.play import Play
from eqbench.verification.regularity import index_of, proved_incomplete, quasi_strict
from eqbench.verification.subgames import SubgameRegrets, subgame_perfect
from eqbench.verification.trembles import Proof, Sequential, contradict, sequential
from eqbench.verification.verifier import (
    DEFAULT_TOLERANCE,
    UNRESOLVED,
    Verifier,
    beyond_floats,
    exact_refutation,
    refutation,
    verify,
)

__all__ = [
    "DEFAULT_TOLERANCE",
    "UNRESOLVED",
    "Allowance",
    "Credibility",
    "Play",
    "Proof",
    "Reached",
    "Sequential",
    "SetVerdict",
    "SubgameRegrets",
    "Trembles",
    "Verification",
    "Verifier",
    "advantage",
    "affordable_credibility",
    "affordable_play",
    "beyond_floats",
    "certify",
    "contradict",
    "credibility",
    "credible_text",
    "dominated_actions",
    "exact_refutation",
    "index_of",
    "proved_incomplete",
    "proves_undominated",
    "quasi_strict",
    "refutation",
    "sequential",
    "subgame_perfect",
    "verify",
    "verify_exactly",
]
