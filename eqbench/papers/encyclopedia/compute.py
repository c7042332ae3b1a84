"""What no command prints: the rules as payoffs, and members of published families, exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.equilibria.corners import corner_parameters
from eqbench.equilibria.known import known_sets
from eqbench.equilibria.reference import KnownSet
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.model.tree import CHANCE, GameTree
from eqbench.papers.encyclopedia.play import due_payoffs, follows_rules, live_edges
from eqbench.registry import load_game
from eqbench.verification import Verifier, verify_exactly

_ALPHAS = tuple(Fraction(n, 12) for n in range(5))
_DRAWN = Fraction(1, 6)
_MOST_MEMBERS = 30
_BETA_BEYOND = Fraction(1, 2)


def rules_of_kuhn2(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Every way a hand of two-player Kuhn poker can go, with payoffs."""
    game = load_game("kuhn2")
    pure = _best_pure_profile(game)
    return {
        "game": game.spec,
        "hands": _hands(game.tree),
        "pure": pure,
        "sizes": {"three players": _hand_sizes(load_game("kuhn3"))},
        "three_players": _three_players(load_game("kuhn3").tree),
    }


def _three_players(tree: GameTree) -> dict[str, Any]:
    """How many hands are bet, end and pay by the rules; every sequence of moves that there is."""
    hands = [(tuple(h["history"].split()), h["cards"], h["payoffs"]) for h in _hands(tree)]
    return {
        "hands": len(hands),
        "histories": sorted({" ".join(history) for history, _, _ in hands}),
        "bet_by_rules": sum(follows_rules(history, 3) for history, _, _ in hands),
        "paid_by_rules": sum(
            due_payoffs(history, cards) == [Fraction(payoff) for payoff in payoffs]
            for history, cards, payoffs in hands
        ),
    }


