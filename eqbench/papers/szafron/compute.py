"""The game tree of §2, as far as the paper shows it, with Figures 1 and 2."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from eqbench.model.builder import Place, TreeBuilder
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.model.tree import TERMINAL, GameTree
from eqbench.papers.szafron import family
from eqbench.papers.szafron.family import HALF, Values
from eqbench.report.tree_drawing import draw_tree, payoff_rows, play_of

_LETTERS = {"check": "K", "bet": "B", "fold": "F", "call": "C"}


def rules(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Situations, deals, the leaves of deal 124, what Table 2 leaves unreached; drawings."""
    tree = family.kuhn3().tree
    table_2 = dict.fromkeys(family.places(), HALF) | family.necessary()
    table_4 = family.named(family.PROFILES["measured"]["table 4"]["0.25"])
    for name, values in (("table_2", table_2), ("table_4", table_4)):
        text = profile_text(tree, family.profile(values), family.kuhn3().spec)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    at = histories(tree)
    _draw(folder / "figure_1.svg", "deal 124, with Table 2", [d == "124" for d, _ in at], table_2)
    shown = [d[2:] == "4" and h in ("", "B", "BF", "BFF", "BFC") for d, h in at]
    _draw(folder / "figure_2.svg", "player 3 with card 4 after BF", shown, {})
    c43 = [at[node] for node in family.nodes_of("c43")]
    reach = play_of(tree, family.profile(table_2)).reach or []
    payoffs = payoff_rows(tree)
    of_124 = {at[node][1]: node for node in range(tree.n_nodes) if at[node][0] == "124"}
    terminal = {
        node: list(map(str, row)) for node, row in zip(tree.terminals, payoffs, strict=True)
    }
    chances = tree.chance[tree.parent == 0]
    return {
        "situations": {
            player: sorted({label[2:] for who, label in family.places().values() if who == player})
            for player in tree.players
        },
        "deals": sorted({deal for deal, _ in at if deal}),
        "chances": sorted({str(Fraction(int(c), int(tree.chance_denominator))) for c in chances}),
        "leaves": {text: terminal[node] for text, node in of_124.items() if node in terminal},
        "share of a13": _share(tree, of_124["KBFC"], terminal[of_124["KBFC"]][0]),
        "unreached 124": sorted(text for text, node in of_124.items() if not reach[node]),
        "actions": sorted({" / ".join(actions) for actions in tree.infoset_actions}),
        "I(c43)": {"deals": sorted({d for d, _ in c43}), "after": sorted({h for _, h in c43})},
        "sums": sorted({str(sum(row)) for row in payoffs}),
    }


def histories(tree: GameTree) -> list[tuple[str, str]]:
    """Deal such as 124 and history such as KBF of each node; both empty at the root.

    Cards and histories are read off the information sets.
    """
    deal, history = [0], [""]
    cards: dict[int, dict[int, str]] = defaultdict(dict)
    for node in range(1, tree.n_nodes):
        parent, infoset = int(tree.parent[node]), int(tree.infoset[node])
        deal.append(deal[parent] or node)
        if infoset >= 0:
            card, _, told = tree.infoset_labels[infoset].partition(":")
            cards[deal[node]][int(tree.player[node])] = card
        else:
            told = history[parent] + _LETTERS[_action(tree, node)]
        history.append(told)
    deals = {top: "".join(own[player] for player in sorted(own)) for top, own in cards.items()}
    return [(deals.get(top, ""), told) for top, told in zip(deal, history, strict=True)]


def _action(tree: GameTree, node: int) -> str:
    """The action that leads to a node."""
    infoset = int(tree.infoset[tree.parent[node]])
    return tree.infoset_actions[infoset][int(tree.move[node])]


def _share(tree: GameTree, leaf: int, payoff: str) -> str:
    """What a leaf contributes to a payoff, as product of frequencies."""
    factors, node = [], leaf
    while tree.parent[node] > 0:
        name = family.names_by_infoset()[int(tree.infoset[tree.parent[node]])]
        factors.append(name if tree.move[node] else f"(1 − {name})")
        node = int(tree.parent[node])
    return " ".join([f"{payoff}κ".replace("-", "−"), *reversed(factors)])


def _draw(path: Path, title: str, shown: list[bool], values: Values) -> None:
    """Write the part of the tree that is shown as SVG, with frequencies if there are any."""
    tree, builder = family.kuhn3().tree, TreeBuilder(family.kuhn3().tree.players)
    below = [[child for child in own if shown[child]] for own in family.children()]
    payoffs = dict(zip(tree.terminals.tolist(), payoff_rows(tree), strict=True))
    root = builder.chance(None, [Fraction(1, len(below[0]))] * len(below[0]))
    waiting: list[tuple[int, Place]] = [(node, (root, k)) for k, node in enumerate(below[0])]
    for node, place in waiting:
        if tree.player[node] == TERMINAL:
            builder.terminal(place, payoffs[node])
            continue
        label = tree.infoset_labels[int(tree.infoset[node])]
        actions = [_action(tree, child) for child in below[node]]
        own = builder.decision(place, int(tree.player[node]), label, actions)
        waiting += [(child, (own, move)) for move, child in enumerate(below[node])]
    part, behavior = builder.tree(), None
    if values:
        named = {place: values[name] for name, place in family.places().items()}
        owners = zip(part.infoset_player, part.infoset_labels, strict=True)
        second = [named[part.players[player], label] for player, label in owners]
        behavior = BehaviorProfile.of_exact(part, [x for each in second for x in (1 - each, each)])
    path.write_text(draw_tree(part, title, behavior), encoding="utf-8")
