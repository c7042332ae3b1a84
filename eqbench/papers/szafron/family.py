"""The paper's names of frequencies, and members of its family at ends of ranges and in between.

x_jk is the frequency of the aggressive action (bet or call) with card j in situation k, where x is
a, b or c for players 1, 2 and 3 (Szafron, Gibson and Sturtevant 2013, §3, Table 1). Tables 2 and 3
are read from `eqbench.equilibria`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.documents import read_file
from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.reference import Layout
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.papers.records import Table
from eqbench.registry import load_game
from eqbench.verification import Verification, verify_exactly

Values = dict[str, Fraction]

KAPPA = Fraction(1, 24)  # probability of a deal
GRID = 960  # of random parameters, which so stay short fractions
ZERO, ONE, HALF, QUARTER = Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 4)
SUB_FAMILIES = {"low": "c11=0", "between": "0<c11<1/2", "high": "c11=1/2"}
FREE = ("b11", "b21", "b23", "b32", "c11", "c33", "c34")
# parameters, each after those that its range in Table 3 depends on
ORDER = {
    "low": ("b21", "b11", "b32", "c33", "c34"),
    "between": ("b11", "c11", "b32", "c33", "c34"),
    "high": ("b11", "b21", "r23", "b32", "c33", "c34"),
}
# inside ranges: where bounds of c11 and b21 have corners or are curved, and where c33 may be 0
_INSIDE = {("between", "b11"): ("1/6", "5/24"), ("high", "b11"): ("1/6",)}
_INSIDE |= {(name, "b32"): ("1/2",) for name in ORDER}

PRINTED, PROFILES = (
    tomllib.loads(read_file(Path(__file__).with_name(name)).decode())
    for name in ("printed.toml", "profiles.toml")
)


@cache
def kuhn3() -> Game:
    """Three-player Kuhn poker with the paper's four cards and pot of three chips."""
    return load_game("kuhn3")


@cache
def family() -> dict[str, KnownSet]:
    """The published sub-families, in the paper's order."""
    found = {known.name.partition(":")[2]: known for known in known_sets(kuhn3())}
    return {short: found[name] for short, name in SUB_FAMILIES.items()}


def layout() -> Layout:
    """Places of the 48 frequencies in the tree."""
    return family()["low"].layout


@cache
def places() -> dict[str, tuple[str, str]]:
    """Player and label of the information set of each of the 48 frequencies."""
    players = (place.split("|") for place in layout().places)
    pairs = zip(layout().variables, players, strict=True)
    return {name: (who, label) for name, (who, label, _) in pairs}


@cache
def names_by_infoset() -> list[str]:
    """The name of the frequency of each information set of the tree."""
    return [layout().variables[k] for k in np.argsort(layout().infoset)]


def nodes_of(name: str) -> list[int]:
    """Nodes of the information set of a frequency."""
    infoset = names_by_infoset().index(name)
    return np.flatnonzero(kuhn3().tree.infoset == infoset).tolist()


@cache
def constants() -> Values:
    """The entries of Tables 2 and 3 that are one number in all sub-families."""
    low, *others = (known.texts.values for known in family().values())
    return {
        name: Fraction(text)
        for name, text in low.items()
        if not any(sign.isalpha() for sign in text) and all(each[name] == text for each in others)
    }


@cache
def necessary() -> Values:
    """Table 2, the same for all three players."""
    situations = ("12", "13", "14", "24", "42", "43", "44")
    return {who + jk: constants()[who + jk] for who in "abc" for jk in situations}


def member(free: Mapping[str, Fraction]) -> Values:
    """All 48 frequencies by Tables 2 and 3; whether the ranges are kept is not checked.

    Free parameters that are not given are 0, but c33 is 1/2.
    """
    own = dict.fromkeys(FREE, ZERO) | {"c33": HALF} | dict(free)
    b11, b21, b23 = own["b11"], own["b21"], own["b23"]
    dependent = {
        "b33": HALF + (b11 + b21 + max(b11, b21)) / 2 - b23 * (1 - b21),
        "b41": 2 * b11 + 2 * b21,
        "c21": HALF - own["c11"],
    }
    return constants() | own | dependent


def named(text: str) -> Values:
    """The profile of a text of ``profiles.toml``, such as ``b11=1/4 c33=0``."""
    pairs = (pair.split("=") for pair in text.split())
    given = {name: Fraction(value) for name, value in pairs}
    return member({name: given[name] for name in FREE if name in given}) | given


def is_member(values: Values) -> bool:
    """Tell if a profile keeps all entries of Tables 2 and 3."""
    for known in family().values():
        readings = (reading(values) for reading in known.exact.readings)
        names = known.exact.names(dict(zip(known.parameters, readings, strict=True)))
        if (
            all(names[name] == values[name] for name in known.layout.variables)
            and all(violation(names) <= 0 for violation in known.exact.violations)
            and all(violation(names) < 0 for violation in known.exact.open_violations)
        ):
            return True
    return False


