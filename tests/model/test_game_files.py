"""What game files mean: labels, payoffs on the way, numbers, both layouts, and writing them."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from fuzz_game_files import fuzz
from helpers.gambit_games import assert_same_game
from helpers.walks import label_at, payoffs_at

import eqbench
from eqbench.errors import UsageError
from eqbench.model.builder import TreeBuilder
from eqbench.model.gambit_text import efg_text, nfg_text
from eqbench.model.tree import CHANCE, GameTree
from eqbench.model.tree_files import content_hash
from eqbench.registry import default_registry
from eqbench.spec import parse_spec, split_specs

EFG = 'EFG 2 R "t" { "A" "B" }\n'
ROOT = 'p "" 1 1 "x" { "l" "r" } 0\n'
ENDS = 't "" 1 "o" { 1 2 }\nt "" 2 "q" { 3 4 }\n'


@pytest.fixture
def read(tmp_path: Path):
    def tree_of(text: str, suffix: str = ".efg") -> GameTree:
        path = tmp_path / f"game{suffix}"
        path.write_bytes(text.encode())
        return eqbench.load_game(str(path)).tree

    return tree_of


def test_a_file_is_read_as_it_is_written(read) -> None:
    tree = read(EFG + '"a comment\nof two lines"\n' + ROOT + ENDS)
    assert tree.players == ("A", "B")
    assert label_at(tree, []) == ("A", "x", ("l", "r"))
    assert payoffs_at(tree, ["l"]) == [1, 2]
    assert payoffs_at(tree, ["r"]) == [3, 4]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + EFG + ROOT + ENDS,
        (EFG + ROOT + ENDS).replace("\n", "\r\n"),
        (EFG + ROOT + ENDS).replace("\n", " "),
        (EFG + ROOT + ENDS).replace("EFG 2 R", "EFG 2 D").replace(" 2 }", ", 2 }"),
        (EFG + ROOT + ENDS).replace('"o" {', "{").replace("{ 3 4 }", "{3,4}"),
    ],
    ids=["byte order mark", "line ends of Windows", "one line", "D and commas", "no name"],
)
def test_the_form_of_a_file_does_not_matter(read, text: str) -> None:
    assert content_hash(read(text)) == content_hash(read(EFG + ROOT + ENDS))


def test_payoffs_on_the_way_add_up(read) -> None:
    tree = read(
        EFG + ROOT.replace(" 0\n", ' 7 "gain" { 10, -1 }\n')
        + 'c "" 1 "" { "" 1/2 "" 1/2 } 8 "more" { 1/2, 0 }\n' + ENDS + 't "" 7\n'
    )  # fmt: skip
    assert payoffs_at(tree, ["l", 0]) == [Fraction(23, 2), 1]
    assert payoffs_at(tree, ["l", 1]) == [Fraction(27, 2), 3]
    assert payoffs_at(tree, ["r"]) == [20, -2]


def test_numbers_are_exact(read) -> None:
    tree = read(EFG + ROOT + 't "" 1 "" { 0.1 -1/3 }\nt "" 2 "" { 2.5e-3 .5 }\n')
    assert payoffs_at(tree, ["l"]) == [Fraction(1, 10), Fraction(-1, 3)]
    assert payoffs_at(tree, ["r"]) == [Fraction(1, 400), Fraction(1, 2)]


def test_numbers_with_too_many_digits_for_one_denominator_become_floats(read) -> None:
    tree = read(EFG + ROOT + 't "" 1 "" { 1/1000000007 1/998244353 }\nt "" 2 "" { 1/999999937 0 }')
    assert not tree.exact
    assert tree.payoffs.table.tolist() == [[1 / 1000000007, 1 / 998244353], [1 / 999999937, 0]]


def test_what_never_happens_or_leaves_no_choice_is_allowed(read) -> None:
    tree = read(
        'EFG 2 R "t" { "A" "B" "idle" }\nc "" 1 "" { "never" 0 "always" 1 } 0\n'
        't "" 1 "" { 1 2 3 }\np "" 1 1 "forced" { "go" } 0\n'
        'p "" 2 1 "" { "l" "r" } 0\nt "" 2 "" { 3 4 5 }\nt "" 2\n'
    )
    assert tree.chance_probability[1:3].tolist() == [0, 1]
    assert [len(tree.infosets_of(player)) for player in range(3)] == [1, 1, 0]
    assert tree.infoset_actions == (("go",), ("l", "r"))


def test_definitions_may_be_left_out_the_second_time(read) -> None:
    second = 'p "" 2 3 "y" { "u" "d" } 0\n' + ENDS
    tree = read(EFG + ROOT + second + 'p "" 2 3 0\nt "" 1\nt "" 2 "q"\n')
    assert tree.n_infosets == 2
    assert payoffs_at(tree, ["r", "d"]) == [3, 4]
    chance = 'c "" 5 "" { "" 1/3 "" 2/3 } 0\n' + ENDS
    tree = read(EFG + ROOT + chance + 'c "" 5 0\nt "" 1\nt "" 1\n')
    assert tree.chance[3:].tolist() == [1, 2, 1, 2]


def test_sets_of_two_players_with_one_number_are_two_sets(read) -> None:
    tree = read(EFG + ROOT + 'p "" 2 1 "x" { "u" "m" "d" } 0\n' + ENDS + 't "" 0\nt "" 1\n')
    assert label_at(tree, ["l"]) == ("B", "x", ("u", "m", "d"))
    assert payoffs_at(tree, ["l", "d"]) == [0, 0]


def test_players_without_distinct_names_are_numbered(read) -> None:
    tree = read('EFG 2 R "t" { "A" "" "A" "P1" }\n' + ROOT + 't "" 0\nt "" 0\n')
    assert tree.players == ("P1_", "P2", "P3", "P1")


def test_actions_with_equal_labels_are_numbered(read) -> None:
    tree = read(EFG + 'p "" 1 1 "x" { "l" "" "l" "l_1" "" } 0\n' + 't "" 0\n' * 5)
    assert tree.infoset_actions == (("l_1_", "_2", "l_3", "l_1", "_5"),)


def test_information_sets_with_equal_labels_get_their_numbers(read) -> None:
    nodes = "".join(f'p "" 2 {k} "{label}" {{ "u" }} 0\nt "" 0\n' for k, label in
                    ((4, ""), (9, ""), (2, "y"), (3, "y"), (7, "z")))  # fmt: skip
    root = 'p "" 1 1 "" { "a" "b" "c" "d" "e" } 0\n'
    tree = read(EFG + root + nodes)
    assert tree.infoset_labels == ("", "y_2", "y_3", "4", "z", "9")


def test_information_sets_stand_in_the_order_of_their_numbers(read) -> None:
    sets = [f'p "" 2 {k} "s{k}" {{ "u" }} 0\nt "" 0\n' for k in (12, 3)]
    assert read(EFG + ROOT + "".join(sets)).infoset_labels == ("x", "s3", "s12")


def test_strategic_forms_run_through_the_first_players_strategies_first(read) -> None:
    tree = read('NFG 1 R "t" { "A" "B" } { 2 3 }\n' + " ".join(map(str, range(12))), ".nfg")
    assert tree.players == ("A", "B")
    assert tree.infoset_actions == (("1", "2"), ("1", "2", "3"))
    assert payoffs_at(tree, ["2", "1"]) == [2, 3]
    assert payoffs_at(tree, ["1", "3"]) == [8, 9]


def test_strategic_forms_may_name_outcomes(read) -> None:
    tree = read(
        'NFG 1 D "t" { "A" "B" "C" } { { "a" "b" } { "c" "c" } { "" } }\n"note"\n'
        '{ { "win" 1, 2, 3 } { "" 1/2 0 -1 } }\n1 2 0 1\n',
        ".nfg",
    )
    assert tree.infoset_actions == (("a", "b"), ("c_1", "c_2"), ("",))
    assert payoffs_at(tree, ["b", "c_1", ""]) == [Fraction(1, 2), 0, -1]
    assert payoffs_at(tree, ["a", "c_2", ""]) == [0, 0, 0]
    assert payoffs_at(tree, ["b", "c_2", ""]) == [1, 2, 3]


@pytest.mark.parametrize(
    "spec",
    [
        *("goofspiel", "jordan", "random_tree(depth=4,seed=2)", "dispersion", "minimum_effort"),
        *("liars_dice(sides=3)", "leduc(ranks=2,raises=1)"),
    ],
)
def test_exported_games_come_back_with_the_same_content(read, spec: str) -> None:
    tree = eqbench.load_game(spec).tree
    back = read(efg_text(tree, spec))
    assert back.infoset_labels == tree.infoset_labels
    assert back.infoset_actions == tree.infoset_actions
    assert np.array_equal(back.infoset, tree.infoset)
    assert_same_game(tree, back)
    assert content_hash(read(efg_text(back, "again"))) == content_hash(back)


@pytest.mark.parametrize("spec", ["shapley", "jordan", "prisoners_dilemma", "travelers_dilemma"])
def test_exported_strategic_forms_come_back_with_the_same_content(read, spec: str) -> None:
    tree = eqbench.load_game(spec).tree
    assert content_hash(read(nfg_text(tree, spec), ".nfg")) == content_hash(tree)


@pytest.mark.parametrize("spec", ["kuhn2", "kuhn3", "random_tree"])
def test_what_is_not_in_strategic_form_is_not_written_as_such(spec: str) -> None:
    with pytest.raises(UsageError, match="strategic"):
        nfg_text(eqbench.load_game(spec).tree)


def test_a_set_that_some_paths_miss_is_no_strategic_form(read) -> None:
    tree = read(EFG + ROOT + 'p "" 2 1 "y" { "u" "d" } 0\n' + ENDS + 't "" 1\n')
    with pytest.raises(UsageError, match="player"):
        nfg_text(tree)


def test_odd_labels_survive_where_the_format_can_hold_them(read) -> None:
    odd = ['say "l"', "a\\b", 'a\\"b', "{ } , //", "é ½ 三", "1/2", ""]
    builder = TreeBuilder(['the "first"', "P2"])
    root = builder.decision(None, 0, 'set "one"', odd)
    for move in range(len(odd)):
        builder.terminal((root, move), [move, -move])
    tree = builder.tree()
    assert content_hash(read(efg_text(tree, 'title "quoted"'))) == content_hash(tree)


def test_labels_that_the_format_cannot_hold_are_changed_and_stay_distinct(read) -> None:
    odd = ["two\nlines", "two\tlines", " space ", "end\\"]
    builder = TreeBuilder(["a", " a"])
    root = builder.decision(None, 0, "", odd)
    for move in range(len(odd)):
        builder.terminal((root, move), [move, -move])
    back = read(efg_text(builder.tree(), "title\\"))
    assert back.players == ("a_1", "a_2")
    assert back.infoset_actions == (("two lines_1", "two lines_2", "space", "end\\_"),)


def test_floats_are_written_with_all_their_digits(read) -> None:
    builder = TreeBuilder(["P1"])
    root = builder.chance(None, [0.1, 0.2, 0.7])
    for move, payoff in enumerate((0.1 + 0.2, 1e-17, -math.pi)):
        node = builder.decision((root, move), 0, str(move), ["go"])
        builder.terminal((node, 0), [payoff])
    tree = builder.tree()
    back = read(efg_text(tree))
    assert back.payoffs.table.tolist() == tree.payoffs.table.tolist()
    assert back.chance_probability.tolist() == pytest.approx(tree.chance_probability.tolist())
    assert np.count_nonzero(back.player == CHANCE) == 1


def test_large_integers_over_one_denominator_are_rounded_once(read) -> None:
    text = EFG + ROOT + 't "" 1 "" { 0.12345678901234567 0.3 }\nt "" 2 "" { 1/7 0 }\n'
    tree = read(text)
    assert tree.exact
    assert tree.payoffs.table.tolist() == [[0.12345678901234567, 0.3], [1 / 7, 0]]


def test_a_changed_file_of_the_same_name_is_another_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # that of the user may be full
    path = tmp_path / "large.efg"
    for payoff in (1, 2):
        comment = '"' + "x" * 2**20 + '"\n'
        path.write_text(EFG + comment + ROOT + f't "" 1 "" {{ {payoff} 0 }}\nt "" 0\n')
        game = eqbench.load_game(str(path))
        assert payoffs_at(game.tree, ["l"]) == [payoff, 0]
        assert game.folder is not None, "large files are kept in the cache"


def test_a_file_that_changes_while_it_is_loaded_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise one game might be kept in the cache under the hash of another."""
    path = tmp_path / "game.efg"
    path.write_text(EFG + ROOT + ENDS)
    instance = default_registry().describe_game(str(path))[0]
    monkeypatch.setattr(
        importlib.import_module(type(instance).__bases__[0].__module__), "CACHED_FROM", 0
    )
    key = instance.cache_key()
    path.write_text(EFG + ROOT + ENDS.replace("3 4", "5 6"))
    assert payoffs_at(instance.build(), ["r"]) == [3, 4]
    assert instance.cache_key() == key != ""
    again = default_registry().describe_game(str(path))[0]
    assert payoffs_at(again.build(), ["r"]) == [5, 6]
    assert again.cache_key() != key


