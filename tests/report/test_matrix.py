"""The table of games and solvers: what is best in it, its marks and totals, and its formats."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from helpers.command import eqbench_here
from helpers.pages import check_latex, markdown_tables
from helpers.runs import SPECIAL, cell, identified, identity, run_of, without_figures, write_run

import eqbench
from eqbench.errors import UsageError
from eqbench.report.cells import View, report_on
from eqbench.report.formats import latex
from eqbench.report.rows import Table
from eqbench.report.writing import report_text
from eqbench.store.schema import CellRecord


def played(game: str, solver: str, time: float | None = 1.0, **fields: Any) -> CellRecord:
    """A cell that met its target after a time, or stopped far from it if there is none."""
    own = {"game": game, "game_spec": game, "solver": solver, "solver_spec": solver, **fields}
    key = f"{game}{solver}{fields.get('seed', '')}"
    if time is None:
        return replace(cell(key, status="limit", **own), max_regret=0.5, elapsed_s=10.0)
    return cell(key, elapsed_s=time, **own)


def absent(game: str, solver: str, status: Any = "unsupported") -> CellRecord:
    names = {"game": game, "game_spec": game, "solver": solver, "solver_spec": solver}
    return without_figures(f"{game}{solver}", status=status, **names)


def matrix_of(*records: CellRecord, what: str = "matrix") -> Table:
    (table,) = report_on([run_of(*records)], View(table=what)).tables
    return table


def texts(table: Table) -> dict[str, list[str]]:
    """Cells of each row by its name; those in bold between stars."""
    rows = {}
    for row in table.rows:
        name, *own = (row.cell(column) for column in table.columns)
        rows[name.text] = [f"*{each.text}*" if each.strong else each.text for each in own]
    return rows


THREE = [
    *(played("g", "a", 0.5), played("g", "b", 2.0), absent("g", "c")),
    *(played("h", "a", None), played("h", "b", 3.0), absent("h", "c", "unavailable")),
    *(played("i", "a", 4.0), replace(played("i", "b"), status="crashed"), played("i", "c", 4.0)),
    played("j", "a", 9.0),
]


def test_missed_not_run_unsupported_and_broken_have_different_marks() -> None:
    table = matrix_of(*THREE)
    assert [column.title for column in table.columns[1:]] == ["a", "b", "c"]
    assert texts(table) == {
        "g": ["*0.50*", "2.00", "n/a"],
        "h": ["–", "*3.00*", "·"],
        "i": ["*4.00*", "!", "*4.00*"],
        "j": ["*9.00*", "·", "·"],
        # counted over the games that a solver takes
        "games solved": ["3/4", "2/3", "1/1"],
        "best or tied": ["3", "1", "1"],
    }
    for mark in ("– missed", "· not run", "n/a the", "! failed"):
        assert mark in table.lines[0]
    assert len(table.lines) == 3


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        (
            (4e-10, 4e-10),
            "until a max regret of at most 1e-10 times the payoff range was measured;",
        ),
        ((4e-10, None), "was measured, or where there was no target until it ended ok;"),
        ((None, None), "until they ended ok, without a target;"),
    ],
)
def test_caption_says_what_ends_the_time(targets: tuple[float | None, ...], words: str) -> None:
    cells = [played("g", name, target=t) for name, t in zip("ab", targets, strict=True)]
    assert words in matrix_of(*cells).lines[0]


def test_marks_that_do_not_occur_are_not_explained() -> None:
    line = matrix_of(played("g", "a"), played("h", "a")).lines[0]
    assert not any(mark in line for mark in ("–", "·", "n/a", "!"))


def test_longer_side_goes_down_and_solvers_stand_by_what_they_solved() -> None:
    table = matrix_of(played("g", "a", None), played("g", "b", 2.0), played("g", "c", 1.0))
    assert [column.title for column in table.columns] == ["", "g", "games solved", "best or tied"]
    assert [*texts(table)] == ["c", "b", "a"]


def test_regrets_are_medians_over_sound_cells_and_rounding_is_no_advantage() -> None:
    regrets = {0: 1e-3, 1: 1e-5, 2: 1e-4}
    cells = [replace(played("g", "a", seed=s), max_regret=r) for s, r in regrets.items()]
    rounding = [replace(played("g", name), max_regret=r) for name, r in (("b", 0), ("c", 1e-16))]
    refuted = replace(played("g", "d"), status="refuted", max_regret=0.0)
    rows = texts(matrix_of(*cells, *rounding, refuted, what="matrix:regret"))
    shown = {name: own[0] for name, own in rows.items()}
    assert shown == {"a": "1.0e-04", "b": "*0*", "c": "*1.0e-16*", "d": "!"}


def test_time_is_the_median_over_seeds_unless_most_of_them_missed_the_target() -> None:
    times = {"a": (1.0, 2.0, None), "b": (1.0, None, None)}
    records = [played("g", s, t, seed=n) for s, own in times.items() for n, t in enumerate(own)]
    table = matrix_of(*records)
    assert texts(table) == {"a": ["*2.00*", "1/1", "1"], "b": ["–", "0/1", "0"]}
    assert "median over seeds" in table.lines[0]


def test_found_counts_published_sets_and_clusters_but_not_what_is_only_near() -> None:
    two = identified(played("g", "a"), identity("x:1"), identity("cluster:1"), identity("x:1"))
    near = identified(played("g", "b"), identity("x:1", on_path=False))
    table = matrix_of(two, near, what="matrix:found")
    assert texts(table) == {"a": ["*2*", "2", "1"], "b": ["–", "0", "0"]}


def many(games: int, solvers: int) -> list[CellRecord]:
    names = [f"solver_{SPECIAL}_{n}(start=random)" for n in range(solvers)]
    grid = [(f"game_{g}(cards={g},{SPECIAL})", n) for g in range(games) for n in range(solvers)]
    made = (
        absent(game, names[n]) if n == 3 else played(game, names[n], None if n == 5 else 0.1 + n)
        for game, n in grid
    )
    return [replace(record, key=str(at)) for at, record in enumerate(made)]


@pytest.mark.parametrize("what", ["matrix", "matrix:time", "matrix:regret", "matrix:found"])
def test_latex_takes_twenty_games_and_eight_solvers(what: str) -> None:
    report = report_on([run_of(*many(20, 8))], View(table=what))
    (rows,) = check_latex(latex(report))
    assert len(rows) == 2 + 20 + 2
    assert {len(row) for row in rows} == {9}
    bold = [part for part in chain(*rows) if part.startswith(r"\textbf{")]
    assert len(bold) == sum(part.count("*") > 1 for own in texts(report.tables[0]).values()
                            for part in own)  # fmt: skip
    assert latex(report).count(r"\caption") == 1


def test_latex_of_many_games_begins_with_the_matrix_and_of_few_does_not() -> None:
    tables = check_latex(report_text("tex", [run_of(*many(6, 2))], summarize=None))
    assert [len(tables), len(tables[0])] == [7, 2 + 6 + 2]
    assert len(check_latex(report_text("tex", [run_of(*many(5, 2))], summarize=None))) == 5


def test_markdown_has_the_best_in_bold() -> None:
    text = report_text("md", [run_of(*THREE)], View(table="matrix"), summarize=None)
    (rows,) = markdown_tables(text)
    assert rows[2] == ["g", "**0.50**", "2.00", "n/a"]


def test_csv_has_all_digits_and_no_stars() -> None:
    run = run_of(played("g", "a", 1 / 3), absent("g", "b"), played("h", "a", None))
    text = report_text("csv", [run], View(table="matrix"), summarize=None)
    head, *rows = csv.reader(io.StringIO(text))
    assert [head, *rows[:2]] == [
        ["eqbench matrix", "a", "b"],
        ["g", repr(1 / 3), "n/a"],
        ["h", "–", "·"],
    ]


@pytest.mark.parametrize(
    "view", [{"summary": True}, {"sort": "time"}, {"columns": ("time",)}], ids=str
)
def test_matrix_refuses_other_choices_of_rows_and_columns(view: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"leave out {next(iter(view))}"):
        View(table="matrix:regret", **view)
    View(table="cells", **view)


def test_command_prints_a_matrix_and_refuses_what_has_none(tmp_path: Path) -> None:
    write_run(tmp_path / "run", *THREE)
    done = eqbench_here("report", "run", "--table", "matrix:found", cwd=tmp_path)
    assert (done.code, "in all" in done.out) == (0, True)
    for words, hint in (
        (("--table", "matrix", "--format", "html"), "in the format html"),
        (("--table", "matrix", "--format", "tex,macros", "--out", "x"), "in the format macros"),
        (("--table", "matrix", "--summary"), "leave out summary"),
        (("--table", "matrix:memory"), "is not a choice here"),
        (("--all",), "--table cells"),
    ):
        refused = eqbench_here("report", "run", *words, cwd=tmp_path)
        assert (refused.code, hint in refused.err) == (2, True), refused.err
    assert not (tmp_path / "x").exists()


def test_python_has_it_too_and_warns_of_former_keywords(tmp_path: Path) -> None:
    run = eqbench.load_run(write_run(tmp_path / "run", *THREE))
    assert "games solved" in run.report("md", table="matrix:regret")
    with pytest.raises(UsageError, match="in the format html"):
        run.report("html", table="matrix")
    with pytest.warns(DeprecationWarning, match=re.escape('report(table="cells")')):
        assert run.report(show_all=True) == run.report(table="cells")
