"""Formulas of published sets as data say the same as the sets themselves."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import eqbench
from eqbench.equilibria import known_sets
from eqbench.equilibria.expressions import as_data, compile_expression
from eqbench.equilibria.formulas import set_data, tree_data
from eqbench.equilibria.known import nearest_member
from eqbench.model.inspection import infoset_reach

GAMES = ["kuhn2", "kuhn3", "kuhn3_reduced", "skp(pot=3)", "skp(pot=5)", "matching_pennies"]
OPERATIONS: dict[str, Callable[..., float]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "^": operator.pow},
    **{"/": lambda a, b: a / b if b else math.nan, "neg": operator.neg, "sqrt": math.sqrt},
}


def value(expression: Any, names: Mapping[str, float]) -> float:
    """What data says, by a reader that shares nothing with the compiler."""
    if isinstance(expression, str):
        return names[expression]
    if isinstance(expression, int | float):
        return expression
    sign, *parts = expression
    return OPERATIONS[sign](*(value(part, names) for part in parts))


@pytest.mark.parametrize(
    "text", ["1/2 - 3*x**2", "-(x + y)/(y - y)", "sqrt(97)/4 - -x", "(x*y)**3", "7"]
)
def test_expressions_keep_their_values_as_data(text: str) -> None:
    names = {"x": 0.3, "y": 0.7}
    data = json.loads(json.dumps(as_data(text)))
    np.testing.assert_equal(value(data, names), compile_expression(text)(names))


@pytest.mark.parametrize("text", ["x**y", "f(x)", "x.y", "'x'", "x < 1", "1.5", "__import__('os')"])
def test_what_is_no_arithmetic_is_no_data(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        as_data(text)


@pytest.mark.parametrize("name", GAMES)
def test_members_are_those_of_the_set(name: str) -> None:
    game, rng = eqbench.load_game(name), np.random.default_rng(5)
    assert known_sets(game)
    for known in known_sets(game):
        data = json.loads(json.dumps(set_data(game, known), allow_nan=False))
        count = len(known.layout.variables)
        parameters = nearest_member(known, rng.random(count), np.ones(count))
        names = dict(data["constants"]) | dict(zip(known.parameters, parameters, strict=True))
        for key, expression in data["values"]:
            names[key] = value(expression, names)
        behavior = np.zeros(game.tree.n_actions)
        behavior[data["rest"]] = 1.0
        for variable, action, rest in data["places"]:
            behavior[action] = names[variable]
            behavior[rest] -= names[variable] if rest >= 0 else 0.0
        expected = known.layout.behavior(known.frequencies(parameters))
        np.testing.assert_allclose(behavior, expected, atol=1e-12)
        payoffs = [value(each, names) for each in data["payoffs"]]
        np.testing.assert_allclose(payoffs, known.payoffs_near(parameters), atol=1e-12)
        sides = [value(each, names) for each in data["violations"]]
        np.testing.assert_allclose(sides, known.violations(parameters), atol=1e-12)


@pytest.mark.parametrize("name", GAMES)
def test_ranges_hold_the_member_to_begin_with_and_end_in_the_set(name: str) -> None:
    game = eqbench.load_game(name)
    for known in known_sets(game):
        data = set_data(game, known)
        assert {each["name"] for each in data["parameters"]} == {*known.parameters}
        start = {each["name"]: each["start"] for each in data["parameters"]}
        assert (
            known.violations(np.array([start[p] for p in known.parameters])).max(initial=0.0)
            <= 1e-7
        )
        for each in data["parameters"]:
            assert -1e-9 <= each["low"] <= each["start"] + 1e-7
            assert each["start"] <= each["high"] + 1e-7 <= 1 + 2e-7


def test_nodes_say_what_is_reached() -> None:
    tree = eqbench.load_game("kuhn3").tree
    behavior, data = np.random.default_rng(2).random(tree.n_actions), tree_data(tree)
    reach, sums = [1.0], np.zeros(tree.n_infosets)
    for node in range(tree.n_nodes):
        if node:
            action = data["action"][node]
            share = behavior[action] if action >= 0 else data["chance"][node]
            reach.append(reach[data["parent"][node]] * share)
        if data["set"][node] >= 0:
            sums[data["set"][node]] += reach[node]
    np.testing.assert_allclose(sums, infoset_reach(tree, behavior), rtol=1e-4)
