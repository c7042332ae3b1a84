"""The files of a reproduction: pages in HTML, Markdown, CSV, and the table for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from eqbench.errors import UsageError, nearest
from eqbench.papers.verdicts import VERDICTS
from eqbench.report.formats import markdown
from eqbench.report.html import document as html
from eqbench.report.rows import Cell, Column, Report, Row, Table
from eqbench.store.results import load_equilibria
from eqbench.store.run_folder import LINES
from eqbench.studies.frame import legend
from eqbench.text import cell_text

_WORDS = {verdict: verdict.replace("_", " ") for verdict in VERDICTS} | {
    "source_error": "error in the source"
}
_SIGNS = {"reproduced": "✓", "differs": "≠", "source_error": "✗ source", "not_attempted": "–"}
_KINDS = {"reproduced": "good", "differs": "bad", "source_error": "fair", "not_attempted": "idle"}
_NOT_AS_PRINTED = ("differs", "source_error")
_CLAIM_COLUMNS = ("row", "column", "theirs", "ours", "verdict", "detail", "jobs")
_JOB_COLUMNS = ("name", "command", "run", "elapsed_s")
_HEADS = ("claim", "theirs", "ours", "verdict", "detail", "job")  # of claims as a list
_FEW = 8  # rows of a table that needs no fields to filter them

Judged = Mapping[str, Any]  # a paper with its verdicts, as `eqbench.papers.verdicts.judge` gives it


def texts(judged: Sequence[Judged]) -> dict[str, str]:
    """The pages and tables of a reproduction, by the names of their files."""
    return {
        "index.html": index_page(judged),
        **{f"{paper['name']}.html": paper_page(paper) for paper in judged},
        "report.md": markdown(whole_report(judged)),
        "claims.csv": claims_csv(judged),
    }


def _claims(
    judged: Sequence[Judged], verdicts: Sequence[str] = VERDICTS
) -> Iterator[tuple[Judged, Judged, Judged]]:
    """Every claim with one of these verdicts, after its paper and its part."""
    for paper in judged:
        for part in paper["parts"]:
            for claim in part["claims"]:
                if claim["verdict"] in verdicts:
                    yield paper, part, claim


def _place(*names: str) -> str:
    return " · ".join(filter(None, names))


def claims_csv(judged: Sequence[Judged]) -> str:
    """All claims as a table in CSV."""
    import pandas as pd

    rows = [
        {"source": paper["name"], "part": part["title"], **claim, "jobs": " ".join(claim["jobs"])}
        for paper, part, claim in _claims(judged)
    ]
    table = pd.DataFrame(rows, columns=["source", "part", *_CLAIM_COLUMNS])
    return table.to_csv(index=False, lineterminator="\n")


def counts_table(judged: Sequence[Judged]) -> Table:
    """How many claims of each paper have which verdict, and how many checks they rest on."""
    counted = (*_WORDS.values(), "claims", "independent checks")
    columns = (Column("source", identifies=True), *(Column(name, "count") for name in counted))
    rows = []
    for paper in judged:
        counts = [paper["counts"][verdict] for verdict in VERDICTS]
        rows.append(Row.of(columns, (paper["name"], *counts, sum(counts), paper["checks"])))
    return Table("", columns, tuple(rows))


def short_report(judged: Sequence[Judged]) -> Report:
    """How many claims have which verdict, what was not reproduced, and why."""
    lines = [
        f"{_WORDS[claim['verdict']]}: {paper['name']}, {part['title']}, "
        f"{_place(claim['row'], claim['column'])}: {claim['ours']} instead of {claim['theirs']}; "
        f"{claim['detail']}"
        for paper, part, claim in _claims(judged, _NOT_AS_PRINTED)
    ]
    reasons = Counter(claim["detail"] for *_, claim in _claims(judged, ["not_attempted"]))
    lines += [f"not attempted, {count}: {why}" for why, count in reasons.items()]
    return Report((counts_table(judged), Table("", lines=tuple(lines))))


def claim_report(judged: Sequence[Judged], name: str) -> Report:
    """One claim: what is printed, what is ours, and where that comes from, or UsageError."""
    by_name = {claim["id"]: (paper, part, claim) for paper, part, claim in _claims(judged)}
    if name not in by_name:
        raise UsageError(f"unknown claim {name!r}: {nearest(name, by_name)}")
    paper, part, claim = by_name[name]
    lines = [
        _place(part["title"], claim["row"], claim["column"]),
        f"printed: {claim['theirs']}",
        f"ours: {claim['ours']}",
        f"{_WORDS[claim['verdict']]}{': ' * bool(claim['detail'])}{claim['detail']}",
    ]
    if claim["fact"]:
        lines.append(f"fact {claim['fact']}, check {claim['check']}")
    jobs = [job for job in paper["jobs"] if job["name"] in claim["jobs"]]
    lines += [f"{job['run']}: {job['command']}" for job in jobs]
    return Report((Table(f"{name}: {paper['citation']}", lines=tuple(lines)),))


def part_report(judged: Sequence[Judged], title: str) -> Report:
    """The claims of the parts whose titles begin so; UsageError if there is none."""
    parts = [part for paper in judged for part in paper["parts"]]
    found = [part for part in parts if part["title"].lower().startswith(title.lower())]
    if not found:
        titles = {part["title"] for part in parts}
        raise UsageError(f"no part begins with {title!r}: {nearest(title, titles)}")
    columns = ("id", *_CLAIM_COLUMNS[:-1])
    tables = [_text_table(part["title"], [part["note"]], part["claims"], columns) for part in found]
    return Report(tuple(tables))


def whole_report(judged: Sequence[Judged]) -> Report:
    """Every claim and every job."""
    tables = [replace(counts_table(judged), title="Published results, reproduced")]
    for paper in judged:
        citation = paper["citation"]
        for part in paper["parts"]:
            lines = list(filter(None, (citation, part["note"])))
            tables.append(_text_table(part["title"], lines, part["claims"], _CLAIM_COLUMNS))
            citation = ""
        tables.append(_text_table(f"Jobs of {paper['name']}", [], paper["jobs"], _JOB_COLUMNS))
    return Report(tuple(tables))


def _text_table(
    title: str, lines: Sequence[str], items: Sequence[Judged], names: Sequence[str]
) -> Table:
    """Items as rows, without the columns in which nothing stands."""
    kept = [name for name in names if any(item[name] for item in items)]
    rows = tuple(Row("", {name: _plain(item[name]) for name in kept}) for item in items)
    return Table(title, tuple(map(Column, kept)), rows, lines=tuple(lines))


def _plain(value: Any) -> str:
    return ", ".join(value) if isinstance(value, list) else _WORDS.get(str(value), str(value))


def index_page(judged: Sequence[Judged]) -> str:
    """The page with the counts of all sources, as text."""
    counts = counts_table(judged)
    rows = [
        [
            Cell(paper["citation"], link=f"{paper['name']}.html"),
            *(Cell(str(n), n) for n in list(row.values.values())[1:]),
        ]
        for paper, row in zip(judged, counts.rows, strict=True)
    ]
    verdicts = html.Table("counts", counts.columns, rows, plain=True, wrapped=True)
    parts: dict[str, Sequence[html.Block]] = {
        "Verdicts": [html.Prose([legend("reproduce.verdicts")]), verdicts]
    }
    open_ends = [
        [
            Cell(paper["name"], link=f"{paper['name']}.html#{html.anchor_of(part['title'])}"),
            Cell(part["title"]),
            *_statement(claim, f"{paper['name']}.html")[:-1],
        ]
        for paper, part, claim in _claims(judged, _NOT_AS_PRINTED)
    ]
    if open_ends:
        heads = ("source", "part", *_HEADS[:-1])
        table = _table("differences", heads, open_ends, filters=("source",))
        parts["What is not as printed"] = [table]
    return html.document("Published results, reproduced", parts, lead=[_extent(judged[0])])


def paper_page(paper: Judged) -> str:
    """The page of one paper, as text."""
    counts = ", ".join(f"{paper['counts'][verdict]} {words}" for verdict, words in _WORDS.items())
    jobs = [
        [
            Cell(job["name"]),
            Cell(job["command"]),
            Cell(job["run"], link=job["run"]),
            Cell(f"{job['elapsed_s']:.1f} s", job["elapsed_s"]),
        ]
        for job in paper["jobs"]
    ]
    heads = [Column("job"), Column("command"), Column("folder"), Column("time", "count")]
    table = html.Table("job-list", heads, jobs, caption=legend("reproduce.jobs"), wrapped=True)
    return html.document(
        f"Reproduced: {paper['name']}",
        {part["title"]: _blocks(part, paper["name"]) for part in paper["parts"]}
        | {"Jobs": [table]},
        lead=[paper["citation"], f"{counts}. {_extent(paper)}", legend("reproduce.verdicts")],
    )


def _extent(paper: Judged) -> str:
    return legend("reproduce.full" if paper["full"] else "reproduce.short")


def _blocks(part: Judged, source: str) -> list[html.Block]:
    """What stands in a part; a grid where its claims have columns."""
    name, claims = html.anchor_of(part["title"]), part["claims"]
    blocks: list[html.Block] = [html.Prose((_marked(part["note"]),))] if part["note"] else []
    statements = [_statement(claim) for claim in claims]
    if any(claim["column"] for claim in claims):
        blocks.append(_grid(f"{name}-grid", claims))
        statements = [_statement(claim) for claim in claims if claim["verdict"] != "reproduced"]
        if jobs := dict.fromkeys(job for claim in claims for job in claim["jobs"]):
            blocks.append(html.Prose((f"Read from the jobs {', '.join(jobs)}.",), small=True))
    else:  # otherwise the grid has the anchors
        for claim, row in zip(claims, statements, strict=True):
            row[0] = replace(row[0], anchor=claim["id"])
    if statements:
        look = {"plain": True} if len(statements) <= _FEW else {"filters": ("verdict",)}
        blocks.append(_table(f"{name}-claims", _HEADS, statements, **look))
    blocks += [_picture(picture, f"{name}-{n}") for n, picture in enumerate(part["pictures"])]
    if files := part["files"]:
        folder = f"jobs/{source}"
        rows = [
            [Cell(f["title"]), Cell(f["file"], link=f"{folder}/{f['job']}/{f['file']}")]
            for f in files
        ]
        blocks.append(_table(f"{name}-files", ("data", "file"), rows, plain=True, wrapped=False))
    return blocks


def _table(name: str, heads: Sequence[str], rows: list[list[Cell]], **look: Any) -> html.Table:
    """A table of texts."""
    return html.Table(name, [*map(Column, heads)], rows, **{"wrapped": True} | look)


def _marked(text: str) -> Markup:
    """Text with what stands between backticks set as code."""
    words = [escape(word) for word in text.split("`")]
    words[1::2] = [Markup("<code>{}</code>").format(word) for word in words[1::2]]
    return Markup("").join(words)


def _statement(claim: Judged, page: str = "") -> list[Cell]:
    """A claim as a row, which links to its place on a page."""
    verdict, jobs = claim["verdict"], claim["jobs"]
    return [
        Cell(_place(claim["row"], claim["column"]), link=f"{page}#{claim['id']}"),
        Cell(claim["theirs"]),
        Cell(claim["ours"]),
        Cell(_WORDS[verdict], kind=_KINDS[verdict]),
        Cell(claim["detail"] or "–"),
        Cell(", ".join(jobs) or "–", link="#job-list" if jobs else ""),
    ]


def _grid(name: str, claims: Sequence[Judged]) -> html.Table:
    """Claims laid out as in the source, with both figures in each cell."""
    columns = list(dict.fromkeys(claim["column"] for claim in claims))
    cells = {(claim["row"], claim["column"]): _grid_cell(claim) for claim in claims}
    nothing = Cell("·", hint="the source has nothing here")
    rows = [
        [Cell(row), *(cells.get((row, column), nothing) for column in columns)]
        for row in dict.fromkeys(claim["row"] for claim in claims)
    ]
    return _table(name, ("", *columns), rows, caption=legend("reproduce.grid"), plain=True)


def _grid_cell(claim: Judged) -> Cell:
    verdict, theirs, ours, name = (claim[key] for key in ("verdict", "theirs", "ours", "id"))
    figures = theirs if theirs == ours else f"theirs {theirs}\nours {ours}"
    hint = ": ".join(filter(None, (_WORDS[verdict], claim["detail"])))
    text = f"{_SIGNS[verdict]} {figures}"
    return Cell(text, hint=hint, kind=_KINDS[verdict], link=f"#{name}", anchor=name)


def _picture(picture: Judged, name: str) -> html.Block:
    title, data = picture["title"], picture["svg"].encode()
    if not data:
        return html.Prose((f"{title}: no picture, since {picture['missing']}.",))
    read = f" Drawn from {', '.join(picture['jobs'])}." if picture["jobs"] else ""
    return html.Picture(name, data, "image/svg+xml", title, picture["caption"] + read, title)


def points_csv(papers: Sequence[str], folder: Path) -> str:
    """One row for each verified profile of the runs among the jobs of papers, in CSV.

    Payoffs are ``u:P1`` …, paths below the folder of the reproduction.
    """
    import pandas as pd

    first = ["source", "job", "game", "solver", "seed", "rank", "claim"]
    last = ["nash_conv", "max_regret", "identity", "on_path", "strict", "distance", "profile"]
    found = (
        load_equilibria(run.parent).assign(source=name, job=run.parent.name)
        for name in papers
        for run in sorted(folder.glob(f"jobs/{name}/*/{LINES}"))
    )
    frames = [frame for frame in found if len(frame)]
    table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=first + last)
    table["profile"] = table["profile"].astype("string").str.removeprefix(f"{folder.absolute()}/")
    for name in ("game", "solver", "identity", "profile"):
        table[name] = table[name].map(cell_text, na_action="ignore")
    payoffs = sorted(name for name in table.columns if name.startswith("payoff_P"))
    table = table[[*first, *payoffs, *last]]
    named = table.rename(columns={name: "u:" + name.removeprefix("payoff_") for name in payoffs})
    return named.to_csv(index=False, lineterminator="\n")
