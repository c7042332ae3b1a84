"""The game tree of §2 with Figures 1 and 2, and its payoffs as polynomials of the frequencies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.equilibria.expressions import evaluate
from eqbench.model.builder import part_of, payoff_rows
from eqbench.model.inspection import moves_to, payoff_bounds
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.papers.polynomials import Polynomial, node_reaches, variables
from eqbench.papers.records import Table
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import HALF, PRINTED, Values
from eqbench.report.tree_drawing import draw_tree

_LETTERS = {"check": "K", "bet": "B", "fold": "F", "call": "C"}


def rules(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Situations, deals, the leaves of deal 124, what Table 2 leaves unreached; drawings."""
    tree = family.kuhn3().tree
    table_2 = dict.fromkeys(family.places(), HALF) | family.necessary()
    text = profile_text(tree, family.profile(table_2), family.kuhn3().spec)
    (folder / "table_2.json").write_text(text, encoding="utf-8")
    at = histories()
    _draw(folder / "figure_1.svg", "deal 124, with Table 2", [d == "124" for d, _ in at], table_2)
    shown = [d[2:] == "4" and h in ("", "B", "BF", "BFF", "BFC") for d, h in at]
    _draw(folder / "figure_2.svg", "player 3 with card 4 after BF", shown, {})
    deals, after = zip(*(at[node] for node in family.nodes_of("c43")), strict=True)
    payoffs = dict(zip(tree.terminals.tolist(), payoff_rows(tree), strict=True))
    of_124 = {history: node for node, (deal, history) in enumerate(at) if deal == "124"}
    leaves = {history: payoffs[node] for history, node in of_124.items() if node in payoffs}
    share = [name if move else f"(1 − {name})" for name, move, _ in decisions(of_124["KBFC"])]
    chances = {Fraction(c, tree.chance_denominator) for c in tree.chance[tree.parent == 0].tolist()}
    situations: dict[str, dict[str, set[str]]] = {player: {} for player in tree.players}
    for name, (player, label) in family.places().items():
        situations[player].setdefault(name[2], set()).add(label[2:] or "–")
    return {
        "situations": situations,
        "deals": [len({deal for deal, _ in at if deal}), *chances],
        "leaves": leaves,
        "subtree": [len(leaves), *{len(own) for own in leaves.values()}],
        "share of a13": f"−{-leaves['KBFC'][0]}κ {' '.join(share)}",
        "unreached 124": sorted(
            history
            for history, node in of_124.items()
            if any(table_2[name] == 1 - move for name, move, _ in decisions(node))
        ),
        "actions": {" / ".join(actions) for actions in tree.infoset_actions},
        "I(c43)": {"deals": set(deals), "after": set(after)},
        "sums": {sum(own) for own in payoffs.values()},
    }


def decisions(node: int) -> list[tuple[str, int, str]]:
    """Frequency, move and action of each decision on the way to a node."""
    tree, names = family.kuhn3().tree, family.names_by_infoset()
    return [(names[i], move, tree.infoset_actions[i][move]) for i, move in moves_to(tree, node)]


def histories() -> list[tuple[str, str]]:
    """Deal such as 124 and history such as KBF of each node; both empty at the root."""
    tree, top = family.kuhn3().tree, [0]
    for node in range(1, tree.n_nodes):
        top.append(top[tree.parent[node]] or node)
    deals = {0: ""}
    for leaf in tree.terminals.tolist():  # all three have decided
        cards = {name[0]: name[1] for name, *_ in decisions(leaf)}
        deals[top[leaf]] = "".join(cards[player] for player in "abc")
    return [
        (deals[deal], "".join(_LETTERS[action] for *_, action in decisions(node)))
        for node, deal in enumerate(top)
    ]


def _draw(path: Path, title: str, shown: list[bool], values: Values) -> None:
    """Write the part of the tree that is shown as SVG, with frequencies if there are any."""
    part, behavior = part_of(family.kuhn3().tree, shown), None
    if values:
        named = {place: values[name] for name, place in family.places().items()}
        owners = zip(part.infoset_player, part.infoset_labels, strict=True)
        second = [named[part.players[player], label] for player, label in owners]
        behavior = BehaviorProfile.of_exact(part, [x for each in second for x in (1 - each, each)])
    path.write_text(draw_tree(part, title, behavior), encoding="utf-8")


@cache
def _variables() -> dict[str, Polynomial]:
    return variables([*family.places(), "beta"])


