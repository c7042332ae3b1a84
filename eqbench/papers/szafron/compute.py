"""The game tree of §2 with Figures 1 and 2, its payoffs as polynomials, and two players."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.documents import read_file
from eqbench.equilibria import known_sets, local_dimension
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import (
    MOST_PROFILE_BYTES,
    parse_profile,
    profile_from_json,
    profile_text,
)
from eqbench.model.tree import TERMINAL, GameTree
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import HALF, Values
from eqbench.registry import load_game
from eqbench.report.tree_drawing import draw_tree
from eqbench.store.stored_run import read_run
from eqbench.verification import verify_exactly

LETTERS = "abc"
_WORDS = {"check": "K", "bet": "B", "fold": "F", "call": "C"}


def rules(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Situations, deals, the leaves of deal 124, what Table 2 leaves unreached; drawings."""
    tree = family.kuhn3().tree
    table_2 = dict.fromkeys(family.places(), HALF) | family.necessary()
    table_4 = family.named(family.PROFILES["table_4"]["1/4"])
    for name, values in (("table_2", table_2), ("table_4", table_4)):
        text = profile_text(tree, family.profile(values), family.kuhn3().spec)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    at = histories(tree)
    of_124 = [node for node, (deal, _) in enumerate(at) if deal == "124"]
    figure_1, figure_2 = folder / "figure_1.svg", folder / "figure_2.svg"
    shown = ("", "B", "BF", "BFF", "BFC")
    _draw(tree, figure_1, "deal 124, with Table 2", lambda deal, _: deal == "124", table_2)
    title = "player 3 with card 4 after BF"
    _draw(tree, figure_2, title, lambda deal, own: deal[2:] == "4" and own in shown, {})
    of_c43 = [at[node] for node in nodes_of(tree, "c43")]
    leaf = next(node for node in of_124 if at[node][1] == "KBFC")
    reach = _node_reach(tree, table_2)
    numerators, denominator = tree.payoffs.rational()
    chances = tree.chance[tree.parent == 0]
    return {
        "situations": {
            letter: sorted({label[2:] for who, label in family.places().values() if who == player})
            for letter, player in zip(LETTERS, tree.players, strict=True)
        },
        "deals": sorted({deal for deal, _ in at if deal}),
        "chances": sorted({str(Fraction(int(c), int(tree.chance_denominator))) for c in chances}),
        "leaves": {
            at[node][1]: _payoffs(tree, node) for node in of_124 if tree.player[node] == TERMINAL
        },
        "share_of_a13": _share(tree, leaf),
        "unreached_124": sorted(at[node][1] for node in of_124 if not reach[node]),
        "actions": sorted({" / ".join(actions) for actions in tree.infoset_actions}),
        "histories_c43": sorted(deal for deal, _ in of_c43),
        "labels_c43": sorted({history for _, history in of_c43}),
        "sums": sorted({str(Fraction(int(n), denominator)) for n in numerators.sum(axis=1)}),
    }


def histories(tree: GameTree) -> list[tuple[str, str]]:
    """Deal such as 124 and history such as KBF of each node; both empty at the root.

    The cards are read off the information sets below a deal.
    """
    deal_of, history = [0], [""]
    cards: dict[int, dict[int, str]] = {}
    for node in range(1, tree.n_nodes):
        parent = int(tree.parent[node])
        deal_of.append(deal_of[parent] if parent else node)
        history.append(history[parent] + (_WORDS[_action(tree, node)] if parent else ""))
        if (infoset := int(tree.infoset[node])) >= 0:
            card = tree.infoset_labels[infoset].split(":")[0]
            cards.setdefault(deal_of[node], {})[int(tree.player[node])] = card
    deals = {deal: "".join(own[k] for k in sorted(own)) for deal, own in cards.items()}
    return [(deals.get(deal, ""), text) for deal, text in zip(deal_of, history, strict=True)]


def _action(tree: GameTree, node: int) -> str:
    """The action that leads to a node."""
    infoset = int(tree.infoset[tree.parent[node]])
    return tree.infoset_actions[infoset][int(tree.move[node])]


def nodes_of(tree: GameTree, name: str) -> list[int]:
    """Nodes of the information set of a frequency."""
    found: list[int] = np.flatnonzero(
        tree.infoset == family.names_by_infoset().index(name)
    ).tolist()
    return found


