"""What is printed and written about a cross-play, and which profiles count as one."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction

import pytest
from crossplay_cases import battle, found_of, kuhn2_member, nothing_left_out, random_entries

import eqbench
from eqbench.model.profile import BehaviorProfile
from eqbench.report.terminal import plain_text, print_report
from eqbench.studies.crossplay import measure as crossplay_measure
from eqbench.studies.crossplay.measure import Crossplay, combinations_csv
from eqbench.studies.crossplay.study import CrossplayStudy, Found, summary, without_copies


def test_copies_are_told_by_plans_not_by_behavior_that_never_shows() -> None:
    """Card 3 of Kuhn poker bet with certainty: what it would do after a check is no difference."""
    game, first = eqbench.load_game("kuhn2"), kuhn2_member(Fraction(1, 3))
    unseen = kuhn2_member(Fraction(1, 3), king=Fraction(0))
    found = [
        Found("first", first),
        Found("unseen", unseen),
        Found("near", moved(first, Fraction(1, 10**7))),
        Found("far", moved(first, Fraction(1, 10**5))),
    ]
    for exact, different in ((False, ["first", "far"]), (True, ["first", "near", "far"])):
        kept, copies = without_copies(game, found, exact=exact)
        assert [item.source for item in kept] == different
        assert all(kept.source == "first" for _, kept in copies)
        assert len(kept) + len(copies) == len(found)


def moved(profile: BehaviorProfile, distance: Fraction) -> BehaviorProfile:
    """The first two frequencies, of one information set, changed by so much."""
    more, less, *rest = profile.exact or ()
    tree = eqbench.load_game("kuhn2").tree
    return BehaviorProfile.of_exact(tree, [more + distance, less - distance, *rest])


def test_shares_count_strategies_that_are_rounded_differently_once() -> None:
    """Entries B and C hold strategies of A, up to 1e-7; player 2 of kuhn2 has only one."""
    game, first = eqbench.load_game("kuhn2"), kuhn2_member(Fraction(1, 5))
    other = kuhn2_member(Fraction(1, 3))
    entries = [("A", first), ("B", moved(first, Fraction(1, 10**7))), ("C", other)]
    document = summary(Crossplay(game, entries), found_of(entries), [], nothing_left_out())
    combinations = {"strategies": [2, 1], "count": 2, "equilibria": 2, "share": 1.0}
    assert document["combinations"] == combinations
    exactly = Crossplay(game, entries, exact=True)
    assert (exactly.n_strategies, exactly.n_equilibria) == ((3, 1), 2)


def test_many_entries_with_few_strategies_are_counted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crossplay_measure, "MOST_VERIFIED", 2)
    game, first = eqbench.load_game("kuhn2"), kuhn2_member(Fraction(1, 5))
    again = moved(first, Fraction(1, 10**7))
    result = Crossplay(game, [("A", first), ("B", again), ("C", kuhn2_member(Fraction(1, 3)))])
    assert result.regrets is None
    assert (result.n_strategies, result.n_equilibria) == ((2, 1), 2)


def test_summary_holds_floats_and_the_same_as_fractions() -> None:
    game, entries = battle()
    found = found_of(entries)
    copies = [(Found("copy", found[0].profile), found[1])]
    document = summary(Crossplay(game, entries, exact=True), found, copies, nothing_left_out())
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["copies"] == [{"source": "copy", "same_as": "second"}]
    assert document["entries"][2] == {
        "label": "mixed",
        "source": "mixed",
        "identity": None,
        "payoffs": [2 / 3, 2 / 3],
        "max_regret": 0,
    }
    worst = document["worst_cases"][0]["others_agree"]
    assert worst["payoffs"] == [0, 0, 1 / 3]
    assert worst["entries"][0] == ["first", "second"]
    assert worst["best"] == ["mixed"]
    exact = document["exact"]
    assert exact["worst_cases"][0]["others_agree"]["payoffs"] == ["0", "0", "1/3"]
    assert exact["own"][2]["payoffs"] == ["2/3", "2/3"]
    assert document["interchange"][1]["equilibrium"][0] == [True, False, False]
    assert "exact" not in summary(Crossplay(game, entries), found, [], nothing_left_out())


def test_csv_has_every_combination() -> None:
    game, entries = battle()
    result = Crossplay(game, entries, exact=True)
    rows = list(csv.DictReader(io.StringIO(combinations_csv(result))))
    assert len(rows) == 9
    (mixed,) = [r for r in rows if (r["entry_P1"], r["entry_P2"]) == ("first", "mixed")]
    assert (mixed["payoff_P1"], mixed["payoff_P2"]) == ("2/3", "1/3")
    # P2 answers the first place by going there, and gains 2/3
    assert (mixed["regret_P1"], mixed["regret_P2"], mixed["max_regret"]) == ("0", "2/3", "2/3")
    assert [row["equilibrium"] for row in rows].count("True") == 3


def printed(result: Crossplay, entries: list[tuple[str, BehaviorProfile]], width: int) -> str:
    report = CrossplayStudy.report(summary(result, found_of(entries), [], nothing_left_out()))
    return plain_text(lambda console: print_report(report, console), width)


@pytest.mark.parametrize("width", [60, 140])
def test_tables_fit_the_width_and_nothing_is_cut(width: int) -> None:
    game = eqbench.load_game("skp")
    entries = random_entries(game, 8)
    text = printed(Crossplay(game, entries), entries, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in " ".join(text.split()).replace("P1, P2, …", "")


def test_matrix_that_is_too_wide_to_read_is_counted() -> None:
    game, entries = battle()
    many = [(f"{label}{k}", profile) for k in range(21) for label, profile in entries]
    text = printed(Crossplay(game, many), many, 150)
    assert "of 3969 pairs are equilibria; too wide to print" in text
