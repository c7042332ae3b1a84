"""The formulas of the paper held against the game's own polynomials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.model.tree import TERMINAL, GameTree
from eqbench.papers.szafron import printed_formulas as printed
from eqbench.papers.szafron.family import Member, largest_bluffs, sample
from eqbench.papers.szafron.notation import (
    FIXED,
    NAMES,
    NECESSARY,
    PLACES,
    SUB_FAMILIES,
    Values,
    load_kuhn3,
)
from eqbench.papers.szafron.polynomials import Polynomial, expected, parsed

LETTERS = "abc"
PRINTED_UTILITIES = {1: printed.U1, 2: printed.U2, 3: printed.U3}
_DEPENDENT = {"b41": "2*b11 + 2*b21", "c21": "1/2 - c11"}


def compute(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Counts of terms, equations (1) to (5), every derivative of the lemmas, and dominance."""
    tree = load_kuhn3().tree
    utilities = payoff_polynomials(tree)
    necessary = [utility.at(NECESSARY) for utility in utilities]
    family = [in_family(utility, player) for player, utility in enumerate(utilities)]
    members = sample(60 if full else 12, seed=0)
    reach = reach_polynomial(tree, "c43")
    derivative = utilities[2].derivative("c43")
    return {
        "terms": [len(utility) for utility in utilities],
        "terms_necessary": [len(utility) for utility in necessary],
        "names_necessary": len({name for u in necessary for term in u.terms for name in term}),
        "largest_degree": max(
            term.count(name) for u in utilities for term in u.terms for name in term
        ),
        "reach_c43": _compared(printed.REACH_C43, reach),
        "derivative_c43": _compared(f"4*({printed.REACH_C43})", derivative),
        "derivative_minus_4_reach": len(derivative - 4 * reach),
        "equations": {
            str(5 - player): _compared(PRINTED_UTILITIES[player + 1], family[player])
            for player in range(3)
        },
        "members": len(members),
        "steps": [_step(step, family, members) for step in printed.STEPS],
        "dominance": dominance(tree),
        "largest_bluffs": {name: list(map(str, largest_bluffs(name))) for name in SUB_FAMILIES},
        "slope_u2_c11": str(family[1].derivative("c11")),
    }


def payoff_polynomials(tree: GameTree) -> list[Polynomial]:
    """Expected payoff of each player in units of κ, as polynomial in the 48 frequencies."""
    return [
        expected(tree, _names(tree), dict(enumerate_payoffs(tree, player)).get)
        for player in range(tree.n_players)
    ]


def enumerate_payoffs(tree: GameTree, player: int) -> list[tuple[int, Fraction]]:
    """Terminals with what the player earns there."""
    payoffs, denominator = tree.payoffs.rational()
    own = [Fraction(int(value), denominator) for value in payoffs[:, player]]
    return list(zip(tree.terminals.tolist(), own, strict=True))


def reach_polynomial(tree: GameTree, name: str) -> Polynomial:
    """Probability that play reaches the information set of a frequency, in units of κ."""
    nodes = set(_nodes(tree, name))
    return expected(tree, _names(tree), lambda node: 1 if node in nodes else None)


def in_family(utility: Polynomial, player: int) -> Polynomial:
    """Payoff of a player whose opponents follow Table 3, with Table 2 for all."""
    others = {name: value for name, value in FIXED.items() if name[0] != LETTERS[player]}
    dependent = {
        name: parsed(text, {}) for name, text in _DEPENDENT.items() if name[0] != LETTERS[player]
    }
    return utility.at(NECESSARY | others).at(dependent)


def dominance(tree: GameTree) -> dict[str, dict[str, Any]]:
    """What the aggressive action earns more than the other, at the worst and at the best.

    Over all histories of the information set and all that may be played afterwards; an interval
    that may be too wide, but never too narrow.
    """
    payoffs, denominator = tree.payoffs.rational()
    low = np.zeros((tree.n_nodes, tree.n_players), dtype=np.int64)
    high = low.copy()
    low[tree.terminals] = high[tree.terminals] = payoffs // denominator
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parent.tolist()):
        children.setdefault(parent, []).append(node)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.player[node] != TERMINAL:
            low[node] = low[children[node]].min(axis=0)
            high[node] = high[children[node]].max(axis=0)
    found = {}
    for name in NECESSARY:
        player, nodes = LETTERS.index(name[0]), _nodes(tree, name)
        gains = [
            (low[bold, player] - high[meek, player], high[bold, player] - low[meek, player])
            for meek, bold in (children[node] for node in nodes)
        ]
        found[name] = {
            "histories": len(nodes),
            "least": int(min(least for least, _ in gains)),
            "most": int(max(most for _, most in gains)),
        }
    return found


def _names(tree: GameTree) -> dict[int, str]:
    return {
        infoset: NAMES[tree.players[player], label]
        for infoset, (player, label) in enumerate(
            zip(tree.infoset_player.tolist(), tree.infoset_labels, strict=True)
        )
    }


def _nodes(tree: GameTree, name: str) -> list[int]:
    player, label = PLACES[name]
    infoset = next(i for i, own in _names(tree).items() if own == NAMES[player, label])
    nodes: list[int] = np.flatnonzero(tree.infoset == infoset).tolist()
    return nodes


def _compared(text: str, ours: Polynomial) -> dict[str, Any]:
    """A printed polynomial beside ours: terms of both, and of what is between them."""
    theirs = parsed(text, {})
    return {
        "printed_terms": len(theirs),
        "terms": len(ours),
        "difference": str(theirs - ours),
        "ours": str(ours) if len(ours) < 12 else "",
    }


def _step(
    step: printed.Step, family: Sequence[Polynomial], members: Sequence[Member]
) -> dict[str, Any]:
    """A printed derivative beside ours, and the extremes of ours over members of the family."""
    exact = family[LETTERS.index(step.variable[0])].derivative(step.variable)
    where = {name: parsed(text, {}) for name, text in step.where.items()}
    compared = _compared_at(step.printed, exact, where)
    values = [_own(one) for one in members if step.case in ("", one.sub_family)]
    at_members = [exact.value(value) for value in values]
    between = [parsed(step.printed, {}).value(v) - exact.value(v) for v in values]
    return {
        "title": step.title,
        "printed": step.printed,
        "sign": step.sign,
        "bounds": step.bounds,
        **compared,
        "smallest": str(min(at_members)),
        "largest": str(max(at_members)),
        "printed_minus_exact": [str(min(between)), str(max(between))],
        "members": len(values),
    }


def _own(one: Member) -> Values:
    return one.values | {"beta": max(one.values["b11"], one.values["b21"])}


def _compared_at(
    text: str, exact: Polynomial, where: Mapping[str, Polynomial]
) -> dict[str, str | int]:
    theirs, ours = parsed(text, {}).at(where), exact.at(where)
    # a replaced name may bring others that are replaced, such as beta
    theirs, ours = theirs.at(where), ours.at(where)
    return {"difference": str(theirs - ours), "ours": str(ours)}
