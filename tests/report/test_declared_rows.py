"""Rows that declare their columns: tables, CSV and data frames of structs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import pytest
from msgspec import Struct, field

from eqbench.report.rows import INLINE, Column, csv_of, frame_of, table_of


def _count(row: Any) -> int:
    return len(row.items)


class Inner(Struct, kw_only=True):
    low: Annotated[float, Column("from", "number")]
    high: float


class Base(Struct, kw_only=True):
    payoffs: Annotated[list[float], Column("u:{}", "payoff")]
    remark: Annotated[str | None, Column(optional=True)] = None


class Line(Base, kw_only=True):
    seed: Annotated[int, Column(kind="count", identifies=True)]
    lambda_: Annotated[float, Column("lambda", "number")] = field(name="lambda")
    items: Annotated[list[str], Column("how many", "count", of=_count)] = []
    inner: Annotated[Inner | None, INLINE]

    @property
    def total(self) -> Annotated[float, Column(kind="number")]:
        return sum(self.payoffs)


def line(**changed: Any) -> Line:
    inner = Inner(low=0.5, high=2.5)
    values = {"payoffs": [1.0, -1.0], "seed": 3, "lambda_": 7.0, "items": ["a"], "inner": inner}
    return Line(**values | changed)


SHOWN = {
    "seed": 3,
    "u:A": 1.0,
    "u:B": -1.0,
    "lambda": 7.0,
    "how many": 1,
    "from": 0.5,
    "total": 0.0,
}


@pytest.mark.parametrize(
    ("rows", "names", "expected"),
    [
        ([line()], (), [SHOWN]),  # what identifies the row first, without what no row has
        ([line(remark="x"), line()], ("remark",), [{"remark": "x"}, {"remark": None}]),
        ([line()], ("total", "seed"), [{"total": 0.0, "seed": 3}]),
        ([line(inner=None)], ("inner",), [{"from": None}]),
        ([], ("total",), []),
    ],
)
def test_table_has_the_declared_columns(
    rows: Sequence[Line], names: Sequence[str], expected: list[dict[str, Any]]
) -> None:
    table = table_of(rows, "title", ["note"], players=["A", "B"], names=names)
    assert [row.values for row in table.rows] == expected
    titles = [column.title for column in table.columns]
    assert titles == list(expected[0] if expected else ())
    assert (table.title, table.notes) == ("title", ("note",))


def test_csv_and_frame_have_all_plain_values_by_their_names_in_json() -> None:
    rows, players = [line(), line(seed=4, inner=None)], ["A", "B"]
    header, first, second = csv_of(rows, players).split()
    assert header == "seed,payoffs_A,payoffs_B,remark,lambda,inner_low,inner_high"
    assert (first, second) == ("3,1.0,-1.0,,7.0,0.5,2.5", "4,1.0,-1.0,,7.0,,")
    frame = frame_of(rows, players)
    assert list(frame.columns) == header.split(",")
    assert frame["inner_high"].tolist()[0] == 2.5
