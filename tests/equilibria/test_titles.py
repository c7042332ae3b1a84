"""Titles and sentences of published sets: true of their members by the published formulas."""

import re
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import Identifier, known_equilibria, known_sets
from eqbench.equilibria.expressions import evaluate
from eqbench.equilibria.known import extremes, payoff_of
from eqbench.equilibria.members import members

POTS = ["2", "5/2", "3", "161/50", "10/3", "17/5", "7/2", "37/10", "39/10", "4", "41/10"]
POTS += ["433/100", "22/5", "9/2", "5", "8"]
GAMES = ["kuhn2", "kuhn3", *(f"skp(pot={pot})" for pot in POTS)]
GAMES += [f"matrix(name={name})" for name in ("rock_paper_scissors", "matching_pennies", "jordan")]
GAMES += [f"matrix(name={name})" for name in ("prisoners_dilemma", "battle_of_sexes", "shapley")]

# What titles and sentences say of the frequencies of every member, in the names of the data.
SAYS = {
    "kuhn2": [
        *("K_bets == 3*J_bets", "Q_calls == J_bets + 1/3", "0 <= J_bets", "J_bets <= 1/3"),
        *("J_bluffs == 1/3", "Q_bluffs == 0", "K_bluffs == 1"),
        *("J_follows == 0", "Q_follows == 1/3", "K_follows == 1"),
    ],
    "szafron:c11=0": ["c11 == 0", "c21 == 1/2", "b11 <= b21", "b21 <= 1/4"],
    "szafron:c11=1/2": ["c11 == 1/2", "c21 == 0", "b21 <= b11", "b11 <= 1/4"],
    "szafron:0<c11<1/2": ["0 < c11", "0 < c21", "c11 + c21 == 1/2", "b11 == b21", "b11 <= 1/4"],
    "skp:1a": ["a1 == 0", "b1 == 0", "a2 == 0", "b2 == 0", "b3 <= 2/3"],
    "skp:1": ["a1 == 0", "b1 == 0", "a2 == 0", "b2 == 0", "b3 == 2/(P+1)"],
    "skp:2a": ["a1 == 0", "b1 == 0", "a2 <= 1/2", "b2 == a2/2"],
    "skp:2": ["a1 == 0", "b1 == 0", "a2 == 1/2", "b2 == 1/(P+1)"],
    "skp:3": ["a1 == 0", "b1 == 0", "0 < a2", "a2 < 1", "d2 == 0"],
    "skp:4": ["a1 == 0", "b1 == 0", "c1 == 1", "d2 == 0", "a2 == (5-P)/2"],
    "skp:5a": ["a1 == 0", "b1 == 0", "a2 >= 3/4"],
    "skp:5": ["a1 == 0", "b1 == 0", "a2 == 1", "b2 == 2/(P+1)", "b3 == 2/(P+1)"],
    "skp:6": ["a1 == (4-P)*(P+1)", "a1 <= 1/2", "a2 == 1", "c3 == 0"],
    "skp:7": ["a1 == 1/2", "b1 == 1/(P+1)", "a2 == 1"],
    "skp:8": ["a1 == (9-2*P)*(P+1)/2", "a1 >= 1/2", "a2 == 1", "c3 == 1"],
    "skp:9": ["a1 == 1", "a2 == 1", "b1 == 2/(P+1)", "b2 == 2/(P+1)"],
    "skp:10a": ["a1 == 1", "a2 == 1", "1/3 <= b1", "b1 <= 2/5"],
    "skp:10": ["a1 == 1", "a2 == 1", "b1 == 2/P", "b2 == 2/(P+1)", "b2 < b1"],
    "matrix:rock_paper_scissors": ["P1_rock == 1/3", "P1_paper == 1/3", "P2_rock == 1/3"],
    "matrix:matching_pennies": ["P1_heads == 1/2", "P2_heads == 1/2"],
    "matrix:prisoners_dilemma": ["P1_cooperates == 0", "P2_cooperates == 0"],
    "matrix:battle_of_sexes:opera": ["P1_opera == 1", "P2_opera == 1"],
    "matrix:battle_of_sexes:football": ["P1_opera == 0", "P2_opera == 0"],
    "matrix:battle_of_sexes:mixed": ["P1_opera == 2/3", "P2_opera == 1/3"],
    "matrix:shapley": ["top == 1/3", "middle == 1/3", "left == 1/3", "center == 1/3"],
    "matrix:jordan": ["P1_heads == 1/2", "P2_heads == 1/2", "P3_heads == 1/2"],
}
# Payoffs that sentences call fixed, by player, and how much moves from whom to whom.
FIXED = {
    "kuhn2": {0: Fraction(-1, 18), 1: Fraction(1, 18)},
    "skp:1a": {0: 0, 1: 0, 2: 0},
    **{f"szafron:{part}": {1: Fraction(-1, 48)} for part in ("c11=0", "c11=1/2", "0<c11<1/2")},
    "matrix:prisoners_dilemma": {0: 1, 1: 1},
    "matrix:battle_of_sexes:opera": {0: 2, 1: 1},
    "matrix:battle_of_sexes:football": {0: 1, 1: 2},
    "matrix:battle_of_sexes:mixed": {0: Fraction(2, 3), 1: Fraction(2, 3)},
    "matrix:shapley": {0: Fraction(1, 3), 1: Fraction(1, 3)},
    "matrix:rock_paper_scissors": {0: 0, 1: 0},
    "matrix:matching_pennies": {0: 0, 1: 0},
    "matrix:jordan": {0: 0, 1: 0, 2: 0},
}
MOVES = {  # of the leading figure upwards
    **{f"szafron:{part}": ("1/96", 0, 2) for part in ("c11=0", "c11=1/2", "0<c11<1/2")},
    **{"skp:2a": ("1/96", 0, 2), "skp:5a": ("1/432", 2, 0), "skp:10a": ("1/120", 1, 2)},
}


