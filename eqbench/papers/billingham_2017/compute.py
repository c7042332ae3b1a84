"""Profits as polynomials, what the game leaves out, Table 1, and members of the solutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import compress, product
from pathlib import Path
from typing import Any, cast

import numpy as np

from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.members import members
from eqbench.harness.inprocess import solve
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.model.tree import FloatArray, IntArray
from eqbench.papers.billingham_2017.lists import (
    NAMES,
    PLACES,
    Found,
    by_pot,
    corrected,
    equilibria,
    inside,
    layout_of,
    meets,
    printed_cells,
    printed_claims,
    stored_in,
)
from eqbench.papers.billingham_2017.polynomials import value as polynomial_value
from eqbench.papers.formulas import is_true, value_at
from eqbench.registry import load_game
from eqbench.solver import Budget
from eqbench.studies.study_files import write_texts
from eqbench.verification import Verifier

DEALS = 24
EXACT = 1e-12
SAMPLES = 4


def profits(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """24 E of each player as a polynomial, from the payoffs of all pure choices at two pots.

    At a third pot, and at random frequencies, it is compared with the payoffs themselves.
    """
    corners = list(product((0.0, 1.0), repeat=len(NAMES)))
    tried = np.random.default_rng(0).random((100, len(NAMES))).tolist()
    both = np.array([_payoffs(corners, pot) for pot in (2.0, 3.0)])
    low, high = map(_coefficients, both)
    slopes = high - low
    keys = [" ".join(compress(NAMES, corner)) for corner in corners]
    found = [
        {
            key: (Fraction(base), Fraction(slope))
            for key, base, slope in zip(keys, bases, slopes[:, player].tolist(), strict=True)
            if base or slope
        }
        for player, bases in enumerate((low - 2 * slopes).T.tolist())
    ]
    names = [dict(zip(NAMES, frequencies, strict=True)) | {"P": 7.0} for frequencies in tried]
    elsewhere = [[polynomial_value(each, at) for each in found] for at in names]
    return {
        "polynomials": {
            f"E{player}": {key: [str(base), str(slope)] for key, (base, slope) in each.items()}
            for player, each in enumerate(found, 1)
        },
        "distance_to_integers": float(np.abs(both - np.rint(both)).max()),
        "distance_elsewhere": float(np.abs(_payoffs(tried, 7.0) - elsewhere).max()),
    }


def _payoffs(choices: Iterable[Sequence[float]], pot: float) -> FloatArray:
    """24 E (n, 3) of choices of the eleven frequencies at a pot."""
    game = load_game("skp")
    model, layout = game.payoff_model().at(pot), layout_of(game)
    behaviors = (layout.behavior(np.array(choice)) for choice in choices)
    return np.array([DEALS * model.expected_payoffs(behavior) for behavior in behaviors])


def _coefficients(payoffs: FloatArray) -> IntArray:
    """Coefficients (2048, 3) of the polynomials with these integers at the corners of the cube."""
    cube = np.rint(payoffs).astype(int).reshape((2,) * len(NAMES) + (3,))
    for axis in range(len(NAMES)):
        low_and_high = np.moveaxis(cube, axis, 0)
        low_and_high[1] -= low_and_high[0]
    return cube.reshape(payoffs.shape)


# What is compared in full Kuhn poker: at which information sets a player bets or calls (1) or not
# (0), otherwise than in the simplified game; the better alternative first.
_ALTERNATIVES: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "bet K, P1": ({"3:KKB": 1, "3:KBF": 1}, {"3:": 1}),
    "bet K, P2": ({"3:KKBF": 1}, {"3:K": 1}),
    "bet K, P3": ({}, {"3:KK": 1}),
    "check A, P3": ({}, {"4:KK": 0}),
    **{f"overcall {card}, P1": ({}, {f"{rank}:KBC": 1}) for card, rank in (("K", 3), ("Q", 2))},
    **{f"overcall {card}, P2": ({}, {f"{rank}:KKBC": 1}) for card, rank in (("K", 3), ("Q", 2))},
    **{f"overcall {card}, P3": ({}, {f"{rank}:BC": 1}) for card, rank in (("K", 3), ("Q", 2))},
}


def rules(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Gains by what the simplified game leaves out, its equilibria at pots below 2, and its tree.

    Each gain is that of one alternative over another in full Kuhn poker, smallest and largest
    over all pure choices of the other players in the simplified game.
    """
    pots, below_two = ("2", "5/2", "4", "10"), ("3/2", "19/10", "1.999")
    gains: dict[str, list[float]] = {}
    for pot in pots:
        for name, gain in _gains(load_game(f"kuhn(players=3, cards=4, pot={pot})")):
            low, high = gains.get(name, [gain, gain])
            gains[name] = [min(low, gain), max(high, gain)]
    tree = load_game("skp").tree
    actions = {label: list(tree.infoset_actions[i]) for i, label in enumerate(tree.infoset_labels)}
    above = [(tree.infoset[tree.parent[v]], tree.move[v]) for v in tree.terminals]
    ends = {
        (tree.infoset_labels[i].partition(":")[2], tree.infoset_actions[i][m]) for i, m in above
    }
    return {
        "gains": gains,
        "below_two": {pot: _bets_and_calls(pot) for pot in below_two},
        "deals": int(np.sum(tree.parent == 0)),
        "beside_k": _beside_k(tree),
        "actions": actions,
        "decisions": len({label.partition(":")[2] for label in actions}),
        "ends": len(ends),
    }


