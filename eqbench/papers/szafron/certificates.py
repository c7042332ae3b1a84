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
from eqbench.papers.szafron.family import FREE, HALF, ONE, ZERO, Values

STEP = Fraction(1, 64)  # how far an entry is broken
_SIGNS = {"+": (1,), "-": (-1,), "=": (-1, 1)}
_MOST_DIMENSIONS = 20


def certificates(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Certificates, dimensions, each entry of Table 3 and what lies beyond it, and convexity."""
    count = 400 if full else 60
    probes = family.sample(40, seed=2) if full else family.sample(8, seed=2, every=5)
    return {
        "members": {name: _certified(name, count) for name in probes},
        "entries": {name: tried(name, members) for name, members in probes.items()},
        "convexity": {name: _midpoints(name, full=full) for name in probes},
    }


def where_it_holds(entry: str, members: Iterable[Values]) -> list[Values]:
    """The members that an entry such as ``c11+ above`` is for: those with b11 above 1/6."""
    sixth = Fraction(1, 6)
    low, high = sixth if "above" in entry else ZERO, sixth if "below" in entry else ONE
    return [values for values in members if low <= values["b11"] <= high]


def tried(sub_family: str, members: Iterable[Values]) -> dict[str, dict[str, Any]]:
    """Regrets where entries of Table 3 just hold, beyond, and as printed if that is wrong."""
    numbers = [f"{name}=" for name in family.constants() if name not in family.necessary()]
    found = {}
    for entry in [*numbers, *family.PROFILES["entries"][sub_family]]:
        kept = where_it_holds(entry, members)
        profiles = {
            "at": [moved(sub_family, values, entry, 0) for values in kept],
            "beyond": [
                moved(sub_family, values, entry, sign)
                for values in kept
                for sign in _SIGNS[entry[3]]
            ],
        }
        if misprint := family.PRINTED["misprints"].get(f"{sub_family} {entry}"):
            wrong = [values | {entry[:3]: evaluate(misprint, values)} for values in kept]
            profiles["as printed"] = wrong
        found[entry] = {name: _regrets(own) for name, own in profiles.items()}
    return found


def moved(sub_family: str, values: Values, entry: str, sign: int) -> Values:
    """A member where an entry of Table 3 just holds, or is broken by `STEP` to one side.

    What depends on a free frequency follows Table 3.
    """
    name, value = entry[:3], family.limit(sub_family, values, entry) + sign * STEP
    if name not in FREE:
        return values | {name: value}
    free = {own: values[own] for own in FREE} | {name: value}
    if name == "b11" and sub_family == "between":
        free["b21"] = value
        free["c11"] = min(free["c11"], family.ends(sub_family, {"b11": value}, "c11")[1])
    if name == "b11" and sub_family == "high":
        free["b21"] = max(ZERO, min(free["b21"], value, HALF - 2 * value))
    if name != "b23" and sub_family == "high":
        free["b23"] = min(free["b23"], family.largest_b23(free["b11"], free["b21"]))
    if name not in ("b32", "c33"):
        free["b32"] = min(free["b32"], family.largest_b32(free["b11"], free["b21"]))
    if name != "c33":
        free["c33"] = family.lowest_c33(free["b32"])
    changed = family.member(free)
    # beyond b11 = b21 = 1/4 Table 3's b41 is no frequency
    return changed | {"b41": min(changed["b41"], ONE)}


def _regrets(profiles: Iterable[Values]) -> dict[str, Any]:
    """Exact regrets of those that are profiles, in units of κ."""
    regrets = [family.regret(each) for each in profiles if family.is_profile(each)]
    gaining = [regret for regret in regrets if regret > 0] or [ZERO]
    return {
        "profiles": len(regrets),
        "not equilibria": sum(regret > 0 for regret in regrets),
        "gains": [str(min(gaining)), str(max(gaining))],
    }


def _certified(sub_family: str, count: int) -> dict[str, Any]:
    """Exact measurements of members of one sub-family, and the dimension around those inside."""
    corners = family.corners(sub_family)
    members = family.sample(count, seed=1)[sub_family]
    found = [family.measured(values) for values in members]
    payoffs = {
        (max(values["b11"], values["b21"]), *own.payoffs)
        for values, own in zip(members, found, strict=True)
    }
    around = [
        local_dimension(family.kuhn3(), family.profile(values).probabilities)
        for values in members[len(corners) :][:_MOST_DIMENSIONS]
    ]
    return {
        "members": len(members),
        "corners": len(corners),
        "equilibria": sum(own.max_regret == 0 for own in found),
        # β, then what each player gets
        "payoffs": [list(map(str, row)) for row in sorted(payoffs)],
        "dimensions": [None if each is None else each.total for each in around],
    }


def _midpoints(sub_family: str, *, full: bool) -> dict[str, Any]:
    """Regrets of what lies halfway between the parameters of two members."""
    rng = np.random.default_rng(3)
    inside = [family.random_member(sub_family, rng) for _ in range(12 if full else 6)]
    edges = [
        values
        for values in family.corners(sub_family)
        if values["c34"] == 0 and values["b32"] == HALF
    ]
    curved = map(family.named, family.PROFILES["curved"][sub_family])
    pairs = list(combinations([*inside, *edges, *curved], 2))
    middles = [{name: (a[name] + b[name]) / 2 for name in FREE} for a, b in pairs]
    regrets = [family.regret(family.member(middle)) for middle in middles]
    worst = max(regrets)
    example: Sequence[Values] = pairs[regrets.index(worst)] if worst else ()
    return {
        "pairs": len(pairs),
        "not equilibria": sum(regret > 0 for regret in regrets),
        "worst": str(worst),
        "example": [{name: str(end[name]) for name in FREE} for end in example],
    }
