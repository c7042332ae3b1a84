"""Games by generators: their payoffs are those of the published definitions."""

from __future__ import annotations

import importlib
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.walks import payoffs_at
from numpy.typing import NDArray

import eqbench
from eqbench.model.builder import TreeBuilder
from eqbench.model.profile import BehaviorProfile

gamut = importlib.import_module("eqbench.games.gamut")


def table(spec: str) -> NDArray:
    """Payoffs (A_1, ..., A_N, N) of a game in strategic form."""
    tree = eqbench.load_game(spec).tree
    shape = [len(tree.infoset_actions[i]) for i in range(tree.n_infosets)]
    return tree.payoffs.table.reshape(*shape, tree.n_players)


def exact_payoffs(spec: str, actions: tuple[str, ...]) -> tuple[Fraction, ...]:
    """Exact payoffs of a profile of actions, by their labels."""
    return tuple(payoffs_at(eqbench.load_game(spec).tree, actions))


def pure_equilibria(payoffs: NDArray) -> list[tuple[int, ...]]:
    """Profiles at which no player gains by another action, by comparing all of them."""
    stable = np.ones(payoffs.shape[:-1], dtype=bool)
    for player in range(payoffs.shape[-1]):
        own = payoffs[..., player]
        stable &= own == own.max(axis=player, keepdims=True)
    return [tuple(profile) for profile in np.argwhere(stable).tolist()]


# -- all families ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["random", "random_signed", "covariance", "majority_voting", "random_tree", "dispersion"],
)
def test_another_seed_is_another_game(name: str) -> None:
    one, two = (eqbench.load_game(f"{name}(seed={seed})").tree for seed in (1, 2))
    assert one.payoffs.table.shape == two.payoffs.table.shape
    assert not np.array_equal(one.payoffs.table, two.payoffs.table)


def test_tree_is_the_one_that_the_builder_makes_node_by_node() -> None:
    tree = eqbench.load_game("travelers_dilemma(players=3,highest=4)").tree
    builder = TreeBuilder(tree.players)
    nodes: dict[tuple[int, ...], int] = {}
    for player in range(3):
        for before in itertools.product(range(3), repeat=player):
            place = (nodes[before[:-1]], before[-1]) if before else None
            nodes[before] = builder.decision(place, player, "", ["2", "3", "4"])
    for profile in itertools.product(range(3), repeat=3):
        labels = tuple(str(move + 2) for move in profile)
        payoffs = exact_payoffs("travelers_dilemma(players=3,highest=4)", labels)
        builder.terminal((nodes[profile[:-1]], profile[-1]), payoffs)
    again = builder.tree()
    for name in ("parent", "move", "player", "infoset", "chance", "infoset_parent"):
        ours, theirs = getattr(tree, name), getattr(again, name)
        assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist()), name
    assert tree.payoffs.base.tolist() == again.payoffs.base.tolist()
    assert tree.infoset_actions == again.infoset_actions


# -- random payoffs -------------------------------------------------------------------------


def test_random_payoffs_are_uniform_in_the_unit_interval() -> None:
    payoffs = table("random(players=3,actions=20)").ravel()
    assert payoffs.min() >= 0
    assert payoffs.max() <= 1
    # 24,000 draws: the distance from the distribution function exceeds this once in 10^8
    distance = np.abs(np.sort(payoffs) - np.linspace(0, 1, len(payoffs))).max()
    assert distance < 0.02


def test_random_payoffs_are_the_same_everywhere() -> None:
    """The first numbers of NumPy's PCG64 generator with seed 0."""
    assert table("random").ravel()[:3].tolist() == [
        0.6369616873214543,
        0.2697867137638703,
        0.04097352393619469,
    ]


def test_signed_payoffs_are_those_of_the_published_generator() -> None:
    """Černý, Das Gupta and Kroer draw (players, actions, ...) uniform numbers after a seed."""
    payoffs = table("random_signed(players=3,actions=4,seed=7)")
    np.random.seed(7)  # noqa: NPY002 - the generator is what is tested
    published = np.random.uniform(-1, 1, size=(3, 4, 4, 4))  # noqa: NPY002
    assert [payoffs[..., player].tolist() for player in range(3)] == published.tolist()


