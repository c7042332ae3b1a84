"""What every game promises to solvers, to the verifier and to users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from eqbench.errors import EqbenchError
from eqbench.isolation.messages import BuiltFrame
from eqbench.model import realization as reference
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.profile_json import parse_profile, profile_from_json, profile_text
from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.model.tree import FloatArray
from eqbench.model.tree_files import content_hash
from eqbench.spec import parse_spec
from eqbench.testing.bench import (
    Bench,
    BrokenPromiseError,
    NotApplicableError,
    Result,
    is_presentable,
    keep,
    open_bench,
)
from eqbench.verification import Verifier, verify_exactly

TOLERANCE = 1e-12
LARGEST_FOR_EXACT = 20_000  # nodes
PROFILES = 3
# An announced size is there to refuse games that are too large, so it may be rough.
ROUGH = 10


def check_game(
    spec: str,
    *,
    plugins: Sequence[str] = (),
    isolated: bool = False,
    max_nodes: int = DEFAULT_MAX_NODES,
) -> Iterator[Result]:
    """Results of the contract suite for a game.

    Parameters
    ----------
    spec : of the game; choose small options, because the suite takes minutes on large games
    plugins : files that register it
    isolated : whether the game is built in a process of its own
    max_nodes : how many it may have
    """
    with open_bench(plugins, isolated=isolated) as bench:
        yield from keep(_PROMISES, _GameSubject(bench, spec, max_nodes))


@dataclass
class _GameSubject:
    bench: Bench
    spec: str
    max_nodes: int
    _cannot_be_built: bool = False
    _built: tuple[Game, BuiltFrame] | None = None
    _profiles: list[FloatArray] = field(default_factory=list)

    @property
    def game(self) -> Game:
        return self._build()[0]

    @property
    def facts(self) -> BuiltFrame:
        return self._build()[1]

    def _build(self) -> tuple[Game, BuiltFrame]:
        if self._cannot_be_built:
            raise NotApplicableError("there is no game")
        if self._built is None:
            try:
                self._built = self.bench.build(self.spec, self.max_nodes)
            except BrokenPromiseError:
                self._cannot_be_built = True
                raise
        return self._built

    @property
    def profiles(self) -> list[FloatArray]:
        """The uniform profile, random ones, and random ones that are nearly pure."""
        if not self._profiles:
            tree, rng = self.game.tree, np.random.default_rng(0)
            self._profiles = [BehaviorProfile.uniform(tree).probabilities]
            self._profiles += [random_profile(tree, rng) for _ in range(PROFILES)]
            self._profiles += [_nearly_pure(self.game, rng) for _ in range(PROFILES)]
        return self._profiles


def _nearly_pure(game: Game, rng: np.random.Generator) -> FloatArray:
    """One action at each information set, the others with frequencies of about 1e-13."""
    start = game.tree.action_start
    chosen = start[:-1] + rng.integers(np.diff(start))
    profile = 1e-13 * rng.random(game.tree.n_actions)
    profile[chosen] = 0.0
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    profile[chosen] = 1.0 - np.bincount(row, profile, len(start) - 1)
    return profile


def _can_be_built(subject: _GameSubject) -> str:
    """it can be built, with chance that sums to 1 and perfect recall."""
    tree = subject.game.tree
    return f"{tree.n_nodes:,} nodes, {tree.n_infosets:,} information sets"


def _is_reproducible(subject: _GameSubject) -> str:
    """its canonical spec builds the same game again."""
    spec = subject.game.spec
    again, _ = subject.bench.build(spec)
    if again.spec != spec:
        raise BrokenPromiseError(f"{spec} reads back as {again.spec}; are options changed?")
    if content_hash(again.tree) != content_hash(subject.game.tree):
        raise BrokenPromiseError(f"{spec} built twice gives two games; seed all that is random")
    return spec


def _announces_its_size(subject: _GameSubject) -> str:
    """it announces about as many nodes as it has."""
    announced = subject.facts.expected_nodes
    if announced is None:
        raise NotApplicableError(
            "it has no method expected_nodes(), so one that is too large is refused only while "
            "it is built"
        )
    actual = subject.game.tree.n_nodes
    if not actual <= announced <= ROUGH * actual:
        raise BrokenPromiseError(
            f"expected_nodes() says {announced:,}, the tree has {actual:,} nodes; it should be "
            f"no less, and at most {ROUGH} times as many"
        )
    return f"{announced:,}"


def _tree_and_arrays_agree(subject: _GameSubject) -> str:
    """payoffs and regrets on the tree, on the kernels and in plain NumPy agree."""
    game, worst = subject.game, 0.0
    verifier, model, form = Verifier(game.tree), game.payoff_model(), game.sequence_form
    scale = max(game.tree.payoff_range, float(np.abs(game.tree.payoffs.table).max()), 1e-300)
    for profile in subject.profiles:
        measured = verifier.verify(BehaviorProfile.of(game.tree, profile))
        payoffs = reference.expected_payoffs(form, profile)
        for values, expected in (
            (model.expected_payoffs(profile), measured.payoffs),
            (model.regrets(profile), measured.regrets),
            (payoffs, measured.payoffs),
            (reference.best_response_values(form, profile) - payoffs, measured.regrets),
        ):
            worst = max(worst, float(np.abs(values - np.array(expected)).max()) / scale)
    if worst > TOLERANCE:
        raise BrokenPromiseError(
            f"they differ by {worst:.1e} of the payoffs' size; allowed are {TOLERANCE:.0e}"
        )
    return f"within {worst:.0e} on {len(subject.profiles)} profiles"


def _exact_and_floats_agree(subject: _GameSubject) -> str | None:
    """exact arithmetic gives the same as floating point."""
    tree = subject.game.tree
    if not tree.exact:
        raise NotApplicableError("its payoffs or chances are floating-point numbers")
    if tree.n_nodes > LARGEST_FOR_EXACT:
        raise NotApplicableError(f"more than {LARGEST_FOR_EXACT:,} nodes would take long")
    uniform = BehaviorProfile.uniform(tree)
    exact, floats = verify_exactly(tree, uniform), Verifier(tree).verify(uniform)
    for one, other in zip(
        (*exact.payoffs, *exact.regrets), (*floats.payoffs, *floats.regrets), strict=True
    ):
        if abs(float(one) - other) > TOLERANCE * max(tree.payoff_range, abs(other), 1e-300):
            raise BrokenPromiseError(f"exactly {one}, in floating point {other!r}")
    return None


def _profiles_survive_json(subject: _GameSubject) -> str | None:
    """profiles survive being written and read."""
    game = subject.game
    for profile in subject.profiles:
        text = profile_text(game.tree, BehaviorProfile.of(game.tree, profile), game.spec)
        try:
            again = profile_from_json(game.tree, parse_profile(text))
        except EqbenchError as error:
            raise BrokenPromiseError(f"what was written cannot be read: {error}") from None
        if np.abs(again.probabilities - profile).max() > 1e-15:
            raise BrokenPromiseError("a profile changes when it is written and read")
    return None


def _parameter_is_affine(subject: _GameSubject) -> str:
    """its payoffs at another value of its parameter are those of the game built there."""
    game = subject.game
    name = game.tree.payoffs.parameter
    options = dict(parse_spec(game.spec).options)
    if name is None or name not in options:
        raise NotApplicableError("it has no payoff parameter among its options")
    assert game.tree.payoffs.value is not None  # comes with the parameter
    value = game.tree.payoffs.value + Fraction(1, 3)
    built, _ = subject.bench.build(str(parse_spec(game.spec).replace(**{name: value})))
    if not np.array_equal(built.tree.payoffs.table, game.tree.at(value).payoffs.table):
        raise BrokenPromiseError(f"payoffs at {name}={value} are not base + slope * {name}")
    return f"at {name}={value}"


_PROMISES = (
    _can_be_built,
    is_presentable,
    _is_reproducible,
    _announces_its_size,
    _tree_and_arrays_agree,
    _exact_and_floats_agree,
    _profiles_survive_json,
    _parameter_is_affine,
)
