"""What equilibria are called in tables: short, in order, and with marks that are explained."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from stored_runs import cell, identified, identity, without_figures

from eqbench.report.naming import decimal, kind_of_match, label, marks, order, spread
from eqbench.report.rows import FORMATS

SZAFRON = {"beta": 0.18934, "b11": 0.1, "b21": 0.1}


def words(*identities: dict[str, Any] | None) -> str:
    return FORMATS["found"](label(identified(cell("01"), *identities)))


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (identity("szafron:c11=0", parameters=SZAFRON), "szafron:c11=0 β=0.189"),
        (identity("kuhn2", parameters={"alpha": 0.2}), "kuhn2 α=0.2"),
        (identity("skp:1a", parameters={"a1": 0.25}), "skp:1a a1=0.25"),
        (identity("skp:1", parameters={"a1": 0.25, "b2": 0.5}, leading=None), "skp:1"),
        (identity("skp:10"), "skp:10"),
        (identity("cluster:2", dimension=1), "cluster:2"),
    ],
)
def test_label_is_the_name_and_only_a_leading_parameter(found: dict[str, Any], text: str) -> None:
    assert words(found) == text


def test_label_marks_what_is_only_near_and_what_differs_off_the_path() -> None:
    parts = {"parameters": SZAFRON}
    assert words(identity("szafron:c11=0", on_path=False, strict=False, **parts)) == (
        "≈ szafron:c11=0 β=0.189"
    )
    assert words(identity("szafron:c11=0", strict=False, **parts)) == "szafron:c11=0 β=0.189*"
    assert words(identity("skp:3", strict=False)) == "skp:3*"
    assert words(identity("cluster:1", strict=False)) == "cluster:1", "nothing is published on it"
    rounding = identity("kuhn2", strict=False, off_path={})
    assert words(rounding) == "kuhn2", "only rounding on the path keeps it from being strict"


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        (identity("kuhn2"), "strict"),
        (identity("kuhn2", strict=False, off_path={}), "up to rounding"),
        (identity("kuhn2", strict=False), "on path"),
        (identity("kuhn2", strict=False, on_path=False), "near"),
        (identity("cluster:1", strict=False), "cluster"),
    ],
)
def test_match_is_of_one_kind(found: dict[str, Any], kind: str) -> None:
    assert kind_of_match(found) == kind


def test_of_several_equilibria_the_best_comes_first_and_none_has_parameters() -> None:
    alpha = {"parameters": {"alpha": 0.5}}
    found = [identity(f"skp:{number}", **alpha) for number in ("4", "2", "3")]
    assert words(*found) == "skp:4, skp:2, skp:3"
    more = [identity("skp:10", strict=False), identity("skp:1a", strict=False)]
    assert words(*more, *found) == "skp:10* and 4 more"
    assert words(found[0], found[0]) == "skp:4 α=0.5", "one equilibrium, found twice"


def test_last_iterate_that_only_comes_near_another_set_is_not_named() -> None:
    near = identity("szafron:c11=1/2", on_path=False)
    assert words(identity("szafron:c11=0"), near) == "szafron:c11=0"
    assert words(near, identity("szafron:c11=0")) == "≈ szafron:c11=1/2, szafron:c11=0"
    assert words(None, near) == ""
    assert words(None, identity("szafron:c11=0")) == "szafron:c11=0"


@pytest.mark.parametrize("claim", ["complete list", "equilibrium"])
def test_equilibria_of_a_family_are_counted_with_the_range_of_the_parameter(claim: str) -> None:
    found = [identity("kuhn2", parameters={"alpha": value}) for value in (1 / 3, 1 / 6, 0.0)]
    record = identified(cell("01"), *found)
    assert label(record) == ["kuhn2 α=0.333"], "iterates are one equilibrium"
    several = [replace(item, claim=claim) for item in record.equilibria]
    assert label(replace(record, equilibria=several)) == ["kuhn2 ×3, α 0…0.333"]
    other = identified(cell("01"), identity("skp:4")).equilibria
    assert label(replace(record, equilibria=several + other)) == ["kuhn2 ×3", "skp:4"]


def test_cell_without_an_identity_has_no_label() -> None:
    assert label(without_figures("01", status="unsupported")) == []
    assert label(cell("01")) == []


def test_names_sort_as_their_sources_number_them() -> None:
    names = [
        *("kuhn2", "matrix:battle_of_sexes:mixed", "matrix:shapley"),
        *(f"skp:{number}" for number in ("1", "1a", "2", "2a", "9", "10", "10a")),
        *("szafron:c11=0", "szafron:0<c11<1/2", "szafron:c11=1/2"),
        *("cluster:1", "cluster:2", "cluster:11"),
    ]
    shuffled = random.Random(0).sample(names, len(names))
    assert shuffled != names
    assert sorted(shuffled, key=order) == names


def test_marks_are_explained_only_where_they_occur() -> None:
    assert marks(["skp:2", "szafron:c11=0 β=0.1"]) == ()
    (near,), (cluster,) = marks(["≈ skp:2"]), marks(["cluster:1"])
    assert (
        marks(["skp:10 and 4 more"])
        == marks(["skp:2, skp:3"])
        == marks(["skp:2, skp:3 and 4 more"])
    )
    assert len(marks(["skp:10 and 4 more"])) == 1
    loose, _ = marks(["skp:2*, skp:3"])
    assert marks(["skp:2*", "cluster:1", "≈ skp:2"]) == (near, loose, cluster)


def test_leading_parameter_is_the_one_that_the_identity_names() -> None:
    assert spread([identity("x", parameters=SZAFRON)]) == "β=0.189"
    assert spread([identity("x", parameters=SZAFRON, leading="b11")]) == "b11=0.1"
    assert spread([identity("x", parameters=SZAFRON, leading=None)]) == ""
    assert spread([identity("x")]) == ""


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.2, 3, "0.2"),
        (0.0, 3, "0"),
        (-1e-12, 3, "0"),
        (10.0, 3, "10"),
        (0.24999999, 3, "0.25"),
        (0.189304, 6, "0.189304"),
        (100.0, 0, "100"),
    ],
)
def test_decimals_have_no_zeros_at_their_end(value: float, digits: int, text: str) -> None:
    assert decimal(value, digits) == text
