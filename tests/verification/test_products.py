"""Profiles measured by products, held against the tree."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import eqbench
from eqbench.errors import GameFormatError, ProfileError
from eqbench.model.dealt import Hands, PublicCards, Turn
from eqbench.model.dealt_form import (
    DealtForm,
    Settlement,
    ShowdownRules,
    UnbuiltTree,
    promised,
)
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.tree import CHANCE, GameTree
from eqbench.registry import Registry
from eqbench.verification import (
    Verification,
    Verifier,
    certify,
    means_of_measuring,
    products,
    verify_exactly,
)
from eqbench.verification.products import ProductSweep


def random_hands(rng: np.random.Generator, players: int) -> Hands:
    """One card each (in two out of four), two, or none that exclude each other."""
    size = int(rng.choice([0, 1, 2, 2] if players == 2 else [0, 1, 1, 1]))
    if size == 2:
        cards = np.array(list(itertools.combinations(range(4 + rng.integers(2)), 2)))
    else:
        count = players + int(rng.integers(1, 4 if players < 4 else 2))
        cards = np.arange(count)[:, None] if size else np.zeros((2, 0), dtype=np.int64)
    lowest = 0 if players == 2 else 1
    weights = rng.integers(lowest, 4, (players, len(cards)))
    return Hands(tuple(f"h{k}" for k in range(len(cards))), cards, weights, bool(rng.integers(2)))


def random_rules(rng: np.random.Generator, players: int) -> ShowdownRules:
    """Rules of a random public tree; after a move it may be anybody's turn, or chance's."""
    hands = random_hands(rng, players)
    shares = [6, 6, 6, 12][players - 1]
    nodes: dict[str, Turn | None] = {}
    ends: dict[str, Settlement] = {}
    drawn = int(hands.cards.max(initial=-1)) + 1
    held = players * hands.cards.shape[1]
    strengths: dict[str, np.ndarray] = {}

    def grow(history: str, depth: int, left: int) -> None:
        can_draw = left > 0 and drawn - held >= 1
        if can_draw and (rng.random() < 0.3 or depth == 2):
            nodes[history] = CHANCE, tuple(f"c{c}" for c in range(drawn))
            for c in range(drawn):
                grow(f"{history}/c{c};", depth + 1, left - 1)
        elif depth >= 4 or (depth > 0 and rng.random() < 0.35):
            nodes[history] = None
            size = int(rng.integers(1, players + 1))
            who = tuple(sorted(rng.choice(players, size, replace=False).tolist()))
            paid = tuple((shares * rng.integers(0, 6, players)).tolist())
            slope = tuple((shares * rng.integers(0, 2, players)).tolist())
            ends[history] = Settlement(paid, who, slope)
        else:
            moves = tuple("abc"[: int(rng.integers(1, 4 if players < 4 else 3))])
            nodes[history] = int(rng.integers(players)), moves
            for move in moves:
                grow(history + move, depth + 1, left)

    def strength(history: str) -> np.ndarray:
        board = history.partition("/")[2].partition(";")[0]
        if board not in strengths:
            strengths[board] = rng.integers(-2, 3, len(hands.labels))
        return strengths[board]

    grow("", 0, 1)
    public = PublicCards(drawn - held, lambda name: np.any(hands.cards == int(name[1:]), axis=1))
    return ShowdownRules(
        hands,
        nodes.__getitem__,
        lambda history, move: f"{history}/{move};" if len(move) > 1 else history + move,
        ends.__getitem__,
        strength,
        shares,
        "pot",
        Fraction(int(rng.integers(1, 9)), 3),
        public=public if drawn > held else None,
    )


class Sample(NamedTuple):
    """A random game by products, a profile, and what the tree verifier measures."""

    form: DealtForm
    tree: GameTree
    profile: NDArray
    measured: Verification


def random_sample(seed: int) -> Sample:
    """A random game that has a deal and few nodes, with a profile that is pure at half the sets."""
    for attempt in itertools.count():
        rng = np.random.default_rng([seed, attempt])
        rules = random_rules(rng, (2, 3, 2, 3, 2, 4)[seed % 6])
        try:
            form = rules.product()
            if form is None or form.n_nodes > 2000:
                continue
            tree = rules.tree()
        except GameFormatError:
            continue  # no deal is possible, or chances are too fine for a tree
        profile = random_profile(tree, rng)
        for start, stop in itertools.pairwise(tree.action_start.tolist()):
            if rng.random() < 0.5:
                profile[start:stop] = np.arange(stop - start) == rng.integers(stop - start)
        measured = Verifier(tree).verify(BehaviorProfile.of(tree, profile))
        return Sample(form, tree, profile, measured)
    raise AssertionError


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return [random_sample(seed) for seed in range(500)]


def by_products(form: DealtForm, profile: NDArray) -> Verification:
    tree = UnbuiltTree.of(form, 0)
    return Verifier(tree).verify(BehaviorProfile.of(tree, profile))


def difference(one: Verification, other: Verification) -> float:
    rows = ((*one.payoffs, *one.regrets), (*other.payoffs, *other.regrets))
    return float(np.abs(np.subtract(*rows)).max())


def test_trees_and_products_measure_the_same_on_500_random_games(samples: list[Sample]) -> None:
    for form, _, profile, measured in samples:
        found = by_products(form, profile)
        assert difference(found, measured) <= min(1e-12, found.error + measured.error)


def test_fractions_are_equal_on_50_random_games(samples: list[Sample]) -> None:
    for form, tree, profile, _ in samples[::10]:
        unbuilt = UnbuiltTree.of(form, 0)
        exactly = verify_exactly(unbuilt, BehaviorProfile.of(unbuilt, profile))
        assert exactly == verify_exactly(tree, BehaviorProfile.of(tree, profile))
        floats = by_products(form, profile)
        worst = max(
            abs(Fraction(a) - b) for a, b in zip(floats.regrets, exactly.regrets, strict=True)
        )
        assert worst <= floats.error < 1e-10


def test_sizes_and_labels_of_random_games_are_those_of_the_tree(samples: list[Sample]) -> None:
    for form, tree, _, _ in samples:
        known = UnbuiltTree.of(form, 0)
        for name in (
            "players", "n_nodes", "n_terminals", "infoset_labels", "infoset_actions",
            "payoff_range", "largest_payoff",
        ):  # fmt: skip
            assert getattr(known, name) == getattr(tree, name), name
        for name in ("infoset_player", "infoset_parent", "action_start"):
            assert np.array_equal(getattr(known, name), getattr(tree, name)), name


SPECS = [
    "kuhn(players=4,cards=4)", "kuhn(players=2,cards=4,raises=2)", "leduc(ranks=2,suits=3)",
    "leduc(players=3,ranks=2)",
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_games_of_the_registry_are_measured_as_on_the_tree(spec: str) -> None:
    tree = eqbench.load_game(spec).tree
    form = Registry().describe_game(spec)[0].rules().product()
    profile = random_profile(tree, np.random.default_rng(7))
    measured = Verifier(tree).verify(BehaviorProfile.of(tree, profile))
    assert difference(by_products(form, profile), measured) <= 1e-12


Break = Callable[[DealtForm, pytest.MonkeyPatch], DealtForm]


def with_changes(form: DealtForm, **changes: Any) -> DealtForm:
    """A form with changes; its information sets are numbered as before."""
    made = replace(form)
    for name in ("place", "last", "chance", "earlier", "_numbered"):
        made.__dict__[name] = getattr(form, name)
    made.__dict__.update(changes)
    return made


def with_data(change: Callable[[DealtForm], dict[str, Any]]) -> Break:
    """Break what the form says."""
    return lambda form, _: with_changes(form, **change(form))


def with_hands(**change: Callable[[Hands], Any]) -> Break:
    def broken(form: DealtForm, _: pytest.MonkeyPatch) -> DealtForm:
        hands = replace(form.hands, **{name: make(form.hands) for name, make in change.items()})
        return with_changes(form, hands=hands)

    return broken


def with_code(owner: Any, name: str, make: Callable[[Any], Any]) -> Break:
    """Break how it is summed: a function becomes what is made of it."""

    def broken(form: DealtForm, patch: pytest.MonkeyPatch) -> DealtForm:
        patch.setattr(owner, name, make(getattr(owner, name)))
        return form

    return broken


def changed(values: NDArray, index: Any, add: int) -> NDArray:
    copy = values.copy()
    copy[index] += add
    return copy


def swapped(strength: NDArray) -> NDArray:
    """Strengths in which the strongest and the weakest hand change places."""
    copy = strength.copy()
    for row in copy:
        low, high = row.argmin(), row.argmax()
        row[[low, high]] = row[[high, low]]
    return copy


def one_less(contending: NDArray) -> NDArray:
    copy = contending.copy()
    for row in copy[copy.sum(axis=1) > 1]:
        row[np.flatnonzero(row)[0]] = False
    many = np.flatnonzero(copy.sum(axis=1) > 1)
    copy[many, copy[many].argmax(axis=1)] = False
    return copy


def ties_to_first(payoffs: property) -> property:
    def lone(self: ProductSweep) -> tuple[NDArray, int]:
        table, denominator = payoffs.__get__(self)
        return np.concatenate(
            (table[:, :, :2], table[:, :, 1:2], table[:, :, 3:]), axis=2
        ), denominator

    return property(lone)


BROKEN: dict[str, Break] = {
    "a chip more is paid": with_data(lambda f: {"paid": changed(f.paid, (-1, 0), 1)}),
    "a player pays for another": with_data(lambda f: {"paid": np.roll(f.paid, 1, axis=1)}),
    "the parameter counts once more": with_data(lambda f: {"value": f.value + 1}),
    "the parameter is ignored": with_data(lambda f: {"slope": None}),
    "a contending player less": with_data(lambda f: {"contending": one_less(f.contending)}),
    "strengths are swapped": with_data(lambda f: {"strength": swapped(f.strength)}),
    "nobody is stronger": with_data(lambda f: {"strength": np.zeros_like(f.strength)}),
    "equal hands are not": with_data(
        lambda f: {"strength": f.strength * 99 + np.arange(f.strength.shape[1])}
    ),
    "a board excludes nothing": with_data(lambda f: {"possible": np.ones_like(f.possible)}),
    "public cards are certain": with_data(lambda f: {"chance": np.ones_like(f.chance)}),
    "a last move is another": with_data(
        lambda f: {"last": np.where(f.last[..., 1:] > 0, f.last - [0, 1], f.last)}
    ),
    "a weight is higher": with_hands(weights=lambda h: changed(h.weights, (0, -1), 1)),
    "all weights are equal": with_hands(weights=lambda h: np.minimum(h.weights, 1)),
    "players swap their weights": with_hands(weights=lambda h: h.weights[::-1]),
    "hands do not exclude each other": with_code(
        products, "_seated", lambda f: lambda *a, **k: f(*a, **k | {"shared": True})
    ),
    "conflicts are ignored": with_code(
        Hands, "conflicts", lambda f: property(lambda h: np.zeros_like(f.__get__(h)))
    ),
    "ties are not split": with_code(ProductSweep, "_payoffs", ties_to_first),
    "an equal hand wins": with_code(
        products, "_seated", lambda f: lambda *a, **k: f(a[0], np.ones_like(a[1]), **k)
    ),
    "no one has nothing": with_code(
        products, "_subsets", lambda f: lambda of: [part for part in f(of) if part or not of]
    ),
    "earlier moves are forgotten": with_code(
        products._Moves, "plan", lambda f: lambda self, a: np.vstack(
            (np.ones((1, self.cell.shape[1])), np.append(a, 0.0)[self.cell])
        ),
    ),
    "the worst response": with_code(
        products._Moves, "best", lambda f: lambda self, value: -f(self, -value)
    ),
    "the first ending of a block alone": with_code(
        ProductSweep, "_blocks",
        lambda f: property(lambda self: [(s, who, ends[:1]) for s, who, ends in f.__get__(self)]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_model_is_noticed(
    name: str, samples: list[Sample], monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_noticed(sample: Sample) -> bool:
        with monkeypatch.context() as patch:
            found = by_products(BROKEN[name](with_changes(sample.form), patch), sample.profile)
        return difference(found, sample.measured) > 1e-6

    assert any(map(is_noticed, samples[:60]))


def test_measurements_in_integers_decide_what_floats_leave_open() -> None:
    form = Registry().describe_game("kuhn2")[0].rules().product()
    tree = promised(form, 0)
    assert tree is not None
    profile = BehaviorProfile.uniform(tree)
    certified = certify(tree, profile)
    assert certified is not None
    assert certified == verify_exactly(eqbench.load_game("kuhn2").tree, profile)
    measured = Verifier(tree).verify(profile, target=float(certified.max_regret))
    assert measured.regrets == certified.rounded().regrets


def test_large_game_is_certified_by_no_fractions_and_measured_without_its_tree() -> None:
    form = Registry().describe_game("leduc(players=3,ranks=5)")[0].rules().product()
    tree = promised(form, 0)
    assert tree is not None
    profile = BehaviorProfile.uniform(tree)
    assert certify(tree, profile) is None
    measured = Verifier(tree).verify(profile)
    assert abs(sum(measured.payoffs)) < 1e-12
    assert 0 < measured.error < 1e-9
    assert f"without the tree of {tree.n_nodes:,} nodes" in means_of_measuring(tree)["means"]
    assert means_of_measuring(eqbench.load_game("kuhn2").tree) == {}
    assert "built" not in tree.__dict__


def test_profile_of_another_game_is_refused() -> None:
    tree = promised(Registry().describe_game("kuhn2")[0].rules().product(), 0)
    assert tree is not None
    with pytest.raises(ProfileError, match="frequencies"):
        Verifier(tree).verify(BehaviorProfile(np.ones(3)))


@pytest.mark.parametrize("weights", [[[1, -1], [1, 1]], [[2**62, 1], [1, 1]]])
def test_weights_that_are_none_are_refused(weights: list[list[int]]) -> None:
    with pytest.raises(GameFormatError, match="weights of hands"):
        Hands(("a", "b"), np.arange(2)[:, None], np.array(weights))


def test_deals_whose_weights_overflow_are_refused() -> None:
    hands = Hands(("a", "b"), np.arange(2)[:, None], np.array([[2**40, 1], [1, 2**40]]))
    with pytest.raises(GameFormatError, match="fewer digits"):
        hands.deals()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"strength": lambda history: np.arange(3) * len(history)}, "make strength a function"),
        ({"settle": lambda history: Settlement((1, 1), ())}, "play cannot end"),
        ({"settle": lambda history: Settlement((1,), (0, 1))}, "play cannot end"),
    ],
)
def test_rules_that_a_product_cannot_hold_are_refused(change: dict[str, Any], words: str) -> None:
    rules = Registry().describe_game("kuhn2")[0].rules()
    with pytest.raises(GameFormatError, match=words):
        replace(rules, **change).product()
