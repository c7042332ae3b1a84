"""What is not a game is refused with a reason, and what is one cannot be changed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.errors import GameFormatError, GameTooLargeError, ImperfectRecallError
from eqbench.model.assemble import InfosetTable, assemble, check_tree
from eqbench.model.builder import TreeBuilder
from eqbench.model.size_limit import node_limit
from eqbench.model.tree import CHANCE, TERMINAL, GameTree, Payoffs


def start(*players: str) -> TreeBuilder:
    return TreeBuilder(players or ("P1", "P2"))


def end(builder: TreeBuilder, node: int, moves: int, payoffs: tuple = (0, 0)) -> None:
    for move in range(moves):
        builder.terminal((node, move), payoffs)


def one_decision() -> dict[str, Any]:
    """Arguments of `assemble` for a player who chooses between two terminals."""
    return {
        "players": ["P1"],
        "nodes": {
            "parent": np.array([-1, 0, 0]),
            "move": np.array([-1, 0, 1]),
            "player": np.array([0, TERMINAL, TERMINAL]),
            "infoset": np.array([0, -1, -1]),
            "chance": np.array([0, 0, 0]),
        },
        "infosets": InfosetTable([0], ["x"], [("left", "right")]),
        "payoffs": Payoffs(np.array([[1], [2]])),
        "chance_denominator": 1,
    }


# -- what a builder refuses -------------------------------------------------------------------

Step = tuple[Any, ...]  # a place, what is added there, and what it takes


def under(place: Any, *actions: Any, moves: Sequence[int] | None = None, **how: Any) -> list[Step]:
    """Steps that add a decision of the first player, and terminals behind its moves."""
    where = how.get("node", 0)
    behind = range(len(actions)) if moves is None else moves
    ends = [((where, k), "terminal", [0, 0]) for k in behind]
    return [(place, "decision", how.get("player", 0), how.get("label", "x"), actions), *ends]


def lottery(*probabilities: Any, outcomes: int | None = None) -> list[Step]:
    """Steps that add a chance node with terminals behind its outcomes."""
    behind = range(len(probabilities) if outcomes is None else outcomes)
    return [(None, "chance", probabilities), *(((0, k), "terminal", [0, 0]) for k in behind)]


HALF = Fraction(1, 2)
COIN = (None, "chance", [HALF] * 2)
FORGETS_A_MOVE = [
    (None, "decision", 0, "first", ["left", "right"]),
    *(
        step
        for move in (0, 1)
        for step in under((0, move), "a", "b", label="second", node=1 + move * 3)
    ),
]
# The player saw chance's move before, and does not know it at the second decision.
FORGETS_WHAT_IT_SAW = [
    COIN,
    *(
        step
        for outcome, seen in ((0, 1), (1, 5))
        for step in (
            ((0, outcome), "decision", 1, f"seen {outcome}", ["go"]),
            *under((seen, 0), "a", "b", label="later", player=1, node=seen + 1),
        )
    ),
]
# The driver of Piccione and Rubinstein 1997, who passes one information set twice.
ABSENT_MINDED = [
    (None, "decision", 0, "exit?", ["exit", "on"]),
    ((0, 0), "terminal", [0, 0]),
    *under((0, 1), "exit", "on", label="exit?", node=2),
]
PASSED = [(None, "decision", 0, "x", ["a"])]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        *((steps, "imperfect recall") for steps in (FORGETS_A_MOVE, FORGETS_WHAT_IT_SAW)),
        (ABSENT_MINDED, "imperfect recall"),
        # chance is a distribution over its outcomes
        (lottery(*[Fraction(1, 3)] * 2), "sum to 2/3"),
        (lottery(HALF), "sum to 1/2"),
        (lottery(HALF, HALF + Fraction(1, 10**15)), "must sum to 1"),
        (lottery(0.5, 0.500001), "must sum to 1"),
        (lottery(Fraction(3, 2), -HALF), r"lie in \[0, 1\]"),
        *((lottery(number, 0.5), "not a finite number") for number in (math.nan, math.inf)),
        *((lottery(1, 0, outcomes=n), f"2 probabilities, but {n} outcomes") for n in (1, 3)),
        ([(None, "chance", [])], "has no moves"),
        # payoffs are finite, leave room for their differences, and are one for each player
        *(
            ([*PASSED, ((0, 0), "terminal", (0.5, x))], "not a finite number")
            for x in (math.nan, math.inf, -math.inf, 10**400)
        ),
        *(
            ([*PASSED, ((0, 0), "terminal", (x, 0))], f"{re.escape(repr(x))} is no number")
            for x in ("1/5", "0.5", b"1", None, [1])
        ),
        (lottery("1/3", "2/3"), "'1/3' is no number"),
        *(([*PASSED, ((0, 0), "terminal", (x, -x))], "at most") for x in (1e308, -1e301)),
        *(([(None, "terminal", [1] * n)], f"{n} payoffs for 2 players") for n in (1, 3)),
        # what was added is a tree
        ([], "no node"),
        ([(None, "terminal", [0, 0]), ((0, 0), "terminal", [0, 0])], "is terminal but has moves"),
        *(
            ([*PASSED, (place, "terminal", [0, 0])], "not added before")
            for place in ((5, 0), (-1, 0))
        ),
        ([*PASSED, (None, "terminal", [0, 0])], "it is the root"),
        (under(None, "only", moves=[]), "has no moves"),
        # moves are those of the information set, and so are their labels
        (under(None, "l", "r", moves=[0]), "has 1 moves, its information set 'x' has 2 actions"),
        (under(None, "l", "r", moves=[0, 1, 2]), "has 3 moves"),
        *((under(None, "l", "r", moves=own), "not 0, 1, 2") for own in ([0, 0], [0, 2], [-1, 0])),
        (
            [COIN, *(((0, k), "decision", 0, "x", own) for k, own in enumerate(("lr", "rl")))],
            "'x' of P1 was added with actions",
        ),
        # labels are distinct texts that a file can hold
        (under(None, moves=[0]), "at least one, with distinct labels"),
        (under(None, "a", "a"), "at least one, with distinct labels"),
        *((under(None, "a", label), "label") for label in ("\ud800", 1, None, b"x")),
        *(
            ([(None, "decision", player, "x", ["a", "b"])], "the players are 0 to 1: P1, P2")
            for player in (2, -1, CHANCE, TERMINAL)
        ),
    ],
)
def test_what_is_no_game_is_refused(steps: list[Step], message: str) -> None:
    with pytest.raises(GameFormatError, match=message) as refused:
        built(steps)
    assert isinstance(refused.value, ImperfectRecallError) is (message == "imperfect recall")


def built(steps: list[Step], *players: str) -> GameTree:
    builder = start(*players)
    for place, kind, *arguments in steps:
        getattr(builder, kind)(place, *arguments)
    return builder.tree()


@pytest.mark.parametrize("players", [("P1", "P1"), ()])
def test_players_have_distinct_labels(players: tuple[str, ...]) -> None:
    builder = TreeBuilder(players)
    builder.terminal(None, [0] * len(players))
    with pytest.raises(GameFormatError, match="distinct"):
        builder.tree()


def test_node_limit_is_kept() -> None:
    with node_limit(2), pytest.raises(GameTooLargeError, match="--max-nodes"):
        built(under(None, "a", "b"))


# -- what a builder takes ---------------------------------------------------------------------


def test_same_own_moves_at_different_depths_are_perfect_recall() -> None:
    builder = start()
    root = builder.decision(None, 1, "", ["short", "long"])
    end(builder, builder.decision((root, 0), 0, "x", ["a", "b"]), 2)
    detour = builder.decision((root, 1), 1, "detour", ["go"])
    end(builder, builder.decision((detour, 0), 0, "x", ["a", "b"]), 2)
    assert builder.tree().n_infosets == 3


def test_numerators_of_chance_may_carry_from_the_lower_half_of_their_bits() -> None:
    low, whole = 2**31 + 1, 2**61
    builder = start()
    root = builder.chance(None, [Fraction(2**60 + low, whole), Fraction(2**60 - low, whole)])
    for outcome in range(2):
        builder.terminal((root, outcome), (0, 0))
    assert builder.tree().chance_denominator == whole


def test_floats_are_no_exact_source() -> None:
    """Three times the float 1/3 is not 1 as a rational; the game is accepted, but inexact."""
    builder = start()
    end(builder, builder.chance(None, [1 / 3] * 3), 3)
    tree = builder.tree()
    assert not tree.exact
    assert tree.chance_probability[1:].tolist() == [1 / 3] * 3


# -- arrays -----------------------------------------------------------------------------------


def nodes(**changed: Any) -> dict[str, Any]:
    """The nodes of one decision with some of their arrays changed."""
    return {"nodes": one_decision()["nodes"] | changed}


def table(owners: list[int], labels: list[str]) -> dict[str, Any]:
    return {"infosets": InfosetTable(owners, labels, [("left", "right")] * len(labels))}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(
            (
                nodes(**{name: one_decision()["nodes"][name].astype(kind)}),
                f"{name} must be a vector of signed integers",
            )
            for name in ("parent", "move", "player", "infoset")
            for kind in ("float64", "uint32", "object")
        ),
        (nodes(chance=np.array([0, 0])), "must have the same length"),
        (table([-1], ["x"]), "belongs to a player who is not in the game"),
        (table([1], ["x"]), "belongs to a player who is not in the game"),
        (table([0, 0], ["x", "y"]), "'y' contains no node"),
    ],
)
def test_arrays_that_are_no_tree_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(GameFormatError, match=message):
        assemble(**(one_decision() | changes))


@pytest.mark.parametrize("above", [-1, 1])
def test_second_node_hangs_from_the_root(above: int) -> None:
    nodes = {
        "parent": np.array([-1, above]),
        "move": np.array([-1, 0]),
        "player": np.array([0, TERMINAL]),
        "infoset": np.array([0, -1]),
        "chance": np.array([0, 0]),
    }
    table, payoffs = InfosetTable([0], ["x"], [("only",)]), Payoffs(np.array([[1]]))
    with pytest.raises(GameFormatError, match=r"breadth-first order|must come before it"):
        assemble(**(one_decision() | {"nodes": nodes, "infosets": table, "payoffs": payoffs}))
    nodes["parent"] = np.array([-1, 0])
    assert assemble(**(one_decision() | {"nodes": nodes, "infosets": table, "payoffs": payoffs}))


@pytest.mark.parametrize("numerator", [2**62, -(2**62)])
def test_integers_of_2_to_the_62_are_too_large_for_sums_to_be_watched(numerator: int) -> None:
    for allowed, payoff in ((False, numerator), (True, numerator - (1 if numerator > 0 else -1))):
        parts = one_decision() | {"payoffs": Payoffs(np.array([[payoff], [0]]))}
        if allowed:
            assemble(**parts)
            continue
        with pytest.raises(GameFormatError, match=r"2\*\*62"):
            assemble(**parts)


@pytest.mark.parametrize("name", ["infoset_labels", "infoset_actions"])
def test_labels_of_a_tree_that_could_be_changed_are_refused(name: str) -> None:
    tree = eqbench.load_game("kuhn2").tree
    check_tree(tree)
    with pytest.raises(GameFormatError, match="builder"):
        check_tree(replace(tree, **{name: list(getattr(tree, name))}))


def test_parameter_that_takes_payoffs_beyond_floats_is_refused_when_they_are_used() -> None:
    tree = eqbench.load_game("kuhn2").tree.at(Fraction(10**400))
    with pytest.raises(GameFormatError, match="at most"):
        _ = tree.payoffs.table


@pytest.mark.parametrize("numerator", [1, -1])
def test_value_of_a_parameter_has_at_most_4000_digits(numerator: int) -> None:
    column = np.array([[0], [0]])

    def parts(digits: int) -> dict[str, Any]:
        value = Fraction(numerator, 10 ** (digits - 1))
        payoffs = Payoffs(column, slope=column, parameter="pot", value=value)
        return one_decision() | {"payoffs": payoffs}

    assert assemble(**parts(4000)).payoffs.exact
    with pytest.raises(GameFormatError, match="4,000"):
        assemble(**parts(4001))
