"""Section 6 and Table 4 in exact arithmetic: strategies of different equilibria together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from eqbench.equilibria.expressions import compile_expression
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import HALF, KAPPA, QUARTER, ZERO, Values, measured

_C33 = [Fraction(k, 32) for k in (0, 4, 8, 14, 16, 24, 28, 30, 32)]
_SPREAD = [Fraction(k, 16) for k in range(5)]
_NO_BLUFFS = dict.fromkeys(("b11", "b21", "b23", "b32"), ZERO)


def _with(second: Mapping[str, Fraction], *, c33: Fraction = HALF, c11: Fraction = ZERO) -> Values:
    return family.member({**second, "c11": c11, "c33": c33})


def selection(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Worst cases of players 2 and 3 within the family, and the combinations that §6 names."""
    groups = ("table_4", "table_4_c33", "ends", "both_quarter", "least_bluffs")
    return {
        **{name: family.measured_group(family.PROFILES[name]) for name in groups},
        **family.measured_group(family.PROFILES["single"]),
        "alone": {c11: family.measured_group(own) for c11, own in family.PROFILES["alone"].items()},
        "second": _worst_of_second(),
        "third": _worst_of_third(),
        "equal_bluffs": _equal_bluffs(),
        "slopes_of_u3": _slopes(),
    }


def _seconds() -> Iterator[Values]:
    """Strategies of player 2 from all sub-families, as their free parameters.

    A lattice of b11 and b21 with b23 and b32 at both ends, and the corner that it misses.
    """
    for b11, b21 in [*product(_SPREAD, _SPREAD), (Fraction(1, 6), Fraction(1, 6))]:
        high = b21 <= min(b11, HALF - 2 * b11)
        if b11 <= b21 or high:
            b23s = {ZERO, family.largest_b23(b11, b21)} if high else {ZERO}
            for b23, b32 in product(sorted(b23s), (ZERO, family.largest_b32(b11, b21))):
                yield {"b11": b11, "b21": b21, "b23": b23, "b32": b32}


def _payoff(second: Values, player: int, c11: Fraction) -> Fraction:
    return Fraction(measured(_with(second, c11=c11)).payoffs[player])


def _worst_of_second() -> dict[str, Any]:
    """Worst case of each strategy of player 2 over player 3's c11, at the ends of its range.

    Payoffs are affine in c11 and do not depend on c33 and c34, since player 1 never bets.
    """
    rows = []
    for second in _seconds():
        low, high = (_payoff(second, 1, c11) for c11 in (ZERO, HALF))
        kind = "b23_positive" if second["b23"] else "unequal_b23_0"
        kind = "equal" if second["b11"] == second["b21"] else kind
        weight = 4 * KAPPA * second["b23"] * (1 - second["b21"])
        rows.append((kind, min(low, high), 2 * (high - low), weight))
    worst = [row[1] for row in rows]
    return {
        "strategies": len(rows),
        "best_worst": str(max(worst) / KAPPA),
        **{
            name: [
                sum(kind == name for kind, *_ in rows),
                sum(kind == name and own == -KAPPA / 2 for kind, own, *_ in rows),
            ]
            for name in ("equal", "unequal_b23_0", "b23_positive")
        },
        "slopes_as_formula": sum(slope == weight for *_, slope, weight in rows),
        "slopes_zero": sum(slope == 0 for *_, slope, _ in rows),
    }


def _worst_of_third() -> dict[str, Any]:
    """Worst case of player 3 with several c11 over the strategies of player 2."""
    return {
        str(c11): {
            "worst": str(min(_payoff(second, 2, c11) for second in _seconds()) / KAPPA),
            "against_nothing": str(_payoff(_NO_BLUFFS, 2, c11) / KAPPA),
        }
        for c11 in (ZERO, QUARTER, HALF)
    }


def _equal_bluffs() -> dict[str, Any]:
    """Player 2 with b11 = b21 and player 3 with c11 = 0, whatever b32, c33 and c34 they have."""
    found: Counter[str] = Counter(inside=0, inside_zero=0, beyond=0, beyond_first=0, others=0)
    payoffs = set()
    for bluff in _SPREAD:
        top = family.largest_b32(bluff, bluff)
        for b32, c34 in product((ZERO, HALF, top), (ZERO, family.ONE)):
            for c33 in sorted({*_C33, family.lowest_c33(b32), top - b32}):
                second = {"b11": bluff, "b21": bluff, "b32": b32, "c34": c34}
                result = measured(_with(second, c33=c33))
                inside = HALF - b32 <= c33 <= top - b32
                found["inside" if inside else "beyond"] += 1
                found["inside_zero"] += inside and result.max_regret == 0
                found["beyond_first"] += not inside and result.regrets[0] > 0
                found["others"] += any(result.regrets[1:])
                payoffs.add(str(result.payoffs[1] / KAPPA))
    return dict(found) | {"u2": sorted(payoffs)}


def _slopes() -> dict[str, Any]:
    """Partial derivatives of (3) at c11 = 0 by player 2's free parameters, over its strategies.

    The equation is linear in each parameter, so that differences from 0 to 1 are derivatives.
    """
    utility = compile_expression(" ".join(family.PRINTED["u3"].split()), exact=True)
    own = {name: value for name, value in _with(_NO_BLUFFS).items() if name[0] == "c"}
    profiles = [_with(second) | own for second in _seconds()]
    found = {}
    for name in ("b11", "b21", "b23", "b32"):
        slopes = [utility(v | {name: family.ONE}) - utility(v | {name: ZERO}) for v in profiles]
        found[name] = {"least": str(min(slopes)), "most": str(max(slopes))}
    return {"strategies": len(profiles), "by": found}


def allowed(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """For each player of Table 4 a member of the family with its strategy, and its regrets."""
    members = {who: family.named(text) for who, text in family.PROFILES["allowed"].items()}
    return {
        player: {
            "own": {name: str(values[name]) for name, (who, _) in places if who == player},
            "regrets": family.regrets_and_payoffs(values)["regrets"],
        }
        for places in [family.places().items()]
        for player, values in members.items()
    }
