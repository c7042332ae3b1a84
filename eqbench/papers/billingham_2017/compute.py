"""Profits as polynomials, what the game leaves out, Table 1, and members of the solutions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import compress, product
from pathlib import Path
from typing import Any, cast

import numpy as np
from flint import fmpq, fmpq_mpoly_ctx

from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.corners import corner_parameters
from eqbench.equilibria.members import members
from eqbench.harness.inprocess import solve
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.model.tree import FloatArray, GameTree
from eqbench.papers.billingham_2017.lists import (
    CENTERS,
    LAYOUT,
    NAMES,
    PLACES,
    asked_for,
    by_pot,
    equilibria,
    inside,
    meets,
    printed_cells,
    printed_claims,
)
from eqbench.papers.formulas import is_true, value_at
from eqbench.papers.stored import Stored
from eqbench.registry import load_game
from eqbench.solver import Budget
from eqbench.studies.study_files import write_texts
from eqbench.verification import Verifier, verify_exactly

DEALS = 24
EXACT = 1e-12
SAMPLES = 4


def profits(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """24 E of each player as a polynomial in the frequencies and the pot, summed over the tree.

    By frequency, its derivative; by player, what has none of the own frequencies. At random
    frequencies and another pot the polynomials are compared with the payoffs.
    """
    game = load_game("skp")
    tree, ring = game.tree, fmpq_mpoly_ctx.get(("P", *NAMES), "deglex")
    pot, *frequencies = ring.gens()
    behavior = [
        int(rest) + sum(int(slope) * own for slope, own in zip(row, frequencies, strict=True))
        for rest, row in zip(LAYOUT.rest, LAYOUT.spread, strict=True)
    ]
    reach = [ring.constant(DEALS)]
    for node in range(1, tree.n_nodes):
        action, chance = tree.incoming[node], fmpq(int(tree.chance[node]), tree.chance_denominator)
        reach.append(reach[tree.parent[node]] * (behavior[action] if action >= 0 else chance))
    payoffs, whole = tree.payoffs, dict[int, Any]()
    slopes: Any = payoffs.slope
    for player in range(tree.n_players):
        ends = zip(tree.terminals, payoffs.base[:, player], slopes[:, player], strict=True)
        whole[player + 1] = sum(reach[end] * (int(a) + int(b) * pot) for end, a, b in ends)
        whole[player + 1] /= payoffs.denominator
    rests = {k: of.subs({n: 0 for n in NAMES if n[1] == str(k)}) for k, of in whole.items()}
    model = game.payoff_model().at(7.0)
    gaps = [
        value_at(_text(of), dict(zip(NAMES, tried, strict=True)) | {"P": 7.0})
        - DEALS * model.expected_payoffs(LAYOUT.behavior(tried))[player - 1]
        for tried in np.random.default_rng(0).random((100, len(NAMES)))
        for player, of in whole.items()
    ]
    return {
        "times": {name: _text(whole[int(name[1])].derivative(name)) for name in NAMES},
        "rest": {f"E{player}": _text(of) for player, of in rests.items()},
        "degree": max(int(degree) for of in whole.values() for degree in of.degrees()),
        "distance": float(np.abs(gaps).max()),
    }


def _text(polynomial: Any) -> str:
    """A polynomial as a printed formula, such as ``P b1 − 2 a1``."""
    return str(polynomial).replace("*", " ").replace("-", "−")


# What is compared in full Kuhn poker: at which information sets a player bets or calls (1) or not
# (0), otherwise than in the simplified game; the better alternative first.
_ALTERNATIVES: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "bet K, P1": ({"3:KKB": 1, "3:KBF": 1}, {"3:": 1}),
    "bet K, P2": ({"3:KKBF": 1}, {"3:K": 1}),
    "bet K, P3": ({}, {"3:KK": 1}),
    "check A, P3": ({}, {"4:KK": 0}),
    **{
        f"overcall {card}, {player}": ({}, {f"{rank}:{history}": 1})
        for player, history in (("P1", "KBC"), ("P2", "KKBC"), ("P3", "BC"))
        for card, rank in (("K", 3), ("Q", 2))
    },
}


def rules(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Gains by what the simplified game leaves out, its equilibria at pots below 2, and its tree.

    Each gain is that of one alternative over another in full Kuhn poker, smallest and largest
    over all pure choices of the other players in the simplified game.
    """
    gains: dict[str, list[float]] = {}
    for pot in ("2", "5/2", "4", "10"):
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
        "below_two": {pot: _bets_and_calls(pot) for pot in ("3/2", "19/10", "1.999")},
        "hands": [_hand(tree, deal) for deal in np.flatnonzero(tree.parent == 0).tolist()],
        "actions": actions,
        "decisions": len({label.partition(":")[2] for label in actions}),
        "ends": len(ends),
    }


