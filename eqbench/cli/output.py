"""What commands print: every text passes here, on its way to a standard stream.

Of a text only line breaks and what is printable gets out. Data goes to standard output, where
failing to write ends the command; messages go to standard error, which may fail. A quiet
command prints nothing but errors and the next step.
"""

from __future__ import annotations

import codecs
import io
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TextIO

import click

from eqbench.errors import UsageError
from eqbench.text import printable_lines, shortened

if TYPE_CHECKING:
    from eqbench.report.rows import Report
    from eqbench.store.run_folder import RunFolder
    from eqbench.store.stored_run import StoredRun

CLOSED_PIPE = 141  # as a shell reports the signal SIGPIPE
MOST_OF_A_MESSAGE = 2_000  # characters; messages may list what is known
_NARROW = {
    **{"–": "-", "…": "...", "\u00a0": " ", "µ": "u", "×": "x", "≈": "~", "→": "->"},
    **{"≤": "<=", "≥": ">=", "α": "alpha", "β": "beta", "λ": "lambda"},
}
_READABLE = "eqbench.readable"

messages = SimpleNamespace(quiet=False)  # whether this command prints nothing but results


def put(text: str, *, end: str = "\n") -> None:
    """Print data to standard output; end the command if its reader has gone."""
    try:
        sys.stdout.write(printable_lines(text) + end)
        sys.stdout.flush()
    except BrokenPipeError:
        give_up_output()
        raise click.exceptions.Exit(CLOSED_PIPE) from None


def put_json(document: Any) -> None:
    """Print a document to standard output, in ASCII."""
    import json

    put(json.dumps(document, indent=2, allow_nan=False))


def put_page(text: str) -> None:
    """Print HTML or SVG, which says itself that it is UTF-8, to standard output.

    Elsewhere characters become references, which hold in every encoding.
    """
    if codecs.lookup(sys.stdout.encoding).name != "utf-8":
        text = text.encode("ascii", "xmlcharrefreplace").decode()
    put(text, end="")


def say(text: str) -> None:
    """Print a message for people to standard error, unless the command is to be quiet."""
    if not messages.quiet:
        say_always(text)


def say_always(text: str, stream: TextIO | None = None) -> None:
    """Print a message to standard error, or to a stream that stands for it."""
    stream = stream or sys.stderr
    with suppress(OSError):
        stream.write(f"{shortened(printable_lines(text), MOST_OF_A_MESSAGE)}\n")
        stream.flush()


def say_written(files: Iterable[Path]) -> None:
    """Say which files were written, and if pages are among them what these had to leave out."""
    pages = False
    for file in files:
        say(f"wrote {file}")
        pages |= file.suffix == ".html"
    if pages:
        from eqbench.report.html.document import what_charts_lack

        if lack := what_charts_lack():
            say_note(lack)


@contextmanager
def error_stream() -> Iterator[TextIO]:
    """Standard error as it is now, whatever is silenced there later, as native code may be."""
    try:
        raw = _Tolerant(os.dup(sys.stderr.fileno()), "w")
    except (OSError, ValueError):  # it has no descriptor
        yield sys.stderr
        return
    buffer = io.BufferedWriter(raw)
    with io.TextIOWrapper(buffer, sys.stderr.encoding, _READABLE, line_buffering=True) as stream:
        yield stream


def say_notes(*runs: StoredRun | RunFolder) -> None:
    """Say on standard error what is damaged in the folders of runs."""
    for note in dict.fromkeys(note for run in runs for note in run.notes):
        say_note(note)


def say_next(run: Path) -> None:
    """Say which commands show more of a run."""
    folder = shlex.quote(str(run))
    say(f"next: eqbench show {folder} CELL, eqbench report {folder} --format html")


def say_note(text: str) -> None:
    """Print on standard error what may change how results are read."""
    say(f"note: {text}")


def put_result(
    document: Mapping[str, Any], report: Callable[[], Report], *, as_json: bool, form: str = ""
) -> None:
    """Print what a command found: its document as JSON, or its tables (`md`: in Markdown)."""
    if as_json:
        put_json(document)
    elif form == "md":
        from eqbench.report.formats import markdown

        put(markdown(report()), end="")
    else:
        print_report(report())


def print_report(report: Report) -> None:
    """Print the tables of a report, as wide as the terminal.

    Elsewhere they are as wide as COLUMNS says, or 150 columns, and without colors.
    """
    from eqbench.report import terminal

    console = terminal.Screen()
    if console.is_terminal:
        terminal.print_report(report, console)
    else:
        width = console.width if "COLUMNS" in os.environ else terminal.TEXT_WIDTH
        text = terminal.plain_text(lambda plain: terminal.print_report(report, plain), width)
        put(text, end="")


def write_text(file: Path, text: str, *, new: bool = False) -> None:
    """Write a file that was named on the command line; if `new`, UsageError if it is there."""
    from eqbench.store.run_folder import check_replaceable

    try:
        if not new:
            check_replaceable(file)
        with file.open("x" if new else "w", encoding="utf-8", newline="") as place:
            place.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}; choose another file") from None


def open_streams() -> None:
    """Make the standard streams of the process fit for any text, whatever they lead to.

    A stream that is closed is empty or takes everything. What an encoding lacks is replaced by
    something that can be read. What standard error does not take is lost and no error: it must
    not change what comes of a command.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # the lowest number that is free is opened, which is this one
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    codecs.register_error(_READABLE, _readable)
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_READABLE)
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        encoding = "utf-8" if sys.stderr is None else sys.stderr.encoding
        raw = io.BufferedWriter(_Tolerant(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(raw, encoding, _READABLE, line_buffering=True)


def give_up_output() -> None:
    """Drop what standard output did not take; the interpreter would try again as it ends."""
    with suppress(OSError, ValueError):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


class _Tolerant(io.FileIO):
    """A file to which writing never fails."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def _readable(error: UnicodeError) -> tuple[str, int]:
    """Stand-in for a character that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    char = error.object[error.start]
    escape = char.encode("unicode_escape", "surrogatepass").decode()
    return _NARROW.get(char, escape), error.start + 1
