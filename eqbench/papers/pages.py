"""The files of a reproduction: pages in HTML, Markdown, CSV, and the table for a terminal."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from eqbench.errors import UsageError, nearest
from eqbench.papers.verdicts import VERDICTS
from eqbench.report.html.document import (
    Block,
    Cell,
    Picture,
    Prose,
    Section,
    Table,
    anchor_of,
    document,
)
from eqbench.report.markdown import markdown
from eqbench.report.rows import Column, Report, Row
from eqbench.report.rows import Table as TextTable
from eqbench.store.results import load_equilibria
from eqbench.store.run_folder import LINES
from eqbench.text import cell_text

WORDS = {
    "reproduced": "reproduced",
    "differs": "differs",
    "source_error": "error in the source",
    "not_attempted": "not attempted",
}
_SIGNS = {"reproduced": "✓", "differs": "≠", "source_error": "✗ source", "not_attempted": "–"}
_KINDS = {"reproduced": "good", "differs": "bad", "source_error": "fair", "not_attempted": "idle"}
_FEW = 8  # rows of a table that needs no fields to filter them
_MEANING = (
    "Reproduced: what eqbench stored agrees with what is printed, to its last digit unless the "
    "part says otherwise. Differs: it does not, and the line says by how much. Error in the "
    "source: what is printed fails a check that was run, which the line names. Not attempted: "
    "with the reason."
)
_LEGEND = (
    "✓ reproduced, ≠ differs, ✗ error in the source, – not attempted. Where only one figure "
    "stands in a cell, ours is written as theirs. What is not reproduced is listed below."
)

Judged = Mapping[str, Any]  # a paper with its verdicts, as `eqbench.papers.verdicts.judge` gives it


def texts(judged: Sequence[Judged]) -> dict[str, str]:
    """The pages and tables of a reproduction, by the names of their files."""
    return {
        "index.html": index_page(judged),
        **{f"{paper['name']}.html": paper_page(paper) for paper in judged},
        "report.md": markdown(whole_report(judged)),
        "claims.csv": claims_csv(judged),
    }


def _claims(judged: Sequence[Judged]) -> Iterator[tuple[Judged, Judged, Judged]]:
    """Every claim with its paper and its part."""
    for paper in judged:
        for part in paper["parts"]:
            for claim in part["claims"]:
                yield paper, part, claim


def claims_csv(judged: Sequence[Judged]) -> str:
    """All claims as a table in CSV."""
    columns = ("row", "column", "theirs", "ours", "verdict", "detail")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("source", "part", *columns, "jobs"))
    for paper, part, claim in _claims(judged):
        values = [claim[name] for name in columns]
        writer.writerow([paper["name"], part["title"], *values, " ".join(claim["jobs"])])
    return text.getvalue()


def counts_table(judged: Sequence[Judged]) -> TextTable:
    """How many claims of each paper have which verdict, and how many checks they rest on."""
    columns = [Column("source", identifies=True)]
    columns += [Column(WORDS[verdict], "count") for verdict in VERDICTS]
    columns += [Column("claims", "count"), Column("independent checks", "count")]
    rows = [
        Row(
            paper["name"],
            {
                "source": paper["name"],
                **{WORDS[verdict]: count for verdict, count in paper["counts"].items()},
                "claims": sum(paper["counts"].values()),
                "independent checks": paper["checks"],
            },
        )
        for paper in judged
    ]
    return TextTable("", tuple(columns), tuple(rows))


def short_report(judged: Sequence[Judged]) -> Report:
    """How many claims have which verdict, what was not reproduced, and why."""
    lines = []
    for paper, part, claim in _claims(judged):
        if claim["verdict"] in ("differs", "source_error"):
            place = " ".join(filter(None, (claim["row"], claim["column"])))
            lines.append(
                f"{WORDS[claim['verdict']]}: {paper['name']}, {part['title']}, {place}: "
                f"{claim['ours']} instead of {claim['theirs']}; {claim['detail']}"
            )
    reasons = Counter(
        claim["detail"] for _, _, claim in _claims(judged) if claim["verdict"] == "not_attempted"
    )
    lines += [f"not attempted, {count}: {why}" for why, count in reasons.items()]
    return Report((counts_table(judged), TextTable("", lines=tuple(lines))))


def claim_report(judged: Sequence[Judged], name: str) -> Report:
    """One claim: what is printed, what is ours, and where that comes from.

    Raises
    ------
    UsageError
        If there is no claim of that name.
    """
    by_name = {claim["id"]: (paper, part, claim) for paper, part, claim in _claims(judged)}
    if name not in by_name:
        raise UsageError(f"unknown claim {name!r}: {nearest(name, by_name)}")
    paper, part, claim = by_name[name]
    jobs = {job["name"]: job for job in paper["jobs"]}
    lines = [
        " · ".join(filter(None, (part["title"], claim["row"], claim["column"]))),
        f"printed: {claim['theirs']}",
        f"ours: {claim['ours']}",
        f"{WORDS[claim['verdict']]}{': ' * bool(claim['detail'])}{claim['detail']}",
    ]
    if claim["fact"]:
        lines.append(f"fact {claim['fact']}, check {claim['check']}")
    lines += [f"{jobs[job]['run']}: {jobs[job]['command']}" for job in claim["jobs"] if job in jobs]
    return Report((TextTable(f"{name}: {paper['citation']}", lines=tuple(lines)),))


def part_report(judged: Sequence[Judged], title: str) -> Report:
    """The claims of the parts whose titles begin so.

    Raises
    ------
    UsageError
        If there is none.
    """
    parts = [part for paper in judged for part in paper["parts"]]
    found = [part for part in parts if part["title"].lower().startswith(title.lower())]
    if not found:
        raise UsageError(
            f"no part begins with {title!r}: {nearest(title, {part['title'] for part in parts})}"
        )
    return Report(
        tuple(
            _text_table(part["title"], [part["note"]], part["claims"], ("id", *_CLAIM_COLUMNS[:-1]))
            for part in found
        )
    )


def whole_report(judged: Sequence[Judged]) -> Report:
    """Every claim and every job."""
    tables = [replace(counts_table(judged), title="Published results, reproduced")]
    for paper in judged:
        for place, part in enumerate(paper["parts"]):
            said = [paper["citation"]] if place == 0 else []
            said += [part["note"]] if part["note"] else []
            tables.append(_text_table(part["title"], said, part["claims"], _CLAIM_COLUMNS))
        tables.append(_text_table(f"Jobs of {paper['name']}", [], paper["jobs"], _JOB_COLUMNS))
    return Report(tuple(tables))


_CLAIM_COLUMNS = ("row", "column", "theirs", "ours", "verdict", "detail", "jobs")
_JOB_COLUMNS = ("name", "command", "run", "elapsed_s")


def _text_table(
    title: str, said: Sequence[str], items: Sequence[Judged], names: Sequence[str]
) -> TextTable:
    """Items as rows, without the columns in which nothing stands."""
    kept = [name for name in names if any(item[name] for item in items)]
    rows = tuple(Row("", {name: _plain(item[name]) for name in kept}) for item in items)
    return TextTable(title, tuple(map(Column, kept)), rows, lines=tuple(said))


def _plain(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else WORDS.get(str(value), str(value))


def index_page(judged: Sequence[Judged]) -> str:
    """The page with the counts of all sources, as text."""
    heads = [Column("source"), *(Column(WORDS[v], "count") for v in VERDICTS)]
    heads.append(Column("claims", "count"))
    rows = [
        [
            Cell(source["citation"], link=f"{source['name']}.html"),
            *(_count(source["counts"][verdict]) for verdict in VERDICTS),
            _count(sum(source["counts"].values())),
        ]
        for source in judged
    ]
    open_ends = [
        [
            Cell(source["name"], link=f"{source['name']}.html#{anchor_of(part['title'])}"),
            Cell(part["title"]),
            replace(_statement(claim)[0], link=f"{source['name']}.html#{claim['id']}"),
            *_statement(claim)[1:-1],
        ]
        for source in judged
        for part in source["parts"]
        for claim in part["claims"]
        if claim["verdict"] in ("differs", "source_error")
    ]
    sections = [
        Section(
            "Verdicts", (Prose((_MEANING,)), Table("counts", heads, rows, plain=True, wrapped=True))
        )
    ]
    if open_ends:
        names = ("source", "part", "claim", "theirs", "ours", "verdict", "detail")
        heads = [Column(name) for name in names]
        table = Table("differences", heads, open_ends, filters=names[:1], wrapped=True)
        sections.append(Section("What is not as printed", (table,)))
    return document(
        "Published results, reproduced", sections, lead=[_extent(full=judged[0]["full"])]
    )


def paper_page(source: Judged) -> str:
    """The page of one paper, as text."""
    sections = [_section(part, source["name"]) for part in source["parts"]]
    counts = ", ".join(f"{source['counts'][v]} {WORDS[v]}" for v in VERDICTS)
    lead = [source["citation"], f"{counts}. {_extent(full=source['full'])}", _MEANING]
    title = f"Reproduced: {source['name']}"
    return document(title, [*sections, _jobs_section(source["jobs"])], lead=lead)


def _extent(*, full: bool) -> str:
    return (
        "Run in full."
        if full
        else "Run without --full: long jobs were left out, and others were made smaller."
    )


def _count(number: int) -> Cell:
    return Cell(str(number), number)


def _section(part: Judged, source: str) -> Section:
    """A part as a section; a grid where its claims have columns."""
    name, claims = anchor_of(part["title"]), part["claims"]
    blocks: list[Block] = [Prose((_marked(part["note"]),))] if part["note"] else []
    listed = claims
    if any(claim["column"] for claim in claims):
        blocks.append(_grid(f"{name}-grid", claims))
        listed = [claim for claim in claims if claim["verdict"] != "reproduced"]
        jobs = dict.fromkeys(job for claim in claims for job in claim["jobs"])
        if jobs:
            blocks.append(Prose((f"Read from the jobs {', '.join(jobs)}.",), small=True))
    if listed:
        heads = [Column(text) for text in ("claim", "theirs", "ours", "verdict", "detail", "job")]
        rows = [_statement(claim) for claim in listed]
        if listed is claims:  # otherwise the grid has the anchors
            rows = [
                [replace(row[0], anchor=c["id"]), *row[1:]]
                for c, row in zip(claims, rows, strict=True)
            ]
        blocks.append(
            Table(
                f"{name}-claims",
                heads,
                rows,
                filters=("verdict",) if len(rows) > _FEW else (),
                plain=len(rows) <= _FEW,
                wrapped=True,
            )
        )
    blocks += [_picture(picture, f"{name}-{n}") for n, picture in enumerate(part["pictures"])]
    if part["files"]:
        rows = [
            [Cell(file["title"]), Cell(file["file"], link=_path(source, file["job"], file["file"]))]
            for file in part["files"]
        ]
        heads = [Column("data"), Column("file")]
        blocks.append(Table(f"{name}-files", heads, rows, plain=True))
    return Section(part["title"], blocks)


def _marked(text: str) -> Markup:
    """Text with what stands between backticks set as code."""
    words = [escape(word) for word in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(word) if place % 2 else word
        for place, word in enumerate(words)
    )


def _path(source: str, job: str, file: str) -> str:
    return f"jobs/{source}/{job}/{file}"


def _statement(claim: Judged) -> list[Cell]:
    """A claim as a row."""
    verdict, jobs = claim["verdict"], claim["jobs"]
    return [
        Cell(" · ".join(filter(None, (claim["row"], claim["column"]))), link=f"#{claim['id']}"),
        Cell(claim["theirs"]),
        Cell(claim["ours"]),
        Cell(WORDS[verdict], kind=_KINDS[verdict]),
        Cell(claim["detail"] or "–"),
        Cell(", ".join(jobs) or "–", link="#job-list" if jobs else ""),
    ]


def _grid(name: str, claims: Sequence[Judged]) -> Table:
    """Claims laid out as in the source, with both figures in each cell."""
    columns = list(dict.fromkeys(claim["column"] for claim in claims))
    place = {(claim["row"], claim["column"]): claim for claim in claims}
    rows = [
        [Cell(row), *(_grid_cell(place.get((row, column))) for column in columns)]
        for row in dict.fromkeys(claim["row"] for claim in claims)
    ]
    heads = [Column(""), *(Column(column) for column in columns)]
    return Table(name, heads, rows, caption=_LEGEND, plain=True, wrapped=True)


def _grid_cell(claim: Judged | None) -> Cell:
    if claim is None:
        return Cell("·", hint="the source has nothing here")
    verdict, theirs, ours = claim["verdict"], claim["theirs"], claim["ours"]
    figures = theirs if theirs == ours else f"theirs {theirs}\nours {ours}"
    hint = ": ".join(filter(None, (WORDS[verdict], claim["detail"])))
    text, name = f"{_SIGNS[verdict]} {figures}", claim["id"]
    return Cell(text, hint=hint, kind=_KINDS[verdict], link=f"#{name}", anchor=name)


def _picture(picture: Judged, name: str) -> Block:
    if not picture["svg"]:
        return Prose((f"{picture['title']}: no picture, since {picture['missing']}.",))
    read = f" Drawn from {', '.join(picture['jobs'])}." if picture["jobs"] else ""
    return Picture(
        name=name,
        data=picture["svg"].encode(),
        media_type="image/svg+xml",
        alt=picture["title"],
        caption=picture["caption"] + read,
        title=picture["title"],
    )


def _jobs_section(jobs: Sequence[Judged]) -> Section:
    heads = [Column("job"), Column("command"), Column("folder"), Column("time", "count")]
    rows = [
        [
            Cell(job["name"]),
            Cell(job["command"]),
            Cell(job["run"], link=job["run"]),
            Cell(f"{job['elapsed_s']:.1f} s", job["elapsed_s"]),
        ]
        for job in jobs
    ]
    caption = (
        "What was run. Commands are to be typed in a folder of their own; times are wall times, "
        "with start-up."
    )
    return Section("Jobs", (Table("job-list", heads, rows, caption=caption, wrapped=True),))


_PROFILE_COLUMNS = ("source", "job", "game", "solver", "seed", "rank", "claim")
_PROFILE_FIGURES = (
    "nash_conv",
    "max_regret",
    "identity",
    "on_path",
    "strict",
    "distance",
    "profile",
)


def points_csv(places: Mapping[str, Path], folder: Path) -> str:
    """One row for each verified profile of the runs among the jobs, in CSV.

    Payoffs are ``u:P1`` …, paths below `folder`.

    Parameters
    ----------
    places : folder of the jobs of each paper, by its name
    """
    import pandas as pd

    frames = [
        load_equilibria(run.parent).assign(source=name, job=run.parent.name)
        for name, place in places.items()
        for run in sorted(place.glob(f"*/{LINES}"))
    ]
    frames = [frame for frame in frames if len(frame)]
    if not frames:
        return ",".join([*_PROFILE_COLUMNS, *_PROFILE_FIGURES]) + "\n"
    table = pd.concat(frames, ignore_index=True)
    table["profile"] = [
        str(Path(path).relative_to(folder.absolute())) if isinstance(path, str) else None
        for path in table["profile"]
    ]
    table["game"] = table["game"].map(cell_text)
    payoffs = sorted(name for name in table.columns if name.startswith("payoff_P"))
    table = table[[*_PROFILE_COLUMNS, *payoffs, *_PROFILE_FIGURES]]
    renamed = table.rename(columns={name: "u:" + name.removeprefix("payoff_") for name in payoffs})
    text: str = renamed.to_csv(index=False, lineterminator="\n")
    return text
