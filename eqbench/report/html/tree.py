"""A game tree with what a profile plays, as data for a view that is clicked through.

The script of the view makes nodes when they are opened, from flat arrays. All numbers are computed
here, on the tree, as the verdicts compute them.

Symbols: M nodes, N players, I information sets, A actions; of an excerpt all but N are smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.builder import payoff_rows
from eqbench.model.game import Game
from eqbench.model.inspection import Excerpt, excerpt, move_name
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile, completed_rows
from eqbench.model.rational import short_figure
from eqbench.model.tree import CHANCE, TERMINAL, GameTree
from eqbench.model.words import key_line, situation
from eqbench.report import read_data
from eqbench.report.charts import ShownGame
from eqbench.report.html.document import ClickedTree, document
from eqbench.report.html.equilibria import best_profiles
from eqbench.text import printable, shortened
from eqbench.verdict import judge_measured
from eqbench.verification import Verifier, certify

MOST_NODES = 20_000
MOST_NUMBERS = 160_000  # of a profile, each of which takes about eight bytes
MOST_ON_PAGE = 60_000  # numbers of all trees of a page
MOST_PROFILES = 6  # of a game
_LONGEST = 60  # characters of a label


def tree_page(
    game: Game, profile: BehaviorProfile | None = None, part: Excerpt | None = None, name: str = ""
) -> str:
    """Return the page of a tree, or an excerpt of it, with a profile that it calls `name`.

    Numbers are exact where game and profile are and that costs no more than about a second. Where
    play does not lead beliefs are those of the verdict on credible play, if it passes one.

    Raises
    ------
    UsageError
        If there are too many nodes, or floats do not resolve what decisions of the game are about.
    """
    tree, part = game.tree, part or excerpt(game.tree)
    if not fits(part.tree):
        raise UsageError(
            f"{game.spec} has {len(part.nodes):,} nodes; to be clicked through it may have "
            f"{most_nodes(part.tree):,}. Choose what follows a history (--at), or fewer levels (--depth)"
        )
    profiles = []
    if profile is not None:
        is_exact = profile.exact is not None and completed_rows(tree, profile) == profile.exact
        certified = certify(tree, profile) if is_exact else None
        measured = certified or Verifier(tree).verify(profile)
        judged = judge_measured(tree, profile, measured, certified, ["credible"]).get("credible")
        play = Play.exactly(tree, profile) if certified else Play.of(tree, profile, unplayed=0)
        numbers = played_numbers(play, part, judged and judged.belief)
        figures = {"payoffs": measured.payoffs, "max_regret": [measured.max_regret]}
        about = {key: [*map(_figure, values)] for key, values in figures.items()}
        profiles.append({"title": printable(name)} | about | numbers)
    data, reading = tree_data(game, part) | {"profiles": profiles}, read_data("html/texts")["tree"]
    block = ClickedTree("tree", name or "What can be played", "", data, reading)
    lead = [line for line in (key_line(game.wording),) if line]
    return document(game.spec, {"Game tree": [block]}, lead=lead)


def trees(games: Sequence[ShownGame]) -> Iterator[ClickedTree]:
    """The tree of each game with a few profiles that were found, while there is room for them."""
    room = MOST_ON_PAGE
    for place, shown in enumerate(games):
        game, profiles = shown.facts.game, list[dict[str, Any]]()
        if game is None or not fits(game.tree, room) or game.tree.is_wide:
            continue
        part = excerpt(game.tree)
        for about, profile in islice(best_profiles(shown), MOST_PROFILES):
            if fits(game.tree, room):
                play, payoffs = Play.of(game.tree, profile, unplayed=0), about["payoffs"]
                figures = {"payoffs": payoffs, "max_regret": [about["max_regret"]]}
                title = ", ".join(filter(None, (about["solver"], about["name"], about["where"])))
                known = {key: [*map(_figure, values)] for key, values in figures.items()}
                profiles.append({"title": printable(title)} | known | played_numbers(play, part))
                room -= len(part.nodes) * (game.tree.n_players + 2)
        if profiles:
            data, reading = tree_data(game, part), read_data("html/texts")["tree"]
            title = f"The tree of {shown.name}, to be opened"
            data |= {"profiles": profiles}
            yield ClickedTree(f"tree-{place}", title, str(place), data, reading)


def most_nodes(tree: GameTree) -> int:
    """Number of nodes of which all numbers have room."""
    return min(MOST_NODES, MOST_NUMBERS // (tree.n_players + 2))


def fits(tree: GameTree, room: int = MOST_NUMBERS) -> bool:
    """Whether a tree is small enough, and the numbers of a profile on it take no more room."""
    return tree.n_nodes <= most_nodes(tree) and tree.n_nodes * (tree.n_players + 2) <= room


def tree_data(game: Game, part: Excerpt) -> dict[str, Any]:
    """Return what is known of an excerpt of a tree without a profile.

    `counts` of children by node say which is whose child, as nodes stand in breadth-first order;
    `set` is -1 where chance moves and -2 at the end. Outcomes of chance and payoffs stand in the
    order of the nodes that they are at.
    """
    tree, nodes = game.tree, part.nodes
    sets, places = _sets(part, tree.infoset)
    kind = np.where(tree.player[nodes] == TERMINAL, TERMINAL, CHANCE)
    kind[tree.infoset[nodes] >= 0] = places
    drawn = np.flatnonzero(part.tree.player[part.tree.parent[1:]] == CHANCE) + 1
    odds = map(_figure, (_share(tree.chance[nodes[k]], tree.chance_denominator) for k in drawn))
    ends = zip(payoff_rows(part.tree), part.is_cut[part.tree.terminals], strict=True)
    way: list[int] = []
    while (node := int(nodes[0]) if not way else int(tree.parent[way[-1]])) > 0:
        way.append(node)
    labels = [situation(tree.infoset_labels[k], game.wording).words for k in sets]
    return {
        **{"players": [*map(_text, tree.players)], "set": kind.tolist()},
        "counts": np.diff(part.tree.first_children()).tolist(),
        "above": [_text(move_name(tree, k, game.wording)) for k in reversed(way)],
        "outcomes": [_text(move_name(tree, nodes[k], game.wording)) for k in drawn],
        "odds": [*odds],
        "payoffs": [[*map(_figure, row)] for row, is_cut in ends if not is_cut],
        "owners": tree.infoset_player[sets].tolist(),
        "labels": [*map(_text, labels)],
        "actions": [[*map(_text, tree.infoset_actions[k])] for k in sets],
        "sizes": np.bincount(tree.infoset[tree.infoset >= 0], minlength=1)[sets].tolist(),
    }


def played_numbers(play: Play, part: Excerpt, belief: NDArray | None = None) -> dict[str, Any]:
    """Return what a profile comes to in an excerpt, by node, information set and action.

    Parameters
    ----------
    belief : (M,)
        Beliefs where the others' play does not lead; without it nothing is known there.

    Returns
    -------
    dict of lists
        `reach` of nodes; `worth` to each player of nodes that are no ends; `belief` at decision
        nodes; `sets`, the reach of information sets, and `others`, that by chance and the other
        players; `shares` of actions, their `values` and `gains` given the beliefs, over what is
        played there and everybody as prescribed afterwards. None where no belief is known.
    """
    tree, nodes = play.tree, part.nodes
    sets, _ = _sets(part, tree.infoset)
    actions = np.flatnonzero(np.isin(tree.action_infoset, sets))
    reach = play.reach(np.zeros(tree.n_nodes, dtype=bool))
    worth = [play.worth(player) for player in range(tree.n_players)]
    others, weight = play.total(play.others), np.zeros_like(play.edge)
    known, inside = (others > 0).astype(bool), np.flatnonzero(tree.infoset >= 0)
    is_led = known[tree.infoset[inside]]
    led, free = inside[is_led], inside[~is_led]
    weight[led] = play.others[led] / others[tree.infoset[led]]
    if belief is not None:
        weight[free], known = belief[free], known | True
    gains, movers = play.mean_gains(weight), np.maximum(tree.player, 0)
    movers_worth = np.array(worth, dtype=play.edge.dtype)[movers, range(tree.n_nodes)]
    values = play.total(weight * movers_worth)[tree.action_infoset] + gains
    decided, inner = nodes[tree.infoset[nodes] >= 0], nodes[tree.player[nodes] != TERMINAL]

    def where_known(numbers: NDArray, sets: NDArray) -> list[Any]:
        pairs = zip(numbers, known[sets], strict=True)
        return [_figure(number) if is_known else None for number, is_known in pairs]

    return {
        "reach": [*map(_figure, reach[nodes])],
        "worth": [[*map(_figure, own[inner])] for own in worth],
        "belief": where_known(weight[decided], tree.infoset[decided]),
        "sets": [*map(_figure, play.total(reach)[sets])],
        "others": [*map(_figure, others[sets])],
        "shares": [*map(_figure, play.frequency[actions])],
        "values": where_known(values[actions], tree.action_infoset[actions]),
        "gains": where_known(gains[actions], tree.action_infoset[actions]),
    }


def _sets(part: Excerpt, infoset: NDArray) -> tuple[NDArray, NDArray]:
    """Information sets of an excerpt, and the place of that of each decision node among them."""
    own = infoset[part.nodes]
    return np.unique(own[own >= 0], return_inverse=True)


def _share(numerator: Any, denominator: int) -> Any:
    exact = np.issubdtype(type(numerator), np.integer)
    return Fraction(int(numerator), denominator) if exact else numerator / denominator


def _figure(value: Any) -> Any:
    """A number for a page: a short fraction as text, else six digits."""
    if isinstance(value, Fraction):
        text = short_figure(value, most=9)
        return text if "/" in text else float(text) if "." in text or "e" in text else int(text)
    rounded = float(f"{value:.6g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e6 else rounded


def _text(text: str) -> str:
    return shortened(printable(text), _LONGEST)
