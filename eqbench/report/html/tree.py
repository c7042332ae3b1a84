"""A game tree with what profiles play, as data for a view that is opened node by node.

The script of the view only looks numbers up; they are computed here, on the tree, by the code of
the verdicts. Symbols are those of :mod:`eqbench.model.play`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eqbench.errors import UsageError
from eqbench.model.builder import payoff_rows
from eqbench.model.game import Game
from eqbench.model.inspection import Excerpt, excerpt, move_name, way_to
from eqbench.model.play import ROUNDING, Play, fractions
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
MOST_NUMBERS, MOST_ON_PAGE = 160_000, 60_000  # of a profile, and of all on a page with other cards
MOST_PROFILES = 6  # of a game on such a page
_LONGEST = 60  # characters of a label


def tree_page(
    game: Game, profile: BehaviorProfile | None = None, part: Excerpt | None = None, name: str = ""
) -> str:
    """Return the page of a tree, or an excerpt of it, with a profile that it calls `name`.

    Numbers are exact where game and profile are and that costs no more than about a second. Where
    others' play does not lead, beliefs at equilibria are those of the verdict on credible play.

    Raises
    ------
    UsageError
        If there are too many nodes, or floats do not resolve what decisions of the game are about.
    """
    tree, part = game.tree, part or excerpt(game.tree)
    if not _fits(part.tree, MOST_NUMBERS):
        most = min(MOST_NODES, MOST_NUMBERS // (tree.n_players + 2))
        raise UsageError(
            f"{game.spec} has {len(part.nodes):,} nodes; a page has room for {most:,}. Choose what "
            "follows a history (--at), or fewer levels (--depth)"
        )
    profiles, title = [], "What can be played"
    if profile is not None:
        title = name or "What is played"
        is_exact = profile.exact is not None and completed_rows(tree, profile) == profile.exact
        certified = certify(tree, profile) if is_exact else None
        measured = certified or Verifier(tree).verify(profile)
        judged = judge_measured(tree, profile, measured, certified, ["credible"]).get("credible")
        play = Play.exactly(tree, profile) if certified else Play.of(tree, profile, unplayed=0)
        figures = measured.payoffs, measured.max_regret
        profiles.append(_played(name, *figures, play, part, judged and judged.belief))
    block = _block("tree", _text(title), "", game, part, profiles)
    lead = [line for line in (key_line(game.wording),) if line]
    return document(game.spec, {"Game tree": [block]}, lead=lead)


def trees(games: Sequence[ShownGame]) -> Iterator[ClickedTree]:
    """The tree of each game with a few profiles that were found, while there is room for them."""
    room = MOST_ON_PAGE
    for place, shown in enumerate(games):
        game, profiles = shown.facts.game, list[dict[str, Any]]()
        if game is None or not _fits(game.tree, room) or game.tree.is_wide:
            continue
        part = excerpt(game.tree)
        for about, profile in islice(best_profiles(shown), MOST_PROFILES):
            if _fits(game.tree, room):
                play = Play.of(game.tree, profile, unplayed=0)
                title, own = about["title"], about["name"]
                words = f"{shortened(title)} ({own})" if title else own
                name = ", ".join(filter(None, (words, about["where"], f"by {about['solver']}")))
                figures = about["payoffs"], about["max_regret"]
                profiles.append(_played(name, *figures, play, part))
                room -= game.tree.n_nodes * (game.tree.n_players + 2)
        if profiles:
            title = f"The tree of {shown.name}, to be opened"
            yield _block(f"tree-{place}", title, str(place), game, part, profiles)


def _fits(tree: GameTree, room: int) -> bool:
    return tree.n_nodes <= min(MOST_NODES, room // (tree.n_players + 2))


def _block(
    name: str, title: str, place: str, game: Game, part: Excerpt, profiles: Sequence[dict[str, Any]]
) -> ClickedTree:
    data = tree_data(game, part) | {"profiles": profiles}
    return ClickedTree(name, title, place, data, read_data("html/texts")["tree"])


def _played(name: str, payoffs: Iterable[Any], max_regret: Any, *numbers: Any) -> dict[str, Any]:
    figures = {"payoffs": _figures(payoffs), "max_regret": _figures([max_regret])}
    return {"title": shortened(printable(name))} | figures | played_numbers(*numbers)


def tree_data(game: Game, part: Excerpt) -> dict[str, Any]:
    """Return what is known of an excerpt of a tree without a profile.

    `counts` of children by node say which is whose child, as nodes stand in breadth-first order;
    `set` is -1 where chance moves and -2 at the end. Outcomes of chance and payoffs stand in the
    order of the nodes that they are at.
    """
    tree, nodes, own = game.tree, part.nodes, part.tree
    kind = np.where(tree.player[nodes] == TERMINAL, TERMINAL, CHANCE)
    is_decision = tree.infoset[nodes] >= 0
    sets, kind[is_decision] = np.unique(tree.infoset[nodes[is_decision]], return_inverse=True)
    drawn = np.flatnonzero(own.player[own.parent[1:]] == CHANCE) + 1
    odds = tree.chance[nodes[drawn]]
    exact = fractions(odds, tree.chance_denominator) if odds.dtype.kind == "i" else odds
    ends = zip(payoff_rows(own), part.is_cut[own.terminals], strict=True)
    labels = (situation(tree.infoset_labels[k], game.wording).words for k in sets)
    sizes = np.bincount(tree.infoset[tree.infoset >= 0], minlength=tree.n_infosets)

    def moves(to: Iterable[int]) -> list[str]:
        return [_text(move_name(tree, node, game.wording)) for node in to]

    return {
        **{"players": [*map(_text, tree.players)], "set": kind.tolist()},
        "counts": np.diff(own.first_children()).tolist(),
        **{"above": moves(way_to(tree, int(nodes[0]))), "outcomes": moves(nodes[drawn])},
        **{"odds": _figures(exact), "sizes": sizes[sets].tolist()},
        "payoffs": [_figures(row) for row, is_cut in ends if not is_cut],
        **{"owners": tree.infoset_player[sets].tolist(), "labels": [*map(_text, labels)]},
        "actions": [[*map(_text, tree.infoset_actions[k])] for k in sets],
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
        players; `shares` of actions, their `values` given the beliefs, and their `gains` over what
        is played there, with everybody as prescribed afterwards. None where no belief is known;
        in floats what rounding leaves is 0.
    """
    tree, nodes, others = play.tree, part.nodes, play.total(play.others)
    known, inside = (others > 0).astype(bool), np.flatnonzero(tree.infoset >= 0)
    is_led, weight = known[tree.infoset[inside]], np.zeros_like(play.edge)
    led, free = inside[is_led], inside[~is_led]
    weight[led] = play.others[led] / others[tree.infoset[led]]
    if belief is not None:
        weight[free], known = belief[free], known | True
    reach = play.reach(np.zeros(tree.n_nodes, dtype=bool))
    worth = np.array([play.worth(p) for p in range(tree.n_players)], dtype=play.edge.dtype)
    of_movers = worth[np.maximum(tree.player, 0), range(tree.n_nodes)]
    gains = play.mean_gains(weight)
    values = play.total(weight * of_movers)[tree.action_infoset] + gains
    decided, inner = nodes[tree.infoset[nodes] >= 0], nodes[tree.player[nodes] != TERMINAL]
    sets = np.unique(tree.infoset[decided])
    actions = np.flatnonzero(np.isin(tree.action_infoset, sets))
    is_known = known[tree.action_infoset[actions]]
    rounding = 0 if play.exact else ROUNDING * abs(play.payoffs).max()

    def settled(payoffs: NDArray) -> NDArray:
        return np.where(abs(payoffs) > rounding, payoffs, payoffs * 0)

    return {
        **{"reach": _figures(reach[nodes]), "worth": [*map(_figures, settled(worth[:, inner]))]},
        "belief": _figures(weight[decided], known[tree.infoset[decided]]),
        **{"sets": _figures(play.total(reach)[sets]), "others": _figures(others[sets])},
        "shares": _figures(play.frequency[actions]),
        "values": _figures(settled(values[actions]), is_known),
        "gains": _figures(settled(gains[actions]), is_known),
    }


def _figures(values: Iterable[Any], are_known: Iterable[Any] = repeat(True)) -> list[Any]:
    """Numbers for a page: short fractions as texts, of others six digits; None if not known."""
    pairs = zip(values, are_known, strict=False)
    return [_figure(value) if is_known else None for value, is_known in pairs]


def _figure(value: Any) -> Any:
    text = short_figure(value, most=9)
    if "/" in text:
        return text
    rounded = float(text)
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e6 else rounded


def _text(text: str) -> str:
    return shortened(printable(text), _LONGEST)
