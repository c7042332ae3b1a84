"""What answers of the challenge are worth: measured on the tree, in fractions where it can be.

Nothing that a submission says is used but its files.
"""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from eqbench.errors import EqbenchError, ProfileError, UsageError, counted
from eqbench.model.game import Game
from eqbench.model.profile import BehaviorProfile
from eqbench.model.profile_json import parse_profile, profile_from_json
from eqbench.model.rational import short_figure
from eqbench.model.tree import FloatArray, GameTree
from eqbench.model.tree_files import content_hash
from eqbench.proofs.checker import check_proof
from eqbench.proofs.complete_sets import CompleteSet, complete_set, plan_weights
from eqbench.proofs.known import known_sets
from eqbench.registry import default_registry
from eqbench.requests import Limits
from eqbench.studies.challenge.submissions import (
    MOST_FILES,
    PROOF_BYTES,
    Answer,
    Posed,
    Submission,
    challenge,
)
from eqbench.text import printable, shortened, small
from eqbench.verdict import judge_measured
from eqbench.verification import UNRESOLVED, Verification, certify, verify

MOST_SECONDS = 60.0
SAME_PLAN = 1e-6  # largest difference of the weights of one extreme equilibrium


class Value(NamedTuple):
    """A measured value as a number and in words, and what decides between equal ones."""

    number: float | Fraction
    words: str
    tie: float = 0.0


class Measured(NamedTuple):
    """A profile of a submission as the verifier sees it, `certified` in Fractions if it can be."""

    tree: GameTree
    profile: BehaviorProfile
    found: Verification
    certified: Verification | None

    @property
    def regret(self) -> float | Fraction:
        """Max regret, or the most that it can be."""
        known = self.certified
        return self.found.max_regret + self.found.error if known is None else known.max_regret

    def check_equilibrium(self) -> None:
        """Refuse a profile that is no equilibrium."""
        if self.regret > (allowed := Limits().target_for(self.tree)):
            gain, most = small(float(self.regret)), small(allowed)
            raise UsageError(f"no equilibrium: a player gains {gain} by deviating, above {most}")


@cache
def game_of(posed: Posed) -> Game:
    """A game of the challenge; UsageError if it is another one than when it was posed."""
    game = default_registry().load_game(posed.spec)
    if content_hash(game.tree) != posed.content:
        raise UsageError(f"the rules of {posed.name} have changed since the challenge was set")
    return game


def measure(submission: Submission, answer: Answer) -> Value:
    """What an answer is worth; EqbenchError if it is refused."""
    posed = challenge().posed(answer.game)
    if answer.question not in posed.questions:
        raise UsageError(f"{answer.question} is not asked of {posed.name}")
    if answer.content not in ("", posed.content):
        raise UsageError(f"it was made for a game with other rules than {posed.name}")
    took = answer.elapsed_s
    if answer.question == "regret" and (took is None or took > MOST_SECONDS):
        raise UsageError(f"it must state a time, of at most {MOST_SECONDS:.0f} s")
    if answer.question == "complete" and answer.proof:
        return _proved(submission.file(answer.proof, PROOF_BYTES), posed)
    if answer.question == "complete":
        return _complete(submission, answer, posed)
    sign, values, refused = challenge().question[answer.question].sign, [], list[EqbenchError]()
    for file in answer.profiles:
        try:
            values.append(_WORTH[answer.question](_measured(submission, file, posed)))
        except EqbenchError as error:
            refused.append(error)
    if not values:
        raise refused[0] if refused else UsageError("it names no profile")
    return min(values, key=lambda value: (sign * value.number, value.tie))


@lru_cache(maxsize=MOST_FILES)
def _measured(submission: Submission, file: str, posed: Posed) -> Measured:
    data, tree = parse_profile(submission.file(file)), game_of(posed).tree
    spec = str(data.get("game", posed.spec))
    if challenge().posed(spec) != posed:
        raise UsageError(f"it is a profile of {shortened(spec, 80)}, not of {posed.name}")
    profile = profile_from_json(tree, data)
    found = verify(tree, profile)
    found = verify(tree, profile, target=float(found.max_regret))  # so in integers if need be
    if not found.resolved:
        raise UsageError(UNRESOLVED)
    certified = None
    with suppress(ProfileError):  # where rows sum to 1 only up to rounding
        certified = certify(tree, profile)
    return Measured(tree, profile, found, certified)


