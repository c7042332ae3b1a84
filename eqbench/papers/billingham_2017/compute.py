"""Profits as polynomials, what the game leaves out, Table 1, and members of the solutions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import compress, product
from pathlib import Path
from typing import Any

import numpy as np

from eqbench.equilibria import KnownSet, known_sets
from eqbench.equilibria.known import corner_parameters
from eqbench.equilibria.members import members
from eqbench.errors import EqbenchError
from eqbench.harness.inprocess import solve
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import profile_text
from eqbench.model.tree import FloatArray
from eqbench.papers.billingham_2017 import lists
from eqbench.papers.billingham_2017.lists import layout, skp
from eqbench.papers.encyclopedia.compute import hands
from eqbench.papers.formulas import is_true, value_at
from eqbench.papers.polynomials import DEALS, Polynomial, node_reaches, variables
from eqbench.papers.records import Table
from eqbench.papers.stored import Stored
from eqbench.registry import load_game
from eqbench.requests import Limits
from eqbench.store.run_folder import write_texts
from eqbench.verification import Verifier, verify_exactly

EXACT = 1e-12


def profits(folder: Path, jobs: Path, *, full: bool) -> Table:
    """24 E of each player as a polynomial in the frequencies and the pot, summed over the tree.

    By frequency, its derivative; by player, what has none of the own frequencies. At random
    frequencies and another pot the polynomials are compared with the payoffs.
    """
    names, tree = layout().variables, layout().tree
    ring = variables(("P", *names))
    reaches, payoffs, whole = node_reaches(layout(), ring), tree.payoffs, dict[str, Polynomial]()
    slopes: Any = payoffs.slope
    for player in range(tree.n_players):
        ends = zip(tree.terminals, payoffs.base[:, player], slopes[:, player], strict=True)
        total = sum(reaches[end] * (int(a) + int(b) * ring["P"]) for end, a, b in ends)
        whole[str(player + 1)] = total / payoffs.denominator
    model = skp().payoff_model().at(7.0)
    gaps = [
        value_at(_text(of), dict(zip(names, tried, strict=True)) | {"P": 7.0})
        - DEALS * model.expected_payoffs(layout().behavior(tried))[int(player) - 1]
        for tried in np.random.default_rng(0).random((100, len(names)))
        for player, of in whole.items()
    ]
    return {
        "times": {name: _text(whole[name[1]].derivative(name)) for name in names},
        "rest": {
            f"E{k}": _text(of.subs({n: 0 for n in names if k in n})) for k, of in whole.items()
        },
        "degree": max(int(degree) for of in whole.values() for degree in of.degrees()),
        "distance": np.abs(gaps).max(),
    }


def _text(polynomial: Polynomial) -> str:
    """A polynomial as a printed formula, such as ``P b1 − 2 a1``."""
    return str(polynomial).replace("*", " ").replace("-", "−")


# What is dominated in full Kuhn poker, as pairs of alternatives, the better one first: at which
# information sets the player bets or calls (1) or not (0), otherwise than in the simplified game.
_DOMINATED: dict[str, list[tuple[dict[str, int], dict[str, int]]]] = {
    "betting with K by P1": [({"3:KKB": 1, "3:KBF": 1}, {"3:": 1})],
    "betting with K by P2": [({"3:KKBF": 1}, {"3:K": 1})],
    "betting with K by P3": [({}, {"3:KK": 1})],
    "checking with A by P3": [({}, {"4:KK": 0})],
    **{
        f"calling by {player}": [({}, {f"{rank}:{history}": 1}) for rank in (3, 2)]
        for player, history in (("P1", "KBC"), ("P2", "KKBC"), ("P3", "BC"))
    },
}


def rules(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Losses by what the simplified game leaves out, its equilibria at pots below 2, and its tree.

    Of losses the least, and the largest, which is that of the least harmful alternative.
    """
    pots, losses = ("2", "5/2", "4", "10"), dict[str, list[float]]()
    games = [load_game(f"kuhn(players=3, cards=4, pot={pot})") for pot in pots]
    for name, pairs in _DOMINATED.items():
        found = [[loss for game in games for loss in _losses(game, name, *pair)] for pair in pairs]
        ends = min(map(min, found)), min(map(max, found))
        losses[name] = [round(end, 9) + 0.0 for end in ends]
    tree = layout().tree
    labels = tree.infoset_labels
    free = dict(zip(layout().infoset.tolist(), layout().variables, strict=True))
    choices = {
        label: free.get(i, str(int(tree.infoset_actions[i][0] in ("bet", "call"))))
        for i, label in enumerate(labels)
    }
    nodes = {
        label[2:] or "first": [choices[f"{card}:{label[2:]}"] for card in "234"] for label in labels
    }
    played = list(hands(tree))
    deals = {hand.cards for hand in played}
    with_k = [[deal for deal in deals if deal[player] == 3] for player in range(3)]
    return {
        "losses": losses,
        "below 2": [_bets_and_calls(pot) for pot in ("3/2", "19/10", "1.999")],
        "deals": len(deals),
        "A beside K": [Fraction(sum(4 in deal for deal in own), len(own)) for own in with_k],
        "with J": {tree.infoset_actions[labels.index(n)] for n in labels if n[0] == "1"},
        "nodes": nodes,
        "decisions": len(nodes),
        "ends": len({hand.history for hand in played}),
    }


