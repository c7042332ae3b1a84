"""The page of a report: what is on it, that it is whole, and that names stay names."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.pages import (
    CLOSING,
    HOSTILE,
    QUOTES,
    Element,
    everything,
    page_run,
    read_page,
    write_trace,
)
from helpers.runs import cell, identified, identity, without_figures, write_run

from eqbench.report.charts.answer import NONE_YET
from eqbench.report.html.document import Table, document
from eqbench.report.html.page import report_page
from eqbench.report.rows import Cell, Column
from eqbench.report.trials import entries_of
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run
from eqbench.text import printable


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return report_page([read_run(page_run(tmp_path_factory.mktemp("page") / "run"))], {})


@pytest.fixture(scope="module")
def page(text: str) -> Element:
    return read_page(text)


def rows_of(page: Element, name: str) -> list[dict[str, Element]]:
    """Cells of a table by the head of their column."""
    (card,) = (e for e in page.all("figure") if e.attributes.get("id") == name)
    heads = [head.full_text for head in card.all("thead")[0].all("th")]
    bodies = card.all("tbody")[0].all("tr")
    return [dict(zip(heads, row.parts, strict=True)) for row in bodies]


def test_page_refers_to_nothing_outside(page: Element) -> None:
    for element in everything(page):
        for name in ("src", "href", "action", "data", "srcset", "xlink:href"):
            address = element.attributes.get(name)
            assert address is None or address.startswith(("#", "data:")), element
    (style,) = page.all("style")
    assert "@import" not in style.text
    assert "url(" not in style.text


def test_policy_admits_the_own_style_and_script_and_nothing_else(page: Element) -> None:
    (policy,) = (
        meta.attributes["content"]
        for meta in page.all("meta")
        if meta.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules.pop("default-src") == "'none'"
    assert rules.pop("img-src") == "data: blob:"
    scripts = [script for script in page.all("script") if "type" not in script.attributes]
    for name, elements in (("style-src-elem", page.all("style")), ("script-src", scripts)):
        digests = (hashlib.sha256(e.text.encode()).digest() for e in elements)
        assert rules.pop(name).split() == [
            f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests
        ]
    assert rules.pop("style-src-attr") == "'unsafe-inline'"  # which can load nothing
    assert set(rules.values()) == {"'none'"}
    assert not [e for e in everything(page) if "style" in e.attributes]


def test_names_stay_names_wherever_they_go(page: Element) -> None:
    assert page.all("img") == []
    assert [e.attributes.get("type") for e in page.all("script")] == [
        "application/json",
        None,
        None,
    ]
    for element in everything(page):
        assert not [name for name in element.attributes if name.startswith("on")]
    cards = [figure.attributes.get("id") or "" for figure in page.all("figure")]
    tables = [rows_of(page, card) for card in cards if card.startswith("matrix-")]
    shown = [row["solver"].full_text for rows in tables for row in rows]
    assert {HOSTILE, CLOSING} <= set(shown)
    reasons = [row["status"].attributes.get("title") for rows in tables for row in rows]
    assert any(printable(QUOTES) in (reason or "") for reason in reasons)


def test_programs_find_all_rows_in_the_page(page: Element) -> None:
    (block,) = (e for e in page.all("script") if e.attributes.get("id") == "data")
    data = json.loads(block.text)
    assert data["schema"] == "eqbench.report/1"
    cells = {item["key"]: item for item in data["cells"]}
    assert sorted(cells) == [f"0{k}" for k in range(1, 10)]
    assert cells["03"]["reason"] == CLOSING
    assert cells["05"]["elapsed_s"] == 123.4
    assert data["runs"][0]["plan"]["request"] == {"timeout_s": 10.0}


@pytest.mark.parametrize(
    ("others", "sign"),
    [([], "ok ✓✓"), ([without_figures("02", seed=1, status="failed")], "failed 1/2")],
)
def test_only_profiles_that_are_all_measured_exactly_have_a_sign_of_their_own(
    tmp_path: Path, others: list[CellRecord], sign: str
) -> None:
    first = cell("01", seed=0)
    exact = {"payoffs": ["0", "0"], "regrets": ["0", "0"]}
    proved = replace(first, equilibria=[replace(first.equilibria[0], exact=exact)])
    same = {"solver": first.solver, "solver_spec": first.solver_spec}
    records = proved, *(replace(other, **same) for other in others)
    page = read_page(report_page([read_run(write_run(tmp_path / "run", *records))], {}))
    assert [row["status"].full_text for row in rows_of(page, "matrix-0")] == [sign]


@pytest.mark.parametrize("content", [None, b"", b"PK", b"no arrays"])
def test_snapshots_that_cannot_be_read_cost_only_themselves(
    tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "run"
    lost = write_trace(path, cell("01", solver="lost"))
    run = read_run(write_run(path, lost, write_trace(path, cell("02"))))
    file = path / f"{lost.trace}"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    first, second = entries_of([run])
    assert [point.elapsed_s for point in first.curve] == [lost.elapsed_s]
    assert len(second.curve) == 4
    notes = [note.text for note in read_page(report_page([run], {})).all("p")]
    (note,) = (note for note in notes if note.startswith("The snapshots"))
    assert "kuhn2/lost" in note


def test_run_with_an_unknown_environment_makes_a_page(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", cell("01")))
    run.plan["environment"] = None
    assert "What was run" in [head.text for head in read_page(report_page([run], {})).all("h2")]


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("#part-1", "#part-1"),
        ("page.html#part-1", "page.html#part-1"),
        ("a b/100%/c#1.csv", "a%20b/100%25/c%231.csv"),
        ("../what?/x:y.txt", "../what%3F/x%3Ay.txt"),
        ("run#1/page.html#part", "run%231/page.html#part"),
        ("page.html/a#b", "page.html/a%23b"),
    ],
)
def test_links_lead_to_anchors_and_files(link: str, address: str) -> None:
    table = Table("table", [Column("file")], [[Cell("a file", link=link)]])
    page = read_page(document("A page", {"Part": [table]}))
    assert [a.attributes["href"] for a in page.all("table")[0].all("a")] == [address]


@pytest.mark.parametrize(
    "link",
    [
        *(
            "javascript:alert(1)",
            " JavaScript:alert(1)",
            "java\tscript:alert(1)",
            "data:text/html,x",
        ),
        *("javascript:x.html#part", "https://example.org/", "//example.org/x", "/etc/passwd"),
        "x:#1",
    ],
)
def test_links_to_elsewhere_are_refused(link: str) -> None:
    table = Table("table", [Column("file")], [[Cell("a file", link=link)]])
    with pytest.raises(ValueError, match="#anchor"):
        document("A page", {"Part": [table]})


def test_same_runs_make_the_same_bytes(tmp_path: Path) -> None:
    run = page_run(tmp_path / "run")
    assert report_page([read_run(run)], {}) == report_page([read_run(run)], {})


def test_thousands_of_equilibria_do_not_make_a_page_large(tmp_path: Path) -> None:
    record = cell("01")
    found = [
        replace(record.equilibria[0], payoffs=[-0.03 + 1e-5 * k, 0.03 - 1e-5 * k])
        for k in range(1000)
    ]
    cells = [
        replace(record, key=f"{k:02x}", solver=f"solver_{k}", equilibria=found) for k in range(5)
    ]
    text = report_page([read_run(write_run(tmp_path / "run", *cells))], {})
    assert len(text.encode()) < 2_000_000
    (block,) = (e for e in read_page(text).all("script") if e.attributes.get("id") == "data")
    listed = json.loads(block.text)["cells"][0]
    assert listed["candidates"] == 1000
    assert len(listed["equilibria"]) == 12


def test_run_without_cells_makes_a_page(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", planned=["01", "02"])
    page = read_page(report_page([read_run(run)], {}, summarize=True))
    assert [head.text for head in page.all("h2")] == ["What was found", "What was run"]
    assert "2 of 2" in page.full_text


def test_row_of_each_of_many_games_has_what_was_found_and_by_whom(tmp_path: Path) -> None:
    def found(game: int, solver: str, name: str, title: str) -> CellRecord:
        record = cell(f"{game}{solver}", game=f"g{game}", game_spec=f"g{game}", solver=solver)
        return identified(record, identity(name, title=title))

    records = [found(game, "a", "cluster:1", f"equilibrium {game}") for game in range(6)]
    # more solvers than games; of two clusters with the same words each has its own solvers
    records += [found(0, solver, "cluster:2", "equilibrium 0") for solver in "bcdefgh"]
    run = read_run(write_run(tmp_path / "run", *records))
    rows = rows_of(read_page(report_page([run], {})), "status")
    texts = [(row["game"].full_text, row["equilibria found"].full_text) for row in rows]
    assert texts[:2] == [
        ("g0", "① equilibrium 0  ② equilibrium 0"),
        ("g1", "① equilibrium 1"),
    ]
    assert len(rows) == 6
    signs = {title: cell.full_text[-1] for title, cell in rows[0].items() if " of " in title}
    assert [*signs.values()].count("①") == 7
    assert signs["a\n6 of 6 ok"] == "②"
    assert rows[1]["b\n1 of 1 ok"].full_text[-1] != "①"


def test_play_that_is_no_equilibrium_or_not_credible_is_marked(tmp_path: Path) -> None:
    def found(game: int, status: str, credible: int) -> CellRecord:
        record = cell(f"{game}{credible}", game=f"g{game}", game_spec=f"g{game}", solver="a")
        record = identified(record, identity("cluster:1", title="P1 always calls"))
        judged = {
            "exact": None,
            "sets": 3,
            "credible": credible,
            "worst": 0.5,
            "worst_set": ["P1", "1"],
        }
        (best, *others) = record.equilibria
        best = replace(best, credible=judged)
        return replace(record, status=status, equilibria=[best, *others])

    records = [found(game, "ok", 3) for game in range(4)]
    records += [found(4, "ok", 2), found(5, "limit", 3)]
    page = read_page(report_page([read_run(write_run(tmp_path / "run", *records))], {}))
    rows = rows_of(page, "status")
    marked = [any("×" in cell.full_text for cell in row.values()) for row in rows]
    assert marked == [False] * 4 + [True, False]
    assert "not within the target" in rows[5]["equilibria found"].full_text
    assert "not within the target" not in rows[4]["equilibria found"].full_text
    assert "credible 2/3" in page.full_text
    assert "credible 3/3" not in page.full_text


@pytest.mark.parametrize(
    ("claim", "ended"), [("complete list", ""), ("equilibrium", "not checked")]
)
def test_page_of_a_game_says_whether_its_equilibria_are_all(
    claim: str, ended: str, tmp_path: Path
) -> None:
    record = identified(cell("01"), identity("cluster:1", title="P1 always calls"))
    best = replace(record.equilibria[0], claim=claim)
    record = replace(record, status="ok", reason="found all", equilibria=[best])
    text = read_page(report_page([read_run(write_run(tmp_path / "run", record))], {})).full_text
    assert ("lists all equilibria (found all)" in text) is not bool(ended)
    assert ("whether there are more was not checked" in text) is bool(ended)


def test_cell_only_near_an_equilibrium_stands_in_its_column_or_names_it(tmp_path: Path) -> None:
    def found(solver: str, name: str, **fields: bool) -> CellRecord:
        return identified(cell(solver, solver=solver), identity(name, **fields))

    records = [found("a", "one"), found("b", "one", on_path=False)]
    records.append(found("c", "another", on_path=False))
    run = read_run(write_run(tmp_path / "run", *records))
    page = read_page(report_page([run], {}))
    rows = {row["solver"].full_text: row for row in rows_of(page, "matrix-0")}
    assert {
        name: (row["one"].full_text, row[NONE_YET].full_text) for name, row in rows.items()
    } == {
        "a": ("1", "·"),
        "b": ("≈ near", "·"),
        "c": ("·", "≈ another"),
    }
    near = rows["b"]["one"].attributes
    assert near["data-value"] == "0"
    assert "only near one" in (near["title"] or "")


def test_cell_at_the_target_from_the_start_has_no_time_to_compare(tmp_path: Path) -> None:
    run = tmp_path / "run"
    record = write_trace(run, cell("01", iterations=1), times=[1e-4], regrets=[(0.0, 0.0)])
    profile = run / record.equilibria[0].profile
    profile.parent.mkdir()
    profile.write_text('{"behavior": {"P1": {"": {"heads": "1/2", "tails": 0.5}}}}')
    records = [record, cell("02", solver="lcp")]
    records += [replace(each, key=f"{each.key}g", game="g", game_spec="g") for each in records[1:]]
    rows = rows_of(read_page(report_page([read_run(write_run(run, *records))], {})), "status")
    shown = {row["solver"].full_text: row["kuhn2"].full_text for row in rows}
    assert shown == {"lcp": "ok ✓ 12.3 ms", "cfr_plus": "ok ✓ at start"}
