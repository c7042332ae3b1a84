"""The frame of both suites: promises, each kept, broken or not applicable, and a bench.

The bench tries plugins in child processes with limits, or in this very process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from eqbench.errors import UsageError
from eqbench.harness.solve import perform
from eqbench.isolation.child import Outcome, ScratchFolder, run_child
from eqbench.isolation.messages import (
    AgainFrame,
    BuiltFrame,
    DescribedFrame,
    ErrorFrame,
    Frame,
    FrameDecoder,
    ProfileFrame,
    encode,
)
from eqbench.model.game import Game
from eqbench.model.size_limit import DEFAULT_MAX_NODES
from eqbench.model.tree_files import load_tree
from eqbench.plugins import absolute_files
from eqbench.solver import Limits

SETUP_S = 120.0


@dataclass
class Trial:
    """How one job went: its frames, and how the process ended."""

    frames: list[Frame] = field(default_factory=list)
    ended: str = "exit"
    log: str = ""

    @property
    def last(self) -> Frame | None:
        """The frame that closes the job, None if it was cut short."""
        return self.frames[-1] if self.frames else None

    @property
    def found(self) -> list[ProfileFrame]:
        """Snapshots and candidates in order."""
        return [frame for frame in self.frames if isinstance(frame, ProfileFrame)]


class Bench:
    """Tries jobs of plugins out.

    Parameters
    ----------
    plugins : files that register what is tried out
    isolated : whether jobs run in child processes; else everything runs in this one
    scratch : folder for trees
    """

    def __init__(self, plugins: Sequence[str], scratch: Path, *, isolated: bool) -> None:
        self.plugins = absolute_files(plugins)
        self.isolated, self.scratch = isolated, scratch

    def attempt(self, do: str, *, timeout_s: float = 10.0, **job: Any) -> Trial:
        """How a job goes; a broken one is a trial as well."""
        job |= {"do": do, "plugins": self.plugins}
        trial = Trial()
        if not self.isolated:
            # as over a pipe, so that what fits no frame is noticed here too
            decoder = FrameDecoder()
            perform(job, lambda frame: trial.frames.extend(decoder.feed(encode(frame))))
            return trial
        limits = Limits(setup_timeout_s=SETUP_S, timeout_s=timeout_s)
        while True:
            outcome: Outcome = run_child(job, limits, trial.frames.append)
            if not isinstance(outcome.last, AgainFrame):
                break
            trial.frames.clear()
        trial.ended, trial.log = outcome.garbled or outcome.ended, outcome.log
        if outcome.ended == "interrupted":
            raise KeyboardInterrupt
        return trial

    def build(self, spec: str, max_nodes: int = DEFAULT_MAX_NODES) -> tuple[Game, BuiltFrame]:
        """A game of at most so many nodes, and how it presents itself.

        Raises
        ------
        BrokenPromiseError
            If it cannot be built.
        """
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        trial = self.attempt("build", game=spec, folder=str(folder), max_nodes=max_nodes)
        last = trial.last
        if not isinstance(last, BuiltFrame):
            raise BrokenPromiseError(f"{spec} cannot be built: {complaint(trial)}")
        try:
            return Game(last.spec, load_tree(folder, spec), folder), last
        except UsageError as error:
            raise BrokenPromiseError(f"{spec} cannot be built: {error}") from None


def complaint(trial: Trial) -> str:
    """Why a trial did not end in an orderly way."""
    last = trial.last
    if isinstance(last, ErrorFrame):
        return f"{last.type}: {last.message}"
    tail = trial.log.splitlines()[-1:]
    return ": ".join([f"the process ended early ({trial.ended})", *tail])


@contextmanager
def open_bench(plugins: Sequence[str], *, isolated: bool) -> Iterator[Bench]:
    """A bench and its scratch folder, both gone afterwards."""
    with ScratchFolder() if isolated else tempfile.TemporaryDirectory() as scratch:
        yield Bench(plugins, Path(scratch), isolated=isolated)


S = TypeVar("S")
Promise = Callable[[S], str | None]


@dataclass(frozen=True)
class Result:
    """Outcome of one promise.

    Attributes
    ----------
    promise : in words
    passed : True, False, or None if the promise does not apply
    detail : what was seen, and what to do about it if it failed
    """

    promise: str
    passed: bool | None
    detail: str = ""

    def __str__(self) -> str:
        state = {True: "passed", False: "FAILED", None: "–"}[self.passed]
        return f"{state}: {self.promise}" + (f" ({self.detail})" if self.detail else "")


class BrokenPromiseError(Exception):
    """Says how a promise is broken and what to do."""


class NotApplicableError(Exception):
    """Says why a promise does not apply."""


class Presented(Protocol):
    """What both suites are about: a plugin that presents itself."""

    @property
    def facts(self) -> DescribedFrame | BuiltFrame: ...


def is_presentable(subject: Presented) -> str:
    """it is a frozen dataclass.

    Options without a description break nothing, but there is advice on them.
    """
    facts = subject.facts
    if not facts.frozen:
        raise BrokenPromiseError("decorate the class with @dataclass(frozen=True)")
    if missing := facts.undocumented:
        return (
            f"no description of {', '.join(missing)}: write `name : text` under Parameters in the "
            "class docstring, and `eqbench info` shows it"
        )
    return ""


def keep(promises: Sequence[Promise[S]], subject: S) -> Iterator[Result]:
    """Results of all promises, in order; the first line of a promise's docstring is its name."""
    for promise in promises:
        name = (promise.__doc__ or "").partition("\n")[0].rstrip(".")
        try:
            detail = promise(subject)
        except BrokenPromiseError as broken:
            yield Result(name, False, str(broken))
        except NotApplicableError as reason:
            yield Result(name, None, str(reason))
        else:
            yield Result(name, True, detail or "")
