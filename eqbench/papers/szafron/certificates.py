"""Exact regrets of members of the family, and of profiles that break one entry of Table 3."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.equilibria import local_dimension
from eqbench.equilibria.expressions import evaluate
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import (
    BETWEEN,
    FREE,
    HALF,
    HIGH,
    SUB_FAMILIES,
    ZERO,
    Member,
    Values,
)

STEP = Fraction(1, 64)  # how far an entry is broken
_MOST_DIMENSIONS = 20
_SIGNS = {"+": (1,), "-": (-1,), "=": (-1, 1)}


def certificates(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Certificates, dimensions, what lies beyond each entry of Table 3, and convexity."""
    members = family.sample(400 if full else 60, seed=1)
    probes = family.sample(40, seed=2) if full else _thinned(family.sample(8, seed=2))
    numbers = [name for name in family.constants() if name not in family.necessary()]
    entries = {name: f"all {name}=" for name in (*numbers, "b33", "b41", "c21")}
    entries |= family.PROFILES["bounds"]
    return {
        "certificates": {name: _certified(_of(members, name)) for name in SUB_FAMILIES},
        "beyond": {name: _beyond(probes, *text.split()) for name, text in entries.items()},
        "convexity": {name: _midpoints(name, full=full) for name in SUB_FAMILIES},
    }


def _beyond(probes: Sequence[Member], where: str, entry: str) -> dict[str, Any]:
    """Regrets of members of a sub-family, or of all, with an entry broken."""
    own = probes if where == "all" else _of(probes, family.SHORT[where])
    return _regrets(broken for one in own for broken in beyond(one, entry))