SIGNS = {
    "==": lambda gap: abs(gap) < 1e-9,
    "<=": lambda gap: gap < 1e-9,
    ">=": lambda gap: gap > -1e-9,
    "<": lambda gap: gap < 0,
}


def holds(condition, names):
    left, sign, right = re.fullmatch(r"(.+?) (==|<=|>=|<) (.+)", condition).groups()
    return SIGNS[sign](evaluate(left, names, exact=False) - evaluate(right, names, exact=False))


@pytest.fixture(scope="module")
def sets():
    return {spec: known_sets(eqbench.load_game(spec)) for spec in GAMES}


def test_every_published_set_is_measured_here(sets):
    assert {known.name for own in sets.values() for known in own} == set(SAYS)


def test_what_titles_and_sentences_say_holds_for_all_members(sets):
    for known in (known for own in sets.values() for known in own):
        # at the open ends of a set, which its corners are, others begin
        places = ("inside", "sample") if "<c11<" in known.name else ("inside", "corner", "sample")
        for place, parameters in members(known, 20, np.random.default_rng(0)):
            names = known.formulas.names(dict(zip(known.parameters, parameters, strict=True)))
            broken = [text for text in SAYS[known.name] if not holds(text, names)]
            assert not broken or place not in places, (known.name, place, broken)


def test_a_condition_of_another_set_is_noticed(sets):
    szafrons = {known.name: known for known in sets["kuhn3"]}
    (_, parameters), *_ = members(szafrons["szafron:c11=0"], 1, np.random.default_rng(0))
    known = szafrons["szafron:c11=0"]
    names = known.formulas.names(dict(zip(known.parameters, parameters, strict=True)))
    assert not all(holds(text, names) for text in SAYS["szafron:c11=1/2"])


def test_payoffs_that_sentences_call_fixed_or_moving_are_the_published_ones(sets):
    for spec, own in sets.items():
        for name in {known.name for known in own} & {*FIXED, *MOVES}:
            pieces = [known for known in own if known.name == name]
            ranges = [
                [extremes(known, partial(payoff_of, p, known)) for known in pieces]
                for p in range(len(pieces[0].texts.payoffs))
            ]
            low = [min(least for least, _ in each) for each in ranges]
            high = [max(most for _, most in each) for each in ranges]
            for player, payoff in FIXED.get(name, {}).items():
                assert (low[player], high[player]) == pytest.approx((payoff, payoff), abs=1e-9)
            if name in MOVES:
                amount, loser, winner = MOVES[name]
                assert amount in pieces[0].sentence, spec
                for player in (loser, winner):
                    moved = high[player] - low[player]
                    assert moved == pytest.approx(float(Fraction(amount)), abs=1e-8)
                assert _gain(pieces, winner) > 0 > _gain(pieces, loser)


def _gain(pieces, player):
    """What a player gains as the leading figure rises from its least to its largest value."""
    rng = np.random.default_rng(1)
    points = [(known, p) for known in pieces for _, p in members(known, 20, rng)]
    values = sorted(
        (_leading(*each), float(each[0].payoffs_near(each[1])[player])) for each in points
    )
    return values[-1][1] - values[0][1]


def _leading(known, parameters):
    return known.shown(parameters)[known.leading]


def test_titles_are_short_and_differ_within_a_game(sets):
    for own in sets.values():
        by_name = {known.name: known.title for known in own}
        assert len(set(by_name.values())) == len(by_name)
        assert all(0 < len(title) <= 60 for title in by_name.values())
        assert all(len(known.sentence) <= 250 for known in own)


def test_beta_is_the_larger_of_two_bluffs_in_every_part_of_the_family(sets):
    for known in sets["kuhn3"]:
        assert known.family == "Szafron's family"
        for _, parameters in members(known, 10, np.random.default_rng(0)):
            shown = known.shown(parameters)
            assert shown["beta"] == pytest.approx(max(shown["b11"], shown["b21"]))
        assert known.symbols["beta"].endswith("(0 to 1/4)")
        low, high = extremes(known, lambda p, known=known: _leading(known, p))
        assert (low, high) == pytest.approx((0, 1 / 4), abs=1e-6)


def test_identity_and_description_carry_the_words():
    game = eqbench.load_game("kuhn3")
    profile = dict(eqbench.equilibria.known_corners(game))["szafron:c11=0 corner 1"]
    found = Identifier(game).identify(profile, 0.0)
    assert found.title == "player 3 bluffs with Q only"
    assert found.family == "Szafron's family"
    assert "player 2" in found.meaning
    assert all(each.title and each.sentence for each in known_equilibria(game))


def test_a_symbol_that_is_one_frequency_is_explained_in_words():
    (known,) = [
        own for own in known_equilibria(eqbench.load_game("skp(pot=3)")) if own.name == "skp:2a"
    ]
    assert known.symbols == {"a2": "how often P2 bets with A after check"}
