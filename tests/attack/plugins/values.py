"""A solver that hands the monitor values of wrong types, sizes and shapes."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from attack.hostile import ANY, Hostile, ends, uniform

import eqbench
from eqbench.model.trembles import Trembles
from eqbench.solver import Candidate, Termination


@eqbench.register_solver("values")
@dataclass(frozen=True)
class Values(Hostile):
    """Attacks by what it reports."""


def doctored(game, **fields):
    """A candidate whose checks were passed by; fields of its profile begin with `profile_`."""
    profile = uniform(game)
    candidate = Candidate(profile, "iterate")
    for name, value in fields.items():
        part = profile if name.startswith("profile_") else candidate
        object.__setattr__(part, name.removeprefix("profile_"), value)
    return candidate


def reports(game, monitor, **fields):
    monitor.candidate(doctored(game, **fields))
    return Termination("limit", "survived its attack")


def with_trembles(game, monitor, order=1, weight=1.0):
    """Hand over trembles that may be wrong at one action."""
    size = game.tree.n_actions
    trembles = Trembles(np.ones(size, dtype=np.int64), np.ones(size, dtype=object) * 1.0)
    trembles.order[0], trembles.weight[0] = order, weight
    return reports(game, monitor, trembles=trembles)


@ends("limit", quick=True)
def trembles(game, monitor):
    """No attack: it shows that these arrive."""
    return with_trembles(game, monitor)


@ends("crashed", quick=True)
def trembles_of_no_order(game, monitor):
    return with_trembles(game, monitor, order=0)


@ends("crashed")
def trembles_of_negative_weight(game, monitor):
    return with_trembles(game, monitor, weight=-1.0)


@ends("crashed")
def trembles_of_no_weight(game, monitor):
    return with_trembles(game, monitor, weight=float("nan"))


@ends("crashed")
def trembles_that_are_text(game, monitor):
    return reports(game, monitor, trembles="text")


@ends("crashed", quick=True)
def trembles_of_too_few_actions(game, monitor):
    return reports(game, monitor, trembles=Trembles(np.ones(1, np.int64), np.ones(1)))


# -- statistics ------------------------------------------------------------------------------


@ends("crashed")
def statistics_text(game, monitor):
    monitor.statistics = "text"


@ends("crashed")
def statistics_list(game, monitor):
    monitor.statistics = [1, 2]


@ends("crashed")
def statistics_none(game, monitor):
    monitor.statistics = None


@ends("crashed", quick=True)
def statistics_beyond_floats(game, monitor):
    monitor.record(objective=10**400, bound=1, sense="min")


@ends(*ANY)
def statistics_beyond_64_bits(game, monitor):
    monitor.record(nodes=2**64)


@ends("crashed")
def statistics_without_end(game, monitor):
    rings = []
    rings.append(rings)
    monitor.record(rings=rings)


@ends("crashed", "limit")
def statistics_deep(game, monitor):
    deep = []
    for _ in range(500):
        deep = [deep]
    monitor.record(deep=deep)


@ends("limit")
def statistics_not_finite(game, monitor):
    monitor.record(a=float("nan"), b=float("inf"), c=np.array([np.nan, -np.inf]))


@ends("limit", "crashed")
def statistics_with_controls(game, monitor):
    monitor.record(**{"\x1b[2J\u202e": "\x9b31m\x00", "[/bold]": "[/nothing]", "=1+1": "=1+1"})


@ends("limit", "crashed")
def statistics_with_surrogates(game, monitor):
    monitor.record(**{"\ud800": "\udfff"})


@ends("limit", "crashed")
def statistics_of_objects(game, monitor):
    monitor.record(object=object(), bytes=b"\xff", complex=1j, set={1}, array=np.eye(2))


@ends(*ANY)
def statistics_of_two_megabytes(game, monitor):
    monitor.record(long="s" * 2_000_000)


@ends(*ANY)
def statistics_in_great_number(game, monitor):
    monitor.record(**{f"figure_{k}": k for k in range(100_000)})


# -- exact frequencies -----------------------------------------------------------------------


@ends("crashed", quick=True)
def exact_integer(game, monitor):
    return reports(game, monitor, profile_exact=5)


@ends("crashed")
def exact_text(game, monitor):
    return reports(game, monitor, profile_exact="1/2")


@ends("crashed")
def exact_without_denominator(game, monitor):
    return reports(game, monitor, profile_exact=("1/0",) * game.tree.n_actions)


@ends("crashed")
def exact_power_of_ten(game, monitor):
    return reports(game, monitor, profile_exact=("1e999999999",) * game.tree.n_actions)


@ends("crashed")
def exact_too_many(game, monitor):
    return reports(game, monitor, profile_exact=(Fraction(1, 2),) * (game.tree.n_actions + 1))


@ends("crashed")
def exact_outside(game, monitor):
    return reports(game, monitor, profile_exact=(Fraction(3, 2),) * game.tree.n_actions)


@ends("crashed", "refuted", "limit")
def exact_with_sums_wrong(game, monitor):
    return reports(game, monitor, profile_exact=(Fraction(1, 3),) * game.tree.n_actions)


@ends("crashed")
def exact_of_a_million_digits(game, monitor):
    return reports(game, monitor, profile_exact=("1" * 1_000_000,) * game.tree.n_actions)


@ends("refuted", "crashed")
def exact_unlike_its_floats(game, monitor):
    floats = np.zeros(game.tree.n_actions)
    return reports(game, monitor, profile_probabilities=floats, claim="equilibrium")


# -- frequencies -----------------------------------------------------------------------------


@ends("crashed", quick=True)
def frequencies_complex(game, monitor):
    values = uniform(game).probabilities.astype(complex)
    return reports(game, monitor, profile_probabilities=values, profile_exact=None)


@ends("crashed")
def frequencies_void(game, monitor):
    values = np.zeros(game.tree.n_actions, dtype="V8")
    return reports(game, monitor, profile_probabilities=values, profile_exact=None)


@ends("crashed")
def frequencies_objects(game, monitor):
    values = uniform(game).probabilities.astype(object)
    return reports(game, monitor, profile_probabilities=values, profile_exact=None)


@ends("crashed")
def frequencies_texts(game, monitor):
    values = uniform(game).probabilities.astype("U5")
    return reports(game, monitor, profile_probabilities=values, profile_exact=None)


@ends("crashed")
def frequencies_records(game, monitor):
    values = np.zeros(game.tree.n_actions, dtype=[("a", "f8"), ("b", "i4")])
    return reports(game, monitor, profile_probabilities=values, profile_exact=None)


@ends("crashed")
def frequencies_dates(game, monitor):
    values = np.zeros(game.tree.n_actions, dtype="M8[s]")
    return reports(game, monitor, profile_probabilities=values, profile_exact=None)


@ends("crashed", "limit")
def frequencies_half_floats(game, monitor):
    values = uniform(game).probabilities.astype(np.float16)
    return reports(game, monitor, profile_probabilities=values, profile_exact=None)


@ends("crashed")
def frequencies_square(game, monitor):
    return reports(game, monitor, profile_probabilities=np.eye(3), profile_exact=None)


@ends("crashed")
def frequencies_without_shape(game, monitor):
    return reports(game, monitor, profile_probabilities=np.array(0.5), profile_exact=None)


@ends("crashed")
def frequencies_none(game, monitor):
    return reports(game, monitor, profile_probabilities=np.zeros(0), profile_exact=None)


@ends("crashed")
def frequencies_not_numbers(game, monitor):
    values = np.full(game.tree.n_actions, np.nan)
    return reports(game, monitor, profile_probabilities=values, profile_exact=None)


@ends("crashed")
def frequencies_negative(game, monitor):
    values = np.resize([-1.0, 2.0], game.tree.n_actions)
    return reports(game, monitor, profile_probabilities=values, profile_exact=None)


@ends("crashed")
def frequencies_snapshot_zero(game, monitor):
    zero = np.zeros(game.tree.n_actions)
    monitor.snapshot(doctored(game, profile_probabilities=zero, profile_exact=None), work=1)


# -- claims ----------------------------------------------------------------------------------


@ends("crashed")
def claim_unknown(game, monitor):
    return reports(game, monitor, claim="surely an equilibrium")


@ends("crashed")
def claim_integer(game, monitor):
    return reports(game, monitor, claim=1)


@ends("crashed")
def claim_long(game, monitor):
    return reports(game, monitor, claim="equilibrium" * 100_000)


@ends("crashed")
def claim_list(game, monitor):
    return reports(game, monitor, claim=["equilibrium"])


@ends("crashed")
def claimed_regret_text(game, monitor):
    return reports(game, monitor, claimed_regret="small")


@ends("crashed", "limit")
def claimed_regret_not_a_number(game, monitor):
    return reports(game, monitor, claimed_regret=float("nan"))


@ends("crashed", "limit")
def claimed_regret_infinite(game, monitor):
    return reports(game, monitor, claimed_regret=float("inf"))


@ends("crashed")
def claimed_regret_beyond_floats(game, monitor):
    return reports(game, monitor, claimed_regret=10**400)


@ends("refuted", "crashed")
def claimed_regret_negative(game, monitor):
    return reports(game, monitor, claimed_regret=-1.0)


@ends("refuted")
def claim_false(game, monitor):
    return reports(game, monitor, claim="equilibrium")


# -- work ------------------------------------------------------------------------------------


@ends("crashed", quick=True)
def work_beyond_64_bits(game, monitor):
    monitor.snapshot(uniform(game), work=10**30)


@ends("crashed")
def work_of_64_bits(game, monitor):
    monitor.snapshot(uniform(game), work=2**63)


@ends("crashed")
def work_of_candidate_beyond_64_bits(game, monitor):
    monitor.work = 2**64


@ends("crashed")
def work_text(game, monitor):
    monitor.work = "much"


@ends("crashed")
def work_not_a_number(game, monitor):
    monitor.work = float("nan")


@ends("crashed")
def work_negative(game, monitor):
    monitor.snapshot(uniform(game), work=-5)


@ends("crashed")
def work_list(game, monitor):
    monitor.work = [1]


@ends("limit", "crashed")
def candidates_without_number(game, monitor):
    for _ in range(3000):
        monitor.candidate(uniform(game).probabilities, claim="iterate")
