"""Pages in a real browser: they are quiet, load nothing, work, and fit narrow screens."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import struct
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from helpers.pages import CLOSING, HOSTILE, page_run
from helpers.runs import cell, identified, identity, without_figures, write_run

from eqbench.report.html.document import Picture, Table
from eqbench.report.html.document import document as make_document
from eqbench.report.html.page import report_page
from eqbench.report.rows import Cell, Column
from eqbench.report.writing import runs_in, write_index
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
]
WIDTHS = (390, 1400)


def without_browser(why: str) -> NoReturn:
    """Skip on a contributor's machine; in CI fail, unless EQBENCH_NO_BROWSER gives a reason."""
    reason = os.environ.get("EQBENCH_NO_BROWSER", "").strip()
    if os.environ.get("CI") and not reason:
        pytest.fail(
            f"{why}; install it, or set EQBENCH_NO_BROWSER to the reason why there is none here"
        )
    pytest.skip(f"{why} ({reason})" if reason else why)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser with a fresh profile for all tests here."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        without_browser("playwright is not installed")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        without_browser(f"no browser is installed: none of {', '.join(NAMES)} is on the path")
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=program,
            args=ARGUMENTS,
            accept_downloads=True,
        )
        yield context
        context.close()


class Watched:
    """A page that was opened, with what it asked for and what it complained about."""

    def __init__(self, browser: Any, file: Path) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.address = file.as_uri()
        self.page = browser.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._refuse)
        self.page.on("console", self._listen)
        self.page.goto(self.address)
        self.page.set_default_timeout(60_000)  # of a slow machine

    def draw(self, name: str) -> Any:
        """The view of a chart, which is drawn when it comes into view."""
        for tab in self.page.locator(f"[role=tab][aria-controls={name}]").all():
            tab.click()
        self.page.locator(f"#{name}").scroll_into_view_if_needed()
        self.page.wait_for_selector(f"#{name} [data-drawn] svg")
        return self.page.evaluate_handle(f"drawn.get({name!r}).view")

    def signal(self, chart: str, name: str) -> Any:
        """Value of a parameter of a chart."""
        return self.page.evaluate(f"drawn.get({chart!r}).view.signal({name!r})")

    def _listen(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"a name ran: {dialog.message}")
        dialog.dismiss()

    def column(self, card: str, head: str) -> list[str]:
        """Texts of a column as the shown rows have them."""
        return self.page.evaluate(
            """([card, head]) => {
                const table = document.getElementById(card).querySelector("table");
                const heads = [...table.tHead.rows[0].cells];
                const named = (cell) => (cell.dataset.name ?? cell.textContent) === head;
                const at = heads.findIndex(named);
                const rows = [...table.tBodies[0].rows].filter((row) => row.offsetParent);
                return rows.map((row) => row.cells[at].textContent);
            }""",
            [card, head],
        )

    def saved(self, card: str, kind: str) -> tuple[str, bytes]:
        """Name and content of what a button of a card saves."""
        with self.page.expect_download() as download:
            self.page.click(f"#{card} button[data-save={kind}]")
        return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def page_of(browser: Any, folder: Path, *records: CellRecord) -> Watched:
    """The page of a run with these records."""
    file = folder / "page.html"
    file.write_text(report_page([read_run(write_run(folder / "run", *records))], {}))
    return Watched(browser, file)


@pytest.fixture
def watched(browser: Any, page_file: Path) -> Iterator[Watched]:
    opened = Watched(browser, page_file)
    yield opened
    opened.page.close()
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith("blob:")] == [opened.address]


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    file = folder / "report.html"
    run = read_run(page_run(folder / "run"))
    profile = {"behavior": {"P1": {"1:": {"check": 0.25, "bet": "3/4"}}}}
    (folder / "run" / "profiles").mkdir(exist_ok=True)
    (folder / "run" / f"{run.cells[0].equilibria[0].profile}").write_text(json.dumps(profile))
    text = report_page([run], {}, summarize=True, place=folder)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("width", WIDTHS)
def test_page_does_not_scroll_sideways(watched: Watched, width: int) -> None:
    watched.page.set_viewport_size({"width": width, "height": 900})
    assert watched.page.evaluate("document.documentElement.scrollWidth") == width
    assert watched.page.evaluate("document.body.scrollWidth") == width


