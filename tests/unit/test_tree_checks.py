"""What is not a game is refused with a reason, and what is one cannot be changed."""

from __future__ import annotations

import math
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
from eqbench.model.tree import CHANCE, TERMINAL, Payoffs


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


# -- players and actions ---------------------------------------------------------------------


def test_players_are_called_by_their_labels() -> None:
    builder = start("smuggler", "inspector")
    root = builder.decision(None, 0, "coast", ["go", "stay"])
    builder.decision((root, 0), 1, "patrol", ["inspect", "rest"])
    with pytest.raises(GameFormatError, match="'patrol' of inspector was added with actions"):
        builder.decision((root, 1), 1, "patrol", ["rest", "inspect"])
    with pytest.raises(GameFormatError, match="=2; the players are 0 to 1: smuggler, inspector"):
        builder.decision((root, 1), 2, "patrol", ["inspect", "rest"])


# -- memory -------------------------------------------------------------------------------


def test_forgetting_an_own_move_is_imperfect_recall() -> None:
    builder = start()
    root = builder.decision(None, 0, "first", ["left", "right"])
    for move in range(2):
        end(builder, builder.decision((root, move), 0, "second", ["a", "b"]), 2)
    with pytest.raises(ImperfectRecallError, match=r"P1 has imperfect recall .* 'second'"):
        builder.tree()


def test_forgetting_what_one_knew_is_imperfect_recall() -> None:
    """The player saw chance's move before, and does not know it at the second decision."""
    builder = start()
    root = builder.chance(None, [Fraction(1, 2)] * 2)
    for outcome in range(2):
        seen = builder.decision((root, outcome), 1, f"seen {outcome}", ["go"])
        end(builder, builder.decision((seen, 0), 1, "later", ["a", "b"]), 2)
    with pytest.raises(ImperfectRecallError, match=r"P2 .* 'later'"):
        builder.tree()


def test_absent_mindedness_is_imperfect_recall() -> None:
    """The driver of Piccione and Rubinstein 1997, who passes one information set twice."""
    builder = start("driver")
    first = builder.decision(None, 0, "exit?", ["exit", "on"])
    second = builder.decision((first, 1), 0, "exit?", ["exit", "on"])
    builder.terminal((first, 0), [0])
    end(builder, second, 2, (1,))
    with pytest.raises(ImperfectRecallError, match=r"driver .* 'exit\?'"):
        builder.tree()


def test_same_own_moves_at_different_depths_are_perfect_recall() -> None:
    builder = start()
    root = builder.decision(None, 1, "", ["short", "long"])
    end(builder, builder.decision((root, 0), 0, "x", ["a", "b"]), 2)
    detour = builder.decision((root, 1), 1, "detour", ["go"])
    end(builder, builder.decision((detour, 0), 0, "x", ["a", "b"]), 2)
    assert builder.tree().n_infosets == 3


# -- chance and payoffs -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([Fraction(1, 3)] * 2, "sum to 2/3"),
        ([Fraction(1, 2)], "sum to 1/2"),
        ([Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**15)], "must sum to 1"),
        ([0.5, 0.500001], "must sum to 1"),
        ([Fraction(3, 2), Fraction(-1, 2)], r"lie in \[0, 1\]"),
        ([math.nan, 0.5], "not a finite number"),
        ([math.inf, 0.5], "not a finite number"),
    ],
    ids=str,
)
def test_chance_must_be_a_distribution_over_its_outcomes(probabilities: list[Any], message: str):
    builder = start()
    end(builder, builder.chance(None, probabilities), len(probabilities))
    with pytest.raises(GameFormatError, match=message):
        builder.tree()
    for outcomes in (1, 3):
        builder = start()
        end(builder, builder.chance(None, [1, 0]), outcomes)
        with pytest.raises(GameFormatError, match=f"has 2 probabilities, but {outcomes} outcomes"):
            builder.tree()


def test_numerators_of_chance_may_carry_from_the_lower_half_of_their_bits() -> None:
    low, whole = 2**31 + 1, 2**61
    builder = start()
    root = builder.chance(None, [Fraction(2**60 + low, whole), Fraction(2**60 - low, whole)])
    for outcome in range(2):
        builder.terminal((root, outcome), (0, 0))
    assert builder.tree().chance_denominator == whole


def nodes(**changed: Any) -> dict[str, Any]:
    """The nodes of one decision with some of their arrays changed."""
    return {"nodes": one_decision()["nodes"] | changed}


def table(owners: list[int], labels: list[str]) -> dict[str, Any]:
    return {"infosets": InfosetTable(owners, labels, [("left", "right")] * len(labels))}


def paid(*rows: list[float]) -> dict[str, Any]:
    return {"payoffs": Payoffs(np.array(rows))}


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
        (table([0, 0], ["x", "x"]), "two information sets labeled 'x'"),
        (table([0, 0], ["x", "y"]), "'y' contains no node"),
        (paid([1.0], [np.nan]), "payoff is not finite"),
        (paid([1], [2], [3]), r"shape \(3, 1\); expected \(2, 1\)"),
        (
            {"players": ["P1", "P2"]}
            | nodes(player=np.array([1, TERMINAL, TERMINAL]))
            | paid([0, 0], [0, 0]),
            "a node of another player",
        ),
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
        with pytest.raises(GameFormatError, match=r"2\*\*62 or more"):
            assemble(**parts)


@pytest.mark.parametrize("name", ["infoset_labels", "infoset_actions"])
def test_labels_of_a_tree_that_could_be_changed_are_refused(name: str) -> None:
    tree = eqbench.load_game("kuhn2").tree
    check_tree(tree)
    with pytest.raises(GameFormatError, match="use a builder"):
        check_tree(replace(tree, **{name: list(getattr(tree, name))}))


