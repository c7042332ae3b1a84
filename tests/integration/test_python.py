"""The Python interface: runs, studies, lists, profiles of others, and how notebooks show them."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.runs import cell, without_figures, write_run

import eqbench
from eqbench.api.keywords import request_from
from eqbench.harness.experiment import Request
from eqbench.model.gambit_text import efg_text
from eqbench.model.profile import random_profile
from eqbench.registry import Registry
from eqbench.report.charts import CHARTS
from eqbench.store.json_lines import append_line
from eqbench.verification import Verification

OWN = """
from dataclasses import dataclass
import eqbench

@eqbench.register_game("{name}")
@dataclass(frozen=True)
class Own:
    def build(self):
        tree = eqbench.TreeBuilder(["P1"])
        root = tree.decision(None, 0, "x", ["a", "b"])
        tree.terminal((root, 0), [1])
        tree.terminal((root, 1), [2])
        return tree.tree()
"""
RUNS_OWN = """
import own_game
try:
    eqbench.run("here", "cfr")
except eqbench.UsageError as error:
    print(error)
run = eqbench.run("there", "cfr", iterations=10)
print(run[0].payoffs, run.profile("cfr")["P1", "x", "b"])
"""
NOTEBOOK = """
import eqbench
run = eqbench.run("kuhn3", ["cfr_plus", "ncp"], seeds=2, timeout_s=1, out="run")
print([record.status for record in run])
run
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> eqbench.Run:
    out = tmp_path_factory.mktemp("python") / "run"
    return eqbench.run("kuhn2", ["sequence_lp", "pcfr_plus"], seeds=2, iterations=300, out=out)


def examples() -> list[doctest.DocTest]:
    """Examples in the docstrings of public names, those of methods included."""
    finder, found = doctest.DocTestFinder(recurse=True), {}
    for name in eqbench.__all__:
        item = getattr(eqbench, name)
        if inspect.isclass(item) or inspect.isfunction(item):
            module = importlib.import_module(item.__module__)
            for test in finder.find(item, name, module=module):
                if test.examples:
                    found[test.name] = test
    return list(found.values())


@pytest.mark.parametrize("example", examples(), ids=lambda test: test.name)
def test_examples_of_docstrings_come_out_as_printed(
    example: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    said: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=flags).run(example, out=said.append)
    assert failed == 0, "".join(said)


def test_run_is_the_records_of_its_folder_with_frames_reports_and_charts(
    run: eqbench.Run, tmp_path: Path
) -> None:
    assert [record.status for record in run] == ["ok", "limit"]
    assert run[0] == run["sequence_lp"]
    assert len(run.frame("cells")) == len(run) == 2
    assert set(run.frame("equilibria")["solver"]) == {"sequence_lp", "pcfr_plus"}
    assert not run.frame("traces").empty
    with pytest.raises(eqbench.UsageError, match="did you mean traces"):
        run.frame("trace")
    assert [*eqbench.Run(run.path)] == [*run]
    for form in ("terminal", "md", "csv", "tex", "html"):
        assert "pcfr" in run.report(form)
    chart = run.figure("regret")
    shown = chart._repr_mimebundle_()
    assert "<svg" in shown["image/svg+xml"]
    json.dumps(chart.spec, allow_nan=False)
    for name in ("chart.png", "chart.svg", "chart.html", "chart.json"):
        assert chart.save(tmp_path / name).stat().st_size > 1000
    by_iterations = run.figure("regret", axis="work", metric="nash_conv").to_svg()
    assert "iterations" in by_iterations
    assert "NashConv" in by_iterations
    for wrong, hint in (
        ({"name": "regrets"}, "did you mean regret"),
        ({"axs": "work"}, "did you mean axis"),
        ({"axis": "works"}, "did you mean work"),
        ({"axis": ["work"]}, "is not a choice for axis"),
        ({"hidden": ["lcp"]}, "'lcp' is not a choice for hidden: known: pcfr_plus"),
        ({"game": "kuhn3"}, "'kuhn3' is not a choice for game"),
    ):
        with pytest.raises(eqbench.UsageError, match=hint):
            run.figure(**wrong)
    for hidden in ("pcfr_plus", ["pcfr_plus"], ()):
        values = {
            each["name"]: each.get("value") for each in run.figure(hidden=hidden).spec["params"]
        }
        assert values["hidden"] == ([] if hidden == () else ["pcfr_plus"])
    html = run._repr_html_()
    for text in ("sequence_lp", *run.answer.splitlines(), "data:image/svg+xml"):
        assert text in html
    profile = run.profile("sequence_lp")
    assert float(eqbench.verify("kuhn2", profile).max_regret) < 1e-12
    assert run.profile("sequence_lp", seed=0).to_json() == profile.to_json()
    with pytest.raises(eqbench.UsageError, match="cell"):
        run.profile("sequence_lp", seed=1)