def _gains(game: Game) -> Iterator[tuple[str, float]]:
    """How much each better alternative gains against each choice of the others."""
    tree, model = game.tree, game.payoff_model()
    # those who never bet and call with A only, but bet with it after two checks
    base = {
        label: int(label[0] == "4" and ("B" in label or label == "4:KK"))
        for label in tree.infoset_labels
    }
    for name, alternatives in _ALTERNATIVES.items():
        player = name[-2:]
        others = [infoset for who, infoset, _ in PLACES.values() if who != player]
        for corner in product((0, 1), repeat=len(others)):
            choices, payoffs = base | dict(zip(others, corner, strict=True)), []
            for own in alternatives:
                behavior = np.zeros(tree.n_actions)
                # each information set has two actions, the second one is to bet or call
                behavior[np.add(tree.action_start[:-1], list((choices | own).values()))] = 1
                payoffs.append(model.expected_payoffs(behavior)[tree.players.index(player)])
            yield name, DEALS * float(payoffs[0] - payoffs[1])


def _hand(tree: GameTree, node: int) -> str:
    """Cards of the players after a deal, who all check."""
    cards = ""
    for _ in tree.players:
        cards += tree.infoset_labels[tree.infoset[node]][0]
        node = int(np.flatnonzero(tree.parent == node)[0])
    return cards


def _bets_and_calls(pot: str) -> dict[str, Any]:
    """The largest frequency of a bet or call with less than A over all equilibria at a pot."""
    game = load_game("skp").at(pot=Fraction(pot))
    cell = solve(game, "case_enumeration", Budget(time_s=60.0))
    profiles = [cast(BehaviorProfile, each.profile) for each in cell.equilibria]
    largest = np.max([LAYOUT.frequencies(each.probabilities) for each in profiles], axis=0)
    named = zip(NAMES, largest.tolist(), strict=True)
    return {"complete": cell.status == "ok", "largest": max(x for n, x in named if n[0] != "a")}


