"""What pages call a bound bounds all that was measured, also after rounding."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest
from documentation import ROOT

KUHN = ("kuhn3_reduced", "kuhn3")


@pytest.fixture(scope="module")
def tables() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("tables")


@pytest.mark.parametrize(
    ("name", "value", "printed"),
    [
        ("at_most", 0.02211, "0.03"),
        ("at_most", 0.0201, "0.03"),
        ("at_most", 0.25, "0.25"),
        ("power_at_most", 3.39e-6, "4e-6"),
        ("power_at_most", 9.1e-8, "1e-7"),
        ("power_at_least", 3.99e-17, "3e-17"),
        ("power_at_least", 4.775e-08, "4e-8"),
    ],
)
def test_bound_is_rounded_outward(
    tables: ModuleType, name: str, value: float, printed: str
) -> None:
    assert tables.laid_out(value, name) == printed


def test_raw_regrets_of_every_form_lie_within_the_bounds_in_prose(tables: ModuleType) -> None:
    printed = tables.all_facts()
    raw = [
        row["raw_max_regret"] for row in tables.read_results("ncp")["rows"] if row["game"] in KUHN
    ]
    found = [regret for regret in raw if regret is not None]
    least, most = float(printed["ncp_raw_least"]), float(printed["ncp_raw_most"])
    assert least <= min(found) < 2 * least
    assert most / 2 < max(found) <= most


def test_time_of_gambits_linear_methods_is_an_upper_bound(tables: ModuleType) -> None:
    times = [
        row["elapsed_s"]
        for row in tables.read_results("gambit_methods")["rows"]
        if row["game"] == "kuhn2" and row["solver"] in ("gambit_lp", "gambit_lcp")
    ]
    assert max(times) <= float(tables.all_facts()["gambit_linear_s"]) < max(times) + 0.01


def test_payoffs_are_compared_among_results_on_the_path_only(tables: ModuleType) -> None:
    rows = tables.read_results("who_finds_what")["rows"]
    third = [row["payoffs"][2] for row in rows if row["identity"]["on_path"]]
    assert len(third) < len(rows)
    more = f"{100 * (max(third) / min(third) - 1):.0f} %"
    assert tables.all_facts()["finds_more"] == more