def _losses(
    game: Game, name: str, better: dict[str, int], worse: dict[str, int]
) -> Iterator[float]:
    """What the player at the end of a name loses by the worse, at each choice of the others."""
    tree, player = game.tree, name[-2:]
    places = [place.split("|") for place in layout().places]
    others = [infoset for who, infoset, _ in places if who != player]
    # those who never bet and call with A only, but bet with it after two checks
    base = {n: int(n[0] == "4" and ("B" in n or n == "4:KK")) for n in tree.infoset_labels}

    def payoff(choices: dict[str, int]) -> float:
        # each information set has two actions, the second one is to bet or call
        behavior = Choices.of(tree).behavior(np.array([*choices.values()], dtype=float))
        payoffs = game.payoff_model().expected_payoffs(behavior)
        return DEALS * float(payoffs[tree.players.index(player)])

    for corner in product((0, 1), repeat=len(others)):
        choices = base | dict(zip(others, corner, strict=True))
        yield payoff(choices | better) - payoff(choices | worse)


def _bets_and_calls(pot: str) -> float:
    """The largest frequency of a bet or call with less than A over all equilibria at a pot."""
    cell = solve(skp().at(pot=Fraction(pot)), "case_enumeration", Limits(timeout_s=60.0))
    if not lists.is_complete(cell):
        raise EqbenchError(f"cases were left open at pot {pot}")
    found = [each.profile.probabilities for each in cell.equilibria]
    largest = np.max([layout().frequencies(each) for each in found], axis=0)
    pairs = zip(layout().variables, largest.tolist(), strict=True)
    return max(most for name, most in pairs if name[0] != "a")


def table(folder: Path, jobs: Path, *, full: bool) -> Table:
    """How many neighbors of equilibria are as conditions say, and how many there are.

    Neighbors differ from an equilibrium in one frequency, which is 0, 1/2 or 1.
    """
    neighbors = _neighbors(Stored(jobs, full=full))
    cells = {name: c.replace("a1 < 1", "a1 ≤ 1") for name, c in lists.printed_cells().items()}
    eleven = [c for *_, c in lists.printed("Section 3: the eleven conditions") if "reversed" in c]
    without = {}
    for name in lists.claimed_keys("neighbors/without"):
        first, then = cells[name].split(" & ")
        others = [own for own in neighbors if is_true(first, own) and not is_true(then, own)]
        # regret is that of the player whose frequency it is
        without[name] = _counted([own[f"r{then[1]}"] > EXACT for own in others])
    right = [all(_is_met(text, own) for text in eleven) == (own["r"] <= EXACT) for own in neighbors]
    met = [own["r"] <= EXACT for own in neighbors if lists.meets(cells, own)]
    return {"without": without, "conditions": _counted(right), "table": _counted(met)}


def _counted(as_printed: list[bool]) -> dict[str, int]:
    return {"as said": sum(as_printed), "all": len(as_printed)}


def _neighbors(stored: Stored) -> list[dict[str, float]]:
    """Letters of neighbors: frequencies, P, 24 E1 to 24 E3, regrets r1 to r3, the largest r."""
    names, neighbors = layout().variables, []
    for pot, group in lists.by_pot(lists.inside(lists.equilibria(stored))).items():
        verifier = Verifier(skp().at(pot=pot).tree)
        own = [[float(each.names[name]) for name in names] for each in group]
        changed = {
            (*each[:place], value, *each[place + 1 :])
            for each, place, value in product(own, range(len(names)), (0.0, 0.5, 1.0))
        }
        for frequencies in sorted(changed):
            behavior = layout().behavior(np.array(frequencies))
            measured: Any = verifier.verify(BehaviorProfile.of(verifier.tree, behavior))
            letters = dict(zip(names, frequencies, strict=True)) | {"P": float(pot)}
            letters |= {f"E{k}": DEALS * float(u) for k, u in enumerate(measured.payoffs, 1)}
            letters |= {f"r{k}": float(regret) for k, regret in enumerate(measured.regrets, 1)}
            neighbors.append(letters | {"r": float(measured.max_regret)})
    return neighbors


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