@pytest.mark.parametrize("rho", ["-1/2", "0", "1/2", "1"])
def test_covariance_is_as_given_at_each_profile(rho: str) -> None:
    """CovariantGame of GAMUT (Nudelman et al. 2004): unit variances, covariance rho."""
    payoffs = table(f"covariance(players=3,actions=20,rho={rho})").reshape(-1, 3)
    wanted = np.where(np.eye(3) == 1, 1.0, float(Fraction(rho)))
    # 8,000 draws: the standard error of a covariance is below 0.016
    assert np.abs(np.cov(payoffs.T) - wanted).max() < 0.07
    assert np.abs(payoffs.mean(axis=0)).max() < 0.05


def test_extreme_covariances_are_common_interest_and_zero_sum() -> None:
    common = table("covariance(players=3,actions=5,rho=1)")
    assert np.ptp(common, axis=-1).max() == 0
    zero_sum = table("covariance(players=3,actions=5,rho=-1/2)")
    assert np.abs(zero_sum.sum(axis=-1)).max() < 1e-14
    assert np.ptp(zero_sum, axis=-1).min() > 0


# -- GAMUT's families -----------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["none", "7"])
def test_dispersion_pays_all_the_same_and_more_for_more_entropy(seed: str) -> None:
    players, actions = 5, 4
    payoffs = table(f"dispersion(players={players},actions={actions},seed={seed})")
    assert np.ptp(payoffs, axis=-1).max() == 0
    found: dict[float, set[float]] = {}
    for profile in itertools.product(range(actions), repeat=players):
        shares = [profile.count(action) / players for action in set(profile)]
        entropy = round(-sum(share * math.log(share) for share in shares), 9)
        found.setdefault(entropy, set()).add(payoffs[profile][0])
    assert [len(values) for values in found.values()] == [1] * len(found)
    values = [found[entropy].pop() for entropy in sorted(found)]
    assert values == sorted(set(values))
    # 5000, 4100, 3200, 3110, 2210, 2111
    assert len(values) == 6
    if seed == "none":
        assert values == [0, 1, 2, 3, 4, 5]


def test_candidate_with_most_votes_wins_and_ties_go_to_the_lowest_number() -> None:
    payoffs = table("majority_voting(players=4,candidates=3,seed=5)")
    utility = np.array([payoffs[winner, winner, winner, winner] for winner in range(3)])
    for votes in itertools.product(range(3), repeat=4):
        winner = max(range(3), key=lambda candidate: (votes.count(candidate), -candidate))
        assert payoffs[votes].tolist() == utility[winner].tolist()
    assert utility.min() >= 0
    assert utility.max() <= 1
    assert len(set(utility.ravel())) == 12


def test_lowest_claims_are_the_only_pure_equilibrium_of_travelers() -> None:
    payoffs = table("travelers_dilemma")
    assert payoffs.shape == (99, 99, 2)
    assert pure_equilibria(payoffs) == [(0, 0)]
    tree = eqbench.load_game("travelers_dilemma").tree
    lowest = BehaviorProfile.of_exact(tree, [int(action % 99 == 0) for action in range(198)])
    assert eqbench.verify(eqbench.load_game("travelers_dilemma"), lowest).max_regret == 0


TIES = "travelers_dilemma(players=3,lowest=1,highest=9,reward=5/2"


@pytest.mark.parametrize(
    ("spec", "actions", "payoffs"),
    [
        # Van Huyck, Battalio and Beil 1990, payoff table A, in dollars
        ("minimum_effort", ("7", "7"), (1.3, 1.3)),
        ("minimum_effort", ("1", "1"), (0.7, 0.7)),
        ("minimum_effort", ("7", "1"), (0.1, 0.7)),
        ("minimum_effort(players=3)", ("4", "2", "3"), (0.6, 0.8, 0.7)),
        # Basu 1994: both get the lower claim, its author 2 more and the other 2 less
        ("travelers_dilemma", ("100", "100"), (100, 100)),
        ("travelers_dilemma", ("99", "100"), (101, 97)),
        ("travelers_dilemma", ("100", "2"), (0, 4)),
        # GAMUT's has no penalty and rewards no ties
        (f"{TIES},penalty=0)", ("3", "3", "7"), (3, 3, 3)),
        (f"{TIES},penalty=0)", ("3", "4", "7"), (5.5, 3, 3)),
        (f"{TIES})", ("3", "3", "7"), (3, 3, 0.5)),
    ],
)
def test_payoffs_are_those_of_the_publication(spec: str, actions: tuple, payoffs: tuple) -> None:
    assert exact_payoffs(spec, actions) == tuple(Fraction(repr(value)) for value in payoffs)


