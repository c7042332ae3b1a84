"""What no command computes: rules, dominance, threats, four cards without eps, half a street."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import islice, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

from eqbench.continuation import Continuation, ContinuationError
from eqbench.equilibria import Identifier
from eqbench.isolation.processes import peak_memory_bytes
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.inspection import inspect_profile, payoff_bounds
from eqbench.model.profile import action_labels
from eqbench.model.tree import FloatArray
from eqbench.papers.records import Table
from eqbench.registry import load_game, load_solver
from eqbench.studies.branch import Measured, measured, missing_actions
from eqbench.studies.crossplay.measure import Crossplay
from eqbench.studies.kuhn_ranges import N_OPENINGS, NODES, KuhnNodes, bet_before

# Which solutions from random weights have threats, and payoffs of the equilibria near them.
Solved = tuple[list[bool], list[list[float]]]

SMALL_DECKS = range(4, 14)
_FULL = "kuhn(players=3,cards=4)"
_DECKS, _POTS, _THREAT_POTS = (4, 5, 6, 7), (1, 3, 16), (3, 5, 8)
_STARTS, _NEVER, _LOSS = 12, 1e-6, 1e-3
_FOUR_FROM, _FOUR_TO, _FOUR_EPSILON = 2.05, 16.0, 1e-9
_PLAYED = _SAME_POT = 1e-9
_SAME, _PIECE = 1e-6, 1e-3  # the latter a range of payoffs that is seen in a figure
_HALF_STREET_POT, _HALF_STREET_DECKS = 5, (13, 26, 52, 104)


def kuhn(cards: int) -> str:
    """Three-player Kuhn poker without the 22 dominated actions of section 2."""
    return f"kuhn(players=3,cards={cards},reduce=billingham)"


def continuation(
    game: Game, kind: str, epsilon: float, derivative: str = "counterfactual"
) -> Continuation:
    """The solver that follows branches, for this game and regularization."""
    options = f"epsilon={epsilon},regularization={kind},derivative={derivative}"
    solver: Any = load_solver(f"arclength({options})")
    return solver.continuation(game)


def rules(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Nodes, linearity, deals, and which actions are dominated."""
    game = load_game(_FULL)
    tree = game.tree
    infosets = zip(tree.infoset_player.tolist(), tree.infoset_labels, strict=True)
    nodes = Counter(player for player, _ in {(p, label.partition(":")[2]) for p, label in infosets})
    deals = dict[str, Fraction]()  # with the lowest card at player 1 and the highest, over others
    for cards in SMALL_DECKS:
        others = Counter(cards in pair for pair in permutations(range(2, cards + 1), 2))
        deals[f"N = {cards}"] = Fraction(others[True], others[False])
    return {
        "tree": {"nodes": nodes.total(), "by player": [nodes[player] for player in range(3)]},
        "largest_sum_of_payoffs": np.abs(tree.payoffs.table.sum(axis=1)).max(),
        "multilinear": _multilinear(game),
        "dominated": [_fixed(*case) for case in product(_DECKS, _POTS)],
        "second best": {
            "advantage": [_second_best(node, caught=True) for node in range(3)],
            "if nobody calls with card 2": [_second_best(node, caught=False) for node in range(3)],
        },
        "deals": deals,
    }


def one_by_one(free: FloatArray, value: float) -> FloatArray:
    """Free frequencies (F,) with one after the other at a value, (F, F)."""
    return np.where(np.eye(len(free), dtype=bool), value, free)


def _multilinear(game: Game) -> dict[str, float]:
    """How far payoffs are from linear in each frequency, and unit differences from derivatives."""
    model, choices = game.payoff_model(), Choices.of(game.tree)
    free = np.random.default_rng(0).uniform(size=choices.size)
    behavior = choices.behavior(free)
    zero, half, one = (
        np.array([model.expected_payoffs(choices.behavior(row)) for row in one_by_one(free, value)])
        for value in (0.0, 0.5, 1.0)
    )
    # the own later play counts too: it is part of the counterfactual value
    gains = choices.gains(model.counterfactual_values(behavior))
    derivatives = inspect_profile(game, behavior).own_reach[choices.infoset] * gains
    owner = game.tree.infoset_player[choices.infoset]
    own = np.take_along_axis(one - zero, owner[:, None], axis=1)[:, 0]
    return {
        "bend": float(np.abs((zero + one) / 2 - half).max()),
        "unit_difference_error": float(np.abs(own - derivatives).max()),
    }