def _gains(game: Game) -> Iterator[tuple[str, float]]:
    """How much each better alternative gains against each choice of the others."""
    model, labels = game.payoff_model(), game.tree.infoset_labels
    # those who never bet and call with A only, but bet with it after two checks
    base = {label: int(label[0] == "4" and ("B" in label or label == "4:KK")) for label in labels}
    for name, alternatives in _ALTERNATIVES.items():
        player = game.tree.players.index(name[-2:])
        others = [infoset for who, infoset, _ in PLACES.values() if who != name[-2:]]
        for corner in product((0, 1), repeat=len(others)):
            choices = base | dict(zip(others, corner, strict=True))
            better, worse = (
                model.expected_payoffs(_behavior(game, choices | own))[player]
                for own in alternatives
            )
            yield name, DEALS * float(better - worse)


def _behavior(game: Game, active: Mapping[str, int]) -> FloatArray:
    """Behavior (A,) of those who bet or call at some information sets, and check or fold."""
    behavior = np.zeros(game.tree.n_actions)
    for start, label in zip(game.tree.action_start, game.tree.infoset_labels, strict=False):
        behavior[start + active[label]] = 1
    return behavior


def _beside_k(tree: Any) -> list[list[int]]:
    """For each player, deals that give it K, and those of them where another player has A."""
    deal, cards = np.arange(tree.n_nodes), dict[int, dict[int, str]]()
    for node in range(1, tree.n_nodes):
        if tree.parent[node]:
            deal[node] = deal[tree.parent[node]]
        if (infoset := tree.infoset[node]) >= 0:
            held = tree.infoset_labels[infoset].partition(":")[0]
            cards.setdefault(int(deal[node]), {})[int(tree.infoset_player[infoset])] = held
    with_k = [[hand for hand in cards.values() if hand[player] == "3"] for player in range(3)]
    return [[len(hands), sum("4" in hand.values() for hand in hands)] for hands in with_k]


def _bets_and_calls(pot: str) -> dict[str, Any]:
    """The largest frequency of a bet or call with less than A over all equilibria at a pot."""
    game = load_game("skp").at(pot=Fraction(pot))
    cell, layout = solve(game, "case_enumeration", Budget(time_s=60.0)), layout_of(game)
    profiles = [cast(BehaviorProfile, each.profile) for each in cell.equilibria]
    largest = np.max([layout.frequencies(each.probabilities) for each in profiles], axis=0)
    return {
        "complete": cell.status == "ok",
        "largest": {n: x for n, x in zip(NAMES, largest.tolist(), strict=True) if n[0] != "a"},
    }


