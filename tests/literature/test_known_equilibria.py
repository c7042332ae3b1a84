"""Published equilibria are equilibria, and called by their names, parameters and dimensions.

Szafron, Gibson and Sturtevant 2013, "A parameterized family of equilibrium profiles for
three-player Kuhn poker", §5, Tables 2 and 3, equations (3)-(5): three members of each sub-family
and variants that leave it by one parameter, with exact regrets; Billingham 2017, §3, Solutions 1
to 10; Kuhn 1950 for two players.
"""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.kuhn_and_skp import (
    SKP_VARIABLES,
    SUB_FAMILIES,
    load_solutions,
    member,
    random_member,
    skp_profile,
    szafron_profile,
)
from helpers.walks import TreeWalk

import eqbench
from eqbench.equilibria import Identifier, Identity, known_corners, known_sets, local_dimension
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_from_json
from eqbench.verification import verify, verify_exactly

VECTORS = json.loads((Path(__file__).parents[1] / "data/szafron_vectors.json").read_text("utf-8"))
MEMBERS, NEAR = VECTORS["members"], VECTORS["near"]
IDS = [*(f"{row['sub']} beta={row['beta']}" for row in MEMBERS), *(row["label"] for row in NEAR)]
SOLUTIONS = load_solutions()


@cache
def game(spec: str) -> Game:
    return eqbench.load_game(spec)


@cache
def identifier(spec: str) -> Identifier:
    return Identifier(game(spec))


def szafron(values: dict[str, Any]) -> BehaviorProfile:
    numbers = {name: Fraction(value) for name, value in values.items()}
    return profile_from_json(game("kuhn3").tree, szafron_profile(numbers))


def identify(profile: BehaviorProfile, spec: str = "kuhn3") -> Identity:
    found = identifier(spec).identify(profile)
    assert found is not None
    return found


@pytest.mark.parametrize("row", [*MEMBERS, *NEAR], ids=IDS)
def test_payoffs_and_regrets_are_exactly_the_published_ones(row: dict[str, Any]) -> None:
    """Szafron et al. 2013, §5, equations (3)-(5) and Table 3; near misses recomputed exactly.

    By the verifier in fractions and in floats, and by a plain walk over the tree.
    """
    tree, profile = game("kuhn3").tree, szafron(row["v"])
    payoffs, regrets = (tuple(map(Fraction, row[name])) for name in ("payoff", "regret"))
    exact, rounded = verify_exactly(tree, profile), verify(tree, profile)
    assert (exact.payoffs, exact.regrets) == (payoffs, regrets)
    assert rounded.payoffs == pytest.approx([float(x) for x in payoffs], abs=1e-14)
    assert rounded.regrets == pytest.approx([float(x) for x in regrets], abs=1e-14)
    assert profile.exact is not None
    walk = TreeWalk(tree, profile.exact)
    assert (tuple(walk.payoffs()), tuple(walk.regrets())) == (payoffs, regrets)
    if row in MEMBERS:
        beta = Fraction(row["beta"])
        assert regrets == (0, 0, 0)
        assert payoffs == (-(1 + 2 * beta) / 48, Fraction(-1, 48), (1 + beta) / 24)
    else:
        # one of them differs from the family only off the path of play, and is an equilibrium
        assert (exact.max_regret == 0) is row["is_equilibrium"]
        assert min(regrets) >= 0


@pytest.mark.parametrize("row", [*MEMBERS, *NEAR], ids=IDS)
def test_members_have_their_names_and_near_misses_are_distinguished(row: dict[str, Any]) -> None:
    """Szafron et al. 2013, Table 3, and broken by one constraint, on the path of play or off it."""
    found = identifier("kuhn3").identify(szafron(row["v"]))
    if row.get("violations"):
        assert found is None or not (found.on_path or found.strict)
        return
    assert found is not None
    assert found.on_path
    assert found.strict is (row in MEMBERS)
    assert found.name == f"szafron:{row['sub'] if found.strict else row['family']}"
    off_path = sum(float(Fraction(amount)) for _, amount in row.get("offpath", ()))
    assert sum(map(abs, found.off_path.values())) == pytest.approx(off_path, abs=1e-6)
    if found.strict:
        assert (found.also, found.off_path) == ((), {})
        assert found.distance <= 1e-15
        assert list(found.parameters) == ["beta", "b11", "b21", "b23", "b32", "c11", "c33", "c34"]
        expected = {name: Fraction((row["v"] | row)[name]) for name in found.parameters}
        assert found.parameters == pytest.approx(expected)


