"""A run is answered in sentences: how many reached the target, what they found, what failed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_pages import write_trace
from stored_runs import SPECIAL, cell, identified, identity, without_figures, write_run

from eqbench.report.answer import answer
from eqbench.report.exports import entries_of
from eqbench.report.naming import label
from eqbench.report.trials import Entry
from eqbench.store.schema import CellRecord
from eqbench.store.stored_run import read_run


def said(*records: CellRecord, planned: int = 0) -> tuple[str, ...]:
    return answer([Entry("", record) for record in records], planned)


def short(key: str, **fields: Any) -> CellRecord:
    """A cell that ended with a regret of 1e-6, above its target."""
    return replace(cell(key, **({"status": "limit"} | fields)), max_regret=1e-6)


def test_nothing_is_said_of_nothing() -> None:
    assert answer([]) == ()


def test_one_game_is_answered_by_solver() -> None:
    found = identity("szafron:c11=0", parameters={"beta": 0.1})
    other = identity("szafron:c11=0", parameters={"beta": 0.3})
    near = identity("kuhn2", on_path=False)
    sentences = said(
        identified(cell("01", solver="slow", elapsed_s=2.0), found),
        identified(cell("02", solver="fast", elapsed_s=0.5), other, identity("cluster:1")),
        identified(short("03", solver="late"), near),
        short("04", solver="stuck", status="stopped"),
        replace(without_figures("05", solver="bad", status="crashed"), target=4e-10),
        without_figures("06", status="unsupported"),
    )
    assert sentences == (
        "2 of 5 solvers reached the target (max regret 4.0e-10); fastest to it: fast (500.0 ms).",
        "Found equilibria of 1 published set: szafron:c11=0 (2 solvers, β 0.1…0.3), and of 1 "
        "cluster in no published set.",
        "Not ok: stuck (stopped by itself); late (budget used up); bad (crashed).",
        "Do not take this game: sequence_lp.",
    )


def test_tracers_of_one_branch_that_end_apart_are_named() -> None:
    specs = ("logit(form=agent,prior=uniform)", "gambit_logit_path(use_strategic=false)")

    def sentences(payoffs: list[float], spec: str = specs[0]) -> str:
        ends = []
        for key, solver, own in (("01", spec, [1.0, 2.0]), ("02", specs[1], payoffs)):
            record = cell(key, solver=solver.split("(")[0], solver_spec=solver)
            record = identified(record, identity(f"cluster:{key[1]}"))
            ends.append(replace(record, equilibria=[replace(record.equilibria[0], payoffs=own)]))
        return " ".join(said(*ends))

    apart = "logit and gambit_logit_path end at different equilibria (cluster:1 and cluster:2)"
    assert apart in sentences([1.0, 2.5])
    assert apart not in sentences([1.0, 2.0])
    assert apart not in sentences([1.0, 2.5], "logit(form=agent,prior=random)")


def test_seeds_are_told_from_solvers() -> None:
    records = [
        *(cell(f"0{seed}", solver="a", seed=seed, elapsed_s=1.0 + seed) for seed in range(3)),
        cell("03", solver="b", seed=0, elapsed_s=5.0),
        short("04", solver="b", seed=1),
    ]
    first, _, last = said(*records)
    assert first == (
        "1 of 2 solvers reached the target (max regret 4.0e-10) in every cell, 1 in some "
        "(4 of 5 cells in all); fastest to it: a (2.0 s, median of 3)."
    )
    assert last == "Not ok: b (budget used up)."


@pytest.mark.parametrize(
    ("records", "first"),
    [
        (
            [cell("01")],
            "1 of 1 solver reached the target (max regret 4.0e-10); fastest to it: "
            "cfr_plus (12.3 ms).",
        ),
        (
            [short("01"), short("02", solver="b")],
            "0 of 2 solvers reached the target (max regret 4.0e-10); closest: b (1.0e-06).",
        ),
        ([without_figures("01", status="unsupported")], "Do not take this game: sequence_lp."),
        (
            [without_figures("01", solver=s, status="interrupted") for s in "ab"],
            "0 of 2 solvers ended ok (there was no target).",
        ),
        (
            [cell("01", target=None), short("02", solver="b", target=None)],
            "1 of 2 solvers ended ok (there was no target); fastest: cfr_plus (12.3 ms).",
        ),
        # what crashed or was refuted counts for nothing, whatever was measured
        (
            [cell("01", status="crashed"), cell("02", status="refuted"), short("03", solver="b")],
            "0 of 2 solvers reached the target (max regret 4.0e-10) in every cell "
            "(0 of 3 cells in all); closest: b (1.0e-06).",
        ),
        # rounding may leave a little more than the target
        (
            [cell("01", target=1e-17)],
            "1 of 1 solver reached the target (max regret 1.0e-17); fastest to it: "
            "cfr_plus (12.3 ms).",
        ),
        (
            [cell("01"), cell("02", target=None)],
            "1 of 1 solver ended ok (not all had a target) in every cell (2 of 2 cells in all)",
        ),
        # once is not always
        (
            [
                cell("01", solver="lucky", seed=0, elapsed_s=0.001),
                short("02", solver="lucky", seed=1),
                cell("03", solver="steady", seed=0, elapsed_s=0.01),
            ],
            "1 of 2 solvers reached the target (max regret 4.0e-10) in every cell, 1 in some "
            "(2 of 3 cells in all); fastest to it: steady (10.0 ms).",
        ),
    ],
)
def test_first_sentence_says_how_far_solvers_came(records: list[CellRecord], first: str) -> None:
    assert said(*records)[0].startswith(first)


def test_fastest_is_who_met_the_target_first_however_long_it_went_on(tmp_path: Path) -> None:
    # snapshots know when; without one that meets it, or any at all, it is met in the end
    curves = {"early": [(0.5, 1e-3), (1.0, 1e-10)], "late": [(2.0, 1e-9)]}
    records = [
        cell("01", solver="none", elapsed_s=3.0),
        *(
            write_trace(
                tmp_path,
                cell(name, solver=name, elapsed_s=9.0),
                [time for time, _ in points],
                [(regret, 0.0) for _, regret in points],
            )
            for name, points in curves.items()
        ),
    ]
    run = read_run(write_run(tmp_path, *records))
    entries = entries_of([run])
    assert [entry.time_to() for entry in entries] == [3.0, 1.0, 9.0]
    assert [entry.time_to(1e-3) for entry in entries] == [3.0, 0.5, 2.0]
    assert "fastest to it: early (1.0 s)" in answer(entries)[0]
    (tmp_path / str(records[1].trace)).write_bytes(b"damaged")
    assert "fastest to it: none (3.0 s)" in answer(entries_of([run]))[0]


def test_what_only_comes_near_is_not_found() -> None:
    known = identified(cell("01"), identity("kuhn2"))
    [item] = known.equilibria
    for record in (
        identified(cell("01"), identity("kuhn2", on_path=False)),
        replace(known, tolerance=item.max_regret / 2),
        replace(known, equilibria=[replace(item, refuted="claimed 0")]),
    ):
        assert said(record)[1] == "No equilibrium was identified."
        assert label(record) == ["≈ kuhn2"]


def test_equilibria_are_counted_in_their_sets() -> None:
    short_of_it = identified(cell("01", status="limit"), identity("kuhn2"))
    assert said(short_of_it)[1] == (
        "Found equilibria of 1 published set: kuhn2 (1 solver, not ok)."
    )
    several = identified(cell("01"), *[identity("cluster:1")] * 3)
    assert said(several)[1] == (
        "Found equilibria of 1 cluster in no published set: cluster:1 (1 solver)."
    )


@pytest.mark.parametrize(("status", "finished"), [("ok", 2), ("interrupted", 1)])
def test_what_is_missing_is_not_passed_over(status: Any, finished: int) -> None:
    records = [cell("01"), cell("02", solver="b", status=status)]
    assert said(*records, planned=4)[0].startswith(f"So far ({finished} of 4 cells): {finished} of")
    assert said(*records, planned=2)[0].startswith("So far") is (finished < 2)


def test_several_games_have_totals_and_few_of_them_a_line_each() -> None:
    games = [
        [
            identified(cell(f"{game}1", solver="a", game=f"g{game}", game_spec=f"g{game}"), known),
            short(f"{game}2", solver="b", game=f"g{game}", game_spec=f"g{game}"),
        ]
        for game, known in enumerate([identity("skp:1"), *[identity("cluster:1")] * 6])
    ]
    few, many = said(*games[0], *games[1]), said(*(c for game in games for c in game))
    each = "1 of 2 solvers reached the target (max regret 4.0e-10); fastest to it: a (12.3 ms)."
    ended = "Not ok: b (budget used up)."
    assert few == (
        "On 2 games 1 of 2 solvers reached the target (max regret 4.0e-10) in every cell "
        "(2 of 4 cells in all); always where they take the game: a; fastest to it: a on 2 games.",
        "Found equilibria of 1 published set: skp:1, and of 1 cluster in no published set.",
        f"g0: {each} Found equilibria of 1 published set: skp:1. {ended}",
        f"g1: {each} Found equilibria of 1 cluster in no published set. {ended}",
    )
    assert many[2:] == ("Not ok: b ×7 (budget used up).",)
    assert "of 6 clusters" in many[1], "clusters are numbered anew in each game"


def test_of_several_games_the_fastest_are_counted() -> None:
    games = [
        cell(f"{game}{solver}", solver=solver, game=game, game_spec=game, elapsed_s=time)
        for game, solver, time in [("g", "a", 1), ("g", "b", 2), ("h", "a", 2), ("h", "b", 1)]
    ]
    assert said(*games)[0] == (
        "On 2 games 2 of 2 solvers reached the target (max regret 4.0e-10) in every cell "
        "(4 of 4 cells in all); always where they take the game: a, b; "
        "fastest to it: a on 1 game, b on 1 game."
    )


def test_rows_of_several_runs_are_not_taken_for_solvers() -> None:
    found = identified(cell("01"), identity("skp:1"))
    first, second = answer([Entry("old", found), Entry("new", found)])
    assert first.startswith("2 of 2 solvers of all runs reached the target")
    assert second.startswith("Found equilibria of 1 published set: skp:1 (2 solvers)")


def test_hostile_names_cannot_steer_a_screen() -> None:
    evil = "\x1b[31m" + SPECIAL
    text = "".join(said(cell("01", solver=evil), short("02", solver="b"), short("03", game=evil)))
    assert text.isprintable()


def test_games_that_are_typed_alike_are_told_apart() -> None:
    file = {"game": "game.efg", "game_spec": "/a/game.efg"}
    entries = [Entry(run, cell("01", **file, game_content=run)) for run in ("one", "two")]
    *_, first, second = answer(entries)
    assert first.startswith("/a/game.efg (in one): ")
    assert second.startswith("/a/game.efg (in two): ")
