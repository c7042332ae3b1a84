"""Which games each of Gambit's methods gets done with, as far as tests in one process go.

Gambit looks at no clock: it can be stopped in callbacks only, and some methods have none or
come to none. The harness kills them; a test that runs them in its own process cannot.
"""

from __future__ import annotations

_CLASSICS = ("matching_pennies", "battle_of_sexes")
_TWO_PLAYERS = (*_CLASSICS, "prisoners_dilemma")
_PATHS = (*_TWO_PLAYERS, "jordan", "kuhn2")
ENDS_ON = {
    "gambit_logit": _PATHS,
    "gambit_enumpure": _PATHS,
    "gambit_gnm": _PATHS,
    "gambit_enumpoly": _TWO_PLAYERS,
    "gambit_enummixed": _TWO_PLAYERS,
    "gambit_liap": _TWO_PLAYERS,
    "gambit_simpdiv": _TWO_PLAYERS,
    "gambit_hp": _TWO_PLAYERS,
    "gambit_ipa": _CLASSICS,
}


def ends_on(solver: str, game: str) -> bool:
    """Whether a test may run the solver on the game in its own process."""
    return solver not in ENDS_ON or game in ENDS_ON[solver]