def test_every_constraint_of_the_family_counts() -> None:
    """Every frequency that Tables 2 and 3 fix makes `strict` false when it moves by 1e-6.

    Each frequency moves in one sub-family, and in each some of every player.
    """
    rng = np.random.default_rng(8)
    for k, sub_family in enumerate(SUB_FAMILIES):
        values = random_member(sub_family, rng)
        free = {"b32", "c33", "c34"}
        assert identify(szafron(values)).strict
        for name, value in [*values.items()][k :: len(SUB_FAMILIES)]:
            moved = value + Fraction(1 if value < Fraction(1, 2) else -1, 10**6)
            assert identify(szafron(values | {name: moved})).strict is (name in free), name


F = Fraction
# Constraint of Table 3, and b11, b21, b23, b32, c11, c33 of a member where it just holds.
BORDERS = {
    "b11 <= b21": ("1/5", "1/5", "0", "1/4", "0", "3/8"),
    "b21 <= 1/4": ("1/8", "1/4", "0", "1/4", "0", "3/8"),
    "b11 <= 1/4": ("1/4", "0", "0", "1/4", "1/2", "3/8"),
    "b21 <= b11": ("1/8", "1/8", "0", "1/4", "1/2", "3/8"),
    "b21 <= 1/2 - 2 b11": ("1/5", "1/10", "0", "1/4", "1/2", "3/8"),
    "b23 <= (b11 - b21)/2(1 - b21)": ("1/5", "0", "1/10", "1/4", "1/2", "3/8"),
    "c11 <= (2 - b11)/(3 + 2 b11 + 2 b21)": ("1/4", "1/4", "0", "1/4", "7/16", "3/8"),
    "b32 <= 1/2 + 3/4 (b11 + b21) + beta/4": ("1/8", "1/5", "0", "127/160", "0", "0"),
    "c33 >= 1/2 - b32": ("1/8", "1/5", "0", "1/4", "0", "1/4"),
    "c33 <= 1/2 - b32 + 3/4 (b11 + b21) + beta/4": ("1/8", "1/5", "0", "1/4", "0", "87/160"),
}
NAMES = ("b11", "b21", "b23", "b32", "c11", "c33")


@pytest.mark.parametrize("constraint", BORDERS)
def test_a_millionth_beyond_the_border_is_not_strict(constraint: str) -> None:
    """Each inequality of Table 3, from a member where it just holds; dependent ones follow."""
    border = dict(zip(NAMES, map(Fraction, BORDERS[constraint]), strict=True))
    moved = constraint[:3]
    outward = Fraction(-1 if ">=" in constraint else 1, 10**6)
    assert identify(szafron(member(**border))).strict
    outside = identify(szafron(member(**border | {moved: border[moved] + outward})))
    assert not outside.strict


def test_members_at_a_common_border_belong_to_the_closed_sub_families() -> None:
    """Table 3: 0 < c11 < 1/2 is open; with b11 = b21 its ends belong to the other two."""
    common = {"b11": F(1, 8), "b21": F(1, 8), "b32": F(1, 4), "c33": F(3, 8)}
    for c11, name in ((F(0), "c11=0"), (F(1, 2), "c11=1/2"), (F(1, 10**5), "0<c11<1/2")):
        found = identify(szafron(member(**common, c11=c11)))
        assert (found.name, found.strict) == (f"szafron:{name}", True)