CHARTS = ("answer", "regret", "payoffs", "pairs", "times")


def test_every_part_is_drawn_and_hostile_names_stay_names(watched: Watched) -> None:
    page = watched.page
    assert page.locator("h2").count() == 6
    page.select_option("#solvers select", "kuhn3")  # whose equilibria differ in payoffs
    for name in CHARTS:
        watched.draw(name)
        assert page.locator(f"#{name} svg").last.bounding_box()["height"] > 60
    assert page.locator("img").count() == 0
    for name in (HOSTILE, CLOSING):
        assert name in watched.column("matrix-1", "solver")
        assert page.locator(".chip", has_text=name).count() == 1
    assert page.locator("#times svg text", has_text=HOSTILE).count() == 1


def test_marks_tell_their_values(watched: Watched) -> None:
    watched.draw("regret")
    watched.page.locator("#regret path[aria-label*='cfr_plus']").last.hover(force=True)
    tip = watched.page.locator("#tip")
    tip.wait_for(state="visible")
    shown = tip.inner_text()
    assert "cfr_plus" in shown
    assert "max regret" in shown
    assert "seconds" in shown


def test_legend_singles_out_and_hides_in_all_charts(watched: Watched) -> None:
    page = watched.page
    watched.draw("regret")
    watched.draw("times")
    chip = page.locator(".chip", has_text="cfr_plus")
    chip.focus()
    page.keyboard.press("Enter")
    page.mouse.move(0, 0)
    page.wait_for_function("drawn.get('times').view.signal('focus') === 'cfr_plus'")
    assert watched.signal("regret", "focus") == "cfr_plus"
    assert chip.get_attribute("aria-pressed") == "true"
    assert page.locator("[id^=matrix] tr.on").count() == 3
    chip.click(modifiers=["Shift"])
    page.wait_for_function("drawn.get('regret').view.signal('hidden').length === 1")
    assert watched.signal("times", "hidden") == ["cfr_plus"]
    assert page.locator("[id^=matrix] tr.gone").count() == 3
    page.get_by_text("show all").click()
    page.wait_for_function("drawn.get('regret').view.signal('hidden').length === 0")


def test_rows_and_curves_are_linked(watched: Watched) -> None:
    watched.draw("regret")
    watched.page.locator("#matrix-0 tbody tr").first.hover()
    watched.page.wait_for_function("drawn.get('regret').view.signal('focus') === 'cfr_plus'")
    assert watched.signal("regret", "cell") == 0


def test_axes_and_measures_switch(watched: Watched) -> None:
    page = watched.page
    watched.draw("regret")
    scale = "drawn.get('regret').view.scale('y').type"
    assert page.evaluate(scale) == "log"
    page.locator("#regret [data-log=y]").uncheck()
    page.wait_for_function(f"{scale} === 'linear'")
    page.select_option("#regret [data-switch=axis]", "work")
    page.wait_for_function("drawn.get('regret').view.signal('axis') === 'work'")
    assert page.locator("#regret svg text", has_text="iterations").count() == 1


def test_all_charts_are_printed_light_with_their_legends(watched: Watched) -> None:
    page = watched.page
    page.select_option("#solvers select", "kuhn3")
    page.emulate_media(media="print", color_scheme="dark")
    for name in CHARTS:
        page.wait_for_selector(f"#{name} svg", state="attached")
        assert page.locator(f"#{name} svg").count() == 1
    assert page.locator("#payoffs svg text", has_text=HOSTILE).count() == 1
    assert page.locator("#payoffs svg[style*=white]").count() == 1
    assert not page.locator("#regret .buttons").is_visible()
    page.emulate_media(media="screen")
    page.wait_for_selector("#payoffs svg:not([style*=white])", state="attached")


def test_payoffs_are_of_equilibria_and_begin_with_players_whose_payoffs_differ(
    watched: Watched,
) -> None:
    page = watched.page
    page.select_option("#solvers select", "kuhn3")
    watched.draw("payoffs")
    assert (watched.signal("payoffs", "across"), watched.signal("payoffs", "player")) == ("1", "3")
    assert page.input_value("#payoffs [data-switch=player]") == "3"
    assert page.locator("#payoffs svg text", has_text="payoff of P3").count() == 1
    assert page.locator("#payoffs path[aria-label*='match: on path']").count() == 1
    assert page.locator("#payoffs path[aria-label*='match: near']").count() == 0
    page.select_option("#payoffs [data-switch=player]", "2")
    page.wait_for_function("drawn.get('payoffs').view.signal('player') === '2'")


