"""Values of a spec become fields of a dataclass of the right type, and read back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import pytest

from eqbench.errors import SpecError
from eqbench.options import canonical_text, construct, list_options, option_texts
from eqbench.spec import parse_spec


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


def test_texts_of_options_show_floats_as_decimals_and_exact_numbers_as_fractions() -> None:
    given = parse_spec("all(count=3,step=0.000001,exact=0.25)").options
    texts = option_texts(construct(Everything, "all", {}, given))
    assert (texts["step"], texts["exact"], texts["path"]) == ("1e-06", "1/4", '""')


@pytest.mark.parametrize("step", [0.1, 1e-300, 5e-324, 1.7976931348623157e308, 3.0, math.inf])
def test_float_options_survive_the_spec(step: float) -> None:
    options = parse_spec(canonical(count=3, step=step)).options
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
