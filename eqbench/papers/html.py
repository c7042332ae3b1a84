"""The pages of a reproduction in HTML: one for each source, and one that leads to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from eqbench.papers.claims import VERDICTS
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
from eqbench.report.rows import Column

WORDS = {
    "reproduced": "reproduced",
    "differs": "differs",
    "source_error": "error in the source",
    "not_attempted": "not attempted",
}
_SIGNS = {"reproduced": "✓", "differs": "≠", "source_error": "✗ source", "not_attempted": "–"}
_KINDS = {"reproduced": "good", "differs": "bad", "source_error": "fair", "not_attempted": "idle"}
# tables up to this size need no fields to filter them
_FEW = 8
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


def index_page(judged: Sequence[Mapping[str, Any]], *, full: bool) -> str:
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
            *_statement(claim)[:-1],
        ]
        for source in judged
        for part in source["parts"]
        for claim in part["claims"]
        if claim["verdict"] in ("differs", "source_error")
    ]
    sections = [Section("Verdicts", (Prose((_MEANING,)), Table("counts", heads, rows, plain=True)))]
    if open_ends:
        names = ("source", "part", "claim", "theirs", "ours", "verdict", "detail")
        table = Table("differences", [Column(name) for name in names], open_ends, filters=names[:1])
        sections.append(Section("What is not as printed", (table,)))
    return document("Published results, reproduced", sections, lead=[_extent(full=full)])


def source_page(source: Mapping[str, Any]) -> str:
    """The page of one source, as text."""
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


def _section(part: Mapping[str, Any], source: str) -> Section:
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


def _statement(claim: Mapping[str, Any]) -> list[Cell]:
    """A claim as a row."""
    verdict, jobs = claim["verdict"], claim["jobs"]
    return [
        Cell(" · ".join(filter(None, (claim["row"], claim["column"])))),
        Cell(claim["theirs"]),
        Cell(claim["ours"]),
        Cell(WORDS[verdict], kind=_KINDS[verdict]),
        Cell(claim["detail"] or "–"),
        Cell(", ".join(jobs) or "–", link="#job-list" if jobs else ""),
    ]


def _grid(name: str, claims: Sequence[Mapping[str, Any]]) -> Table:
    """Claims laid out as in the source, with both figures in each cell."""
    columns = list(dict.fromkeys(claim["column"] for claim in claims))
    place = {(claim["row"], claim["column"]): claim for claim in claims}
    rows = [
        [Cell(row), *(_grid_cell(place.get((row, column))) for column in columns)]
        for row in dict.fromkeys(claim["row"] for claim in claims)
    ]
    heads = [Column(""), *(Column(column) for column in columns)]
    return Table(name, heads, rows, caption=_LEGEND, plain=True, wrapped=True)


def _grid_cell(claim: Mapping[str, Any] | None) -> Cell:
    if claim is None:
        return Cell("·", hint="the source has nothing here")
    verdict, theirs, ours = claim["verdict"], claim["theirs"], claim["ours"]
    figures = theirs if theirs == ours else f"theirs {theirs}\nours {ours}"
    hint = ": ".join(filter(None, (WORDS[verdict], claim["detail"])))
    return Cell(f"{_SIGNS[verdict]} {figures}", hint=hint, kind=_KINDS[verdict])


def _picture(picture: Mapping[str, Any], name: str) -> Block:
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


def _jobs_section(jobs: Sequence[Mapping[str, Any]]) -> Section:
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
