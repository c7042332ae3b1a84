"""Section 6 and Table 4 in exact arithmetic: strategies of different equilibria together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from eqbench.model.game import Game
from eqbench.papers.szafron.certificates import measured
from eqbench.papers.szafron.family import largest_b23
from eqbench.papers.szafron.notation import (
    HALF,
    KAPPA,
    PLACES,
    QUARTER,
    Values,
    in_kappa,
    largest_b32,
    load_kuhn3,
    member,
)
from eqbench.papers.szafron.polynomials import parsed
from eqbench.papers.szafron.printed_formulas import U3

_ZERO, _EIGHTH, _SIXTH = Fraction(0), Fraction(1, 8), Fraction(1, 6)
_C33 = [Fraction(k, 32) for k in (0, 4, 8, 14, 16, 24, 28, 30, 32)]
_SPREAD = [Fraction(k, 16) for k in range(5)]
_NOTHING = {"b11": _ZERO, "b21": _ZERO, "b23": _ZERO, "b32": _ZERO}


def compute(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Worst cases of players 2 and 3 within the family, and the combinations that §6 names."""
    game = load_kuhn3()
    return {
        "table_4": {
            str(beta): _named(game, _with(_table_4(beta), c33=QUARTER))
            for beta in (QUARTER, _EIGHTH, _ZERO)
        },
        "table_4_c33": {
            str(c33): _named(game, _with(_table_4(QUARTER), c33=c33))
            for c33 in (HALF, Fraction(11, 16), Fraction(3, 4))
        },
        "table_4_answer": _named(game, _with(_NOTHING, c33=QUARTER)),
        "ends": {
            name: _named(game, _with(free, c33=HALF))
            for name, free in (
                ("β = 0", _NOTHING),
                ("β = 1/4", _NOTHING | {"b11": QUARTER, "b21": QUARTER}),
            )
        },
        "both_quarter": {
            str(c11): _named(game, _with(_bluffs(QUARTER, QUARTER), c11=c11, c33=HALF))
            for c11 in (_ZERO, QUARTER, Fraction(7, 16), Fraction(15, 32), HALF)
        },
        "one_quarter": _named(game, _with(_bluffs(QUARTER, _ZERO), c11=HALF, c33=HALF)),
        "alone": _alone(game),
        "second": _worst_of_second(game),
        "third": _worst_of_third(game),
        "equal_bluffs": _equal_bluffs(game),
        "least_bluffs": {
            str(c33): _named(game, _with(_NOTHING, c33=c33))
            for c33 in (QUARTER, HALF, Fraction(3, 4))
        },
        "slopes_of_u3": _slopes(list(_seconds())),
    }


def table_4_values() -> Values:
    """The profile that Table 4 prints, with Table 2."""
    return _with(_table_4(QUARTER), c33=QUARTER)


def _table_4(beta: Fraction) -> Values:
    return _NOTHING | {"b11": beta, "b23": beta / 2}


def _bluffs(b11: Fraction, b21: Fraction) -> Values:
    return _NOTHING | {"b11": b11, "b21": b21}


def _with(second: Mapping[str, Fraction], *, c33: Fraction, c11: Fraction = _ZERO) -> Values:
    return member({**second, "c11": c11, "c33": c33})


def _named(game: Game, values: Values) -> dict[str, list[str]]:
    found = measured(game, values)
    return {
        "payoffs": [in_kappa(Fraction(value)) for value in found.payoffs],
        "regrets": [in_kappa(Fraction(value)) for value in found.regrets],
    }


def _seconds() -> Iterable[Values]:
    """Strategies of player 2 from all sub-families, as their free parameters.

    A lattice of b11 and b21 with b23 and b32 at both ends, and the corner that it misses.
    """
    pairs = [*product(_SPREAD, _SPREAD), (_SIXTH, _SIXTH)]
    for b11, b21 in pairs:
        high = b21 <= min(b11, HALF - 2 * b11)
        if b11 > b21 and not high:
            continue
        b23s = {_ZERO, largest_b23(b11, b21)} if high else {_ZERO}
        for b23, b32 in product(sorted(b23s), (_ZERO, largest_b32(b11, b21))):
            yield {"b11": b11, "b21": b21, "b23": b23, "b32": b32}


def _payoff(game: Game, second: Values, player: int, c11: Fraction) -> Fraction:
    return Fraction(measured(game, _with(second, c11=c11, c33=HALF)).payoffs[player])


