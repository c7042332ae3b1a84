"""Exact regrets: members of the family, what breaks an entry of Table 3, and combinations of §6."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from operator import eq
from pathlib import Path

import numpy as np

from eqbench.equilibria import local_dimension
from eqbench.equilibria.expressions import compile_expression
from eqbench.papers.records import Table
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import FREE, HALF, KAPPA, ONE, QUARTER, ZERO, Values
from eqbench.verification import Verification

STEP = Fraction(1, 64)  # how far an entry is broken
_SIGNS = {"+": (1,), "-": (-1,), "=": (-1, 1)}
_MOST_DIMENSIONS = 20
_C33 = [Fraction(k, 32) for k in (0, 4, 8, 14, 16, 24, 28, 30, 32)]
_SPREAD = [Fraction(k, 16) for k in range(5)]


def certificates(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Certificates, dimensions, each entry of Table 3 and what lies beyond it, and convexity."""
    members = family.sample(400 if full else 60, seed=1)
    probes = family.sample(40, seed=2) if full else family.sample(8, seed=2, every=5)
    return {
        "members": {name: _certified(name, own) for name, own in members.items()},
        "payoffs": _payoffs(chain(*members.values())),
        "entries": {name: tried(name, own) for name, own in probes.items()},
        "convexity": {name: _midpoints(name, full=full) for name in probes},
    }


def where_it_holds(entry: str, members: Iterable[Values]) -> list[Values]:
    """The members that an entry such as ``c11+ above`` is for: those with b11 above 1/6."""
    sixth = Fraction(1, 6)
    low, high = sixth if "above" in entry else ZERO, sixth if "below" in entry else ONE
    return [values for values in members if low <= values["b11"] <= high]


def tried(sub_family: str, members: Iterable[Values]) -> dict[str, dict[str, list[Fraction]]]:
    """Regrets of members where an entry of Table 3 just holds, and beyond it, by entry."""
    numbers = [f"{name}=" for name in family.constants() if name not in family.necessary()]
    found: dict[str, dict[str, list[Fraction]]] = {}
    for entry in [*numbers, *family.PROFILES["entries"][sub_family]]:
        found[entry] = {}
        for where, signs in (("at", (0,)), ("beyond", _SIGNS[entry[3]])):
            pairs = product(where_it_holds(entry, members), signs)
            profiles = [moved(sub_family, own, entry, sign) for own, sign in pairs]
            found[entry][where] = [family.regret(p) for p in profiles if family.is_profile(p)]
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
    # beyond b11 = b21 = 1/4 Table 3's b41 is not a frequency
    return changed | {"b41": min(changed["b41"], ONE)}


def _payoffs(members: Iterable[Values]) -> list[tuple[Fraction, ...]]:
    """Return the different combinations of β and the payoffs, in order."""
    rows = ((max(own["b11"], own["b21"]), *family.measured(own).payoffs) for own in members)
    return sorted(set(rows))


def _certified(sub_family: str, members: list[Values]) -> Table:
    """Exact measurements of members of one sub-family, and the dimension around those inside."""
    corners, payoffs = family.corners(sub_family), _payoffs(members)
    around = [
        local_dimension(family.kuhn3(), family.profile(values).probabilities)
        for values in members[len(corners) :][:_MOST_DIMENSIONS]
    ]
    return {
        "members": len(members),
        "corners": len(corners),
        "equilibria": sum(family.regret(values) == 0 for values in members),
        "different β": len({beta for beta, *_ in payoffs}),
        "different payoffs": len(payoffs),
        "dimensions": [each and each.total for each in around],
    }


