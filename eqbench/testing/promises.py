"""A suite is a list of promises; each is kept, broken, or does not apply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from eqbench.isolation.messages import BuiltFrame, DescribedFrame

S = TypeVar("S")
Promise = Callable[[S], str | None]


@dataclass(frozen=True)
class Result:
    """What became of one promise.

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
