"""Table 4: a profile whose strategies belong to different equilibria."""

from __future__ import annotations

from fractions import Fraction

from eqbench.papers.claims import Claim, Part, Reading, holds
from eqbench.papers.stored import Stored
from eqbench.papers.szafron.notation import PLACES, in_kappa
from eqbench.papers.szafron.readings import Read

_TABLE_4 = {
    **{"a11": "0", "b11": "1/4", "c11": "0", "a21": "0", "b21": "0", "c21": "1/2"},
    **{"a22": "0", "b22": "0", "c22": "0", "a23": "0", "b23": "1/8", "c23": "0"},
    **{"a31": "0", "b31": "0", "c31": "0", "a32": "0", "b32": "0", "c32": "0"},
    **{"a33": "1/2", "b33": "5/8", "c33": "1/4", "a34": "0", "b34": "0", "c34": "0"},
    **{"a41": "0", "b41": "1/2", "c41": "1"},
}
_COLUMNS = {"a": "P1", "b": "P2", "c": "P3"}
_UTILITIES = {
    "P1": ("−κ/2", Fraction(-1, 48)),
    "P2": ("−κ(1/2 + β)", Fraction(-1, 32)),
    "P3": ("κ(1 + β)", Fraction(5, 96)),
}


def _entry(name: str, theirs: str) -> Read:
    """A parameter of Table 4, which must be that of its player in some member of the family."""

    def read(stored: Stored) -> Reading:
        player, label = PLACES[name]
        document = stored["rules"].json("table_4.json")["behavior"][player][label]
        used = document["call" if "B" in label else "bet"]
        found = stored["allowed"].summary[player]
        own, regrets = found["own"][name], found["regrets"]
        return holds(
            used == theirs == own and regrets == ["0"] * 3,
            f"{own} in the member with {found['where']}: exact regrets {', '.join(regrets)}",
            f"{used} was measured; {own} with {found['where']}, regrets {', '.join(regrets)}",
        )

    return read


def _payoff(player: int, theirs: Fraction) -> Read:
    def read(stored: Stored) -> Reading:
        ours = Fraction(stored["table_4"].printed_json["exact"]["payoffs"][player])
        by = f"{ours - theirs} more"
        return holds(ours == theirs, f"{ours} = {in_kappa(ours)}, with β = 1/4", by)

    return read


TABLE_4 = Part(
    title="Table 4: strategies of different equilibria together",
    claims=(
        *(
            Claim(name, _COLUMNS[name[0]], theirs, _entry(name, theirs))
            for name, theirs in _TABLE_4.items()
        ),
        *(
            Claim("utility", player, theirs, _payoff(k, value))
            for k, (player, (theirs, value)) in enumerate(_UTILITIES.items())
        ),
    ),
    note=(
        "The printed profile was measured exactly. That each of its players follows a strategy of "
        "the family is shown by a member with all parameters of that player, whose exact regrets "
        "are 0."
    ),
)

PARTS = (TABLE_4,)