def table(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """How many neighbors of equilibria are as conditions say, and how many there are.

    Neighbors differ from an equilibrium in one frequency, which is 0, 1/2 or 1.
    """
    neighbors = _neighbors(Stored(jobs, full=full))
    cells = {name: c.replace("a1 < 1", "a1 ≤ 1") for name, c in printed_cells().items()}
    eleven = [c for _, c in printed_claims("Section 3: the eleven conditions") if "reversed" in c]
    without = {}
    for name in asked_for("neighbors/without"):
        first, then = cells[name].split(" & ")
        others = [own for own in neighbors if is_true(first, own) and not is_true(then, own)]
        # regret is that of the player whose frequency it is
        without[name] = [sum(own[f"r{then[1]}"] > EXACT for own in others), len(others)]
    right = [all(_is_met(c, own) for c in eleven) == (own["r"] <= EXACT) for own in neighbors]
    met = [own["r"] <= EXACT for own in neighbors if meets(cells, own)]
    return {
        "without": without,
        "conditions": [sum(right), len(right)],
        "table": [sum(met), len(met)],
    }


def _neighbors(stored: Stored) -> list[dict[str, float]]:
    neighbors = []
    for pot, group in by_pot(inside(equilibria(stored))).items():
        verifier = Verifier(load_game("skp").at(pot=pot).tree)
        own = [[float(each.names[name]) for name in NAMES] for each in group]
        changed = {
            (*each[:place], value, *each[place + 1 :])
            for each, place, value in product(own, range(len(NAMES)), (0.0, 0.5, 1.0))
        }
        neighbors += [_measured(verifier, np.array(each), pot) for each in sorted(changed)]
    return neighbors


def _measured(verifier: Verifier, frequencies: FloatArray, pot: Fraction) -> dict[str, float]:
    """Letters at eleven frequencies (V,): P, 24 E1 to 24 E3, regrets r1 to r3, the largest r."""
    profile = BehaviorProfile.of(verifier.tree, LAYOUT.behavior(frequencies))
    measured: Any = verifier.verify(profile)
    return {
        **dict(zip(NAMES, frequencies.tolist(), strict=True)),
        **{f"E{k}": DEALS * float(payoff) for k, payoff in enumerate(measured.payoffs, 1)},
        **{f"r{k}": float(regret) for k, regret in enumerate(measured.regrets, 1)},
        **{"r": float(measured.max_regret), "P": float(pot)},
    }


def _is_met(condition: str, names: Mapping[str, float]) -> bool:
    """Whether a frequency is 1 or 0 where a condition of section 3 says so."""
    relation, _, says = condition.partition(": ")
    frequency, turned = names[says[:2]], relation.translate(str.maketrans("<>", "><"))
    if is_true(relation, names):
        return frequency == 1
    return frequency == 0 or not is_true(turned, names)


# where entries are wrong in print, each with a pot of its solution
_MISPRINTS = (
    *(("1", "5/2", "d2", "d2 = 2/(P+1)"), ("2", "3.1", "b3", "b3 = 1/(P+1)")),
    *(("10a", "5", "b1", "b1 = 1/2"), ("10a", "5", "c1 + d2", "b1 = 1/2")),
    *(("10a", "5", "b2", "b2 = 1/2"), ("10a", "5", "d1", "d1 = 1/2")),
)


def printed(folder: Path, jobs: Path, *, full: bool) -> dict[str, dict[str, str]]:
    """Largest regret, exactly, of a member of a solution with one entry as it is printed."""
    regrets: dict[str, dict[str, str]] = {}
    for solution, text, column, entry in _MISPRINTS:
        pot, (name, _, value) = Fraction(text), entry.partition(" = ")
        known = _pieces(load_game("skp").at(pot=pot))[solution][0]
        corner = dict(zip(known.parameters, corner_parameters(known)[0], strict=True))
        names = known.exact.names(corner) | {name: value_at(value, {"P": pot})}
        profile = known.layout.exact_profile([names[own] for own in NAMES])
        regret = verify_exactly(known.layout.tree, profile).max_regret
        regrets.setdefault(solution, {})[column] = str(regret)
    return regrets


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


# what is drawn along the pot, and the largest regret
_FIGURES = (*NAMES, "c2+d3", "c3+d1", "c1+d2", "E1", "E2", "E3", "r")
# irrational ends of ranges, approached from inside, to 1e-12
_ENDS = ("3.212214450450", "3.436491673103", "3.897915761657", "4.311737691490", "4.407536453183")


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
            found = [np.clip(member, 0.0, 1.0) for known in pieces for member in _members(known)]
            letters = [_measured(verifier, frequencies, pot) for frequencies in found]
            values = {of: [value_at(of, own) for own in letters] for of in _FIGURES}
            spans = {of: [min(own), max(own)] for of, own in values.items()}
            rows.append({"pot": float(pot), "name": name} | spans)
    return {"rows": rows, "max_regret": max(row["r"][1] for row in rows)}


def starts(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """By pot a profile 0.01 beside a member of a solution, for a trajectory to start from."""
    texts: dict[str, str] = {}
    document: dict[str, Any] = {}
    for pot, name in CENTERS.items():
        game = load_game("skp").at(pot=Fraction(pot))
        (known,) = _pieces(game)[name]
        member = (others := _members(known))[0]
        profile = BehaviorProfile.of(game.tree, LAYOUT.behavior(np.clip(member + 0.01, 0.01, 0.99)))
        texts[f"{pot}.json"] = profile_text(game.tree, profile, game.spec)
        fixed = np.ptp(others, axis=0) <= EXACT
        document[pot] = {
            "member": dict(zip(NAMES, member.tolist(), strict=True)),
            "determined": list(compress(NAMES, fixed.tolist())),
        }
    write_texts(folder, texts)
    return document


def bounds(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """What player 1 gains, times 24, where c2 + d3 is 0.05 beyond its bounds, and by what."""
    slopes = Stored(jobs, full=full)["polynomials"].summary["times"]
    found: dict[str, list[dict[str, Any]]] = {"above": [], "below": []}
    for pot in ("5/2", "3.1", "3.35", "3.45", "3.7"):  # where player 1 does not bet
        for known in known_sets(load_game("skp").at(pot=Fraction(pot))):
            for side, extreme, step in (("above", max, 0.05), ("below", min, -0.05)):
                names = extreme(_named(_members(known)), key=lambda own: own["c2"] + own["d3"])
                # one of the two stays inside [0, 1], whatever the other is
                names["d3" if 0 <= names["d3"] + step <= 1 else "c2"] += step
                names["P"] = float(Fraction(pot))
                gains = {
                    f"{name} = {end}": value_at(slopes[name], names) * (end - names[name])
                    for name, end in product(NAMES, (0, 1))
                    if name[1] == "1"
                }
                best = max(gains, key=gains.__getitem__)
                row = {"pot": pot, "name": known.name, "best": best, "max_gain": gains[best]}
                found[side].append(row)
    return found


def _named(choices: Sequence[FloatArray]) -> list[dict[str, float]]:
    return [dict(zip(NAMES, choice.tolist(), strict=True)) for choice in choices]