def _fixed(cards: int, pot: int) -> tuple[int, int]:
    """How many actions section 2 deletes, and how many of them lose or tie at every node.

    The largest payoff after the deleted action, whatever follows, is compared with the smallest
    one after the other action, node by node of the information set.
    """
    tree = load_game(f"kuhn(players=3,cards={cards},pot={pot})").tree
    low, high = payoff_bounds(tree)
    deleted, dominated = missing_actions(tree, load_game(kuhn(cards)).tree), 0
    for action in deleted.values():
        infoset, other = action // 2, action ^ 1  # all information sets have two actions
        better = low[tree.incoming == other] >= high[tree.incoming == action]
        dominated += bool(better[:, tree.infoset_player[infoset]].all())
    return len(deleted), dominated


def _second_best(node: int, *, caught: bool) -> float:
    """By how much some way to check card 3 of four is at least as good as betting it, at any pot.

    A mixture of checks with later calls and folds is chosen so that its smallest advantage over
    all pure strategies of the opponents is as large as possible (a linear program); opponents
    use no action that section 2 deletes, and unless `caught` no call with card 2. Where that
    advantage is negative, no check is as good against all of them.
    """
    game, found = load_game(kuhn(4)), []
    choices, action = Choices.of(game.tree), KuhnNodes.of(game.tree).action
    row, card = np.array([np.argwhere(action == free)[0] for free in choices.action]).T
    own, answers = np.array([entry.player for entry in NODES])[row] == node, row >= N_OPENINGS
    bet = choices.action == action[node, 2]
    # nothing is left for player 3 to decide after a check
    calls = np.flatnonzero(own & answers & (card == 2) & (node < 2))
    theirs = np.flatnonzero(~own & (card != 2) & (caught | ~answers | (card != 1)))
    plans, strategies = (list(product((0.0, 1.0), repeat=len(of))) for of in (calls, theirs))
    for pot in _POTS:
        model, free = game.payoff_model().at(pot), np.zeros(choices.size)
        gains = np.zeros((len(plans), len(strategies)))
        for (plan, called), (column, pure) in product(enumerate(plans), enumerate(strategies)):
            free[calls], free[theirs] = called, pure
            values = model.counterfactual_values(choices.behavior(free))
            # chance leads to the card once in four deals
            gains[plan, column] = -4 * choices.gains(values)[bet].item()
        # the value of a matrix game whose payoffs are shifted so that all are positive
        shift = 1 - gains.min()
        program = linprog(
            np.ones(len(gains)), A_ub=-(gains + shift).T, b_ub=-np.ones(gains.shape[1])
        )
        assert program.fun is not None  # bounded: the opponents' choices are finite
        found.append(round(1 / program.fun - shift, 12))
    return min(found)


def threats(folder: Path, jobs: Path, *, full: bool) -> Table:
    """How many solutions have noncredible threats, and whether payoffs depend on the measure."""
    measures = {
        "neither": (_FULL, "raw", _THREAT_POTS),
        "differentiation only": (_FULL, "counterfactual", _THREAT_POTS),
        "removal only": (kuhn(4), "raw", _THREAT_POTS),
        "both": (kuhn(4), "counterfactual", _THREAT_POTS),
        "pot 20": (kuhn(4), "raw", (20,)),
        "25 removed": ("kuhn(players=3,cards=4,reduce=dominated25)", "raw", (20,)),
    }
    found = {
        title: [_from_starts(spec, derivative, pot) for pot in pots]
        for title, (spec, derivative, pots) in measures.items()
    }
    counted = {
        title: {"threats": [sum(own) for own, _ in of], "of": [len(own) for own, _ in of]}
        for title, of in found.items()
    }
    counted["pot 20"]["threats with 25 removed"] = counted.pop("25 removed")["threats"]
    started = counted["differentiation only"]["of"] + counted["both"]["of"]
    return counted | {
        "arrived": {"starts": _STARTS * len(started), "found": sum(started)},
        "either alone": _agreement(*(found[title] for title in list(measures)[1:4])),
    }


