"""Published sets of equilibria as data, for programs that compute their members elsewhere."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np

from eqbench.equilibria.expressions import Relation, as_data
from eqbench.equilibria.known import extremes, some_member
from eqbench.equilibria.reference import OPEN_MARGIN, KnownSet
from eqbench.model.game import Game
from eqbench.model.profile import label_parts
from eqbench.model.tree import GameTree
from eqbench.model.words import clause


def set_data(game: Game, known: KnownSet) -> dict[str, Any]:
    """Formulas of a published set, its parameters with their ranges, and a member to begin with.

    Frequencies follow in the order in which they need each other. A constraint holds where its
    expression is at most 0.
    """
    layout, texts = known.layout, known.texts
    start = some_member(known)
    leading = texts.figures.get(known.leading or "", known.leading)  # beta may be b21
    parameters = []
    for place, name in enumerate(known.parameters):
        low, high = extremes(known, itemgetter(place))
        text = texts.readings[name]
        meaning = text
        if text in layout.variables:
            player, infoset, action = label_parts(layout.places[layout.variables.index(text)])
            meaning = f"how often {clause(player, action, infoset, game)}"
        is_leading = leading in (name, text)
        parameters.append(
            {
                **{"name": name, "low": low, "high": high, "start": float(start[place])},
                "symbol": known.leading if is_leading else name,
                "meaning": meaning,
                "idle": place in known.idle,
            }
        )
    parameters.sort(key=lambda each: (each["symbol"] != known.leading, each["idle"]))
    rest = [
        next((a for a in range(*layout.tree.action_start[i : i + 2]) if layout.rest[a]), -1)
        for i in layout.infoset
    ]
    return {
        **{"name": known.name, "title": known.title, "sentence": known.sentence},
        **{"source": known.source, "parameters": parameters},
        "constants": {name: float(value) for name, value in texts.constants.items()},
        "values": [[name, as_data(texts.values[name])] for name in known.formulas.values],
        "violations": [side for each in known.constraints for side in _sides(each)],
        "payoffs": [as_data(text) for text in texts.payoffs],
        "places": [
            [v, int(a), int(r)]
            for v, a, r in zip(layout.variables, layout.action, rest, strict=True)
            if a >= 0
        ],
        "rest": np.flatnonzero(layout.rest).tolist(),
    }


def _sides(relation: Relation) -> list[Any]:
    """By how much a relation is violated, as data; as in `eqbench.equilibria.reference`."""
    left, right = as_data(relation.left), as_data(relation.right)
    margin = OPEN_MARGIN if relation.sign in "<>" else 0
    sides = [["-", left, right]] * (">" not in relation.sign)
    sides += [["-", right, left]] * ("<" not in relation.sign)
    return [["+", side, margin] if margin else side for side in sides]


def tree_data(tree: GameTree) -> dict[str, list[Any]]:
    """A tree by nodes: parent, action or -1, probability of chance, information set or -1."""
    chance = np.where(tree.incoming < 0, tree.chance_probability, 1.0)
    return {
        **{"parent": tree.parent.tolist(), "action": tree.incoming.tolist()},
        **{"chance": [round(value, 6) for value in chance.tolist()], "set": tree.infoset.tolist()},
    }