@pytest.mark.parametrize("spec", ["kuhn3", "kuhn2", *(f"skp(pot={p})" for p in ("2", "3", "5"))])
def test_corners_are_exact_equilibria_that_carry_their_names(spec: str) -> None:
    corners = known_corners(game(spec))
    assert corners
    for name, profile in corners:
        assert verify_exactly(game(spec).tree, profile).max_regret == 0
        found = identify(profile, spec)
        assert found.strict
        assert name.split(" corner")[0] in (found.name, *found.also)


POTS = {
    **{"2": "1a 1", "5/2": "1", "3": "1 2a 2", "31/10": "2", "67/20": "2 3 4", "7/2": "4 5a 5"},
    **{"15/4": "5", "79/20": "5 6 7", "4": "5 6 7", "21/5": "7", "109/25": "7 8 9"},
    **{"9/2": "9", "5": "9 10a 10", "6": "10"},
}


@pytest.mark.parametrize("pot", POTS)
def test_all_solutions_of_skp_are_told_apart(pot: str) -> None:
    """Billingham 2017, §3: which solutions exist at a pot, three of them at 3.35, 3.95, 4.36."""
    spec, value = f"skp(pot={pot})", float(Fraction(pot))
    names = POTS[pot].split()
    here = [s for s in SOLUTIONS if s.end(0) <= value <= s.end(1)]
    assert [solution.name for solution in here] == names
    for solution in here:
        choices = solution.choices(value, exact=False)
        assert choices
        for values in choices:
            inside = {name: min(max(values[name], 0.0), 1.0) for name in SKP_VARIABLES}
            found = identify(profile_from_json(game(spec).tree, skp_profile(inside)), spec)
            assert found.strict
            assert f"skp:{solution.name}" in (found.name, *found.also)
            if len(solution.free) and pot not in ("2", "3", "7/2", "5"):
                assert found.name == f"skp:{solution.name}"


CONTINUA = {
    "2a": ("3", "a2", ("P1", "P2", "P3"), -F(1, 48)),
    "5a": ("7/2", "a2", ("P3", "P2", "P1"), -F(1, 108)),
    "10a": ("5", "b1", ("P2", "P1", "P3"), -F(1, 8)),
}


@pytest.mark.parametrize("name", CONTINUA)
def test_continua_transfer_utility_between_two_players(name: str) -> None:
    """Billingham 2017, §3, (19)-(21): who pays whom along Solutions 2a, 5a and 10a."""
    pot, parameter, (payer, indifferent, receiver), price = CONTINUA[name]
    spec = f"skp(pot={pot})"
    solution = next(solution for solution in SOLUTIONS if solution.name == name)
    payoffs, dimensions = {}, set()
    for values in solution.choices(Fraction(pot)):
        profile = profile_from_json(game(spec).tree, skp_profile(values))
        found = identify(profile, spec)
        assert f"skp:{name}" in (found.name, *found.also)
        payoffs[values[parameter]] = verify_exactly(game(spec).tree, profile).payoffs
        dimension = local_dimension(game(spec), profile.probabilities)
        dimensions.add(dimension and dimension.on_path)
    assert dimensions in ({1}, {0, 1})
    low, high = min(payoffs), max(payoffs)
    gained = [
        (after - before) / (high - low)
        for before, after in zip(payoffs[low], payoffs[high], strict=True)
    ]
    expected = {payer: price, indifferent: 0, receiver: -price}
    assert dict(zip(("P1", "P2", "P3"), gained, strict=True)) == expected


@pytest.mark.parametrize("alpha", [F(0), F(1, 7), F(1, 3)])
def test_two_player_kuhn_is_a_line(alpha: Fraction) -> None:
    """Kuhn 1950: player 1 bets the lowest card with any alpha up to 1/3."""
    (known,) = known_sets(game("kuhn2"))
    profile = known.member([alpha])
    measured = verify_exactly(game("kuhn2").tree, profile)
    assert (measured.payoffs, measured.regrets) == ((F(-1, 18), F(1, 18)), (0, 0))
    found = identify(profile, "kuhn2")
    assert (found.name, found.strict) == ("kuhn2", True)
    assert found.parameters == pytest.approx({"alpha": alpha})