def _from_starts(spec: str, derivative: str, pot: int) -> Solved:
    """Whether solutions have a noncredible threat, which loses a fixed amount, and payoffs."""
    game = load_game(spec).at(pot=pot)
    first = game.tree.action_start[:-1]
    method, threatening, payoffs = continuation(game, "log", 1e-8, derivative), [], []
    for seed in range(_STARTS):
        try:
            point = method.start(float(pot), np.random.default_rng(seed))
        except ContinuationError:
            continue
        # at a set to which the player's own moves never lead, though those of the others do
        values = game.payoff_model().counterfactual_values(point.behavior)
        best, own = (
            np.maximum.reduceat(values, first),
            np.add.reduceat(point.behavior * values, first),
        )
        unreached = inspect_profile(game, point.behavior).own_reach <= _NEVER
        threatening.append(bool(np.any(unreached & (best - own > _LOSS))))
        item = measured(game.tree, method.polish(point, float(pot))[0])
        if item.is_equilibrium:
            payoffs.append(item.payoffs)
    return threatening, payoffs


def _agreement(*measures: Sequence[Solved]) -> Table:
    """How far payoffs that all starts with the last measures share are from those with others."""
    apart, missed = [0.0], 0
    for *alone, (_, shared) in zip(*measures, strict=True):
        fixed = np.ptp(shared, axis=0) < _SAME
        for found, payoffs in alone:
            missed += len(found) - len(payoffs)
            gaps = np.abs(np.subtract(payoffs, shared[0]))[:, fixed]
            apart.append(float(gaps.max(initial=0.0)))
    return {"payoffs apart": max(apart), "no equilibria": missed}


