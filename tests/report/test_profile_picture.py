"""Pictures of what profiles play: their numbers, differences, bounds, and names of strangers."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.command import accepted, refused
from helpers.made_games import beer_and_quiche, random_tree

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.game import Game
from eqbench.model.inspection import infoset_reach
from eqbench.model.profile import BehaviorProfile, random_profile
from eqbench.model.words import situation
from eqbench.report.profile_picture import (
    MOST_ROWS,
    Shown,
    blocks,
    draw_profiles,
    rendered,
    sets_of,
    share_text,
)

SVG = "{http://www.w3.org/2000/svg}"
KUHN3 = eqbench.load_game("kuhn3")


def some(game: Game, seed: int = 1) -> BehaviorProfile:
    return BehaviorProfile.of(game, random_profile(game.tree, np.random.default_rng(seed)))


def cells(svg: str) -> list[ET.Element]:
    """Groups of bars, one for each information set and profile."""
    return [each for each in ET.fromstring(svg).iter(f"{SVG}g") if each.get("class") == "set"]


def by_label(svg: str) -> dict[str, ET.Element]:
    return {each[0].text.rpartition(": ")[0]: each for each in cells(svg)}


def widths(group: ET.Element) -> list[float]:
    """Widths of the parts of a bar, as shares of all of it."""
    *parts, frame = group.findall(f"{SVG}rect")
    return [float(part.get("width", 0)) / float(frame.get("width", 1)) for part in parts]


def changed(profile: BehaviorProfile, *labels: str, by: float = 0.1) -> BehaviorProfile:
    """The profile with another first frequency at some information sets."""
    tree, values = profile.known_tree, profile.probabilities.copy()
    for label in labels:
        start = tree.action_start[tree.infoset_labels.index(label)]
        move = by if values[start] < 0.5 else -by
        values[start], values[start + 1] = values[start] + move, values[start + 1] - move
    return replace(BehaviorProfile.of(tree, values), spec=profile.spec)


@pytest.mark.parametrize("name", ["kuhn2", "kuhn3", "skp", "matching_pennies", "jordan"])
def test_bars_and_numbers_are_those_of_the_profile(name: str) -> None:
    game = eqbench.load_game(name)
    profile = some(game)
    drawn = cells(draw_profiles(game, [Shown(profile)]))
    assert len(drawn) == game.tree.n_infosets
    for player, sets in profile.to_json()["behavior"].items():
        for label, row in sets.items():
            shares = [float(Fraction(str(value))) for value in row.values()]
            named = [f"{action} {share_text(x)}" for action, x in zip(row, shares, strict=True)]
            title = f"{label}: {', '.join(named)}".removesuffix(" 1")
            found = [each for each in drawn if each[0].text == title]
            assert found, (player, title)
            np.testing.assert_allclose(widths(found[0]), shares, atol=2e-3)


def test_fractions_stand_as_they_are_and_what_is_played_is_never_rounded_away() -> None:
    texts = map(share_text, [Fraction(1, 3), 0.3333333, 0.0002, 0.9998, 1, 0, 1e-9, 0.5])
    assert [*texts] == ["1/3", "0.333", "<.001", ">.999", "1", "0", "0", "0.5"]


def test_cards_are_columns_and_histories_rows_in_words() -> None:
    grids = blocks(sets_of(KUHN3), KUHN3.wording)
    assert [len(grid.columns) * len(grid.rows) for grid in grids] == [16, 16, 16]
    for grid in grids:
        for history, actions, places in grid.rows:
            for card, at in zip(grid.columns, places, strict=True):
                where = situation(KUHN3.tree.infoset_labels[at], KUHN3)
                assert (where.private, where.history) == (card, history)
                assert KUHN3.tree.infoset_actions[at] == actions


def test_games_without_words_have_a_row_for_each_information_set() -> None:
    tree = random_tree(3)
    grids = blocks(sets_of(Game("random", tree)), None)
    assert [row[0] for grid in grids for row in grid.rows] == [*tree.infoset_labels]


def test_exactly_what_differs_is_framed() -> None:
    profile = some(KUHN3)
    assert "different" not in draw_profiles(KUHN3, [Shown(profile), Shown(profile)])
    for labels in (("3:KK",), ("1:", "4:KBC", "2:B")):
        svg = draw_profiles(KUHN3, [Shown(profile), Shown(changed(profile, *labels))])
        groups = ET.fromstring(svg).iter()
        framed, last = [], ""
        for each in groups:
            if each.get("class") == "set":
                last = each[0].text.rpartition(": ")[0]
            framed += [last] * (each.get("class") == "different")
        assert sorted(framed) == sorted([*labels, *labels])  # in both profiles
    small = changed(profile, "3:KK", by=2e-4)
    assert "different" not in draw_profiles(KUHN3, [Shown(profile), Shown(small)])


def test_what_play_does_not_reach_is_pale_and_judged_only_there() -> None:
    tree = beer_and_quiche()
    game = Game("beer and quiche", tree)
    behavior = np.zeros(tree.n_actions)
    behavior[tree.action_start[:-1]] = 1.0  # every type does the same
    reach = infoset_reach(tree, behavior)
    assert 0 < (reach == 0).sum() < tree.n_infosets
    judged = [False] * tree.n_infosets
    svg = draw_profiles(game, [Shown(BehaviorProfile.of(tree, behavior), "", judged)])
    for label, group in by_label(svg).items():
        is_off = bool(reach[tree.infoset_labels.index(label)] == 0)
        assert (group.get("opacity") is not None) is is_off
        assert (group.find(f"{SVG}path[@class='incredible']") is not None) is is_off


def test_large_games_are_cut_to_what_is_reached_most_and_say_so() -> None:
    game = eqbench.load_game("leduc")
    svg = draw_profiles(game, [Shown(some(game)), Shown(some(game, 2))])
    rows = sum(len(grid.rows) for grid in blocks(sets_of(game), game.wording))
    assert f"{rows - MOST_ROWS} more situations" in svg
    assert len(cells(svg)) <= 2 * 6 * MOST_ROWS
    assert len(svg) < 500_000


def test_payoffs_are_measured() -> None:
    profile = some(KUHN3)
    text = " ".join(
        each.text or ""
        for each in ET.fromstring(draw_profiles(KUHN3, [Shown(profile)])).iter(f"{SVG}text")
    )
    for payoff in eqbench.verify(KUHN3, profile).payoffs:
        assert f"{payoff:.4g}" in text


def test_names_of_strangers_are_text_and_bounded() -> None:
    hostile = '"><script>alert(1)</script>\x1b[31m&' + "x" * 5000
    builder = TreeBuilder((hostile, "b"))
    root = builder.decision(None, 0, hostile, (hostile, "</svg>"))
    for move in range(2):
        builder.terminal((root, move), (0, 0))
    game = Game(hostile, builder.tree())
    svg = draw_profiles(game, [Shown(BehaviorProfile.uniform(game), hostile)] * 2, title=hostile)
    tags = {each.tag for each in ET.fromstring(svg).iter()}
    assert tags <= {f"{SVG}{tag}" for tag in ("svg", "g", "rect", "text", "title", "path")}
    assert svg.isascii()
    assert "\x1b" not in svg
    assert float(ET.fromstring(svg).get("width", "inf")) < 2000


@pytest.mark.parametrize(
    ("suffix", "begin"), [(".png", b"\x89PNG"), (".pdf", b"%PDF-"), (".svg", b"<svg")]
)
def test_pictures_are_files_of_their_kind(suffix: str, begin: bytes) -> None:
    data = rendered(draw_profiles(KUHN3, [Shown(some(KUHN3))]), suffix)
    assert data.startswith(begin)
    with pytest.raises(UsageError, match=r"\.svg, \.png, \.pdf"):
        rendered("<svg/>", ".gif")


# -- the command and Python ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a real run in ``run``."""
    cwd = tmp_path_factory.mktemp("drawn")
    games = ("--game", "kuhn2", "--game", "matching_pennies")
    accepted("run", *games, "--solver", "mccfr,lcp", "--iterations", "99", "--out", "run", cwd=cwd)
    return cwd


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_show_replaces_its_own_picture_and_no_other_file(place: Path, suffix: str) -> None:
    file = place / f"mine.{suffix}"
    words = ("show", "run", "kuhn2/mccfr/0:1", "kuhn2/lcp", "--figure", file)
    for _ in range(2):
        assert f"wrote {file}" in accepted(*words, cwd=place).err
    drawn = file.read_bytes()
    file.write_bytes(b"by hand")
    refused(*words, words="no report of eqbench", cwd=place)
    assert file.read_bytes() == b"by hand"
    assert drawn != b"by hand"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("kuhn2/lcp", "matching_pennies/lcp", "--figure", "x.svg"), "different games"),
        (("kuhn2/lcp", "--figure", "x.gif"), "choose one"),
        (("kuhn2/lcp:7", "--figure", "x.svg"), "no candidate of rank 7"),
        (("kuhn2/lcp", "kuhn2/mccfr"), "--figure FILE"),
        (("kuhn2/lcp", "--candidates", "--figure", "x.svg"), "leave out one"),
        (("kuhn2/lcp", "--rank", "1"), "CELL:K"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    arguments: tuple[str, ...], words: str, place: Path
) -> None:
    refused("show", "run", *arguments, words=words, cwd=place)
    assert not list(place.glob("x.*"))


def test_profiles_draw_themselves_and_each_other(tmp_path: Path) -> None:
    profile = some(KUHN3)
    figure = profile.figure(changed(profile, "3:KK"))
    assert figure.save(tmp_path / "two.pdf").read_bytes().startswith(b"%PDF")
    assert figure.to_svg().count('class="different"') == 2
    assert "after check–check" in ET.tostring(ET.fromstring(figure.to_svg()), "unicode")
    with pytest.raises(eqbench.ProfileError):
        profile.figure(some(eqbench.load_game("kuhn2")))
    with pytest.raises(UsageError, match=r"\.pdf"):
        figure.save(tmp_path / "two.html")


def test_notebooks_show_bars_as_wide_as_frequencies() -> None:
    profile = changed(BehaviorProfile.uniform(eqbench.load_game("kuhn2")), "2:KB", by=0.25)
    html = profile._repr_html_()
    assert re.search(
        r"Q after check–bet</td>.*?inset 2.25em.*?fold 0.25.*?6.75em.*?call 0.75", html
    )