def test_run_that_grows_goes_on_in_its_folder_and_one_that_hides_cells_is_refused(
    tmp_path: Path,
) -> None:
    out, few = tmp_path / "run", {"timeout_s": 20.0, "iterations": 5}
    eqbench.run("kuhn2", ["cfr", "lcp"], out=out, **few)
    assert len(eqbench.run("kuhn2", ["cfr", "lcp", "pcfr_plus"], out=out, **few)) == 3
    with pytest.raises(eqbench.UsageError, match="folder"):
        eqbench.run("kuhn2", "cfr", out=out, **few)
    assert len(eqbench.load_run(out).frame("cells")) == 3


def test_run_without_results_is_shown(tmp_path: Path) -> None:
    stopped = [without_figures("01", status="interrupted"), without_figures("02", status="failed")]
    path = write_run(tmp_path / "run", stopped[1], planned=["01", "02"])
    append_line(path / "interrupted.jsonl", stopped[0].to_line())
    run = eqbench.Run(path)
    assert len(run) == 2
    assert "0 ok" in repr(run)
    for name in CHARTS:
        assert "<svg" in run.figure(name).to_svg()


def test_keywords_of_a_run_are_those_of_an_experiment_file(run: eqbench.Run) -> None:
    asked = run.stored.plan["request"]
    assert (asked["seeds"], asked["iterations"], asked["games"]) == (2, 300, ["kuhn2"])
    for wrong, hint in (
        ({"timout_s": 3}, "did you mean timeout_s"),
        ({"seeds": "many"}, r"run\(seeds=...\): 'many' is not an integer"),
        ({"memory_bytes": "little"}, "is not a size"),
    ):
        with pytest.raises(eqbench.UsageError, match=hint):
            eqbench.run("kuhn2", "lcp", **wrong)
    with pytest.raises(eqbench.UsageError, match=r"is not a solver; give .* solve\(\)"):
        eqbench.run("kuhn2", object())  # type: ignore[arg-type]
    with pytest.raises(eqbench.UsageError, match=r"is not a game; give .* build\(\)"):
        eqbench.run(object(), "lcp")  # type: ignore[arg-type]
    game = eqbench.load_game("kuhn3")
    for each in ("kuhn3", game):
        with pytest.raises(eqbench.UsageError, match="solvers"):
            eqbench.run(each)
    with pytest.raises(eqbench.UsageError, match="candidate"):
        run.profile("sequence_lp", rank=-1)
    with (
        pytest.deprecated_call(),
        pytest.raises(eqbench.UsageError, match="'timeout' and 'time_s', which mean the same"),
    ):
        eqbench.solve("kuhn2", "lcp", timeout=1, time_s=1)
    with pytest.raises(eqbench.UsageError, match="profile"):
        eqbench.load_profile("mine.json")
    with pytest.raises(eqbench.UsageError, match="not both"):
        eqbench.solve("kuhn2", "lcp", eqbench.Limits(), timeout_s=1)
    assert eqbench.solve("kuhn2", "cfr", iterations=20).status != "ok"