def table(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Which neighbors of equilibria meet the conditions, and which of them have regret."""
    neighbors = _neighbors(inside(equilibria(stored_in(jobs, full=full))))
    cells = {name: corrected(cell) for name, cell in printed_cells().items()}
    return {
        "cells": {name: {"without": _without(cell, neighbors)} for name, cell in cells.items()},
        "changed": _tried(neighbors, _conditions_hold),
        "changed_table": _tried(neighbors, lambda names: meets(cells, names)),
    }


# frequencies and pot of a profile that differs from an equilibrium in one frequency, and regrets
_Neighbor = tuple[dict[str, float], list[float]]


def _neighbors(found: Sequence[Found]) -> list[_Neighbor]:
    """All that come from these equilibria by changing one frequency to 0, 1/2 or 1."""
    neighbors = []
    for pot, group in by_pot(found).items():
        game = load_game("skp").at(pot=pot)
        verifier, layout = Verifier(game.tree), layout_of(game)
        own = [[float(each.values[name]) for name in NAMES] for each in group]
        changed = {
            (*each[:place], value, *each[place + 1 :])
            for each, place, value in product(own, range(len(NAMES)), (0.0, 0.5, 1.0))
        }
        for frequencies in sorted(changed):
            behavior = layout.behavior(np.array(frequencies))
            measured = verifier.verify(BehaviorProfile.of(game.tree, behavior))
            names = dict(zip(NAMES, frequencies, strict=True)) | {"P": float(pot)}
            neighbors.append((names, [float(regret) for regret in measured.regrets]))
    return neighbors


def _tried(
    neighbors: Sequence[_Neighbor], meets: Callable[[Mapping[str, float]], bool]
) -> dict[str, int]:
    """How many meet certain conditions and have regret; keys are ``meets, no regret`` and so on."""
    return Counter(
        f"{'meets' if meets(names) else 'fails'}, "
        f"{'no regret' if max(regrets) <= EXACT else 'regret'}"
        for names, regrets in neighbors
    )


def _without(cell: str, neighbors: Sequence[_Neighbor]) -> tuple[int, int]:
    """How many meet a cell's inequality without its frequency, and in how many that has regret.

    Regret is that of the player whose frequency it is; (0, 0) for cells of another shape.
    """
    first, *others = cell.split(" & ")
    if len(others) != 1:
        return 0, 0
    found = [r for names, r in neighbors if is_true(first, names) and not is_true(others[0], names)]
    return len(found), sum(regrets[int(others[0][1]) - 1] > EXACT for regrets in found)


def _conditions_hold(names: Mapping[str, float]) -> bool:
    """Whether each frequency is 1 or 0 where a condition of section 3 says so."""
    rows = dict(printed_claims("Section 3: the eleven conditions"))
    for number in range(1, 12):
        relation, _, says = rows[str(number)].partition(": ")
        left, sign, right = relation.partition(">" if ">" in relation else "<")
        gap = value_at(f"({left}) − ({right})", names) * (1 if sign == ">" else -1)
        if abs(gap) > EXACT and names[says[:2]] != (1.0 if gap > 0 else 0.0):
            return False
    return True


# members of solutions by their parameters, and entries that are put back to what is printed
_MEMBERS = {"1": ("5/2", ["3/14"] * 4), "2": ("3.1", ["13/41"] * 2), "10a": ("5", ["2/5", "2/3"])}
_PRINTED: dict[str, dict[str, str]] = {
    **{"1": {"d2": "2/(P+1)"}, "2": {"b3": "1/(P+1)"}},
    **{f"10a_{name}": {name: "1/2"} for name in ("b1", "b2", "d1")},
    **{f"{name}_corrected": {} for name in _MEMBERS},
}
# where each solution is looked at for a trajectory that starts beside it
BESIDE = {
    **{"1": "2.5", "2": "3.1", "3": "3.35", "4": "3.35", "5": "3.75"},
    **{"6": "3.95", "7": "4.15", "8": "4.36", "9": "4.65", "10": "5.5"},
}
# irrational ends of ranges, approached from inside, to 1e-12
_ENDS = ("3.212214450450", "3.436491673103", "3.897915761657", "4.311737691490", "4.407536453183")


def printed(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Members of solutions with an error in them as printed, and corrected, as profiles."""
    texts, frequencies = {}, {}
    for name, wrong in _PRINTED.items():
        solution = name.partition("_")[0]
        pot, parameters = Fraction(_MEMBERS[solution][0]), map(Fraction, _MEMBERS[solution][1])
        game = load_game("skp").at(pot=pot)
        known = _pieces(game)[solution][0]
        names = known.exact.names(dict(zip(known.parameters, parameters, strict=True)))
        values = {key: names[key] for key in NAMES}
        values |= {key: value_at(entry, {"P": pot}) for key, entry in wrong.items()}
        profile = layout_of(game).exact_profile([values[key] for key in NAMES])
        texts[f"{name}.json"] = profile_text(game.tree, profile, game.spec)
        frequencies[name] = {key: str(value) for key, value in values.items()}
    write_texts(folder, texts)
    return frequencies


def _pieces(game: Game) -> dict[str, list[KnownSet]]:
    """Published sets by name; the convex pieces of one set share it."""
    pieces: dict[str, list[KnownSet]] = {}
    for known in known_sets(game):
        pieces.setdefault(known.name.removeprefix("skp:"), []).append(known)
    return pieces


def _members(known: KnownSet) -> list[FloatArray]:
    """Frequencies (V,) of members of a set."""
    found = members(known, SAMPLES, np.random.default_rng(0))
    return [known.frequencies(member.parameters) for member in found]


def curves(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """The least and the largest value of all figures over each published set, along the pot.

    Each member that is looked at is measured by the verifier.
    """
    step = Fraction(1, 100 if full else 50)
    grid = {2 + step * k for k in range(int(4 / step) + 1)}
    rows: list[dict[str, Any]] = []
    for pot in sorted(grid | {Fraction(text) for text in _ENDS}):
        game = load_game("skp").at(pot=pot)
        verifier = Verifier(game.tree)
        for name, pieces in _pieces(game).items():
            found = [row for known in pieces for row in _figures(known, verifier)]
            ends = {key: [row[key] for row in found] for key in found[0]}
            spans = {key: [min(values), max(values)] for key, values in ends.items()}
            rows.append({"pot": float(pot), "name": name} | spans)
    return {"rows": rows, "max_regret": max(row["max_regret"][1] for row in rows)}


def _figures(known: KnownSet, verifier: Verifier) -> Iterator[dict[str, float]]:
    """Frequencies, sums, 24 times the payoffs, and the regret, of members of a set."""
    for member in _members(known):
        frequencies = np.clip(member, 0.0, 1.0)
        own = dict(zip(known.layout.variables, frequencies.tolist(), strict=True))
        behavior = known.layout.behavior(frequencies)
        measured = verifier.verify(BehaviorProfile.of(verifier.tree, behavior))
        payoffs = np.array(measured.payoffs, dtype=float).tolist()
        yield {
            **{name: own[name] for name in NAMES},
            **{f"{a}+{b}": own[a] + own[b] for a, b in (("c2", "d3"), ("c3", "d1"), ("c1", "d2"))},
            **{f"E{k}": 24 * payoff for k, payoff in enumerate(payoffs, 1)},
            "max_regret": float(measured.max_regret),
        }


def starts(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Profiles 0.01 beside a member of each solution, for trajectories to start from."""
    texts: dict[str, str] = {}
    document: dict[str, Any] = {}
    for name, pot in BESIDE.items():
        game = load_game("skp").at(pot=Fraction(pot))
        (known,) = _pieces(game)[name]
        member, variables = (others := _members(known))[0], known.layout.variables
        start = np.clip(member + 0.01, 0.01, 0.99)
        profile = BehaviorProfile.of(game.tree, known.layout.behavior(start))
        texts[f"beside_{name}.json"] = profile_text(game.tree, profile, game.spec)
        fixed = np.ptp(others, axis=0) <= EXACT
        document[name] = {
            "pot": pot,
            "member": dict(zip(variables, member.tolist(), strict=True)),
            "determined": list(compress(variables, fixed.tolist())),
        }
    write_texts(folder, texts)
    return document


def bounds(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """What player 1 gains, times 24, where c2 + d3 is 0.05 beyond its bounds, and by what."""
    found: dict[str, list[dict[str, Any]]] = {"above": [], "below": []}
    for pot in ("5/2", "3.1", "3.35", "3.45", "3.7"):  # where player 1 does not bet
        game = load_game("skp").at(pot=Fraction(pot))
        for known in known_sets(game):
            choices = _members(known)
            c2, d3 = (known.layout.variables.index(name) for name in ("c2", "d3"))
            sums = [choice[c2] + choice[d3] for choice in choices]
            for side, extreme, step in (("above", max, 0.05), ("below", min, -0.05)):
                choice = choices[sums.index(extreme(sums))].copy()
                # one of the two stays inside [0, 1], whatever the other is
                choice[d3 if 0 <= choice[d3] + step <= 1 else c2] += step
                best = _best_deviation(known, game.payoff_model(), choice)
                found[side].append({"pot": pot, "name": known.name} | best)
    return found


def _best_deviation(known: KnownSet, model: Any, choice: FloatArray) -> dict[str, Any]:
    """The frequency of player 1 that gains most, at 0 or 1, and its gain times 24."""
    base = float(model.expected_payoffs(known.layout.behavior(choice))[0])
    gains = {}
    for place, name in enumerate(known.layout.variables):
        for end in (0.0, 1.0) if name[1] == "1" else ():
            other = choice.copy()
            other[place] = end
            payoff = float(model.expected_payoffs(known.layout.behavior(other))[0])
            gains[f"{name} = {end:g}"] = DEALS * (payoff - base)
    best = max(gains, key=gains.__getitem__)
    return {"best": best, "max_gain": gains[best]}
