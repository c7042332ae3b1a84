"""`eqbench report`: stored runs to comparison tables, files and pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from eqbench.cli.options import command
from eqbench.cli.output import print_report, put, put_page, say, say_notes, write_text
from eqbench.errors import UsageError
from eqbench.requests import FLAG, File, Option, Words

if TYPE_CHECKING:
    from eqbench.report.html.facts import GameFacts
    from eqbench.store.stored_run import StoredRun

_SUFFIXES = {"terminal": "txt", "md": "md", "csv": "csv", "tex": "tex", "html": "html"}


@dataclass(frozen=True)
class ReportRequest:
    """Compare the results of runs, one table per game.

    RUN is the folder of a run, or `latest` for the newest one in results. A run may still be
    going on. Of several runs each table shows all.

    With --format html it is one page with tables and figures that needs no network. Unless it is
    redirected or --out is given, it becomes report.html in the folder of the run.
    """

    runs: Annotated[
        tuple[str, ...], Option("Folders of runs, or `latest`.", File("RUN"), argument=True)
    ]
    formats: Annotated[
        tuple[str, ...],
        Option(
            "One or more of terminal, md, csv, tex and html, separated by commas.",
            Words("FORMATS", "format", tuple(_SUFFIXES)),
            "format",
        ),
    ] = ("terminal",)
    out: Annotated[
        str | None,
        Option(
            "Write report.txt, .md, .csv, .tex and .html into DIR instead of printing; a name "
            "that ends in .html is the file of a page.",
            File("DIR"),
        ),
    ] = None
    summary: Annotated[
        bool,
        Option(
            "One row per game and solver over all seeds: best, median and worst max regret, times.",
            FLAG,
        ),
    ] = False


@command(ReportRequest)
def report(request: ReportRequest) -> None:
    from eqbench.report.exports import report_on
    from eqbench.store.stored_run import read_runs

    formats, out, summarize = request.formats, request.out, request.summary
    if not formats:
        raise UsageError(f"no format given; choose of {', '.join(_SUFFIXES)}")
    if len(formats) > 1 and out is None:
        raise UsageError(
            f"{', '.join(formats)} are several formats; name a folder for their files with --out "
            "DIR, or choose one format"
        )
    page = page_file(formats, out, request.runs)
    stored = read_runs(request.runs)
    if "csv" in formats:  # which has no place for notes
        say_notes(*stored)
    if page is not None:
        _write(page, _text("html", stored, summarize=summarize))
        say(f"wrote {page}")
    elif out is not None:
        for file in write_reports(formats, stored, Path(out), summarize=summarize):
            say(f"wrote {file}")
    elif formats == ("terminal",):
        print_report(report_on(stored, summarize=summarize))
    else:
        text = _text(formats[0], stored, summarize=summarize)
        put_page(text) if formats == ("html",) else put(text, end="")


def write_reports(
    formats: Sequence[str], stored: Sequence[StoredRun], place: Path, *, summarize: bool = False
) -> Iterator[Path]:
    """Write reports on runs in several formats into a folder and yield the files."""
    for name in formats:
        file = place / f"report.{_SUFFIXES[name]}"
        _write(file, _text(name, stored, summarize=summarize))
        yield file


def page_file(formats: Sequence[str], out: str | None, runs: Sequence[str]) -> Path | None:
    """File of a page, if that is all that is wanted and it goes to one of its own.

    Raises
    ------
    UsageError
        If other formats are wanted in that file, or nobody said where a page about several runs
        goes.
    """
    import sys

    from eqbench.store.stored_run import run_folder

    if out is not None and Path(out).suffix == ".html" and not Path(out).is_dir():
        if formats == ("html",):
            return Path(out)
        raise UsageError(
            f"--out {out} is one page, but the formats are {', '.join(formats)}; name a folder, or "
            "give --format html alone"
        )
    if out is not None or formats != ("html",) or not sys.stdout.isatty():
        return None
    if len(runs) > 1:
        raise UsageError("a page about several runs belongs to none of them; name it with --out")
    return run_folder(runs[0]) / "report.html"


def _text(name: str, stored: Sequence[StoredRun], *, summarize: bool) -> str:
    """Report on runs in a format."""
    from eqbench.report.exports import report_on, results_csv, summary_csv
    from eqbench.report.latex import latex
    from eqbench.report.markdown import markdown
    from eqbench.report.terminal import plain_text
    from eqbench.report.terminal import print_report as print_to

    if name == "csv":
        return summary_csv(stored) if summarize else results_csv(stored)
    if name == "html":
        return page_of(stored, summarize=summarize)
    tables = report_on(stored, summarize=summarize)
    if name == "terminal":
        return plain_text(lambda console: print_to(tables, console))
    return markdown(tables) if name == "md" else latex(tables)


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot write {file}: {error.strerror}; choose another place with --out"
        ) from None
    write_text(file, text)


def page_of(runs: Sequence[StoredRun], *, summarize: bool) -> str:
    """Page about stored runs."""
    from eqbench.registry import GROUPS, default_registry
    from eqbench.report.html.page import report_page

    registry = default_registry()
    groups = {word: registry.resolve_solvers(word) for word in ("all", *GROUPS)}
    specs = dict.fromkeys(cell.game_spec for run in runs for cell in run.cells)
    return report_page(runs, dict(game_facts(specs)), groups, summarize=summarize)


def game_facts(specs: Iterable[str]) -> Iterator[tuple[str, GameFacts]]:
    """Canonical specs with payoff scale and published payoffs, of games that eqbench ships.

    Files may have changed since, and what a plugin does is not known, so neither is loaded.
    """
    from eqbench.equilibria import known_sets
    from eqbench.equilibria.catalog import meanings
    from eqbench.equilibria.extremes import payoff_ends
    from eqbench.errors import EqbenchError
    from eqbench.registry import default_registry
    from eqbench.report.html.facts import GameFacts, PublishedPayoffs, PublishedSet
    from eqbench.report.naming import symbol
    from eqbench.spec import is_foreign

    registry = default_registry()
    for spec in specs:
        try:
            if is_foreign(spec) or not registry.game_entry(spec).builtin:
                continue
            game = registry.load_game(spec)
        except EqbenchError:  # another version ran it
            continue
        sets = known_sets(game)
        payoffs = [
            PublishedPayoffs(known.name, ends) for known in sets if (ends := payoff_ends(known))
        ]
        sources = {}  # several pieces may be one set
        for known in sets:
            symbols = {symbol(name): meaning for name, meaning in meanings(known).items()}
            sources[known.name] = PublishedSet(known.name, known.source, symbols)
        yield spec, GameFacts(game.tree.payoff_scale, tuple(payoffs), tuple(sources.values()))
