"""What no command computes: rules, dominance, threats, four cards without eps, half a street."""

from __future__ import annotations

import resource
import sys
from itertools import islice, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

from eqbench.continuation import Continuation, ContinuationError
from eqbench.equilibria import Identifier, known_sets
from eqbench.equilibria.kuhn_ranges import N_OPENINGS, NODES, KuhnNodes, bet_before
from eqbench.model.choices import Choices
from eqbench.model.game import Game
from eqbench.model.profile import action_labels
from eqbench.model.tree import FloatArray, GameTree
from eqbench.registry import load_game, load_solver
from eqbench.studies.branch import POLISHED, Measured, measured

SMALL_DECKS = range(4, 14)
_FULL, _DOMINATED = "kuhn(players=3,cards=4)", "kuhn(players=3,cards=4,reduce=dominated25)"
_DECKS, _POTS = (4, 5, 6, 7), (1, 3, 16)
_THREAT_POTS, _LARGE_POT = (3, 5, 8), 20
_STARTS, _THREAT_EPSILON = 12, 1e-8
_NEVER, _LOSS = 1e-6, 1e-3
_FOUR_FROM, _FOUR_TO, _FOUR_EPSILON = 2.05, 16.0, 1e-9
_PLAYED = _SAME_POT = 1e-9
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
    followed: Continuation = solver.continuation(game)
    return followed


