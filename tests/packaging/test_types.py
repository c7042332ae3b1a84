"""What static tools and `help` see of the Python interface."""

from __future__ import annotations

import inspect
import sys
from dataclasses import fields

import pytest
from stubs import FUNCTIONS, stubs
from typed_installs import completions, wrong_types

import eqbench
from eqbench.api.runs import Format
from eqbench.report.cells import View
from eqbench.report.writing import SUFFIXES
from eqbench.requests import fields_of
from eqbench.studies.requests import TraceRequest


@pytest.mark.slow
def test_program_that_uses_eqbench_is_typed(tmp_path, monkeypatch) -> None:
    pytest.importorskip("mypy")
    monkeypatch.setenv("MYPY_CACHE_DIR", str(tmp_path / "cache"))  # the second run reads it
    assert list(wrong_types(sys.executable, "mypy")) == []
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import eqbench\nreveal_type(eqbench.list_games)  # Run\n")
    assert len(list(wrong_types(sys.executable, "mypy", wrong))) == 1


def test_editors_complete_names_and_keywords() -> None:
    pytest.importorskip("jedi", reason="comes with the documentation")
    loaders, keywords = completions(sys.executable)
    assert {"load_run", "load_game", "load_profile"} <= set(loaders)
    assert {"timeout_s=", "memory_bytes=", "on_progress="} <= set(keywords)


def test_stubs_are_those_of_the_declared_requests() -> None:
    stale = [file.name for file, text in stubs().items() if file.read_text("utf-8") != text]
    assert stale == [], "make stubs writes them"


def test_signatures_have_all_keywords_and_no_other() -> None:
    for module, names in FUNCTIONS.items():
        for name in names:
            parameters = inspect.signature(getattr(eqbench, name)).parameters.values()
            assert getattr(module, name) is getattr(eqbench, name)
            assert all(each.kind is not each.VAR_KEYWORD for each in parameters)
    of = inspect.signature(eqbench.trace).parameters
    assert {*of} == {each.attribute for each in fields_of(TraceRequest)} | {"out", "figures"}
    assert of["first"].default is inspect.Parameter.empty
    assert "Polish and verify" in inspect.getdoc(eqbench.trace)
    assert "Seconds of solving" in inspect.getdoc(eqbench.run)
    limits = set(inspect.signature(eqbench.solve).parameters)
    assert {each.name for each in fields(eqbench.Limits)} < limits
    assert limits < {*inspect.signature(eqbench.run).parameters, "game", "solver", "budget", "seed"}
    view = {each.name for each in fields(View)}
    assert view < set(inspect.signature(eqbench.Run.report).parameters)
    assert set(Format.__args__) == set(SUFFIXES)


def test_classes_of_games_and_solvers_are_there_by_name() -> None:
    assert eqbench.load_solver("cfr") == eqbench.solvers.CFR()
    assert {"Kuhn", "EfgFile"} <= set(dir(eqbench.games))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = eqbench.solvers.nonsense
