"""A tree that is opened node by node, in a real browser: its numbers, marks and bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser.test_report_page import WIDTHS, Watched, browser  # noqa: F401
from report.test_tree_page import hostile_game, kuhn2

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.report.html.tree import tree_page

ROWS = ".outline summary, .outline div > span"


def opened(browser: Any, folder: Path, page: str) -> Watched:  # noqa: F811
    (folder / "tree.html").write_text(page, encoding="utf-8")
    return Watched(browser, folder / "tree.html")


@pytest.mark.parametrize("width", WIDTHS)
def test_chosen_node_shows_its_numbers_and_marks_its_information_set(
    browser: Any,  # noqa: F811
    tmp_path: Path,
    width: int,
) -> None:
    watched = opened(browser, tmp_path, tree_page(*kuhn2()))
    page = watched.page
    page.set_viewport_size({"width": width, "height": 900})
    assert page.locator(ROWS).count() == 7  # the root and six deals
    page.get_by_text("open what is played").click()
    page.locator(ROWS, has_text="Q after check–bet").first.click()
    cells = page.locator(".node td").all_text_contents()
    assert cells == [
        *("fold", "1/3", "−1", "−1", "0", "call", "2/3", "2", "−1", "0"),
        *("Q J › check › bet", "1/4", "Q K › check › bet", "3/4"),
    ]
    assert "reached with probability 1/18" in page.locator(".node").inner_text()
    assert page.locator(".same").count() == 2
    page.locator(".within button").nth(1).click()
    assert "reached with probability 1/6" in page.locator(".node").inner_text()
    page.get_by_text("close all").click()
    assert page.locator(ROWS).count() == 7
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.complaints == []
    page.close()


def test_many_nodes_are_made_only_where_they_are_opened(
    browser: Any,  # noqa: F811
    tmp_path: Path,
) -> None:
    game = eqbench.load_game("kuhn(players=2,cards=20)")
    watched = opened(browser, tmp_path, tree_page(game, BehaviorProfile.uniform(game)))
    assert watched.page.locator(ROWS).count() == 51  # of 380 deals
    watched.page.get_by_text("open what is played").click()
    assert watched.page.locator(ROWS).count() < 400
    watched.page.evaluate("document.querySelector('.outline > details > button').click()")
    assert watched.page.locator(ROWS).count() < 450
    assert watched.complaints == []
    watched.page.close()


def test_hostile_labels_are_shown_and_not_run(browser: Any, tmp_path: Path) -> None:  # noqa: F811
    game = hostile_game()
    watched = opened(browser, tmp_path, tree_page(game, BehaviorProfile.uniform(game)))
    watched.page.get_by_text("follow the likeliest play").click()
    assert "onerror" in watched.page.locator(".path").inner_text()
    assert watched.page.locator("img").count() == 0
    assert watched.complaints == []
    watched.page.close()
