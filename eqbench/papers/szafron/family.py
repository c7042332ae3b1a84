"""The paper's names of frequencies, and members of its family at ends of ranges and in between.

x_jk is the frequency of the aggressive action (bet or call) with card j in situation k, where x is
a, b or c for players 1, 2 and 3 (Szafron, Gibson and Sturtevant 2013, §3, Table 1). Tables 2 and 3
are read from `eqbench.equilibria`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

from eqbench.documents import read_file
from eqbench.equilibria import KnownSet, known_sets
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.registry import load_game
from eqbench.verification import Verification, verify_exactly

Values = dict[str, Fraction]

KAPPA = Fraction(1, 24)  # probability of a deal
GRID = 960  # of random parameters, which so stay short fractions
ZERO, ONE, HALF, QUARTER = Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 4)
LOW, BETWEEN, HIGH = SUB_FAMILIES = ("c11=0", "0<c11<1/2", "c11=1/2")
SHORT = {"low": LOW, "between": BETWEEN, "high": HIGH}
FREE = ("b11", "b21", "b23", "b32", "c11", "c33", "c34")
# parameters, each after those that its range in Table 3 depends on
ORDER = {
    LOW: ("b21", "b11", "b32", "c33", "c34"),
    BETWEEN: ("b11", "c11", "b32", "c33", "c34"),
    HIGH: ("b11", "b21", "r23", "b32", "c33", "c34"),
}
# b11 and b21 at the corners of their ranges, and where the bound of c11 is below 1/2
_CORNERS = {
    LOW: ("0 0", "0 1/4", "1/4 1/4"),
    BETWEEN: ("0 0", "1/6 1/6", "5/24 5/24", "1/4 1/4"),
    HIGH: ("0 0", "1/6 1/6", "1/4 0"),
}


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
    """The published sub-families by their names, in the paper's order."""
    found = {known.name.partition(":")[2]: known for known in known_sets(kuhn3())}
    return {name: found[name] for name in SUB_FAMILIES}


@cache
def places() -> dict[str, tuple[str, str]]:
    """Player and label of the information set of each of the 48 frequencies."""
    layout = family()[LOW].layout
    players = (place.split("|") for place in layout.places)
    return {
        name: (who, label) for name, (who, label, _) in zip(layout.variables, players, strict=True)
    }


