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

from eqbench.equilibria.expressions import evaluate
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import PRINTED

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
    """A polynomial with some names replaced by what numbers or texts stand for."""
    new = {name: parsed(str(value)) for name, value in values.items()}
    return polynomial.compose(*(_variables() | new).values())


def expected(tree: GameTree, value: Callable[[int], int | None]) -> Polynomial:
    """Expectation of a function of nodes in units of the probability of a deal.

    Parameters
    ----------
    value : of a node, where the tree is then cut off; None at nodes that have none of their own
    """
    below = family.children()

    def total(node: int) -> Polynomial:
        own = value(node)
        if own is not None or tree.player[node] == TERMINAL:
            return _ring().constant(own or 0)
        parts = [total(child) for child in below[node]]
        if tree.player[node] == CHANCE:
            return reduce(add, parts)
        name = _variables()[family.names_by_infoset()[int(tree.infoset[node])]]
        return parts[0] * (1 - name) + parts[1] * name

    return total(0)


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
    others = {name: value for name, value in entries if name[0] != "abc"[player]}
    return at(utility, family.necessary() | others)


def case_of(title: str) -> str:
    """The sub-family that a derivative is about, if it is about one."""
    return next((name for name in family.SUB_FAMILIES if name in title), "")


def replaced(title: str) -> dict[str, str]:
    """What is put into a derivative before it is compared, by name.

    The title names frequencies that are 0, or else a sub-family and entries of Table 3.
    """
    where: dict[str, str] = dict.fromkeys(re.findall(r"(\w+) = ", title), "0")
    if not where and (case := case_of(title)):
        where = PRINTED["case"][case] | {"b33": PRINTED["where"]["b33"]}
    where |= {name: text for name, text in PRINTED["where"].items() if f"3's {name}" in title}
    # what is put in may hold names that are replaced, such as beta
    return {
        name: re.sub(r"[a-z]\w+", lambda match: f"({where.get(match[0], match[0])})", text)
        for name, text in where.items()
    }


def formulas(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Counts of terms, equations (1) to (5), every derivative of the lemmas, and dominance."""
    tree = family.kuhn3().tree
    utilities = payoff_polynomials(tree)
    tables = [at(utility, family.necessary()) for utility in utilities]
    restricted = [in_family(utility, player) for player, utility in enumerate(utilities)]
    c43 = set(family.nodes_of("c43"))
    reach = expected(tree, lambda node: 1 if node in c43 else None)
    printed = {name: parsed(PRINTED[name]) for name in ("reach_c43", "u3", "u2", "u1")}
    derivative = utilities[2].derivative("c43")
    compared = [
        (printed["reach_c43"], reach),
        (4 * printed["reach_c43"], derivative),
        *((printed[f"u{player + 1}"], restricted[player]) for player in (2, 1, 0)),
    ]
    used = [sum(degrees) for degrees in zip(*(u.degrees() for u in tables), strict=True)]
    return {
        "48 parameters": [len(utility) for utility in utilities],
        "Table 2 set": [len(utility) for utility in tables],
        "names necessary": sum(degree > 0 for degree in used),
        "largest degree": int(max(max(utility.degrees()) for utility in utilities)),
        "equations": {
            str(number): {"terms": len(ours), "difference": written(theirs - ours)}
            for number, (theirs, ours) in enumerate(compared, start=1)
        },
        "derivative minus 4 reach": len(derivative - 4 * reach),
        "derivatives": {title: _derivative(title, restricted) for title in PRINTED["derivatives"]},
        "dominance": dominance(tree),
    }


def _derivative(title: str, restricted: list[Polynomial]) -> str:
    """A derivative of the proofs: of the payoff of the player whose frequency it is by."""
    name = title[:3]
    return written(at(restricted["abc".index(name[0])].derivative(name), replaced(title)))


def dominance(tree: GameTree) -> dict[str, dict[str, Any]]:
    """What the aggressive action earns more than the other, at the worst and at the best.

    Over all histories of the information set and all that may be played afterwards; an interval
    that may be too wide, but never too narrow.
    """
    numerators, denominator = tree.payoffs.rational()
    low = np.zeros((tree.n_nodes, tree.n_players), dtype=np.int64)
    low[tree.terminals] = numerators // denominator
    high, below = low.copy(), family.children()
    for node in reversed(range(tree.n_nodes)):
        if below[node]:
            low[node] = low[below[node]].min(axis=0)
            high[node] = high[below[node]].max(axis=0)
    found = {}
    for name in family.necessary():
        player = "abc".index(name[0])
        meek, bold = np.array([below[node] for node in family.nodes_of(name)]).T
        found[name] = {
            "histories": len(bold),
            "least": int((low[bold, player] - high[meek, player]).min()),
            "most": int((high[bold, player] - low[meek, player]).max()),
        }
    return found
