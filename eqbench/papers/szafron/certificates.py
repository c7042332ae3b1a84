"""Exact regrets of members of the family, and of profiles that break one entry of Table 3."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.equilibria import local_dimension
from eqbench.model.game import Game
from eqbench.papers.szafron.family import (
    Member,
    corner_members,
    largest_b23,
    largest_c11,
    random_parameters,
    sample,
)
from eqbench.papers.szafron.notation import (
    FIXED,
    HALF,
    KAPPA,
    QUARTER,
    SUB_FAMILIES,
    Values,
    in_kappa,
    is_profile,
    largest_b32,
    load_kuhn3,
    lowest_c33,
    member,
    profile,
)
from eqbench.verification import Verification, verify_exactly

STEP = Fraction(1, 64)  # how far an entry is broken
_SIXTH = Fraction(1, 6)  # for smaller b11 the bound of c11 is 1/2, where c21 is 0
FREE = ("b11", "b21", "b23", "b32", "c11", "c33", "c34")
Change = Callable[[Values], Iterable[Values]]


def compute(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Certificates, dimensions, what lies beyond each entry of Table 3, and convexity."""
    game = load_kuhn3()
    members = sample(400 if full else 60, seed=1)
    probes = sample(40 if full else 8, seed=2)
    if not full:
        # corners are many; every fifth still has those of all sub-families
        probes = [one for k, one in enumerate(probes) if k % 5 == 0 or not one.is_corner]
    return {
        "step": str(STEP),
        "certificates": {name: _certified(game, _of(members, name)) for name in SUB_FAMILIES},
        "beyond": {name: _beyond(game, probes, change) for name, change in changes().items()},
        "convexity": {name: _midpoints(game, name, full=full) for name in SUB_FAMILIES},
    }


def measured(game: Game, values: Values) -> Verification:
    """Exact payoffs and regrets of a profile given by its 48 frequencies."""
    return verify_exactly(game.tree, profile(game, values))


def expected_payoffs(values: Values) -> tuple[Fraction, Fraction, Fraction]:
    """Payoffs by the last line of Table 3."""
    beta = max(values["b11"], values["b21"])
    return -KAPPA * (HALF + beta), -KAPPA / 2, KAPPA * (1 + beta)


def _of(members: Sequence[Member], sub_family: str) -> list[Member]:
    return [one for one in members if one.sub_family == sub_family]


def _certified(game: Game, members: Sequence[Member]) -> dict[str, Any]:
    """Exact measurements of members of one sub-family, and the dimension around those inside."""
    found = [measured(game, one.values) for one in members]
    dimensions: list[int | None] = []
    for one in members:
        if not one.is_corner and len(dimensions) < 20:
            around = local_dimension(game, profile(game, one.values).probabilities)
            dimensions.append(None if around is None else around.total)
    pairs = list(zip(members, found, strict=True))
    betas = [max(one.values["b11"], one.values["b21"]) for one in members]
    u1, u2 = ([result.payoffs[player] for result in found] for player in (0, 1))
    return {
        "members": len(members),
        "corners": sum(one.is_corner for one in members),
        "equilibria": sum(result.max_regret == 0 for result in found),
        "payoffs_as_printed": [
            sum(
                result.payoffs[player] == expected_payoffs(one.values)[player]
                for one, result in pairs
            )
            for player in range(3)
        ],
        "u2": sorted({str(value) for value in u2}),
        "u1_at_most_u2": sum(a <= b for a, b in zip(u1, u2, strict=True)),
        "beta": [str(min(betas)), str(max(betas))],
        "u1": [str(min(u1)), str(max(u1))],
        "b11": str(max(one.values["b11"] for one in members)),
        "b21": str(max(one.values["b21"] for one in members)),
        "dimensions": dimensions,
    }


def changes() -> dict[str, Change]:
    """For each entry of Table 3, what becomes of a member whose entry is broken by `STEP`.

    An entry that is a number or an equation is moved to both sides, and the rest stays. Beyond a
    bound the rest follows Table 3. None of the profiles keeps all entries.
    """
    equations = (*(name for name in FIXED), "b33", "b41", "c21")
    return {
        **{name: _moved(name) for name in equations},
        "b11 ≤ b21": _beyond_bound(0, lambda v: {"b11": v["b21"] + STEP}),
        "b11 ≤ 1/4": _beyond_bound(2, lambda v: {"b11": QUARTER + STEP, "b21": Fraction(0)}),
        "b11 ≤ 1/4 between": _both_bluffs_beyond,
        "b21 ≤ 1/4": _beyond_bound(0, lambda v: {"b21": QUARTER + STEP}),
        "b21 = b11": _beyond_bound(1, lambda v: {"b21": v["b11"] + STEP}),
        "b21 = b11 below": _beyond_bound(1, lambda v: {"b21": v["b11"] - STEP}),
        "b21 ≤ min": _beyond_bound(
            2, lambda v: {"b21": min(v["b11"], HALF - 2 * v["b11"]) + STEP, "b23": Fraction(0)}
        ),
        "b23": _beyond_bound(2, lambda v: {"b23": largest_b23(v["b11"], v["b21"]) + STEP}),
        "b23 elsewhere": _beyond_bound(0, lambda v: {"b23": STEP}),
        "b32": _beyond_bound(
            None,
            lambda v: {"b32": largest_b32(v["b11"], v["b21"]) + STEP, "c33": Fraction(0)},
        ),
        "c11": _beyond_bound(
            1,
            lambda v: {"c11": largest_c11(v["b11"], v["b21"]) + STEP} if v["b11"] > _SIXTH else {},
        ),
        "c33 below": _beyond_bound(None, lambda v: {"c33": HALF - v["b32"] - STEP}),
        "c33 above": _beyond_bound(
            None, lambda v: {"c33": largest_b32(v["b11"], v["b21"]) - v["b32"] + STEP}
        ),
    }