def test_line_of_equal_values_spans_the_frame_around_a_single_point(
    browser: Any, tmp_path: Path
) -> None:
    leduc = {"cpu_s": None, "game": "leduc", "game_spec": "leduc"}
    records = [
        *(cell(f"0{k}", solver=solver, cpu_s=2.0) for k, solver in enumerate(("one", "two"))),
        *(cell(f"1{k}", solver=solver, **leduc) for k, solver in enumerate(("one", "two"))),
    ]
    watched = page_of(browser, tmp_path, *records)
    page = watched.page
    page.select_option("#pairs [data-switch=measure]", "cpu_s")
    watched.draw("pairs")
    assert page.locator("#pairs path[aria-roledescription=point]").count() == 1
    frame, line = page.evaluate(
        """() => {
            const { width, height } = document.querySelector("#pairs .mark-line path").getBBox();
            const { view } = drawn.get("pairs");
            return [[view.width(), view.height()], [width, height]];
        }"""
    )
    assert line == pytest.approx(frame, abs=1)
    page.close()


def test_all_cells_of_other_solvers_are_dimmed_even_if_nothing_is_drawn_of_them(
    browser: Any, tmp_path: Path
) -> None:
    lost = without_figures("02", solver="sequence_lp", status="timeout")
    page = page_of(browser, tmp_path, cell("01", solver="cfr_plus"), lost).page
    page.locator(".chip", has_text="cfr_plus").click()
    page.mouse.move(0, 0)
    row = page.locator("#matrix-0 tbody tr", has_text="sequence_lp")
    assert "off" in row.get_attribute("class").split()
    color = "(cells) => new Set(cells.map((cell) => getComputedStyle(cell).color)).size"
    assert row.locator("th, td").evaluate_all(color) == 1
    page.close()


def test_keyboard_hides_solvers_too(watched: Watched) -> None:
    chip = watched.page.locator(".chip", has_text="cfr_plus")
    chip.focus()
    watched.page.keyboard.press("Shift+Enter")
    assert chip.get_attribute("aria-label") == "cfr_plus, hidden"


def test_one_chart_of_tabs_is_shown_and_the_address_keeps_which(
    watched: Watched, browser: Any
) -> None:
    page = watched.page
    assert page.locator("#answer").is_visible()
    assert not page.locator("#regret").is_visible()
    watched.draw("regret")
    assert not page.locator("#answer").is_visible()
    again = browser.new_page()
    again.goto(page.evaluate("location.href"))
    again.wait_for_selector("#regret [data-drawn] svg", timeout=60_000)
    assert not again.locator("#answer").is_visible()
    again.close()


def test_rows_of_several_seeds_open_to_each_of_them(browser: Any, tmp_path: Path) -> None:
    records = [cell(f"0{seed}", seed=seed, elapsed_s=1.0 + seed) for seed in range(3)]
    page = page_of(browser, tmp_path, *records).page
    page.locator("#matrix-0 tbody tr").first.locator("td").first.click()
    seeds = page.locator("#matrix-0 tr.details > td > details")
    assert [text.partition(",")[0] for text in seeds.all_inner_texts()] == [
        f"seed {seed}" for seed in range(3)
    ]
    seeds.nth(2).locator("summary").click()
    page.locator("#matrix-0 .candidate").wait_for()
    assert page.locator("#matrix-0 .candidate").count() == 1
    page.close()


def test_game_of_more_games_than_solvers_leads_to_its_solvers(browser: Any, tmp_path: Path) -> None:
    records = [
        cell(f"{k}{solver}", solver=solver, game=f"g{k}", game_spec=f"kuhn(cards={k + 3})")
        for k in range(4)
        for solver in ("one", "two")
    ]
    records[0] = replace(records[0], status="limit")
    opened = page_of(browser, tmp_path, *records)
    assert opened.column("status", "game") == ["g0", "g1", "g2", "g3"]
    assert opened.column("status", "solved by") == ["1 of 2", *["2 of 2"] * 3]
    heads = opened.page.locator("#status thead th").all_inner_texts()
    assert [" ".join(head.split()) for head in heads[2:4]] == ["two 4 of 4 ok", "one 3 of 4 ok"]
    opened.page.locator("#status tbody tr").nth(2).click()
    assert opened.page.locator("#matrix-2").is_visible()
    assert not opened.page.locator("#matrix-0").is_visible()
    opened.page.close()


