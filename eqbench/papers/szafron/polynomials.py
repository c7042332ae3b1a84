"""Payoffs of the game as polynomials in its frequencies, held against the paper's equations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, reduce
from operator import add
from pathlib import Path
from typing import Any

import flint
import numpy as np

from eqbench.equilibria.expressions import compile_expression, evaluate
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.papers.szafron import family
from eqbench.papers.szafron.compute import LETTERS, nodes_of
from eqbench.papers.szafron.family import Values, kuhn3

Polynomial = Any  # flint.fmpq_mpoly in the 48 frequencies and beta


@cache
def _ring() -> Any:
    return flint.fmpq_mpoly_ctx.get([*family.places(), "beta"], "deglex")


@cache
def _variables() -> dict[str, Polynomial]:
    return dict(zip(_ring().names(), _ring().gens(), strict=True))


def parsed(text: str) -> Polynomial:
    """Polynomial of an arithmetic text."""
    spelled = re.sub(r"(?<!\w)(?<!\*\*)\d+", r"n\g<0>", " ".join(text.split()))
    numbers = {word: _ring().constant(int(word[1:])) for word in re.findall(r"\bn\d+", spelled)}
    found = evaluate(spelled, _variables() | numbers)
    return found


def written(polynomial: Polynomial) -> str:
    """Arithmetic text of a polynomial."""
    return str(polynomial).replace("^", "**")


def at(polynomial: Polynomial, values: Mapping[str, Any]) -> Polynomial:
    """A polynomial with some names replaced by numbers, texts or polynomials."""
    new = {
        name: value if isinstance(value, flint.fmpq_mpoly) else parsed(str(value))
        for name, value in values.items()
    }
    return polynomial.compose(*(_variables() | new).values())


def expected(tree: GameTree, value: Callable[[int], int | None]) -> Polynomial:
    """Expectation of a function of nodes in units of the probability of a deal.

    Parameters
    ----------
    value : of a node, where the tree is then cut off; None at nodes that have none of their own
    """
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parent.tolist()):
        children.setdefault(parent, []).append(node)

    def below(node: int) -> Polynomial:
        own = value(node)
        if own is not None or tree.player[node] == TERMINAL:
            return _ring().constant(own or 0)
        parts = [below(child) for child in children[node]]
        if tree.player[node] == CHANCE:
            return reduce(add, parts)
        name = _variables()[family.names_by_infoset()[int(tree.infoset[node])]]
        return parts[0] * (1 - name) + parts[1] * name

    return below(0)


def payoff_polynomials(tree: GameTree) -> list[Polynomial]:
    """Expected payoff of each player in units of κ, as polynomial in the 48 frequencies."""
    numerators, denominator = tree.payoffs.rational()
    columns = (numerators // denominator).T.tolist()
    payoffs = [dict(zip(tree.terminals.tolist(), column, strict=True)) for column in columns]
    return [expected(tree, own.get) for own in payoffs]


def in_family(utility: Polynomial, player: int) -> Polynomial:
    """Payoff of a player whose opponents follow Table 3, with Table 2 for all."""
    dependent = {"b41": "2*b11 + 2*b21", "c21": "1/2 - c11"}
    entries = (family.constants() | dependent).items()
    others = {name: value for name, value in entries if name[0] != LETTERS[player]}
    return at(utility, family.necessary() | others)


def formulas(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Counts of terms, equations (1) to (5), every derivative of the lemmas, and dominance."""
    tree = kuhn3().tree
    utilities = payoff_polynomials(tree)
    tables = [at(utility, family.necessary()) for utility in utilities]
    restricted = [in_family(utility, player) for player, utility in enumerate(utilities)]
    members = [
        (one.sub_family, one.values | {"beta": max(one.values["b11"], one.values["b21"])})
        for one in family.sample(60 if full else 12, seed=0)
    ]
    c43 = set(nodes_of(tree, "c43"))
    reach = expected(tree, lambda node: 1 if node in c43 else None)
    derivative = utilities[2].derivative("c43")
    used = [sum(degrees) for degrees in zip(*(u.degrees() for u in tables), strict=True)]
    return {
        "terms": [len(utility) for utility in utilities],
        "terms_necessary": [len(utility) for utility in tables],
        "names_necessary": sum(degree > 0 for degree in used),
        "largest_degree": int(max(max(utility.degrees()) for utility in utilities)),
        "reach_c43": _compared(parsed(family.PRINTED["reach_c43"]), reach),
        "derivative_c43": _compared(4 * parsed(family.PRINTED["reach_c43"]), derivative),
        "derivative_minus_4_reach": len(derivative - 4 * reach),
        "equations": {
            str(5 - player): _compared(parsed(family.PRINTED[f"u{player + 1}"]), restricted[player])
            for player in range(3)
        },
        "steps": [_step(title, restricted, members) for title in family.PRINTED["derivatives"]],
        "dominance": dominance(tree),
    }


def _compared(theirs: Polynomial, ours: Polynomial) -> dict[str, Any]:
    return {"terms": len(ours), "difference": written(theirs - ours)}


def _step(
    title: str, restricted: list[Polynomial], members: list[tuple[str, Values]]
) -> dict[str, Any]:
    """A derivative of the proofs, and its extremes over members of the family."""
    variable = title.rpartition("∂")[2].partition(",")[0]
    exact = restricted[LETTERS.index(variable[0])].derivative(variable)
    ours = at(exact, family.replaced(title))
    case = next((name for name in (family.LOW, family.BETWEEN, family.HIGH) if name in title), "")
    own = [values for sub_family, values in members if case in ("", sub_family)]
    found = list(map(compile_expression(written(exact), exact=True), own))
    step = {
        "title": title,
        "ours": written(ours),
        "smallest": str(min(found)),
        "largest": str(max(found)),
        "members": len(own),
    }
    if title in family.PRINTED["misprints"]:
        theirs = map(compile_expression(family.PRINTED["misprints"][title], exact=True), own)
        gaps = [a - b for a, b in zip(theirs, found, strict=True)]
        step["printed_minus_exact"] = [str(min(gaps)), str(max(gaps))]
    return step


def dominance(tree: GameTree) -> dict[str, dict[str, Any]]:
    """What the aggressive action earns more than the other, at the worst and at the best.

    Over all histories of the information set and all that may be played afterwards; an interval
    that may be too wide, but never too narrow.
    """
    numerators, denominator = tree.payoffs.rational()
    low = np.zeros((tree.n_nodes, tree.n_players), dtype=np.int64)
    low[tree.terminals] = numerators // denominator
    high = low.copy()
    children: dict[int, list[int]] = {}
    for node in range(tree.n_nodes - 1, 0, -1):
        if tree.player[node] != TERMINAL:
            low[node] = low[children[node]].min(axis=0)
            high[node] = high[children[node]].max(axis=0)
        children.setdefault(int(tree.parent[node]), []).insert(0, node)
    found = {}
    for name in family.necessary():
        player = LETTERS.index(name[0])
        pairs = np.array([children[node] for node in nodes_of(tree, name)])
        meek, bold = pairs[:, 0], pairs[:, 1]
        found[name] = {
            "histories": len(pairs),
            "least": int((low[bold, player] - high[meek, player]).min()),
            "most": int((high[bold, player] - low[meek, player]).max()),
        }
    return found
