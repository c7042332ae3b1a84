"""Specs of games and solvers that are refused, each with what is allowed."""

from __future__ import annotations

import pytest

import eqbench
from eqbench.errors import GameTooLargeError, SpecError

GAMES = [
    ("khun3", "unknown game 'khun3': did you mean kuhn3"),
    ("chess", "unknown game 'chess': known: .*battle_of_sexes, "),
    ("kuhn(playres=2)", "unknown option 'playres' of kuhn: did you mean players"),
    ("kuhn(zzz=2)", "unknown option 'zzz' of kuhn: options: players, cards, pot, reduce"),
    ("kuhn(players=2.5)", "kuhn: players=5/2 is not allowed; expected integer"),
    ("kuhn(players=true)", "kuhn: players=true is not allowed; expected integer"),
    ("kuhn(players=none)", "kuhn: players=none is not allowed; expected integer"),
    ("kuhn(players='3')", 'kuhn: players="3" is not allowed; expected integer'),
    ("kuhn3(pot=big)", "kuhn3: pot=big is not allowed; expected exact number or none"),
    ("kuhn(reduce=dominated2)", "did you mean dominated2.* choices: none, dominated21,"),
    ("kuhn(reduce=3)", "kuhn: reduce=3 is not allowed; choices: none, dominated21,"),
    ("matrix(name=shaply)", "matrix: name=shaply is not allowed; did you mean shapley"),
    ("kuhn(players=3,cards=2)", "cards=2 is fewer than players=3"),
    ("kuhn(players=7)", "allowed are 2 to 6 players"),
    ("kuhn3(pot=-1)", "pot=-1 is negative"),
    ("skp(pot=3/2)", "pot=3/2 is below 2"),
    ("kuhn2(reduce=dominated22)", "defined for 3 players, not 2"),
    ("kuhn3_reduced(cards=5)", "defined for 4 cards, not 5"),
    ("kuhn(", "cannot read the spec"),
    ("kuhn3(reduce=billingham, raises=1)", "use reduce=none or raises=0"),
    ("kuhn3_reduced(raises=1)", "use reduce=none or raises=0"),
    ("kuhn(raises=-1)", "raises=-1; allowed are 0 to 100"),
    ("kuhn(raises=101)", "raises=101; allowed are 0 to 100"),
    ("kuhn(players=3,reduce=half_street)", "half_street is defined for 2 players"),
    ("kuhn(players=4,reduce=half_street)", "half_street is defined for 2 players"),
    ("leduc(players=1)", "players=1; allowed are 2 to 6"),
    ("leduc(players=7)", "players=7; allowed are 2 to 6"),
    ("leduc(ranks=0)", "choose ranks >= 1"),
    ("leduc(suits=0)", "suits=0; allowed are 1 to 26"),
    ("leduc(suits=27)", "suits=27; allowed are 1 to 26"),
    ("leduc(ranks=2, suits=1)", "2 players and the public card need 3"),
    ("leduc(raises=0)", "raises=0; allowed are 1 to 100"),
    ("leduc(raises=101)", "raises=101; allowed are 1 to 100"),
    *(
        (f"liars_dice({option})", f"{option}; allowed are")
        for option in ("dice=0", "dice=101", "sides=1", "sides=101", "players=7")
    ),
    *(
        (f"goofspiel({option})", f"{option}; allowed are")
        for option in ("cards=1", "cards=10", "players=1", "players=7")
    ),
    ("goofspiel(prizes=random)", "descending"),
    *(
        (f"{game}({option})", f"{option} is too small; choose {option.partition('=')[0]} >= ")
        for game, options in {
            "random": ("actions=1", "seed=-1"),
            "dispersion": ("actions=0", "seed=-3"),
            "minimum_effort": ("efforts=1",),
            "majority_voting": ("candidates=1",),
            "travelers_dilemma": ("lowest=-1",),
            "random_tree": ("actions=1", "seed=-1"),
        }.items()
        for option in options
    ),
    ("random(players=1)", "players=1; allowed are 2 to 20"),
    ("random(players=21)", "players=21; allowed are 2 to 20"),
    ("random_signed(seed=4294967296)", "seed=4294967296 is too large; choose seed < 4294967296"),
    ("gamut(distribution=PolymatrixGame)", "is unknown: did you mean PolymatrixGame-"),
    ("gamut(distribution=DispersionGame,players=16,actions=2)", "players=16; allowed are 2 to 15"),
    ("covariance(rho=1.01)", "rho=101/100 is not a covariance of 2 players; .* -1 to 1"),
    ("covariance(players=4,rho=-0.34)", "of 4 players; allowed are -1/3 to 1"),
    ("dispersion(players=16)", "players=16; allowed are 2 to 15"),
    ("minimum_effort(b=1,c=1)", "b=1, c=1; the game needs 0 <= c < b"),
    ("minimum_effort(c=-1)", "c=-1; the game needs 0 <= c < b"),
    ("minimum_effort(a=1e40)", "more than 62 bits"),
    ("travelers_dilemma(lowest=5,highest=5)", "highest=5 is too small; choose highest >= 6"),
    ("travelers_dilemma(reward=0)", "reward=0, .*; choose reward > 0"),
    ("travelers_dilemma(penalty=-1)", "penalty=-1; choose .* penalty >= 0"),
    ("travelers_dilemma(reward=1e-30)", "more than 62 bits"),
    ("random_tree(players=1)", "players=1; allowed are 2 to 20"),
    ("random_tree(players=4,depth=3)", "depth=3; allowed are 4 .* to 60 moves"),
    ("random_tree(depth=61)", "depth=61; allowed are 2 .* to 60 moves"),
    ("random_tree(chance=1)", "chance=1 is not a probability below 1"),
    ("random_tree(chance=-1/2)", "chance=-1/2 is not a probability"),
    ("random_tree(information=3/2)", "information=3/2 is not a probability from 0 to 1"),
    ("random_tree(zero_sum=3)", "zero_sum=3 is not allowed; expected true or false"),
]
TOO_LARGE = [
    "kuhn(players=6, cards=40, raises=100)",
    "kuhn(players=3, cards=1000000000, reduce=billingham)",
    "kuhn(players=2,cards=1000000,reduce=half_street)",
    "leduc(players=6, ranks=1000000000, raises=100)",
    "liars_dice(dice=5)",
    "liars_dice(dice=100, sides=100, players=6)",
    "goofspiel(cards=9, players=6)",
    "random(players=20,actions=1000000)",
    "dispersion(players=15)",
    "random_tree(depth=60)",
]
SOLVERS = [
    ("arclength(epsilon=0)", "epsilon=0.*; choose a number > 0, for example 1e-7"),
    ("arclength(epsilon=-1)", "epsilon=-1.*; choose a number > 0, for example 1e-7"),
    ("arclength(starts=-1)", "starts=-1.*; choose a number >= 0"),
    ("arclength(window=0)", "window=0.*; choose a number > 0, for example 0.3"),
    ("arclength(window=-1)", "window=-1.*; choose a number > 0, for example 0.3"),
    ("arclength(regularization=entropy)", "log, arctan, rational"),
    ("logit(stop_lambda=0)", "choose a number > 0, for example 1e6"),
    ("logit(stop_lambda=-3)", "choose a number > 0, for example 1e6"),
    ("logit(regret=0)", "choose a number > 0, or none"),
    ("logit(regret=-1)", "choose a number > 0, or none"),
    ("logit(prior=gaussian)", "uniform"),
    *(
        (f"semismooth({option})", f"{option}; choose a number >= 1")
        for option in ("starts=0", "steps=0", "starts=-3")
    ),
    ("replicator(k='P1')", "SPEED"),
    ("replicator(k='P1=fast')", "SPEED"),
    *(
        (f"replicator(k='P1={speed}')", "speed > 0")
        for speed in ("0", "inf", "1_000", "1/0", "1e999")
    ),
    ("replicator(k='=2')", "SPEED"),
    ("replicator(k='P1=2; P1 = 3')", "'P1' twice"),
    ("replicator(hand_time=-1)", "hand_time"),
    ("replicator(rate=0)", "rate"),
    ("replicator(tolerance=1e-17)", "rounding"),
    ("replicator(window=0)", "window"),
    ("replicator(window=1.5)", "window"),
    ("replicator(integrator=euler)", "dop853"),
    ("ncp(gap=1)", "gap=1.*choose a number from 0 to 1"),
    ("ncp(gap=-0.1)", "gap=-0.1.*choose a number from 0 to 1"),
    ("ncp(feasibility=0.01)", "feasibility=0.01; choose a number from 1e-9 to 1e-3"),
    ("ncp(feasibility=0)", "feasibility=0.*choose a number from 1e-9 to 1e-3"),
    ("ncp(sense=max)", 'sense=max with of=""; give both'),
    ('ncp(of="P1")', 'sense=none with of="P1"; give both'),
    ('ncp(sense=min,of="P1|4:")', "choose a player.* or player, information set and action"),
    ('ncp(sense=min,of="P1|4:|bet|x")', "choose a player"),
    ('ncp(sense=min,of="P1",dominated=remove)', "dominated=remove loses equilibria"),
    ("ncp(formulation=papers)", "paper"),
    ("ncp(fallback=lcp)", "semismooth"),
    ('ncp(fallback=logit,sense=max,of="P1")', "leave out sense and of"),
    ("ncp(fallback=semismooth,exact=true)", "or choose fallback=none"),
    ("ncp(backend=cplex)", "gurobi"),
    ("mip(feasibility=0.01)", "choose a number from 1e-9 to 1e-3"),
    ("mip(feasibility=1e-10)", "choose a number from 1e-9 to 1e-3"),
]


@pytest.mark.parametrize(("spec", "message"), GAMES)
def test_game_is_refused_with_what_is_allowed(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        eqbench.load_game(spec)


@pytest.mark.parametrize("spec", TOO_LARGE)
def test_game_that_would_be_too_large_is_refused_before_it_is_built(spec: str) -> None:
    with pytest.raises(GameTooLargeError, match="nodes"):
        eqbench.load_game(spec)


@pytest.mark.parametrize(("spec", "message"), SOLVERS)
def test_solver_is_refused_with_what_is_allowed(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        eqbench.load_solver(spec)
