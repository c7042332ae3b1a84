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
from helpers.command import eqbench_here

from eqbench.cli.commands import app
from eqbench.cli.options import KindType, command, examples, given
from eqbench.requests import (
    FILE,
    FLAG,
    FOLDER,
    NUMBER,
    Bounds,
    Choice,
    Exact,
    Integer,
    Kind,
    MemorySize,
    Number,
    Option,
    Pair,
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
    [Choice(words=("a",)), Words(), Integer(), Number(), MemorySize(), Exact(), Bounds(), Pair()],
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
        *("Options:", "Commands:", "More: runs:", "More: study a game:"),
        "More: files and maintenance:",
    ]
    first = help_text.partition("Commands:")[2].partition("More")[0]
    six = ["run", "report", "show", "compare", "info", "verify"]
    assert re.findall(r"^  (\w\S*)", first, re.MULTILINE) == six
    for name in app.list_commands(click.Context(app)):
        assert re.search(rf"^  {name} +[A-Z]\w", help_text, re.MULTILINE), name
    assert "..." not in help_text.partition("Commands:")[2]


def commands() -> dict[str, click.Command]:
    """All commands by their names."""
    context = click.Context(app)
    return {name: app.get_command(context, name) for name in app.list_commands(context)}


@pytest.mark.parametrize("name", commands())
def test_examples_of_a_command_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    named = "eqbench.store.named.named_profile"
    monkeypatch.setattr(named, lambda text: ({"behavior": {}}, None))
    made = commands()[name]
    lines = examples(click.Context(made, info_name=f"eqbench {name}"))
    assert len(lines) >= (2 if made.params else 1)
    for line in lines:
        assert line in eqbench_here(name, "--help", cwd=tmp_path).out
        _, first, *typed = shlex.split(line)
        assert first == name
        if name != "study":  # whose options are those of a file
            made.make_context(name, typed)


@pytest.mark.parametrize("words", [("kuhn2",), ("--game", "kuhn2"), ("--game=kuhn2",)], ids=str)
def test_game_may_be_typed_with_its_name(tmp_path: Path, words: tuple[str, ...]) -> None:
    for name in ("info", "qre", "stability"):
        params = commands()[name].make_context(name, [*words]).params
        assert params["spec" if name == "info" else "game"] == "kuhn2"


def completed(*words: str) -> list[str]:
    complete = ShellComplete(app, {}, "eqbench", "_EQBENCH_COMPLETE")
    return [item.value for item in complete.get_completions([*words[:-1]], words[-1])]


def test_shell_completes_games_and_solvers() -> None:
    assert completed("info", "kuhn2") == ["kuhn2"]
    assert completed("qre", "kuhn2") == completed("qre", "--game", "kuhn2") == ["kuhn2"]
    assert "cfr,lcp" in completed("run", "--solver", "cfr,l")
    assert completed("run", "--solver", "cfr(alpha=1,l") == []


def test_experiment_that_was_begun_takes_what_to_run_again(tmp_path: Path) -> None:
    (tmp_path / "old.toml").write_text('game = "kuhn2"\nsolver = "lcp"\n')
    assert eqbench_here("run", "old.toml", "-q", cwd=tmp_path).code == 0
    again = eqbench_here("run", "old.toml", "--retry", "ok", "--dry-run", cwd=tmp_path)
    assert again.code == 0
    assert "1 to run" in again.out
