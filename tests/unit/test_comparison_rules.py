"""Conditions of a comparison that are none, and what is said of them."""

from __future__ import annotations

import pytest

from eqbench.errors import UsageError
from eqbench.report.comparison import parse_rule


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("elapsed>1.2x", "did you mean elapsed_s"),
        ("payoffs>1", r"all: elapsed_s, .*exploitability"),
        ("elapsed_s>1.2y", "'1.2y' in 'elapsed_s>1.2y' is no limit"),
        ("elapsed_s>+1", r"margin such as 1\.2x\+0\.1 or x\+1e-9"),
        ("elapsed_s>-1x", "no limit"),
        ("elapsed_s>1e999", "too large"),
        ("elapsed_s==2", "no condition"),
        ("elapsed_s>1x if 1 else 2", "no limit"),
        ("1.2x", "no condition"),
        ("", "no condition"),
        ("status", "a worse one counts without being asked for; --allow-worse-status"),
        ("status>1x", "a status is no number: a worse one counts without being asked for"),
    ],
)
def test_what_is_no_condition_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_rule(text)