@cache
def names_by_infoset() -> list[str]:
    """The name of the frequency of each information set of the tree."""
    layout = family()[LOW].layout
    return [layout.variables[k] for k in np.argsort(layout.infoset)]


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

    Parameters
    ----------
    free : b11, b21, b32, c11 and c33; b23 and c34 are 0 unless given
    """
    b11, b21, b23 = free["b11"], free["b21"], free.get("b23", ZERO)
    dependent = {
        "b33": HALF + (b11 + b21 + max(b11, b21)) / 2 - b23 * (1 - b21),
        "b41": 2 * b11 + 2 * b21,
        "c21": HALF - free["c11"],
    }
    return constants() | {"b23": b23, "c34": ZERO} | {**free, **dependent}


def named(text: str) -> Values:
    """The profile of a text of ``profiles.toml``, such as ``b11=1/4 c33=0``."""
    pairs = (pair.split("=") for pair in text.split())
    given = {name: Fraction(value) for name, value in pairs}
    free = dict.fromkeys(FREE, ZERO) | {"c33": HALF}
    return member({name: given.get(name, value) for name, value in free.items()}) | given


def measured_group(texts: Mapping[str, str]) -> dict[str, dict[str, list[str]]]:
    """Exact payoffs and regrets of named profiles."""
    return {name: regrets_and_payoffs(named(text)) for name, text in texts.items()}


def parameters(known: KnownSet, values: Values) -> Values:
    """Parameters of a sub-family that a profile speaks of."""
    readings = (reading(values) for reading in known.exact.readings)
    return dict(zip(known.parameters, readings, strict=True))


def is_member(values: Values) -> bool:
    """Whether a profile keeps all entries of Tables 2 and 3."""
    for known in family().values():
        names = known.exact.names(parameters(known, values))
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


def largest_b32(b11: Fraction, b21: Fraction) -> Fraction:
    """Upper end of b32 in Table 3, beyond the ranges of the bluffs too; c33 ends b32 below it."""
    return HALF + Fraction(3, 4) * (b11 + b21) + max(b11, b21) / 4


def lowest_c33(b32: Fraction) -> Fraction:
    """Lower end of c33 in Table 3, as far as it is a frequency."""
    return max(HALF - b32, ZERO)


def largest_b23(b11: Fraction, b21: Fraction) -> Fraction:
    """Upper end of b23 in Table 3 where c11 = 1/2."""
    return max(ZERO, (b11 - b21) / (2 * (1 - b21)))


@dataclass(frozen=True)
class Member:
    """A member of the family: its 48 frequencies, and whether it is at ends of its ranges."""

    sub_family: str
    values: Values
    is_corner: bool


@cache
def sample(count: int, seed: int) -> list[Member]:
    """The corners of all sub-families, and `count` members at random of each."""
    rng = np.random.default_rng(seed)
    inside = [
        Member(name, member(random_parameters(name, rng)), is_corner=False)
        for name in SUB_FAMILIES
        for _ in range(count)
    ]
    return [*corner_members(), *inside]


def random_parameters(sub_family: str, rng: np.random.Generator) -> Values:
    """Free parameters of a member, strictly inside their ranges."""
    point: Values = {}
    for name in ORDER[sub_family]:
        low, high = ends(sub_family, point, name)
        point[name] = low + (high - low) * Fraction(int(rng.integers(1, GRID)), GRID)
    return _free(sub_family, point)


def corner_members() -> list[Member]:
    """Members whose parameters are all at ends of their ranges, c34 too."""
    found = []
    for sub_family, corners in _CORNERS.items():
        for corner in corners:
            bluffs = dict(zip(("b11", "b21"), map(Fraction, corner.split()), strict=True))
            points = [{name: bluffs[name] for name in bluffs if name in ORDER[sub_family]}]
            for name in ("c11", "r23", "b32", "c34", "c33"):
                if name in ORDER[sub_family]:
                    points = [
                        point | {name: value}
                        for point in points
                        for value in _edges(sub_family, point, name)
                    ]
            found += [
                Member(sub_family, member(_free(sub_family, point)), is_corner=True)
                for point in points
            ]
    return found


def _edges(sub_family: str, point: Values, name: str) -> list[Fraction]:
    """Ends of a parameter, and 1/2 for b32; c11 = 0 and c11 = 1/2 belong to other sub-families."""
    low, high = ends(sub_family, point, name)
    if name == "c11":
        return [Fraction(1, GRID), min(high, HALF - Fraction(1, GRID))]
    return sorted({low, high, HALF} if name == "b32" else {low, high})


def _free(sub_family: str, point: Values) -> Values:
    names = family()[sub_family].exact.names(point)
    return {name: names[name] for name in FREE}


def profile(values: Mapping[str, Fraction]) -> BehaviorProfile:
    """Exact profile with the given 48 frequencies."""
    layout = family()[LOW].layout
    return layout.exact_profile([values[name] for name in layout.variables])


def is_profile(values: Mapping[str, Fraction]) -> bool:
    """Whether all values are frequencies."""
    return all(0 <= value <= 1 for value in values.values())


def measured(values: Mapping[str, Fraction]) -> Verification:
    """Exact payoffs and regrets of a profile given by its 48 frequencies."""
    return verify_exactly(kuhn3().tree, profile(values))


def regrets_and_payoffs(values: Mapping[str, Fraction]) -> dict[str, list[str]]:
    """Exact payoffs and regrets of the players, in units of κ."""
    found = measured(values)
    return {
        "payoffs": [str(value / KAPPA) for value in found.payoffs],
        "regrets": [str(value / KAPPA) for value in found.regrets],
    }


def range_of_b11(text: str) -> tuple[Fraction, Fraction]:
    """Values of b11 that a formula of the text is for."""
    sixth = Fraction(1, 6)
    return sixth if "above" in text else ZERO, sixth if "below" in text else QUARTER


def replaced(title: str) -> dict[str, str]:
    """What is replaced in a derivative of the proofs before it is compared, by name."""
    where: dict[str, str] = {}
    for word in PRINTED["derivatives"][title].split():
        if word == "case":
            where |= next(names for case, names in PRINTED["case"].items() if case in title)
        else:
            name, _, text = word.partition("=")
            where[name] = text or PRINTED["where"][name]
    # what is put in may hold names that are replaced, such as beta
    return {
        name: re.sub(r"[a-z]\w+", lambda match: f"({where.get(match[0], match[0])})", text)
        for name, text in where.items()
    }
