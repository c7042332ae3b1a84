"""Trembles on their way from a solver to the judge, and those that are refused there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers.made_games import exact_profile, horse_trembles, selten_horse
from helpers.runs import CLOCKS
from helpers.runs import candidate as frame_of

from eqbench.harness.judge import Received, measure
from eqbench.harness.solve import solve_once
from eqbench.isolation.messages import CandidateFrame, SnapshotFrame, TremblesMessage
from eqbench.model.game import Game
from eqbench.model.play import Play
from eqbench.model.profile import BehaviorProfile
from eqbench.model.trembles import LARGEST_ORDER, Trembles
from eqbench.solver import Candidate, Limits, Monitor, Termination
from eqbench.verdicts import Proof, sequential
from eqbench.verification import Verifier

HORSE = selten_horse()
TREMBLES = horse_trembles((1, "1"), (1, "2"))  # with which P3's mixture is supported
ACROSS = exact_profile(HORSE, (0, 1), (0, 1), ("1/8", "7/8"))


@dataclass(frozen=True)
class Knowing:
    """Hands over the horse's equilibrium with what proves it."""

    trembles: Trembles

    def solve(self, game: Game, monitor: Monitor, rng: np.random.Generator) -> Termination:
        monitor.snapshot(Candidate(ACROSS, "equilibrium", trembles=self.trembles))
        monitor.candidate(ACROSS, trembles=self.trembles)
        return Termination("converged")


@pytest.mark.parametrize(("down", "proof"), [(2, Proof.CERTIFIED), (3, Proof.OPEN)])
def test_what_a_solver_hands_over_is_what_the_judge_sees(down: int, proof: Proof) -> None:
    frames: list[Any] = []
    solve_once(
        Knowing(horse_trembles((1, "1"), (1, str(down)))),
        Game("horse", HORSE),
        Limits(),
        0,
        frames.append,
    )
    kept = Received(HORSE.n_actions)
    for frame in frames:
        kept.add(frame)
    assert kept.misfit == ""
    assert type(kept.newest) is CandidateFrame
    assert isinstance(kept.snapshots[0], SnapshotFrame)
    (sent,) = kept.candidates
    candidate = measure(sent, Verifier(HORSE), 1e-6).candidate
    play = Play.exactly(HORSE, candidate.profile)
    assert sequential(play, candidate.trembles).proof is proof
    assert sequential(Play.of(HORSE, candidate.profile), candidate.trembles).proof is proof


def test_a_candidate_need_not_have_any() -> None:
    frame = frame_of(ACROSS.probabilities)
    assert measure(frame, Verifier(HORSE), 1e-6).candidate.trembles is None


WRONG: dict[str, dict[str, Any]] = {
    "too few orders": {"order": np.ones(5, dtype=np.int64)},
    "too many weights": {"weight": np.ones(7)},
    "orders in a table": {"order": np.ones((6, 1), dtype=np.int64)},
    "order of 0": {"order": np.array([1, 1, 0, 1, 1, 1])},
    "order beyond the largest": {"order": np.array([1, 1, LARGEST_ORDER + 1, 1, 1, 1])},
    "orders that are floats": {"order": np.ones(6)},
    "weight of 0": {"weight": np.array([1, 1, 0.0, 1, 1, 1])},
    "negative weight": {"weight": np.array([1, 1, -1.0, 1, 1, 1])},
    "weight that is nan": {"weight": np.array([1, 1, np.nan, 1, 1, 1])},
    "weight that is infinite": {"weight": np.array([1, 1, np.inf, 1, 1, 1])},
    "weights that are texts": {"weight": np.array(["1"] * 6)},
    "weight beyond floats": {"weight": np.array([Fraction(10**399)] * 6, dtype=object)},
    "weight below floats": {"weight": np.array([Fraction(1, 10**399)] * 6, dtype=object)},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_candidate_refuses_trembles_that_do_not_fit(wrong: str) -> None:
    with pytest.raises(ValueError, match="of trembles"):
        Candidate(ACROSS, "equilibrium", trembles=replace(TREMBLES, **WRONG[wrong]))


@pytest.mark.parametrize(
    ("order", "weight"),
    [
        ([1] * 5, [1.0] * 6),
        ([1] * 6, [1.0] * 7),
        ([], []),
        ([0] * 6, [1.0] * 6),
        ([1] * 6, [-1.0] * 6),
        ([1] * 6, [float("nan")] * 6),
        ([1] * 6, ["1" + "0" * 399] * 6),
    ],
)
def test_frame_whose_trembles_do_not_fit_the_game_is_not_kept(order: Any, weight: Any) -> None:
    """Also if its solver has passed by the checks of a candidate."""
    kept = Received(HORSE.n_actions)
    kept.add(frame_of(ACROSS.probabilities, trembles=TremblesMessage(order, weight)))
    assert "of trembles" in kept.misfit
    assert kept.candidates == []


def test_weights_whose_products_leave_the_floats_certify_nothing() -> None:
    profile = BehaviorProfile(ACROSS.probabilities)
    deep = HORSE.n_actions
    for weight in (1e-300, 1e300):
        trembles = Trembles(np.ones(deep, dtype=np.int64), np.full(deep, weight))
        assert sequential(Play.of(HORSE, profile), trembles).proof is Proof.OPEN


def test_trembles_count_towards_the_memory_of_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = frame_of(ACROSS.probabilities, clocks=CLOCKS)
    told = frame_of(ACROSS.probabilities, trembles=TremblesMessage.of(TREMBLES))
    monkeypatch.setattr("eqbench.harness.judge.MAX_CANDIDATE_BYTES", len(bare.profile))
    kept = Received(HORSE.n_actions)
    kept.add(bare)
    assert kept.dropped == 0
    kept = Received(HORSE.n_actions)
    kept.add(told)
    assert kept.dropped == 1