def _moved(name: str) -> Change:
    """One frequency moved to both sides, the others kept."""
    return lambda values: [
        values | {name: values[name] + sign * STEP}
        for sign in (-1, 1)
        if 0 <= values[name] + sign * STEP <= 1
    ]


def _beyond_bound(position: int | None, free: Callable[[Values], Values]) -> Change:
    """A free parameter beyond its bound in one sub-family, or in all; the rest by Table 3."""

    def changed(values: Values) -> list[Values]:
        if position is not None and _position(values) != position:
            return []
        moved = free(values)
        kept = {name: values[name] for name in FREE} | moved
        if "b32" not in moved and "c33" not in moved:
            # within its range for the new values of the others
            top = largest_b32(kept["b11"], kept["b21"])
            kept["b32"] = min(kept["b32"], top)
            kept["c33"] = lowest_c33(kept["b32"])
        out = member(kept)
        return [out] if moved and is_profile(out) else []

    return changed


def _both_bluffs_beyond(values: Values) -> list[Values]:
    """b11 = b21 beyond 1/4 where 0 < c11 < 1/2, with b41 = 1, since Table 3's is no frequency."""
    if _position(values) != 1:
        return []
    bluff = QUARTER + STEP
    top, b32 = largest_b32(bluff, bluff), values["b32"]
    free = {"b11": bluff, "b21": bluff, "b32": min(b32, top), "c33": lowest_c33(b32)}
    moved = member({**free, "c11": min(values["c11"], largest_c11(bluff, bluff))})
    return [moved | {"b41": Fraction(1)}]


def _position(values: Values) -> int:
    return {Fraction(0): 0, HALF: 2}.get(values["c11"], 1)


def _beyond(game: Game, members: Sequence[Member], change: Change) -> dict[str, Any]:
    """Regrets of all profiles that break one entry."""
    broken = [values for one in members for values in change(one.values)]
    regrets = [measured(game, values).max_regret for values in broken]
    gaining = [Fraction(regret) for regret in regrets if regret > 0]
    return {
        "profiles": len(regrets),
        "not_equilibria": len(gaining),
        "least": in_kappa(min(gaining)) if gaining else "0",
        "most": in_kappa(max(gaining)) if gaining else "0",
    }


def _midpoints(game: Game, sub_family: str, *, full: bool) -> dict[str, Any]:
    """Whether what lies halfway between the parameters of two members is an equilibrium."""
    rng = np.random.default_rng(3)
    inside = [random_parameters(sub_family, rng) for _ in range(12 if full else 6)]
    edges = [
        {name: one.values[name] for name in FREE}
        for one in corner_members()
        if one.sub_family == sub_family and one.values["c34"] == 0 and one.values["b32"] == HALF
    ]
    pairs = list(combinations([*inside, *edges, *_on_curved_side(sub_family)], 2))
    worst, example, outside = Fraction(0), None, 0
    for first, second in pairs:
        middle = {name: (first[name] + second[name]) / 2 for name in FREE}
        regret = Fraction(measured(game, member(middle)).max_regret)
        outside += regret > 0
        if regret > worst:
            worst, example = regret, (first, second)
    return {
        "pairs": len(pairs),
        "not_equilibria": outside,
        "worst": in_kappa(worst),
        "example": [{name: str(value) for name, value in end.items()} for end in example or ()],
    }


def _on_curved_side(sub_family: str) -> list[Values]:
    """Members where a bound that is not linear just holds."""
    rest = {"b32": HALF, "c33": Fraction(0), "c34": Fraction(0)}
    if sub_family == SUB_FAMILIES[1]:
        bluffs = [(Fraction(k, 24),) * 2 for k in (4, 5, 6)]
        return [
            {"b11": b, "b21": b, "b23": Fraction(0), **rest, "c11": largest_c11(b, b)}
            for b, _ in bluffs
            if largest_c11(b, b) < HALF
        ] + [
            {
                **{"b11": Fraction(1, 6), "b21": Fraction(1, 6), "b23": Fraction(0)},
                **rest,
                "c11": HALF - Fraction(1, 960),
            }
        ]
    if sub_family == SUB_FAMILIES[2]:
        ends = [(Fraction(1, 10), Fraction(0)), (Fraction(1, 5), Fraction(1, 20))]
        return [
            {"b11": b11, "b21": b21, "b23": largest_b23(b11, b21), **rest, "c11": HALF}
            for b11, b21 in ends
        ]
    return []