def rules(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Nodes, linearity, deals, and which actions are dominated."""
    game = load_game(_FULL)
    nodes = {(player, label.partition(":")[2]) for player, label in _infosets(game.tree)}
    return {
        "nodes": len(nodes),
        "nodes_of_players": [sum(p == player for p, _ in nodes) for player in range(3)],
        "largest_sum_of_payoffs": float(np.abs(game.tree.payoffs.table.sum(axis=1)).max()),
        "multilinear": _multilinear(game),
        "deals": [_deals(cards) for cards in SMALL_DECKS],
        "fixed": [_fixed(cards, pot) for cards in _DECKS for pot in _POTS],
        "second_best": [
            _second_best(node, pot, caught=caught)
            for node in range(3)
            for pot in _POTS
            for caught in (True, False)
        ],
    }


def _infosets(tree: GameTree) -> list[tuple[int, str]]:
    return list(zip(tree.infoset_player.tolist(), tree.infoset_labels, strict=True))


def _multilinear(game: Game) -> dict[str, float]:
    """How far payoffs are from linear in each frequency, and unit differences from derivatives."""
    model, choices, tree = game.payoff_model(), Choices.of(game.tree), game.tree
    free = np.random.default_rng(0).uniform(size=choices.size)
    behavior = choices.behavior(free)
    # the own later play counts too: it is part of the counterfactual value
    gains = choices.gains(model.counterfactual_values(behavior))
    bend, error = 0.0, 0.0
    for place, infoset in enumerate(choices.infoset.tolist()):
        zero, half, one = (
            model.expected_payoffs(choices.behavior(np.r_[free[:place], value, free[place + 1 :]]))
            for value in (0.0, 0.5, 1.0)
        )
        bend = max(bend, float(np.abs((zero + one) / 2 - half).max()))
        owner, before = int(tree.infoset_player[infoset]), int(tree.infoset_parent[infoset])
        reach = 1.0 if before < 0 else float(behavior[before])
        error = max(error, abs(float((one - zero)[owner]) - reach * float(gains[place])))
    return {"bend": bend, "unit_difference_error": error}


def _deals(cards: int) -> dict[str, int]:
    """Deals in which player 1 has the lowest card, and those of them without the highest one.

    A bluff wins the pot in these and loses a unit in the others.
    """
    others = list(permutations(range(2, cards + 1), 2))
    without = sum(cards not in pair for pair in others)
    return {"cards": cards, "lowest": len(others), "without_highest": without}


def _fixed(cards: int, pot: int) -> dict[str, Any]:
    """Of the actions that section 2 deletes, how many lose or tie at every node, whatever follows.

    The largest payoff after the deleted action is compared with the smallest one after the
    other action, node by node of the information set.
    """
    tree = load_game(f"kuhn(players=3,cards={cards},pot={pot})").tree
    reduced = load_game(kuhn(cards)).tree
    lowest, highest = _payoff_bounds(tree)
    deleted, dominated = 0, 0
    for i, (player, label) in enumerate(_infosets(tree)):
        kept = reduced.infoset_actions[reduced.infoset_of(player, label)]
        if len(kept) == 2:
            continue
        keep = tree.infoset_actions[i].index(kept[0])
        members = np.isin(tree.parent, np.flatnonzero(tree.infoset == i))
        worst = lowest[members & (tree.move == keep), player]
        dominated += bool((worst >= highest[members & (tree.move == 1 - keep), player]).all())
        deleted += 1
    return {"cards": cards, "pot": pot, "deleted": deleted, "dominated": dominated}


def _payoff_bounds(tree: GameTree) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest payoff below each node, float64 (M, N) each."""
    low = np.full((tree.n_nodes, tree.n_players), np.inf)
    high = -low
    low[tree.terminals] = high[tree.terminals] = tree.payoffs.table
    for level in tree.levels[:0:-1]:
        np.minimum.at(low, tree.parent[level], low[level])
        np.maximum.at(high, tree.parent[level], high[level])
    return low, high


def _second_best(node: int, pot: int, *, caught: bool) -> dict[str, Any]:
    """By how much some way to check card 3 of four is at least as good as betting it.

    A mixture of checks with later calls and folds is chosen so that its smallest advantage over
    all pure strategies of the opponents is as large as possible (a linear program); opponents
    use no action that section 2 deletes, and unless `caught` no call with card 2. Where that
    advantage is negative, no check is as good against all of them.
    """
    game = load_game(f"kuhn(players=3,cards=4,pot={pot},reduce=billingham)")
    gains = _advantages(game, node, caught=caught)
    plans, opponents = gains.shape
    answer = linprog(
        np.append(np.zeros(plans), -1.0),
        A_ub=np.column_stack((-gains.T, np.ones(opponents))),
        b_ub=np.zeros(opponents),
        A_eq=[[1.0] * plans + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * plans + [(None, None)],
    )
    assert answer.fun is not None  # bounded: the opponents' choices are finite
    return {"node": node + 1, "pot": pot, "caught": caught, "advantage": -float(answer.fun)}


def _advantages(game: Game, node: int, *, caught: bool) -> FloatArray:
    """Payoff of the ways to check card 3 less that of betting it, (plans, opponents' choices)."""
    choices, action = Choices.of(game.tree), KuhnNodes.of(game.tree).action
    place = {int(free): k for k, free in enumerate(choices.action)}
    calls = [
        place[int(action[row, 2])]
        for row, entry in enumerate(NODES)
        # nothing is left for player 3 to decide after a check
        if entry.player == node < 2 and row >= N_OPENINGS and action[row, 2] in place
    ]
    theirs = [
        place[int(action[row, card])]
        for row, entry in enumerate(NODES)
        for card in (0, 1, 3)
        if entry.player != node
        and action[row, card] in place
        and (caught or row < N_OPENINGS or card != 1)
    ]
    bet = int(action[node, 2])
    check = int(choices.first[place[bet]])
    model, free = game.payoff_model(), np.zeros(choices.size)
    plans = list(product((0.0, 1.0), repeat=len(calls)))
    table = np.zeros((len(plans), 2 ** len(theirs)))
    for column, pure in enumerate(product((0.0, 1.0), repeat=len(theirs))):
        free[theirs] = pure
        for row, plan in enumerate(plans):
            free[calls] = plan
            values = model.counterfactual_values(choices.behavior(free))
            table[row, column] = values[check] - values[bet]
    # chance leads to the card once in four deals
    return 4 * table


def threats(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """How many of several solutions have noncredible threats, by game, pot and derivative."""
    cases = list(product((_FULL, kuhn(4)), _THREAT_POTS, ("raw", "counterfactual")))
    cases += [(kuhn(4), _LARGE_POT, "raw"), (_DOMINATED, _LARGE_POT, "raw")]
    return {"cases": [_threat_case(*case) for case in cases], "epsilon": _THREAT_EPSILON}


def _threat_case(spec: str, pot: int, derivative: str) -> dict[str, Any]:
    """Counts over random weights of the regularization."""
    game = load_game(spec).at(pot=pot)
    method = continuation(game, "log", _THREAT_EPSILON, derivative)
    found, threatening, payoffs = 0, 0, []
    for seed in range(_STARTS):
        try:
            point = method.start(float(pot), np.random.default_rng(seed))
        except ContinuationError:
            continue
        found += 1
        threatening += _threatens(game, point.behavior)
        item = measured(game.tree, method.polish(point, float(pot))[0])
        if item.max_regret <= POLISHED * game.tree.payoff_range:
            payoffs.append(item.payoffs)
    counts = {"starts": _STARTS, "found": found, "with_threats": threatening}
    case = {"game": spec, "pot": pot, "derivative": derivative}
    return {**case, **counts, "equilibria": len(payoffs), "payoffs": payoffs}


def _threatens(game: Game, behavior: FloatArray) -> bool:
    """Whether a profile has a noncredible threat.

    That is an information set to which the player's own moves never lead, though those of the
    others do, and at which what is played loses a fixed amount.
    """
    tree, values = game.tree, game.payoff_model().counterfactual_values(behavior)
    first = tree.action_start[:-1]
    losses = np.maximum.reduceat(values, first) - np.add.reduceat(behavior * values, first)
    infoset_of = np.repeat(np.arange(tree.n_infosets), np.diff(tree.action_start))
    own_reach = np.ones(tree.n_infosets)
    for i, before in enumerate(tree.infoset_parent.tolist()):
        if before >= 0:
            own_reach[i] = own_reach[infoset_of[before]] * behavior[before]
    return bool(np.any((own_reach <= _NEVER) & (losses > _LOSS)))


def four_cards(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Facts about the branch with four cards, every point of it polished and verified."""
    game = load_game(kuhn(4))
    pots, found = _polished(game)
    nodes = KuhnNodes.of(game.tree)
    played = np.array([nodes.aggression(item.profile.probabilities) for item in found])
    made = played.max(axis=2) > _PLAYED
    before = played[(pots > 2) & (pots < 3 - _SAME_POT)]
    third = played[played[:, 2, 2] > _PLAYED][:, :2, 3]
    top = played[pots > 3][:, :2, 3]
    at_three = [item for pot, item in zip(pots, found, strict=True) if abs(pot - 3) < _SAME_POT]
    return {
        "points": len(found),
        "max_regret": max(item.max_regret for item in found),
        "pieces": _pieces(pots, np.array([item.payoffs for item in found])),
        "before_three": {
            "bets_of_players_1_and_2": float(before[:, :2].max()),
            "calls_with_card_3": before[:, 3:6, 2].max(axis=0).tolist(),
        },
        "bets_from": [{"first": float(pots[made[:, node]].min())} for node in range(2)],
        "openings": [_by_card(played[:, node]) for node in range(3)],
        "third_card": {"points": len(third), "top_bet_before": float(third.min(initial=1.0))},
        "callers": [_by_card(played[made[:, bet_before(row)], row]) for row in range(3, 12)],
        "top_card_mixed": ((top > 1e-6) & (top < 1 - 1e-6)).mean(axis=0).tolist(),
        "family": _family(game, at_three),
        "crossed": {"largest_shortfall": _shortfalls(game, at_three)},
    }


def _polished(game: Game) -> tuple[FloatArray, list[Measured]]:
    """Pots (K,) and verified profiles of all points of the branch."""
    method = continuation(game, "log", _FOUR_EPSILON)
    points = [method.start(_FOUR_FROM)]
    for point in method.follow(points[0]):
        points.append(point)
        if not _FOUR_FROM <= point.value <= _FOUR_TO:
            break
    made = [method.polish(point) for point in points]
    found = [measured(method.game_at(pot).tree, behavior) for behavior, pot in made]
    return np.array([pot for _, pot in made]), found


def _pieces(pots: FloatArray, payoffs: FloatArray) -> list[dict[str, Any]]:
    """Pots at which neighboring points have different payoffs."""
    pieces = []
    breaks = np.flatnonzero(np.abs(np.diff(pots)) > _SAME_POT) + 1
    for rows in np.split(np.arange(len(pots)), breaks):
        ranges = np.ptp(payoffs[rows], axis=0)
        if ranges.max() > 1e-7:
            pieces.append({"pot": float(np.median(pots[rows])), "ranges": ranges.tolist()})
    return pieces


def _by_card(frequencies: FloatArray) -> dict[str, float]:
    """The largest frequency with each card, of (K, cards)."""
    return {str(k + 1): float(most) for k, most in enumerate(frequencies.max(axis=0))}


def _family(game: Game, at_three: list[Measured]) -> dict[str, Any]:
    """The points at a pot of 3 as members of the published family."""
    identifier, sets = Identifier(game), {known.name: known for known in known_sets(game)}
    betas, on_path, errors = [], 0, []
    for item in at_three:
        identity = identifier.identify(item.profile)
        if identity is not None and (known := sets.get(identity.name)):
            parameters = known.read(known.layout.frequencies(item.profile.probabilities))
            published = known.payoffs_near(parameters)
            errors.append(float(np.abs(np.subtract(item.payoffs, published)).max()))
            betas.append(identity.parameters["beta"])
            on_path += identity.on_path
    return {
        "points": len(at_three),
        "on_path": on_path,
        "beta": [min(betas), max(betas)],
        "largest_payoff_error": max(errors),
    }


def _shortfalls(game: Game, at_three: list[Measured]) -> list[float]:
    """How much less players get if each plays a strategy of another equilibrium with a pot of 3.

    One equilibrium for each player, out of the two ends and the middle of the vertical piece.
    """
    chosen = [at_three[0], at_three[len(at_three) // 2], at_three[-1]]
    owner = np.repeat(game.tree.infoset_player, np.diff(game.tree.action_start))
    model, expected = game.payoff_model(), np.array([item.payoffs for item in chosen])
    least = np.full(3, np.inf)
    for picks in product(range(len(chosen)), repeat=3):
        profiles = np.array([chosen[pick].profile.probabilities for pick in picks])
        payoffs = model.expected_payoffs(np.choose(owner, profiles))
        least = np.minimum(least, payoffs - expected[list(picks), range(3)])
    return [float(loss) for loss in -least]


def half_street(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Gain of player 2 and shares of hands in larger and larger decks of two players.

    With hands uniform on [0, 1], player 2 bets above v and below b, and player 1 calls above c.
    At v a call is as often worse as better, v = (1 + c)/2; at c a call wins P + 1 from bluffs and
    loses 1 to the others, (P + 1) b = 1 - v; at b a bluff wins P from hands between b and c and
    loses 1 to those that call, P (c - b) = 1 - c.
    """
    pot = _HALF_STREET_POT
    above = (3 * pot + 2) / ((2 * pot + 1) * (pot + 2))
    limit = {
        "gain": pot**2 / (2 * (2 * pot + 1) * (pot + 2)),
        "calls_above": above,
        "bets_above": (1 + above) / 2,
        "bluffs_below": (1 - above) / (2 * (pot + 1)),
    }
    solved = [_half_street(cards) for cards in _HALF_STREET_DECKS]
    return {"half_street": [{**one, "pot": pot, "limit": limit} for one in solved]}


def _half_street(cards: int) -> dict[str, Any]:
    spec, pot = f"kuhn(players=2,cards={cards},reduce=half_street)", _HALF_STREET_POT
    game = load_game(spec).at(pot=pot)
    method = continuation(game, "log", 1e-9)
    behavior, _ = method.polish(method.start(float(pot)), float(pot))
    played = dict(zip(action_labels(game.tree), behavior.tolist(), strict=True))
    bets, calls = (
        np.array([played.get(f"{player}|{card}:{move}", 0.0) for card in range(1, cards + 1)])
        for player, move in (("P2", "K|bet"), ("P1", "KB|call"))
    )
    return {
        "cards": cards,
        "gain": measured(game.tree, behavior).payoffs[1],
        "calls_above": float(1 - calls.mean()),
        "bets_above": float(1 - bets[cards // 2 :].sum() / cards),
        "bluffs_below": float(bets[: cards // 2].sum() / cards),
    }


def memory(folder: Path, jobs: Path, *, full: bool) -> dict[str, Any]:
    """Peak memory of following the branch with 26 cards for some steps, in bytes."""
    method = continuation(load_game(kuhn(26)), "log", 1e-6)
    list(islice(method.follow(method.start(0.5)), 60))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"peak_bytes": peak if sys.platform == "darwin" else 1024 * peak}
