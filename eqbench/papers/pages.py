"""The files of a reproduction: pages in HTML, Markdown, CSV, and the table for a terminal."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from eqbench.errors import UsageError, nearest
from eqbench.papers.paper import CAUSES
from eqbench.papers.verdicts import VERDICTS
from eqbench.report.formats import markdown
from eqbench.report.html import document as html
from eqbench.report.rows import Cell, Column, Report, Row, Table
from eqbench.store.results import equilibrium_frame, stored_runs
from eqbench.store.run_folder import LINES
from eqbench.studies.frame import legend
from eqbench.text import cell_text

_WORDS = {verdict: verdict.replace("_", " ") for verdict in VERDICTS} | {
    "source_error": "error in the source"
}
_KINDS = dict(zip(VERDICTS, ("good", "bad", "idle", "fair", "idle"), strict=True))
_CSV = (
    *("source", "part", "place", "row", "column", "theirs", "ours", "verdict", "cause", "detail"),
    "jobs",
)
_POINTS = [
    *("source", "job", "game", "solver", "seed", "rank", "claim"),
    *("nash_conv", "max_regret", "identity", "on_path", "strict", "distance", "profile"),
]
Judged = Mapping[str, Any]  # a paper with its verdicts, as `eqbench.papers.verdicts.judge` gives it


def texts(judged: Sequence[Judged]) -> dict[str, str]:
    """The pages and tables of a reproduction, by the names of their files."""
    return {
        "index.html": _index(judged),
        **{f"{paper['name']}.html": _page(paper) for paper in judged},
        "report.md": markdown(_whole(judged)),
        "claims.csv": _csv(judged),
    }


def _claims(judged: Sequence[Judged]) -> Iterator[Judged]:
    """Every claim, with its paper as `source` and its part."""
    for paper in judged:
        for part in paper["parts"]:
            for claim in part["claims"]:
                yield {"source": paper["name"], "part": part["title"], **claim}


def _csv(judged: Sequence[Judged]) -> str:
    """All claims as a table in CSV."""
    text = StringIO()
    writer = csv.DictWriter(text, _CSV, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({**claim, "jobs": " ".join(claim["jobs"])} for claim in _claims(judged))
    return text.getvalue()


def _counts(judged: Sequence[Judged]) -> Table:
    """How many claims of each paper have which verdict, and how many checks they rest on."""
    counted = (*_WORDS.values(), "claims", "independent checks")
    columns = (Column("source", identifies=True), *(Column(name, "count") for name in counted))
    rows = []
    for paper in judged:
        counts = [paper["counts"][verdict] for verdict in VERDICTS]
        source = Cell(paper["name"], link=f"{paper['name']}.html")
        values = (source, *counts, sum(counts), paper["checks"])
        rows.append(Row.of(columns, values, paper["name"]))
    return Table("", columns, tuple(rows))


def _table(title: str, claims: Sequence[Judged], *more: str, lines: Sequence[str] = ()) -> Table:
    """Claims one below the other, without columns in which nothing stands.

    `more` are first columns; if the source is among them the table stands on a page of its own.
    """
    page = "{source}.html" if "source" in more else ""
    rows = [
        {
            **{key: claim[key] for key in more},
            "claim": Cell(
                " · ".join(filter(None, (claim["row"], claim["column"]))),
                link=f"{page}#{{id}}".format(**claim),
                anchor="" if page else claim["id"],
            ),
            **{key: claim[key] for key in ("theirs", "ours")},
            "verdict": Cell(_WORDS[claim["verdict"]], kind=_KINDS[claim["verdict"]]),
            **{"detail": claim["detail"], "place": claim["place"]},
            "jobs": ", ".join(claim["jobs"]),
        }
        for claim in claims
    ]
    kept = tuple(Column(key) for key in rows[0] if any(row[key] for row in rows)) if rows else ()
    texts = tuple(filter(None, lines))
    return Table(title, kept, tuple(Row("", row) for row in rows), lines=texts)


def _by_cause(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Claims that were tried and are not as printed, by verdict and cause."""
    found: dict[str, list[Judged]] = {}
    for verdict in ("differs", "not_comparable", "source_error"):
        claims = [claim for claim in _claims(judged) if claim["verdict"] == verdict]
        for cause in sorted({claim["cause"] for claim in claims}, key=[*CAUSES, ""].index):
            heading = f"{_WORDS[verdict]}{': ' * bool(cause)}{CAUSES.get(cause, '')}"
            found[heading] = [claim for claim in claims if claim["cause"] == cause]
    return found


def short_report(judged: Sequence[Judged]) -> Report:
    """How many claims have which verdict, what is not as printed by cause, and what is left out."""
    groups = [
        Table(f"{heading} ({len(claims)})", lines=tuple(map(_sentence, claims)))
        for heading, claims in _by_cause(judged).items()
    ]
    reasons = Counter(c["detail"] for c in _claims(judged) if c["verdict"] == "not_attempted")
    lines = tuple(f"{count}: {why}" for why, count in reasons.items())
    return Report((_counts(judged), *groups, Table(_WORDS["not_attempted"], lines=lines)))


def _sentence(claim: Judged) -> str:
    place = " · ".join(filter(None, (claim["row"], claim["column"])))
    compared = f"{claim['ours']} instead of {claim['theirs']}; {claim['detail']}"
    return f"{claim['source']}, {claim['part']}, {place}: {compared}"


