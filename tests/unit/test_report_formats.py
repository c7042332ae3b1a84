"""Tables in Markdown, CSV and LaTeX parse back, align, and survive every special character."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from stored_runs import (
    SPECIAL,
    cell,
    identified,
    identity,
    with_candidate,
    without_figures,
    write_run,
)

from eqbench.report.delimited import results_csv, summary_csv
from eqbench.report.document import report_on
from eqbench.report.latex import escaped, latex
from eqbench.report.markdown import markdown
from eqbench.report.terminal import plain_text, print_report
from eqbench.store.stored_run import StoredRun, read_run


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    records = [
        cell("01", reason="max regret reached"),
        cell("02", solver=SPECIAL, status="limit", reason=f"stopped: {SPECIAL}", seed=3),
        cell("03", solver=SPECIAL, seed=4, elapsed_s=123.4),
        without_figures("04", status="unsupported", reason="two players only"),
        replace(cell("05", game="kuhn3", game_spec="kuhn(players=3)"), iterations=None),
    ]
    return read_run(write_run(tmp_path / "run", *records))


@pytest.fixture
def named(tmp_path: Path) -> StoredRun:
    """Cells whose equilibria have names with characters that mean something to the formats."""
    near = identity("szafron:0<c11<1/2", parameters={"beta": 0.189, "b11": 0.1}, on_path=False)
    return read_run(
        write_run(
            tmp_path / "named",
            identified(cell("01", seed=0), near),
            identified(cell("02", seed=1), identity("kuhn2", parameters={"alpha": 0.2})),
            identified(cell("03", seed=2), identity(SPECIAL, strict=False)),
            cell("04", seed=3),
        )
    )


EQUILIBRIA = ["≈ szafron:0<c11<1/2 β=0.189", "kuhn2 α=0.2", f"{SPECIAL}*", "–"]


# -- Markdown -----------------------------------------------------------------------------------


def markdown_tables(text: str) -> list[list[list[str]]]:
    """Tables of a GitHub-flavored text, cell by cell, with escapes undone."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    return [
        [
            [re.sub(r"\\(.)", r"\1", part.strip()) for part in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in block.splitlines()
        ]
        for block in blocks
    ]


def test_markdown_parses_back_cell_by_cell(run: StoredRun) -> None:
    first, second = markdown_tables(markdown(report_on([run])))
    head, rule, *rows = first
    assert head[:4] == ["solver", "seed", "status", "max regret"]
    assert {"time (s)", "memory (MiB)", "payoff P1", "payoff P2"} < set(head)
    assert all(len(row) == len(head) for row in (rule, *rows))
    table = [dict(zip(head, row, strict=True)) for row in rows]
    assert [row["solver"] for row in table] == ["cfr_plus", SPECIAL, SPECIAL, "sequence_lp"]
    assert [row["seed"] for row in table] == ["", "3", "4", ""]
    assert [row["status"] for row in table] == ["ok", "limit", "ok", "unsupported"]
    assert table[0]["max regret"] == "1.2e-11"
    assert table[0]["payoff P1"] == "-0.05556"
    assert table[0]["time (s)"] == "0.0123"
    assert table[2]["time (s)"] == "123"
    assert table[0]["memory (MiB)"] == "157"
    assert table[3]["NashConv"] == "–"
    assert len(second) == 3


def test_markdown_is_aligned_as_plain_text_and_when_rendered(
    run: StoredRun, named: StoredRun
) -> None:
    text = markdown(report_on([run])) + markdown(report_on([named]))
    for block in re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE):
        lines = block.splitlines()
        assert len({cell_len(line) for line in lines}) == 1
        head, rule = (re.split(r"(?<!\\)\|", line)[1:-1] for line in lines[:2])
        for name, dashes in zip(head, rule, strict=True):
            is_text = name.strip() in ("solver", "status", "equilibrium", "profile")
            assert dashes.strip().endswith(":") is not is_text