def parsed(text: str) -> Polynomial:
    """Polynomial of an arithmetic text."""
    spelled = re.sub(r"(?<!\w)(?<!\*\*)\d+", r"n\g<0>", " ".join(text.split()))
    zero = 0 * _variables()["beta"]
    numbers = {word: zero + int(word[1:]) for word in re.findall(r"\bn\d+", spelled)}
    return evaluate(spelled, _variables() | numbers)


def written(polynomial: Polynomial) -> str:
    """Arithmetic text of a polynomial."""
    return str(polynomial).replace("^", "**")


def at(polynomial: Polynomial, values: Mapping[str, Any]) -> Polynomial:
    """A polynomial with some names replaced by what numbers or texts stand for."""
    new = {name: parsed(str(value)) for name, value in values.items()}
    return polynomial.compose(*(_variables() | new).values())


@cache
def reaches() -> list[Polynomial]:
    """Probability of each node in units of that of a deal, in the 48 frequencies."""
    return node_reaches(family.layout(), _variables())


def payoff_polynomials() -> list[Polynomial]:
    """Expected payoff of each player in units of κ, as polynomial in the 48 frequencies."""
    tree, ends = family.kuhn3().tree, [reaches()[end] for end in family.kuhn3().tree.terminals]
    columns = zip(*payoff_rows(tree), strict=True)
    return [sum(end * int(paid) for end, paid in zip(ends, own, strict=True)) for own in columns]


def case_of(title: str) -> str:
    """The sub-family that a derivative is about, if it is about one."""
    return next((name for name in family.SUB_FAMILIES if name in title), "")


def replaced(title: str) -> dict[str, str]:
    """Return the texts to put into a derivative before it is compared, by name.

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


def formulas(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Counts of terms, equations (1) to (5), every derivative of the lemmas, and dominance.

    In (3) to (5) the opponents follow Table 3, and all Table 2.
    """
    c43, utilities, necessary = family.nodes_of("c43"), payoff_polynomials(), family.necessary()
    tables = [at(utility, necessary) for utility in utilities]
    table_3 = family.constants() | {"b41": "2*b11 + 2*b21", "c21": "1/2 - c11"}
    restricted = [
        at(utility, necessary | {name: x for name, x in table_3.items() if name[0] != own})
        for own, utility in zip("abc", utilities, strict=True)
    ]
    reach, derivative = sum(reaches()[node] for node in c43), utilities[2].derivative("c43")
    printed = {name: parsed(PRINTED[name]) for name in ("reach_c43", "u3", "u2", "u1")}
    compared = [
        (printed["reach_c43"], reach),
        (4 * printed["reach_c43"], derivative),
        *((printed[f"u{player + 1}"], restricted[player]) for player in (2, 1, 0)),
    ]
    equations: dict[str, Table] = {
        str(number): {"terms": len(ours), "difference": written(theirs - ours)}
        for number, (theirs, ours) in enumerate(compared, start=1)
    }
    equations["1"]["products"] = len(c43)
    equations["2"]["products, factor"] = [len(c43), 4 if derivative == 4 * reach else "none"]
    return {
        "48 parameters": {f"u{k}": len(utility) for k, utility in enumerate(utilities, start=1)},
        "Table 2 set": {f"u{k}": len(utility) for k, utility in enumerate(tables, start=1)},
        "names necessary": sum(map(any, zip(*(u.degrees() for u in tables), strict=True))),
        "largest degree": int(max(max(utility.degrees()) for utility in utilities)),
        "equations": equations,
        "derivative minus 4 reach": len(derivative - 4 * reach),
        "derivatives": {
            title: written(
                at(restricted["abc".index(title[0])].derivative(title[:3]), replaced(title))
            )
            for title in PRINTED["derivatives"]
        },
        "dominance": dominance(),
    }


def dominance() -> dict[str, dict[str, int]]:
    """Bound the gain by the aggressive action over the other, from below and from above.

    Over all histories of the information set and all that may be played afterwards; an interval
    that may be too wide, but never too narrow.
    """
    tree, found = family.kuhn3().tree, {}
    bounds = payoff_bounds(tree)
    for name in family.necessary():
        nodes, player = family.nodes_of(name), "abc".index(name[0])
        meek, bold = np.array([np.flatnonzero(tree.parent == node) for node in nodes]).T
        low, high = (own[:, player] for own in bounds)
        least, most = (low[bold] - high[meek]).min(), (high[bold] - low[meek]).max()
        found[name] = {"least": int(least), "most": int(most)}
    return found
