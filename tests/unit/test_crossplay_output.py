"""What is printed and written about a cross-play, and which profiles count as one."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction

import pytest
from crossplay_cases import battle, found_of, kuhn2_member, random_entries
from rich.console import Console

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.studies.crossplay import Crossplay, crossplay, crossplay_exactly
from eqbench.studies.crossplay_entries import Found, without_copies
from eqbench.studies.crossplay_summary import combinations_csv, summary
from eqbench.studies.crossplay_tables import print_crossplay


def test_copies_are_told_by_plans_not_by_behavior_that_never_shows() -> None:
    """Card 3 of Kuhn poker bet with certainty: what it would do after a check is no difference."""
    game = eqbench.load_game("kuhn2")
    tree, first = game.tree, kuhn2_member(Fraction(1, 3))
    start = tree.action_start[tree.infoset_of(0, "3:KB")]
    frequencies = list(first.exact or ())
    frequencies[start : start + 2] = [Fraction(1), Fraction(0)]
    unseen = BehaviorProfile.of_exact(tree, frequencies)
    near = first.probabilities.copy()
    near[:2] += [1e-10, -1e-10]
    far = first.probabilities.copy()
    far[:2] += [1e-8, -1e-8]
    found = [
        Found("first", first),
        Found("unseen", unseen),
        Found("near", BehaviorProfile.of(tree, near)),
        Found("far", BehaviorProfile.of(tree, far)),
    ]
    kept, copies = without_copies(game, found)
    assert [item.source for item in kept] == ["first", "far"]
    pairs = [(copy.source, kept.source) for copy, kept in copies]
    assert pairs == [("unseen", "first"), ("near", "first")]


def test_summary_holds_floats_and_the_same_as_fractions() -> None:
    game, entries = battle()
    found = found_of(entries)
    document = summary(
        crossplay_exactly(game, entries), found, [(Found("copy", found[0].profile), found[1])]
    )
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["schema"] == "eqbench.crossplay/1"
    assert document["copies"] == [{"source": "copy", "same_as": "second"}]
    assert document["combinations"] == {"count": 9, "equilibria": 3, "share": 1 / 3}
    worst = document["worst_cases"][0]["others_agree"]
    assert worst["payoffs"] == [0, 0, 1 / 3]
    assert worst["entries"][0] == ["first", "second"]
    assert worst["best"] == ["mixed"]
    exact = document["exact"]
    assert exact["worst_cases"][0]["others_agree"]["payoffs"] == ["0", "0", "1/3"]
    assert exact["own"][2]["payoffs"] == ["2/3", "2/3"]
    assert document["interchange"][1]["equilibrium"][0] == [True, False, False]
    assert "exact" not in summary(crossplay(game, entries), found, [])


def test_csv_has_every_combination() -> None:
    game, entries = battle()
    result = crossplay_exactly(game, entries)
    rows = list(csv.DictReader(io.StringIO(combinations_csv(result))))
    assert len(rows) == 9
    (mixed,) = [r for r in rows if (r["entry_P1"], r["entry_P2"]) == ("first", "mixed")]
    assert (mixed["payoff_P1"], mixed["payoff_P2"]) == ("2/3", "1/3")
    # P2 answers the first place by going there, and gains 2/3
    assert (mixed["regret_P1"], mixed["regret_P2"], mixed["max_regret"]) == ("0", "2/3", "2/3")
    assert [row["equilibrium"] for row in rows].count("True") == 3


def printed(result: Crossplay, entries: list[tuple[str, BehaviorProfile]], width: int) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as capture:
        print_crossplay(result, found_of(entries), [], console)
    return capture.get()


@pytest.mark.parametrize(("width", "gains"), [(60, False), (70, True), (140, True)])
def test_tables_show_gains_where_they_fit_and_signs_elsewhere(width: int, gains: bool) -> None:
    game = eqbench.load_game("skp")
    entries = random_entries(game, 8)
    text = printed(crossplay(game, entries), entries, width)
    assert max(map(len, text.splitlines())) <= width
    text = " ".join(text.split())
    assert "…" not in text.replace("P1, P2, …", "")
    assert ("otherwise the largest gain" in text) == gains
    assert ("=: an equilibrium; .: not one." in text) == (not gains)
    assert "themselves no equilibrium" in text
    assert text.count("follows the row") == 3


def test_tables_of_two_players_show_one_matrix_and_mark_the_best() -> None:
    game, entries = battle()
    text = printed(crossplay_exactly(game, entries), entries, 140)
    assert text.count("follows the row") == 1
    assert "3 of 9 combinations are equilibria (33.3%)" in text
    assert "1/3*" in text
    assert "(first second)" in text


def test_identities_stand_with_all_parameters_where_these_fit_and_else_with_one() -> None:
    game, entries = battle()
    facts = {"on_path": True, "strict": True, "leading": None, "parameters": {}}
    family = {"name": "family", "leading": "beta", "parameters": {"beta": 0.25, "b11": 1 / 3}}
    known = [
        facts | family | {"strict": False},
        facts | {"name": "elsewhere", "on_path": False},
        facts | {"name": "cluster:2", "strict": False},
    ]
    pairs = zip(found_of(entries), known, strict=True)
    found = [Found(item.source, item.profile, identity) for item, identity in pairs]
    console = Console(file=io.StringIO(), width=140, color_system=None)
    texts = {}
    for width in (140, 60):
        with console.capture() as capture:
            console.width = width
            print_crossplay(crossplay(game, entries), found, [], console)
        texts[width] = capture.get()
    assert "family* (beta=0.25, b11=0.333)" in texts[140]
    assert "β=0.25" in texts[60]
    assert "b11" not in texts[60]
    for text in texts.values():
        assert "≈ elsewhere" in text
        assert "cluster:2" in text
        assert "agrees with it on the path of play" in text
