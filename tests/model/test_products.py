"""Payoffs of games of hands and showdowns by products, held against those of their trees."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import eqbench
from eqbench.errors import GameTooLargeError
from eqbench.model import product_kernels
from eqbench.model.compiled import Kernel
from eqbench.model.dealt import Hands, PublicCards
from eqbench.model.dealt_form import Settlement, ShowdownRules, promised
from eqbench.model.game import Game
from eqbench.model.payoff_model import SequenceFormModel
from eqbench.model.product_kernels import product_values
from eqbench.model.products import ProductModel
from eqbench.model.profile import random_profile
from eqbench.registry import Registry

SPECS = [
    "kuhn(players=2,cards=5,raises=1)",
    "kuhn(players=3,cards=6,pot=7/2)",
    "kuhn(players=4,cards=5)",
    "kuhn(players=5,cards=5)",
    "leduc(suits=3)",
    "leduc(players=3,ranks=2,suits=4,raises=1)",
    "leduc(players=4,ranks=1,suits=5,raises=1)",
]
# number of players, cards of a hand, cards in the deck
DEALS = [(2, 0, 3), (2, 1, 5), (2, 2, 6), (3, 0, 2), (3, 1, 5), (4, 1, 5)]


def both(rules: ShowdownRules) -> tuple[Game, Game]:
    """A game with its tree and the same as a product, whose tree may not be built."""
    form = rules.product()
    assert form is not None
    tree = promised(form, 0)
    assert tree is not None
    return Game("by_tree()", rules.tree()), Game("by_products()", tree)


def of_spec(spec: str) -> tuple[Game, Game]:
    return both(Registry().describe_game(spec)[0].rules())


def random_rules(players: int, holds: int, cards: int, seed: int) -> ShowdownRules:
    """Rules with a random public tree, random strengths and weights, and some hands twice."""
    rng = np.random.default_rng((players, holds, cards, seed))
    held = np.zeros((4, 0), dtype=np.int64)
    if holds:
        held = np.array(list(itertools.combinations(range(cards), holds)))
    if players == 2 and holds:
        held = np.concatenate([held, held[::2]])  # names that hold the same cards
    least = 0 if players == 2 else 1
    weights = rng.integers(least, 4, (players, len(held)))
    weights[:, :3] += 1
    hands = Hands(tuple(f"h{k}" for k in range(len(held))), held, weights)

    def drawn(history: str) -> np.random.Generator:
        return np.random.default_rng((seed, *history.encode()))

    def there(history: str) -> list[int]:
        return [p for p in range(players) if f"{p}f" not in history]

    def turn(history: str) -> tuple[int, tuple[str, ...]] | None:
        left, moves = there(history), sum(map(history.count, "fcr"))
        if len(left) == 1 or moves >= 3 + players // 2:
            return None
        if "/" not in history and drawn(history).random() < 0.2:
            return -1, tuple(f"/{card}:" for card in range(cards))
        mover = int(drawn(history).choice(left))
        return mover, (f"{mover}f", f"{mover}c", f"{mover}r")[: drawn(history + "?").integers(2, 4)]

    def settle(history: str) -> Settlement:
        paid = tuple(60 * (1 + history.count(f"{p}r") * (p + 1)) for p in range(players))
        slope = tuple(60 * history.count(f"{p}c") for p in range(players))
        return Settlement(paid, tuple(there(history)), slope)

    def strength(history: str) -> np.ndarray:
        board = history.partition("/")[2][:1]
        return drawn("s" + board).integers(0, 3 if seed % 2 else 40, len(hands.labels))

    def excluded(name: str) -> np.ndarray:
        return (held == int(name[1])).any(axis=1)

    return ShowdownRules(
        hands,
        turn,
        lambda history, move: history + move,
        settle,
        strength,
        60,
        "stake",
        Fraction(3, 2),
        public=PublicCards(cards - players * holds if holds else cards, excluded),
    )


def assert_same_payoffs(by_tree: Game, by_products: Game, value: float | None = None) -> None:
    form, model = by_tree.sequence_form, by_products.payoff_model()
    expected = SequenceFormModel(form)
    assert isinstance(model, ProductModel)
    if value is not None:
        expected, model = expected.at(value), model.at(value)
    unit = by_tree.tree.payoff_range or 1.0
    for seed in range(2):
        behavior = random_profile(by_tree.tree, np.random.default_rng(seed))
        for name in ("counterfactual_values", "expected_payoffs", "best_response_values"):
            known, found = getattr(expected, name)(behavior), getattr(model, name)(behavior)
            assert found == pytest.approx(known, rel=0, abs=1e-12 * unit)
    for name in ("block_start", "parent", "infoset_start", "infoset_player"):
        assert np.array_equal(getattr(by_products.plan_form, name), getattr(form, name))


@pytest.mark.parametrize("spec", SPECS)
def test_values_and_best_responses_are_those_of_the_tree(spec: str) -> None:
    assert_same_payoffs(*of_spec(spec))


@pytest.mark.parametrize(("players", "holds", "cards"), DEALS)
@pytest.mark.parametrize("seed", range(4))
def test_random_games_are_worth_what_their_trees_are(
    players: int, holds: int, cards: int, seed: int
) -> None:
    games = both(random_rules(players, holds, cards, seed))
    assert_same_payoffs(*games)
    assert_same_payoffs(*games, value=-2.25)


def test_parts_share_the_endings_without_changing_a_value() -> None:
    form = of_spec("leduc(players=3,ranks=2)")[1].product_form
    assert form is not None
    reach = np.random.default_rng(0).random(form.n_sequences)
    found = []
    for parts in (1, 2, 5):
        values, arrays = np.full(form.n_sequences, np.nan), form.parted(parts)
        assert len(np.unique(arrays.infosets)) == form.n_infosets
        for unit in range(3 * parts):
            product_values(arrays, unit, reach, values)
        found.append(values)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_derivatives_are_those_of_the_tree_where_it_may_be_built() -> None:
    by_tree, _ = of_spec("kuhn3")
    form = Registry().describe_game("kuhn3")[0].rules().product()
    tree = promised(form, 1000)
    behavior = random_profile(by_tree.tree, np.random.default_rng(0))
    model = Game("kuhn3", tree).payoff_model()
    assert isinstance(model, ProductModel)
    known, found = (each.linearize(behavior) for each in (by_tree.payoff_model(), model))
    assert np.array_equal(found.jacobian, known.jacobian)
    with pytest.raises(GameTooLargeError):
        Game("kuhn3", promised(form, 10)).payoff_model().jacobian(behavior)


def test_wrong_shapes_and_parameters_are_refused() -> None:
    model = of_spec("leduc")[1].payoff_model()
    with pytest.raises(ValueError, match="shape"):
        model.regrets(np.ones(3))
    with pytest.raises(ValueError, match="no payoff parameter"):
        model.at(1.0)


@pytest.mark.parametrize("cards", [np.zeros((3, 1)), np.arange(9).reshape(3, 3)])
def test_hands_whose_sums_are_not_known_are_no_products(cards: np.ndarray) -> None:
    players = 3 if cards.shape[1] == 1 else 2
    hands = Hands(("a", "b", "c"), cards.astype(np.int64), np.ones((players, 3), dtype=np.int64))
    rules = ShowdownRules(
        hands,
        lambda history: None,
        lambda history, move: history,
        lambda history: Settlement((6,) * players, tuple(range(players))),
        lambda history: np.arange(3),
    )
    assert rules.product() is None


@pytest.mark.parametrize("deal", [(2, 2, 6, 0), (3, 1, 4, 1), (4, 0, 2, 1)])
def test_kernels_run_without_a_compiler(
    deal: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = [each for each in vars(product_kernels).values() if isinstance(each, Kernel)]
    assert len(kernels) > 5
    for kernel in kernels:
        monkeypatch.setattr(kernel, "_run", kernel.py_func)
    assert_same_payoffs(*both(random_rules(*deal)))


def test_small_games_are_not_products() -> None:
    assert eqbench.load_game("leduc").product is None
