"""What every solver promises to users and to the harness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from eqbench.errors import ProfileError, UsageError
from eqbench.harness.judge import MeasuredProfile, ending, measure
from eqbench.isolation.messages import (
    CandidateFrame,
    DescribedFrame,
    DoneFrame,
    ErrorFrame,
    ProfileFrame,
    RefusedFrame,
)
from eqbench.model.game import Game
from eqbench.model.tree_files import content_hash, load_tree
from eqbench.solver import Limits
from eqbench.testing.bench import (
    Bench,
    BrokenPromiseError,
    NotApplicableError,
    Result,
    Trial,
    complaint,
    is_presentable,
    keep,
    open_bench,
)
from eqbench.verification import DEFAULT_TOLERANCE, Verifier

# Two and three players, zero-sum and not, with chance, and with sets of a single action.
GAMES = ("matching_pennies", "prisoners_dilemma", "kuhn2", "jordan", "kuhn3_reduced")
ITERATIONS = 40
TIME_S = 0.5
# A solver need not look at the clock more often than this.
LATE_S = 1.0
# Before a child counts as one that hangs, even if the machine has much else to do.
HANGS_S = 10.0


def check_solver(
    spec: str, *, games: Sequence[str] = GAMES, plugins: Sequence[str] = (), isolated: bool = False
) -> Iterator[Result]:
    """Results of the contract suite for a solver.

    Parameters
    ----------
    spec : of the solver
    games : specs of small games to try it on
    plugins : files that register the solver or the games
    isolated : whether every attempt has a process of its own, which survives crashes and hangs
    """
    with open_bench(plugins, isolated=isolated) as bench:
        yield from keep(_PROMISES, _SolverSubject(bench, spec, games))


@dataclass
class _SolverSubject:
    """The solver on the bench; attempts are kept, since several promises look at them."""

    bench: Bench
    spec: str
    games: Sequence[str]
    _built: dict[str, Game] = field(default_factory=dict)
    _tried: dict[tuple, Trial] = field(default_factory=dict)
    _measured: dict[str, list[MeasuredProfile]] = field(default_factory=dict)
    _facts: DescribedFrame | None = None

    @property
    def facts(self) -> DescribedFrame:
        if self._facts is None:
            self._facts = _described(self.bench, self.spec)
        return self._facts

    def game(self, spec: str) -> Game:
        if spec not in self._built:
            self._built[spec] = self.bench.build(spec)[0]
        return self._built[spec]

    def attempt(self, game: str, limits: Limits, seed: int = 0, again: int = 0) -> Trial:
        """One attempt; other values of `again` repeat it."""
        key = (game, limits, seed, again)
        if key not in self._tried:
            loaded = self.game(game)
            self._tried[key] = self.bench.attempt(
                "solve",
                timeout_s=max(limits.timeout_s, HANGS_S),
                solver=self.spec,
                game_spec=loaded.spec,
                folder=str(loaded.folder),
                seed=seed,
                limits=asdict(limits),
            )
        return self._tried[key]

    def plain(self, game: str) -> Trial:
        return self.attempt(game, Limits(iterations=ITERATIONS))

    def supported(self) -> list[str]:
        """Games that the solver takes.

        Raises
        ------
        NotApplicableError
            If there is none, for example because a licence is missing.
        """
        refusals = {}
        for game in self.games:
            last = self.plain(game).last
            if isinstance(last, RefusedFrame):
                refusals[game] = last.reason
        taken = [game for game in self.games if game not in refusals]
        if not taken:
            raise NotApplicableError(f"it takes none of the games: {next(iter(refusals.values()))}")
        return taken

    def findings(self, game: str) -> list[MeasuredProfile]:
        """Measured snapshots and candidates of the plain attempt."""
        if game not in self._measured:
            verifier = Verifier(self.game(game).tree)
            try:
                found = [
                    measure(each, verifier, DEFAULT_TOLERANCE) for each in self.plain(game).found
                ]
            except ProfileError as error:
                raise BrokenPromiseError(f"on {game} it reports no profile: {error}") from None
            self._measured[game] = found
        return self._measured[game]


def _has_a_canonical_spec(subject: _SolverSubject) -> str:
    """its canonical spec names the same solver."""
    spec = subject.facts.spec
    again = _described(subject.bench, spec).spec
    if again != spec:
        raise BrokenPromiseError(f"{spec} reads back as {again}; are options changed?")
    return spec


def _solves_or_refuses(subject: _SolverSubject) -> str:
    """it solves a game or refuses it with a reason, and never raises."""
    refused = []
    for game in subject.games:
        trial = subject.plain(game)
        last = trial.last
        if isinstance(last, RefusedFrame):
            refused.append(f"{game}: {last.reason}")
        elif not isinstance(last, DoneFrame):
            raise BrokenPromiseError(f"on {game}: {complaint(trial)}")
    return f"refused {'; '.join(refused)}" if refused else ""


def _hands_over_profiles(subject: _SolverSubject) -> str | None:
    """it hands over behavior profiles with a known claim."""
    for game in subject.supported():
        last = subject.plain(game).last
        empty_handed = isinstance(last, DoneFrame) and last.reason in ("not_found", "failed")
        if not subject.findings(game) and not empty_handed:
            raise BrokenPromiseError(
                f"on {game} it reported nothing; call monitor.candidate(profile, claim=…)"
            )
    return None


def _claims_hold(subject: _SolverSubject) -> str | None:
    """the verifier contradicts none of its claims."""
    for game in subject.supported():
        for finding in subject.findings(game):
            if finding.refuted:
                raise BrokenPromiseError(f"on {game}: {finding.refuted}")
    return None


def _converged_is_borne_out(subject: _SolverSubject) -> str | None:
    """where it says that it has converged, a profile of it bears that out."""
    claims = 0
    for game in subject.supported():
        last = subject.plain(game).last
        if not isinstance(last, DoneFrame) or last.reason != "converged":
            continue
        claims += 1
        tree = subject.game(game).tree
        findings = subject.findings(game)
        measured = zip(subject.plain(game).found, findings, strict=True)
        handed = [own for frame, own in measured if isinstance(frame, CandidateFrame)]
        shown = handed or findings[-1:]
        # without a target a rule of its own is enough
        without, (status, reason) = (
            ending("converged", "", shown, target=target, tree=tree)
            for target in (0.0, Limits().target_for(tree))
        )
        if "ok" not in (status, without[0]):
            raise BrokenPromiseError(f"on {game}: {reason}")
    if not claims:
        raise NotApplicableError(f"it did not within {ITERATIONS} iterations")
    return None


def _is_reproducible(subject: _SolverSubject) -> str | None:
    """the same seed gives the same bits."""
    budget = Limits(iterations=ITERATIONS, target=0)
    for game in subject.supported():
        first, again = (subject.attempt(game, budget, seed=3, again=k) for k in (0, 1))
        if not _same(first.found, again.found):
            raise BrokenPromiseError(
                f"on {game} two attempts with one seed differ; draw all randomness, seeds of "
                "native code included, from the generator that solve() is given"
            )
    return None


def _deterministic_is_true(subject: _SolverSubject) -> str:
    """if it calls itself deterministic, seeds do not matter."""
    budget = Limits(iterations=ITERATIONS, target=0)
    same = all(
        _same(
            subject.attempt(game, budget, seed=3).found, subject.attempt(game, budget, seed=4).found
        )
        for game in subject.supported()
    )
    if subject.facts.deterministic and not same:
        raise BrokenPromiseError("two seeds give different results; deterministic must not be True")
    if same and not subject.facts.deterministic:
        return "seeds seem not to matter; with `deterministic = True` it is run only once"
    return ""


def _keeps_to_its_iterations(subject: _SolverSubject) -> str | None:
    """it does not do more iterations than allowed."""
    budget = Limits(iterations=ITERATIONS, target=0)
    for game in subject.supported():
        last = subject.attempt(game, budget, seed=3).last
        clocks = last.clocks if isinstance(last, DoneFrame | ErrorFrame) else None
        if clocks is not None and clocks.work > ITERATIONS:
            raise BrokenPromiseError(
                f"on {game} it did {clocks.work:,} of {ITERATIONS} iterations; loop over "
                "monitor.chunks(), or look at monitor.budget.iterations"
            )
    return None


def _ends_in_time(subject: _SolverSubject) -> str:
    """it ends when its time is up, with something in hand."""
    game = subject.supported()[-1]
    trial = subject.attempt(game, Limits(timeout_s=TIME_S, target=0))
    last = trial.last
    if not isinstance(last, DoneFrame) or last.clocks is None:
        raise BrokenPromiseError(f"with {TIME_S} s for {game}: {complaint(trial)}")
    elapsed_s = last.clocks.elapsed_s
    # time in which it had no processor is not its own
    if min(elapsed_s, last.clocks.cpu_s) > TIME_S + LATE_S:
        raise BrokenPromiseError(
            f"with {TIME_S} s for {game} it took {elapsed_s:.2f} s; loop over monitor.chunks(), "
            "or look at monitor.remaining_s"
        )
    if not trial.found and last.reason != "not_found":
        raise BrokenPromiseError(f"with {TIME_S} s for {game} it reported nothing")
    return f"{elapsed_s:.2f} s of {TIME_S} s"


def _leaves_the_game_alone(subject: _SolverSubject) -> str | None:
    """it does not change the game."""
    for game in subject.supported():
        loaded = subject.game(game)
        assert loaded.folder is not None  # a bench keeps the games that it builds
        built = subject.bench.build(game)[0]
        try:
            changed = content_hash(load_tree(Path(loaded.folder))) != content_hash(built.tree)
        except UsageError:
            changed = True
        if changed:
            raise BrokenPromiseError(f"{game} is another game afterwards; its arrays are read-only")
    return None


def _described(bench: Bench, spec: str) -> DescribedFrame:
    trial = bench.attempt("describe", solver=spec)
    if not isinstance(trial.last, DescribedFrame):
        raise BrokenPromiseError(f"{spec} cannot be loaded: {complaint(trial)}")
    return trial.last


def _same(first: list[ProfileFrame], second: list[ProfileFrame]) -> bool:
    """Whether candidates are the same, and snapshots after the same work; the clock adds some."""
    once, again = ([each for each in own if each.kind != "snapshot"] for own in (first, second))
    if len(once) != len(again):
        return False
    at = {each.clocks.work: each for each in second if each.kind == "snapshot"}
    shots = [each for each in first if each.kind == "snapshot"]
    pairs = [(each, at[each.clocks.work]) for each in shots if each.clocks.work in at]
    return all(
        (a.clocks.work, a.claim) == (b.clocks.work, b.claim)
        and np.array_equal(a.frequencies, b.frequencies)
        for a, b in (*zip(once, again, strict=True), *pairs)
    )


_PROMISES = (
    is_presentable,
    _has_a_canonical_spec,
    _solves_or_refuses,
    _hands_over_profiles,
    _claims_hold,
    _converged_is_borne_out,
    _is_reproducible,
    _deterministic_is_true,
    _keeps_to_its_iterations,
    _ends_in_time,
    _leaves_the_game_alone,
)