def text(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """For each formula of the text, regrets of members at it and beyond it."""
    members = _thinned(family.sample(24 if full else 6, seed=4))
    groups = {short: _of(members, name) for short, name in family.SHORT.items()}
    right = {
        short: sum(family.measured(one.values).max_regret == 0 for one in own)
        for short, own in groups.items()
    }
    found = {}
    for row, what in family.PROFILES["text"].items():
        short, entry = row.split()[0], what.split()[0]
        low, high = family.range_of_b11(what)
        kept = [one for one in groups[short] if low <= one.values["b11"] <= high]
        at = _regrets(_at(row, one, entry) for one in kept)
        found[row] = {
            "members": at["profiles"],
            "not_equilibria": at["not_equilibria"],
            "beyond": _regrets(broken for one in kept for broken in beyond(one, entry)),
            "table_3_equilibria": right[short],
            "of": len(groups[short]),
        }
    return found


def _thinned(members: list[Member]) -> list[Member]:
    """Corners are many; every fifth still has those of all sub-families."""
    return [one for k, one in enumerate(members) if k % 5 == 0 or not one.is_corner]


def _of(members: Sequence[Member], sub_family: str) -> list[Member]:
    return [one for one in members if one.sub_family == sub_family]


def _at(row: str, one: Member, entry: str) -> Values:
    """A member where an entry just holds; one that is wrong in print as it is printed."""
    name = entry[:-1]
    if row in family.PRINTED["misprints"]:
        return one.values | {name: evaluate(family.PRINTED["misprints"][row], one.values)}
    return _changed(one, name, _limit(one, entry))


def beyond(one: Member, entry: str) -> list[Values]:
    """A member with one entry of Table 3 broken by `STEP`, an equation to both sides."""
    name, limit = entry[:-1], _limit(one, entry)
    return [_changed(one, name, limit + sign * STEP) for sign in _SIGNS[entry[-1]]]


def _limit(one: Member, entry: str) -> Fraction:
    """What an entry says of a member: the end of a range, or its own value."""
    name, sign = entry[:-1], entry[-1]
    if entry == "c33-":
        return HALF - one.values["b32"]
    if sign != "+":
        return one.values[name]
    if name == "b23":
        return family.largest_b23(one.values["b11"], one.values["b21"])
    order = family.ORDER[one.sub_family]
    if name not in order:
        return one.values[name]
    own = family.parameters(family.family()[one.sub_family], one.values)
    earlier = {earlier: own[earlier] for earlier in order[: order.index(name)]}
    return family.ends(one.sub_family, earlier, name)[1]


def _changed(one: Member, name: str, value: Fraction) -> Values:
    """A member with another value of a frequency; what depends on a free one follows Table 3."""
    if name not in FREE:
        return one.values | {name: value}
    free = {own: one.values[own] for own in FREE} | {name: value}
    if name == "b11" and one.sub_family == BETWEEN:
        free["b21"] = value
        free["c11"] = min(free["c11"], family.ends(BETWEEN, {"b11": value}, "c11")[1])
    if name == "b11" and one.sub_family == HIGH:
        free["b21"] = max(ZERO, min(free["b21"], value, HALF - 2 * value))
    if name != "b23" and one.sub_family == HIGH:
        free["b23"] = min(free["b23"], family.largest_b23(free["b11"], free["b21"]))
    if name not in ("b32", "c33"):
        free["b32"] = min(free["b32"], family.largest_b32(free["b11"], free["b21"]))
    if name != "c33":
        free["c33"] = family.lowest_c33(free["b32"])
    changed = family.member(free)
    # beyond b11 = b21 = 1/4 Table 3's b41 is no frequency
    return changed | {"b41": min(changed["b41"], Fraction(1))}


def _regrets(profiles: Iterable[Values]) -> dict[str, Any]:
    """Exact regrets of those that are profiles."""
    regrets = [
        Fraction(family.measured(each).max_regret) for each in profiles if family.is_profile(each)
    ]
    gaining = [regret for regret in regrets if regret > 0] or [ZERO]
    return {
        "profiles": len(regrets),
        "not_equilibria": sum(regret > 0 for regret in regrets),
        "least": str(min(gaining) / family.KAPPA),
        "most": str(max(gaining) / family.KAPPA),
    }


def _certified(members: Sequence[Member]) -> dict[str, Any]:
    """Exact measurements of members of one sub-family, and the dimension around those inside."""
    found = [family.measured(one.values) for one in members]
    inside = [one for one in members if not one.is_corner][:_MOST_DIMENSIONS]
    around = [
        local_dimension(family.kuhn3(), family.profile(one.values).probabilities) for one in inside
    ]
    betas = [max(one.values["b11"], one.values["b21"]) for one in members]
    # the last line of Table 3
    printed = [
        (-family.KAPPA * (HALF + beta), -family.KAPPA / 2, family.KAPPA * (1 + beta))
        for beta in betas
    ]
    payoffs = [result.payoffs for result in found]
    return {
        "members": len(members),
        "corners": sum(one.is_corner for one in members),
        "equilibria": sum(result.max_regret == 0 for result in found),
        "payoffs_as_printed": [
            sum(
                ours[player] == theirs[player]
                for ours, theirs in zip(payoffs, printed, strict=True)
            )
            for player in range(3)
        ],
        "u2": sorted({str(ours[1]) for ours in payoffs}),
        "u1_at_most_u2": sum(ours[0] <= ours[1] for ours in payoffs),
        "beta": [str(min(betas)), str(max(betas))],
        "dimensions": [None if each is None else each.total for each in around],
    }


def _midpoints(sub_family: str, *, full: bool) -> dict[str, Any]:
    """Whether what lies halfway between the parameters of two members is an equilibrium."""
    rng = np.random.default_rng(3)
    inside = [family.random_parameters(sub_family, rng) for _ in range(12 if full else 6)]
    edges = [
        one.values
        for one in _of(family.corner_members(), sub_family)
        if one.values["c34"] == 0 and one.values["b32"] == HALF
    ]
    curved = map(family.named, family.PROFILES["curved"][sub_family])
    pairs = list(combinations([*inside, *edges, *curved], 2))
    middles = [{name: (a[name] + b[name]) / 2 for name in FREE} for a, b in pairs]
    regrets = [Fraction(family.measured(family.member(middle)).max_regret) for middle in middles]
    worst = max(regrets)
    example = pairs[regrets.index(worst)] if worst else ()
    return {
        "pairs": len(pairs),
        "not_equilibria": sum(regret > 0 for regret in regrets),
        "worst": str(worst / family.KAPPA),
        "example": [{name: str(end[name]) for name in FREE} for end in example],
    }
