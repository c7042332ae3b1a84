"""The game tree of §2 and Figures 1 and 2, read from the tree of the game, and two profiles."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.model.builder import TreeBuilder
from eqbench.model.profile import BehaviorProfile
from eqbench.model.tree import TERMINAL, GameTree
from eqbench.papers.szafron.notation import (
    HALF,
    NAMES,
    NECESSARY,
    PLACES,
    SITUATIONS,
    document,
    load_kuhn3,
    profile,
)
from eqbench.papers.szafron.selection import table_4_values
from eqbench.report.tree_drawing import draw_tree

Kept = Callable[[str, str], bool]  # deal and history of a node -> whether it is drawn


def compute(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Situations, deals, the leaves of deal 124, what Table 2 leaves unreached; drawings."""
    game = load_kuhn3()
    tree = game.tree
    table_2 = dict.fromkeys(PLACES, HALF) | NECESSARY
    for name, values in (("table_2", table_2), ("table_4", table_4_values())):
        text = json.dumps(document(values), indent=1) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    places = _places(tree)
    reach = _node_reach(tree, profile(game, table_2).probabilities)
    of_124 = [node for node, (deal, _) in places.items() if deal == "124"]
    _draw(tree, folder / "figure_1.svg", "deal 124, with Table 2", _first_figure, table_2)
    _draw(tree, folder / "figure_2.svg", "player 3 with card 4 after BF", _second_figure, {})
    return {
        "situations": {
            letter: sorted(
                {
                    label.split(":")[1]
                    for who, label in zip(tree.infoset_player, tree.infoset_labels, strict=True)
                    if tree.players[who] == player
                },
                key=lambda history: (len(history), history),
            )
            for letter, (player, _) in SITUATIONS.items()
        },
        "deals": sorted({deal for deal, _ in places.values() if deal}),
        "chances": sorted({str(x) for x in _chances(tree)}),
        "leaves": {
            places[node][1]: _payoffs(tree, node)
            for node in of_124
            if tree.player[node] == TERMINAL
        },
        "share_of_a13": _share(tree, next(n for n in of_124 if places[n][1] == "KBFC")),
        "unreached_124": sorted(
            places[node][1] for node in of_124 if reach[node] == 0 and tree.parent[node] >= 0
        ),
        "actions": sorted({" / ".join(actions) for actions in tree.infoset_actions}),
        "histories_c43": sorted(places[node][0] for node in _nodes(tree, "c43")),
        "labels_c43": sorted({places[node][1] for node in _nodes(tree, "c43")}),
        "sums": sorted({str(sum(map(Fraction, _payoffs(tree, node)))) for node in tree.terminals}),
    }


def _chances(tree: GameTree) -> list[Fraction]:
    return [
        Fraction(int(value), int(tree.chance_denominator))
        for value in tree.chance[tree.parent == 0]
    ]


def _places(tree: GameTree) -> dict[int, tuple[str, str]]:
    """Deal such as 124 and history such as KBF of each node; both empty at the root.

    The cards are read off the information sets below a deal.
    """
    words = {"check": "K", "bet": "B", "fold": "F", "call": "C"}
    places = {0: ("", "")}
    cards: dict[int, list[str]] = {}
    for node in range(1, tree.n_nodes):
        parent = int(tree.parent[node])
        if parent == 0:
            places[node] = (str(node), "")
            continue
        deal, history = places[parent]
        infoset = int(tree.infoset[parent])
        action = tree.infoset_actions[infoset][int(tree.move[node])]
        places[node] = (deal, history + words[action])
    for node, (deal, _) in places.items():
        if tree.infoset[node] >= 0:
            held = cards.setdefault(int(deal), [""] * tree.n_players)
            held[tree.player[node]] = tree.infoset_labels[tree.infoset[node]].split(":")[0]
    return {
        node: ("".join(cards[int(deal)]) if deal else "", history)
        for node, (deal, history) in places.items()
    }


def _payoffs(tree: GameTree, node: int) -> list[str]:
    payoffs, denominator = tree.payoffs.rational()
    row = payoffs[int(np.searchsorted(tree.terminals, node))]
    return [str(Fraction(int(value), denominator)) for value in row]


def _share(tree: GameTree, leaf: int) -> str:
    """What a leaf contributes to the payoff of player 1, as product of frequencies."""
    factors, node = [], leaf
    while tree.parent[node] > 0:
        parent = int(tree.parent[node])
        player, label = tree.players[tree.player[parent]], tree.infoset_labels[tree.infoset[parent]]
        name = NAMES[player, label]
        factors.append(name if tree.move[node] else f"(1 − {name})")
        node = parent
    return " ".join([f"{_payoffs(tree, leaf)[0]}κ".replace("-", "−"), *reversed(factors)])


def _node_reach(tree: GameTree, behavior: Any) -> Any:
    reach = np.ones(tree.n_nodes)
    for node in range(1, tree.n_nodes):
        action = tree.incoming[node]
        step = behavior[action] if action >= 0 else 1.0
        reach[node] = reach[tree.parent[node]] * step
    return reach


def _nodes(tree: GameTree, name: str) -> list[int]:
    return [
        node
        for node in range(tree.n_nodes)
        if (infoset := int(tree.infoset[node])) >= 0
        and NAMES[tree.players[tree.player[node]], tree.infoset_labels[infoset]] == name
    ]


def _first_figure(deal: str, history: str) -> bool:
    return deal == "124"


def _second_figure(deal: str, history: str) -> bool:
    wanted = {f"{a}{b}4" for a, b in permutations("123", 2)}
    return deal in wanted and history in ("", "B", "BF", "BFF", "BFC")


def _draw(tree: GameTree, path: Path, title: str, kept: Kept, values: dict[str, Fraction]) -> None:
    """Write the part of the tree that is `kept` as SVG, with frequencies if there are any."""
    places = _places(tree)
    builder = TreeBuilder(tree.players)
    deals = [n for n in np.flatnonzero(tree.parent == 0).tolist() if kept(*places[n])]
    root = builder.chance(None, [Fraction(1, len(deals))] * len(deals))
    waiting = [(node, (root, move)) for move, node in enumerate(deals)]
    for node, place in waiting:
        if tree.player[node] == TERMINAL:
            builder.terminal(place, [Fraction(text) for text in _payoffs(tree, node)])
            continue
        infoset, player = int(tree.infoset[node]), int(tree.player[node])
        label = tree.infoset_labels[infoset]
        children = [n for n in np.flatnonzero(tree.parent == node).tolist() if kept(*places[n])]
        actions = [tree.infoset_actions[infoset][int(tree.move[child])] for child in children]
        own = builder.decision(place, player, label, actions)
        waiting += [(child, (own, move)) for move, child in enumerate(children)]
    part = builder.tree()
    path.write_text(draw_tree(part, title, _behavior(part, values)), encoding="utf-8")


def _behavior(tree: GameTree, values: dict[str, Fraction]) -> BehaviorProfile | None:
    if not values:
        return None
    frequencies = []
    for player, label in zip(tree.infoset_player, tree.infoset_labels, strict=True):
        value = values[NAMES[tree.players[player], label]]
        frequencies += [1 - value, value]
    return BehaviorProfile.of_exact(tree, frequencies)