def test_markdown_notes_say_what_is_not_ok(run: StoredRun) -> None:
    text = markdown(report_on([run]))
    assert "- unsupported: sequence_lp – two players only\n" in text
    assert "- target: max regret 4.0e-10\n" in text
    assert "NashConv is their sum" in text


def test_markdown_names_equilibria_whatever_their_characters(named: StoredRun) -> None:
    text = markdown(report_on([named]))
    (head, _, *rows), (titles, _, counts) = markdown_tables(text)
    assert [dict(zip(head, row, strict=True))["equilibrium"] for row in rows] == EQUILIBRIA
    assert titles == ["solver", SPECIAL, "kuhn2", "near", "none", "cells"]
    assert counts == ["cfr_plus", "1", "1", "1", "1", "4"]
    assert "### kuhn2: equilibria found\n" in text
    assert "- ≈ nearest known equilibrium" in text
    assert "- \\* on its path of play" in text


# -- CSV ----------------------------------------------------------------------------------------


def test_csv_has_the_numbers_of_the_store_exactly(run: StoredRun) -> None:
    text = results_csv([run])
    assert text.count("\r\n") == 6
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) == len(run.cells)
    for row, record in zip(rows, run.cells, strict=True):
        assert (row["key"], row["solver"], row["reason"]) == (
            record.key,
            record.solver,
            record.reason,
        )
        for name in ("elapsed_s", "nash_conv", "max_regret", "target"):
            value = getattr(record, name)
            assert row[name] == "" if value is None else float(row[name]) == value
        for p in range(2):
            written = [row[f"payoff_P{p + 1}"], row[f"regret_P{p + 1}"]]
            if record.payoffs is None or record.regrets is None:
                assert written == ["", ""]
            else:
                assert [float(text) for text in written] == [record.payoffs[p], record.regrets[p]]


# -- LaTeX --------------------------------------------------------------------------------------


class LatexError(AssertionError):
    """What a checked text does that LaTeX would not compile."""


def check_latex(text: str) -> list[list[list[str]]]:
    """Cells of all tabulars; a strict reader of the little LaTeX that reports use."""
    text = re.sub(r"(?<!\\)%.*", "", text)
    if not text.isascii():
        raise LatexError("characters that pdfTeX need not know")
    stack: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if kind == "begin":
            stack.append(name)
        elif not stack or stack.pop() != name:
            raise LatexError(f"\\end{{{name}}} closes nothing")
    if stack:
        raise LatexError(f"{stack} stay open")
    if unescaped(text, "{") != unescaped(text, "}"):
        raise LatexError("braces do not match")
    if unescaped(text, "$") % 2:
        raise LatexError("math mode stays open")
    outside = re.sub(r"(?<!\\)\$[^$]*(?<!\\)\$", "", text)
    for char in "#_^":
        if unescaped(outside, char):
            raise LatexError(f"{char} outside of math mode")
    tabulars = re.findall(
        r"\\begin\{tabular\}\{@\{\}([lr]+)@\{\}\}\n(.*?)\\end\{tabular\}", text, flags=re.DOTALL
    )
    rest = re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}", "", outside, flags=re.DOTALL)
    if unescaped(rest, "&"):
        raise LatexError("& outside of a table")
    return [check_tabular(columns, body) for columns, body in tabulars]


def check_tabular(columns: str, body: str) -> list[list[str]]:
    lines = body.strip().splitlines()
    if [line for line in lines if line.endswith("rule")] != [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]:
        raise LatexError("the three rules of booktabs are not in order")
    rows = []
    for line in lines:
        if not line.endswith("rule"):
            if not line.endswith(r" \\"):
                raise LatexError(f"{line!r} does not end its row")
            rows.append(re.split(r"(?<!\\)&", line.removesuffix(r"\\")))
            if len(rows[-1]) != len(columns):
                raise LatexError(f"{len(rows[-1])} cells in {len(columns)} columns: {line!r}")
    return [[part.strip() for part in row] for row in rows]