def _payoffs(tree: GameTree, node: int) -> list[str]:
    numerators, denominator = tree.payoffs.rational()
    row = numerators[int(np.searchsorted(tree.terminals, node))]
    return [str(Fraction(int(value), denominator)) for value in row]


def _share(tree: GameTree, leaf: int) -> str:
    """What a leaf contributes to the payoff of player 1, as product of frequencies."""
    factors, node = [], leaf
    while tree.parent[node] > 0:
        name = family.names_by_infoset()[int(tree.infoset[tree.parent[node]])]
        factors.append(name if tree.move[node] else f"(1 − {name})")
        node = int(tree.parent[node])
    return " ".join([f"{_payoffs(tree, leaf)[0]}κ".replace("-", "−"), *reversed(factors)])


def _node_reach(tree: GameTree, values: Values) -> list[bool]:
    """Whether play by the given frequencies can reach each node."""
    reach = [True]
    for node in range(1, tree.n_nodes):
        parent, infoset = int(tree.parent[node]), int(tree.infoset[tree.parent[node]])
        frequency = values[family.names_by_infoset()[infoset]] if infoset >= 0 else HALF
        reach.append(reach[parent] and (frequency if tree.move[node] else 1 - frequency) != 0)
    return reach


def _draw(
    tree: GameTree, path: Path, title: str, kept: Callable[[str, str], bool], values: Values
) -> None:
    """Write the part of the tree that is `kept` as SVG, with frequencies if there are any."""
    shown = [kept(*place) for place in histories(tree)]

    def children(node: int) -> list[int]:
        return [n for n in np.flatnonzero(tree.parent == node).tolist() if shown[n]]

    builder = TreeBuilder(tree.players)
    deals = children(0)
    root = builder.chance(None, [Fraction(1, len(deals))] * len(deals))
    waiting = [(node, (root, move)) for move, node in enumerate(deals)]
    for node, place in waiting:
        if tree.player[node] == TERMINAL:
            builder.terminal(place, [Fraction(text) for text in _payoffs(tree, node)])
            continue
        label = tree.infoset_labels[int(tree.infoset[node])]
        actions = [_action(tree, child) for child in children(node)]
        own = builder.decision(place, int(tree.player[node]), label, actions)
        waiting += [(child, (own, move)) for move, child in enumerate(children(node))]
    part, behavior = builder.tree(), None
    if values:
        named = {place: values[name] for name, place in family.places().items()}
        owners = zip(part.infoset_player, part.infoset_labels, strict=True)
        second = [named[part.players[player], label] for player, label in owners]
        behavior = BehaviorProfile.of_exact(part, [x for each in second for x in (1 - each, each)])
    path.write_text(draw_tree(part, title, behavior), encoding="utf-8")


def two_players(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Kuhn's line of equilibria by γ, and what differs in the list of all equilibria."""
    game = load_game("kuhn2")
    return _line(game) | _listed(game, jobs / "two_player_list")


def _line(game: Game) -> dict[str, Any]:
    """Exact regrets and dimension of Kuhn's equilibria."""
    (known,) = known_sets(game)
    members = [known.member([Fraction(k, 18)]) for k in range(7)]
    around = local_dimension(game, members[3].probabilities)
    return {
        "members": len(members),
        "equilibria": sum(verify_exactly(game.tree, one).max_regret == 0 for one in members),
        "dimension": None if around is None else around.total,
    }


def _listed(game: Game, run: Path) -> dict[str, Any]:
    """Whether the list is complete, and how many frequencies of each player differ in it.

    A piece is the hull of what is listed of it, so that what is the same at all of that is fixed.
    """
    (cell,) = read_run(run).cells
    texts = [read_file(run / str(item.profile), MOST_PROFILE_BYTES) for item in cell.equilibria]
    rows = [profile_from_json(game.tree, parse_profile(text)).probabilities for text in texts]
    owner = np.repeat(game.tree.infoset_player, np.diff(game.tree.action_start))
    moving = np.ptp(rows, axis=0) > 0
    return {
        "listed": len(rows),
        "complete": all(item.claim == "complete list" for item in cell.equilibria),
        "exact": cell.max_regret == 0,
        # two actions each, so that a frequency is counted once
        "moving": [int(moving[owner == player].sum()) // 2 for player in (0, 1)],
    }