def test_telephone_has_a_card_for_each_solver_with_its_badge_and_set(
    browser: Any, tmp_path: Path
) -> None:
    record = identified(cell("01", solver="cfr_plus"), identity("outside"))
    page = page_of(browser, tmp_path, record, cell("02", solver="lcp")).page
    page.set_viewport_size({"width": 390, "height": 844})
    row = page.locator("#matrix-0 tbody tr").first
    for label in ("solver", "status", "outside"):
        shown = row.locator(f"[data-label='{label}']").bounding_box()
        assert shown["x"] + shown["width"] <= 390
        assert shown["y"] + shown["height"] <= 844
    other = page.locator("#matrix-0 tbody tr").nth(1)
    assert not other.locator("[data-label=outside]").is_visible()
    page.close()


def test_address_keeps_the_state(watched: Watched, browser: Any) -> None:
    page = watched.page
    watched.draw("regret")
    page.locator(".chip", has_text="cfr_plus").click()
    page.select_option("#regret [data-switch=metric]", "nash_conv")
    page.locator("#matrix-0 th", has_text="best").locator("button").click()
    page.select_option("#solvers select", "kuhn3")
    address = page.evaluate("location.href")
    again = browser.new_page()
    again.goto(address)
    again.wait_for_selector("#regret [data-drawn] svg", timeout=60_000)
    assert again.evaluate("drawn.get('regret').view.signal('focus')") == "cfr_plus"
    assert again.evaluate("drawn.get('regret').view.signal('metric')") == "nash_conv"
    assert again.evaluate("drawn.get('regret').view.signal('game')") == "kuhn3"
    assert again.locator("#matrix-0 th", has_text="best").get_attribute("aria-sort") == "ascending"
    again.close()


def test_page_of_a_spoiled_address_is_whole(watched: Watched, browser: Any) -> None:
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{watched.address}#sort=matrix-0:length:1")
    page.wait_for_selector("#answer [data-drawn] svg", timeout=60_000)
    page.close()
    assert complaints == []


def test_row_opens_to_candidates_and_files(watched: Watched) -> None:
    page = watched.page
    page.locator("#matrix-0 tbody tr").first.click()
    details = page.locator("#matrix-0 tr.details")
    assert "payoffs" in details.inner_text()
    assert (
        details.locator("a", has_text="profile").get_attribute("href").startswith("run/profiles/")
    )
    page.locator("#matrix-0 tbody tr").first.click()
    assert details.count() == 0


def test_opened_rows_say_what_kind_of_equilibrium_it_is(browser: Any, tmp_path: Path) -> None:
    record = cell("01")
    kind = {
        "undominated": "actions only",
        "subgame_perfect": {"proper": 9, "perfect": 7},
        "sequential": "refuted",
        "quasi_strict": True,
        "index": -1,
    }
    judged = {"sets": 48, "credible": 43, "worst": 2.5, "worst_set": ["P1", "<b>"], "exact": None}
    found = replace(record.equilibria[0], claim="equilibrium", kind=kind, credible=judged)
    page = page_of(browser, tmp_path, replace(record, equilibria=[found])).page
    page.locator("#matrix-0 tbody tr").first.click()
    details = " ".join(page.locator("#matrix-0 tr.details").inner_text().split())
    for said in (
        "43/48, worst 2.5 at P1 <b>",
        "undominated not judged",
        "in 7 of 9 proper subgames",
        "sequential refuted",
        "quasi-strict yes, with index -1",
    ):
        assert said in details
    page.close()


def test_column_sorts_by_value_and_what_is_missing_stands_last(
    browser: Any, tmp_path: Path
) -> None:
    columns = (Column("name"), Column("time", "seconds"))
    rows = [("a", 2.5), ("b", None), ("c", 123.4), ("d", 0.0123456789)]
    opened = opened_with(browser, tmp_path, Table("times", columns, rows))
    head = opened.page.locator("#times th", has_text="time")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert opened.column("times", "name") == ["d", "a", "c", "b"]
    head.locator("button").press("Enter")  # with the keyboard too
    assert head.get_attribute("aria-sort") == "descending"
    assert opened.column("times", "name") == ["c", "a", "d", "b"]
    opened.page.close()


