"""Spec strings are read by the grammar, exactly, and printed so that they read back."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eqbench.errors import SpecError
from eqbench.spec import Spec, format_value, parse_number, parse_spec, split_specs

WORDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.+-]{0,12}", fullmatch=True)
VALUES = st.one_of(
    st.integers(-(10**30), 10**30), st.fractions(), st.booleans(), st.text(max_size=20)
).map(lambda value: int(value) if isinstance(value, Fraction) and value == int(value) else value)
SPECS = st.builds(
    lambda name, options: Spec(name, tuple(options.items())),
    WORDS,
    st.dictionaries(WORDS, VALUES, max_size=4),
)


@given(SPECS)
def test_printed_spec_reads_back(spec: Spec) -> None:
    assert parse_spec(str(spec)) == spec


@given(st.lists(SPECS, min_size=1, max_size=4))
def test_list_of_specs_splits_into_its_parts(specs: list[Spec]) -> None:
    texts = [str(spec) for spec in specs]
    assert split_specs(", ".join(texts)) == texts


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_printed_float_reads_back_bit_for_bit(value: float) -> None:
    assert float(parse_number(format_value(value))) == value


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_a_spec_error(text: str) -> None:
    try:
        spec = parse_spec(text)
    except SpecError:
        return
    assert parse_spec(str(spec)).name == spec.name


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("3", 3), ("-3", -3), ("+3", 3), ("3.0", 3), ("1.5E2", 150), ("4/2", 2)),
        *(("3.2", Fraction(16, 5)), ("0.1", Fraction(1, 10)), (".5", Fraction(1, 2))),
        *(("1e-3", Fraction(1, 1000)), ("16/5", Fraction(16, 5)), ("-6/4", Fraction(-3, 2))),
        *(("true", True), ("false", False), ("none", "none"), ("dominated22", "dominated22")),
        *(("'two words'", "two words"), ('"a, b)"', "a, b)"), (r'"say \"hi\""', 'say "hi"')),
        *(('"3"', "3"), ('""', "")),
    ],
)
def test_value_is_read_exactly(text: str, value: object) -> None:
    ((_, read),) = parse_spec(f"game(option={text})").options
    assert (read, type(read)) == (value, type(value))


def test_options_keep_their_order_and_space_does_not_matter() -> None:
    spec = parse_spec("  kuhn ( pot = 3.2 ,players=3 ) ")
    assert spec == Spec("kuhn", (("pot", Fraction(16, 5)), ("players", 3)))
    assert str(spec) == "kuhn(pot=16/5,players=3)"


def test_empty_parentheses_are_no_options() -> None:
    assert parse_spec("kuhn()") == parse_spec("kuhn") == Spec("kuhn")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("./\udcff.nfg", r"'\./\\udcff\.nfg' is not UTF-8"),
        ("kuhn(pot=3,pot=4)", "'pot' is given twice"),
        ("kuhn(pot=1/0)", "'1/0' divides by zero"),
        (f"kuhn(pot={'9' * 5000})", "has too many digits"),
    ],
    ids=ascii,
)
def test_what_the_grammar_alone_would_take_is_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        parse_spec(text)


def test_replace_keeps_the_place_of_known_options_and_appends_others() -> None:
    spec = parse_spec("kuhn(players=3,pot=3)").replace(players=2, reduce="none")
    assert str(spec) == "kuhn(players=2,pot=3,reduce=none)"


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "3", "(players=3)", "kuhn(", "kuhn)", "kuhn(players)", "kuhn(players=)"),
        *("kuhn(players=3", "kuhn(=3)", "kuhn(3)", "kuhn(players=3 cards=4)", "kuhn(,)"),
        *("kuhn(players=3)x", "kuhn players", "kuhn(players=1.2.3)", "kuhn(name='open)"),
        *(
            f"kuhn(pot={number})"
            for number in (
                *("1/", "1/2/3", "1 / 2", "1.5/2", "3x", "0x10", "1_000", "1e1000", "--3", "2*3"),
                *("(3)", "[3]", "__import__('os')"),
            )
        ),
    ],
)
def test_text_outside_the_grammar_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="position"):
        parse_spec(text)


@pytest.mark.parametrize("name", ["g.efg", "d1/g.efg", "../a b/g.NFG", "'d, e/g.nfg'"])
def test_options_behind_the_path_of_a_game_file_are_refused(name: str) -> None:
    path = name.strip("'")
    assert parse_spec(name) == Spec(path)
    for options in ("(foo=1)", " (a=1, b=2)", "()"):
        with pytest.raises(SpecError, match=f"a game file has no options here; give {path} alone"):
            parse_spec(name + options)
    with pytest.raises(SpecError, match="options"):
        Spec(path, (("foo", 1),))


def test_options_behind_the_name_of_a_game_of_openspiel_are_its_own() -> None:
    assert parse_spec("openspiel:go(board_size=2)(x=1)").name == "openspiel:go(board_size=2)(x=1)"
    with pytest.raises(SpecError, match="OpenSpiel"):
        Spec("openspiel:go", (("board_size", 2),))


def test_path_as_the_value_of_an_option_is_no_game_file() -> None:
    ((_, value),) = parse_spec('solver(start="a.efg(b)")').options
    assert value == "a.efg(b)"


@pytest.mark.parametrize(
    "text",
    ["d1/g.egf", "d1/", "OPENSPIEL:x", "my game.egf", "./kuhn3", "C:\\g.txt", "d (x)/g.efg(a=1)"],
)
def test_what_may_be_meant_as_a_file_or_a_game_of_openspiel_is_told_how(text: str) -> None:
    with pytest.raises(SpecError, match="NAME"):
        parse_spec(text)


def test_other_mistakes_are_told_of_the_grammar_only() -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec("kuhn(pot=16/)")
    assert "openspiel" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("cfr", ["cfr"]),
        ("cfr,dcfr(alpha=1,beta=0), all", ["cfr", "dcfr(alpha=1,beta=0)", "all"]),
        ("a(x='(,'),b", ["a(x='(,')", "b"]),
        (",a,,b,", ["a", "b"]),
        (r'a(x="\",b"),c', [r'a(x="\",b")', "c"]),
        ("", []),
    ],
)
def test_commas_inside_parentheses_and_quotes_do_not_split(text: str, parts: list[str]) -> None:
    assert split_specs(text) == parts


@pytest.mark.parametrize("word", ["true", "false"])
def test_text_that_looks_like_a_boolean_is_quoted(word: str) -> None:
    spec = Spec("game", (("option", word),))
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize("text", ["random(seed=1..3)", "random(seed=[1,2])", "random(seed=1,2)"])
def test_several_values_of_an_option_are_refused_with_what_to_write(text):
    with pytest.raises(SpecError, match=r"'random\(seed=1\),random\(seed=2\)'.*experiment"):
        parse_spec(text)
    with pytest.raises(SpecError) as other:
        parse_spec("kuhn(pot=)")
    assert "experiment" not in str(other.value)
