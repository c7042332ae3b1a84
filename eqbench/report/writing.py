"""Reports on runs as texts and files, in every format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import chdir, suppress
from dataclasses import replace
from pathlib import Path

from eqbench.documents import open_file, read_file, remove_files
from eqbench.equilibria import known_sets
from eqbench.equilibria.formulas import set_data, tree_data
from eqbench.equilibria.known import meanings, payoff_ends
from eqbench.errors import EqbenchError, UsageError, counted, first_of
from eqbench.registry import default_registry
from eqbench.report.answer import MOST_GAMES
from eqbench.report.cells import (
    DEFAULT,
    FEW_CELLS,
    MOST_CELLS,
    View,
    report_on,
    results_csv,
    summary_csv,
)
from eqbench.report.charts import GameFacts
from eqbench.report.formats import latex, macros, markdown
from eqbench.report.html.page import index_page, report_page
from eqbench.report.known import small_game
from eqbench.report.matrix import check_table, matrix, matrix_csv
from eqbench.report.naming import symbol
from eqbench.report.terminal import plain_text, print_report
from eqbench.report.trials import entries_of, first_trials, titled
from eqbench.spec import GAME_FILES, is_foreign
from eqbench.store.json_lines import LineReader
from eqbench.store.kept_runs import contents, packed
from eqbench.store.run_folder import (
    INTERRUPTED,
    LINES,
    MANIFEST,
    MARKDOWN_END,
    PAGE_MARK,
    PARTS,
    TEXT_END,
    check_replaceable,
    file_name,
    numbered,
    write_file,
)
from eqbench.store.stored_run import StoredRun, is_run, read_run

BOARD = "challenge.html"  # the leaderboard of the challenge, next to an index
SUFFIXES = {"terminal": "txt", "md": "md", "csv": "csv", "tex": "tex", "html": "html"}
SUFFIXES["macros"] = "macros.tex"


def write_reports(
    formats: Sequence[str],
    stored: Sequence[StoredRun],
    place: Path,
    view: View = DEFAULT,
    *,
    summarize: bool | None = None,
) -> Iterator[Path]:
    """Write reports on runs in several formats into a folder and yield the files."""
    for name in formats:
        file = place / f"report.{SUFFIXES[name]}"
        write_report(file, report_text(name, stored, view, summarize=summarize, place=place))
        yield file


def runs_in(folder: Path) -> list[StoredRun]:
    """Runs below a folder that is none itself, the newest first; other folders are passed over."""
    found = []
    for manifest in [] if (folder / MANIFEST).exists() else folder.glob(f"*/{MANIFEST}"):
        with suppress(UsageError):  # a study, or of another version
            found.append(read_run(manifest.parent))
    return sorted(found, key=lambda run: str(run.plan.get("created", "")), reverse=True)


def write_index(runs: Sequence[StoredRun], file: Path) -> Iterator[Path]:
    """Write the pages of runs that have none or an old one, and an index; yield the files."""
    links = {}
    for run in runs:
        page = run.path / "report.html"
        stored = (each for each in map(run.path.joinpath, (LINES, INTERRUPTED)) if each.exists())
        changed = max((each.stat().st_mtime for each in stored), default=0.0)
        if not page.exists() or page.stat().st_mtime < changed:
            write_report(page, page_of([run], place=run.path))
            yield page
        link = Path(os.path.relpath(page, file.parent)).as_posix()
        links[f"./{link}"] = run  # the name may hold a colon
    write_report(file, index_page(links, board=BOARD * file.with_name(BOARD).is_file()))
    yield file


def publish(
    folder: Path,
    runs: Iterable[Path],
    *,
    replace: bool = False,
    tell: Callable[[str], None] = lambda words: None,
    board: str = "",
) -> Path:
    """Copy runs with pages of their own into a folder for web servers; return the index of all.

    A run that is there is replaced file by file, another of its name gets a number. What eqbench
    did not write is neither copied nor removed, and named to `tell`.

    Parameters
    ----------
    replace : whether cells that were published before may be lost
    board : page of a leaderboard to be put next to the index

    Raises
    ------
    UsageError
        If the folder was not published into before and is not empty, holds anything else, but for
        names that begin with a dot, or cannot be written; or if a run lacks cells of what it is to
        replace.
    """
    index = folder / "index.html"
    own = (index, folder / BOARD)
    others = [each.name for each in folder.glob("[!.]*") if each not in own and not is_run(each)]
    if not index.exists() or PAGE_MARK not in read_file(index):  # it was not published into
        others = [each.name for each in folder.glob("[!.]*")]
    if others:
        raise UsageError(f"{folder} also holds {first_of(others)}; choose a new folder")
    # was published before, or put there
    wanted = [run for run in runs if run.resolve().parent != folder.resolve()]
    for run in wanted:
        _check_loss(run, folder / _name_in(folder, run), replace=replace)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not index.exists():
            write_report(index, index_page({}))  # says that the folder is published into
        if board:
            write_report(folder / BOARD, board)
        for run in wanted:
            _check_loss(run, place := folder / _name_in(folder, run), replace=replace)
            _publish(run, place, tell)
        with chdir(folder):
            list(write_index(runs_in(Path()), Path("index.html")))
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}; choose another place") from None
    return index


def _check_loss(run: Path, place: Path, *, replace: bool) -> None:
    """Refuse to replace a run by one that lacks lines of it, or to write through links."""
    if links := [each for each in (place, *map(place.joinpath, PARTS)) if each.is_symlink()]:
        raise UsageError(f"{links[0]} is a link to another place; remove the link")
    of_run, of_place = (
        {line for name in (LINES, INTERRUPTED) for line in LineReader(each / name, bytes).new()}
        for each in (run, place)
    )
    lost = of_place - of_run
    if lost and not replace:
        raise UsageError(
            f"{run} lacks {counted(len(lost), 'cell')} of {place}, which it would replace; merge "
            "both (eqbench merge) and publish that, or give --replace to lose them"
        )


def _publish(run: Path, place: Path, tell: Callable[[str], None]) -> None:
    """Copy a run and write its page; files that only what it replaces named are removed."""
    before, kept = contents(place) if is_run(place) else ([], [])
    place.mkdir(exist_ok=True)
    copied = {"report.html"}
    for name in packed(run):
        (place / name).parent.mkdir(exist_ok=True)
        with open_file(run / name) as file:
            write_file(place / name, file)
        copied.add(name)
    remove_files(place, set(before) - copied)
    with chdir(place.parent):  # so that the page names no folder outside
        own = Path(place.name)
        write_report(own / "report.html", page_of([read_run(own)], place=own))
    for at, names, ends in ((run, contents(run)[1], "is not published"), (place, kept, "stays")):
        if names:
            tell(f"{at} also holds {first_of(names)}, which {ends}")


def _name_in(folder: Path, run: Path) -> Path:
    """Name for a run in a folder: its own, with a number where that of another run is there."""
    name, manifest = file_name(run.resolve().name), read_file(run / MANIFEST)
    places = ((each, folder / each / MANIFEST) for each in numbered(name))
    return Path(next(n for n, file in places if not file.exists() or read_file(file) == manifest))


def write_report(file: Path, text: str | bytes) -> None:
    """Write a report or figure into a file, whose folder may be new; UsageError if it cannot be
    written, or something is there that eqbench did not write.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        check_replaceable(file)
        end = TEXT_END if file.suffix == ".txt" else ""
        write_file(file, text if isinstance(text, bytes) else f"{text}{end}".encode())
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}; choose another place") from None