def test_filters_hide_rows(browser: Any, tmp_path: Path) -> None:
    columns = (Column("name"), Column("value", "count"))
    rows = [(Cell(f"row {k % 2}"), Cell(f"{k}", k)) for k in range(20)]
    table = Table("long", columns, rows, filters=("name",))
    opened = opened_with(browser, tmp_path, table)
    page = opened.page
    assert page.locator("#long output").text_content() == "20 rows"
    page.select_option("#long select", "row 1")
    assert opened.column("long", "value") == [str(k) for k in range(1, 20, 2)]
    page.fill("#long input", "ROW 19")
    assert opened.column("long", "value") == ["19"]
    assert page.locator("#long output").text_content() == "1 of 20 rows"
    name, content = opened.saved("long", "csv")
    assert (name, content) == ("long.csv", b"name,value\r\nrow 1,19\r\n")
    page.close()
    assert opened.complaints == []


def test_table_is_saved_with_full_precision(watched: Watched) -> None:
    name, content = watched.saved("matrix-0", "csv")
    assert name == "matrix-0.csv"
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    by_solver = {row["solver"]: row for row in rows}
    assert by_solver.keys() == {"cfr_plus", HOSTILE, CLOSING}
    assert by_solver["cfr_plus"]["time to target"] == "0.0123456789"
    assert by_solver[HOSTILE]["time to target"] == ""


def test_chart_is_saved_as_svg_png_and_csv(watched: Watched) -> None:
    watched.draw("regret")
    name, content = watched.saved("regret", "svg")
    root = ET.fromstring(content)
    assert name == "regret.svg"
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "cfr_plus" in "".join(root.itertext())  # the legend
    name, content = watched.saved("regret", "png")
    assert name == "regret.png"
    width, _ = struct.unpack(">II", content[16:24])
    assert content.startswith(b"\x89PNG")
    assert width > 2 * float(root.attrib["width"]) - 4
    name, content = watched.saved("regret", "csv")
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert (rows[0]["solver"], rows[0]["max_regret"]) == ("cfr_plus", "0.5")


def test_matrix_shows_times_to_other_regrets_when_asked(watched: Watched) -> None:
    page = watched.page
    head = page.locator("#matrix-0 th", has_text="1e-9")
    assert not head.is_visible()
    page.locator("#matrix-0 .columns summary").click()
    page.locator("#matrix-0 .columns label", has_text="1e-9").click()
    assert head.is_visible()
    assert "without=" in page.evaluate("location.hash")


def test_pictures_of_other_programs_may_stand_on_a_page(browser: Any, tmp_path: Path) -> None:
    drawing = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20" width="40" height="20">'
        '<rect width="40" height="20" style="fill: #00ff00"/></svg>'
    )
    picture = Picture("theirs", drawing.encode(), "image/svg+xml", "a box", "How to read it.")
    opened = opened_with(browser, tmp_path, picture)
    color = opened.page.evaluate(
        """async () => {
            const image = document.querySelector("img");
            await image.decode();
            const canvas = document.createElement("canvas").getContext("2d");
            canvas.drawImage(image, 0, 0);
            return [...canvas.getImageData(5, 5, 1, 1).data];
        }"""
    )
    assert color == [0, 255, 0, 255]
    opened.page.close()
    assert opened.complaints == []


def opened_with(browser: Any, folder: Path, block: Any) -> Watched:
    """A page with one block."""
    file = folder / "page.html"
    file.write_text(make_document("A page", {"Part": [block]}), encoding="utf-8")
    return Watched(browser, file)


@pytest.mark.parametrize("width", WIDTHS)
def test_index_is_quiet_and_not_wider_than_the_screen(
    tmp_path: Path, browser: Any, width: int
) -> None:
    for k, name in enumerate(("one", "two", "three"), start=1):
        records = [cell(f"{s}", seed=s, elapsed_s=k + 0.1 * s) for s in range(4)]
        write_run(tmp_path / name, *records)
    *_, index = write_index(runs_in(tmp_path), tmp_path / "index.html")
    watched = Watched(browser, index)
    page = watched.page
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.complaints == []
    assert watched.requests == [watched.address]
