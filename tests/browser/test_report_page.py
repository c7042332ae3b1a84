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
from helpers.runs import cell, identified, identity, write_run

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


CHARTS = ("regret", "payoffs", "pairs", "memory", "times")


def test_every_part_is_drawn_and_hostile_names_stay_names(watched: Watched) -> None:
    page = watched.page
    assert page.locator("h2").count() == 7
    page.select_option("#solvers select", "kuhn3")  # whose equilibria differ in payoffs
    for name in CHARTS:
        watched.draw(name)
        assert page.locator(f"#{name} svg").last.bounding_box()["height"] > 60
    assert page.locator("img").count() == 0
    for name in (HOSTILE, CLOSING):
        assert name in watched.column("results", "solver")
        assert page.locator(".chip", has_text=name).count() == 1
    assert page.locator("#memory svg text", has_text=HOSTILE).count() == 1


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
    watched.draw("memory")
    chip = page.locator(".chip", has_text="cfr_plus")
    chip.focus()
    page.keyboard.press("Enter")
    page.mouse.move(0, 0)
    page.wait_for_function("drawn.get('memory').view.signal('focus') === 'cfr_plus'")
    assert watched.signal("regret", "focus") == "cfr_plus"
    assert chip.get_attribute("aria-pressed") == "true"
    assert page.locator("#results tr.on").count() == 3
    chip.click(modifiers=["Shift"])
    page.wait_for_function("drawn.get('regret').view.signal('hidden').length === 1")
    assert watched.signal("memory", "hidden") == ["cfr_plus"]
    assert page.locator("#results tr.gone").count() == 3
    page.get_by_text("show all").click()
    page.wait_for_function("drawn.get('regret').view.signal('hidden').length === 0")


def test_rows_and_curves_are_linked(watched: Watched) -> None:
    watched.draw("regret")
    watched.page.locator("#results tbody tr").first.hover()
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


def test_rows_of_other_solvers_are_dimmed_even_if_nothing_is_drawn_of_them(
    watched: Watched,
) -> None:
    page = watched.page
    chip = page.locator(".chip", has_text="cfr_plus")
    chip.click()
    row = page.locator("#results tbody tr", has_text="sequence_lp")
    assert "off" in row.get_attribute("class").split()
    chip.focus()
    page.keyboard.press("Shift+Enter")  # the keyboard hides too
    assert chip.get_attribute("aria-label") == "cfr_plus, hidden"


def test_first_screen_of_a_telephone_says_who_found_what(browser: Any, tmp_path: Path) -> None:
    record = identified(cell("01", solver="cfr_plus"), identity("kuhn2"))
    page = page_of(browser, tmp_path, record).page
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    head = page.locator("#matrix-0 thead th").nth(1)
    assert head.inner_text() == "status"
    shown = page.locator("#matrix-0 tbody td:visible").nth(1).bounding_box()
    assert shown["x"] + shown["width"] <= 390
    assert shown["y"] + shown["height"] <= 844
    page.close()


def test_address_keeps_the_state(watched: Watched, browser: Any) -> None:
    page = watched.page
    watched.draw("regret")
    page.locator(".chip", has_text="cfr_plus").click()
    page.select_option("#regret [data-switch=metric]", "nash_conv")
    page.locator("#results th", has_text="time").locator("button").click()
    page.fill("#results input[type=search]", "kuhn2")
    page.select_option("#solvers select", "kuhn3")
    address = page.evaluate("location.href")
    again = browser.new_page()
    again.goto(address)
    again.wait_for_selector("#regret [data-drawn] svg", timeout=60_000)
    assert again.evaluate("drawn.get('regret').view.signal('focus')") == "cfr_plus"
    assert again.evaluate("drawn.get('regret').view.signal('metric')") == "nash_conv"
    assert again.evaluate("drawn.get('regret').view.signal('game')") == "kuhn3"
    assert again.locator("#results th", has_text="time").get_attribute("aria-sort") == "ascending"
    assert again.input_value("#results input[type=search]") == "kuhn2"
    again.close()


def test_page_of_a_spoiled_address_is_whole(watched: Watched, browser: Any) -> None:
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{watched.address}#sort=results:length:1")
    page.wait_for_selector("#regret [data-drawn] svg", timeout=60_000)
    page.close()
    assert complaints == []


def test_row_opens_to_candidates_strategies_and_files(watched: Watched) -> None:
    page = watched.page
    page.locator("#results tbody tr").first.click()
    details = page.locator("#results tr.details")
    assert "payoffs" in details.inner_text()
    assert (
        details.locator("a", has_text="profile").get_attribute("href").startswith("run/profiles/")
    )
    details.locator("summary").click()
    assert "bet 0.75" in details.inner_text()
    page.locator("#results tbody tr").first.click()
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
    page.locator("#results tbody tr").first.click()
    details = " ".join(page.locator("#results tr.details").inner_text().split())
    for said in (
        "43/48, worst 2.5 at P1 <b>",
        "undominated actions only",
        "subgame-perfect 7/9",
        "sequential refuted",
        "quasi-strict yes, index -1",
    ):
        assert said in details
    page.close()


def test_column_sorts_by_value_and_what_is_missing_stands_last(watched: Watched) -> None:
    head = watched.page.locator("#results th", has_text="time")
    before = watched.column("results", "time")
    head.locator("button").click()
    rising = watched.column("results", "time")
    assert head.get_attribute("aria-sort") == "ascending"
    assert (rising[0], rising[-2:]) == ("12.3 ms", ["123 s", "–"])
    head.locator("button").press("Enter")  # with the keyboard too
    falling = watched.column("results", "time")
    assert head.get_attribute("aria-sort") == "descending"
    assert (falling[0], falling[-1]) == ("123 s", "–")
    assert sorted(before) == sorted(rising) == sorted(falling)


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
    name, content = watched.saved("results", "csv")
    assert name == "results.csv"
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert len(rows) == 9
    assert rows[0]["time"] == "0.0123456789"
    assert rows[1]["solver"] == HOSTILE
    assert rows[3]["max regret"] == ""


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
def test_index_is_quiet_and_any_two_runs_can_be_chosen(
    tmp_path: Path, browser: Any, width: int
) -> None:
    for k, name in enumerate(("one", "two", "three"), start=1):
        records = [cell(f"{s}", seed=s, elapsed_s=k + 0.1 * s) for s in range(4)]
        write_run(tmp_path / name, *records)
    *_, index = write_index(runs_in(tmp_path), tmp_path / "index.html")
    watched = Watched(browser, index)
    page = watched.page
    page.set_viewport_size({"width": width, "height": 900})
    watched.draw("pairs")
    page.select_option('#pairs [data-switch="first"]', "all of one")
    page.select_option('#pairs [data-switch="second"]', "all of three")
    watched.draw("pairs")
    assert watched.signal("pairs", "first") == "all of one"
    assert page.locator("#pairs .mark-symbol path").count() >= 4
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.complaints == []
    assert watched.requests == [watched.address]
