"""Names become games and solvers: canonical specs, presets, refusals, third parties."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest

import eqbench
from eqbench import plugins, registry
from eqbench.errors import SolverUnavailableError, SpecError, UsageError
from eqbench.options import canonical_text, construct, list_options
from eqbench.registry import BUILTIN_GAMES, BUILTIN_SOLVERS, Registry, default_registry

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


def install(folder: Path, distribution: str, **groups: str) -> None:
    """Put what an installer leaves of a distribution into `folder`."""
    info = folder / f"{distribution}-1.0.dist-info"
    info.mkdir()
    write(info / "METADATA", f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    lines = [f"[eqbench.{group}]\n{line}\n" for group, line in groups.items()]
    write(info / "entry_points.txt", "".join(lines))


@pytest.mark.parametrize(
    ("spec", "canonical"),
    [
        ("kuhn", "kuhn(players=2,cards=3,pot=2,reduce=none)"),
        ("kuhn2", "kuhn(players=2,cards=3,pot=2,reduce=none)"),
        ("kuhn3", "kuhn(players=3,cards=4,pot=3,reduce=none)"),
        ("kuhn4", "kuhn(players=4,cards=5,pot=4,reduce=none)"),
        ("kuhn3_reduced", "kuhn(players=3,cards=4,pot=3,reduce=dominated22)"),
        ("kuhn3(pot=3.2)", "kuhn(players=3,cards=4,pot=16/5,reduce=none)"),
        ("kuhn3(players=2)", "kuhn(players=2,cards=3,pot=2,reduce=none)"),
        ("kuhn3_reduced(reduce=none)", "kuhn(players=3,cards=4,pot=3,reduce=none)"),
        ("kuhn(pot=none, cards=none)", "kuhn(players=2,cards=3,pot=2,reduce=none)"),
        ("kuhn(cards=13)", "kuhn(players=2,cards=13,pot=2,reduce=none)"),
        ("skp", "skp(pot=3)"),
        ("skp(pot=5/2)", "skp(pot=5/2)"),
        ("matrix", "matrix(name=rock_paper_scissors)"),
        ("shapley", "matrix(name=shapley)"),
    ],
)
def test_game_spec_has_its_canonical_form(spec: str, canonical: str) -> None:
    assert eqbench.load_game(spec).spec == canonical


@pytest.mark.parametrize("name", BUILTIN_GAMES)
def test_canonical_spec_of_a_game_loads_the_same_game(name: str) -> None:
    game = eqbench.load_game(name)
    again = eqbench.load_game(game.spec)
    assert again.spec == game.spec
    assert again.tree.payoffs.table.tolist() == game.tree.payoffs.table.tolist()


@pytest.mark.parametrize("name", BUILTIN_SOLVERS)
def test_canonical_spec_of_a_solver_loads_an_equal_solver(name: str) -> None:
    loaded = default_registry().load_solver(name)
    again = default_registry().load_solver(loaded.spec)
    assert loaded.spec.startswith(f"{name}(")
    assert (again.spec, again.instance, again.entry) == (loaded.spec, loaded.instance, loaded.entry)


def test_canonical_solver_spec_keeps_the_preset_name_and_has_all_options() -> None:
    assert default_registry().load_solver("cfr_plus(alternating=false)").spec == (
        "cfr_plus(regrets=clipped,alpha=none,beta=none,predictive=false,averaging=linear,"
        "alternating=false,start=uniform)"
    )


def test_spec_overrides_a_preset() -> None:
    assert eqbench.load_solver("cfr_plus(averaging=quadratic)").averaging == "quadratic"
    assert eqbench.load_solver("cfr_plus").averaging == "linear"


def test_options_show_the_defaults_of_the_preset() -> None:
    reduced = {o.name: o for o in default_registry().options(BUILTIN_GAMES["kuhn3_reduced"])}
    assert list(reduced) == ["players", "cards", "pot", "reduce"]
    assert (reduced["players"].default, reduced["reduce"].default) == (3, "dominated22")
    assert (reduced["players"].type, reduced["pot"].type) == ("integer", "exact number or none")
    assert reduced["reduce"].choices[:2] == ("none", "dominated21")
    assert reduced["players"].doc == "2 to 6"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("khun3", "unknown game 'khun3': did you mean kuhn3"),
        ("chess", "unknown game 'chess': known: battle_of_sexes, jordan, kuhn"),
        ("kuhn(playres=2)", "unknown option 'playres' of kuhn: did you mean players"),
        ("kuhn(zzz=2)", "unknown option 'zzz' of kuhn: options: players, cards, pot, reduce"),
        ("kuhn(players=2.5)", "kuhn: players=5/2 is not allowed; expected integer"),
        ("kuhn(players=true)", "kuhn: players=true is not allowed; expected integer"),
        ("kuhn(players=none)", "kuhn: players=none is not allowed; expected integer"),
        ("kuhn(players='3')", 'kuhn: players="3" is not allowed; expected integer'),
        ("kuhn3(pot=big)", "kuhn3: pot=big is not allowed; expected exact number or none"),
        ("kuhn(reduce=dominated2)", "did you mean dominated2.* choices: none, dominated21,"),
        ("kuhn(reduce=3)", "kuhn: reduce=3 is not allowed; choices: none, dominated21,"),
        ("matrix(name=shaply)", "matrix: name=shaply is not allowed; did you mean shapley"),
        ("kuhn(players=3,cards=2)", "cards=2 is fewer than players=3"),
        ("kuhn(players=7)", "allowed are 2 to 6 players"),
        ("kuhn3(pot=-1)", "pot=-1 is negative"),
        ("skp(pot=3/2)", "pot=3/2 is below 2"),
        ("kuhn2(reduce=dominated22)", "defined for 3 players, not 2"),
        ("kuhn3_reduced(cards=5)", "defined for 4 cards, not 5"),
        ("folder/game.efg", "not supported in this version"),
        ("game.nfg", "not supported in this version"),
        ("openspiel:kuhn_poker(players=2)", "not supported in this version"),
        ("kuhn(", "cannot read the spec"),
    ],
)
def test_game_is_refused_with_what_is_allowed(spec: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        default_registry().load_game(spec)


def test_unknown_solver_gets_the_nearest_names() -> None:
    with pytest.raises(SpecError, match="unknown solver 'cfr_pluss': did you mean cfr_plus"):
        eqbench.load_solver("cfr_pluss")


@dataclass(frozen=True)
class Everything:
    """Options of every type.

    Parameters
    ----------
    count, limit : how often
    """

    count: int
    limit: int | None = None
    step: float = 0.5
    exact: Fraction = Fraction(1, 3)
    fast: bool = False
    path: str = ""
    start: Literal["uniform", "random"] | int = "uniform"
    label: str | None = None

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError("count is negative")


def canonical(**given: Any) -> str:
    return canonical_text("all", construct(Everything, "all", {}, given.items()))


def test_values_become_the_type_of_their_field() -> None:
    given = {"count": Fraction(4), "limit": 5, "step": 1, "exact": 2, "fast": True}
    made = construct(Everything, "all", {}, [*given.items(), ("start", 7), ("path", True)])
    assert made == Everything(4, 5, 1.0, Fraction(2), True, "true", 7)
    assert [type(made.step), type(made.exact), type(made.count)] == [float, Fraction, int]


def test_canonical_text_has_every_type_in_the_grammar() -> None:
    assert canonical(count=3) == (
        'all(count=3,limit=none,step=0.5,exact=1/3,fast=false,path="",start=uniform,label=none)'
    )
    assert "step=inf," in canonical(count=3, step="inf")


@pytest.mark.parametrize("step", [0.1, 1e-300, 5e-324, 1.7976931348623157e308, 3.0, math.inf])
def test_float_options_survive_the_spec(step: float) -> None:
    options = eqbench.spec.parse_spec(canonical(count=3, step=step)).options
    assert construct(Everything, "all", {}, options).step == step


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"the option 'count' \(integer\) has no default; write all\(count=...\)"),
        ({"count": -1}, "all: count is negative"),
        ({"count": 1, "fast": 1}, "fast=1 is not allowed; expected true or false"),
        ({"count": 1, "path": 3}, "path=3 is not allowed; expected text"),
        ({"count": 1, "step": 10**400}, r"step=10+\.\.\. is not allowed; expected number"),
        ({"count": 1, "step": "none"}, "step=none is not allowed"),
        ({"count": 1, "start": "best"}, "expected one of uniform, random or integer"),
    ],
)
def test_wrong_option_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        construct(Everything, "all", {}, given.items())


def test_listed_options_tell_type_default_and_documentation() -> None:
    count, limit, *_ = list_options(Everything, {})
    assert (count.required, count.doc, limit.doc) == (True, "how often", "how often")
    assert (limit.type, limit.default, limit.required) == ("integer or none", None, False)


def test_option_type_that_no_spec_can_express_makes_a_solver_unavailable() -> None:
    @eqbench.register_solver("odd")
    @dataclass(frozen=True)
    class Odd:
        weights: tuple[float, ...] = ()

        def solve(self, game: Any, monitor: Any, rng: Any) -> None: ...

    with pytest.raises(SolverUnavailableError, match="cannot be written in a spec"):
        eqbench.load_solver("odd")


def test_all_means_the_default_rows_in_table_order(plugin: Path, tmp_path: Path) -> None:
    other = solver_file(tmp_path / "other.py", "other")
    known = default_registry().with_plugins([plugin, other])
    rows = [entry.name for entry in BUILTIN_SOLVERS.values() if entry.default_row]
    assert known.resolve_solvers("all") == [*rows, "other"]
    assert known.resolve_solvers("mine, all, cfr( )") == ["mine", *rows, "other"]


def test_solver_list_keeps_what_was_typed_and_drops_repetitions() -> None:
    text = "dcfr( alpha=2 ), cfr, dcfr(alpha=2.0), dcfr"
    assert default_registry().resolve_solvers(text) == ["dcfr( alpha=2 )", "cfr", "dcfr"]


@pytest.mark.parametrize(("text", "message"), [("", "no solver given"), ("cfr,xyz", "'xyz'")])
def test_solver_list_with_nothing_or_unknown_names_is_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        default_registry().resolve_solvers(text)


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
    with pytest.raises(UsageError, match=r"'cfr' comes from both eqbench and .*test_registry\.py"):
        eqbench.register_solver("cfr")(Everything)
    assert not default_registry().solver_entry("cfr").cls


@pytest.mark.parametrize("name", ["all", "two words", "game.efg", "", "3x"])
def test_name_that_no_spec_can_hold_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a game"):
        eqbench.register_game(name)(Everything)


def test_only_dataclasses_can_be_registered() -> None:
    class Plain:
        pass

    with pytest.raises(UsageError, match="put the decorator above @dataclass"):
        eqbench.register_solver("plain")(Plain)


def test_class_without_its_method_is_unavailable() -> None:
    eqbench.register_solver("idle")(Everything)
    with pytest.raises(SolverUnavailableError, match="has no method solve"):
        eqbench.load_solver("idle")


def test_scan_reads_names_without_running_the_file(tmp_path: Path) -> None:
    file = write(tmp_path / "deadly.py", f"raise SystemExit('it ran')\n{PLUGIN}")
    known = default_registry().with_plugins([file])
    mine, coin = known.solver_entry("mine"), known.game_entry("coin(sides=3)")
    assert (mine.summary, mine.default_row, mine.builtin) == ("my own", False, False)
    assert (coin.summary, coin.default_row) == ("A coin.", True)
    assert mine.plugin == mine.source == str(file.resolve())


def test_scan_makes_relative_paths_absolute(plugin: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(plugin.parent)
    assert plugins.scan_plugin("mine.py").path == str(plugin.resolve())


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
        with pytest.raises(UsageError, match="cannot read the plugin"):
            plugins.scan_plugin(path)


def test_two_files_with_one_name_are_refused_naming_both(tmp_path: Path) -> None:
    first = solver_file(tmp_path / "first.py", "mine")
    second = solver_file(tmp_path / "second.py", "mine", before="x = 1")
    with pytest.raises(UsageError, match=r"both .*first\.py and .*second\.py"):
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
    with pytest.raises(SolverUnavailableError, match="No module named 'a_missing_package'"):
        known.load_solver("mine")
    with pytest.raises(UsageError, match="No module named 'a_missing_package'"):
        known.load_game("coin")
    assert "mine" not in [entry.name for entry in default_registry().solvers()]


def test_plugin_that_exits_when_it_runs_is_unavailable(tmp_path: Path) -> None:
    file = solver_file(tmp_path / "exits.py", "exits", before="raise SystemExit(3)")
    with pytest.raises(SolverUnavailableError, match="SystemExit: 3"):
        default_registry().with_plugins([file]).load_solver("exits")


def test_game_that_builds_no_tree_is_refused() -> None:
    @eqbench.register_game("empty")
    @dataclass(frozen=True)
    class Empty:
        def build(self) -> None: ...

    with pytest.raises(UsageError, match=r"build\(\) returned NoneType, not a GameTree"):
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
        with pytest.raises(UsageError, match="has no attribute 'C'"):
            known.load_game("coin2")
    finally:
        sys.modules.pop("fake_module", None)


def test_distribution_with_a_taken_name_is_refused_with_both_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "fakedist", games="kuhn3 = fake_module:Mine")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="'kuhn3' comes from both eqbench and distribution fake"):
        default_registry().games()


def test_broken_installed_solver_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "fakedist", solvers="fake = no_such_module:Mine")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SolverUnavailableError, match="No module named 'no_such_module'"):
        eqbench.load_solver("fake")


def test_entry_tells_which_required_packages_are_missing() -> None:
    entry = plugins.Entry("solver", "x", "a:B", requires=("numpy", "a_missing_package"))
    assert entry.missing() == ["a_missing_package"]


def modules_after(code: str) -> set[str]:
    """Top-level packages that a fresh interpreter has imported after `code`."""
    code += "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_else() -> None:
    bare = modules_after("")
    assert modules_after("import eqbench") - bare <= {"eqbench", "typing", "_typing"} | {
        *("__future__", "abc", "collections", "contextlib", "functools", "operator", "re"),
        *("copyreg", "enum", "heapq", "itertools", "keyword", "reprlib", "types"),
    }


def test_listing_imports_nothing_heavy(plugin: Path) -> None:
    seen = modules_after(
        "from eqbench.registry import default_registry\n"
        f"known = default_registry().with_plugins([{str(plugin)!r}])\n"
        "known.games(); known.resolve_solvers('all'); known.solver_entry('mine').missing()"
    )
    assert not seen & {"numpy", "scipy", "numba", "pandas", "matplotlib", "pyspiel", "pygambit"}


def test_loading_a_game_needs_no_compiler() -> None:
    seen = modules_after("import eqbench; eqbench.load_game('kuhn3')")
    assert "numpy" in seen
    assert not seen & {"numba", "scipy", "pandas"}


def test_public_names_are_listed_and_unknown_ones_refused() -> None:
    assert set(eqbench.__all__) <= set(dir(eqbench))
    assert {name: getattr(eqbench, name) for name in eqbench.__all__}.keys() >= {"solve", "verify"}
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = eqbench.nonsense


def test_registry_with_plugins_leaves_the_first_one_as_it_was(plugin: Path) -> None:
    known = Registry()
    assert known.with_plugins([plugin]).solver_entry("mine")
    with pytest.raises(SpecError, match="unknown solver 'mine'"):
        known.solver_entry("mine")
