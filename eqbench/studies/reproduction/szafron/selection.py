"""Section 6 and Table 4 in exact arithmetic: strategies of different equilibria together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.equilibria import local_dimension
from eqbench.model.game import Game
from eqbench.model.profile_json import profile_from_json
from eqbench.registry import load_game
from eqbench.studies.reproduction.szafron.certificates import measured
from eqbench.studies.reproduction.szafron.family import largest_b23
from eqbench.studies.reproduction.szafron.notation import (
    FIXED,
    HALF,
    KAPPA,
    QUARTER,
    Values,
    in_kappa,
    largest_b32,
    load_kuhn3,
    member,
)
from eqbench.verification import verify_exactly

_ZERO, _EIGHTH, _SIXTH = Fraction(0), Fraction(1, 8), Fraction(1, 6)
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
        "b21_alone": _alone(game),
        "second": _worst_of_second(game),
        "third": _worst_of_third(game),
        "equal_bluffs": {
            str(c33): _named(game, _with(_bluffs(_EIGHTH, _EIGHTH), c33=c33))
            for c33 in (QUARTER, HALF, Fraction(15, 16))
        },
        "least_bluffs": {
            str(c33): _named(game, _with(_NOTHING, c33=c33))
            for c33 in (QUARTER, HALF, Fraction(3, 4))
        },
        "slopes_of_u3": _slopes(game),
        "two_players": _two_players(),
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


def _slopes(game: Game) -> dict[str, str]:
    """How u3 changes with each free parameter of player 2 at c11 = 0, in κ."""
    start = _payoff(game, _NOTHING, 2, _ZERO)
    return {
        name: in_kappa((_payoff(game, _NOTHING | {name: _EIGHTH}, 2, _ZERO) - start) / _EIGHTH)
        for name in ("b11", "b21", "b23", "b32")
    }


def _alone(game: Game) -> dict[str, Any]:
    """A member with c11 = 0, then with b21 larger: with b33 and b41 as Table 3 has them, or not."""
    free = _bluffs(_EIGHTH, _EIGHTH) | {"b32": HALF}
    start = _with(free, c33=_ZERO)
    following = _with(free | {"b21": QUARTER}, c33=_ZERO)
    return {
        "start": _named(game, start),
        "following": _named(game, following),
        "alone": _named(game, start | {"b21": QUARTER}),
    }


def _two_players() -> dict[str, Any]:
    """Kuhn's line of two-player equilibria, by γ: exact regrets, payoffs and dimension."""
    game = load_game("kuhn2")
    rows = []
    for gamma in (Fraction(k, 6) for k in range(7)):
        profile = profile_from_json(game.tree, two_player_document(gamma))
        found = verify_exactly(game.tree, profile)
        rows.append((Fraction(found.max_regret), found.payoffs[0], profile))
    around = local_dimension(game, rows[3][2].probabilities)
    spread = np.ptp([profile.probabilities for *_, profile in rows], axis=0)
    owner = np.repeat(game.tree.infoset_player, np.diff(game.tree.action_start))
    return {
        "members": len(rows),
        "equilibria": sum(regret == 0 for regret, *_ in rows),
        "values": sorted({str(payoff) for _, payoff, _ in rows}),
        "dimension": None if around is None else around.total,
        "moving_of_second": int((spread[owner == 1] > 0).sum()),
    }


def two_player_document(gamma: Fraction) -> dict[str, Any]:
    """Kuhn's equilibrium in which the first player bets the highest card with frequency γ."""
    third = Fraction(1, 3)
    first = {1: (gamma / 3, _ZERO), 2: (_ZERO, (gamma + 1) / 3), 3: (gamma, Fraction(1))}
    second = {1: (third, _ZERO), 2: (_ZERO, third), 3: (Fraction(1), Fraction(1))}

    def row(meek: str, bold: str, frequency: Fraction) -> dict[str, str]:
        return {meek: str(1 - frequency), bold: str(frequency)}

    behavior: dict[str, Any] = {"P1": {}, "P2": {}}
    for card in (1, 2, 3):
        bet, call = first[card]
        behavior["P1"] |= {
            f"{card}:": row("check", "bet", bet),
            f"{card}:KB": row("fold", "call", call),
        }
        bet, call = second[card]
        behavior["P2"] |= {
            f"{card}:K": row("check", "bet", bet),
            f"{card}:B": row("fold", "call", call),
        }
    return {"behavior": behavior}


def allowed(folder: Path, jobs: Path, *, full: bool) -> dict[str, str]:
    """What Table 3 allows each parameter of Table 4, for the sub-family of its player.

    Player 2's is c11 = 1/2, with the printed b11, b21 and b23; player 3's is c11 = 0, with any
    player 2 of a member.
    """
    values = table_4_values()
    b11, b21 = values["b11"], values["b21"]
    ranges = {
        "b11": QUARTER,
        "b21": min(b11, HALF - 2 * b11),
        "b23": largest_b23(b11, b21),
        "b32": largest_b32(b11, b21),
        "c33": largest_b32(QUARTER, QUARTER),
        "c34": Fraction(1),
    }
    fixed = FIXED | {
        "b33": HALF + b11 + b21 / 2 - values["b23"] * (1 - b21),
        "b41": 2 * b11 + 2 * b21,
        "c11": _ZERO,
        "c21": HALF,
    }
    return {name: str(value) for name, value in fixed.items()} | {
        name: f"0 to {most}" for name, most in ranges.items()
    }
