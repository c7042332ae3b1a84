"""The card of what is played, in a real browser: its numbers, differences, sliders and bounds."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser.test_report_page import Watched, browser  # noqa: F401
from helpers.command import accepted
from helpers.pages import CLOSING, HOSTILE

import eqbench
from eqbench.equilibria import known_sets
from eqbench.model.words import situation
from eqbench.report.html import equilibria
from eqbench.report.writing import page_of as page_text
from eqbench.store.stored_run import read_run

CARD = "DATA.played['played-0']"
# what a side of the card shows of a label: its bars, text and classes
SHOWN = """([side, start]) => {
    const part = document.querySelectorAll("#played-0 .side")[side];
    const sets = [...part.querySelectorAll(".set")];
    const share = (bar) => parseFloat(bar.style.width) / 100;
    const widths = (set) => [...set.querySelectorAll("i")].map(share);
    return sets.map((set) => [set.title.split(": ")[0], widths(set), [...set.classList]]);
}"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in which two equilibria of one game are found."""
    folder = tmp_path_factory.mktemp("played")
    words = ("--game", "kuhn3", "--solver", "semismooth,logit,cfr_plus", "--iterations", "2000")
    accepted("run", *words, "--out", "run", cwd=folder)
    (folder / "run" / "report.html").write_text(
        page_text([read_run(folder / "run")], place=folder / "run"), encoding="utf-8"
    )
    return folder / "run"


@pytest.fixture
def opened(browser: Any, run: Path) -> Any:  # noqa: F811
    page = Watched(browser, run / "report.html")
    page.page.locator("nav a", has_text="What is played").click()
    yield page
    page.page.close()
    assert page.complaints == []
    assert [url for url in page.requests if not url.startswith("blob:")] == [page.address]


def choose(page: Any, side: int, place: int) -> None:
    page.locator("#played-0 select").nth(side).select_option(str(place))


def in_words(player: str, label: str) -> str:
    where = situation(label, eqbench.load_game("kuhn3"))
    return f"{player} with {where.private} {where.history}"


