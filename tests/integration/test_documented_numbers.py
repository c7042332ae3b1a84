"""What the README and the documentation show comes from the committed raw results."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from stored_runs import cell, write_run

from eqbench.report.exports import report_on, results_csv
from eqbench.report.latex import latex
from eqbench.report.markdown import markdown
from eqbench.report.terminal import plain_text, print_report
from eqbench.store.stored_run import read_run

ROOT = Path(__file__).parents[2]
REFERENCE = Path("results/reference")
MARKER = re.compile(r"<!-- fact: (\w+) -->([^<]*)<!-- /fact -->")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
ABSOLUTE = re.compile(r"(?<![\w.:/<\\])/(?:home|root|Users|tmp|work|var|opt|mnt|srv)/\w")


@pytest.fixture(scope="module")
def tables() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("make_tables")


@pytest.fixture(scope="module")
def facts(tables: ModuleType) -> dict[str, str]:
    return tables.all_facts()


def shown_facts(tables: ModuleType) -> set[str]:
    texts = (page.read_text(encoding="utf-8") for page in tables.pages())
    return {name for text in texts for name, _ in MARKER.findall(text)}


# -- Tables and numbers in prose ----------------------------------------------------------------


def test_every_page_shows_the_committed_raw_results(tables, facts) -> None:
    pages = tables.pages()
    assert {ROOT / "README.md", ROOT / "benchmarks" / "README.md"} < set(pages)
    stale = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if tables.filled(text, facts) != text:
            stale.append(str(page.relative_to(ROOT)))
    assert stale == [], "python benchmarks/make_tables.py fills them in"


def test_stale_number_is_found_and_mended(
    tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    right = "in <!-- fact: random_starts -->100<!-- /fact --> starts\n"
    page.write_text(right.replace("100", "99"))
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    monkeypatch.setattr(tables, "pages", lambda: [page])
    monkeypatch.setattr("sys.argv", ["make_tables.py", "--check"])
    with pytest.raises(SystemExit) as found:
        tables.main()
    assert found.value.code == 1
    assert "99" in page.read_text(), "a check changes nothing"
    assert capsys.readouterr().out == "stale: page.md\n"
    for arguments in (["make_tables.py"], ["make_tables.py", "--check"]):
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit) as done:
            tables.main()
        assert (done.value.code, page.read_text()) == (0, right)


def test_stale_table_is_found(tables, facts) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    stale = text.replace("\ncfr_plus ", "\ncfr_minus ")
    assert stale != text
    assert tables.filled(stale, facts) == text


def test_number_of_an_unknown_name_is_refused(tables, facts) -> None:
    with pytest.raises(KeyError, match="no_such_fact"):
        tables.filled("<!-- fact: no_such_fact -->1<!-- /fact -->", facts)


def test_every_file_of_raw_results_behind_numbers_has_one_on_a_page(tables) -> None:
    shown, module = shown_facts(tables), importlib.import_module("facts")
    unused = [
        source.__name__
        for source in module.SOURCES
        if not shown.intersection(source(module.read_results(source.__name__)))
    ]
    assert unused == []


def test_no_marker_stands_where_it_would_be_seen_or_break_a_paragraph(tables) -> None:
    for page in tables.pages():
        text = page.read_text(encoding="utf-8")
        seen = [code for code in CODE.findall(text) if "<!-- fact" in code]
        assert seen == [], page
        # a line that begins with a comment is HTML to its end (CommonMark, section 4.6)
        assert re.findall(r"^ *<!-- fact.*", text, re.MULTILINE) == [], page
        assert text.count("<!-- fact:") == len(MARKER.findall(text)), f"unclosed marker in {page}"


# -- The reference run --------------------------------------------------------------------------


def test_reference_tables_are_those_of_the_stored_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    run = read_run(REFERENCE / "kuhn3")
    report = report_on([run])
    made = {
        "txt": plain_text(lambda console: print_report(report, console)),
        "md": markdown(report),
        "csv": results_csv([run]),
        "tex": latex(report),
    }
    for suffix, text in made.items():
        assert (REFERENCE / f"report.{suffix}").read_bytes().decode() == text, suffix


def test_readme_shows_the_reference_run_as_it_is() -> None:
    text = (ROOT / REFERENCE / "report.txt").read_text(encoding="utf-8")
    assert f"```\n{text}```\n" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_reference_run_is_complete_and_took_three_minutes_at_most(tables) -> None:
    run = read_run(ROOT / REFERENCE / "kuhn3")
    assert run.missing == 0
    data = tables.read_results("reference")
    assert max(data["first_wall_s"], data["wall_s"]) <= 180
    solved = sum(cell.elapsed_s or 0 for cell in run.cells)
    assert data["wall_s"] > solved, "no other run's time"
    for found in run.cells:
        for item in found.equilibria:
            assert (run.path / str(item.profile)).is_file()
        assert found.trace is None or (run.path / found.trace).is_file()


def test_reference_run_is_small_and_names_no_place_on_a_machine() -> None:
    files = [path for path in (ROOT / REFERENCE).rglob("*") if path.is_file()]
    assert sum(file.stat().st_size for file in files if file.suffix != ".html") < 1_500_000
    for file in files:
        found = ABSOLUTE.search(file.read_text(encoding="utf-8", errors="replace"))
        assert found is None, (file, found)


def test_place_on_this_machine_is_not_published(tables, tmp_path: Path) -> None:
    script = importlib.import_module("reference")
    (tmp_path / "run.json").write_text('{"solver": "cfr"}')
    script.refuse_private(tmp_path)
    (tmp_path / "log.txt").write_text(f'File "{ROOT / "games"}/kuhn.py", line 1')
    with pytest.raises(SystemExit, match=r"log\.txt names"):
        script.refuse_private(tmp_path)


def test_csv_names_runs_as_they_were_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_run(Path("here/run"), cell("01", trace="traces/a.npz", log="logs/a.txt"))
    text = results_csv([read_run("here/run")])
    assert "here/run/traces/a.npz" in text
    assert str(tmp_path) not in text
