"""`eqbench report`: stored runs to comparison tables, files and pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from eqbench.cli.options import STATUSES, command
from eqbench.cli.output import (
    print_report,
    put,
    put_page,
    say_next,
    say_note,
    say_notes,
    say_written,
)
from eqbench.errors import UsageError
from eqbench.report.cells import View
from eqbench.report.charts import CHARTS
from eqbench.requests import FOLDER, RUN, STANDARD_OUTPUT, CellFilter, Number, Option, Words

if TYPE_CHECKING:
    from eqbench.store.stored_run import StoredRun

_FORMATS = ("terminal", "md", "csv", "tex", "html", "macros")
USUAL_WIDTH_CM = 17.0


@dataclass(frozen=True, kw_only=True)
class ReportRequest(View, CellFilter):
    """Compare the results of runs, one table per game, and say what came of them.

    RUN is the folder of a run, or `latest` for the one that began last, wherever it is. A run may
    still be going on. Of several runs each table shows all. With --game, --solver or --status it
    is about these cells only.

    With --format macros it is a LaTeX macro for each number, to be used in a text. With --format
    html it is one page with tables and figures that needs no network: report.html
    in the folder of the run, unless --out says where; --out - is standard output. If RUN is a
    folder of runs, such as results, it is an index of them, index.html, and each run that has no
    page yet gets one.
    """

    runs: Annotated[tuple[str, ...], Option("Folders of runs, or `latest`.", RUN, argument=True)]
    formats: Annotated[
        tuple[str, ...],
        Option(
            "One or more of terminal, md, csv, tex, html and macros, separated by commas.",
            Words("FORMATS", "format", _FORMATS),
            "format",
        ),
    ] = ("terminal",)
    out: Annotated[
        str | None,
        Option(
            "Write report.txt, .md, .csv, .tex, .macros.tex and .html into DIR instead; a name "
            "that ends in .html is the file of a page, and - standard output.",
            FOLDER,
        ),
    ] = None
    figures: Annotated[
        tuple[str, ...],
        Option(
            "Write these figures as PDF into the folder of --out, one for each game where a figure "
            f"shows one: {', '.join(CHARTS)}.",
            Words("NAMES", "figure", CHARTS),
        ),
    ] = ()
    width_cm: Annotated[
        float | None,
        Option(
            "Width of the figures, such as that of a column of text.  [default: 17]",
            Number("CM", positive=True),
        ),
    ] = None
    statuses: Annotated[
        tuple[str, ...],
        Option("Only cells that ended like this, for example ok,limit.", STATUSES, "status"),
    ] = ()


@command(ReportRequest)
def report(request: ReportRequest) -> None:
    from eqbench.report.cells import report_on
    from eqbench.report.matrix import check_table
    from eqbench.report.writing import (
        report_text,
        runs_in,
        write_index,
        write_report,
        write_reports,
    )
    from eqbench.store.stored_run import chosen, read_runs

    formats, out, summarize = request.formats, request.out, request.summarize
    if request.width_cm is not None and not request.figures:
        raise UsageError("--width-cm is that of figures; say which, for example --figures regret")
    if request.figures and (out in (None, STANDARD_OUTPUT) or Path(str(out)).suffix == ".html"):
        raise UsageError("figures are files; name a folder for them with --out DIR")
    if not formats:
        raise UsageError(f"no format given; choose of {', '.join(_FORMATS)}")
    if request.columns and (whole := [form for form in formats if form in ("csv", "html")]):
        raise UsageError(
            f"--columns chooses those of printed tables; {' and '.join(whole)} always has all, so "
            "leave it out, or choose another format"
        )
    check_table(request.table, formats)
    if len(formats) > 1 and out in (None, STANDARD_OUTPUT):
        raise UsageError(
            f"{', '.join(formats)} are several formats; name a folder for their files with --out "
            "DIR, or choose one format"
        )
    if (
        formats == ("html",)
        and not request.figures
        and out != STANDARD_OUTPUT
        and (found := runs_in(Path(request.runs[0])))
    ):
        index = Path(out or Path(request.runs[0]) / "index.html")
        say_written(write_index(found, index))
        return
    page = page_file(formats, out, request.runs)
    stored = chosen(read_runs(request.runs), request.games, request.solvers, request.statuses)
    if request.figures:
        say_written(_figures(request, stored, Path(str(out))))
        if formats == ReportRequest.formats:
            return
    if "csv" in formats:  # which has no place for notes
        say_notes(*stored)
    if page is not None:
        text = report_text("html", stored, summarize=summarize, place=page.parent)
        write_report(page, text)
        say_written([page])
    elif out not in (None, STANDARD_OUTPUT):
        place = Path(str(out))
        say_written(write_reports(formats, stored, place, request, summarize=summarize))
    elif formats == ("terminal",):
        print_report(report_on(stored, request, summarize=summarize))
        for run in stored if len(stored) == 1 else ():
            say_next(run.path)
    else:
        text = report_text(formats[0], stored, request, summarize=summarize)
        put_page(text) if formats == ("html",) else put(text, end="")


def _figures(request: ReportRequest, stored: Sequence[StoredRun], place: Path) -> Iterator[Path]:
    """Write the figures and yield their files; say which have nothing to show."""
    from eqbench.api.shown import Chart, switched
    from eqbench.report.charts import chart
    from eqbench.report.writing import game_facts, write_report
    from eqbench.store.run_folder import file_name, numbered

    facts = dict(game_facts(dict.fromkeys(cell.game_spec for run in stored for cell in run.cells)))
    used: set[str] = set()
    for name in request.figures:
        spec = chart(name, stored, facts)
        drawn, data = spec["usermeta"], spec["datasets"]
        rows, cells = data[drawn["rows"]], data.get("cells", [])
        games = dict.fromkeys(row.get("game") or cells[row["cell"]]["game"] for row in rows)
        if not games:
            say_note(f"there is nothing to draw for {name}, so it is not written")
        for game in games if drawn.get("isOfGame") else [*games][:1]:
            own = switched(spec, {"game": game}) if drawn.get("isOfGame") else spec
            stem = f"{name}-{file_name(game)}" if own is not spec and len(games) > 1 else name
            stem = next(each for each in numbered(stem) if each not in used)
            used.add(stem)
            file = place / f"{stem}.pdf"
            write_report(file, Chart(own).to_pdf(request.width_cm or USUAL_WIDTH_CM))
            yield file


def page_file(formats: Sequence[str], out: str | None, runs: Sequence[str]) -> Path | None:
    """File of a page, if that is all that is wanted and it goes to one of its own."""
    from eqbench.store.stored_run import run_folder

    if out is not None and Path(out).suffix == ".html" and not Path(out).is_dir():
        if formats == ("html",):
            return Path(out)
        raise UsageError(
            f"--out {out} is one page, but the formats are {', '.join(formats)}; name a folder, or "
            "give --format html alone"
        )
    if out is not None or formats != ("html",):
        return None
    if len(runs) > 1:
        raise UsageError("a page about several runs belongs to none of them; name it with --out")
    return run_folder(runs[0]) / "report.html"
