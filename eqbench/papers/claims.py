"""What a source claims, and what is said about a claim.

A source is written down as parts (a table, a figure, a section), and a part as claims: one cell
of a table, one statement. Beside what is printed, a claim has a function that reads what eqbench
itself has stored and says what came of it. It never computes anything: whatever is on the page
can be read again from the folders of the jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from eqbench.papers.jobs import Job
from eqbench.papers.stored import Stored

Verdict = Literal["reproduced", "differs", "source_error", "not_attempted"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "differs", "source_error", "not_attempted")


@dataclass(frozen=True)
class Reading:
    """What eqbench has for a claim.

    Attributes
    ----------
    verdict : whether that is what the source says
    ours : the figure or the finding, never empty
    detail : by how much it differs, the evidence against the source, or why nothing was tried;
        empty at most where it is reproduced
    """

    verdict: Verdict
    ours: str
    detail: str = ""


def reproduced(ours: str, detail: str = "") -> Reading:
    """Reading of a claim that holds."""
    return Reading("reproduced", ours, detail)


def differs(ours: str, by: str) -> Reading:
    """Reading of a claim that we do not get; `by` says how far we are from it."""
    return Reading("differs", ours, by)


def source_error(ours: str, evidence: str) -> Reading:
    """Reading of a claim that is wrong as printed; `evidence` is something that was measured."""
    return Reading("source_error", ours, evidence)


def not_attempted(why: str) -> Reading:
    """Reading of a claim that nothing was run for."""
    return Reading("not_attempted", "not attempted", why)


def holds(
    truth: bool,  # noqa: FBT001 - it is what the function is about
    ours: str,
    by: str,
    detail: str = "",
) -> Reading:
    """Reading of a statement: reproduced if it is true of what is stored, else it differs `by`."""
    return reproduced(ours, detail) if truth else differs(ours, by)


def number(theirs: float, ours: float, tolerance: float, *, digits: int = 6) -> Reading:
    """Reading of a figure: reproduced if it is within `tolerance`, usually half a unit of the
    last digit that is printed; a figure just between two roundings agrees with both."""
    text = f"{ours:.{digits}g}"
    if abs(ours - theirs) <= tolerance * (1 + 1e-9):
        return reproduced(text)
    ratio = f", {ours / theirs:.3g} times theirs" if theirs else ""
    return differs(text, f"{ours - theirs:+.3g}{ratio}")


@dataclass(frozen=True)
class Claim:
    """One cell of a table, one property of a figure, one statement.

    Attributes
    ----------
    row, column : its place in the part; `column` is empty in a part that is a list of statements
    theirs : what the source prints, in its numbers and our words; never empty
    read : what the stored results say about it. It may ask for any job of the source; where one
        was not run or failed, the claim becomes ``not_attempted`` with that reason
    """

    row: str
    column: str
    theirs: str
    read: Callable[[Stored], Reading]


@dataclass(frozen=True)
class Picture:
    """Ours beside a published figure.

    Attributes
    ----------
    title : for example ``Figure 8, N = 5``
    caption : how to read it, and what of the published figure is to be seen in it
    svg : text of the picture, drawn from what is stored
    """

    title: str
    caption: str
    svg: Callable[[Stored], str]


@dataclass(frozen=True)
class Attachment:
    """A file of a job that a reader may want, such as the points of a branch or a video."""

    title: str
    job: str
    file: str


@dataclass(frozen=True)
class Part:
    """A table, a figure or a section of a source.

    Attributes
    ----------
    title : as in ``Table 2: values that an equilibrium must have``, in our words
    claims : in the order of the source
    pictures, files : what else is to be looked at
    note : how ours was measured, and what a reader has to know to compare
    """

    title: str
    claims: tuple[Claim, ...]
    pictures: tuple[Picture, ...] = ()
    files: tuple[Attachment, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Source:
    """A publication, in parts, with the jobs that answer it.

    Attributes
    ----------
    name : by which it is asked for, for example ``szafron``
    citation : authors, title, where and when
    """

    name: str
    citation: str
    jobs: tuple[Job, ...]
    parts: tuple[Part, ...]