def test_floats_are_no_exact_source() -> None:
    """Three times the float 1/3 is not 1 as a rational; the game is accepted, but inexact."""
    builder = start()
    end(builder, builder.chance(None, [1 / 3] * 3), 3)
    tree = builder.tree()
    assert not tree.exact
    assert tree.chance_probability[1:].tolist() == [1 / 3] * 3


@pytest.mark.parametrize(
    ("payoffs", "message"),
    [
        *(((0.5, x), "not a finite number") for x in (math.nan, math.inf, -math.inf, 10**400)),
        *(((x, -x), "at most") for x in (1e308, -1e301)),
    ],
    ids=str,
)
def test_payoffs_are_finite_and_leave_room_for_their_differences(payoffs: Any, message: str):
    builder = start()
    end(builder, builder.decision(None, 0, "x", ["only"]), 1, payoffs)
    with pytest.raises(GameFormatError, match=message):
        builder.tree()


def test_parameter_that_takes_payoffs_beyond_floats_is_refused_when_they_are_used() -> None:
    tree = eqbench.load_game("kuhn2").tree.at(Fraction(10**400))
    with pytest.raises(GameFormatError, match="at most"):
        _ = tree.payoffs.table


@pytest.mark.parametrize("payoffs", [[1], [1, 2, 3]])
def test_terminals_have_one_payoff_per_player(payoffs: list[int]) -> None:
    with pytest.raises(GameFormatError, match=f"{len(payoffs)} payoffs for 2 players"):
        start().terminal(None, payoffs)


@pytest.mark.parametrize("numerator", [1, -1])
def test_value_of_a_parameter_has_at_most_4000_digits(numerator: int) -> None:
    column = np.array([[0], [0]])

    def parts(digits: int) -> dict[str, Any]:
        value = Fraction(numerator, 10 ** (digits - 1))
        payoffs = Payoffs(column, slope=column, parameter="pot", value=value)
        return one_decision() | {"payoffs": payoffs}

    assert assemble(**parts(4000)).payoffs.exact
    with pytest.raises(GameFormatError, match="the value of pot has more than 4,000 digits"):
        assemble(**parts(4001))


# -- shape and labels ---------------------------------------------------------------------


TERMINALS = [(None, "terminal", [0, 0]), ((0, 0), "terminal", [0, 0])]


def decision(actions: list[Any], moves: list[int]) -> list[tuple[Any, ...]]:
    """Steps that add a decision and terminals behind some of its moves."""
    return [(None, "decision", 0, "x", actions), *(((0, k), "terminal", [0, 0]) for k in moves)]


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([], "no node"),
        (TERMINALS, "is terminal but has moves"),
        (decision(["only"], []), "has no moves"),
        ([(None, "chance", [])], "has no moves"),
        # moves must be those of the information set
        (decision(["l", "r"], [0]), "has 1 moves, its information set 'x' has 2 actions"),
        (decision(["l", "r"], [0, 1, 2]), "has 3 moves"),
        *((decision(["l", "r"], moves), "not 0, 1, 2") for moves in ([0, 0], [0, 2], [-1, 0])),
        # labels are distinct texts that a file can hold
        (decision([], [0]), "at least one, with distinct labels"),
        (decision(["a", "a"], [0, 1]), "at least one, with distinct labels"),
        *((decision(["a", label], [0, 1]), "label") for label in ("\ud800", 1, None, b"x")),
    ],
)
def test_what_was_added_must_be_a_tree(steps: list[tuple[Any, ...]], message: str) -> None:
    builder = start()
    for place, kind, *arguments in steps:
        getattr(builder, kind)(place, *arguments)
    with pytest.raises(GameFormatError, match=message):
        builder.tree()


def test_nodes_of_an_information_set_offer_the_same_actions() -> None:
    builder = start()
    root = builder.chance(None, [Fraction(1, 2)] * 2)
    builder.decision((root, 0), 0, "x", ["left", "right"])
    with pytest.raises(GameFormatError, match="they must agree"):
        builder.decision((root, 1), 0, "x", ["right", "left"])


@pytest.mark.parametrize("players", [("P1", "P1"), ()])
def test_players_have_distinct_labels(players: tuple[str, ...]) -> None:
    builder = TreeBuilder(players)
    builder.terminal(None, [0] * len(players))
    with pytest.raises(GameFormatError, match="at least one, with distinct labels"):
        builder.tree()


@pytest.mark.parametrize("player", [2, -1, CHANCE, TERMINAL])
def test_mover_must_be_a_player_of_the_game(player: int) -> None:
    with pytest.raises(GameFormatError, match="the players are 0 to 1"):
        start().decision(None, player, "x", ["a", "b"])


@pytest.mark.parametrize(
    ("place", "message"),
    [((5, 0), "not added before"), ((-1, 0), "not added before"), (None, "it is the root")],
)
def test_place_must_be_a_node_added_before(place: Any, message: str) -> None:
    builder = start()
    builder.decision(None, 0, "x", ["a"])
    with pytest.raises(GameFormatError, match=message):
        builder.terminal(place, [0, 0])


def test_node_limit_is_kept() -> None:
    with node_limit(2):
        builder = TreeBuilder(["P1"])
        root = builder.decision(None, 0, "x", ["a", "b"])
        builder.terminal((root, 0), [0])
        with pytest.raises(GameTooLargeError, match=r"more than 2 nodes.*--max-nodes"):
            builder.terminal((root, 1), [0])