def _worst_of_second(game: Game) -> dict[str, Any]:
    """Worst case of each strategy of player 2 over player 3's c11, at the ends of its range.

    Payoffs are affine in c11 and do not depend on c33 and c34, since player 1 never bets.
    """
    rows = []
    for second in _seconds():
        ends = [_payoff(game, second, 1, c11) for c11 in (_ZERO, HALF)]
        weight = second["b23"] * (1 - second["b21"])
        rows.append((second, min(ends), (ends[1] - ends[0]) / HALF, weight))
    equal = [worst for second, worst, _, _ in rows if second["b11"] == second["b21"]]
    unequal = [
        worst
        for second, worst, _, _ in rows
        if second["b11"] != second["b21"] and not second["b23"]
    ]
    calling = [worst for second, worst, _, _ in rows if second["b23"]]
    return {
        "strategies": len(rows),
        "best_worst": in_kappa(max(worst for _, worst, _, _ in rows)),
        "equal": [len(equal), sum(worst == -KAPPA / 2 for worst in equal)],
        "unequal_b23_0": [len(unequal), sum(worst == -KAPPA / 2 for worst in unequal)],
        "b23_positive": [len(calling), sum(worst == -KAPPA / 2 for worst in calling)],
        "least": in_kappa(min(worst for _, worst, _, _ in rows)),
        "slopes_as_formula": sum(slope == 4 * KAPPA * weight for _, _, slope, weight in rows),
        "slopes_zero": sum(slope == 0 for _, _, slope, _ in rows),
    }


def _worst_of_third(game: Game) -> dict[str, Any]:
    """Worst case of player 3 with several c11 over the strategies of player 2."""
    found = {}
    for c11 in (_ZERO, QUARTER, HALF):
        payoffs = [_payoff(game, second, 2, c11) for second in _seconds()]
        found[str(c11)] = {
            "worst": in_kappa(min(payoffs)),
            "against_nothing": in_kappa(_payoff(game, _NOTHING, 2, c11)),
        }
    return found


def _alone(game: Game) -> dict[str, Any]:
    """Transfers by the one parameter that the text names for each c11, from 1/8 to 3/16.

    With b33 and b41 following by Table 3, without them, and with both bluffs raised.
    """
    start, more = _bluffs(_EIGHTH, _EIGHTH) | {"b32": HALF}, Fraction(3, 16)
    found: dict[str, Any] = {}
    for c11, name in ((_ZERO, "b21"), (QUARTER, "b11"), (HALF, "b11")):
        before = _with(start, c33=_ZERO, c11=c11)
        both = start | {"b11": more, "b21": more}
        found[str(c11)] = {
            "start": _named(game, before),
            "following": _named(game, _with(start | {name: more}, c33=_ZERO, c11=c11)),
            "alone": _named(game, before | {name: more}),
            "both": _named(game, _with(both, c33=_ZERO, c11=c11)),
        }
    return found


def _equal_bluffs(game: Game) -> dict[str, Any]:
    """Player 2 with b11 = b21 and player 3 with c11 = 0, whatever b32, c33 and c34 they have."""
    found: dict[str, Any] = Counter(inside=0, inside_zero=0, beyond=0, beyond_first=0, others=0)
    payoffs, most = set(), _ZERO
    for bluff in _SPREAD:
        top = largest_b32(bluff, bluff)
        places = [
            (b32, c33, c34)
            for b32, c34 in product((_ZERO, HALF, top), (_ZERO, Fraction(1)))
            for c33 in sorted({*_C33, max(HALF - b32, _ZERO), top - b32})
        ]
        for b32, c33, c34 in places:
            second = _bluffs(bluff, bluff) | {"b32": b32, "c34": c34}
            result = measured(game, _with(second, c33=c33))
            inside = HALF - b32 <= c33 <= top - b32
            first, *rest = (Fraction(regret) for regret in result.regrets)
            found["inside" if inside else "beyond"] += 1
            found["inside_zero"] += inside and result.max_regret == 0
            found["beyond_first"] += not inside and first > 0
            found["others"] += any(rest)
            payoffs.add(in_kappa(Fraction(result.payoffs[1])))
            most = max(most, first)
    return dict(found) | {"u2": sorted(payoffs), "most": in_kappa(most)}


def _slopes(seconds: list[Values]) -> dict[str, Any]:
    """Partial derivatives of (3) at c11 = 0 by player 2's free parameters, over its strategies."""
    third = {name: value for name, value in _with(_NOTHING, c33=HALF).items() if name[0] == "c"}
    utility = parsed(U3, {}).at(third)
    found = {}
    for name in ("b11", "b21", "b23", "b32"):
        slope = utility.derivative(name)
        values = [slope.value(_with(second, c33=HALF)) for second in seconds]
        found[name] = {"formula": str(slope), "least": str(min(values)), "most": str(max(values))}
    return {"strategies": len(seconds), "by": found}


def allowed(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """For each player of Table 4 a member of the family with its strategy: what it is, regrets."""
    game, bluffs = load_kuhn3(), _table_4(QUARTER)
    second = _with(bluffs, c33=HALF, c11=HALF)
    third = _with(_NOTHING | {"b32": QUARTER}, c33=QUARTER)
    members = {
        "P1": ("c11 = 0, b11 = b21 = 0, b32 = 1/4, c33 = 1/4", third),
        "P2": ("c11 = c33 = 1/2", second),
        "P3": ("b11 = b21 = 0, b32 = 1/4", third),
    }
    return {
        player: {
            "where": where,
            "own": {name: str(values[name]) for name in values if PLACES[name][0] == player},
            "regrets": _named(game, values)["regrets"],
        }
        for player, (where, values) in members.items()
    }