def four_cards(folder: Path, jobs: Path, *, full: bool) -> Table:
    """Exact equilibria along the branch with four cards, every point polished and verified."""
    game = load_game(kuhn(4))
    method, nodes = continuation(game, "log", _FOUR_EPSILON), KuhnNodes.of(game.tree)
    points = [method.start(_FOUR_FROM)]
    for point in method.follow(points[0]):
        points.append(point)
        if not _FOUR_FROM <= point.value <= _FOUR_TO:
            break
    behaviors, values = zip(*map(method.polish, points), strict=True)
    made_at = zip(behaviors, values, strict=True)
    found = [measured(method.game_at(pot).tree, behavior) for behavior, pot in made_at]
    pots = np.array(values)
    played = np.array([nodes.aggression(item.profile.probabilities) for item in found])
    made = played.max(axis=2) > _PLAYED
    before = played[(pots > 2) & (pots < 3 - _SAME_POT)]
    third, top = played[played[:, 2, 2] > _PLAYED][:, :2, 3], played[pots > 3][:, :2, 3]
    bets = played[:, :3].max(axis=0) > _SAME
    calls = np.max([played[made[:, bet_before(row)], row].max(axis=0) for row in range(3, 12)], 0)
    at_three = [item for pot, item in zip(pots, found, strict=True) if abs(pot - 3) < _SAME_POT]
    pieces = _pieces(pots, np.array([item.payoffs for item in found]))
    # strategies of the two ends and the middle of a vertical piece, one for each player
    ends = {str(k): at_three[k].profile for k in (0, len(at_three) // 2, -1)}
    crossed = Crossplay(game, list(ends.items()))
    shortfalls = crossed.own_payoffs - crossed.others_differ.payoffs
    return {
        "max_regret": max(item.max_regret for item in found),
        "pieces": [piece["pot"] for piece in pieces],
        "piece": dict(enumerate([*pieces, *[{"pot": 0, "players": 0, "ranges": [1]}] * 4], 1)),
        "before_three": {
            "bets_of_players_1_and_2": before[:, :2].max(),
            "calls_with_card_3": before[:, 3:6, 2].max(axis=0),
        },
        "bets from": {f"player {p + 1}": pots[made[:, p]].min() for p in (1, 0)},
        "bets": {
            **{f"node {k + 1}": np.flatnonzero(bets[k]) + 1 for k in range(3)},
            "node 3, card 3, points": len(third),
            "node 3, card 3, top_bet_before": third.min(initial=1.0),
        },
        "calls": {f"card {k + 1}": calls[k] for k in (1, 2)},
        "top_card_mixed": ((top > _SAME) & (top < 1 - _SAME)).mean(axis=0),
        "family": _family(game, at_three),
        "largest_shortfall": shortfalls.max(axis=1),
    }


def _pieces(pots: FloatArray, payoffs: FloatArray) -> list[Table]:
    """Pots at which payoffs of neighboring points differ by what a figure shows."""
    breaks, pieces = np.flatnonzero(np.abs(np.diff(pots)) > _SAME_POT) + 1, list[Table]()
    for at, have in zip(np.split(pots, breaks), np.split(payoffs, breaks), strict=True):
        ranges = np.ptp(have, axis=0)
        if players := int((ranges > _PIECE).sum()):
            pieces.append({"pot": float(np.median(at)), "ranges": ranges, "players": players})
    return pieces


def _family(game: Game, at_three: list[Measured]) -> Table:
    """The points at a pot of 3 as members of the published family."""
    identifier, betas, on_path, errors = Identifier(game), list[float](), list[bool](), []
    sets = {known.name: known for known in identifier.known}
    for item in at_three:
        identity = identifier.identify(item.profile)
        if identity is not None and (known := sets.get(identity.name)):
            parameters = known.read(known.layout.frequencies(item.profile.probabilities))
            errors.append(np.abs(item.payoffs - known.payoffs_near(parameters)).max())
            betas.append(identity.parameters["beta"])
            on_path.append(identity.on_path)
    return {
        "points": len(at_three),
        "on_path": sum(on_path),
        "beta": [min(betas), max(betas)],
        "largest_payoff_error": max(errors),
        "members": sum(on_path) / len(at_three),
    }


def half_street(folder: Path, jobs: Path, *, full: bool) -> Table:
    """How far larger and larger decks of two players are from the continuous game.

    With hands uniform on [0, 1], player 2 bets above v and below b, and player 1 calls above c.
    At v a call is as often worse as better, v = (1 + c)/2; at c a call wins P + 1 from bluffs and
    loses 1 to the others, (P + 1) b = 1 - v; at b a bluff wins P from hands between b and c and
    loses 1 to those that call, P (c - b) = 1 - c.
    """
    pot = _HALF_STREET_POT
    gain = pot**2 / (2 * (2 * pot + 1) * (pot + 2))
    calls = (3 * pot + 2) / ((2 * pot + 1) * (pot + 2))
    limit = np.array([gain, calls, (1 + calls) / 2, (1 - calls) / (2 * (pot + 1))])
    off = np.abs([_half_street(cards) - limit for cards in _HALF_STREET_DECKS])
    return {
        "N": _HALF_STREET_DECKS,
        "gain off by": off[:, 0],
        "thresholds off by": off[:, 1:].max(axis=1) * _HALF_STREET_DECKS,
    }


def _half_street(cards: int) -> FloatArray:
    """Gain of player 2, above which hands player 1 calls, and player 2 bets, bluffs below (4,)."""
    game = load_game(f"kuhn(players=2,cards={cards},reduce=half_street)")
    method, pot = continuation(game, "log", 1e-9), float(_HALF_STREET_POT)
    behavior, _ = method.polish(method.start(pot), pot)
    played = dict(zip(action_labels(game.tree), behavior.tolist(), strict=True))
    bets, calls = (
        np.array([played.get(f"{player}|{card}:{move}", 0.0) for card in range(1, cards + 1)])
        for player, move in (("P2", "K|bet"), ("P1", "KB|call"))
    )
    bluffs, value_bets = bets[: cards // 2].sum() / cards, bets[cards // 2 :].sum() / cards
    gain = measured(method.game_at(pot).tree, behavior).payoffs[1]
    return np.array([gain, 1 - calls.mean(), 1 - value_bets, bluffs])


def memory(folder: Path, jobs: Path, *, full: bool) -> dict[str, float]:
    """Peak memory of following the branch with 26 cards for some steps."""
    method = continuation(load_game(kuhn(26)), "log", 1e-6)
    list(islice(method.follow(method.start(0.5)), 60))
    return {"GB": peak_memory_bytes() / 1e9}
