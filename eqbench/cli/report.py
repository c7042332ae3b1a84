"""`eqbench report`: stored runs to comparison tables, files and pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eqbench.cli.output import put, put_page, say

if TYPE_CHECKING:
    from eqbench.report.html.facts import GameFacts, PublishedPayoffs, PublishedSet


_SAME = 1e-9  # of payoffs


def page_of(runs: Any, *, summarize: bool) -> str:
    """A page about stored runs."""
    from eqbench.report.html.page import report_page

    specs = dict.fromkeys(cell.game_spec for run in runs for cell in run.cells)
    return report_page(runs, dict(game_facts(specs)), solver_groups(), summarize=summarize)


def solver_groups() -> dict[str, list[str]]:
    """Solvers that a word in a list of solvers stands for, by that word."""
    from eqbench.registry import GROUPS, default_registry

    registry = default_registry()
    return {word: registry.resolve_solvers(word) for word in ("all", *GROUPS)}


def game_facts(specs: Iterable[str]) -> Iterator[tuple[str, GameFacts]]:
    """Canonical specs with payoff scale and published payoffs, of games that eqbench ships.

    Files may have changed since, and what a plugin does is not known, so neither is loaded.
    """
    from eqbench.equilibria import known_sets
    from eqbench.errors import EqbenchError
    from eqbench.registry import default_registry
    from eqbench.report.html.facts import GameFacts
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
        published = [known for each in sets if (known := _published(each)) is not None]
        sources = {each.name: _source(each) for each in sets}  # several pieces may be one set
        yield spec, GameFacts(game.tree.payoff_scale, tuple(published), tuple(sources.values()))


def _source(known: Any) -> PublishedSet:
    """Where a set was published, with the symbols in its name and its members' names."""
    import re

    from eqbench.report.html.facts import PublishedSet
    from eqbench.report.naming import symbol

    layout, texts = known.layout, known.texts
    places = dict(zip(layout.variables, layout.places, strict=True))
    said = {name: f"how often {_words(place)}" for name, place in places.items()}
    found = re.findall(r"[a-z]\w*", known.name.partition(":")[2])
    symbols = {name: said[name] for name in found if name in said}
    if (leading := known.leading) is not None:
        text = texts.figures.get(leading, leading)
        meaning = said.get(texts.readings.get(text, text), text)
        symbols[symbol(leading)] = meaning if text == leading else f"{text}: {meaning}"
    return PublishedSet(known.name, known.source, symbols)


def _words(place: str) -> str:
    player, infoset, action = place.split("|")
    return f"{player} plays {action} at the information set {infoset}"


def _published(known: Any) -> PublishedPayoffs | None:
    """Payoffs of a published set if they are a point, or pass between two players."""
    from eqbench.equilibria.extremes import extremes
    from eqbench.equilibria.known import some_member
    from eqbench.report.html.facts import PublishedPayoffs

    first = [float(payoff) for payoff in known.payoffs_near(some_member(known))]
    ranges = [extremes(known, partial(_payoff, known, p)) for p in range(len(first))]
    low, high = zip(*ranges, strict=True)
    moving = [p for p in range(len(first)) if high[p] - low[p] > _SAME]
    if not moving:
        return PublishedPayoffs(known.name, (tuple(first),))
    if len(moving) != 2:
        return None
    gains, loses = moving
    ends = ({gains: low[gains], loses: high[loses]}, {gains: high[gains], loses: low[loses]})
    if abs(sum(ends[0].values()) - sum(ends[1].values())) > _SAME:
        return None
    return PublishedPayoffs(
        known.name, tuple(tuple(end.get(p, first[p]) for p in range(len(first))) for end in ends)
    )


def _payoff(known: Any, player: int, parameters: Any) -> float:
    return float(known.payoffs_near(parameters)[player])


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
    from eqbench.store.stored_run import read_run

    wanted = _formats(formats, several=out is not None)
    page = page_file(wanted, out, runs)
    folders = {folder.resolve(): folder for folder in map(run_folder, runs)}
    stored = [read_run(folder) for folder in folders.values()]
    if "csv" in wanted:  # which has no place for notes
        say_notes(*stored)
    tables = report_on(stored, summarize=summarize)
    if page is not None:
        _write(page, _text("html", tables, stored, summarize=summarize))
        say(f"wrote {page}")
    elif out is not None:
        for file in write_reports(wanted, stored, Path(out), summarize=summarize):
            say(f"wrote {file}")
    elif wanted == ["terminal"]:
        print_formatted(lambda console: print_report(tables, console))
    else:
        text = _text(wanted[0], tables, stored, summarize=summarize)
        put_page(text) if wanted == ["html"] else put(text, end="")


def write_reports(
    formats: Sequence[str], stored: Sequence[Any], place: Path, *, summarize: bool = False
) -> Iterator[Path]:
    """Write reports on runs in several formats into a folder and yield the files."""
    from eqbench.report.exports import report_on

    tables = report_on(stored, summarize=summarize)
    for name in formats:
        file = place / f"report.{_SUFFIXES[name]}"
        _write(file, _text(name, tables, stored, summarize=summarize))
        yield file


def run_folder(text: str) -> Path:
    """Folder that an argument RUN names.

    Raises
    ------
    UsageError
        If it is `latest` and there is no run yet.
    """
    from eqbench.store.stored_run import newest_run

    path = Path(text)
    return newest_run(Path("results")) if text == "latest" and not path.exists() else path


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
    return run_folder(runs[0]) / "report.html"


def _text(name: str, tables: Any, stored: Any, *, summarize: bool) -> str:
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