def printed(folder: Path, jobs: Path, *, full: bool) -> dict[str, dict[str, Fraction]]:
    """Largest regret, exactly, of a member of a solution with one entry as it is printed."""
    regrets: dict[str, dict[str, Fraction]] = {}
    for solution, pot, column, entry in _MISPRINTS:
        known, (name, _, value) = _pieces(pot)[solution][0], entry.partition(" = ")
        corner = dict(zip(known.parameters, corner_parameters(known)[0], strict=True))
        names = known.exact.names(corner) | {name: value_at(value, {"P": Fraction(pot)})}
        profile = known.layout.exact_profile([names[own] for own in layout().variables])
        measured = verify_exactly(known.layout.tree, profile)
        regrets.setdefault(solution, {})[column] = Fraction(measured.max_regret)
    return regrets


def _pieces(pot: Fraction | str) -> dict[str, list[KnownSet]]:
    """Published sets at a pot by name; the convex pieces of one set share it."""
    pieces: dict[str, list[KnownSet]] = {}
    for known in known_sets(skp().at(pot=Fraction(pot))):
        pieces.setdefault(known.name.removeprefix("skp:"), []).append(known)
    return pieces


def _members(known: KnownSet) -> list[FloatArray]:
    """Frequencies (V,) of members of a set, four of them at random."""
    found = members(known, 4, np.random.default_rng(0))
    return [known.frequencies(member.parameters) for member in found]


_SUMS = ("c2+d3", "c3+d1", "c1+d2")
# irrational ends of ranges, approached from inside, to 1e-12
_ENDS = ("3.212214450450", "3.436491673103", "3.897915761657", "4.311737691490", "4.407536453183")


def curves(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Least and largest values over each published set along the pot."""
    pots = [*map(Fraction, _ENDS), *(Fraction(k, 50) for k in range(100, 301))]
    return lists.published_along(pots, (*layout().variables, *_SUMS, "E1", "E2", "E3"))


def starts(folder: Path, jobs: Path, *, full: bool) -> dict[str, dict[str, float]]:
    """By pot what a solution determines, and start profiles 0.01 away as files."""
    texts, document = dict[str, str](), dict[str, dict[str, float]]()
    for pot, name in lists.CENTERS.items():
        (known,) = _pieces(pot)[name]
        member = (others := _members(known))[0]
        behavior = layout().behavior(np.clip(member + 0.01, 0.01, 0.99))
        profile = BehaviorProfile.of(layout().tree, behavior)
        texts[f"{pot}.json"] = profile_text(layout().tree, profile, f"skp(pot={pot})")
        named = zip(layout().variables, member.tolist(), strict=True)
        document[pot] = dict(compress(named, np.ptp(others, axis=0) <= EXACT))
    write_texts(folder, texts)
    return document


def bounds(folder: Path, jobs: Path, *, full: bool) -> dict[str, list[float]]:
    """What player 1 gains by a1 = 1 above the upper bound of c2 + d3, and b1 = 1 below the lower.

    Where the sum is 0.05 beyond, times 24; nothing, where something else gains more.
    """
    slopes = Stored(jobs, full=full)["polynomials"].summary["times"]
    found: dict[str, list[float]] = {"above": [], "below": []}
    sides = (("above", max, 0.05, "a1 = 1"), ("below", min, -0.05, "b1 = 1"))
    for pot in ("5/2", "3.1", "3.35", "3.45", "3.7"):  # where player 1 does not bet
        for known in (known for pieces in _pieces(pot).values() for known in pieces):
            choices = [dict(zip(layout().variables, own, strict=True)) for own in _members(known)]
            for side, extreme, step, wanted in sides:
                names = extreme(choices, key=lambda own: own["c2"] + own["d3"])
                # one of the two stays inside [0, 1], whatever the other is
                moved = "d3" if 0 <= names["d3"] + step <= 1 else "c2"
                names = names | {moved: names[moved] + step, "P": float(Fraction(pot))}
                gains = {
                    f"{name} = {end}": value_at(slopes[name], names) * (end - names[name])
                    for name, end in product(("a1", "b1", "c1", "d1"), (0, 1))
                }
                best = max(gains, key=gains.__getitem__)
                found[side].append(gains[best] if best == wanted else 0.0)
    return found