def ends(sub_family: str, given: Mapping[str, Fraction], name: str) -> tuple[Fraction, Fraction]:
    """The range that Table 3 leaves a parameter, by what depends on no others than the given."""
    known = family()[sub_family]

    def violations(value: Fraction, others: Fraction) -> list[Fraction]:
        point = dict.fromkeys(known.parameters, others) | dict(given) | {name: value}
        names = known.exact.names(point)
        return [violation(names) for violation in known.exact.violations]

    low, high = ZERO, ONE
    at_points = (violations(ZERO, ZERO), violations(HALF, ZERO), violations(ZERO, HALF))
    for start, half, other in zip(*at_points, strict=True):
        # constraints are linear in each parameter
        if start == other and half > start:
            high = min(high, start / (start - half) / 2)
        elif start == other and half < start:
            low = max(low, start / (start - half) / 2)
    return low, high


def limit(sub_family: str, values: Values, entry: str) -> Fraction:
    """Return the upper (+) or lower (-) end of an entry of Table 3 at a member, or its value."""
    name, sign, order = entry[:3], entry[3], ORDER[sub_family]
    if name == "b23":
        return largest_b23(values["b11"], values["b21"])
    if sign == "=" or name not in order:
        return values[name]
    earlier = {own: values[own] for own in order[: order.index(name)] if own in values}
    return ends(sub_family, earlier, name)[sign == "+"]


def largest_b32(b11: Fraction, b21: Fraction) -> Fraction:
    """Upper end of b32 in Table 3, beyond the ranges of the bluffs too; c33 ends b32 below it."""
    return HALF + Fraction(3, 4) * (b11 + b21) + max(b11, b21) / 4


def lowest_c33(b32: Fraction) -> Fraction:
    """Lower end of c33 in Table 3, as far as it is a frequency."""
    return max(HALF - b32, ZERO)


def largest_b23(b11: Fraction, b21: Fraction) -> Fraction:
    """Upper end of b23 in Table 3."""
    return max(ZERO, (b11 - b21) / (2 * (1 - b21)))


@cache
def sample(count: int, seed: int, every: int = 1) -> dict[str, list[Values]]:
    """By sub-family, `every` so many of its corners and `count` members at random inside."""
    rng = np.random.default_rng(seed)
    inside = {name: [random_member(name, rng) for _ in range(count)] for name in ORDER}
    return {name: [*corners(name)[::every], *own] for name, own in inside.items()}


def random_member(sub_family: str, rng: np.random.Generator) -> Values:
    """A member that is strictly inside all ranges."""
    point: Values = {}
    for name in ORDER[sub_family]:
        low, high = ends(sub_family, point, name)
        point[name] = low + (high - low) * Fraction(int(rng.integers(1, GRID)), GRID)
    return _at(sub_family, point)


@cache
def corners(sub_family: str) -> list[Values]:
    """Members whose parameters are all at ends of their ranges, c34 too, or at corners inside."""

    def edges(name: str, low: Fraction, high: Fraction) -> list[Fraction]:
        if name == "c11":  # 0 and 1/2 belong to other sub-families
            return [Fraction(1, GRID), min(high, HALF - Fraction(1, GRID))]
        return sorted({low, high, *map(Fraction, _INSIDE.get((sub_family, name), ()))})

    points: list[Values] = [{}]
    for name in ORDER[sub_family]:
        points = [
            point | {name: value}
            for point in points
            for value in edges(name, *ends(sub_family, point, name))
        ]
    return [_at(sub_family, point) for point in points]


def _at(sub_family: str, point: Values) -> Values:
    names = family()[sub_family].exact.names(point)
    return {name: names[name] for name in places()}


def profile(values: Mapping[str, Fraction]) -> BehaviorProfile:
    """Exact profile with the given 48 frequencies."""
    return layout().exact_profile([values[name] for name in places()])


def is_profile(values: Mapping[str, Fraction]) -> bool:
    """Tell if all values are frequencies."""
    return all(0 <= value <= 1 for value in values.values())


def measured(values: Mapping[str, Fraction]) -> Verification:
    """Exact payoffs and regrets of a profile given by its 48 frequencies."""
    return _measured(*(values[name] for name in places()))


@lru_cache(4096)  # values that depend on no bound are requested often
def _measured(*frequencies: Fraction) -> Verification:
    return verify_exactly(kuhn3().tree, layout().exact_profile(frequencies))


def regret(values: Mapping[str, Fraction]) -> Fraction:
    """Exact max regret in units of κ."""
    return Fraction(measured(values).max_regret) / KAPPA


def measured_group(texts: Any) -> Table:
    """Exact payoffs and regrets, in units of κ, of a named profile or of each in a group."""
    if isinstance(texts, Mapping):
        return {name: measured_group(text) for name, text in texts.items()}
    own = measured(named(texts))
    both = {"payoffs": own.payoffs, "regrets": own.regrets}
    return {name: [value / KAPPA for value in values] for name, values in both.items()}