def unescaped(text: str, char: str) -> int:
    return len(re.findall(rf"(?<!\\){re.escape(char)}", text))


def latex_to_text(source: str) -> str:
    names = {
        r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~",
        r"\textbar{}": "|", r"\textless{}": "<", r"\textgreater{}": ">",
        r"\textasciigrave{}": "`", "-{}": "-", "--": "–",
        r"$\approx$": "≈", r"$\alpha$": "α", r"$\beta$": "β", r"$\times$": "×",
    }  # fmt: skip
    pattern = "|".join(map(re.escape, names))
    parts = re.split(f"({pattern})", source)
    return "".join(names.get(part) or re.sub(r"\\([{}$&#_%])", r"\1", part) for part in parts)


def test_latex_has_one_booktabs_table_per_game_that_compiles(run: StoredRun) -> None:
    first, second = check_latex(latex(report_on([run])))
    titles = [" ".join(filter(None, pair)) for pair in zip(*first[:2], strict=True)]
    assert titles[:4] == ["solver", "seed", "status", "max regret"]
    assert {"time (s)", "memory (MiB)", "payoff P1"} < set(titles)
    rows = [dict(zip(titles, row, strict=True)) for row in first[2:]]
    assert [latex_to_text(row["solver"]) for row in rows] == [
        "cfr_plus",
        SPECIAL,
        SPECIAL,
        "sequence_lp",
    ]
    assert rows[0]["max regret"] == r"$1.2\times10^{-11}$"
    assert rows[0]["payoff P1"] == "$-0.05556$"
    assert rows[3]["NashConv"] == "--"
    assert len(second) == 3


def test_latex_names_equilibria_whatever_their_characters(named: StoredRun) -> None:
    text = latex(report_on([named]))
    table, matrix = check_latex(text)
    titles = [" ".join(filter(None, pair)) for pair in zip(*table[:2], strict=True)]
    column = titles.index("equilibrium")
    assert [latex_to_text(row[column]) for row in table[2:]] == EQUILIBRIA
    assert [latex_to_text(title) for title in matrix[0]][:3] == ["solver", SPECIAL, "kuhn2"]
    assert matrix[1] == ["cfr\\_plus", "1", "1", "1", "1", "4"]
    assert r"$\approx$ nearest known equilibrium" in text
    assert r"\caption{\texttt{kuhn2}: equilibria found. " in text
    summarized = latex(report_on([named], summarize=True))
    check_latex(summarized)
    assert r"kuhn2 $\times$1" in summarized


def test_latex_caption_names_game_and_units(run: StoredRun) -> None:
    text = latex(report_on([run]))
    (caption, _) = re.findall(r"\\caption\{(.*)\}", text)
    assert r"kuhn2 = kuhn(players=2" in caption
    assert "Regrets are in payoff units" in caption
    assert "NashConv~/~2" in caption


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (r"\end{table}", ""),
        (r"\bottomrule", ""),
        (" & ", " ", ),
        (r"cfr\_plus", "cfr_plus"),
        (r"\#", "#"),
        (r"\{", "{"),
        ("$", ""),
        (r"two players only", "a & b"),
        ("--", "–"),
    ],
)  # fmt: skip
def test_the_reader_of_these_tests_notices_what_would_not_compile(
    run: StoredRun, good: str, bad: str
) -> None:
    text = latex(report_on([run]))
    assert good in text
    with pytest.raises(LatexError):
        check_latex(text.replace(good, bad, 1))


def test_latex_names_characters_that_pdftex_need_not_know() -> None:
    assert escaped("λ – 1\u00a0s --resume") == "[U+03BB] -- 1~s -{}-resume"