def test_results_have_one_type_after_a_solve_and_after_a_run(run: eqbench.Run) -> None:
    ran, solved = run["sequence_lp"], eqbench.solve("kuhn2", "sequence_lp")
    assert type(ran) is type(solved) is eqbench.CellResult
    one, other = ran.equilibria[0], solved.equilibria[0]
    assert type(one) is type(other) is eqbench.Equilibrium
    assert one.identity == ran.identity == solved.identity == eqbench.identify("kuhn2", one)
    for profile in (ran.profile, one.profile, other.profile):
        assert profile["P1", "2:KB"] == pytest.approx(solved.profile["P1", "2:KB"])
    assert (one.payoffs, one.nash_conv, one.error) == (other.payoffs, other.nash_conv, other.error)
    assert isinstance(one, eqbench.Verification)
    assert one.resolved
    assert ran.to_json().keys() == solved.to_json().keys()
    assert eqbench.verify("kuhn2", ran.to_json()["equilibria"][0]["profile"]).max_regret < 1e-12
    assert Path(run.path, one.file).exists()
    assert run.profile(ran).to_json() == one.profile.to_json()
    assert not {"trial", "of_line", "to_line", "without_files"} & set(dir(ran))


def test_solvers_and_games_may_be_objects_whose_options_a_spec_can_have(tmp_path: Path) -> None:
    class Own(eqbench.solvers.CFR):
        pass

    spec_of, solvers = Registry().spec_of, eqbench.solvers
    for instance, spec in (
        (solvers.CFR(), "cfr"),
        (solvers.CFR(regrets="clipped", averaging="linear"), "cfr_plus"),
        (eqbench.load_solver("dcfr"), "dcfr"),
        (solvers.CFR(regrets="clipped"), "cfr(regrets=clipped)"),
        (eqbench.games.Kuhn(players=3, pot=Fraction(7, 2)), "kuhn3(cards=4,pot=7/2)"),
        (eqbench.load_solver('ncp(sense=max,of="P1")'), "ncp(sense=max,of=P1)"),
    ):
        assert spec_of(instance) == spec
    cells = eqbench.run(
        eqbench.games.Kuhn(players=2), [solvers.CFR(), "lcp"], iterations=5, out=tmp_path / "run"
    )
    assert [cell.solver for cell in cells] == ["cfr", "lcp"]
    for wrong, hint in (
        (solvers.CFR, r"CFR\(...\)"),
        (Own(), "register_solver"),
        (solvers.CFR(regrets=[1]), r"regrets .* cannot be written"),
    ):
        with pytest.raises(eqbench.UsageError, match=hint):
            eqbench.run("kuhn2", ["lcp", wrong])


def test_former_names_warn_and_still_work(run: eqbench.Run, tmp_path: Path) -> None:
    lines: list[str] = []
    for former, now in (
        (lambda: eqbench.run("kuhn2", "lcp", timeout=5, out=tmp_path / "a"), "timeout_s"),
        (lambda: eqbench.run("kuhn2", "lcp", memory="1GiB", out=tmp_path / "b"), "memory_bytes"),
        (lambda: eqbench.run("kuhn2", "lcp", tell=lines.append, out=tmp_path / "c"), "on_progress"),
        (lambda: eqbench.solve("kuhn2", "lcp", time_s=5), "timeout_s"),
        (lambda: eqbench.qre("kuhn2", to=2.0), "last"),
        (lambda: run.figure("profile"), "performance"),
        (lambda: run[0].identity["name"], "name"),
        (run.to_frame, '"cells"'),
        (run.equilibria, '"equilibria"'),
        (run.traces, '"traces"'),
        (run.summary, '"summary"'),
    ):
        with pytest.warns(DeprecationWarning, match=now) as warned:
            former()
        assert [each.filename for each in warned] == [__file__] * len(warned)
    assert len(lines) == 1


def test_game_that_its_spec_does_not_make_is_refused() -> None:
    other = eqbench.Game("kuhn2", eqbench.load_game("kuhn3").tree)
    for run in (lambda: eqbench.run(other, "lcp"), lambda: eqbench.qre(other, last=1)):
        with pytest.raises(eqbench.UsageError, match="spec"):
            run()
    asked = request_from(
        Request, "run", {"games": eqbench.load_game("kuhn3").at(pot=3.2), "solvers": "lcp"}
    )
    assert "pot=16/5" in asked.games[0]


def test_no_name_ends_the_script_of_a_saved_page(tmp_path: Path) -> None:
    name = "x</script><script>document.title=1</script><!--"
    records = [cell("01", solver=name, solver_spec=name)]
    chart = eqbench.Run(write_run(tmp_path / "run", *records)).figure("times")
    page = chart.save(tmp_path / "chart.html").read_text()
    assert name not in page
    assert f'"{name}"'.replace("<", r"\u003c") in page