def claim_report(judged: Sequence[Judged], name: str) -> Report:
    """One claim: what is printed, what is ours, and where that comes from, or UsageError."""
    by_name = {claim["id"]: claim for claim in _claims(judged)}
    if name not in by_name:
        raise UsageError(f"unknown claim {name!r}: {nearest(name, by_name)}")
    claim = by_name[name]
    (paper,) = (paper for paper in judged if paper["name"] == claim["source"])
    lines = [
        " · ".join(filter(None, (claim["part"], claim["row"], claim["column"]))),
        f"printed{' in ' * bool(claim['place'])}{claim['place']}: {claim['theirs']}",
        f"ours: {claim['ours']}",
        ": ".join(filter(None, (_WORDS[claim["verdict"]], claim["detail"]))),
    ]
    if claim["fact"]:
        lines.append(f"fact {claim['fact']}, check {claim['check']}")
    jobs = [job for job in paper["jobs"] if job["name"] in claim["jobs"]]
    lines += [f"{job['run']}: {job['command']}" for job in jobs]
    return Report((Table(f"{name}: {paper['citation']}", lines=tuple(lines)),))


def part_report(judged: Sequence[Judged], title: str) -> Report:
    """The claims of the parts whose titles begin so; UsageError if there is none."""
    parts = {part["title"]: part["note"] for paper in judged for part in paper["parts"]}
    found = [own for own in parts if own.lower().startswith(title.lower())]
    if not found:
        raise UsageError(f"no part begins with {title!r}: {nearest(title, parts)}")
    claims = {own: [claim for claim in _claims(judged) if claim["part"] == own] for own in found}
    return Report(tuple(_table(own, claims[own], "id", lines=[parts[own]]) for own in found))


def _whole(judged: Sequence[Judged]) -> Report:
    """What is not as printed, then every claim and every job."""
    tables = [replace(_counts(judged), title="Published results, reproduced")]
    tables += [_table(*group, "source", "part") for group in _by_cause(judged).items()]
    for paper in judged:
        for part in paper["parts"]:
            first = [paper["citation"]] * (part is paper["parts"][0])
            tables.append(_table(part["title"], part["claims"], lines=[*first, part["note"]]))
        tables.append(replace(_jobs(paper), title=f"Jobs of {paper['name']}"))
    return Report(tuple(tables))


def _jobs(paper: Judged) -> Table:
    columns = (Column("job"), Column("command"), Column("folder"), Column("time", "seconds"))
    rows = [
        (job["name"], job["command"], Cell(job["run"], link=job["run"]), job["elapsed_s"])
        for job in paper["jobs"]
    ]
    return Table("", columns, tuple(Row.of(columns, row) for row in rows))


def _index(judged: Sequence[Judged]) -> str:
    """The page with the counts of all sources, and what is not as printed by cause."""
    counts = replace(_counts(judged), lines=(legend("reproduce.verdicts"),))
    parts: dict[str, Sequence[html.Block]] = {"Verdicts": [_block(counts, "counts", plain=True)]}
    for heading, claims in _by_cause(judged).items():
        table = _table("", claims, "source", "part")
        parts[heading] = [_block(table, f"{html.anchor_of(heading)}-claims", filters=("source",))]
    return html.document("Published results, reproduced", parts, lead=[_extent(judged[0])])


def _page(paper: Judged) -> str:
    """The page of one paper."""
    counts = ", ".join(f"{paper['counts'][verdict]} {words}" for verdict, words in _WORDS.items())
    jobs = replace(_jobs(paper), lines=(legend("reproduce.jobs"),))
    return html.document(
        f"Reproduced: {paper['name']}",
        {part["title"]: list(_blocks(part, paper["name"])) for part in paper["parts"]}
        | {"Jobs": [_block(jobs, "job-list")]},
        lead=[paper["citation"], f"{counts}. {_extent(paper)}", legend("reproduce.verdicts")],
    )


def _block(table: Table, name: str, **look: Any) -> html.Table:
    return html.page_table(table, name, wrapped=True, **look)


def _extent(paper: Judged) -> str:
    return legend("reproduce.full" if paper["full"] else "reproduce.short")


def _blocks(part: Judged, source: str) -> Iterator[html.Block]:
    """What stands in a part."""
    name = html.anchor_of(part["title"])
    if part["note"]:
        words = [escape(word) for word in part["note"].split("`")]
        words[1::2] = [Markup("<code>{}</code>").format(word) for word in words[1::2]]
        yield html.Prose((Markup("").join(words),))
    yield _block(_table("", part["claims"]), f"{name}-claims", filters=("verdict",))
    for number, picture in enumerate(part["pictures"]):
        yield _picture(picture, f"{name}-{number}")
    if files := part["files"]:
        links = [Cell(f["file"], link=f"jobs/{source}/{f['job']}/{f['file']}") for f in files]
        rows = [[f["title"], link] for f, link in zip(files, links, strict=True)]
        yield html.Table(f"{name}-files", (Column("data"), Column("file")), rows, plain=True)


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

    frames = [
        equilibrium_frame(stored_runs(run.parent)).assign(source=name, job=run.parent.name)
        for name in papers
        for run in sorted(folder.glob(f"jobs/{name}/*/{LINES}"))
    ]
    frames = [frame for frame in frames if len(frame)]
    table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=_POINTS)
    table["profile"] = table["profile"].astype("string").str.removeprefix(f"{folder.absolute()}/")
    for name in ("game", "solver", "identity", "profile"):
        table[name] = table[name].map(cell_text, na_action="ignore")
    table.columns = table.columns.str.replace("payoff_P", "u:P")
    payoffs = sorted(name for name in table.columns if name.startswith("u:P"))
    return table[[*_POINTS[:7], *payoffs, *_POINTS[7:]]].to_csv(index=False, lineterminator="\n")