# -- distributions of GAMUT -----------------------------------------------------------------


def drawn(distribution: str, **options: int) -> NDArray:
    shape = {"players": 4, "actions": 3, "seed": 1} | options
    text = ",".join(f"{name}={value}" for name, value in shape.items())
    return table(f"gamut(distribution={distribution},{text})")


@pytest.mark.parametrize("distribution", gamut.DISTRIBUTIONS)
def test_distributions_have_payoffs_from_minus_one_to_one(distribution: str) -> None:
    first, second = drawn(distribution, seed=1), drawn(distribution, seed=2)
    assert (first.min(), first.max()) == (-1, 1)
    assert distribution == "TravelersDilemma" or not np.array_equal(first, second)


@pytest.mark.parametrize("base", ["GraphicalGame", "PolymatrixGame"])
@pytest.mark.parametrize(
    ("graph", "edges"),
    [("CG", "01 02 03 12 13 23"), ("SG", "01 02 03"), ("Road", "01 02 13 23")],
)
def test_strangers_in_the_graph_do_not_matter(base: str, graph: str, edges: str) -> None:
    payoffs, known = drawn(f"{base}-{graph}"), {frozenset(map(int, edge)) for edge in edges.split()}
    for player, other in itertools.permutations(range(4), 2):
        depends = np.ptp(payoffs[..., player], axis=other).max() > 1e-12
        assert depends == ({player, other} in known)


def test_polymatrix_payoffs_are_sums_over_neighbors() -> None:
    """No mixed second difference in the actions of two others."""
    crossed = {
        name: np.diff(np.diff(drawn(f"{name}-CG")[..., 0], axis=1), axis=2)
        for name in ("PolymatrixGame", "GraphicalGame")
    }
    assert np.abs(crossed["PolymatrixGame"]).max() < 1e-12 < np.abs(crossed["GraphicalGame"]).max()


@pytest.mark.parametrize(("kind", "same"), [("BidirectionalLEG", True), ("UniformLEG", False)])
def test_local_effects_depend_on_counts_and_pass_edges_only(kind: str, same: bool) -> None:
    payoffs = drawn(f"{kind}-SG", players=3, actions=4)
    # action 0 is the center; who is at 1 does not mind where at 2 and 3 others are
    assert payoffs[1, 2, 3][0] == pytest.approx(payoffs[1, 3, 3][0], abs=1e-14)
    assert payoffs[1, 0, 2][0] != pytest.approx(payoffs[1, 2, 2][0])
    for places in itertools.product(range(4), repeat=3):
        assert payoffs[places] == pytest.approx(payoffs[places[::-1]][::-1], abs=1e-14)
    # what one player at the center costs those at 1 and 2, and one there those at the center
    to_1, to_2 = (payoffs[a, 0, 3][0] - payoffs[a, 3, 3][0] for a in (1, 2))
    assert math.isclose(to_1, to_2) is not same
    back = payoffs[0, 1, 3][0] - payoffs[0, 2, 3][0]
    assert math.isclose(back, to_1 - to_2, abs_tol=1e-14) is same


def test_lowest_price_takes_the_market() -> None:
    payoffs = drawn("BertrandOligopoly", players=3, actions=4)
    nothing = payoffs[0, 1, 1][1]
    for prices in itertools.product(range(4), repeat=3):
        for player, price in enumerate(prices):
            assert price == min(prices) or payoffs[prices][player] == nothing
    assert len(set(payoffs[1, 1, 1])) == 1
    assert payoffs[2, 3, 3][0] != payoffs[2, 2, 3][0] != payoffs[2, 2, 2][0]


@pytest.mark.parametrize("nodes", range(2, 9))
@pytest.mark.parametrize("graph", ["CG", "RG", "Road", "SG", "SW"])
def test_graphs_are_undirected_and_without_loops(graph: str, nodes: int) -> None:
    for seed in range(5):
        edges = gamut.edges_of(graph, nodes, np.random.default_rng(seed))
        assert edges.any()
        assert not edges.diagonal().any()
        assert np.array_equal(edges, edges.T)