def _midpoints(sub_family: str, *, full: bool) -> Table:
    """Regrets of what lies halfway between the parameters of two members."""
    rng = np.random.default_rng(3)
    inside = [family.random_member(sub_family, rng) for _ in range(12 if full else 6)]
    corners = family.corners(sub_family)
    edges = [own for own in corners if own["c34"] == 0 and own["b32"] == HALF]
    curved = map(family.named, family.PROFILES["curved"][sub_family])
    pairs = list(combinations([*inside, *edges, *curved], 2))
    middles = [{name: (a[name] + b[name]) / 2 for name in FREE} for a, b in pairs]
    regrets = [family.regret(family.member(middle)) for middle in middles]
    worst = max(regrets)
    example: Sequence[Values] = pairs[regrets.index(worst)] if worst else ()
    return {
        "pairs": len(pairs),
        "not equilibria": sum(regret > 0 for regret in regrets),
        "worst": worst,
        "example": [{name: end[name] for name in FREE} for end in example],
    }


def selection(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Named profiles, and worst cases of players 2 and 3 within the family.

    Payoffs are affine in player 3's c11, and do not depend on c33 and c34, since player 1 never
    bets. So those of strategies of player 2 at three c11 say all.
    """
    seconds = list(_seconds())
    payoffs = {
        c11: [family.measured(family.member(own | {"c11": c11})).payoffs for own in seconds]
        for c11 in (ZERO, QUARTER, HALF)
    }
    kinds = [
        "equal" if own["b11"] == own["b21"] else "b23 positive" if own["b23"] else "unequal b23 0"
        for own in seconds
    ]
    at_ends = ([own[1] / KAPPA for own in payoffs[c11]] for c11 in (ZERO, HALF))
    second = list(zip(*at_ends, strict=True))
    worst, slopes = list(map(min, second)), [2 * (high - low) for low, high in second]
    safe = [kind for kind, own in zip(kinds, worst, strict=True) if own == -HALF]
    formula = [4 * own["b23"] * (1 - own["b21"]) for own in seconds]
    return {
        **family.measured_group(family.PROFILES["measured"]),
        "second": {
            "strategies": len(seconds),
            "best worst": max(worst),
            **{kind: [kinds.count(kind), safe.count(kind)] for kind in dict.fromkeys(kinds)},
            "slopes as formula": sum(map(eq, slopes, formula)),
            "slopes zero": slopes.count(ZERO),
        },
        "third": {
            f"{float(c11):g}": min(third for *_, third in own) / KAPPA
            for c11, own in payoffs.items()
        },
        "equal bluffs": _equal_bluffs(),
        "slopes of u3": _slopes(seconds),
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


def _equal_bluffs() -> Table:
    """Player 2 with b11 = b21 and player 3 with c11 = 0, whatever b32, c33 and c34 they have."""
    inside, beyond = list[Verification](), list[Verification]()
    for bluff in _SPREAD:
        top = family.largest_b32(bluff, bluff)
        for b32, c34 in product((ZERO, HALF, top), (ZERO, ONE)):
            for c33 in sorted({*_C33, family.lowest_c33(b32), top - b32}):
                second = {"b11": bluff, "b21": bluff, "b32": b32, "c34": c34, "c33": c33}
                group = inside if HALF - b32 <= c33 <= top - b32 else beyond
                group.append(family.measured(family.member(second)))
    return {
        "inside": len(inside),
        "inside zero": sum(own.max_regret == 0 for own in inside),
        "beyond": len(beyond),
        "beyond first": sum(own.regrets[0] > 0 for own in beyond),
        "others": sum(any(own.regrets[1:]) for own in inside + beyond),
        "u2": sorted({own.payoffs[1] / KAPPA for own in inside + beyond}),
    }


def _slopes(seconds: list[Values]) -> dict[str, list[Fraction]]:
    """Partial derivatives of (3) at c11 = 0 by player 2's free parameters, over its strategies.

    The equation is linear in each parameter, so that differences from 0 to 1 are derivatives.
    """
    utility = compile_expression(" ".join(family.PRINTED["u3"].split()), exact=True)
    own = {name: value for name, value in family.named("").items() if name[0] == "c"}
    profiles, found = [family.member(second) | own for second in seconds], {}
    for name in ("b11", "b21", "b23", "b32"):
        slopes = [utility(v | {name: ONE}) - utility(v | {name: ZERO}) for v in profiles]
        found[name] = [min(slopes), max(slopes)]
    return found