def test_a_brief_fuzz_finds_nothing(tmp_path: Path) -> None:
    verdicts, faults = fuzz(3, tmp_path, count=400, minutes=1)
    assert faults == 0, sorted(tmp_path.iterdir())
    assert verdicts.total() == 400
    assert verdicts["loaded"] > 20
    assert len(verdicts) > 20, "the inputs are too much alike"


@pytest.mark.parametrize("path", ["a b/c.efg", "../x(1).nfg", "é,ö.EFG", "p=2/q.Nfg"])
def test_a_path_is_a_spec_as_it_stands_or_in_quotes(path: str) -> None:
    assert str(parse_spec(f" {path} ")) == path
    assert [str(parse_spec(part)) for part in split_specs(f'kuhn2,"{path}"')] == ["kuhn2", path]


def test_a_path_may_begin_at_the_home_folder(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "game.efg").write_text(EFG + ROOT + ENDS)
    assert eqbench.load_game("~/game.efg").spec == "~/game.efg"


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Beer", "Beer"),
        ("", ""),
        ('a \\"b\\"', 'a "b"'),
        ("\x1b[31m", "\\x1b[31m"),
        ("x" * 900, None),
    ],
)
def test_the_title_of_a_file_is_that_of_its_game_printable_and_bounded(written, title, tmp_path):
    file = tmp_path / "game.nfg"
    file.write_text(f'NFG 1 R "{written}" {{ "A" "B" }} {{ 1 1 }} 1 2', encoding="utf-8")
    game = eqbench.load_game(str(file))
    assert game.title == title if title is not None else len(game.title) <= 300
    assert eqbench.load_game("kuhn3").title == ""