def report_text(
    name: str,
    stored: Sequence[StoredRun],
    view: View = DEFAULT,
    *,
    summarize: bool | None,
    place: Path | None = None,
) -> str:
    """Report on runs as text in a format, for a file in the folder `place`.

    With `summarize` None a game with very many cells of several seeds has medians, where people
    read along also one with many; CSV has all cells. LaTeX begins with a matrix of many games.
    """
    check_table(view.table, [name])
    if name == "csv" and view.is_matrix:
        return matrix_csv(report_on(stored, view).tables[0], str(view.table))
    if name == "csv":
        return summary_csv(stored) if summarize else results_csv(stored)
    if name == "html":
        return page_of(stored, summarize=summarize, place=place)
    few = FEW_CELLS if name == "terminal" else MOST_CELLS
    tables = report_on(stored, view, summarize=summarize, few=few)
    if name == "terminal":
        return plain_text(lambda console: print_report(tables, console, answer_first=True))
    if name == "md":
        return f"{markdown(tables)}\n{MARKDOWN_END}"
    entries = entries_of(stored)
    if name == "tex" and not view.is_matrix and len(titled(entries)) > MOST_GAMES:
        tables = replace(tables, tables=(matrix(stored, entries), *tables.tables))
    return {"tex": latex, "macros": macros}[name](tables)


def page_of(
    runs: Sequence[StoredRun], *, summarize: bool | None = None, place: Path | None = None
) -> str:
    """Page about stored runs, for a file in the folder `place`."""
    cells = entries_of(runs)  # games that are not shown need not be built
    shown = cells if summarize is False else first_trials(cells, MOST_CELLS)
    contents = {entry.record.game_spec: entry.record.game_content for entry in shown}
    known = dict(game_facts(contents)) | {
        spec: GameFacts(game=game)
        for spec, content in contents.items()
        if spec.lower().endswith(GAME_FILES) and (game := small_game(spec, content, runs))
    }
    for spec, own in known.items():
        if (game := own.game) and (sets := known_sets(game)):
            published = [set_data(game, each) for each in sets]
            known[spec] = replace(own, published=published, nodes=tree_data(game.tree))
    return report_page(runs, known, summarize=summarize, place=place)


def game_facts(specs: Iterable[str]) -> Iterator[tuple[str, GameFacts]]:
    """Canonical specs with payoff scale and published sets, of games that eqbench ships.

    Files may have changed since, and what a plugin does is not known, so neither is loaded.
    """
    registry = default_registry()
    for spec in specs:
        try:
            if is_foreign(spec) or not registry.game_entry(spec).builtin:
                continue
            game = registry.load_game(spec)
        except EqbenchError:  # another version ran it
            continue
        sources: dict[str, list[str]] = {}
        for known in known_sets(game):
            signs = [
                f"{symbol(name)} is {meaning}" for name, meaning in meanings(known, game).items()
            ]
            for text in (known.source, *signs):
                sources.setdefault(text, []).append(known.name)
        ends = {known.name: payoff_ends(known) or () for known in known_sets(game)}
        yield spec, GameFacts(game.tree.payoff_scale, sources, ends, game.wording, game)
