"""Named profiles, and §6 in exact arithmetic: strategies of different equilibria together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

from eqbench.equilibria.expressions import compile_expression
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import HALF, KAPPA, ONE, QUARTER, ZERO, Values

_C11 = {"0": ZERO, "0.25": QUARTER, "0.5": HALF}
_C33 = [Fraction(k, 32) for k in (0, 4, 8, 14, 16, 24, 28, 30, 32)]
_SPREAD = [Fraction(k, 16) for k in range(5)]


def selection(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Named profiles, and worst cases of players 2 and 3 within the family."""
    found = family.measured_group(family.PROFILES["measured"])
    payoffs = [
        (
            second,
            {key: family.measured(_with(second, c11=c11)).payoffs for key, c11 in _C11.items()},
        )
        for second in _seconds()
    ]
    return found | {
        "second": _worst_of_second(payoffs),
        "third": {key: str(min(own[key][2] for _, own in payoffs) / KAPPA) for key in _C11},
        "equal bluffs": _equal_bluffs(),
        "slopes of u3": _slopes(),
    }


def _with(second: Mapping[str, Fraction], *, c33: Fraction = HALF, c11: Fraction = ZERO) -> Values:
    return family.member({**second, "c11": c11, "c33": c33})


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


def _worst_of_second(payoffs: list[tuple[Values, dict[str, Any]]]) -> dict[str, Any]:
    """Worst case of each strategy of player 2 over player 3's c11, at the ends of its range.

    Payoffs are affine in c11 and do not depend on c33 and c34, since player 1 never bets.
    """
    worst, slopes = [], []
    kinds: dict[str, list[Fraction]] = {"equal": [], "unequal b23 0": [], "b23 positive": []}
    for second, own in payoffs:
        low, high = own["0"][1] / KAPPA, own["0.5"][1] / KAPPA
        kind = "b23 positive" if second["b23"] else "unequal b23 0"
        kinds["equal" if second["b11"] == second["b21"] else kind].append(min(low, high))
        worst.append(min(low, high))
        slopes.append((2 * (high - low), 4 * second["b23"] * (1 - second["b21"])))
    return {
        "strategies": len(worst),
        "best worst": str(max(worst)),
        **{kind: [len(own), sum(each == -HALF for each in own)] for kind, own in kinds.items()},
        "slopes as formula": sum(slope == formula for slope, formula in slopes),
        "slopes zero": sum(slope == 0 for slope, _ in slopes),
    }


def _equal_bluffs() -> dict[str, Any]:
    """Player 2 with b11 = b21 and player 3 with c11 = 0, whatever b32, c33 and c34 they have."""
    found: Counter[str] = Counter({"inside": 0, "inside zero": 0, "beyond": 0, "beyond first": 0})
    payoffs, others = set(), 0
    for bluff in _SPREAD:
        top = family.largest_b32(bluff, bluff)
        for b32, c34 in product((ZERO, HALF, top), (ZERO, ONE)):
            for c33 in sorted({*_C33, family.lowest_c33(b32), top - b32}):
                second = {"b11": bluff, "b21": bluff, "b32": b32, "c34": c34}
                result = family.measured(_with(second, c33=c33))
                if HALF - b32 <= c33 <= top - b32:
                    found.update({"inside": 1, "inside zero": result.max_regret == 0})
                else:
                    found.update({"beyond": 1, "beyond first": result.regrets[0] > 0})
                others += any(result.regrets[1:])
                payoffs.add(str(result.payoffs[1] / KAPPA))
    return dict(found) | {"others": others, "u2": sorted(payoffs)}


def _slopes() -> dict[str, Any]:
    """Partial derivatives of (3) at c11 = 0 by player 2's free parameters, over its strategies.

    The equation is linear in each parameter, so that differences from 0 to 1 are derivatives.
    """
    utility = compile_expression(" ".join(family.PRINTED["u3"].split()), exact=True)
    own = {name: value for name, value in family.named("").items() if name[0] == "c"}
    profiles = [_with(second) | own for second in _seconds()]
    found = {}
    for name in ("b11", "b21", "b23", "b32"):
        slopes = [utility(v | {name: ONE}) - utility(v | {name: ZERO}) for v in profiles]
        found[name] = {"least": str(min(slopes)), "most": str(max(slopes))}
    return {"strategies": len(profiles), "by": found}