def test_certificates_of_many_digits_are_shown_short() -> None:
    tiny = Fraction(1, 10**4400)
    shown = Verification((Fraction(1, 18), -tiny), (Fraction(0), tiny))
    assert "-4.9" in repr(shown)
    assert "4.94066e" in shown._repr_html_()


def test_studies_take_the_fields_of_their_requests(run: eqbench.Run, tmp_path: Path) -> None:
    path = eqbench.qre("kuhn2", last=10, at=[2.0], out=tmp_path / "qre")
    assert (
        path.document["schema"] == json.loads((tmp_path / "qre/summary.json").read_text())["schema"]
    )
    assert path.to_frame()["parameter"].iloc[-1] == 10
    assert "quantal" in path._repr_html_()
    mixed = eqbench.crossplay(run, known=True, most=2)
    assert mixed.path is None
    assert list(mixed.to_frame()["entry"]) == ["A", "B"]
    assert "| entry" in mixed.report("md")
    with pytest.raises(eqbench.UsageError, match="'lst'"):
        eqbench.qre("kuhn2", lst=3)
    for study, given, named, hint in (
        (eqbench.stability, ("kuhn3", "kuhn2"), {}, r"keywords after 'game', not 'kuhn2'"),
        (eqbench.qre, ("kuhn2",), {"game": "kuhn3"}, r"qre\(\) is given 'game' twice"),
        (eqbench.crossplay, ("here",), {"runs": "there"}, "given 'runs' twice"),
    ):
        with pytest.raises(eqbench.UsageError, match=hint):
            study(*given, **named)
    with pytest.raises(eqbench.UsageError, match="'last'"):
        eqbench.trace("skp", first=3)
    assert next(iter(inspect.signature(eqbench.qre).parameters)) == "game"


def test_profiles_are_read_by_labels_and_carried_to_games_that_have_them() -> None:
    game = eqbench.load_game("kuhn3")
    floats = random_profile(game.tree, np.random.default_rng(1))
    profile = eqbench.BehaviorProfile.of(game, floats)
    frame = profile.to_frame()
    for row in frame.itertuples():
        assert profile[row.player, row.infoset, row.action] == row.frequency
    assert sum(profile["P3", "4:BC"].values()) == pytest.approx(1)
    assert profile["P1"]["3:"] == profile["P1", "3:"]
    for wrong, hint in (
        (("P4",), "unknown player"),
        (("P3", "4:CB"), "no information set"),
        (("P3", "4:BC", "rise"), "unknown action"),
    ):
        with pytest.raises(eqbench.ProfileError, match=hint):
            profile[wrong]
    reduced = eqbench.load_game("kuhn3_reduced")
    few = eqbench.BehaviorProfile.uniform(reduced)
    assert few.on(game).exact == eqbench.BehaviorProfile.from_json(game, few.to_json()).exact
    again = eqbench.load_game("kuhn3", pot=4)
    assert profile.on(again).probabilities is profile.probabilities
    with pytest.raises(eqbench.ProfileError, match=r"\.on\("):
        eqbench.BehaviorProfile(profile.probabilities)["P1"]
    with pytest.raises(eqbench.ProfileError, match="frequencies"):
        eqbench.BehaviorProfile(profile.probabilities[:3]).on(game)


def test_what_solve_returns_is_verified_exactly_and_is_json() -> None:
    for spec, solver in (("kuhn3", "logit"), ("kuhn2", "lcp"), ("battle_of_sexes", "semismooth")):
        solved = eqbench.solve(spec, solver)
        exact = eqbench.verify(spec, solved, exact=True)
        assert isinstance(exact.max_regret, Fraction)
        assert abs(float(exact.max_regret) - solved.max_regret) < 1e-12
        document = json.loads(json.dumps(solved.to_json(), allow_nan=False))
        assert eqbench.verify(spec, document["equilibria"][0]["profile"], exact=True) == exact
        assert eqbench.identify(spec, solved) == solved.identity