def test_text_of_a_solver_cannot_break_a_line_or_color_a_terminal(tmp_path: Path) -> None:
    record = cell("01", status="failed", reason="two\nlines \x1b[31m and\ttabs")
    report = report_on([read_run(write_run(tmp_path / "run", record))])
    for text in (markdown(report), latex(report), plain_text(lambda c: print_report(report, c))):
        assert "two lines" in text
        assert "\x1b" not in text
        assert "\t" not in text


# -- over seeds, over runs ----------------------------------------------------------------------


@pytest.fixture
def seeds(tmp_path: Path) -> StoredRun:
    records = [
        with_candidate(cell("01", seed=0, elapsed_s=1.0), 1),
        with_candidate(cell("02", seed=1, elapsed_s=2.0, status="limit"), 3),
        with_candidate(cell("03", seed=2, elapsed_s=6.0), 2),
        replace(without_figures("04", status="crashed", solver="cfr_plus"), seed=3),
    ]
    return read_run(write_run(tmp_path / "seeds", *records))


def test_summary_gives_median_extremes_and_par2_over_seeds(seeds: StoredRun) -> None:
    (head, _, row) = markdown_tables(markdown(report_on([seeds], summarize=True)))[0]
    figures = dict(zip(head, row, strict=True))
    assert (figures["cells"], figures["ok"]) == ("4", "2")
    assert figures["best max regret"] == "1.2e-11"
    assert figures["median max regret"] == "2.4e-11"
    assert figures["worst max regret"] == "3.6e-11"
    assert figures["median time (s)"] == "2.00"
    # two cells in 1 s and 6 s, two others at twice the timeout of 10 s
    assert figures["PAR-2 time (s)"] == f"{(1 + 6 + 20 + 20) / 4:.1f}"
    (machine,) = csv.DictReader(io.StringIO(summary_csv([seeds])))
    assert float(machine["par2_elapsed_s"]) == 11.75
    check_latex(latex(report_on([seeds], summarize=True)))
    assert "PAR-2 time (penalized" in plain_text(
        lambda console: print_report(report_on([seeds], summarize=True), console)
    )


def test_solver_that_refuses_a_game_has_no_penalized_time(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", without_figures("01", status="unsupported")))
    (head, _, row) = markdown_tables(markdown(report_on([run], summarize=True)))[0]
    assert dict(zip(head, row, strict=True))["PAR-2 time (s)"] == "–"


def test_run_column_stands_only_where_several_runs_have_the_game(
    run: StoredRun, seeds: StoredRun
) -> None:
    first, second = markdown_tables(markdown(report_on([run, seeds])))
    assert first[0][0] == "run"
    assert second[0][0] == "solver"


def test_several_runs_share_tables_and_tell_their_rows_apart(
    run: StoredRun, seeds: StoredRun
) -> None:
    table = markdown_tables(markdown(report_on([run, seeds])))[0]
    assert table[0][0] == "run"
    assert [row[0] for row in table[2:]] == ["run"] * 4 + ["seeds"] * 4


def test_cells_that_are_missing_or_interrupted_are_said_to_be(tmp_path: Path) -> None:
    path = write_run(
        tmp_path / "a run",
        cell("01"),
        cell("02", solver="mccfr", status="interrupted"),
        planned=["03", "02", "01"],
    )
    text = plain_text(lambda console: print_report(report_on([read_run(path)]), console))
    lines = text.splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [
        ["mccfr", "interrupted"],
        ["cfr_plus", "ok"],
    ]
    unwrapped = " ".join(lines)
    assert f"2 of 3 cells have not finished: eqbench run --resume '{path}' continues" in unwrapped


def test_report_reads_a_run_whose_last_line_is_torn(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", cell("01"), cell("02", solver="dcfr"))
    lines = path / "runs.jsonl"
    lines.write_bytes(lines.read_bytes()[:-9])
    run = read_run(path)
    assert ([record.key for record in run.cells], run.missing) == (["01"], 1)
    assert not lines.read_bytes().endswith(b"\n"), "reading changes nothing"
