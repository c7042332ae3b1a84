"""`eqbench report`: stored runs to comparison tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from eqbench.cli.output import put, put_page, say

_SUFFIXES = {"terminal": "txt", "md": "md", "csv": "csv", "tex": "tex", "html": "html"}


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--format",
    "formats",
    default="terminal",
    show_default=True,
    metavar="FORMATS",
    help="One or more of terminal, md, csv, tex and html, separated by commas.",
)
@click.option(
    "--out",
    default=None,
    type=click.Path(),
    metavar="DIR",
    help="Write report.txt, .md, .csv, .tex and .html into DIR instead of printing; a name that "
    "ends in .html is the file of a page.",
)
@click.option(
    "--summary",
    "summarize",
    is_flag=True,
    help="One row per game and solver over all seeds: best, median and worst max regret, times.",
)
def report(runs: tuple[str, ...], formats: str, out: str | None, *, summarize: bool) -> None:
    """Compare the results of runs, one table per game.

    RUN is the folder of a run, or `latest` for the newest one in results. A run may still be
    going on. Of several runs each table shows all.

    With --format html it is one page with tables and figures that needs no network. Unless it is
    redirected or --out is given, it becomes report.html in the folder of the run.
    """
    from eqbench.cli.output import print_formatted, say_notes
    from eqbench.report.exports import report_on
    from eqbench.report.terminal import print_report
    from eqbench.store.stored_run import read_runs

    wanted = _formats(formats, several=out is not None)
    page = page_file(wanted, out, runs)
    stored = read_runs(runs)
    if "csv" in wanted:  # which has no place for notes
        say_notes(*stored)
    tables = report_on(stored, summarize=summarize)
    if page is not None:
        _write(page, _text("html", tables, stored, summarize=summarize))
    elif out is not None:
        for name in wanted:
            file = Path(out) / f"report.{_SUFFIXES[name]}"
            _write(file, _text(name, tables, stored, summarize=summarize))
    elif wanted == ["terminal"]:
        print_formatted(lambda console: print_report(tables, console))
    else:
        text = _text(wanted[0], tables, stored, summarize=summarize)
        put_page(text) if wanted == ["html"] else put(text, end="")


def _formats(text: str, *, several: bool) -> list[str]:
    from eqbench.errors import UsageError, nearest

    names = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in _SUFFIXES:
            raise UsageError(f"unknown format {name!r}: {nearest(name, _SUFFIXES)}")
    if not names:
        raise UsageError(f"no format given; choose of {', '.join(_SUFFIXES)}")
    if len(names) > 1 and not several:
        raise UsageError(
            f"{', '.join(names)} are several formats; name a folder for their files with --out "
            "DIR, or choose one format"
        )
    return names


def page_file(wanted: list[str], out: str | None, runs: Sequence[str]) -> Path | None:
    """File of a page, if that is all that is wanted and it goes to one of its own.

    Raises
    ------
    UsageError
        If other formats are wanted in that file, or nobody said where a page about several runs
        goes.
    """
    import sys

    from eqbench.errors import UsageError

    if out is not None and Path(out).suffix == ".html" and not Path(out).is_dir():
        if wanted == ["html"]:
            return Path(out)
        raise UsageError(
            f"--out {out} is one page, but the formats are {', '.join(wanted)}; name a folder, or "
            "give --format html alone"
        )
    if out is not None or wanted != ["html"] or not sys.stdout.isatty():
        return None
    if len(runs) > 1:
        raise UsageError("a page about several runs belongs to none of them; name it with --out")
    from eqbench.store.stored_run import run_folder

    return run_folder(runs[0]) / "report.html"


def _text(name: str, tables: Any, stored: Any, *, summarize: bool) -> str:
    from eqbench.cli.report_page import page_of
    from eqbench.report.exports import results_csv, summary_csv
    from eqbench.report.latex import latex
    from eqbench.report.markdown import markdown
    from eqbench.report.terminal import plain_text, print_report

    texts: dict[str, Callable[[], str]] = {
        "terminal": lambda: plain_text(lambda console: print_report(tables, console)),
        "md": lambda: markdown(tables),
        "csv": lambda: (summary_csv if summarize else results_csv)(stored),
        "tex": lambda: latex(tables),
        "html": lambda: page_of(stored, summarize=summarize),
    }
    return texts[name]()


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        from eqbench.errors import UsageError

        raise UsageError(
            f"cannot write {file}: {error.strerror}; choose another place with --out"
        ) from None
    say(f"wrote {file}")