def test_gambits_profiles_and_lines_come_and_go(tmp_path: Path) -> None:
    pygambit = pytest.importorskip("pygambit", reason="an optional extra is not installed")
    game = eqbench.load_game("kuhn2")
    (tmp_path / "game.efg").write_text(efg_text(game.tree))
    theirs = pygambit.read_efg(str(tmp_path / "game.efg"))
    found = pygambit.nash.lcp_solve(theirs, rational=True).equilibrium
    profile = eqbench.from_gambit(game, found)
    assert eqbench.verify(game, profile, exact=True).max_regret == 0
    values = [value for player in found for _, row in player for _, value in row]
    line = ",".join(["NE", *map(str, values)])
    assert eqbench.gambit_line(profile) == line, "in the order in which Gambit has them"
    assert eqbench.from_gambit(game, line).exact == profile.exact
    assert eqbench.to_gambit(profile).max_regret() == 0
    with pytest.raises(eqbench.ProfileError, match="another"):
        eqbench.from_gambit("matching_pennies", found)


def test_printed_decimals_of_gambit_are_distributions_again() -> None:
    profile = eqbench.from_gambit("rock_paper_scissors", "NE,0.333333,0.333333,0.333333,0,0,0")
    assert set(profile.exact or ()) == {Fraction(1, 3)}
    for line in ("0.5,0.5", "NE,1/2,1/2", "NE,1,0,0,x,0,1"):
        with pytest.raises(eqbench.ProfileError):
            eqbench.from_gambit("rock_paper_scissors", line)


def test_policies_of_openspiel_come_and_go() -> None:
    pytest.importorskip("pyspiel", reason="an optional extra is not installed")
    found = eqbench.solve("kuhn2", "sequence_lp").profile
    assert found is not None
    back = eqbench.from_openspiel("kuhn2", eqbench.to_openspiel(found))
    assert np.array_equal(back.probabilities, found.probabilities)


def test_representations_are_short_and_namespace_is_clean(run: eqbench.Run) -> None:
    game = eqbench.load_game("kuhn3")
    shown = [game, run, run[0], eqbench.verify(game, eqbench.BehaviorProfile.uniform(game))]
    assert all(len(repr(item)) < 160 for item in shown)
    assert "nash_conv" in repr(shown[-1])
    assert dir(eqbench) == sorted(dir(eqbench))
    assert all(getattr(eqbench, name) is not None for name in dir(eqbench))
    with pytest.raises(AttributeError, match="'nonsense'"):
        _ = eqbench.nonsense
    for item in (*shown, eqbench.load_game("matching_pennies"), eqbench.solve("kuhn2", "lcp")):
        assert item._repr_html_().count("<table>") == item._repr_html_().count("</table>") > 0
    assert "<img" in eqbench.load_game("matching_pennies")._repr_html_(), "a small tree is drawn"


def test_labels_are_text_in_html() -> None:
    builder = eqbench.TreeBuilder(["<b>P1"])
    root = builder.decision(None, 0, "<script>", ["<i>", "b"])
    builder.terminal((root, 0), [1])
    builder.terminal((root, 1), [2])
    game = eqbench.Game("one", builder.tree())
    for item in (game, eqbench.BehaviorProfile.uniform(game)):
        assert not {"<script>", "<i>", "<b>P1"} & set(item._repr_html_().replace(">", "> ").split())


def test_a_notebook_runs_cells_in_children_and_shows_table_and_chart(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="comes with the documentation")
    nbclient = pytest.importorskip("nbclient", reason="comes with the documentation")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    client = nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    said, shown = notebook.cells[0].outputs
    assert said["text"].count("ok") >= 1
    assert "<table>" in shown["data"]["text/html"]
    assert "data:image/svg+xml" in shown["data"]["text/html"]


def test_games_of_imported_modules_go_into_children_and_others_say_why_not(tmp_path: Path) -> None:
    (tmp_path / "own_game.py").write_text(OWN.format(name="there"))
    (tmp_path / "script.py").write_text(OWN.format(name="here") + RUNS_OWN)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    said, figures = done.stdout.splitlines()
    assert "'here'" in said
    assert figures == "[2.0] 1.0"
    assert "own_game.py" in next(tmp_path.glob("results/*/manifest.toml")).read_text()


def test_importing_eqbench_loads_nothing_else() -> None:
    program = (
        "import sys; before = set(sys.modules); import eqbench; print(*set(sys.modules) - before)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(loaded) <= {"eqbench", "__future__"}
