"""Games and solvers of third parties: decorators, files that are only read, entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from helpers.command import install

import eqbench
from eqbench import plugins, registry
from eqbench.builtin import BUILTIN_SOLVERS
from eqbench.errors import SolverUnavailableError, SpecError, UsageError
from eqbench.registry import default_registry

PLUGIN = '''
from dataclasses import dataclass

import eqbench
from eqbench import register_game


@eqbench.register_solver("mine", summary="my own", default=False)
@dataclass(frozen=True)
class Mine:
    step: float = 0.1

    def solve(self, game, monitor, rng):
        raise NotImplementedError


@register_game(name="coin")
@dataclass(frozen=True)
class Coin:
    """A coin.

    Parameters
    ----------
    sides : how many
    """

    sides: int = 2

    def build(self):
        return eqbench.load_game("matching_pennies").tree
'''
BODY = "    def solve(self, game, monitor, rng):\n        raise NotImplementedError\n"


@pytest.fixture(autouse=True)
def _leave_no_registration(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {})
    yield
    for name in [name for name in sys.modules if name.startswith(plugins.MODULE_PREFIX)]:
        del sys.modules[name]


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    return write(tmp_path / "mine.py", PLUGIN)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def solver_file(path: Path, name: str, before: str = "") -> Path:
    """A plugin file that registers one solver."""
    return write(
        path,
        f"from dataclasses import dataclass\nimport eqbench\n{before}\n"
        f"@eqbench.register_solver({name!r})\n@dataclass(frozen=True)\nclass Mine:\n{BODY}",
    )


@dataclass(frozen=True)
class Idle:
    """A dataclass with neither method."""


@dataclass(frozen=True)
class Odd:
    weights: tuple[float, ...] = ()

    def solve(self, game: Any, monitor: Any, rng: Any) -> None: ...


def test_decorated_classes_can_be_named() -> None:
    @eqbench.register_solver("mine")
    @dataclass(frozen=True)
    class Mine:
        """What it does."""

        step: float = 0.1

        def solve(self, game: Any, monitor: Any, rng: Any) -> None: ...

    loaded = default_registry().load_solver("mine(step=1/4)")
    assert (loaded.instance, loaded.spec) == (Mine(0.25), "mine(step=0.25)")
    assert (loaded.entry.builtin, loaded.entry.summary) == (False, "What it does.")
    assert loaded.entry.source == str(Path(__file__).resolve())


def test_registering_again_from_the_same_file_replaces() -> None:
    for default in ("a", "b"):

        @eqbench.register_solver("mine")
        @dataclass(frozen=True)
        class Mine:
            label: str = default

            def solve(self, game: Any, monitor: Any, rng: Any) -> None: ...

    assert eqbench.load_solver("mine").label == "b"


def test_taken_name_is_refused_with_both_sources() -> None:
    with pytest.raises(UsageError, match="'cfr'"):
        eqbench.register_solver("cfr")(Idle)
    assert not default_registry().solver_entry("cfr").cls


@pytest.mark.parametrize("name", ["all", "two words", "game.efg", "", "3x"])
def test_name_that_no_spec_can_hold_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        eqbench.register_game(name)(Idle)


def test_class_that_cannot_be_a_solver_is_unavailable_or_refused() -> None:
    eqbench.register_solver("idle")(Idle)
    with pytest.raises(SolverUnavailableError, match="method"):
        eqbench.load_solver("idle")
    eqbench.register_solver("odd")(Odd)
    with pytest.raises(SolverUnavailableError, match="spec"):
        eqbench.load_solver("odd")
    with pytest.raises(UsageError, match="@dataclass"):
        eqbench.register_solver("plain")(object)


def test_scan_reads_names_without_running_the_file(tmp_path: Path) -> None:
    file = write(tmp_path / "deadly.py", f"raise SystemExit('it ran')\n{PLUGIN}")
    known = default_registry().with_plugins([file])
    mine, coin = known.solver_entry("mine"), known.game_entry("coin(sides=3)")
    assert (mine.summary, mine.default_row, mine.builtin) == ("my own", False, False)
    assert (coin.summary, coin.default_row) == ("A coin.", True)
    assert mine.plugin == mine.source == str(file.resolve())


def test_scan_makes_relative_paths_absolute(plugin: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(plugin.parent)
    assert {entry.plugin for entry in plugins.scan_plugin("mine.py")} == {str(plugin.resolve())}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ndef broken(:\n", r"bad\.py:2: not valid Python"),
        ("\0", "not valid Python"),
        ("x = 1\n", "registers nothing; decorate a dataclass"),
        ("@register_solver(NAME)\nclass A: pass\n", "written as a literal string"),
        ("@register_solver('all')\nclass A: pass\n", "'all' cannot name a solver"),
        (
            "@register_game('a')\nclass A: pass\n@register_game('a')\nclass B: pass\n",
            "registers the game 'a' twice",
        ),
        ("@register_solver('cfr')\nclass A: pass\n", r"both eqbench and .*bad\.py"),
    ],
)
def test_unfit_plugin_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        default_registry().with_plugins([write(tmp_path / "bad.py", text)])


def test_missing_plugin_file_and_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.py", tmp_path):
        with pytest.raises(UsageError, match="plugin"):
            plugins.scan_plugin(path)


def test_two_files_with_one_name_are_refused_naming_both(tmp_path: Path) -> None:
    first = solver_file(tmp_path / "first.py", "mine")
    second = solver_file(tmp_path / "second.py", "mine", before="x = 1")
    with pytest.raises(UsageError, match=r"second\.py"):
        default_registry().with_plugins([first]).with_plugins([second])


def test_plugin_runs_once_per_process(plugin: Path, tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    with plugin.open("a") as text:
        text.write(f"\nwith open({str(counter)!r}, 'a') as file:\n    file.write('ran ')\n")
    known = default_registry().with_plugins([plugin, plugin])
    assert not counter.exists()
    first, second = known.load_solver("mine"), known.load_solver("mine(step=1)")
    assert type(first.instance) is type(second.instance)
    assert (first.spec, second.spec) == ("mine(step=0.1)", "mine(step=1.0)")
    assert plugins.import_plugin(plugin) is sys.modules[type(first.instance).__module__]
    assert known.load_game("coin").spec == "coin(sides=2)"
    assert counter.read_text() == "ran "


def test_edited_plugin_is_another_module_and_replaces_the_old_one(plugin: Path) -> None:
    assert default_registry().with_plugins([plugin]).load_solver("mine").spec == "mine(step=0.1)"
    write(plugin, PLUGIN.replace("0.1", "0.2"))
    assert default_registry().with_plugins([plugin]).load_solver("mine").spec == "mine(step=0.2)"


def test_plugin_that_fails_when_it_runs_is_unavailable_with_its_reason(tmp_path: Path) -> None:
    file = write(tmp_path / "failing.py", f"{PLUGIN}\nimport a_missing_package\n")
    known = default_registry().with_plugins([file])
    with pytest.raises(SolverUnavailableError, match="module"):
        known.load_solver("mine")
    with pytest.raises(UsageError, match="module"):
        known.load_game("coin")
    assert "mine" not in [entry.name for entry in default_registry().solvers()]
    exits = solver_file(tmp_path / "exits.py", "exits", before="raise SystemExit(3)")
    with pytest.raises(SolverUnavailableError, match="SystemExit"):
        default_registry().with_plugins([exits]).load_solver("exits")


def test_game_that_builds_no_tree_is_refused() -> None:
    @eqbench.register_game("empty")
    @dataclass(frozen=True)
    class Empty:
        def build(self) -> None: ...

    with pytest.raises(UsageError, match="GameTree"):
        eqbench.load_game("empty")


def test_installed_distribution_is_listed_and_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "fakedist", solvers="fake = fake_module:Mine", games="coin2 = fake_module:C")
    write(tmp_path / "fake_module.py", PLUGIN.replace('"mine"', '"fake"'))
    monkeypatch.syspath_prepend(tmp_path)
    known = default_registry()
    fake = known.solver_entry("fake")
    assert (fake.summary, fake.source, fake.builtin) == (
        "from fakedist",
        "distribution fakedist",
        False,
    )
    assert "fake" in known.resolve_solvers("all")
    assert "fake_module" not in sys.modules
    try:
        assert known.load_solver("fake(step=2)").spec == "fake(step=2.0)"
        with pytest.raises(UsageError, match="'C'"):
            known.load_game("coin2")
    finally:
        sys.modules.pop("fake_module", None)


def test_distribution_with_a_taken_name_is_refused_with_both_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "fakedist", games="kuhn3 = fake_module:Mine")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="'kuhn3'"):
        default_registry().games()


def test_broken_installed_solver_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "fakedist", solvers="fake = no_such_module:Mine")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SolverUnavailableError, match="module"):
        eqbench.load_solver("fake")


def test_all_means_the_default_rows_in_table_order(plugin: Path, tmp_path: Path) -> None:
    other = solver_file(tmp_path / "other.py", "other")
    known = default_registry().with_plugins([plugin, other])
    rows = [entry.name for entry in BUILTIN_SOLVERS.values() if entry.default_row]
    assert known.resolve_solvers("all") == [*rows, "other"]
    assert known.resolve_solvers("mine, all, cfr( )") == ["mine", *rows, "other"]


def test_registry_with_plugins_leaves_the_first_one_as_it_was(plugin: Path) -> None:
    known = default_registry()
    assert known.with_plugins([plugin]).solver_entry("mine")
    with pytest.raises(SpecError, match="'mine'"):
        known.solver_entry("mine")