def behavior_of(stored: Any, solver: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = stored.profile(solver).to_json()["behavior"]
    return found


def test_bars_and_frames_are_those_of_the_stored_profiles(opened: Watched) -> None:
    page, stored = opened.page, eqbench.load_run(Path(opened.address[7:]).parent)
    profiles = page.evaluate(f"{CARD}.profiles")
    assert len(profiles) == 3
    for first, second in ((0, 1), (2, 0)):
        choose(page, 0, first)
        choose(page, 1, second)
        rows = [
            {
                in_words(player, label): row
                for player, own in behavior_of(stored, profiles[k]["solver"]).items()
                for label, row in own.items()
            }
            for k in (first, second)
        ]
        behavior = [
            {k: [float(Fraction(str(v))) for v in r.values()] for k, r in of.items()} for of in rows
        ]
        for side in (0, 1):
            shown = page.evaluate(SHOWN, [side, 0])
            assert {label for label, *_ in shown} == behavior[side].keys()
            for label, widths, classes in shown:
                np.testing.assert_allclose(widths, behavior[side][label], atol=2e-5)
                gap = np.abs(np.subtract(behavior[0][label], behavior[1][label])).max()
                if abs(gap - 5e-4) > 2e-5:
                    assert ("different" in classes) is bool(gap > 5e-4), label


def test_an_opened_row_leads_to_what_its_candidate_plays(opened: Watched) -> None:
    page = opened.page
    row = page.locator("#matrix-0 tbody tr:has(td.good:not(:nth-child(2)))").last
    row.click()
    page.locator("#matrix-0 .details a", has_text="what it plays").first.click()
    chosen = page.locator("[data-played] select").first.evaluate("s => Number(s.value)")
    solver = page.evaluate("k => DATA.played['played-0'].profiles[k].solver", chosen)
    assert solver in row.inner_text()
    row.click()


def test_sliders_show_members_of_the_published_sets(opened: Watched) -> None:
    page, game = opened.page, eqbench.load_game("kuhn3")
    count = len(page.evaluate(f"{CARD}.profiles"))
    for place, known in enumerate(known_sets(game)):
        choose(page, 0, count + place)
        page.evaluate("document.querySelector('.side details').open = true")
        moved = page.evaluate(
            """(share) => document.querySelector(".side").querySelectorAll(".slide input")
                .forEach((input) => {
                    const [low, high] = [Number(input.min), Number(input.max)];
                    input.value = low + share * (high - low);
                    input.dispatchEvent(new Event("input"));
                })""",
            0.3 + 0.2 * place,
        )
        assert moved is None
        shown = {label: widths for label, widths, _ in page.evaluate(SHOWN, [0, 0])}
        players = [game.tree.players[p] for p in game.tree.infoset_player]
        sets = map(in_words, players, game.tree.infoset_labels)
        behavior = np.concatenate([shown[words] for words in sets])
        parameters = known.read(known.layout.frequencies(behavior))
        assert known.violations(parameters).max() <= 1e-5  # texts of widths are rounded
        np.testing.assert_allclose(
            behavior, known.layout.behavior(known.frequencies(parameters)), atol=1e-5
        )
        paid = page.evaluate("document.querySelector('.payoffs b').textContent")
        figures = [float(part.split()[-1]) for part in paid.split(", ")]
        np.testing.assert_allclose(figures, known.payoffs_near(parameters), atol=1e-4)
        member = np.clip(known.layout.behavior(known.frequencies(parameters)), 0, 1)
        measured = eqbench.verify(game, eqbench.BehaviorProfile.of(game, member))
        np.testing.assert_allclose(figures, measured.payoffs, atol=1e-4)


def test_the_first_parameter_reaches_both_ends_of_its_range(opened: Watched) -> None:
    page = opened.page
    count = len(page.evaluate(f"{CARD}.profiles"))
    for place, known in enumerate(page.evaluate(f"{CARD}.published.map((k) => k.parameters)")):
        choose(page, 0, count + place)
        for end in ("low", "high"):
            page.evaluate(
                """(value) => { const input = document.querySelector(".slide input");
                    input.value = value; input.dispatchEvent(new Event("input")); }""",
                known[0][end],
            )
            text = page.evaluate("document.querySelector('.slide output').textContent")
            assert float(text) == pytest.approx(known[0][end], abs=1e-3)


@pytest.mark.parametrize("width", [390, 1400])
def test_the_card_fits_the_screen(opened: Watched, width: int) -> None:
    opened.page.set_viewport_size({"width": width, "height": 900})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_narrow_screen_two_equilibria_stand_below_each_other(opened: Watched) -> None:
    opened.page.set_viewport_size({"width": 390, "height": 900})
    choose(opened.page, 1, 1)
    one, two = opened.page.locator("#played-0 .side").evaluate_all(
        "all => all.map((side) => side.getBoundingClientRect().toJSON())"
    )
    assert one["bottom"] <= two["top"]
    assert one["left"] == two["left"]


def test_no_text_shows_what_is_missing_as_a_program_writes_it(
    browser: Any,  # noqa: F811
    tmp_path: Path,
) -> None:
    accepted("run", "--game", "leduc", "--solver", "sequence_lp", "--out", "run", cwd=tmp_path)
    page = tmp_path / "page.html"
    page.write_text(page_text([read_run(tmp_path / "run")], place=tmp_path), encoding="utf-8")
    opened = Watched(browser, page)
    opened.page.locator("#matrix-0 tbody tr[data-cells]").click()
    text = opened.page.evaluate("document.querySelector('main').textContent")
    assert not re.findall(r"undefined|null|NaN", text)
    assert opened.page.locator("#played-0 .absent").first.text_content() == "–"
    opened.page.close()
    assert opened.complaints == []


def test_names_of_strangers_stay_text(browser: Any, run: Path, tmp_path: Path) -> None:  # noqa: F811
    for file in (run / "profiles").glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
        text = json.loads(file.read_text())
        sets = next(iter(text["behavior"].values()))
        text["behavior"] = {HOSTILE: sets | {CLOSING: {HOSTILE: 1.0}}}
        file.write_text(json.dumps(text))
    lines = (run / "runs.jsonl").read_text()
    (run / "runs.jsonl").write_text(lines.replace("kuhn(players=3", "unknown(players=3"))
    try:
        page = tmp_path / "page.html"
        page.write_text(page_text([read_run(run)], place=tmp_path), encoding="utf-8")
    finally:
        (run / "runs.jsonl").write_text(lines)
        for file in tmp_path.glob("*.json"):
            (run / "profiles" / file.name).write_bytes(file.read_bytes())
    opened = Watched(browser, page)
    assert HOSTILE in opened.page.locator("#played-0 thead th").first.text_content()
    opened.page.close()
    assert opened.complaints == []


def test_profiles_beyond_the_room_are_files_and_no_others(
    browser: Any,  # noqa: F811
    run: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(equilibria, "MOST_FREQUENCIES", 100)  # a profile of kuhn3 has 96
    page, stored = run / "small.html", read_run(run)
    page.write_text(page_text([stored], place=run), encoding="utf-8")
    opened = Watched(browser, page)
    assert opened.page.evaluate(f"[{CARD}.profiles.length, {CARD}.others]") == [1, 2]
    links = opened.page.locator("#played-0 figcaption a").evaluate_all(
        "all => all.map((a) => a.href)"
    )
    assert len(links) == 2
    assert all(Path(link[7:]).exists() for link in links)
    page.write_text(page_text([stored]), encoding="utf-8")  # for any place
    opened.page.reload()
    assert opened.page.locator("#played-0 a").count() == 0
    assert "eqbench show" in opened.page.locator("#played-0 figcaption").text_content()
    opened.page.close()
