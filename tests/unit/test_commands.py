"""Commands are made of requests: fields are options, and what cannot be meant is refused."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from command import accepted, eqbench_here
from stored_runs import cell, write_run

from eqbench.cli.commands import app
from eqbench.cli.options import KindType, command, examples, given
from eqbench.requests import (
    FILE,
    FLAG,
    FOLDER,
    NUMBER,
    Choice,
    Exact,
    Integer,
    Interval,
    Kind,
    Number,
    Option,
    Pair,
    Size,
    Words,
)


@dataclass(frozen=True)
class Errand:
    """Fetch things."""

    what: Annotated[str, Option("Thing.", Kind("WHAT"), argument=True)]
    where: Annotated[str, Option("Place.", Kind("PLACE"), "from")]
    count: Annotated[int, Option("How many.", NUMBER, short="n")] = 2
    wrapped: Annotated[bool, Option("In paper.", FLAG)] = False
    colors: Annotated[
        tuple[str, ...], Option("Colors.", Words("COLORS", "color", ("red", "blue")))
    ] = ("red",)
    notes: Annotated[tuple[str, ...], Option("Notes.", name="note")] = ()


@command(Errand)
def fetch(errand: Errand) -> int:
    click.echo(errand)
    return errand.count


def test_fields_of_a_request_are_read_from_the_command_line() -> None:
    words = ["cups", "--from", "attic", "-n", "3", "--wrapped", "--colors", "blue, red"]
    done = CliRunner().invoke(fetch, [*words, "--note", "one", "--note", "two"])
    asked = Errand("cups", "attic", 3, True, ("blue", "red"), ("one", "two"))
    assert done.output == f"{asked}\n"
    assert done.exit_code == 3


def test_what_is_not_given_has_its_default() -> None:
    done = CliRunner().invoke(fetch, ["cups", "--from", "attic"])
    assert done.output == f"{Errand('cups', 'attic')}\n"


@pytest.mark.parametrize("words", [[], ["cups"], ["--from", "attic"], ["cups", "--from", "x", "y"]])
def test_fields_without_a_default_must_be_given(words: list[str]) -> None:
    assert CliRunner().invoke(fetch, words).exit_code == 2


def test_what_was_typed_can_be_told_from_defaults() -> None:
    @dataclass(frozen=True)
    class Manner:
        """Do it somehow."""

    @command(Manner, Errand)
    def change(manner: Manner) -> None:
        click.echo(given(Errand))

    done = CliRunner().invoke(change, ["--count", "2", "cups"])
    assert done.output == f"{ {'what': 'cups', 'count': 2} }\n"


@pytest.mark.parametrize(
    "kind",
    [Choice(words=("a",)), Words(), Integer(), Number(), Size(), Exact(), Interval(), Pair()],
    ids=lambda kind: type(kind).__name__,
)
def test_rejected_value_is_not_repeated_at_length(kind: Kind) -> None:
    with pytest.raises(ValueError, match=r"characters") as caught:
        kind.read("9x;" * 1000)
    assert len(str(caught.value)) < 300


def test_shell_completes_files_and_folders() -> None:
    for kind, what in ((FILE, "file"), (FOLDER, "dir")):
        (item,) = KindType(kind).shell_complete(None, None, "res")
        assert (item.value, item.type) == ("res", what)


def test_help_lists_all_commands_in_groups_with_whole_sentences(tmp_path: Path) -> None:
    help_text = eqbench_here("--help", cwd=tmp_path).out
    titles = [line for line in help_text.splitlines() if line.endswith(":")]
    assert titles == [
        *("Options:", "Run:", "Read:", "Study a game:", "Games and profiles:", "Maintenance:")
    ]
    for name in app.list_commands(click.Context(app)):
        assert re.search(rf"^  {name} +[A-Z]\w", help_text, re.MULTILINE), name
    assert "..." not in help_text.partition("Run:")[2]


def commands() -> dict[str, click.Command]:
    """All commands, also those of groups, by what is typed."""
    context, found = click.Context(app), {}
    for name in app.list_commands(context):
        each = app.get_command(context, name)
        inner = each.commands if name == "check" else {}
        found |= {f"{name} {other}": made for other, made in inner.items()} or {name: each}
    return found


@pytest.mark.parametrize("name", commands())
def test_examples_of_a_command_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    named = "eqbench.store.stored_profiles.named_profile"
    monkeypatch.setattr(named, lambda text: ({"behavior": {}}, None))
    made, words = commands()[name], name.split()
    lines = examples(click.Context(made, info_name=f"eqbench {name}"))
    assert len(lines) == 2
    for line in lines:
        assert line in eqbench_here(*words, "--help", cwd=tmp_path).out
        typed = shlex.split(line.partition(" > ")[0])
        assert typed[: 1 + len(words)] == ["eqbench", *words]
        if name != "study":  # whose options are those of a file
            made.make_context(name, typed[1 + len(words) :])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("trace skp --from 2 --to 3 --time 5", "no such option --time: it is now --timeout"),
        ("simulate skp --time 5", "no such option --time: it is now --duration"),
        ("simulate skp --memory 5", "no such option --memory: it is now --remember"),
        ("export kuhn3 --to kuhn3.efg", "no such option --to: it is now --out"),
        ("trace --tmie 5", "--timeout"),
        ("run kuhn3 cfr", "eqbench run --game kuhn3 --solver cfr"),
        ("run kuhn3", "eqbench run --game kuhn3 --solver all"),
        ("run kuhn3 kuhn2 cfr,lcp", "eqbench run --game kuhn3,kuhn2 --solver cfr,lcp"),
        ("export kuhn3", "Missing argument 'FILE'. For example: eqbench export kuhn3 kuhn3.efg"),
        ("export kuhn3 --game kuhn2 a.efg", "unexpected extra argument (a.efg)"),
        ("check kuhn3", "did you mean: eqbench check game kuhn3"),
        ("check lcp", "did you mean: eqbench check solver lcp"),
        ("kuhn3", "did you mean: eqbench info kuhn3"),
        ("list game", "did you mean games?"),
        *(("rnu", said) for said in ("unknown command 'rnu'", "did you mean run")),
        ("verify", "which profile?"),
        ("verify x.json", "cannot read the profile x.json"),
        ("trace skp", "Missing option '--from'"),
        ("qre", "Missing argument 'GAME'. For example: eqbench qre kuhn3"),
        ("show here", "here holds no run"),
    ],
)
def test_words_that_do_not_fit_get_a_hint(tmp_path: Path, words: str, said: str) -> None:
    done = eqbench_here(*words.split(), cwd=tmp_path)
    assert done.code == 2
    assert said.lower() in " ".join(done.err.split()).lower()
    assert len(done.err) < 700


@pytest.mark.parametrize("words", ["info nothing", "run --game nothing --solver nothing"])
def test_names_that_are_known_are_not_all_listed(tmp_path: Path, words: str) -> None:
    done = eqbench_here(*words.split(), cwd=tmp_path)
    assert re.search(r"known: (\w+, ){11}\w+ and \d+ more", " ".join(done.err.split()))


@pytest.mark.parametrize("words", [("kuhn2",), ("--game", "kuhn2"), ("--game=kuhn2",)], ids=str)
def test_game_may_be_typed_with_its_name(tmp_path: Path, words: tuple[str, ...]) -> None:
    for name in ("info", "draw", "profile", "qre", "stability"):
        params = commands()[name].make_context(name, [*words]).params
        assert params["spec" if name == "info" else "game"] == "kuhn2"


def completed(*words: str) -> list[str]:
    complete = ShellComplete(app, {}, "eqbench", "_EQBENCH_COMPLETE")
    return [item.value for item in complete.get_completions([*words[:-1]], words[-1])]


def test_shell_completes_games_solvers_runs_and_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = (cell("0a"), cell("0b", solver="lcp"), cell("0c", solver="cfr", seed=0))
    write_run(Path("first"), *cells, cell("0d", solver="cfr", seed=1))
    write_run(Path("results/second"), cell("0a"))
    Path("other").mkdir()
    assert completed("info", "kuhn2") == ["kuhn2"]
    assert completed("qre", "kuhn2") == completed("qre", "--game", "kuhn2") == ["kuhn2"]
    assert "cfr,lcp" in completed("run", "--solver", "cfr,l")
    assert completed("run", "--solver", "cfr(alpha=1,l") == []
    assert completed("show", "") == ["latest", "first", "results/second"]
    assert completed("show", "first", "lc") == ["lcp"]
    assert completed("report", "fi") == ["first"]
    assert completed("draw", "kuhn2", "--profile", "first/l") == ["first/lcp"]


RUN = ("run", "--game", "kuhn2", "--solver", "lcp")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((*RUN, "--save-as", "new.toml", "--out", "there"), "--save-as"),
        ((*RUN, "--save-as", "new.toml", "--dry-run"), "--save-as"),
        (("run", "old.toml", "--save-as", "new.toml", "--retry", "timeout"), "--save-as"),
        (("run", "--game", "kuhn", "--solver", "lpc", "--save-as", "new.toml"), "did you mean lcp"),
        (("run", "--game", "khun2", "--solver", "lcp", "--save-as", "new.toml"), "kuhn2"),
        ((*RUN, "--retry", "timeout"), "--resume"),
        (("run", "old.toml", "--retry", "timeout"), "--resume"),
        (("run", "kuhn_gamess"), "did you mean kuhn_games"),
        (("reproduce", "szafron", "--job", "nothing"), "unknown job"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_what_cannot_be_meant_is_refused_and_nothing_written(
    tmp_path: Path, words: tuple[str, ...], named: str
) -> None:
    (tmp_path / "old.toml").write_text('game = "kuhn2"\nsolver = "lcp"\n')
    done = eqbench_here(*words, cwd=tmp_path)
    assert done.code == 2
    assert named in done.err
    assert [file.name for file in tmp_path.iterdir()] == ["old.toml"]


def test_experiment_that_was_begun_takes_what_to_run_again(tmp_path: Path) -> None:
    (tmp_path / "old.toml").write_text('game = "kuhn2"\nsolver = "lcp"\n')
    assert eqbench_here("run", "old.toml", "-q", cwd=tmp_path).code == 0
    again = eqbench_here("run", "old.toml", "--retry", "ok", "--dry-run", cwd=tmp_path)
    assert again.code == 0
    assert "1 to run" in again.out


@pytest.mark.parametrize("words", ["--game kuhn2 {}", "{} --game=kuhn2", "kuhn2 {}"])
def test_game_is_named_by_an_option_or_by_its_place(tmp_path: Path, words: str) -> None:
    accepted("export", *words.format("a.efg").split(), cwd=tmp_path)
    assert "kuhn" in (tmp_path / "a.efg").read_text()