def family_of_kuhn2(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Exact regrets of Kuhn's family at a few α; the member at 1/6 is kept as a profile."""
    game = load_game("kuhn2")
    (known,) = known_sets(game)
    for alpha in _ALPHAS:
        name = f"alpha_{alpha.numerator}_{alpha.denominator}.json"
        text = profile_text(game.tree, known.member([alpha]), game.spec)
        (folder / name).write_text(text, encoding="utf-8")
    return {
        "idle_edges": _idle_edges(game, known.member([_DRAWN])),
        "source": known.source,
        "members": [
            {"alpha": str(alpha), **_exact(game, known.member([alpha]))} for alpha in _ALPHAS
        ],
    }


def _idle_edges(game: Game, profile: BehaviorProfile) -> dict[str, Any]:
    """How many edges a profile never reaches, and how many of them dominated moves lead to."""
    tree = game.tree
    reach = np.ones(tree.n_nodes)
    for node in range(1, tree.n_nodes):
        parent, action = int(tree.parent[node]), int(tree.incoming[node])
        by_chance = tree.player[parent] == CHANCE
        reach[node] = reach[parent] * (1.0 if by_chance else profile.probabilities[action])
    idle, dominated = reach == 0.0, ~live_edges(tree)
    return {
        "count": int(idle.sum()),
        "dominated": int(dominated.sum()),
        "both": int((idle & dominated).sum()),
    }


def family_of_kuhn3(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Members of the three-player family in fractions, and its formulas beyond β = 1/4."""
    game = load_game("kuhn3")
    sets = known_sets(game)
    return {
        "sets": [
            {
                "name": known.name,
                "parameters": list(known.parameters),
                "idle": [known.parameters[place] for place in known.idle],
                "corners": [_corner(game, known, corner) for corner in _members(known)],
            }
            for known in sets
        ],
        "beyond": _beyond(game, sets),
    }


def _hands(tree: GameTree) -> list[dict[str, Any]]:
    """Deal, history and payoffs at each terminal."""
    numerators, denominator = tree.payoffs.rational()
    rows = []
    for node, payoffs in zip(tree.terminals.tolist(), numerators.tolist(), strict=True):
        moves, deal = "", 0
        while node:
            parent = int(tree.parent[node])
            if tree.player[parent] == CHANCE:
                deal = node
            else:
                infoset = int(tree.infoset[parent])
                moves = tree.infoset_actions[infoset][int(tree.move[node])] + " " + moves
            node = parent
        rows.append(
            {
                "cards": _cards(tree, deal),
                "history": moves.strip(),
                "payoffs": [str(Fraction(value, denominator)) for value in payoffs],
            }
        )
    return rows


def _cards(tree: GameTree, deal: int) -> list[int]:
    """Cards of the players after a deal, read off the information sets below it."""
    cards: dict[int, int] = {}
    below = {deal}
    for node in range(deal, tree.n_nodes):
        if node == deal or int(tree.parent[node]) in below:
            below.add(node)
            if tree.player[node] >= 0:
                label = tree.infoset_labels[int(tree.infoset[node])]
                cards[int(tree.player[node])] = int(label.partition(":")[0])
    return [cards[player] for player in sorted(cards)]


def _hand_sizes(game: Game) -> dict[str, int]:
    """Number of deals and of card ranks of a game of Kuhn poker."""
    tree = game.tree
    ranks = {label.partition(":")[0] for label in tree.infoset_labels}
    return {"deals": int((tree.parent == 0).sum()), "cards": len(ranks)}


def _best_pure_profile(game: Game) -> dict[str, Any]:
    """The smallest max regret of all profiles in which nobody mixes."""
    tree, verifier = game.tree, Verifier(game.tree)
    least, count = np.inf, 0
    first, sizes = tree.action_start[:-1], np.diff(tree.action_start)
    for choice in product(*(range(size) for size in sizes.tolist())):
        behavior = np.zeros(tree.n_actions)
        behavior[first + np.array(choice)] = 1.0
        measured = verifier.verify(BehaviorProfile(behavior))
        least, count = min(least, float(measured.max_regret)), count + 1
    return {"profiles": count, "smallest_max_regret": least}


def _exact(game: Game, profile: BehaviorProfile) -> dict[str, Any]:
    measured = verify_exactly(game.tree, profile)
    return {
        "payoffs": [str(value) for value in measured.payoffs],
        "max_regret": str(measured.max_regret),
    }


def _members(known: KnownSet) -> list[list[Fraction]]:
    """Parameters of the corners, or, of a part whose constraints are curved, of some members."""
    if corners := corner_parameters(known):
        return corners
    grid = [Fraction(n, 8) for n in range(9)]
    choices = [
        [Fraction(0)] if place in known.idle else grid for place in range(len(known.parameters))
    ]
    inside = [
        list(choice)
        for choice in product(*choices)
        if known.violations(np.array(choice, dtype=float)).max() <= 0
        and not known.is_at_open_end(np.array(choice, dtype=float))
    ]
    return inside[:: max(1, len(inside) // _MOST_MEMBERS)]


def _corner(game: Game, known: KnownSet, corner: list[Fraction]) -> dict[str, Any]:
    values = np.array([float(value) for value in corner])
    profile = known.member(corner)
    own = (profile.exact or ())[: int(game.tree.action_start[len(game.tree.infosets_of(0))])]
    return {
        "parameters": [str(value) for value in corner],
        "beta": known.shown(values)["beta"],
        "player_1": [str(value) for value in own],
        **_exact(game, profile),
    }


def _beyond(game: Game, sets: tuple[KnownSet, ...]) -> dict[str, Any]:
    """The formulas of the sub-family with c11 = 0 for a β beyond what its constraints allow."""
    known = next(one for one in sets if one.name == "szafron:c11=0")
    # b11 = 0, since b41 = 2 (b11 + b21) is a probability
    parameters = {"b21": _BETA_BEYOND, "c33": Fraction(1, 2)}
    vector = [parameters.get(name, Fraction(0)) for name in known.parameters]
    return {"beta": str(_BETA_BEYOND), **_exact(game, known.member(vector))}