def _regret(own: Measured) -> Value:
    bound = "≤ " * bool(own.certified is None and own.found.error)
    return Value(own.regret, f"{bound}{small(float(own.regret))}" if own.regret else "0 exactly")


def _welfare(own: Measured) -> Value:
    own.check_equilibrium()
    welfare = sum((own.certified or own.found).payoffs)
    return Value(welfare, short_figure(welfare))


def _credible(own: Measured) -> Value:
    own.check_equilibrium()
    judged = judge_measured(own.tree, own.profile, own.found, own.certified, ["credible"])
    if not judged:
        raise UsageError("whether it is credible is too much work to decide")
    record = judged["credible"].to_json()
    number, sets, worst = record["credible"], record["sets"], record["worst"]
    if number == sets:
        return Value(number, f"all {sets}")
    return Value(number, f"{number} of {sets}, worst loss {small(worst)}", worst)


def _exact(own: Measured) -> Value:
    if own.certified is None:
        raise UsageError(
            "it is not known exactly: its frequencies do not sum to 1, or are too long"
        )
    if own.certified.max_regret:
        raise UsageError(f"its max regret is {short_figure(own.certified.max_regret)}, not 0")
    mixed = [each for each in own.profile.exact or () if each not in (0, 1)]
    digits = sum(len(f"{each.numerator}{each.denominator}") for each in mixed)
    return Value(digits, counted(digits, "digit"))


_WORTH = {"regret": _regret, "welfare": _welfare, "credible": _credible, "exact": _exact}


def _complete(submission: Submission, answer: Answer, posed: Posed) -> Value:
    """Value 1 of a list of all extreme equilibria, each once."""
    tree, seen = game_of(posed).tree, set[int]()
    known = complete_set(tree)
    if known is None:
        raise UsageError("eqbench knows no complete set of this game; give a proof")
    extreme = extreme_weights(known, tree)
    for file in answer.profiles:
        own, shown = _measured(submission, file, posed), shortened(printable(file), 80)
        own.check_equilibrium()
        gaps = np.abs(extreme - plan_weights(tree, own.profile.probabilities)).max(axis=1)
        if gaps.min() > SAME_PLAN:
            raise UsageError(f"{shown} is an equilibrium, but no extreme one")
        if (place := int(gaps.argmin())) in seen:
            raise UsageError(f"{shown} is the same equilibrium as one before it")
        seen.add(place)
    if len(seen) < len(extreme):
        raise UsageError(f"it lists {len(seen)} of {len(extreme)} extreme equilibria")
    found = counted(len(seen), "extreme equilibrium", "extreme equilibria")
    return Value(1, f"all: {found} in {counted(len(known.components), 'component')}")


def extreme_weights(known: CompleteSet, tree: GameTree) -> FloatArray:
    """Weights (E, A) of the extreme equilibria of a complete set, each once."""
    owner = np.repeat(tree.infoset_player, np.diff(tree.action_start))
    found = [
        np.stack(corners)[owner, np.arange(tree.n_actions)]
        for products in known.components
        for polytopes in products
        for corners in product(*polytopes)
    ]
    return np.unique(np.nan_to_num(np.stack(found)), axis=0)  # actions that no corner plays


def _proved(data: bytes, posed: Posed) -> Value:
    """Value 1 of a proof that all equilibria are in sets that are published."""
    with TemporaryDirectory(prefix="eqbench-") as scratch:
        file = Path(scratch) / "proof.jsonl"
        file.write_bytes(data)
        summary = check_proof(file, game_of(posed).tree)
    if summary.nodes["face"]:
        raise UsageError(f"it leaves {counted(summary.nodes['face'], 'face')} open")
    sets = known_sets(game_of(posed))[0]
    rows = {each.name: [[*row] for row in each.rows] for each in sets if each.name in posed.sets}
    for known in json.loads(data.partition(b"\n")[0])["known"]:
        if rows.get(known["name"]) != known["rows"]:
            raise UsageError(f"its set {printable(known['name'])} is none of those published")
    cases = counted(sum(summary.nodes.values()), "case")
    return Value(1, f"all: {counted(len(summary.known), 'published set')}, proved in {cases}")
